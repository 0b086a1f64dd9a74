package search

import (
	"reflect"
	"slices"

	"heddle"
	"heddle/rm"
	"heddle/yarn/ids"
)

// beat checks a node's heartbeat: what the node runs must be known, or be killed soon.
func (m *model) beat(q *rm.BeatNode, p *rm.NodeBeat) {
	if p == nil || p.Action != rm.GoOn {
		return
	}
	n := m.s.at(q.Node)
	m.heard[q.Node] = m.s.now
	if m.beats[q.Node] != p { // otherwise the last heartbeat was repeated, and its content is ignored
		m.well(q.Node, q.Health)
	}
	m.beats[q.Node] = p
	m.forgotten(n, p)
	cfg := &m.s.cfg
	bound := 40*heddle.Second + 3*max(cfg.Beat, cfg.IdleBeat)
	for i := range q.Ended {
		delete(m.strange, stranger{q.Node, q.Ended[i].ID})
	}
	for i := range q.Running {
		id := q.Running[i].ID
		key := stranger{q.Node, id}
		k, err := m.s.reports().Container(id)
		if err == nil && k.Node == q.Node {
			delete(m.strange, key)
			continue
		}
		since, known := m.strange[key]
		if !known {
			m.strange[key] = m.s.now
			continue
		}
		if since = max(since, n.upset, m.s.thawed); m.s.now.Since(since) > bound {
			m.s.fail("runs on", "%s runs on %s, held by nobody for %d s", id, q.Node, int64(m.s.now.Since(since)/heddle.Second))
		}
	}
}

// joined checks an accepted registration: no node of its host that is gone is kept beside a new one, and what ran on
// other nodes, and their masters, continue. A master from before the restart that its own node lacks is given up.
func (m *model) joined(q *rm.RegisterNode) {
	s := m.s
	m.well(q.Node, q.Health)
	for _, n := range nodesOf(s.view()) {
		if gone := n.State == "LOST" || n.State == "REBOOTED" || n.State == "SHUTDOWN"; gone && m.fresh && n.ID.Host == q.Node.Host && !s.cfg.PortInNodeName {
			s.fail("replaced", "%s, which is %s, is there beside %s", n.ID, n.State, q.Node)
		}
	}
	for _, a := range s.apps() {
		had := slices.ContainsFunc(q.Containers, func(c rm.ContainerNews) bool { return c.ID == a.Master })
		at, err := s.reports().Attempt(a.Master.Attempt)
		old := err == nil && a.Master.ID>>ids.EpochShift != s.disk.epoch()
		if old && !had && a.MasterNode == q.Node && (at.State == "LAUNCHED" || a.Internal == "FINISHING") {
			s.fail("master missed", "%s did not come back with %s and is %s, its application %s", a.Master, q.Node, at.State, a.Internal)
		}
	}
	for _, id := range m.elsewhere {
		if at, err := s.reports().Attempt(id); err != nil || at.State == "FAILED" {
			s.fail("master given up", "%s ends as %s, of another node, registers: %v", id, q.Node, err)
		}
	}
}

// joining records what a registration is about to change.
func (m *model) joining(q *rm.RegisterNode) {
	m.fresh = !slices.ContainsFunc(nodesOf(m.s.view()), func(n rm.NodeReport) bool { return n.ID == q.Node })
	m.elsewhere = m.elsewhere[:0]
	for _, a := range m.s.apps() {
		if at, err := m.s.reports().Attempt(a.Master.Attempt); err == nil && a.MasterNode != q.Node && (at.State == "LAUNCHED" || at.State == "RUNNING") {
			m.elsewhere = append(m.elsewhere, at.ID)
		}
	}
}

// well checks that a node that reported its health has the matching state.
func (m *model) well(id ids.Node, h rm.Health) {
	for _, n := range nodesOf(m.s.view()) {
		if n.ID == id && h.Said && (h.Sick && n.State == "RUNNING" || !h.Sick && n.State == "UNHEALTHY") {
			m.s.fail("health", "%s says that it is sick, %v, and is %s", id, h.Sick, n.State)
		}
	}
}

// forgotten checks that a master knows of everything that a node may forget: nobody else knows it then.
func (m *model) forgotten(n *node, p *rm.NodeBeat) {
	for _, id := range p.Forget {
		for _, a := range m.s.masters {
			at, err := m.s.reports().Attempt(a.id)
			working := a.id == id.Attempt && a.alive() && a.registered && err == nil && at.State == "RUNNING"
			if h := a.holds[id]; working && h != nil && h.work != nil && n.works[id] == h.work {
				m.s.fail("end untold", "%s may be forgotten, and its master does not know that it has ended", id)
			}
		}
	}
}

// finals checks that all submissions still exist, and that all that have ended remain as they ended.
func (m *model) finals() {
	r := m.s.reports()
	for _, id := range m.acked {
		p, err := r.App(id)
		was, ended := m.ends[id]
		if err != nil {
			m.s.fail("lost", "%s was taken in, and is not there", id)
		}
		if is := (end{p.State, p.Final}); ended && is != was {
			m.s.fail("end changed", "%s ended as %v and is %v", id, was, is)
		} else if p.State.Final() {
			m.ends[id] = is
			m.over(id)
		}
	}
}

// over tells a client that its job has ended.
func (m *model) over(id ids.App) {
	for _, j := range m.s.jobs {
		if j.given && j.id == id {
			j.over = true
		}
	}
}

// views checks that all reports agree.
func (m *model) views() {
	m.published()
	r := m.s.view()
	c, queues := r.Cluster(), r.Queues()
	var nodes, apps, total heddle.Resource
	onNodes, active := 0, 0
	for _, n := range nodesOf(m.s.view()) {
		nodes, onNodes = nodes.Plus(n.Used), onNodes+n.Containers
		switch n.State {
		case "RUNNING":
			active, total = active+1, total.Plus(n.Total)
		case "DECOMMISSIONING":
			total = total.Plus(n.Used) // nothing is free
		default:
			m.differ(n.ID.String()+", which is "+n.State+", holds containers", n.Containers, 0)
		}
	}
	held, live, asked := 0, 0, heddle.Resource{}
	for _, a := range m.s.apps() {
		apps, asked, held = apps.Plus(a.Used.Resource()), asked.Plus(a.Pending.Resource()), held+a.Containers
		if a.Live {
			live++
		}
	}
	root := &queues[0]
	m.differ("used by the cluster and on its nodes", c.Used, nodes)
	m.differ("used by the cluster and by applications", c.Used, apps)
	m.differ("used by the cluster and in its queues", c.Used, root.Used.Resource())
	m.differ("asked of the cluster and by applications", c.Pending, asked)
	m.differ("containers of the cluster and on its nodes", c.Containers, onNodes)
	m.differ("containers of the cluster and of applications", c.Containers, held)
	m.differ("containers of the cluster and in its queues", c.Containers, root.Containers)
	m.differ("active nodes", c.Active, active)
	m.differ("applications in the queues and live", root.Active+root.Inactive, live)
	m.differ("applications submitted, and waiting, running and over", c.Submitted, c.PendingApps+c.RunningApps+c.Completed+c.FailedApps+c.KilledApps+m.saving())
	m.leaves(queues)
}

// published checks that the view made from changes, in steps, equals a view made from everything.
func (m *model) published() {
	v, fresh := m.s.view(), m.s.shell.m.Fresh()
	all, later := &rm.AppFilter{}, v.At().Plus(heddle.Minute)
	differOne(m, "an application as it is shown, and is", appsOf(v, all, later), appsOf(fresh, all, later))
	differOne(m, "a node as it is shown, and is", nodesOf(v), nodesOf(fresh))
	differOne(m, "a queue as it is shown, and is", v.Queues(), fresh.Queues())
	m.differ("the cluster as it is shown, and is", v.Cluster(), fresh.Cluster())
}

// differOne compares two lists item by item.
func differOne[T any](m *model, what string, a, b []T) {
	m.differ("how many: "+what, len(a), len(b))
	for i := range a {
		m.differ(what, a[i], b[i])
	}
}

// saving returns how many applications have ended as clients see them but are not counted as ended yet.
func (m *model) saving() (n int) {
	for _, a := range m.s.apps() {
		if a.Internal == "FINISHING" {
			n++
		}
	}
	return n
}

// leaves checks that queues are the sums of their children.
func (m *model) leaves(queues []rm.QueueReport) {
	for i := range queues {
		q := &queues[i]
		if len(q.Children) == 0 {
			continue
		}
		var used, pending heddle.Resource
		for _, c := range q.Children {
			used, pending = used.Plus(queues[c].Used.Resource()), pending.Plus(queues[c].Pending.Resource())
		}
		m.differ("used in "+q.Path+" and below", q.Used.Resource(), used)
		m.differ("asked in "+q.Path+" and below", q.Pending.Resource(), pending)
	}
}

func (m *model) differ(what string, a, b any) {
	if !reflect.DeepEqual(a, b) {
		m.s.fail("views", "%s: %v and %v", what, a, b)
	}
}

// leftovers checks that nothing is left after everything has ended and everybody has reported.
func (s *sim) leftovers() {
	s.model.finals()
	s.model.views()
	left := func(is bool, format string, args ...any) {
		if is {
			s.fail("left", format, args...)
		}
	}
	for _, n := range s.nodes {
		left(!n.registered, "%s is not registered", n.id())
		for _, w := range n.sorted() {
			left(true, "%s on %s, over %v", w.ID, n.id(), w.Over)
		}
		left(len(n.apps) > 0, "%d applications to clean up after on %s", len(n.apps), n.id())
	}
	c := s.view().Cluster()
	left(c.Containers+c.Reservations+c.Waiting+c.PendingApps+c.RunningApps > 0, "%+v", c)
	left(!c.Used.IsZero() || !c.Pending.IsZero() || !c.Reserved.IsZero(), "%+v", c)
	left(c.Active != len(s.nodes), "%d of %d nodes", c.Active, len(s.nodes))
	s.idle(left)
	for _, q := range s.model.open { // order: of findings alone
		_, agent := q.(*rm.AgentSync)
		left(!agent, "%s has no answer", describe(q))
	}
	left(len(s.shell.admitted) > 0, "%d masters may call", len(s.shell.admitted))
	left(len(s.disk.pending) > 0, "%d writes", len(s.disk.pending))
	for _, j := range s.jobs {
		rec, ok := s.disk.apps[j.id]
		left(j.acked && ok && rec.State == "", "%s is over and not stored so", j.id)
		if e := s.model.ends[j.id]; s.stats.Faults == 0 && j.acked {
			left(e.final != rm.Succeeded && len(j.sub.Lifetimes) == 0 && !j.regret, "%s ended as %v although nothing was wrong", j.id, e)
		}
	}
}

// idle checks that nodes of which nobody wants anything have the idle heartbeat interval.
func (s *sim) idle(left func(bool, string, ...any)) {
	want := s.cfg.IdleBeat
	if s.cfg.BeatLoad > 0 {
		want = max(want, heddle.Span(len(s.nodes))*heddle.Second/heddle.Span(s.cfg.BeatLoad))
	}
	for _, n := range nodesOf(s.view()) {
		left(n.State == "RUNNING" && n.BeatEvery != want, "%s is to report every %d ms", n.ID, n.BeatEvery/heddle.Millisecond)
	}
}
