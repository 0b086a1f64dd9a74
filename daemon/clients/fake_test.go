package clients

import (
	"context"
	"fmt"
	"time"

	"heddle"
	"heddle/daemon"
	"heddle/rm"
	"heddle/yarn/ids"
	"heddle/yarn/wire"
)

// The protocols are served from the daemon.
var _ RM = (*daemon.RM)(nil)

// A fake is a daemon that gives preset answers and records what it was asked to do.
type fake struct {
	apps       []rm.AppReport
	attempts   []rm.AttemptReport
	containers []rm.ContainerReport
	nodes      []rm.NodeReport
	queues     []rm.QueueReport
	cluster    rm.ClusterReport
	err        error // of everything that changes something

	filter rm.AppFilter
	done   []string
	caller string // of the last kill
}

func (f *fake) note(format string, args ...any) error {
	f.done = append(f.done, fmt.Sprintf(format, args...))
	return f.err
}

func (f *fake) Apps(_ context.Context, filter rm.AppFilter) ([]rm.AppReport, error) {
	var out []rm.AppReport
	for i := range f.apps {
		if filter.Sees == nil || filter.Sees(&f.apps[i]) {
			out = append(out, f.apps[i])
		}
	}
	if n := len(out) - filter.Limit; filter.Limit > 0 && n > 0 {
		out = out[n:]
	}
	filter.Sees = nil // it cannot be compared
	f.filter = filter
	return out, nil
}

func find[T any](list []T, what string, is func(T) bool) (T, error) {
	for _, v := range list {
		if is(v) {
			return v, nil
		}
	}
	var none T
	return none, &rm.NotFound{What: what}
}

func (f *fake) App(_ context.Context, id ids.App) (rm.AppReport, error) {
	return find(f.apps, "application "+id.String(), func(a rm.AppReport) bool { return a.ID == id })
}

func (f *fake) Attempts(ctx context.Context, id ids.App) ([]rm.AttemptReport, error) {
	_, err := f.App(ctx, id)
	return f.attempts, err
}

func (f *fake) Attempt(_ context.Context, id ids.Attempt) (rm.AttemptReport, error) {
	return find(f.attempts, "attempt "+id.String(), func(a rm.AttemptReport) bool { return a.ID == id })
}

func (f *fake) Containers(ctx context.Context, id ids.Attempt) ([]rm.ContainerReport, error) {
	_, err := f.Attempt(ctx, id)
	return f.containers, err
}

func (f *fake) Container(_ context.Context, id ids.Container) (rm.ContainerReport, error) {
	return find(f.containers, "container "+id.String(), func(c rm.ContainerReport) bool { return c.ID == id })
}

func (f *fake) Nodes(context.Context) ([]rm.NodeReport, error)   { return f.nodes, nil }
func (f *fake) Queues(context.Context) ([]rm.QueueReport, error) { return f.queues, nil }
func (f *fake) Cluster(context.Context) (rm.ClusterReport, error) {
	return f.cluster, nil
}

func (f *fake) NewApp(context.Context, string) (ids.App, heddle.Resource, error) {
	return ids.App{Cluster: started, Seq: 1}, heddle.Of(4096, 8000), nil
}

func (f *fake) Submit(_ context.Context, user string, c *wire.ApplicationSubmissionContext) error {
	return f.note("submit %s %s", user, c.GetApplicationName())
}

func (f *fake) Kill(ctx context.Context, who daemon.Actor, id ids.App, diagnostics string) error {
	f.caller = daemon.CallerOf(ctx)
	return f.note("kill {%s %s} %s %q", who.User, who.Addr, id, diagnostics)
}

func (f *fake) FailAttempt(_ context.Context, _ daemon.Actor, id ids.Attempt) error {
	return f.note("fail %s", id)
}

func (f *fake) Move(_ context.Context, _ daemon.Actor, id ids.App, queue string) error {
	return f.note("move %s %s", id, queue)
}

func (f *fake) SetPriority(_ context.Context, _ daemon.Actor, id ids.App, priority int32) (int32, error) {
	return min(priority, 10), f.note("priority %s %d", id, priority)
}

func (f *fake) SetLifetime(_ context.Context, _ daemon.Actor, id ids.App, until time.Time) error {
	return f.note("lifetime %s %d", id, until.UnixMilli())
}

func (f *fake) Signal(_ context.Context, _ daemon.Actor, id ids.Container, command wire.SignalContainerCommand) error {
	return f.note("signal %s %s", id, command)
}

func (f *fake) ForgetGroups() { _ = f.note("groups") }

func (f *fake) RefreshQueues(context.Context) error { return f.note("queues") }

func (f *fake) RefreshNodes(_ context.Context, graceful bool, timeout time.Duration) error {
	return f.note("nodes %t %d", graceful, timeout)
}

func (f *fake) Decommissioning(context.Context) ([]ids.Node, error) {
	return []ids.Node{{Host: "n1", Port: 1}}, nil
}

func (f *fake) ResizeNode(_ context.Context, id ids.Node, total heddle.Resource) error {
	return f.note("resize %s %v", id, total)
}
