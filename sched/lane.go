package sched

import (
	"heddle"
	"heddle/policy"
)

// A lane is a list of kinds with one order, and the applications that wait in it.
type lane struct {
	policy.Lane
	picks    []heddle.Kind // those of its kinds whose place names its node
	queues   []laneQueue
	dirty    []*policy.Queue
	trims    []policy.Trim   // these may lower limits below the requested size, down to their floors
	active   int             // applications in the lane
	smallest heddle.Resource // no ask of the lane since it was last empty is smaller, in any dimension
	largest  heddle.Resource // … or larger
}

// slotsBy returns the profile key that limits the lane's containers on a node.
func (l *lane) slotsBy() string {
	if l.Slots.PerVcore > 0 {
		return "per_vcore"
	}
	return "per_node"
}

// A laneQueue is one queue's part of a lane: its waiting applications or children, in order.
type laneQueue struct {
	waiting ordered
	picking ordered    // of a leaf: its applications that wait for a container whose place names its node
	picks   int        // number of such applications in the queue or below
	key     policy.Key // the queue's key in its parent's list
	active  int        // applications in the queue or below
	dirty   bool       // its key may have changed
}

// maxLanes bounds the lanes of a set: at most one for every kind.
const maxLanes = heddle.NumKinds

// appState is the core's state for an application.
type appState struct {
	asleep bool
	in     [maxLanes]inLane
}

// notes are reported about an application and decide nothing. They are stored apart from its state, which every event
// reads.
type notes struct {
	refused [heddle.NumWhys]uint32
	undone  [heddle.NumCaps]uint32 // steps of plans that a node could not carry out, by the ability it lacked
	last    refusal
}

// inLane is an application's place in one lane.
type inLane struct {
	key    policy.Key
	on     bool
	picks  bool // it waits for a container whose place names its node
	steady bool // the key does not change
}

type refusal struct {
	why  heddle.Why
	node heddle.NodeID
	ask  int32
	at   heddle.Time
}

func newLane(l policy.Lane, queues int) lane {
	return lane{Lane: l, queues: make([]laneQueue, queues)}
}

func (l *lane) waits(a *policy.App) bool {
	for _, k := range l.Kinds {
		if a.Waiting(k) > 0 {
			return true
		}
	}
	return false
}

// picksFor reports whether the application waits for a container whose place names its node.
func (l *lane) picksFor(a *policy.App) bool {
	for _, k := range l.picks {
		if a.Waiting(k) > 0 {
			return true
		}
	}
	return false
}

func (c *Core) state(id heddle.AppID) *appState {
	for int(id) >= len(c.apps) {
		c.apps = append(c.apps, appState{})
		c.notes = append(c.notes, notes{})
	}
	return &c.apps[id]
}

// touch updates an application's place in every lane, and those of its queues.
func (c *Core) touch(a *policy.App) {
	s := c.state(a.ID())
	s.asleep = false
	for i := range c.lanes {
		l, in := &c.lanes[i], &s.in[i]
		want := !a.Over() && l.waits(a)
		switch {
		case want && !in.on:
			c.enter(l, in, a)
		case !want && in.on:
			c.leave(l, in, a)
		case want:
			c.reorder(l, in, a)
			if picks := l.picksFor(a); picks != in.picks {
				l.pick(in, a, picks)
			}
		}
	}
	c.touchQueues(a.Queue())
}

// reorder moves an application to where its current key belongs.
func (c *Core) reorder(l *lane, in *inLane, a *policy.App) {
	if in.steady {
		return
	}
	if k := l.Order.App(c.v, a); k != in.key {
		lq := &l.queues[a.Queue().ID()]
		lq.waiting.move(in.key, k, int32(a.ID()))
		if in.picks {
			lq.picking.move(in.key, k, int32(a.ID()))
		}
		in.key = k
	}
}

func (c *Core) enter(l *lane, in *inLane, a *policy.App) {
	in.on, in.key = true, l.Order.App(c.v, a)
	in.steady = l.Order.Steady(a)
	if l.active == 0 {
		l.smallest, l.largest = heddle.Unbounded, heddle.Resource{}
	}
	for _, k := range a.Asks() {
		l.measure(k)
	}
	l.active++
	l.queues[a.Queue().ID()].waiting.insert(in.key, int32(a.ID()))
	for q := a.Queue(); q != nil; q = q.Parent() {
		lq := &l.queues[q.ID()]
		lq.active++
		if p := q.Parent(); p != nil && lq.active == 1 {
			lq.key = l.Order.Queue(c.v, q)
			l.queues[p.ID()].waiting.insert(lq.key, int32(q.ID()))
		}
	}
	if l.picksFor(a) {
		l.pick(in, a, true)
	}
}

// pick records that an application of the lane waits, or no longer waits, for a container whose place names its node.
func (l *lane) pick(in *inLane, a *policy.App, picks bool) {
	in.picks = picks
	leaf, by := &l.queues[a.Queue().ID()], 1
	if picks {
		leaf.picking.insert(in.key, int32(a.ID()))
	} else {
		leaf.picking.remove(in.key, int32(a.ID()))
		by = -1
	}
	for q := a.Queue(); q != nil; q = q.Parent() {
		l.queues[q.ID()].picks += by
	}
}

func (c *Core) leave(l *lane, in *inLane, a *policy.App) {
	if in.picks {
		l.pick(in, a, false)
	}
	in.on = false
	l.active--
	l.queues[a.Queue().ID()].waiting.remove(in.key, int32(a.ID()))
	for q := a.Queue(); q != nil; q = q.Parent() {
		lq := &l.queues[q.ID()]
		lq.active--
		if p := q.Parent(); p != nil && lq.active == 0 {
			l.queues[p.ID()].waiting.remove(lq.key, int32(q.ID()))
		}
	}
}

// least returns the smallest room in which a container of the lane may start.
func (c *Core) least(l *lane) heddle.Resource {
	least := l.smallest
	for _, t := range l.trims {
		least = least.Min(t.Floor(l.smallest))
	}
	return least
}

// measure widens the lane's bounds by an ask's size.
func (l *lane) measure(k *policy.Ask) {
	if k.Count() == 0 {
		return
	}
	for d, n := range k.Size() {
		l.smallest[d], l.largest[d] = min(l.smallest[d], n), max(l.largest[d], n)
	}
}

// touchQueues records that the keys of a queue and of its ancestors may have changed. They are moved to their places
// when the lane is next walked.
func (c *Core) touchQueues(q *policy.Queue) {
	for i := range c.lanes {
		l := &c.lanes[i]
		for q := q; q.Parent() != nil; q = q.Parent() {
			lq := &l.queues[q.ID()]
			if lq.dirty {
				break // the ancestors are dirty too
			}
			lq.dirty = true
			l.dirty = append(l.dirty, q)
		}
	}
}

// settle puts the lane's queues in order.
func (c *Core) settle(l *lane) {
	for _, q := range l.dirty {
		lq := &l.queues[q.ID()]
		lq.dirty = false
		if lq.active == 0 {
			continue
		}
		if k := l.Order.Queue(c.v, q); k != lq.key {
			l.queues[q.Parent().ID()].waiting.move(lq.key, k, int32(q.ID()))
			lq.key = k
		}
	}
	l.dirty = l.dirty[:0]
}

// rekey recomputes every key. With wake, it also brings back sleeping applications.
func (c *Core) rekey(wake bool) {
	for i := range c.v.Queues() {
		q := c.v.Queue(heddle.QueueID(i))
		if !q.Leaf() {
			continue
		}
		for _, a := range q.Apps() {
			s := c.state(a.ID())
			if wake && s.asleep {
				c.touch(a)
				continue
			}
			for i := range c.lanes {
				if s.in[i].on {
					c.reorder(&c.lanes[i], &s.in[i], a)
				}
			}
		}
		c.touchQueues(q)
	}
}

// sleep takes an application out of a lane until something touches it, because all its asks there are behind closed
// gates.
func (c *Core) sleep(l *lane, a *policy.App) {
	s := c.state(a.ID())
	for i := range c.lanes {
		if &c.lanes[i] == l && s.in[i].on {
			c.leave(l, &s.in[i], a)
		}
	}
	s.asleep = true
}

// wakeNamed brings back the sleeping applications that policies name.
func (c *Core) wakeNamed() {
	for _, w := range c.wakers {
		c.woken = w.Woken(c.v, c.woken[:0])
		for _, id := range c.woken {
			if a := c.v.App(id); a != nil && c.state(id).asleep {
				c.version++
				c.touch(a)
			}
		}
	}
}
