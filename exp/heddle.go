package exp

import (
	"math"
	"slices"

	"heddle"
	"heddle/sim"
)

// heddleMethod is what all of Heddle's own experiments share.
const heddleMethod = `The work, the cluster and the settings are those of the paper's own experiment. The profile ` + "`heddle`" + ` replaces its system whole; where the cluster has
slots that its nodes' sizes do not express, its lanes keep to them and maps are not shrunk. Nothing was published: what is stated is the goal, to be at least as good as the paper's system alone.
`

// A rival is an experiment of a paper and what heddle is held against in it.
type rival struct {
	of       func() Experiment
	baseline string   // arm
	system   string   // arm: the paper's system
	set      []string // changes of heddle that the cluster asks for
	headline string   // what is compared beside the mean JCT of all jobs
	value    func(r *sim.Result) float64
}

// slotLanes keep heddle to fixed slots.
func slotLanes(maps, reduces string) string {
	return "lanes=[{kinds: [am, executor, other], order: shortest}, {kinds: [map], order: shortest, per_node: " + maps +
		"}, {kinds: [reduce], order: shortest, per_node: " + reduces + "}]"
}

// heddleExperiments hold the profile heddle against each system on the work of that system's paper.
func heddleExperiments() []Experiment {
	small := func(r *sim.Result) float64 { return MeanJCT(r, dressSmall) }
	var out []Experiment
	for _, x := range []rival{
		{of: func() Experiment { return named(dressExperiments(), "dress-mixed-10") }, baseline: "capacity", system: "dress", headline: "mean JCT of small jobs", value: small},
		{of: func() Experiment { return named(dressExperiments(), "dress-mixed-40") }, baseline: "capacity", system: "dress", headline: "mean JCT of small jobs", value: small},
		{of: cpSequence, baseline: cpFair, system: cpCoupling, set: []string{slotLanes("4", "2"), "masters=at-once", "trim.map=whole"}, headline: "mean JCT of jobs with reduces", value: func(r *sim.Result) float64 {
			return MeanJCT(r, cpReducing)
		}},
		{of: ikOverall, baseline: ikCluster, system: ikAll, headline: "mean JCT of Spark", value: func(r *sim.Result) float64 { return MeanJCT(r, Of(heddle.Spark)) }},
		{
			of: func() Experiment { return named(adaptcontExperiments(), "adaptcont-all-mixed") }, baseline: "Capacity, YARN", system: "Capacity, Dynamic",
			set: []string{
				"lanes=[{kinds: [am], order: shortest, per_node: 1}, {kinds: [map, reduce, executor, other], order: shortest, per_node: 5}]",
				"size.am={adaptcont.dynamic: {queue: capacity, per_node: 5}}",
			},
			headline: "memory of masters", value: masterMemory,
		},
		{
			of: func() Experiment { return named(mrorchestratorExperiments(), "mrorchestrator-native-together") }, baseline: "slots", system: "REGRESSION CPU+Memory",
			headline: "makespan", value: func(r *sim.Result) float64 { return r.Makespan.Seconds() },
		},
	} {
		out = append(out, x.experiment())
	}
	return out
}

func named(list []Experiment, name string) Experiment {
	return list[slices.IndexFunc(list, func(e Experiment) bool { return e.Name == name })]
}

func masterMemory(r *sim.Result) float64 {
	sum := 0.0
	for i := range r.Jobs {
		sum += float64(r.Jobs[i].MasterMemory)
	}
	return sum
}

// experiment is the rival's experiment with heddle in it.
func (x *rival) experiment() Experiment {
	theirs := x.of()
	arm := func(name string) Arm {
		a, err := theirs.Arm(name)
		if err != nil {
			panic("exp: " + err.Error())
		}
		return *a
	}
	ours := arm(x.system)
	ours.Name, ours.Profile, ours.Set = "heddle", "heddle", x.set
	gain := func(base string, of func(*sim.Result) float64) func(Runs) float64 {
		return func(r Runs) float64 { return Reduction(of(r.Arm(base)), of(r.Arm("heddle"))) }
	}
	all := func(r *sim.Result) float64 { return MeanJCT(r, nil) }
	notWorse := func(of func(*sim.Result) float64) func([]Runs) bool {
		return func(runs []Runs) bool { return medianOf(runs, gain(x.system, of)) >= 0 }
	}
	return Experiment{
		System: "heddle", Name: "heddle-on-" + theirs.Name, Title: theirs.Title + ": all mechanisms together", Source: theirs.Source,
		Method: heddleMethod, Work: theirs.Work, Arms: []Arm{arm(x.baseline), arm(x.system), ours}, Given: theirs.Given,
		Metrics: []Metric{
			{Name: x.headline + ", reduction against " + x.system, Unit: "%", Kind: Shape, Text: "goal: at least as good", Of: gain(x.system, x.value), Holds: notWorse(x.value)},
			{Name: "mean JCT, reduction against " + x.system, Unit: "%", Kind: Shape, Text: "goal: at least as good", Of: gain(x.system, all), Holds: notWorse(all)},
			{Name: x.headline + ", reduction against " + x.baseline, Unit: "%", Kind: Measured, Published: math.NaN(), Of: gain(x.baseline, x.value)},
			{Name: "mean JCT, reduction against " + x.baseline, Unit: "%", Kind: Measured, Published: math.NaN(), Of: gain(x.baseline, all)},
		},
		Plots:  []Plot{{Kind: BarsPerJob, Title: "Completion time"}},
		Sweeps: []Sweep{x.without(ours)},
	}
}

// without leaves each mechanism of heddle out.
func (x *rival) without(ours Arm) Sweep {
	s := Sweep{Name: "left-out", Title: "Each mechanism of heddle left out", Base: x.system, Columns: []Column{
		{Name: x.headline + ", reduction against " + x.system, Unit: "%", Of: func(base, r *sim.Result) float64 { return Reduction(x.value(base), x.value(r)) }},
		{Name: "mean JCT, reduction against " + x.system, Unit: "%", Of: func(base, r *sim.Result) float64 { return Reduction(MeanJCT(base, nil), MeanJCT(r, nil)) }},
	}}
	for _, m := range []struct{ name, set string }{
		{"a reserve for small jobs", "share=[capacity]"},
		{"holding large jobs alone to it", "share=[dress, capacity]"},
		{"sized masters", "size.am=asked"},
		{"reduces in pace with maps", "gate.reduce=open"},
		{"peeking", "place.map=[capacity, uncrowded]"},
		{"looking for uncrowded nodes", "place={map: coupling.peek, reduce: any}"},
		{"executor placement", "place.executor=any"},
		{"shrinking", "trim.map=whole"},
		{"suspension", "control=[{mrorchestrator.regression: {lower_memory: needed}}]"},
		{"orchestration", "control=[ikayak.suspend]"},
		{"the fuzzy model", "estimate.remaining=progress"},
	} {
		a := ours
		a.Name = "without " + m.name
		a.Set = append(slices.Clone(ours.Set), m.set)
		s.Arms = append(s.Arms, a)
	}
	return s
}
