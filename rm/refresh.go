package rm

import (
	"maps"
	"slices"
	"strings"

	"heddle"
	"heddle/policy"
	"heddle/sched"
)

// maxQueues is the most queues there may be if placement rules create them.
const maxQueues = 4096

// create creates the leaf queue that placement rules chose for an application, if it does not exist.
func (m *Machine) create(path string) error {
	if _, ok := m.queues[path]; ok {
		return nil
	}
	if len(m.queues) >= maxQueues {
		return invalid(classYarn, "queue %s cannot be created: there are already %d queues, the maximum; yarn rmadmin -refreshQueues removes unused ones", path, len(m.queues))
	}
	all := []string{path}
	for i := range m.sch.Queues {
		if m.sch.Queues[i].Leaf {
			all = append(all, m.sch.Queues[i].Path)
		}
	}
	err := m.rebuild(m.sch, all...)
	if _, ok := m.queues[path]; ok {
		m.log(Info, "queue created", "queue", path)
	}
	return err
}

// rebuild switches to a new scheduler, configured as sch was, with the queues that placement created for unfinished
// applications, and more. Running containers stay, in the queue of the same path; waiting applications keep their place
// by submission, but not what a policy learned about them; what jobs have done, and where their map outputs are, stays
// known. If a queue with applications is gone, or the largest container shrinks while there are applications, nothing
// changes.
func (m *Machine) rebuild(sch *Scheduler, more ...string) error {
	if sch.Rebuild == nil {
		return invalid(classYarn, "only configured queues exist, and %s is not one of them", strings.Join(more, ", "))
	}
	leaves := map[string]bool{}
	for _, q := range more {
		leaves[q] = true
	}
	for _, a := range m.byApp { // order: into another map, whose keys are sorted
		if wants := a.aid != heddle.NoApp || a.kill == "" && a.state != appFinalSaving; wants && !a.state.isOver() {
			leaves[a.queue] = true
		}
	}
	sch, err := sch.Rebuild(slices.Sorted(maps.Keys(leaves)))
	if err != nil {
		return err
	}
	return m.reschedule(sch)
}

// reschedule builds a core for another scheduler and tells it about everything that exists.
func (m *Machine) reschedule(sch *Scheduler) error {
	queues := sch.Numbers()
	for _, a := range m.apps {
		if a == nil {
			continue
		}
		if !m.sch.Maximum.Fits(sch.Maximum) {
			return invalid(classYarn, "the maximum container size cannot shrink from %s to %s while there are applications, such as %s", m.text(m.sch.Maximum), m.text(sch.Maximum), a.ID)
		}
		was, had := m.queues[a.queue]
		if q, ok := queues[a.queue]; had && m.sch.Queues[was].Leaf && (!ok || !sch.Queues[q].Leaf) {
			return invalid(classYarn, "queue %s still has applications, such as %s; it must stay a leaf queue until they have ended", a.queue, a.ID)
		}
	}
	if m.Ready() {
		for a, t := range m.current() {
			m.settle(a, t)
		}
	}
	was := m.core.View()
	known := map[*app]*policy.App{}
	for a := range m.current() {
		known[a] = was.App(a.aid)
	}
	past := m.core.Counts()
	m.steps, m.grants = m.steps+past.Steps, m.grants+past.Grants
	for i, n := range past.Undone {
		m.counts.undone[i] += n
	}
	m.renew()
	m.sch, m.core = sch, sched.New(sch.Set)
	nodes := slices.Clone(m.nodes)
	m.renumber()
	m.counts.keep(m.queues)
	m.telling = true
	for _, n := range m.nodes {
		m.wants(n) // whether its containers are to be measured may have changed
		if n.up {
			m.step(heddle.NodeUp{Node: n.nid, Rack: m.rackID(n.rack), Total: n.total, Can: n.can})
			if n.closed() {
				m.tellCloses(n)
			}
		}
	}
	for a, t := range m.current() {
		m.tellAgain(a, was, known[a])
		m.placeAgain(a, known[a], nodes)
		if t.registered() && !t.state.isOver() {
			m.inquire(t) // again: the new core has not heard what masters said about tasks
		}
	}
	for _, n := range m.nodes {
		if n.state == nodeDecommissioning {
			m.resizeNode(n, m.usedOn(n))
		}
	}
	m.telling = false
	if m.Ready() {
		m.askAll()
	}
	return nil
}

// settle reduces a master's requests to what the core still owes it, and withdraws what it was granted and has not
// fetched: the other core grants that again.
func (m *Machine) settle(a *app, t *attempt) {
	v := m.core.View().App(a.aid)
	if v == nil {
		return
	}
	owed := workerAsks(v)
	for _, row := range t.sorted() {
		key := row.key()
		left := t.unfetched(key.askKey)
		switch k := owed[key.askKey]; {
		case k == nil:
		case m.knows(key.place):
			left += m.left(k, key.place)
		default: // the core has not heard of the row yet
			left += int32(k.Count())
		}
		if left < row.Count {
			row.Count = left
			t.enter(row)
		}
	}
	for _, c := range slices.Clone(t.granted) {
		m.ended(c, nil) // no news of it: nobody has heard of it
	}
}

// askAll hands all requests to the core, and then has nodes offered for each application.
func (m *Machine) askAll() {
	for a, t := range m.current() {
		m.askAgain(a, t)
	}
	for a := range m.current() {
		m.offer(a)
	}
}

// tellAgain tells a new core about an application and what it holds: what the last core knew of it, if it did. was is
// that core's state. The core accepts the application, as the last one did.
func (m *Machine) tellAgain(a *app, was policy.View, known *policy.App) {
	facts, past := m.factsOf(a), heddle.Past{Lost: a.ran()}
	if known != nil {
		last := facts.Last
		facts, past = *known.Facts(), known.Past()
		facts.Last = last
	}
	facts.Splits = nil // these use the nodes' old numbers
	m.step(heddle.Submit{
		App: a.aid, Queue: m.queues[a.queue], User: m.userID(a.user), Priority: a.priority, Framework: a.framework,
		Facts: facts, Past: past,
	})
	for _, c := range byAge(a.newest().held) {
		m.relax(c)
		m.finding.id = c.id()
		x := was.Container(c.cid)
		m.step(heddle.Found{
			App: a.aid, Node: c.node.nid, Kind: c.kind, Priority: c.priority, AllocID: c.allocID, Size: c.limitOf(),
			Age: m.now.Since(c.created), Ref: int64(c.node.nid), Handed: x != nil && !x.Found(),
		})
		if d := c.deed; d != nil && d.lacks != 0 {
			m.step(heddle.Unable{Container: c.cid, What: d.lacks})
		}
	}
}

// placeAgain tells a new core where the map outputs of an application are that the last core knew of. nodes are all nodes
// by their numbers in that core. Output on a node that has been forgotten since is forgotten too.
func (m *Machine) placeAgain(a *app, known *policy.App, nodes []*node) {
	number := func(was heddle.NodeID) heddle.NodeID {
		if n := nodes[was]; m.byNode[n.id] == n {
			return n.nid
		}
		return heddle.NoNode
	}
	for of, at := range a.placed { // order: each for itself
		if a.placed[of] = number(at); a.placed[of] == heddle.NoNode {
			delete(a.placed, of)
		}
	}
	if known == nil {
		return
	}
	for _, o := range known.Outputs() {
		if at := number(o.Node); at != heddle.NoNode {
			m.step(heddle.Output{App: a.aid, Node: at, Bytes: o.Bytes})
		}
	}
}

// factsOf returns what a core that does not know a job is told about it. If a master of it has run, that is only how many
// tasks it has: the rest says what a job of which nothing is done will want.
func (m *Machine) factsOf(a *app) heddle.Facts {
	facts := heddle.Facts{Name: a.Facts.Name, Maps: a.Facts.Maps, Reduces: a.Facts.Reduces}
	if !a.ran() {
		facts = a.facts()
	}
	facts.Last = m.past.of(a.runKey())
	return facts
}

// ran reports whether a master of an application may have run, so that some of it may be done.
func (a *app) ran() bool {
	t := a.newest()
	return t.id.N > 1 || t.state >= attemptLaunched
}

// askAgain hands an application's requests to the core, including the one for its master.
func (m *Machine) askAgain(a *app, t *attempt) {
	if v := m.core.View().App(a.aid); t.state == attemptScheduled && v.Waiting(heddle.AM) == 0 {
		m.step(heddle.Attempt{App: a.aid, Master: a.Master})
	}
	if len(t.black) > 0 {
		m.exclude(t)
	}
	var rows []heddle.Row
	for _, k := range t.sorted() {
		rows = m.appendRows(rows, t, &k)
	}
	if len(rows) > 0 || a.recovered && t.last != nil { // without rows too, it has said what it asks for
		m.step(heddle.Ask{App: a.aid, Rows: rows})
	}
}
