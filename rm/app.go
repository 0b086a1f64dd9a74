package rm

import (
	"iter"
	"maps"
	"slices"

	"heddle"
	"heddle/internal/slab"
	"heddle/yarn/ids"
)

// An app is an application.
type app struct {
	Submission
	standing
	stored    standing     // if changes are on their way to the disk: what the disk has
	changes   int          // on their way
	aid       heddle.AppID // heddle.NoApp if the core does not know it
	user      string
	framework heddle.Framework
	state     appState
	before    AppState // of appFinalSaving: what clients see
	target    appState // likewise: the state that follows
	final     FinalStatus
	diag      string
	saved     []Call     // wait until its submission, or its end, is stored
	gone      bool       // its master's container ended while the end was being stored
	kill      string     // why it was killed while its submission was being stored
	killers   []Call     // wait until that kill is stored
	moveWhy   heddle.Why // why the core refused the last move
	why       heddle.Why // why the application was not accepted
	nodes     []*node    // ran something of it and have not been told to clean up
	onNodes   slab.Bits  // likewise, by heddle.NodeID
	logs      logs
	reading   *reading                // of the files its client left beside the submission; nil if none is under way
	known     *known                  // from outside YARN's protocols; nil if no policy uses it
	placed    map[int32]heddle.NodeID // maps whose output location the core knows
	counted   int                     // bytes of its submission that count towards its user's limit
	closed    bool                    // the core was told of its end
	most      demand
	noted     bool  // something about it was remembered
	live      int64 // MiB: the most live heap of one of its masters, if measured
	beside    int64 // MiB: what was used beside the heap then

	submitted, started, launched, finished int64 // milliseconds since 1970, 0 for not yet
	timer                                  timer // of its lifetime, and then of its logs
	attempts                               []*attempt
	taken                                  int32 // attempt numbers up to this one are taken
	recovered                              bool  // existed before the start
	memorySeconds, vcoreSeconds            float64
	preMemorySeconds, preVcoreSecs         float64
	preemptedWorkers, preemptedMain        int
	stale, viewed                          bool // views are out of date; it is in views at all
}

// A standing is what can be changed about an application while it lives.
type standing struct {
	queue    string // path
	priority int32
	lifetime int64 // when it is killed, milliseconds since 1970; 0 for never
}

// shown returns the standing that others may see: what a restart would recover.
func (a *app) shown() standing {
	if a.changes > 0 {
		return a.stored
	}
	return a.standing
}

// change gives an application another standing, which is shown once it is stored; then runs after that.
func (m *Machine) change(a *app, to standing, then func()) {
	if a.changes == 0 {
		a.stored = a.standing
	}
	m.stale(a)
	a.standing = to
	a.changes++
	m.commit(func() {
		m.stale(a)
		a.stored = to
		a.changes--
		then()
	}, Change{App: a.record(), SameContext: true})
}

// newest returns the newest attempt, or nil before the first.
func (a *app) newest() *attempt {
	if len(a.attempts) == 0 {
		return nil
	}
	return a.attempts[len(a.attempts)-1]
}

// current yields the applications that the core knows, in the order of their numbers, each with its newest attempt.
func (m *Machine) current() iter.Seq2[*app, *attempt] {
	return func(yield func(*app, *attempt) bool) {
		for _, a := range m.apps {
			if a != nil && a.aid != heddle.NoApp && a.newest() != nil && !yield(a, a.newest()) {
				return
			}
		}
	}
}

// admitted handles the core's acceptance of an application.
func (m *Machine) admitted(a *app) {
	m.stale(a)
	if !m.telling {
		a.become(appAccepted)
	}
}

// rejected handles the core's refusal of an application or of its move to another queue. Asks above the largest
// container are refused before they get this far.
func (m *Machine) rejected(a *app, why heddle.Why) {
	a.moveWhy = why
	if a.state != appSubmitted {
		return // a move, whose sender is told
	}
	m.apps[a.aid] = nil
	a.aid, a.why = heddle.NoApp, why
	m.end(a, appFailed, Failed, text("Application %s was not taken into queue %s by user %s: %s", a.ID, a.queue, a.user, whyText(why)))
}

// begin hands an application to the core. running says that its master is already running.
func (m *Machine) begin(a *app, running bool) {
	m.stale(a)
	a.become(appSubmitted)
	q, ok := m.queues[a.queue]
	if !ok || !m.sch.Queues[q].Leaf {
		a.why = heddle.NoSuchQueue
		m.end(a, appFailed, Failed, text("Application %s was submitted to %s, which is not a leaf queue", a.ID, a.queue))
		return
	}
	if a.recovered { // its place was kept
		a.aid = heddle.AppID(slices.Index(m.apps, a))
	} else {
		a.aid = heddle.AppID(len(m.apps))
		m.apps = append(m.apps, a)
	}
	m.watchLife(a)
	a.Facts.Last = m.past.of(a.runKey())
	size := a.Master
	if running {
		size = heddle.Resource{}
	}
	m.step(heddle.Submit{
		App: a.aid, Queue: q, User: m.userID(a.user), Priority: a.priority, Framework: a.framework,
		Master: size, Facts: m.factsOf(a), Past: heddle.Past{Lost: a.ran()},
	})
}

// offer has the nodes with room offered for an application's asks, at once instead of at their next heartbeats.
func (m *Machine) offer(a *app) {
	if m.Ready() && a.aid != heddle.NoApp && !m.cfg.Stock {
		m.step(heddle.Offer{App: a.aid})
	}
}

// end stores how an application ended and ends it once that is stored. target is appFinishing if its master has
// unregistered and is still there.
func (m *Machine) end(a *app, target appState, final FinalStatus, diagnostics string) {
	if a.state.ending() || a.state.isOver() {
		return
	}
	m.stale(a)
	a.before, a.target = a.public(), target
	a.become(appFinalSaving)
	a.final, a.finished = final, m.today()
	if diagnostics != "" {
		a.diag = Clip(diagnostics, maxDiagnostics)
	}
	if target != appFinishing {
		m.stopAttempt(a, target)
	}
	changes := []Change{{App: a.record()}}
	if t := a.newest(); t != nil {
		changes = append(changes, Change{Attempt: t.record(m)})
	}
	m.commit(func() { m.endStored(a) }, changes...)
}

// endStored is called when an application's end is durable, and answers those who wait for it.
func (m *Machine) endStored(a *app) {
	m.stale(a)
	a.become(a.target)
	if t := a.newest(); t != nil && a.state == appFinishing && !t.state.isOver() {
		t.become(attemptFinishing)
	}
	for _, c := range a.saved {
		m.answer(c, nil, nil)
	}
	a.saved = nil
	if a.state != appFinishing || a.gone {
		m.close(a)
	}
}

// close ends an application for the cluster: everything it held is released, and every node that ran something of it
// cleans up.
func (m *Machine) close(a *app) {
	if a.closed {
		return
	}
	m.stale(a)
	a.closed = true
	m.lets(a)
	if a.state == appFinishing {
		a.become(appFinished)
	}
	m.emit(&Ended{a.ID, a.user, a.public(), a.diag, a.why})
	m.timers.stop(&a.timer)
	m.hush(a)
	m.stopReading(a)
	if t := a.newest(); t != nil {
		m.timers.stop(&t.timer)
		m.emit(DropMaster{t.id})
		if !t.state.isOver() {
			t.finish(m, attemptFinished)
		}
		t.drop()
	}
	if a.aid != heddle.NoApp {
		m.step(heddle.AppDone{App: a.aid})
		a.aid = heddle.NoApp
	} else if a.recovered {
		if i := slices.Index(m.apps, a); i >= 0 { // it came to its end before it was handed over
			m.apps[i] = nil
		}
	}
	for _, n := range a.nodes {
		if n.state.active() {
			n.clean(a.ID)
		}
		n.apps = slices.DeleteFunc(n.apps, func(x *app) bool { return x == a })
		if n.killed != nil {
			maps.DeleteFunc(n.killed, func(id ids.Container, _ heddle.Time) bool { return id.Attempt.App == a.ID })
		}
	}
	m.awaitLogs(a)
	a.nodes, a.onNodes, a.placed = nil, nil, nil
	changes := append(m.keepRun(a), Change{App: a.record(), SameContext: true}) // with its final resource use
	m.commit(nil, changes...)
	a.forget()
	_, known := m.queues[a.queue]
	m.counts.end(a, known)
	m.over = append(m.over, a)
	m.trim()
}

// forget drops what is kept encoded of an application whose end is stored: no record of it follows.
func (a *app) forget() { a.Context, a.Rest, a.LogContext = nil, nil, nil }

// trim forgets the oldest completed applications beyond the configured number.
func (m *Machine) trim() {
	n := len(m.over) - m.cfg.MaxCompleted
	if n <= 0 {
		return
	}
	var drop []Change
	for _, a := range m.over[:n] {
		m.timers.stop(&a.timer)
		delete(m.byApp, a.ID)
		m.recent.drop(a)
		m.stale(a)
		drop = append(drop, Change{Drop: a.ID})
	}
	m.over = m.over[n:]
	m.commit(nil, drop...)
}

// ranOn notes that a node ran something of the application.
func (a *app) ranOn(n *node) {
	if !a.onNodes.Has(int32(n.nid)) {
		a.onNodes.Add(int32(n.nid))
		a.nodes = append(a.nodes, n)
		n.apps = append(n.apps, a)
	}
}

// charge adds a container's resource use to its application's.
func (m *Machine) charge(c *container) {
	memory, vcores := c.held(m.now)
	a := c.attempt.app
	a.memorySeconds += memory
	a.vcoreSeconds += vcores
}

// preempted counts a container that was preempted from an application.
func (m *Machine) preempted(c *container) {
	memory, vcores := c.held(m.now)
	a := c.attempt.app
	a.preMemorySeconds += memory
	a.preVcoreSecs += vcores
	if c.kind == heddle.AM {
		a.preemptedMain++
	} else {
		a.preemptedWorkers++
	}
}

// record returns what is stored of an application.
func (a *app) record() *AppRecord {
	rec := &AppRecord{
		ID: a.ID, User: a.user, Queue: a.queue, Priority: a.priority, Submitted: a.submitted, Started: a.started,
		Launched: a.launched, Finished: a.finished, Lifetime: a.lifetime, Diagnostics: a.diag, Final: string(a.final),
		MemorySeconds: a.memorySeconds, VcoreSeconds: a.vcoreSeconds, PreemptedMemorySeconds: a.preMemorySeconds, PreemptedVcoreSeconds: a.preVcoreSecs,
		Context: a.Context, Taken: a.taken,
	}
	state := a.state
	if state == appFinalSaving {
		state = a.target
	}
	if state == appFinishing {
		state = appFinished
	}
	if state.isOver() {
		rec.State = state.String()
	}
	if a.finished != 0 { // what starts masters is no longer needed
		rec.Context = a.Rest
	}
	if t := a.newest(); t != nil {
		rec.Tracking = t.url
	}
	return rec
}
