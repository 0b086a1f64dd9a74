package rm

import "heddle"

// Check recounts the machine's books, those of the core, and one against the other, and returns what is broken. It
// looks at everything: it is for tests.
func (m *Machine) Check() []string {
	b := &broken{list: m.core.Check()}
	m.checkNodes(b)
	m.checkContainers(b)
	m.checkApps(b)
	return b.list
}

// broken gathers what is wrong.
type broken struct{ list []string }

func (b *broken) that(wrong bool, format string, args ...any) {
	if wrong {
		b.list = append(b.list, "rm: "+text(format, args...))
	}
}

func (m *Machine) checkNodes(b *broken) {
	v, held := m.core.View(), 0
	for i, n := range m.nodes {
		k := v.Node(n.nid)
		b.that(int(n.nid) != i, "%s is not in its place", n.id)
		b.that(n.up != (k != nil && k.Up()), "%s is up here and down in the core, or the other way round", n.id)
		b.that(n.up && !n.state.active(), "%s is up and %s", n.id, n.state)
		b.that(k != nil && k.Containers() != len(n.conts), "%s has not as many containers as in the core", n.id)
		for j, c := range n.conts {
			b.that(c.onNode != j || c.node != n, "%s is not in its place on %s", c.id, n.id)
		}
		held += len(n.conts)
	}
	b.that(held != len(m.conts) || held != len(m.byCont), "%d containers on nodes, %d and %d in the tables", held, len(m.conts), len(m.byCont))
}

func (m *Machine) checkContainers(b *broken) {
	v := m.core.View()
	for id, c := range m.byCont { // order: of findings alone
		t := c.attempt
		x := v.Container(c.cid)
		b.that(t != t.app.newest(), "%s is held for an attempt that is over", id)
		b.that(c.over() || c.id != id || m.conts[c.cid] != c, "%s is in a table where it does not belong", id)
		b.that(c.inLife >= len(t.conts) || t.conts[c.inLife] != c, "%s is not in its attempt", id)
		b.that(x == nil || x.App().ID() != t.app.aid || x.Node().ID() != c.node.nid, "%s is not what the core holds under its number", id)
		b.that(t.app.state.isOver(), "%s runs for an application that is %s", id, t.app.state)
	}
}

func (m *Machine) checkApps(b *broken) {
	v, alive := m.core.View(), 0
	for id, a := range m.byApp { // order: of findings alone
		if a.aid != heddle.NoApp {
			alive++
			b.that(m.apps[a.aid] != a || v.App(a.aid) == nil, "%s is not the core's", id)
		}
		b.that(a.closed != a.state.isOver(), "%s is %s and was closed, or not", id, a.state)
		for i, t := range a.attempts {
			b.that(i < len(a.attempts)-1 && !t.state.isOver(), "%s goes on beside a later attempt", t.id)
			b.that(t.state.isOver() && len(t.conts) > 0 && t == a.newest() && a.aid == heddle.NoApp, "%s is over and holds containers", t.id)
		}
	}
	b.that(alive != v.Alive(), "%d applications alive, %d in the core", alive, v.Alive())
}
