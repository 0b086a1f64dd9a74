package rm

import (
	"maps"

	"heddle"
	"heddle/yarn/ids"
)

// expire looks at what may have been silent or unused for too long. Whatever has a deadline has a timer that ends no
// later; those of nodes and masters are left as they are while these report, and set to the true deadline when they
// end.
func (m *Machine) expire() {
	for t := m.timers.due(m.now); t != nil; t = m.timers.due(m.now) {
		m.watch(t, t.of, t.of.expire(m))
	}
	m.release()
}

// watch has something looked at by its deadline; never for none.
func (m *Machine) watch(t *timer, of expiring, deadline heddle.Time) {
	if deadline != never {
		m.timers.by(t, of, deadline)
	}
}

// watchNode has a node looked at when it, or a kill on it, may have taken too long.
func (m *Machine) watchNode(n *node) { m.watch(&n.timer, n, n.next(&m.cfg)) }

// next is a node's next deadline, never for none.
func (n *node) next(cfg *Config) heddle.Time {
	next := never
	if n.state.active() {
		next = n.seen.Plus(cfg.NodeExpiry)
	}
	if n.state == nodeDecommissioning {
		next = min(next, n.deadline)
	}
	for _, at := range n.killed { // order: the soonest is taken
		next = min(next, at.Plus(cfg.ContainerExpiry))
	}
	return next
}

func (n *node) expire(m *Machine) heddle.Time {
	maps.DeleteFunc(n.killed, func(_ ids.Container, at heddle.Time) bool { return m.now.Since(at) > m.cfg.ContainerExpiry })
	switch {
	case n.state.active() && m.now.Since(n.seen) > m.cfg.NodeExpiry:
		m.log(Warn, "NodeManager lost", "node", n.id, "silent", m.now.Since(n.seen))
		m.nodeDown(n, nodeLost)
	case n.state == nodeDecommissioning && m.now > n.deadline:
		m.nodeDown(n, nodeDecommissioned)
	}
	return n.next(&m.cfg)
}

// expire kills an application that has lived for as long as it was to.
func (a *app) expire(m *Machine) heddle.Time {
	switch {
	case a.lifetime <= 0 || a.aid == heddle.NoApp || a.newest() == nil || a.public().Final():
		return never
	case m.today() < a.lifetime:
		return m.timeOf(a.lifetime)
	}
	m.end(a, appKilled, Killed, text("Application %s is killed by ResourceManager as it has exceeded the lifetime period.", a.ID))
	return never
}

// watchLife has an application looked at when it has lived for as long as it is to.
func (m *Machine) watchLife(a *app) {
	if a.lifetime > 0 && !a.closed {
		m.watch(&a.timer, a, m.timeOf(a.lifetime))
	}
}

// watchMaster has an attempt looked at when its master may have been silent for too long.
func (m *Machine) watchMaster(t *attempt) { m.watch(&t.timer, t, t.seen.Plus(m.cfg.MasterExpiry)) }

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

// expire gives up a container that its master was told of and no node runs.
func (c *container) expire(m *Machine) heddle.Time {
	switch {
	case c.over() || c.running() || c.attempt.state.isOver():
	case m.now.Since(c.fetched) <= m.cfg.ContainerExpiry:
		return c.fetched.Plus(m.cfg.ContainerExpiry)
	default:
		m.kill(c.node, c.id)
		m.exited(c, int32(heddle.Aborted), textExpired)
	}
	return never
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
