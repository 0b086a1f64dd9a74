package ikayak

import (
	"fmt"
	"math"

	"heddle"
	"heddle/exp"
	"heddle/sim"
)

// problem is the case study of what goes wrong without iKayak.
func problem() exp.Experiment {
	const alone, mixed = "MapReduce alone", "with Spark"
	work := func(spark bool) exp.Work {
		return func(uint64) (string, error) {
			text := `name: ikayak-problem
cluster:
  nodes:
    - {count: 6, memory: 12GiB, vcores: 8, nic_mb_s: 1Gb/s}
workload:
  jobs:
    - {id: wordcount, program: wordcount, submit: 30s, input: 30GB, split: 256MiB, reduces: 6, map: {memory: 2GiB, vcores: 2}, reduce: {memory: 2GiB, vcores: 2}, master: {memory: 2GiB, vcores: 1}}
`
			if spark {
				text += `    - id: regression
      program: other
      framework: spark
      input: 10GB
      split: 256MiB
      output: 1MB
      master: {memory: 1GiB, vcores: 1}
      spark: {executors: 4, executor: {memory: 8GiB, vcores: 6}, client: true, iterations: 12, cache: true}
`
			}
			return text, nil
		}
	}
	arm := func(name string, spark bool) exp.Arm {
		a := arm(name, "yarn-cluster")
		a.Work = work(spark)
		return a
	}
	held := func(a string) func(exp.Runs) float64 {
		return exp.Under(a, func(x *sim.Result) float64 { return exp.MeanTask(x, heddle.Reduce, nil) })
	}
	const why = "The paper gives neither the speed of these machines' cores and disks, nor the number of reduces: six here, one a node."
	return exp.Experiment{
		System: "ikayak", Name: "ikayak-problem", Title: "What a Spark application does to a WordCount", Source: "Fig. 2 and 3, section 2.2",
		Method: `
* Six nodes of 8 cores and 12 GB. WordCount reads 30 GB; maps and reduces have 2 cores and 2 GB. Logistic Regression reads 10 GB; its executors have 6 cores and 8 GB. Four of them
  hold half of the cluster's cores, as the paper has it, and are there before WordCount comes.
* Waves are all maps over the most that ran at once.
* CapacityScheduler, one queue, no delay scheduling.
`,
		Arms: []exp.Arm{arm(alone, false), arm(mixed, true)},
		Metrics: []exp.Metric{
			{
				Name: "local maps with Spark", Unit: "%", Kind: exp.Level, Published: 68, Of: exp.Under(mixed, exp.LocalRate),
				Why: "With three replicas on six nodes any node has the data of half of all maps, so that a free slot nearly always finds a local one among those that wait, however few slots a node has.",
			},
			{Name: "local maps alone", Unit: "%", Kind: exp.Level, Published: 95, Of: exp.Under(alone, exp.LocalRate)},
			{Name: "map waves alone", Kind: exp.Level, Published: 5, Of: exp.Under(alone, mapWaves)},
			{Name: "map waves with Spark", Kind: exp.Level, Published: 10, Of: exp.Under(mixed, mapWaves), Why: why},
			{
				Name: "reduces held alone", Unit: "s", Kind: exp.Level, Published: 120, Of: held(alone),
				Why: why + " A reduce holds its container for as long as the maps take after the first of them are done.",
			},
			{Name: "reduces held with Spark", Unit: "s", Kind: exp.Level, Published: 300, Of: held(mixed), Why: why},
			{
				Name: "reduces held, with Spark over alone", Kind: exp.Level, Published: 2.5,
				Of: func(r exp.Runs) float64 { return held(mixed)(r) / held(alone)(r) }, Why: why,
			},
		},
		Plots: []exp.Plot{{Kind: exp.RunningOverTime, Title: "Running maps and reduces"}},
	}
}

// placing compares executor placements, everything else being the baseline's.
func placing() exp.Experiment {
	const non, spread, ours = "NonSpreadOut", "SpreadOut", "iKayak's placement"
	upTo := func(base string, of func(r exp.Runs, arm string, pick exp.Pick) float64) func(exp.Runs) float64 {
		return func(r exp.Runs) float64 {
			return largest(sparkPrograms, func(pick exp.Pick) float64 { return exp.Reduction(of(r, base, pick), of(r, ours, pick)) })
		}
	}
	jct := func(r exp.Runs, arm string, pick exp.Pick) float64 { return exp.MeanJCT(r.Arm(arm), pick) }
	reserved := func(r exp.Runs, arm string, pick exp.Pick) float64 { return meanReservation(r.Arm(arm), pick) }
	return exp.Experiment{
		System: "ikayak", Name: "ikayak-placement", Title: "Where executors go", Source: "Fig. 8",
		Method: method + `* SpreadOut and NonSpreadOut: each executor goes to the node with the fewest, or the most, of its application; if none has room, the node that the same rule names
  is reserved. "Up to" is the largest gain among the three programs.
`,
		Work: msd.work,
		Arms: []exp.Arm{
			arm(non, "yarn-cluster", "place.executor=ikayak.nonspreadout"), arm(spread, "yarn-cluster", "place.executor=ikayak.spreadout"),
			arm(ours, "yarn-cluster", place...),
		},
		Metrics: []exp.Metric{
			{Name: "Spark, JCT against NonSpreadOut, reduction up to", Unit: "%", Published: 55, Of: upTo(non, jct), Why: whyPlace},
			{Name: "Spark, JCT against SpreadOut, reduction up to", Unit: "%", Published: 37, Of: upTo(spread, jct), Why: whyPlace},
			{Name: "reservation against NonSpreadOut, reduction up to", Unit: "%", Published: 67, Of: upTo(non, reserved), Why: whyPlace},
			{Name: "reservation against SpreadOut, reduction up to", Unit: "%", Published: 53, Of: upTo(spread, reserved), Why: whyPlace},
			{Name: "processor use against NonSpreadOut, increase", Unit: "%", Published: 10, Of: cpuMore(non, ours), Why: whyUse},
		},
		Plots: []exp.Plot{{Kind: exp.CDF, Title: "Completion time"}},
	}
}

// wrongEstimates forces the estimate of remaining times to be wrong.
func wrongEstimates() exp.Experiment {
	off := func(percent int) exp.Arm {
		return arm(fmt.Sprintf("error %d %%", percent), "ikayak", fmt.Sprintf("estimate.remaining={ikayak.fuzzy: {error: %.2f}}", float64(percent)/100))
	}
	longer := func(percent int) func(exp.Runs) float64 {
		return exp.Increased("as estimated", off(percent).Name, exp.JCTs(exp.Of(heddle.Spark)))
	}
	return exp.Experiment{
		System: "ikayak", Name: "ikayak-error", Title: "Executors placed by wrong estimates", Source: "Fig. 9b",
		Method: method + "* The estimate of each reduce is off by a factor drawn for it, by so much on average.\n",
		Work:   msd.work,
		Arms:   []exp.Arm{arm("as estimated", "ikayak"), off(10), off(20), off(35)},
		Metrics: []exp.Metric{
			{Name: "Spark, mean JCT at 35 % error, increase", Unit: "%", Kind: exp.Cost, Published: 34, Of: longer(35)},
			{Name: "Spark, mean JCT at 10 % error, increase", Unit: "%", Kind: exp.Cost, Published: 7.5, Of: longer(10)},
		},
	}
}

// delay is delay scheduling for either framework.
func delay() exp.Experiment {
	m := msd
	m.dynamic = true // only then does Spark ask for executors where its data lies
	arm := func(spark, maps string) exp.Arm {
		place := map[string]string{"N": "any", "D": "{delay: {node_wait: 15, rack_wait: 15}}"}
		return exp.Arm{
			Name: spark + "-" + maps, Profile: "yarn-cluster", Hadoop: hadoop,
			Set: []string{"place.executor=" + place[spark], "place.map=" + place[maps]},
		}
	}
	more := func(arm string, of func(r exp.Runs, arm string) float64) func(exp.Runs) float64 {
		return func(r exp.Runs) float64 { return of(r, arm) - of(r, "N-N") }
	}
	spark := func(r exp.Runs, arm string) float64 { return localExecutors(r.Arm(arm)) }
	maps := func(r exp.Runs, arm string) float64 { return exp.LocalRate(r.Arm(arm)) }
	return exp.Experiment{
		System: "ikayak", Name: "ikayak-delay", Title: "Delay scheduling for Spark, for MapReduce, for both", Source: "Fig. 13b",
		Method: method + `* N and D, Spark first: without and with delay scheduling of 15 s. Spark asks for executors near its data with dynamic allocation only, which is on here; its local
  rate is that of executors on a node they were asked for at.
`,
		Work: m.work,
		Arms: []exp.Arm{arm("N", "N"), arm("N", "D"), arm("D", "N"), arm("D", "D")},
		Metrics: []exp.Metric{
			{Name: "local maps, MapReduce delaying, increase", Unit: "points", Published: 12, Of: more("N-D", maps), Why: whyDelay},
			{Name: "local executors, Spark delaying, increase", Unit: "points", Published: 12, Of: more("D-N", spark), Why: whyDelay},
			{
				Name: "local maps, both delaying, increase", Unit: "points", Kind: exp.Shape, Text: "both: like neither, within 5 points", Of: more("D-D", maps),
				Holds: func(all []exp.Runs) bool {
					return math.Abs(exp.MedianOf(all, more("D-D", maps))) <= 5 && math.Abs(exp.MedianOf(all, more("D-D", spark))) <= 5
				}, Why: "Delay scheduling does not undo itself: whoever waits for its data finds it, whatever the other does (arm D-D beside N-D). The paper gives no reason for it.",
			},
		},
	}
}
