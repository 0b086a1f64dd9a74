package fair

import (
	"slices"

	"heddle"
	"heddle/policy"
)

// excuse marks the queues that were brought above their maxima by something no limit was checked for.
func (s *Scheduler) excuse(q *policy.Queue) {
	for ; q != nil; q = q.Parent() {
		if c := &s.queues[q.ID()]; !q.Used().Fits(c.max) {
			c.excused = true
		}
	}
}

// Admit implements [policy.Share]: it accepts everything that is submitted. A running application may move in from
// another queue only if it can go on running: the limits below the ancestor that both queues share must have room for
// it.
func (s *Scheduler) Admit(v policy.View, e *heddle.Submit) heddle.Why {
	a := v.App(e.App)
	if a == nil || !s.of(a).runnable {
		return heddle.Fine
	}
	for q := v.Queue(e.Queue); q != nil && !a.Queue().Within(q); q = q.Parent() {
		c := &s.queues[q.ID()]
		switch {
		case c.cfg.MaxApps != 0 && c.runnable >= c.cfg.MaxApps:
			return heddle.AppLimit
		case !q.Used().Plus(a.Used()).Fits(c.max):
			return heddle.QueueLimit
		}
	}
	return heddle.Fine
}

// moved transfers an application to the leaf it is in now. It is runnable there if that leaf, its ancestors and the user have fewer
// runnable applications than they may. An application that is not runnable keeps what it holds.
func (s *Scheduler) moved(v policy.View, a *policy.App) {
	st, from := s.of(a), s.of(a).queue
	if st.runnable {
		s.count(v, st, -1)
		s.leave(from, a.ID())
	}
	st.queue, st.runnable = a.Queue().ID(), false
	s.excuse(a.Queue())
	s.openMasters(v, from)
	if !slices.Contains(s.parked, a.ID()) {
		s.parked = append(s.parked, a.ID())
	}
	s.unpark(v)
}

// User tells the name of a user, which determines limits. It must be called before the user's first application.
func (s *Scheduler) User(id heddle.UserID, name string) {
	for int(id) >= len(s.names) {
		s.names = append(s.names, "")
	}
	s.names[id] = name
}
