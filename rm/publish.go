package rm

import (
	"cmp"
	"math"
	"slices"
	"strconv"

	"heddle"
	"heddle/yarn/ids"
)

// A shown is what a machine keeps for its views: the applications and nodes as shown, and which of them changed since.
// Nothing is built until somebody wants a view, and then only what has changed.
type shown struct {
	apps    shelf[ids.App, *appView]
	nodes   shelf[ids.Node, *nodeView]
	census  census
	changed bool // something that a view shows has changed

	staleApps  []*app
	staleNodes []*node
	// What the view in progress still lacks. What becomes stale meanwhile is left for the next view.
	making      bool
	makingApps  []*app
	makingNodes []*node
	renewed     bool // queues have changed: the view in progress shows everything as it is now
}

// stale notes that views no longer show an application as it is, or that it no longer exists.
func (m *Machine) stale(a *app) {
	s := &m.shown
	s.changed = true
	if a.stale {
		return
	}
	a.stale = true
	s.staleApps = append(s.staleApps, a)
	if len(s.staleApps) > 2*(len(m.byApp)+pageSize)+s.apps.len() { // many came and went since the last view
		s.staleApps = slices.DeleteFunc(s.staleApps, func(a *app) bool { return !a.viewed && m.byApp[a.ID] != a })
	}
}

// staleNode is stale for a node.
func (m *Machine) staleNode(n *node) {
	s := &m.shown
	s.changed = true
	if !n.stale {
		n.stale = true
		s.staleNodes = append(s.staleNodes, n)
	}
}

// staleReservation marks the application that a node is reserved for: a container came or went there, so its
// reservation may count for something else.
func (m *Machine) staleReservation(n *node) {
	if k := m.core.View().Node(n.nid); k != nil && k.Booked() != nil {
		m.stale(m.apps[k.Booked().App().ID()])
	}
}

// renew notes that queues have changed, on which every application's report depends.
func (m *Machine) renew() {
	for _, a := range m.byApp { // order: of their list, which does not matter
		m.stale(a)
	}
	m.shown.changed, m.shown.renewed = true, true
}

// Changed reports whether something has changed since the last view.
func (m *Machine) Changed() bool { return m.shown.changed || m.shown.making }

// View returns a view of the machine as it is.
func (m *Machine) View() *View {
	if m.shown.making {
		m.Publish(math.MaxInt)
	}
	return m.Publish(math.MaxInt)
}

// Publish makes a view, processing at most so many changed applications and nodes. It returns nil if there is more to
// do, and the next call continues. The view shows everything that had happened by the first of these calls, and perhaps
// what happened since.
func (m *Machine) Publish(most int) *View {
	s := &m.shown
	if !s.making {
		s.making, s.changed, s.renewed = true, false, false
		s.takeStale()
	}
	for range most {
		switch {
		case len(s.makingApps) > 0:
			last := len(s.makingApps) - 1
			m.show(s.makingApps[last])
			s.makingApps[last] = nil
			s.makingApps = s.makingApps[:last]
		case len(s.makingNodes) > 0:
			last := len(s.makingNodes) - 1
			m.showNode(s.makingNodes[last])
			s.makingNodes[last] = nil
			s.makingNodes = s.makingNodes[:last]
		case s.renewed:
			s.changed, s.renewed = false, false
			s.takeStale()
		default:
			s.making = false
			return m.look(s)
		}
	}
	return nil
}

// takeStale queues everything stale for rebuilding.
func (s *shown) takeStale() {
	s.makingApps, s.staleApps = s.staleApps, s.makingApps
	s.makingNodes, s.staleNodes = s.staleNodes, s.makingNodes
}

// show updates an application in the views, or removes it.
func (m *Machine) show(a *app) {
	a.stale = false
	if is := m.byApp[a.ID]; is != a {
		a.viewed = false
		if was, ok := m.shown.apps.drop(a.ID); ok {
			m.shown.census.app(was, -1)
		}
		return
	}
	a.viewed = true
	v := m.appView(a)
	if m.memo != nil {
		v.Memo = m.memo()
	}
	m.shown.putApp(v)
}

// showNode updates the node of this name in the views, or removes it.
func (m *Machine) showNode(n *node) {
	n.stale = false
	if is := m.byNode[n.id]; is != nil {
		m.shown.putNode(m.nodeView(is))
		return
	}
	if was, ok := m.shown.nodes.drop(n.id); ok {
		m.shown.census.node(was, -1)
	}
}

// putApp adds an application, replacing what was shown of it.
func (s *shown) putApp(v *appView) {
	s.census.app(v, 1)
	if was, ok := s.apps.put(v); ok {
		s.census.app(was, -1)
	}
}

// putNode is putApp for a node.
func (s *shown) putNode(v *nodeView) {
	s.census.node(v, 1)
	if was, ok := s.nodes.put(v); ok {
		s.census.node(was, -1)
	}
}

func (m *Machine) nodeView(n *node) *nodeView {
	return &nodeView{m.newsOf(n), n.state, n.parked, n.weighed}
}

// look returns a view of what is shown.
func (m *Machine) look(s *shown) *View {
	b := m.basis()
	return &View{
		basis: b, apps: s.apps.look(), nodes: s.nodes.look(), queues: m.queueReports(b.infos), cluster: m.clusterReport(&s.census),
	}
}

func (m *Machine) basis() basis {
	return basis{
		at: m.now, began: m.began, total: m.core.View().Total(), memoryOnly: m.sch.Set.MemoryOnly, infos: m.queueInfos(),
		extras: m.cfg.ExtraResources,
	}
}

// queueReports returns the queues' reports without the counts of their applications.
func (m *Machine) queueReports(infos []QueueInfo) []QueueReport {
	v := m.core.View()
	out := make([]QueueReport, len(infos))
	for i := range out {
		q := v.Queue(heddle.QueueID(i))
		out[i] = QueueReport{
			QueueInfo: infos[i], ID: heddle.QueueID(i), UsedOfOwn: -1,
			UsedShare: Fraction(ShareOf(q.Used(), v.Total(), m.sch.Set.MemoryOnly)),
			Used:      m.amount(q.Used()), Reserved: m.amount(q.Booked()), Masters: m.amount(q.Masters()), Pending: m.amount(q.Pending()),
		}
		p := &out[i]
		if p.Absolute > 0 {
			p.UsedOfOwn = p.UsedShare / p.Absolute
		}
		if p.Parent != heddle.NoQueue {
			p.ParentPath = out[p.Parent].Path
		}
		for _, c := range q.Children() {
			p.Children = append(p.Children, c.ID())
		}
		if t := m.counts.queues[p.Path]; t != nil {
			p.Submitted, p.Completed, p.Killed, p.Failed = t.ended()+t.away, t.completed, t.killed, t.failed
		}
	}
	return out
}

// clusterReport returns the report of the cluster, with the counts of its applications and nodes.
func (m *Machine) clusterReport(c *census) ClusterReport {
	v := m.core.View()
	root := v.Root()
	counts := m.core.Counts()
	p := ClusterReport{
		ClusterID: cmp.Or(m.cfg.ClusterID, strconv.FormatInt(m.began, 10)), Started: m.began, Profile: m.sch.Profile, Order: m.sch.Order, Scheduler: m.sch.Type, Minimum: m.sch.Minimum, Maximum: m.sch.Maximum,
		Off: m.sch.Off, MemoryOnly: m.sch.Set.MemoryOnly,
		Submitted: m.counts.submitted, Completed: m.counts.completed, FailedApps: m.counts.failed, KilledApps: m.counts.killed,
		Total: v.Total(), Used: v.Used(), Reserved: root.Booked(), Pending: root.Pending(), Containers: m.conts.Len(),
		Steps: m.steps + counts.Steps, Grants: m.grants + counts.Grants, BeatEvery: m.cfg.Beat,
		Updates: m.counts.updates, Deeds: m.counts.deeds, Agents: m.counts.agents, Undone: m.counts.undone,
	}
	for i, n := range counts.Undone {
		p.Undone[i] += n
	}
	c.report(&p)
	return p
}

// Fresh returns a view with everything rebuilt, for tests: [Machine.View] returns the same with less work.
func (m *Machine) Fresh() *View {
	s := &shown{}
	for _, a := range m.byApp { // order: onto a shelf
		s.putApp(m.appView(a))
	}
	for _, n := range m.byNode { // order: likewise
		s.putNode(m.nodeView(n))
	}
	return m.look(s)
}
