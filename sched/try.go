package sched

import (
	"heddle"
	"heddle/policy"
)

// try checks whether the node may serve one of the application's asks, and serves it.
func (c *Core) try(l *lane, a *policy.App, o *offer) (outcome, policy.Skip) {
	if o.n != nil && a.Excludes(o.n.ID()) {
		c.local = true
		return c.refuse(a, nil, o, policy.No(heddle.NodeExcluded)), policy.SkipApp
	}
	gated := true
	for _, k := range a.Asks() {
		if k.Count() == 0 || &c.lanes[c.laneOf[k.Kind()]] != l {
			continue
		}
		if o.barred[k.Kind()] {
			gated = false
			continue
		}
		if (c.picks[k.Kind()] == nil) != (o.n != nil) {
			if open, skip := c.passBy(a, k, o); open {
				gated = false
				if skip == policy.SkipQueue {
					return nothing, skip
				}
			}
			continue
		}
		var r outcome
		d := c.gate(a, k)
		if d.OK() {
			gated = false
			r, d = c.serve(a, k, o)
		}
		if r != nothing {
			return r, policy.SkipAsk
		}
		c.refuse(a, k, o, d)
		switch d.Skip {
		case policy.SkipAsk:
		case policy.SkipKind:
			o.barred[k.Kind()] = true
		default:
			return nothing, d.Skip
		}
	}
	if gated {
		c.gated = append(c.gated, gatedApp{a.ID(), c.laneIndex(l)})
	}
	return nothing, policy.SkipApp
}

func (c *Core) laneIndex(l *lane) int {
	for i := range c.lanes {
		if &c.lanes[i] == l {
			return i
		}
	}
	panic("sched: lane of another core")
}

// gate returns whether the gates let the application start another container of the ask's kind.
func (c *Core) gate(a *policy.App, k *policy.Ask) policy.Verdict {
	for _, g := range c.set.Gate[k.Kind()] {
		if d := g.Open(c.v, a, k.Kind()); !d.OK() {
			return policy.No(d.Why)
		}
	}
	return policy.Yes
}

// serve takes one ask through share, place, trim and room to a grant or a reservation.
func (c *Core) serve(a *policy.App, k *policy.Ask, o *offer) (outcome, policy.Verdict) {
	if o.full && c.blind[k.Kind()] && !c.v.Fits(c.set.Book.Floor(c.v, k.Size()), o.n.Free()) {
		c.local = true
		return nothing, policy.NoApp(heddle.NoRoom)
	}
	allowed := c.allow(a, k.Kind(), k.Size())
	if !allowed.OK() {
		return nothing, allowed
	}
	n := o.n
	if n == nil {
		var ok bool
		if n, ok = c.pick(k, o); !ok {
			return nothing, policy.NoApp(heddle.NoRoom)
		}
		if d := c.picked(a, k, n); !d.OK() {
			return nothing, d
		}
	}
	at, near := k.Nearest(n)
	if !near {
		c.local = true
		return nothing, policy.No(heddle.StrictElsewhere)
	}
	room := n.Room(a)
	if o.beside != nil {
		if room = n.Free(); !c.fills(k, o.beside, o.by) {
			c.local = true
			return nothing, policy.No(heddle.NodeReserved)
		}
	}
	limit := c.trimmed(k, n, room)
	fits := c.v.Fits(limit, room)
	if !fits && c.set.Book == nil && o.n != nil {
		c.local = true
		return nothing, policy.NoApp(heddle.NoRoom)
	}
	if o.n != nil { // otherwise the place has named it
		d := c.judge(k, n, at)
		if !d.OK() {
			c.local, o.places = true, true
			return nothing, d
		}
		if d.Far {
			at = heddle.OffSwitch
		}
	}
	if !fits {
		c.local = true
		return c.reserve(a, k, n, at, o, allowed.Unbook)
	}
	if o.look {
		o.found, o.named = k, n
		return granted, policy.Yes
	}
	if o.n == nil && c.overtakes(n, o) {
		return nothing, policy.No(heddle.NotPicked)
	}
	if d := c.makeWay(a, k, allowed.Unbook); !d.OK() {
		c.local = true
		return nothing, d
	}
	c.grant(k, n, at, limit, o)
	return granted, policy.Yes
}

// trimmed returns the limit with which a container of the ask would start on a node where it may take room.
func (c *Core) trimmed(k *policy.Ask, n *policy.Node, room heddle.Resource) heddle.Resource {
	if t := c.set.Trim[k.Kind()]; t != nil {
		return carried(n, k.App(), k.Kind(), k.Size(), t.Trim(c.v, k, n, room))
	}
	return k.Size()
}

// fills reports whether a container of the ask may run beside a reservation until by. The ask that waits for the
// reserved node itself does not fit there.
func (c *Core) fills(k *policy.Ask, reservation *policy.Container, by heddle.Time) bool {
	return k != reservation.Ask() && c.filler.Fill(c.v, k, by)
}

// allow asks every share. A yes with Unbook holds only if a reservation elsewhere is given up first.
func (c *Core) allow(a *policy.App, kind heddle.Kind, need heddle.Resource) policy.Verdict {
	out := policy.Yes
	for _, s := range c.set.Share {
		d := s.Allow(c.v, a, kind, need)
		if !d.OK() {
			return d
		}
		out.Unbook = out.Unbook || d.Unbook
	}
	return out
}

// judge asks every policy that may refuse an offered node; the kind's Place decides last.
func (c *Core) judge(k *policy.Ask, n *policy.Node, at heddle.Locality) policy.Verdict {
	for _, p := range c.set.Veto[k.Kind()] {
		if d := p.Judge(c.v, k, n, at); !d.OK() {
			return d
		}
	}
	if p := c.set.Place[k.Kind()]; p != nil {
		return p.Judge(c.v, k, n, at)
	}
	return policy.Yes
}

// pick asks a policy for its node, once for a round and the look before it.
func (c *Core) pick(k *policy.Ask, o *offer) (n *policy.Node, ok bool) {
	if k == o.found {
		return o.named, true
	}
	id, ok := c.picks[k.Kind()].Pick(c.v, k)
	return c.v.Node(id), ok
}

// picked returns whether a node that a policy named can be used.
func (c *Core) picked(a *policy.App, k *policy.Ask, n *policy.Node) policy.Verdict {
	l := &c.lanes[c.laneOf[k.Kind()]]
	switch {
	case n == nil || !n.Up():
		return policy.NoApp(heddle.NodeGone)
	case n.Silent():
		return policy.NoApp(heddle.Silent)
	case a.Excludes(n.ID()):
		return policy.NoApp(heddle.NodeExcluded)
	case n.Booked() != nil && !n.BookedFor(k):
		return policy.NoApp(heddle.NodeReserved)
	case l.filled(n):
		return policy.NoApp(heddle.NotPicked)
	}
	return policy.Yes
}

// passBy looks at an ask that this walk does not serve, because its policy names its node and the walk is for a node,
// or the other way round. Applications behind it must not take what its queue is short of for it, nor, in a walk for
// asks whose policies name their nodes, room that has just come free. open reports whether the gates let it start a
// container.
func (c *Core) passBy(a *policy.App, k *policy.Ask, o *offer) (open bool, skip policy.Skip) {
	if o.passed.covers(a, k) && (o.n != nil || o.waits && c.v.Fits(o.least, c.set.Minimum)) {
		return true, policy.SkipAsk
	}
	if !c.gate(a, k).OK() {
		return false, policy.SkipAsk
	}
	if d := c.allow(a, k.Kind(), k.Size()); !d.OK() {
		c.refuse(a, k, o, d)
		return true, d.Skip
	}
	if a.Bookings() == 0 {
		o.passed = passed{queue: a.Queue(), size: k.Size()}
	}
	if o.n == nil {
		need := k.Size()
		if b := c.set.Book; b != nil && b.Beside(c.v, k) { // it could reserve the node
			need = need.Min(b.Floor(c.v, need))
		}
		o.ahead(need)
	}
	return true, policy.SkipAsk
}

// passed is a size that the shares allowed an application without reservations in this walk. An ask of the same queue
// that wants no more has no reason to end the queue's walk either, so the shares need not be asked about a thousand
// waiting applications.
type passed struct {
	queue *policy.Queue
	size  heddle.Resource
}

func (p *passed) covers(a *policy.App, k *policy.Ask) bool {
	return p.queue == a.Queue() && k.Size().Fits(p.size)
}

// ahead records that an application which waits for nodes to report goes before those whose policies name their nodes,
// and how little room on a node matters to it.
func (o *offer) ahead(need heddle.Resource) {
	if !o.waits {
		o.waits, o.least = true, need
		return
	}
	o.least = o.least.Min(need)
}

// beat is a node's heartbeat interval: yarn.resourcemanager.nodemanagers.heartbeat-interval-ms.
const beat = heddle.Second

// overtakes reports whether a container on a named node would take room that has just come free from an application
// that goes first and is served when the node reports. The attempt is repeated after that.
func (c *Core) overtakes(n *policy.Node, o *offer) bool {
	if !o.waits || !c.v.Fits(o.least, n.Free()) || int(n.ID()) >= len(c.freed) {
		return false
	}
	until := c.freed[n.ID()].Plus(beat)
	if c.v.Now() >= until {
		return false
	}
	if c.retry == 0 || until < c.retry {
		c.retry = until
	}
	return true
}

// frees records that room came free on a node.
func (c *Core) frees(n *policy.Node) {
	if !c.picking {
		return
	}
	for int(n.ID()) >= len(c.freed) {
		c.freed = append(c.freed, -heddle.Time(beat))
	}
	c.freed[n.ID()] = c.v.Now()
}

// keeps reports whether a reservation of the node for an ask would be kept.
func (c *Core) keeps(k *policy.Ask, n *policy.Node) bool {
	return c.set.Book == nil || c.set.Book.Keep(c.v, k, n)
}

// reserve reserves the node for an ask that it could hold if it were emptier.
func (c *Core) reserve(a *policy.App, k *policy.Ask, n *policy.Node, at heddle.Locality, o *offer, unbook bool) (outcome, policy.Verdict) {
	switch {
	case !c.v.Fits(k.Size(), n.Total()):
		return nothing, policy.No(heddle.NodeTooSmall)
	case n.Booked() != nil:
		return nothing, policy.NoApp(heddle.NodeReserved)
	case unbook:
		return nothing, policy.NoApp(heddle.NoRoom)
	case o.n == nil:
		if k.Bookings() >= k.Count() {
			return nothing, policy.No(heddle.HoldsBooking)
		}
		if !c.keeps(k, n) {
			return nothing, policy.NoApp(heddle.NoRoom)
		}
	case !c.set.Book.Reserve(c.v, k, n):
		if c.filler != nil { // others could run beside a reservation, so they can also run if there is none
			return nothing, policy.No(heddle.NoRoom)
		}
		return nothing, policy.NoApp(heddle.NoRoom)
	}
	if o.look {
		o.found, o.named = k, n
		return booked, policy.Yes
	}
	x := c.c.Book(k, n, at)
	c.tell(policy.Reserved, x)
	c.counts.Bookings++
	c.out = append(c.out, c.arena.books.put(heddle.Book{Container: x.ID(), App: a.ID(), Node: n.ID()}))
	c.version++
	c.touch(a)
	return booked, policy.Yes
}

// makeWay gives up a reservation elsewhere if the grant depends on it: because a limit counts reservations, or because
// the ask holds as many as it still wants.
func (c *Core) makeWay(a *policy.App, k *policy.Ask, limit bool) policy.Verdict {
	full := k.Bookings() > 0 && c.set.Book != nil && !c.set.Book.Beside(c.v, k)
	if !limit && !full {
		return policy.Yes
	}
	need, of := k.Size(), (*policy.Container).Limit
	if limit {
		need, of = heddle.Resource{}, (*policy.Container).Reserves
		for _, s := range c.set.Share {
			need = need.Max(s.Unbook(c.v, a, k.Size()))
		}
	}
	if x := c.bookingOf(k, need, of); x != nil {
		c.unbook(x)
		return policy.Yes
	}
	return policy.NoApp(heddle.HoldsBooking)
}

// bookingOf returns a reservation of the ask for which of returns at least need, on the node with the lowest id.
func (c *Core) bookingOf(k *policy.Ask, need heddle.Resource, of func(*policy.Container) heddle.Resource) *policy.Container {
	if k.Bookings() == 0 {
		return nil
	}
	for i := range c.v.NodeIDs() {
		n := c.v.Node(heddle.NodeID(i))
		if n == nil || !n.BookedFor(k) {
			continue
		}
		if c.v.Fits(need, of(n.Booked())) {
			return n.Booked()
		}
	}
	return nil
}

func (c *Core) unbook(x *policy.Container) {
	c.out = append(c.out, c.arena.unbooks.put(heddle.Unbook{Container: x.ID(), App: x.App().ID(), Node: x.Node().ID()}))
	a := x.App()
	c.c.Unbook(x)
	c.tell(policy.Unreserved, x)
	c.version++
	c.touch(a)
}

func (c *Core) grant(k *policy.Ask, n *policy.Node, at heddle.Locality, limit heddle.Resource, o *offer) {
	a, told := k.App(), k.Size()
	far := at == heddle.OffSwitch
	give := c.c.Grant
	if o.beside != nil {
		give = c.c.Fill
	}
	x := give(k, n, at, told, limit)
	if x.Kind() == heddle.AM {
		c.c.AcquireMaster(x)
	}
	c.tell(policy.Granted, x)
	c.counts.Grants++
	o.grants++
	o.taken = o.taken.Plus(limit)
	if far {
		o.far++
	}
	l := c.arena.launches.next()
	*l = heddle.Launch{
		Container: x.ID(), App: a.ID(), Node: n.ID(), Kind: x.Kind(), Priority: k.Priority(), AllocID: k.AllocID(),
		At: at, Told: told, Limit: limit,
	}
	c.out = append(c.out, l)
	c.version++
	c.touch(a)
}

// refuse records why an ask was not served.
func (c *Core) refuse(a *policy.App, k *policy.Ask, o *offer, d policy.Verdict) outcome {
	c.counts.Refusals++
	s := &c.notes[a.ID()]
	s.refused[d.Why]++
	s.last = refusal{why: d.Why, at: c.v.Now(), node: heddle.NoNode, ask: -1}
	if o.n != nil {
		s.last.node = o.n.ID()
	}
	if k != nil {
		s.last.ask = int32(k.ID())
	}
	return nothing
}

// fulfil serves the reservation of a node, or gives it up; done ends the node's offer. A reservation passed every limit
// in the size in which it was made: an ask of another size has to pass them again. (Hadoop waits for room for the new
// size, then grants a container of the old one, which nothing asks for any more.)
func (c *Core) fulfil(n *policy.Node) (done bool) {
	x := n.Booked()
	k := x.Ask()
	at, allowed := k.Nearest(n)
	if k.Count() == 0 || k.Size() != x.Limit() || !allowed || x.App().Excludes(n.ID()) || !c.keeps(k, n) {
		c.unbook(x)
		return c.set.Beat.StopAtBook
	}
	d := policy.Yes
	if p := c.set.Place[k.Kind()]; p != nil {
		d = p.Judge(c.v, k, n, at)
	}
	room := n.Room(x.App())
	limit := c.trimmed(k, n, room)
	switch {
	case !c.v.Fits(limit, room):
		c.c.Rebook(x)
		return true
	case !d.OK() || x.Beside() > 0 && !c.both(x, limit):
		return true
	case d.Far:
		at = heddle.OffSwitch
	}
	c.grant(k, n, at, limit, &offer{n: n})
	return true
}

// both reports whether the limits allow a reservation to be served while what was let in beside it still runs.
func (c *Core) both(x *policy.Container, limit heddle.Resource) bool {
	c.discount(x)
	defer c.recount(x)
	defer c.as(c.v)
	c.v = c.v.AsExplaining()
	if !c.entered(x.App().Queue()) {
		return false
	}
	d := c.allow(x.App(), x.Kind(), limit)
	return d.OK() && !d.Unbook
}
