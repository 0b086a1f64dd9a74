package rm

import (
	"cmp"
	"slices"

	"heddle"
	"heddle/cluster"
	"heddle/yarn/ids"
)

const (
	noName         = "N/A"
	maxURL         = 8192     // bytes, of what a master says about itself
	maxDiagnostics = 64 << 10 // bytes kept of a text for people
)

// attemptOf returns the attempt that a call's token was made for, or nil if it is not the current one.
func (m *Machine) attemptOf(id ids.Attempt) *attempt {
	a := m.appBy(id.App)
	if a == nil {
		return nil
	}
	if t := a.newest(); t != nil && t.id == id {
		return t
	}
	return nil
}

// liveAttempt is like attemptOf, but also returns nil if the attempt has ended.
func (m *Machine) liveAttempt(id ids.Attempt) *attempt {
	if t := m.attemptOf(id); t != nil && !t.state.isOver() && !t.stopping {
		return t
	}
	return nil
}

func (m *Machine) registerMaster(q *RegisterMaster) (*MasterRegistered, error) {
	t := m.liveAttempt(q.Who.Attempt)
	switch {
	case t == nil:
		return nil, invalid(classInvalidMaster, "Application doesn't exist in cache %s", q.Who.Attempt)
	case t.registered():
		return nil, invalid(classInvalidMaster, "Application Master is already registered : %s", q.Who.Attempt.App)
	}
	a := t.app
	m.stale(a)
	t.responseID, t.last, t.seen = 0, nil, m.now
	t.host, t.port, t.url = Clip(q.Host, maxURL), q.Port, Clip(q.Tracking, maxURL)
	t.tokens = nil
	t.become(attemptRunning)
	if t.newsAt != never {
		m.tellGone(t)
	}
	m.inquire(t)
	if a.state == appAccepted {
		a.become(appRunning)
	}
	m.release()
	return &MasterRegistered{Largest: m.largest(a.queue), Access: a.Access, Queue: a.queue}, nil
}

// nextID returns the response id after id.
func nextID(id int32) int32 { return (id + 1) & 0x7fffffff }

// allocate handles an allocate call of a master.
func (m *Machine) allocate(q *Allocate) (*Allocated, error) {
	if len(q.Ask) > maxAskRows || len(q.Release) > maxAskRows {
		return nil, invalid(classInvalidAsk, "%s asks for %d rows and releases %d containers in one call; at most %d of each are allowed", q.Who.Attempt, len(q.Ask), len(q.Release), maxAskRows)
	}
	t := m.liveAttempt(q.Who.Attempt)
	switch {
	case t == nil:
		return nil, invalid(classAttemptNotFound, "Application attempt %s doesn't exist in ApplicationMasterService cache.", q.Who.Attempt)
	case !t.registered():
		return nil, invalid(classNotRegistered, "AM is not registered for known application attempt: %s or RM had restarted after AM registered. AM should re-register.", q.Who.Attempt)
	}
	t.seen = m.now
	switch {
	case t.last != nil && nextID(q.Last) == t.responseID: // its answer was lost
		again := *t.last // the first copy may still be on its way
		again.NewToken = m.rings[MasterRing].lacks(q.Who.Key)
		return &again, nil
	case q.Last != t.responseID:
		return nil, invalid(classInvalidMaster, "Invalid responseId in AllocateRequest from application attempt: %s expect responseId to be %d but get %d", t.id, t.responseID, q.Last)
	}
	if t.app.state.ending() {
		return m.answerMaster(t, q), nil
	}
	if err := m.checkAsk(t, q); err != nil {
		return nil, err
	}
	if p := clamp(q.Progress); p != t.progress || q.Tracking != nil {
		t.progress = p
		m.stale(t.app)
	}
	if q.Tracking != nil {
		t.url = Clip(*q.Tracking, maxURL)
	}
	m.arrived(t, t.sent) // this call proves that the last answer arrived
	t.sent = t.sent[:0]
	p := m.serve(t, q)
	p.Updates = q.Updates
	return p, nil
}

// serve does what a master asks for, and answers.
func (m *Machine) serve(t *attempt, q *Allocate) *Allocated {
	first := t.last == nil
	if m.cfg.Stock {
		p := m.answerMaster(t, q)
		m.blacklist(t, q)
		m.ask(t, q.Ask, first)
		m.giveBack(t, q.Release) // makes room for what is asked for now, not for earlier requests
		return p
	}
	m.blacklist(t, q)
	m.giveBack(t, q.Release)
	m.ask(t, q.Ask, first)
	return m.answerMaster(t, q)
}

// clamp limits a share that a master reported to 0 to 1.
func clamp[F float32 | float64](f F) F {
	if f > 0 { // false for NaN
		return min(f, 1)
	}
	return 0
}

// giveBack releases containers that a master does not want.
func (m *Machine) giveBack(t *attempt, list []ids.Container) {
	m.ending = textReleased
	for _, id := range list {
		c := m.container(id)
		switch {
		case c != nil && c.kind != heddle.AM:
			m.step(heddle.Release{App: t.app.aid, Container: c.cid})
		case c == nil && id != t.masterID && m.recovering() && len(t.releases) < maxAskRows: // its node has not come back yet
			if t.releases == nil {
				t.releases = map[ids.Container]bool{}
			}
			t.releases[id] = true
		}
	}
	m.ending = ""
}

// blacklist changes the hosts and racks on which a master wants nothing.
func (m *Machine) blacklist(t *attempt, q *Allocate) {
	if len(q.Avoid) == 0 && len(q.Accept) == 0 {
		return
	}
	if t.black == nil {
		t.black = map[string]bool{}
	}
	for _, h := range q.Avoid {
		t.black[h] = true
	}
	for _, h := range q.Accept {
		delete(t.black, h)
	}
	m.exclude(t)
}

// exclude tells the core on which nodes an application wants nothing.
func (m *Machine) exclude(t *attempt) {
	e := heddle.Exclude{App: t.app.aid}
	for _, n := range m.nodes {
		if t.black[m.hostName(n.id)] || t.black[n.rack] {
			e.Nodes = append(e.Nodes, n.nid)
		}
	}
	m.step(e)
}

// answerMaster collects what there is for a master.
func (m *Machine) answerMaster(t *attempt, q *Allocate) *Allocated {
	a, v := t.app, m.core.View()
	t.responseID = nextID(t.responseID)
	p := q.Answer
	if p == nil {
		p = &Allocated{}
	}
	*p = Allocated{
		Granted: p.Granted[:0], Tokens: p.Tokens[:0], Completed: p.Completed[:0],
		Attempt: t.id, User: a.user, NewToken: m.rings[MasterRing].lacks(q.Who.Key), ID: t.responseID, LiveNodes: v.Live(), Priority: a.shown().priority, Total: v.Total(),
		LogContext: a.LogContext,
	}
	granted := t.granted
	t.granted = nil
	for _, c := range granted {
		c.fetched = m.now
		if c.state == containerAllocated {
			c.become(containerAcquired)
		}
		m.unused.add(c)
	}
	if len(granted) > 0 { // what the core grants in response is for the next call
		m.step(heddle.Acquire{App: a.aid})
		p.Granted = slices.Grow(p.Granted, len(granted))
	}
	for _, c := range granted {
		p.Granted = append(p.Granted, m.granting(c))
		if !t.tokens.Has(int32(c.node.nid)) {
			t.tokens.Add(int32(c.node.nid))
			p.Tokens = append(p.Tokens, c.node.id)
		}
	}
	if len(t.finished) > 0 {
		p.Completed = slices.Grow(p.Completed, len(t.finished))
		for i := range t.finished {
			e := &t.finished[i]
			p.Completed = append(p.Completed, e.news)
			t.sent = append(t.sent, told{e.node, e.news.ID})
		}
		clear(t.finished)
		t.finished = t.finished[:0]
	}
	t.newsAt = m.now
	for _, e := range t.updated.take() {
		p.Nodes = append(p.Nodes, NodeNews{e.how, m.newsOf(e.n)})
	}
	p.Headroom = m.core.Headroom(a.aid) // nothing if the core does not know it
	if c := v.App(a.aid); c != nil {
		p.Pending = waiting(c)
	}
	t.last = p
	return p
}

// waiting returns how many containers of all kinds an application asks for.
func waiting(a *cluster.App) (n int) {
	for k := range heddle.Kind(heddle.NumKinds) {
		n += a.Waiting(k)
	}
	return n
}

// running returns how many containers of all kinds an application holds.
func running(a *cluster.App) (n int) {
	for k := range heddle.Kind(heddle.NumKinds) {
		n += a.Running(k)
	}
	return n
}

func (m *Machine) usedOn(n *node) heddle.Resource {
	if v := m.core.View().Node(n.nid); n.up && v != nil {
		return v.Used()
	}
	return heddle.Resource{}
}

func (m *Machine) finishMaster(q *FinishMaster) {
	a := m.byApp[q.Who.Attempt.App]
	switch {
	case a != nil && (a.state.isOver() || a.state == appFinishing):
		m.answer(q.Call, nil, nil)
		return
	case a != nil && a.state == appFinalSaving:
		a.saved = append(a.saved, q.Call)
		return
	}
	t := m.liveAttempt(q.Who.Attempt)
	switch {
	case t == nil:
		m.answer(q.Call, nil, invalid(classInvalidMaster, "Application doesn't exist in cache %s", q.Who.Attempt))
		return
	case !t.registered():
		m.answer(q.Call, nil, invalid(classNotRegistered, "Application Master is trying to unregister before registering for: %s", q.Who.Attempt.App))
		return
	}
	t.seen = m.now
	m.stale(a)
	t.final = cmp.Or(q.Final, Undefined)
	t.diag, t.url = Clip(q.Diagnostics, maxDiagnostics), Clip(q.Tracking, maxURL)
	t.progress = 1
	if !m.cfg.Stock {
		m.withdraw(t)
	}
	a.saved = append(a.saved, q.Call)
	m.end(a, appFinishing, t.final, t.diag)
}
