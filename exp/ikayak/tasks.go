package ikayak

import (
	"fmt"
	"strings"

	"heddle"
	"heddle/exp"
	"heddle/sim"
)

// variants is one map a node, local or remote, with all or a part of its container.
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
	mean := func(r exp.Runs, a string) float64 { return exp.MeanTask(r.Arm(a), heddle.Map, nil) }
	over := func(a string) func(exp.Runs) float64 {
		return func(r exp.Runs) float64 { return mean(r, a) / mean(r, "L100") }
	}
	return exp.Experiment{
		System: "ikayak", Name: "ikayak-variants", Title: "A shrunk local map against a full remote one", Source: "Fig. 6",
		Method: `
* A map of 2 cores and 2 GB has its data on its node (L) or on another one over 1 Gb/s (R), and all of its container or a part of it. The paper names no program; these are the
  three of its workload, one after the other on six nodes, one map on each at a time; the time is the mean over all maps.
* A map uses at most one of its two cores, as maps of Hadoop do; 40 % of two cores are less than that.
`,
		Arms: []exp.Arm{arm("L100", true, 1), arm("L80", true, 0.8), arm("L60", true, 0.6), arm("L40", true, 0.4), arm("R100", false, 1)},
		Metrics: []exp.Metric{
			{
				Name: "R100 against L80, longer by", Unit: "%", Kind: exp.Shape, Text: "L100 fastest, L80 faster than R100, L40 not",
				Of: func(r exp.Runs) float64 { return exp.Increase(mean(r, "L80"), mean(r, "R100")) },
				Holds: func(all []exp.Runs) bool {
					at := func(a string) float64 { return exp.MedianOf(all, over(a)) }
					return at("L80") >= 0.99 && at("L80") < at("R100") && at("L40") > at("R100")
				},
			},
			{
				Name: "L40 against L100, longer by", Unit: "%", Kind: exp.Shape, Text: "longer than R100",
				Of:    func(r exp.Runs) float64 { return exp.Increase(mean(r, "L100"), mean(r, "L40")) },
				Holds: func(all []exp.Runs) bool { return exp.MedianOf(all, over("L40")) > exp.MedianOf(all, over("R100")) },
			},
		},
		Plots:    []exp.Plot{{Kind: exp.BarsPerJob, Title: "Completion time"}},
		LivesOff: []string{"locality"},
	}
}

// suspension is the suspension of reduces alone.
func suspension() exp.Experiment {
	const ours = "suspension"
	return exp.Experiment{
		System: "ikayak", Name: "ikayak-suspension", Title: "Reduces that wait lend their processors to maps", Source: "Fig. 10",
		Method: method + "* Figures are of the seven desktops, as the paper has them. Maps an hour: from the start of the first to the end of the last.\n",
		Work:   msd.work,
		Arms:   []exp.Arm{arm(yarnCluster, "yarn-cluster"), arm(ours, "yarn-cluster", suspend...)},
		Metrics: []exp.Metric{
			{
				Name: "maps an hour on desktops, increase", Unit: "%", Published: 17, Why: whySuspend,
				Of: exp.Increased(yarnCluster, ours, func(x *sim.Result) float64 { return mapsPerHour(x, desktops) }),
			},
			{
				Name: "reduce time on desktops, reduction", Unit: "%", Published: 8, Why: whySuspend,
				Of: exp.Reduced(yarnCluster, ours, func(x *sim.Result) float64 { return meanTaskOn(x, heddle.Reduce, desktops) }),
			},
		},
		Plots: []exp.Plot{{Kind: exp.GaugeOverTime, Title: "Suspended reduces", Arms: []string{ours}, Gauge: "ikayak.suspended"}},
		Sweeps: []exp.Sweep{{
			Name: "memory", Title: "What binds: memory as listed and doubled, T shorter", Base: yarnCluster,
			Columns: []exp.Column{
				exp.Figures("maps an hour on desktops", "", func(x *sim.Result) float64 { return mapsPerHour(x, desktops) }),
				exp.Figures("reduce time on desktops", "s", func(x *sim.Result) float64 { return meanTaskOn(x, heddle.Reduce, desktops) }),
				exp.Figures("reduce time spent suspended", "%", suspendedTime),
				exp.Figures("memory held", "%", func(x *sim.Result) float64 { return 100 * x.MemoryHeld }),
			},
			Arms: []exp.Arm{
				arm("as listed, "+yarnCluster, "yarn-cluster"), arm("as listed, suspension", "yarn-cluster", suspend...),
				arm("as listed, suspension, T = 60 s", "yarn-cluster", "control=[{ikayak.suspend: {interval: 60}}]"),
				roomier(arm("doubled, "+yarnCluster, "yarn-cluster")), roomier(arm("doubled, suspension", "yarn-cluster", suspend...)),
				roomier(arm("doubled, suspension, T = 60 s", "yarn-cluster", "control=[{ikayak.suspend: {interval: 60}}]")),
			},
		}},
	}
}

// roomier gives an arm the mix on workers of twice the memory.
func roomier(a exp.Arm) exp.Arm {
	a.Work = func(seed uint64) (string, error) {
		text, err := msd.work(seed)
		return strings.NewReplacer("memory: 14GiB", "memory: 28GiB", "memory: 28GiB", "memory: 56GiB", "memory: 21GiB", "memory: 42GiB").Replace(text), err
	}
	return a
}

// locality is the shrinking of maps alone.
func locality() exp.Experiment {
	const ours = "shrinking"
	return exp.Experiment{
		System: "ikayak", Name: "ikayak-locality", Title: "Smaller maps, more of them local", Source: "Fig. 11", Method: method,
		Work: msd.work,
		Arms: []exp.Arm{arm(yarnCluster, "yarn-cluster"), arm(ours, "yarn-cluster", shrink...)},
		Metrics: []exp.Metric{
			{Name: "local maps, increase", Unit: "points", Published: 27, Of: func(r exp.Runs) float64 { return exp.LocalRate(r.Arm(ours)) - exp.LocalRate(r.Arm(yarnCluster)) }, Why: whyLocal},
			{
				Name: "map time, increase", Unit: "%", Kind: exp.Cost, Published: 9,
				Of: exp.Increased(yarnCluster, ours, func(x *sim.Result) float64 { return exp.MeanTask(x, heddle.Map, nil) }),
			},
			{
				Name: "MapReduce, mean JCT, reduction", Unit: "%", Kind: exp.Shape, Text: "lower", Of: exp.ReducedJCT(yarnCluster, ours, exp.Of(heddle.MapReduce)), Why: whyLocal,
				Holds: func(all []exp.Runs) bool {
					return exp.MedianOf(all, exp.ReducedJCT(yarnCluster, ours, exp.Of(heddle.MapReduce))) > 0
				},
			},
		},
		Plots: []exp.Plot{{Kind: exp.GaugeOverTime, Title: "β", Arms: []string{ours}, Gauge: "ikayak.beta"}},
		Sweeps: []exp.Sweep{{
			Name: "replicas", Title: "Where there is something to gain: blocks with one replica", Base: yarnCluster,
			Columns: []exp.Column{
				localColumn,
				exp.Figures("maps shrunk", "%", shrunkMaps),
				exp.Figures("map time", "s", func(x *sim.Result) float64 { return exp.MeanTask(x, heddle.Map, nil) }),
				exp.Figures("MapReduce, mean JCT", "s", exp.JCTs(exp.Of(heddle.MapReduce))),
			},
			Arms: []exp.Arm{
				arm("three, "+yarnCluster, "yarn-cluster"), arm("three, shrinking", "yarn-cluster", shrink...),
				single(arm("one, "+yarnCluster, "yarn-cluster")), single(arm("one, shrinking", "yarn-cluster", shrink...)),
				single(arm("one, shrinking in proportion", "yarn-cluster", "trim.map={ikayak.shrink: {proportional: true}}")),
			},
		}},
		LivesOff: []string{"locality"},
	}
}

// single gives an arm the mix with one replica of each block.
func single(a exp.Arm) exp.Arm {
	m := msd
	m.replicas = 1
	a.Work = m.work
	return a
}

// parameters are v and ε over their ranges.
func parameters() exp.Experiment {
	arm := func(symbol string, x float64) exp.Arm {
		option := map[string]string{"v": "v", "ε": "epsilon"}[symbol]
		return arm(fmt.Sprintf("%s = %g", symbol, x), "ikayak", fmt.Sprintf("control=[{ikayak.suspend: {%s: %g}}]", option, x))
	}
	jct := func(symbol string, x float64) func(exp.Runs) float64 {
		return exp.Under(arm(symbol, x).Name, exp.JCTs(nil))
	}
	// minimum is the shape of a valley: longer at both ends of a parameter's range than at its middle.
	minimum := func(symbol string, low, middle, high float64) exp.Metric {
		rises := func(x float64) func(exp.Runs) float64 {
			return func(r exp.Runs) float64 { return exp.Increase(jct(symbol, middle)(r), jct(symbol, x)(r)) }
		}
		return exp.Metric{
			Name: fmt.Sprintf("mean JCT at the nearer end, against %s = %g, increase", symbol, middle), Unit: "%", Kind: exp.Shape,
			Why:  whySuspend + " From v = 1.5 and from ε = 0.2 on, where suspensions are shorter, jobs take 6 to 8 % less time; below, the figure goes up and down by no more than it does between seeds (sweeps v and epsilon).",
			Text: fmt.Sprintf("a minimum near %s = %g", symbol, middle),
			Of:   func(r exp.Runs) float64 { return min(rises(low)(r), rises(high)(r)) },
			Holds: func(all []exp.Runs) bool {
				return exp.MedianOf(all, rises(low)) > 0 && exp.MedianOf(all, rises(high)) > 0
			},
		}
	}
	e := exp.Experiment{
		System: "ikayak", Name: "ikayak-parameters", Title: "The weight v and the overhead ε of suspension", Source: "Fig. 12", Method: method,
		Work:    msd.work,
		Arms:    []exp.Arm{arm("v", 1), arm("v", 0.5), arm("v", 2), arm("ε", 0), arm("ε", 0.15), arm("ε", 0.3)},
		Metrics: []exp.Metric{minimum("v", 0.5, 1, 2), minimum("ε", 0, 0.15, 0.3)},
	}
	columns := []exp.Column{exp.Reductions("mean JCT against v = 1 and ε = 0.15, reduction", exp.JCTs(nil))}
	for _, s := range []struct {
		name, title, symbol string
		of                  []float64
	}{
		{"v", "v from 0.5 to 2", "v", []float64{0.5, 0.75, 1, 1.25, 1.5, 2}},
		{"epsilon", "ε from 0 to 0.3", "ε", []float64{0, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3}},
	} {
		w := exp.Sweep{Name: s.name, Title: s.title, Base: "v = 1", Columns: columns, Plot: true}
		for _, x := range s.of {
			w.Arms = append(w.Arms, arm(s.symbol, x))
		}
		e.Sweeps = append(e.Sweeps, w)
	}
	return e
}

// earlyStart is when reduces may start.
func earlyStart() exp.Experiment {
	starts := []float64{0.05, 0.25, 0.5, 0.75, 1}
	e := exp.Experiment{
		System: "ikayak", Name: "ikayak-early-start", Title: "Reduces started earlier or later", Source: "Fig. 13a",
		Method: method + "* The whole mix at each fraction of maps after which reduces may start.\n",
		Plots:  []exp.Plot{{Kind: exp.CDF, Title: "Completion time at 5 %", Arms: []string{"YARN 5 %", "iKayak 5 %"}}},
	}
	name := func(who string, s float64) string { return fmt.Sprintf("%s %g %%", who, 100*s) }
	for _, s := range starts {
		m := msd
		m.slowStart = s
		for who, profile := range [2]string{"yarn-cluster", "ikayak"} {
			a := arm(name([]string{"YARN", "iKayak"}[who], s), profile)
			a.Work = m.work
			e.Arms = append(e.Arms, a)
		}
	}
	at := func(s float64) func(exp.Runs) float64 {
		return exp.ReducedJCT(name("YARN", s), name("iKayak", s), exp.Of(heddle.MapReduce))
	}
	e.Metrics = []exp.Metric{{
		Name: "MapReduce, mean JCT, reduction, mean over all", Unit: "%", Published: 7, Why: whyOverall,
		Of: func(r exp.Runs) float64 {
			sum := 0.0
			for _, s := range starts {
				sum += at(s)(r)
			}
			return sum / float64(len(starts))
		},
	}}
	for _, s := range starts {
		e.Metrics = append(e.Metrics, exp.Metric{Name: fmt.Sprintf("MapReduce, mean JCT, reduction at %g %%", 100*s), Unit: "%", Published: 7, Of: at(s), Why: whyOverall})
	}
	return e
}
