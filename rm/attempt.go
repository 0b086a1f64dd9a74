package rm

import (
	"slices"

	"heddle"
	"heddle/internal/slab"
	"heddle/yarn/ids"
)

const (
	unregistered = -1    // the response id of a master that has not registered
	exitInvalid  = -1000 // YARN's exit status of what has not ended
)

// An attempt is one run of an application's master.
type attempt struct {
	app    *app
	id     ids.Attempt
	state  attemptState
	master *container
	// What is known of the master's container after it ended, or before it was recovered.
	masterID   ids.Container
	masterNode ids.Node
	masterHTTP string
	heap       int64 // MiB to which its Java heap was cut; 0 if its container has the size asked for

	host, url string
	port      int32
	progress  float32
	diag      string
	final     FinalStatus // what the master reported when it unregistered
	exit      int32

	responseID int32
	last       *Allocated
	seen       heddle.Time
	began      heddle.Time
	ended      heddle.Time // never if it has not

	seq      int64                  // of its containers
	granted  []*container           // not yet fetched
	finished []ended                // its master has yet to hear of
	sent     []told                 // their receipt is known with the master's next call
	own      slab.Index[*container] // of this incarnation, by the number in their ids; untold stands for ended ones
	found    map[int64]*container   // of earlier incarnations, by the number in their ids
	heard    map[ids.Container]bool // likewise, known ends: true once the master has them; see wasHere
	updated  news                   // for its master
	newsAt   heddle.Time            // when its master, or the one before it, was last told of nodes; never if none was
	tokens   slab.Bits              // nodes that it has tokens for, by heddle.NodeID
	table
	black    map[string]bool
	releases map[ids.Container]bool // released before their nodes came back after a restart
	stopping bool                   // its end is under way
	holds    holding                // what its containers hold
	timer    timer
}

// newAttempt creates the next attempt of an application.
func (m *Machine) newAttempt(a *app) *attempt {
	last, newsAt := a.taken, never
	if t := a.newest(); t != nil {
		last, newsAt = max(last, t.id.N), t.newsAt
	}
	t := &attempt{
		app: a, id: ids.Attempt{App: a.ID, N: last + 1}, state: attemptScheduled,
		responseID: unregistered, began: m.now, ended: never, seen: m.now, host: noName, port: -1, exit: exitInvalid,
		heard: map[ids.Container]bool{}, updated: news{by: map[ids.Node]*nodeNews{}}, newsAt: newsAt, table: newTable(),
	}
	a.attempts = append(a.attempts, t)
	m.stale(a)
	return t
}

// registered reports whether the master has registered.
func (t *attempt) registered() bool { return t.responseID != unregistered }

// finish ends an attempt.
func (t *attempt) finish(m *Machine, state attemptState) {
	t.become(state)
	m.stale(t.app)
	t.ended = m.now
	if state != attemptFinished {
		t.host, t.port, t.url = noName, -1, ""
	}
}

// drop releases what only a live attempt needs.
func (t *attempt) drop() {
	t.last, t.table, t.black, t.granted, t.releases, t.updated, t.heard = nil, table{}, nil, nil, nil, news{}, nil
	for i := range t.finished {
		t.finished[i].node.acknowledge(t.finished[i].news.ID)
	}
	for _, e := range t.sent {
		e.node.acknowledge(e.id)
	}
	t.finished, t.sent, t.tokens = nil, nil, nil
	for seq, c := range t.own.All {
		if c == untold {
			t.own.Drop(seq)
		}
	}
}

// unfetch withdraws a grant that the master has not fetched; the core asks again by itself.
func (t *attempt) unfetch(c *container) {
	if i := slices.Index(t.granted, c); i >= 0 {
		t.granted = slices.Delete(t.granted, i, i+1)
	}
}

// masterGranted stores the container granted to a master, and then starts it.
func (m *Machine) masterGranted(t *attempt, c *container) {
	if t.state.isOver() { // while the end of its application is being stored, which ends the container too
		return
	}
	t.master, t.masterID, t.masterNode, t.masterHTTP = c, c.id(), c.node.id, c.node.http
	t.heap = t.app.heapIn(c.size)
	c.fetched = m.now
	c.become(containerAcquired)
	t.become(attemptSaving)
	m.commit(func() {
		if t.state == attemptSaving && !c.over() {
			t.become(attemptAllocated)
			m.launch(t, c)
		}
	}, Change{Attempt: t.record(m)})
}

// launch has a master started on its node.
func (m *Machine) launch(t *attempt, c *container) {
	m.emit(AdmitMaster{t.id})
	m.emit(&StartMaster{
		Granted: m.granting(c), App: t.app.ID, User: t.app.user, Submitted: t.app.submitted, Context: t.app.Context, Heap: t.heap,
	})
}

// launchDone handles the result of starting a master on a NodeManager.
func (m *Machine) launchDone(q *Started) {
	t := m.attemptOf(q.Container.Attempt)
	if t == nil || t.masterID != q.Container || t.master == nil || t.state.isOver() || t.stopping || t.master.over() {
		return
	}
	if q.Failed != "" && (t.registered() || t.master.running()) { // only the answer was lost
		m.log(Warn, "a master is running although its start was reported as failed", "attempt", t.id, "error", q.Failed)
	} else if q.Failed != "" {
		m.failAttempt(t, exitInvalid, text("Error launching %s. Got exception: %s", t.id, q.Failed))
		return
	}
	t.seen = m.now
	m.watchMaster(t)
	if t.state == attemptAllocated {
		t.become(attemptLaunched)
	}
	if a := t.app; a.launched == 0 {
		m.stale(a)
		a.launched = m.today()
		m.commit(nil, Change{App: a.record(), SameContext: true})
	}
}

// masterEnded handles the end of a master's container.
func (m *Machine) masterEnded(t *attempt, status int32, diagnostics string) {
	a := t.app
	t.exit = status
	if t.state.isOver() || t.stopping {
		return
	}
	if a.state.ending() {
		m.masterGone(a)
		return
	}
	m.failAttempt(t, status, text("AM Container for %s exited with  exitCode: %d\nFailing this attempt.Diagnostics: %s", t.id, status, diagnostics))
}

// masterGone handles the end of the master of an application whose outcome is already known.
func (m *Machine) masterGone(a *app) {
	if a.gone = true; a.state == appFinishing {
		m.close(a)
	}
}

// failAttempt ends a failed attempt, and starts the next one or gives the application up.
func (m *Machine) failAttempt(t *attempt, status int32, diagnostics string) {
	if t.state.isOver() || t.stopping {
		return
	}
	a := t.app
	waited, began := t.state == attemptScheduled, t.state == attemptLaunched || t.state == attemptRunning
	t.stopping = true
	t.exit, t.diag = status, Clip(diagnostics, maxDiagnostics)
	m.stopMaster(t, status)
	if t.master == nil {
		m.abandon(t)
	}
	if a.state.ending() {
		m.masterGone(a)
		return
	}
	t.finish(m, attemptFailed)
	t.drop()
	m.emit(DropMaster{t.id})
	m.hush(a)
	if t.heap > 0 && began && t.byItself() {
		m.remember(a, func(r *heddle.LastRun) { r.TooSmall = max(r.TooSmall, t.heap) })
		t.diag = Clip(text("%s\nIts Java heap had been cut to %d MiB; the next master gets the requested size.", t.diag, t.heap), maxDiagnostics)
	}
	m.log(Warn, "attempt failed", "attempt", t.id, "status", status, "diagnostics", t.diag)
	if a.state.isOver() {
		return
	}
	m.commit(nil, Change{Attempt: t.record(m)})
	if m.exhausted(a) {
		m.giveUp(a)
		return
	}
	a.become(appAccepted)
	m.forgetAttempts(a)
	m.newAttempt(a)
	if !waited && m.Ready() { // the next attempt inherits the request that the last one waited for; during a start all requests wait
		m.step(heddle.Attempt{App: a.aid, Master: a.Master, Full: a.tooSmall() > 0})
		m.offer(a)
	}
}

// exhausted reports whether an application whose last attempt failed has no attempts left.
func (m *Machine) exhausted(a *app) bool {
	return m.failures(a) >= a.MaxAttempts || a.MaxAttempts == 1
}

// giveUp ends an application that has no attempts left.
func (m *Machine) giveUp(a *app) {
	m.end(a, appFailed, Failed, text("Application %s failed %d times due to %s. Failing the application.", a.ID, a.MaxAttempts, a.newest().diag))
}

// abandon releases what an attempt holds and asks for if its master's container was not found after a restart: without
// the end of a master's container the core does not know that the attempt is over.
func (m *Machine) abandon(t *attempt) {
	if t.app.aid == heddle.NoApp {
		return
	}
	m.withdraw(t)
	m.step(heddle.Acquire{App: t.app.aid}) // nothing that is released is owed again
	m.withdraw(t)
	m.ending = textCompleted
	for _, c := range byAge(t.held) {
		m.step(heddle.Release{App: t.app.aid, Container: c.cid})
	}
	m.ending = ""
}

// byItself reports whether an attempt failed by its own fault.
func (t *attempt) byItself() bool {
	others := []heddle.ExitStatus{heddle.Preempted, heddle.Aborted, heddle.DisksFailed, heddle.KilledByRM}
	return t.state == attemptFailed && !slices.Contains(others, heddle.ExitStatus(t.exit))
}

// failures counts an application's attempts that failed by their own fault, within its failure window if it has one.
func (m *Machine) failures(a *app) int32 {
	n := int32(0)
	for _, t := range a.attempts {
		if t.heap == 0 && m.stands(t) { // a smaller heap than asked for may be at fault, and happens once: see [app.tooSmall]
			n++
		}
	}
	return n
}

// stands reports whether an attempt failed by its own fault, within its application's failure window if it has one.
func (m *Machine) stands(t *attempt) bool {
	window := t.app.FailureWindow
	return t.byItself() && (window <= 0 || m.now.Since(t.ended) <= window)
}

// mostAttempts is how many attempts of an application are kept, unless more of them count.
const mostAttempts = 100

// forgetAttempts makes room for another attempt by dropping the oldest ones that no longer count.
func (m *Machine) forgetAttempts(a *app) {
	most := len(a.attempts) - mostAttempts + 1
	var drop []Change
	a.attempts = slices.DeleteFunc(a.attempts, func(t *attempt) bool {
		if len(drop) >= most || t.heap > 0 || m.stands(t) {
			return false
		}
		drop = append(drop, Change{DropAttempt: new(t.id)})
		return true
	})
	if len(drop) > 0 {
		m.commit(nil, drop...)
	}
}

// stopAttempt ends the running attempt of an application that is to end.
func (m *Machine) stopAttempt(a *app, target appState) {
	t := a.newest()
	if t == nil || t.state.isOver() || t.stopping {
		return
	}
	t.stopping = true
	state := attemptKilled
	if target == appFailed {
		state = attemptFailed
	}
	m.emit(DropMaster{t.id})
	m.stopMaster(t, int32(heddle.KilledByRM))
	t.finish(m, state)
	t.drop()
	m.hush(a)
}

// stopMaster ends a master's container, if it has one: the node is told at once and again at its next heartbeat.
func (m *Machine) stopMaster(t *attempt, status int32) {
	c := t.master
	if c == nil || c.over() {
		return
	}
	if c.node.state.active() {
		m.emit(&StopMaster{c.id(), c.node.id, t.app.user})
	}
	m.kill(c.node, c.id())
	m.exited(c, status, textCompleted)
}

// record returns what is stored of an attempt.
func (t *attempt) record(m *Machine) *AttemptRecord {
	rec := &AttemptRecord{
		ID: t.id, Node: t.masterNode, NodeHTTP: t.masterHTTP, MasterID: t.masterID.ID, Started: m.date(t.began),
		Final: string(t.final), Diagnostics: t.diag, Exit: t.exit, Tracking: t.url,
		Host: t.host, RPCPort: t.port, Heap: t.heap, Maps: t.app.Facts.Maps, Reduces: t.app.Facts.Reduces,
	}
	if t.state.isOver() {
		rec.State, rec.Finished = t.state.String(), m.date(t.ended)
	}
	return rec
}
