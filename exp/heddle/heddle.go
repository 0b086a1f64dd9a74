// Package heddle has the experiments of the profile heddle, in which the mechanisms of all papers work together.
//
// Each uses an experiment of a paper: heddle is compared with the paper's baseline and with the paper's system, on the
// work, the cluster and the settings that the paper's own package gives them. They run with
//
//	heddle exp run heddle
//	go test ./exp/heddle
package heddle

import (
	"slices"
	"strings"

	"heddle"
	"heddle/exp"
	"heddle/exp/adaptcont"
	"heddle/exp/coupling"
	"heddle/exp/dress"
	"heddle/exp/ikayak"
	"heddle/exp/mrorchestrator"
	"heddle/sim"
)

// System is Heddle.
var System = exp.System{
	Name:  "heddle",
	Title: "Heddle",
	What: "The `heddle` profile combines those mechanisms of the five systems that still gain in combination. It is compared " +
		"with each system on the work of that system's paper, and with the schedulers that ship with Hadoop.",
	Headline:    "heddle-on-dress-mixed-40", // the one of DRESS's four mixes in which it gains least
	Experiments: experiments,
}

// method is what all of Heddle's own experiments have in common.
const method = `The work, the cluster and the settings are those of the paper's own experiment. The profile ` + "`heddle`" + ` replaces the paper's system as a whole. If the cluster has
slots that its nodes' sizes do not express, heddle's lanes keep to them; if these are slots for maps and for reduces, masters ask for all reduces at once. No figures are published: the tables state the goal, to be at least as good as the paper's system alone.
`

// A rival is an experiment of a paper, and what heddle is compared with in it.
type rival struct {
	of       exp.Experiment
	baseline string       // arm
	system   string       // arm: the paper's system
	set      []string     // changes of heddle that the cluster requires
	plot     exp.PlotKind // bars if there are few jobs
	values   []value      // what is compared besides the mean JCT of all jobs, the headline first
}

// A value is a figure of a run; less is better.
type value struct {
	name string
	of   func(r *sim.Result) float64
}

// slotLanes returns lanes that keep heddle to fixed slots.
func slotLanes(maps, reduces string) string {
	return "lanes=[{kinds: [am, executor, other], order: shortest}, {kinds: [map], order: shortest, per_node: " + maps +
		"}, {kinds: [reduce], order: shortest, per_node: " + reduces + "}]"
}

// experiments compares the profile heddle with each system on the work of that system's paper.
func experiments() []exp.Experiment {
	meanOf := func(name string, pick exp.Pick) value {
		return value{"mean JCT of " + name, exp.JCTs(pick)}
	}
	mix := func(name string) rival {
		return rival{of: named(&dress.System, name), baseline: "capacity", system: "dress", plot: exp.BarsPerJob, values: []value{meanOf("small jobs", dress.Small)}}
	}
	var out []exp.Experiment
	for _, x := range []rival{
		mix("dress-mixed-10"), mix("dress-mixed-20"), mix("dress-mixed-30"), mix("dress-mixed-40"),
		{
			of: named(&coupling.System, "coupling-22-jobs"), baseline: "Fair", system: "Coupling", plot: exp.BarsPerJob,
			set:    []string{slotLanes("4", "2"), "masters=at-once"},
			values: []value{meanOf("jobs with reduces", exp.WithReduces)},
		},
		{
			of: named(&ikayak.System, "ikayak-overall"), baseline: "YARN-cluster", system: "iKayak", plot: exp.CDF,
			values: []value{meanOf("Spark", exp.Of(heddle.Spark)), meanOf("MapReduce", exp.Of(heddle.MapReduce))},
		},
		{
			of: named(&adaptcont.System, "adaptcont-all-mixed"), baseline: "Capacity, YARN", system: "Capacity, Dynamic", plot: exp.BarsPerJob,
			set: []string{
				"lanes=[{kinds: [am], order: shortest, per_node: 1}, {kinds: [map, reduce, executor, other], order: shortest, per_node: 5}]",
				"size.am={adaptcont.dynamic: {queue: capacity, per_node: 5}}",
			},
			values: []value{{"memory of masters", adaptcont.MasterMemory}},
		},
		{
			of: named(&mrorchestrator.System, "mrorchestrator-native-together"), baseline: "slots", system: "REGRESSION CPU+Memory", plot: exp.BarsPerJob,
			set: []string{slotLanes("5", "5"), "masters=at-once"},
		},
	} {
		out = append(out, x.experiment())
	}
	return out
}

// named returns the experiment of a system with the given name. It panics if there is none.
func named(s *exp.System, name string) exp.Experiment {
	list := s.Experiments()
	return list[slices.IndexFunc(list, func(e exp.Experiment) bool { return e.Name == name })]
}

// experiment returns the rival's experiment with heddle in it.
func (x *rival) experiment() exp.Experiment {
	theirs := &x.of
	arm := func(name string) exp.Arm {
		a, err := theirs.Arm(name)
		if err != nil {
			panic("exp/heddle: " + err.Error())
		}
		return *a
	}
	ours := arm(x.system)
	ours.Name, ours.Profile, ours.Set = "heddle", "heddle", x.set
	null := arm(x.baseline)
	null.Name = ours.Name
	e := exp.Experiment{
		System: "heddle", Name: "heddle-on-" + theirs.Name, Title: theirs.Title + ": heddle", Source: theirs.Source,
		Method: method, Work: theirs.Work, Arms: []exp.Arm{arm(x.baseline), arm(x.system), ours}, Given: theirs.Given,
		Null: []exp.Arm{null}, NullIs: "the paper's baseline in place of heddle, with none of its mechanisms",
		Plots:  []exp.Plot{{Kind: x.plot, Title: "Completion time"}},
		Sweeps: []exp.Sweep{x.table("baseline", "Against the paper's baseline", x.baseline, arm(x.system), ours), x.worth(ours)},
	}
	values := append(slices.Clone(x.values), allJobs)
	for _, v := range values {
		e.Metrics = append(e.Metrics, exp.Metric{
			Name: v.name + ", reduction against " + x.system, Unit: "%", Text: "goal: at least as good", Of: exp.Reduced(x.system, "heddle", v.of),
			Why: "Seeds differ by more than that; the sweep left-out shows what each mechanism costs.",
		})
	}
	return e
}

// allJobs is compared in every experiment.
var allJobs = value{"mean JCT", exp.JCTs(nil)}

// table compares arms with a base, by every value.
func (x *rival) table(name, title, base string, arms ...exp.Arm) exp.Sweep {
	s := exp.Sweep{Name: name, Title: title, Base: base, Arms: arms}
	for _, v := range append(slices.Clone(x.values), allJobs) {
		s.Columns = append(s.Columns, exp.Reductions(v.name+", reduction", v.of))
	}
	return s
}

// asBefore holds the options of dress that the profile has besides those that it chooses.
const asBefore = "serve: order, lend: whole, prompt: false, few: 0, release: true, patience: 300"

// worth leaves out each mechanism of heddle, and adds each that the profile does without.
func (x *rival) worth(ours exp.Arm) exp.Sweep {
	s := x.table("left-out", "Each mechanism of heddle left out, or one that it does not use added, compared with "+x.system+" alone", x.system, ours)
	parts := []struct{ name, set string }{
		{"without room kept while masters start", "share=[{dress: {cap: last, keep: jobs, delta_max: 0.2, " + asBefore + "}}, capacity]"},
		{"without a reserve for small jobs", "share=[newcomers, capacity]"},
		{"without holding large jobs alone to it", "share=[newcomers, {dress: {keep: jobs, delta_max: 0.2, " + asBefore + "}}, capacity]"},
		{"without sized masters", "size.am=asked"},
		{"without more masters, the smallest first", "gate.am=capacity"},
		{"without reduces in pace with maps", "gate.reduce=open"},
		{"without looking for uncrowded nodes", "place={map: any, reduce: [any, even]}"},
		{"without regard for masters that start", "place={map: [any, {uncrowded: {masters: 0}}], reduce: [any, {uncrowded: {masters: 0}}, even]}"},
		{"without reduces on as many nodes as there are", "place.reduce=[any, uncrowded]"},
		{"without executor placement", "place.executor=any"},
		{"without running beside reservations", "book=capacity"},
		{"without more weight for masters that start", "control=[idle]"},
		{"without the fuzzy model", "estimate.remaining=progress"},
		{"with random peeking", "place.map=[coupling.peek, uncrowded]"},
		{"with shrunk maps", "trim.map=ikayak.shrink"},
		{"with suspension", "control=[masters, ikayak.suspend]"},
		{"with memory moved between tasks", "control=[masters, {mrorchestrator.regression: {mode: memory, lower_memory: needed}}]"},
	}
	if !slices.ContainsFunc(ours.Set, func(set string) bool { return strings.HasPrefix(set, "lanes=") }) {
		for _, m := range []struct{ name, options string }{
			{"without serving who has run nothing first", "gather: true, unstarted_first: false"},
			{"without serving first who lacks one executor", "gather: false"},
			{"without serving those with reduces alone sooner", "gather: true, ending_first: false"},
			{"without weighing work by durations", "gather: true, durations: false"},
		} {
			parts = append(parts, struct{ name, set string }{
				m.name, "lanes=[{kinds: [am, map, reduce, executor, other], order: {shortest: {" + m.options + "}}}]",
			})
		}
	}
	for _, m := range parts {
		a := ours
		a.Name = m.name
		a.Set = append(slices.Clone(ours.Set), m.set)
		s.Arms = append(s.Arms, a)
	}
	return s
}
