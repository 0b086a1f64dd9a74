package rm

import (
	"slices"

	"heddle"
	"heddle/yarn/ids"
)

// MaxHostName is the most characters in a host name, as in DNS, and in a version.
const MaxHostName = 255

const (
	maxNodes    = 100_000 // by host and port, including nodes that are gone
	maxSignals  = 1000    // for containers of a node between two heartbeats
	defaultRack = "/default-rack"
)

// A node is a NodeManager. The fields that every heartbeat reads come first, so that they are read together.
type node struct {
	id      ids.Node
	from    string // address from which it first registered
	nid     heddle.NodeID
	lastID  int32
	state   nodeState
	up      bool // in the core
	silent  bool // nothing more starts there: it has not reported for so long, or not since it registered
	awaited bool // known from before the restart, and not back yet
	demotes bool // parks containers itself, as opportunistic ones
	can     heddle.Caps
	own     heddle.Caps // of those, without an agent
	agent   *agent      // its node agent; nil for none
	refused int         // updates that it did not make since it registered
	apps    []*app      // ran here and are not cleaned up
	seen    heddle.Time // last heartbeat
	last    *NodeBeat
	every   heddle.Span // heartbeat interval that it was last told

	conts   []*container
	waiting int                           // of those, not reported yet
	parked  int                           // of those, to be parked
	weighed int                           // of those, weighed
	unsaid  *unsaid                       // alterations still to be logged; nil if there were none so far
	killed  map[ids.Container]heddle.Time // kills that it was told of, and when; end not yet reported; nil if there were none so far
	forget  []ids.Container               // in the answer to the next heartbeat
	leave   []ids.App                     // likewise: applications to clean up after
	orders  *orders                       // likewise; nil for none

	nodeUse, contUse Utilization

	names    []string // names that host lists may use for it
	rack     string
	http     string
	version  string
	total    heddle.Resource
	physical heddle.Resource // of the machine, if reported
	health   string
	healthAt int64
	known    NodeRecord  // what the store is to hold about it; zero for nothing
	kept     NodeRecord  // what the store was told
	keeping  bool        // the store is yet to be told
	deadline heddle.Time // of a graceful decommission; never if there is none
	went     heddle.Time // when it last became unusable or began to leave; −1 if it has not since the start
	timer    timer
	returns  returns
	stale    bool // views are out of date
}

// orders is what a node is to do.
type orders struct {
	kill    []ids.Container
	update  []*container
	signals []Signal
	resize  bool
}

// order returns the orders of a node, for adding to them.
func (n *node) order() *orders {
	if n.orders == nil {
		n.orders = &orders{}
	}
	return n.orders
}

// nodeUp adds a node to the core, with the given capacity.
func (m *Machine) nodeUp(n *node, total heddle.Resource) {
	if n.up {
		return
	}
	n.up = true
	m.staleNode(n)
	m.step(heddle.NodeUp{Node: n.nid, Rack: m.rackID(n.rack), Total: total, Can: n.can})
	m.expectNode(n)
	m.tellNode(n, Usable)
}

// closed reports whether nothing more may start on a node that is up.
func (n *node) closed() bool { return n.silent || n.state == nodeDecommissioning }

// tellCloses tells the core whether something may start on a node.
func (m *Machine) tellCloses(n *node) { m.step(heddle.NodeSilent{Node: n.nid, Silent: n.closed()}) }

// resizeNode changes the capacity of a node in the core.
func (m *Machine) resizeNode(n *node, total heddle.Resource) {
	if m.core.View().Node(n.nid).Total() != total {
		m.step(heddle.NodeResized{Node: n.nid, Total: total})
	}
}

// nodeDown removes a node from the core: everything on it ends.
func (m *Machine) nodeDown(n *node, to nodeState) {
	tells := n.up || n.state == nodeNew // masters may know it from before the restart
	n.become(to)
	m.staleNode(n)
	m.cameBack(n)
	switch to {
	case nodeLost:
		m.keepNode(n, m.today())
	case nodeShutdown, nodeDecommissioned:
		m.dropNode(n)
	case nodeNew, nodeRunning, nodeUnhealthy, nodeDecommissioning, nodeRebooted: // it will come back
	}
	if n.up {
		n.up, n.silent = false, false
		m.ending = textLost
		m.step(heddle.NodeDown{Node: n.nid})
		m.ending = ""
		m.forgetTokens(n)
	}
	if tells {
		m.tellNode(n, Unusable)
	}
}

// tellNode has every running master told of a change of a node, and notes when the node went.
func (m *Machine) tellNode(n *node, how NodeChange) {
	if how != Usable {
		n.went = m.now
	}
	for _, t := range m.current() {
		if t.registered() && !t.state.isOver() {
			t.updated.add(n, how)
		}
	}
}

// tellGone has a master that registers told of the nodes that went since the one before it, or itself before a restart,
// last heard of nodes: what was done there may be lost.
func (m *Machine) tellGone(t *attempt) {
	for _, n := range m.nodes {
		if n.went < t.newsAt {
			continue
		}
		switch now := m.byNode[n.id]; {
		case now != nil && now != n: // it is back in another rack, or after it was forgotten
		case !n.up:
			t.updated.add(n, Unusable)
		case n.state == nodeDecommissioning:
			t.updated.add(n, Decommissioning)
		}
	}
}

// forgetTokens has every master given a new token for a node with its next container there.
func (m *Machine) forgetTokens(n *node) {
	for _, t := range m.current() {
		t.tokens.Remove(int32(n.nid))
	}
}

// addNode creates a node that was never seen, or that moved to another rack.
func (m *Machine) addNode(id ids.Node, rack, from string) *node {
	n := &node{
		id: id, nid: heddle.NodeID(len(m.nodes)), rack: rack, deadline: never, went: -1,
	}
	host, back := m.hostName(id), false
	if old := m.byNode[id]; old != nil {
		m.unlocated(old)
		n.returns = old.returns
		n.killed = old.killed // containers given up there stay given up
		old.agent.follow(n)
		for i, o := range m.hosts[host] {
			if o == old {
				m.hosts[host][i] = n
			}
		}
	} else {
		n.returns, back = m.returned(id, from)
		m.replaced(id)
		m.hosts[host] = append(m.hosts[host], n)
	}
	m.located(n, from, back)
	m.nodes = append(m.nodes, n)
	m.byNode[id] = n
	m.staleNode(n)
	return n
}

// replaced forgets the nodes of a host that are gone for good: the host's NodeManager has come back on another port.
func (m *Machine) replaced(id ids.Node) { m.forgetNodes(id, (*node).gone) }

// forgetNodes forgets the nodes of a host for which these is true.
func (m *Machine) forgetNodes(id ids.Node, these func(*node) bool) {
	host := m.hostName(id)
	m.hosts[host] = slices.DeleteFunc(m.hosts[host], func(n *node) bool {
		forget := these(n)
		if forget {
			if a := n.agent; a != nil { // the node's number may become another's, and the agent acts on it no more
				m.tellAgent(a)
				n.agent = nil
			}
			m.dropNode(n)
			delete(m.byNode, n.id)
			m.staleNode(n)
			m.unlocated(n)
		}
		return forget
	})
	if len(m.hosts[host]) == 0 {
		delete(m.hosts, host)
	}
}

// gone reports whether a node left but may come back.
func (n *node) gone() bool {
	return n.state == nodeLost || n.state == nodeRebooted || n.state == nodeShutdown
}

// goneLong reports whether a node left so long ago that it is to be forgotten.
func (m *Machine) goneLong(n *node) bool {
	since := m.now.Since(n.seen)
	if lost := n.known.Lost; lost > 0 { // perhaps before the restart
		since = heddle.Span(m.today()-lost) * heddle.Millisecond
	}
	return n.gone() && m.byNode[n.id] == n && since > goneLife
}

// hostName returns the name by which masters ask for a node.
func (m *Machine) hostName(id ids.Node) string {
	if m.cfg.PortInNodeName {
		return id.String()
	}
	return id.Host
}

// clean has a node clean up after an application, in the answer to its next heartbeat.
func (n *node) clean(id ids.App) { n.leave = append(n.leave, id) }

// acknowledge lets a node forget an ended container.
func (n *node) acknowledge(id ids.Container) {
	if n.state.active() {
		n.forget = append(n.forget, id)
	}
}

// unkill notes that a container has ended, in case it was to be killed.
func (n *node) unkill(id ids.Container) {
	if n.killed != nil {
		delete(n.killed, id)
	}
}

// kill has a container killed on its node: at the next heartbeat, or when the node registers again.
func (m *Machine) kill(n *node, id ids.Container) {
	if n.killed == nil {
		n.killed = map[ids.Container]heddle.Time{}
	}
	n.killed[id] = m.now
	n.order().kill = append(n.order().kill, id)
	m.timers.by(&n.timer, n, m.now.Plus(m.cfg.ContainerExpiry))
}
