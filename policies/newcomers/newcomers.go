// Package newcomers holds room back for applications whose masters are starting. A master takes seconds to start and
// to ask for its first task. What comes free meanwhile would go to applications that run already, and the new one
// would wait until their tasks end.
//
// For each application that has a master and no task yet, as much as its master holds is kept free, since what it
// will ask for is not known. Applications of which tasks run leave that room; masters and applications of which no
// task runs may take it. It is bounded three times: an application counts for as long as [Options].Wait after its
// master was granted, no more than [Options].Most of the cluster is held back in all, and nobody is passed over for
// longer than [Options].Patience because of it.
package newcomers

import (
	"errors"
	"math"

	"heddle"
	"heddle/policy"
)

// Options are the share's.
type Options struct {
	// Wait is for how many seconds after its master was granted room is held back for an application.
	Wait float64 `yaml:"wait"`
	// Most is the part of the cluster that is held back at most.
	Most float64 `yaml:"most"`
	// Patience is how many seconds an application is passed over at most before it may take what is held back.
	Patience float64 `yaml:"patience"`
}

// Default holds room back for as long as a master usually takes to start and to ask, and a tenth of the cluster at
// most.
var Default = Options{Wait: 10, Most: 0.1, Patience: 60}

// A Share holds room back.
type Share struct {
	// Unshared says what applications are told. What is held back comes free in seconds, and no master should give up
	// tasks for it.
	policy.Unshared

	o       Options
	waiting []newcomer // by the time of the master's grant
	counted []bool     // by application: stands in waiting
	held    heddle.Resource
}

// A newcomer is an application that room is held back for.
type newcomer struct {
	app   heddle.AppID
	until heddle.Time
	room  heddle.Resource
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
	case !(o.Patience > 0) || o.Patience > math.MaxInt32:
		return nil, errors.New("newcomers: patience must be above 0 s")
	}
	return &Share{o: o}, nil
}

// Allow implements [policy.Share].
func (s *Share) Allow(v policy.View, a *policy.App, k heddle.Kind, need heddle.Resource) policy.Verdict {
	if len(s.waiting) == 0 || k == heddle.AM || a.Unserved() || v.Fits(need.Plus(s.hold(v)), v.Total().Minus(v.Used())) ||
		v.Now().Since(a.PassedOver()) > heddle.Seconds(s.o.Patience) {
		return policy.Yes
	}
	return policy.NoApp(heddle.ShareLimit)
}

// hold is what is held back now.
func (s *Share) hold(v policy.View) heddle.Resource {
	hold, total := s.held, v.Total()
	for d := range hold {
		hold[d] = min(hold[d], int64(s.o.Most*float64(total[d])))
	}
	return hold
}

// Hears implements [policy.Listener].
func (s *Share) Hears() policy.News { return policy.Granted | policy.AppRetried | policy.AppDone }

// Hear implements [policy.Listener].
func (s *Share) Hear(v policy.View, e policy.Effect) {
	a, x := e.App, e.Container
	s.forget(a.ID())
	if x != nil && x.Kind() == heddle.AM {
		for int(a.ID()) >= len(s.counted) {
			s.counted = append(s.counted, false)
		}
		s.counted[a.ID()] = true
		s.waiting = append(s.waiting, newcomer{a.ID(), v.Now().Plus(heddle.Seconds(s.o.Wait)), x.Limit()})
		s.held = s.held.Plus(x.Limit())
	}
}

func (s *Share) forget(id heddle.AppID) {
	if int(id) >= len(s.counted) || !s.counted[id] {
		return
	}
	s.counted[id] = false
	for i := range s.waiting {
		if s.waiting[i].app == id {
			s.held = s.held.Minus(s.waiting[i].room)
			s.waiting = append(s.waiting[:i], s.waiting[i+1:]...)
			return
		}
	}
}

// every is how often the time is looked at.
const every = heddle.Second

// Ticks implements [policy.Ticker].
func (s *Share) Ticks() (_, phase heddle.Span) { return every, 0 }

// Tick implements [policy.Ticker]: room is held back no longer for those who asked for nothing in time.
func (s *Share) Tick(v policy.View) bool {
	gone := 0
	for gone < len(s.waiting) && s.waiting[gone].until <= v.Now() {
		s.held = s.held.Minus(s.waiting[gone].room)
		s.counted[s.waiting[gone].app] = false
		gone++
	}
	s.waiting = append(s.waiting[:0], s.waiting[gone:]...)
	return gone > 0 || len(s.waiting) > 0 && s.late(v)
}

// late reports whether the patience of somebody has run out since the last tick.
func (s *Share) late(v policy.View) bool {
	for i := range v.AppIDs() {
		if a := v.App(heddle.AppID(i)); a != nil && !a.Pending().IsZero() {
			if over := v.Now().Since(a.PassedOver()) - heddle.Seconds(s.o.Patience); over > 0 && over <= every+heddle.Second {
				return true
			}
		}
	}
	return false
}

// Check implements [policy.Checker].
func (s *Share) Check(policy.View) []string {
	var sum heddle.Resource
	for i := range s.waiting {
		sum = sum.Plus(s.waiting[i].room)
	}
	if sum != s.held {
		return []string{"newcomers: what is held back is not the sum of what is held back for each"}
	}
	return nil
}
