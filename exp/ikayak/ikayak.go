// Package ikayak has the experiments of Cross-platform Resource Scheduling for Spark and MapReduce on YARN (IEEE
// Transactions on Computers 2017), which calls its system iKayak.
//
// ikayak.go has the mix of both frameworks, spark.go what is about executors, tasks.go what is about maps and reduces,
// cost.go what a decision costs, and remaining.go the accuracy of the model of remaining times and what its rules
// are trained on. They run with
//
//	heddle exp run ikayak
//	go test ./exp/ikayak
package ikayak

import (
	"fmt"

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
	What: "iKayak runs Spark and MapReduce on one cluster: it places executors on nodes whose tasks end soon, predicts how long reduces will still run, and suspends some while maps are short of room. " +
		"Where a map would otherwise go far from its data, it starts it in a smaller container near them.",
	Paper:       "D. Cheng, X. Zhou, P. Lama, J. Wu and C. Jiang, *Cross-platform Resource Scheduling for Spark and MapReduce on YARN*.",
	Headline:    "ikayak-overall",
	Experiments: experiments,
}

// method is how all of iKayak's experiments were read.
const method = `
* Fifteen workers as the paper lists them, 1 Gb/s, one disk each, 256 MB blocks, three replicas. An eighth of a machine's memory is the system's.
* Hadoop's CapacityScheduler with one queue, its defaults, and memory and processors counted. No delay scheduling: the paper switches it on in an
  experiment of its own (Fig. 13b), and with it 95 % of the baseline's maps are local here, which leaves nothing of the 68 % the paper starts from.
* MapReduce: 87 jobs, a third each of WordCount, Grep and Terasort. Sizes: log-normal with a median of 14 GB and 90 % below 100 GB, published of clusters like the
  one the paper cites, without the largest 10 % and the smallest 20 %. One reduce for eight maps. Container sizes from Table 2.
* Spark: K-means, PageRank and Index in turn, 10 GB of input each as in section 2.2, ten iterations, as many of them as make as much processor time as the MapReduce
  jobs need. Executor sizes from Table 3; their number is not published: one core for each task of a stage.
* Jobs come at random, MapReduce's 20 s apart on average. The paper does not say; so close together Spark takes 1.3 times as long under YARN-client as under
  YARN-cluster (1.4 in the paper). MapReduce's times under the two are nearer to each other in the paper than at any distance here: see the sweep over loads.
* YARN-client: the driver outside the cluster, one Spark application at a time. Those that wait count against the queue's limit on masters, which is doubled for it.
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

// Mechanisms alone, as changes of the baseline, and left out, as changes of iKayak.
var (
	place    = []string{"place.executor=ikayak.executor", "estimate.remaining=ikayak.fuzzy"}
	suspend  = []string{"control=[ikayak.suspend]"}
	shrink   = []string{"trim.map=ikayak.shrink"}
	noPlace  = []string{"place.executor=capacity"}
	noPause  = []string{"control=[idle]"}
	noShrink = []string{"trim.map=whole"}
)

// hadoop is Hadoop's defaults without delay scheduling. A container may have 32 cores, the default of the paper's
// Hadoop 2.6; later ones have 4.
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

// clientArm has Spark's drivers outside the cluster, and one application at a time. Those that wait for their turn
// count among the queue's active applications, which in the paper's deployment are not yet submitted: twice the share
// for masters leaves MapReduce as many as elsewhere.
func clientArm(name string) exp.Arm {
	a := arm(name, "yarn-client")
	a.Hadoop = func() *conf.Hadoop {
		h := hadoop()
		h.Capacity.Queues[1].MaxAMShare *= 2
		return h
	}
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

// cpuMore is by how many percent one arm uses more of the processors than another.
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
	return exp.Experiment{
		System: "ikayak", Name: "ikayak-overall", Title: "A month's MapReduce jobs and as much Spark", Source: "Fig. 7", Method: method,
		Work: msd.work,
		Arms: []exp.Arm{arm(yarnCluster, "yarn-cluster"), clientArm(yarnClient), arm(iKayak, "ikayak"), spark},
		Metrics: []exp.Metric{
			{Name: "Spark, mean JCT against YARN-client, reduction", Unit: "%", Published: 50, Of: exp.ReducedJCT(yarnClient, iKayak, exp.Of(heddle.Spark)), Why: whyOverall},
			{Name: "Spark, mean JCT against YARN-cluster, reduction", Unit: "%", Published: 30, Of: exp.ReducedJCT(yarnCluster, iKayak, exp.Of(heddle.Spark)), Why: whyOverall},
			{Name: "MapReduce, mean JCT against YARN-client, reduction", Unit: "%", Published: 14, Of: exp.ReducedJCT(yarnClient, iKayak, exp.Of(heddle.MapReduce)), Why: whyClient},
			{Name: "MapReduce, mean JCT against YARN-cluster, reduction", Unit: "%", Published: 19, Of: exp.ReducedJCT(yarnCluster, iKayak, exp.Of(heddle.MapReduce)), Why: whyOverall},
			{Name: "processor use against YARN-client, increase", Unit: "%", Published: 22, Of: cpuMore(yarnClient, iKayak), Why: whyUse},
			{Name: "processor use against YARN-cluster, increase", Unit: "%", Published: 15, Of: cpuMore(yarnCluster, iKayak), Why: whyUse},
			{Name: "dynamic allocation, processor use against YARN-client, increase", Unit: "%", Published: 16, Of: cpuMore(yarnClient, spark.Name), Why: whyUse},
			{Name: "dynamic allocation, processor use against YARN-cluster, increase", Unit: "%", Published: 9, Of: cpuMore(yarnCluster, spark.Name), Why: whyUse},
		},
		Plots: []exp.Plot{
			{Kind: exp.CDF, Title: "Completion time"},
			{Kind: exp.RunningOverTime, Title: "Running maps and reduces", Arms: []string{yarnCluster, iKayak}},
			{Kind: exp.Predicted, Title: "Remaining time of reduces", Arms: []string{iKayak}},
			{Kind: exp.GaugeOverTime, Title: "Delay factor γ", Arms: []string{iKayak}, Gauge: "ikayak.gamma"},
		},
		Sweeps: []exp.Sweep{ablation(), load()},
	}
}

// ablation is each mechanism alone, and each left out.
func ablation() exp.Sweep {
	return exp.Sweep{
		Name: "ablation", Title: "Each mechanism alone, and each left out", Base: yarnCluster, Plot: true,
		Columns: []exp.Column{sparkColumn, mapsColumn, localColumn, reserveColumn},
		Arms: []exp.Arm{
			arm("all", "ikayak"),
			arm("placement alone", "yarn-cluster", place...),
			arm("suspension alone", "yarn-cluster", suspend...),
			arm("shrinking alone", "yarn-cluster", shrink...),
			arm("without placement", "ikayak", noPlace...),
			arm("without suspension", "ikayak", noPause...),
			arm("without shrinking", "ikayak", noShrink...),
			arm("all, shrunk in proportion", "ikayak", "trim.map={ikayak.shrink: {proportional: true}}"),
			arm("all, by mean progress", "ikayak", "estimate.remaining=progress"),
		},
	}
}

// load is the mix at other distances between jobs: the paper does not state them.
func load() exp.Sweep {
	column := func(name string, f heddle.Framework) exp.Column {
		return exp.Figures(name+", mean JCT", "s", exp.JCTs(exp.Of(f)))
	}
	s := exp.Sweep{
		Name: "load", Title: "MapReduce jobs 20, 60, 100 and 150 s apart", Base: yarnCluster,
		Columns: []exp.Column{
			column("Spark", heddle.Spark), column("MapReduce", heddle.MapReduce), reserveColumn,
			exp.Figures("memory held", "%", func(x *sim.Result) float64 { return 100 * x.MemoryHeld }),
		},
	}
	for _, gap := range []float64{20, 60, 100, 150} {
		m := msd
		m.gap = gap
		for _, a := range []exp.Arm{arm(yarnCluster, "yarn-cluster"), clientArm(yarnClient), arm(iKayak, "ikayak")} {
			a.Name, a.Work = fmt.Sprintf("%g s, %s", gap, a.Name), m.work
			s.Arms = append(s.Arms, a)
		}
	}
	return s
}

// shareMix is a smaller mix for one side's part in all work: 27 MapReduce jobs of 14 GB, the
// median.
func shareMix(share float64) mix {
	m := msd
	m.jobs, m.inputGB, m.share = 27, medianGB, share
	return m
}

func share() exp.Experiment {
	parts := []int{100, 75, 50, 25, 10}
	e := exp.Experiment{
		System: "ikayak", Name: "ikayak-share", Title: "MapReduce slows down as Spark's part grows", Source: "Fig. 5",
		Method: method + "* 27 MapReduce jobs of the median size, nine of each program, and as many of Spark as the share says. The dedicated cluster is the one without Spark.\n",
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
	falls := func(of func(p int) func(exp.Runs) float64, sign float64) func([]exp.Runs) bool {
		return func(all []exp.Runs) bool {
			for i := range parts[1:] {
				if !(sign*exp.MedianOf(all, of(parts[i+1])) > sign*exp.MedianOf(all, of(parts[i]))) {
					return false
				}
			}
			return true
		}
	}
	e.Metrics = []exp.Metric{
		{Name: "MapReduce at 10 %, slowdown", Unit: "%", Kind: exp.Shape, Text: "slows down with each step of its share", Of: slower(10), Holds: falls(slower, 1)},
		{Name: "maps a minute at 10 %", Kind: exp.Shape, Text: "falls with each step of its share", Of: through(10), Holds: falls(through, -1)},
		{
			Name: "reduces held at 10 %, of that at 100 %", Kind: exp.Shape, Text: "longer: they wait for maps",
			Of: held, Holds: func(all []exp.Runs) bool { return exp.MedianOf(all, held) > 1 }, Why: whyReduces,
		},
	}
	return e
}

// What stands between ours and the published figures.
const (
	whyOverall = "Placement makes what gain there is, about 15 % alone for either framework over the three seeds of the sweep; suspension and shrinking, which add to it in the paper, lose 7 to 10 % alone, and the gain is larger without suspension " +
		"(ablation; ikayak-suspension and ikayak-locality say why). " +
		"Memory is what binds: with jobs 20 s apart nine tenths of it are held all the time, so that more than four fifths of a Spark application's time pass before its first executor runs, waiting for jobs that came before, " +
		"and what can be won is what reservations left idle: they are about a third as long. " +
		"Placing at once wins no time: room that has just come free is offered to whoever goes first before a placement may name the node, so that an executor waits for its turn as under YARN-cluster. " +
		"How far apart jobs come, which the paper does not state, decides on the figure (load): it is largest 100 s apart, where the cluster is busy but keeps up, and gone 150 s apart, where half of the memory is free. " +
		"Seeds, which differ in the order of jobs, differ much: the first three, which the sweeps have, put iKayak 14 and 9 % before YARN-cluster, all five together level with it."
	whyClient = "YARN-client runs one Spark application at a time and so leaves MapReduce more of the cluster: its jobs take a third less time under it than under YARN-cluster here, and less at any distance between jobs (load), " +
		"where the paper has 6 %. Running Spark beside MapReduce, as iKayak does, cannot give that back."
	whyUse = "The work is the same and processors are not what binds: about 14 % of their time is used and nine tenths of the memory are held; with twice the memory a quarter more maps end in an hour (ikayak-suspension, memory). " +
		"Processor use then moves only as the whole takes less time."
	whyPlace = "The paper does not say what its SpreadOut and NonSpreadOut do about nodes without room; here they use nodes with room first, as iKayak does, and differ from it in which of these they take and in what they reserve. Reservations " +
		"shrink by more than published, but a completion time is mostly waiting for memory (ikayak-overall, load)."
	whySuspend = "Suspension gives processors back and keeps memory, and memory is what binds on this cluster: only nodes with memory to spare can run a map on a lent processor, and the suspended reduce holds its memory " +
		"for longer. With twice the memory hardly a reduce waits any more (memory). Reduces live for about 200 s here, less than one interval of 300 s; a shorter one does not help."
	whyLocal = "Nine of ten maps are local already: with three replicas on fifteen nodes a job of some size has maps for any node. β is then 0.9, and hardly a map is shrunk. With one replica two thirds are local and about " +
		"a third of the maps are shrunk (replicas), but containers come free one or two at a time, and one free core cannot be divided at β = 0.65; other nodes take the maps meanwhile, and more streams on one disk cost more than their being local saves."
	whyReduces = "MapReduce's own master starts reduces only as far as its headroom leaves room for maps: where Spark holds most of the cluster, reduces come late and wait less. Two jobs that compete from the start show what the paper " +
		"means (ikayak-problem)."
	whyDelay = "Without delay scheduling nine of ten maps and more than eight of ten executors are local already, because three replicas on fifteen nodes leave few nodes without data for a job of some size (ikayak-locality, replicas)."
)
