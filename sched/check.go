package sched

import (
	"strconv"

	"heddle"
	"heddle/policy"
)

// Check recounts the state from the containers up, the lanes, and what the policies keep, and returns every broken
// invariant as "name: what".
func (c *Core) Check() []string {
	found := c.c.Check()
	for i := range c.lanes {
		found = append(found, c.checkLane(i)...)
	}
	for _, k := range c.checkers {
		found = append(found, k.Check(c.v)...)
	}
	return found
}

// checkLane compares a lane with what should wait in it: every application that asks for something of its kinds and
// does not sleep, once, under its current key, in queues that are in order.
func (c *Core) checkLane(i int) (found []string) {
	l := &c.lanes[i]
	name := "lane " + strconv.Itoa(i)
	active, picks := make([]int, len(l.queues)), make([]int, len(l.queues))
	for id := range c.v.AppIDs() {
		a := c.v.App(heddle.AppID(id))
		if a == nil {
			continue
		}
		app := name + ", application " + strconv.Itoa(id)
		s := c.state(a.ID())
		in := &s.in[i]
		if in.on != (l.waits(a) && (in.on || !s.asleep)) {
			found = append(found, "lane-members: "+app+" waits and is left out, or does not and is kept")
		}
		if !in.on {
			continue
		}
		for q := a.Queue(); q != nil; q = q.Parent() {
			active[q.ID()]++
			if l.picksFor(a) {
				picks[q.ID()]++
			}
		}
		if in.picks != l.picksFor(a) || l.queues[a.Queue().ID()].picking.has(in.key, int32(id)) != in.picks {
			found = append(found, "lane-picks: "+app+" waits for a node to be named and is left out, or does not and is kept")
		}
		if k := l.Order.App(c.v, a); k != in.key || !l.queues[a.Queue().ID()].waiting.has(in.key, int32(id)) {
			found = append(found, "lane-keys: "+app+" stands in another place than its key")
		}
		for _, k := range a.Asks() {
			if k.Count() > 0 && c.laneOf[k.Kind()] == int8(i) && (!l.smallest.Fits(k.Size()) || !k.Size().Fits(l.largest)) {
				found = append(found, "lane-bounds: "+app+" asks for less or more than the lane knows of")
			}
		}
	}
	for id := range l.queues {
		found = append(found, c.checkLaneQueue(l, name, c.v.Queue(heddle.QueueID(id)), active)...)
		if lq := &l.queues[id]; lq.picks != picks[id] || lq.picking.len() > picks[id] {
			found = append(found, "lane-picks: "+name+", queue "+strconv.Itoa(id)+" counts "+strconv.Itoa(lq.picks)+" and holds "+
				strconv.Itoa(lq.picking.len())+" of "+strconv.Itoa(picks[id])+" that wait for a node to be named")
		}
	}
	if l.active != active[0] {
		found = append(found, "lane-members: "+name+" counts "+strconv.Itoa(l.active)+" applications of "+strconv.Itoa(active[0]))
	}
	return found
}

func (c *Core) checkLaneQueue(l *lane, name string, q *policy.Queue, active []int) (found []string) {
	lq := &l.queues[q.ID()]
	name += ", queue " + strconv.Itoa(int(q.ID()))
	if lq.active != active[q.ID()] {
		found = append(found, "lane-members: "+name+" counts "+strconv.Itoa(lq.active)+" applications of "+strconv.Itoa(active[q.ID()]))
	}
	want := lq.active
	if !q.Leaf() {
		want = 0
		for _, child := range q.Children() {
			cq := &l.queues[child.ID()]
			if cq.active == 0 {
				continue
			}
			want++
			if !cq.dirty && cq.key != l.Order.Queue(c.v, child) || !lq.waiting.has(cq.key, int32(child.ID())) {
				found = append(found, "lane-keys: "+name+" has a child in another place than its key")
			}
		}
	}
	if n := lq.waiting.len(); n != want {
		found = append(found, "lane-members: "+name+" holds "+strconv.Itoa(n)+" of "+strconv.Itoa(want)+" entries")
	}
	return found
}
