package sched

import (
	"heddle"
	"heddle/policy"
)

// offerPicks serves the asks whose policies name their nodes.
func (c *Core) offerPicks() {
	if c.pickTry == c.version || !c.anyPick() {
		return
	}
	var o offer
	for c.lookPicks(&o) && c.round(&o) != nothing {
		c.gated = c.gated[:0]
	}
	c.suspendGated()
	c.pickTry = c.version
}

// anyPick reports whether there is any ask whose policy names its node.
func (c *Core) anyPick() bool {
	for i := range c.lanes {
		if c.lanes[i].queues[0].picks > 0 {
			return true
		}
	}
	return false
}

// lookPicks reports whether a round could serve any of the asks whose policies name their nodes, and prepares o for
// that round. Only then does the round walk all waiting applications, because those that go first may leave nothing for
// these asks. It may return true in vain, but never false wrongly.
func (c *Core) lookPicks(o *offer) bool {
	defer c.as(c.v)
	c.v = c.v.AsExplaining() // nothing of this walk is to be remembered
	*o = offer{look: true}
	for i := range c.lanes {
		l := &c.lanes[i]
		if l.queues[0].picks == 0 {
			continue
		}
		c.settle(l)
		if c.lookBelow(l, c.v.Root(), o) {
			o.look = false
			return true
		}
	}
	return false
}

// lookBelow goes down the queue tree in the order of a round, through queues that hold applications to look at.
func (c *Core) lookBelow(l *lane, q *policy.Queue, o *offer) bool {
	lq := &l.queues[q.ID()]
	if lq.picks == 0 {
		return false
	}
	list := &lq.waiting
	if q.Leaf() {
		if list = &lq.picking; !c.entered(q) {
			return false
		}
	}
	for _, b := range list.blocks {
		for i := range b {
			if !q.Leaf() {
				if c.lookBelow(l, c.v.Queue(heddle.QueueID(b[i].id)), o) {
					return true
				}
				continue
			}
			switch r, skip := c.lookAt(l, c.v.App(heddle.AppID(b[i].id)), o); {
			case r != nothing:
				return true
			case skip == policy.SkipQueue:
				return false
			}
		}
	}
	return false
}

// entered asks the shares about a queue and its ancestors, as at the start of a walk.
func (c *Core) entered(q *policy.Queue) bool {
	if p := q.Parent(); p != nil && !c.entered(p) {
		return false
	}
	for _, s := range c.set.Share {
		if !s.Enter(c.v, q).OK() {
			return false
		}
	}
	return true
}

// lookAt checks whether a round could serve one of the application's asks whose policies name their nodes.
func (c *Core) lookAt(l *lane, a *policy.App, o *offer) (outcome, policy.Skip) {
	for _, k := range a.Asks() {
		if k.Count() == 0 || c.picks[k.Kind()] == nil || &c.lanes[c.laneOf[k.Kind()]] != l {
			continue
		}
		d := c.gate(a, k)
		if d.OK() {
			var r outcome
			if r, d = c.serve(a, k, o); r != nothing {
				return r, policy.SkipAsk
			}
		}
		c.refuse(a, k, o, d)
		if d.Skip != policy.SkipAsk {
			return nothing, d.Skip
		}
	}
	return nothing, policy.SkipAsk
}
