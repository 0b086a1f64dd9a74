package capacity

import (
	"heddle"
	"heddle/policy"
)

// adopted records a container that was found. If it is a master, its application runs whatever the limits on masters
// say. Its queues may exceed their maxima because of it.
func (s *Scheduler) adopted(v policy.View, x *policy.Container) {
	a := x.App()
	s.excuse(v, a.Queue())
	if x.Kind() == heddle.AM {
		s.seat(a)
	}
	s.asked(a) // it may no longer want a master, and its user may now have a running one
}

// excuse marks the queues that were brought above their maxima by something no limit was checked for.
func (s *Scheduler) excuse(v policy.View, q *policy.Queue) {
	for ; q != nil; q = q.Parent() {
		if c := &s.queues[q.ID()]; !v.Fits(q.Used().Plus(q.Booked()), c.max) {
			c.excused = true
		}
	}
}

// seat counts an application as running, with the master it has.
func (s *Scheduler) seat(a *policy.App) {
	st := &s.apps[a.ID()]
	l := s.queues[st.queue].leaf
	u := s.userAt(l, st.user)
	if st.active {
		l.masters, u.masters = l.masters.Minus(st.master), u.masters.Minus(st.master)
	} else {
		l.unline(a.ID())
		u.waiting--
		st.active = true
		s.count(st.queue, 1)
		u.active++
	}
	st.master = a.Master().Limit()
	l.masters, u.masters = l.masters.Plus(st.master), u.masters.Plus(st.master)
	l.recount = true
}

// moved transfers an application to the leaf it is in now. If its master runs, it keeps running; otherwise, as in
// Hadoop, it waits until the new leaf has room for it.
func (s *Scheduler) moved(v policy.View, a *policy.App) {
	top := s.forget(a.ID())
	s.excuse(v, a.Queue())
	s.wait(v, a)
	s.activateBelow(v, top)
}

// reprioritised gives a waiting application its new position in the line.
func (s *Scheduler) reprioritised(v policy.View, a *policy.App) {
	st := &s.apps[a.ID()]
	st.priority = a.Priority()
	if !st.active {
		l := s.queues[st.queue].leaf
		l.unline(a.ID())
		s.line(l, a.ID())
		s.activate(v, st.queue)
	}
}

// User tells the name of a user, which determines weights. It must be called before the user's first application.
func (s *Scheduler) User(id heddle.UserID, name string) {
	for int(id) >= len(s.users) {
		s.users = append(s.users, "")
	}
	s.users[id] = name
}
