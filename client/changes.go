package client

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"strings"

	"google.golang.org/protobuf/proto"

	"heddle/yarn/conv"
	"heddle/yarn/ids"
	"heddle/yarn/rest"
	"heddle/yarn/rpc"
	"heddle/yarn/wire"
)

// clientProtocol is the protocol of YARN's own clients.
const clientProtocol = "org.apache.hadoop.yarn.api.ApplicationClientProtocolPB"

// Kill asks to kill an application. It returns at once; done says that the application is over, and until then the call
// may be repeated.
func (c *Client) Kill(ctx context.Context, id string) (done bool, err error) {
	var now rest.AppState
	var resp wire.KillApplicationResponse
	status, err := c.change(ctx, change{
		path: appPath(id) + "/state", in: rest.AppState{State: "KILLED"}, out: &now,
		method: "forceKillApplication", id: id, resp: &resp,
		req: func(app *wire.ApplicationId) proto.Message { return &wire.KillApplicationRequest{ApplicationId: app} },
	})
	return status == http.StatusOK || resp.GetIsKillCompleted(), err
}

// Move moves an application to another queue, and returns the path of its new queue.
func (c *Client) Move(ctx context.Context, id, queue string) (string, error) {
	var now rest.AppQueue
	_, err := c.change(ctx, change{
		path: appPath(id) + "/queue", in: rest.AppQueue{Queue: queue}, out: &now,
		method: "moveApplicationAcrossQueues", id: id, resp: &wire.MoveApplicationAcrossQueuesResponse{},
		req: func(app *wire.ApplicationId) proto.Message {
			return &wire.MoveApplicationAcrossQueuesRequest{ApplicationId: app, TargetQueue: &queue}
		},
	})
	if err != nil || now.Queue != "" {
		return now.Queue, err
	}
	a, err := c.App(ctx, id)
	if err != nil {
		return "", err
	}
	return a.Queue, nil
}

// SetPriority changes an application's priority, and returns the resulting one: the cluster has a maximum.
func (c *Client) SetPriority(ctx context.Context, id string, priority int32) (int32, error) {
	var now rest.AppPriority
	var resp wire.UpdateApplicationPriorityResponse
	_, err := c.change(ctx, change{
		path: appPath(id) + "/priority", in: rest.AppPriority{Priority: priority}, out: &now,
		method: "updateApplicationPriority", id: id, resp: &resp,
		req: func(app *wire.ApplicationId) proto.Message {
			return &wire.UpdateApplicationPriorityRequest{ApplicationId: app, ApplicationPriority: &wire.Priority{Priority: &priority}}
		},
	})
	if p := resp.GetApplicationPriority(); p != nil {
		return p.GetPriority(), err
	}
	return now.Priority, err
}

// A change is a change to an application, in its REST form and its RPC form.
type change struct {
	path    string
	in, out any

	method, id string
	req        func(*wire.ApplicationId) proto.Message
	resp       proto.Message
}

// change changes an application. It returns the REST status, or 0 if the change went over RPC.
func (c *Client) change(ctx context.Context, x change) (int, error) {
	at, err := c.changesAt(ctx)
	if err != nil {
		return 0, err
	}
	if at == "" {
		return c.call(ctx, http.MethodPut, x.path, nil, x.in, "", x.out)
	}
	app, err := ids.ParseApp(x.id)
	if err != nil {
		return 0, err
	}
	return 0, c.overRPC(ctx, at, x.method, x.req(conv.WireApp(app)), x.resp)
}

// changesAt returns the RPC address for changes, "" if REST accepts them. A ResourceManager that others can reach does
// not know who calls over HTTP; Heddle says so, and where its other port is.
func (c *Client) changesAt(ctx context.Context) (string, error) {
	if at := c.changes.Load(); at != nil {
		return *at, nil
	}
	at := ""
	info, err := c.Info(ctx)
	switch {
	case errors.Is(err, ErrNotHeddle):
	case err != nil:
		return "", err
	case !info.RESTChanges && info.ClientAddress != "":
		if at, err = c.reached(info.ClientAddress); err != nil {
			return "", err
		}
	}
	c.changes.Store(&at)
	return at, nil
}

// reached returns how to reach an address that a ResourceManager listens on: if it listens on all interfaces, at the host
// of its web pages.
func (c *Client) reached(listens string) (string, error) {
	host, port, err := net.SplitHostPort(listens)
	if err != nil {
		return "", fmt.Errorf("%s gives %q as its address for clients; want host:port: %w", c.URL(), listens, err)
	}
	if a, err := netip.ParseAddr(host); err == nil && a.IsUnspecified() {
		host = c.base.Hostname()
	}
	return net.JoinHostPort(host, port), nil
}

// overRPC calls a method as the user, as Hadoop's own clients do. A refusal is an [*Error].
func (c *Client) overRPC(ctx context.Context, at, method string, req, resp proto.Message) error {
	conn, err := rpc.Dial(ctx, at, rpc.ClientOptions{Protocol: clientProtocol, User: c.user, Timeout: c.http.Timeout})
	if err == nil {
		defer func() { _ = conn.Close() }() // the answer is here, or err says why not
		err = conn.Call(ctx, method, req, resp)
	}
	refusal, ok := errors.AsType[*rpc.Error](err)
	switch {
	case err == nil:
		return nil
	case !ok:
		return fmt.Errorf("%s accepts changes only at its client port: %w", c.URL(), err)
	}
	class := refusal.Class[strings.LastIndexByte(refusal.Class, '.')+1:]
	status := http.StatusBadRequest
	switch class {
	case "ApplicationNotFoundException":
		status = http.StatusNotFound
	case "AccessControlException":
		status = http.StatusForbidden
	}
	return &Error{Status: status, Exception: class, Message: refusal.Message, URL: method + " at " + at}
}
