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
	What: "DRESS reserves a share of a congested cluster for small jobs, so that they do not wait behind large ones. The size of the " +
		"share depends on what waits in each category and on what is free.",
	Paper:       "Y. Mao, V. Green, J. Wang, H. Xiong and Z. Guo, *DRESS: Dynamic RESource-reservation Scheme for Congested Data-intensive Computing Platforms*.",
	Headline:    "dress-mixed-10",
	SetUp:       decisions,
	Experiments: experiments,
}

var decisions = []exp.Decision{
	{What: "nodes", Chosen: "5 nodes with 20 cores of half the reference core's speed, 140 GiB for containers, two disks and 10 Gb/s; one rack", By: "V-A1: c220g2, 160 GB of memory, an eighth of it left to the system; single-thread benchmarks of the E5-2660 v3"},
	{What: "containers", Chosen: "7 GiB and one core: a hundred", By: "V-A1 and V-B1: fewer than ten are small, θ = 10 %"},
	{What: "masters", Chosen: "1536 MiB for MapReduce, 896 MiB for Spark, whose driver runs outside the cluster", By: "the frameworks' defaults; HiBench's documents name `yarn-client`"},
	{What: "scheduler", Chosen: "one queue, only memory counts", By: "Hadoop 2.7.4's CapacityScheduler with its defaults"},
	{What: "start of a Spark job", Chosen: "its master runs for 26 s before it asks for executors", By: "Capacity's job 3 waits 35.5 s in an idle cluster (V-B1)"},
	{What: "which jobs are small", Chosen: "those with the published ids; if 20 to 40 % are small, drawn by seed", By: "V-B1, V-B2, V-B3"},
	{What: "a small job", Chosen: "2 to 8 executors or maps", By: "V-B1: fewer than ten containers, including the master; Spark's default of two executors"},
	{What: "a large Spark job", Chosen: "11 to 28 executors; of twenty Spark jobs the first six fill the cluster", By: "V-A1: more than a tenth; V-B1 on Capacity: there is enough room for jobs 1 to 6, but not for job 7"},
	{What: "length of a Spark job", Chosen: "20 to 420 s of work per executor, for small and large jobs alike, with three tasks per executor; of twenty Spark jobs the first six are drawn until the first of them ends 335 to 345 s after the first submission", By: "Capacity's makespan, waits and completion times in Table II; its job 7 waits 304.7 s, so none of the six before it, two of them small, ends sooner"},
	{What: "input of a Spark job", Chosen: "at most 1 GiB per executor, with more passes over it than HiBench's default if the length requires it", By: "HiBench's \"huge\" K-means reads 100 million samples of 20 numbers, about 20 GB"},
	{What: "a map", Chosen: "a block of 128 MiB", By: "Hadoop 2.7.4's default; tasks of Fig. 3 and 4 last 12.8 to 18.25 s"},
	{What: "a large MapReduce job", Chosen: "90 to 270 maps, one reduce for every five", By: "Capacity's job 9 waits 189.2 s (V-B2), and its small jobs in the mix take 484.5 and 540.3 s (V-B3): fewer maps match the former better, more maps the latter; 20 maps and 4 reduces in Fig. 2"},
	{What: "mixed frameworks", Chosen: "a third of the jobs on Spark", By: "V-A2: ten benchmarks on MapReduce and five on Spark, picked at random"},
	{What: "programs", Chosen: "drawn from HiBench's; programs without figures in the simulated world get the mean of the others", By: "V-A2"},
	{What: "DRESS", Chosen: "θ, the initial δ, t_s, t_e and pw as published; δ between 0 and a half, adjusted every second; 150 s of patience", By: "V-A1; the bounds and the interval are not published, and the paper has no patience: chosen by the mean wait and the worst large job with seeds 1001 to 1060"},
}

const method = `Twenty HiBench jobs, one every 5 s, on five nodes with room for about a hundred containers. The paper does not publish
its jobs. Here they are drawn by seed, following what the paper says about its set-up and about Capacity's runs (the table above). Their sizes
were fitted to Capacity's figures with seeds 1001 to 1120. Best, worst and mean are over the small or the large jobs; no job here stands for one
of the paper's jobs.`

const methodOfMapReduce = method + `

Small jobs gain more than published. Alone, a small job here takes a minute, and under Capacity it waits for three. The published small jobs
took longer: 512 s under Capacity in the mix, where ours take 356 s. The paper does not say how they spent that time: tasks in
Fig. 3 and 4 are as short as ours.

Small jobs gain because each of the two categories has its own part of the cluster, whichever is which. If small jobs are reported as large and large jobs as small, small jobs
gain as much. With δ left at a tenth (no Alg. 3) they gain hardly less if few jobs are small. With Spark alone they lose without Alg. 3 (dress-spark). The figure in %,
medians of six seeds each:

| jobs | as it comes | small and large exchanged | δ left at a tenth |
| --- | --- | --- | --- |
| MapReduce alone | 77, 82, 81, 77 | 76, 82, 82, 78 | 71, 77, 79, 74 |
| mixed, a tenth small | 77, 80 | 77, 81 | 78, 82 |
| two tenths | 67, 56 | 66, 58 | 69, 50 |
| three tenths | 62, 63, 68, 56 | 64, 65, 69, 60 | 63, 46, 61, 42 |
| four tenths | 53, 60 | 54, 63 | 5, 52 |`

const methodOfMixed = method + `

Small jobs gain as much if the categories are exchanged, and, if few jobs are small, also without Alg. 3: see the table of dress-mapreduce.`

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
		exp.Mutation{Name: "rule off: δ keeps its initial value (no Alg. 3)", Arms: []exp.Arm{arm("dress", "adjust: false")}, Loses: []string{smallMean}})
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
	whySmall = `Jobs 4 and 5 are small and start at once under either scheduler, so only four of the six small jobs can save time, and job 6 loses most of its own
length. What is left of the mean is small and differs by seed.`
	whyWorst = `In 29 of 30 runs the worst job is job 6. The first six jobs fill the cluster until the first of them ends, 335 s after the first submission,
and nothing is taken back from running jobs. The four small jobs that come next ask for 12 to 29 containers together, and job 6, the last to start, asks for 11 to 28.
Until that end it does without the containers that they get. If it starts with what they leave, it has few executors; if they leave none, it starts 300 s later. The published
job 3 lost less: it started after 98.9 s, when none of the six could have ended, so there was room for all ten jobs. Capacity's runs do not show
how much room.`
	whyMakespan   = `The makespan is the end of a single job, the last one. Between runs it differs by more than the published increase.`
	whyMedianWait = `The median of twenty lies between the tenth and the eleventh. If ten jobs start before the first one ends, as in 12 of 30 runs, it falls by about
46 %. Otherwise job 6 or one of the small jobs also waits for that end, and it falls by about 31 %.`
	whyMedianJCT = `Ten of the published jobs took about 325 s or less. Under Capacity none of the first six ends before 334.7 s, so each takes 310 s or more: if
they are among the ten, they all took about the same time. Ours take 300 to 480 s: with Capacity's median wait of 381 s and job 7's wait of
304.7 s, they must end one after the other.`
	whyCost = `The job that asks for most is last in the list (line 13 of Alg. 3). It starts behind all jobs that came while small jobs waited, after 150 s at the latest: see the sweep
"patience". The sooner it starts, the less it loses, and the longer all jobs wait on average.`
	whyMixed   = `A small Spark job can save no more than its wait, but a small MapReduce job can save nearly all of its time. So the figure depends on which jobs are drawn.`
	whyLarge   = `The published figures are for single jobs that went ahead of another job; which large job does so is chance.`
	whyShorter = `Jobs that come first gain nothing, and jobs that are passed over lose, so the number differs by seed.`
	whyFour    = `The bound is 31 s. A scheduler that does not know which jobs will come starts job 1 at once, and then job 2 ends at 32 s at the earliest.`
)

const fourOptions = "theta: [0.5], delta: 0.5, delta_max: 1, interval: 0.1"

// fourJobs is the paper's introductory example.
func fourJobs() exp.Experiment {
	dress := exp.Arm{Name: "dress", Profile: "dress", Hadoop: fourSite, Set: set(fourOptions)}
	return exp.Experiment{
		System: "dress", Name: "dress-four-jobs", Title: "Four jobs a second apart on six containers", Source: "Fig. 1",
		Method: `The text gives only job 1 of the figure (3 containers, 10 s). With 3, 4, 3 and 2 containers for 10, 20, 10 and 10 s strict
order gives the published waits. Each job is one container of that many times 8 GiB, so that it starts whole or not at
all. The world is the given one: no physics, but masters must start, and nodes and masters report ten times a second. Six containers are too
few for θ = 10 %: here jobs up to half the cluster are small, half is reserved for them at first, and δ has no bounds and is adjusted ten times a
second.

Most of the gain does not come from telling job 2 from the others. DRESS passes over a job that it has no room for, whereas Capacity lets no job pass one that its queue has no room for.
So the gain is as large if all jobs are small. Behind Capacity's own limits (` + "`share: [capacity, dress]`" + `) the mean wait is 30 % shorter and the makespan is unchanged, and if all jobs are small nothing is gained (one seed).`,
		Work: fourWork, Given: true,
		Arms: []exp.Arm{{Name: "capacity", Profile: "capacity", Hadoop: fourSite}, dress},
		Metrics: []exp.Metric{
			{Name: "mean wait, reduction", Unit: "%", Published: 64.1, Of: reduced(exp.Mean, wait)},
			{
				Name: "makespan, reduction", Unit: "%", Published: 25, Of: exp.Reduced("capacity", "dress", exp.Makespan), Why: whyFour,
				Bound:   func(r exp.Runs) float64 { return exp.Reduction(exp.Makespan(r.Arm("capacity")), float64(fourEnds())) },
				BoundIs: "The shortest of all schedules ends 31 s after the first submission: job 2 from 1 to 21 s, job 4 beside it, and jobs 1 and 3 together after it. The test tries all orders. The published 30 s are counted from the fourth submission.",
			},
			baseline("mean wait", 16, all(exp.Mean, wait)),
			baseline("makespan", 40, exp.Makespan),
		},
		Null: []exp.Arm{told(dress, least)}, NullIs: "every job is reported as asking for one container, so that all are small",
		Plots: []exp.Plot{{Kind: exp.BarsPerJob, Title: "JCT of each job"}, {Kind: exp.GaugeOverTime, Title: "δ", Arms: []string{"dress"}, Gauge: "dress.delta"}},
	}
}

// experiment is one of the evaluation's experiments, without its metrics.
func experiment(name, title, source string, m mix) exp.Experiment {
	return exp.Experiment{
		System: "dress", Name: name, Title: title, Source: source, Method: method, Work: m.work,
		Arms: []exp.Arm{{Name: "capacity", Profile: "capacity", Hadoop: site}, arm("dress", "")},
		Null: []exp.Arm{null()}, Chance: []exp.Arm{lying("dress", atRandom)},
		NullIs: "jobs are put into categories, but nothing is reserved; or, if only that reaches the figure, half of the jobs are reported as small and half as large, at random",
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
