// Package fair decides as Hadoop's FairScheduler does: nested queues with weights and minimum and
// maximum shares, fair or dominant-resource fair sharing, a share for masters, and reservations for
// those below their share.
//
// It keeps that scheduler's arithmetic, including its half-second-old view of demand, and leaves out preemption. It
// knows no XML: package conf reads the files.
package fair

import (
	"errors"
	"math"
	"slices"

	"heddle"
	"heddle/policy"
)

// A Scheduler is the Order, the Share, the masters' Gate and the Book of a FairScheduler.
type Scheduler struct {
	policy.Unshared // gives up no reservations

	cfg    Config
	queues []queue
	apps   []app
	users  map[heddle.UserID]int // runnable applications
	names  []string              // users by UserID
	live   []int                 // nodes that are up, by rack
	dirty  bool
	parked []heddle.AppID // not runnable, in order of submission
	woken  []heddle.AppID
}

type queue struct {
	cfg      *QueueConfig
	min, max heddle.Resource
	excused  bool // above its maximum when the cluster was last resized, or brought above it without a check of limits
	fair     heddle.Resource
	demand   heddle.Resource
	runnable int            // applications in or below the queue
	masters  []heddle.AppID // runnable applications of a leaf that have no master, in order of submission
}

type app struct {
	queue    heddle.QueueID
	user     heddle.UserID
	known    bool
	runnable bool
	open     bool // may ask for its master's container
	fair     heddle.Resource
	demand   heddle.Resource
	held     []int // reservations, by rack; as long as needed
}

// New returns a scheduler for a configuration. names holds the known users' names by UserID; [Scheduler.User] adds
// others.
func New(cfg Config, names []string) (*Scheduler, error) {
	if len(cfg.Queues) == 0 || cfg.Queues[0].Parent != -1 {
		return nil, errors.New("fair: the first queue must be root")
	}
	if cfg.UpdateInterval <= 0 {
		return nil, errors.New("fair: the update interval must be above 0")
	}
	s := &Scheduler{cfg: cfg, users: map[heddle.UserID]int{}, names: slices.Clone(names), dirty: true}
	for i := range cfg.Queues {
		c := &cfg.Queues[i]
		if i > 0 && (c.Parent < 0 || c.Parent >= i) {
			return nil, errors.New("fair: queue " + c.Path + " comes before its parent")
		}
		s.queues = append(s.queues, queue{cfg: c})
	}
	return s, nil
}

// resize computes minimum and maximum shares when the size of the cluster changes.
func (s *Scheduler) resize(v policy.View) {
	total := v.Total()
	for i := range s.queues {
		q := &s.queues[i]
		q.min = q.cfg.Min.of(total, heddle.Resource{})
		q.max = q.cfg.Max.of(total, heddle.Unbounded)
		q.max = q.max.Max(q.min)
		q.excused = !v.Queue(heddle.QueueID(i)).Used().Fits(q.max)
	}
}

func (a Amount) of(total, unset heddle.Resource) heddle.Resource {
	if !a.Set {
		return unset
	}
	r := a.Fixed
	for d, f := range a.Fraction {
		if f > 0 {
			u := heddle.Dim(d).Unit()
			r[d] = int64(float64(total[d]/u)*f) * u
		}
	}
	return r
}

// Queue implements [policy.Order] by the parent's policy.
func (s *Scheduler) Queue(v policy.View, q *policy.Queue) policy.Key {
	c := &s.queues[q.ID()]
	p := FairShare
	if q.Parent() != nil {
		p = s.queues[q.Parent().ID()].cfg.Policy
	}
	return s.key(v, p, q.Used(), c.min, c.demand, c.cfg.Weight)
}

// App implements [policy.Order] by the leaf's policy. Ties go to the earlier application.
func (s *Scheduler) App(v policy.View, a *policy.App) policy.Key {
	p := s.queues[a.Queue().ID()].cfg.Policy
	if p == FIFO {
		return policy.Key{}
	}
	st := s.of(a)
	return s.key(v, p, a.Used(), heddle.Resource{}, st.demand, s.weight(st.demand))
}

// Steady implements [policy.Order]: in a FIFO leaf only the order of submission counts.
func (s *Scheduler) Steady(a *policy.App) bool {
	return s.queues[a.Queue().ID()].cfg.Policy == FIFO
}

// weight returns an application's weight: 1, or the logarithm of its demand if weights go by size. Priority has no
// effect, as in Hadoop.
func (s *Scheduler) weight(demand heddle.Resource) float64 {
	if s.cfg.SizeBasedWeight {
		return float64(float32(math.Log1p(float64(demand[heddle.Memory])) / math.Ln2))
	}
	return 1
}

// key orders schedulables. Those below their minimum share come first, by how far below; then the order is by use
// relative to weight. With fair sharing, those that want nothing come last.
func (s *Scheduler) key(v policy.View, p Policy, used, minShare, demand heddle.Resource, weight float64) policy.Key {
	if p == DRF {
		return drfKey(v.Total(), used, minShare, weight)
	}
	m := heddle.Memory
	idle := int64(0)
	if demand[m] == 0 {
		idle = 2
	}
	if least := min(minShare[m], demand[m]); used[m] < least {
		ratio := float64(used[m])
		if least > 1 {
			ratio /= float64(least)
		}
		return policy.Key{idle, bits(ratio)}
	}
	if weight > 0 {
		return policy.Key{idle + 1, bits(float64(used[m]) / weight)}
	}
	return policy.Key{idle + 1, math.MaxInt64, used[m]}
}

// drfKey compares dominant shares relative to weight, with the second-largest share breaking ties.
func drfKey(total, used, minShare heddle.Resource, weight float64) policy.Key {
	first, second, dom := dominant(total, used)
	if used[dom] < minShare[dom] {
		least := 0.0
		for d := range used {
			if heddle.Dim(d) != dom && minShare[d] > 0 {
				least = max(least, float64(used[d])/float64(minShare[d]))
			}
		}
		return policy.Key{0, bits(float64(used[dom]) / float64(minShare[dom])), bits(least)}
	}
	if weight <= 0 {
		return policy.Key{1, math.MaxInt64}
	}
	return policy.Key{1, bits(first / weight), bits(second / weight)}
}

// dominant returns the largest share of the cluster, the second-largest, and the dimension of the largest.
func dominant(total, r heddle.Resource) (first, second float64, dom heddle.Dim) {
	for d := range r {
		if total[d] == 0 {
			continue
		}
		switch sh := float64(r[d]) / float64(total[d]); {
		case sh > first || d == 0:
			first, second, dom = sh, max(first, second), heddle.Dim(d)
		case sh > second:
			second = sh
		}
	}
	return first, second, dom
}

// bits maps a non-negative float to an integer of the same order.
func bits(f float64) int64 { return int64(math.Float64bits(f)) }

func (s *Scheduler) of(a *policy.App) *app {
	for int(a.ID()) >= len(s.apps) {
		s.apps = append(s.apps, app{})
	}
	return &s.apps[a.ID()]
}

// Config returns the configuration the scheduler was made from.
func (s *Scheduler) Config() *Config { return &s.cfg }
