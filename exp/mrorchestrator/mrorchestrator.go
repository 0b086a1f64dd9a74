// Package mrorchestrator has the experiments of MROrchestrator: A Fine-Grained Resource Orchestration Framework for
// Hadoop MapReduce.
//
// The experiments are four jobs that run together and alone, the suite of six on native and on virtual machines
// (native.go, virtual.go), the same on Mesos and on the next generation of MapReduce, all of them against each other,
// and the cost of an epoch (atop.go). work.go has the suite, sweeps.go what is varied, and schedules.go clairvoyant
// schedules and null arms. They run with
//
//	heddle exp run mrorchestrator
//	go test ./exp/mrorchestrator
package mrorchestrator

import (
	"slices"

	"heddle/exp"
	"heddle/sim"
)

// System is MROrchestrator.
var System = exp.System{
	Name:  "mrorchestrator",
	Title: "MROrchestrator",
	What: "MROrchestrator moves CPU and memory between running tasks every epoch, from tasks that have more than their peers to tasks that have too little. It " +
		"estimates what a task needs from the other tasks of its job or by regression, and gives a task more only in step with the job's tasks on other nodes.",
	Paper:       "B. Sharma, R. Prabhakar, S.-H. Lim, M. T. Kandemir and C. R. Das, *MROrchestrator: A Fine-Grained Resource Orchestration Framework for Hadoop MapReduce*.",
	Headline:    "mrorchestrator-native-together",
	SetUp:       decisions,
	Experiments: experiments,
}

// decisions lists the decisions about the set-up.
var decisions = []exp.Decision{
	{What: "nodes", Chosen: "23 workers with 2 cores, 4 GB (an eighth of it for the system) and 1 Gb/s; heartbeats every 5 s", By: "III-C-1 and IV-D: dual Opterons, 4 GB; the eighth is the simulated world's default"},
	{What: "disk", Chosen: "one disk of 65 MB/s, 7.7 ms for each head movement", By: "a 10,000 rpm Ultra320 disk of those years (Cheetah 10K.6: rated up to 68.5 MB/s, 65 measured; 4.7 ms of seek, 3 ms for half a turn); the paper names no model"},
	{
		What: "data that a disk reads from one stream before the next", Chosen: run + " between two head movements",
		By: "CPU in use by Sort alone, 42.2 %, within the range that HDFS and Linux allow: packets of 64 KB, 128 KB of readahead, 6.5 MB in CFQ's slice of 100 ms. With 96 KB it is 57 %. Many streams together get 8 to 9 MB/s",
	},
	{
		What: "speed of a core", Chosen: speed + " of the reference",
		By: "a 2.4 GHz Opteron has less than three fifths of the reference's clock rate and about a third of its instructions per clock: 0.2. On a given core, Hadoop " +
			"of that time took four times as long as the measured one, according to Coupling's 48.5 s for a map of WordCount on cores of about half of the reference's " +
			"speed. At 0.1 or 0.2 Sort alone uses 14 or 6 % of the processors if the six jobs take 70 min (sweep speed)",
	},
	{What: "passes of Kmeans", Chosen: "14, as maps of one job", By: "Fig. 9a, without control: the six jobs take 70 min; IV-A: Kmeans takes longer than Wcount, with half of its input"},
	{What: "page cache", Chosen: "the simulated world's page cache, empty at the start", By: "Linux. Memory in use comprises the system's, the tasks' and the cache, as sar counts it (II-A, footnote 2)"},
	{What: "slots", Chosen: "5 for maps and 5 for reduces per node", By: "Fig. 2c, without control: five reduces of Sort run concurrently on one node. The formula of footnote 1 gives 1 with 4 GB"},
	{What: "size of a task", Chosen: "on slots 250 MiB with a heap of 200 MB; on Mesos and NGM 1 core and 1 GiB", By: "defaults of Hadoop 0.20 (-Xmx200m), of Mesos' Hadoop framework and of Hadoop 0.23"},
	{What: "maps of PiEst", Chosen: "as many as slots, 115", By: "the paper states only the number of points; PiEst contributes its share of Fig. 3a's mean of 2.9 if it takes all slots when it runs alone"},
	{What: "inputs", Chosen: "as in IV; for Fig. 3a Sort 15 GB, Wcount 10 GB", By: "IV and Fig. 2; DistGrep and PiEst of Fig. 3a as in IV, where the paper calls their data random"},
	{What: "reduces", Chosen: "103 for Sort and Twitter, 1 for the others", By: "Hadoop's Sort takes nine tenths of the reduce slots, and Hadoop's default is 1; nothing is known about Twitter"},
	{What: "blocks, start of reduces", Chosen: "64 MiB; reduces start after 5 % of the maps", By: "defaults of Hadoop 0.20"},
	{What: "programs", Chosen: "measured on the reference core; Twitter is the mean of the others", By: "the simulated world's sources; the paper calls Twitter in-house"},
	{What: "order of NGM", Chosen: "fair among the jobs of its queue", By: "NGM is 9.1 points better than Mesos (IV-C, the difference of two baselines): in order of submission it is far from that"},
	{What: "virtual machines", Chosen: "12 nodes of the same kind, each with one slot for maps and one for reduces", By: "III-C-2: two virtual machines per machine, with one task in each. A map and a reduce that share one slot would deadlock"},
	{What: "processors", Chosen: "weights", By: "cpu.shares of Linux containers in 2012: quotas came later. Any task may use idle processors"},
	{What: "memory", Chosen: "the heap is fixed when its task starts; a memory limit bounds how much of its own files the task's group caches", By: "JVM behaviour; the kernel's memory.txt: a page is charged to the group that touches it first"},
}

const aboutWorld = `Weights divide busy processors; other tasks use idle processors anyway. A map or a reduce is one thread. The heap is fixed when its task starts, ` +
	`as -Xmx says. Memory given to a running task later can only cache its own files, and memory taken from it leaves room to cache the files of others. A limit below ` +
	`what the heap holds makes the task swap. Memory in use comprises the system's memory, the processes' memory and the page cache. `

// experiments lists MROrchestrator's experiments, as in its paper.
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
		Title:  "Four jobs that run together take several times as long as each job alone",
		Source: "II-A, Fig. 3a",
		Method: "The baseline alone: slots under the fair scheduler. No mechanism runs, and no figure counts. Memory in use is what sar counts, as in the paper: the " +
			"system, task processes and the page cache. Wcount alone uses the processors more here than in the paper, and less memory, because its 10 GB do not fill a " +
			"cache that starts empty.",
		Work: work(workers, four),
		Arms: []exp.Arm{native("together", "")},
	}
	for _, id := range ids {
		a := native(id, "")
		a.Work = work(workers, four, id)
		e.Arms = append(e.Arms, a)
	}
	used := func(name, arm string, published float64, of func(*sim.Result) float64) exp.Metric {
		return exp.Metric{Name: name, Unit: "%", Kind: exp.SetUp, Published: published, Of: func(r exp.Runs) float64 { return 100 * of(r.Arm(arm)) }}
	}
	among := func(id string, published float64) exp.Metric { // its work is the same as alone
		return exp.Metric{Name: "CPU in use, " + id + " among the four", Unit: "%", Kind: exp.SetUp, Published: published, Of: func(r exp.Runs) float64 {
			return 100 * cpuUsed(r.Arm(id)) * exp.JCT(r.Arm(id), id) / exp.JCT(r.Arm("together"), id)
		}}
	}
	e.Metrics = []exp.Metric{
		{Name: "JCT together over JCT alone, mean of the four", Kind: exp.SetUp, Published: 2.9, Of: func(r exp.Runs) float64 {
			var x []float64
			for _, id := range ids {
				x = append(x, exp.JCT(r.Arm("together"), id)/exp.JCT(r.Arm(id), id))
			}
			return exp.Mean(x)
		}},
		{Name: "longest of the four together", Unit: "s", Kind: exp.SetUp, Published: 2000, Text: "up to 2000 s, the scale of Fig. 3a", Of: func(r exp.Runs) float64 {
			return exp.Makespan(r.Arm("together"))
		}},
		used("CPU in use, Sort alone", "Sort", 42.2, cpuUsed),
		used("CPU in use, Wcount alone", "Wcount", 28.6, cpuUsed),
		among("Sort", 17.4),
		among("Wcount", 12.9),
		used("memory in use, Sort alone", "Sort", 68.8, memoryUsed),
		used("memory in use, Wcount alone", "Wcount", 79.8, memoryUsed),
	}
	e.Plots = []exp.Plot{{Kind: exp.BarsPerJob, Title: "Completion time of the jobs, together and alone"}}
	return e
}

func cpuUsed(r *sim.Result) float64    { return r.CPUUsed }
func memoryUsed(r *sim.Result) float64 { return r.MemoryFilled }

// estimators lists the two schemes with the names of their arms.
var estimators = [...][2]string{{"REGRESSION", "regression"}, {"UNIFORM", "uniform"}}

// figures holds the four published reductions of a scene: mean and largest, with REGRESSION and with UNIFORM.
type figures struct{ mean, largest, uniform, uniformLargest float64 }

// A scene says how the reduction of every job is computed: under one arm, and the most under any schedule.
type scene struct {
	reduced    func(r exp.Runs, arm string) []float64
	base       func(r exp.Runs, id string) *sim.Result // the run of a job without control
	why        string
	whyUniform string
}

// metrics returns the figures as metrics.
func (s *scene) metrics(f figures) []exp.Metric {
	of := func(arm string, fold func([]float64) float64) func(exp.Runs) float64 {
		return func(r exp.Runs) float64 { return fold(s.reduced(r, arm)) }
	}
	m := []exp.Metric{
		{Name: "JCT with REGRESSION, mean reduction", Published: f.mean, Of: of("REGRESSION CPU+Memory", exp.Mean), Bound: mostReduced(s.base, exp.Mean), Why: s.why},
		{Name: "JCT with REGRESSION, largest reduction", Published: f.largest, Of: of("REGRESSION CPU+Memory", slices.Max[[]float64]), Bound: mostReduced(s.base, slices.Max[[]float64]), Why: s.why},
		{Name: "JCT with UNIFORM, mean reduction", Published: f.uniform, Of: of("UNIFORM CPU+Memory", exp.Mean), Bound: mostReduced(s.base, exp.Mean), Why: s.whyUniform},
		{Name: "JCT with UNIFORM, largest reduction", Published: f.uniformLargest, Of: of("UNIFORM CPU+Memory", slices.Max[[]float64]), Bound: mostReduced(s.base, slices.Max[[]float64]), Why: s.whyUniform},
	}
	for i := range m {
		m[i].Unit, m[i].Kind, m[i].BoundIs = "%", exp.Gain, mostReducedIs
	}
	return m
}

// mostReduced folds the most by which any schedule can reduce each job's time, given the run of each without control.
func mostReduced(base func(r exp.Runs, id string) *sim.Result, fold func([]float64) float64) func(exp.Runs) float64 {
	return func(r exp.Runs) float64 {
		var x []float64
		for _, id := range idsOf(suite) {
			x = append(x, exp.Reduction(exp.JCT(base(r, id), id), exp.LeastJCT(base(r, id), exp.IDs(id))))
		}
		return fold(x)
	}
}

const mostReducedIs = "For each job 1 − its shortest possible time divided by its time without control: a job takes at least its longest map and its longest reduce, one after the " +
	"other, on the fastest core and disk, and what the cluster's processors need for its work, whatever else runs."

// bothGainMost is the shape that controlling both resources gains more than controlling either.
func (s *scene) bothGainMost() exp.Metric {
	return exp.Metric{
		Name: "CPU+Memory against either alone", Kind: exp.Shape, Text: "CPU+Memory tends to yield the largest reduction",
		Holds: func(all []exp.Runs) bool {
			more := 0
			for _, r := range all {
				var m [len(modes)]float64
				for i, mode := range modes {
					m[i] = exp.Mean(s.reduced(r, "REGRESSION "+mode[0]))
				}
				if m[0] > max(m[1], m[2], 0) {
					more++
				}
			}
			return 6*more >= 5*len(all) // in five of six runs, which is more than chance
		},
		Why: "Memory has little to offer: if a machine used all of its memory for files, the six jobs together would take a twentieth less (sweep worlds), and a heap " +
			"is fixed when its task starts. Once a limit is set, even a higher one, a task cannot cache spilled data beyond it. That costs the task more than the " +
			"others gain.",
	}
}

// longGainMore is the shape that long jobs gain more than short ones.
func (s *scene) longGainMore() exp.Metric {
	return exp.Metric{
		Name: "Twitter, Sort and Kmeans against PiEst, DistGrep and Wcount", Kind: exp.Shape, Text: "larger jobs gain more",
		Holds: func(all []exp.Runs) bool {
			ids := idsOf(suite)
			gain := func(large bool) float64 {
				return exp.MedianOf(all, func(r exp.Runs) float64 {
					var x []float64
					for i, by := range s.reduced(r, "REGRESSION CPU+Memory") {
						if slices.Contains([]string{"Twitter", "Sort", "Kmeans"}, ids[i]) == large {
							x = append(x, by)
						}
					}
					return exp.Mean(x)
				})
			}
			return gain(true) > max(gain(false), 0)
		},
		Why: "When the jobs run together, Sort gains, but Twitter and Kmeans do not. Alone, none of the three gains.",
	}
}

// gained returns the figures of what some schedules gain, which bound nothing: the mean and the largest reduction.
func gained(with string, of func(fold func([]float64) float64) func(exp.Runs) float64) []exp.Metric {
	return []exp.Metric{
		{Name: "JCT with " + with + ", mean reduction", Unit: "%", Kind: exp.Measured, Of: of(exp.Mean)},
		{Name: "JCT with " + with + ", largest reduction", Unit: "%", Kind: exp.Measured, Of: of(slices.Max[[]float64])},
	}
}

// A pair of arms: the one without control, and the one with it.
type pair struct{ base, ours string }

// increase computes by how many percent a figure grows, as the mean over pairs of arms.
func increase(pairs []pair, of func(x *sim.Result) float64) func(exp.Runs) float64 {
	return func(r exp.Runs) float64 {
		var x []float64
		for _, p := range pairs {
			x = append(x, exp.Increase(of(r.Arm(p.base)), of(r.Arm(p.ours))))
		}
		return exp.Mean(x)
	}
}

// utilisation returns the metrics of the cluster's utilisation, given the published figures. what is "increase" or "mean
// increase".
func utilisation(pairs []pair, what string, cpu, memory float64, why string) []exp.Metric {
	return []exp.Metric{
		{Name: "CPU utilisation, " + what, Unit: "%", Kind: exp.Gain, Published: cpu, Bound: untilFull(pairs, cpuUsed), BoundIs: allBusyIs, Why: why, Of: increase(pairs, cpuUsed)},
		{Name: "memory utilisation, " + what, Unit: "%", Kind: exp.Gain, Published: memory, Bound: untilFull(pairs, memoryUsed), BoundIs: allFullIs, Why: why, Of: increase(pairs, memoryUsed)},
	}
}

// untilFull computes the most by which the part of a resource that is in use can grow, until all of it is, as the mean
// over pairs of arms.
func untilFull(pairs []pair, of func(x *sim.Result) float64) func(exp.Runs) float64 {
	return func(r exp.Runs) float64 {
		var x []float64
		for _, p := range pairs {
			x = append(x, exp.Increase(of(r.Arm(p.base)), 1))
		}
		return exp.Mean(x)
	}
}

const (
	allBusyIs = "Utilisation cannot exceed 100 %: 100/u − 100 %, where u is the utilisation without control."
	allFullIs = "A machine cannot use more memory than it has: 100/u − 100 %, where u is the part in use without control."
)
