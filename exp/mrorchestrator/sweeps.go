package mrorchestrator

import (
	"fmt"
	"strings"

	. "heddle/exp" //nolint:staticcheck // the frame's names are qualified next
	"heddle/sim"
)

// orchColumns are the figures of every sweep.
func orchColumns() []Column {
	ids := orchIDs(orchSuite)
	return []Column{
		{Name: "JCT, mean reduction", Unit: "%", Of: func(base, x *sim.Result) float64 {
			return Mean(orchReductions(ids, func(string) *sim.Result { return base }, func(string) *sim.Result { return x }))
		}},
		{Name: "mean JCT", Unit: "s", Of: func(_, x *sim.Result) float64 { return MeanJCT(x, nil) }},
		{Name: "CPU used", Unit: "%", Of: func(_, x *sim.Result) float64 { return 100 * x.CPUUsed }},
		{Name: "memory held", Unit: "%", Of: func(_, x *sim.Result) float64 { return 100 * x.MemoryHeld }},
	}
}

// orchAblation takes the mechanism apart.
func orchAblation() Sweep {
	s := Sweep{
		Name: "ablation", Title: "Every part alone and left out", Base: "slots", Columns: orchColumns(),
		Arms: []Arm{orchArm("slots", 2, orchHeap, "")},
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
		s.Arms = append(s.Arms, orchArm(a[0], 2, orchHeap, orchestrate(a[1], a[2])))
	}
	return s
}

// orchEpochs varies the epoch on top of a baseline.
func orchEpochs(base string, arm func(name, control string) Arm) Sweep {
	s := Sweep{Name: "epoch", Title: "Length of the epoch", Base: base, Columns: orchColumns(), Plot: true}
	for _, epoch := range []int{5, 10, 20, 40, 60, 120} {
		s.Arms = append(s.Arms, arm(fmt.Sprintf("%d s", epoch), orchestrate("regression", fmt.Sprintf("epoch: %d", epoch))))
	}
	return s
}

// orchSlotCounts varies the slots of a node, of which the paper's formula and its figures say different
// numbers; each with its own baseline.
func orchSlotCounts() Sweep {
	s := Sweep{Name: "slots", Title: "Slots of each kind a node, without and with MROrchestrator", Base: "slots", Columns: orchColumns()[1:]}
	for n := 1; n <= 5; n++ {
		s.Arms = append(s.Arms,
			orchArm(fmt.Sprintf("%d slots", n), n, orchShared(n), ""),
			orchArm(fmt.Sprintf("%d slots, MROrchestrator", n), n, orchShared(n), orchestrate("regression", "")))
	}
	return s
}

// orchSpeeds varies the speed of a core, each with its own baseline.
func orchSpeeds(base string, arm func(name, control string) Arm) Sweep {
	s := Sweep{Name: "speed", Title: "Speed of a core, without and with MROrchestrator", Base: base, Columns: orchColumns()[1:]}
	for _, speed := range []string{"0.025", "0.05", "0.12"} {
		for _, a := range []Arm{arm(speed, ""), arm(speed+", MROrchestrator", orchestrate("regression", ""))} {
			a.Work = func(seed uint64) (string, error) {
				text, err := orchWork(23, orchSuite)(seed)
				return strings.Replace(text, "speed: 0.025", "speed: "+speed, 1), err
			}
			s.Arms = append(s.Arms, a)
		}
	}
	return s
}

// orchTaskSizes varies the memory of a task, each with its own baseline.
func orchTaskSizes() Sweep {
	s := Sweep{Name: "memory", Title: "Memory of a task, without and with MROrchestrator; the reduction is against 250 MiB without", Base: "slots", Columns: orchColumns()}
	for _, mib := range []int64{250, 400, 600, orchSlice[0]} {
		size := orchSlice
		size[0] = mib
		s.Arms = append(s.Arms,
			orchArm(fmt.Sprintf("%d MiB", mib), 2, size, ""),
			orchArm(fmt.Sprintf("%d MiB, MROrchestrator", mib), 2, size, orchestrate("regression", "")))
	}
	return s
}
