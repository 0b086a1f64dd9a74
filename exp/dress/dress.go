// Package dress has the experiments of DRESS: Dynamic RESource-reservation Scheme for Congested Data-intensive
// Computing Platforms.
//
// dress-four-jobs is the paper's introduction, and dress-spark, dress-mapreduce and dress-mixed-10 to dress-mixed-40 are
// its evaluation: what is drawn as twenty jobs stands in work.go. They run with
//
//	heddle exp run dress
//	go test ./exp/dress
package dress

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"heddle/exp"
	"heddle/sim"
)

// System is DRESS.
var System = exp.System{
	Name:  "dress",
	Title: "DRESS",
	What: "DRESS keeps a share of a congested cluster for jobs that want little, so that they do not wait behind jobs that want much. " +
		"How large the share is follows from estimates of when running jobs will give containers back.",
	Paper:       "Y. Mao, V. Green, J. Wang, H. Xiong and Z. Guo, *DRESS: Dynamic RESource-reservation Scheme for Congested Data-intensive Computing Platforms*.",
	Headline:    "dress-mixed-10",
	Experiments: experiments,
}

const method = `Five nodes of 20 cores and 140 GiB for containers (160 GB less an eighth for the system), one rack, 10 Gb/s.
The paper counts fewer than ten containers as small and θ = 10 %, so there are about a hundred: one of 7 GiB a
core. Masters have 2 GiB. The scheduler is Hadoop 2.7.4's CapacityScheduler as it comes: one queue, memory alone counts.

The paper does not publish its 20 jobs. They are drawn by seed: which are small, the program from HiBench's
list, 3 to 8 containers for a small job and 16 to 36 for a large one, and an input for lengths that differ by
2.25 times; a large and a small job last alike, as the published waits and completion times of job 7 say. A job
comes every 5 s. Two figures are fitted, to the baseline alone and over twenty seeds: Spark's lengths to
Capacity's makespan, mean wait and mean JCT of Table II, and MapReduce's, of which no such table is given, to the
JCT of Capacity's two small jobs with 10 % small (484.5 and 540.3 s). Best, worst and mean are over the small or
the large jobs; no job of ours stands for one of theirs.

DRESS runs with the paper's θ, δ, t_s, t_e and pw, adjusting every second, with δ between 0 and 0.5.`

func experiments() []exp.Experiment {
	out := []exp.Experiment{fourJobs()}
	spark := experiment("dress-spark", "20 Spark jobs, 6 of them small", "Fig. 6 and 7, Table II", mix{small: 6, ids: []int{4, 5, 7, 9, 10, 12}, spark: true})
	spark.Metrics = []exp.Metric{
		{Name: "JCT of small jobs, mean reduction", Unit: "%", Published: 27.6, Of: rate(exp.Mean, jct, Small), Why: whySmall},
		{Name: "JCT of small jobs, best reduction", Unit: "%", Published: 51.2, Of: rate(slices.Max[[]float64], jct, Small), Why: whySmall},
		{Name: "wait of small jobs, best reduction", Unit: "%", Published: 90.5, Of: rate(slices.Max[[]float64], wait, Small), Why: whySmall},
		{Name: "JCT of large jobs, worst increase", Unit: "%", Kind: exp.Cost, Published: 32.0, Of: worst(large)},
		{Name: "makespan, increase", Unit: "%", Kind: exp.Cost, Published: 0.64, Of: exp.Increased("capacity", "dress", exp.Makespan), Why: whyMakespan},
		{Name: "mean wait, reduction", Unit: "%", Published: 14.7, Of: reduced(exp.Mean, wait), Why: whySmall},
		{Name: "median wait, reduction", Unit: "%", Published: 50.1, Of: reduced(exp.Median, wait), Why: whySmall},
		{Name: "mean JCT, reduction", Unit: "%", Published: 6.6, Of: reduced(exp.Mean, jct), Why: whySmall},
		{Name: "median JCT, reduction", Unit: "%", Published: 40.1, Of: reduced(exp.Median, jct), Why: whySmall},
		{Name: "Capacity's makespan (fitted)", Unit: "s", Kind: exp.Measured, Published: 1028.6, Of: exp.Under("capacity", exp.Makespan)},
		{Name: "Capacity's mean wait (fitted)", Unit: "s", Kind: exp.Measured, Published: 310.1, Of: exp.Under("capacity", func(x *sim.Result) float64 { return exp.MeanWait(x, nil) })},
		{Name: "Capacity's mean JCT (fitted)", Unit: "s", Kind: exp.Measured, Published: 570.1, Of: exp.Under("capacity", exp.JCTs(nil))},
	}
	mr := experiment("dress-mapreduce", "20 MapReduce jobs, 6 of them small", "Fig. 8 and 9", mix{small: 6, ids: []int{4, 5, 6, 8, 10, 11}, mapReduce: true})
	mr.Metrics = []exp.Metric{
		{Name: "JCT of small jobs, mean reduction", Unit: "%", Published: 25.7, Of: rate(exp.Mean, jct, Small), Why: whyMapReduce},
		{Name: "wait of large jobs, best reduction", Unit: "%", Published: 89.4, Of: rate(slices.Max[[]float64], wait, large), Why: whyLarge},
		{Name: "JCT of large jobs, best reduction", Unit: "%", Published: 23.2, Of: rate(slices.Max[[]float64], jct, large), Why: whyLarge},
		{Name: "JCT of large jobs, worst increase", Unit: "%", Kind: exp.Cost, Published: 29.3, Of: worst(large)},
		{Name: "jobs with a shorter JCT", Published: 12, Of: func(r exp.Runs) float64 { return float64(len(side(r, 1))) }, Why: whyMapReduce},
		{Name: "JCT of those, mean reduction", Unit: "%", Published: 18.5, Of: func(r exp.Runs) float64 { return exp.Mean(side(r, 1)) }, Why: whyMapReduce},
		{Name: "JCT of the others, mean increase", Unit: "%", Kind: exp.Cost, Published: 8.2, Of: func(r exp.Runs) float64 { return exp.Mean(side(r, -1)) }},
	}
	out = append(out, spark, mr)
	for i, published := range []float64{76.1, 36.2, 21.9, 23.7} {
		n := 2 * (i + 1)
		m := mix{small: n, mapReduce: true, spark: true}
		why := whyMixed
		if n == 2 {
			m.ids, why = []int{6, 8}, whyShort
		}
		e := experiment(fmt.Sprintf("dress-mixed-%d", 10*(i+1)), fmt.Sprintf("20 MapReduce and Spark jobs, %d of them small", n), fmt.Sprintf("Fig. %d", 10+i), m)
		e.Metrics = []exp.Metric{{Name: "JCT of small jobs, mean reduction", Unit: "%", Published: published, Of: rate(exp.Mean, jct, Small), Why: why}}
		if i == 0 {
			e.Metrics = append(e.Metrics, exp.Metric{Name: "JCT of Capacity's small jobs (fitted)", Unit: "s", Kind: exp.Measured, Published: 512.4, Of: exp.Under("capacity", exp.JCTs(Small))})
		}
		out = append(out, e)
	}
	for i := range out[1:] {
		e := &out[i+1]
		e.Sweeps = []exp.Sweep{readings()}
		if slices.Contains([]string{"dress-spark", "dress-mapreduce", "dress-mixed-30"}, e.Name) {
			e.Sweeps = append(e.Sweeps, sweeps()...)
		}
	}
	return out
}

// The explanations name the sweeps that support them.
const (
	whySmall = `Alg. 3 as printed gives the small jobs' reserve away in every second in which none of them waits, and gives it back only from what
all large jobs together leave: a small job that comes to a full cluster waits until a large one ends. What the paper tells of its runs is another rule, by
which the reserve stays; the sweep "readings" has it (keep), at the price of the large jobs. The release estimate cannot help here: executors are given
back all at once, when their job ends (sweep "ablation").`
	whyMapReduce = `As with Spark: the listing keeps no reserve for the next small job (sweep "readings"). A MapReduce job also starts with few containers and
waits for the rest, so that less of its time is waiting for the first.`
	whyMixed = `As with Spark: by the listing small jobs that come while none waits find no reserve, and one that was first in line may now wait behind its
category's small part; the sweep "readings" has the reserve kept. A few small jobs a run make the figure differ much between seeds.`
	whyShort = `A small job that lasts as long as a large one can save no more than it waits, which under Capacity is less than half of its time here. The two
published ones took 111 and 134 s under DRESS after 485 and 540 s: they were short, which only the runs under DRESS tell, and those must not
be fitted. The listing's rule costs the rest, as with Spark; with 10 % kept at least (sweep "readings") the small jobs hardly wait.`
	whyMakespan = `The published difference is 6.6 s of 1028.6, less than one of our runs differs from another of the same mix; the last job to start decides.`
	whyLarge    = `The published figures are of single jobs that went before another; which large job does is chance. The mean over large jobs is in the sweeps.`
	whyFour     = `From the first submission no schedule of these jobs saves more than 8 of 40 s; the published 30 s count from the fourth's, where ours is 30 as well. In
the simulated cluster starts of masters and adjustments each half second take another second.`
)

// fourJobs is the paper's introductory example.
func fourJobs() exp.Experiment {
	return exp.Experiment{
		System: "dress", Name: "dress-four-jobs", Title: "four jobs a second apart on six containers", Source: "Fig. 1",
		Method: `Of the figure the text keeps job 1 (3 containers, 10 s). With 3, 4, 3 and 2 containers for 10, 20, 10 and 10 s strict
order gives the published waits. Each job is one container of so many times 8 GiB, so that it starts whole or not at
all, in the given world: no physics, but masters that start and nodes that report each second. Six containers are too
few for θ = 10 %: here jobs up to half the cluster are small, half is reserved for them at first, and δ is free. The
published makespan of 30 s cannot count from the first submission: a job of 20 s and four containers beside three,
three and two leaves no schedule that ends by then; counted from the fourth's, at 3 s, it does.`,
		Work: fourWork, Given: true,
		Arms: []exp.Arm{
			{Name: "capacity", Profile: "capacity", Hadoop: fourSite},
			{Name: "dress", Profile: "dress", Hadoop: fourSite, Set: set("theta: [0.5], delta: 0.5, delta_max: 1, interval: 0.5")},
		},
		Metrics: []exp.Metric{
			{Name: "mean wait, reduction", Unit: "%", Published: 64.1, Of: reduced(exp.Mean, wait)},
			{Name: "makespan, reduction", Unit: "%", Published: 25, Of: exp.Reduced("capacity", "dress", exp.Makespan), Why: whyFour},
			{Name: "mean wait under Capacity", Unit: "s", Kind: exp.Level, Published: 16, Of: exp.Under("capacity", func(x *sim.Result) float64 { return exp.MeanWait(x, nil) })},
			{Name: "makespan under Capacity", Unit: "s", Kind: exp.Level, Published: 40, Of: exp.Under("capacity", exp.Makespan)},
		},
		Plots: []exp.Plot{{Kind: exp.BarsPerJob, Title: "JCT of each job"}, {Kind: exp.GaugeOverTime, Title: "δ", Arms: []string{"dress"}, Gauge: "dress.delta"}},
	}
}

// experiment is one of the evaluation's experiments, without its metrics.
func experiment(name, title, source string, m mix) exp.Experiment {
	return exp.Experiment{
		System: "dress", Name: name, Title: title, Source: source, Method: method, Work: m.work,
		Arms: []exp.Arm{{Name: "capacity", Profile: "capacity", Hadoop: site}, arm("dress", "")},
		Plots: []exp.Plot{
			{Kind: exp.BarsPerJob, Title: "JCT of each job"},
			{Kind: exp.CDF, Title: "JCT"},
			{Kind: exp.GaugeOverTime, Title: "δ", Arms: []string{"dress"}, Gauge: "dress.delta"},
		},
	}
}

// arm is DRESS with other options than the paper's; empty = none.
func arm(name, options string) exp.Arm {
	a := exp.Arm{Name: name, Profile: "dress", Hadoop: site}
	if options != "" {
		a.Set = set(options)
	}
	return a
}

func set(options string) []string {
	return []string{"share=[{dress: {" + options + "}}, capacity]"}
}

func jct(j *sim.JobResult) float64  { return j.JCT.Seconds() }
func wait(j *sim.JobResult) float64 { return j.Wait.Seconds() }

// rates are the reductions of the chosen jobs from one run to another, in %; empty where any of
// them did not succeed.
func rates(base, ours *sim.Result, of func(*sim.JobResult) float64, pick exp.Pick) []float64 {
	var out []float64
	for i := range base.Jobs {
		a, b := &base.Jobs[i], &ours.Jobs[i]
		if pick != nil && !pick(a) {
			continue
		}
		if a.State != sim.Succeeded || b.State != sim.Succeeded {
			return nil
		}
		out = append(out, exp.Reduction(of(a), of(b)))
	}
	return out
}

// rate sums the reductions of the chosen jobs up.
func rate(sum func([]float64) float64, of func(*sim.JobResult) float64, pick exp.Pick) func(exp.Runs) float64 {
	return func(r exp.Runs) float64 {
		rates := rates(r.Arm("capacity"), r.Arm("dress"), of, pick)
		if len(rates) == 0 {
			return math.NaN()
		}
		return sum(rates)
	}
}

// worst is the largest increase of a chosen job's JCT.
func worst(pick exp.Pick) func(exp.Runs) float64 {
	least := rate(slices.Min[[]float64], jct, pick)
	return func(r exp.Runs) float64 { return -least(r) }
}

// side returns the reductions of the jobs with a shorter JCT (sign 1), or the increases of the others
// (−1).
func side(r exp.Runs, sign float64) []float64 {
	var out []float64
	for _, x := range rates(r.Arm("capacity"), r.Arm("dress"), jct, nil) {
		if (x > 0) == (sign > 0) {
			out = append(out, sign*x)
		}
	}
	return out
}

// reduced is the reduction of a figure of all jobs.
func reduced(sum func([]float64) float64, of func(*sim.JobResult) float64) func(exp.Runs) float64 {
	return func(r exp.Runs) float64 {
		var figures [2]float64
		for i, name := range []string{"capacity", "dress"} {
			var all []float64
			for k := range r.Arm(name).Jobs {
				j := &r.Arm(name).Jobs[k]
				if j.State != sim.Succeeded {
					return math.NaN()
				}
				all = append(all, of(j))
			}
			figures[i] = sum(all)
		}
		return exp.Reduction(figures[0], figures[1])
	}
}

// sweep is a table of arms beside Capacity.
func sweep(name, title string, arms ...exp.Arm) exp.Sweep {
	return exp.Sweep{Name: name, Title: title, Base: "capacity", Arms: arms, Columns: []exp.Column{
		{Name: "JCT of small jobs, mean reduction", Unit: "%", Of: func(base, x *sim.Result) float64 { return exp.Mean(rates(base, x, jct, Small)) }},
		{Name: "JCT of large jobs, mean increase", Unit: "%", Of: func(base, x *sim.Result) float64 { return -exp.Mean(rates(base, x, jct, large)) }},
		exp.Reductions("mean JCT, reduction", exp.JCTs(nil)),
		exp.Increases("makespan, increase", exp.Makespan),
	}}
}

// over is a sweep over one option, or a few options together, in the paper's symbols.
func over(name, title string, options ...string) exp.Sweep {
	symbols := strings.NewReplacer("theta: ", "θ = ", "delta_min: ", "δ_min = ", "delta_max: ", "δ_max = ", "delta: ", "δ = ", "adjust: false", "fixed", "[", "", "]", "")
	s := sweep(name, title)
	for _, o := range options {
		s.Arms = append(s.Arms, arm(symbols.Replace(o), o))
	}
	return s
}

// plotted is the sweep with its first column drawn.
func plotted(s exp.Sweep) exp.Sweep {
	s.Plot = true
	return s
}

// readings is what the paper's text and its listing leave open.
func readings() exp.Sweep {
	return sweep("readings", "the listing, and what the text tells of its runs",
		arm("the listing", ""),
		arm("the reserve is kept while there are small jobs", "keep: jobs"),
		arm("… and is 30 % at most", "keep: jobs, delta_max: 0.3"),
		arm("… and is 10 % at least", "keep: jobs, delta_min: 0.1"),
		arm("the listing, 10 % at least", "delta_min: 0.1"),
	)
}

// sweeps are the ablations and the parameters whose analysis the paper leaves out for space.
func sweeps() []exp.Sweep {
	return []exp.Sweep{
		sweep("ablation", "each mechanism alone and left out",
			arm("all", ""),
			arm("categories alone", "reserve: false"),
			arm("fixed reservation (no Alg. 1 to 3)", "adjust: false"),
			arm("without the release estimate (no Alg. 1, 2)", "release: false"),
			arm("without the bound on waiting", "patience: -1"),
			exp.Arm{Name: "behind Capacity's own limits", Profile: "dress", Hadoop: site, Set: []string{"share=[capacity, dress]"}},
		),
		plotted(over("theta", "the bound between small and large", "theta: [0.02]", "theta: [0.05]", "theta: [0.10]", "theta: [0.15]", "theta: [0.20]", "theta: [0.30]")),
		over("delta", "the reserve ratio at first", "delta: 0", "delta: 0.05", "delta: 0.10", "delta: 0.20", "delta: 0.50"),
		plotted(over("fixed", "the reserve ratio, never adjusted", "delta: 0.05, adjust: false", "delta: 0.10, adjust: false", "delta: 0.20, adjust: false", "delta: 0.30, adjust: false", "delta: 0.40, adjust: false")),
		over("bounds", "bounds of the reserve ratio", "delta_min: 0.05", "delta_min: 0.10", "delta_min: 0.20, delta: 0.20", "delta_max: 0.20", "delta_max: 0.30", "delta_max: 1"),
		plotted(over("interval", "seconds between adjustments", "interval: 0.2", "interval: 0.5", "interval: 1", "interval: 2", "interval: 5", "interval: 10")),
		sweep("estimate", "the release estimate",
			arm("within the look-ahead", ""),
			arm("cumulative, as printed", "estimate: cumulative"),
			arm("γ with heading tasks", "gamma: all"),
			arm("t_s = t_e = 1", "t_s: 1, t_e: 1"),
			arm("t_s = t_e = 10", "t_s: 10, t_e: 10"),
			arm("pw = 5 s", "window: 5"),
			arm("pw = 30 s", "window: 30"),
		),
		sweep("classes", "how jobs are classified",
			arm("against the total", ""),
			arm("against what is available", "classify_against: available"),
			arm("three categories, θ = 5 and 10 %", "theta: [0.05, 0.10], delta: 0.05"),
			arm("three categories, θ = 10 and 20 %", "theta: [0.10, 0.20], delta: 0.10"),
		),
	}
}
