package rm

import (
	"slices"

	"heddle"
	"heddle/yarn/ids"
)

// MaxHostName is how many characters a host may have, as DNS has it; a version too.
const MaxHostName = 255

const (
	maxNodes    = 100_000 // by host and port, those that are gone included
	maxSignals  = 1000    // for containers of a node between two reports
	defaultRack = "/default-rack"
)

// A node is a NodeManager. What every report looks at comes first: it is read together.
type node struct {
	id      ids.Node
	from    string // the address that it registered from first
	nid     heddle.NodeID
	lastID  int32
	state   nodeState
	up      bool // in the core
	silent  bool // so long that nothing more starts there
	awaited bool // it was there before the start, and has not come back
	demotes bool // it parks containers itself, as opportunistic ones
	can     heddle.Caps
	own     heddle.Caps // of them, without an agent
	agent   *agent      // beside it; nil for none
	refused int         // updates that it did not make, since it registered
	apps    []*app      // that ran here and are not cleaned up
	seen    heddle.Time // last report
	last    *NodeBeat
	every   heddle.Span // what it was told last

	conts   []*container
	waiting int                           // of them that it has not reported
	parked  int                           // of them that are to be parked
	weighed int                           // of them that were weighed
	unsaid  *unsaid                       // of what was made of them; nil for nothing so far
	killed  map[ids.Container]heddle.Time // told to be killed, and when; end not yet reported; nil for none so far
	forget  []ids.Container               // with the next report's answer
	leave   []ids.App                     // likewise: applications that it is to clean up after
	orders  *orders                       // likewise; nil for none

	nodeUse, contUse Utilization

	names    []string // that lists of hosts may have for it
	rack     string
	http     string
	version  string
	total    heddle.Resource
	physical heddle.Resource // what the machine has, where it says
	health   string
	healthAt int64
	known    NodeRecord  // what the store is to hold of it; zero for nothing
	kept     NodeRecord  // what it was told of that
	keeping  bool        // it is yet to hear of it
	deadline heddle.Time // of a graceful decommission; never for none
	timer    timer
	returns  returns
	stale    bool // not as views show it
}

// orders are what a node is to do.
type orders struct {
	kill    []ids.Container
	update  []*container
	signals []Signal
	resize  bool
}

// order is what the node is to do, to be added to.
func (n *node) order() *orders {
	if n.orders == nil {
		n.orders = &orders{}
	}
	return n.orders
}

// nodeUp puts a node into the core, with so much to give.
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

// closed reports whether nothing more is to start on a node that is up.
func (n *node) closed() bool { return n.silent || n.state == nodeDecommissioning }

// tellCloses has the core know whether something may start on a node.
func (m *Machine) tellCloses(n *node) { m.step(heddle.NodeSilent{Node: n.nid, Silent: n.closed()}) }

// resizeNode changes what a node of the core has to give.
func (m *Machine) resizeNode(n *node, total heddle.Resource) {
	if m.core.View().Node(n.nid).Total() != total {
		m.step(heddle.NodeResized{Node: n.nid, Total: total})
	}
}

// nodeDown takes a node out of the core: everything on it is over.
func (m *Machine) nodeDown(n *node, to nodeState) {
	n.become(to)
	m.staleNode(n)
	m.cameBack(n)
	switch to {
	case nodeLost:
		m.keepNode(n, m.today())
	case nodeShutdown, nodeDecommissioned:
		m.dropNode(n)
	case nodeNew, nodeRunning, nodeUnhealthy, nodeDecommissioning, nodeRebooted: // it comes again
	}
	if !n.up {
		return
	}
	n.up, n.silent = false, false
	m.ending = textLost
	m.step(heddle.NodeDown{Node: n.nid})
	m.ending = ""
	m.forgetTokens(n)
	m.tellNode(n, Unusable)
}

// nodeNews is what became of a node.
type nodeNews struct {
	n   *node
	how NodeChange
}

// tellNode has every running master told what became of a node.
func (m *Machine) tellNode(n *node, how NodeChange) {
	for _, t := range m.current() {
		if t.registered() && !t.state.isOver() {
			t.updated[n.id] = nodeNews{n, how}
		}
	}
}

// forgetTokens has every master given a new token for a node with its next container there.
func (m *Machine) forgetTokens(n *node) {
	for _, t := range m.current() {
		t.tokens.Remove(int32(n.nid))
	}
}

// addNode makes a node that was never seen, or one that moved to another rack.
func (m *Machine) addNode(id ids.Node, rack, from string) *node {
	n := &node{
		id: id, nid: heddle.NodeID(len(m.nodes)), rack: rack, deadline: never,
	}
	host, back := m.hostName(id), false
	if old := m.byNode[id]; old != nil {
		m.unlocated(old)
		n.returns = old.returns
		n.killed = old.killed // what was given up on it is so still
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

// replaced forgets the nodes of a host that are gone for good: its NodeManager has come back on another port.
func (m *Machine) replaced(id ids.Node) { m.forgetNodes(id, (*node).gone) }

// forgetNodes forgets those nodes of a host that are what it says.
func (m *Machine) forgetNodes(id ids.Node, these func(*node) bool) {
	host := m.hostName(id)
	m.hosts[host] = slices.DeleteFunc(m.hosts[host], func(n *node) bool {
		forget := these(n)
		if forget {
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

// gone reports whether a node went, and may come back.
func (n *node) gone() bool {
	return n.state == nodeLost || n.state == nodeRebooted || n.state == nodeShutdown
}

// goneLong reports whether a node went so long ago that it is forgotten.
func (m *Machine) goneLong(n *node) bool {
	since := m.now.Since(n.seen)
	if lost := n.known.Lost; lost > 0 { // perhaps before the start
		since = heddle.Span(m.today()-lost) * heddle.Millisecond
	}
	return n.gone() && m.byNode[n.id] == n && since > goneLife
}

// hostName is what masters call a node in what they ask for.
func (m *Machine) hostName(id ids.Node) string {
	if m.cfg.PortInNodeName {
		return id.String()
	}
	return id.Host
}

// clean has a node clean up after an application, with the next report's answer.
func (n *node) clean(id ids.App) { n.leave = append(n.leave, id) }

// acknowledge lets a node forget a container that ended.
func (n *node) acknowledge(id ids.Container) {
	if n.state.active() {
		n.forget = append(n.forget, id)
	}
}

// unkill notes that a container that was perhaps to be killed has ended.
func (n *node) unkill(id ids.Container) {
	if n.killed != nil {
		delete(n.killed, id)
	}
}

// kill has a container killed on its node: with the next report, or when the node registers again.
func (m *Machine) kill(n *node, id ids.Container) {
	if n.killed == nil {
		n.killed = map[ids.Container]heddle.Time{}
	}
	n.killed[id] = m.now
	n.order().kill = append(n.order().kill, id)
	m.timers.by(&n.timer, n, m.now.Plus(m.cfg.ContainerExpiry))
}
