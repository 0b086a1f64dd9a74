// Package capacity decides as Hadoop's CapacityScheduler does: nested queues with guaranteed and maximum
// shares, elastic borrowing, user limits, a limit for masters, reservations and delay scheduling.
//
// It keeps the arithmetic of that scheduler, including its rounding, and leaves out labels and preemption. Its limit
// for masters has options that Hadoop's does not have: see [MastersOptions]. It knows no XML: package conf reads the
// files.
package capacity

import (
	"errors"
	"math"
	"slices"

	"heddle"
	_ "heddle/cluster" // lets the compiler inline calls of a View and everything below it
	"heddle/policy"
)

// A Scheduler is the Order, the Share and the masters' Gate of a CapacityScheduler.
type Scheduler struct {
	cfg     Config
	queues  []queue
	stamp   uint64 // changes with the state
	total   heddle.Resource
	dims    []heddle.Dim // those that total has
	users   []string     // names by UserID, for weights; may be shorter than the ids in use
	apps    []appState
	woken   []heddle.AppID
	resized []heddle.QueueID // leaves to be activated because masters were sized again
	masters MastersOptions
	holders []policy.Holder
}

// queue is the scheduler's state of a queue.
type queue struct {
	cfg       *QueueConfig
	abs       float32 // absolute capacity
	absMax    float32
	min, max  heddle.Resource // effective guaranteed and maximum
	maxDown   heddle.Resource // max, in whole containers
	minShare  float64         // dominant share of the guarantee, but at least that of the smallest container
	safe      heddle.Resource // no active user's limit is below this
	limit     heddle.Resource // what the parents leave the queue in this walk
	below     heddle.Resource // what the queue leaves its children in this walk, before what they have taken
	most      heddle.Resource // the smaller of max and limit
	capped    heddle.Resource // the smaller of maxDown and limit
	blocked   heddle.Resource // headroom kept for queues below that were stopped by a limit
	kept      heddle.Resource // headroom kept for siblings when the queue was last entered in a walk
	head      heddle.Resource // limit − used
	hard      heddle.Resource // what all maxima from here up to the root still allow, per dimension
	current   heddle.Resource // of a leaf: its limit when an application was last considered; used for headroom and the masters' share
	userLimit heddle.Resource // of a leaf, for an active user of weight 1, valid while limitOK == stamp
	limitOK   uint64
	stuck     heddle.Resource // result of [stuckIn], valid while stuckOK == stamp
	stuckOK   uint64
	active    int  // applications let in, in the queue and below it
	excused   bool // above its maximum when the cluster was last resized, or brought above it without a check of limits
	leaf      *leaf
}

// New returns a scheduler for a configuration. names holds the known users' names by UserID, for configured weights;
// [Scheduler.User] adds others.
func New(cfg Config, names []string) (*Scheduler, error) {
	if len(cfg.Queues) == 0 || cfg.Queues[0].Parent != -1 {
		return nil, errors.New("capacity: the first queue must be root")
	}
	s := &Scheduler{cfg: cfg, queues: make([]queue, len(cfg.Queues)), users: slices.Clone(names), masters: MastersOptions{Behind: 1}}
	for i := range cfg.Queues {
		c := &cfg.Queues[i]
		if i > 0 && (c.Parent < 0 || c.Parent >= i) {
			return nil, errors.New("capacity: queue " + c.Path + " comes before its parent")
		}
		s.queues[i] = queue{cfg: c, leaf: &leaf{}}
	}
	s.shares()
	return s, nil
}

// shares computes the absolute capacities. Hadoop keeps them in single precision.
func (s *Scheduler) shares() {
	weights := make([]float64, len(s.queues))
	for i := 1; i < len(s.queues); i++ {
		weights[s.queues[i].cfg.Parent] += s.queues[i].cfg.Weight
	}
	for i := range s.queues {
		q := &s.queues[i]
		if i == 0 {
			q.abs, q.absMax = 1, 1
			continue
		}
		p := &s.queues[q.cfg.Parent]
		part := float32(q.cfg.Capacity)
		if q.cfg.Weight > 0 {
			part = float32(q.cfg.Weight) / float32(weights[q.cfg.Parent])
		}
		q.abs = float32(p.abs * part)
		q.absMax = float32(p.absMax * float32(q.cfg.MaxCapacity))
	}
}

// resize computes the effective resources of every queue when the size of the cluster changes.
func (s *Scheduler) resize(v policy.View) {
	s.total, s.dims = v.Total(), s.dims[:0]
	for d, n := range s.total {
		if n > 0 {
			s.dims = append(s.dims, heddle.Dim(d))
		}
	}
	for i := range s.queues {
		q := &s.queues[i]
		q.min, q.max = times(s.total, float64(q.abs)), times(s.total, float64(q.absMax))
		if i > 0 && !q.cfg.Absolute.IsZero() {
			q.min = s.scaled(q.cfg.Parent, q.cfg.Absolute)
			q.abs = float32(s.share(&q.min))
		}
		if i > 0 && !q.cfg.MaxAbsolute.IsZero() {
			q.max = q.cfg.MaxAbsolute.Min(s.queues[q.cfg.Parent].max)
		}
		vq := v.Queue(heddle.QueueID(i))
		q.excused = !v.Fits(vq.Used().Plus(vq.Booked()), q.max)
	}
	s.stamp++
	for i := range s.queues {
		q := &s.queues[i]
		guaranteed := s.more(q.min, s.cfg.Minimum)
		q.minShare = s.share(&guaranteed)
		q.maxDown = q.max.RoundDown(s.cfg.Minimum)
		q.safe = s.less(s.percent(guaranteed, q), s.ceiling(q))
		if i == 0 { // the same in every walk
			q.limit = s.total
			s.bound(q)
		}
		s.enterLimit(v.Queue(heddle.QueueID(i)), q, heddle.Resource{})
		q.current = q.capped
	}
}

// scaled scales down a guaranteed amount if the cluster is too small for all that the children of a parent are
// guaranteed: each then gets its proportional part, per dimension.
func (s *Scheduler) scaled(parent int, amount heddle.Resource) heddle.Resource {
	var all heddle.Resource
	for i := range s.queues {
		if i > 0 && s.queues[i].cfg.Parent == parent {
			all = all.Plus(s.queues[i].cfg.Absolute)
		}
	}
	for d, have := range s.queues[parent].min {
		if u := heddle.Dim(d).Unit(); all[d] > have {
			amount[d] = int64(float64(amount[d]/u)*float64(float32(have)/float32(all[d]))) * u
		}
	}
	return amount
}

// Queue implements [policy.Order]: the queue that uses the least of its guarantee goes first.
func (s *Scheduler) Queue(_ policy.View, q *policy.Queue) policy.Key {
	c := &s.queues[q.ID()]
	var used float32
	empty := int64(0)
	taken := q.Taken()
	if c.abs == 0 {
		empty, used = 2, float32(s.share(&taken))
	} else {
		used = s.divide(&taken, c.minShare)
	}
	if q.Parent() != nil && s.queues[q.Parent().ID()].cfg.ByPriority {
		if used >= 1 {
			empty++
		}
		return policy.Key{empty, -int64(c.cfg.Priority), int64(math.Float32bits(used))<<32 - int64(math.Float32bits(c.abs))}
	}
	return policy.Key{empty, int64(math.Float32bits(used)), -int64(math.Float32bits(c.abs))}
}

// App implements [policy.Order]: by the leaf's ordering policy, then in order of submission.
func (s *Scheduler) App(_ policy.View, a *policy.App) policy.Key {
	c := s.queues[a.Queue().ID()].cfg
	if c.Fair {
		used := float64(a.Used()[heddle.Memory])
		if c.SizeBasedWeight {
			demand := a.Used()[heddle.Memory] + a.Pending()[heddle.Memory]
			used /= math.Log1p(float64(demand)) / math.Ln2
		}
		return policy.Key{int64(math.Float64bits(used))}
	}
	return policy.Key{-int64(a.Priority())}
}

// Steady implements [policy.Order]: except in fair leaves, what an application holds does not change its key.
func (s *Scheduler) Steady(a *policy.App) bool { return !s.queues[a.Queue().ID()].cfg.Fair }

// Enter implements [policy.Share]: a queue at its maximum, or at the limit its parents leave it, is not entered unless
// giving up a reservation could help.
func (s *Scheduler) Enter(v policy.View, q *policy.Queue) policy.Verdict {
	if q.Parent() == nil {
		s.stamp++
	}
	c := &s.queues[q.ID()]
	taken := s.enterLimit(q, c, s.blockedFor(v, q, c))
	if !s.belowLimit(c, &taken, q.Booked()) {
		return policy.NoQueue(heddle.QueueLimit)
	}
	return policy.Yes
}

// blockedFor returns what is kept from a queue for siblings that were stopped before it in this walk. While the waiting
// of an application is being explained, no siblings are visited: the last walk's value is used.
func (s *Scheduler) blockedFor(v policy.View, q *policy.Queue, c *queue) (blocked heddle.Resource) {
	if p := q.Parent(); p != nil {
		blocked = s.queues[p.ID()].blocked
	}
	switch {
	case v.Explaining() && v.Prompted():
		return c.kept
	case !v.Explaining():
		c.kept = blocked
	}
	return blocked
}

// enterLimit sets what a queue's parents leave it in this walk, and returns what the queue has taken.
func (s *Scheduler) enterLimit(q *policy.Queue, c *queue, blocked heddle.Resource) (taken heddle.Resource) {
	taken = q.Taken()
	c.hard = c.max.Minus(taken)
	c.blocked = heddle.Resource{}
	if p := q.Parent(); p != nil {
		pc, siblings := &s.queues[p.ID()], p.Taken()
		for d := range c.limit {
			left := pc.below[d] - blocked[d] - siblings[d] + taken[d]
			if step := s.cfg.Minimum[d]; step > 0 {
				left -= left % step // to whole steps, towards zero as in Java
			}
			c.limit[d] = left
			c.hard[d] = min(c.hard[d], pc.hard[d])
		}
		s.bound(c)
	}
	c.head = c.most.Minus(taken)
	return taken
}

// bound sets the fields that follow from a queue's limit and maximum.
func (s *Scheduler) bound(c *queue) {
	d := s.compare(&c.limit, &c.max)
	c.most, c.below = c.max, c.max
	if d < 0 {
		c.most = c.limit
	}
	if d <= 0 { // an equal dominant share may be in another dimension
		c.below = c.limit
	}
	c.capped = c.most
	if c.maxDown != c.max {
		c.capped = s.less(c.maxDown, c.limit)
	}
}

// belowLimit reports whether a queue that has taken so much may take more; freeable is what giving up reservations
// could free.
func (s *Scheduler) belowLimit(c *queue, taken *heddle.Resource, freeable heddle.Resource) bool {
	if s.compare(taken, &c.most) < 0 {
		return true
	}
	if !s.cfg.ContinueLooking || freeable.IsZero() {
		return false
	}
	sure := taken.Minus(freeable)
	return s.compare(&sure, &c.most) < 0
}

// Allow implements [policy.Share]. It checks the queue's limit, then the user's, then whether the container fits what
// is left and every maximum up to the root. Hadoop checks these maxima only when it commits, and wastes the heartbeat;
// here the queue is skipped. A container does not block others here if the largest node could not hold it even when
// empty, or if the queue could not even after everything in it has ended that need not wait for others. In Hadoop,
// nothing more of the queue starts for as long as such a container is asked for, and room is kept for it.
func (s *Scheduler) Allow(v policy.View, a *policy.App, _ heddle.Kind, need heddle.Resource) policy.Verdict {
	q := a.Queue()
	c := &s.queues[q.ID()]
	if !q.Booked().IsZero() {
		if taken := q.Taken(); !s.belowLimit(c, &taken, a.Booked()) {
			return policy.NoQueue(heddle.QueueLimit)
		}
	}
	if !v.Explaining() { // keep the limit that a leaf met in its last walk
		c.current = c.capped
	}
	over, ok := s.userOver(v, a)
	if !ok {
		return policy.NoApp(heddle.UserLimit)
	}
	look := a.Bookings() > 0 && s.cfg.ContinueLooking
	room := c.head
	if look {
		room = room.Plus(a.Booked())
	}
	if !v.Fits(need, room) {
		if !s.comes(v, q, need) || !v.Fits(need, v.Largest()) {
			return policy.No(heddle.QueueLimit)
		}
		kept := s.more(c.head, heddle.Resource{})
		for p := q.Parent(); p != nil; p = p.Parent() {
			pc := &s.queues[p.ID()]
			pc.blocked = pc.blocked.Plus(kept)
		}
		return policy.NoQueue(heddle.QueueLimit)
	}
	if !v.Fits(need, c.hard) {
		switch {
		case look && v.Fits(need, c.hard.Plus(a.Booked())):
			return policy.Verdict{Unbook: true}
		case !s.comes(v, q, need):
			return policy.No(heddle.QueueLimit)
		}
		return policy.NoQueue(heddle.QueueLimit)
	}
	if look && s.anyAbove(s.more(need.Minus(c.head), over)) {
		return policy.Verdict{Unbook: true}
	}
	return policy.Yes
}

// comes reports whether a queue and its ancestors will have room for need even if nothing else starts. Stuck containers
// may be waiting for that room.
func (s *Scheduler) comes(v policy.View, q *policy.Queue, need heddle.Resource) bool {
	for ; q != nil; q = q.Parent() {
		c := &s.queues[q.ID()]
		if v.Fits(need.Plus(q.Masters()), c.max) {
			continue
		}
		if c.stuckOK != s.stamp { // grants made in this walk do not count yet
			c.stuck, c.stuckOK = stuckIn(q), s.stamp
		}
		if !v.Fits(need.Plus(c.stuck), c.max) {
			return false
		}
	}
	return true
}

// stuckIn returns what stuck containers hold in a queue and below it.
func stuckIn(q *policy.Queue) (held heddle.Resource) {
	for _, a := range q.Apps() {
		if a.Pending().IsZero() {
			continue
		}
		a.Each(func(x *policy.Container) bool {
			if x.Stuck() {
				held = held.Plus(x.Limit())
			}
			return true
		})
	}
	for _, kid := range q.Children() {
		held = held.Plus(stuckIn(kid))
	}
	return held
}

// Unbook implements [policy.Share].
func (s *Scheduler) Unbook(v policy.View, a *policy.App, need heddle.Resource) heddle.Resource {
	over, _ := s.userOver(v, a)
	c := &s.queues[a.Queue().ID()]
	return s.more(need.Minus(c.head), over).Max(need.Minus(c.hard))
}

// Headroom implements [policy.Share].
func (s *Scheduler) Headroom(v policy.View, a *policy.App) heddle.Resource {
	q := a.Queue()
	c := &s.queues[q.ID()]
	u := a.User()
	limit := s.weigh(c, s.limitFor(v, q), u.ID())
	h := limit.Minus(u.Taken()).Max(heddle.Resource{})
	h = h.Min(c.current.Minus(q.Taken()).Max(heddle.Resource{}))
	root := v.Root()
	return s.less(v.Total().Minus(root.Taken()), h.RoundDown(s.cfg.Minimum)).Max(heddle.Resource{})
}

// Beat returns the limits on what one heartbeat may assign under this configuration.
func (c *Config) Beat() policy.Beat {
	b := policy.Beat{Containers: max(c.MaxAssignments, 0), OffSwitch: c.MaxOffSwitch, StopAtBook: true}
	if !c.MultipleAssignments {
		b.Containers = 1
	}
	return b
}

// Config returns the configuration the scheduler was made from.
func (s *Scheduler) Config() *Config { return &s.cfg }
