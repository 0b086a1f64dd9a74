package search

import (
	"reflect"

	"heddle"
	"heddle/rm"
	"heddle/yarn/ids"
)

// beat looks at a report of a node: what it runs is known, or is killed soon.
func (m *model) beat(q *rm.BeatNode, p *rm.NodeBeat) {
	if p == nil || p.Action != rm.GoOn {
		return
	}
	n := m.s.at(q.Node)
	m.forgotten(n, p)
	cfg := &m.s.cfg
	bound := 40*heddle.Second + 3*max(cfg.Beat, cfg.IdleBeat)
	for i := range q.Ended {
		delete(m.strange, stranger{q.Node, q.Ended[i].ID})
	}
	for _, id := range q.Running {
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

// forgotten looks whether all that a node may forget is known to its master: nobody else knows it then.
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

// silences looks, as the machine has just been told the time, whether all that was silent for too long was given up.
func (m *model) silences() {
	s := m.s
	if s.now.Since(m.looked) < 5*heddle.Second && m.looked != 0 || s.shell.m.Deadline() <= heddle.Time(s.now.Since(s.shell.began)) {
		return // or it wants to be told again at once
	}
	m.looked = s.now
	r, cfg := s.reports(), &s.cfg
	late := func(at heddle.Time, limit heddle.Span) bool { return s.now.Since(at) > limit+heddle.Second }
	today := s.shell.date + int64(s.now.Since(s.shell.began))/1e6
	for _, n := range r.Nodes() {
		active := n.State == "RUNNING" || n.State == "UNHEALTHY" || n.State == "DECOMMISSIONING"
		if active && today-n.BeatAt > int64(cfg.NodeExpiry/heddle.Millisecond)+1000 {
			s.fail("silence", "%s was silent since %d and is %s", n.ID, n.BeatAt, n.State)
		}
	}
	for _, a := range r.Apps(rm.AppFilter{}) {
		if t := m.attempts[ids.Attempt{App: a.ID, N: a.Attempt}]; t != nil {
			at, err := r.Attempt(ids.Attempt{App: a.ID, N: a.Attempt})
			working := err == nil && (at.State == "RUNNING" || at.State == "LAUNCHED" || at.State == "FINISHING")
			if working && a.Internal != "FINAL_SAVING" && late(t.seen, cfg.MasterExpiry) {
				s.fail("silence", "the master of %s was silent since %s and is %s", at.ID, clock(t.seen), at.State)
			}
			m.unused(t)
		}
		if a.Lifetime > 0 && today > a.Lifetime+1000 && !a.State.Final() && a.Internal != "FINAL_SAVING" && a.Live {
			s.fail("lifetime", "%s lives on", a.ID)
		}
	}
}

// unused looks for containers that their master was told of long ago and that no node runs.
func (m *model) unused(t *attempt) {
	for id, at := range t.told { // order: of findings alone
		c, err := m.s.reports().Container(id)
		if err == nil && !c.Running && m.s.now.Since(at) > m.s.cfg.ContainerExpiry+heddle.Second {
			m.s.fail("unused", "%s was given out at %s and is not used", id, clock(at))
		}
	}
}

// finals looks whether all submissions are there, and all that have ended are as they ended.
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

// views looks whether all reports say the same.
func (m *model) views() {
	r := m.s.reports()
	c, queues := r.Cluster(), r.Queues()
	var nodes, apps, total heddle.Resource
	onNodes, active := 0, 0
	for _, n := range r.Nodes() {
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
	for _, a := range r.Apps(rm.AppFilter{}) {
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

// saving is how many applications have ended, as clients see them, and not yet been counted so.
func (m *model) saving() (n int) {
	for _, a := range m.s.reports().Apps(rm.AppFilter{}) {
		if a.Internal == "FINISHING" {
			n++
		}
	}
	return n
}

// leaves looks whether queues are the sum of those below.
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

// leftovers looks whether anything is left after everything has ended and everybody has reported.
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
	c := s.reports().Cluster()
	left(c.Containers+c.Reservations+c.Waiting+c.PendingApps+c.RunningApps > 0, "%+v", c)
	left(!c.Used.IsZero() || !c.Pending.IsZero() || !c.Reserved.IsZero(), "%+v", c)
	left(c.Active != len(s.nodes), "%d of %d nodes", c.Active, len(s.nodes))
	left(len(s.model.open) > 0, "%d calls without an answer", len(s.model.open))
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
