package rm

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"google.golang.org/protobuf/proto"

	"heddle"
	"heddle/rm/store"
	"heddle/yarn/conv"
	"heddle/yarn/ids"
	"heddle/yarn/wire"
)

// What a submission may be, as YARN has it.
const (
	maxTypeLength  = 20
	maxTags        = 10
	maxTagLength   = 100
	maxName        = 1024                // bytes, of applications, users and queues
	maxLogContext  = 16 << 10            // bytes
	maxUnwritten   = 8 << 20             // bytes on their way to the disk before submissions have to come again
	maxLifetime    = 100 * 365 * 86400   // seconds
	maxContext     = store.MaxRecord / 2 // bytes of a submission, which the store keeps as text
	maxURL         = 8192                // bytes, of what a master says of itself
	maxDiagnostics = 64 << 10            // bytes that are kept of a text for people
	defaultQueue   = "default"
	defaultType    = "YARN"
	noName         = "N/A"
)

// NewApp returns an id for an application that is to be submitted, and the largest container there can be.
func (r *RM) NewApp(ctx context.Context) (ids.App, heddle.Resource, error) {
	var most heddle.Resource
	id, err := read(ctx, r, func() (ids.App, error) {
		r.seq++
		most = r.maximum()
		return ids.App{Cluster: r.cluster, Seq: r.seq}, nil
	})
	return id, most, err
}

// Submit takes an application in. It returns once that is stored. Submitting one again that is there does
// nothing: its client did not hear the first answer.
func (r *RM) Submit(ctx context.Context, user string, c *wire.ApplicationSubmissionContext) error {
	where, p := r.place(user, c), r.person(Actor{User: user}) // outside the loop: groups may be looked up
	_, err := call(ctx, r, func(reply func(struct{}, error)) {
		done := func(err error) { reply(struct{}{}, err) }
		id := conv.App(c.GetApplicationId())
		if id.Cluster <= 0 || id.Seq <= 0 || id.Cluster == r.cluster && id.Seq > r.seq {
			done(invalid(classYarn, "the submission has no application id that was given: %s; ask for one with getNewApplication", id))
			return
		}
		if a := r.byApp[id]; a != nil {
			if a.state == string(AppSaving) {
				a.saved = append(a.saved, func() { done(nil) })
				return
			}
			done(nil)
			return
		}
		if r.store != nil && r.store.Waiting() > maxUnwritten {
			done(invalid(classRetry, "%s is not taken in: the disk is %d bytes behind; try again", id, r.store.Waiting()))
			return
		}
		a, err := r.newApp(id, user, where, c)
		if err == nil && where.err == nil && !r.maySubmit(p, where.queue) {
			err = &Denied{user, "submit applications to", where.queue}
		}
		if err != nil {
			done(err)
			return
		}
		rec := a.record()
		if len(rec.Context) > maxContext {
			done(invalid(classYarn, "the submission of %s has %d bytes; at most %d are kept of one", id, len(rec.Context), maxContext))
			return
		}
		if where.err == nil {
			where.err = r.create(where.queue)
		}
		if where.err != nil { // it is taken in all the same, and fails: its client polls for that
			a.kill = fmt.Sprintf("Failed to submit application %s: %v", a.id, where.err)
		}
		r.byApp[id] = a
		r.counts.submitted++
		a.saved = append(a.saved, func() { done(nil) })
		r.commit(func() { r.appStored(a) }, store.PutApp(rec))
	})
	return err
}

// newApp checks a submission and makes an application of it.
func (r *RM) newApp(id ids.App, user string, where placed, c *wire.ApplicationSubmissionContext) (*app, error) {
	if c.GetUnmanagedAm() {
		return nil, invalid(classYarn, "%s has an unmanaged ApplicationMaster; only masters that run in containers are supported", id)
	}
	if len(user) > maxName || len(where.queue) > maxName {
		return nil, invalid(classYarn, "%s is of a user, or for a queue, whose name has more than %d bytes", id, maxName)
	}
	size, err := r.masterSize(where.queue, c)
	if err != nil {
		return nil, err
	}
	if n := proto.Size(c.GetLogAggregationContext()); n > maxLogContext {
		return nil, invalid(classYarn, "the log aggregation context of %s has %d bytes; at most %d go into the token of every container", id, n, maxLogContext)
	}
	if len(c.GetApplicationName()) > maxName {
		c.ApplicationName = new(clip(c.GetApplicationName(), maxName))
	}
	if len(c.GetApplicationTags()) > maxTags {
		return nil, invalid(classYarn, "Too many applicationTags, a maximum of only %d are allowed; %s has %d", maxTags, id, len(c.GetApplicationTags()))
	}
	now := time.Now()
	a := r.appOf(id, user, size, c)
	a.priority, a.state = min(max(r.priority(where.queue, c), 0), r.cfg.MaxPriority), string(AppSaving)
	a.submitted, a.started = now.UnixMilli(), now.UnixMilli()
	for _, t := range c.GetApplicationTags() {
		if len(t) > maxTagLength || strings.ContainsFunc(t, func(x rune) bool { return x >= utf8.RuneSelf }) {
			return nil, invalid(classYarn, "A tag can only have ASCII characters and at most %d of them; %q is not one", maxTagLength, t)
		}
	}
	for _, t := range c.GetApplicationTimeouts() {
		if s := t.GetTimeout(); s > 0 {
			a.lifetime = now.Add(time.Duration(min(s, maxLifetime)) * time.Second).UnixMilli()
		}
	}
	a.queue = where.queue
	return a, nil
}

// appOf is what a submission says of an application, new or found in the store.
func (r *RM) appOf(id ids.App, user string, master heddle.Resource, c *wire.ApplicationSubmissionContext) *app {
	a := &app{
		id: id, aid: heddle.NoApp, user: user, name: cmp.Or(c.GetApplicationName(), noName),
		kind: clip(cmp.Or(c.GetApplicationType(), defaultType), maxTypeLength), context: c, master: master,
		nodes: map[*node]bool{}, logs: "NOT_START", maxAttempts: r.cfg.MaxAttempts,
	}
	a.framework = frameworkOf(a.kind)
	for _, t := range c.GetApplicationTags() {
		a.tags = append(a.tags, strings.ToLower(t))
	}
	for _, acl := range c.GetAmContainerSpec().GetApplication_ACLs() {
		if acl.GetAccessType() == wire.ApplicationAccessType_APPACCESS_VIEW_APP {
			a.viewers = ACL(acl.GetAcl())
		}
	}
	if n := c.GetMaxAppAttempts(); n > 0 {
		a.maxAttempts = n
	}
	a.maxAttempts = min(a.maxAttempts, r.cfg.GlobalAttempts)
	return a
}

// priority is what a submission asks for, or its queue gives who asks for none.
func (r *RM) priority(queue string, c *wire.ApplicationSubmissionContext) int32 {
	if q, ok := r.queues[queue]; ok && c.GetPriority() == nil {
		return r.sch.Queues[q].Priority
	}
	return c.GetPriority().GetPriority()
}

// placed is the queue an application goes to, or why there is none.
type placed struct {
	queue string
	err   error
}

func (r *RM) place(user string, c *wire.ApplicationSubmissionContext) placed {
	asked := cmp.Or(c.GetQueue(), defaultQueue)
	q, err := r.placer.Load().Place(Submission{User: user, Queue: asked, Tags: c.GetApplicationTags(), Name: c.GetApplicationName()})
	if err != nil {
		return placed{asked, err}
	}
	return placed{queue: q}
}

// masterSize is the container a submission wants for its master. It comes with the error of one that is too large.
func (r *RM) masterSize(queue string, c *wire.ApplicationSubmissionContext) (heddle.Resource, error) {
	m := c.GetResource()
	if list := c.GetAmContainerResourceRequest(); len(list) > 0 {
		m = nil
		for _, k := range list {
			if k.GetResourceName() == anywhere {
				if m != nil {
					return heddle.Resource{}, invalid(classInvalidAsk, "Invalid resource request, only one resource request with * is allowed")
				}
				m = k.GetCapability()
			}
		}
		if m == nil {
			return heddle.Resource{}, invalid(classInvalidAsk, "Invalid resource request, no resource request specified with *")
		}
	}
	if m == nil {
		return heddle.Resource{}, invalid(classInvalidAsk, "Invalid resource request, no resources requested")
	}
	size, largest := r.resource(m), r.largest(queue)
	if size.AnyNegative() || !size.Fits(largest) {
		return size, invalid(classInvalidAsk, "Invalid resource request! Cannot allocate containers as requested resource is less than 0 or greater than maximum allowed allocation. Requested %s, maximum allowed %s", r.text(size), r.text(largest))
	}
	return size.Max(heddle.Of(1, 1000)), nil
}

// appStored is a submission being durable: its client is told, and the core gets it.
func (r *RM) appStored(a *app) {
	saved := a.saved
	a.saved, a.killers = a.killers, nil
	switch {
	case a.kill != "" && a.final == Killed:
		a.state = string(AppSubmitted)
		r.end(a, string(AppKilled), Killed, a.kill)
	case a.kill != "":
		a.state = string(AppSubmitted)
		r.end(a, string(AppFailed), Failed, a.kill)
	case !r.hold.IsZero():
		a.state = string(AppSubmitted) // handed over when the wait after the start is over
	default:
		r.start(a)
		if a.state == string(AppAccepted) {
			r.offer(a)
		}
	}
	for _, f := range saved {
		f()
	}
	r.log.Info("application submitted", "app", a.id, "user", a.user, "queue", a.queue, "type", a.kind, "name", a.name)
}

// start makes an application's next attempt and hands it to the core. One that was there before the start was taken
// in then, whatever its queue would say now.
func (r *RM) start(a *app) {
	r.newAttempt(a)
	r.begin(a, a.recovered)
}

// Kill ends an application. It returns once its end is stored.
func (r *RM) Kill(ctx context.Context, who Actor, id ids.App, diagnostics string) (bool, error) {
	p := r.person(who)
	return call(ctx, r, func(reply func(bool, error)) {
		a, err := r.mine(p, "kill", id)
		if err != nil {
			reply(false, err)
			return
		}
		yes := func() { reply(true, nil) }
		if a.isOver() || a.state == stateFinishing {
			yes()
			return
		}
		text := fmt.Sprintf("Application %s was killed by user %s", id, who.User)
		if who.Addr != "" {
			text += " at " + who.Addr
		}
		if diagnostics != "" {
			text += " with diagnostic message: " + diagnostics
		}
		switch a.state {
		case stateFinalSaving:
			a.saved = append(a.saved, yes)
		case string(AppSaving): // those who wait for the submission are told sooner
			a.kill, a.final = text, Killed
			a.killers = append(a.killers, yes)
		default:
			a.saved = append(a.saved, yes)
			r.end(a, string(AppKilled), Killed, text)
		}
	})
}

// mine returns an application that an actor may change.
func (r *RM) mine(who person, do string, id ids.App) (*app, error) {
	a := r.byApp[id]
	if a == nil {
		return nil, &NotFound{"application " + id.String()}
	}
	if !r.mayChange(who, a) {
		return nil, &Denied{who.User, do, id.String()}
	}
	return a, nil
}

// FailAttempt ends an attempt as if its master had failed.
func (r *RM) FailAttempt(ctx context.Context, who Actor, id ids.Attempt) error {
	p := r.person(who)
	_, err := read(ctx, r, func() (struct{}, error) {
		a, err := r.mine(p, "fail an attempt of", id.App)
		if err != nil {
			return struct{}{}, err
		}
		t := r.findAttempt(id)
		if t == nil {
			return struct{}{}, &NotFound{"attempt " + id.String()}
		}
		if t != a.current() || a.aid == heddle.NoApp || a.state == stateFinalSaving || a.state == stateFinishing {
			return struct{}{}, nil // it is over already
		}
		r.failAttempt(t, int32(exitInvalid), "Attempt failed by user "+who.User)
		return struct{}{}, nil
	})
	return err
}

// Move takes an application to another leaf queue. It returns once that is stored.
func (r *RM) Move(ctx context.Context, who Actor, id ids.App, queue string) error {
	p := r.person(who)
	_, err := call(ctx, r, func(reply func(struct{}, error)) {
		a, err := r.mine(p, "move", id)
		if err != nil {
			reply(struct{}{}, err)
			return
		}
		path, err := r.leaf(queue)
		switch {
		case err != nil:
		case !r.maySubmit(p, path):
			err = &Denied{who.User, "submit applications to", path}
		case a.aid == heddle.NoApp || a.state == stateFinalSaving || a.state == stateFinishing:
			err = invalid(classYarn, "%s is %s and cannot be moved", id, a.public())
		}
		if err != nil {
			reply(struct{}{}, err)
			return
		}
		a.moveWhy = heddle.Fine
		r.step(heddle.Move{App: a.aid, Queue: r.queues[path]})
		if a.moveWhy != heddle.Fine {
			reply(struct{}{}, invalid(classYarn, "%s cannot be moved to %s: %s", id, path, whyText(a.moveWhy)))
			return
		}
		a.queue = path
		r.commit(func() { reply(struct{}{}, nil) }, store.PutApp(a.record()))
		r.offer(a)
	})
	return err
}

// leaf is the path of a leaf queue that somebody named, in full or by its last part.
func (r *RM) leaf(name string) (string, error) {
	if q, ok := r.queues[name]; ok && r.sch.Queues[q].Leaf {
		return name, nil
	}
	found := ""
	for _, q := range r.sch.Queues {
		if q.Leaf && strings.HasSuffix(q.Path, "."+name) {
			if found != "" {
				return "", invalid(classYarn, "the queue name %s is ambiguous: %s and %s end with it; give the full path", name, found, q.Path)
			}
			found = q.Path
		}
	}
	if found == "" {
		return "", invalid(classYarn, "there is no leaf queue %s", name)
	}
	return found, nil
}

// SetPriority gives an application another priority, cut to the cluster's maximum, and returns what it came to.
func (r *RM) SetPriority(ctx context.Context, who Actor, id ids.App, priority int32) (int32, error) {
	p := r.person(who)
	return call(ctx, r, func(reply func(int32, error)) {
		a, err := r.mine(p, "change the priority of", id)
		if err != nil {
			reply(0, err)
			return
		}
		if a.public().Final() || a.state == stateFinalSaving {
			reply(a.priority, nil)
			return
		}
		a.priority = min(max(priority, 0), r.cfg.MaxPriority)
		if a.aid != heddle.NoApp { // otherwise it comes to the core with it
			r.step(heddle.Reprioritise{App: a.aid, Priority: a.priority})
		}
		r.commit(func() { reply(a.priority, nil) }, store.PutApp(a.record()))
	})
}

// SetLifetime says when an application is killed that is not over by then.
func (r *RM) SetLifetime(ctx context.Context, who Actor, id ids.App, until time.Time) error {
	p := r.person(who)
	_, err := call(ctx, r, func(reply func(struct{}, error)) {
		a, err := r.mine(p, "change the lifetime of", id)
		if err == nil && a.public().Final() {
			err = invalid(classYarn, "%s is %s; its lifetime cannot change", id, a.public())
		}
		if err == nil && !until.After(time.Now()) {
			err = invalid(classYarn, "the expire time %s of %s is not in the future", until.UTC().Format(time.RFC3339), id)
		}
		if err != nil {
			reply(struct{}{}, err)
			return
		}
		a.lifetime = until.UnixMilli()
		r.watchLife(a)
		r.commit(func() { reply(struct{}{}, nil) }, store.PutApp(a.record()))
	})
	return err
}

// Signal has a node signal a container with its next report.
func (r *RM) Signal(ctx context.Context, who Actor, id ids.Container, command wire.SignalContainerCommand) error {
	p := r.person(who)
	_, err := read(ctx, r, func() (struct{}, error) {
		if _, err := r.mine(p, "signal containers of", id.Attempt.App); err != nil {
			return struct{}{}, err
		}
		c := r.byCont[id]
		if c == nil {
			return struct{}{}, &NotFound{"container " + id.String()}
		}
		if len(c.node.signals) >= maxSignals {
			return struct{}{}, invalid(classYarn, "%d signals wait for the next report of %s already; try again after it", maxSignals, c.node.id)
		}
		c.node.signals = append(c.node.signals, &wire.SignalContainerRequest{ContainerId: conv.WireContainer(id), Command: command.Enum()})
		return struct{}{}, nil
	})
	return err
}

// clip cuts a text, at the end of a character, to so many bytes: whoever sends it, it is kept and shown.
func clip(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}

// record is what is kept of an application.
func (a *app) record() store.App {
	rec := store.App{
		ID: a.id, User: a.user, Queue: a.queue, Priority: a.priority, Submitted: a.submitted, Started: a.started,
		Launched: a.launched, Finished: a.finished, Lifetime: a.lifetime, Diagnostics: a.diag, Final: string(a.final),
		MemorySeconds: a.memorySeconds, VcoreSeconds: a.vcoreSeconds, PreemptedMemorySeconds: a.preMemorySeconds, PreemptedVcoreSeconds: a.preVcoreSecs,
	}
	state := a.state
	if state == stateFinalSaving {
		state = a.target
	}
	if state == stateFinishing {
		state = string(AppFinished)
	}
	if AppState(state).Final() {
		rec.State = state
	}
	c := a.context
	if a.finished != 0 { // what starts masters is of no more use
		c = proto.CloneOf(c)
		c.AmContainerSpec = &wire.ContainerLaunchContext{Application_ACLs: c.GetAmContainerSpec().GetApplication_ACLs()}
	}
	if t := a.current(); t != nil {
		rec.Tracking = t.url
	}
	data, err := proto.Marshal(c)
	if err != nil {
		panic("rm: a message that was decoded does not encode: " + err.Error())
	}
	rec.Context = data
	return rec
}

// record is what is kept of an attempt.
func (t *attempt) record() store.Attempt {
	rec := store.Attempt{
		ID: t.id, Node: t.masterNode, NodeHTTP: t.masterHTTP, MasterID: t.masterID.ID, Started: t.began.UnixMilli(),
		Final: string(t.final), Diagnostics: t.diag, Exit: t.exit, Tracking: t.url,
		Host: t.host, RPCPort: t.port,
	}
	if t.isOver() {
		rec.State, rec.Finished = t.state, t.ended.UnixMilli()
	}
	return rec
}
