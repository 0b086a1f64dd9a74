package rm

import (
	"errors"
	"fmt"
	"iter"
	"maps"
	"slices"
	"time"

	"heddle"
	"heddle/rm/store"
	"heddle/yarn/ids"
	"heddle/yarn/wire"
)

// The states of applications that clients see under another name: what is being stored, or being ended, shows
// as what it was before.
const (
	stateFinalSaving = "FINAL_SAVING"
	stateFinishing   = "FINISHING"
)

// An app is an application.
type app struct {
	id        ids.App
	aid       heddle.AppID // heddle.NoApp where the core does not know it
	user      string
	queue     string // path
	name      string
	kind      string // applicationType
	tags      []string
	priority  int32
	framework heddle.Framework
	context   *wire.ApplicationSubmissionContext
	viewers   ACL             // whom it lets look at itself
	master    heddle.Resource // asked for

	state   string // NEW_SAVING, SUBMITTED, ACCEPTED, RUNNING, FINAL_SAVING, FINISHING, FINISHED, FAILED, KILLED
	before  AppState
	target  string // of FINAL_SAVING
	final   FinalStatus
	diag    string
	saved   []func()   // wait for its end to be stored
	gone    bool       // its master's container ended while the end was being stored
	kill    string     // it was killed while its submission was being stored: why
	killers []func()   // wait for that kill to be stored
	moveWhy heddle.Why // why the core turned the last move down
	nodes   map[*node]bool
	logs    string
	ended   bool // the core was told

	submitted, started, launched, finished int64
	lifetime                               int64
	timer                                  timer // of its lifetime
	maxAttempts                            int32
	attempts                               []*attempt
	recovered                              bool // was there before the start
	memorySeconds, vcoreSeconds            float64
	preMemorySeconds, preVcoreSecs         float64
	preemptedWorkers, preemptedMain        int
}

// current is the newest attempt, nil before the first.
func (a *app) current() *attempt {
	if len(a.attempts) == 0 {
		return nil
	}
	return a.attempts[len(a.attempts)-1]
}

// current yields the applications that the core knows, in the order it met them, each with its newest attempt.
func (r *RM) current() iter.Seq2[*app, *attempt] {
	return func(yield func(*app, *attempt) bool) {
		for _, a := range r.apps {
			if a != nil && a.current() != nil && !yield(a, a.current()) {
				return
			}
		}
	}
}

// isOver reports whether the application is over here, masters and all.
func (a *app) isOver() bool {
	return a.state == string(AppFinished) || a.state == string(AppFailed) || a.state == string(AppKilled)
}

// public is the state as clients see it.
func (a *app) public() AppState {
	switch a.state {
	case stateFinalSaving:
		return a.before
	case stateFinishing:
		return AppFinished
	}
	return AppState(a.state)
}

// finalStatus is how the application ended as clients see it.
func (a *app) finalStatus() FinalStatus {
	switch {
	case a.state == stateFinalSaving || !a.isOver() && a.state != stateFinishing:
		return Undefined
	case a.final != "":
		return a.final
	case a.state == string(AppKilled):
		return Killed
	}
	return Failed
}

// admitted is the core having taken an application in.
func (r *RM) admitted(a *app) {
	a.state = string(AppAccepted)
}

// rejected is the core having turned down an application, or its move to another queue. Asks above the largest
// container are refused before they come so far.
func (r *RM) rejected(a *app, why heddle.Why) {
	a.moveWhy = why
	if a.state != string(AppSubmitted) {
		return // a move, whose sender is told
	}
	r.apps[a.aid] = nil
	a.aid = heddle.NoApp
	r.end(a, string(AppFailed), Failed, fmt.Sprintf("Application %s was not taken into queue %s by user %s: %s", a.id, a.queue, a.user, whyText(why)))
}

// begin hands an application to the core. running says that its master is at work already.
func (r *RM) begin(a *app, running bool) {
	a.state = string(AppSubmitted)
	q, ok := r.queues[a.queue]
	if !ok || !r.sch.Queues[q].Leaf {
		r.end(a, string(AppFailed), Failed, fmt.Sprintf("Application %s was submitted to %s, which is no leaf queue", a.id, a.queue))
		return
	}
	a.aid = heddle.AppID(len(r.apps))
	r.apps = append(r.apps, a)
	r.watchLife(a)
	size := a.master
	if running {
		size = heddle.Resource{}
	}
	r.step(heddle.Submit{
		App: a.aid, Queue: q, User: r.userID(a.user), Priority: a.priority, Framework: a.framework,
		Master: size, Facts: heddle.Facts{Name: a.name},
	})
}

// userID is a user's number.
func (r *RM) userID(name string) heddle.UserID {
	id, ok := r.users[name]
	if !ok {
		id = heddle.UserID(len(r.users))
		r.users[name] = id
		r.userNames = append(r.userNames, name)
		r.sch.UserName(id, name)
	}
	return id
}

// offer has nodes with room offered for what an application asks, at once instead of as they report in.
func (r *RM) offer(a *app) {
	if r.hold.IsZero() && a.aid != heddle.NoApp {
		r.step(heddle.Offer{App: a.aid})
	}
}

// end stores how an application ended and ends it once that is stored. to is FINISHING where its master has
// unregistered and is still there.
func (r *RM) end(a *app, to string, final FinalStatus, diagnostics string) {
	if a.state == stateFinalSaving || a.state == stateFinishing || a.isOver() {
		return
	}
	a.before, a.state, a.target = a.public(), stateFinalSaving, to
	a.final, a.finished = final, time.Now().UnixMilli()
	if diagnostics != "" {
		a.diag = clip(diagnostics, maxDiagnostics)
	}
	if to != stateFinishing {
		r.stopAttempt(a, to)
	}
	changes := []store.Change{store.PutApp(a.record())}
	if t := a.current(); t != nil {
		changes = append(changes, store.PutAttempt(t.record()))
	}
	r.commit(func() { r.endStored(a) }, changes...)
}

// endStored is an application's end being durable: those who wait for it are told.
func (r *RM) endStored(a *app) {
	a.state = a.target
	if t := a.current(); t != nil && a.state == stateFinishing {
		t.state = attemptFinishing
	}
	for _, f := range a.saved {
		f()
	}
	a.saved = nil
	if a.state != stateFinishing || a.gone {
		r.close(a)
	}
}

// close is the end of an application for the cluster: everything it held is free, every node that ran something
// of it cleans up.
func (r *RM) close(a *app) {
	if a.ended {
		return
	}
	a.ended = true
	if a.state == stateFinishing {
		a.state = string(AppFinished)
	}
	r.logEnd(a)
	r.timers.stop(&a.timer)
	if t := a.current(); t != nil {
		r.timers.stop(&t.timer)
		r.auth.drop(t.id)
		if !t.isOver() {
			t.finish(attemptFinished)
		}
		t.drop()
	}
	if a.aid != heddle.NoApp {
		r.step(heddle.AppDone{App: a.aid})
		r.apps[a.aid] = nil
		a.aid = heddle.NoApp
	}
	for _, n := range slices.SortedFunc(maps.Keys(a.nodes), func(m, n *node) int { return m.id.Compare(n.id) }) {
		if n.state.active() {
			n.clean(a.id)
		}
		delete(n.apps, a.id)
		maps.DeleteFunc(n.killed, func(id ids.Container, _ time.Time) bool { return id.Attempt.App == a.id })
	}
	a.nodes = nil
	r.commit(func() {}, store.PutApp(a.record())) // with what it held in the end
	a.context = nil
	_, known := r.queues[a.queue]
	r.counts.end(a, known)
	r.over = append(r.over, a)
	r.trim()
}

// logEnd leaves a line that says how an application ended. Who had it killed stands in the line of the call.
func (r *RM) logEnd(a *app) {
	d, err := Deed{User: a.user, Operation: opSucceeded, Target: targetApps, App: a.id}, error(nil)
	switch AppState(a.state) {
	case AppKilled:
		d.Operation = opKilled
	case AppFailed:
		d.Operation, err = opFailed, errors.New(a.diag)
	default:
	}
	d.Log(r.log, err)
}

// trim forgets the oldest applications that are over, beyond so many.
func (r *RM) trim() {
	n := len(r.over) - r.cfg.MaxCompleted
	if n <= 0 {
		return
	}
	var drop []store.Change
	for _, a := range r.over[:n] {
		delete(r.byApp, a.id)
		drop = append(drop, store.DropApp(a.id))
	}
	r.over = r.over[n:]
	r.commit(func() {}, drop...)
}

// charge adds what a container held to what its application used.
func (r *RM) charge(c *container) {
	memory, vcores := c.held()
	a := c.attempt.app
	a.memorySeconds += memory
	a.vcoreSeconds += vcores
}

// preempted counts a container taken from an application.
func (a *app) preempted(c *container) {
	memory, vcores := c.held()
	a.preMemorySeconds += memory
	a.preVcoreSecs += vcores
	if c.kind == heddle.AM {
		a.preemptedMain++
	} else {
		a.preemptedWorkers++
	}
}

// newAttempt makes the next run of an application's master.
func (r *RM) newAttempt(a *app) *attempt {
	t := &attempt{
		app: a, id: ids.Attempt{App: a.id, N: int32(len(a.attempts) + 1)}, state: attemptScheduled,
		responseID: unregistered, began: time.Now(), seen: time.Now(),
		host: "N/A", port: -1, tokens: map[ids.Node]bool{}, rows: map[rowKey]*wire.ResourceRequest{},
		keys: map[askKey]int{}, heard: map[ids.Container]bool{}, updated: map[ids.Node]nodeNews{}, exit: exitInvalid,
	}
	a.attempts = append(a.attempts, t)
	return t
}
