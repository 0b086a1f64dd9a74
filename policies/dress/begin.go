package dress

import (
	"cmp"
	"slices"

	"heddle"
	"heddle/policy"
)

// In which order jobs of the last category begin, and with how much room: [Options.Serve].

// begins reports whether an application may start its first task, given the other applications that wait to begin.
// Applications of another queue do not matter: whatever holds their first one back, such as the limit of their queue,
// does not concern this one.
func (s *Scheduler) begins(v policy.View, a *policy.App, st *appState) bool {
	last := len(s.cats) - 1
	if s.o.Serve != serveListed || st.category != last || st.tasks > 0 || st.tired || s.cats[last].tasks == 0 {
		return true
	}
	// Without patience, no application waits for a first one that has room and does not begin: something else holds it
	// back.
	if first, ok := s.first(a.Queue().ID()); ok && first != a.ID() && (s.o.Patience >= 0 || !s.hasRoom(v, v.App(first))) {
		return false
	}
	return s.hasRoom(v, a)
}

// hasRoom reports whether there is the room that an application of the last category has to wait for. While every
// category is short, this is room for all it asks for, unless that is too much to wait for.
func (s *Scheduler) hasRoom(v policy.View, a *policy.App) bool {
	c, all := &s.cats[len(s.cats)-1], a.Pending()
	return !s.short || !v.Fits(all.Plus(all), c.limit) || v.Fits(c.taken.Plus(all), c.limit)
}

// waits reports whether an application of the last category asks for tasks and has none yet.
func (s *Scheduler) waits(st *appState) bool {
	return st.category == len(s.cats)-1 && st.tasks == 0 && !st.starts() && !st.want.IsZero()
}

// first returns the application that begins next in a queue's line, if there is one.
func (s *Scheduler) first(q heddle.QueueID) (heddle.AppID, bool) {
	if line := s.lines[q]; len(line) > 0 {
		return line[0], true
	}
	return heddle.NoApp, false
}

// place returns the place of an application, from 1, in the line of its queue, and the length of the line.
func (s *Scheduler) place(a *policy.App) (place, line int) {
	of := s.lines[a.Queue().ID()]
	return slices.Index(of, a.ID()) + 1, len(of)
}

// queues keeps an application in the line of its queue for as long as it waits. A new one goes to the end.
func (s *Scheduler) queues(a *policy.App) {
	st, q := &s.apps[a.ID()], a.Queue().ID()
	waits := s.o.Serve == serveListed && s.waits(st)
	if st.queued && (!waits || st.queue != q) { // it begins, asks for nothing any more, or was moved
		s.leaves(a.ID())
	}
	if waits && !st.queued {
		s.lines[q], st.queued, st.queue = append(s.lines[q], a.ID()), true, q
	}
}

// sort sorts the lines by ascending demand (line 13 of Alg. 3). It reports whether their order changed.
func (s *Scheduler) sort(v policy.View) (changed bool) {
	ascending := func(a, b heddle.AppID) int {
		return cmp.Compare(share(v, s.apps[a].want, s.total), share(v, s.apps[b].want, s.total))
	}
	for _, line := range s.lines { // order: no line knows another
		if !slices.IsSortedFunc(line, ascending) {
			slices.SortStableFunc(line, ascending)
			changed = true
		}
	}
	return changed
}

// leaves removes an application from its line.
func (s *Scheduler) leaves(id heddle.AppID) {
	st := &s.apps[id]
	if st.queued {
		s.lines[st.queue] = slices.DeleteFunc(s.lines[st.queue], func(b heddle.AppID) bool { return b == id })
		st.queued = false
	}
}
