package sched

import (
	"heddle"
	"heddle/cluster"
	"heddle/policy"
)

// control lets the controllers that are due write their plan, checks every step of it and carries out
// what holds: a step on a container that is gone, not running, touched before in this instant, or that
// the node has no room for, is left out.
func (c *Core) control() {
	now := c.v.Now()
	c.plan.Steps = c.plan.Steps[:0]
	for i := range c.controls {
		k := &c.controls[i]
		if now < k.next {
			continue
		}
		k.next = now + heddle.Time(k.c.Every())
		k.c.Run(c.v, &c.plan)
	}
	clear(c.touched)
	clear(c.weighed)
	for _, s := range c.plan.Steps {
		before := c.touched
		if s.Do == policy.Weigh {
			before = c.weighed
		}
		if !before[s.Container] {
			before[s.Container] = true
			c.carryOut(s)
		}
	}
	for _, d := range c.done {
		if x := c.v.Container(d.container); x != nil { // else its master was killed
			c.tell(d.what, x)
			c.touch(x.App())
		}
	}
	c.done = c.done[:0]
}

// done is what a plan has changed of a running container.
type done struct {
	what      policy.News
	container heddle.ContainerID
}

func (c *Core) carryOut(s policy.Step) {
	x := c.v.Container(s.Container)
	if x == nil || x.State() != cluster.Running {
		return
	}
	switch s.Do {
	case policy.Resize:
		if c.set.Size[x.Kind()] != nil {
			s.Limit = c.bounded(s.Limit, x.Limit())
		}
		more, free := s.Limit.Minus(x.Limit()), x.Node().Free()
		overfull := !c.v.Fits(heddle.Resource{}, free) // where loans come back, less for one is not more for the node
		if s.Limit.AnyNegative() || more.IsZero() || overfull && x.Node().Lends() || !c.v.Fits(more, free) || !c.mayGrow(x, more) {
			return
		}
		c.frees(x.Node())
		c.c.SetLimit(x, s.Limit)
		c.out = append(c.out, c.arena.resizes.put(heddle.Resize{Container: x.ID(), Limit: s.Limit}))
		c.done = append(c.done, done{policy.Resized, x.ID()})
	case policy.Weigh:
		if s.Weight > 0 {
			c.out = append(c.out, c.arena.weighs.put(heddle.Weigh{Container: x.ID(), Weight: s.Weight}))
		}
	case policy.Suspend:
		if x.Suspended() {
			return
		}
		c.c.Suspend(x)
		c.out = append(c.out, c.arena.suspends.put(heddle.Suspend{Container: x.ID()}))
		c.done = append(c.done, done{policy.Suspended, x.ID()})
	case policy.Resume:
		if !x.Suspended() {
			return
		}
		c.c.Resume(x)
		c.out = append(c.out, c.arena.resumes.put(heddle.Resume{Container: x.ID()}))
		c.done = append(c.done, done{policy.Resumed, x.ID()})
	case policy.Kill:
		a, master := x.App(), x.Kind() == heddle.AM
		c.end(x, cluster.Killed, heddle.Preempted, true)
		if master {
			c.clear(a, heddle.Aborted)
		}
	}
}

// mayGrow reports whether the shares let a container take so much more.
func (c *Core) mayGrow(x *cluster.Container, more heddle.Resource) bool {
	if more = more.Max(heddle.Resource{}); more.IsZero() {
		return true
	}
	defer c.as(c.v)
	c.v = c.v.AsExplaining() // no offer is being walked: nothing is to be remembered of it
	d, _ := c.shares(x.App(), x.Kind(), more)
	return d.OK() && !d.Unbook
}
