package rm

import (
	"cmp"
	"slices"

	"heddle"
	"heddle/yarn/ids"
)

// A node agent beside a NodeManager does at once what no NodeManager does: it parks, weighs and measures containers. It
// asks what to do, and the answer is held back until there is something new. Each answer states everything that is
// wanted of the node, so a lost message does no harm. What the agent did is leased: an agent that hears nothing returns
// every container to its defaults, and the machine then treats the node as one without an agent.

// An AgentSync is a node agent's report, and asks what to do. The answer is an [*AgentWish]: at once if the wish has
// changed, otherwise when it changes or when the next AgentSync is due. If a newer agent of the node has been heard
// from, the answer is a [*Replaced].
type AgentSync struct {
	Call    Call
	Node    ids.Node // the node it runs beside
	Agent   string   // differs after each start of the agent
	Can     heddle.Caps
	Applied uint64         // version of the wish that it has carried out; 0 for none
	Used    []Used         // of the containers that it has found
	Failed  []AgentFailure // wishes of Applied that it could not carry out
	Tasks   []TaskIn
	Outputs []MapOutput
	Heaps   []MasterHeap
	// DiskBusy is how long the node's disks have been busy so far, on average; 0 if unknown.
	DiskBusy heddle.Span
}

// TaskIn is the MapReduce task that runs in a container.
type TaskIn struct {
	Container ids.Container
	Task
}

// A MapOutput is the output of a map task on the agent's node.
type MapOutput struct {
	App   ids.App
	Map   int32 // index of the task in its job
	Bytes int64 // of all partitions, as reduces copy them
}

// A MasterHeap is what the Java process of a master holds, by the master's container.
type MasterHeap struct {
	Container ids.Container
	HeapNews
}

// Used is what a container has used; nothing if it was not measured.
type Used struct {
	Container ids.Container
	CPU       heddle.Span // processor time since the agent found it
	Memory    int64       // MiB, now
}

// An AgentFailure names a container to which the agent could not do something, and says why.
type AgentFailure struct {
	Container ids.Container
	Text      string
	Lacks     heddle.Caps // which capabilities fail for it
	Missing   bool        // it has not been found, which says nothing of others
}

// An AgentWish is everything that is wanted of a node's containers. Containers it does not name have the defaults.
type AgentWish struct {
	Version uint64      // different for each wish, across all starts
	Every   heddle.Span // until the next AgentSync at the latest
	Lease   heddle.Span // so long after the AgentSync all containers return to the defaults, unless another answer has come
	Unknown bool        // the node has not registered: the answer is not held back, and nothing is wanted
	Want    []Wanted
	Measure bool // measure what containers use
	// Outputs are the applications whose map outputs are wanted, and Heaps the masters whose heaps are.
	Outputs []OutputsOf
	Heaps   []ids.Container
	Disks   bool // measure how busy the node's disks are
}

// OutputsOf is an application that ran something on a node, and its user.
type OutputsOf struct {
	App  ids.App
	User string
}

// Wanted is what is wanted of a container.
type Wanted struct {
	Container ids.Container
	Parked    bool
	Frozen    heddle.Span // does not run at all, for at most so long from now; 0 for not frozen
	Weight    int64       // milli-vcores, as in [heddle.Weigh]; 0 for the default
	Bound     int64       // thousandths of a processor that it may use at most; 0 for no bound
	Reclaim   int64       // MiB: above this its caches are dropped; 0 for never
}

func (*AgentSync) message() {}

const (
	agentEvery   = 5 * heddle.Second // at the latest
	agentAgain   = heddle.Second     // if the node is unknown, or the agent has not done what it was told
	agentLease   = 30 * heddle.Second
	agentRuns    = 5 * heddle.Second // after a node's first agent, before anything there is frozen: a waiting reduce reports every 2 s
	agentCaps    = heddle.Parks | heddle.Weighs | heddle.Freezes | heddle.Bounds | heddle.Reclaims
	agentVersion = 40  // bits of a version below the epoch
	mostFailures = 100 // kept per agent
	mostBefore   = 16  // agents kept out per node
	plainWeight  = 1000
)

// An agent is a node agent that was heard from within its lease.
type agent struct {
	node  *node
	name  string
	can   heddle.Caps
	timer timer

	before []earlier // agents it replaced: ignored as long as this one is heard from

	call     Call // waits for an answer, if held
	held     bool
	owed     bool        // its answer is in Machine.owing
	until    heddle.Time // when the answer is due
	seen     heddle.Time // last call
	answered heddle.Time
	changed  bool // it has not been told the current wish
	told     uint64
	applied  uint64
	failed   []AgentFailure
	freezes  heddle.Time // it may freeze from then on
	failing  heddle.Caps // capabilities that failed for one container
	lacks    heddle.Caps // … and for a second one, so they no longer count
	used     map[ids.Container]usedAt
	disks    usedAt // how long the node's disks have been busy
	busy     int64  // thousandths of the time that they were busy lately; negative if unknown
}

// An earlier agent is one that another replaced.
type earlier struct {
	name string
	back bool // it was heard from again, and this was logged
}

// usedAt is the processor or disk time used up to a time.
type usedAt struct {
	busy heddle.Span
	at   heddle.Time
}

// agentSync takes an agent's report, and holds the answer back if there is nothing new.
func (m *Machine) agentSync(q *AgentSync) {
	n := m.byNode[q.Node]
	if n == nil || !n.state.active() { // its NodeManager has yet to register
		m.wishes++
		m.answer(q.Call, &AgentWish{Version: m.version(), Every: agentAgain, Lease: agentLease, Unknown: true}, nil)
		return
	}
	a := n.agent
	if was := a.earlier(q.Agent); was != nil {
		if !was.back {
			was.back = true
			m.log(Warn, "two node agents claim the same node: the later one is used", "node", n.id)
		}
		m.answer(q.Call, nil, &Replaced{n.id})
		return
	}
	if a == nil || a.name != q.Agent {
		m.log(Info, "node agent connected", "node", n.id, "can", (q.Can & agentCaps).String())
		m.counts.agents.Connected++
		next := &agent{node: n, name: q.Agent, changed: true, answered: never, busy: -1}
		if a == nil { // meanwhile, what an earlier ResourceManager froze runs
			next.freezes = m.now.Plus(agentRuns)
		} else {
			m.replace(a, next)
		}
		a, n.agent = next, next
	}
	m.tellAgent(a)
	a.seen, a.can, a.applied = m.now, q.Can&agentCaps&^a.lacks, q.Applied
	if m.now < a.freezes {
		a.can &^= heddle.Freezes
	}
	m.staleNode(n)
	m.able(n)
	m.foundBy(a, q.Used)
	m.agentFailed(a, q.Failed)
	m.measuredBy(a, q.Used)
	m.disksBy(a, q.DiskBusy)
	m.tasksBy(a, q.Tasks)
	m.outputsBy(a, q.Outputs)
	m.heapsBy(a, q.Heaps)
	a.call, a.held, a.until = q.Call, true, m.now.Plus(m.agentEvery())
	switch {
	case a.changed:
		m.owe(a)
	case a.applied != a.told: // its last answer was lost, or the agent restarted
		a.until = a.answered.Plus(agentAgain)
		if m.now >= a.until {
			m.owe(a)
		}
	}
	m.timers.by(&a.timer, a, a.deadline())
}

// replace replaces an agent by another one of its node: the agent restarted, or there are two.
func (m *Machine) replace(a, next *agent) {
	if a.held {
		a.held = false
		m.answer(a.call, nil, &Replaced{a.node.id})
	}
	m.timers.stop(&a.timer)
	next.disks, next.busy, next.freezes = a.disks, a.busy, a.freezes
	next.before = append(slices.Clone(a.before[max(0, len(a.before)+1-mostBefore):]), earlier{name: a.name})
}

// earlier returns the replaced agent of this name, or nil.
func (a *agent) earlier(name string) *earlier {
	if a != nil {
		for i := range a.before {
			if a.before[i].name == name {
				return &a.before[i]
			}
		}
	}
	return nil
}

// agentEvery returns how long an answer is held back at most.
func (m *Machine) agentEvery() heddle.Span {
	if p := m.sch.Set.Feeds.Profile; p > 0 {
		return min(agentEvery, max(p, agentAgain))
	}
	return agentEvery
}

// agentFailed takes what an agent could not do.
func (m *Machine) agentFailed(a *agent, failed []AgentFailure) {
	failed = failed[:min(len(failed), mostFailures)]
	if len(failed) > 0 && !slices.EqualFunc(failed, a.failed, func(x, y AgentFailure) bool { return x.Container == y.Container }) {
		m.counts.agents.Failed += uint64(len(failed))
		m.log(Warn, "a node agent could not carry out its instructions", "node", a.node.id, "container", failed[0].Container, "why", Clip(failed[0].Text, mostSpoken), "containers", len(failed))
	}
	a.failed = slices.Clone(failed)
	for _, f := range failed {
		m.unable(a, f)
	}
}

// foundBy takes back that things cannot be done to containers, if that was because they had not been found.
func (m *Machine) foundBy(a *agent, used []Used) {
	var found []*container
	for _, c := range a.node.conts {
		if c.deed != nil && c.deed.missing != 0 && slices.ContainsFunc(used, func(u Used) bool { return u.Container == c.id() }) {
			found = append(found, c)
		}
	}
	for _, c := range found {
		d, can := c.deed, c.deed.missing
		d.lacks, d.missing = d.lacks&^can, 0
		m.wants(a.node)
		m.step(heddle.Able{Container: c.cid, What: can})
	}
}

// unable drops what an agent could not do to a container, and for all containers if it failed for another one before. An
// agent that has yet to find a container lacks nothing.
func (m *Machine) unable(a *agent, f AgentFailure) {
	c := m.container(f.Container)
	if c == nil || c.node != a.node || !c.running() {
		return
	}
	d := c.changed()
	lacks := f.Lacks & agentCaps &^ d.lacks
	if lacks == 0 {
		return
	}
	d.lacks |= lacks
	m.wants(a.node)
	m.step(heddle.Unable{Container: c.cid, What: lacks})
	if f.Missing {
		d.missing |= lacks
		return
	}
	if more := lacks & a.failing &^ a.lacks; more != 0 {
		m.log(Warn, "a node agent lacks a capability that it reported", "node", a.node.id, "cannot", more.String())
		a.lacks |= more
		a.can &^= more
		m.able(a.node)
	}
	a.failing |= lacks
}

// measuredBy tells the core what containers used since the agent's last report of them.
func (m *Machine) measuredBy(a *agent, used []Used) {
	if m.sch.Set.Feeds.Profile == 0 {
		a.used = nil
		return
	}
	last := a.used
	a.used = make(map[ids.Container]usedAt, len(used))
	for _, u := range used {
		c := m.container(u.Container)
		if c == nil || c.node != a.node || !c.running() || u.CPU < 0 || u.Memory < 0 || u.Memory > maxAmount || u.CPU == 0 && u.Memory == 0 {
			continue
		}
		a.used[u.Container] = usedAt{u.CPU, m.now}
		before, known := last[u.Container]
		took := m.now.Since(before.at)
		if !known || took <= 0 || u.CPU < before.busy {
			continue
		}
		milli := float64(u.CPU-before.busy) / float64(took) * 1000
		m.step(heddle.Profile{Container: c.cid, CPU: int64(min(milli, maxProcessors*1000)), Memory: u.Memory})
	}
}

// disksBy tells the core how busy a node's disks were since the agent's last report that counted. An agent also reports
// whenever it has done something, and over so short a time a single write says nothing about a disk.
func (m *Machine) disksBy(a *agent, busy heddle.Span) {
	if !m.sch.Set.Feeds.Disks {
		a.disks, a.busy = usedAt{}, -1
		return
	}
	last, took := a.disks, m.now.Since(a.disks.at)
	known := last.busy > 0 && busy >= last.busy
	if known && took < agentEvery/2 {
		return
	}
	a.disks = usedAt{busy, m.now}
	switch {
	case known:
		a.busy = int64(min(1, float64(busy-last.busy)/float64(took)) * 1000)
	case last.busy > 0 && busy <= 0: // its agent can no longer tell
		a.busy = -1
	default: // the first report, or the node rebooted
		return
	}
	m.step(heddle.NodeDisks{Node: a.node.nid, Busy: a.busy})
}

// wants notes that a node's wish changed, so that its agent is told.
func (m *Machine) wants(n *node) {
	if a := n.agent; a != nil {
		a.changed = true
		m.staleNode(n)
		if a.held {
			m.owe(a)
		}
	}
}

// owe has an agent answered at the end of this step, when all consequences of the step are known.
func (m *Machine) owe(a *agent) {
	if !a.owed {
		a.owed = true
		m.owing = append(m.owing, a)
	}
}

// tellOwed answers the agents whose answers became due in this step.
func (m *Machine) tellOwed() {
	for _, a := range m.owing {
		a.owed = false
		m.tellAgent(a)
	}
	m.owing = m.owing[:0]
}

// tellAgent answers a waiting agent.
func (m *Machine) tellAgent(a *agent) {
	if !a.held {
		return
	}
	a.held = false
	if a.changed {
		m.wishes++
		m.counts.agents.Wishes++
		a.changed, a.told = false, m.version()
		m.staleNode(a.node)
	}
	a.answered = m.now
	p := &AgentWish{Version: a.told, Every: m.agentEvery(), Lease: agentLease, Want: m.wanting(a), Measure: m.sch.Set.Feeds.Profile > 0, Disks: m.sch.Set.Feeds.Disks}
	m.asks(a, p)
	m.answer(a.call, p, nil)
}

// version returns the version of the last wish.
func (m *Machine) version() uint64 { return uint64(m.epoch)<<agentVersion | m.wishes }

// wanting returns what is wanted of a node's containers.
func (m *Machine) wanting(a *agent) (want []Wanted) {
	for _, c := range a.node.conts {
		if !c.running() {
			continue
		}
		w, plain := Wanted{Container: c.id(), Weight: c.weight()}, Wanted{Container: c.id(), Weight: plainWeight}
		can := a.can
		if d := c.deed; d != nil {
			can &^= d.lacks
			if can.Has(heddle.Parks) {
				w.Parked = d.parked
			}
			if can.Has(heddle.Freezes) {
				w.Frozen = d.left(m.now)
			}
			if can.Has(heddle.Bounds) {
				w.Bound = d.bound
			}
			if can.Has(heddle.Reclaims) && d.frozen == 0 && d.limit[heddle.Memory] < c.size[heddle.Memory] {
				w.Reclaim = d.limit[heddle.Memory]
			}
		}
		if !can.Has(heddle.Weighs) {
			w.Weight, plain.Weight = 0, 0
		}
		if w != plain {
			want = append(want, w)
		}
	}
	return want
}

// weight returns a container's weight on busy processors: the weight it was given, or its size.
func (c *container) weight() int64 {
	if c.deed != nil && c.deed.weight > 0 {
		return c.deed.weight
	}
	return c.ownWeight()
}

// ownWeight returns the weight of a container's size.
func (c *container) ownWeight() int64 { return max(c.size[heddle.CPU], c.limitOf()[heddle.CPU]) }

// caps returns what an agent adds to a node's capabilities; nothing if there is no agent.
func (a *agent) caps() heddle.Caps {
	if a == nil {
		return 0
	}
	return a.can
}

// deadline returns when an agent must next be checked.
func (a *agent) deadline() heddle.Time {
	gone := a.seen.Plus(agentLease)
	if a.held && !a.owed {
		return min(gone, a.until)
	}
	return gone
}

// expire answers an agent whose answer is due, and gives up a silent one.
func (a *agent) expire(m *Machine) heddle.Time {
	n := a.node
	switch {
	case n.agent != a:
		return never
	case m.now > a.seen.Plus(agentLease):
		m.log(Warn, "node agent lost", "node", n.id, "silent", m.now.Since(a.seen))
		m.counts.agents.Lost++
		m.tellAgent(a)
		n.agent = nil
		m.staleNode(n)
		m.able(n)
		if m.sch.Set.Feeds.Disks {
			m.step(heddle.NodeDisks{Node: n.nid, Busy: -1})
		}
		return never
	case a.held && m.now > a.until:
		m.owe(a)
	}
	return a.deadline()
}

// follow moves an agent to the node that replaced its own.
func (a *agent) follow(n *node) {
	if a != nil {
		a.node.agent = nil
		a.node, n.agent, a.changed = n, a, true
	}
}

// An AgentReport is what a node's agent is doing.
type AgentReport struct {
	Name   string
	Can    heddle.Caps
	Seen   int64 // milliseconds since 1970: last call
	Behind bool  // it has yet to do what it was told, or to be told
	Failed []AgentFailure
	Disks  int64 // thousandths of the time that the node's disks were busy lately; negative if unknown
}

// report returns what an agent is doing, or nil if there is no agent.
func (a *agent) report(m *Machine) *AgentReport {
	if a == nil {
		return nil
	}
	failed := slices.SortedFunc(slices.Values(a.failed), func(x, y AgentFailure) int { return cmp.Compare(x.Text, y.Text) })
	return &AgentReport{Name: a.name, Can: a.can, Seen: m.date(a.seen), Behind: a.changed || a.applied != a.told, Failed: failed, Disks: a.busy}
}

// AgentCounts counts events of node agents.
type AgentCounts struct {
	Connected uint64 // starts of agents that were heard from
	Lost      uint64 // silent for too long
	Wishes    uint64 // told to agents
	Failed    uint64 // containers to which an agent could not do what it was told
}
