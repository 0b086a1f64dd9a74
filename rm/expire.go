package rm

import (
	"maps"
	"slices"

	"heddle"
	"heddle/yarn/ids"
)

// expire checks what may have been silent or unused for too long. Nodes are checked for silence all together, and
// containers that may be unused in turn; everything else with a deadline has a timer that ends no later. A master's
// timer is left alone while the master reports, and is set to the true deadline when it ends.
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

// lookAt sets a timer for a deadline, unless that is never.
func (m *Machine) lookAt(t *timer, of expiring, deadline heddle.Time) {
	if deadline != never {
		m.timers.by(t, of, deadline)
	}
}

// awaitNode sets the time at which a reporting node will be lost if it stays silent.
func (m *Machine) awaitNode(n *node) { m.silence = min(m.silence, n.seen.Plus(m.cfg.NodeExpiry)) }

// loseSilent gives up nodes that have been silent for too long, and forgets nodes that have been gone for long. It
// checks all nodes, but a node that keeps reporting causes no second check within the expiry.
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

// expectNode sets the time at which a node will be passed over if it stays silent.
func (m *Machine) expectNode(n *node) {
	if m.cfg.Silence > 0 {
		m.lull = min(m.lull, n.seen.Plus(m.patience(n)))
	}
}

// patience returns how long a node may be silent before nothing more starts there.
func (m *Machine) patience(n *node) heddle.Span { return max(m.cfg.Silence, 3*n.every) }

// passOver stops starting containers on nodes that have missed several heartbeats: a node that is down soon has more
// room than all others, and containers granted there are lost. It checks all nodes, as loseSilent does.
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
		m.log(Warn, "NodeManagers are not reporting: no containers start there until they do", "nodes", count, "first", first)
	}
}

// joins notes that a node that is up has registered. If it has yet to get the keys with which it checks tokens, nothing
// starts there until its first heartbeat.
func (m *Machine) joins(n *node) {
	switch {
	case !n.up:
	case !m.cfg.Keyed:
		m.speaks(n)
	case !n.silent:
		n.silent = true
		m.tellCloses(n)
	}
}

// speaks notes that a node was heard from.
func (m *Machine) speaks(n *node) {
	n.seen = m.now
	m.staleNode(n)
	if n.silent {
		n.silent = false
		m.tellCloses(n)
		m.expectNode(n)
	}
}

// watchNode sets a node's timer for when draining it, or a kill on it, may be taking too long.
func (m *Machine) watchNode(n *node) { m.lookAt(&n.timer, n, n.next(&m.cfg)) }

// next returns the next deadline of a node, or never.
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

// expire kills an application that has reached its lifetime. For a completed one it gives up waiting for its logs.
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

// watchLife sets an application's timer for the end of its lifetime.
func (m *Machine) watchLife(a *app) {
	if until := a.shown().lifetime; until > 0 && !a.closed {
		m.lookAt(&a.timer, a, m.timeOf(until))
	}
}

// watchMaster sets an attempt's timer for when its master may have been silent for too long.
func (m *Machine) watchMaster(t *attempt) { m.lookAt(&t.timer, t, t.seen.Plus(m.cfg.MasterExpiry)) }

// expire gives up an attempt whose master is silent.
func (t *attempt) expire(m *Machine) heddle.Time {
	a := t.app
	switch {
	case t.state.isOver() || t != a.newest() || a.aid == heddle.NoApp:
	case m.now.Since(t.seen) <= m.cfg.MasterExpiry:
		return t.seen.Plus(m.cfg.MasterExpiry)
	case a.state == appFinishing: // it said it was done but has not exited: it is stopped
		m.stopMaster(t, int32(heddle.KilledByRM))
		m.close(a)
	case t.state == attemptLaunched, t.state == attemptRunning:
		m.failAttempt(t, exitInvalid, text("ApplicationMaster for attempt %s timed out", t.id))
	}
	return never
}

// unused holds the containers that masters were told of and no node has reported, in the order in which masters were
// told; the time limit is the same for all. Containers since reported or ended are dropped when they come first.
type unused struct {
	list []looked
	from int // index of the first one
}

func (q *unused) add(c *container) {
	q.settle()
	q.list = append(q.list, looked{c, c.life})
}

// settle drops containers at the front that no longer need checking.
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

// A looked is a container to check. Its struct may be another container by now.
type looked struct {
	c    *container
	life uint32
}

// idle reports whether the container has not begun and could still be used.
func (l looked) idle() bool {
	c := l.c
	return c.life == l.life && !c.over() && !c.running() && !c.begun && !c.attempt.state.isOver()
}

// next returns when the first container's time is up, or never.
func (q *unused) next(expiry heddle.Span) heddle.Time {
	if q.from == len(q.list) {
		return never
	}
	return q.list[q.from].c.fetched.Plus(expiry) + 1
}

// due removes and returns a container whose time is up, or nil.
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

// comingBack is the time after a restart in which nodes are awaited.
type comingBack struct{}

// expire forgets releases of containers on nodes that have not come back: nodes this late are not awaited.
func (comingBack) expire(m *Machine) heddle.Time {
	for _, t := range m.current() {
		t.releases = nil
	}
	return never
}
