package rm

import (
	"math"
	"slices"

	"heddle"
	"heddle/yarn/ids"
)

// refuseNode tells a NodeManager to shut down.
func refuseNode(format string, args ...any) *NodeRegistered {
	return &NodeRegistered{Refused: text(format, args...)}
}

// register accepts a NodeManager, new or returning.
func (m *Machine) register(q *RegisterNode) *NodeRegistered {
	id, rack := q.Node, q.Rack
	n := m.byNode[id]
	switch {
	case n != nil && (rack == "" || rack != n.rack && len(n.conts) > 0): // it moves only when nothing runs there
		rack = n.rack
	case rack == "":
		rack = defaultRack
	}
	// A decommissioning node with something left to finish may continue.
	leaving := n != nil && n.state == nodeDecommissioning && n.rack == rack && len(q.Containers)+len(q.Apps) > 0
	if p := m.turnedAway(q, n, leaving); p != nil {
		return p
	}
	switch {
	case n == nil:
		n = m.addNode(id, rack, q.From)
	case n.rack != rack:
		m.nodeDown(n, nodeShutdown)
		n = m.addNode(id, rack, n.from)
	}
	n.seen = m.now
	m.staleNode(n)
	m.cameBack(n)
	n.names, n.http = q.Names, text("%s:%d", id.Host, q.HTTPPort)
	n.version, n.lastID, n.last = Clip(q.Version, MaxHostName), 0, nil
	n.forget = nil
	if n.orders != nil {
		n.orders.signals, n.orders.kill = nil, nil
	}
	if n.up && len(q.Containers) == 0 && len(q.Apps) == 0 { // it does not know what ran there
		m.nodeDown(n, nodeRebooted)
	}
	m.joins(n)
	if n.up && !leaving { // it may offer less than before
		m.resizeNode(n, n.total.Min(q.Total))
	}
	fresh := !n.up
	n.total, n.physical = q.Total, q.Physical
	n.refused = 0
	n.own = q.Can
	m.able(n)
	if !leaving {
		n.deadline = never
		m.join(n, q.Health)
	}
	for _, a := range q.Apps {
		m.ranOn(a, n)
	}
	m.hearLogs(n, q.Logs)
	m.reconcile(n, q.Containers)
	m.awaitNode(n)
	m.watchNode(n)
	if n.up && !leaving { // not earlier: only now is it known what it has free
		m.resizeNode(n, n.total)
		if fresh {
			m.nameHosts(n)
		}
	}
	m.forgetTokens(n)
	m.keepNode(n, 0)
	m.log(Info, "NodeManager registered", "node", id, "rack", rack, "memory", q.Total[heddle.Memory], "vcores", q.Total[heddle.CPU]/1000, "version", n.version, "containers", len(q.Containers))
	m.release()
	return &NodeRegistered{Number: n.nid}
}

// turnedAway returns the answer to a NodeManager that may not join; nil if it may.
func (m *Machine) turnedAway(q *RegisterNode, n *node, leaving bool) *NodeRegistered {
	host, least := q.Node.Host, m.sch.Minimum
	switch {
	case !m.listed.admits(q.Names) && !leaving:
		m.log(Warn, "a NodeManager that is not on the list was refused", "node", q.Node)
		if n != nil {
			m.nodeDown(n, nodeDecommissioned)
		}
		return refuseNode("Disallowed NodeManager from  %s, Sending SHUTDOWN signal to the NodeManager.", host)
	case q.Total[heddle.Memory] < least[heddle.Memory] || q.Total[heddle.CPU] < least[heddle.CPU]:
		return refuseNode("NodeManager from  %s doesn't satisfy minimum allocations, Sending SHUTDOWN signal to the NodeManager.", host)
	case !plausible(q.Total):
		return refuseNode("NodeManager from  %s offers %s, which is not an amount that a machine can have, Sending SHUTDOWN signal to the NodeManager.", host, m.text(q.Total))
	case n == nil && len(m.byNode) >= maxNodes:
		return refuseNode("NodeManager from  %s is one more than the %d that there can be, Sending SHUTDOWN signal to the NodeManager.", host, maxNodes)
	case n == nil:
		return m.crowded(q)
	}
	return nil
}

// maxAmount is more of any resource than a machine has; sums over maxNodes nodes still fit.
const maxAmount = 1 << 42

// plausible reports whether an amount that a node reports can be used in calculations.
func plausible(a heddle.Resource) bool {
	return !a.AnyNegative() && a.Fits(heddle.Resource{maxAmount, maxAmount, maxAmount, maxAmount})
}

// join adds a registered node to the cluster, if it is healthy. It has no capacity yet.
func (m *Machine) join(n *node, h Health) {
	n.heal(h)
	if h.Sick || !h.Said && n.state == nodeUnhealthy { // as sick as before if it does not say
		m.nodeDown(n, nodeUnhealthy)
		return
	}
	n.become(nodeRunning)
	m.nodeUp(n, heddle.Resource{})
	m.joins(n)
}

// heal records what a node says about its health.
func (n *node) heal(h Health) {
	if h.Said {
		n.health, n.healthAt = Clip(h.Report, maxDiagnostics), h.At
	}
}

// ranOn notes that an application has files on a node; the node cleans up after applications that are over or unknown.
func (m *Machine) ranOn(id ids.App, n *node) {
	if a := m.byApp[id]; a != nil && !a.closed {
		a.ranOn(n)
		return
	}
	n.clean(id)
}

func (m *Machine) unregisterNode(id ids.Node) {
	if n := m.byNode[id]; n != nil && (n.state.active() || n.awaited) {
		m.log(Info, "NodeManager left", "node", n.id)
		m.nodeDown(n, nodeShutdown)
		m.release()
	}
}

// resync tells a NodeManager to register again.
func resync(format string, args ...any) *NodeBeat {
	return &NodeBeat{Action: Resync, Text: text(format, args...)}
}

// nodeOf returns the reporting node, or nil.
func (m *Machine) nodeOf(q *BeatNode) *node {
	if i := int(q.Number); i >= 0 && i < len(m.nodes) && m.nodes[i].id == q.Node && m.nodes[i].state.active() {
		return m.nodes[i]
	}
	return m.byNode[q.Node]
}

// beat handles one heartbeat of a NodeManager.
func (m *Machine) beat(q *BeatNode) *NodeBeat {
	n := m.nodeOf(q)
	switch {
	case n == nil || !n.state.active() && n.state != nodeDecommissioned:
		return resync("Node not found resyncing %s", q.Node)
	case n.state == nodeDecommissioned || !m.listed.admits(n.names) && n.state != nodeDecommissioning:
		m.nodeDown(n, nodeDecommissioned)
		return &NodeBeat{Action: ShutDown, Text: text("Disallowed NodeManager nodeId: %s hostname: %s", q.Node, q.Node.Host)}
	case n.last != nil && nextID(q.Last) == n.lastID: // its answer was lost
		m.speaks(n)
		return n.last
	case q.Last != n.lastID:
		m.nodeDown(n, nodeRebooted)
		return resync("Too far behind rm response id:%d nm response id:%d", n.lastID, q.Last)
	}
	m.speaks(n)
	m.used(n, q)
	m.health(n, q.Health)
	m.hearLogs(n, q.Logs)
	m.statuses(n, q)
	if n.state == nodeRunning && m.Ready() && (m.core.Wants(n.nid) || m.tickDue()) {
		m.step(heddle.Heartbeat{Node: n.nid})
	}
	if n.state == nodeDecommissioning {
		m.drained(n)
	}
	return m.answerBeat(n, q)
}

// used takes what a node measured. A NodeManager measures processor use: how many processors of the machine are in use,
// and how many vcores its containers use. A NodeManager that may use only part of the machine
// (yarn.nodemanager.resource.percentage-physical-cpu-limit) relates its vcores to that part without telling anybody:
// its containers seem to use more than they do.
func (m *Machine) used(n *node, q *BeatNode) {
	n.nodeUse, n.contUse = q.OfNode.plausible(), q.OfAll.plausible()
	used, whole := float64(q.OfAll.CPU), float64(q.OfNode.CPU)
	if !m.sch.Set.Feeds.Nodes || !n.up || !(used >= 0 && used <= maxProcessors) {
		return
	}
	physical := n.physical[heddle.CPU]
	if of := n.total[heddle.CPU]; of > 0 && physical > 0 {
		used *= float64(physical) / float64(of)
	}
	e := heddle.NodeUsed{Node: n.nid, CPU: int64(math.Round(min(used, maxProcessors) * 1000)), Idle: -1}
	silent := whole == 0 && q.OfNode.Physical == 0 // nothing is measured yet: on no machine is all memory free
	if physical > 0 && whole >= 0 && whole <= maxProcessors && !silent {
		all := min(physical, int64(math.Round(whole*1000)))
		e.Others, e.Idle = max(0, all-e.CPU), physical-all
	}
	if was := m.core.View().Node(n.nid); e.CPU != was.CPUUsed() || !silent && e.Idle != was.CPUIdle() { // otherwise nothing was measured anew
		m.step(e)
	}
}

// maxProcessors is more than a machine has.
const maxProcessors = 1 << 20

// plausible returns a measurement without a number of processors that no machine has, or that is none.
func (u Utilization) plausible() Utilization {
	if !(math.Abs(float64(u.CPU)) <= maxProcessors) {
		u.CPU = 0
	}
	return u
}

// tickDue reports whether policies have periodic arithmetic to do while something waits: a quiet core would miss its
// results, such as room that is no longer held back.
func (m *Machine) tickDue() bool {
	at, ok := m.core.NextTick()
	return ok && m.now >= at
}

// health takes what a node says about its disks and scripts.
func (m *Machine) health(n *node, h Health) {
	if n.state == nodeDecommissioning || !h.Said {
		return
	}
	n.heal(h)
	switch {
	case h.Sick == (n.state == nodeUnhealthy):
	case h.Sick:
		m.log(Warn, "node is unhealthy", "node", n.id, "report", n.health)
		m.nodeDown(n, nodeUnhealthy)
	default:
		m.log(Info, "node is healthy again", "node", n.id)
		n.become(nodeRunning)
		m.nodeUp(n, n.total)
		m.nameHosts(n)
	}
}

// statuses takes what a node says about its containers.
func (m *Machine) statuses(n *node, q *BeatNode) {
	m.reports++
	for i := range q.Running {
		r := &q.Running[i]
		c := m.container(r.ID)
		if c != nil && !m.here(n, c) {
			continue
		}
		m.runs(n, r.ID, c)
		if c != nil && c.deed != nil {
			m.sized(c, r)
		}
	}
	for i := range q.Ended {
		s := &q.Ended[i]
		c := m.container(s.ID)
		if c == nil {
			n.unkill(s.ID)
			if a := m.byApp[s.ID.Attempt.App]; a == nil || a.closed { // perhaps it began after the node had cleaned up
				n.clean(s.ID.Attempt.App)
			}
			m.forgettable(n, s.ID)
			continue
		}
		if !m.here(n, c) {
			continue
		}
		n.unkill(s.ID)
		if c.kind == heddle.AM {
			n.acknowledge(s.ID)
		}
		m.exitedAs(c, s)
	}
	if q.Partial {
		return
	}
	named := m.reports
	m.unreported(n, func(c *container) bool { return c.running() && c.reported != named })
}

// here notes that a node named a container, and reports whether the container belongs to that node.
func (m *Machine) here(n *node, c *container) bool {
	if c.node != n {
		m.log(Warn, "a node reports another node's container", "node", n.id, "container", c.id())
		return false
	}
	c.reported = m.reports
	return true
}

// KillTime is how long to wait for a kill: a node does not report containers that it never started.
const KillTime = 10 * heddle.Second

// runs handles a container that a node says is there.
func (m *Machine) runs(n *node, id ids.Container, c *container) {
	if c != nil {
		if !c.running() {
			c.become(containerRunning)
			n.waiting--
			m.step(heddle.Started{Container: c.cid})
			if c.deed != nil || c.weight() != plainWeight {
				m.wants(n)
			}
		}
		return
	}
	a := m.byApp[id.Attempt.App]
	if a == nil || a.closed { // perhaps it was being started when the application ended
		n.clean(id.Attempt.App)
		return
	}
	if at, killed := n.killed[id]; !killed || m.now.Since(at) >= KillTime { // otherwise its end is under way
		m.kill(n, id)
	}
}

// answerBeat returns the answer to an accepted heartbeat.
func (m *Machine) answerBeat(n *node, q *BeatNode) *NodeBeat {
	n.lastID = nextID(n.lastID)
	n.every = m.interval(n)
	p := q.Answer
	if p == nil {
		p = &NodeBeat{}
	}
	forget, leave := p.Forget[:0], p.CleanApp[:0] // the last answer's slices are reused for the next one
	*p = NodeBeat{ID: n.lastID, Every: n.every, Forget: n.forget, CleanApp: once(n.leave, ids.App.Compare)}
	n.forget, n.leave = forget, leave
	if o := n.orders; o != nil {
		p.Signals, p.Cleanup = o.signals, once(o.kill, ids.Container.Compare)
		if len(o.update) > 0 {
			p.Updates = m.updates(n)
		}
		if o.resize {
			p.Total = new(n.total)
		}
		n.orders = nil
	}
	for i := NodeRing; i < NumRings; i++ {
		if m.rings[i].lacks(q.Keys[i]) {
			p.NewKeys = append(p.NewKeys, i)
		}
	}
	n.last = p
	return p
}

// once sorts a list and removes duplicates.
func once[T comparable](list []T, compare func(a, b T) int) []T {
	if len(list) < 2 {
		return list
	}
	slices.SortFunc(list, compare)
	return slices.Compact(list)
}

// interval returns a node's heartbeat interval: short while something waits or is about to begin or end, long while
// nobody wants anything, and never so short that all nodes together exceed the configured load.
func (m *Machine) interval(n *node) heddle.Span {
	d := m.cfg.Beat
	switch {
	case m.cfg.Stock:
		return d
	case m.restless(n):
		d = m.cfg.FastBeat
	case len(n.conts) == 0 && len(n.apps) == 0 && m.core.View().Alive() == 0:
		d = m.cfg.IdleBeat
	}
	if m.cfg.BeatLoad > 0 {
		d = max(d, heddle.Span(m.core.View().Live())*heddle.Second/heddle.Span(m.cfg.BeatLoad))
	}
	return d
}

// restless reports whether news from a node would be useful soon: something waits for room, or a container there was
// granted and has not begun, or was killed and has not ended.
func (m *Machine) restless(n *node) bool {
	return n.up && m.core.Wants(n.nid) || n.waiting > 0 || n.ordered(m.now)
}

// ordered reports whether a node has, at a time, yet to hear of something to do or was told to kill what has not ended.
func (n *node) ordered(now heddle.Time) bool {
	if n.orders != nil {
		return true
	}
	for _, at := range n.killed { // order: any of them
		if now.Since(at) < KillTime {
			return true
		}
	}
	return false
}
