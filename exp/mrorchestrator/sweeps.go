package mrorchestrator

import (
	"fmt"
	"strings"

	"heddle/exp"
	"heddle/sim"
)

// columns are the figures of every sweep.
func columns() []exp.Column {
	ids := idsOf(suite)
	return []exp.Column{
		{Name: "JCT, mean reduction", Unit: "%", Of: func(base, x *sim.Result) float64 {
			return exp.Mean(reductions(ids, func(string) *sim.Result { return base }, func(string) *sim.Result { return x }))
		}},
		exp.Figures("mean JCT", "s", exp.JCTs(nil)),
		exp.Figures("CPU used", "%", func(x *sim.Result) float64 { return 100 * x.CPUUsed }),
		exp.Figures("memory used", "%", func(x *sim.Result) float64 { return 100 * x.MemoryUsed }),
	}
}

// ablation takes the mechanism apart.
func ablation() exp.Sweep {
	s := exp.Sweep{
		Name: "ablation", Title: "Every part alone and left out", Base: "slots", Columns: columns(),
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

// slotCounts varies the slots of a node, of which the paper's formula and its figures say different
// numbers; each with its own baseline.
func slotCounts() exp.Sweep {
	s := exp.Sweep{Name: "slots", Title: "Slots of each kind a node, without and with MROrchestrator", Base: "slots", Columns: columns()[1:]}
	for n := 1; n <= perNode; n++ {
		s.Arms = append(s.Arms,
			onSlots(fmt.Sprintf("%d slots", n), n, shared(n), ""),
			onSlots(fmt.Sprintf("%d slots, MROrchestrator", n), n, shared(n), orchestrate("regression", "")))
	}
	return s
}

// speeds varies the speed of a core, each with its own baseline.
func speeds(base string, arm func(name, control string) exp.Arm) exp.Sweep {
	s := exp.Sweep{Name: "speed", Title: "Speed of a core, without and with MROrchestrator", Base: base, Columns: columns()[1:]}
	for _, other := range []string{speed, "0.05", "0.1"} {
		for _, a := range []exp.Arm{arm(other, ""), arm(other+", MROrchestrator", orchestrate("regression", ""))} {
			a.Work = func(seed uint64) (string, error) {
				text, err := work(workers, suite)(seed)
				return strings.Replace(text, "speed: "+speed, "speed: "+other, 1), err
			}
			s.Arms = append(s.Arms, a)
		}
	}
	return s
}
