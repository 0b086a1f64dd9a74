package sched

import (
	"heddle"
	"heddle/policy"
)

// This file handles what happens to a scheduler that runs for long and among others: it takes over what it did not
// start, and nodes, queues and priorities change while applications wait.

// adopt holds a container that was found running, whatever the limits say. An application has one master: one that is
// found replaces one that is waited for; if there already is one, the event has no effect.
func (c *Core) adopt(e *heddle.Found) {
	a, n := c.v.App(e.App), c.v.Node(e.Node)
	if a == nil || n == nil || !n.Up() || e.Size.AnyNegative() || e.Kind >= heddle.NumKinds {
		return
	}
	if e.Kind == heddle.AM {
		if a.Master() != nil {
			return
		}
		c.withdrawMaster(a)
	}
	x := c.c.Adopt(a, n, e.Kind, e.Priority, e.AllocID, e.Size, max(e.Age, 0))
	if !e.Handed {
		c.c.SetFound(x)
	}
	c.out = append(c.out, c.arena.adopts.put(heddle.Adopt{Container: x.ID(), Ref: e.Ref}))
	c.tell(policy.Adopted, x)
	c.touch(a)
}

// withdrawMaster withdraws the ask for an application's master.
func (c *Core) withdrawMaster(a *policy.App) {
	for _, k := range a.Asks() {
		if k.Kind() != heddle.AM {
			continue
		}
		one := func() *policy.Container { return c.bookingOf(k, heddle.Resource{}, (*policy.Container).Limit) }
		for x := one(); x != nil; x = one() {
			c.unbook(x)
		}
		row := heddle.Anywhere(k.Priority(), heddle.AM, 0, k.Size())
		row.AllocID = k.AllocID()
		c.setRow(a, row)
		c.tellApp(policy.AppAsked, a)
	}
}

// resize changes what a node offers. A reservation that no longer fits the node is given up.
func (c *Core) resize(e heddle.NodeResized) {
	n := c.v.Node(e.Node)
	if n == nil || !n.Up() {
		return
	}
	total := e.Total.Max(heddle.Resource{})
	if x := n.Booked(); x != nil && !c.v.Fits(x.Limit(), total) {
		c.unbook(x)
	}
	c.frees(n)
	c.c.ResizeNode(n, total)
	c.tellNode(policy.NodeResized, n)
}

// silence stops offering a node, or offers it again. A reservation there is given up: the ask that waits for it may
// have another node reserved.
func (c *Core) silence(e heddle.NodeSilent) {
	n := c.v.Node(e.Node)
	if n == nil || !n.Up() {
		return
	}
	c.c.SetSilent(n, e.Silent)
	if e.Silent && n.Booked() != nil {
		c.unbook(n.Booked())
	}
}

// move puts an application into another leaf queue, or says why it stays.
func (c *Core) move(e heddle.Move) {
	a := c.v.App(e.App)
	if a == nil || a.Queue().ID() == e.Queue {
		return
	}
	if why := c.enters(&heddle.Submit{
		App: e.App, Queue: e.Queue, User: a.User().ID(), Priority: a.Priority(), Framework: a.Framework(), Facts: *a.Facts(),
	}); why != heddle.Fine {
		c.reject(e.App, why)
		return
	}
	for a.Bookings() > 0 {
		c.unbookOne(a)
	}
	c.leaveAll(a)
	from := a.Queue()
	c.c.Move(a, c.v.Queue(e.Queue))
	c.tellApp(policy.AppMoved, a)
	c.touchQueues(from)
	c.touch(a)
}

// reprioritise changes an application's priority. Even an order with steady keys then has another key for it.
func (c *Core) reprioritise(e heddle.Reprioritise) {
	a := c.v.App(e.App)
	if a == nil || a.Priority() == e.Priority {
		return
	}
	c.leaveAll(a)
	c.c.SetPriority(a, e.Priority)
	c.tellApp(policy.AppReprioritised, a)
	c.touch(a)
}

// leaveAll takes an application out of every lane; touch puts it back.
func (c *Core) leaveAll(a *policy.App) {
	s := c.state(a.ID())
	for i := range c.lanes {
		if s.in[i].on {
			c.leave(&c.lanes[i], &s.in[i], a)
		}
	}
}
