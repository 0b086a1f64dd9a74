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
		exp.Figures("memory held", "%", func(x *sim.Result) float64 { return 100 * x.MemoryHeld }),
	}
}

// ablation takes the mechanism apart.
func ablation() exp.Sweep {
	s := exp.Sweep{
		Name: "ablation", Title: "Every part alone and left out", Base: "slots", Columns: columns(),
		Arms: []exp.Arm{onSlots("slots", 2, heap, "")},
	}
	for _, a := range [][3]string{
		{"REGRESSION", "regression", ""},
		{"UNIFORM", "uniform", ""},
		{"CPU", "regression", "mode: cpu"},
		{"Memory", "regression", "mode: memory"},
		{"peers and stragglers only", "regression", "peers_only: true"},
		{"every straggler treated", "regression", "causes: false"},
		{"peers and every straggler", "regression", "peers_only: true, causes: false"},
		{"flagged tasks only", "regression", "scope: flagged"},
		{"out of step", "regression", "in_step: false"},
		{"memory lowered when needed only", "regression", "lower_memory: needed"},
		{"CPU lowered when needed", "regression", "lower_cpu: needed"},
		{"CPU lowered always (Alg. 1 as printed)", "regression", "lower_cpu: always"},
	} {
		s.Arms = append(s.Arms, onSlots(a[0], 2, heap, orchestrate(a[1], a[2])))
	}
	return s
}

// epochs varies the epoch on top of a baseline.
func epochs(base string, arm func(name, control string) exp.Arm) exp.Sweep {
	s := exp.Sweep{Name: "epoch", Title: "Length of the epoch", Base: base, Columns: columns(), Plot: true}
	for _, epoch := range []int{5, 10, 20, 40, 60, 120} {
		s.Arms = append(s.Arms, arm(fmt.Sprintf("%d s", epoch), orchestrate("regression", fmt.Sprintf("epoch: %d", epoch))))
	}
	return s
}

// slotCounts varies the slots of a node, of which the paper's formula and its figures say different
// numbers; each with its own baseline.
func slotCounts() exp.Sweep {
	s := exp.Sweep{Name: "slots", Title: "Slots of each kind a node, without and with MROrchestrator", Base: "slots", Columns: columns()[1:]}
	for n := 1; n <= 5; n++ {
		s.Arms = append(s.Arms,
			onSlots(fmt.Sprintf("%d slots", n), n, shared(n), ""),
			onSlots(fmt.Sprintf("%d slots, MROrchestrator", n), n, shared(n), orchestrate("regression", "")))
	}
	return s
}

// speeds varies the speed of a core, each with its own baseline.
func speeds(base string, arm func(name, control string) exp.Arm) exp.Sweep {
	s := exp.Sweep{Name: "speed", Title: "Speed of a core, without and with MROrchestrator", Base: base, Columns: columns()[1:]}
	for _, speed := range []string{"0.025", "0.05", "0.12"} {
		for _, a := range []exp.Arm{arm(speed, ""), arm(speed+", MROrchestrator", orchestrate("regression", ""))} {
			a.Work = func(seed uint64) (string, error) {
				text, err := work(23, suite)(seed)
				return strings.Replace(text, "speed: 0.025", "speed: "+speed, 1), err
			}
			s.Arms = append(s.Arms, a)
		}
	}
	return s
}

// taskSizes varies the memory of a task, each with its own baseline.
func taskSizes() exp.Sweep {
	s := exp.Sweep{Name: "memory", Title: "Memory of a task, without and with MROrchestrator; the reduction is against 250 MiB without", Base: "slots", Columns: columns()}
	for _, mib := range []int64{250, 400, 600, slice[0]} {
		size := slice
		size[0] = mib
		s.Arms = append(s.Arms,
			onSlots(fmt.Sprintf("%d MiB", mib), 2, size, ""),
			onSlots(fmt.Sprintf("%d MiB, MROrchestrator", mib), 2, size, orchestrate("regression", "")))
	}
	return s
}
