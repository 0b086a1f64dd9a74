package rm

import (
	"fmt"
	"time"

	"heddle"
	"heddle/rm/store"
	"heddle/yarn/ids"
	"heddle/yarn/wire"
)

// The states of attempts, by YARN's names.
const (
	attemptScheduled = "SCHEDULED"
	attemptSaving    = "ALLOCATED_SAVING"
	attemptAllocated = "ALLOCATED"
	attemptLaunched  = "LAUNCHED"
	attemptRunning   = "RUNNING"
	attemptFinishing = "FINISHING"
	attemptFinished  = "FINISHED"
	attemptFailed    = "FAILED"
	attemptKilled    = "KILLED"
)

const (
	unregistered = -1    // the response id of a master that has not registered
	exitInvalid  = -1000 // YARN's exit status of what has not ended
)

// An attempt is one run of an application's master.
type attempt struct {
	app    *app
	id     ids.Attempt
	state  string
	master *container
	// What is known of the master's container after it ended, or before it was found again.
	masterID   ids.Container
	masterNode ids.Node
	masterHTTP string

	host, url string
	port      int32
	progress  float32
	diag      string
	final     FinalStatus // what the master said as it unregistered
	exit      int32

	responseID int32
	last       *wire.AllocateResponse
	key        int32 // of the token its connection came with
	seen       time.Time
	began      time.Time
	ended      time.Time

	seq      int64 // of its containers
	conts    map[ids.Container]*container
	granted  []*container           // not yet fetched
	finished []*ended               // its master is to hear of
	sent     []*ended               // it was told; known to have arrived with its next call
	heard    map[ids.Container]bool // ends that are known: true once its master has them; see wasHere
	updated  map[ids.Node]nodeNews  // for its master
	tokens   map[ids.Node]bool      // nodes it was given NMTokens for
	rows     map[rowKey]*wire.ResourceRequest
	keys     map[askKey]int // how many of the rows each key has
	black    map[string]bool
	releases map[ids.Container]bool // given back before their nodes came again after a restart
	stopping bool                   // its end is on its way
	timer    timer
}

// A rowKey names a row of an application's request table.
type rowKey struct {
	askKey
	place string
}

// An askKey names what rows for several places are about.
type askKey struct {
	priority int32
	allocID  int64
}

// isOver reports whether the attempt has ended.
func (t *attempt) isOver() bool {
	return t.state == attemptFinished || t.state == attemptFailed || t.state == attemptKilled
}

// registered reports whether the master is at work.
func (t *attempt) registered() bool { return t.responseID != unregistered }

// finish ends an attempt.
func (t *attempt) finish(state string) {
	t.state, t.ended = state, time.Now()
	if state != attemptFinished {
		t.host, t.port, t.url = "N/A", -1, ""
	}
}

// drop lets go of what only a live attempt needs.
func (t *attempt) drop() {
	t.last, t.rows, t.keys, t.black, t.granted, t.releases, t.updated, t.heard = nil, nil, nil, nil, nil, nil, nil, nil
	for _, list := range [][]*ended{t.finished, t.sent} {
		for _, e := range list {
			e.c.node.acknowledge(e.c.id)
		}
	}
	t.finished, t.sent = nil, nil
}

// unfetch takes back a grant that the master has not fetched; the core asks again by itself.
func (t *attempt) unfetch(c *container) {
	for i, g := range t.granted {
		if g == c {
			t.granted = append(t.granted[:i], t.granted[i+1:]...)
			return
		}
	}
}

// masterGranted is the container of a master: it is stored, then started.
func (r *RM) masterGranted(t *attempt, c *container) {
	if t.isOver() { // while the end of its application is being stored; it goes with it
		return
	}
	t.master, t.masterID, t.masterNode, t.masterHTTP = c, c.id, c.node.id, c.node.http
	c.fetched = time.Now()
	t.state = attemptSaving
	r.commit(func() {
		if t.state == attemptSaving && !c.over {
			t.state = attemptAllocated
			r.launch(t, c)
		}
	}, store.PutAttempt(t.record()))
}

// launchDone is a NodeManager having started a master, or not.
func (r *RM) launchDone(t *attempt, c *container, err error) {
	if t.isOver() || t.stopping || c.over {
		return
	}
	if err != nil && (t.registered() || c.running) { // only the answer was lost
		r.log.Warn("a master runs whose start was reported as failed", "attempt", t.id, "error", err)
	} else if err != nil {
		r.failAttempt(t, int32(exitInvalid), fmt.Sprintf("Error launching %s. Got exception: %v", t.id, err))
		return
	}
	t.seen = time.Now()
	r.watchMaster(t)
	if t.state == attemptAllocated {
		t.state = attemptLaunched
	}
	if a := t.app; a.launched == 0 {
		a.launched = time.Now().UnixMilli()
		r.commit(func() {}, store.PutApp(a.record()))
	}
}

// masterEnded is a master's container having ended.
func (r *RM) masterEnded(t *attempt, status int32, diagnostics string) {
	a := t.app
	t.exit = status
	if t.isOver() || t.stopping {
		return
	}
	switch a.state {
	case stateFinalSaving:
		a.gone = true
		return
	case stateFinishing:
		r.close(a)
		return
	}
	r.failAttempt(t, status, fmt.Sprintf("AM Container for %s exited with  exitCode: %d\nFailing this attempt.Diagnostics: %s", t.id, status, diagnostics))
}

// failAttempt ends an attempt that failed, and starts the next one or gives the application up.
func (r *RM) failAttempt(t *attempt, status int32, diagnostics string) {
	if t.isOver() || t.stopping {
		return
	}
	a := t.app
	waited := t.state == attemptScheduled
	t.stopping = true
	t.exit, t.diag = status, clip(diagnostics, maxDiagnostics)
	r.stopMaster(t, status)
	if t.master == nil {
		r.abandon(t)
	}
	t.finish(attemptFailed)
	t.drop()
	r.auth.drop(t.id)
	r.log.Warn("attempt failed", "attempt", t.id, "status", status, "diagnostics", diagnostics)
	if a.state == stateFinalSaving || a.state == stateFinishing || a.isOver() {
		return
	}
	r.commit(func() {}, store.PutAttempt(t.record()))
	if a.exhausted() {
		r.giveUp(a)
		return
	}
	a.state = string(AppAccepted)
	r.newAttempt(a)
	if !waited { // otherwise what the last one waited for is the next one's
		r.step(heddle.Attempt{App: a.aid, Master: a.master})
		r.offer(a)
	}
}

// exhausted reports whether the application, whose last attempt failed, has no other one left.
func (a *app) exhausted() bool {
	return a.failures(time.Now()) >= a.maxAttempts || a.maxAttempts == 1
}

// giveUp ends an application that has no attempt left.
func (r *RM) giveUp(a *app) {
	r.end(a, string(AppFailed), Failed, fmt.Sprintf("Application %s failed %d times due to %s. Failing the application.", a.id, a.failures(time.Now()), a.current().diag))
}

// abandon ends what an attempt holds and asks for whose master's container was never found again after a start:
// with no end of a master the core knows nothing of it.
func (r *RM) abandon(t *attempt) {
	if t.app.aid == heddle.NoApp {
		return
	}
	r.withdraw(t)
	r.step(heddle.Acquire{App: t.app.aid}) // nothing that is given back is owed again
	r.withdraw(t)
	r.ending = textCompleted
	for _, c := range byAge(t.conts) {
		r.step(heddle.Release{App: t.app.aid, Container: c.cid})
	}
	r.ending = ""
}

// failures counts the attempts that failed by their own fault, lately where the application says so.
func (a *app) failures(now time.Time) int32 {
	window := a.context.GetAttemptFailuresValidityInterval()
	n := int32(0)
	for _, t := range a.attempts {
		switch {
		case t.state != attemptFailed:
		case heddle.ExitStatus(t.exit) == heddle.Preempted, heddle.ExitStatus(t.exit) == heddle.Aborted,
			heddle.ExitStatus(t.exit) == heddle.DisksFailed, heddle.ExitStatus(t.exit) == heddle.KilledByRM:
		case window > 0 && now.Sub(t.ended).Milliseconds() > window:
		default:
			n++
		}
	}
	return n
}

// stopAttempt ends the running attempt of an application that is to be over.
func (r *RM) stopAttempt(a *app, to string) {
	t := a.current()
	if t == nil || t.isOver() || t.stopping {
		return
	}
	t.stopping = true
	state := attemptKilled
	if to == string(AppFailed) {
		state = attemptFailed
	}
	r.auth.drop(t.id)
	r.stopMaster(t, int32(heddle.KilledByRM))
	t.finish(state)
	t.drop()
}

// stopMaster ends a master's container, if it has one: the node is told at once and with its next report.
func (r *RM) stopMaster(t *attempt, status int32) {
	c := t.master
	if c == nil || c.over {
		return
	}
	r.stop(t, c)
	r.kill(c.node, c.id)
	r.exited(c, status, textCompleted)
}
