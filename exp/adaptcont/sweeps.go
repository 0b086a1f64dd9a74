package adaptcont

import (
	"fmt"

	"heddle/exp"
	"heddle/sim"
)

func columns() []exp.Column {
	return []exp.Column{
		exp.Figures("master memory", "MiB", MasterMemory),
		exp.Reductions("reduction", MasterMemory),
		{Name: "CPU reduction", Unit: "%", Of: func(base, x *sim.Result) float64 { return exp.Reduction(2*vcores(base), vcores(x)) }},
		exp.Figures("masters too small for their wave", "", tooSmall),
		exp.Figures("failed attempts", "", func(x *sim.Result) float64 { return float64(x.FailedAttempts) }),
		exp.Increases("mean JCT, increase", exp.JCTs(nil)),
	}
}

// sweeps returns the paper's parameters over a range, and each part left out.
func sweeps() []exp.Sweep {
	unit := exp.Sweep{Name: "unit-wave", Title: "Ω_min, the unit wave", Base: "FIFO, YARN", Columns: columns(), Plot: true}
	for _, n := range []int{50, 75, 100, 150, 200, 250} {
		unit.Arms = append(unit.Arms, dynamic(fmt.Sprintf("Ω_min = %d", n), "fifo", fmt.Sprintf("unit_wave: %d", n)))
	}
	threshold := exp.Sweep{Name: "threshold", Title: "How much a predefined master may differ", Base: "FIFO, YARN", Columns: columns(), Plot: true}
	for _, n := range []int{0, 256, 384, 512, 1024} {
		threshold.Arms = append(threshold.Arms, arm(fmt.Sprintf("threshold %d MB", n), "fifo", "pool", fmt.Sprintf("threshold: %d", n)))
	}
	return []exp.Sweep{unit, threshold, ablation()}
}

// ablation leaves out prediction and feedback while shares grow and fall.
func ablation() exp.Sweep {
	return exp.Sweep{Name: "ablation", Title: "Without prediction and without feedback", Base: "Capacity, YARN", Columns: columns(), Arms: []exp.Arm{
		dynamic("prediction and feedback", "capacity"),
		arm("… which only enlarges running masters", "capacity", "dynamic"),
		dynamic("no prediction", "capacity", "predict: false"),
		dynamic("no feedback", "capacity", "feedback: false"),
		dynamic("neither", "capacity", "predict: false", "feedback: false"),
	}}
}

// oneSizes gives all masters of a run the same size, whatever their jobs. It uses the paper's world, or the whole one,
// in which maps do not end in step.
func oneSizes(whole bool) exp.Sweep {
	s := exp.Sweep{Name: "one-size", Title: "One size for all masters, whatever their job", Base: "FIFO, YARN", Columns: []exp.Column{
		exp.Reductions("reduction", MasterMemory),
		{Name: "of that by masters that suffice", Unit: "%", Of: need(byRule).memorySaved},
		exp.Figures("masters too small for their wave", "", tooSmall),
		exp.Figures("failed attempts", "", func(x *sim.Result) float64 { return float64(x.FailedAttempts) }),
	}}
	if whole {
		s.Name, s.Title = "one-size-whole", "The same in the whole simulated world: noise, skew, contention, slow nodes and process start-up"
	}
	for _, n := range schedulers {
		for _, mib := range []int{256, 512, 768} {
			s.Arms = append(s.Arms, oneSize(fmt.Sprintf("%s, %d MB", n[1], mib), n[0], mib))
		}
		s.Arms = append(s.Arms, dynamic(n[1]+", by the rule", n[0]))
	}
	for i := range s.Arms {
		s.Arms[i].Work = setUp{sizes: mixed, whole: whole}.work()
	}
	return s
}

// amongWorkers has the same work, but masters take their containers from the workers' 250. It is under FIFO, where
// Dynamic's masters ask for more vcores than YARN's, with and without processors counted.
func amongWorkers() exp.Sweep {
	s := exp.Sweep{
		Name: "shared", Title: "Masters without resources of their own, among the 250 containers", Base: "FIFO, YARN",
		Columns: []exp.Column{
			exp.Figures("master memory", "MiB", MasterMemory),
			exp.Figures("master vcores", "", vcores),
			exp.Figures("mean JCT", "s", exp.JCTs(nil)),
			exp.Figures("makespan", "s", exp.Makespan),
		},
	}
	for _, vcores := range []int64{0, 4} {
		for _, master := range [][2]string{{"", "YARN"}, {"dynamic", "Dynamic"}, {"pool", "Pool"}} {
			name := master[1] + ", 5 vcores a node"
			if vcores > 0 {
				name = master[1] + ", vcores in plenty"
			}
			a := exp.Arm{Name: name, Profile: "fifo", Hadoop: hadoop, Work: setUp{sizes: mixed, among: true, vcores: vcores}.work()}
			if master[0] != "" {
				a.Set = []string{fmt.Sprintf("size.am={adaptcont.%s: {queue: fifo}}", master[0])}
			}
			s.Arms = append(s.Arms, a)
		}
	}
	return s
}

// wide is a case that the paper leaves out: a job of many waves, all of which its master has in memory.
func wide() exp.Sweep {
	s := exp.Sweep{
		Name: "many-tasks", Title: "One job of 8000 maps under Fair: a master sized only by its wave of 25, and one sized also by its tasks", Base: "Fair, YARN",
		Columns: []exp.Column{
			exp.Figures("master memory", "MiB", MasterMemory),
			exp.Figures("failed attempts", "", func(x *sim.Result) float64 { return float64(x.FailedAttempts) }),
			{Name: "jobs that succeeded", Of: func(_, x *sim.Result) float64 {
				n := 0
				exp.Jobs(x, nil, func(*sim.JobResult) { n++ })
				return float64(n)
			}},
			exp.Figures("JCT", "s", exp.JCTs(nil)),
		},
		Arms: []exp.Arm{
			arm("wave alone, as published", "fair", "dynamic", "unit_tasks: 0"),
			arm("wave and tasks", "fair", "dynamic"),
			arm("YARN", "fair", ""),
		},
	}
	for i := range s.Arms {
		s.Arms[i].Work = setUp{sizes: []string{"500GiB"}}.work()
	}
	return s
}
