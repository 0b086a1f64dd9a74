package web

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"heddle"
	"heddle/daemon"
	"heddle/rm"
	"heddle/yarn/ids"
)

// A fakeRM answers from tables, as the daemon would.
type fakeRM struct {
	mu         sync.Mutex
	apps       []rm.AppReport
	attempts   map[ids.App][]rm.AttemptReport
	containers map[ids.Attempt][]rm.ContainerReport
	nodes      []rm.NodeReport
	queues     []rm.QueueReport
	cluster    rm.ClusterReport
	whys       map[ids.App]rm.Explanation
	ready      bool
	missing    int // nodes of 10
	health     daemon.Health
	fails      error // the error of every call
	denies     bool  // changes are refused
	unreadable error // what reading an application leads to after a change

	now       int64  // milliseconds since 1970
	logServer string // where logs of ended attempts are

	filter rm.AppFilter // of the last Apps
	actor  daemon.Actor // of the last change
	killed string       // diagnostics of the last kill
	caller string       // of the last change
	until  time.Time
}

func (f *fakeRM) Apps(_ context.Context, filter rm.AppFilter) ([]rm.AppReport, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.filter = filter
	var out []rm.AppReport
	for i := range f.apps {
		a := &f.apps[i]
		if len(filter.States) > 0 && !slices.Contains(filter.States, a.State) ||
			len(filter.Types) > 0 && !slices.ContainsFunc(filter.Types, func(t string) bool { return strings.EqualFold(t, a.Type) }) {
			continue
		}
		out = append(out, bare(f.told(*a)))
	}
	if filter.Limit > 0 && len(out) > filter.Limit {
		out = out[len(out)-filter.Limit:]
	}
	return out, f.fails
}

// bare returns a report in the form that lists have.
func bare(a rm.AppReport) rm.AppReport {
	a.Requests, a.Attempts = nil, nil
	return a
}

func (f *fakeRM) App(ctx context.Context, id ids.App) (rm.AppReport, error) {
	a, err := f.WholeApp(ctx, id)
	return bare(a), err
}

func (f *fakeRM) WholeApp(_ context.Context, id ids.App) (rm.AppReport, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.fails != nil {
		return rm.AppReport{}, f.fails
	}
	if f.unreadable != nil && f.actor != (daemon.Actor{}) {
		return rm.AppReport{}, f.unreadable
	}
	if i := f.at(id); i >= 0 {
		return f.told(f.apps[i]), nil
	}
	return rm.AppReport{}, &rm.NotFound{What: "application " + id.String()}
}

func (f *fakeRM) AddRequests(_ context.Context, list []rm.AppReport) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	for i := range list {
		list[i].Requests = f.apps[f.at(list[i].ID)].Requests
	}
	return f.fails
}

func (f *fakeRM) CountApps(ctx context.Context, filter rm.AppFilter) (map[rm.AppState]int, error) {
	filter.Limit = 0
	list, err := f.Apps(ctx, filter)
	out := map[rm.AppState]int{}
	for i := range list {
		out[list[i].State]++
	}
	return out, err
}

func (f *fakeRM) Node(_ context.Context, id ids.Node) (rm.NodeReport, error) {
	if f.fails != nil {
		return rm.NodeReport{}, f.fails
	}
	for _, n := range f.nodes {
		if n.ID == id {
			return n, nil
		}
	}
	return rm.NodeReport{}, &rm.NotFound{What: "node " + id.String()}
}

// told adds what follows from the rest of a report, as the machine does.
func (f *fakeRM) told(a rm.AppReport) rm.AppReport {
	if a.Started > 0 {
		a.Elapsed = max(0, cmp.Or(a.Finished, f.now)-a.Started)
	}
	a.MasterLogs = rm.LogsURL("", a.MasterHTTP, a.MasterNode, a.Master, a.User)
	a.Attempts = f.toldAttempts(a.ID)
	return a
}

func (f *fakeRM) toldAttempts(id ids.App) []rm.AttemptReport {
	out := slices.Clone(f.attempts[id])
	for i := range out {
		a, server := &out[i], ""
		if a.Finished > 0 {
			server = f.logServer
		}
		a.Logs = rm.LogsURL(server, a.NodeHTTP, a.Node, a.Master, a.User)
	}
	return out
}

func (f *fakeRM) at(id ids.App) int {
	return slices.IndexFunc(f.apps, func(a rm.AppReport) bool { return a.ID == id })
}

func (f *fakeRM) Attempts(_ context.Context, id ids.App) ([]rm.AttemptReport, error) {
	if f.at(id) < 0 {
		return nil, &rm.NotFound{What: "application " + id.String()}
	}
	return f.toldAttempts(id), f.fails
}

func (f *fakeRM) Attempt(_ context.Context, id ids.Attempt) (rm.AttemptReport, error) {
	for _, a := range f.attempts[id.App] {
		if a.ID == id {
			return a, f.fails
		}
	}
	return rm.AttemptReport{}, &rm.NotFound{What: "attempt " + id.String()}
}

func (f *fakeRM) Containers(_ context.Context, id ids.Attempt) ([]rm.ContainerReport, error) {
	if _, err := f.Attempt(context.Background(), id); err != nil {
		return nil, err
	}
	out := slices.Clone(f.containers[id])
	for i := range out {
		out[i] = toldContainer(out[i])
	}
	return out, f.fails
}

func toldContainer(c rm.ContainerReport) rm.ContainerReport {
	c.Limit = cmp.Or(c.Limit, c.Size)
	c.Logs = rm.LogsURL("", c.NodeHTTP, c.Node, c.ID, c.User)
	return c
}

func (f *fakeRM) Container(_ context.Context, id ids.Container) (rm.ContainerReport, error) {
	for _, c := range f.containers[id.Attempt] {
		if c.ID == id {
			return toldContainer(c), f.fails
		}
	}
	return rm.ContainerReport{}, &rm.NotFound{What: "container " + id.String()}
}

func (f *fakeRM) NodeContainers(_ context.Context, id ids.Node) (out []rm.ContainerReport, _ error) {
	for _, list := range f.containers {
		for _, c := range list {
			if c.Node == id {
				out = append(out, toldContainer(c))
			}
		}
	}
	return out, f.fails
}

func (f *fakeRM) Nodes(context.Context) ([]rm.NodeReport, error)    { return f.nodes, f.fails }
func (f *fakeRM) Queues(context.Context) ([]rm.QueueReport, error)  { return f.queues, f.fails }
func (f *fakeRM) Cluster(context.Context) (rm.ClusterReport, error) { return f.cluster, f.fails }
func (f *fakeRM) Health() daemon.Health {
	if !f.ready && f.health.Unready == "" {
		if f.missing > 0 {
			return daemon.Health{Starting: true, Unready: fmt.Sprintf("waiting for %d of 10 nodes", f.missing)}
		}
		return daemon.Health{Starting: true, Unready: "recovering"}
	}
	return f.health
}

func (f *fakeRM) Why(_ context.Context, id ids.App) (rm.Explanation, error) {
	if f.at(id) < 0 {
		return rm.Explanation{}, &rm.NotFound{What: "application " + id.String()}
	}
	e := f.whys[id]
	e.App = id
	return e, f.fails
}

func (f *fakeRM) NewApp(context.Context, string) (ids.App, heddle.Resource, error) {
	return ids.App{Cluster: stockStart, Seq: 7}, heddle.Of(4096, 8000), f.fails
}

// change is the first step of every change.
func (f *fakeRM) change(who daemon.Actor, id ids.App, do func(*rm.AppReport)) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	i := f.at(id)
	switch {
	case f.fails != nil:
		return f.fails
	case f.denies:
		return &rm.Denied{User: who.User, Do: "change", What: id.String()}
	case i < 0:
		return &rm.NotFound{What: "application " + id.String()}
	}
	f.actor = who
	do(&f.apps[i])
	return nil
}

func (f *fakeRM) Kill(ctx context.Context, who daemon.Actor, id ids.App, text string) error {
	return f.change(who, id, func(a *rm.AppReport) {
		f.killed, f.caller = text, daemon.CallerOf(ctx)
		a.State, a.Internal = rm.AppKilled, "KILLED"
	})
}

func (f *fakeRM) Move(_ context.Context, who daemon.Actor, id ids.App, queue string) error {
	if !strings.HasPrefix(queue, "root.") {
		return &rm.Invalid{Class: "org.apache.hadoop.yarn.exceptions.YarnException", Text: "there is no queue " + queue}
	}
	return f.change(who, id, func(a *rm.AppReport) { a.Queue = queue })
}

func (f *fakeRM) SetPriority(_ context.Context, who daemon.Actor, id ids.App, p int32) (int32, error) {
	p = min(p, 10)
	return p, f.change(who, id, func(a *rm.AppReport) { a.Priority = p })
}

func (f *fakeRM) SetLifetime(_ context.Context, who daemon.Actor, id ids.App, until time.Time) error {
	return f.change(who, id, func(a *rm.AppReport) { f.until, a.Lifetime = until, until.UnixMilli() })
}

var errBusy = errors.New("the loop is busy")
