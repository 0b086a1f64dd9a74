// Package coupling has the experiments of Coupling Task Progress for MapReduce Resource-Aware Scheduling
// (INFOCOM 2013).
//
// Two Greps, ten Greps, one WordCount, single jobs, jobs without reduces, the 22 jobs of Table IV, their locality, and
// 200 jobs on 62 nodes. The paper's tables of jobs stand in work.go, and what is measured of runs in measure.go. They
// run with
//
//	heddle exp run coupling
//	go test ./exp/coupling
package coupling

import (
	"fmt"
	"math"

	"heddle"
	"heddle/exp"
	"heddle/sim"
)

// System is the Coupling Scheduler.
var System = exp.System{
	Name:  "coupling",
	Title: "Coupling Scheduler",
	What: "The Coupling Scheduler starts a job's reduces as its maps progress, not all as soon as it may, so that reduces do not hold slots while they wait. " +
		"It chooses where they go by where map output already lies, and weighs at random whether a map far from its data is worth starting.",
	Paper:       "J. Tan, X. Meng and L. Zhang, *Coupling Task Progress for MapReduce Resource-Aware Scheduling*.",
	Headline:    "coupling-22-jobs",
	Experiments: experiments,
}

// method is how all of Coupling's experiments were read.
const method = `
* Nodes: four cores, one disk, 1 Gb/s. A core's speed is 0.12 of the reference core, which is what the paper's WordCount maps come to
  (µ = 1/48.5 for 65.6 MB). Memory is generous, so that only slots bind, as in Hadoop 0.20: four for maps and two for reduces a node.
  Masters exist, as they do in YARN, and take no slot. One rack: the paper says nothing of racks.
* Baseline: Hadoop's fair scheduler over slots, reduces from 5 % of the maps on, delay scheduling with T1 = T2 = 15 s.
* Nodes report every 3 s, as Hadoop 0.20 has it; all free slots may be filled in one heartbeat.
* Disks: 60 MB/s, a 10,000 rpm disk of 73 GB. Input and output have one replica, as the paper's files have. Sort2 alone takes 12 minutes under Fair; the paper's took 16 to 23.
* What a Grep map takes depends on pattern and input, and the paper gives no figure; totals of the baseline do. Wikipedia in Fig. 1 and 5: 32 s
  (ten jobs of 427 maps keep 32 slots busy for 78 minutes). In the tables: 20 s on Wikipedia and 38 s on random numbers, the pair that brings the
  starvation of all jobs under Fair nearest to Table IV (means of five seeds 0.7 minutes apart, root mean square; single seeds: sweep map-times of the 22 jobs).
* Map output. Grep on Wikipedia: 0.016 of the input, distinct words as for WordCount. Grep on random numbers: 0.04; [1-5]* matches runs of digits whose
  length is geometric with 1/2, of which about a quarter of a million differ among the 17 million of a split, at twelve bytes each.
  WordCount on random numbers: 1.5, for every number is a word of its own. Sort as much as it reads.
* RandomWriter writes 1 GiB a map, its default.
`

const (
	fair     = "Fair"
	coupling = "Coupling"
)

// arm is an arm on a profile with changes.
func arm(name, profile string, set ...string) exp.Arm {
	return exp.Arm{Name: name, Profile: profile, Set: set, Hadoop: reporting(heartbeat)}
}

// both are the paper's two.
func both() []exp.Arm { return []exp.Arm{arm(fair, "slots"), arm(coupling, "coupling")} }

// The changes that put one mechanism into the baseline, or the baseline's in its place.
const (
	lanes       = "lanes=[{kinds: [am, executor, other], order: fifo}, {kinds: [map], order: {slots: {kind: map}}, per_node: 4}, {kinds: [reduce], order: %s, per_node: 2}]"
	slowStart   = "gate.reduce={slowstart: {completed: 0.05}}"
	mismatch    = "gate.reduce=coupling.mismatch"
	noWait      = "place.reduce=any"
	wait        = "place.reduce={coupling.wait: {slots: 2}}"
	each        = "place.reduce={coupling.wait: {slots: 2, each: true}}"
	patient     = "place.reduce={coupling.wait: {slots: 2, patient: true}}"
	delay       = "place.map={delay: {node_wait: 15, rack_wait: 15}}"
	peek        = "place.map={coupling.peek: {slots: 4}}"
	noRack      = "alpha_rack: 1, alpha_reduce: 1"
	peekOptions = "place.map={coupling.peek: {slots: 4, %s}}"
)

func order(name string) string { return fmt.Sprintf(lanes, name) }

// ablation is each mechanism alone, and each left out.
func ablation(columns ...exp.Column) exp.Sweep {
	sharing, lag := order("{slots: {kind: reduce}}"), order("coupling.mismatch")
	return exp.Sweep{
		Name: "ablation", Title: "Each mechanism alone, and each left out", Base: fair, Columns: columns, Plot: true,
		Arms: []exp.Arm{
			arm("all", "coupling"),
			arm("mismatch alone", "slots", lag, mismatch),
			arm("wait alone", "slots", wait),
			arm("peek alone", "slots", peek),
			arm("without mismatch", "coupling", sharing, slowStart),
			arm("without wait", "coupling", noWait),
			arm("without peek", "coupling", delay),
		},
	}
}

// betas are fixed and adaptive β, and the rack's part in α left out.
func betas(columns ...exp.Column) exp.Sweep {
	s := exp.Sweep{Name: "beta", Title: "Random peeking: β fixed and adaptive, α with and without racks", Base: fair, Columns: columns, Plot: true}
	for _, o := range []struct{ name, option string }{
		{"β = 0.1", "beta: 0.1"},
		{"β = 0.3", "beta: 0.3"},
		{"β = 0.5", "beta: 0.5"},
		{"β = 1", "beta: 1"},
		{"adaptive, other nodes' slots", "others: true"},
		{"adaptive, α = 1", noRack},
		{"β = 0.1, α = 1", "beta: 0.1, " + noRack},
		{"β = 0.5, α = 1", "beta: 0.5, " + noRack},
		{"β = 0.1, α = 1, one draw", "beta: 0.1, once: true, " + noRack},
		{"β = 0.5, α = 1, one draw", "beta: 0.5, once: true, " + noRack},
	} {
		s.Arms = append(s.Arms, arm(o.name, "coupling", fmt.Sprintf(peekOptions, o.option)))
	}
	s.Arms = append(s.Arms, arm("adaptive", "coupling"))
	return s
}

var (
	jctColumn   = exp.Reductions("mean JCT, reduction", exp.JCTs(nil))
	starvColumn = exp.Figures("starvation, mean", "s", func(x *sim.Result) float64 { return starvation(x, exp.WithReduces) })
	localColumn = exp.Figures("local maps", "%", exp.LocalRate)
	slotColumn  = exp.Reductions("reduce slots, time held, reduction", func(x *sim.Result) float64 { return slotTime(x, heddle.Reduce) })
)

func experiments() []exp.Experiment {
	return []exp.Experiment{
		twoGreps(), tenGreps(), wordCount(), single(), mapOnly(), sequence(), locality(), large(),
	}
}

func twoGreps() exp.Experiment {
	starved := func(r *sim.Result) float64 { return starvation(r, exp.IDs("2")) }
	const slots = "Eight reduces of the first job leave six of the 14 slots to the second, so that two of its eight wait instead of all: in the paper's run all " +
		"slots were taken. With 15 reduces each, and as many maps of the second job as end when its maps end in Fig. 1 (sweep all-slots), the figures are near the published ones."
	all := work(7, 0,
		job{id: "1", program: "wiki", maps: 427, reduces: 15},
		job{id: "2", at: 60, program: "random", maps: 45, reduces: 15})
	full := exp.Sweep{
		Name: "all-slots", Title: "15 reduces each, as the large Greps of Table IV, and 45 maps of the second job", Base: fair,
		Columns: []exp.Column{
			exp.Figures("starvation of job 2", "s", starved),
			exp.Figures("maps of job 2 end", "s", func(x *sim.Result) float64 { return mapsEnd(x, "2") }),
			exp.Figures("JCT of job 1", "s", exp.JCTs(exp.IDs("1"))),
			exp.Figures("JCT of job 2", "s", exp.JCTs(exp.IDs("2"))),
		},
		Arms: both(),
	}
	for i := range full.Arms {
		full.Arms[i].Work = all
	}
	return exp.Experiment{
		System: "coupling", Name: "coupling-two-greps", Title: "Two Grep jobs, the second a minute after the first", Source: "Fig. 1 and 2",
		Method: method + "* The two jobs have no published size: 427 maps on Wikipedia and 148 on random numbers, 8 reduces each, on set A.\n",
		Work: work(7, 0,
			job{id: "1", program: "wiki", maps: 427, reduces: 8},
			job{id: "2", at: 60, program: "random", maps: 148, reduces: 8}),
		Arms: both(),
		Metrics: []exp.Metric{
			{
				Name: "starvation of job 2, reduction", Unit: "%", Published: 100, Text: "100: no starvation",
				Of: exp.Reduced(fair, coupling, starved),
			},
			{
				Name: "starvation of job 2 under Fair", Unit: "s", Kind: exp.Level, Published: 450, Text: "450: its maps end at 3.8 min, its reduces start at 11.3 min",
				Of: exp.Under(fair, starved), Why: slots,
			},
			{
				Name: "maps of job 2 end under Fair, since its submission", Unit: "s", Kind: exp.Level, Published: 168,
				Of: exp.Under(fair, func(x *sim.Result) float64 { return mapsEnd(x, "2") }), Why: slots,
			},
			{
				Name: "reduce slots, time held, reduction", Unit: "%", Published: 50, Text: "about half",
				Of: func(r exp.Runs) float64 { return slotColumn.Of(r.Arm(fair), r.Arm(coupling)) },
			},
			{
				Name: "both jobs are faster", Kind: exp.Shape, Text: "both jobs run faster with Coupling",
				Of: func(r exp.Runs) float64 {
					return min(exp.ReducedJCT(fair, coupling, exp.IDs("1"))(r), exp.ReducedJCT(fair, coupling, exp.IDs("2"))(r))
				},
				Holds: func(all []exp.Runs) bool {
					return exp.MedianOf(all, exp.ReducedJCT(fair, coupling, exp.IDs("1"))) > 0 && exp.MedianOf(all, exp.ReducedJCT(fair, coupling, exp.IDs("2"))) > 0
				},
			},
		},
		Plots: []exp.Plot{
			{Kind: exp.RunningOverTime, Title: "Fair (Fig. 1)", Arms: []string{fair}},
			{Kind: exp.RunningOverTime, Title: "Coupling (Fig. 2)", Arms: []string{coupling}},
		},
		Sweeps: []exp.Sweep{full, ablation(jctColumn, starvColumn, slotColumn)},
	}
}

func tenGreps() exp.Experiment {
	var jobs []job
	for i := range 10 {
		jobs = append(jobs, job{id: fmt.Sprint(i + 1), at: float64(300 * i), program: "wiki", maps: 427, reduces: 8})
	}
	disk := func(of func(sim.DiskUse) float64) func(exp.Runs) float64 {
		return exp.Reduced(fair, coupling, func(x *sim.Result) float64 { return of(x.Disks) })
	}
	const idle = "What the paper's gain comes from is not in this world: a reduce that waits for maps, or copies the little that Grep leaves, takes no processor, " +
		"disk or memory from the maps beside it. Their disks are busy with the maps' own reads, and random peeking adds remote ones (ablation: without peek)."
	return exp.Experiment{
		System: "coupling", Name: "coupling-ten-greps", Title: "Ten equal Grep jobs, five minutes apart, on eight nodes", Source: "Fig. 5, 6, 8 and Table I",
		Method: method, Work: work(8, 0, jobs...), Arms: both(),
		Metrics: []exp.Metric{
			{
				Name: "mean JCT, reduction", Unit: "%", Published: 16.1, Of: exp.ReducedJCT(fair, coupling, nil),
				Why: "Fair's greedy reduces do the others little harm here: jobs that share the map slots end their maps in order of submission, and by then the reduce " +
					"slots they need are free (starvation of a few seconds under either). The paper explains its gain by the contention of copying reduces; without the effect " +
					"contention the figure stays as it is.",
			},
			{Name: "map time, reduction", Unit: "%", Published: 10.1, Of: exp.Reduced(fair, coupling, func(x *sim.Result) float64 { return exp.MeanTask(x, heddle.Map, nil) }), Why: idle},
			{Name: "iowait, reduction", Unit: "%", Published: 40, Of: disk(func(d sim.DiskUse) float64 { return d.IOWait }), Why: idle},
			{Name: "await, reduction", Unit: "%", Published: 13.6, Of: disk(func(d sim.DiskUse) float64 { return d.Await }), Why: idle},
			{Name: "svctm, reduction", Unit: "%", Published: 13.2, Of: disk(func(d sim.DiskUse) float64 { return d.Service }), Why: idle},
			{Name: "makespan under Fair", Unit: "s", Kind: exp.Measured, Published: 78 * 60, Text: "about 4680; map times were set by it", Of: exp.Under(fair, exp.Makespan)},
			{Name: "all jobs are faster", Kind: exp.Shape, Why: "see the mean: the jobs differ by a few percent either way", Text: "all of the ten jobs have a shorter processing time", Holds: func(all []exp.Runs) bool {
				for i := range jobs {
					if !(exp.MedianOf(all, exp.ReducedJCT(fair, coupling, exp.IDs(jobs[i].id))) > 0) {
						return false
					}
				}
				return true
			}},
		},
		Plots: []exp.Plot{
			{Kind: exp.RunningOverTime, Title: "Fair (Fig. 5)", Arms: []string{fair}},
			{Kind: exp.RunningOverTime, Title: "Coupling (Fig. 6b)", Arms: []string{coupling}},
			{Kind: exp.BarsPerJob, Title: "Completion time of each job (Fig. 6a)"},
		},
		Sweeps: []exp.Sweep{ablation(jctColumn, starvColumn, localColumn, slotColumn)},
	}
}

func wordCount() exp.Experiment {
	const beta1, beta5 = "Coupling, β = 0.1", "Coupling, β = 0.5"
	return exp.Experiment{
		System: "coupling", Name: "coupling-wordcount", Title: "One WordCount whose data lies on seven of fifteen nodes", Source: "Fig. 10, 11 and Eq. 2",
		Method: method + `* One reduce, Hadoop's default; the paper names none.
* With β = 0.1 the gain here is twice the published one. The sweep shows what it hangs on: with a single draw a heartbeat, and without the rack's part in α (as if the
  nodes without data stood in another rack), both figures come out about as published.
`,
		LivesOff: []string{"noise", "slow_nodes"}, // maps that do not end in step, as Eq. 2 has them
		Work:     work(7, 8, job{id: "wordcount", program: "wordcount", maps: 427, reduces: 1}),
		Arms: append(both(), arm(beta1, "coupling", fmt.Sprintf(peekOptions, "beta: 0.1")),
			arm(beta5, "coupling", fmt.Sprintf(peekOptions, "beta: 0.5"))),
		Metrics: []exp.Metric{
			{Name: "JCT with β = 0.5, reduction", Unit: "%", Published: 38.7, Of: exp.ReducedJCT(fair, beta5, nil)},
			{Name: "JCT with β = 0.1, reduction", Unit: "%", Published: 18.3, Of: exp.ReducedJCT(fair, beta1, nil)},
			{Name: "maps that run most of the time under Fair", Kind: exp.Level, Published: 28, Of: exp.Under(fair, mostMapsFor)},
			{
				Name: "probability that all maps start where their data is (Eq. 2), by the map time under Fair", Unit: "%", Kind: exp.Level, Published: 92.9,
				Of: func(r exp.Runs) float64 {
					const s, T, N = 28, 15, 427
					return 100 * math.Pow(-math.Expm1(-s*T/exp.MeanTask(r.Arm(fair), heddle.Map, nil)), N)
				},
			},
			{Name: "map time under Fair", Unit: "s", Kind: exp.Measured, Published: 48.5, Text: "48.5; the cores' speed was set by it", Of: exp.Under(fair, func(x *sim.Result) float64 { return exp.MeanTask(x, heddle.Map, nil) })},
		},
		Plots: []exp.Plot{
			{Kind: exp.RunningOverTime, Title: "Fair (Fig. 10)", Arms: []string{fair}},
			{Kind: exp.RunningOverTime, Title: "β = 0.5 (Fig. 11)", Arms: []string{beta5}},
			{Kind: exp.RunningOverTime, Title: "β = 0.1 (Fig. 11)", Arms: []string{beta1}},
		},
		Sweeps: []exp.Sweep{betas(jctColumn, localColumn)},
	}
}

func single() exp.Experiment {
	e := exp.Experiment{
		System: "coupling", Name: "coupling-single", Title: "Single jobs: gradual launching does them no harm", Source: "Table II and Fig. 12",
		Method: method + "* Each job runs alone on set A.\n",
	}
	for _, j := range table2 {
		for _, a := range both() {
			a.Name, a.Work = j.id+", "+a.Name, work(7, 0, j)
			e.Arms = append(e.Arms, a)
		}
	}
	faster := func(id string) func(exp.Runs) float64 { return exp.ReducedJCT(id+", "+fair, id+", "+coupling, nil) }
	e.Metrics = []exp.Metric{
		{
			Name: "JCT of Sort1, reduction", Unit: "%", Published: 14.6, Of: faster("Sort1"),
			Why: "Where reduces stand matters less here than which of them has the largest part and when it starts: the gain spreads from a loss to nearly the published one " +
				"over the seeds, and is larger with the effects contention, slow nodes or skew switched off.",
		},
		{
			Name: "no harm to single jobs", Unit: "%", Kind: exp.Shape, Text: "no job slower on average by more than 5 % (Sort2 is slightly slower, Grep and MonteCarlo are faster)",
			Of: func(r exp.Runs) float64 {
				worst := math.Inf(1)
				for _, j := range table2 {
					worst = min(worst, faster(j.id)(r))
				}
				return worst
			},
			Holds: func(all []exp.Runs) bool {
				for _, j := range table2 {
					if !(exp.MedianOf(all, faster(j.id)) > -5) {
						return false
					}
				}
				return true
			},
		},
	}
	for _, id := range []string{"Grep", "MonteCarlo"} {
		e.Metrics = append(e.Metrics, exp.Metric{
			Name: "JCT of " + id + ", reduction", Unit: "%", Kind: exp.Shape, Text: "faster", Of: faster(id),
			Why:   "Its reduce copies next to nothing and its maps read nothing: there is no contention to avoid.",
			Holds: func(all []exp.Runs) bool { return exp.MedianOf(all, faster(id)) > 0 },
		})
	}
	e.Plots = []exp.Plot{{Kind: exp.BarsPerJob, Title: "Completion time of each job (Fig. 12)"}}
	return e
}

func mapOnly() exp.Experiment {
	return exp.Experiment{
		System: "coupling", Name: "coupling-map-only", Title: "Ten jobs without reduces, whose data lies on seven of fifteen nodes", Source: "Table III and Fig. 13",
		Method: method, Work: work(7, 8, table3...), Arms: both(),
		Metrics: []exp.Metric{{Name: "mean JCT, reduction", Unit: "%", Published: 24, Of: exp.ReducedJCT(fair, coupling, nil)}},
		Plots: []exp.Plot{
			{Kind: exp.BarsPerJob, Title: "Completion time of each job (Fig. 13a)"},
			{Kind: exp.RunningOverTime, Title: "Fair (Fig. 13b)", Arms: []string{fair}},
			{Kind: exp.RunningOverTime, Title: "Coupling (Fig. 13b)", Arms: []string{coupling}},
		},
		Sweeps: []exp.Sweep{betas(jctColumn, localColumn)},
	}
}

func locality() exp.Experiment {
	const beta1, beta5 = "Coupling, β = 0.1", "Coupling, β = 0.5"
	local := func(arm string) func(exp.Runs) float64 {
		return exp.Under(arm, func(x *sim.Result) float64 { return float64(x.LocalMaps) })
	}
	intake := func(arm string) func(exp.Runs) float64 {
		return func(r exp.Runs) float64 {
			w := r.Work[arm]
			return peakIntake(r.Arm(arm), func(job int, task int32) int64 { return w.Jobs[job].Maps[task].Input })
		}
	}
	return exp.Experiment{
		System: "coupling", Name: "coupling-locality", Title: "Local maps and the busiest node's network, ten jobs without reduces", Source: "Fig. 14 and 15",
		Method: method + "* The busiest node's traffic is the map input it receives over the network, the mean over time.\n",
		Work:   work(7, 8, table3...),
		Arms: append(both(), arm(beta1, "coupling", fmt.Sprintf(peekOptions, "beta: 0.1")),
			arm(beta5, "coupling", fmt.Sprintf(peekOptions, "beta: 0.5"))),
		Metrics: []exp.Metric{
			{
				Name: "local maps under Fair, between those with β = 0.1 and 0.5", Kind: exp.Shape, Text: "Fair lies between β = 0.1 (more) and β = 0.5 (fewer)",
				Of: local(fair),
				Why: "Every free slot draws at every heartbeat here, so that the slots of nodes without data fill within a few heartbeats with either β, and both have fewer local maps than Fair. " +
					"With one draw a heartbeat and without the rack's part in α, β = 0.1 keeps four maps of five local, nearly as many as Fair, and β = 0.5 three (sweep beta).",
				Holds: func(all []exp.Runs) bool {
					between := exp.MedianOf(all, local(fair))
					return exp.MedianOf(all, local(beta1)) >= between && between >= exp.MedianOf(all, local(beta5))
				},
			},
			{
				Name: "busiest node's intake, Coupling ÷ Fair", Kind: exp.Shape, Text: "higher with Coupling",
				Of: func(r exp.Runs) float64 { return intake(coupling)(r) / intake(fair)(r) },
				Holds: func(all []exp.Runs) bool {
					return exp.MedianOf(all, intake(coupling)) > exp.MedianOf(all, intake(fair))
				},
			},
		},
		Plots:  []exp.Plot{{Kind: exp.BarsPerJob, Title: "Completion time of each job"}},
		Sweeps: []exp.Sweep{betas(localColumn, jctColumn)},
	}
}

func large() exp.Experiment {
	const late = "Alg. 2 has one candidate in the whole cluster, which on 62 nodes that report every 3 s launches one reduce in about 2 s. Jobs with many reduces wait long for their last, the Sorts above " +
		"all, while a job takes two minutes on average here (the paper's took up to 35). Without wait, with a candidate a job (ablation), or if nodes report every second (sweep heartbeat) the " +
		"mean JCT falls. There is little to win back: under Fair reduces starve for about a second on average (sweep heartbeat)."
	ablation := ablation(jctColumn, starvColumn, localColumn, slotColumn)
	ablation.Arms = append(ablation.Arms, arm("all, a candidate a job", "coupling", each), arm("all, patient rounds", "coupling", patient))
	return exp.Experiment{
		System: "coupling", Name: "coupling-200-jobs", Title: "200 jobs on 62 nodes", Source: "Fig. 16",
		Method: method + `* Ten batches of twenty jobs. What each job is of the jobs of its program in Table IV, and when it comes, is drawn from the seed; the share of programs is the
  paper's: 147 Greps, 18 WordCounts, 14 Monte Carlos, 21 Sorts.
`,
		Work: batches, Arms: both(),
		Metrics: []exp.Metric{
			{Name: "mean JCT, reduction", Unit: "%", Published: 21.3, Of: exp.ReducedJCT(fair, coupling, nil), Why: late},
			{Name: "P[T < t] is larger for every t", Kind: exp.Shape, Text: "larger for every t", Holds: func(all []exp.Runs) bool { return sooner(all, fair, coupling) }, Why: "See the mean JCT."},
		},
		Plots:  []exp.Plot{{Kind: exp.CDF, Title: "Completion times (Fig. 16)"}},
		Sweeps: []exp.Sweep{ablation, heartbeats()},
	}
}

// heartbeats is both schedulers where nodes report more often.
func heartbeats() exp.Sweep {
	s := exp.Sweep{
		Name: "heartbeat", Title: "How often nodes report", Base: fair,
		Columns: []exp.Column{exp.Figures("mean JCT", "s", exp.JCTs(nil)), starvColumn},
	}
	for _, every := range []heddle.Span{heartbeat, heddle.Second, 300 * heddle.Millisecond} {
		for _, a := range both() {
			a.Name = fmt.Sprintf("%s, every %g s", a.Name, every.Seconds())
			a.Hadoop = reporting(every)
			s.Arms = append(s.Arms, a)
		}
	}
	return s
}
