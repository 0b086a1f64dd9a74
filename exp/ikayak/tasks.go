package ikayak

import (
	"fmt"
	"strings"

	"heddle"
	"heddle/exp"
	"heddle/sim"
)

// variants has one map per node, local or remote, with all or a part of its container.
func variants() exp.Experiment {
	work := func(local bool) exp.Work {
		return func(uint64) (string, error) {
			where := map[bool]string{true: "work", false: "store"}[local]
			var b strings.Builder
			b.WriteString(`name: ikayak-variants
cluster:
  nodes:
    - {name: work, count: 6, memory: 4GiB, vcores: 3, nic_mb_s: 1Gb/s}
    - {name: store, count: 6, memory: 1GiB, vcores: 1, nic_mb_s: 1Gb/s}
workload:
  jobs:
`)
			for i, p := range mapPrograms {
				fmt.Fprintf(&b, "    - {id: %s-1, program: %s, submit: %ds, input: 30GB, split: 256MiB, reduces: 1, slow_start: 1, map: {memory: 2GiB, vcores: 2}, "+
					"reduce: {memory: 2GiB, vcores: 1}, master: {memory: 2GiB, vcores: 1}, data: {on: [%s], replicas: %d}}\n", p, p, i*3600, where, map[bool]int{true: 3, false: 1}[local])
			}
			return b.String(), nil
		}
	}
	arm := func(name string, local bool, part float64) exp.Arm {
		a := arm(name, "yarn-cluster", fmt.Sprintf("trim.map={ikayak.fixed: {part: %g}}", part))
		a.Work = work(local)
		if local {
			a.Set = append(a.Set, "place.map={delay: {node_wait: 1000, rack_wait: 1000}}")
		}
		return a
	}
	mean := func(x *sim.Result) float64 { return exp.MeanTask(x, heddle.Map, nil) }
	longer := func(a, b string) func(exp.Runs) float64 { return exp.Increased(a, b, mean) }
	return exp.Experiment{
		System: "ikayak", Name: "ikayak-variants", Title: "A shrunk local map against a full remote one", Source: "Fig. 6",
		Method: `
* A map of 2 cores and 2 GB has its data on its node (L) or on another node over 1 Gb/s (R), and gets all or a part of its container. The paper names no program. Here the
  three programs of its workload run one after the other on six nodes, one map per node at a time; the time is the mean over all maps.
* A map uses at most one of its two cores, like Hadoop's maps; 40 % of two cores is less than one core.
`,
		Arms: []exp.Arm{arm("L100", true, 1), arm("L80", true, 0.8), arm("L60", true, 0.6), arm("L40", true, 0.4), arm("R100", false, 1)},
		Metrics: []exp.Metric{
			{Name: "R100 against L100, longer by", Unit: "%", Kind: exp.SetUp, Text: "longer", Of: longer("L100", "R100")},
			{Name: "R100 against L80, longer by", Unit: "%", Kind: exp.SetUp, Text: "longer", Of: longer("L80", "R100")},
			{Name: "L40 against L100, longer by", Unit: "%", Kind: exp.SetUp, Text: "longest of all", Of: longer("L100", "L40")},
			{Name: "L40 against R100, longer by", Unit: "%", Kind: exp.SetUp, Text: "longer", Of: longer("R100", "L40")},
		},
		Plots:    []exp.Plot{{Kind: exp.BarsPerJob, Title: "Completion time"}},
		LivesOff: []string{"locality"},
	}
}

// perProgram gives each arm one MapReduce program at a time, beside Spark. The new name is made of the arm's and the
// program's.
func perProgram(programs []string, w beside, arms ...exp.Arm) (out []exp.Arm) {
	for _, p := range programs {
		for _, a := range arms {
			w.program = p
			a.Name, a.Work = of(a.Name, p), w.work
			out = append(out, a)
		}
	}
	return out
}

// of returns the name of an arm with one program.
func of(arm, program string) string { return arm + ", " + program }

// overPrograms computes the mean over programs of how one arm compares with another.
func overPrograms(programs []string, base, ours string, stands func(base, ours float64) float64, figure func(*sim.Result) float64) func(exp.Runs) float64 {
	return func(r exp.Runs) float64 {
		var all []float64
		for _, p := range programs {
			all = append(all, stands(figure(r.Arm(of(base, p))), figure(r.Arm(of(ours, p)))))
		}
		return exp.Mean(all)
	}
}

// The figures of the suspension experiment.
func mapsOnDesktops(x *sim.Result) float64    { return mapsPerHour(x, desktops) }
func reducesOnDesktops(x *sim.Result) float64 { return meanTaskOn(x, heddle.Reduce, desktops) }

// suspension has the suspension of reduces alone.
func suspension() exp.Experiment {
	const ours = "suspension"
	const maps, reduces = "maps an hour on desktops, increase", "reduce time on desktops, reduction"
	w := beside{slowStart: 0.05}
	one := func(a exp.Arm) []exp.Arm { return perProgram(mapPrograms, w, a) }
	each := func(stands func(base, ours float64) float64, figure func(*sim.Result) float64) func(exp.Runs) float64 {
		return overPrograms(mapPrograms, yarnCluster, ours, stands, figure)
	}
	var sweep []exp.Arm
	for _, p := range mapPrograms {
		w.program = p
		for _, a := range []exp.Arm{
			arm(yarnCluster, "yarn-cluster"), arm(ours, "yarn-cluster", suspend...),
			arm("T = 60 s", "yarn-cluster", "control=[{ikayak.suspend: {interval: 60}}]"),
			arm("memory lent", "yarn-cluster", "control=[{ikayak.suspend: {lend_memory: 0.75}}]"),
			arm("both", "yarn-cluster", "control=[{ikayak.suspend: {interval: 60, lend_memory: 0.75}}]"),
		} {
			a.Name, a.Work = p+", "+a.Name, w.work
			sweep = append(sweep, a)
		}
	}
	return exp.Experiment{
		System: "ikayak", Name: "ikayak-suspension", Title: "Reduces that wait lend their processors to maps", Source: "Fig. 10",
		Method: besideMethod + "* Figures are for the seven desktops, as in the paper. Maps an hour are counted from the start of the first map to the end of the last.\n",
		Arms:   perProgram(mapPrograms, w, arm(yarnCluster, "yarn-cluster"), arm(ours, "yarn-cluster", suspend...)),
		Metrics: []exp.Metric{
			{Name: maps, Unit: "%", Published: 17, Why: whySuspend, Of: each(exp.Increase, mapsOnDesktops)},
			{Name: reduces, Unit: "%", Published: 8, Why: whySuspend, Of: each(exp.Reduction, reducesOnDesktops)},
		},
		Null: one(instead(arm(ours, "yarn-cluster", suspend...), suspendAny)), NullIs: "every second reduce, drawn at random, is suspended for as long",
		Plots: []exp.Plot{{Kind: exp.GaugeOverTime, Title: "Suspended reduces of WordCount", Arms: []string{of(ours, "wordcount")}, Gauge: "ikayak.suspended"}},
		Sweeps: []exp.Sweep{{
			Name: "options", Title: "By program, with the value of each option", Base: of(yarnCluster, "wordcount"),
			Columns: []exp.Column{
				exp.Figures("maps an hour on desktops", "", mapsOnDesktops), exp.Figures("maps an hour", "", func(x *sim.Result) float64 { return mapsPerHour(x, 0) }),
				exp.Figures("reduce time on desktops", "s", reducesOnDesktops), exp.Figures("reduce time spent suspended", "%", suspendedTime),
				exp.Figures("MapReduce, JCT", "s", exp.JCTs(exp.Of(heddle.MapReduce))),
			},
			Arms: sweep,
		}},
	}
}

// locality has the shrinking of maps alone.
func locality() exp.Experiment {
	const ours = "shrinking"
	w := beside{slowStart: 0.05}
	each := func(stands func(base, ours float64) float64, figure func(*sim.Result) float64) func(exp.Runs) float64 {
		return overPrograms(mapPrograms, yarnCluster, ours, stands, figure)
	}
	const rate = "local maps, increase"
	all := func(r exp.Runs) float64 {
		return exp.Mean([]float64{
			mostLocal(of(yarnCluster, "wordcount"), exp.LocalRate)(r), mostLocal(of(yarnCluster, "grep"), exp.LocalRate)(r), mostLocal(of(yarnCluster, "terasort"), exp.LocalRate)(r),
		})
	}
	shorter := each(exp.Reduction, exp.JCTs(exp.Of(heddle.MapReduce)))
	return exp.Experiment{
		System: "ikayak", Name: "ikayak-locality", Title: "Smaller maps, more of them local", Source: "Fig. 11", Method: besideMethod,
		Arms: perProgram(mapPrograms, w, arm(yarnCluster, "yarn-cluster"), arm(ours, "yarn-cluster", shrink...)),
		Metrics: []exp.Metric{
			{Name: rate, Unit: "%", Published: 27, Of: each(exp.Increase, exp.LocalRate), Bound: all, BoundIs: boundLocal, Why: whyLocal},
			{Name: "map time, increase", Unit: "%", Kind: exp.Cost, Published: 9, Of: each(exp.Increase, func(x *sim.Result) float64 { return exp.MeanTask(x, heddle.Map, nil) })},
			{
				Name: "MapReduce, JCT, reduction", Unit: "%", Kind: exp.Shape, Text: "lower", Of: shorter, Why: whyLocal,
				Holds: func(all []exp.Runs) bool { return exp.MedianOf(all, shorter) > 0 },
			},
		},
		Null: perProgram(mapPrograms, w, arm(ours, "yarn-cluster")), NullIs: "no map is shrunk",
		Plots: []exp.Plot{{Kind: exp.GaugeOverTime, Title: "β", Arms: []string{of(ours, "wordcount")}, Gauge: "ikayak.beta"}},
		Sweeps: []exp.Sweep{{
			Name: "replicas", Title: "The mix, with three replicas of each block and with one", Base: of(yarnCluster, "wordcount"),
			Columns: []exp.Column{
				localColumn,
				exp.Figures("maps shrunk", "%", shrunkMaps),
				exp.Figures("map time", "s", func(x *sim.Result) float64 { return exp.MeanTask(x, heddle.Map, nil) }),
				exp.Figures("MapReduce, mean JCT", "s", exp.JCTs(exp.Of(heddle.MapReduce))),
			},
			Arms: []exp.Arm{
				mixed(3, arm("three, "+yarnCluster, "yarn-cluster")), mixed(3, arm("three, shrinking", "yarn-cluster", shrink...)),
				mixed(1, arm("one, "+yarnCluster, "yarn-cluster")), mixed(1, arm("one, shrinking", "yarn-cluster", shrink...)),
				mixed(1, arm("one, shrinking in proportion", "yarn-cluster", "trim.map={ikayak.shrink: {proportional: true}}")),
				mixed(1, arm("one, shrinking, remote maps refused", "yarn-cluster", "trim.map=ikayak.shrink", "place.map=[capacity, ikayak.local]")),
			},
		}},
		LivesOff: []string{"locality"},
	}
}

// mixed gives an arm the mix with the given number of replicas of each block.
func mixed(replicas int, a exp.Arm) exp.Arm {
	m := msd
	m.replicas = replicas
	a.Work = m.work
	return a
}

// parameters varies v and ε over their ranges.
func parameters() exp.Experiment {
	w := beside{slowStart: 0.05}
	pauses := func(symbol string, x float64) exp.Arm {
		option := map[string]string{"v": "v", "ε": "epsilon"}[symbol]
		return arm(fmt.Sprintf("%s = %g", symbol, x), "ikayak", fmt.Sprintf("control=[{ikayak.suspend: {%s: %g}}]", option, x))
	}
	// minimum has the shape of a valley: longer at both ends of a parameter's range than in its middle.
	minimum := func(symbol string, low, middle, high float64) exp.Metric {
		rises := func(x float64) func(exp.Runs) float64 {
			return overPrograms(mapPrograms, pauses(symbol, middle).Name, pauses(symbol, x).Name, exp.Increase, exp.JCTs(exp.Of(heddle.MapReduce)))
		}
		return exp.Metric{
			Name: fmt.Sprintf("JCT at the nearer end, against %s = %g, increase", symbol, middle), Unit: "%", Kind: exp.Shape, Why: whyParameters,
			Text: fmt.Sprintf("a minimum near %s = %g", symbol, middle),
			Of:   func(r exp.Runs) float64 { return min(rises(low)(r), rises(high)(r)) },
			Holds: func(all []exp.Runs) bool {
				return exp.MedianOf(all, rises(low)) > 0 && exp.MedianOf(all, rises(high)) > 0
			},
		}
	}
	arms := []exp.Arm{pauses("v", 1), pauses("v", 0.5), pauses("v", 2), pauses("ε", 0), pauses("ε", 0.15), pauses("ε", 0.3)}
	var null []exp.Arm
	for _, a := range arms {
		null = append(null, as(a.Name, arm("", "ikayak")))
	}
	return exp.Experiment{
		System: "ikayak", Name: "ikayak-parameters", Title: "The weight v and the overhead ε of suspension", Source: "Fig. 12",
		Method:  besideMethod + "* Suspension is on in addition to what the profile has.\n",
		Arms:    perProgram(mapPrograms, w, arms...),
		Metrics: []exp.Metric{minimum("v", 0.5, 1, 2), minimum("ε", 0, 0.15, 0.3)},
		Null:    perProgram(mapPrograms, w, null...), NullIs: "nothing is suspended, whatever the parameter",
	}
}

// earlyStart varies when reduces may start.
func earlyStart() exp.Experiment {
	starts := []float64{0.05, 0.5, 1}
	programs := []string{"wordcount", "terasort"}
	e := exp.Experiment{
		System: "ikayak", Name: "ikayak-early-start", Title: "Reduces that start earlier or later", Source: "Fig. 13a",
		Method: besideMethod + `* WordCount and Terasort, for each fraction of maps after which reduces may start.
* Spark comes first, to empty nodes, and the gain is that its executors go to the emptiest nodes. The null arm does that too and gains no less. Without any placement nothing is gained,
  and random nodes lose 3 %, no more than the difference between seeds (seeds 1001 to 1020 at 5 %). The estimate of remaining times plays no part.
`,
		Plots:  []exp.Plot{{Kind: exp.RunningOverTime, Title: "Running maps and reduces at 5 %", Arms: []string{of("YARN 5 %", "wordcount"), of("iKayak 5 %", "wordcount")}}},
		NullIs: "executors go to the nodes with the fewest executors of their application, regardless of when tasks end",
	}
	name := func(who string, s float64) string { return fmt.Sprintf("%s %g %%", who, 100*s) }
	for _, s := range starts {
		w := beside{slowStart: s}
		e.Arms = append(e.Arms, perProgram(programs, w, arm(name("YARN", s), "yarn-cluster"), arm(name("iKayak", s), "ikayak"))...)
		e.Null = append(e.Null, perProgram(programs, w, arm(name("iKayak", s), "ikayak", "place.executor=spread"))...)
	}
	at := func(s float64) func(exp.Runs) float64 {
		return overPrograms(programs, name("YARN", s), name("iKayak", s), exp.Reduction, exp.JCTs(exp.Of(heddle.MapReduce)))
	}
	e.Metrics = []exp.Metric{{
		Name: "MapReduce, JCT, reduction, mean over all", Unit: "%", Published: 7, Why: whyStart,
		Of: func(r exp.Runs) float64 {
			sum := 0.0
			for _, s := range starts {
				sum += at(s)(r)
			}
			return sum / float64(len(starts))
		},
	}}
	for _, s := range starts {
		e.Metrics = append(e.Metrics, exp.Metric{Name: fmt.Sprintf("MapReduce, JCT, reduction at %g %%", 100*s), Unit: "%", Published: 7, Of: at(s), Why: whyStart})
	}
	prefers := func(program string, few, many float64) exp.Metric {
		return exp.Metric{
			Name: fmt.Sprintf("%s under YARN, JCT at %g %% against %g %%, reduction", program, 100*few, 100*many), Unit: "%", Kind: exp.SetUp, Text: "shorter",
			Of: exp.ReducedJCT(of(name("YARN", many), program), of(name("YARN", few), program), exp.Of(heddle.MapReduce)),
		}
	}
	e.Metrics = append(e.Metrics, prefers("terasort", 0.05, 1), prefers("wordcount", 1, 0.05))
	return e
}
