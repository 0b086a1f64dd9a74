// Package mrorchestrator has the experiments of MROrchestrator: A Fine-Grained Resource Orchestration Framework for
// Hadoop MapReduce.
//
// Four jobs that run together and alone, the suite of six on native and on virtual machines, the same on Mesos and on
// the next generation of MapReduce, all of them against each other, and what an epoch costs. The suite stands in
// work.go, and what is varied in sweeps.go. They run with
//
//	heddle exp run mrorchestrator
//	go test ./exp/mrorchestrator
package mrorchestrator

import (
	"math"
	"slices"
	"strings"

	"heddle/exp"
	"heddle/sim"
)

// System is MROrchestrator.
var System = exp.System{
	Name:  "mrorchestrator",
	Title: "MROrchestrator",
	What: "MROrchestrator moves processor and memory between running tasks every epoch, from tasks that have more than their peers to tasks that have too little. " +
		"What a task needs it estimates from its job's other tasks or by regression, and it changes a limit only in step with the job's tasks elsewhere.",
	Paper:       "B. Sharma, R. Prabhakar, S.-H. Lim, M. T. Kandemir and C. R. Das, *MROrchestrator: A Fine-Grained Resource Orchestration Framework for Hadoop MapReduce*.",
	Headline:    "mrorchestrator-native-together",
	Experiments: experiments,
}

// What every page of MROrchestrator says of its set-up.
const (
	aboutCluster = `23 workers of 4 cores, 4 GB less the eighth reserved for the system, one Ultra320 disk at 70 MB/s ` +
		`(an assumption: 10,000 rpm disks of the time sustained 40 to 80), 1 Gb/s, heartbeats every 5 s as the paper says. A core is 0.025 of the ` +
		`reference: what the baseline's own times come to, up to 2000 s for four jobs together (the scale of Fig. 3a) and about 70 min for six ` +
		`(Fig. 9a). Cores of those years alone would be 0.1; the rest stands for Hadoop 0.20 and its virtual machine. The sweep over speeds shows what depends on it. `
	aboutDefaults = `What the paper leaves open is Hadoop 0.20's default: 2 map and 2 reduce slots a node, blocks of 64 MiB, ` +
		`heaps of 200 MB (-Xmx200m, a process of 250 MiB at YARN's ratio of 0.8), reduces from 5 % of the maps on; one reduce a job, ` +
		`for Sort and Twitter nine tenths of the reduce slots (Hadoop's Sort). Twitter is a program of which nothing is known and takes the mean ` +
		`of those measured; Kmeans is one pass; PiEst has 10 maps. Masters take no slot: Hadoop 0.20 has them on a machine of their own. `
	aboutWorld = `In this world processors nobody uses are used by others anyhow, a map or reduce is one thread, and a cap is a cap: ` +
		`lowering is not done by weights. So control of processors can help only by taking from hogs where a node's are all in use. ` +
		`Memory held counts limits, which are raised ahead of use, and not memory in use. `
)

// experiments lists MROrchestrator's experiments, as its paper has them.
func experiments() []exp.Experiment {
	return []exp.Experiment{
		problem(),
		nativeTogether(),
		nativeSingle(),
		virtualTogether(),
		virtualSingle(),
		onMesos(),
		onNGM(),
		against(),
		cost(),
	}
}

func problem() exp.Experiment {
	ids := idsOf(four)
	e := exp.Experiment{
		System: "mrorchestrator", Name: "mrorchestrator-problem",
		Title:  "Four jobs that run together take several times as long as each alone",
		Source: "II-A, Fig. 3a",
		Method: aboutCluster + aboutDefaults + "Sort of 15 GB and Wcount of 10 GB as published; DistGrep and PiEst as in the other experiments, where the paper calls their data random.",
		Work:   work(23, four),
		Arms:   []exp.Arm{onSlots("together", 2, heap, "")},
	}
	for _, id := range ids {
		a := onSlots(id, 2, heap, "")
		a.Work = work(23, four, id)
		e.Arms = append(e.Arms, a)
	}
	e.Metrics = []exp.Metric{{
		Name: "JCT together over JCT alone, mean of the four", Kind: exp.Level, Published: 2.9,
		Of: func(r exp.Runs) float64 {
			var x []float64
			for _, id := range ids {
				x = append(x, exp.JCT(r.Arm("together"), id)/exp.JCT(r.Arm(id), id))
			}
			return exp.Mean(x)
		},
		Why: "Four jobs under fair sharing take up to four times as long, and the less the more they differ: PiEst's ten maps and DistGrep " +
			"are done while the others, whose sizes are those published, have most of the cluster again. PiEst alone and together differ little, whereas " +
			"the paper gives it a share of the mean of 2.9; how many samples and maps it had is not published.",
	}}
	e.Plots = []exp.Plot{{Kind: exp.BarsPerJob, Title: "Completion time of the jobs, together and alone"}}
	return e
}

// estimators are the two schemes with the names of their arms.
var estimators = [...][2]string{{"REGRESSION", "regression"}, {"UNIFORM", "uniform"}}

// figures are the four published reductions of a scene, mean and largest, with REGRESSION and with UNIFORM.
type figures struct{ mean, largest, uniform, uniformLargest float64 }

// metrics writes them down; reduced computes the reduction of every job with an arm.
func (f figures) metrics(reduced func(r exp.Runs, arm string) []float64, why, whyUniform string) []exp.Metric {
	of := func(arm string, fold func([]float64) float64) func(exp.Runs) float64 {
		return func(r exp.Runs) float64 { return fold(reduced(r, arm)) }
	}
	return []exp.Metric{
		{Name: "JCT with REGRESSION, mean reduction", Unit: "%", Kind: exp.Gain, Published: f.mean, Of: of("REGRESSION CPU+Memory", exp.Mean), Why: why},
		{Name: "JCT with REGRESSION, largest reduction", Unit: "%", Kind: exp.Gain, Published: f.largest, Of: of("REGRESSION CPU+Memory", slices.Max[[]float64]), Why: why},
		{Name: "JCT with UNIFORM, mean reduction", Unit: "%", Kind: exp.Gain, Published: f.uniform, Of: of("UNIFORM CPU+Memory", exp.Mean), Why: whyUniform},
		{Name: "JCT with UNIFORM, largest reduction", Unit: "%", Kind: exp.Gain, Published: f.uniformLargest, Of: of("UNIFORM CPU+Memory", slices.Max[[]float64]), Why: whyUniform},
	}
}

// bothGainMost is the shape that controlling both resources gains more than controlling either.
func bothGainMost(reduced func(r exp.Runs, arm string) []float64) exp.Metric {
	return exp.Metric{
		Name: "CPU+Memory against either alone", Kind: exp.Shape, Text: "CPU+Memory tends to yield the largest reduction",
		Holds: func(all []exp.Runs) bool {
			var m [len(modes)]float64
			for i, mode := range modes {
				m[i] = exp.MedianOf(all, func(r exp.Runs) float64 { return exp.Mean(reduced(r, "REGRESSION "+mode[0])) })
			}
			return m[0] > max(m[1], m[2])
		},
		Why: "Controlling processors changes nothing here: with both the reduction is that of memory alone, to the second.",
	}
}

// longGainMore is the shape that long jobs gain more than short ones.
func longGainMore(reduced func(r exp.Runs, arm string) []float64) exp.Metric {
	return exp.Metric{
		Name: "Twitter, Sort and Kmeans against PiEst, DistGrep and Wcount", Kind: exp.Shape, Text: "larger jobs gain more",
		Holds: func(all []exp.Runs) bool {
			ids := idsOf(suite)
			gain := func(large bool) float64 {
				return exp.MedianOf(all, func(r exp.Runs) float64 {
					var x []float64
					for i, by := range reduced(r, "REGRESSION CPU+Memory") {
						if slices.Contains([]string{"Twitter", "Sort", "Kmeans"}, ids[i]) == large {
							x = append(x, by)
						}
					}
					return exp.Mean(x)
				})
			}
			return gain(true) > gain(false)
		},
		Why: "Kmeans is one pass here and no long job; Wcount is the longest.",
	}
}

const (
	whyMemory = "What memory can gain is bounded by the world's published slope (a task with a tenth of its memory takes 1.34 times as long): in " +
		"the sweep over task sizes (mrorchestrator-native-together) the baseline itself is 5 % faster when every task has what it wants, and REGRESSION gains as much. " +
		"Processors gain nothing: four tasks of one thread have a core each, and where there are more (the sweep over slots) others use what one " +
		"leaves. With the effect memory switched off the reduction is gone altogether. What else the paper's gain comes from, its text " +
		"does not say."
	whyUniform = "UNIFORM gives a task what its peers use; where all are cut off at the same size it never asks for more than they have, and a " +
		"reduce whose memory grows is held to the mean of the past."
	whyVirtual = "A machine of half the memory for each task is more than any task here wants, and a task of one thread does not use the second " +
		"processor: there is nothing to give, and what is lowered for nothing comes back an epoch late. The overheads of Xen, which the paper names, are not in this world."
	whyUtilisation = "Fewer core-seconds are needed when tasks have their memory, and in less time, so that use hardly changes."
)

// modeArms are the baseline and every estimator in every mode.
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
func native(name, control string) exp.Arm { return onSlots(name, 2, heap, control) }

// virtual is an arm on virtual machines.
func virtual(name, control string) exp.Arm { return onSlots(name, 1, vm, control) }

func nativeTogether() exp.Experiment {
	ids := idsOf(suite)
	reduced := func(r exp.Runs, arm string) []float64 { return together(r, "slots", arm, ids) }
	e := exp.Experiment{
		System: "mrorchestrator", Name: "mrorchestrator-native-together",
		Title:    "Six jobs together on the native cluster: completion times and utilisation with each estimator and mode",
		Source:   "IV-A, Fig. 6c, 6d, 7a, 7b",
		Method:   aboutCluster + aboutDefaults + aboutWorld,
		Work:     work(23, suite),
		Arms:     modeArms(native),
		Metrics:  figures{26.5, 38.2, 9.2, 12.1}.metrics(reduced, whyMemory, whyUniform),
		LivesOff: []string{"memory"},
		Plots: []exp.Plot{
			{Kind: exp.BarsPerJob, Title: "Completion time of the six jobs together", Arms: []string{"slots", "REGRESSION CPU+Memory", "UNIFORM CPU+Memory"}},
			{Kind: exp.Allocation, Title: "CPU and memory of reduces of Sort", Arms: []string{"REGRESSION CPU+Memory"}, Jobs: []string{"Sort"}},
		},
	}
	e.Metrics = append(e.Metrics, bothGainMost(reduced), longGainMore(reduced))
	e.Metrics = append(e.Metrics, utilisation([]pair{{"slots", "REGRESSION CPU+Memory"}}, "increase", 15.2, 14.5, whyUtilisation)...)
	e.Sweeps = []exp.Sweep{ablation(), epochs("slots", native), slotCounts(), taskSizes(), speeds("slots", native)}
	return e
}

// A pair of arms: the one without control, and the one with it.
type pair struct{ base, ours string }

// utilisation are the metrics of the cluster's utilisation: by how many percent it grows, the mean over
// pairs of arms. what is increase, or mean increase.
func utilisation(pairs []pair, what string, cpu, memory float64, why string) []exp.Metric {
	grows := func(of func(x *sim.Result) float64) func(exp.Runs) float64 {
		return func(r exp.Runs) float64 {
			var x []float64
			for _, p := range pairs {
				x = append(x, exp.Increase(of(r.Arm(p.base)), of(r.Arm(p.ours))))
			}
			return exp.Mean(x)
		}
	}
	return []exp.Metric{
		{Name: "CPU utilisation, " + what, Unit: "%", Kind: exp.Gain, Published: cpu, Why: why, Of: grows(func(x *sim.Result) float64 { return x.CPUUsed })},
		{Name: "memory held (limits), " + what, Unit: "%", Kind: exp.Gain, Published: memory, Why: why, Of: grows(func(x *sim.Result) float64 { return x.MemoryHeld })},
	}
}

func nativeSingle() exp.Experiment {
	ids := idsOf(suite)
	reduced := func(r exp.Runs, arm string) []float64 { return alone(r, "slots", arm, ids) }
	e := exp.Experiment{
		System: "mrorchestrator", Name: "mrorchestrator-native-single",
		Title:   "Each of the six jobs alone on the native cluster",
		Source:  "IV-A, Fig. 6a, 6b",
		Method:  aboutCluster + aboutDefaults + aboutWorld,
		Work:    work(23, suite),
		Metrics: figures{20.5, 29, 9.6, 11.4}.metrics(reduced, whyMemory, whyUniform),
	}
	for _, id := range ids {
		e.Arms = append(e.Arms, aloneArms(id, 23, native)...)
	}
	e.Metrics = append(e.Metrics, bothGainMost(reduced), longGainMore(reduced))
	var pairs []pair
	for _, id := range ids {
		pairs = append(pairs, pair{id + ", slots", id + ", REGRESSION CPU+Memory"})
	}
	e.Metrics = append(e.Metrics, utilisation(pairs, "mean increase", 7, 8.5, whyUtilisation)...)
	return e
}

// aloneArms are the arms of one job alone, named "job, arm".
func aloneArms(id string, workers int, arm func(name, control string) exp.Arm) []exp.Arm {
	arms := modeArms(arm)
	for i := range arms {
		arms[i].Name = id + ", " + arms[i].Name
		arms[i].Work = work(workers, suite, id)
	}
	return arms
}

const aboutXen = "Twelve machines of two virtual machines each, one task in each: a node is a machine, with one slot for maps and one for reduces of half its " +
	"processors and memory, between which the hypervisor may move both. (A map and a reduce that shared one slot would wait for each " +
	"other for ever.) "

func virtualTogether() exp.Experiment {
	ids := idsOf(suite)
	reduced := func(r exp.Runs, arm string) []float64 { return together(r, "slots", arm, ids) }
	e := exp.Experiment{
		System: "mrorchestrator", Name: "mrorchestrator-virtual-together",
		Title:   "Six jobs together on virtual machines",
		Source:  "IV-B, Fig. 7c, 7d, 8c, 8d",
		Method:  aboutXen + aboutCluster + aboutDefaults + aboutWorld,
		Work:    work(12, suite),
		Arms:    modeArms(virtual),
		Metrics: figures{21.5, 31.4, 8.5, 10.8}.metrics(reduced, whyVirtual, whyVirtual),
		Plots:   []exp.Plot{{Kind: exp.BarsPerJob, Title: "Completion time of the six jobs together", Arms: []string{"slots", "REGRESSION CPU+Memory", "UNIFORM CPU+Memory"}}},
	}
	e.Metrics = append(e.Metrics, utilisation([]pair{{"slots", "REGRESSION CPU+Memory"}}, "increase", 14.1, 13.1, whyVirtual)...)
	return e
}

func virtualSingle() exp.Experiment {
	ids := idsOf(suite)
	reduced := func(r exp.Runs, arm string) []float64 { return alone(r, "slots", arm, ids) }
	e := exp.Experiment{
		System: "mrorchestrator", Name: "mrorchestrator-virtual-single",
		Title:   "Each of the six jobs alone on virtual machines",
		Source:  "IV-B, Fig. 8a, 8b",
		Method:  aboutXen + aboutCluster + aboutDefaults + aboutWorld,
		Work:    work(12, suite),
		Metrics: figures{15.6, 22.6, 7.8, 9.6}.metrics(reduced, whyVirtual, whyVirtual),
	}
	for _, id := range ids {
		e.Arms = append(e.Arms, aloneArms(id, 12, virtual)...)
	}
	return e
}

const aboutReserve = "A limit that is lowered frees room in the scheduler's books as well, so that more containers start, which the paper does not say of " +
	"its prototype: where memory is lowered only when a neighbour needs it (ablation) nothing is gained. The gain lives off no effect of the world but off containers " +
	"larger than what tasks use. "

// mesos is an arm on Mesos: slots of 1 core and 1 GiB, its Hadoop framework's default, shared by dominant
// resources among the jobs.
func mesos(name, control string) exp.Arm { return onProfile("fair", name, nil, gigabyte, control) }

// ngm is an arm on Hadoop 0.23: containers of 1 GiB, shared by the capacity scheduler.
func ngm(name, control string) exp.Arm { return onProfile("capacity", name, nil, gigabyte, control) }

// atop is an experiment with the orchestrator on top of another resource manager.
func atop(name, title, method, base string, arm func(name, control string) exp.Arm, typical, largest, cpu, memory float64) exp.Experiment {
	ids := idsOf(suite)
	ours := "MROrchestrator + " + base
	why := "What is held is what limits say, and they are lowered to what tasks use: more tasks run at once in less memory, which a measure of pages in use would show as more."
	e := exp.Experiment{
		System: "mrorchestrator", Name: name, Title: title, Source: "IV-C, Fig. 9d",
		Method: method + aboutReserve + aboutCluster,
		Work:   work(23, suite),
		Arms: []exp.Arm{
			arm(base, ""), arm(ours, orchestrate("regression", "")),
			arm("UNIFORM + "+base, orchestrate("uniform", "")),
		},
		Metrics: []exp.Metric{
			{Name: "JCT, mean reduction", Unit: "%", Kind: exp.Gain, Published: typical, Of: func(r exp.Runs) float64 {
				return exp.Mean(together(r, base, ours, ids))
			}},
			{Name: "JCT, largest reduction", Unit: "%", Kind: exp.Gain, Published: largest, Of: func(r exp.Runs) float64 {
				return slices.Max(together(r, base, ours, ids))
			}},
		},
		Plots: []exp.Plot{{Kind: exp.BarsPerJob, Title: "Completion time of the six jobs together"}},
	}
	e.Metrics = append(e.Metrics, utilisation([]pair{{base, ours}}, "increase", cpu, memory, why)...)
	e.Sweeps = []exp.Sweep{{
		Name: "ablation", Title: "What it gains from", Base: base,
		Arms: []exp.Arm{
			arm(base, ""), arm(ours, orchestrate("regression", "")),
			arm("CPU", orchestrate("regression", "mode: cpu")),
			arm("Memory", orchestrate("regression", "mode: memory")),
			arm("memory lowered when needed only", orchestrate("regression", "lower_memory: needed")),
			arm("flagged tasks only", orchestrate("regression", "scope: flagged")),
		},
		Columns: columns(),
	}, epochs(base, arm), speeds(base, arm)}
	return e
}

func onMesos() exp.Experiment {
	return atop("mrorchestrator-mesos", "MROrchestrator on Mesos with dominant resource fairness",
		"Mesos is the fair scheduler with DRF among the jobs, on slots of 1 core and 1 GiB (the defaults of Mesos' Hadoop framework), three of which fit a node's memory "+
			"and four its cores: a fourth task at once is a quarter less time, which is about what is gained. ",
		"Mesos", mesos, 12.8, 17, 11.7, 8.2)
}

func onNGM() exp.Experiment {
	return atop("mrorchestrator-ngm", "MROrchestrator on the next generation of MapReduce (YARN)",
		"NGM is the capacity scheduler of Hadoop 0.23, which counts memory alone, with its default containers of 1 GiB. ",
		"NGM", ngm, 16.6, 23.1, 19.2, 13.1)
}

func against() exp.Experiment {
	ids := idsOf(suite)
	more := func(than string) func(r exp.Runs) float64 {
		return func(r exp.Runs) float64 {
			return exp.Mean(together(r, "slots", "MROrchestrator", ids)) - exp.Mean(together(r, "slots", than, ids))
		}
	}
	why := "On slots MROrchestrator cannot start a task more than there are slots, two for maps and two for reduces; NGM's three containers of either kind a node are " +
		"all maps while there are maps, and its order by submission gets the first jobs done early. Mesos' slots of 1 GiB are three a node as well, and fewer than the four of Hadoop."
	return exp.Experiment{
		System: "mrorchestrator", Name: "mrorchestrator-against",
		Title:  "MROrchestrator, Mesos and NGM, each against slots under the fair scheduler",
		Source: "IV-C, Fig. 9c",
		Method: "Slots, Mesos and NGM as in the experiments of their own. " + aboutCluster + aboutDefaults,
		Work:   work(23, suite),
		Arms: []exp.Arm{
			onSlots("slots", 2, heap, ""), onSlots("MROrchestrator", 2, heap, orchestrate("regression", "")),
			mesos("Mesos", ""), ngm("NGM", ""),
		},
		Metrics: []exp.Metric{
			{Name: "mean reduction of JCT, beyond Mesos'", Unit: "points", Kind: exp.Gain, Published: 17.5, Of: more("Mesos"), Why: why},
			{Name: "mean reduction of JCT, beyond NGM's", Unit: "points", Kind: exp.Gain, Published: 8.4, Of: more("NGM"), Why: why},
			{
				Name: "jobs for which MROrchestrator is best", Kind: exp.Shape, Text: "all but PiEst", Why: why,
				Holds: func(all []exp.Runs) bool {
					for _, id := range ids {
						best := exp.MedianOf(all, func(r exp.Runs) float64 {
							return math.Min(exp.JCT(r.Arm("Mesos"), id), exp.JCT(r.Arm("NGM"), id)) - exp.JCT(r.Arm("MROrchestrator"), id)
						}) > 0
						if best == (id == "PiEst") {
							return false
						}
					}
					return true
				},
			},
		},
		Plots: []exp.Plot{{Kind: exp.BarsPerJob, Title: "Completion time of the six jobs together"}},
	}
}

func cost() exp.Experiment {
	cost := func(arm string) func(exp.Runs) float64 {
		return func(r exp.Runs) float64 {
			base, ours := r.Arm("slots"), r.Arm(arm)
			return 1000 * (ours.Wall - base.Wall) / (ours.Makespan.Seconds() / 20)
		}
	}
	return exp.Experiment{
		System: "mrorchestrator", Name: "mrorchestrator-cost",
		Title:  "What profiling, detection, models and resolution cost in each epoch of 20 s",
		Source: "IV-D",
		Method: "Four times the cluster and four of each job, so that there is something to measure (368 tasks at once): what a run takes longer " +
			"on this machine than without MROrchestrator, over its epochs. That includes the simulator's part in measuring every task each 5 s, and " +
			"scatters with whatever else the machine does.",
		Work: func(seed uint64) (string, error) {
			text, err := work(4*23, suite)(seed)
			return strings.ReplaceAll(text, "program:", "count: 4, program:"), err
		},
		Arms: []exp.Arm{
			onSlots("slots", 2, heap, ""),
			onSlots("REGRESSION", 2, heap, orchestrate("regression", "")),
			onSlots("UNIFORM", 2, heap, orchestrate("uniform", "")),
		},
		Metrics: []exp.Metric{
			{Name: "an epoch with REGRESSION", Unit: "ms", Kind: exp.Measured, Published: 2000, Text: "models below 10 % of 20 s, resolution below 4 %, detection tens of ms", Of: cost("REGRESSION")},
			{Name: "an epoch with UNIFORM", Unit: "ms", Kind: exp.Measured, Published: 200, Text: "models below 1 % of 20 s", Of: cost("UNIFORM")},
		},
	}
}
