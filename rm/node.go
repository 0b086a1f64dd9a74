package rm

import (
	"slices"
	"time"

	"heddle"
	"heddle/yarn/ids"
	"heddle/yarn/wire"
)

// A nodeState is what a NodeManager is, by YARN's names.
type nodeState string

const (
	nodeRunning         nodeState = "RUNNING"
	nodeUnhealthy       nodeState = "UNHEALTHY"
	nodeDecommissioning nodeState = "DECOMMISSIONING"
	nodeDecommissioned  nodeState = "DECOMMISSIONED"
	nodeLost            nodeState = "LOST"
	nodeRebooted        nodeState = "REBOOTED"
	nodeShutdown        nodeState = "SHUTDOWN"
)

const (
	maxNodes    = 100_000 // by host and port, those that are gone included
	maxHostName = 255     // characters, as DNS has it; of a version too
	maxSignals  = 1000    // for containers of a node between two reports
)

// active reports whether a node in this state reports in.
func (s nodeState) active() bool {
	return s == nodeRunning || s == nodeUnhealthy || s == nodeDecommissioning
}

// A node is a NodeManager.
type node struct {
	id       ids.Node
	nid      heddle.NodeID
	names    []string // that lists of hosts may have for it
	rack     string
	http     string
	version  string
	total    heddle.Resource
	physical heddle.Resource // what the machine has, where it says
	state    nodeState
	up       bool // in the core

	seen     time.Time // last report
	lastID   int32
	last     *wire.NodeHeartbeatResponse
	every    time.Duration // what it was told last
	health   string
	healthAt int64
	deadline time.Time // of a graceful decommission; zero for none
	timer    timer

	conts  map[ids.Container]*container
	killed map[ids.Container]time.Time // told to be killed, and when; end not yet reported
	apps   map[ids.App]bool            // that ran here and are not cleaned up

	// For the next report's answer.
	cleanup  map[ids.Container]bool
	forget   []ids.Container
	cleanApp map[ids.App]bool
	signals  []*wire.SignalContainerRequest
	resized  bool

	nodeUse, contUse Utilization
}

// nodeUp puts a node into the core, with so much to give.
func (r *RM) nodeUp(n *node, total heddle.Resource) {
	if n.up {
		return
	}
	n.up = true
	r.step(heddle.NodeUp{Node: n.nid, Rack: r.rackID(n.rack), Total: total})
	r.tellNode(n, wire.NodeUpdateType_NODE_USABLE)
}

// resizeNode changes what a node of the core has to give.
func (r *RM) resizeNode(n *node, total heddle.Resource) {
	if r.core.View().Node(n.nid).Total() != total {
		r.step(heddle.NodeResized{Node: n.nid, Total: total})
	}
}

// nodeDown takes a node out of the core: everything on it is over.
func (r *RM) nodeDown(n *node, to nodeState) {
	n.state = to
	if !n.up {
		return
	}
	n.up = false
	r.ending = textLost
	r.step(heddle.NodeDown{Node: n.nid})
	r.ending = ""
	r.forgetTokens(n)
	r.tellNode(n, wire.NodeUpdateType_NODE_UNUSABLE)
}

// nodeNews is what became of a node.
type nodeNews struct {
	n   *node
	how wire.NodeUpdateType
}

// tellNode has every running master told what became of a node.
func (r *RM) tellNode(n *node, how wire.NodeUpdateType) {
	for _, t := range r.current() {
		if t.registered() && !t.isOver() {
			t.updated[n.id] = nodeNews{n, how}
		}
	}
}

// forgetTokens has every master given a new token for a node with its next container there.
func (r *RM) forgetTokens(n *node) {
	for _, t := range r.current() {
		delete(t.tokens, n.id)
	}
}

// rackID is a rack's number.
func (r *RM) rackID(name string) heddle.RackID {
	id, ok := r.racks[name]
	if !ok {
		id = heddle.RackID(len(r.rackIDs))
		r.racks[name] = id
		r.rackIDs = append(r.rackIDs, name)
	}
	return id
}

// addNode makes a node that was never seen, or one that moved to another rack.
func (r *RM) addNode(id ids.Node, rack string) *node {
	n := &node{
		id: id, nid: heddle.NodeID(len(r.nodes)), rack: rack,
		conts: map[ids.Container]*container{}, killed: map[ids.Container]time.Time{}, apps: map[ids.App]bool{},
		cleanup: map[ids.Container]bool{}, cleanApp: map[ids.App]bool{},
	}
	if old := r.byNode[id]; old != nil {
		n.killed = old.killed // what was given up on it is so still
		for i, m := range r.hosts[r.hostName(id)] {
			if m == old {
				r.hosts[r.hostName(id)][i] = n
			}
		}
	} else {
		r.replaced(id)
		r.hosts[r.hostName(id)] = append(r.hosts[r.hostName(id)], n)
	}
	r.nodes = append(r.nodes, n)
	r.byNode[id] = n
	return n
}

// replaced forgets the nodes of a host that are gone for good: its NodeManager has come back on another port.
func (r *RM) replaced(id ids.Node) {
	host := r.hostName(id)
	r.hosts[host] = slices.DeleteFunc(r.hosts[host], func(n *node) bool {
		gone := n.state == nodeLost || n.state == nodeRebooted || n.state == nodeShutdown
		if gone {
			delete(r.byNode, n.id)
		}
		return gone
	})
}

// hostName is what masters call a node in what they ask for.
func (r *RM) hostName(id ids.Node) string {
	if r.cfg.PortInNodeName {
		return id.String()
	}
	return id.Host
}

// clean has a node clean up after an application, with the next report's answer.
func (n *node) clean(id ids.App) {
	n.cleanApp[id] = true
}

// kill has a container killed on its node: with the next report, or when the node registers again.
func (r *RM) kill(n *node, id ids.Container) {
	now := time.Now()
	n.killed[id] = now
	n.cleanup[id] = true
	r.watch(&n.timer, n, now.Add(r.cfg.ContainerExpiry))
}
