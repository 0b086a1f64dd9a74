package fair

import (
	"math"
	"slices"

	"heddle"
	"heddle/policy"
)

const (
	bisections = 25
	unlimited  = math.MaxInt64 / 2
)

// Ticks implements [policy.Ticker].
func (s *Scheduler) Ticks() (every, phase heddle.Span) {
	return s.cfg.UpdateInterval, s.cfg.UpdatePhase
}

// Tick implements [policy.Ticker]. It updates demand, then fair shares.
func (s *Scheduler) Tick(v policy.View) bool {
	if !s.dirty {
		return false
	}
	s.dirty = false
	s.resize(v)
	for i := range slices.Backward(s.queues) { // children come after their parents
		s.updateDemand(v, v.Queue(heddle.QueueID(i)))
	}
	s.queues[0].fair = v.Total()
	for i := range s.queues {
		s.share(v, v.Queue(heddle.QueueID(i)))
		s.openOf(v, s.queues[i].masters)
	}
	return true
}

func (s *Scheduler) updateDemand(_ policy.View, q *policy.Queue) {
	c := &s.queues[q.ID()]
	c.demand = heddle.Resource{}
	for _, a := range q.Apps() {
		st := s.of(a)
		st.demand = a.Used().Plus(a.Pending())
		c.demand = c.demand.Plus(st.demand)
	}
	for _, child := range q.Children() {
		c.demand = c.demand.Plus(s.queues[child.ID()].demand)
	}
	c.demand = c.demand.Min(c.max)
}

// A party is one of those that share.
type party struct {
	weight   float64
	min, max int64
	fixed    int64 // −1 = not fixed
	share    int64
}

// share divides a queue's fair share among its children, or a leaf's among its runnable applications.
func (s *Scheduler) share(v policy.View, q *policy.Queue) {
	c := &s.queues[q.ID()]
	dims := []heddle.Dim{heddle.Memory}
	if c.cfg.Policy == DRF {
		dims = dims[:0]
		for d := range c.fair {
			if v.Total()[d] > 0 {
				dims = append(dims, heddle.Dim(d))
			}
		}
	}
	if c.cfg.Policy == FIFO {
		for i, a := range s.runnable(q) {
			if st := s.of(a); i == 0 {
				st.fair = c.fair
			}
		}
		return
	}
	for _, d := range dims {
		s.shareDim(q, d, c.fair[d]/d.Unit())
	}
}

func (s *Scheduler) shareDim(q *policy.Queue, d heddle.Dim, total int64) {
	unit := d.Unit()
	if q.Leaf() {
		apps := s.runnable(q)
		ps := make([]party, len(apps))
		for i, a := range apps {
			ps[i] = party{weight: s.weight(s.of(a).demand), max: unlimited, fixed: -1}
			if ps[i].weight <= 0 {
				ps[i].fixed = 0
			}
		}
		divide(ps, total)
		for i, a := range apps {
			s.of(a).fair[d] = ps[i].share * unit
		}
		return
	}
	ps := make([]party, len(q.Children()))
	for i, child := range q.Children() {
		c := &s.queues[child.ID()]
		ps[i] = party{weight: c.cfg.Weight, min: c.min[d] / unit, max: min(c.max[d]/unit, unlimited), fixed: -1}
		switch {
		case ps[i].max <= 0 || c.runnable == 0:
			ps[i].fixed = 0
		case c.cfg.Weight <= 0:
			ps[i].fixed = max(ps[i].min, 0)
		}
	}
	divide(ps, total)
	for i, child := range q.Children() {
		s.queues[child.ID()].fair[d] = ps[i].share * unit
	}
}

func (s *Scheduler) runnable(q *policy.Queue) []*policy.App {
	var out []*policy.App
	for _, a := range q.Apps() {
		if s.of(a).runnable {
			out = append(out, a)
		}
	}
	return out
}

// divide finds the ratio of share to weight at which the shares, kept between minimum and maximum, use up the total. It
// doubles the ratio until it is bracketed, then bisects.
func divide(ps []party, total int64) {
	var most int64
	free := false
	for i := range ps {
		p := &ps[i]
		if p.fixed >= 0 {
			p.share = p.fixed
			total -= p.fixed
			continue
		}
		free = true
		most = min(most+p.max, unlimited)
	}
	if !free {
		return
	}
	total = min(max(total, 0), most)
	right := 1.0
	for used(ps, right) < total {
		right *= 2
	}
	left := 0.0
	for range bisections {
		mid := (left + right) / 2
		switch u := used(ps, mid); {
		case u == total:
			right = mid
			left = mid
		case u < total:
			left = mid
		default:
			right = mid
		}
		if left == right {
			break
		}
	}
	for i := range ps {
		if ps[i].fixed < 0 {
			ps[i].share = ps[i].at(right)
		}
	}
}

func (p *party) at(ratio float64) int64 {
	return int64(min(max(p.weight*ratio, float64(p.min)), float64(p.max)))
}

func used(ps []party, ratio float64) int64 {
	var sum int64
	for i := range ps {
		if ps[i].fixed < 0 {
			sum = min(sum+ps[i].at(ratio), unlimited)
		}
	}
	return sum
}
