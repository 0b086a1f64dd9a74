package rm

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"time"

	"google.golang.org/protobuf/proto"

	"heddle"
	"heddle/rm/store"
	"heddle/yarn/conv"
	"heddle/yarn/ids"
	"heddle/yarn/wire"
)

// recover takes over what was going on before the start. Whose master was at work goes on once the master and
// the nodes come back: until then nothing is given away.
func (r *RM) recover(s *store.State) {
	attempts := map[ids.App][]store.Attempt{}
	for _, t := range s.Attempts {
		attempts[t.ID.App] = append(attempts[t.ID.App], t)
	}
	for _, b := range s.Bad {
		r.log.Error("a record of the store cannot be used; it is left alone, and so is what it belongs to", "bucket", b.Bucket, "key", b.Key, "reason", b.Reason)
	}
	r.hold = r.began.Add(r.cfg.SchedulingWait)
	r.watch(&timer{}, comingBack{}, r.began.Add(r.cfg.NodeExpiry))
	var alive []*app
	for _, rec := range s.Apps {
		a, err := r.recoverApp(rec, attempts[rec.ID])
		if err != nil {
			r.log.Error("an application of the store cannot be read; it is left alone", "app", rec.ID, "error", err)
			continue
		}
		r.byApp[a.id] = a
		r.counts.submitted++
		if rec.State != "" {
			_, known := r.queues[a.queue]
			r.counts.end(a, known)
			r.over = append(r.over, a)
			continue
		}
		alive = append(alive, a)
	}
	slices.SortStableFunc(r.over, func(a, b *app) int { return cmp.Compare(a.finished, b.finished) })
	if slices.ContainsFunc(alive, func(a *app) bool { _, there := r.queues[a.queue]; return !there }) {
		if err := r.rebuild(r.sch); err != nil {
			r.log.Error("queues that were there before the start cannot be created", "error", err)
		}
	}
	for _, a := range alive {
		r.resume(a)
	}
	if len(alive) == 0 {
		r.hold = time.Time{}
	}
}

func (r *RM) recoverApp(rec store.App, attempts []store.Attempt) (*app, error) {
	c := &wire.ApplicationSubmissionContext{}
	if err := proto.Unmarshal(rec.Context, c); err != nil {
		return nil, err
	}
	size, _ := r.masterSize(rec.Queue, c) // it was taken in
	a := r.appOf(rec.ID, rec.User, size, c)
	a.queue, a.priority, a.state, a.final, a.diag = rec.Queue, rec.Priority, rec.State, FinalStatus(rec.Final), rec.Diagnostics
	a.submitted, a.started, a.launched, a.finished, a.lifetime = rec.Submitted, rec.Started, rec.Launched, rec.Finished, rec.Lifetime
	a.ended, a.recovered = rec.State != "", true
	a.memorySeconds, a.vcoreSeconds = rec.MemorySeconds, rec.VcoreSeconds
	a.preMemorySeconds, a.preVcoreSecs = rec.PreemptedMemorySeconds, rec.PreemptedVcoreSeconds
	slices.SortFunc(attempts, func(x, y store.Attempt) int { return cmp.Compare(x.ID.N, y.ID.N) })
	for _, k := range attempts {
		t := r.newAttempt(a)
		t.id.N = k.ID.N
		t.state, t.final, t.diag, t.exit, t.url = k.State, FinalStatus(k.Final), k.Diagnostics, k.Exit, k.Tracking
		t.began = time.UnixMilli(k.Started)
		if k.Finished > 0 {
			t.ended = time.UnixMilli(k.Finished)
		}
		if k.MasterID != 0 {
			t.masterID = ids.Container{Attempt: k.ID, ID: k.MasterID}
		}
		t.masterNode, t.masterHTTP = k.Node, k.NodeHTTP
		if k.State != "" || rec.State != "" {
			t.host, t.port = k.Host, k.RPCPort
		}
		switch {
		case k.State != "":
		case rec.State != "": // over with its application
			t.state, t.ended = rec.State, time.UnixMilli(rec.Finished)
		case k.ID != attempts[len(attempts)-1].ID: // a later one was begun
			t.state, t.ended = attemptFailed, t.began
		default:
			t.state = attemptLaunched
		}
	}
	return a, nil
}

// resume goes on with an application that was alive.
func (r *RM) resume(a *app) {
	a.state = string(AppSubmitted)
	t := a.current()
	if t != nil && t.isOver() && a.exhausted() { // what came of its last attempt was not stored any more
		r.giveUp(a)
		return
	}
	if t != nil && !t.isOver() && !r.cfg.WorkPreserving { // its node kills it when it registers
		t.finish(attemptFailed)
		t.exit = int32(heddle.Aborted)
	}
	switch {
	case t == nil || t.isOver(): // its next attempt begins when the wait is over, with those submitted meanwhile
		if _, err := r.masterSize(a.queue, a.context); err != nil {
			r.end(a, string(AppFailed), Failed, fmt.Sprintf("Application %s cannot go on after the ResourceManager's start: %v", a.id, err))
			return
		}
	default:
		r.auth.admit(t.id)
		t.seen = time.Now()
		r.watchMaster(t)
		r.begin(a, true)
	}
	r.log.Info("application recovered", "app", a.id, "user", a.user, "queue", a.queue)
}

// recovering reports whether containers of before the start may still come back.
func (r *RM) recovering() bool { return time.Since(r.began) < r.cfg.NodeExpiry && r.epoch > 0 }

// release ends the wait after a start, when it has been long enough or everybody is back, and hands over what
// has been asked for meanwhile.
func (r *RM) release(now time.Time) {
	if r.hold.IsZero() || now.Before(r.hold) && !r.allBack() {
		return
	}
	r.hold = time.Time{}
	r.log.Info("recovery is over", "after", now.Sub(r.began).Round(time.Millisecond), "nodes", r.core.View().Live(), "containers", len(r.conts))
	var waiting []*app
	for _, a := range r.byApp {
		if a.state == string(AppSubmitted) && a.aid == heddle.NoApp {
			waiting = append(waiting, a)
		}
	}
	slices.SortFunc(waiting, func(a, b *app) int { return a.id.Compare(b.id) })
	for _, a := range waiting {
		r.start(a)
	}
	r.askAll()
}

// allBack reports whether every master that was at work has registered again, and its node too.
func (r *RM) allBack() bool {
	for _, t := range r.current() {
		if n := r.byNode[t.masterNode]; !t.registered() || n == nil || !n.up {
			return false
		}
	}
	return len(r.byNode) > 0
}

// reconcile takes over what a NodeManager that registered says it runs, and gives up what it does not know.
func (r *RM) reconcile(n *node, list []*wire.NMContainerStatus) {
	reported := map[ids.Container]bool{}
	for _, s := range list {
		id := conv.Container(s.GetContainerId())
		reported[id] = true
		c := r.byCont[id]
		if s.GetContainerState() == wire.ContainerState_C_COMPLETE {
			r.foundEnded(n, id, c, s)
			continue
		}
		switch {
		case c != nil && c.node == n:
			r.runs(n, id, c)
		case !n.killed[id].IsZero(): // its master was told that it is over
			r.kill(n, id)
		case c == nil:
			r.found(n, id, s)
		}
	}
	r.missMasters(n, reported)
	maps.DeleteFunc(n.killed, func(id ids.Container, _ time.Time) bool { return !reported[id] })
	r.unreported(n, func(c *container) bool { return !reported[c.id] && (c.running || c.kind == heddle.AM) })
}

// missMasters gives up masters of before the start that their own node, which has come back, does not have: they
// were never started, or ended and were forgotten.
func (r *RM) missMasters(n *node, reported map[ids.Container]bool) {
	for a, t := range r.current() {
		switch {
		case t.master != nil || t.masterNode != n.id || reported[t.masterID]:
		case a.state == stateFinishing:
			r.close(a)
		case t.state == attemptLaunched && !t.registered():
			r.failAttempt(t, int32(heddle.Aborted), fmt.Sprintf("Container %s of the master was not reported from %s", t.masterID, n.id))
		}
	}
}

// foundEnded is a container that ended while nobody listened. Its node may forget it when its master knows.
func (r *RM) foundEnded(n *node, id ids.Container, c *container, s *wire.NMContainerStatus) {
	if c != nil {
		if c.kind == heddle.AM {
			n.acknowledge(id)
		}
		r.exited(c, s.GetContainerExitStatus(), s.GetDiagnostics())
		return
	}
	t := r.attemptOf(id.Attempt)
	if t == nil || t.isOver() || t.app.aid == heddle.NoApp || id != t.masterID && r.wasHere(t, id) {
		r.forgettable(n, id)
		return
	}
	if id == t.masterID {
		n.acknowledge(id)
	}
	r.foundOver(n, t, statusOf(id, s.GetContainerExitStatus(), s.GetDiagnostics()))
}

// foundOver is the end of a container of before the start.
func (r *RM) foundOver(n *node, t *attempt, s *wire.ContainerStatus) {
	id := conv.Container(s.GetContainerId())
	if id == t.masterID {
		r.masterEnded(t, s.GetExitStatus(), s.GetDiagnostics())
		return
	}
	t.heard[id] = false
	t.finished = append(t.finished, &ended{&container{id: id, node: n, attempt: t}, s})
}

// found is a container that a node runs and nobody here holds: it is taken over, or killed where nobody is left
// to want it.
func (r *RM) found(n *node, id ids.Container, s *wire.NMContainerStatus) {
	t := r.attemptOf(id.Attempt)
	switch {
	case r.byApp[id.Attempt.App] == nil || r.byApp[id.Attempt.App].ended:
		r.ranOn(id.Attempt.App, n)
		return
	case t == nil || t.isOver() || t.app.aid == heddle.NoApp, r.wasHere(t, id), !plausible(r.resource(s.GetResource())):
		r.kill(n, id)
		return
	case !n.up: // it came back unhealthy
		r.kill(n, id)
		r.foundOver(n, t, statusOf(id, int32(heddle.Aborted), textLost))
		return
	}
	if _, back := t.releases[id]; back {
		delete(t.releases, id)
		t.heard[id] = true
		r.kill(n, id)
		return
	}
	kind := kindOf(t.app.framework, s.GetPriority().GetPriority())
	if id == t.masterID {
		kind = heddle.AM
	}
	r.foundID, r.foundTime = id, time.Now()
	if made := time.UnixMilli(s.GetCreationTime()); made.Before(r.foundTime) && made.After(time.UnixMilli(t.app.submitted)) { // clocks differ
		r.foundTime = made
	}
	r.step(heddle.Found{
		App: t.app.aid, Node: n.nid, Kind: kind, Priority: s.GetPriority().GetPriority(), AllocID: s.GetAllocationRequestId(),
		Size: r.resource(s.GetResource()), Ref: int64(n.nid),
	})
	if c := r.byCont[id]; c != nil {
		c.kind, c.priority, c.allocID, c.size = kind, s.GetPriority().GetPriority(), s.GetAllocationRequestId(), r.resource(s.GetResource())
		if kind == heddle.AM {
			t.master = c
		}
		return
	}
	r.kill(n, id)
}

// adopted is the core having taken over a container that was found.
func (r *RM) adopted(d *heddle.Adopt) {
	if c := r.byCont[r.foundID]; c != nil { // a new core's number for what was held already
		c.cid = d.Container
		r.conts[c.cid] = c
		return
	}
	t := r.attemptOf(r.foundID.Attempt)
	r.track(&container{
		id: r.foundID, cid: d.Container, attempt: t, node: r.nodes[d.Ref], created: r.foundTime, fetched: r.foundTime, running: true,
	})
}
