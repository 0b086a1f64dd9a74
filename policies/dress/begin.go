package dress

import (
	"slices"

	"heddle"
	"heddle/policy"
)

// In which order jobs of the last category begin, and with how much: [Options.Serve].

// begins reports whether an application may have a first task as far as others are concerned that wait to begin.
func (s *Scheduler) begins(v policy.View, a *policy.App, st *appState) bool {
	last := len(s.cats) - 1
	c := &s.cats[last]
	if s.o.Serve != serveListed || st.category != last || st.tasks > 0 || st.tired || c.tasks == 0 {
		return true
	}
	if first, ok := s.first(); ok && first != a.ID() {
		return false
	}
	all := a.Pending()
	return !v.Fits(all.Plus(all), c.limit) || v.Fits(c.taken.Plus(all), c.limit)
}

// waits reports whether an application of the last category asks for tasks and has none yet.
func (s *Scheduler) waits(st *appState) bool {
	return st.category == len(s.cats)-1 && st.tasks == 0 && !st.starts() && !st.want.IsZero()
}

// first returns the application of the queue that begins next, as far as there is one.
func (s *Scheduler) first() (heddle.AppID, bool) {
	for len(s.queue) > 0 {
		st := &s.apps[s.queue[0]]
		if s.waits(st) {
			return s.queue[0], true
		}
		st.queued = false
		s.queue = s.queue[:copy(s.queue, s.queue[1:])]
	}
	return heddle.NoApp, false
}

// queues puts an application into the queue that has come to wait: behind those that ask for as much or less.
func (s *Scheduler) queues(v policy.View, id heddle.AppID) {
	st := &s.apps[id]
	if s.o.Serve != serveListed || st.queued || !s.waits(st) {
		return
	}
	r := share(v, st.want, s.total)
	at := slices.IndexFunc(s.queue, func(b heddle.AppID) bool { return share(v, s.apps[b].want, s.total) > r })
	if at < 0 {
		at = len(s.queue)
	}
	s.queue, st.queued = slices.Insert(s.queue, at, id), true
}
