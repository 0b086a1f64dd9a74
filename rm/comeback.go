package rm

import (
	"slices"

	"heddle"
)

// comeback counts what is awaited from before the restart.
type comeback struct {
	known   int // nodes that were known and not lost
	missing int // of those, nodes that have not come back
	unread  int // applications whose submissions are being read
}

// goneLife is how long a node that is gone is remembered. For a lost node it begins with the loss.
const goneLife = 7 * 24 * heddle.Hour

// tolerated says that one in so many nodes need not be back before scheduling begins. In a large cluster some nodes are
// always down, and waiting for one that does not return would delay all others for as long as is allowed.
const tolerated = 20

// enough reports whether enough nodes are back.
func (c *comeback) enough() bool { return c.missing*tolerated <= c.known }

// Awaited returns how many NodeManagers from before the restart have not come back, and how many there were.
func (m *Machine) Awaited() (missing, known int) { return m.back.missing, m.back.known }

// recallNodes recovers the nodes from before the restart. Lost nodes stay lost; the others are lost if they do not
// register within the node expiry.
func (m *Machine) recallNodes(list []NodeRecord) {
	list = slices.Clone(list)
	slices.SortFunc(list, func(a, b NodeRecord) int { return a.ID.Compare(b.ID) })
	var drop []Change
	for _, r := range list {
		old := r.Lost > 0 && m.began-r.Lost > int64(goneLife/heddle.Millisecond)
		if old || !m.listed.mayAdmit(r.ID.Host) || len(m.byNode) >= maxNodes {
			drop = append(drop, Change{DropNode: &r.ID})
			continue
		}
		n := m.addNode(r.ID, r.Rack, "")
		n.names, n.http, n.known, n.kept = []string{r.ID.Host}, r.HTTP, r, r
		if r.Lost > 0 {
			n.become(nodeLost)
			continue
		}
		n.awaited = true
		m.back.known++
		m.back.missing++
		m.awaitNode(n)
	}
	if len(drop) > 0 {
		m.commit(nil, drop...)
	}
}

// cameBack notes that a node from before the restart is no longer awaited.
func (m *Machine) cameBack(n *node) {
	if n.awaited {
		n.awaited = false
		m.back.missing--
	}
}

// keeping collects the nodes whose changes are not stored yet. The first change is written at once, and all changes
// within keepApart after it are written together: nobody waits for them, and a client that invents NodeManagers could
// otherwise keep the disk busy.
type keeping struct {
	nodes []*node // in the order of their first change; the store may already have some as they are
	from  heddle.Time
	timer timer
}

// keepApart is the least time between two writes of nodes.
const keepApart = heddle.Second / 4

// keepNode stores a node: lost is the date of its loss, or 0.
func (m *Machine) keepNode(n *node, lost int64) {
	n.known = NodeRecord{ID: n.id, Rack: n.rack, HTTP: n.http, Lost: lost}
	m.writeNode(n)
}

// dropNode removes a node from the store.
func (m *Machine) dropNode(n *node) {
	n.known = NodeRecord{}
	m.writeNode(n)
}

// writeNode stores a node, if it has changed.
func (m *Machine) writeNode(n *node) {
	k := &m.keeping
	if n.keeping || n.known == n.kept {
		return
	}
	n.keeping = true
	k.nodes = append(k.nodes, n)
	if m.now >= k.from {
		m.writeNodes()
		return
	}
	m.timers.by(&k.timer, k, k.from)
}

// writeNodes stores the nodes that changed.
func (m *Machine) writeNodes() {
	k := &m.keeping
	var changes []Change
	for _, n := range k.nodes {
		n.keeping = false
		switch {
		case n.known == n.kept:
			continue
		case n.known.ID.IsZero():
			changes = append(changes, Change{DropNode: new(n.id)})
		default:
			changes = append(changes, Change{Node: new(n.known)})
		}
		n.kept = n.known
	}
	clear(k.nodes)
	m.timers.stop(&k.timer)
	k.nodes, k.from = k.nodes[:0], m.now.Plus(keepApart)
	if len(changes) > 0 {
		m.commit(nil, changes...)
	}
}

// Settle returns what to do before the machine is given up, if there is time: it stores all changed nodes.
func (m *Machine) Settle() []Effect {
	m.writeNodes()
	return m.done()
}

// expire stores the nodes that changed since the last write.
func (k *keeping) expire(m *Machine) heddle.Time {
	m.writeNodes()
	return never
}
