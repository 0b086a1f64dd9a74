package cluster

import (
	"slices"

	"heddle"
)

// State is where a container is in its life cycle. The last five states are final.
type State uint8

// The states of a container, as in YARN's RMContainer.
const (
	Created State = iota
	Reserved
	Allocated
	Acquired
	Running
	Completed
	Expired
	Released
	Killed

	NumStates = 9
)

// String returns YARN's name for the state.
func (s State) String() string {
	return [NumStates]string{"NEW", "RESERVED", "ALLOCATED", "ACQUIRED", "RUNNING", "COMPLETED", "EXPIRED", "RELEASED", "KILLED"}[s]
}

// next holds, for every state, the states that may follow.
var next = [NumStates]uint16{
	Created:   1<<Reserved | 1<<Allocated | 1<<Running, // found running
	Reserved:  1<<Allocated | 1<<Killed | 1<<Released,
	Allocated: 1<<Acquired | 1<<Killed | 1<<Expired | 1<<Released,
	Acquired:  1<<Running | 1<<Completed | 1<<Expired | 1<<Released | 1<<Killed,
	Running:   1<<Completed | 1<<Released | 1<<Killed,
}

// CanBecome reports whether a container in state s may go to state t.
func (s State) CanBecome(t State) bool { return next[s]>>t&1 == 1 }

// Ended reports whether s is final.
func (s State) Ended() bool { return s >= Completed }

// A Container is a grant, or a reservation that waits to become one. The object is reused after the container ends:
// hold its id, not the pointer.
type Container struct {
	// Most of the memory that the core touches is containers. Each takes two cache lines; the fields that every event
	// uses are in the first.
	id         heddle.ContainerID
	app        *App
	node       *Node
	ask        *Ask
	slot       int32 // in the slab
	kind       heddle.Kind
	state      State
	at         heddle.Locality
	phase      heddle.Phase
	suspended  bool
	frozen     bool  // suspended, and not running at all
	fulfils    bool  // was a reservation before its grant
	strict     bool  // its ask ruled out the rack's nodes that it did not name
	found      bool  // counted in App.found
	borrowed   int64 // milli-vcores taken from its application's pool on the node
	nextUnseen *Container

	limit   heddle.Resource
	granted heddle.Time
	started heddle.Time
	lent    int64 // milli-vcores given to the pool by suspension
	seldom  *seldom
}

// seldom holds what few containers have. If it is nil, the application was told the limit.
type seldom struct {
	told             heddle.Resource
	cpuUsed, memUsed int64
	fraction         float64
	lacks            heddle.Caps // abilities of its node that do not work on it

	// Of a reservation: the containers let in beside it, and the part of its size that does not count meanwhile.
	beside  []beside
	covered heddle.Resource
}

// beside is a container that runs beside the reservation on a reserved node, with the smallest size it has had: what it
// gave back belongs to the reservation.
type beside struct {
	id   heddle.ContainerID
	size heddle.Resource
}

func (c *Container) rare() *seldom {
	if c.seldom == nil {
		c.seldom = &seldom{told: c.limit}
	}
	return c.seldom
}

// ID returns the container's id.
func (c *Container) ID() heddle.ContainerID { return c.id }

// Slot returns a small number that no other live container has, so data about containers can be kept in a slice indexed
// by it. After the container ends, another one may get the number.
func (c *Container) Slot() int { return int(c.slot) }

// App returns the application it belongs to.
func (c *Container) App() *App { return c.app }

// Node returns the node it is on.
func (c *Container) Node() *Node { return c.node }

// Can reports whether its node can do all of what to it.
func (c *Container) Can(what heddle.Caps) bool {
	return c.node.Can(what) && (c.seldom == nil || c.seldom.lacks&what == 0)
}

// Ask returns the ask it answers. For a container that was found running, it is the ask it once answered.
func (c *Container) Ask() *Ask { return c.ask }

// Kind returns what the container is for.
func (c *Container) Kind() heddle.Kind { return c.kind }

// State returns where the container is in its life cycle.
func (c *Container) State() State { return c.state }

// At returns how near the container is to where it was asked for.
func (c *Container) At() heddle.Locality { return c.at }

// Told returns the size its application was told.
func (c *Container) Told() heddle.Resource {
	if c.seldom == nil {
		return c.limit
	}
	return c.seldom.told
}

// Limit returns the size its node enforces. The books count limits.
func (c *Container) Limit() heddle.Resource { return c.limit }

// Granted returns when the container was granted or reserved.
func (c *Container) Granted() heddle.Time { return c.granted }

// Fulfils reports whether it was a reservation before it was granted.
func (c *Container) Fulfils() bool { return c.fulfils }

// Started returns when its node began to run it, or 0 if it has not.
func (c *Container) Started() heddle.Time { return c.started }

// Reserves returns how much of a reservation counts: its size less what was let in beside it. The two never occupy the
// node at once.
func (c *Container) Reserves() heddle.Resource {
	if c.seldom == nil {
		return c.limit
	}
	return c.limit.Minus(c.seldom.covered)
}

// Beside returns how many containers let in beside a reservation are running.
func (c *Container) Beside() int {
	if c.seldom == nil {
		return 0
	}
	return len(c.seldom.beside)
}

// LetIn reports whether a container was let in beside a reservation.
func (c *Container) LetIn(id heddle.ContainerID) bool { return c.letIn(id) != nil }

// letIn returns the container with an id that was let in beside a reservation, or nil if there is none.
func (c *Container) letIn(id heddle.ContainerID) *beside {
	if c.seldom == nil {
		return nil
	}
	i := slices.IndexFunc(c.seldom.beside, func(b beside) bool { return b.id == id })
	if i < 0 {
		return nil
	}
	return &c.seldom.beside[i]
}

// Stuck reports whether the container may be unable to end before others of its application start: a master whose
// application waits for containers, or a reduce whose job still waits for maps.
func (c *Container) Stuck() bool {
	switch c.kind {
	case heddle.AM:
		return !c.app.Pending().IsZero()
	case heddle.Reduce:
		return c.app.Waiting(heddle.Map) > 0
	default:
		return false
	}
}

// Suspended reports whether the container lends its processors.
func (c *Container) Suspended() bool { return c.suspended }

// Frozen reports whether the container is suspended and does not run at all meanwhile.
func (c *Container) Frozen() bool { return c.frozen }

// Progress returns the phase last reported for the container and how far it is, from 0 to 1.
func (c *Container) Progress() (heddle.Phase, float64) {
	if c.seldom == nil {
		return c.phase, 0
	}
	return c.phase, c.seldom.fraction
}

// Usage returns what the container was last reported to use: thousandths of a processor of the machine, and MiB.
func (c *Container) Usage() (cpu, memory int64) {
	if c.seldom == nil {
		return 0, 0
	}
	return c.seldom.cpuUsed, c.seldom.memUsed
}

func (c *Container) become(t State) {
	if !c.state.CanBecome(t) {
		panic("cluster: container cannot go from " + c.state.String() + " to " + t.String())
	}
	c.state = t
}

// Grant gives one container of an ask on a node. told is the size the application is told; limit is what the node
// enforces and the books count. The ask's count falls by one. If the node is reserved for the ask, the reservation is
// fulfilled and keeps its container id.
func (c *Cluster) Grant(k *Ask, n *Node, at heddle.Locality, told, limit heddle.Resource) *Container {
	b := n.booked
	switch {
	case b == nil:
		return c.give(c.slab.new(), k, n, at, told, limit)
	case b.ask != k:
		panic("cluster: grant on a node reserved for another ask")
	}
	c.unbook(b)
	b.fulfils = true
	return c.give(b, k, n, at, told, limit)
}

// Fill is Grant on a node that is reserved for another ask and stays reserved. [Cluster.Recount] must follow.
func (c *Cluster) Fill(k *Ask, n *Node, at heddle.Locality, told, limit heddle.Resource) *Container {
	if n.booked == nil || n.booked.ask == k {
		panic("cluster: the node is not reserved for another ask")
	}
	x := c.give(c.slab.new(), k, n, at, told, limit)
	r := n.booked.rare()
	r.beside = append(r.beside, beside{x.id, limit})
	return x
}

// Discount makes a reservation count for nothing until [Cluster.Recount].
func (c *Cluster) Discount(x *Container) { c.cover(x, x.limit) }

// Recount makes a reservation count for its size less the containers let in beside it.
func (c *Cluster) Recount(x *Container) {
	var sum heddle.Resource
	if x.seldom != nil {
		for i := range x.seldom.beside {
			sum = sum.Plus(x.seldom.beside[i].size)
		}
	}
	c.cover(x, sum.Min(x.limit))
}

// cover makes the given part of a reservation not count.
func (c *Cluster) cover(x *Container, much heddle.Resource) {
	if x.seldom == nil && much.IsZero() {
		return
	}
	r := x.rare()
	c.addBooked(x, r.covered.Minus(much))
	r.covered = much
}

// give makes x a container of the ask.
func (c *Cluster) give(x *Container, k *Ask, n *Node, at heddle.Locality, told, limit heddle.Resource) *Container {
	a := k.app
	a.passed = c.now
	x.become(Allocated)
	x.app, x.node, x.ask, x.kind, x.at = a, n, k, k.kind, at
	x.limit, x.granted = limit, c.now
	if told != limit || x.seldom != nil {
		x.rare().told = told
	}
	c.borrow(x)
	x.strict = at != heddle.OffSwitch && k.RackStrict(n.rack)
	c.take(k, n, at)
	if x.kind != heddle.AM {
		x.nextUnseen, a.unseen = a.unseen, x
		k.unseen++
	}
	c.enlist(x)
	if !c.Fits(heddle.Resource{}, n.Free()) {
		panic("cluster: grant does not fit the node")
	}
	c.touched(n)
	return x
}

// Adopt takes over a container that a node was found running for an application and that has been held for age. It is
// charged to no ask and bound by no limit: the node may then hold more than it has. Its locality is not examined.
func (c *Cluster) Adopt(a *App, n *Node, kind heddle.Kind, priority int32, alloc int64, size heddle.Resource, age heddle.Span) *Container {
	x := c.slab.new()
	x.become(Running)
	x.app, x.node, x.ask, x.kind, x.at = a, n, c.ask(a, priority, kind, alloc, size, true), kind, heddle.OffSwitch
	x.limit, x.granted, x.started = size, c.now.Plus(-age), c.now.Plus(-age)
	c.enlist(x)
	n.full = !c.Fits(heddle.Resource{}, n.Free())
	c.touched(n)
	return x
}

// SetFound marks a container that was found running, and that no former core handed over.
func (c *Cluster) SetFound(x *Container) {
	x.found = true
	x.app.found[x.kind]++
}

// Found reports whether the container is marked as found; see [App.Found].
func (c *Container) Found() bool { return c.found }

// countUnserved updates the number of unserved applications after a change to a; was is whether it was unserved before.
func (c *Cluster) countUnserved(a *App, was bool) {
	switch is := a.Unserved(); {
	case is && !was:
		c.unserved++
	case was && !is:
		c.unserved--
	}
}

// enlist adds a container to every list and sum that counts what it holds.
func (c *Cluster) enlist(x *Container) {
	a, n := x.app, x.node
	n.kinds[x.kind]++
	n.count++
	c.slab.push(onNode, &n.first, x.slot)
	c.slab.push(ofApp, &a.first, x.slot)
	unserved := a.Unserved()
	a.running[x.kind]++
	c.countUnserved(a, unserved)
	a.begun = a.begun || x.kind != heddle.AM
	if x.kind == heddle.AM {
		if a.master != nil {
			panic("cluster: second master")
		}
		a.master = x
	}
	c.hold(x, &x.limit)
}

// borrow takes from the application's pool the part of x's processors that the node does not have free.
func (c *Cluster) borrow(x *Container) {
	short := x.limit[heddle.CPU] - x.node.Free()[heddle.CPU]
	if short <= 0 || !x.node.lends {
		return
	}
	for i := range x.node.pools {
		if p := &x.node.pools[i]; p.app == x.app {
			x.borrowed = max(0, min(short, p.suspended-p.borrowed))
			p.borrowed += x.borrowed
			x.node.over += x.borrowed
		}
	}
}

// hold adds d to every sum that includes what x holds.
func (c *Cluster) hold(x *Container, d *heddle.Resource) {
	a := x.app
	add(&x.node.used, d)
	add(&a.used, d)
	add(&a.user.used, d)
	for q := a.queue; q != nil; q = q.parent {
		add(&q.used, d)
		if x.kind == heddle.AM {
			add(&q.masters, d)
		}
	}
}

// add sets r to r + d in place: every event updates sums up the tree, and copies would cost more than the additions.
func add(r, d *heddle.Resource) {
	r[0] += d[0]
	r[1] += d[1]
	r[2] += d[2]
	r[3] += d[3]
}

// Acquire marks every granted container of an application as fetched by its master.
func (c *Cluster) Acquire(a *App) {
	for x := a.unseen; x != nil; {
		x.become(Acquired)
		x.ask.unseen--
		x, x.nextUnseen = x.nextUnseen, nil
	}
	a.unseen = nil
}

// AcquireMaster marks the master's container as taken over by the resource manager itself.
func (c *Cluster) AcquireMaster(x *Container) { x.become(Acquired) }

// Start marks a container as running on its node.
func (c *Cluster) Start(x *Container) {
	x.become(Running)
	x.started = c.now
}

// End ends a container: to is Completed, Expired, Released or Killed. A grant that its master has not fetched goes back
// to its ask.
func (c *Cluster) End(x *Container, to State, status heddle.ExitStatus) {
	a, n := x.app, x.node
	back := x.state == Allocated && x.kind != heddle.AM
	well := to == Completed && status == heddle.Success || x.kind == heddle.Executor && x.state == Running
	x.become(to)
	if well {
		a.ended[x.kind].add(c.now.Since(x.granted))
		c.ended[x.kind].add(c.now.Since(x.granted))
	} else if x.found {
		a.found[x.kind]--
	}
	if back {
		c.forgetUnseen(x)
		x.ask.unseen--
		if c.asks[x.ask.id] == x.ask {
			c.putBack(x)
		}
	}
	if x.suspended {
		c.thaw(x)
	}
	if x.borrowed > 0 {
		c.repay(x)
	}
	gone := x.limit.Times(-1)
	c.hold(x, &gone)
	n.kinds[x.kind]--
	n.count--
	unserved := a.Unserved()
	a.running[x.kind]--
	c.countUnserved(a, unserved)
	if x.kind == heddle.AM {
		a.master = nil
	}
	c.slab.unlink(onNode, &n.first, x.slot)
	c.slab.unlink(ofApp, &a.first, x.slot)
	if b := n.booked; b != nil && b.LetIn(x.id) {
		b.seldom.beside = slices.DeleteFunc(b.seldom.beside, func(o beside) bool { return o.id == x.id })
		c.Recount(b)
	}
	c.slab.drop(x)
	c.settle(n)
	n.full = n.full && !c.Fits(heddle.Resource{}, n.Free())
	c.touched(n)
}

func (c *Cluster) forgetUnseen(x *Container) {
	for p := &x.app.unseen; *p != nil; p = &(*p).nextUnseen {
		if *p == x {
			*p = x.nextUnseen
			return
		}
	}
}

// putBack returns to the ask what an unfetched grant took from it.
func (c *Cluster) putBack(x *Container) {
	k, n := x.ask, x.node
	if x.at == heddle.NodeLocal {
		if k.hosts == nil {
			k.hosts = map[heddle.NodeID]int32{}
		}
		k.hosts[n.id]++
	}
	if x.at != heddle.OffSwitch {
		left, strict := int32(k.AtRack(n.rack)), x.strict
		if left > 0 { // what was asked of the rack since then takes precedence
			strict = k.RackStrict(n.rack)
		}
		k.setRack(n.rack, left+1, strict)
	}
	c.setCount(k, k.count+1)
}

// Book reserves a node for one container of an ask; at is how near the container would be to where it was asked for.
func (c *Cluster) Book(k *Ask, n *Node, at heddle.Locality) *Container {
	if n.booked != nil {
		panic("cluster: node reserved twice")
	}
	if int(k.count) <= 0 || !c.Fits(k.size, n.total) {
		panic("cluster: reservation nobody asked for, or that never fits")
	}
	x := c.slab.new()
	x.become(Reserved)
	x.app, x.node, x.ask, x.kind, x.at, x.granted = k.app, n, k, k.kind, at, c.now
	x.limit = k.size
	n.booked = x
	k.bookings++
	k.app.bookings++
	k.rebooked = 0
	c.addBooked(x, x.limit)
	return x
}

// Rebook counts an offer of the reserved node that could not fulfil the reservation.
func (c *Cluster) Rebook(x *Container) { x.ask.rebooked++ }

// Unbook gives up a reservation.
func (c *Cluster) Unbook(x *Container) {
	c.unbook(x)
	x.become(Killed)
	c.slab.drop(x)
}

func (c *Cluster) unbook(x *Container) {
	if x.node.booked != x {
		panic("cluster: not the node's reservation")
	}
	x.node.booked = nil
	c.touched(x.node)
	x.ask.bookings--
	x.app.bookings--
	x.ask.rebooked = 0
	c.addBooked(x, x.Reserves().Times(-1))
	if x.seldom != nil {
		x.seldom.beside, x.seldom.covered = nil, heddle.Resource{}
	}
}

// addBooked adds d to every sum that includes what x reserves.
func (c *Cluster) addBooked(x *Container, d heddle.Resource) {
	x.app.booked = x.app.booked.Plus(d)
	x.app.user.booked = x.app.user.booked.Plus(d)
	for q := x.app.queue; q != nil; q = q.parent {
		q.booked = q.booked.Plus(d)
	}
}

// SetLimit changes what a node enforces for a container, and updates the books. The caller ensures that the node has
// room and holds no more than it has.
func (c *Cluster) SetLimit(x *Container, limit heddle.Resource) {
	if c.ForceLimit(x, limit); x.node.full {
		panic("cluster: limit beyond the node")
	}
}

// ForceLimit is SetLimit for a limit that a container has in any case: the node may then hold more than it has.
func (c *Cluster) ForceLimit(x *Container, limit heddle.Resource) {
	x.rare() // keeps the size the application was told
	d := limit.Minus(x.limit)
	c.hold(x, &d)
	x.limit = limit
	x.node.relend(x)
	c.settle(x.node)
	x.node.full = !c.Fits(heddle.Resource{}, x.node.Free())
	c.touched(x.node)
	if b := x.node.booked; b != nil {
		if o := b.letIn(x.id); o != nil {
			o.size = o.size.Min(limit)
			c.Recount(b)
		}
	}
}

// relend makes a container lend exactly what it has, and borrow no more than that.
func (n *Node) relend(x *Container) {
	for i := range n.pools {
		p := &n.pools[i]
		if p.app != x.app {
			continue
		}
		has := x.limit[heddle.CPU]
		if x.suspended {
			p.suspended += has - x.lent
			x.lent = has
		}
		if back := x.borrowed - has; back > 0 {
			x.borrowed -= back
			p.borrowed -= back
			n.over -= back
		}
	}
}

// Suspend makes a running container lend its processors: they go to its application's pool on the node.
func (c *Cluster) Suspend(x *Container) {
	if x.suspended || x.state != Running {
		panic("cluster: container suspended that does not run")
	}
	x.suspended, x.lent = true, x.limit[heddle.CPU]
	for i := range x.node.pools {
		if p := &x.node.pools[i]; p.app == x.app {
			p.suspended += x.lent
			return
		}
	}
	x.node.pools = append(x.node.pools, pool{app: x.app, suspended: x.lent})
	x.node.lends = true
	c.pools++
}

// SetUnable adds to what a container's node cannot do to it.
func (c *Cluster) SetUnable(x *Container, what heddle.Caps) { x.rare().lacks |= what }

// SetAble takes from what a container's node cannot do to it.
func (c *Cluster) SetAble(x *Container, what heddle.Caps) { x.rare().lacks &^= what }

// Freeze records that a suspended container does not run at all.
func (c *Cluster) Freeze(x *Container) {
	if !x.suspended {
		panic("cluster: container frozen that is not suspended")
	}
	x.frozen = true
}

// Resume ends a container's suspension. What others borrowed meanwhile stays with them until they end, or until the
// node has as much free.
func (c *Cluster) Resume(x *Container) {
	if !x.suspended {
		panic("cluster: container resumed that is not suspended")
	}
	c.thaw(x)
	c.settle(x.node)
	c.touched(x.node)
}

// thaw takes what a suspended container lends out of its pool.
func (c *Cluster) thaw(x *Container) {
	x.suspended, x.frozen = false, false
	for i := range x.node.pools {
		if p := &x.node.pools[i]; p.app == x.app {
			p.suspended -= x.lent
			x.lent = 0
			c.dropPool(x.node, i)
			return
		}
	}
}

// settle uses free processors to pay back what was borrowed from containers that have since resumed or ended: a loan
// with no lender left is ordinary use.
func (c *Cluster) settle(n *Node) {
	if !n.lends {
		return
	}
	for i := len(n.pools) - 1; i >= 0; i-- {
		p := &n.pools[i]
		due := min(p.borrowed-p.suspended, n.Free()[heddle.CPU])
		for x := c.slab.at(n.first); x != nil && due > 0; x = c.slab.after(onNode, x) {
			if x.app == p.app && x.borrowed > 0 {
				d := min(due, x.borrowed)
				x.borrowed -= d
				p.borrowed -= d
				n.over -= d
				due -= d
			}
		}
		c.dropPool(n, i)
	}
}

func (c *Cluster) repay(x *Container) {
	for i := range x.node.pools {
		if p := &x.node.pools[i]; p.app == x.app {
			p.borrowed -= x.borrowed
			x.node.over -= x.borrowed
			x.borrowed = 0
			c.dropPool(x.node, i)
			return
		}
	}
}

// dropPool removes a pool that no container lends to or borrows from.
func (c *Cluster) dropPool(n *Node, i int) {
	if p := n.pools[i]; p.suspended == 0 && p.borrowed == 0 {
		n.pools = append(n.pools[:i], n.pools[i+1:]...)
		n.lends = len(n.pools) > 0
		c.pools--
	}
}

// SetProgress records how far a container is.
func (c *Cluster) SetProgress(x *Container, p heddle.Phase, fraction float64) {
	x.phase, x.rare().fraction = p, fraction
}

// SetNodeUsed records what a node's containers use together of its machine, what others use, and what is unused.
func (c *Cluster) SetNodeUsed(n *Node, cpu, others, idle int64) {
	n.cpuUsed, n.cpuOthers, n.cpuIdle = cpu, others, idle
}

// SetDiskBusy records for how many thousandths of the time a node's disks were busy; negative if unknown.
func (c *Cluster) SetDiskBusy(n *Node, busy int64) { n.diskBusy = busy }

// AddPeak records the peak memory of an application's task that ended.
func (c *Cluster) AddPeak(a *App, k heddle.Kind, memory int64) {
	a.peak[k] = max(a.peak[k], memory)
}

// SetUsage records what a container used recently.
func (c *Cluster) SetUsage(x *Container, cpu, memory int64) {
	x.rare().cpuUsed, x.rare().memUsed = cpu, memory
}
