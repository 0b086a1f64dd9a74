package coupling

import (
	"fmt"
	"math"
	"slices"

	"heddle"
	"heddle/exp"
	"heddle/policy"
	"heddle/sim"
	"heddle/workload"
)

func twoGreps() exp.Experiment {
	starved := func(r *sim.Result) float64 { return starvation(r, exp.IDs("2")) }
	first, second := exp.ReducedJCT(fair, coupling, exp.IDs("1")), exp.ReducedJCT(fair, coupling, exp.IDs("2"))
	const reduction, slots = "starvation of job 2, reduction", "reduce slots, time held, reduction"
	return exp.Experiment{
		System: "coupling", Name: "coupling-two-greps", Title: "Two Grep jobs, the second a minute after the first", Source: "Fig. 1 and 2",
		Method: method,
		Work: work(setA,
			job{id: "1", program: "wiki", maps: 427, reduces: 15},
			job{id: "2", at: 60, program: "random", maps: 8, reduces: 3}),
		Arms: both(), Null: nothing(), NullIs: nothingIs,
		Mutations: lagMutations(reduction),
		Metrics: []exp.Metric{
			{Name: reduction, Unit: "%", Published: 100, Text: "100: no starvation", Of: exp.Reduced(fair, coupling, starved)},
			{
				Name: slots, Unit: "%", Published: 50, Text: "about half",
				Of: func(r exp.Runs) float64 { return slotColumn.Of(r.Arm(fair), r.Arm(coupling)) },
			},
			{
				Name: "both jobs are faster", Kind: exp.Shape, Text: "both jobs run faster with Coupling",
				Of:    func(r exp.Runs) float64 { return min(first(r), second(r)) },
				Holds: func(all []exp.Runs) bool { return exp.MedianOf(all, first) > 0 && exp.MedianOf(all, second) > 0 },
			},
			{
				Name: "first reduces of job 1 under Fair", Unit: "s", Kind: exp.SetUp, Published: 54, Text: "54: at 0.9 min",
				Of: exp.Under(fair, func(x *sim.Result) float64 { return firstReduce(x, "1") }),
			},
			{
				Name: "maps of job 2 end under Fair, since its submission", Unit: "s", Kind: exp.SetUp, Published: 168,
				Of: exp.Under(fair, func(x *sim.Result) float64 { return mapsEnd(x, "2") }),
			},
			{
				Name: "starvation of job 2 under Fair", Unit: "s", Kind: exp.SetUp, Published: 450, Text: "450: its maps end at 3.8 min, its reduces start at 11.3 min",
				Of: exp.Under(fair, starved),
			},
		},
		Plots: []exp.Plot{
			{Kind: exp.RunningOverTime, Title: "Fair (Fig. 1)", Arms: []string{fair}},
			{Kind: exp.RunningOverTime, Title: "Coupling (Fig. 2)", Arms: []string{coupling}},
		},
		Sweeps: []exp.Sweep{ablation(jctColumn, starvColumn, slotColumn)},
	}
}

// The arms of the ten Greps that bound what a schedule can reach, or show what one does.
const (
	alone     = "Fair, every map alone on its node, no reduces"
	costless  = "Fair, no reduces, all input on every node"
	unreduced = "Fair, no reduces"
	unhurried = "Coupling, every map waits for its node"
)

// The figures of what schedules of one kind reach, which bound no others: no job has more than an equal share of the
// slots; the last job ends no later than under Fair; reduces cost nothing and every map reads its own disk.
const (
	equally = "mean JCT, the most that equal shares reduce it by"
	asEarly = "map time, the most that schedules as short as Fair's reduce it by"
	freely  = "iowait, reduction without reduces and remote reads"
)

// withoutReduces removes the reduces from all jobs.
func withoutReduces(_ uint64, w *workload.Workload) {
	for i := range w.Jobs {
		w.Jobs[i].Reduces = nil
	}
}

// withoutCosts does too, and puts all input on every node.
func withoutCosts(seed uint64, w *workload.Workload) {
	withoutReduces(seed, w)
	hosts := make([]int32, len(w.Hosts))
	for i := range hosts {
		hosts[i] = int32(i)
	}
	for i := range w.Jobs {
		for k := range w.Jobs[i].Maps {
			w.Jobs[i].Maps[k].Hosts = hosts
		}
	}
}

func tenGreps() exp.Experiment {
	var jobs []job
	for i := range 10 {
		jobs = append(jobs, job{id: fmt.Sprint(i + 1), at: float64(300 * i), program: "wiki", maps: 427, reduces: 8})
	}
	mapTime := func(x *sim.Result) float64 { return exp.MeanTask(x, heddle.Map, nil) }
	waited := func(x *sim.Result) float64 { return x.Disks.IOWait * exp.Makespan(x) }
	least := arm(alone, "slots", fmt.Sprintf(lanes, 1, "fifo"), patient)
	none, free := arm(unreduced, "slots"), arm(costless, "slots")
	least.Change, none.Change, free.Change = withoutReduces, withoutReduces, withoutCosts
	e := exp.Experiment{
		System: "coupling", Name: "coupling-ten-greps", Title: "Ten equal Grep jobs, five minutes apart, on eight nodes", Source: "Fig. 5, 6, 8 and Table I",
		Method: method + "* All eight nodes hold the same amount of data: those of Table I are idle for much the same time.\n" +
			"* “All jobs are faster” holds if the interval of each job's median is above 0. By the medians alone it held over seeds 1 to 6, but not over 7 to 18.\n",
		Work: work(nodes{data: 8}, jobs...), Arms: append(both(), least, free), Null: nothing(), NullIs: nothingIs,
		Metrics: []exp.Metric{
			{
				Name: "mean JCT, reduction", Unit: "%", Published: 16.1, Of: exp.ReducedJCT(fair, coupling, nil),
				Bound: exp.MostReducedJCT(fair, nil), BoundIs: exp.MostReducedJCTIs,
				Why: "Maps are served “according to processor sharing” (Section II-A), and random peeking takes its candidates from the same allocation (II-B). Schedules " +
					"under which no job has more than an equal share of the slots do not get there (“" + equally + "”), even if no slot is ever empty, not even between two " +
					"heartbeats of a node, each map takes as long as it does alone on a node that holds its data (arm of that name), and reduces cost nothing, so that a job " +
					"ends with its last map. That covers when reduces are launched, and where reduces and maps are placed. With unequal shares the figure is possible: running " +
					"one job after the other is far faster on average. Without any reduces the jobs would gain just as little (sweep reduces): jobs that share the map slots " +
					"end their maps in order of submission, and by then the slots for their reduces are free. The paper explains its gain by faster maps: see map time.",
			},
			{
				Name: "map time, reduction", Unit: "%", Published: 10.1, Of: exp.Reduced(fair, coupling, mapTime), Bound: func(r exp.Runs) float64 {
					return exp.Reduction(mapTime(r.Arm(fair)), shortestMapTime(r.Arm(alone)))
				},
				BoundIs: "The same maps run one at a time on each node, without another map or a reduce, on a node that holds their data, so that only their own work " +
					"is left. The bound is their mean time on the fastest node.",
				Why: "Under Fair each of four maps already has one of four cores. Alone on a node that holds its data a map takes hardly less. Maps that leave slow nodes " +
					"empty take less, but then the last job ends later than under Fair: if every node runs as many maps as its four slots can run one after the other until Fair " +
					"ends, each as fast as alone, and the fastest node first, the figure is not reached (“" + asEarly + "”).",
			},
			{Name: "all jobs are faster", Kind: exp.Shape, Why: "Each of the ten jobs is 0.3 to 2.5 % faster, no more than the difference between seeds.", Text: "all of the ten jobs have a shorter processing time", Holds: func(all []exp.Runs) bool {
				for i := range jobs {
					if !exp.Above(all, exp.ReducedJCT(fair, coupling, exp.IDs(jobs[i].id))) {
						return false
					}
				}
				return true
			}},
			{Name: "makespan under Fair", Unit: "s", Kind: exp.SetUp, Published: 78 * 60, Text: "about 4680", Of: exp.Under(fair, exp.Makespan)},
			{Name: "processors idle under Fair", Unit: "%", Kind: exp.SetUp, Published: 19.19, Of: exp.Under(fair, func(x *sim.Result) float64 { return 100 * (1 - x.CPUUsed) })},
			{
				Name: equally, Unit: "%", Kind: exp.Measured,
				Of: func(r exp.Runs) float64 { return exp.Reduction(exp.MeanJCT(r.Arm(fair), nil), sharedJCT(r.Arm(alone))) },
			},
			{
				Name: asEarly, Unit: "%", Kind: exp.Measured,
				Of: func(r exp.Runs) float64 {
					return exp.Reduction(mapTime(r.Arm(fair)), leastMapTime(r.Arm(alone), r.Arm(fair).Makespan))
				},
			},
			{Name: freely, Unit: "%", Kind: exp.Measured, Of: exp.Reduced(fair, costless, waited)},
		},
		Plots: []exp.Plot{
			{Kind: exp.RunningOverTime, Title: "Fair (Fig. 5)", Arms: []string{fair}},
			{Kind: exp.RunningOverTime, Title: "Coupling (Fig. 6b)", Arms: []string{coupling}},
			{Kind: exp.BarsPerJob, Title: "Completion time of each job (Fig. 6a)", Arms: []string{fair, coupling}},
		},
		Sweeps: []exp.Sweep{
			ablation(jctColumn, starvColumn, localColumn, slotColumn),
			{
				Name: "reduces", Title: "No reduces; no reduces and no remote reads; and Alg. 1 with every map waiting for its node", Base: fair,
				Arms: []exp.Arm{none, free, arm(unhurried, "coupling", patient)},
				Columns: []exp.Column{
					jctColumn, exp.Reductions("map time, reduction", mapTime),
					exp.Reductions("iowait, reduction", func(x *sim.Result) float64 { return x.Disks.IOWait }),
					exp.Reductions("await, reduction", func(x *sim.Result) float64 { return x.Disks.Await }),
				},
			},
		},
	}
	e.Metrics = slices.Insert(e.Metrics, 2, diskMetrics()...)
	return e
}

// diskMetrics returns Table I's figures for the disks.
func diskMetrics() []exp.Metric {
	reduced := func(of func(sim.DiskUse) float64) func(exp.Runs) float64 {
		return exp.Reduced(fair, coupling, func(x *sim.Result) float64 { return of(x.Disks) })
	}
	idle := fmt.Sprintf("Without reduces they cost nothing while maps run or afterwards, and with every split on every node each map reads its own disk wherever it "+
		"starts. Launching reduces and placing maps cannot do more than that, even together, for a schedule that allocates a slot when its node reports it and ends no "+
		"later than Fair (“"+freely+"”: the seconds of iowait that are left, compared with Fair's time). That does not bound schedules that leave slots empty on "+
		"purpose: a node whose four slots are all empty has no iowait. The processor figures in Table I rule out that waiting reduces explain the fall in map time: "+
		"Fair's processors do at most %.2f cores of work per node that Coupling's do not, and slowing four maps on four cores by 10.1 %% takes %.2f. Iowait is time in "+
		"which a processor is idle. Its share of idle time is much the same under both, 5.0 and 4.5 %%, so it falls because idle time falls. Table I shows that fall "+
		"but does not explain it.", spareCores, takenCores)
	return []exp.Metric{
		{
			Name: "iowait, reduction", Unit: "%", Published: 40, Of: reduced(func(d sim.DiskUse) float64 { return d.IOWait }),
			Why: idle,
		},
		{
			Name: "await, reduction", Unit: "%", Published: 13.6, Of: reduced(func(d sim.DiskUse) float64 { return d.Await }),
			Why: "The published reduction is possible: if every map waits for its own node, await falls by more than that, but jobs take a sixteenth longer (sweep " +
				"reduces). Remote reads add streams to disks that already have four. Launching reduces later does not lower await, because they copy as much in the " +
				"end. With random peeking fewer maps read their own disk than with Fair's delay scheduling (ablation): if all slots are taken, Eq. 3 lets a node " +
				"without local data start a map at about every other heartbeat.",
		},
		{
			Name: "svctm, reduction", Unit: "%", Published: 13.2, Of: reduced(func(d sim.DiskUse) float64 { return d.Service }),
			Bound:   exp.Under(fair, func(x *sim.Result) float64 { return exp.Reduction(x.Disks.Service, request/(disk*1e6)) }),
			BoundIs: "A request of 512 KiB takes at least 15.0 ms, its time at 35 MB/s without head movement.",
		},
	}
}

func single() exp.Experiment {
	e := exp.Experiment{
		System: "coupling", Name: "coupling-single", Title: "Single jobs: gradual launching does them no harm", Source: "Table II and Fig. 12",
		Method: method + `* Each job runs alone on set A.
* The paper's whole system, with wait scheduling, which is off in the other experiments. What the paper says about Sort1 concerns the placement of reduces.
`, NullIs: nothingIs,
	}
	for _, j := range table2 {
		for _, a := range append([]exp.Arm{arm(fair, "slots"), arm(coupling, "coupling", wait)}, nothing()...) {
			a.Name, a.Work = j.id+", "+a.Name, work(setA, j)
			e.Arms = append(e.Arms, a)
		}
		last := len(e.Arms) - 1
		e.Arms, e.Null = e.Arms[:last], append(e.Null, e.Arms[last])
	}
	faster := func(id string) func(exp.Runs) float64 { return exp.ReducedJCT(id+", "+fair, id+", "+coupling, nil) }
	e.Metrics = []exp.Metric{
		{
			Name: "JCT of Sort1, reduction", Unit: "%", Published: 14.6, Of: faster("Sort1"),
			Why: "The paper explains the gain by the placement of the twelve reduces on the fourteen slots of seven nodes. Spread as evenly as possible, they gain no " +
				"more than with wait scheduling (sweep wait-Sort1): with any placement some node has two reduces, and the job ends with that node. No bound excludes a " +
				"larger gain: the disk of a node with two reduces and a seventh of the maps has 13.9 GB to move (a seventh of 15 GB three times for maps, a sixth " +
				"three times for reduces). That takes 398 s at 35 MB/s, and the job takes more than 500 s.",
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
	for _, j := range []struct{ id, why string }{
		{"Grep", "Its maps gain, through random peeking; its reduces copy next to nothing."},
		{"MonteCarlo", "Its reduce copies next to nothing and its maps read nothing, so there is no contention to avoid. Without the reduce its completion time changes by at most two seconds (sweep alone-MonteCarlo)."},
	} {
		e.Metrics = append(e.Metrics, exp.Metric{
			Name: "JCT of " + j.id + ", reduction", Unit: "%", Kind: exp.Shape, Text: "faster", Why: j.why, Of: faster(j.id),
			Holds: func(all []exp.Runs) bool { return exp.MedianOf(all, faster(j.id)) > 0 },
		})
	}
	e.Metrics = append(e.Metrics, exp.Metric{
		Name: "JCT of Sort2 under Fair", Unit: "min", Kind: exp.SetUp, Published: 19.8, Text: "16.15 to 23.5; the disk rate is derived from it",
		Of: exp.Under("Sort2, "+fair, func(x *sim.Result) float64 { return exp.MeanJCT(x, nil) / 60 }),
	})
	e.Plots = []exp.Plot{{Kind: exp.BarsPerJob, Title: "Completion time of each job (Fig. 12)"}}
	e.Sweeps = []exp.Sweep{waiting(table2[3]), waiting(table2[4]), reduceless(table2[2])}
	return e
}

// spread marks an arm whose reduces are spread over the nodes as evenly as can be.
const spread = ", reduces spread evenly"

// waiting runs a Sort alone, with and without wait scheduling, and with its reduces spread over the nodes as evenly as
// can be.
func waiting(j job) exp.Sweep {
	evenly := func(a exp.Arm) exp.Arm {
		a.Name += spread
		a.Prepare = func(_ uint64, set *policy.Set) { set.Place[heddle.Reduce] = evenPlace{} }
		return a
	}
	s := exp.Sweep{
		Name: "wait-" + j.id, Title: j.id + " with and without wait scheduling", Base: j.id + ", " + fair,
		Columns: []exp.Column{jctColumn},
		Arms: []exp.Arm{
			arm("mismatch and peek", "coupling"), arm("mismatch, peek and wait", "coupling", wait),
			evenly(arm(fair, "slots")), evenly(arm("mismatch and peek", "coupling")),
		},
	}
	for i := range s.Arms {
		s.Arms[i].Work = work(setA, j)
	}
	return s
}

// reduceless runs a job alone without its reduces.
func reduceless(j job) exp.Sweep {
	a := arm(unreduced, "slots")
	a.Work, a.Change = work(setA, j), withoutReduces
	return exp.Sweep{
		Name: "alone-" + j.id, Title: j.id + " without its reduce", Base: j.id + ", " + fair,
		Columns: []exp.Column{exp.Figures("JCT", "s", exp.JCTs(nil)), jctColumn}, Arms: []exp.Arm{a},
	}
}

// request is the size of a disk request in bytes, as in the simulator's parameters.
const request = 512 << 10

// Table I's averages over the nodes under Fair and Coupling, and the reductions in Fig. 6 and 8, as fractions.
const (
	idleFair, iowaitFair         = 0.1919, 0.0095
	idleCoupling, iowaitCoupling = 0.1261, 0.0057
	jctFell, mapTimeFell         = 0.161, 0.101
	coresOfNode                  = 4
)

// spareCores is how many cores' worth of work Fair's processors do on a node beyond what Coupling's do for the same
// jobs, if the runs differ in length as the jobs do. Waiting reduces can have taken at most that much.
const spareCores = coresOfNode * ((1 - idleFair - iowaitFair) - (1-idleCoupling-iowaitCoupling)*(1-jctFell))

// takenCores is how many cores must be taken from four maps on four cores to slow them down as much as they are under
// Fair.
const takenCores = coresOfNode * mapTimeFell
