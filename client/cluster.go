package client

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"heddle/rm"
	"heddle/yarn/ids"
	"heddle/yarn/rest"
)

// Cluster returns what a ResourceManager reports about itself.
func (c *Client) Cluster(ctx context.Context) (*rest.ClusterInfo, error) {
	out := &rest.ClusterInfo{}
	if err := c.get(ctx, rest.Base+"/info", nil, "clusterInfo", out); err != nil {
		return nil, err
	}
	return out, nil
}

// Metrics returns the cluster's figures.
func (c *Client) Metrics(ctx context.Context) (*rest.ClusterMetrics, error) {
	out := &rest.ClusterMetrics{}
	if err := c.get(ctx, rest.Base+"/metrics", nil, "clusterMetrics", out); err != nil {
		return nil, err
	}
	return out, nil
}

// Info returns what Heddle reports about itself. The error is [ErrNotHeddle] if the ResourceManager is not Heddle.
func (c *Client) Info(ctx context.Context) (*rest.Info, error) {
	out := &rest.Info{}
	if err := c.own(ctx, "/info", nil, out); err != nil {
		return nil, err
	}
	return out, nil
}

// Nodes returns the nodes in these states, or in any state if none is given, by id.
func (c *Client) Nodes(ctx context.Context, states []string) ([]rm.NodeRow, error) {
	var q url.Values
	if len(states) > 0 {
		q = url.Values{"states": {strings.Join(states, ",")}}
	}
	var out rm.Nodes
	err := c.own(ctx, "/nodes", q, &out)
	if NotFound(err) || errors.Is(err, ErrNotHeddle) { // an older Heddle has no node list of its own
		out.List, err = c.stockNodes(ctx, q)
	}
	if err != nil {
		return nil, err
	}
	slices.SortStableFunc(out.List, func(a, b rm.NodeRow) int {
		x, errX := ids.ParseNode(a.ID)
		y, errY := ids.ParseNode(b.ID)
		if errX != nil || errY != nil {
			return strings.Compare(a.ID, b.ID)
		}
		return x.Compare(y)
	})
	return out.List, nil
}

// Node returns one node, by host:port.
func (c *Client) Node(ctx context.Context, id string) (*rm.NodeRow, error) {
	out := &rm.NodeRow{}
	err := c.own(ctx, "/nodes/"+url.PathEscape(id), nil, out)
	if NotFound(err) || errors.Is(err, ErrNotHeddle) {
		out, err = c.stockNode(ctx, id)
	}
	if err != nil {
		return nil, err
	}
	return out, nil
}

// NodeContainers returns the containers on a node that the user may see, by id, with how each was changed. The error is
// [ErrNotHeddle] if the ResourceManager is not Heddle.
func (c *Client) NodeContainers(ctx context.Context, node string) (*rm.NodeContainers, error) {
	out := &rm.NodeContainers{}
	if err := c.own(ctx, "/nodes/"+url.PathEscape(node)+"/containers", nil, out); err != nil {
		return nil, err
	}
	return out, nil
}

// own requests what only Heddle has.
func (c *Client) own(ctx context.Context, path string, query url.Values, out any) error {
	if c.stock.Load() { // a caller that polls every second asks only once
		return c.notHeddle()
	}
	err := c.get(ctx, rest.HeddleBase+path, query, "", out)
	if e, ok := errors.AsType[*Error](err); !ok || e.Status != http.StatusNotFound {
		return err
	}
	if path != "/info" {
		if _, other := c.Info(ctx); !errors.Is(other, ErrNotHeddle) {
			return err
		}
	}
	c.stock.Store(true)
	return c.notHeddle()
}

// notHeddle returns the [ErrNotHeddle] of this ResourceManager.
func (c *Client) notHeddle() error { return fmt.Errorf("%s: %w", c.URL(), ErrNotHeddle) }
