package sched

import (
	"math"

	"heddle"
	"heddle/cluster"
	"heddle/policy"
)

// control lets the controllers that are due write their plans, checks every step and carries out the valid ones. It
// skips a step on a container that is gone, not running or already touched in this instant, or for which the node has
// no room.
func (c *Core) control() {
	now := c.v.Now()
	c.plan.Steps = c.plan.Steps[:0]
	for i := range c.controls {
		k := &c.controls[i]
		k.from, k.to = len(c.plan.Steps), len(c.plan.Steps)
		if now < k.next {
			continue
		}
		k.next = now + heddle.Time(k.c.Every())
		k.c.Run(c.v, &c.plan)
		k.to = len(c.plan.Steps)
	}
	clear(c.touched)
	clear(c.weighed)
	for i := range c.controls {
		k := &c.controls[i]
		for _, s := range c.plan.Steps[k.from:k.to] {
			before := c.touched
			if s.Do == policy.Weigh {
				before = c.weighed
			}
			if !before[s.Container] {
				before[s.Container] = true
				c.carryOut(s, k.name)
			}
		}
	}
	for _, d := range c.done {
		if x := c.v.Container(d.container); x != nil { // otherwise its master was killed
			if d.forced {
				c.tellForced(x)
			} else {
				c.tell(d.what, x)
			}
			c.besideResized(x)
			c.touch(x.App())
		}
	}
	c.done = c.done[:0]
}

// done is a change that a plan made to a running container.
type done struct {
	what      policy.News
	container heddle.ContainerID
	forced    bool // see [policy.Effect]
}

// carryOut carries out a step that a controller wants.
func (c *Core) carryOut(s policy.Step, by string) {
	x := c.v.Container(s.Container)
	if x == nil || x.State() != cluster.Running {
		return
	}
	if lacks := needs(x, s.Do); !x.Can(lacks) {
		c.undone(x, lacks)
		return
	}
	switch s.Do {
	case policy.Resize:
		if c.set.Size[x.Kind()] != nil {
			s.Limit = c.bounded(s.Limit, x.Limit())
		}
		s.Limit = c.resized(x, s.Limit)
		more, free := s.Limit.Minus(x.Limit()), x.Node().Free()
		overfull := !c.v.Fits(heddle.Resource{}, free) // while loans come back, less for one is not more for the node
		if s.Limit.AnyNegative() || more.IsZero() || overfull && x.Node().Lends() || !c.v.Fits(more, free) || !c.mayGrow(x, more) {
			return
		}
		c.frees(x.Node())
		c.c.SetLimit(x, s.Limit)
		c.out = append(c.out, c.arena.resizes.put(heddle.Resize{Container: x.ID(), Limit: s.Limit, By: by}))
		c.done = append(c.done, done{what: policy.Resized, container: x.ID()})
	case policy.Weigh:
		if !x.Can(heddle.Bounds) {
			s.Bound = 0
		}
		if s.Weight > 0 {
			c.out = append(c.out, c.arena.weighs.put(heddle.Weigh{Container: x.ID(), Weight: s.Weight, Bound: max(s.Bound, 0), By: by}))
		}
	case policy.Suspend:
		if x.Suspended() || !x.Can(heddle.Parks) && overLent(x) {
			return
		}
		c.c.Suspend(x)
		if !freezable(x) {
			s.Freeze = 0
		}
		if s.Freeze > 0 {
			c.c.Freeze(x)
		}
		c.out = append(c.out, c.arena.suspends.put(heddle.Suspend{Container: x.ID(), Freeze: s.Freeze, By: by}))
		c.done = append(c.done, done{what: policy.Suspended, container: x.ID()})
	case policy.Resume:
		if !x.Suspended() {
			return
		}
		lent := c.lentMemory(x)
		c.c.Resume(x)
		c.out = append(c.out, c.arena.resumes.put(heddle.Resume{Container: x.ID(), By: by}))
		c.done = append(c.done, done{what: policy.Resumed, container: x.ID()})
		if lent {
			c.c.ForceLimit(x, x.Told())
			c.out = append(c.out, c.arena.resizes.put(heddle.Resize{Container: x.ID(), Limit: x.Told(), By: by}))
			c.done = append(c.done, done{what: policy.Resized, container: x.ID(), forced: true})
		}
	case policy.Kill:
		a, master := x.App(), x.Kind() == heddle.AM
		c.end(x, cluster.Killed, heddle.Preempted, true)
		if master {
			c.clear(a, heddle.Aborted)
		}
	}
}

// mayGrow reports whether the shares let a container take more.
func (c *Core) mayGrow(x *cluster.Container, more heddle.Resource) bool {
	if more = more.Max(heddle.Resource{}); more.IsZero() {
		return true
	}
	defer c.as(c.v)
	c.v = c.v.AsExplaining() // no offer is being walked: policies must remember nothing of this
	d, _ := c.shares(x.App(), x.Kind(), more)
	return d.OK() && !d.Unbook
}

// needs returns what a node must be able to do for a step. A master's size changes only if its heap follows.
func needs(x *policy.Container, do policy.Deed) heddle.Caps {
	switch do {
	case policy.Resize:
		if x.Kind() == heddle.AM {
			return heddle.Resizes | heddle.Elastic
		}
		return heddle.Resizes
	case policy.Weigh:
		return heddle.Weighs
	case policy.Suspend, policy.Resume:
		return heddle.Lends
	case policy.Kill: // every node ends containers
	}
	return 0
}

// undone counts a step of a plan that a node cannot carry out.
func (c *Core) undone(x *policy.Container, needs heddle.Caps) {
	for i := range heddle.NumCaps {
		if what := heddle.Caps(1 << i); needs.Has(what) && !x.Can(what) {
			c.notes[x.App().ID()].undone[i]++
			c.counts.Undone[i]++
			return
		}
	}
}

// unable records that a node cannot do to a container what it can do to others, and undoes what depends on it.
func (c *Core) unable(x *policy.Container, what heddle.Caps) {
	c.c.SetUnable(x, what)
	for i := range heddle.NumCaps {
		c.undone(x, what&(1<<i))
	}
	c.takeBack(x)
}

// mostLent is the share of a node's processors that may be lent if nothing keeps the lenders from using them: what
// borrowers get is taken from every container there.
const mostLent = 0.5

// overLent reports whether a container, if suspended too, would lend more than its node may.
func overLent(x *policy.Container) bool { return overLending(x.Node(), x.Limit()[heddle.CPU]) }

// overLending reports whether a node, with more on top, lends more than is allowed for one that does not keep lenders
// from its processors.
func overLending(n *policy.Node, more int64) bool {
	return float64(n.Lent()+more) > mostLent*float64(n.Total()[heddle.CPU])
}

// freezable reports whether a container may be kept from running at all. A master or an executor never may: others of
// its application wait for it and give it up.
func freezable(x *policy.Container) bool {
	return (x.Kind() == heddle.Map || x.Kind() == heddle.Reduce) && x.Can(heddle.Freezes)
}

// lentMemory reports whether a container has given up memory that it takes back as soon as it runs.
func (c *Core) lentMemory(x *policy.Container) bool {
	return x.Frozen() && !x.Node().Can(heddle.Elastic) && x.Limit()[heddle.Memory] < x.Told()[heddle.Memory]
}

// headRoom is the least memory of a container with less than it asked for, as a multiple of the largest task's so far.
const headRoom = 1.1

// carried returns a limit as a node carries it out for a container of the requested size. If memory is only a figure
// there, what processes really use bounds it: no container gets less than the largest task of its kind and application
// used, and none gets less than was asked for before that is known.
func carried(n *policy.Node, a *policy.App, k heddle.Kind, asked, limit heddle.Resource) heddle.Resource {
	switch {
	case !n.Can(heddle.Limits):
		return asked.Max(limit)
	case n.Can(heddle.Elastic) || limit[heddle.Memory] >= asked[heddle.Memory]:
		return limit
	}
	limit[heddle.Memory] = max(limit[heddle.Memory], needed(a, k, asked[heddle.Memory]))
	return limit
}

// needed returns the least memory that a container needs, judging by others of its kind.
func needed(a *policy.App, k heddle.Kind, asked int64) int64 {
	if peak := a.Peak(k); peak > 0 {
		return min(asked, int64(math.Ceil(headRoom*float64(peak))))
	}
	return asked
}

// runningRoom is the least memory of a running container, as a multiple of what it was measured to use.
const runningRoom = 1.2

// resized is [carried] for a running container. What the container itself uses bounds the limit too; if it is frozen,
// and uses no more until it runs again, only that does.
func (c *Core) resized(x *policy.Container, limit heddle.Resource) heddle.Resource {
	n, told := x.Node(), x.Told()
	if !n.Can(heddle.Limits) || n.Can(heddle.Elastic) || limit[heddle.Memory] >= told[heddle.Memory] {
		return carried(n, x.App(), x.Kind(), told, limit)
	}
	_, used := x.Usage()
	least := int64(math.Ceil(runningRoom * float64(used)))
	if !x.Frozen() || used == 0 {
		least = max(least, needed(x.App(), x.Kind(), told[heddle.Memory]))
	}
	limit[heddle.Memory] = max(limit[heddle.Memory], min(least, told[heddle.Memory]))
	return limit
}

// nodeCan records what a node can do from now on, and undoes what it can no longer do.
func (c *Core) nodeCan(e heddle.NodeCan) {
	n := c.v.Node(e.Node)
	if n == nil || !n.Up() {
		return
	}
	c.c.SetCan(n, e.Can)
	var all []heddle.ContainerID
	n.Each(func(x *policy.Container) bool {
		all = append(all, x.ID())
		return true
	})
	for _, id := range all {
		c.takeBack(c.v.Container(id))
	}
}

// takeBack ends what a container's node can no longer do to it.
func (c *Core) takeBack(x *policy.Container) {
	n, id := x.Node(), x.ID()
	if x.Suspended() && (!n.Can(heddle.Lends) || !x.Can(heddle.Parks) && overLending(n, 0) || x.Frozen() && !x.Can(heddle.Freezes)) {
		lent := c.lentMemory(x)
		c.c.Resume(x)
		c.out = append(c.out, c.arena.resumes.put(heddle.Resume{Container: id}))
		c.tell(policy.Resumed, x)
		if lent {
			c.force(x, x.Told())
			c.out = append(c.out, c.arena.resizes.put(heddle.Resize{Container: id, Limit: x.Told()}))
		}
	}
	if x.Limit() != x.Told() && !n.Can(heddle.Limits) {
		c.force(x, x.Told())
		c.out = append(c.out, c.arena.resizes.put(heddle.Resize{Container: id, Limit: x.Told()}))
	}
}

// force gives a container a limit that it has in any case.
func (c *Core) force(x *policy.Container, limit heddle.Resource) {
	c.frees(x.Node())
	c.c.ForceLimit(x, limit)
	c.tellForced(x)
	c.besideResized(x)
	c.touch(x.App())
}

// besideResized tells listeners that a reservation counts for a different amount if the resized container was let in
// beside it.
func (c *Core) besideResized(x *policy.Container) {
	if b := x.Node().Booked(); b != nil && b.LetIn(x.ID()) {
		c.recounted(b)
	}
}
