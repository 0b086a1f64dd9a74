package dress

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"heddle"
	_ "heddle/cluster" // with it the compiler can inline what a View and all below it are asked for
	"heddle/policy"
)

// A Scheduler is the reservation: what each category may hold, and the periodic adjustment of it.
//
// The adjustment is a [policy.Ticker] and not a [policy.Control]: it acts on no container, and between
// events nothing that Alg. 3 adds up changes except by the passing of time. Intervals that went by without
// an event can therefore be worked off one by one when the next event comes, with the outcome they would
// have had at their time, and a quiet cluster is not woken for them.
type Scheduler struct {
	policy.Unshared // categories are not queues, and turn nobody away

	o     Options
	est   *Estimator
	alone bool // the estimator hears through the scheduler only

	apps  []appState
	alive []heddle.AppID // in order of submission

	cats  []category
	delta []float64 // by category; they sum to 1
	total heddle.Resource
	next  heddle.Time // of the next adjustment
}

// appState is what the scheduler remembers of an application.
type appState struct {
	known    bool
	category int
	taken    heddle.Resource // counted in its category: held and reserved
	tasks    int             // likewise: containers and reservations, the master left out
	peak     heddle.Resource // the most it held and asked for at once, per dimension
	late     bool            // it may start one container whatever is reserved: it was passed over for Options.Patience
}

// category is a category's jobs together.
type category struct {
	supply
	taken heddle.Resource
	tasks int
	limit heddle.Resource // what it may take in all
	head  heddle.Resource // the container that the first of its jobs waits for; zero when none waits
	stuck bool            // it waits, and no task of it runs
	since heddle.Time     // … since when
	due   bool            // … for so long, or with so little around, that it may start one container until the next interval
}

// of returns the category whose limit an application is held to, or nil where nothing is reserved.
func (s *Scheduler) of(a *policy.App) *category {
	if !s.o.Reserve || int(a.ID()) >= len(s.apps) || !s.apps[a.ID()].known {
		return nil
	}
	return &s.cats[s.apps[a.ID()].category]
}

// Allow implements [policy.Share]: a category takes nothing of what is reserved for another, except to start
// one container where it, or one of its applications, would wait for ever or has waited too long.
func (s *Scheduler) Allow(v policy.View, a *policy.App, _ heddle.Kind, need heddle.Resource) policy.Verdict {
	c := s.of(a)
	if c == nil {
		return policy.Yes
	}
	wants := c.taken.Plus(need)
	switch {
	case v.Fits(wants, c.limit), c.due, s.apps[a.ID()].late:
		return policy.Yes
	case a.Bookings() > 0 && v.Fits(wants.Minus(a.Booked()), c.limit):
		return policy.Verdict{Unbook: true}
	}
	return policy.NoApp(heddle.ShareLimit)
}

// Unbook implements [policy.Share]: as much as the category is above its limit.
func (s *Scheduler) Unbook(_ policy.View, a *policy.App, need heddle.Resource) heddle.Resource {
	c := s.of(a)
	if c == nil {
		return heddle.Resource{}
	}
	return c.taken.Plus(need).Minus(c.limit).Max(heddle.Resource{})
}

// Headroom implements [policy.Share]: what is left of the category's part.
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

// Limit implements [policy.Limiter]: what is not reserved for the other categories.
func (s *Scheduler) Limit(_ policy.View, k *policy.Ask, _ heddle.Why) (policy.Limit, bool) {
	c := s.of(k.App())
	if c == nil {
		return policy.Limit{}, false
	}
	category := s.apps[k.App().ID()].category
	what, theta := "containers of small applications", strconv.FormatFloat(s.o.Theta[min(category, len(s.o.Theta)-1)], 'g', -1, 64)
	switch {
	case category == len(s.cats)-1:
		what = "containers of large applications"
	case category > 0:
		what = "containers of applications of size " + strconv.Itoa(category+1)
	}
	return policy.Limit{
		What: what, Queue: heddle.NoQueue, Most: c.limit, Used: c.taken,
		By: []string{"theta = " + theta, "delta_max = " + strconv.FormatFloat(s.o.DeltaMax, 'g', -1, 64)},
		Holds: func(a *policy.App) (heddle.Resource, bool) {
			return a.Used(), s.of(a) == c
		},
	}, true
}

// Needs implements [policy.Needer].
func (s *Scheduler) Needs() policy.Needs {
	if s.o.Release && s.o.Adjust && s.o.Reserve {
		return s.est.Needs()
	}
	return policy.Needs{}
}

// Hears implements [policy.Listener].
func (s *Scheduler) Hears() policy.News {
	own := policy.NodesChanged | policy.AppAdded | policy.AppDone | policy.AppMoved | policy.AppRetried | policy.AppAsked |
		policy.Reserved | policy.Unreserved | policy.Granted | policy.Adopted | policy.Resized | policy.Ended
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
	case policy.Granted, policy.Reserved:
		s.refresh(v, e.App)
		if c := s.of(e.App); c != nil {
			c.due = false
			s.apps[e.App.ID()].late = false
		}
	case policy.Started: // the estimator's
	default: // the application holds or asks for something else than before
		s.refresh(v, e.App)
	}
}

func (s *Scheduler) submitted(v policy.View, a *policy.App) {
	id := a.ID()
	for int(id) >= len(s.apps) {
		s.apps = append(s.apps, appState{})
	}
	s.apps[id] = appState{known: true}
	s.alive = append(s.alive, id)
	s.refresh(v, a)
}

func (s *Scheduler) forget(id heddle.AppID) {
	st := &s.apps[id]
	s.count(st, heddle.Resource{}, 0)
	s.alive = slices.DeleteFunc(s.alive, func(b heddle.AppID) bool { return b == id })
	*st = appState{}
}

// refresh brings what is counted of an application up to date, and its category.
func (s *Scheduler) refresh(v policy.View, a *policy.App) {
	st := &s.apps[a.ID()]
	peak := st.peak.Max(a.Used().Plus(a.Pending()))
	grown := peak != st.peak
	st.peak = peak
	s.count(st, heddle.Resource{}, 0)
	if s.total != (heddle.Resource{}) {
		st.category = s.category(v, st, grown)
	}
	s.count(st, a.Used().Plus(a.Booked()), tasksOf(a))
}

// tasksOf counts what an application holds or has reserved beside its master.
func tasksOf(a *policy.App) int {
	n := a.Bookings()
	for k := heddle.AM + 1; k < heddle.NumKinds; k++ {
		n += a.Running(k)
	}
	return n
}

// count replaces what an application counts for in its category.
func (s *Scheduler) count(st *appState, taken heddle.Resource, tasks int) {
	c := &s.cats[st.category]
	c.taken = c.taken.Plus(taken).Minus(st.taken)
	c.tasks += tasks - st.tasks
	st.taken, st.tasks = taken, tasks
}

// Ticks implements [policy.Ticker].
func (s *Scheduler) Ticks() (every, phase heddle.Span) { return s.interval(), 0 }

func (s *Scheduler) interval() heddle.Span { return heddle.Seconds(s.o.Interval) }

// Tick implements [policy.Ticker]: it works off the intervals since the last one.
func (s *Scheduler) Tick(v policy.View) bool {
	changed := false
	every := heddle.Time(s.interval())
	last := v.Now() - v.Now()%every
	for ; s.next <= last; s.next += every {
		if s.adjustAt(v, s.next) {
			changed = true
		} else if s.resting() { // the last interval alone counts
			s.next = max(s.next, last-every) // the loop adds one
		}
	}
	return changed
}

// resting reports whether further intervals change δ no more until something happens.
func (s *Scheduler) resting() bool {
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

// adjustAt is what an interval that ends at t brings. It reports whether any category's limit changed.
func (s *Scheduler) adjustAt(v policy.View, t heddle.Time) bool {
	if !s.o.Reserve || s.total.IsZero() {
		return false
	}
	for k := range s.cats {
		c := &s.cats[k]
		c.available, c.released = s.delta[k]-share(v, c.taken, s.total), 0
		c.demands, c.head, c.keeps = c.demands[:0], heddle.Resource{}, false
	}
	waits, late := false, false
	for _, id := range s.alive {
		if a := v.App(id); a != nil {
			waits = s.gather(v, a, t) || waits
			late = s.lateness(a, t) || late
		}
	}
	s.patience(t)
	if s.o.Adjust && waits { // with nobody waiting there is nothing to divide
		supplies := make([]supply, len(s.cats))
		for k := range s.cats {
			slices.Sort(s.cats[k].demands)
			supplies[k] = s.cats[k].supply
		}
		adjust(s.delta, supplies)
		bound(s.delta, s.o.DeltaMin, s.o.DeltaMax)
	}
	return s.limits(v) || late
}

// lateness finds out whether an application has been passed over for [Options.Patience], where that is each one's
// own. It reports whether it has become so just now.
func (s *Scheduler) lateness(a *policy.App, t heddle.Time) bool {
	st := &s.apps[a.ID()]
	was := st.late
	st.late = s.o.Cap == capLast && s.o.Patience >= 0 && !a.Pending().IsZero() && t.Since(a.PassedOver()) >= heddle.Seconds(s.o.Patience)
	return st.late && !was
}

// gather adds what an application wants and is about to release to its category. It reports whether the
// application waits for anything.
func (s *Scheduler) gather(v policy.View, a *policy.App, t heddle.Time) bool {
	st := &s.apps[a.ID()]
	c := &s.cats[st.category]
	c.keeps = s.o.Keep == whileJobs && st.category < len(s.cats)-1
	if n := st.tasks - a.Bookings(); s.o.Adjust && s.o.Release && n > 0 {
		held := a.Used()
		if m := a.Master(); m != nil {
			held = held.Minus(m.Limit())
		}
		c.released += s.est.release(a.ID(), t, s.interval()) * share(v, held, s.total) / float64(n)
	}
	r := share(v, a.Pending(), s.total)
	if r == 0 {
		return false
	}
	c.demands = append(c.demands, r)
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

// patience finds the categories that are due a container. None of their tasks runs, and either no task runs at
// all, so that nothing that ends could change that, or they have waited for Options.Patience.
func (s *Scheduler) patience(t heddle.Time) {
	running := 0
	for k := range s.cats {
		running += s.cats[k].tasks
	}
	for k := range s.cats {
		c := &s.cats[k]
		stuck := c.tasks == 0 && !c.head.IsZero()
		if stuck && !c.stuck {
			c.since = t
		}
		c.stuck = stuck
		c.due = stuck && (running == 0 || s.o.Patience >= 0 && t.Since(c.since) >= heddle.Seconds(s.o.Patience))
	}
}

// limits works out what each category may take: everything but what is reserved for the others.
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

// reserve is what the other categories leave to one. One that is due a container has room for that. The last
// category, of which δ_max keeps the others from taking all, has no more than it holds while it waits for
// nothing: Alg. 3 would give the rest away in any case (line 11).
func (s *Scheduler) reserve(v policy.View, k int) float64 {
	c := &s.cats[k]
	switch {
	case c.due:
		return max(s.delta[k], share(v, c.taken.Plus(c.head), s.total))
	case k == len(s.cats)-1 && s.o.Adjust && c.head.IsZero():
		return min(s.delta[k], share(v, c.taken, s.total))
	}
	return s.delta[k]
}

// Gauges implements [policy.Gauged]: δ, the part reserved for the smallest category; with more than two
// categories, that of the others but the last too.
func (s *Scheduler) Gauges(_ policy.View, emit func(name string, value float64)) {
	emit("dress.delta", s.delta[0])
	for k := 1; k < len(s.delta)-1; k++ {
		emit("dress.delta."+strconv.Itoa(k+1), s.delta[k])
	}
}

// GaugeWords implements [policy.Gauged].
func (s *Scheduler) GaugeWords(name string) string {
	switch {
	case name == "dress.delta":
		return "δ: the share of the cluster that DRESS reserves for jobs that ask for little."
	case strings.HasPrefix(name, "dress.delta."):
		return "δ of a further category: the share of the cluster that DRESS reserves for jobs that ask for more than the one before."
	}
	return ""
}

// Check implements [policy.Checker].
func (s *Scheduler) Check(v policy.View) (broken []string) {
	taken, tasks := make([]heddle.Resource, len(s.cats)), make([]int, len(s.cats))
	n := 0
	for id := range v.AppIDs() {
		a := v.App(heddle.AppID(id))
		if a == nil || !s.apps[id].known {
			continue
		}
		k := s.apps[id].category
		taken[k] = taken[k].Plus(a.Used()).Plus(a.Booked())
		tasks[k] += tasksOf(a)
		a.Each(func(x *policy.Container) bool {
			if n++; !s.est.knows(x) {
				broken = append(broken, "dress-owner: a container is not known as its application's")
			}
			return true
		})
	}
	sum := 0.0
	for k := range s.cats {
		if s.cats[k].taken != taken[k] || s.cats[k].tasks != tasks[k] {
			broken = append(broken, "dress-taken: a category counts other than its applications hold")
		}
		sum += s.delta[k]
	}
	for _, j := range s.est.jobs {
		if j != nil {
			n -= len(j.tasks)
		}
	}
	if n != 0 {
		broken = append(broken, "dress-containers: ended containers are remembered")
	}
	if math.Abs(sum-1) > slack*1000 {
		broken = append(broken, "dress-ratio: the ratios do not sum to 1")
	}
	return broken
}
