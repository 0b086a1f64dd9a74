package exp

import (
	"slices"

	"heddle/internal/median"
	"heddle/sim"
)

// An Outcome is the result of an experiment.
type Outcome struct {
	Experiment *Experiment
	Seeds      []uint64
	Metrics    []Judged  // one per metric of the experiment, in order
	Mutations  []Mutated // one per mutation; empty if they were not run
	Effects    []Effect  // the headline without each effect that the world has; empty if it has none, or if this was not run
	Sweeps     []Swept   // one per sweep of the experiment; empty if they were not run
	All        []Runs    // by seed; the first was traced
}

// A Mutated is the result of a mutation: the figures that should be lost with it, in order.
type Mutated struct {
	*Mutation
	Figures []Judged // with the mistake
}

// An Effect is the headline with one effect of the world switched off.
type Effect struct {
	Name    string
	With    float64 // with the same seed in the whole world
	Without float64
	LivesOn bool // the experiment says that its gain depends on this effect
	Defect  bool // … but most of the gain survives without it
	Lost    bool // most of the gain does not survive without it, whatever the experiment says
}

// A Swept is the result of a sweep: one row per arm, one spread per column.
type Swept struct {
	*Sweep
	Cells [][]Spread
}

// judge judges the metrics by the runs of all seeds.
func (e *Experiment) judge(parts []part, seeds []uint64, o *Options) *Outcome {
	out := &Outcome{Experiment: e, Seeds: seeds}
	var null, chance []Runs
	for _, seed := range seeds {
		out.All = append(out.All, runs(parts, seed, -1, e.Arms, nil))
		if o.Null && len(e.Null) > 0 {
			null = append(null, runs(parts, seed, -1, e.Arms, e.Null))
		}
		if o.Null && len(e.Chance) > 0 {
			chance = append(chance, runs(parts, seed, -1, e.Arms, e.Chance))
		}
	}
	for i := range e.Metrics {
		out.Metrics = append(out.Metrics, e.Metrics[i].judge(out.All, null, chance))
	}
	return out
}

// beside adds to an outcome what accompanies the metrics: mutations, effects of the world and sweeps, if they were run.
func (e *Experiment) beside(out *Outcome, parts []part, o *Options) {
	for i := range e.Mutations {
		if o.Mutations {
			out.Mutations = append(out.Mutations, e.mutated(&e.Mutations[i], parts, o))
		}
	}
	if o.Effects && len(e.Metrics) > 0 {
		for _, i := range e.switchable() {
			x := Effect{Name: effects[i].name, LivesOn: slices.Contains(e.LivesOff, effects[i].name)}
			x.With = out.Metrics[0].Ours.Values[0]
			x.Without = e.Metrics[0].Of(runs(parts, o.Seeds[0], i, e.Arms, nil))
			x.judge()
			out.Effects = append(out.Effects, x)
		}
	}
	if o.SweepSeeds > 0 {
		for i := range e.Sweeps {
			out.Sweeps = append(out.Sweeps, e.Sweeps[i].judge(parts, out.All, o))
		}
	}
}

// undecided reports whether more seeds may decide a figure.
func (o *Outcome) undecided() bool {
	return slices.ContainsFunc(o.Metrics, func(m Judged) bool { return m.Verdict == Undecided })
}

// mutated judges the figures that a mutation should lose.
func (e *Experiment) mutated(m *Mutation, parts []part, o *Options) Mutated {
	out := Mutated{Mutation: m}
	var all []Runs
	for _, seed := range o.Seeds[:min(median.Least, len(o.Seeds))] {
		all = append(all, runs(parts, seed, -1, e.Arms, m.Arms))
	}
	for i := range e.Metrics {
		if x := &e.Metrics[i]; slices.Contains(m.Loses, x.Name) {
			out.Figures = append(out.Figures, x.judge(all))
		}
	}
	return out
}

// judge decides whether the headline survives without the effect.
func (x *Effect) judge() {
	x.Lost = x.With > 0 && x.Without < survives*x.With
	x.Defect = x.LivesOn && x.With > 0 && x.Without >= survives*x.With
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
			row[c] = SpreadOf(values)
		}
		out.Cells = append(out.Cells, row)
	}
	return out
}

// resultOf returns the result of an arm of a sweep for a seed. It panics if that was not run.
func resultOf(parts []part, a *Arm, seed uint64) *sim.Result {
	for i := range parts {
		if parts[i].arm == a && parts[i].seed == seed {
			return parts[i].result
		}
	}
	panic("exp: arm " + a.Name + " was not run")
}
