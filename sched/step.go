package sched

import (
	"heddle"
	"heddle/cluster"
	"heddle/policy"
)

// Step applies one event and returns what is to be done. Times never go backwards. The decisions are valid until the
// next Step. Events about nodes, applications and containers that are gone are ignored: they crossed with the news of
// the end.
func (c *Core) Step(at heddle.Time, ev heddle.Event) []heddle.Decision {
	c.c.SetNow(at)
	if len(c.out) > 0 {
		c.out = c.out[:0]
		c.arena.reset()
	}
	c.counts.Steps++
	c.remade = c.remade[:0]
	before := c.version
	c.tick(at)
	switch e := ev.(type) {
	case heddle.Heartbeat:
		c.heartbeat(e.Node)
	case heddle.Acquire, heddle.Started, heddle.Progress, heddle.Profile, heddle.NodeUsed, heddle.NodeDisks:
		// News of running tasks cannot make possible what was refused before: a policy that depends on it reports
		// changes in a tick.
		c.apply(ev)
	case heddle.NodeSilent:
		if c.silence(e); !e.Silent {
			c.version++
		}
	case heddle.Offer:
		c.offerNow(e.App)
	case heddle.NodeUp, heddle.NodeDown, heddle.NodeResized:
		c.version++
		c.apply(ev)
		c.resizeMasters()
		c.rekey(true) // shares were worked out again
	default:
		c.version++
		c.apply(ev)
	}
	if c.version != before {
		c.revise()
		c.wakeNamed()
		if _, ok := ev.(heddle.Output); !ok || c.version != before+1 { // that alone makes no room, and is frequent
			c.offerPicks()
		}
	}
	return c.out
}

// tick runs the policies' periodic arithmetic that is due.
func (c *Core) tick(at heddle.Time) {
	for i := range c.tickers {
		t := &c.tickers[i]
		if at < t.next {
			continue
		}
		t.next = at + t.every - (at+t.every-t.phase)%t.every
		if t.t.Tick(c.v) {
			c.version++
			c.rekey(false)
		}
		c.wakeNamed()
	}
}

func (c *Core) apply(ev heddle.Event) {
	switch e := ev.(type) {
	case heddle.NodeUp:
		n := c.c.AddNode(e.Node, e.Rack, e.Total)
		c.c.SetCan(n, e.Can)
		c.tellNode(policy.NodeUp, n)
	case heddle.NodeCan:
		c.nodeCan(e)
	case heddle.NodeDown:
		c.nodeDown(e.Node)
	case heddle.NodeResized:
		c.resize(e)
	case heddle.Found:
		c.adopt(&e)
	case heddle.Submit:
		c.submit(e)
	case heddle.Attempt:
		if a := c.v.App(e.App); a != nil && a.Master() == nil {
			c.c.Exclude(a, nil) // the next master may go anywhere, and does not know what the last one excluded
			if e.Full {
				c.c.KeepMasters(a)
			}
			c.askMaster(a, e.Master, policy.AppRetried)
		}
	case heddle.Move:
		c.move(e)
	case heddle.Reprioritise:
		c.reprioritise(e)
	case heddle.Ask:
		c.ask(e)
	case heddle.Exclude:
		if a := c.v.App(e.App); a != nil {
			c.c.Exclude(a, e.Nodes)
			c.tellApp(policy.AppExcluded, a)
		}
	case heddle.Release:
		if x := c.v.Container(e.Container); x != nil && x.App().ID() == e.App && x.State() != cluster.Reserved && x.Kind() != heddle.AM {
			c.end(x, cluster.Released, heddle.Aborted, true)
		}
	case heddle.Acquire:
		if a := c.v.App(e.App); a != nil {
			c.c.Acquire(a)
		}
	case heddle.Started:
		if x := c.v.Container(e.Container); x != nil && x.State() == cluster.Acquired {
			c.c.Start(x)
			c.tell(policy.Started, x)
		}
	case heddle.Progress:
		if x := c.v.Container(e.Container); x != nil {
			c.c.SetProgress(x, e.Phase, e.Fraction)
			c.tell(policy.TaskProgress, x)
		}
	case heddle.Profile:
		if x := c.v.Container(e.Container); x != nil {
			c.c.SetUsage(x, e.CPU, e.Memory)
			c.tell(policy.TaskUsage, x)
		}
	case heddle.NodeUsed:
		if n := c.v.Node(e.Node); n != nil && n.Up() {
			c.c.SetNodeUsed(n, e.CPU, e.Others, e.Idle)
			c.tellNode(policy.NodeUsage, n)
		}
	case heddle.NodeDisks:
		if n := c.v.Node(e.Node); n != nil && n.Up() {
			c.c.SetDiskBusy(n, e.Busy)
			c.tellNode(policy.NodeDisks, n)
		}
	case heddle.TaskUsed:
		if a := c.v.App(e.App); a != nil {
			c.c.AddPeak(a, e.Kind, e.Memory)
		}
	case heddle.Output:
		if a := c.v.App(e.App); a != nil {
			c.c.AddOutput(a, e.Node, e.Bytes)
		}
	case heddle.Exit:
		c.exit(e)
	case heddle.AppDone:
		c.appDone(e.App)
	case heddle.Wake:
		if c.v.Now() >= c.retry { // asks whose policies name their nodes are tried again, as after every event of this kind
			c.retry = 0
		}
		c.control()
	case heddle.Refused:
		if x := c.v.Container(e.Container); x != nil && x.State() == cluster.Running && x.Limit() != e.Has {
			c.force(x, e.Has)
		}
	case heddle.Unable:
		if x := c.v.Container(e.Container); x != nil && x.State() == cluster.Running {
			c.unable(x, e.What)
		}
	case heddle.Able:
		if x := c.v.Container(e.Container); x != nil && x.State() == cluster.Running {
			c.c.SetAble(x, e.What)
		}
	case heddle.Heartbeat, heddle.Offer, heddle.NodeSilent: // handled elsewhere
	}
}

// submit accepts an application, or says why not.
func (c *Core) submit(e heddle.Submit) {
	if why := c.admit(&e); why != heddle.Fine {
		c.reject(e.App, why)
		return
	}
	a := c.c.Submit(e)
	c.out = append(c.out, c.arena.admits.put(heddle.Admit{App: e.App}))
	c.askMaster(a, e.Master, policy.AppAdded)
}

func (c *Core) admit(e *heddle.Submit) heddle.Why {
	if !c.leaf(e.Queue) {
		return heddle.NoSuchQueue
	}
	if e.Master.IsZero() { // it is already running, in a queue that may have been stopped since
		return heddle.Fine
	}
	if why := c.enters(e); why != heddle.Fine {
		return why
	}
	if _, ok := c.normalise(e.Master); !ok {
		return heddle.TooLarge
	}
	return heddle.Fine
}

// leaf reports whether the queue exists and takes applications.
func (c *Core) leaf(q heddle.QueueID) bool {
	return q >= 0 && int(q) < c.v.Queues() && c.v.Queue(q).Leaf()
}

// enters returns why a queue does not accept an application that is new or comes from another queue.
func (c *Core) enters(e *heddle.Submit) heddle.Why {
	if !c.leaf(e.Queue) {
		return heddle.NoSuchQueue
	}
	for _, s := range c.set.Share {
		if why := s.Admit(c.v, e); why != heddle.Fine {
			return why
		}
	}
	return heddle.Fine
}

func (c *Core) reject(app heddle.AppID, why heddle.Why) {
	c.out = append(c.out, c.arena.rejects.put(heddle.Reject{App: app, Why: why}))
}

// askMaster asks for the container of an application's master, and tells listeners why; a size of zero asks for none.
func (c *Core) askMaster(a *policy.App, size heddle.Resource, why policy.News) {
	if !size.IsZero() {
		c.wantMaster(a, size)
	}
	c.tellApp(why, a)
	c.touch(a)
}

// wantMaster puts the row for an application's master into its request table, in the size a policy gives it.
func (c *Core) wantMaster(a *policy.App, size heddle.Resource) {
	if c.set.Size[heddle.AM] != nil {
		for int(a.ID()) >= len(c.masters) {
			c.masters = append(c.masters, heddle.Resource{})
		}
		c.masters[a.ID()] = size
	}
	size, ok := c.normalise(c.sized(a, heddle.AM, size))
	if !ok { // an attempt asks for more than was accepted
		size = size.Min(c.set.Maximum)
	}
	c.setRow(a, heddle.Anywhere(0, heddle.AM, 1, size))
}

// sized returns what a policy makes of the requested size.
func (c *Core) sized(a *policy.App, k heddle.Kind, asked heddle.Resource) heddle.Resource {
	s := c.set.Size[k]
	if s == nil {
		return asked
	}
	return c.bounded(s.Size(c.v, a, k, asked), asked)
}

// bounded keeps what a policy adds to a size within the largest container and the largest node: a size that none could
// hold would wait forever.
func (c *Core) bounded(size, asked heddle.Resource) heddle.Resource {
	if !c.set.Maximum.IsZero() {
		size = size.Min(c.set.Maximum.Max(asked))
	}
	if c.v.Live() == 0 || size.Fits(asked) {
		return size
	}
	if size = size.Min(c.v.Largest().Max(asked)); !c.holdable(size) { // the largest dimensions are not those of one node
		size = size.Min(asked)
	}
	return size
}

// holdable reports whether some node could hold this much if it were empty.
func (c *Core) holdable(size heddle.Resource) bool {
	for i := range c.v.NodeIDs() {
		if n := c.v.Node(heddle.NodeID(i)); n != nil && n.Up() && c.v.Fits(size, n.Total()) {
			return true
		}
	}
	return false
}

// resizeMasters sizes again the waiting masters that, since the nodes changed, ask for more than any node could hold.
func (c *Core) resizeMasters() {
	if c.set.Size[heddle.AM] == nil || c.v.Live() == 0 {
		return
	}
	for i := range c.v.AppIDs() {
		a := c.v.App(heddle.AppID(i))
		if a == nil || a.Master() != nil || a.Waiting(heddle.AM) == 0 {
			continue
		}
		for _, k := range a.Asks() {
			if k.Kind() == heddle.AM && k.Count() > 0 && !k.Size().Fits(c.masters[i]) && !c.holdable(k.Size()) {
				c.resizeMaster(a)
				break
			}
		}
	}
}

// revise sizes waiting masters again if a policy has changed its decision about them.
func (c *Core) revise() {
	for _, s := range c.sizers {
		c.revised = s.Woken(c.v, c.revised[:0])
		for _, id := range c.revised {
			if a := c.v.App(id); a != nil && a.Master() == nil && a.Waiting(heddle.AM) > 0 {
				c.version++
				c.resizeMaster(a)
			}
		}
	}
}

// resizeMaster sizes a waiting master again.
func (c *Core) resizeMaster(a *policy.App) {
	was := a.Pending()
	c.wantMaster(a, c.masters[a.ID()])
	if a.Pending() != was {
		c.tellApp(policy.AppAsked, a)
	}
	c.touch(a)
	c.remade = append(c.remade, a.ID())
}

// MastersResized returns the applications whose masters wait and were sized again in the last step. The next step
// overwrites the slice.
func (c *Core) MastersResized() []heddle.AppID { return c.remade }

// normalise rounds a request up as YARN does, but not beyond the largest container or the largest node; ok is false if
// the request itself is above the largest container.
func (c *Core) normalise(r heddle.Resource) (_ heddle.Resource, ok bool) {
	r, step := r.Max(c.set.Minimum), c.set.Step
	if c.set.MemoryOnly {
		r[heddle.CPU], step[heddle.CPU] = heddle.CPU.Unit(), 0
	}
	limited, largest := !c.set.Maximum.IsZero(), c.v.Largest()
	if limited && !r.Fits(c.set.Maximum) {
		return r, false
	}
	rounded := r.RoundUp(step)
	for d := range rounded {
		if limited {
			rounded[d] = min(rounded[d], c.set.Maximum[d])
		}
		if r[d] <= largest[d] {
			rounded[d] = min(rounded[d], largest[d])
		}
	}
	return rounded, true
}

// keptAsks is the number of asks up to which an application's asks are kept even if they ask for nothing: what policies
// count for an ask then continues if it is asked for again.
const keptAsks = 100

// ask replaces rows. A row above the largest container is skipped and answered with a Reject.
func (c *Core) ask(e heddle.Ask) {
	a := c.v.App(e.App)
	if a == nil {
		return
	}
	c.c.SetAsked(a)
	for _, r := range e.Rows {
		if r.Count > 0 {
			r.Size = c.sized(a, r.Kind, r.Size)
		}
		size, ok := c.normalise(r.Size)
		if !ok && r.Count > 0 {
			c.reject(e.App, heddle.TooLarge)
			continue
		}
		r.Size = size
		c.setRow(a, r)
	}
	for i := len(a.Asks()) - 1; i >= 0; i-- {
		k := a.Asks()[i]
		if k.Count() == 0 && k.Bookings() == 0 && k.Unseen() == 0 && (k.AllocID() != 0 || len(a.Asks()) > keptAsks) {
			c.c.DropAsk(k)
		}
	}
	c.tellApp(policy.AppAsked, a)
	c.touch(a)
}

func (c *Core) setRow(a *policy.App, r heddle.Row) {
	if k := c.c.SetRow(a, r); k != nil && k.Count() > 0 {
		c.lanes[c.laneOf[k.Kind()]].measure(k)
	}
}

// exit handles a container's end on its node. The end of a master ends the attempt: all its containers are killed and
// its asks dropped; the driver sends Attempt or AppDone.
func (c *Core) exit(e heddle.Exit) {
	x := c.v.Container(e.Container)
	if x == nil || x.State() == cluster.Reserved {
		return
	}
	a, master := x.App(), x.Kind() == heddle.AM
	to := cluster.Completed
	if x.State() == cluster.Allocated {
		to = cluster.Killed
	}
	if told := x.Told(); (e.Status == heddle.KilledOverPhysical || e.Status == heddle.KilledOverVirtual) && x.Limit()[heddle.Memory] < told[heddle.Memory] {
		c.c.AddPeak(a, x.Kind(), told[heddle.Memory]) // it needed what was taken from it
	}
	c.end(x, to, e.Status, false)
	if master {
		c.clear(a, heddle.Aborted)
	}
}

// end ends a container; with tell, it also issues a Kill decision for the node.
func (c *Core) end(x *policy.Container, to cluster.State, status heddle.ExitStatus, tell bool) {
	a := x.App()
	if tell {
		c.out = append(c.out, c.arena.kills.put(heddle.Kill{Container: x.ID(), Status: status}))
	}
	k, unseen := x.Ask(), x.State() == cluster.Allocated
	reservation := x.Node().Booked()
	beside := reservation != nil && reservation.LetIn(x.ID())
	c.frees(x.Node())
	c.c.End(x, to, status)
	c.tellEnd(x, status)
	if beside {
		c.recounted(reservation)
	}
	if unseen && k.Count() > 0 { // it may be asked for again
		c.lanes[c.laneOf[k.Kind()]].measure(k)
		c.tellApp(policy.AppAsked, a)
	}
	c.touch(a)
}

// clear ends everything an application has: containers, asks and reservations.
func (c *Core) clear(a *policy.App, status heddle.ExitStatus) {
	for a.Bookings() > 0 {
		c.unbookOne(a)
	}
	for len(a.Asks()) > 0 {
		c.c.DropAsk(a.Asks()[len(a.Asks())-1])
	}
	for x := c.newest(a); x != nil; x = c.newest(a) {
		c.end(x, cluster.Killed, status, true)
	}
	c.touch(a)
}

func (c *Core) newest(a *policy.App) (first *policy.Container) {
	a.Each(func(x *policy.Container) bool { first = x; return false })
	return first
}

// unbookOne gives up one reservation of the application: the one on the node with the lowest id.
func (c *Core) unbookOne(a *policy.App) {
	for i := range c.v.NodeIDs() {
		if n := c.v.Node(heddle.NodeID(i)); n != nil && n.Booked() != nil && n.Booked().App() == a {
			c.unbook(n.Booked())
			return
		}
	}
	panic("sched: reservation not found")
}

func (c *Core) appDone(id heddle.AppID) {
	a := c.v.App(id)
	if a == nil {
		return
	}
	c.clear(a, heddle.KilledAfterCompletion)
	c.c.Finish(a)
	c.tellApp(policy.AppDone, a)
	c.touch(a)
	c.apps[id], c.notes[id] = appState{}, notes{}
}

func (c *Core) nodeDown(id heddle.NodeID) {
	n := c.v.Node(id)
	if n == nil || !n.Up() {
		return
	}
	if n.Booked() != nil {
		c.unbook(n.Booked())
	}
	for n.Containers() > 0 {
		var x *policy.Container
		n.Each(func(y *policy.Container) bool { x = y; return false })
		a, master := x.App(), x.Kind() == heddle.AM
		c.end(x, cluster.Killed, heddle.Aborted, true)
		if master {
			c.clear(a, heddle.Aborted)
		}
	}
	c.c.RemoveNode(n)
	c.tellNode(policy.NodeDown, n)
}
