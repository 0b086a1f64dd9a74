package rm

import (
	"slices"

	"heddle"
)

// comeback is what of before the start is waited for.
type comeback struct {
	known   int // nodes that were there and not lost
	missing int // of them, those that have not come back
	unread  int // applications whose submissions are being read
}

// goneLife is for how long a node that is gone is remembered. Of one that is lost it begins with the loss.
const goneLife = 7 * 24 * heddle.Hour

// tolerated is one in how many nodes need not be back before the scheduler begins. In a large cluster some are always
// down, and one that does not come would have all others wait for as long as is allowed.
const tolerated = 20

// enough reports whether enough nodes are back.
func (c *comeback) enough() bool { return c.missing*tolerated <= c.known }

// Awaited is how many NodeManagers of before the start have not come back, and how many there were.
func (m *Machine) Awaited() (missing, known int) { return m.back.missing, m.back.known }

// recallNodes takes over the nodes of before the start. Those that were lost stay so; the others are lost if they do not
// register within the expiry of nodes.
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

// cameBack notes that a node of before the start is waited for no more.
func (m *Machine) cameBack(n *node) {
	if n.awaited {
		n.awaited = false
		m.back.missing--
	}
}

// keeping is which nodes the store is yet to hear of. One that changes is written at once, and whatever changes within
// keepApart after that together: nobody waits for it, and whoever makes up NodeManagers would have the disk write all the time.
type keeping struct {
	nodes []*node // in the order in which they changed first; the store may know some by now as they are
	from  heddle.Time
	timer timer
}

// keepApart is the least time between two writings of nodes.
const keepApart = heddle.Second / 4

// keepNode has the store know a node, lost at a date or 0.
func (m *Machine) keepNode(n *node, lost int64) {
	n.known = NodeRecord{ID: n.id, Rack: n.rack, HTTP: n.http, Lost: lost}
	m.writeNode(n)
}

// dropNode has the store know a node no more.
func (m *Machine) dropNode(n *node) {
	n.known = NodeRecord{}
	m.writeNode(n)
}

// writeNode has the store hear of a node, if there is something to hear.
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

// writeNodes has the store hear of the nodes that changed.
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

// Settle is what is to be done before the machine is given up, where there is time: the store hears of all nodes.
func (m *Machine) Settle() []Effect {
	m.writeNodes()
	return m.done()
}

// expire has the store hear of what changed since it heard of nodes.
func (k *keeping) expire(m *Machine) heddle.Time {
	m.writeNodes()
	return never
}
