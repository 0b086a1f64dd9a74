package dress

import (
	"math"
	"slices"

	"heddle"
	"heddle/policy"
)

// Ticks implements [policy.Ticker].
func (s *Scheduler) Ticks() (every, phase heddle.Span) { return s.interval(), 0 }

func (s *Scheduler) interval() heddle.Span { return heddle.Seconds(s.o.Interval) }

// Tick implements [policy.Ticker]: it processes the intervals since the last tick.
func (s *Scheduler) Tick(v policy.View) bool {
	changed := false
	every := heddle.Time(s.interval())
	last := v.Now() - v.Now()%every
	for ; s.next <= last; s.next += every {
		if s.adjustAt(v, s.next) {
			changed = true
		} else if s.resting(v) { // only the last interval matters
			s.next = max(s.next, last-every) // the loop adds one
		}
	}
	return changed
}

// resting reports whether further intervals leave δ unchanged until something happens.
func (s *Scheduler) resting(v policy.View) bool {
	for _, id := range s.alive {
		if a := v.App(id); a != nil && s.o.Patience >= 0 && s.starting(a, &s.apps[id], s.next) {
			return false
		}
	}
	if !s.o.Adjust || !s.o.Release {
		return true
	}
	for _, id := range s.alive {
		if !s.est.resting(id, s.next) {
			return false
		}
	}
	return true
}

// starting reports whether what is reserved because of an application at t ends with its patience.
func (s *Scheduler) starting(a *policy.App, st *appState, t heddle.Time) bool {
	return s.unknown(a, st, t) || a.Master() != nil && s.expecting(a, st, t)
}

// adjustAt processes the interval that ends at t. It reports whether any category's limit changed, or who may be served
// next.
func (s *Scheduler) adjustAt(v policy.View, t heddle.Time) bool {
	if !s.o.Reserve || s.total.IsZero() {
		return false
	}
	for k := range s.cats {
		c := &s.cats[k]
		c.available, c.released = s.delta[k]-share(v, c.taken, s.total), 0
		c.demands, c.head, c.waits, c.keeps = c.demands[:0], heddle.Resource{}, false, false
	}
	waits, late := false, false
	for _, id := range s.alive {
		if a := v.App(id); a != nil {
			waits = s.gather(v, a, t) || waits
			late = s.lateness(a, t) || late
		}
	}
	s.patience(t)
	was, sorted := s.short, false
	s.short = false
	if s.o.Adjust && waits { // if no application waits there is nothing to divide
		supplies := make([]supply, len(s.cats))
		for k := range s.cats {
			slices.Sort(s.cats[k].demands)
			supplies[k] = s.cats[k].supply
			supplies[k].first = share(v, s.cats[k].head, s.total)
		}
		s.short = adjust(s.delta, supplies, s.o.Lend == lendPart)
		bound(s.delta, s.o.DeltaMin, s.o.DeltaMax)
		sorted = s.short && s.sort(v)
	}
	changed := s.limits(v)
	turned := s.ordered && s.turns(v)
	return changed || turned || late || sorted || s.short != was
}

// lateness records whether an application has been passed over for [Options.Patience]. It reports whether this newly
// has an effect.
func (s *Scheduler) lateness(a *policy.App, t heddle.Time) bool {
	st := &s.apps[a.ID()]
	was := st.tired
	st.tired = s.o.Patience >= 0 && !a.Pending().IsZero() && t.Since(a.PassedOver()) >= heddle.Seconds(s.o.Patience)
	st.late = st.tired && s.o.Cap == capLast
	return st.tired && !was && (st.late || s.o.Serve == serveListed)
}

// gather adds what an application wants and is about to release to its category. It reports whether the application
// waits for anything.
func (s *Scheduler) gather(v policy.View, a *policy.App, t heddle.Time) bool {
	st := &s.apps[a.ID()]
	s.count(st, st.taken, s.wants(a, st, t), st.tasks, st.ends) // a master that is gone asks for nothing any more, but no event says so
	s.queues(a)
	c := &s.cats[st.category]
	if st.category < len(s.cats)-1 && s.o.Keep == whileJobs {
		c.keeps = true
	}
	if s.unknown(a, st, t) { // it may belong to any category
		for k := range len(s.cats) - 1 {
			s.cats[k].keeps = true
		}
	}
	if n := st.tasks - a.Bookings(); s.o.Adjust && s.o.Release && n > 0 {
		c.released += s.est.release(a.ID(), t, s.interval()) * share(v, a.UsedByTasks(), s.total) / float64(n)
	}
	r := share(v, st.want, s.total)
	if r == 0 {
		return false
	}
	c.demands, c.waits = append(c.demands, r), true
	if c.head.IsZero() {
		for _, k := range a.Asks() {
			if k.Count() > 0 {
				c.head = k.Size()
				break
			}
		}
	}
	return true
}

// patience finds the categories that are due a container. None of their tasks ends unless something else starts. In
// addition, either this holds for the tasks of every category, so that no end could change it, or they have waited for
// Options.Patience.
func (s *Scheduler) patience(t heddle.Time) {
	ends := 0
	for k := range s.cats {
		ends += s.cats[k].ends
	}
	for k := range s.cats {
		c := &s.cats[k]
		stuck := c.ends == 0 && !c.head.IsZero()
		if stuck && !c.stuck {
			c.since = t
		}
		c.stuck = stuck
		c.due = stuck && (ends == 0 || s.o.Patience >= 0 && t.Since(c.since) >= heddle.Seconds(s.o.Patience))
	}
}

// limits computes what each category may take: everything except what is reserved for the others.
func (s *Scheduler) limits(v policy.View) (changed bool) {
	all := 0.0
	for k := range s.cats {
		all += s.reserve(v, k)
	}
	for k := range s.cats {
		own := s.reserve(v, k)
		part := max(1-(all-own), 0)
		if s.cats[k].due {
			part = max(part, own)
		}
		if s.o.Cap == capLast && k < len(s.cats)-1 {
			part = 1
		}
		var limit heddle.Resource
		for d, n := range s.total {
			limit[d] = int64(math.Round(part * float64(n)))
		}
		changed = changed || limit != s.cats[k].limit
		s.cats[k].limit = limit
	}
	return changed
}

// reserve returns the part that the other categories leave to category k. If k is due a container, the part has room
// for it. δ_max keeps the others from taking all of the last category's part. While the last category waits for
// nothing, its part is no more than it holds: Alg. 3 would give the rest away in any case (line 11).
func (s *Scheduler) reserve(v policy.View, k int) float64 {
	c := &s.cats[k]
	switch {
	case c.due:
		return max(s.delta[k], share(v, c.taken.Plus(c.head), s.total))
	case k == len(s.cats)-1 && s.o.Adjust && !c.waits:
		return min(s.delta[k], share(v, c.taken, s.total))
	}
	return s.delta[k]
}

// freed distributes released room at once, because by the next interval it would be taken. A category of smaller
// demands that is short of it, and may have more, gets it. If there is none, and the category that released it has more
// than it wants, the last category gets it.
func (s *Scheduler) freed(v policy.View, e policy.Effect) {
	if !s.o.Prompt || !s.o.Adjust || !s.o.Reserve || s.total.IsZero() || int(e.App.ID()) >= len(s.apps) || !s.apps[e.App.ID()].known {
		return
	}
	from, last := s.apps[e.App.ID()].category, len(s.cats)-1
	part := share(v, e.Container.Limit(), s.total)
	for k := range from {
		if lack := s.lack(v, k); lack > slack {
			may := s.delta[from] - s.o.DeltaMin
			if from == last {
				may = s.o.DeltaMax - (1 - s.delta[last])
			}
			s.give(v, from, k, min(part, lack, may))
			return
		}
	}
	if from < last && !s.cats[from].keeps {
		s.give(v, from, last, min(part, s.lack(v, last), -s.lack(v, from), s.delta[from]-s.o.DeltaMin))
	}
}

// lack returns how much more a category wants than it has; a negative value is its surplus.
func (s *Scheduler) lack(v policy.View, k int) float64 {
	c := &s.cats[k]
	return share(v, c.want, s.total) + share(v, c.taken, s.total) - s.delta[k]
}

// give moves a part of one category's reserve to another category.
func (s *Scheduler) give(v policy.View, from, to int, part float64) {
	if part > slack {
		s.delta[from] -= part
		s.delta[to] += part
		s.limits(v)
	}
}
