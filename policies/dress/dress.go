package dress

import (
	"slices"
	"strconv"

	"heddle"
	_ "heddle/cluster" // lets the compiler inline the methods of a View and of all below it
	"heddle/policy"
)

// A Scheduler is the reservation: what each category may hold, and its periodic adjustment.
//
// The adjustment is a [policy.Ticker] and not a [policy.Control]: it acts on no container, and between events only the
// passing of time changes anything that Alg. 3 adds up. The scheduler can therefore process intervals that passed
// without an event one by one at the next event, with the outcome they would have had at their time, and need not wake
// a quiet cluster for them.
type Scheduler struct {
	policy.Unshared // categories are not queues, and refuse no application

	o     Options
	est   *Estimator
	alone bool // the estimator gets its events only through the scheduler

	apps  []appState
	alive []heddle.AppID // in order of submission

	// lines holds, by leaf queue, the applications of the last category that wait to begin, the next one first; see
	// Options.Serve.
	lines map[heddle.QueueID][]heddle.AppID
	short bool // every category was short at the last interval (line 12 of Alg. 3)

	ordered bool                     // the profile has an [Order] that uses the categories
	byLeaf  map[heddle.QueueID]*leaf // for that order

	cats  []category
	delta []float64 // by category; they sum to 1
	total heddle.Resource
	next  heddle.Time // of the next adjustment
}

// appState is what the scheduler remembers of an application.
type appState struct {
	known    bool
	classed  bool // it has been classified since there were nodes
	category int
	taken    heddle.Resource // counted in its category: held and reserved
	tasks    int             // likewise: containers and reservations, without the master
	ends     int             // … those that end even if nothing else starts
	peak     heddle.Resource // the most it held and asked for at once, or is expected to, per dimension
	told     bool            // its demand is known from its facts
	expected demand          // of its tasks, as of its submission
	tasked   demand          // the most that it asked for and held, without its master
	want     heddle.Resource // counted in its category: what it waits for
	tired    bool            // it was passed over for Options.Patience
	late     bool            // … and may start one container whatever is reserved
	queued   bool            // it is in one of Scheduler.lines
	queue    heddle.QueueID  // … of this queue
}

// category is the jobs of one category taken together.
type category struct {
	supply
	taken heddle.Resource
	tasks int
	ends  int // tasks that end even if nothing else starts
	want  heddle.Resource
	limit heddle.Resource // what it may take in all
	waits bool            // for anything, now or once one of its jobs has started
	head  heddle.Resource // the container that the first of its jobs waits for; zero if none waits
	stuck bool            // it waits, and none of its tasks ends unless something else starts
	since heddle.Time     // … since when
	due   bool            // … for so long, or with so little else running, that it may start one container before the next interval
}

// of returns the category whose limit applies to an application, or nil if nothing is reserved.
func (s *Scheduler) of(a *policy.App) *category {
	if !s.o.Reserve || int(a.ID()) >= len(s.apps) || !s.apps[a.ID()].known {
		return nil
	}
	return &s.cats[s.apps[a.ID()].category]
}

// Allow implements [policy.Share]: a category takes nothing that is reserved for another, except to start one container
// if it, or one of its applications, would wait for ever or has waited too long.
func (s *Scheduler) Allow(v policy.View, a *policy.App, k heddle.Kind, need heddle.Resource) policy.Verdict {
	c := s.of(a)
	if c == nil {
		return policy.Yes
	}
	st, wants := &s.apps[a.ID()], c.taken.Plus(need)
	switch {
	case c.due, st.late:
		return policy.Yes
	case k != heddle.AM && !s.begins(v, a, st):
		return policy.NoApp(heddle.ShareLimit)
	case v.Fits(wants, c.limit):
		return policy.Yes
	case a.Bookings() > 0 && v.Fits(wants.Minus(a.Booked()), c.limit):
		return policy.Verdict{Unbook: true}
	}
	return policy.NoApp(heddle.ShareLimit)
}

// Unbook implements [policy.Share]: it returns the amount by which the category would exceed its limit.
func (s *Scheduler) Unbook(_ policy.View, a *policy.App, need heddle.Resource) heddle.Resource {
	c := s.of(a)
	if c == nil {
		return heddle.Resource{}
	}
	return c.taken.Plus(need).Minus(c.limit).Max(heddle.Resource{})
}

// Headroom implements [policy.Share]: it returns what is left of the category's part.
func (s *Scheduler) Headroom(v policy.View, a *policy.App) heddle.Resource {
	free := v.Total().Minus(v.Used()).Max(heddle.Resource{})
	c := s.of(a)
	if c == nil {
		return free
	}
	left := c.limit.Minus(c.taken).Max(heddle.Resource{})
	for d := range left {
		if !v.Counts(heddle.Dim(d)) { // nothing is reserved of it
			left[d] = free[d]
		}
	}
	return left
}

// Limit implements [policy.Limiter]: the limit is what is not reserved for the other categories. For an application
// that waits to begin, it includes the place in the line of its queue.
func (s *Scheduler) Limit(v policy.View, k *policy.Ask, _ heddle.Why) (policy.Limit, bool) {
	c := s.of(k.App())
	if c == nil {
		return policy.Limit{}, false
	}
	st := &s.apps[k.App().ID()]
	category := st.category
	what, theta := "containers of small applications", strconv.FormatFloat(s.o.Theta[min(category, len(s.o.Theta)-1)], 'g', -1, 64)
	switch {
	case category == len(s.cats)-1:
		what = "containers of large applications"
	case category > 0:
		what = "containers of applications of size " + strconv.Itoa(category+1)
	}
	l := policy.Limit{
		What: what, Queue: heddle.NoQueue, Most: c.limit, Used: c.taken,
		By: []string{"theta = " + theta, "delta_max = " + strconv.FormatFloat(s.o.DeltaMax, 'g', -1, 64)},
		Holds: func(a *policy.App) (heddle.Resource, bool) {
			return a.Used(), s.of(a) == c
		},
	}
	if k.Kind() != heddle.AM && !s.begins(v, k.App(), st) {
		l.By = append(l.By, "serve = "+serveListed)
		l.Place, l.Line = s.place(k.App())
	}
	return l, true
}

// Needs implements [policy.Needer].
func (s *Scheduler) Needs() policy.Needs {
	needs := policy.Needs{Feeds: policy.Feeds{Sizes: true}}
	if s.o.Release && s.o.Adjust && s.o.Reserve {
		needs.Feeds = needs.And(s.est.Needs().Feeds)
	}
	return needs
}

// Hears implements [policy.Listener].
func (s *Scheduler) Hears() policy.News {
	own := policy.NodesChanged | policy.AppAdded | policy.AppDone | policy.AppMoved | policy.AppRetried | policy.AppAsked |
		policy.Reserved | policy.Unreserved | policy.Recounted | policy.Granted | policy.Adopted | policy.Resized | policy.Ended
	if s.alone {
		own |= s.est.Hears()
	}
	return own
}

// Hear implements [policy.Listener].
func (s *Scheduler) Hear(v policy.View, e policy.Effect) {
	if s.alone {
		s.est.Hear(v, e)
	}
	switch e.What {
	case policy.NodeUp, policy.NodeDown, policy.NodeResized:
		s.total = v.Total()
		for _, id := range s.alive {
			s.refresh(v, v.App(id))
		}
		s.limits(v)
	case policy.AppAdded:
		s.submitted(v, e.App)
	case policy.AppDone:
		s.forget(e.App.ID())
	case policy.AppRetried:
		s.apps[e.App.ID()].again()
		s.refresh(v, e.App)
	case policy.Ended:
		s.refresh(v, e.App)
		s.freed(v, e)
	case policy.Granted, policy.Reserved:
		s.refresh(v, e.App)
		if c := s.of(e.App); c != nil {
			c.due = false
			s.apps[e.App.ID()].tired, s.apps[e.App.ID()].late = false, false
		}
	case policy.Started: // for the estimator
	default: // the application's holdings or requests changed
		s.refresh(v, e.App)
	}
}

func (s *Scheduler) submitted(v policy.View, a *policy.App) {
	id := a.ID()
	for int(id) >= len(s.apps) {
		s.apps = append(s.apps, appState{})
	}
	s.apps[id] = appState{known: true, told: a.Facts().Demand.Containers > 0, expected: expects(a)}
	s.alive = append(s.alive, id)
	s.apps[id].peak = s.apps[id].expected.total.Plus(a.Pending())
	s.recount(v, a, true)
}

func (s *Scheduler) forget(id heddle.AppID) {
	st := &s.apps[id]
	s.count(st, heddle.Resource{}, heddle.Resource{}, 0, 0)
	s.leaves(id)
	s.alive = slices.DeleteFunc(s.alive, func(b heddle.AppID) bool { return b == id })
	*st = appState{}
}

// refresh updates what is counted for an application, and its category.
func (s *Scheduler) refresh(v policy.View, a *policy.App) {
	st := &s.apps[a.ID()]
	peak, now := st.peak, asked(a)
	if !st.told {
		peak = peak.Max(a.Used().Plus(a.Pending()))
	}
	grown := peak != st.peak || now.containers > st.tasked.containers
	st.peak = peak
	st.tasked = st.tasked.most(now)
	s.recount(v, a, grown)
}

// recount updates the counts and the category from the recorded demand; grown says whether that is more than ever
// before.
func (s *Scheduler) recount(v policy.View, a *policy.App, grown bool) {
	st := &s.apps[a.ID()]
	s.count(st, heddle.Resource{}, heddle.Resource{}, 0, 0)
	if s.total != (heddle.Resource{}) {
		st.category = s.category(v, st, grown || !st.classed)
		st.classed = true
	}
	s.count(st, a.Used().Plus(a.Booked()), s.wants(a, st, v.Now()), tasksOf(a), endsOf(a))
	s.queues(a)
}

// tasksOf returns the number of containers and reservations of an application, without its master.
func tasksOf(a *policy.App) int {
	n := a.Bookings()
	for k := heddle.AM + 1; k < heddle.NumKinds; k++ {
		n += a.Running(k)
	}
	return n
}

// endsOf returns the number of an application's tasks that end even if nothing else starts: reservations do not, nor do
// reduces while maps wait for containers.
func endsOf(a *policy.App) int {
	n := tasksOf(a) - a.Bookings()
	if a.Waiting(heddle.Map) > 0 {
		n -= a.Running(heddle.Reduce)
	}
	return n
}

// count replaces what an application contributes to its category.
func (s *Scheduler) count(st *appState, taken, want heddle.Resource, tasks, ends int) {
	c := &s.cats[st.category]
	c.taken = c.taken.Plus(taken).Minus(st.taken)
	c.want = c.want.Plus(want).Minus(st.want)
	c.tasks += tasks - st.tasks
	c.ends += ends - st.ends
	st.taken, st.want, st.tasks, st.ends = taken, want, tasks, ends
}
