package sched

import (
	"heddle"
	"heddle/policy"
)

// outcome is the result of a walk.
type outcome uint8

const (
	nothing outcome = iota
	granted
	booked
)

// An offer is one node's heartbeat or, without a node, a round for the asks whose policies name their nodes.
type offer struct {
	n      *policy.Node
	tries  int
	grants int
	far    int // grants off their rack or without a place
	taken  heddle.Resource
	half   heddle.Resource
	one    bool                  // one container at most: other nodes are offered for it too
	full   bool                  // the node has no room for any ask: it can only be reserved
	barred [heddle.NumKinds]bool // no container of the kind starts on the node
	passed passed

	// For a reserved node: the reservation, and the time by which what is let in beside it must be gone.
	beside *policy.Container
	by     heddle.Time
	places bool // the place refused some ask the node, which another offer of it may change

	// For a round without a node: whether an application that goes first waits for nodes to report, and the least room
	// that matters to it.
	waits bool
	least heddle.Resource
	look  bool         // only find what would be granted or reserved
	found *policy.Ask  // the ask found
	named *policy.Node // the node found
}

// heartbeat offers a node to the waiting applications.
func (c *Core) heartbeat(id heddle.NodeID) {
	if n := c.v.Node(id); n != nil && n.Up() && !n.Silent() {
		c.report(n)
		c.tellNode(policy.NodeReported, n)
	}
}

// report offers a node that reported.
func (c *Core) report(n *policy.Node) {
	if n.Booked() != nil {
		if done := c.fulfil(n); done {
			c.fill(n)
			return
		}
	}
	if c.idle() {
		c.counts.EmptyOffers++
		return
	}
	free := n.Free()
	roomy := n.Lends() || c.roomy(&free)
	if !roomy && !c.bookable(&free) {
		c.counts.EmptyOffers++
		return
	}
	o := offer{n: n, full: c.set.Book != nil && !roomy, half: half(&free)}
	c.serveNode(&o)
	if o.grants == 0 && !c.local && o.tries <= c.set.Beat.Applications {
		c.quiet = c.version
	}
}

func half(r *heddle.Resource) heddle.Resource {
	return heddle.Resource{r[0] / 2, r[1] / 2, r[2] / 2, r[3] / 2}
}

// fill offers the free part of a node that is still reserved to containers that are expected to be gone in time.
func (c *Core) fill(n *policy.Node) {
	x, free := n.Booked(), n.Free()
	if c.filler == nil || x == nil || !c.roomy(&free) || c.shut(n.ID()) == c.version {
		return
	}
	by, ok := c.filler.Until(c.v, x)
	if !ok || by <= c.v.Now() {
		return
	}
	o := offer{n: n, beside: x, by: by, half: half(&free)}
	c.discount(x)
	c.serveNode(&o)
	c.recount(x)
	if o.grants == 0 && !o.places && o.tries <= c.set.Beat.Applications {
		c.shuts[n.ID()] = c.version
	}
}

// shut returns the version at which an offer beside a node's reservation let no container in, and no place refused the
// node. Time alone does not let in an application that the policy refused; others are let in a little later than they
// could be.
func (c *Core) shut(id heddle.NodeID) uint64 {
	for int(id) >= len(c.shuts) {
		c.shuts = append(c.shuts, 0)
	}
	return c.shuts[id]
}

// discount makes a reservation count for nothing: what is let in beside it takes its place, since the two never occupy
// the node at once.
func (c *Core) discount(x *policy.Container) {
	c.c.Discount(x)
	c.tell(policy.Recounted, x)
}

// recount makes a reservation count for the part not covered by what is let in beside it.
func (c *Core) recount(x *policy.Container) {
	c.c.Recount(x)
	c.recounted(x)
}

// recounted tells listeners that a reservation counts for a different amount than before.
func (c *Core) recounted(x *policy.Container) {
	c.tell(policy.Recounted, x)
	c.touchQueues(x.App().Queue())
}

// serveNode gives waiting applications what the node has for them, within the limits of one offer.
func (c *Core) serveNode(o *offer) {
	c.counts.Offers++
	c.local = false
	for r := c.round(o); r != nothing; r = c.round(o) {
		c.gated = c.gated[:0] // a grant may have opened their gates
		o.barred, o.passed = [heddle.NumKinds]bool{}, passed{}
		if !c.more(o, r) || !c.worth(o.n) {
			c.local = true
			break
		}
	}
	c.suspendGated()
}

// suspendGated stops serving the applications found behind closed gates until a gate may have opened.
func (c *Core) suspendGated() {
	for _, d := range c.gated {
		if a := c.v.App(d.app); a != nil {
			c.sleep(&c.lanes[d.lane], a)
		}
	}
	c.gated = c.gated[:0]
}

// worth reports whether an offer of the node could bring a grant or a reservation to a waiting application.
func (c *Core) worth(n *policy.Node) bool {
	free := n.Free()
	return n.Lends() && c.waited() || c.roomy(&free) || c.bookable(&free)
}

// roomy reports whether the smallest ask of some lane fits into free.
func (c *Core) roomy(free *heddle.Resource) bool {
	for i := range c.lanes {
		if l := &c.lanes[i]; l.active > 0 && c.v.Fits(c.least(l), *free) {
			return true
		}
	}
	return false
}

// bookable reports whether a node with this much free room could be reserved.
func (c *Core) bookable(free *heddle.Resource) bool {
	if c.set.Book == nil {
		return false
	}
	for i := range c.lanes {
		if l := &c.lanes[i]; l.active > 0 && c.v.Fits(c.set.Book.Floor(c.v, l.largest), *free) {
			return true
		}
	}
	return false
}

// more reports whether the offer goes on after a grant or reservation.
func (c *Core) more(o *offer, r outcome) bool {
	b := &c.set.Beat
	switch {
	case r == booked || o.one || o.n.Booked() != o.beside:
		return false
	case b.OffSwitch > 0 && o.far >= b.OffSwitch,
		b.Containers > 0 && o.grants >= b.Containers,
		b.HalfFree && !o.taken.Fits(o.half):
		c.counts.BeatLimit++
		return false
	}
	return true
}

// round walks the lanes until one container is granted or one node reserved.
func (c *Core) round(o *offer) outcome {
	for i := range c.lanes {
		l := &c.lanes[i]
		if l.active == 0 {
			continue
		}
		if o.n != nil && l.filled(o.n) {
			c.local = true
			continue
		}
		c.settle(l)
		if r := c.walk(l, c.v.Root(), o); r != nothing {
			return r
		}
	}
	return nothing
}

// filled reports whether a node holds as many containers of the lane as it may.
func (l *lane) filled(n *policy.Node) bool {
	most := l.Of(n)
	if most == 0 {
		return false
	}
	sum := 0
	for _, k := range l.Kinds {
		sum += n.Running(k)
	}
	return sum >= most
}

// walk goes down the queue tree in order.
func (c *Core) walk(l *lane, q *policy.Queue, o *offer) outcome {
	for _, s := range c.set.Share {
		if d := s.Enter(c.v, q); !d.OK() {
			c.counts.Refusals++
			return nothing
		}
	}
	waiting := &l.queues[q.ID()].waiting
	for _, b := range waiting.blocks { // they do not change as long as nothing is decided
		for i := range b {
			if !q.Leaf() {
				if r := c.walk(l, c.v.Queue(heddle.QueueID(b[i].id)), o); r != nothing {
					return r
				}
				continue
			}
			if o.tries++; o.tries > c.set.Beat.Applications {
				c.counts.TriesLimit++
				return nothing
			}
			a := c.v.App(heddle.AppID(b[i].id))
			r, skip := c.try(l, a, o)
			if r != nothing {
				return r
			}
			if skip == policy.SkipQueue {
				return nothing
			}
		}
	}
	return nothing
}
