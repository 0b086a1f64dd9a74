package exp

import (
	"fmt"
	"math"
	"slices"

	"heddle/internal/median"
)

// Verdict says how a figure compares with the published one.
type Verdict uint8

// The verdicts. The first four count; the others are only shown.
const (
	Lost         Verdict = iota // not reached
	Undecided                   // the interval of the median spans the threshold
	Reached                     // see [Kind]
	Exceeded                    // better than published by more than half, or a cost that turned out to be none
	NullReaches                 // the null arm reaches it too, or has most of it
	Unattainable                // no schedule reaches it in this set-up: see [Metric].Bound
	OfSetUp                     // a baseline's figure
	OnlyMeasured                // there is nothing to reach
)

// String returns the verdict as it appears in JSON and in tables.
func (v Verdict) String() string {
	return [...]string{"lost", "undecided", "reached", "exceeded", "null", "unattainable", "set-up", "measured"}[v]
}

// Counted reports whether a figure with this verdict is among those that could be reached.
func (v Verdict) Counted() bool { return v <= Exceeded }

// Good reports whether the figure is reached or exceeded.
func (v Verdict) Good() bool { return v == Reached || v == Exceeded }

// The thresholds that decide what is reached.
const (
	enoughGain = 0.8  // of the published effect
	mostGain   = 1.5  // of the published effect; above it, the figure is exceeded
	mostCost   = 1.25 // of the published loss
	levelBand  = 0.2  // around the published value
	survives   = 0.8  // part of a gain that remains without an effect, or without the mechanism, if it does not depend on it
)

// A Judged is a metric's figure and how it compares with the published one.
type Judged struct {
	*Metric
	Ours          Spread
	Null          Spread // of the null arms, or of the chance arms if only these reach it, over the seeds that have one; no values if none were run
	Limit         Spread // the metric's Bound; no values if it has none
	SameDirection bool
	Verdict       Verdict
	Why           string // if it is lost or undecided
}

func (m *Metric) judge(all []Runs, nulls ...[]Runs) Judged {
	v := Judged{Metric: m, Ours: m.over(all, m.Of), Null: m.over(nil, m.Of), Limit: m.over(all, m.Bound)}
	nothing := false // some null arms reach it, or have most of it
	for i, null := range nulls {
		x := m.over(null, m.Of)
		if defined := slices.DeleteFunc(slices.Clone(x.Values), math.IsNaN); len(defined) > 0 {
			x = SpreadOf(defined) // a failed run must not hide what the others reach
		}
		does := len(null) > 0 && m.doesNothing(null, x.Median, v.Ours.Median)
		if i == 0 || does && !nothing {
			v.Null = x
		}
		nothing = nothing || does
	}
	v.SameDirection, v.Verdict = m.stands(&v.Ours)
	if m.Kind == Shape {
		if v.Verdict = Lost; m.Holds(all) {
			v.Verdict = Reached
		}
		v.SameDirection = v.Verdict == Reached
	}
	switch {
	case v.Verdict.Good() && nothing:
		v.Verdict = NullReaches
	case v.Verdict.Counted() && !v.Verdict.Good() && m.beyond(v.Limit.Median):
		v.Verdict = Unattainable
	}
	if v.Verdict == Lost || v.Verdict == Undecided {
		n := undefined(v.Ours.Values)
		switch v.Why = m.Why; {
		case m.Kind == Shape:
		case n > 0:
			v.Why = fmt.Sprintf("in %d of %d runs a job did not succeed, or there was nothing to measure", n, len(v.Ours.Values))
		case len(v.Ours.Values) < median.Least:
			v.Why = fmt.Sprintf("too few seeds to decide; it takes %d", median.Least)
		}
	}
	return v
}

// over returns the spread of a figure over the runs of all seeds; NaN for a Shape whose figure is not computed.
func (m *Metric) over(all []Runs, of func(Runs) float64) Spread {
	switch {
	case of != nil:
		return over(all, of)
	case m.Kind == Shape:
		return over(all, func(Runs) float64 { return math.NaN() })
	}
	return SpreadOf(nil)
}

// doesNothing reports whether null arms reach the figure, by its median, or have so much of a gain that the gain does
// not depend on the mechanism.
func (m *Metric) doesNothing(null []Runs, figure, ours float64) bool {
	if m.Kind == Shape {
		return m.Holds(null)
	}
	return m.reached(figure) || m.Kind == Gain && figure/ours >= survives
}

// MedianReaches reports whether the median alone is no worse than what counts as reached, however certain that is. For
// a Shape it reports whether it holds.
func (v *Judged) MedianReaches() bool {
	if v.Kind == Shape {
		return v.Verdict == Reached
	}
	return v.reached(v.Ours.Median)
}

// beyond reports whether the published figure lies beyond what any schedule can reach.
func (m *Metric) beyond(bound float64) bool {
	if math.IsNaN(bound) || m.Kind != Gain && m.Kind != Cost {
		return false
	}
	return !m.reached(bound)
}

// stands reports whether a figure has the direction of the published one, and how it compares with it.
func (m *Metric) stands(s *Spread) (same bool, v Verdict) {
	ours := s.Median
	same = ours*m.Published > 0 || m.Published == 0 && m.reached(ours)
	switch {
	case m.Kind == Measured:
		return same, OnlyMeasured
	case m.Kind == SetUp:
		return same, OfSetUp
	case math.IsNaN(ours):
		return false, Lost
	case math.IsInf(s.From, 0), m.reached(s.From) != m.reached(s.To), m.reached(ours) != m.reached(s.From):
		return same, Undecided
	case m.Kind == Level && !m.reached(ours) && s.From < m.Published && m.Published < s.To: // it spans the whole band
		return same, Undecided
	case !m.reached(ours):
		return same, Lost
	case m.Published == 0: // being as good as the other is enough
	case m.Kind == Gain && math.Abs(ours) > mostGain*math.Abs(m.Published), m.Kind == Cost && !same:
		return same, Exceeded
	}
	return same, Reached
}

// reached reports whether a figure is no worse than what counts as reached.
func (m *Metric) reached(ours float64) bool {
	switch {
	case m.Kind == Gain && m.Published >= 0:
		return ours >= enoughGain*m.Published
	case m.Kind == Gain:
		return ours <= enoughGain*m.Published
	case m.Kind == Cost:
		return ours <= mostCost*m.Published
	case m.Kind == Level:
		return math.Abs(ours-m.Published) <= levelBand*math.Abs(m.Published)
	}
	return false
}

func undefined(values []float64) (n int) {
	for _, v := range values {
		if math.IsNaN(v) {
			n++
		}
	}
	return n
}
