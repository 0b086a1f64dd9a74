// Package shortest serves the application with the least work left first. Before it come applications of which no task
// has run yet, those that lack a single executor to run anything, and those that have only reduces left. No application
// is passed over for ever: one that has asked for longer than patience without being given anything goes before all
// others, the longest passed over first.
//
// The work left is what the application holds and still asks for, and the reduces that it is known to ask for later,
// weighted by how long its containers last relative to what is usual. Nobody says beforehand how long that is: the
// package learns it from containers that ended. It knows nothing of nodes.
//
// # The bound
//
// An application is late when it has been passed over for longer than patience and this has been noticed; the package
// checks every 5 s. Let n other applications have been passed over for longer when it becomes late, and let no task
// hold its room for longer than L. Under profile heddle it is given a container within
//
//	patience + 5 s + (n+1) · 2 · (L + a heartbeat)
//
// if its gate is open: the n others are served before it, those that become late later are served after it, and each
// turn takes at most twice L and a heartbeat. No application passes the first one for what its queue has too little of
// for it, unless masters that wait themselves hold that: after L the queue has room. If no node has room, the next one
// to report is reserved for it: after L that node has room.
//
// The bound does not count how long a gate is closed (the limit on masters, reduces that would be ahead of their maps),
// what other queues and users are owed first, and what masters hold, which end with their jobs: an application that
// waits for a node full of them has other nodes reserved too. A place that is waited for elsewhere (strict locality,
// excluded nodes) counts from when it takes part.
package shortest

import (
	"errors"
	"math"

	"heddle"
	"heddle/policy"
)

// Options are the options of the order.
type Options struct {
	// Patience is how many seconds an application may be passed over before it goes first, behind those that have been
	// passed over for longer.
	Patience float64 `yaml:"patience"`
	// UnstartedFirst serves an application of which no task has run yet before all others of its priority.
	UnstartedFirst bool `yaml:"unstarted_first"`
	// EndingFirst serves an application that asks for reduces and has no maps left before all others of its priority
	// that have begun: its reduces are all that it waits for.
	EndingFirst bool `yaml:"ending_first"`
	// Gather serves a Spark application before all others of its priority that have begun while it lacks a single
	// executor of those that it waits for before it runs anything. It does so for 30 s at most, as the application
	// waits.
	Gather bool `yaml:"gather"`
	// Durations weights the work left by how long containers are held. Without it every container counts alike.
	Durations bool `yaml:"durations"`
}

// Default holds the default options.
var Default = Options{Patience: 600, UnstartedFirst: true, EndingFirst: true, Durations: true}

// An Order serves the least remaining work first.
type Order struct {
	policy.Unsteady

	queues   policy.Order // orders queues; nil = as listed
	o        Options
	patience heddle.Span
	overdue  []heddle.Time // by application: the start of the wait that was found too long
	lengths  policy.Durations

	apps      []gathering    // by application
	gathering []heddle.AppID // applications still waiting for executors, by when that wait ends
}

// New returns the order for a flat list of queues.
func New(a policy.Args) (policy.Order, error) { return Within(a, nil) }

// Within returns the order for the applications of a leaf; another order orders the queues.
func Within(a policy.Args, queues policy.Order) (policy.Order, error) {
	o := Default
	if err := a.Decode(&o); err != nil {
		return nil, err
	}
	if !(o.Patience > 0) || o.Patience > math.MaxInt32 {
		return nil, errors.New("shortest: patience must be above 0 s")
	}
	return &Order{queues: queues, o: o, patience: heddle.Seconds(o.Patience)}, nil
}

// Queue implements [policy.Order].
func (s *Order) Queue(v policy.View, q *policy.Queue) policy.Key {
	if s.queues == nil {
		return policy.Key{}
	}
	return s.queues.Queue(v, q)
}

// The turns within a priority, first to last.
const (
	unstartedTurn int64 = iota
	gatheringTurn
	endingTurn
	othersTurn
)

// App implements [policy.Order]: by patience, then priority, then turn, then work left.
func (s *Order) App(v policy.View, a *policy.App) policy.Key {
	if s.late(a) {
		return policy.Key{math.MinInt64, int64(a.PassedOver())}
	}
	turn := othersTurn
	switch {
	case s.o.UnstartedFirst && !a.Begun():
		turn = unstartedTurn
	case s.o.Gather && s.gathers(a):
		turn = gatheringTurn
	case s.o.EndingFirst && a.Waiting(heddle.Reduce) > 0 && a.MapsOver():
		turn = endingTurn
	}
	return policy.Key{-int64(a.Priority()), turn, int64(s.left(a, v.Total()) * 1e9)}
}

// left returns what an application holds and asks for, as a dominant share of the cluster. With [Options.Durations]
// each container is weighted by how long it is held relative to the usual, and reduces not asked for yet count too.
func (s *Order) left(a *policy.App, total heddle.Resource) float64 {
	share := a.Pending().Plus(a.Used()).Share(total)
	if !s.o.Durations {
		return share
	}
	count, weight := 0, 0.0
	for k := heddle.AM + 1; k < heddle.NumKinds; k++ {
		if n := a.Waiting(k) + a.Running(k); n > 0 {
			count += n
			weight += float64(n) * s.length(a, k)
		}
	}
	if later := int(a.Facts().Reduces) - a.Done(heddle.Reduce) - a.Waiting(heddle.Reduce) - a.Running(heddle.Reduce); later > 0 {
		weight += float64(later) * s.length(a, heddle.Reduce)
	}
	if count == 0 {
		return share
	}
	return share * weight / float64(count)
}

// length returns how long a container of an application is held, as a part of the usual: see [policy.Durations.Usual].
func (s *Order) length(a *policy.App, k heddle.Kind) float64 {
	mean, ok := s.lengths.Of(a, k)
	if !ok {
		return 1
	}
	return max(mean, 1) / max(s.lengths.Usual(k), 1)
}

// late reports whether the application's patience was over when last checked, and it has been given nothing since.
func (s *Order) late(a *policy.App) bool {
	return int(a.ID()) < len(s.overdue) && s.overdue[a.ID()] == a.PassedOver() && !a.Pending().IsZero()
}

// lookEvery is how often the patience of applications is checked.
const lookEvery = 5 * heddle.Second

// Ticks implements [policy.Ticker].
func (s *Order) Ticks() (every, phase heddle.Span) { return lookEvery, 0 }

// Tick implements [policy.Ticker]: keys change when an application's patience, or its time to gather executors, is
// over.
func (s *Order) Tick(v policy.View) bool {
	moved := s.lengths.Learn(v)
	waited := s.gathered(v)
	return s.look(v, v.Root()) || moved && s.o.Durations || waited
}

// Spark runs nothing until this part of the executors that it asked for at first is there, or it has waited for this
// long: spark.scheduler.minRegisteredResourcesRatio and maxRegisteredResourcesWaitingTime, with their values on YARN.
const (
	registeredRatio = 0.8
	registeredWait  = 30 * heddle.Second
)

// A gathering is how many executors an application waits for before it runs anything, 0 once it no longer waits, and
// until when it waits at most.
type gathering struct {
	executors int
	until     heddle.Time
}

// Needs implements [policy.Needer].
func (s *Order) Needs() policy.Needs { return policy.Needs{Feeds: policy.Feeds{Sizes: s.o.Durations}} }

// Hears implements [policy.Listener].
func (s *Order) Hears() policy.News {
	if !s.o.Gather {
		return 0
	}
	return policy.AppAsked | policy.Granted
}

// Hear implements [policy.Listener]. It records what an application asks for first.
func (s *Order) Hear(v policy.View, e policy.Effect) {
	a := e.App
	if e.What == policy.Granted {
		if int(a.ID()) < len(s.apps) && a.Running(heddle.Executor) >= s.apps[a.ID()].executors {
			s.apps[a.ID()].executors = 0
		}
		return
	}
	n := a.Waiting(heddle.Executor)
	if a.Begun() || n == 0 {
		return
	}
	for int(a.ID()) >= len(s.apps) {
		s.apps = append(s.apps, gathering{})
	}
	if g := &s.apps[a.ID()]; g.until == 0 {
		*g = gathering{int(math.Ceil(registeredRatio * float64(n))), v.Now().Plus(registeredWait)}
		s.gathering = append(s.gathering, a.ID())
	}
}

// gathers reports whether an application lacks a single executor to run anything: all that it holds lies idle for want
// of that one. An application that lacks many goes by the work left, since they would take what small jobs wait for.
func (s *Order) gathers(a *policy.App) bool {
	return int(a.ID()) < len(s.apps) && a.Running(heddle.Executor) == s.apps[a.ID()].executors-1
}

// gathered records for which applications the time to wait is over, and reports whether there are any.
func (s *Order) gathered(v policy.View) (some bool) {
	for len(s.gathering) > 0 && s.apps[s.gathering[0]].until <= v.Now() {
		s.apps[s.gathering[0]].executors = 0
		s.gathering, some = s.gathering[1:], true
	}
	return some
}

func (s *Order) look(v policy.View, q *policy.Queue) (changed bool) {
	if !q.Waiting() {
		return false
	}
	for _, kid := range q.Children() {
		changed = s.look(v, kid) || changed
	}
	for _, a := range q.Apps() {
		if a.Pending().IsZero() || v.Now().Since(a.PassedOver()) <= s.patience || s.late(a) {
			continue
		}
		for int(a.ID()) >= len(s.overdue) {
			s.overdue = append(s.overdue, never)
		}
		s.overdue[a.ID()] = a.PassedOver()
		changed = true
	}
	return changed
}

// never is the value in Order.overdue of an application whose patience has never been over.
const never = heddle.Time(math.MinInt64)
