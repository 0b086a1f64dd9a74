// Package dress has the experiments of DRESS: Dynamic RESource-reservation Scheme for Congested Data-intensive
// Computing Platforms.
//
// dress-four-jobs is the paper's introductory example; dress-spark, dress-mapreduce and dress-mixed-10 to
// dress-mixed-40 are its evaluation. work.go draws the twenty jobs. They run with
//
//	heddle exp run dress
//	go test ./exp/dress
package dress

import (
	"fmt"
	"slices"

	"heddle/exp"
)

// System is DRESS.
var System = exp.System{
	Name:  "dress",
	Title: "DRESS",
	What: "DRESS keeps a share of a congested cluster for jobs that want little, so that they do not wait behind jobs that want much. " +
		"How large the share is follows from what waits in each category, and from what is free.",
	Paper:       "Y. Mao, V. Green, J. Wang, H. Xiong and Z. Guo, *DRESS: Dynamic RESource-reservation Scheme for Congested Data-intensive Computing Platforms*.",
	Headline:    "dress-mixed-10",
	SetUp:       decisions,
	Experiments: experiments,
}

var decisions = []exp.Decision{
	{What: "nodes", Chosen: "5 of 20 cores of half the reference core's speed, 140 GiB for containers, two disks, 10 Gb/s, one rack", By: "V-A1: c220g2, 160 GB of memory, of which an eighth is left to the system; single-thread benchmarks of the E5-2660 v3"},
	{What: "containers", Chosen: "7 GiB and one core: a hundred", By: "V-A1 and V-B1: fewer than ten are small, θ = 10 %"},
	{What: "masters", Chosen: "1536 MiB of MapReduce, 896 MiB of Spark with the driver outside", By: "the frameworks' defaults; HiBench's documents name `yarn-client`"},
	{What: "scheduler", Chosen: "one queue, memory alone counts", By: "Hadoop 2.7.4's CapacityScheduler as it comes"},
	{What: "start of a Spark job", Chosen: "26 s of its master before it asks for executors", By: "Capacity's job 3 waits 35.5 s in an idle cluster (V-B1)"},
	{What: "which jobs are small", Chosen: "those of the published ids; with 20 to 40 % small drawn by seed", By: "V-B1, V-B2, V-B3"},
	{What: "a small job", Chosen: "2 to 8 executors or maps", By: "V-B1: fewer than ten containers, the master among them; Spark's default of two executors"},
	{What: "a large Spark job", Chosen: "11 to 28 executors; of twenty Spark jobs the first six fill the cluster", By: "V-A1: more than a tenth; V-B1 of Capacity: there is enough for jobs 1 to 6, and not enough left for job 7"},
	{What: "length of a Spark job", Chosen: "20 to 420 s of each executor's work, small and large alike, three tasks an executor; of twenty Spark jobs the first six are drawn until the first of them ends 335 to 345 s after the first submission", By: "Capacity's makespan, waits and completion times in Table II; its job 7 waits 304.7 s, so that none of the six before it, two of them small, is over sooner"},
	{What: "input of a Spark job", Chosen: "a GiB an executor at the most, with more passes over it than HiBench's default where the length asks for more", By: "HiBench's \"huge\" K-means reads 100 million samples of 20 numbers, about 20 GB"},
	{What: "a map", Chosen: "a block of 128 MiB", By: "Hadoop 2.7.4's default; tasks of Fig. 3 and 4 last 12.8 to 18.25 s"},
	{What: "a large MapReduce job", Chosen: "90 to 270 maps, one reduce for five", By: "Capacity's job 9 waits 189.2 s (V-B2), and its small jobs among the mixed take 484.5 and 540.3 s (V-B3): fewer maps meet the one, more the other; 20 maps and 4 reduces in Fig. 2"},
	{What: "mixed frameworks", Chosen: "a third of the jobs on Spark", By: "V-A2: ten benchmarks on MapReduce and five on Spark, picked at random"},
	{What: "programs", Chosen: "drawn from HiBench's; those the world has no figures of get the mean of those it has", By: "V-A2"},
	{What: "DRESS", Chosen: "θ, δ at first, t_s, t_e and pw as published; δ between 0 and a half, an adjustment each second, 150 s of patience", By: "V-A1; the bounds and the interval are not published, and the paper knows no patience: by the mean wait and the worst large job with seeds 1001 to 1060"},
}

const method = `Twenty jobs of HiBench, one every 5 s, on five nodes with room for about a hundred containers. The paper does not publish
its jobs: they are drawn by seed, from what it says of its set-up and of Capacity's runs (the table above). Their sizes were found with seeds
1001 to 1120, by Capacity's figures. Best, worst and mean are over the small or the large jobs; no job of ours stands for one of theirs.`

const methodOfMapReduce = method + `

Small jobs gain more than published. By itself one of ours takes a minute, and under Capacity it waits for three. The published small jobs
took longer: 512 s under Capacity among the mixed ones, where ours take 356 s. What they did in that time is not published: tasks of
Fig. 3 and 4 are as short as ours.

What small jobs gain comes from the two categories having parts of their own, whichever is which. With small jobs told as large ones and large as small they
gain as much, and with δ left at a tenth (no Alg. 3) hardly less where few jobs are small. With Spark alone they lose without Alg. 3 (dress-spark). The figure in %,
medians of six seeds each:

| jobs | as it comes | small and large exchanged | δ left at a tenth |
| --- | --- | --- | --- |
| MapReduce alone | 77, 82, 81, 77 | 76, 82, 82, 78 | 71, 77, 79, 74 |
| mixed, a tenth small | 77, 80 | 77, 81 | 78, 82 |
| two tenths | 67, 56 | 66, 58 | 69, 50 |
| three tenths | 62, 63, 68, 56 | 64, 65, 69, 60 | 63, 46, 61, 42 |
| four tenths | 53, 60 | 54, 63 | 5, 52 |`

const methodOfMixed = method + `

Whichever category is which, and with few small jobs without Alg. 3 too, small ones gain as much: table of dress-mapreduce.`

func experiments() []exp.Experiment {
	out := []exp.Experiment{fourJobs(), spark(), mapReduce()}
	for i, published := range []float64{76.1, 36.2, 21.9, 23.7} {
		out = append(out, mixed(2*(i+1), published))
	}
	return out
}

func spark() exp.Experiment {
	e := experiment("dress-spark", "20 Spark jobs, 6 of them small", "Fig. 6 and 7, Table II", mix{small: 6, ids: []int{4, 5, 7, 9, 10, 12}, spark: true})
	e.Metrics = []exp.Metric{
		{Name: smallMean, Unit: "%", Published: 27.6, Of: rate(exp.Mean, jct, Small), Why: whySmall},
		{Name: "JCT of small jobs, best reduction", Unit: "%", Published: 51.2, Of: rate(slices.Max[[]float64], jct, Small), Why: whySmall},
		{Name: "wait of small jobs, best reduction", Unit: "%", Published: 90.5, Of: rate(slices.Max[[]float64], wait, Small), Why: whySmall},
		{Name: "JCT of large jobs, worst increase", Unit: "%", Kind: exp.Cost, Published: 32.0, Of: worst(large), Why: whyWorst},
		{Name: "makespan, increase", Unit: "%", Kind: exp.Cost, Published: 0.64, Of: exp.Increased("capacity", "dress", exp.Makespan), Why: whyMakespan},
		{Name: "mean wait, reduction", Unit: "%", Published: 14.7, Of: reduced(exp.Mean, wait), Why: whySmall},
		{Name: "median wait, reduction", Unit: "%", Published: 50.1, Of: reduced(exp.Median, wait), Why: whyMedianWait},
		{Name: "mean JCT, reduction", Unit: "%", Published: 6.6, Of: reduced(exp.Mean, jct), Why: whySmall},
		{Name: "median JCT, reduction", Unit: "%", Published: 40.1, Of: reduced(exp.Median, jct), Why: whyMedianJCT},
		baseline("makespan", 1028.6, exp.Makespan),
		baseline("mean wait", 310.1, all(exp.Mean, wait)),
		baseline("median wait", 381.0, all(exp.Median, wait)),
		baseline("mean JCT", 570.1, all(exp.Mean, jct)),
		baseline("median JCT", 542.8, all(exp.Median, jct)),
		baseline("wait of job 3", 35.519, waitOf(3)),
		baseline("wait of job 7", 304.705, waitOf(7)),
	}
	e.Mutations = append(mutations(),
		exp.Mutation{Name: "rule off: δ stays as it is at first (no Alg. 3)", Arms: []exp.Arm{arm("dress", "adjust: false")}, Loses: []string{smallMean}})
	e.Sweeps = sweeps()
	return e
}

func mapReduce() exp.Experiment {
	e := experiment("dress-mapreduce", "20 MapReduce jobs, 6 of them small", "Fig. 8 and 9", mix{small: 6, ids: []int{4, 5, 6, 8, 10, 11}, mapReduce: true})
	e.Metrics = []exp.Metric{
		{Name: smallMean, Unit: "%", Published: 25.7, Of: rate(exp.Mean, jct, Small)},
		{Name: "wait of large jobs, best reduction", Unit: "%", Published: 89.4, Of: rate(slices.Max[[]float64], wait, large), Why: whyLarge},
		{Name: "JCT of large jobs, best reduction", Unit: "%", Published: 23.2, Of: rate(slices.Max[[]float64], jct, large), Why: whyLarge},
		{Name: "JCT of large jobs, worst increase", Unit: "%", Kind: exp.Cost, Published: 29.3, Of: worst(large), Why: whyCost},
		{Name: "jobs with a shorter JCT", Published: 12, Of: func(r exp.Runs) float64 { return float64(len(side(r, 1))) }, Why: whyShorter},
		{Name: "JCT of those, mean reduction", Unit: "%", Published: 18.5, Of: func(r exp.Runs) float64 { return exp.Mean(side(r, 1)) }},
		{Name: "JCT of the others, mean increase", Unit: "%", Kind: exp.Cost, Published: 8.2, Of: func(r exp.Runs) float64 { return exp.Mean(side(r, -1)) }, Why: whyCost},
		baseline("wait of job 9", 189.246, waitOf(9)),
	}
	e.Method = methodOfMapReduce
	e.Mutations = mutations()
	e.Sweeps = slices.Concat(sweeps()[:2], []exp.Sweep{patience()})
	return e
}

// mixed has runs of both frameworks with the given number of small jobs.
func mixed(small int, published float64) exp.Experiment {
	m := mix{small: small, mapReduce: true, spark: true}
	if small == 2 {
		m.ids = []int{6, 8}
	}
	e := experiment(fmt.Sprintf("dress-mixed-%d", 5*small), fmt.Sprintf("20 MapReduce and Spark jobs, %d of them small", small), fmt.Sprintf("Fig. %d", 9+small/2), m)
	e.Metrics = []exp.Metric{{Name: smallMean, Unit: "%", Published: published, Of: rate(exp.Mean, jct, Small), Why: whyMixed}}
	e.Method = methodOfMixed
	if small == 2 {
		e.Metrics = append(e.Metrics, baseline("JCT of small jobs", (484.5+540.3)/2, exp.JCTs(Small)))
	}
	e.Mutations = mutations()
	if small == 6 {
		e.Sweeps = slices.Concat(sweeps()[1:3], []exp.Sweep{patience()})
	}
	return e
}

const smallMean = "JCT of small jobs, mean reduction"

// The explanations name the sweeps that support them.
const (
	whySmall = `Jobs 4 and 5 are small and begin at once in either, so that four of six have something to save, and job 6 pays most of its own
length: what is left of the mean is little, and differs by seed.`
	whyWorst = `In 29 of 30 runs it is job 6. The first six fill the cluster until the first of them ends, 335 s after the first submission,
and nothing is taken back from those that run. The four small jobs that come next ask for 12 to 29 containers together, and job 6, the last that begins, for 11 to 28: what
they get it does without until then. Begun with what they leave it has few executors, begun with none it comes 300 s later. The published
job 3 lost less: it began after 98.9 s, when none of the six could have ended, so that there was room for all ten jobs; none of what Capacity did
says how much.`
	whyMakespan   = `The end of the one job that ends last: between runs it differs by more than what is published.`
	whyMedianWait = `The median of twenty lies between the tenth and the eleventh. Where ten jobs begin before the first one ends, as in 12 of 30 runs, it falls by about
46 %. Elsewhere job 6 or one of the small ones waits for that end too: it falls by about 31 %.`
	whyMedianJCT = `Ten of the published jobs took about 325 s or less. Under Capacity none of the first six ends before 334.7 s, so that each takes 310 s or more: if
they are among the ten, they were about as long as each other. Ours take 300 to 480 s: Capacity's median wait of 381 s, where job 7 waits
304.7 s, has them end one after the other.`
	whyCost = `The job that asks for most is last in the list (line 13 of Alg. 3), and begins behind all that came while small jobs waited, after 150 s at the latest: sweep
"patience". The sooner it begins, the less it pays, and the longer all jobs wait on average.`
	whyMixed   = `A small Spark job can save no more than it waits, a small MapReduce job nearly all of its time: which of them are drawn decides.`
	whyLarge   = `The published figures are of single jobs that went before another; which large job does is chance.`
	whyShorter = `Jobs that come first gain nothing, and those that are passed over lose: the number differs by seed.`
	whyFour    = `The bound is 31 s. Without knowing what comes a scheduler begins job 1 at once, and then job 2 ends at 32 s at the soonest.`
)

const fourOptions = "theta: [0.5], delta: 0.5, delta_max: 1, interval: 0.1"

// fourJobs is the paper's introductory example.
func fourJobs() exp.Experiment {
	dress := exp.Arm{Name: "dress", Profile: "dress", Hadoop: fourSite, Set: set(fourOptions)}
	return exp.Experiment{
		System: "dress", Name: "dress-four-jobs", Title: "four jobs a second apart on six containers", Source: "Fig. 1",
		Method: `Of the figure the text keeps job 1 (3 containers, 10 s). With 3, 4, 3 and 2 containers for 10, 20, 10 and 10 s strict
order gives the published waits. Each job is one container of so many times 8 GiB, so that it starts whole or not at
all, in the given world: no physics, but masters that start, and nodes and masters that report ten times a second. Six containers are too
few for θ = 10 %: here jobs up to half the cluster are small, half is reserved for them at first, δ is free, and it is adjusted ten times a
second.

Most of what is gained does not come from telling job 2 from the others. DRESS passes over whom it has no room for, and Capacity lets nobody pass a job that its queue has no room for;
so as much is gained where all jobs are small. Behind Capacity's own limits (` + "`share: [capacity, dress]`" + `) the mean wait is 30 % shorter and the makespan as long, and where all jobs are small nothing is gained (one seed).`,
		Work: fourWork, Given: true,
		Arms: []exp.Arm{{Name: "capacity", Profile: "capacity", Hadoop: fourSite}, dress},
		Metrics: []exp.Metric{
			{Name: "mean wait, reduction", Unit: "%", Published: 64.1, Of: reduced(exp.Mean, wait)},
			{
				Name: "makespan, reduction", Unit: "%", Published: 25, Of: exp.Reduced("capacity", "dress", exp.Makespan), Why: whyFour,
				Bound:   func(r exp.Runs) float64 { return exp.Reduction(exp.Makespan(r.Arm("capacity")), float64(fourEnds())) },
				BoundIs: "Of all schedules the shortest ends 31 s after the first submission: job 2 from 1 to 21 s, job 4 beside it, and jobs 1 and 3 together after it. The test goes through all orders. The published 30 s count from the fourth submission.",
			},
			baseline("mean wait", 16, all(exp.Mean, wait)),
			baseline("makespan", 40, exp.Makespan),
		},
		Null: []exp.Arm{told(dress, least)}, NullIs: "every job is told to ask for one container, so that all are small",
		Plots: []exp.Plot{{Kind: exp.BarsPerJob, Title: "JCT of each job"}, {Kind: exp.GaugeOverTime, Title: "δ", Arms: []string{"dress"}, Gauge: "dress.delta"}},
	}
}

// experiment is one of the evaluation's experiments, without its metrics.
func experiment(name, title, source string, m mix) exp.Experiment {
	return exp.Experiment{
		System: "dress", Name: name, Title: title, Source: source, Method: method, Work: m.work,
		Arms: []exp.Arm{{Name: "capacity", Profile: "capacity", Hadoop: site}, arm("dress", "")},
		Null: []exp.Arm{null()}, Chance: []exp.Arm{lying("dress", atRandom)},
		NullIs: "jobs are put into categories, and nothing is reserved; or half of them are told as small ones and half as large ones, by chance, where only that reaches the figure",
		Plots: []exp.Plot{
			{Kind: exp.BarsPerJob, Title: "JCT of each job"},
			{Kind: exp.CDF, Title: "JCT"},
			{Kind: exp.GaugeOverTime, Title: "δ", Arms: []string{"dress"}, Gauge: "dress.delta"},
		},
	}
}

// arm is DRESS with options that differ from the paper's; empty = none.
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
