package ikayak

import (
	"fmt"
	"math/rand/v2"
	"strings"

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
    - {count: 6, memory: 12GiB, vcores: 8, cores: 5, speed: 1, nic_mb_s: 1Gb/s}
workload:
  jobs:
    - {id: wordcount, program: wordcount, submit: 30s, input: 30GB, split: 256MiB, reduces: 4, data: {replicas: 1}, map: {memory: 2GiB, vcores: 2}, reduce: {memory: 2GiB, vcores: 2}, master: {memory: 2GiB, vcores: 1}}
`
			if spark {
				text += `    - id: regression
      program: other
      framework: spark
      input: 10GB
      split: 256MiB
      data: {replicas: 1}
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
	return exp.Experiment{
		System: "ikayak", Name: "ikayak-problem", Title: "What a Spark application does to a WordCount", Source: "Fig. 2 and 3, section 2.2",
		Method: `
* Six nodes of 8 cores and 12 GB, desktops of the testbed. One replica: the paper says here that HDFS "usually has three … which may improve" locality. Four reduces. WordCount reads 30 GB; maps and reduces have 2 cores and 2 GB. Logistic Regression reads 10 GB; its executors have 6 cores and 8 GB. Four of them
  hold half of the cluster's cores, as in the paper, and run before WordCount comes.
* The number of waves is the number of maps divided by the most that ran at once.
* CapacityScheduler, one queue, no delay scheduling.
`,
		Arms: []exp.Arm{arm(alone, false), arm(mixed, true)},
		Metrics: []exp.Metric{
			{Name: "local maps with Spark", Unit: "%", Kind: exp.SetUp, Published: 68, Of: exp.Under(mixed, exp.LocalRate)},
			{Name: "local maps alone", Unit: "%", Kind: exp.SetUp, Published: 95, Of: exp.Under(alone, exp.LocalRate)},
			{Name: "map waves alone", Kind: exp.SetUp, Published: 5, Of: exp.Under(alone, mapWaves)},
			{Name: "map waves with Spark", Kind: exp.SetUp, Published: 10, Of: exp.Under(mixed, mapWaves)},
			{Name: "reduces held alone", Unit: "s", Kind: exp.SetUp, Published: 120, Of: held(alone)},
			{Name: "reduces held with Spark", Unit: "s", Kind: exp.SetUp, Published: 300, Of: held(mixed)},
			{
				Name: "reduces held, with Spark over alone", Kind: exp.SetUp, Published: 2.5,
				Of: func(r exp.Runs) float64 { return held(mixed)(r) / held(alone)(r) },
			},
		},
		Plots: []exp.Plot{{Kind: exp.RunningOverTime, Title: "Running maps and reduces"}},
	}
}

// placing compares executor placements. Everything else is the baseline's, except that iKayak's placement comes with
// its order: masters and executors before tasks.
func placing() exp.Experiment {
	const non, spread, ours = "NonSpreadOut", "SpreadOut", "iKayak's placement"
	upTo := func(base string, of func(r exp.Runs, arm string, pick exp.Pick) float64) func(exp.Runs) float64 {
		return func(r exp.Runs) float64 {
			return largest(sparkPrograms, func(pick exp.Pick) float64 { return exp.Reduction(of(r, base, pick), of(r, ours, pick)) })
		}
	}
	jct := func(r exp.Runs, arm string, pick exp.Pick) float64 { return exp.MeanJCT(r.Arm(arm), pick) }
	reserved := func(r exp.Runs, arm string, pick exp.Pick) float64 { return meanReservation(r.Arm(arm), pick) }
	most := func(base string) func(exp.Runs) float64 {
		return func(r exp.Runs) float64 {
			return largest(sparkPrograms, func(pick exp.Pick) float64 { return exp.MostReducedJCT(base, pick)(r) })
		}
	}
	const reserveNon, reserveSpread = "reservation against NonSpreadOut, reduction up to", "reservation against SpreadOut, reduction up to"
	const jctNon, jctSpread = "Spark, JCT against NonSpreadOut, reduction up to", "Spark, JCT against SpreadOut, reduction up to"
	return exp.Experiment{
		System: "ikayak", Name: "ikayak-placement", Title: "Placement of executors", Source: "Fig. 8",
		Method: mixMethod + `* SpreadOut and NonSpreadOut: each executor goes to the node with the fewest, or the most, executors of its application; if none has room, the node that the same rule selects
  is reserved. "Up to" is the largest gain among the three programs.
* iKayak's placement also serves masters and executors before tasks, as the profile does. Without that, reservations are shorter by nearly as much, 88 and 87 %, and if the other
  two placements do it too, by 92 and 89 % (six seeds).
`,
		Work: msd.work,
		Arms: []exp.Arm{
			arm(non, "yarn-cluster", "place.executor=ikayak.nonspreadout"), arm(spread, "yarn-cluster", "place.executor=ikayak.spreadout"),
			arm(ours, "yarn-cluster", place...),
		},
		Metrics: []exp.Metric{
			{Name: jctNon, Unit: "%", Published: 55, Of: upTo(non, jct), Bound: most(non), BoundIs: exp.MostReducedJCTIs, Why: whyPlace},
			{Name: jctSpread, Unit: "%", Published: 37, Of: upTo(spread, jct), Bound: most(spread), BoundIs: exp.MostReducedJCTIs, Why: whyPlace},
			{Name: reserveNon, Unit: "%", Published: 67, Of: upTo(non, reserved), Why: whyPlace},
			{Name: reserveSpread, Unit: "%", Published: 53, Of: upTo(spread, reserved), Why: whyPlace},
			{Name: "processor use against NonSpreadOut, increase", Unit: "%", Published: 10, Of: cpuMore(non, ours), Bound: mostUsed(non), BoundIs: boundUse, Why: whySameUse},
		},
		Null: []exp.Arm{instead(as(ours, arm("", "yarn-cluster", place...)), anyNode)}, NullIs: "an executor goes to a random node with room, and if none has room, a random node is reserved; masters and executors go before tasks as under iKayak",
		Mutations: []exp.Mutation{{
			Name: "executors on the fullest node, in order of submission", Arms: []exp.Arm{instead(arm(ours, "yarn-cluster", place[0], place[1], inOrder), fullestNode)},
			Loses: []string{reserveNon, reserveSpread},
		}},
		Plots: []exp.Plot{{Kind: exp.CDF, Title: "Completion time"}},
	}
}

// wrongEstimates makes the estimate of remaining times wrong on purpose.
func wrongEstimates() exp.Experiment {
	const name = "as estimated"
	const stays = "place.executor={ikayak.executor: {stay: true}}"
	off := func(percent int) exp.Arm {
		return arm(fmt.Sprintf("error %d %%", percent), "ikayak", stays, fmt.Sprintf("estimate.remaining={ikayak.fuzzy: {error: %.2f}}", float64(percent)/100))
	}
	longer := func(percent int) func(exp.Runs) float64 {
		return exp.Increased(name, off(percent).Name, exp.JCTs(exp.Of(heddle.Spark)))
	}
	null := func(percent int) exp.Arm { return as(off(percent).Name, arm("", "ikayak", stays)) }
	return exp.Experiment{
		System: "ikayak", Name: "ikayak-error", Title: "Executors placed by wrong estimates", Source: "Fig. 9b",
		Method: method + `* The MapReduce jobs of section 5.3, Terasort, Grep and WordCount with 300 GB each, come together. Twelve Spark applications of the mix come at random times within the half hour in which
  their reduces hold most of the memory.
* An executor stays where it was placed, even if another node becomes free earlier: it is "placed on the selected node", and a wrong estimate costs "additional … waiting time for resource
  reservation". An executor that takes the first free node (option stay: false, the default) depends less on its estimate.
* The estimate for each reduce is wrong by a factor drawn for that reduce, by the stated percentage on average. Longer is the published direction: a figure counts if errors do harm.
`,
		Work: crowded,
		Arms: []exp.Arm{arm(name, "ikayak", stays), off(10), off(35)},
		Metrics: []exp.Metric{
			{Name: "Spark, mean JCT at 35 % error, increase", Unit: "%", Published: 34, Of: longer(35), Why: whyError},
			{Name: "Spark, mean JCT at 10 % error, increase", Unit: "%", Published: 7.5, Of: longer(10), Why: whyError},
		},
		Null: []exp.Arm{null(10), null(35)}, NullIs: "no error",
		Sweeps: []exp.Sweep{{
			Name: "estimates", Title: "The value of an estimate", Base: name,
			Columns: []exp.Column{
				exp.Increases("Spark, mean JCT, increase", exp.JCTs(exp.Of(heddle.Spark))),
				exp.Increases("reservation, mean of Spark, increase", func(x *sim.Result) float64 { return meanReservation(x, exp.Of(heddle.Spark)) }),
			},
			Arms: []exp.Arm{
				arm("mean progress", "ikayak", stays, "estimate.remaining=progress"),
				arm("no estimate", "yarn-cluster", stays, atOnce),
				instead(arm("drawn from the nodes whose reduces must end", "ikayak"), anyReduces),
				instead(arm("any node", "ikayak"), anyNode),
				arm("takes what is free first", "ikayak"),
				arm("takes what is free first, error 35 %", "ikayak", "estimate.remaining={ikayak.fuzzy: {error: 0.35}}"),
			},
		}},
	}
}

// crowded lets reduces hold most of the cluster when Spark arrives.
func crowded(seed uint64) (string, error) {
	rng := rand.New(rand.NewPCG(seed, 0xc40d))
	var b strings.Builder
	b.WriteString("name: ikayak-error\n" + testbed + "workload:\n  jobs:\n")
	m := msd
	for i, p := range mapPrograms {
		m.mapReduce(&b, p+"-1", p, float64(i), besideGB)
	}
	for i := range 12 {
		p := sparkPrograms[i%len(sparkPrograms)]
		m.application(&b, fmt.Sprintf("%s-%d", p, i+1), p, 600+1800*rng.Float64())
	}
	return b.String(), nil
}

// delay compares delay scheduling for either framework.
func delay() exp.Experiment {
	m := msd
	m.dynamic = true // only then does Spark ask for executors where its data is
	arm := func(spark, maps string) exp.Arm {
		place := map[string]string{"N": "any", "D": "{delay: {node_wait: 15, rack_wait: 15}}"}
		return exp.Arm{
			Name: spark + "-" + maps, Profile: "yarn-cluster", Hadoop: hadoop,
			Set: []string{"place.executor=" + place[spark], "place.map=" + place[maps]},
		}
	}
	more := func(arm string, rate func(*sim.Result) float64) func(exp.Runs) float64 {
		return exp.Increased("N-N", arm, rate)
	}
	return exp.Experiment{
		System: "ikayak", Name: "ikayak-delay", Title: "Delay scheduling for Spark, for MapReduce, and for both", Source: "Fig. 13b",
		Method: mixMethod + `* N and D mean without and with delay scheduling of 15 s; Spark's letter comes first. Spark asks for executors near its data only with dynamic allocation, which is on here. Its local
  rate is the share of executors on a node for which they were requested. "12 to 15 %" are relative to the rate.
* Every arm is YARN-cluster without iKayak's mechanisms, so the figures do not count.
* Without delay scheduling nine of ten maps are already local, because three replicas on fifteen nodes leave few nodes without data for a job of some size. Nor does delay scheduling for both undo itself, as the paper
  states without a reason: a framework that waits for its data finds it, whatever the other does (arm D-D compared with N-D).
`,
		Work: m.work,
		Arms: []exp.Arm{arm("N", "N"), arm("N", "D"), arm("D", "N"), arm("D", "D")},
		Metrics: []exp.Metric{
			{Name: "local maps, MapReduce delaying, increase", Unit: "%", Kind: exp.SetUp, Published: 12, Of: more("N-D", exp.LocalRate)},
			{Name: "local executors, Spark delaying, increase", Unit: "%", Kind: exp.SetUp, Published: 12, Of: more("D-N", localExecutors)},
			{Name: "local maps, both delaying, increase", Unit: "%", Kind: exp.SetUp, Text: "both: like neither, within 5 %", Of: more("D-D", exp.LocalRate)},
		},
	}
}
