package daemon

import (
	"cmp"
	"context"
	"errors"
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

// An Actor is the caller that asks for a change. Addr is empty over REST. RealUser is a proxy user who acts for User; it
// is empty if User itself does.
type Actor struct{ User, Addr, RealUser string }

// asPerson is say for a change by an actor. If it is denied to the name alone, and a list that applies names groups, it
// looks the actor's groups up and tries again, so it must not run in the loop: it may ask a directory service. If the
// groups are not known, the error is ErrNoGroups and not that the change is denied.
func asPerson[T any](ctx context.Context, r *RM, who Actor, with func(rm.Call, rm.Person) rm.Message) (T, error) {
	p := rm.Person{User: who.User, Addr: who.Addr}
	try := func() (T, error) {
		return say[T](ctx, r, changeLane, func(c rm.Call) rm.Message { return with(c, p) })
	}
	v, err := try()
	if denied, is := errors.AsType[*rm.Denied](err); !is || !denied.Groups {
		return v, err
	}
	groups, unsure := r.Groups(who.User)
	if unsure != nil {
		return v, unsure
	}
	if len(groups) == 0 {
		return v, err
	}
	p.Groups = groups
	return try()
}

// changeBy is asPerson for a change whose answer is only that it is done.
func (r *RM) changeBy(ctx context.Context, who Actor, with func(rm.Call, rm.Person) rm.Message) error {
	_, err := asPerson[any](ctx, r, who, with)
	return err
}

// Groups returns a user's groups according to the configuration and this host. It may take a while. If they cannot be
// looked up, the error is ErrNoGroups.
func (r *RM) Groups(user string) ([]string, error) { return r.placer.Load().Groups(user) }

// ForgetGroups has the groups of every user looked up again.
func (r *RM) ForgetGroups() {
	if forget := r.placer.Load().ForgetGroups; forget != nil {
		forget()
	}
}

// NewApp returns an id for an application that the user will submit, and the size of the largest possible container.
func (r *RM) NewApp(ctx context.Context, user string) (ids.App, heddle.Resource, error) {
	a, err := say[rm.NewAppID](ctx, r, changeLane, func(c rm.Call) rm.Message { return &rm.NewApp{Call: c, User: user} })
	return a.ID, a.Largest, err
}

// Submit accepts an application. It returns once the application is stored. Submitting an existing application again
// does nothing: its client missed the first answer. If ctx belongs to a [Reading], c is translated in its turn.
func (r *RM) Submit(ctx context.Context, user string, c *wire.ApplicationSubmissionContext) error {
	reading := ReadingOf(ctx)
	if err := reading.Turn(ctx); err != nil {
		return err
	}
	s, wrong := r.units.Submission(c)
	reading.Pause()
	m := &rm.SubmitApp{Queue: cmp.Or(c.GetQueue(), defaultQueue), App: s}
	if wrong != nil {
		m.Wrong = wrong.Error()
	}
	place := rm.Placement{User: user, Queue: m.Queue, Tags: s.Tags, Name: s.Name}
	switch queue, err := r.placer.Load().Place(place); {
	case errors.Is(err, ErrNoGroups):
		return err
	case err != nil:
		m.Misplaced = err.Error()
	default:
		m.Queue = queue
	}
	return r.changeBy(ctx, Actor{User: user}, func(c rm.Call, p rm.Person) rm.Message {
		if m.Call, m.Who = c, p; r.store != nil {
			m.Unwritten = r.store.Waiting()
		}
		return m
	})
}

// change sends a message whose answer is only that it is done.
func (r *RM) change(ctx context.Context, with func(rm.Call) rm.Message) error {
	_, err := say[any](ctx, r, changeLane, with)
	return err
}

// Kill ends an application. It returns once the end is stored.
func (r *RM) Kill(ctx context.Context, who Actor, id ids.App, diagnostics string) error {
	return r.changeBy(ctx, who, func(c rm.Call, p rm.Person) rm.Message {
		return &rm.KillApp{Call: c, Who: p, App: id, Diagnostics: diagnostics}
	})
}

// FailAttempt ends an attempt as if its master had failed.
func (r *RM) FailAttempt(ctx context.Context, who Actor, id ids.Attempt) error {
	return r.changeBy(ctx, who, func(c rm.Call, p rm.Person) rm.Message { return &rm.FailAttempt{Call: c, Who: p, Attempt: id} })
}

// Move moves an application to another leaf queue. It returns once the move is stored.
func (r *RM) Move(ctx context.Context, who Actor, id ids.App, queue string) error {
	return r.changeBy(ctx, who, func(c rm.Call, p rm.Person) rm.Message { return &rm.MoveApp{Call: c, Who: p, App: id, Queue: queue} })
}

// SetPriority changes an application's priority, limited to the cluster's maximum, and returns the resulting priority.
func (r *RM) SetPriority(ctx context.Context, who Actor, id ids.App, priority int32) (int32, error) {
	return asPerson[int32](ctx, r, who, func(c rm.Call, p rm.Person) rm.Message {
		return &rm.SetPriority{Call: c, Who: p, App: id, Priority: priority}
	})
}

// SetLifetime sets the time at which an application is killed if it has not ended.
func (r *RM) SetLifetime(ctx context.Context, who Actor, id ids.App, until time.Time) error {
	return r.changeBy(ctx, who, func(c rm.Call, p rm.Person) rm.Message {
		return &rm.SetLifetime{Call: c, Who: p, App: id, Until: until.UnixMilli()}
	})
}

// Signal has a node signal a container in the answer to its next heartbeat.
func (r *RM) Signal(ctx context.Context, who Actor, id ids.Container, command wire.SignalContainerCommand) error {
	return r.changeBy(ctx, who, func(c rm.Call, p rm.Person) rm.Message {
		return &rm.SignalContainer{Call: c, Who: p, Container: id, Command: int32(command)}
	})
}

// RefreshQueues reads the scheduler's configuration again and applies it: queues, limits, profile. Whatever runs stays
// in the queue of the same path. Whatever waits keeps its place by submission, but not what a policy had learnt about
// it. Nothing changes if a queue is gone that still has applications, if the largest container shrinks while there are
// applications, if the configuration is wrong, or if it needs a restart.
func (r *RM) RefreshQueues(ctx context.Context) error {
	if r.refresh == nil {
		return rm.Unfit("this ResourceManager was started with a scheduler that cannot change")
	}
	return r.inSlot(ctx, r.readsQueues, func() error {
		sch, err := r.refresh()
		if err != nil {
			return err
		}
		err = r.change(ctx, func(c rm.Call) rm.Message { return &rm.Refresh{Call: c, Scheduler: sch} })
		if err == nil {
			LogOff(r.log, sch)
			r.log.Info("scheduler configuration reloaded", "profile", sch.Profile)
		}
		return err
	})
}

// inSlot runs f once it has the slot, which one caller has at a time.
func (r *RM) inSlot(ctx context.Context, slot chan struct{}, f func() error) error {
	select {
	case slot <- struct{}{}:
		defer func() { <-slot }()
		return f()
	case <-ctx.Done():
		return ctx.Err()
	case <-r.done:
		return ErrStopping
	}
}

// LogOff writes a log line for each mechanism of a scheduler's profile that is off.
func LogOff(log *slog.Logger, sch *rm.Scheduler) {
	for _, off := range sch.Off {
		log.Warn("a mechanism of the profile is off", "what", off)
	}
}

// RefreshNodes reads the host lists again; if one cannot be read, nothing changes. NodeManagers that are no longer
// allowed leave: at once or, if graceful, when their containers have ended or the timeout has passed. A negative
// timeout means no timeout.
func (r *RM) RefreshNodes(ctx context.Context, graceful bool, timeout time.Duration) error {
	return r.inSlot(ctx, r.readsHosts, func() error {
		lists, err := r.readHosts()
		if err != nil {
			return err
		}
		return r.change(ctx, func(c rm.Call) rm.Message {
			return &rm.RefreshNodes{Call: c, Lists: lists, Graceful: graceful, Timeout: heddle.Span(timeout)}
		})
	})
}

// ResizeNode changes what a node offers. Its NodeManager learns of it in the answer to its next heartbeat.
func (r *RM) ResizeNode(ctx context.Context, id ids.Node, total heddle.Resource) error {
	return r.change(ctx, func(c rm.Call) rm.Message { return &rm.ResizeNode{Call: c, Node: id, Total: total} })
}

// recovered returns the contents of the store in the form that the machine takes.
func (r *RM) recovered(s *store.State) []rm.Recovered {
	if d := s.Salvaged; d != nil {
		r.log.Error("the store was damaged; its readable records are in a new store, and the damaged file is kept", "kept", d.Kept, "pages", len(d.Damage), "lost", len(d.Lost), "records", d.Records)
		if d.Older {
			r.log.Error("the record of the store's last commit is damaged; the data may be that of the commit before")
		}
		for _, p := range d.Damage {
			r.log.Error("a page of the store is damaged", "page", p.Page, "bucket", p.Bucket, "reason", p.Reason)
		}
		for _, b := range d.Lost {
			r.log.Error("a record was lost with the damaged store", "bucket", b.Bucket, "key", b.Key, "reason", b.Reason)
		}
	}
	if s.Copied {
		r.log.Warn("the store is a copy: changes since the copy are unknown, and new attempts and containers get much higher numbers than those in it", "epoch", s.Epoch)
	}
	if s.Interrupted {
		r.log.Warn("the last start was interrupted while it converted the store, and the last commit before it may be lost; new attempts get much higher numbers than those in the store", "epoch", s.Epoch)
	}
	for _, b := range s.Bad {
		r.log.Error("a record of the store cannot be used; it is ignored, together with what it belongs to", "bucket", b.Bucket, "key", b.Key, "reason", b.Reason)
	}
	attempts := map[ids.App][]rm.AttemptRecord{}
	for _, t := range s.Attempts {
		attempts[t.ID.App] = append(attempts[t.ID.App], t)
	}
	out := make([]rm.Recovered, 0, len(s.Apps))
	for _, rec := range s.Apps {
		sub, err := r.units.Stored(rec.Context)
		if err != nil {
			r.log.Error("an application of the store cannot be read; it is ignored", "app", rec.ID, "error", err)
			continue
		}
		sub.ID = rec.ID
		out = append(out, rm.Recovered{AppRecord: rec, Attempts: attempts[rec.ID], Submission: sub})
	}
	return out
}

// explained is for how many applications a list says what they wait for: finding that out means looking at every node.
const explained = 10

// Apps returns the applications that match a filter, oldest first. Of the waiting ones, only the newest say what they
// wait for.
func (r *RM) Apps(ctx context.Context, f rm.AppFilter) ([]rm.AppReport, error) {
	list, err := look(ctx, r, func(v *published) ([]rm.AppReport, error) {
		return v.Apps(&f, r.now(), func(i int) error { return Breathe(ctx, i) })
	})
	waiting, until := 0, time.Now().Add(explainWithin)
	for i := len(list) - 1; i >= 0 && waiting < explained; i-- {
		if list[i].State == rm.AppAccepted {
			waiting++
			r.explain(ctx, &list[i], until)
		}
	}
	if err == nil {
		err = ReadingOf(ctx).Turn(ctx) // for what the caller makes of the list
	}
	return list, err
}

// CountApps returns the number of applications that match a filter, by state.
func (r *RM) CountApps(ctx context.Context, f rm.AppFilter) (map[rm.AppState]int, error) {
	return look(ctx, r, func(v *published) (map[rm.AppState]int, error) { return v.Count(&f), nil })
}

// App returns one application without its requests and attempts.
func (r *RM) App(ctx context.Context, id ids.App) (rm.AppReport, error) {
	a, err := look(ctx, r, func(v *published) (rm.AppReport, error) { return v.App(id, r.now()) })
	r.explain(ctx, &a, time.Now().Add(explainWithin))
	return a, err
}

// Keys of the questions that are asked of the machine, by subject.
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

// requestsAtOnce is how many applications the machine is asked about at a time in AddRequests.
const requestsAtOnce = 32

// AddRequests adds to application reports what the applications ask for.
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
	return ReadingOf(ctx).Turn(ctx) // for what the caller makes of the list
}

// Attempts returns an application's attempts, the first one first.
func (r *RM) Attempts(ctx context.Context, id ids.App) ([]rm.AttemptReport, error) {
	return ask(ctx, r, attemptsQuestion{id}, func(m rm.Reports) ([]rm.AttemptReport, error) { return m.Attempts(id) })
}

// Attempt returns one attempt.
func (r *RM) Attempt(ctx context.Context, id ids.Attempt) (rm.AttemptReport, error) {
	return ask(ctx, r, attemptQuestion{id}, func(m rm.Reports) (rm.AttemptReport, error) { return m.Attempt(id) })
}

// Containers returns the containers an attempt holds, by number: those that it held throughout the call, and possibly
// others. It asks the machine for some of them at a time.
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

// Container returns a container that has not ended.
func (r *RM) Container(ctx context.Context, id ids.Container) (rm.ContainerReport, error) {
	return ask(ctx, r, containerQuestion{id}, func(m rm.Reports) (rm.ContainerReport, error) { return m.Container(id) })
}

// Nodes returns every NodeManager that ever registered, by id.
func (r *RM) Nodes(ctx context.Context) ([]rm.NodeReport, error) {
	return look(ctx, r, func(v *published) ([]rm.NodeReport, error) {
		return v.Nodes(func(i int) error { return Breathe(ctx, i) })
	})
}

// Node returns one NodeManager.
func (r *RM) Node(ctx context.Context, id ids.Node) (rm.NodeReport, error) {
	return look(ctx, r, func(v *published) (rm.NodeReport, error) { return v.Node(id) })
}

// Decommissioning returns the nodes that are being decommissioned.
func (r *RM) Decommissioning(ctx context.Context) ([]ids.Node, error) {
	return look(ctx, r, func(v *published) ([]ids.Node, error) { return v.Decommissioning(), nil })
}

// Queues returns every queue, the root first. The result is shared; callers must not change it.
func (r *RM) Queues(ctx context.Context) ([]rm.QueueReport, error) {
	return look(ctx, r, func(v *published) ([]rm.QueueReport, error) { return v.queues(), nil })
}

// Cluster returns the cluster's figures.
func (r *RM) Cluster(ctx context.Context) (rm.ClusterReport, error) {
	return look(ctx, r, func(v *published) (rm.ClusterReport, error) {
		p := v.Cluster()
		p.BusyPercent, p.Queue = r.busy.percent(), r.lanes.waiting()
		return p, nil
	})
}

// Why explains what an application waits for. One that has ended, or has not reached the scheduler, waits for nothing.
func (r *RM) Why(ctx context.Context, id ids.App) (rm.Explanation, error) {
	return ask(ctx, r, whyQuestion{id}, func(m rm.Reports) (rm.Explanation, error) { return m.Why(id) })
}
