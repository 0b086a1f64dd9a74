package daemon

import (
	"cmp"
	"context"
	"log/slog"
	"slices"
	"time"

	"heddle"
	"heddle/daemon/store"
	"heddle/rm"
	"heddle/yarn/ids"
	"heddle/yarn/wire"
)

// defaultQueue is the queue of a submission that names none.
const defaultQueue = "default"

// An Actor is who asks for something to be changed. Addr is empty over REST.
type Actor struct{ User, Addr string }

// person looks up an actor's groups. It is not for the loop: a directory may be asked.
func (r *RM) person(who Actor) rm.Person {
	p := rm.Person{User: who.User, Addr: who.Addr}
	if r.cfg.ACLs {
		p.Groups = r.Groups(who.User)
	}
	return p
}

// Groups are a user's groups, as the configuration and this machine have them. It may take a while.
func (r *RM) Groups(user string) []string { return r.placer.Load().Groups(user) }

// NewApp returns an id for an application that the user is to submit, and the largest container there can be.
func (r *RM) NewApp(ctx context.Context, user string) (ids.App, heddle.Resource, error) {
	a, err := say[rm.NewAppID](ctx, r, changeLane, func(c rm.Call) rm.Message { return &rm.NewApp{Call: c, User: user} })
	return a.ID, a.Largest, err
}

// Submit takes an application in. It returns once that is stored. Submitting one again that is there does
// nothing: its client did not hear the first answer.
func (r *RM) Submit(ctx context.Context, user string, c *wire.ApplicationSubmissionContext) error {
	s, wrong := r.units().Submission(c)
	m := &rm.SubmitApp{Who: r.person(Actor{User: user}), Queue: cmp.Or(c.GetQueue(), defaultQueue), App: s}
	if wrong != nil {
		m.Wrong = wrong.Error()
	}
	place := rm.Placement{User: user, Queue: m.Queue, Tags: s.Tags, Name: s.Name}
	if queue, err := r.placer.Load().Place(place); err != nil {
		m.Misplaced = err.Error()
	} else {
		m.Queue = queue
	}
	return r.change(ctx, func(c rm.Call) rm.Message {
		if m.Call = c; r.store != nil {
			m.Unwritten = r.store.Waiting()
		}
		return m
	})
}

// change says something that is answered with no more than that it is done.
func (r *RM) change(ctx context.Context, with func(rm.Call) rm.Message) error {
	_, err := say[any](ctx, r, changeLane, with)
	return err
}

// Kill ends an application. It returns once its end is stored.
func (r *RM) Kill(ctx context.Context, who Actor, id ids.App, diagnostics string) error {
	p := r.person(who)
	return r.change(ctx, func(c rm.Call) rm.Message { return &rm.KillApp{Call: c, Who: p, App: id, Diagnostics: diagnostics} })
}

// FailAttempt ends an attempt as if its master had failed.
func (r *RM) FailAttempt(ctx context.Context, who Actor, id ids.Attempt) error {
	p := r.person(who)
	return r.change(ctx, func(c rm.Call) rm.Message { return &rm.FailAttempt{Call: c, Who: p, Attempt: id} })
}

// Move takes an application to another leaf queue. It returns once that is stored.
func (r *RM) Move(ctx context.Context, who Actor, id ids.App, queue string) error {
	p := r.person(who)
	return r.change(ctx, func(c rm.Call) rm.Message { return &rm.MoveApp{Call: c, Who: p, App: id, Queue: queue} })
}

// SetPriority gives an application another priority, cut to the cluster's maximum, and returns what it came to.
func (r *RM) SetPriority(ctx context.Context, who Actor, id ids.App, priority int32) (int32, error) {
	p := r.person(who)
	return say[int32](ctx, r, changeLane, func(c rm.Call) rm.Message { return &rm.SetPriority{Call: c, Who: p, App: id, Priority: priority} })
}

// SetLifetime says when an application is killed that is not over by then.
func (r *RM) SetLifetime(ctx context.Context, who Actor, id ids.App, until time.Time) error {
	p := r.person(who)
	return r.change(ctx, func(c rm.Call) rm.Message {
		return &rm.SetLifetime{Call: c, Who: p, App: id, Until: until.UnixMilli()}
	})
}

// Signal has a node signal a container with its next report.
func (r *RM) Signal(ctx context.Context, who Actor, id ids.Container, command wire.SignalContainerCommand) error {
	p := r.person(who)
	return r.change(ctx, func(c rm.Call) rm.Message {
		return &rm.SignalContainer{Call: c, Who: p, Container: id, Command: int32(command)}
	})
}

// RefreshQueues reads the scheduler's configuration again and goes on with what it says: queues, limits, profile.
// What runs stays, in the queue of the same path; what waits keeps its place by submission, but not what a policy
// had learnt of it. Where a queue is gone that still has applications, the largest container shrinks while there are
// any, or the configuration is wrong, nothing changes.
func (r *RM) RefreshQueues(ctx context.Context) error {
	if r.refresh == nil {
		return rm.Unfit("this ResourceManager was started with a scheduler that cannot change")
	}
	sch, err := r.refresh()
	if err != nil {
		return err
	}
	err = r.change(ctx, func(c rm.Call) rm.Message { return &rm.Refresh{Call: c, Scheduler: sch} })
	if err == nil {
		LogOff(r.log, sch)
		r.log.Info("scheduler configuration read again", "profile", sch.Profile)
	}
	return err
}

// LogOff leaves a line for each mechanism of a scheduler's profile that is off.
func LogOff(log *slog.Logger, sch *rm.Scheduler) {
	for _, off := range sch.Off {
		log.Warn("a mechanism of the profile is off", "what", off)
	}
}

// RefreshNodes reads the lists of hosts again; where one cannot be read, nothing changes. NodeManagers that may no
// longer be there go: at once, or, where graceful, when what runs there has ended or the timeout has passed; none if
// the timeout is negative.
func (r *RM) RefreshNodes(ctx context.Context, graceful bool, timeout time.Duration) error {
	lists, err := r.readHosts()
	if err != nil {
		return err
	}
	return r.change(ctx, func(c rm.Call) rm.Message {
		return &rm.RefreshNodes{Call: c, Lists: lists, Graceful: graceful, Timeout: heddle.Span(timeout)}
	})
}

// ResizeNode changes what a node offers. Its NodeManager is told with its next report.
func (r *RM) ResizeNode(ctx context.Context, id ids.Node, total heddle.Resource) error {
	return r.change(ctx, func(c rm.Call) rm.Message { return &rm.ResizeNode{Call: c, Node: id, Total: total} })
}

// recovered is what the store holds, as the machine takes it.
func (r *RM) recovered(s *store.State) []rm.Recovered {
	if d := s.Salvaged; d != nil {
		r.log.Error("the store was damaged; what could be read of it is in a new one, and the damaged file is kept", "kept", d.Kept, "pages", len(d.Damage), "lost", len(d.Lost), "records", d.Records)
		if d.Older {
			r.log.Error("the last commit of the store is lost, and the one before counts")
		}
		for _, p := range d.Damage {
			r.log.Error("a page of the store is damaged", "page", p.Page, "bucket", p.Bucket, "reason", p.Reason)
		}
		for _, b := range d.Lost {
			r.log.Error("lost with the damaged store", "bucket", b.Bucket, "key", b.Key, "reason", b.Reason)
		}
	}
	if s.Copied {
		r.log.Warn("the store is a copy: what was stored after it was made is unknown, and the numbers of attempts and containers go on far above those that it knows", "epoch", s.Epoch)
	}
	for _, b := range s.Bad {
		r.log.Error("a record of the store cannot be used; it is left alone, and so is what it belongs to", "bucket", b.Bucket, "key", b.Key, "reason", b.Reason)
	}
	attempts := map[ids.App][]rm.AttemptRecord{}
	for _, t := range s.Attempts {
		attempts[t.ID.App] = append(attempts[t.ID.App], t)
	}
	out := make([]rm.Recovered, 0, len(s.Apps))
	for _, rec := range s.Apps {
		sub, err := r.units().Stored(rec.Context)
		if err != nil {
			r.log.Error("an application of the store cannot be read; it is left alone", "app", rec.ID, "error", err)
			continue
		}
		sub.ID = rec.ID
		out = append(out, rm.Recovered{AppRecord: rec, Attempts: attempts[rec.ID], Submission: sub})
	}
	return out
}

// explained is for how many applications a list says what they wait for: to find out looks at every node.
const explained = 10

// Apps returns the applications a filter lets through, oldest first. Of those that wait, only the newest say what
// for.
func (r *RM) Apps(ctx context.Context, f rm.AppFilter) ([]rm.AppReport, error) {
	list, err := look(ctx, r, func(v *published) ([]rm.AppReport, error) { return v.Apps(&f, r.now()), nil })
	waiting, until := 0, time.Now().Add(explainWithin)
	for i := len(list) - 1; i >= 0 && waiting < explained; i-- {
		if list[i].State == rm.AppAccepted {
			waiting++
			r.explain(ctx, &list[i], until)
		}
	}
	if err == nil {
		err = ReadingOf(ctx).Turn(ctx) // for what the caller makes of them
	}
	return list, err
}

// CountApps counts the applications a filter lets through, by state.
func (r *RM) CountApps(ctx context.Context, f rm.AppFilter) (map[rm.AppState]int, error) {
	return look(ctx, r, func(v *published) (map[rm.AppState]int, error) { return v.Count(&f), nil })
}

// App returns one application, without its requests and attempts.
func (r *RM) App(ctx context.Context, id ids.App) (rm.AppReport, error) {
	a, err := look(ctx, r, func(v *published) (rm.AppReport, error) { return v.App(id, r.now()) })
	r.explain(ctx, &a, time.Now().Add(explainWithin))
	return a, err
}

// The questions that are asked of the machine, by what they are about.
type (
	appQuestion        struct{ id ids.App }
	whyQuestion        struct{ id ids.App }
	waitQuestion       struct{ id ids.App }
	attemptsQuestion   struct{ id ids.App }
	attemptQuestion    struct{ id ids.Attempt }
	containersQuestion struct {
		id    ids.Attempt
		above int64
	}
	containerQuestion struct{ id ids.Container }
	nodeQuestion      struct{ id ids.Node }
)

// WholeApp returns one application with its requests and attempts.
func (r *RM) WholeApp(ctx context.Context, id ids.App) (rm.AppReport, error) {
	return ask(ctx, r, appQuestion{id}, func(m rm.Reports) (rm.AppReport, error) { return m.App(id) })
}

// requestsAtOnce is for how many applications the machine is asked at a time what they ask for.
const requestsAtOnce = 32

// AddRequests adds to reports of applications what these ask for.
func (r *RM) AddRequests(ctx context.Context, list []rm.AppReport) error {
	var some []*rm.AppReport
	for i := range list {
		if p := &list[i].Pending; p.MemoryMiB > 0 || p.Vcores > 0 || len(p.Extra) > 0 {
			some = append(some, &list[i])
		}
	}
	for part := range slices.Chunk(some, requestsAtOnce) {
		rows, err := ask(ctx, r, &part, func(m rm.Reports) ([][]rm.RequestReport, error) {
			rows := make([][]rm.RequestReport, len(part))
			for i, a := range part {
				rows[i] = m.Requests(a.ID)
			}
			return rows, nil
		})
		if err != nil {
			return err
		}
		for i, a := range part {
			a.Requests = rows[i]
		}
	}
	return ReadingOf(ctx).Turn(ctx) // for what the caller makes of them
}

// Attempts returns an application's attempts, first one first.
func (r *RM) Attempts(ctx context.Context, id ids.App) ([]rm.AttemptReport, error) {
	return ask(ctx, r, attemptsQuestion{id}, func(m rm.Reports) ([]rm.AttemptReport, error) { return m.Attempts(id) })
}

// Attempt returns one attempt.
func (r *RM) Attempt(ctx context.Context, id ids.Attempt) (rm.AttemptReport, error) {
	return ask(ctx, r, attemptQuestion{id}, func(m rm.Reports) (rm.AttemptReport, error) { return m.Attempt(id) })
}

// Containers returns the containers an attempt holds, by number: those that it held all the while, and perhaps others. The
// machine is asked for some of them at a time.
func (r *RM) Containers(ctx context.Context, id ids.Attempt) ([]rm.ContainerReport, error) {
	var all []rm.ContainerReport
	for above := int64(0); ; {
		part, err := ask(ctx, r, containersQuestion{id, above}, func(m rm.Reports) ([]rm.ContainerReport, error) { return m.Containers(id, above, piece) })
		if err != nil {
			return nil, err
		}
		if all = append(all, part...); len(part) < piece {
			return all, nil
		}
		above = part[piece-1].ID.ID
	}
}

// NodeContainers returns the containers on a node, by id.
func (r *RM) NodeContainers(ctx context.Context, id ids.Node) ([]rm.ContainerReport, error) {
	return ask(ctx, r, nodeQuestion{id}, func(m rm.Reports) ([]rm.ContainerReport, error) { return m.NodeContainers(id) })
}

// Container returns one container that has not ended.
func (r *RM) Container(ctx context.Context, id ids.Container) (rm.ContainerReport, error) {
	return ask(ctx, r, containerQuestion{id}, func(m rm.Reports) (rm.ContainerReport, error) { return m.Container(id) })
}

// Nodes returns every NodeManager that was ever here, by id.
func (r *RM) Nodes(ctx context.Context) ([]rm.NodeReport, error) {
	return look(ctx, r, func(v *published) ([]rm.NodeReport, error) { return v.Nodes(), nil })
}

// Node returns one NodeManager.
func (r *RM) Node(ctx context.Context, id ids.Node) (rm.NodeReport, error) {
	return look(ctx, r, func(v *published) (rm.NodeReport, error) { return v.Node(id) })
}

// Decommissioning returns the nodes that are on their way out.
func (r *RM) Decommissioning(ctx context.Context) ([]ids.Node, error) {
	return look(ctx, r, func(v *published) ([]ids.Node, error) { return v.Decommissioning(), nil })
}

// Queues returns every queue, the root first. They are shared: nobody may change them.
func (r *RM) Queues(ctx context.Context) ([]rm.QueueReport, error) {
	return look(ctx, r, func(v *published) ([]rm.QueueReport, error) { return v.queues(), nil })
}

// Cluster returns the cluster in figures.
func (r *RM) Cluster(ctx context.Context) (rm.ClusterReport, error) {
	return look(ctx, r, func(v *published) (rm.ClusterReport, error) {
		p := v.Cluster()
		p.BusyPercent, p.Queue = r.busy.percent(), r.lanes.waiting()
		return p, nil
	})
}

// Why says what an application waits for. One that is over, or not yet with the scheduler, waits for nothing.
func (r *RM) Why(ctx context.Context, id ids.App) (rm.Explanation, error) {
	return ask(ctx, r, whyQuestion{id}, func(m rm.Reports) (rm.Explanation, error) { return m.Why(id) })
}
