package rm

import (
	"slices"
	"strings"

	"heddle"
)

// HostLists names the hosts whose NodeManagers may join, and those whose NodeManagers may not.
type HostLists struct {
	Include, Exclude map[string]bool
	Timeouts         map[string]heddle.Span // of excluded hosts that do not have that of a graceful RefreshNodes
}

// admits reports whether the NodeManagers of a host, given its name and addresses, may join. An empty include list
// admits all.
func (l *HostLists) admits(names []string) bool {
	in := func(list map[string]bool) bool {
		return slices.ContainsFunc(names, func(n string) bool { return list[n] })
	}
	return (len(l.Include) == 0 || in(l.Include)) && (len(l.Exclude) == 0 || !in(l.Exclude))
}

// mayAdmit is admits for a host whose addresses are unknown: the lists may name an address instead of the host.
func (l *HostLists) mayAdmit(host string) bool {
	if l.admits([]string{host}) {
		return true
	}
	for listed := range l.Include { // order: any of them
		if !l.Exclude[host] && (strings.Contains(listed, ":") || strings.Trim(listed, "0123456789.") == "") {
			return true
		}
	}
	return false
}

// timeout returns how long what runs on a host, given its name and addresses, may take to end when the host leaves
// gracefully; below 0 means as long as it takes.
func (l *HostLists) timeout(names []string, otherwise heddle.Span) heddle.Span {
	for _, n := range names {
		if own, ok := l.Timeouts[n]; ok {
			return own
		}
	}
	return otherwise
}

// refreshNodes replaces the host lists.
func (m *Machine) refreshNodes(q *RefreshNodes) {
	m.listed = q.Lists
	for _, n := range m.nodes {
		admitted := m.listed.admits(n.names)
		switch {
		case admitted && n.state == nodeDecommissioning:
			m.staleNode(n)
			n.become(nodeRunning)
			n.deadline = never
			m.resizeNode(n, n.total)
			m.tellCloses(n)
			m.tellNode(n, Usable)
		case admitted && n.state == nodeDecommissioned:
			m.staleNode(n)
			n.become(nodeShutdown) // may register again
		case n.awaited && !m.listed.mayAdmit(n.id.Host):
			m.nodeDown(n, nodeDecommissioned)
		case admitted || !n.state.active():
		case q.Graceful && (n.state == nodeRunning || n.state == nodeDecommissioning):
			m.staleNode(n)
			n.deadline = never
			if timeout := m.listed.timeout(n.names, q.Timeout); timeout >= 0 {
				n.deadline = m.now.Plus(timeout)
			}
			if n.state == nodeRunning {
				n.become(nodeDecommissioning)
				m.tellCloses(n)
				m.resizeNode(n, m.usedOn(n))
			}
			m.watchNode(n)
			m.tellNode(n, Decommissioning)
		case !q.Graceful:
			m.nodeDown(n, nodeDecommissioned)
		}
	}
}

// drained removes a decommissioning node once nothing runs there. Until then the cluster counts only what still runs.
func (m *Machine) drained(n *node) {
	if len(n.conts) == 0 && len(n.apps) == 0 {
		m.nodeDown(n, nodeDecommissioned)
		return
	}
	m.resizeNode(n, m.usedOn(n))
}

// resize changes what a node offers. Its NodeManager learns of it in the answer to its next heartbeat.
func (m *Machine) resize(q *ResizeNode) error {
	n := m.byNode[q.Node]
	switch {
	case n == nil || !n.state.active():
		return &NotFound{"active node " + q.Node.String()}
	case !plausible(q.Total) || q.Total[heddle.Memory] == 0 || q.Total[heddle.CPU] == 0:
		return invalid(classYarn, "a node cannot offer %s; expected some memory and vcores", m.text(q.Total))
	}
	m.staleNode(n)
	n.total, n.order().resize = q.Total, true
	if n.up && n.state == nodeRunning {
		m.step(heddle.NodeResized{Node: n.nid, Total: q.Total})
	}
	return nil
}
