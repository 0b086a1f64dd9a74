package coupling

import (
	"heddle/exp"
	"heddle/sim"
)

func large() exp.Experiment {
	return exp.Experiment{
		System: "coupling", Name: "coupling-200-jobs", Title: "200 jobs on 62 nodes", Source: "Fig. 16",
		Method: method + `* Ten batches of twenty jobs. For each job the seed determines which job of its program in Table IV it copies, and when it comes; the share of programs is the
  paper's: 147 Greps, 18 WordCounts, 14 Monte Carlos, 21 Sorts. Maps, reduces and bytes of each are 1.4 times those of Table IV.
`,
		Work: batches, Arms: both(), Null: nothing(), NullIs: nothingIs,
		Metrics: []exp.Metric{
			{
				Name: "mean JCT, reduction", Unit: "%", Published: 21.3, Of: exp.ReducedJCT(fair, coupling, nil),
				Why: "The seed determines which batches overlap, and the gain depends on that: if few overlap, there is little starvation to remove.",
			},
			{
				Name: "P[T < t] is larger for every t", Kind: exp.Shape, Text: "larger for every t", Holds: func(all []exp.Runs) bool { return sooner(all, fair, coupling) },
				Why: "See the plot.",
			},
			{Name: "longest JCT under Fair", Unit: "min", Kind: exp.SetUp, Published: 35, Text: "up to 35; the job size is derived from it", Of: exp.Under(fair, func(x *sim.Result) float64 { return longestJCT(x) / 60 })},
		},
		Plots:  []exp.Plot{{Kind: exp.CDF, Title: "Completion times (Fig. 16)", Arms: []string{fair, coupling}}},
		Sweeps: []exp.Sweep{ablation(jctColumn, starvColumn, localColumn, slotColumn)},
	}
}
