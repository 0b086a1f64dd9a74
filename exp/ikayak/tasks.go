package ikayak

import (
	"fmt"
	"strings"

	"heddle"
	. "heddle/exp" //nolint:staticcheck // the frame's names are qualified next
	"heddle/sim"
)

// ikVariants is one map a node, local or remote, with all or a part of its container.
func ikVariants() Experiment {
	work := func(local bool) Work {
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
			for i, p := range ikMapPrograms {
				fmt.Fprintf(&b, "    - {id: %s-1, program: %s, submit: %ds, input: 30GB, split: 256MiB, reduces: 1, slow_start: 1, map: {memory: 2GiB, vcores: 2}, "+
					"reduce: {memory: 2GiB, vcores: 1}, master: {memory: 2GiB, vcores: 1}, data: {on: [%s], replicas: %d}}\n", p, p, i*3600, where, map[bool]int{true: 3, false: 1}[local])
			}
			return b.String(), nil
		}
	}
	arm := func(name string, local bool, part float64) Arm {
		a := ikArm(name, "yarn-cluster", fmt.Sprintf("trim.map={ikayak.fixed: {part: %g}}", part))
		a.Work = work(local)
		if local {
			a.Set = append(a.Set, "place.map={delay: {node_wait: 1000, rack_wait: 1000}}")
		}
		return a
	}
	mean := func(r Runs, a string) float64 { return MeanTask(r.Arm(a), heddle.Map, nil) }
	over := func(a string) func(Runs) float64 {
		return func(r Runs) float64 { return mean(r, a) / mean(r, "L100") }
	}
	return Experiment{
		System: "ikayak", Name: "ikayak-variants", Title: "A shrunk local map against a full remote one", Source: "Fig. 6",
		Method: `
* A map of 2 cores and 2 GB has its data on its node (L) or on another one over 1 Gb/s (R), and all of its container or a part of it. The paper names no program; these are the
  three of its workload, one after the other on six nodes, one map on each at a time; the time is the mean over all maps.
* A map uses at most one of its two cores, as maps of Hadoop do; 40 % of two cores are less than that.
`,
		Arms: []Arm{arm("L100", true, 1), arm("L80", true, 0.8), arm("L60", true, 0.6), arm("L40", true, 0.4), arm("R100", false, 1)},
		Metrics: []Metric{
			{
				Name: "R100 against L80, longer by", Unit: "%", Kind: Shape, Text: "L100 fastest, L80 faster than R100, L40 not",
				Of: func(r Runs) float64 { return Increase(mean(r, "L80"), mean(r, "R100")) },
				Holds: func(all []Runs) bool {
					at := func(a string) float64 { return MedianOf(all, over(a)) }
					return at("L80") >= 0.99 && at("L80") < at("R100") && at("L40") > at("R100")
				},
			},
			{
				Name: "L40 against L100, longer by", Unit: "%", Kind: Shape, Text: "longer than R100",
				Of:    func(r Runs) float64 { return Increase(mean(r, "L100"), mean(r, "L40")) },
				Holds: func(all []Runs) bool { return MedianOf(all, over("L40")) > MedianOf(all, over("R100")) },
			},
		},
		Plots:    []Plot{{Kind: BarsPerJob, Title: "Completion time"}},
		LivesOff: []string{"locality"},
	}
}

// ikSuspension is the suspension of reduces alone.
func ikSuspension() Experiment {
	const ours = "suspension"
	return Experiment{
		System: "ikayak", Name: "ikayak-suspension", Title: "Reduces that wait lend their processors to maps", Source: "Fig. 10",
		Method: ikMethod + "* Figures are of the seven desktops, as the paper has them. Maps an hour: from the start of the first to the end of the last.\n",
		Work:   ikayakMSD.work,
		Arms:   []Arm{ikArm(ikCluster, "yarn-cluster"), ikArm(ours, "yarn-cluster", ikSuspend...)},
		Metrics: []Metric{
			{
				Name: "maps an hour on desktops, increase", Unit: "%", Published: 17, Why: ikWhySuspend,
				Of: func(r Runs) float64 {
					return Increase(mapsPerHour(r.Arm(ikCluster), ikDesktops), mapsPerHour(r.Arm(ours), ikDesktops))
				},
			},
			{
				Name: "reduce time on desktops, reduction", Unit: "%", Published: 8, Why: ikWhySuspend,
				Of: func(r Runs) float64 {
					return Reduction(meanTaskOn(r.Arm(ikCluster), heddle.Reduce, ikDesktops), meanTaskOn(r.Arm(ours), heddle.Reduce, ikDesktops))
				},
			},
		},
		Plots: []Plot{{Kind: GaugeOverTime, Title: "Suspended reduces", Arms: []string{ours}, Gauge: "ikayak.suspended"}},
		Sweeps: []Sweep{{
			Name: "memory", Title: "What binds: memory as listed and doubled, T shorter", Base: ikCluster,
			Columns: []Column{
				{Name: "maps an hour on desktops", Unit: "", Of: func(_, x *sim.Result) float64 { return mapsPerHour(x, ikDesktops) }},
				{Name: "reduce time on desktops", Unit: "s", Of: func(_, x *sim.Result) float64 { return meanTaskOn(x, heddle.Reduce, ikDesktops) }},
				{Name: "reduce time spent suspended", Unit: "%", Of: func(_, x *sim.Result) float64 { return suspendedTime(x) }},
				{Name: "memory held", Unit: "%", Of: func(_, x *sim.Result) float64 { return 100 * x.MemoryHeld }},
			},
			Arms: []Arm{
				ikArm("as listed, "+ikCluster, "yarn-cluster"), ikArm("as listed, suspension", "yarn-cluster", ikSuspend...),
				ikArm("as listed, suspension, T = 60 s", "yarn-cluster", "control=[{ikayak.suspend: {interval: 60}}]"),
				roomier(ikArm("doubled, "+ikCluster, "yarn-cluster")), roomier(ikArm("doubled, suspension", "yarn-cluster", ikSuspend...)),
				roomier(ikArm("doubled, suspension, T = 60 s", "yarn-cluster", "control=[{ikayak.suspend: {interval: 60}}]")),
			},
		}},
	}
}

// roomier gives an arm the mix on workers of twice the memory.
func roomier(a Arm) Arm {
	a.Work = func(seed uint64) (string, error) {
		text, err := ikayakMSD.work(seed)
		return strings.NewReplacer("memory: 14GiB", "memory: 28GiB", "memory: 28GiB", "memory: 56GiB", "memory: 21GiB", "memory: 42GiB").Replace(text), err
	}
	return a
}

// ikLocality is the shrinking of maps alone.
func ikLocality() Experiment {
	const ours = "shrinking"
	return Experiment{
		System: "ikayak", Name: "ikayak-locality", Title: "Smaller maps, more of them local", Source: "Fig. 11", Method: ikMethod,
		Work: ikayakMSD.work,
		Arms: []Arm{ikArm(ikCluster, "yarn-cluster"), ikArm(ours, "yarn-cluster", ikShrink...)},
		Metrics: []Metric{
			{Name: "local maps, increase", Unit: "points", Published: 27, Of: func(r Runs) float64 { return LocalRate(r.Arm(ours)) - LocalRate(r.Arm(ikCluster)) }, Why: ikWhyLocal},
			{
				Name: "map time, increase", Unit: "%", Kind: Cost, Published: 9,
				Of: func(r Runs) float64 {
					return Increase(MeanTask(r.Arm(ikCluster), heddle.Map, nil), MeanTask(r.Arm(ours), heddle.Map, nil))
				},
			},
			{
				Name: "MapReduce, mean JCT, reduction", Unit: "%", Kind: Shape, Text: "lower", Of: ReducedJCT(ikCluster, ours, Of(heddle.MapReduce)), Why: ikWhyLocal,
				Holds: func(all []Runs) bool {
					return MedianOf(all, ReducedJCT(ikCluster, ours, Of(heddle.MapReduce))) > 0
				},
			},
		},
		Plots: []Plot{{Kind: GaugeOverTime, Title: "β", Arms: []string{ours}, Gauge: "ikayak.beta"}},
		Sweeps: []Sweep{{
			Name: "replicas", Title: "Where there is something to gain: blocks with one replica", Base: ikCluster,
			Columns: []Column{
				ikLocalColumn,
				{Name: "maps shrunk", Unit: "%", Of: func(_, x *sim.Result) float64 { return shrunkMaps(x) }},
				{Name: "map time", Unit: "s", Of: func(_, x *sim.Result) float64 { return MeanTask(x, heddle.Map, nil) }},
				{Name: "MapReduce, mean JCT", Unit: "s", Of: func(_, x *sim.Result) float64 { return MeanJCT(x, Of(heddle.MapReduce)) }},
			},
			Arms: []Arm{
				ikArm("three, "+ikCluster, "yarn-cluster"), ikArm("three, shrinking", "yarn-cluster", ikShrink...),
				single(ikArm("one, "+ikCluster, "yarn-cluster")), single(ikArm("one, shrinking", "yarn-cluster", ikShrink...)),
				single(ikArm("one, shrinking in proportion", "yarn-cluster", "trim.map={ikayak.shrink: {proportional: true}}")),
			},
		}},
		LivesOff: []string{"locality"},
	}
}

// single gives an arm the mix with one replica of each block.
func single(a Arm) Arm {
	m := ikayakMSD
	m.replicas = 1
	a.Work = m.work
	return a
}

// ikParameters are v and ε over their ranges.
func ikParameters() Experiment {
	arm := func(symbol string, x float64) Arm {
		option := map[string]string{"v": "v", "ε": "epsilon"}[symbol]
		return ikArm(fmt.Sprintf("%s = %g", symbol, x), "ikayak", fmt.Sprintf("control=[{ikayak.suspend: {%s: %g}}]", option, x))
	}
	jct := func(symbol string, x float64) func(Runs) float64 {
		return func(r Runs) float64 { return MeanJCT(r.Arm(arm(symbol, x).Name), nil) }
	}
	// minimum is the shape of a valley: longer at both ends of a parameter's range than at its middle.
	minimum := func(symbol string, low, middle, high float64) Metric {
		rises := func(x float64) func(Runs) float64 {
			return func(r Runs) float64 { return Increase(jct(symbol, middle)(r), jct(symbol, x)(r)) }
		}
		return Metric{
			Name: fmt.Sprintf("mean JCT at the nearer end, against %s = %g, increase", symbol, middle), Unit: "%", Kind: Shape,
			Why:  ikWhySuspend + " From v = 1.5 and from ε = 0.2 on, where suspensions are shorter, jobs take 6 to 8 % less time; below, the figure goes up and down by no more than it does between seeds (sweeps v and epsilon).",
			Text: fmt.Sprintf("a minimum near %s = %g", symbol, middle),
			Of:   func(r Runs) float64 { return min(rises(low)(r), rises(high)(r)) },
			Holds: func(all []Runs) bool {
				return MedianOf(all, rises(low)) > 0 && MedianOf(all, rises(high)) > 0
			},
		}
	}
	e := Experiment{
		System: "ikayak", Name: "ikayak-parameters", Title: "The weight v and the overhead ε of suspension", Source: "Fig. 12", Method: ikMethod,
		Work:    ikayakMSD.work,
		Arms:    []Arm{arm("v", 1), arm("v", 0.5), arm("v", 2), arm("ε", 0), arm("ε", 0.15), arm("ε", 0.3)},
		Metrics: []Metric{minimum("v", 0.5, 1, 2), minimum("ε", 0, 0.15, 0.3)},
	}
	columns := []Column{{Name: "mean JCT against v = 1 and ε = 0.15, reduction", Unit: "%", Of: func(base, x *sim.Result) float64 { return Reduction(MeanJCT(base, nil), MeanJCT(x, nil)) }}}
	for _, s := range []struct {
		name, title, symbol string
		of                  []float64
	}{
		{"v", "v from 0.5 to 2", "v", []float64{0.5, 0.75, 1, 1.25, 1.5, 2}},
		{"epsilon", "ε from 0 to 0.3", "ε", []float64{0, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3}},
	} {
		w := Sweep{Name: s.name, Title: s.title, Base: "v = 1", Columns: columns, Plot: true}
		for _, x := range s.of {
			w.Arms = append(w.Arms, arm(s.symbol, x))
		}
		e.Sweeps = append(e.Sweeps, w)
	}
	return e
}

// ikEarlyStart is when reduces may start.
func ikEarlyStart() Experiment {
	starts := []float64{0.05, 0.25, 0.5, 0.75, 1}
	e := Experiment{
		System: "ikayak", Name: "ikayak-early-start", Title: "Reduces started earlier or later", Source: "Fig. 13a",
		Method: ikMethod + "* The whole mix at each fraction of maps after which reduces may start.\n",
		Plots:  []Plot{{Kind: CDF, Title: "Completion time at 5 %", Arms: []string{"YARN 5 %", "iKayak 5 %"}}},
	}
	name := func(who string, s float64) string { return fmt.Sprintf("%s %g %%", who, 100*s) }
	for _, s := range starts {
		m := ikayakMSD
		m.slowStart = s
		for who, profile := range [2]string{"yarn-cluster", "ikayak"} {
			a := ikArm(name([]string{"YARN", "iKayak"}[who], s), profile)
			a.Work = m.work
			e.Arms = append(e.Arms, a)
		}
	}
	at := func(s float64) func(Runs) float64 {
		return ReducedJCT(name("YARN", s), name("iKayak", s), Of(heddle.MapReduce))
	}
	e.Metrics = []Metric{{
		Name: "MapReduce, mean JCT, reduction, mean over all", Unit: "%", Published: 7, Why: ikWhyOverall,
		Of: func(r Runs) float64 {
			sum := 0.0
			for _, s := range starts {
				sum += at(s)(r)
			}
			return sum / float64(len(starts))
		},
	}}
	for _, s := range starts {
		e.Metrics = append(e.Metrics, Metric{Name: fmt.Sprintf("MapReduce, mean JCT, reduction at %g %%", 100*s), Unit: "%", Published: 7, Of: at(s), Why: ikWhyOverall})
	}
	return e
}
