package client

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"heddle/rm"
	"heddle/yarn/ids"
	"heddle/yarn/rest"
)

// An AppFilter says which applications to return; empty fields do not restrict.
type AppFilter struct {
	States []string // YARN's names: ACCEPTED, RUNNING, …
	Users  []string
	Queues []string
	Types  []string
	Before ids.App // only applications with lower ids; zero for no bound
	Limit  int     // only this many, the newest; 0 for all
}

// query returns the filters for YARN's services. They accept one user and one queue; more are filtered afterwards.
func (f AppFilter) query() url.Values {
	q := url.Values{}
	set := func(key string, values []string) {
		if len(values) > 0 {
			q.Set(key, strings.Join(values, ","))
		}
	}
	set("states", f.States)
	set("applicationTypes", f.Types)
	for key, values := range map[string][]string{"user": f.Users, "queue": f.Queues} {
		if len(values) == 1 {
			q.Set(key, values[0])
		}
	}
	return q
}

// own returns the filters for Heddle's own service. YARN's limit would return any applications, not the newest. If some
// are filtered out afterwards, a limit might return too few.
func (f AppFilter) own() url.Values {
	q := f.query()
	if !f.Before.IsZero() {
		q.Set("before", f.Before.String())
	}
	if f.Limit > 0 && len(f.Users) < 2 && len(f.Queues) < 2 {
		q.Set("limit", strconv.Itoa(f.Limit))
	}
	return q
}

// admits reports whether an application is wanted, by the filters that not every service supports.
func (f AppFilter) admits(a *rm.AppReport) bool {
	return (len(f.Users) == 0 || slices.Contains(f.Users, a.User)) && (len(f.Queues) < 2 || slices.Contains(f.Queues, a.Queue)) &&
		(f.Before.IsZero() || a.ID.Compare(f.Before) < 0)
}

// Apps returns applications, oldest first, without their requests and attempts. A queue that does not exist is
// [NotFound].
func (c *Client) Apps(ctx context.Context, f AppFilter) ([]rm.AppReport, error) {
	if len(f.Queues) > 1 { // no service accepts more than one
		var err error
		if f.Queues, err = c.leaves(ctx, f.Queues); err != nil {
			return nil, err
		}
	}
	var all rm.Apps
	err := c.own(ctx, "/apps", f.own(), &all)
	if errors.Is(err, ErrNotHeddle) {
		all.List, err = c.stockApps(ctx, f.query())
	}
	if err != nil {
		return nil, noQueue(err)
	}
	out := make([]rm.AppReport, 0, len(all.List))
	for i := range all.List {
		if f.admits(&all.List[i]) {
			out = append(out, all.List[i])
		}
	}
	slices.SortFunc(out, func(a, b rm.AppReport) int { return a.ID.Compare(b.ID) })
	if f.Limit > 0 && len(out) > f.Limit {
		out = out[len(out)-f.Limit:]
	}
	return out, nil
}

// leaves returns the paths of the named queues and of the leaf queues below them. A queue that does not exist is
// [NotFound].
func (c *Client) leaves(ctx context.Context, names []string) ([]string, error) {
	all, err := c.Queues(ctx)
	if err != nil {
		return nil, err
	}
	var out []string
	for _, name := range names {
		q := rm.FindQueue(all, name)
		if q == nil {
			return nil, &Error{Status: http.StatusNotFound, Exception: "NotFoundException", Message: "Unknown queue: " + name, URL: c.URL()}
		}
		out = append(out, rm.Leaves(all, q)...)
	}
	return out, nil
}

// noQueue turns the error about an unknown queue into one that [NotFound] recognises: to YARN it is a bad request.
func noQueue(err error) error {
	if e, ok := errors.AsType[*Error](err); ok && e.Status == http.StatusBadRequest && strings.HasPrefix(e.Message, "Unknown queue: ") {
		e.Status = http.StatusNotFound
	}
	return err
}

// App returns one application, with its requests and attempts.
func (c *Client) App(ctx context.Context, id string) (*rm.AppReport, error) {
	out := &rm.AppReport{}
	err := c.own(ctx, "/apps/"+url.PathEscape(id), nil, out)
	if errors.Is(err, ErrNotHeddle) {
		out, err = c.stockApp(ctx, id)
	}
	if err != nil {
		return nil, err
	}
	return out, nil
}

// Why returns what an unfinished application waits for. The error is [ErrNotHeddle] if the ResourceManager is not Heddle.
func (c *Client) Why(ctx context.Context, id string) (*rm.Explanation, error) {
	out := &rm.Explanation{}
	if err := c.own(ctx, "/apps/"+url.PathEscape(id)+"/why", nil, out); err != nil {
		return nil, err
	}
	return out, nil
}

func appPath(id string) string { return rest.Base + "/apps/" + url.PathEscape(id) }
