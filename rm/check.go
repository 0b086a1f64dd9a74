package rm

import (
	"slices"

	"heddle"
	"heddle/yarn/ids"
)

// Check recounts the machine's books and those of the core, compares them, and returns what is wrong. It looks at
// everything, so it is for tests.
func (m *Machine) Check() []string {
	b := &broken{list: m.core.Check()}
	m.checkNodes(b)
	m.checkContainers(b)
	m.checkApps(b)
	m.checkAttempts(b)
	m.checkTimers(b)
	m.checkTables(b)
	m.checkRuns(b)
	m.checkLimits(b)
	return b.list
}

// broken collects what is wrong.
type broken struct{ list []string }

func (b *broken) that(wrong bool, format string, args ...any) {
	if wrong {
		b.list = append(b.list, "rm: "+text(format, args...))
	}
}

func (m *Machine) checkNodes(b *broken) {
	v, held, missing := m.core.View(), 0, 0
	for i, n := range m.nodes {
		missing += one(n.awaited)
		b.that(n.awaited != (n.state == nodeNew), "%s is waited for, or not, and %s", n.id, n.state)
		b.that(m.byNode[n.id] == n && (n.state.active() || n.awaited || n.state == nodeLost || n.state == nodeRebooted) == n.known.ID.IsZero(), "%s, which is %s, is kept as %s", n.id, n.state, n.known.ID)
		b.that(n.known != n.kept && !(n.keeping && m.keeping.timer.i > 0), "the store does not hear of %s", n.id)
		k := v.Node(n.nid)
		b.that(int(n.nid) != i, "%s is not in its place", n.id)
		b.that(n.up != (k != nil && k.Up()), "%s is up here and down in the core, or the other way round", n.id)
		b.that(n.up && !n.state.active(), "%s is up and %s", n.id, n.state)
		b.that(k != nil && k.Containers() != len(n.conts), "%s has not as many containers as in the core", n.id)
		waiting, parked, weighed := 0, 0, 0
		for _, c := range n.conts {
			if d := c.deed; d != nil {
				parked, weighed = parked+one(d.parked), weighed+one(d.weight > 0)
			}
			if !c.running() {
				waiting++
			}
			b.that(c.node != n, "%s is not in its place on %s", c.id(), n.id)
		}
		b.that(waiting != n.waiting, "%s has %d containers to report, counted as %d", n.id, waiting, n.waiting)
		b.that(parked != n.parked || weighed != n.weighed, "%s has %d parked and %d weighed containers, counted as %d and %d", n.id, parked, weighed, n.parked, n.weighed)
		held += len(n.conts)
	}
	b.that(missing != m.back.missing, "%d nodes are waited for, counted as %d", missing, m.back.missing)
	b.that(held != m.conts.Len(), "%d containers on nodes, %d in the table", held, m.conts.Len())
}

func (m *Machine) checkContainers(b *broken) {
	v := m.core.View()
	for _, c := range m.conts.All {
		t, id := c.attempt, c.id()
		x := v.Container(c.cid)
		b.that(t != t.app.newest(), "%s is held for an attempt that is over", id)
		b.that(c.over() || m.container(id) != c || m.conts.Get(int64(c.cid)) != c, "%s is in a table where it does not belong", id)
		b.that(x == nil || x.App().ID() != t.app.aid || x.Node().ID() != c.node.nid, "%s is not what the core holds under its number", id)
		b.that(t.app.state.isOver(), "%s runs for an application that is %s", id, t.app.state)
	}
}

func (m *Machine) checkApps(b *broken) {
	v, alive, unread := m.core.View(), 0, 0
	for id, a := range m.byApp { // order: of findings alone
		if a.aid != heddle.NoApp {
			alive++
			b.that(m.apps[a.aid] != a || v.App(a.aid) == nil, "%s is not the core's", id)
		}
		unread += one(a.recovered && a.reading != nil)
		b.that(a.closed != a.state.isOver(), "%s is %s and was closed, or not", id, a.state)
		for i, t := range a.attempts {
			b.that(i < len(a.attempts)-1 && !t.state.isOver(), "%s goes on beside a later attempt", t.id)
			b.that(t.state.isOver() && holds(t) && t == a.newest() && a.aid == heddle.NoApp, "%s is over and holds containers", t.id)
		}
	}
	b.that(alive != v.Alive(), "%d applications alive, %d in the core", alive, v.Alive())
	b.that(unread != m.back.unread, "%d applications of before the start are being read, counted as %d", unread, m.back.unread)
}

// holds reports whether an attempt holds a container.
func holds(t *attempt) bool {
	for range t.held {
		return true
	}
	return false
}

// checkAttempts checks what masters are to be told, and what they ask for.
func (m *Machine) checkAttempts(b *broken) {
	for _, t := range m.current() {
		waiting, news := 0, map[ids.Container]bool{}
		for c := range t.held {
			if c.fetched == never && c.kind != heddle.AM {
				waiting++
			}
		}
		b.that(!t.state.isOver() && waiting != len(t.granted), "%s has %d containers to fetch, and %d are listed", t.id, waiting, len(t.granted))
		for _, c := range t.granted {
			b.that(c.over() || c.fetched != never || m.container(c.id()) != c, "%s is to be fetched and cannot be", c.id())
		}
		ends := slices.Clone(t.sent)
		for _, e := range t.finished {
			ends = append(ends, told{e.node, e.news.ID})
		}
		for _, e := range ends {
			b.that(news[e.id] || m.container(e.id) != nil, "the end of %s is told twice, or while it is held", e.id)
			news[e.id] = true
		}
		keys := map[askKey]int{}
		for key, row := range t.rows { // order: counts
			keys[key.askKey]++
			b.that(row.Count <= 0 || row.key() != key, "%s has a row about %s that asks for nothing, or is another's", t.id, key.place)
		}
		for key, n := range t.keys { // order: of findings alone
			b.that(keys[key] != n, "%s has %d rows of priority %d, counted as %d", t.id, keys[key], key.priority, n)
		}
		b.that(len(keys) != len(t.keys), "%s has rows of %d keys, counted as %d", t.id, len(keys), len(t.keys))
	}
}

// checkTimers checks that everything with a deadline has a timer.
func (m *Machine) checkTimers(b *broken) {
	for i, r := range m.timers.heap {
		b.that(r.t.i != i+1, "a timer is not in its place")
		b.that(i > 0 && r.at < m.timers.heap[(i-1)/4].at, "a timer comes before a sooner one")
	}
	for _, n := range m.byNode { // order: of findings alone
		b.that((n.state.active() || n.awaited) && n.seen.Plus(m.cfg.NodeExpiry) < m.silence, "nobody looks whether %s is silent", n.id)
		b.that(m.cfg.Silence > 0 && n.up && !n.silent && m.lull == never, "nobody looks whether %s reports", n.id)
		b.that(m.cfg.Keyed && n.up && n.last == nil && !n.silent, "something may start on %s, which has not reported since it registered", n.id)
		b.that(n.silent && !n.up || n.up && n.closed() != m.core.View().Node(n.nid).Silent(), "the core does not know whether something may start on %s", n.id)
		b.that((n.state == nodeDecommissioning && n.deadline != never || len(n.killed) > 0) && n.timer.i == 0, "nobody looks at %s", n.id)
	}
	seen, last := map[*container]bool{}, heddle.Time(0)
	for _, l := range m.unused.list[m.unused.from:] {
		if l.idle() {
			seen[l.c] = true
			b.that(l.c.fetched < last, "%s was told of before the one before it", l.c.id())
			last = l.c.fetched
		}
	}
	for _, c := range m.conts.All {
		wanted := c.state == containerAcquired && c.kind != heddle.AM && !c.begun && !c.attempt.state.isOver()
		b.that(wanted && !seen[c], "nobody looks whether %s is used", c.id())
	}
	for a, t := range m.current() {
		b.that(a.shown().lifetime > 0 && !a.state.ending() && !a.state.isOver() && a.timer.i == 0, "nobody looks how long %s lives", a.ID)
		b.that(t.state == attemptLaunched && t.timer.i == 0, "nobody looks at the master of %s", t.id)
	}
}

// checkRuns checks what is remembered of previous runs.
func (m *Machine) checkRuns(b *broken) {
	h := &m.past
	b.that(h.order.Len() != len(h.by), "%d runs are in order, and %d by name", h.order.Len(), len(h.by))
	for e := h.order.Front(); e != nil; e = e.Next() {
		r := e.Value.(*run)
		b.that(h.by[r.RunKey] != e || r.Name == "", "what is remembered of %q of %s is not in its place", r.Name, r.User)
		b.that(r.last.Containers != max(r.two[0].containers, r.two[1].containers), "%q of %s: the most of two runs is another", r.Name, r.User)
	}
}

// checkTables compares redundant tables.
func (m *Machine) checkTables(b *broken) {
	named := 0
	for host, list := range m.hosts { // order: of findings alone
		named += len(list)
		for _, n := range list {
			b.that(m.byNode[n.id] != n || m.hostName(n.id) != host, "%s is not a node of %s", n.id, host)
		}
	}
	b.that(named != len(m.byNode), "%d nodes by host, %d by name", named, len(m.byNode))
	open, files := 0, map[*node]int{}
	for id, a := range m.byApp { // order: of findings alone
		if !a.closed {
			open++
		}
		b.that(a.ID != id || m.appBy(id) != a, "%s is in the place of %s", a.ID, id)
		for _, n := range a.nodes {
			files[n]++
			b.that(a.closed, "%s is over and has still files on %s", id, n.id)
			b.that(!a.onNodes.Has(int32(n.nid)), "%s has files on %s and does not know it", id, n.id)
		}
	}
	for _, n := range m.byNode { // order: likewise
		b.that(len(n.apps) != files[n], "%s has files of %d applications, counted as %d", n.id, files[n], len(n.apps))
	}
	b.that(open+len(m.over) != len(m.byApp), "%d applications go on, %d are over, and there are %d", open, len(m.over), len(m.byApp))
	c := &m.counts
	b.that(c.submitted != open+c.completed+c.killed+c.failed, "%d applications were submitted; %d go on, and %d ended", c.submitted, open, c.completed+c.killed+c.failed)
}
