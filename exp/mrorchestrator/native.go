package mrorchestrator

import (
	"heddle/exp"
	"heddle/sim"
)

const (
	whyTogether = "Weights make the reduces of Sort, and with them Sort, end a quarter earlier, and Wcount a tenth earlier; no other job gains. A clairvoyant schedule " +
		"of weights that knows which job ends soonest gains ten times as much (“JCT with " + bestFound + ", mean reduction”): it takes processors from jobs that " +
		"end late anyway. Neither the detector nor the estimators look across jobs. They compare a task with its peers in the same job, and bringing one task up to the " +
		"others' finish moves a barrier only in the last wave of a job. Memory control loses some of the gain: CPU control alone is better (ablation). Neither leaving out a part of the rules nor " +
		"lowering limits as printed in the algorithm changes that."
	whyUsed = "Under any policy, memory that no process holds is page cache, and a heap is fixed when its task starts. So no limit makes a machine use more memory than " +
		"it would otherwise. In the ablation no variant uses more. A job's work is the same with control and without, so processors are used more only as jobs end earlier."
	whyAlone = "If one job runs alone, resources can only move between its own tasks. With weights a node finishes some of them earlier and others later, and the " +
		"job ends with the last one. If a machine used all of its memory for files, only Sort and Twitter would end earlier, and a memory limit keeps a task from " +
		"caching its own files. " + ideallyIs
	whyUniform = "UNIFORM gives a task what its peers use on average. Sort gains more from that than the published gain of any job, Wcount gains a tenth, and the others gain nothing: if the same busy processors limit all tasks, no task asks for more than it has."
)

// modeArms returns the baseline and every estimator in every mode.
func modeArms(arm func(name, control string) exp.Arm) []exp.Arm {
	arms := []exp.Arm{arm("slots", "")}
	for _, est := range estimators {
		for _, mode := range modes {
			arms = append(arms, arm(est[0]+" "+mode[0], orchestrate(est[1], "mode: "+mode[1])))
		}
	}
	return arms
}

// native is an arm on the native cluster.
func native(name, control string) exp.Arm { return onSlots(name, perNode, heap, control) }

// bestTogether returns a function that computes the largest value of a fold over the jobs' reductions under the arms.
func bestTogether(arms []exp.Arm, base string) func(fold func([]float64) float64) func(exp.Runs) float64 {
	list := names(arms)
	return func(fold func([]float64) float64) func(exp.Runs) float64 {
		return func(r exp.Runs) float64 {
			best := 0.0
			for _, name := range list {
				best = max(best, fold(together(r, base, name, idsOf(suite))))
			}
			return best
		}
	}
}

// ideally names the figures of what moving processors and memory between tasks could give at the very most.
const ideally = "a processor for each task and all memory for files"

const ideallyIs = "In “JCT with " + ideally + "” every task has a processor of its own, and a machine caches as many files as if its tasks used no memory. That is more than " +
	"moving processors and memory between tasks can give to any of them. A heap keeps the size that it had when its task started, and tasks start as without control."

// bestFound names the figures of the best of an experiment's schedules.
const bestFound = "the best schedule found"

const bestIs = "Two arms are clairvoyant. Every 5 s they set the weights of running tasks from knowledge that no mechanism has: the job that ends soonest first (each " +
	"job has ten times the weight of the next), or reduces first. The best schedule found is the best of the arms; there may be a better one. "

func nativeTogether() exp.Experiment {
	ids := idsOf(suite)
	arms := append(modeArms(native), knowing(native)...)
	s := scene{
		reduced: func(r exp.Runs, arm string) []float64 { return together(r, "slots", arm, ids) },
		base:    func(r exp.Runs, _ string) *sim.Result { return r.Arm("slots") },
		why:     whyTogether, whyUniform: whyUniform,
	}
	e := exp.Experiment{
		System: "mrorchestrator", Name: "mrorchestrator-native-together",
		Title:   "Six jobs together on the native cluster: completion times and utilisation with each estimator and mode",
		Source:  "IV-A, Fig. 6c, 6d, 7a, 7b, 9a",
		Method:  aboutWorld + bestIs,
		Work:    work(workers, suite),
		Arms:    arms,
		Metrics: s.metrics(figures{26.5, 38.2, 9.2, 12.1}),
		Null:    null(native, names(modeArms(native))[1:]...), NullIs: nullIs,
		Mutations: mutations("JCT with UNIFORM, largest reduction"),
		Plots: []exp.Plot{
			{Kind: exp.BarsPerJob, Title: "Completion time of the six jobs together", Arms: []string{"slots", "REGRESSION CPU+Memory", "UNIFORM CPU+Memory", "soonest job first"}},
			{Kind: exp.Allocation, Title: "CPU and memory of reduces of Sort", Arms: []string{"REGRESSION CPU+Memory"}, Jobs: []string{"Sort"}},
		},
	}
	e.Metrics = append(e.Metrics, s.bothGainMost(), s.longGainMore())
	pairs := []pair{{"slots", "REGRESSION CPU+Memory"}}
	e.Metrics = append(e.Metrics, utilisation(pairs, "increase", 15.2, 14.5, whyUsed)...)
	e.Metrics = append(e.Metrics, exp.Metric{
		Name: "makespan of the six without control", Unit: "min", Kind: exp.SetUp, Published: 70, Of: func(r exp.Runs) float64 { return exp.Makespan(r.Arm("slots")) / 60 },
	})
	e.Metrics = append(e.Metrics, gained(bestFound, bestTogether(arms, "slots"))...)
	e.Sweeps = []exp.Sweep{ablation(), worlds(), epochs("slots", native), slotCounts(), speeds()}
	return e
}

func nativeSingle() exp.Experiment {
	s := alone6()
	e := exp.Experiment{
		System: "mrorchestrator", Name: "mrorchestrator-native-single",
		Title:   "Each of the six jobs alone on the native cluster",
		Source:  "IV-A, Fig. 6a, 6b",
		Method:  aboutWorld,
		Work:    work(workers, suite),
		Metrics: s.metrics(figures{20.5, 29, 9.6, 11.4}),
		NullIs:  nullIs,
	}
	pairs := addAlone(&e, workers, native, idealNative)
	e.Metrics = append(e.Metrics, s.bothGainMost(), s.longGainMore())
	e.Metrics = append(e.Metrics, utilisation(pairs, "mean increase", 7, 8.5, whyUsed)...)
	e.Metrics = append(e.Metrics, gained(ideally, bestAlone)...)
	return e
}

// alone6 is the scene of six jobs alone.
func alone6() scene {
	return scene{
		reduced: func(r exp.Runs, arm string) []float64 { return alone(r, "slots", arm, idsOf(suite)) },
		base:    func(r exp.Runs, id string) *sim.Result { return r.Arm(id + ", slots") },
		why:     whyAlone, whyUniform: whyAlone,
	}
}

// bestAlone folds what each job gains in the ideal world, where it cannot end before the real machines' processors can
// have done its work.
func bestAlone(fold func([]float64) float64) func(exp.Runs) float64 {
	return func(r exp.Runs) float64 {
		var x []float64
		for _, id := range idsOf(suite) {
			base, best := exp.JCT(r.Arm(id+", slots"), id), r.Arm(id+", "+idealName)
			busy := best.CPUUsed * best.Makespan.Seconds() * idealCores / machineCores
			x = append(x, max(0, exp.Reduction(base, max(exp.JCT(best, id), busy))))
		}
		return fold(x)
	}
}

// addAlone adds the arms of every job alone, named "job, arm", and their null arms; ram is that of the ideal machine.
// It returns which arms are compared.
func addAlone(e *exp.Experiment, nodes int, arm func(name, control string) exp.Arm, ram string) (pairs []pair) {
	for _, id := range idsOf(suite) {
		own := func(list []exp.Arm) []exp.Arm {
			for i := range list {
				list[i].Name, list[i].Work = id+", "+list[i].Name, work(nodes, suite, id)
			}
			return list
		}
		e.Arms = append(e.Arms, own(modeArms(arm))...)
		best := ideal(arm("", ""), ram, work(nodes, suite, id))
		best.Name = id + ", " + best.Name
		e.Arms = append(e.Arms, best)
		e.Null = append(e.Null, own(null(arm, names(modeArms(arm))[1:]...))...)
		pairs = append(pairs, pair{id + ", slots", id + ", REGRESSION CPU+Memory"})
	}
	return pairs
}
