package mrorchestrator

import (
	"slices"

	"heddle"
	"heddle/cluster"
	"heddle/policy"
)

// A Manager is the global resource manager together with the local ones of all nodes.
type Manager struct {
	o          Options
	regression bool

	profiler
	rows   []row
	lent   bool    // an application waits for containers, and gets what is given up
	sites  []site  // by NodeID
	idle   []idle  // likewise
	byNode []int32 // rows in order of their nodes
}

// NewUniform returns the manager with the estimator UNIFORM.
func NewUniform(a policy.Args) (policy.Control, error) { return newManager(a, false) }

// NewRegression returns the manager with the estimator REGRESSION.
func NewRegression(a policy.Args) (policy.Control, error) { return newManager(a, true) }

func newManager(a policy.Args, regression bool) (policy.Control, error) {
	o := Default
	if err := a.Decode(&o); err != nil {
		return nil, err
	}
	if err := o.check(); err != nil {
		return nil, err
	}
	return &Manager{o: o, regression: regression, profiler: profiler{of: map[heddle.ContainerID]int32{}}}, nil
}

// Needs implements [policy.Needer].
func (m *Manager) Needs() policy.Needs {
	every := heddle.Seconds(m.o.Profile)
	return policy.Needs{
		Feeds: policy.Feeds{Profile: every, Progress: every, Starts: true, Nodes: true, Peaks: m.o.controls(heddle.Memory)}, // no task is left less than others used
		Can:   heddle.Weighs,
	}
}

// Every implements [policy.Control]: it returns the epoch.
func (m *Manager) Every() heddle.Span { return heddle.Seconds(m.o.Epoch) }

// Hears implements [policy.Listener].
func (m *Manager) Hears() policy.News { return policy.TaskUsage | policy.NodeUsage | policy.AppDone }

// Hear implements [policy.Listener]: it updates the profiles.
func (m *Manager) Hear(v policy.View, e policy.Effect) {
	if e.What == policy.AppDone {
		m.forget(e.App.ID())
		return
	}
	if e.What == policy.NodeUsage {
		m.noteIdle(e.Node)
		return
	}
	if x := e.Container; x.Kind() == heddle.Map || x.Kind() == heddle.Reduce {
		cpu, memory := x.Usage()
		m.note(x, v.Now(), cpu, memory)
	}
}

// Run implements [policy.Control]: it runs one epoch.
func (m *Manager) Run(v policy.View, p *policy.Plan) {
	m.gather(v)
	m.detect()
	for i := range m.rows {
		m.estimate(&m.rows[i])
	}
	if m.o.controls(heddle.Memory) {
		m.balance()
		m.plan(v, p)
	}
	if m.o.controls(heddle.CPU) {
		m.share()
		m.weigh(p)
	}
	for i := range m.tasks {
		m.tasks[i].sum, m.tasks[i].n = amount{}, 0
	}
	for i := range m.idle {
		m.idle[i].next()
	}
}

// gather makes the rows of an epoch from the tasks that still run, in the order in which they were first measured, and
// drops the profiles of the others.
func (m *Manager) gather(v policy.View) {
	m.rows = m.rows[:0]
	m.sites = slices.Grow(m.sites[:0], v.NodeIDs())[:v.NodeIDs()]
	clear(m.sites)
	for i := range m.tasks {
		t := &m.tasks[i]
		if t.id == 0 {
			continue
		}
		x := v.Container(t.id)
		switch {
		case x == nil || x.State() != cluster.Running:
			m.drop(int32(i))
		case t.n > 0 && profiled(x):
			m.rows = append(m.rows, m.row(v, x, int32(i)))
		}
	}
	for i := range m.rows {
		f := m.rows[i].f
		f.peers, f.able = peers{}, amount{1, 1}
	}
	for i := range m.rows {
		m.rows[i].join()
	}
	m.sortByNode()
	next := waiting(v)
	m.lent = !next.IsZero()
	for i := range m.sites {
		if s := &m.sites[i]; s.first < s.end {
			m.rooms(s, next)
		}
	}
}

// row describes a running task.
func (m *Manager) row(v policy.View, x *policy.Container, i int32) row {
	t := &m.tasks[i]
	at, part := x.Progress()
	r := row{
		x: x, t: i, node: int32(x.Node().ID()), f: m.phase(t.app, at), part: part, α: 1,
		remote: at == heddle.ReduceCopy || at == heddle.MapRead && x.At() != heddle.NodeLocal,
		ran:    v.Now().Since(x.Started()).Seconds(),
	}
	for _, d := range controlled {
		r.cur[d] = float64(x.Limit()[d])
		r.use[d] = t.sum[d] / t.n
	}
	if r.weight = t.weight; r.weight == 0 {
		r.weight = float64(max(x.Told()[heddle.CPU], 1))
	}
	if r.ran > 0 && r.part > 0 && r.part <= 1 {
		r.rate = r.part / r.ran
	}
	return r
}

// join adds a row to its peers.
func (r *row) join() {
	g := &r.f.peers
	g.count++
	g.rate += r.rate
	for d := range r.use {
		g.use[d] += r.use[d]
	}
	if r.rate > 0 {
		g.duration += 1 / r.rate
		g.timed++
	}
}

// sortByNode groups the rows by node.
func (m *Manager) sortByNode() {
	for i := range m.rows {
		m.sites[m.rows[i].node].end++
	}
	first := int32(0)
	for i := range m.sites {
		s := &m.sites[i]
		s.first, s.end, first = first, first, first+s.end
	}
	m.byNode = slices.Grow(m.byNode[:0], len(m.rows))[:len(m.rows)]
	for i := range m.rows {
		s := &m.sites[m.rows[i].node]
		m.byNode[s.end] = int32(i)
		s.end++
	}
}

// rooms records how much memory a node has free, and how much of it is spare. If an application waits for a container,
// the spare memory is what is left once that container is placed there and every task has its whole size again, as the
// tasks that come after it have. A reserved node has nothing to give away.
func (m *Manager) rooms(s *site, waiting heddle.Resource) {
	n := m.rows[m.byNode[s.first]].x.Node()
	if n.Booked() != nil {
		return
	}
	idle := n.Free()
	spare := idle
	if m.lent {
		spare = spare.Minus(waiting)
		for _, i := range m.byNode[s.first:s.end] {
			x := m.rows[i].x
			spare = spare.Minus(x.Told().Minus(x.Limit()).Max(heddle.Resource{}))
		}
	}
	s.room.idle, s.room.spare = float64(max(0, idle[heddle.Memory])), float64(max(0, spare[heddle.Memory]))
}

// waiting returns the largest container that any application waits for, per dimension.
func waiting(v policy.View) heddle.Resource {
	var most heddle.Resource
	for id := range heddle.AppID(v.AppIDs()) {
		a := v.App(id)
		if a == nil {
			continue
		}
		for _, k := range a.Asks() {
			if k.Count() > 0 {
				most = most.Max(k.Size())
			}
		}
	}
	return most
}
