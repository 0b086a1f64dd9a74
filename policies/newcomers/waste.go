package newcomers

import (
	"heddle"
	"heddle/policy"
)

// waste measures how much room was free and held back while an application was refused that would have fitted. It has
// no effect on decisions.
type waste struct {
	refused bool // an application was refused since room for a newcomer was last released

	began, since heddle.Time
	known        bool    // began is set
	idle         float64 // the share of the cluster that has been wasted since then
	sum          float64 // wasted time until then, in seconds of the whole cluster
}

// refuses records that an application is refused because of what is held back.
func (w *waste) refuses(v policy.View, hold heddle.Resource) {
	if !w.refused {
		w.refused = true
		w.settle(v, hold)
	}
}

// settle records that what is held back, free or refused has changed.
func (w *waste) settle(v policy.View, hold heddle.Resource) {
	if !w.known {
		w.known, w.began, w.since = true, v.Now(), v.Now()
	}
	w.sum += w.idle * v.Now().Since(w.since).Seconds()
	w.since, w.idle = v.Now(), 0
	if w.refused {
		free := v.Total().Minus(v.Used()).Max(heddle.Resource{})
		w.idle = hold.Min(free).Share(v.Total())
	}
}

// part returns the wasted part of the cluster's time until now.
func (w *waste) part(now heddle.Time) float64 {
	span := now.Since(w.began).Seconds()
	if !w.known || span <= 0 {
		return 0
	}
	return (w.sum + w.idle*now.Since(w.since).Seconds()) / span
}

// Gauges implements [policy.Gauged]: what is held back, and the part of the cluster's time that this has wasted.
func (s *Share) Gauges(v policy.View, emit func(name string, value float64)) {
	emit("newcomers.held", s.all(v).Share(v.Total()))
	emit("newcomers.waste", s.waste.part(v.Now()))
}

// GaugeWords implements [policy.Gauged].
func (s *Share) GaugeWords(name string) string {
	switch name {
	case "newcomers.held":
		return "The share of the cluster that is held back for applications whose masters start."
	case "newcomers.waste":
		return "The share of the cluster's time so far that was held back while an application was refused that would have fitted."
	}
	return ""
}
