package capacity

import (
	"heddle"
	"heddle/policy"
)

// adopted takes note of a container that was found: whose master it is runs, whatever the limits on masters say, and
// the queues may be above their maxima for it.
func (s *Scheduler) adopted(v policy.View, x *policy.Container) {
	a := x.App()
	s.excuse(v, a.Queue())
	if x.Kind() == heddle.AM {
		s.seat(a)
	}
	s.asked(a) // its master may be wanted no more, and its user have one that runs
}

// excuse notes which queues were brought above their maxima by what no limit was asked for.
func (s *Scheduler) excuse(v policy.View, q *policy.Queue) {
	for ; q != nil; q = q.Parent() {
		if c := &s.queues[q.ID()]; !v.Fits(q.Used().Plus(q.Booked()), c.max) {
			c.excused = true
		}
	}
}

// seat counts an application among those that run, with the master it has.
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
		l.active++
		u.active++
	}
	st.master = a.Master().Limit()
	l.masters, u.masters = l.masters.Plus(st.master), u.masters.Plus(st.master)
	l.recount = true
}

// moved takes an application over into the leaf it is in now. One whose master runs goes on running; as in
// Hadoop any other waits for what the new leaf has room for.
func (s *Scheduler) moved(v policy.View, a *policy.App) {
	from := s.apps[a.ID()].queue
	s.forget(a.ID())
	s.excuse(v, a.Queue())
	s.wait(v, a)
	if a.Master() != nil {
		s.seat(a)
		s.asked(a)
	}
	s.activate(v, from)
}

// reprioritised gives an application that waits its new place among those that do.
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

// User tells the name of a user, which weights go by. It must come before the user's first application.
func (s *Scheduler) User(id heddle.UserID, name string) {
	for int(id) >= len(s.users) {
		s.users = append(s.users, "")
	}
	s.users[id] = name
}
