package mrorchestrator

import (
	"fmt"

	"heddle/exp"
	"heddle/sim"
)

// columns returns the figures of every sweep.
func columns() []exp.Column {
	ids := idsOf(suite)
	return []exp.Column{
		{Name: "JCT, mean reduction", Unit: "%", Of: func(base, x *sim.Result) float64 {
			return exp.Mean(reductions(ids, func(string) *sim.Result { return base }, func(string) *sim.Result { return x }))
		}},
		exp.Figures("mean JCT", "s", exp.JCTs(nil)),
		exp.Figures("CPU used", "%", func(x *sim.Result) float64 { return 100 * x.CPUUsed }),
		exp.Figures("memory in use", "%", func(x *sim.Result) float64 { return 100 * memoryUsed(x) }),
	}
}

// ablation has each part of the mechanism alone and left out.
func ablation() exp.Sweep {
	s := exp.Sweep{
		Name: "ablation", Title: "Each part alone and each part left out", Base: "slots", Columns: columns(),
		Arms: []exp.Arm{native("slots", "")},
	}
	for _, a := range [][3]string{
		{"REGRESSION", "regression", ""},
		{"UNIFORM", "uniform", ""},
		{"CPU", "regression", "mode: cpu"},
		{"Memory", "regression", "mode: memory"},
		{"peers and stragglers only", "regression", "peers_only: true"},
		{"every straggler treated", "regression", "causes: false"},
		{"no detector: all alike", "regression", "straggler: 1, deficit: 0, hogging: 1000000, peers_only: true"},
		{"flagged tasks only", "regression", "scope: flagged"},
		{"out of step", "regression", "in_step: false"},
		{"memory lowered always (Alg. 1 as printed)", "regression", "lower_memory: always"},
		{"CPU lowered when needed", "regression", "lower_cpu: needed"},
		{"CPU lowered always (Alg. 1 as printed)", "regression", "lower_cpu: always"},
	} {
		s.Arms = append(s.Arms, native(a[0], orchestrate(a[1], a[2])))
	}
	return s
}

// epochs varies the epoch on top of a baseline.
func epochs(base string, arm func(name, control string) exp.Arm) exp.Sweep {
	s := exp.Sweep{Name: "epoch", Title: "Length of the epoch", Base: base, Columns: columns(), Plot: true}
	for _, epoch := range []int{5, 10, 20, 60} {
		s.Arms = append(s.Arms, arm(fmt.Sprintf("%d s", epoch), orchestrate("regression", fmt.Sprintf("epoch: %d", epoch))))
	}
	return s
}

// slotCounts varies the slots of a node, for which the paper's formula and its figures give different numbers. Each
// number has its own baseline.
func slotCounts() exp.Sweep {
	s := exp.Sweep{Name: "slots", Title: "Slots of each kind per node, without and with MROrchestrator", Base: "slots", Columns: columns()[1:]}
	for n := 1; n <= perNode; n++ {
		s.Arms = append(s.Arms,
			onSlots(fmt.Sprintf("%d slots", n), n, shared(n), ""),
			onSlots(fmt.Sprintf("%d slots, MROrchestrator", n), n, shared(n), orchestrate("regression", "")))
	}
	return s
}

// speeds varies the speed of a core, and with it what a disk serves of one stream so that the six jobs take 70 min
// without control. Each speed has its own baseline.
func speeds() exp.Sweep {
	s := exp.Sweep{Name: "speed", Title: "Core speed, with disk runs for which the six jobs take 70 min", Base: "slots", Columns: columns()[1:]}
	for _, other := range [][2]string{{speed, run}, {"0.1", "36KB"}, {"0.2", "36KB"}} {
		name := other[0] + ", " + other[1]
		for _, a := range []exp.Arm{native(name, ""), native(name+", MROrchestrator", orchestrate("regression", "")), first(name+", soonest job first", native("", ""))} {
			a.Work = with(work(workers, suite), "speed: "+speed, "speed: "+other[0], "disk_run: "+run, "disk_run: "+other[1])
			s.Arms = append(s.Arms, a)
		}
	}
	return s
}

// worlds shows how much memory and processors leave to be gained: without a page cache, and with more of either than
// any control could give.
func worlds() exp.Sweep {
	s := exp.Sweep{Name: "worlds", Title: "The value of the page cache, and the possible gain from memory and from processors", Base: "slots", Columns: columns()}
	for _, x := range []struct{ name, from, to string }{
		{"slots", "", ""},
		{"no page cache", "page_cache: true", "page_cache: false"},
		{"all memory for files", "ram: 4GiB", "ram: " + idealNative},
		{"a processor for each task", "ram: 4GiB", "ram: 4GiB" + coreEach},
		{idealName, "ram: 4GiB", "ram: " + idealNative + coreEach},
	} {
		a := native(x.name, "")
		a.Work = with(work(workers, suite), x.from, x.to)
		s.Arms = append(s.Arms, a)
	}
	return s
}
