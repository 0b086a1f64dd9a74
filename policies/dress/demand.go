package dress

import (
	"heddle"
	"heddle/policy"
)

// A demand is what an application's tasks ask for at once; the zero value means that it is not known.
type demand struct {
	total      heddle.Resource
	containers int
}

// most returns the larger of two demands, field by field.
func (d demand) most(e demand) demand {
	return demand{d.total.Max(e.total), max(d.containers, e.containers)}
}

// expects returns what a new application will ask for: what its facts say, else the most that the last two runs of the
// same user and name asked for, else the unknown demand.
func expects(a *policy.App) demand {
	f := a.Facts()
	if f.Demand.Containers > 0 {
		return demand{f.Demand.Total(), int(f.Demand.Containers)}
	}
	return demand{f.Last.Most, int(f.Last.Containers)}
}

// asked returns what an application asks for and holds, not counting its master.
func asked(a *policy.App) demand {
	total, containers := a.Tasks()
	return demand{total, containers}
}

// starts reports whether an application has not asked for any task yet.
func (st *appState) starts() bool { return st.tasked.containers == 0 }

// again records that an application starts once more: its next master will ask for the tasks that it asked for so far.
func (st *appState) again() {
	if !st.told {
		st.expected = st.expected.most(st.tasked)
	}
	st.tasked = demand{}
}

// wants returns what an application waits for at t: what it asks for and, as long as it is about to ask for its first
// tasks, what it is expected to ask for.
func (s *Scheduler) wants(a *policy.App, st *appState, t heddle.Time) heddle.Resource {
	if s.expecting(a, st, t) {
		return a.Pending().Plus(st.expected.total)
	}
	return a.Pending()
}

// expecting reports whether a starting application is expected at t to ask for tasks: until its master has had the
// patience that the options give it. One that asks for nothing by then, such as an interactive session, may not do so
// for hours.
func (s *Scheduler) expecting(a *policy.App, st *appState, t heddle.Time) bool {
	x := a.Master()
	return st.starts() && (x == nil || s.o.Patience < 0 || t.Since(x.Granted()) < heddle.Seconds(s.o.Patience))
}

// unknown reports whether it is unknown at t what a starting application will ask for. After the patience that the
// options give it, it counts as one that asks for nothing.
func (s *Scheduler) unknown(a *policy.App, st *appState, t heddle.Time) bool {
	return st.starts() && st.expected.containers == 0 && (s.o.Patience < 0 || t.Since(a.Submitted()) < heddle.Seconds(s.o.Patience))
}
