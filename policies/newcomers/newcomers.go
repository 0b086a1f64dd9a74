// Package newcomers holds room back for applications whose masters are starting. A master takes seconds to start and to
// ask for its first task. Room that comes free meanwhile would go to running applications, and the new one would wait
// until their tasks end.
//
// For each application that has a master and no task yet, the package keeps free as much as the application is expected
// to ask for first: its demand if that is known at submission; else what the last application of the same user and name
// asked for first; else what nine in ten of the applications that asked lately did not exceed. The amount is at least
// as much as its master holds and [Options].Least of the cluster, and at most [Options].Each if that is more.
//
// Large applications leave that room alone: those whose tasks would hold more than [Options].Most of the cluster.
// Masters, applications of which no task runs, and small applications may take it. So may an application that has less
// left than the newcomer is expected to ask for. The room is bounded in three ways: a newcomer counts for at most
// [Options].Wait after its master was granted, no more than [Options].Most of the cluster is held back in all, and no
// application is passed over for longer than [Options].Patience because of it.
//
// Room that is held back lies idle while large applications wait: the gauge newcomers.waste counts that.
// docs/mechanisms.md has the figures next to the results.
package newcomers

import (
	"errors"
	"math"

	"heddle"
	"heddle/policy"
)

// Options are the options of the share.
type Options struct {
	// Wait is for how many seconds after its master was granted room is held back for an application.
	Wait float64 `yaml:"wait"`
	// Most is the largest part of the cluster that is held back for all newcomers together. It is also the most that an
	// application's tasks may hold if the application is to take of that room.
	Most float64 `yaml:"most"`
	// Each is the largest part of the cluster that is held back for one application because it is expected to ask for
	// so much.
	Each float64 `yaml:"each"`
	// Least is the part of the cluster that is held back for an application however little it is expected to ask for.
	Least float64 `yaml:"least"`
	// Patience is how many seconds an application may be passed over before it may take what is held back.
	Patience float64 `yaml:"patience"`
}

// Default holds room back for as long as a master usually takes to start and to ask, and at most a tenth of the
// cluster.
var Default = Options{Wait: 10, Most: 0.1, Each: 0.05, Least: 0.02, Patience: 60}

// A Share holds room back.
type Share struct {
	// Unshared answers what applications are told. Room that is held back comes free in seconds, and no master should
	// give up tasks for it.
	policy.Unshared

	o       Options
	waiting []newcomer // ordered by when the master was granted
	apps    []appState
	held    heddle.Resource
	asks    history
	waste   waste
	looked  heddle.Time // when patience was last checked
}

// A newcomer is an application for which room is held back.
type newcomer struct {
	app     heddle.AppID
	until   heddle.Time
	room    heddle.Resource
	expects float64 // what it is expected to ask for, as a dominant share; 0 if unknown
}

// appState is what is known of an application; states are indexed by application id.
type appState struct {
	counted bool // it is in waiting
	asked   bool // it has asked for a task
}

// New returns the share.
func New(a policy.Args) (policy.Share, error) {
	o := Default
	if err := a.Decode(&o); err != nil {
		return nil, err
	}
	switch {
	case !(o.Wait > 0 && o.Wait <= 3600):
		return nil, errors.New("newcomers: wait must be above 0 s and at most 3600 s")
	case !(o.Most >= 0 && o.Most <= 1):
		return nil, errors.New("newcomers: most must be a part of the cluster, 0 to 1")
	case !(o.Each >= 0 && o.Each <= 1):
		return nil, errors.New("newcomers: each must be a part of the cluster, 0 to 1")
	case !(o.Least >= 0 && o.Least <= 1):
		return nil, errors.New("newcomers: least must be a part of the cluster, 0 to 1")
	case !(o.Patience > 0) || o.Patience > math.MaxInt32:
		return nil, errors.New("newcomers: patience must be above 0 s")
	}
	return &Share{o: o}, nil
}

// Needs implements [policy.Needer].
func (*Share) Needs() policy.Needs { return policy.Needs{Feeds: policy.Feeds{Sizes: true}} }

// Allow implements [policy.Share].
func (s *Share) Allow(v policy.View, a *policy.App, k heddle.Kind, need heddle.Resource) policy.Verdict {
	if len(s.waiting) == 0 || k == heddle.AM || a.Unserved() {
		return policy.Yes
	}
	free := v.Total().Minus(v.Used())
	hold := s.hold(v, a)
	if v.Fits(need.Plus(hold), free) || s.small(v, a, need) || v.Now().Since(a.PassedOver()) > heddle.Seconds(s.o.Patience) {
		return policy.Yes
	}
	if !v.Explaining() && v.Fits(need, free) {
		s.waste.refuses(v, hold)
	}
	return policy.NoApp(heddle.ShareLimit)
}

// small reports whether an application's tasks, with one more, would hold no more than the most that is held back.
func (s *Share) small(v policy.View, a *policy.App, need heddle.Resource) bool {
	return v.Fits(a.UsedByTasks().Plus(need), v.Total().Part(s.o.Most))
}

// all returns what is held back now for all newcomers.
func (s *Share) all(v policy.View) heddle.Resource { return s.held.Min(v.Total().Part(s.o.Most)) }

// hold returns what is held back from an application. It leaves out room for newcomers expected to ask for more than
// the application has left.
func (s *Share) hold(v policy.View, a *policy.App) heddle.Resource {
	left, _ := a.Tasks()
	share, held := left.Share(v.Total()), s.held
	for i := range s.waiting {
		if w := &s.waiting[i]; w.expects > share {
			held = held.Minus(w.room)
		}
	}
	return held.Min(v.Total().Part(s.o.Most))
}

// Hears implements [policy.Listener].
func (s *Share) Hears() policy.News {
	return policy.Granted | policy.Adopted | policy.Resized | policy.Ended | policy.AppAsked | policy.AppRetried | policy.AppDone | policy.NodesChanged
}

// Hear implements [policy.Listener].
func (s *Share) Hear(v policy.View, e policy.Effect) {
	a, x := e.App, e.Container
	if e.What == policy.AppAsked {
		s.learn(a)
		return
	}
	if e.What&(policy.Granted|policy.AppRetried|policy.AppDone) != 0 {
		s.forget(a.ID())
		if x != nil && x.Kind() == heddle.AM {
			s.expect(v, a, x.Limit())
		}
	}
	s.waste.settle(v, s.all(v))
}

// state returns the state of an application.
func (s *Share) state(id heddle.AppID) *appState {
	for int(id) >= len(s.apps) {
		s.apps = append(s.apps, appState{})
	}
	return &s.apps[id]
}

// expect holds room back for an application whose master was granted.
func (s *Share) expect(v policy.View, a *policy.App, master heddle.Resource) {
	total := v.Total()
	expects := s.asks.expects(a, total)
	room := expects.Min(total.Part(s.o.Each)).Max(total.Part(s.o.Least)).Max(master)
	s.state(a.ID()).counted = true
	s.waiting = append(s.waiting, newcomer{a.ID(), v.Now().Plus(heddle.Seconds(s.o.Wait)), room, expects.Share(total)})
	s.held = s.held.Plus(room)
}

// learn remembers what an application asks for first.
func (s *Share) learn(a *policy.App) {
	if st := s.state(a.ID()); !st.asked && a.Unserved() && !a.Begun() && a.Master() != nil {
		st.asked = true
		s.asks.note(a)
	}
}

func (s *Share) forget(id heddle.AppID) {
	if st := s.state(id); !st.counted {
		return
	}
	for i := range s.waiting {
		if s.waiting[i].app == id {
			s.drop(i)
			return
		}
	}
}

// drop stops holding room back for the i-th newcomer. Applications refused because of it are considered again.
func (s *Share) drop(i int) {
	s.apps[s.waiting[i].app].counted = false
	s.held = s.held.Minus(s.waiting[i].room)
	s.waiting = append(s.waiting[:i], s.waiting[i+1:]...)
	s.waste.refused = false
}

// every is how often the policy checks whose time is over.
const every = heddle.Second

// Ticks implements [policy.Ticker].
func (s *Share) Ticks() (_, phase heddle.Span) { return every, 0 }

// Tick implements [policy.Ticker]: it stops holding room back for newcomers that asked for nothing in time.
func (s *Share) Tick(v policy.View) bool {
	looked, before := s.looked, len(s.waiting)
	s.looked = v.Now()
	for len(s.waiting) > 0 && s.waiting[0].until <= v.Now() {
		s.drop(0)
	}
	if len(s.waiting) < before {
		s.waste.settle(v, s.all(v))
		return true
	}
	if len(s.waiting) == 0 {
		return false
	}
	late, _ := policy.Patience(v, heddle.Seconds(s.o.Patience), looked)
	return late
}

// Check implements [policy.Checker].
func (s *Share) Check(policy.View) []string {
	var sum heddle.Resource
	for i := range s.waiting {
		sum = sum.Plus(s.waiting[i].room)
	}
	if sum != s.held {
		return []string{"newcomers: the amount held back is not the sum of the amounts held back for each"}
	}
	return nil
}
