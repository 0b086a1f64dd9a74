package hadoop_test

import (
	"sync"
	"testing"
	"time"

	"heddle"
	"heddle/cluster"
	"heddle/policies"
	"heddle/policy"
)

// A witness is a policy that does nothing. It needs everything that masters can report, and records when each fact
// about applications was first known, to a second.
type witness struct {
	remaining policy.Remaining

	mu   sync.Mutex
	apps map[heddle.AppID]*witnessed
	over bool // nothing more is recorded
}

// A witnessed is what was known about an application, and when.
type witnessed struct {
	framework heddle.Framework
	maps      int32 // the number it was known to have, when that was first known
	mapsAt    time.Time
	askedAt   time.Time                  // when it asked for maps
	moved     [heddle.NumKinds]time.Time // when a task of a kind was known to be in progress
	peak      [heddle.NumKinds]time.Time // when the usage of ended tasks of a kind was known
	phases    map[heddle.Phase]bool
	guesses   map[heddle.ContainerID][]guess // how long its reduces were expected to go on
	until     map[heddle.ContainerID]time.Time
	from      map[heddle.ContainerID]time.Time
}

// A guess is how long a container was expected to go on.
type guess struct {
	at   time.Time
	rest time.Duration
}

// watch adds a witness to the table of policies: the control "witness".
func watch(t *testing.T) *witness {
	t.Helper()
	w := &witness{apps: map[heddle.AppID]*witnessed{}}
	policies.Table.Control["witness"] = func(a policy.Args) (policy.Control, error) {
		w.remaining = a.Remaining
		return w, a.Decode(&struct{}{})
	}
	t.Cleanup(func() { delete(policies.Table.Control, "witness") })
	return w
}

func (w *witness) Every() heddle.Span { return heddle.Second }

func (w *witness) Needs() policy.Needs {
	return policy.Needs{Feeds: policy.Feeds{Progress: 3 * heddle.Second, Peaks: true, Splits: true}}
}

func (w *witness) Run(v policy.View, _ *policy.Plan) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.over {
		return
	}
	for i := range v.AppIDs() {
		if a := v.App(heddle.AppID(i)); a != nil {
			w.see(v, a, time.Now())
		}
	}
}

// see records what is known about an application now.
func (w *witness) see(v policy.View, a *policy.App, now time.Time) {
	s := w.apps[a.ID()]
	if s == nil {
		s = &witnessed{
			framework: a.Framework(), phases: map[heddle.Phase]bool{}, guesses: map[heddle.ContainerID][]guess{},
			until: map[heddle.ContainerID]time.Time{}, from: map[heddle.ContainerID]time.Time{},
		}
		w.apps[a.ID()] = s
	}
	first := func(at *time.Time, yes bool) {
		if yes && at.IsZero() {
			*at = now
		}
	}
	if n := a.Facts().Maps; n > 0 && s.maps == 0 {
		s.maps, s.mapsAt = n, now
	}
	first(&s.askedAt, a.Waiting(heddle.Map)+a.Running(heddle.Map) > 0)
	for kind := range heddle.Kind(heddle.NumKinds) {
		first(&s.peak[kind], a.Peak(kind) > 0)
	}
	a.Each(func(x *policy.Container) bool {
		if x.State() != cluster.Running {
			return true
		}
		phase, part := x.Progress()
		first(&s.moved[x.Kind()], part > 0)
		s.phases[phase] = true
		if x.Kind() != heddle.Reduce {
			return true
		}
		if s.from[x.ID()].IsZero() {
			s.from[x.ID()] = now
		}
		s.until[x.ID()] = now
		if w.remaining != nil {
			if rest, ok := w.remaining.Remaining(v, x); ok {
				s.guesses[x.ID()] = append(s.guesses[x.ID()], guess{now, time.Duration(rest.Seconds() * float64(time.Second))})
			}
		}
		return true
	})
}

// of returns what was known about the only application of a framework, and ends the recording.
func (w *witness) of(t *testing.T, f heddle.Framework) *witnessed {
	t.Helper()
	w.mu.Lock()
	defer w.mu.Unlock()
	w.over = true
	var found *witnessed
	for _, s := range w.apps { // order: there is one
		if s.framework == f {
			if found != nil {
				t.Fatalf("there is more than one application of %s", f)
			}
			found = s
		}
	}
	if found == nil {
		t.Fatalf("there is no application of %s", f)
	}
	return found
}
