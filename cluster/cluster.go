// Package cluster is the state a scheduler decides on, as data: nodes and racks, the queue tree, users, applications
// with what they ask for, containers, reservations, and the sums over all of them.
//
// It only keeps the books: it knows no policy, makes no choice, and never refuses a valid call. Its mutating methods
// panic if a caller breaks an invariant; [Cluster.Check] recounts everything from the containers up.
package cluster

import "heddle"

// A Cluster is the whole state. Only the scheduler core holds one; everything else gets a [View].
type Cluster struct {
	now      heddle.Time
	nodes    []*Node
	live     int
	racks    [][]heddle.NodeID
	queues   []*Queue
	apps     []*App
	alive    int                    // applications that are not done
	unserved int                    // applications that ask for tasks and have none running
	ended    [heddle.NumKinds]ended // containers of any application that ended well

	total   heddle.Resource     // of live nodes
	largest heddle.Resource     // in each dimension, over live nodes
	ties    [heddle.NumDims]int // how many live nodes have that much
	counted [heddle.NumDims]bool
	slots   [heddle.NumKinds]Slots

	slab    slab
	asks    []*Ask // by ask id; nil if free
	freeAsk []int32
	index   *roomIndex
	pools   int // number of pools on all nodes
}

// New returns a cluster without nodes. parents holds the queue tree: for each queue the id of its parent, parents
// before children, and NoQueue for the root, which must be queue 0. memoryOnly makes every fit consider memory alone,
// as YARN's DefaultResourceCalculator does.
func New(parents []heddle.QueueID, memoryOnly bool) *Cluster {
	c := &Cluster{counted: [heddle.NumDims]bool{true, !memoryOnly, !memoryOnly, !memoryOnly}}
	for i, p := range parents {
		q := &Queue{id: heddle.QueueID(i)}
		if p != heddle.NoQueue {
			q.parent = c.queues[p]
			q.depth = q.parent.depth + 1
			q.parent.children = append(q.parent.children, q)
		}
		c.queues = append(c.queues, q)
	}
	return c
}

// View returns read access to the state. It is cheap to copy and stays valid as the state changes.
func (c *Cluster) View() View { return View{c: c} }

// SetNow sets the cluster's clock, which must not go backwards.
func (c *Cluster) SetNow(t heddle.Time) {
	if t < c.now {
		panic("cluster: time goes backwards")
	}
	c.now = t
}

// Fits reports whether need fits into room in every dimension that counts.
func (c *Cluster) Fits(need, room heddle.Resource) bool {
	if need[heddle.Memory] > room[heddle.Memory] {
		return false
	}
	return !c.counted[heddle.CPU] || (need[1] <= room[1] && need[2] <= room[2] && need[3] <= room[3])
}

// AddNode adds a node, or brings a lost one back.
func (c *Cluster) AddNode(id heddle.NodeID, rack heddle.RackID, total heddle.Resource) *Node {
	for int(id) >= len(c.nodes) {
		c.nodes = append(c.nodes, nil)
	}
	for int(rack) >= len(c.racks) {
		c.racks = append(c.racks, nil)
	}
	n := c.nodes[id]
	switch {
	case n == nil:
		n = &Node{id: id, rack: rack, slab: &c.slab}
		c.nodes[id] = n
		c.racks[rack] = append(c.racks[rack], id)
	case n.up:
		panic("cluster: node added twice")
	case n.rack != rack:
		panic("cluster: node moved to another rack")
	}
	n.up, n.full, n.silent, n.total = true, false, false, total
	n.cpuUsed, n.cpuOthers, n.cpuIdle, n.diskBusy = 0, 0, -1, -1
	c.live++
	c.total = c.total.Plus(total)
	c.measure(total)
	c.touched(n)
	return n
}

// SetCan records what a node can do to containers.
func (c *Cluster) SetCan(n *Node, can heddle.Caps) { n.can = can }

// SetSilent records whether a live node is silent: see [Node.Silent].
func (c *Cluster) SetSilent(n *Node, silent bool) {
	n.silent = silent
	c.touched(n)
}

// RemoveNode removes a node. Its containers must have ended and its reservation must have been given up.
func (c *Cluster) RemoveNode(n *Node) {
	if !n.up || n.first != 0 || n.booked != nil {
		panic("cluster: node removed that is down or in use")
	}
	n.up = false
	c.live--
	c.total = c.total.Minus(n.total)
	c.remeasure(n.total)
	c.touched(n)
}

// measure updates the largest totals with a node that offers total.
func (c *Cluster) measure(total heddle.Resource) {
	for d, most := range total {
		if most > c.largest[d] {
			c.largest[d], c.ties[d] = most, 0
		}
		if most == c.largest[d] {
			c.ties[d]++
		}
	}
}

// remeasure recomputes the largest totals if the node that offered total was the last to have one of them.
func (c *Cluster) remeasure(total heddle.Resource) {
	over := false
	for d, most := range total {
		if most == c.largest[d] {
			c.ties[d]--
			over = over || c.ties[d] == 0
		}
	}
	if !over {
		return
	}
	c.largest, c.ties = heddle.Resource{}, [heddle.NumDims]int{}
	for _, m := range c.nodes {
		if m != nil && m.up {
			c.measure(m.total)
		}
	}
}

// ResizeNode changes what a live node offers. The total may be less than the node's containers hold. A reservation that
// does not fit the new total must have been given up.
func (c *Cluster) ResizeNode(n *Node, total heddle.Resource) {
	if !n.up || n.booked != nil && !c.Fits(n.booked.limit, total) {
		panic("cluster: node resized that is down, or below its reservation")
	}
	c.total = c.total.Plus(total).Minus(n.total)
	was := n.total
	n.total = total
	c.measure(total)
	c.remeasure(was)
	c.settle(n)
	n.full = !c.Fits(heddle.Resource{}, n.Free())
	c.touched(n)
}

// Submit adds an application. It does not ask for anything yet.
func (c *Cluster) Submit(e heddle.Submit) *App {
	for int(e.App) >= len(c.apps) {
		c.apps = append(c.apps, nil)
	}
	if c.apps[e.App] != nil {
		panic("cluster: application submitted twice")
	}
	q := c.queues[e.Queue]
	if len(q.children) > 0 {
		panic("cluster: application in a queue with children")
	}
	a := &App{
		slab: &c.slab, id: e.App, queue: q, user: q.userOf(e.User), priority: e.Priority, framework: e.Framework,
		facts: e.Facts, submitted: c.now, lost: e.Past.Lost, begun: e.Past.Begun, found: e.Past.Found,
	}
	for k, t := range e.Past.Ended {
		a.ended[k] = ended{t.Count, t.Held}
		c.ended[k].count += t.Count
		c.ended[k].held += t.Held
	}
	c.apps[e.App] = a
	c.alive++
	a.user.count(1)
	q.apps = append(q.apps, a)
	return a
}

// Finish removes an application. Its containers must have ended, and it must have no asks and no reservations.
func (c *Cluster) Finish(a *App) {
	if a.first != 0 || len(a.asks) > 0 || a.bookings > 0 {
		panic("cluster: application finished that still holds or asks")
	}
	c.apps[a.id] = nil
	c.alive--
	a.user.count(-1)
	a.over = true
	q := a.queue
	for i, b := range q.apps {
		if b == a {
			q.apps = append(q.apps[:i], q.apps[i+1:]...)
			break
		}
	}
}

// Move puts an application into another leaf queue with all it holds and asks for. Its reservations must have been
// given up.
func (c *Cluster) Move(a *App, q *Queue) {
	if len(q.children) > 0 || a.bookings > 0 {
		panic("cluster: application moved to a queue with children, or with reservations")
	}
	c.charge(a, -1)
	for i, b := range a.queue.apps {
		if b == a {
			a.queue.apps = append(a.queue.apps[:i], a.queue.apps[i+1:]...)
			break
		}
	}
	a.queue, a.user = q, q.userOf(a.user.id)
	i := len(q.apps)
	for i > 0 && q.apps[i-1].after(a) {
		i--
	}
	q.apps = append(q.apps, nil)
	copy(q.apps[i+1:], q.apps[i:])
	q.apps[i] = a
	c.charge(a, 1)
}

// after reports whether a was submitted after b.
func (a *App) after(b *App) bool {
	return a.submitted > b.submitted || a.submitted == b.submitted && a.id > b.id
}

// charge adds what an application holds and asks for to its queues and its user; with sign −1 it subtracts it.
func (c *Cluster) charge(a *App, sign int) {
	used, pending := a.used.Times(int64(sign)), a.pending.Times(int64(sign))
	var masters heddle.Resource
	if a.master != nil {
		masters = a.master.limit.Times(int64(sign))
	}
	waiting := 0
	for _, k := range a.asks {
		if k.count > 0 {
			waiting += sign
		}
	}
	u := a.user
	u.count(sign)
	u.waiting += waiting
	add(&u.used, &used)
	for q := a.queue; q != nil; q = q.parent {
		add(&q.used, &used)
		add(&q.masters, &masters)
		add(&q.pending, &pending)
		q.waiting += waiting
	}
}

// SetPriority changes an application's priority; higher goes first.
func (c *Cluster) SetPriority(a *App, priority int32) { a.priority = priority }

// KeepMasters makes an application's masters keep the size requested for them from now on.
func (c *Cluster) KeepMasters(a *App) { a.facts.MasterHeap = 0 }

// SetAsked records that an application's master has said what it asks for.
func (c *Cluster) SetAsked(a *App) { a.asked = true }

// Exclude replaces the set of nodes on which an application wants nothing.
func (c *Cluster) Exclude(a *App, nodes []heddle.NodeID) {
	a.excluded = nil
	for _, n := range nodes {
		if a.excluded == nil {
			a.excluded = map[heddle.NodeID]bool{}
		}
		a.excluded[n] = true
	}
}

// AddOutput records that a node holds bytes more of the application's map output.
func (c *Cluster) AddOutput(a *App, n heddle.NodeID, bytes int64) {
	if a.outputAt == nil {
		a.outputAt = map[heddle.NodeID]int{}
	}
	i, ok := a.outputAt[n]
	if !ok {
		i = len(a.outputs)
		a.outputAt[n] = i
		a.outputs = append(a.outputs, Output{Node: n})
	}
	a.outputs[i].Bytes += bytes
}

// touched must be called after a node's free room has changed.
func (c *Cluster) touched(n *Node) {
	if c.index != nil {
		c.index.update(c, n)
	}
}
