package rm

import (
	"cmp"
	"maps"
	"slices"

	"heddle"
	"heddle/yarn/ids"
)

// recover takes over what was going on before the restart. Applications whose masters were running continue once the
// masters and the nodes come back: until then nothing is granted.
func (m *Machine) recover(list []Recovered) {
	m.lookAt(&timer{}, comingBack{}, heddle.Time(m.cfg.NodeExpiry))
	var alive []*app
	for i := range list {
		a := m.recoverApp(&list[i])
		m.byApp[a.ID] = a
		m.stale(a)
		m.counts.submitted++
		if a.closed {
			a.forget()
			_, known := m.queues[a.queue]
			m.counts.end(a, known)
			m.over = append(m.over, a)
			a.logs.unsure = true
			m.awaitLogs(a)
			continue
		}
		m.holds(a)
		alive = append(alive, a)
	}
	slices.SortStableFunc(m.over, func(a, b *app) int { return cmp.Compare(a.finished, b.finished) })
	if len(alive) == 0 {
		return
	}
	slices.SortFunc(alive, bySubmission)
	m.apps = append(m.apps, alive...) // also those that the core meets later: they keep their places
	m.hold = heddle.Time(m.cfg.SchedulingWait)
	if slices.ContainsFunc(alive, func(a *app) bool { _, there := m.queues[a.queue]; return !there }) {
		if err := m.rebuild(m.sch); err != nil {
			m.log(Error, "queues from before the restart cannot be created", "error", err)
		}
	}
	for _, a := range alive {
		m.resume(a)
	}
}

// bySubmission compares applications by when they were submitted.
func bySubmission(a, b *app) int {
	return cmp.Or(cmp.Compare(a.submitted, b.submitted), a.ID.Compare(b.ID))
}

func (m *Machine) recoverApp(r *Recovered) *app {
	a := m.appOf(r.User, &r.Submission)
	a.queue, a.priority, a.final, a.diag = r.Queue, r.Priority, FinalStatus(r.Final), r.Diagnostics
	a.submitted, a.started, a.launched, a.finished, a.lifetime = r.Submitted, r.Started, r.Launched, r.Finished, r.Lifetime
	a.state, a.closed = stateOf[appState](appNames[:], r.State)
	a.recovered, a.taken = true, r.Taken
	a.memorySeconds, a.vcoreSeconds = r.MemorySeconds, r.VcoreSeconds
	a.preMemorySeconds, a.preVcoreSecs = r.PreemptedMemorySeconds, r.PreemptedVcoreSeconds
	slices.SortFunc(r.Attempts, func(x, y AttemptRecord) int { return cmp.Compare(x.ID.N, y.ID.N) })
	for i := range r.Attempts {
		m.recoverAttempt(a, &r.Attempts[i], i == len(r.Attempts)-1)
	}
	return a
}

// recoverAttempt recovers an attempt. Whatever its state was, its master may be running.
func (m *Machine) recoverAttempt(a *app, k *AttemptRecord, last bool) {
	t := m.newAttempt(a)
	t.id.N, t.newsAt = k.ID.N, 0
	t.final, t.diag, t.exit, t.url = FinalStatus(k.Final), k.Diagnostics, k.Exit, k.Tracking
	t.began = m.timeOf(k.Started)
	if k.Finished > 0 {
		t.ended = m.timeOf(k.Finished)
	}
	if k.MasterID != 0 {
		t.masterID = ids.Container{Attempt: k.ID, ID: k.MasterID}
	}
	t.masterNode, t.masterHTTP, t.heap = k.Node, k.NodeHTTP, k.Heap
	a.Facts.Maps, a.Facts.Reduces = max(a.Facts.Maps, k.Maps), max(a.Facts.Reduces, k.Reduces)
	if k.State != "" || a.closed {
		t.host, t.port = k.Host, k.RPCPort
	}
	state, over := stateOf[attemptState](attemptNames[:], k.State)
	switch {
	case over:
		t.state = state
	case a.closed: // over with its application
		t.state, _ = stateOf[attemptState](attemptNames[:], a.state.String())
		t.ended = m.timeOf(a.finished)
	case !last: // a later attempt was begun
		t.state, t.ended = attemptFailed, t.began
		if t.exit == exitInvalid { // older programs did not store that a restart ended it: see [Machine.resume]
			t.exit = int32(heddle.Aborted)
		}
	default:
		t.state = attemptLaunched
	}
}

// resume continues an application that was alive.
func (m *Machine) resume(a *app) {
	a.become(appSubmitted)
	t := a.newest()
	if t != nil && !t.state.isOver() && !m.cfg.WorkPreserving { // its node kills it when it registers
		t.finish(m, attemptFailed)
		t.exit, t.diag = int32(heddle.Aborted), text("AM Container for %s ended with the ResourceManager's restart, which preserves no work", t.id)
		m.commit(nil, Change{Attempt: t.record(m)})
	}
	if t != nil && t.state.isOver() && m.exhausted(a) { // the outcome was never stored
		m.giveUp(a)
		return
	}
	switch {
	case t == nil || t.state.isOver(): // its next attempt begins when the wait is over, together with applications submitted meanwhile
		if largest := m.largest(a.queue); !a.Master.Fits(largest) {
			m.end(a, appFailed, Failed, text("Application %s cannot continue after the ResourceManager's restart: %s", a.ID, m.tooLarge(a.Master, largest)))
			return
		}
		if t == nil { // nothing of it is done
			m.read(a)
		}
	default:
		m.emit(AdmitMaster{t.id})
		t.seen = m.now
		m.watchMaster(t)
		m.begin(a, true)
	}
	m.log(Info, "application recovered", "app", a.ID, "user", a.user, "queue", a.queue)
}

// recovering reports whether containers from before the restart may still come back.
func (m *Machine) recovering() bool { return m.epoch > 0 && m.now < heddle.Time(m.cfg.NodeExpiry) }

// release ends the wait after a restart, when it has been long enough or everything awaited is back, and hands over
// what was asked for meanwhile.
func (m *Machine) release() {
	if m.Ready() || m.now < m.hold && !m.allBack() {
		return
	}
	m.hold = never
	m.log(Info, "recovery is over", "after", heddle.Span(m.now), "nodes", m.core.View().Live(), "missing", m.back.missing, "containers", m.conts.Len())
	var waiting []*app
	for _, a := range m.byApp { // order: sorted below
		if a.state == appSubmitted && a.aid == heddle.NoApp && a.reading == nil {
			waiting = append(waiting, a)
		}
	}
	slices.SortFunc(waiting, bySubmission)
	for _, a := range waiting {
		m.start(a)
	}
	m.askAll()
}

// allBack reports whether every master that was running and has not ended has registered again, with its node, whether
// enough of the known nodes are back, and whether the readings for waiting applications are done.
func (m *Machine) allBack() bool {
	if !m.back.enough() || m.back.unread > 0 {
		return false
	}
	for _, t := range m.current() {
		if t.state == attemptScheduled { // the previous one has ended
			continue
		}
		if n := m.byNode[t.masterNode]; !t.registered() || n == nil || !n.up {
			return false
		}
	}
	return m.core.View().Live() > 0
}

// reconcile takes over what a registering NodeManager says it runs, and gives up what it does not know.
func (m *Machine) reconcile(n *node, list []ContainerNews) {
	reported := make(map[ids.Container]bool, len(list))
	for i := range list {
		s := &list[i]
		reported[s.ID] = true
		c := m.container(s.ID)
		if s.Over {
			m.foundEnded(n, c, &s.ContainerEnd)
			continue
		}
		_, killed := n.killed[s.ID]
		switch {
		case c != nil && c.node == n:
			m.runs(n, s.ID, c)
		case killed: // its master was told that it ended
			m.kill(n, s.ID)
		case c == nil:
			m.adopt(n, s)
		}
	}
	m.missMasters(n, reported)
	maps.DeleteFunc(n.killed, func(id ids.Container, _ heddle.Time) bool { return !reported[id] })
	m.unreported(n, func(c *container) bool { return !reported[c.id()] && (c.running() || c.kind == heddle.AM) })
}

// missMasters gives up masters from before the restart that their own node, now back, does not have: they were never
// started, or ended and were forgotten.
func (m *Machine) missMasters(n *node, reported map[ids.Container]bool) {
	for a, t := range m.current() {
		switch {
		case t.master != nil || t.masterNode != n.id || reported[t.masterID]:
		case a.state == appFinishing:
			m.close(a)
		case t.state == attemptLaunched && !t.registered():
			m.failAttempt(t, int32(heddle.Aborted), text("Container %s of the master was not reported from %s", t.masterID, n.id))
		}
	}
}

// foundEnded handles a container that ended while nobody listened. Its node may forget it once its master knows.
func (m *Machine) foundEnded(n *node, c *container, s *ContainerEnd) {
	if c != nil {
		if c.kind == heddle.AM {
			n.acknowledge(s.ID)
		}
		m.exited(c, s.Exit, s.Diagnostics)
		return
	}
	t := m.attemptOf(s.ID.Attempt)
	if t == nil || t.state.isOver() || t.app.aid == heddle.NoApp || s.ID != t.masterID && m.wasHere(t, s.ID) {
		m.forgettable(n, s.ID)
		return
	}
	if s.ID == t.masterID {
		n.acknowledge(s.ID)
	}
	m.foundOver(n, t, s)
}

// foundOver handles the end of a container from before the restart.
func (m *Machine) foundOver(n *node, t *attempt, s *ContainerEnd) {
	if s.ID == t.masterID {
		m.masterEnded(t, s.Exit, s.Diagnostics)
		return
	}
	t.hear(m, n, s)
}

// adopt takes over a container that a node runs and nobody here holds, or has it killed if nobody is left to want it.
func (m *Machine) adopt(n *node, s *ContainerNews) {
	a, t := m.byApp[s.ID.Attempt.App], m.attemptOf(s.ID.Attempt)
	switch {
	case a == nil || a.closed:
		m.ranOn(s.ID.Attempt.App, n)
		return
	case t == nil || t.state.isOver() || a.aid == heddle.NoApp, m.wasHere(t, s.ID), !plausible(s.Size):
		m.kill(n, s.ID)
		return
	case !n.up: // it came back unhealthy
		m.kill(n, s.ID)
		m.foundOver(n, t, &ContainerEnd{ID: s.ID, Exit: int32(heddle.Aborted), Diagnostics: textLost, Size: s.Size})
		return
	}
	if t.releases[s.ID] {
		delete(t.releases, s.ID)
		m.kill(n, s.ID)
		t.hear(m, n, &ContainerEnd{ID: s.ID, Exit: int32(heddle.Aborted), Diagnostics: textReleased, Size: s.Size})
		return
	}
	kind := kindOf(a.framework, s.Priority)
	if s.ID == t.masterID {
		kind = heddle.AM
	}
	m.finding = foundOne{s.ID, m.now}
	if s.Created < m.today() && s.Created > a.submitted { // clocks differ
		m.finding.at = m.timeOf(s.Created)
	}
	m.step(heddle.Found{
		App: a.aid, Node: n.nid, Kind: kind, Priority: s.Priority, AllocID: s.AllocID, Size: s.Size,
		Age: m.now.Since(m.finding.at), Ref: int64(n.nid),
	})
	if c := m.container(s.ID); c != nil {
		t.holds.add(c, -1)
		c.kind, c.priority, c.allocID, c.size = kind, s.Priority, s.AllocID, s.Size
		t.holds.add(c, 1)
		if s.Parked { // it is not suspended here
			d := c.changed()
			d.parked, d.demoted = false, true
			m.update(c)
		}
		if kind == heddle.AM {
			t.master = c
		}
		return
	}
	m.kill(n, s.ID)
}

// adopted handles the core's adoption of a found container.
func (m *Machine) adopted(d *heddle.Adopt) {
	if c := m.container(m.finding.id); c != nil { // a new core's number for a container that was held already
		c.cid = d.Container
		m.conts.Set(int64(c.cid), c)
		return
	}
	t := m.attemptOf(m.finding.id.Attempt)
	m.track(&container{
		num: m.finding.id.ID, cid: d.Container, attempt: t, node: m.nodes[d.Ref], created: m.finding.at, fetched: m.finding.at, state: containerRunning,
	})
}
