package coupling

import (
	"fmt"
	"math"

	"heddle"
	"heddle/exp"
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

// alone and unreduced are arms of the ten Greps that bound what any schedule can come to.
const (
	alone     = "Fair, every map alone on its node, no reduces"
	unreduced = "Fair, no reduces"
)

// withoutReduces takes the reduces from all jobs.
func withoutReduces(_ uint64, w *workload.Workload) {
	for i := range w.Jobs {
		w.Jobs[i].Reduces = nil
	}
}

func tenGreps() exp.Experiment {
	var jobs []job
	for i := range 10 {
		jobs = append(jobs, job{id: fmt.Sprint(i + 1), at: float64(300 * i), program: "wiki", maps: 427, reduces: 8})
	}
	reduced := func(of func(sim.DiskUse) float64) func(exp.Runs) float64 {
		return exp.Reduced(fair, coupling, func(x *sim.Result) float64 { return of(x.Disks) })
	}
	mapTime := func(x *sim.Result) float64 { return exp.MeanTask(x, heddle.Map, nil) }
	idle := fmt.Sprintf("Without any reduces it would fall by a third of that (sweep reduces). What Table I says of the processors excludes that reduces which wait take from "+
		"maps what their time fell by: Fair's processors do at most %.2f cores of work a node that Coupling's do not, and slowing four maps on four cores by "+
		"10.1 %% takes %.2f. Iowait is time in which a processor is idle, and has much the same share of that under both, 5.0 and 4.5 %%: its fall is that of idle time, "+
		"which Table I has and does not explain.", spareCores, takenCores)
	const queue = "Without any reduces it would fall as much (sweep reduces); launching them later does not, since they copy as much in the end, and random peeking adds remote reads (ablation)."
	least := arm(alone, "slots", "lanes=[{kinds: [am, executor, other], order: fifo}, {kinds: [map], order: {slots: {kind: map}}, per_node: 1}, {kinds: [reduce], order: fifo}]", "place.map={delay: {node_wait: 1e6, rack_wait: 0}}")
	none := arm(unreduced, "slots")
	least.Change, none.Change = withoutReduces, withoutReduces
	return exp.Experiment{
		System: "coupling", Name: "coupling-ten-greps", Title: "Ten equal Grep jobs, five minutes apart, on eight nodes", Source: "Fig. 5, 6, 8 and Table I",
		Method: method + "* The eight nodes hold data alike: those of Table I are idle for much the same time.\n",
		Work:   work(nodes{data: 8}, jobs...), Arms: append(both(), least), Null: nothing(), NullIs: nothingIs,
		Metrics: []exp.Metric{
			{
				Name: "mean JCT, reduction", Unit: "%", Published: 16.1, Of: exp.ReducedJCT(fair, coupling, nil),
				Why: "No launching of reduces can bring it where maps are served as Fair serves them: without any reduces the jobs would be as little faster (sweep reduces). " +
					"Jobs that share the map slots end their maps in order of submission, and by then the slots for their reduces are free. The paper explains its gain by faster maps: see map time.",
			},
			{
				Name: "map time, reduction", Unit: "%", Published: 10.1, Of: exp.Reduced(fair, coupling, mapTime), Bound: func(r exp.Runs) float64 {
					return exp.Reduction(mapTime(r.Arm(fair)), leastMapTime(r.Arm(alone), r.Arm(fair).Makespan))
				},
				BoundIs: "The same maps one by one on each node, beside no other map and no reduce, on a node that holds their data: what is left is their own work. Of those times every node is given as many " +
					"as its four slots can do one after the other until Fair ends, the fastest node first: no schedule that ends as soon has a smaller mean. Under Fair each of four maps has one of four cores already.",
			},
			{Name: "iowait, reduction", Unit: "%", Published: 40, Of: reduced(func(d sim.DiskUse) float64 { return d.IOWait }), Why: idle},
			{Name: "await, reduction", Unit: "%", Published: 13.6, Of: reduced(func(d sim.DiskUse) float64 { return d.Await }), Why: queue},
			{
				Name: "svctm, reduction", Unit: "%", Published: 13.2, Of: reduced(func(d sim.DiskUse) float64 { return d.Service }),
				Bound:   exp.Under(fair, func(x *sim.Result) float64 { return exp.Reduction(x.Disks.Service, request/(disk*1e6)) }),
				BoundIs: "A request of 512 KiB takes 15.0 ms at 35 MB/s when the heads need not move, and that is the least.",
			},
			{Name: "all jobs are faster", Kind: exp.Shape, Why: "see the mean: the jobs differ by a few percent either way", Text: "all of the ten jobs have a shorter processing time", Holds: func(all []exp.Runs) bool {
				for i := range jobs {
					if !(exp.MedianOf(all, exp.ReducedJCT(fair, coupling, exp.IDs(jobs[i].id))) > 0) {
						return false
					}
				}
				return true
			}},
			{Name: "makespan under Fair", Unit: "s", Kind: exp.SetUp, Published: 78 * 60, Text: "about 4680", Of: exp.Under(fair, exp.Makespan)},
			{Name: "processors idle under Fair", Unit: "%", Kind: exp.SetUp, Published: 19.19, Of: exp.Under(fair, func(x *sim.Result) float64 { return 100 * (1 - x.CPUUsed) })},
		},
		Plots: []exp.Plot{
			{Kind: exp.RunningOverTime, Title: "Fair (Fig. 5)", Arms: []string{fair}},
			{Kind: exp.RunningOverTime, Title: "Coupling (Fig. 6b)", Arms: []string{coupling}},
			{Kind: exp.BarsPerJob, Title: "Completion time of each job (Fig. 6a)", Arms: []string{fair, coupling}},
		},
		Sweeps: []exp.Sweep{
			ablation(jctColumn, starvColumn, localColumn, slotColumn),
			{
				Name: "reduces", Title: "The most that any launching of reduces can bring: no reduces at all", Base: fair, Arms: []exp.Arm{none},
				Columns: []exp.Column{
					jctColumn, exp.Reductions("map time, reduction", mapTime),
					exp.Reductions("iowait, reduction", func(x *sim.Result) float64 { return x.Disks.IOWait }),
					exp.Reductions("await, reduction", func(x *sim.Result) float64 { return x.Disks.Await }),
				},
			},
		},
	}
}

func single() exp.Experiment {
	e := exp.Experiment{
		System: "coupling", Name: "coupling-single", Title: "Single jobs: gradual launching does them no harm", Source: "Table II and Fig. 12",
		Method: method + "* Each job runs alone on set A.\n", NullIs: nothingIs,
	}
	for _, j := range table2 {
		for _, a := range append(both(), nothing()...) {
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
			Why: "The paper explains it by where the twelve reduces stand on fourteen slots of seven nodes. Fair fills both slots of six nodes here, and so does Alg. 1 but for one. " +
				"That is the business of wait scheduling, which is off: with it two nodes have one reduce each, and the job takes 8 % less than under Fair (sweep wait-Sort1), half of what was published.",
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
	e.Metrics = append(e.Metrics, exp.Metric{
		Name: "JCT of Sort2 under Fair", Unit: "min", Kind: exp.SetUp, Published: 19.8, Text: "16.15 to 23.5; the rate of disks was set by it",
		Of: exp.Under("Sort2, "+fair, func(x *sim.Result) float64 { return exp.MeanJCT(x, nil) / 60 }),
	})
	e.Plots = []exp.Plot{{Kind: exp.BarsPerJob, Title: "Completion time of each job (Fig. 12)"}}
	for _, j := range table2[3:] {
		e.Sweeps = append(e.Sweeps, waiting(j))
	}
	return e
}

// waiting is a Sort alone with wait scheduling and without.
func waiting(j job) exp.Sweep {
	s := exp.Sweep{
		Name: "wait-" + j.id, Title: j.id + " with wait scheduling and without", Base: j.id + ", " + fair,
		Columns: []exp.Column{jctColumn},
	}
	for _, a := range []exp.Arm{arm("mismatch and peek", "coupling"), arm("mismatch, peek and wait", "coupling", wait)} {
		a.Work = work(setA, j)
		s.Arms = append(s.Arms, a)
	}
	return s
}

// request is the size of a request to a disk in bytes, as in the simulator's parameters.
const request = 512 << 10

// Table I's averages over the nodes under Fair and Coupling, and Fig. 6's and 8's reductions, as fractions.
const (
	idleFair, iowaitFair         = 0.1919, 0.0095
	idleCoupling, iowaitCoupling = 0.1261, 0.0057
	jctFell, mapTimeFell         = 0.161, 0.101
	coresOfNode                  = 4
)

// spareCores is how many cores of work Fair's processors do on a node beyond what Coupling's do for the same jobs, if the runs
// differ in length as the jobs do: as much as reduces that wait can have taken.
const spareCores = coresOfNode * ((1 - idleFair - iowaitFair) - (1-idleCoupling-iowaitCoupling)*(1-jctFell))

// takenCores is how many cores must be taken from four maps on four cores for them to be as much slower as they are under Fair.
const takenCores = coresOfNode * mapTimeFell
