package adaptcont

import (
	"fmt"

	"heddle"
	. "heddle/exp" //nolint:staticcheck // the frame's names are qualified next
	"heddle/sim"
)

func acColumns() []Column {
	return []Column{
		{Name: "master memory", Unit: "MiB", Of: func(_, x *sim.Result) float64 { return MasterMemory(x) }},
		{Name: "reduction", Unit: "%", Of: func(base, x *sim.Result) float64 { return Reduction(MasterMemory(base), MasterMemory(x)) }},
		{Name: "CPU reduction", Unit: "%", Of: func(base, x *sim.Result) float64 { return Reduction(2*acVcores(base), acVcores(x)) }},
		{Name: "masters too small for their wave", Of: func(_, x *sim.Result) float64 { return acTooSmall(x) }},
		{Name: "failed attempts", Of: func(_, x *sim.Result) float64 { return float64(x.FailedAttempts) }},
		{Name: "mean JCT, increase", Unit: "%", Of: func(base, x *sim.Result) float64 { return Increase(MeanJCT(base, nil), MeanJCT(x, nil)) }},
	}
}

// acSweeps are the parameters of the paper over a range, and each part left out.
func acSweeps() []Sweep {
	unit := Sweep{Name: "unit-wave", Title: "Ω_min, the unit wave", Base: "FIFO, YARN", Columns: acColumns(), Plot: true}
	for _, n := range []int{50, 75, 100, 150, 200, 250} {
		unit.Arms = append(unit.Arms, acArm(fmt.Sprintf("Ω_min = %d", n), "fifo", "dynamic", fmt.Sprintf("unit_wave: %d", n)))
	}
	threshold := Sweep{Name: "threshold", Title: "How much a predefined master may differ", Base: "FIFO, YARN", Columns: acColumns(), Plot: true}
	for _, n := range []int{0, 256, 384, 512, 1024} {
		threshold.Arms = append(threshold.Arms, acArm(fmt.Sprintf("threshold %d MB", n), "fifo", "pool", fmt.Sprintf("threshold: %d", n)))
	}
	ablation := Sweep{Name: "ablation", Title: "Prediction and feedback left out", Base: "Capacity, YARN", Columns: acColumns(), Arms: []Arm{
		acArm("prediction and feedback", "capacity", "dynamic"),
		acArm("no prediction", "capacity", "dynamic", "predict: false"),
		acArm("no feedback", "capacity", "dynamic", "feedback: false"),
		acArm("neither", "capacity", "dynamic", "predict: false", "feedback: false"),
	}}
	return []Sweep{unit, threshold, ablation}
}

// acShared is the same work where masters take their containers from the workers' 250. Under FIFO, where
// Dynamic's masters ask for more vcores than YARN's; with processors counted, and not.
func acShared() Sweep {
	s := Sweep{
		Name: "shared", Title: "No resources of their own: masters among the 250 containers", Base: "FIFO, YARN",
		Columns: []Column{
			{Name: "master memory", Unit: "MiB", Of: func(_, x *sim.Result) float64 { return MasterMemory(x) }},
			{Name: "master vcores", Of: func(_, x *sim.Result) float64 { return acVcores(x) }},
			{Name: "mean JCT", Unit: "s", Of: func(_, x *sim.Result) float64 { return MeanJCT(x, nil) }},
			{Name: "makespan", Unit: "s", Of: func(_, x *sim.Result) float64 { return x.Makespan.Seconds() }},
		},
	}
	for _, vcores := range []int64{0, 4} {
		for _, master := range [][2]string{{"", "YARN"}, {"dynamic", "Dynamic"}, {"pool", "Pool"}} {
			name := master[1] + ", 5 vcores a node"
			if vcores > 0 {
				name = master[1] + ", vcores in plenty"
			}
			a := Arm{Name: name, Profile: "fifo", Hadoop: acHadoop, Work: acWorkBeside(heddle.Of(0, 1000*vcores), acMixed, false, false)}
			if master[0] != "" {
				a.Set = []string{fmt.Sprintf("size.am={adaptcont.%s: {queue: fifo}}", master[0])}
			}
			s.Arms = append(s.Arms, a)
		}
	}
	return s
}

// acWide is what the paper leaves out: a job of many waves, which its master has in memory all the same.
func acWide() Sweep {
	s := Sweep{
		Name: "many-tasks", Title: "One job of 8000 maps under Fair: a master sized by its wave of 25 alone, and by its tasks too", Base: "Fair, YARN",
		Columns: []Column{
			{Name: "master memory", Unit: "MiB", Of: func(_, x *sim.Result) float64 { return MasterMemory(x) }},
			{Name: "failed attempts", Of: func(_, x *sim.Result) float64 { return float64(x.FailedAttempts) }},
			{Name: "jobs that succeeded", Of: func(_, x *sim.Result) float64 {
				n := 0
				Jobs(x, nil, func(*sim.JobResult) { n++ })
				return float64(n)
			}},
			{Name: "JCT", Unit: "s", Of: func(_, x *sim.Result) float64 { return MeanJCT(x, nil) }},
		},
		Arms: []Arm{
			acArm("wave alone, as published", "fair", "dynamic", "unit_tasks: 0"),
			acArm("wave and tasks", "fair", "dynamic"),
			acArm("YARN", "fair", ""),
		},
	}
	for i := range s.Arms {
		s.Arms[i].Work = acWork([]string{"500GiB"}, false, false)
	}
	return s
}
