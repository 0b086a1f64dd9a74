package exp

import (
	"fmt"
	"math"
	"slices"

	"heddle/sim"
)

// An Outcome is what an experiment came to.
type Outcome struct {
	Experiment *Experiment
	Seeds      []uint64
	Metrics    []Verdict // one a metric of the experiment, in order
	Effects    []Effect  // the headline without each effect of the world; empty where that was not run
	Sweeps     []Swept   // one a sweep of the experiment; empty where they were not run
	All        []Runs    // of every seed; the first was traced
}

// A Spread is a figure over seeds.
type Spread struct {
	Values            []float64 // by seed
	Median, Low, High float64   // NaN where a value is
}

// A Verdict is a metric's figure and how it stands beside the published one.
type Verdict struct {
	*Metric
	Ours          Spread
	SameDirection bool
	Reached       bool
	Counted       bool   // false for what is only shown
	Why           string // where it is not reached
}

// An Effect is the headline with one effect of the world switched off.
type Effect struct {
	Name    string
	With    float64 // the same seed in the whole world
	Without float64
	LivesOn bool // the experiment says that its gain lives off this effect
	Defect  bool // … and most of the gain survives without it
	Lost    bool // most of the gain does not survive without it, whatever the experiment says
}

// A Swept is what a sweep came to: a row an arm, a spread a column.
type Swept struct {
	*Sweep
	Cells [][]Spread
}

// Shares that decide on what is reached.
const (
	enoughGain = 0.8  // of the published effect
	mostCost   = 1.25 // of the published loss
	levelBand  = 0.2  // around the published value
	survives   = 0.8  // of a gain without an effect: it does not live off it
)

func (e *Experiment) judge(parts []part, o *Options) *Outcome {
	out := &Outcome{Experiment: e, Seeds: o.Seeds}
	for _, seed := range o.Seeds {
		out.All = append(out.All, runs(parts, seed, -1, e.Arms))
	}
	for i := range e.Metrics {
		out.Metrics = append(out.Metrics, e.Metrics[i].judge(out.All))
	}
	if o.Effects && len(e.Metrics) > 0 {
		for i, f := range effects {
			x := Effect{Name: f.name, LivesOn: slices.Contains(e.LivesOff, f.name)}
			x.With = out.Metrics[0].Ours.Values[0]
			x.Without = e.Metrics[0].Of(runs(parts, o.Seeds[0], i, e.Arms))
			x.judge()
			out.Effects = append(out.Effects, x)
		}
	}
	if o.SweepSeeds > 0 {
		for i := range e.Sweeps {
			out.Sweeps = append(out.Sweeps, e.Sweeps[i].judge(parts, out.All, o))
		}
	}
	return out
}

// judge says whether the headline survives without the effect.
func (x *Effect) judge() {
	x.Lost = x.With > 0 && x.Without < survives*x.With
	x.Defect = x.LivesOn && x.With > 0 && x.Without >= survives*x.With
}

func (m *Metric) judge(all []Runs) Verdict {
	v := Verdict{Metric: m, Counted: m.Kind != Measured}
	values := make([]float64, len(all))
	for i := range all {
		values[i] = math.NaN()
		if m.Of != nil {
			values[i] = m.Of(all[i])
		}
	}
	v.Ours = spread(values)
	v.SameDirection, v.Reached = m.stands(v.Ours.Median)
	if m.Kind == Shape {
		v.Reached = m.Holds(all)
		v.SameDirection = v.Reached
	}
	if v.Counted && !v.Reached {
		v.Why = m.Why
		if n := undefined(values); n > 0 && m.Kind != Shape {
			v.Why = fmt.Sprintf("in %d of %d runs a job did not succeed, or there was nothing to measure", n, len(values))
		}
	}
	return v
}

// stands says whether a figure has the published one's direction, and whether it reaches it.
func (m *Metric) stands(ours float64) (same, reached bool) {
	same = ours*m.Published > 0 || ours == 0 && m.Published == 0
	switch {
	case math.IsNaN(ours):
		return false, false
	case m.Kind == Gain && m.Published >= 0:
		return same, ours >= enoughGain*m.Published
	case m.Kind == Gain:
		return same, ours <= enoughGain*m.Published
	case m.Kind == Cost:
		return same, ours <= mostCost*m.Published
	case m.Kind == Level:
		return same, math.Abs(ours-m.Published) <= levelBand*math.Abs(m.Published)
	}
	return same, false
}

func (s *Sweep) judge(parts []part, all []Runs, o *Options) Swept {
	out := Swept{Sweep: s}
	n := min(o.SweepSeeds, len(o.Seeds))
	for a := range s.Arms {
		row := make([]Spread, len(s.Columns))
		for c := range s.Columns {
			values := make([]float64, n)
			for i := range n {
				values[i] = s.Columns[c].Of(all[i].Arm(s.Base), resultOf(parts, &s.Arms[a], o.Seeds[i]))
			}
			row[c] = spread(values)
		}
		out.Cells = append(out.Cells, row)
	}
	return out
}

// resultOf returns the run of an arm of a sweep.
func resultOf(parts []part, a *Arm, seed uint64) *sim.Result {
	for i := range parts {
		if parts[i].arm == a && parts[i].seed == seed {
			return parts[i].result
		}
	}
	panic("exp: arm " + a.Name + " was not run")
}

func undefined(values []float64) (n int) {
	for _, v := range values {
		if math.IsNaN(v) {
			n++
		}
	}
	return n
}

// Median is the median of values without NaN: the middle one, or the mean of the two in the middle.
func Median(values []float64) float64 {
	v := slices.Sorted(slices.Values(values))
	if len(v) == 0 {
		return math.NaN()
	}
	return (v[(len(v)-1)/2] + v[len(v)/2]) / 2
}
