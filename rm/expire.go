package rm

import (
	"maps"
	"slices"

	"heddle"
	"heddle/yarn/ids"
)

// expire looks at what may have been silent or unused for too long. Nodes that may be silent are looked at all together,
// and containers that may be unused in turn; whatever else has a deadline has a timer that ends no later. Those of
// masters are left as they are while these report, and set to the true deadline when they end.
func (m *Machine) expire() {
	for t := m.timers.due(m.now); t != nil; t = m.timers.due(m.now) {
		m.lookAt(t, t.of, t.of.expire(m))
	}
	if m.now > m.silence {
		m.loseSilent()
	}
	for c := m.unused.due(m.now, m.cfg.ContainerExpiry); c != nil; c = m.unused.due(m.now, m.cfg.ContainerExpiry) {
		m.kill(c.node, c.id())
		m.exited(c, int32(heddle.Aborted), textExpired)
	}
	m.release()
}

// lookAt has something looked at by its deadline; never for none.
func (m *Machine) lookAt(t *timer, of expiring, deadline heddle.Time) {
	if deadline != never {
		m.timers.by(t, of, deadline)
	}
}

// awaitNode has a node that reports lost once it has been silent for too long.
func (m *Machine) awaitNode(n *node) { m.silence = min(m.silence, n.seen.Plus(m.cfg.NodeExpiry)) }

// loseSilent gives up the nodes that have been silent for too long, and forgets those that have been gone for long. All are
// looked at, but no node that goes on reporting has them looked at twice within the expiry.
func (m *Machine) loseSilent() {
	m.silence = never
	for _, n := range m.nodes {
		switch {
		case m.goneLong(n):
			m.forgetNodes(n.id, m.goneLong)
		case !n.state.active() && !n.awaited:
		case m.now.Since(n.seen) > m.cfg.NodeExpiry:
			m.log(Warn, "NodeManager lost", "node", n.id, "silent", m.now.Since(n.seen))
			awaited := n.awaited
			m.nodeDown(n, nodeLost)
			if awaited && slices.ContainsFunc(m.hosts[m.hostName(n.id)], func(o *node) bool { return o.state.active() }) {
				m.replaced(n.id) // it came back on another port
			}
		default:
			m.awaitNode(n)
		}
	}
}

// expectNode has a node passed over once it has missed several reports.
func (m *Machine) expectNode(n *node) {
	if m.cfg.Silence > 0 {
		m.lull = min(m.lull, n.seen.Plus(m.patience(n)))
	}
}

// patience is how long a node may be silent before nothing more starts there.
func (m *Machine) patience(n *node) heddle.Span { return max(m.cfg.Silence, 3*n.every) }

// passOver has nothing more start on nodes that have missed several reports: one that is down is soon the roomiest of all,
// and what is given away there is lost. All are looked at, as in loseSilent.
func (m *Machine) passOver() {
	m.lull = never
	count, first := 0, ids.Node{}
	for _, n := range m.nodes {
		switch {
		case !n.up || n.silent:
		case m.now.Since(n.seen) > m.patience(n):
			if count++; count == 1 {
				first = n.id
			}
			n.silent = true
			m.tellCloses(n)
		default:
			m.expectNode(n)
		}
	}
	if count > 0 {
		m.log(Warn, "NodeManagers do not report: nothing more starts there until they do", "nodes", count, "first", first)
	}
}

// speaks notes that a node has been heard of.
func (m *Machine) speaks(n *node) {
	n.seen = m.now
	m.staleNode(n)
	if n.silent {
		n.silent = false
		m.tellCloses(n)
		m.expectNode(n)
	}
}

// watchNode has a node looked at when it may take too long to be drained, or a kill on it may have.
func (m *Machine) watchNode(n *node) { m.lookAt(&n.timer, n, n.next(&m.cfg)) }

// next is the next deadline of what a node is to do, never for none.
func (n *node) next(cfg *Config) heddle.Time {
	next := never
	if n.state == nodeDecommissioning {
		next = n.deadline
	}
	for _, at := range n.killed { // order: the soonest is taken
		next = min(next, at.Plus(cfg.ContainerExpiry))
	}
	return next
}

func (n *node) expire(m *Machine) heddle.Time {
	maps.DeleteFunc(n.killed, func(_ ids.Container, at heddle.Time) bool { return m.now.Since(at) > m.cfg.ContainerExpiry })
	if n.state == nodeDecommissioning && m.now > n.deadline {
		m.nodeDown(n, nodeDecommissioned)
	}
	return n.next(&m.cfg)
}

// expire kills an application that has lived for as long as it was to. Of one that is over it gives up what has not been
// collected of its logs.
func (a *app) expire(m *Machine) heddle.Time {
	if a.closed {
		m.lateLogs(a)
		return never
	}
	switch until := a.shown().lifetime; {
	case until <= 0 || a.aid == heddle.NoApp || a.newest() == nil || a.public().Final():
		return never
	case m.today() < until:
		return m.timeOf(until)
	}
	m.end(a, appKilled, Killed, text("Application %s is killed by ResourceManager as it has exceeded the lifetime period.", a.ID))
	return never
}

// watchLife has an application looked at when it has lived for as long as it is to.
func (m *Machine) watchLife(a *app) {
	if until := a.shown().lifetime; until > 0 && !a.closed {
		m.lookAt(&a.timer, a, m.timeOf(until))
	}
}

// watchMaster has an attempt looked at when its master may have been silent for too long.
func (m *Machine) watchMaster(t *attempt) { m.lookAt(&t.timer, t, t.seen.Plus(m.cfg.MasterExpiry)) }

// expire gives up an attempt whose master is silent.
func (t *attempt) expire(m *Machine) heddle.Time {
	a := t.app
	switch {
	case t.state.isOver() || t != a.newest() || a.aid == heddle.NoApp:
	case m.now.Since(t.seen) <= m.cfg.MasterExpiry:
		return t.seen.Plus(m.cfg.MasterExpiry)
	case a.state == appFinishing: // it said it was done, and stays: it is ended
		m.stopMaster(t, int32(heddle.KilledByRM))
		m.close(a)
	case t.state == attemptLaunched, t.state == attemptRunning:
		m.failAttempt(t, exitInvalid, text("ApplicationMaster for attempt %s timed out", t.id))
	}
	return never
}

// unused are the containers of which masters were told and that no node has reported, in the order in which masters
// were told: how long each may stay so is the same for all. Those that have been reported since, or ended, are dropped
// as they come first.
type unused struct {
	list []looked
	from int // where the first one is
}

func (q *unused) add(c *container) {
	q.settle()
	q.list = append(q.list, looked{c, c.life})
}

// settle drops the first ones that are looked at no more.
func (q *unused) settle() {
	for q.from < len(q.list) && !q.list[q.from].idle() {
		q.list[q.from].c = nil
		q.from++
	}
	if q.from > len(q.list)/2 {
		n := copy(q.list, q.list[q.from:])
		clear(q.list[n:])
		q.list, q.from = q.list[:n], 0
	}
}

// looked is a container that is looked at. Another one may have its place since.
type looked struct {
	c    *container
	life uint32
}

// idle reports whether the container has not begun and somebody could use it.
func (l looked) idle() bool {
	c := l.c
	return c.life == l.life && !c.over() && !c.running() && !c.begun && !c.attempt.state.isOver()
}

// next is when the first of them has been so for too long, never for none.
func (q *unused) next(expiry heddle.Span) heddle.Time {
	if q.from == len(q.list) {
		return never
	}
	return q.list[q.from].c.fetched.Plus(expiry) + 1
}

// due takes out one that has been so for too long, nil for none.
func (q *unused) due(now heddle.Time, expiry heddle.Span) *container {
	q.settle()
	if q.next(expiry) > now {
		return nil
	}
	c := q.list[q.from].c
	q.list[q.from].c = nil
	q.from++
	return c
}

// comingBack is the time after a start in which nodes are waited for.
type comingBack struct{}

// expire forgets what was given back of nodes that had not come: one that comes so late is not waited for.
func (comingBack) expire(m *Machine) heddle.Time {
	for _, t := range m.current() {
		t.releases = nil
	}
	return never
}
