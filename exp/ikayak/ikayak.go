// Package ikayak has the experiments of Cross-platform Resource Scheduling for Spark and MapReduce on YARN (IEEE
// Transactions on Computers 2017), which calls its system iKayak.
//
// ikayak.go has the mix of both frameworks, spark.go the experiments on executors, tasks.go those on maps and reduces,
// cost.go the cost of a decision, and remaining.go the accuracy of the model of remaining times and the training of its
// rules. They run with
//
//	heddle exp run ikayak
//	go test ./exp/ikayak
package ikayak

import (
	"fmt"
	"slices"

	"heddle"
	"heddle/conf"
	"heddle/exp"
	"heddle/sim"
	"heddle/workload"
)

// System is iKayak.
var System = exp.System{
	Name:  "ikayak",
	Title: "iKayak",
	What: "iKayak runs Spark and MapReduce on one cluster: it places executors on nodes whose tasks end soon, predicts the remaining time of reduces, suspends " +
		"some reduces while maps lack room, and starts a map that would otherwise run far from its data in a smaller container near the data. Shrinking and " +
		"suspension add nothing to the paper's mix here and are off in the profile.",
	Paper:       "D. Cheng, X. Zhou, P. Lama, J. Wu and C. Jiang, *Cross-platform Resource Scheduling for Spark and MapReduce on YARN*.",
	Headline:    "ikayak-overall",
	SetUp:       setUp,
	Experiments: experiments,
}

// method describes how all of iKayak's experiments on its testbed were read.
const method = `
* Fifteen workers as the paper lists them, with cores of their generation, 1 Gb/s, one disk each, 256 MB blocks, three replicas. An eighth of a machine's memory is
  left to the system.
* Hadoop's CapacityScheduler with one queue and its defaults, counting memory and processors. No delay scheduling: the paper switches it on in a
  separate experiment (Fig. 13b). Container sizes from Tables 2 and 3. One reduce per eight maps.
`

// mixMethod describes how the experiments with the whole mix were read.
const mixMethod = method + `* MapReduce: 87 jobs, a third each of WordCount, Grep and Terasort. Sizes: log-normal with a median of 14 GB and 90 % below 100 GB, as published for clusters like the
  one that the paper cites, without the largest 10 % and the smallest 20 %. Jobs come at random, 160 s apart on average.
* Spark: K-means, PageRank and Index in turn, 10 GB of input each, ten iterations, executors that ask for four ninths of the memory, and as many applications as match the processor
  time of the MapReduce jobs.
* YARN-client: the driver runs outside the cluster, with one Spark application at a time. Applications that wait are not yet submitted.
`

// profileMethod describes which parts of the paper's system the overall experiment has.
const profileMethod = `* The arm iKayak is the profile, which has only placement. Suspension and shrinking add nothing (ablation); the experiments about them switch them on.
`

// besideMethod describes how the experiments with one program were read.
const besideMethod = method + `* Per program, as in the paper's figure: one MapReduce job of 300 GB beside a K-means, a PageRank and an Index application, which hold half of the memory all the time. Figures
  are means over the programs.
`

// The arms' names.
const (
	yarnCluster = "YARN-cluster"
	yarnClient  = "YARN-client"
	iKayak      = "iKayak"
)

// The programs of the workload.
var (
	mapPrograms   = []string{"wordcount", "grep", "terasort"}
	sparkPrograms = []string{"kmeans", "pagerank", "index"}
)

// Single mechanisms, as changes of the baseline or of the profile.
var (
	place   = []string{"place.executor=ikayak.executor", "estimate.remaining=ikayak.fuzzy", atOnce}
	suspend = []string{"control=[ikayak.suspend]"}
	shrink  = []string{"trim.map=ikayak.shrink"}
	whole   = []string{"control=[ikayak.suspend]", "trim.map=ikayak.shrink"} // what the profile leaves out
)

// The lanes: executors and masters before tasks, as in iKayak's profile, and everything in order of submission.
const (
	atOnce  = "lanes=[{kinds: [am, executor], order: capacity}, {kinds: [map, reduce, other], order: capacity}]"
	inOrder = "lanes=[{kinds: [am, map, reduce, executor, other], order: capacity}]"
)

// hadoop returns Hadoop's defaults without delay scheduling. A container may have 32 cores, the default of the paper's
// Hadoop 2.6; later versions have 4.
func hadoop() *conf.Hadoop {
	h := conf.Default()
	h.Capacity.NodeLocalityDelay = -1
	h.Capacity.Maximum[heddle.CPU] = 32_000
	h.Site.Maximum[heddle.CPU] = 32_000
	return h
}

func arm(name, profile string, set ...string) exp.Arm {
	return exp.Arm{Name: name, Profile: profile, Set: set, Hadoop: hadoop}
}

// clientArm has Spark's drivers outside the cluster, and runs one application at a time.
func clientArm(name string) exp.Arm {
	a := arm(name, "yarn-client")
	a.Change = func(_ uint64, w *workload.Workload) {
		for i := range w.Jobs {
			if s := w.Jobs[i].Spark; s != nil {
				s.Client = true
				w.Jobs[i].Master = heddle.Of(1024, 1000) // spark.yarn.am.memory, 512 MiB, and its overhead
			}
		}
	}
	return a
}

func experiments() []exp.Experiment {
	return []exp.Experiment{
		overall(), problem(), share(), variants(), placing(), wrongEstimates(), suspension(), locality(),
		parameters(), earlyStart(), delay(), cost(), remaining(),
	}
}

// cpuMore computes by how many percent one arm uses more of the processors than another.
func cpuMore(base, ours string) func(exp.Runs) float64 {
	return exp.Increased(base, ours, func(x *sim.Result) float64 { return x.CPUUsed })
}

var (
	sparkColumn   = exp.Reductions("Spark, mean JCT, reduction", exp.JCTs(exp.Of(heddle.Spark)))
	mapsColumn    = exp.Reductions("MapReduce, mean JCT, reduction", exp.JCTs(exp.Of(heddle.MapReduce)))
	localColumn   = exp.Figures("local maps", "%", exp.LocalRate)
	reserveColumn = exp.Figures("reservation, mean of Spark", "s", func(x *sim.Result) float64 { return meanReservation(x, exp.Of(heddle.Spark)) })
)

func overall() exp.Experiment {
	dynamic := msd
	dynamic.dynamic = true
	spark := arm("dynamic allocation", "yarn-cluster")
	spark.Work = dynamic.work
	cpu := func(x *sim.Result) float64 { return x.CPUUsed }
	over := func(a, b string, of func(*sim.Result) float64) func(exp.Runs) float64 {
		return func(r exp.Runs) float64 { return of(r.Arm(a)) / of(r.Arm(b)) }
	}
	reduced := func(base, who string, f heddle.Framework, published float64, why string) exp.Metric {
		return exp.Metric{
			Name: fmt.Sprintf("%s, mean JCT against %s, reduction", who, base), Unit: "%", Published: published, Why: why,
			Of: exp.ReducedJCT(base, iKayak, exp.Of(f)), Bound: exp.MostReducedJCT(base, exp.Of(f)), BoundIs: exp.MostReducedJCTIs,
		}
	}
	used := func(base string, published float64) exp.Metric {
		return exp.Metric{
			Name: "processor use against " + base + ", increase", Unit: "%", Published: published, Why: whyUse,
			Of: cpuMore(base, iKayak), Bound: mostUsed(base), BoundIs: boundUse,
		}
	}
	return exp.Experiment{
		System: "ikayak", Name: "ikayak-overall", Title: "A month's MapReduce jobs and Spark beside them", Source: "Fig. 7", Method: mixMethod + profileMethod,
		Work: msd.work,
		Arms: []exp.Arm{arm(yarnCluster, "yarn-cluster"), clientArm(yarnClient), arm(iKayak, "ikayak"), spark},
		Metrics: []exp.Metric{
			reduced(yarnClient, "Spark", heddle.Spark, 50, whySpark), reduced(yarnCluster, "Spark", heddle.Spark, 30, whySpark),
			reduced(yarnClient, "MapReduce", heddle.MapReduce, 14, whyClient), reduced(yarnCluster, "MapReduce", heddle.MapReduce, 19, whyMaps),
			used(yarnClient, 22), used(yarnCluster, 15),
			{Name: "Spark, mean JCT, YARN-client over YARN-cluster", Kind: exp.SetUp, Published: 1.4, Of: over(yarnClient, yarnCluster, exp.JCTs(exp.Of(heddle.Spark)))},
			{Name: "MapReduce, mean JCT, YARN-client over YARN-cluster", Kind: exp.SetUp, Published: 0.94, Of: over(yarnClient, yarnCluster, exp.JCTs(exp.Of(heddle.MapReduce)))},
			{Name: "processor use, YARN-client over YARN-cluster", Kind: exp.SetUp, Published: 0.94, Of: over(yarnClient, yarnCluster, cpu)},
			{Name: "dynamic allocation, processor use against YARN-client, increase", Unit: "%", Kind: exp.SetUp, Published: 16, Of: cpuMore(yarnClient, spark.Name)},
			{Name: "dynamic allocation, processor use against YARN-cluster, increase", Unit: "%", Kind: exp.SetUp, Published: 9, Of: cpuMore(yarnCluster, spark.Name)},
		},
		Null: []exp.Arm{arm(iKayak, "yarn-cluster")}, NullIs: "placement is off: YARN-cluster compared with itself and with YARN-client",
		Plots: []exp.Plot{
			{Kind: exp.CDF, Title: "Completion time"},
			{Kind: exp.RunningOverTime, Title: "Running maps and reduces", Arms: []string{yarnCluster, iKayak}},
			{Kind: exp.Predicted, Title: "Remaining time of reduces", Arms: []string{iKayak}},
		},
		Sweeps: []exp.Sweep{ablation(), load()},
	}
}

// ablation has each mechanism alone, and shows what those that the profile leaves out would add.
func ablation() exp.Sweep {
	paper := func(name string, set ...string) exp.Arm { return arm(name, "ikayak", slices.Concat(whole, set)...) }
	return exp.Sweep{
		Name: "ablation", Title: "Each mechanism alone, and what suspension and shrinking would add", Base: yarnCluster, Plot: true,
		Columns: []exp.Column{sparkColumn, mapsColumn, localColumn, reserveColumn},
		Arms: []exp.Arm{
			arm("iKayak: placement, masters and executors first", "ikayak"),
			arm("executors in order of submission", "ikayak", inOrder),
			arm("masters and executors first, no placement", "yarn-cluster", atOnce),
			arm("executors stay where they were placed", "ikayak", "place.executor={ikayak.executor: {stay: true}}"),
			arm("by mean progress", "ikayak", "estimate.remaining=progress"),
			arm("suspension alone", "yarn-cluster", suspend...),
			arm("shrinking alone", "yarn-cluster", shrink...),
			arm("with suspension", "ikayak", suspend...),
			arm("with shrinking", "ikayak", shrink...),
			paper("with both, as the paper has it"),
			paper("both, shrunk in proportion", "trim.map={ikayak.shrink: {proportional: true}}"),
			paper("both, T = 60 s", "control=[{ikayak.suspend: {interval: 60}}]"),
			paper("both, γ of each job", "control=[{ikayak.suspend: {per_job: true}}]"),
			paper("both, memory of suspended reduces lent", "control=[{ikayak.suspend: {lend_memory: 0.75}}]"),
			paper("both, remote maps refused", "place.map=[capacity, ikayak.local]"),
		},
	}
}

// load has the mix with other gaps between jobs, and on cores half as fast.
func load() exp.Sweep {
	column := func(name string, f heddle.Framework) exp.Column {
		return exp.Figures(name+", mean JCT", "s", exp.JCTs(exp.Of(f)))
	}
	s := exp.Sweep{
		Name: "load", Title: "MapReduce jobs 60, 100 and 160 s apart, and cores half as fast", Base: yarnCluster,
		Columns: []exp.Column{
			column("Spark", heddle.Spark), column("MapReduce", heddle.MapReduce), reserveColumn,
			exp.Figures("MapReduce, until its first map", "s", func(x *sim.Result) float64 {
				return exp.MeanOf(x, exp.Of(heddle.MapReduce), func(j *sim.JobResult) float64 { return j.Wait.Seconds() })
			}),
			exp.Figures("after its last map", "s", afterMaps),
			exp.Figures("memory held", "%", func(x *sim.Result) float64 { return 100 * x.MemoryHeld }),
		},
	}
	half := msd
	half.nodes = workers(0.5, 1)
	mixes := map[string]mix{"half as fast": half}
	names := []string{"60 s", "100 s", "160 s", "half as fast"}
	for _, gap := range []float64{60, 100, 160} {
		m := msd
		m.gap = gap
		mixes[fmt.Sprintf("%g s", gap)] = m
	}
	for _, n := range names {
		for _, a := range []exp.Arm{arm(yarnCluster, "yarn-cluster"), clientArm(yarnClient), arm(iKayak, "ikayak")} {
			a.Name, a.Work = n+", "+a.Name, mixes[n].work
			s.Arms = append(s.Arms, a)
		}
	}
	return s
}

// shareMix returns a smaller mix in which MapReduce has the given share of all work: 27 MapReduce jobs of 14 GB, the
// median.
func shareMix(share float64) mix {
	m := msd
	m.jobs, m.inputGB, m.share = 27, medianGB, share
	return m
}

func share() exp.Experiment {
	parts := []int{100, 75, 50, 25, 10}
	e := exp.Experiment{
		System: "ikayak", Name: "ikayak-share", Title: "MapReduce slows down as Spark's share grows", Source: "Fig. 5",
		Method: mixMethod + "* 27 MapReduce jobs of the median size, nine of each program, and as many Spark applications as the share requires. The dedicated cluster is the one without Spark.\n",
		Plots:  []exp.Plot{{Kind: exp.CDF, Title: "Completion time"}},
	}
	name := func(p int) string { return fmt.Sprintf("MapReduce %d %%", p) }
	for _, p := range parts {
		a := arm(name(p), "yarn-cluster")
		a.Work = shareMix(float64(p) / 100).work
		e.Arms = append(e.Arms, a)
	}
	slower := func(p int) func(exp.Runs) float64 {
		return exp.Increased(name(100), name(p), exp.JCTs(exp.Of(heddle.MapReduce)))
	}
	through := func(p int) func(exp.Runs) float64 {
		return exp.Under(name(p), func(x *sim.Result) float64 { return mapsPerHour(x, 0) / 60 })
	}
	held := func(r exp.Runs) float64 {
		return exp.MeanTask(r.Arm(name(10)), heddle.Reduce, nil) / exp.MeanTask(r.Arm(name(100)), heddle.Reduce, nil)
	}
	e.Metrics = []exp.Metric{
		{Name: "MapReduce at 10 %, slowdown", Unit: "%", Kind: exp.SetUp, Text: "slows down with each step of its share", Of: slower(10)},
		{Name: "MapReduce at 50 %, slowdown", Unit: "%", Kind: exp.SetUp, Text: "less", Of: slower(50)},
		{Name: "maps a minute at 100 %", Kind: exp.SetUp, Text: "falls with each step of its share", Of: through(100)},
		{Name: "maps a minute at 50 %", Kind: exp.SetUp, Text: "fewer", Of: through(50)},
		{Name: "maps a minute at 10 %", Kind: exp.SetUp, Text: "fewer still", Of: through(10)},
		{Name: "reduces held at 10 %, of that at 100 %", Kind: exp.SetUp, Text: "longer: they wait for maps", Of: held},
	}
	return e
}

// Explanations of the differences between our figures and the published ones.
const (
	whySpark = "At the load where the baselines relate to each other as published, half of the memory is held and there is little waiting, so an application's time is " +
		"mostly its own work. In a fuller cluster, with jobs 100 s apart, iKayak takes 42 % off YARN-cluster's time (load). But there YARN-client leaves MapReduce far " +
		"more room than published: 378 s is 0.65 of 584 s."
	whyMaps = "Under YARN-cluster a MapReduce job waits 53 of its 250 s for its first map and takes 95 s after its last map; under iKayak it is 46 and 100 s (load). " +
		"With jobs 100 s apart more tasks wait, and iKayak takes 35 % off. Suspension and shrinking add to the gain in the paper, but add nothing here (ablation)."
	whyClient = "YARN-client runs one Spark application at a time and so leaves more of the cluster to MapReduce. iKayak runs Spark beside MapReduce. It leaves " +
		"MapReduce as much if jobs come 100 or 160 s apart (load: 381 and 378 s, 241 and 236 s), and less if they come more often or cores are slower."
	whySameUse = "The jobs are the same and keep coming for nine tenths of the time, so the end can hardly come earlier."
	whyUse     = whySameUse + " Processor use rises mostly as more of the work runs on " +
		"slower cores, where it takes longer: a second of a core counts however fast the core. If all cores are equally fast, iKayak uses them 1 % more than YARN-client " +
		"instead of 4 % (six seeds)."
	whyPlace = "The paper does not say what its SpreadOut and NonSpreadOut do about nodes without room; here they use nodes with room first, as iKayak does. A null " +
		"arm that places executors at random, as soon as they are asked for, has most of the gain. Over six seeds iKayak gains 46 and 36 %; serving executors before " +
		"tasks without any placement gains 29 and 24 %, and placement in order of submission gains 34 and 28 %."
	whyError = "It hardly matters which of the nodes whose reduces must end first is chosen. With a random one of them, or without any estimate, Spark takes as long " +
		"as with the estimate, within the difference between seeds (estimates). The reduces of a job end soon after each other, after its last map, and in the " +
		"meantime an application works with the executors that it has."
	whySuspend = "Suspension lends processors, but so does suspending reduces at random: most reduces of jobs with waiting maps are waiting themselves. Grep's maps " +
		"end before the first interval does, and reduces on desktops live little longer than one interval. A shorter interval and lent memory bring more, above all " +
		"for maps an hour on all nodes (options)."
	whyParameters = "The differences over the ranges of v and ε are no larger than those between seeds. The smaller v and ε are, the longer the suspensions, and the wider the range of JCT: a mechanism that changes JCT so little shows no minimum."
	whyStart      = "The mean is over two programs with one job each, whose times change by a tenth with the placement of the executors."
	whyRemaining  = "Most of the error comes from predictions in the first third of a reduce's time, when few maps have ended and their pace is hardly known (model). The paper states neither its number of rules nor the moment at which it predicts."
	whyLocal      = "Nine of ten maps are already local: with three replicas on fifteen nodes a job of some size has local maps for any node. β is then 0.9 or more, " +
		"and no map is shrunk. With one replica two thirds of the mix's maps are local and some are shrunk (replicas). That costs more than it gains: containers come " +
		"free one or two at a time, and one free core cannot be divided at β = 0.65."
)
