// Package coupling has the experiments of Coupling Task Progress for MapReduce Resource-Aware Scheduling (INFOCOM
// 2013).
//
// reduces.go has two Greps, ten Greps and single jobs; maps.go has one WordCount, jobs without reduces and their
// locality; sequence.go has the 22 jobs of Table IV, and large.go 200 jobs on 62 nodes. work.go has the paper's tables
// of jobs, measure.go what is measured of runs, and mutations.go mechanisms with mistakes in them. They run with
//
//	heddle exp run coupling
//	go test ./exp/coupling
package coupling

import (
	"fmt"

	"heddle"
	"heddle/exp"
	"heddle/sim"
)

// System is the Coupling Scheduler.
var System = exp.System{
	Name:  "coupling",
	Title: "Coupling Scheduler",
	What: "The Coupling Scheduler starts a job's reduces as its maps progress, not all as soon as possible, so that reduces do not hold slots while they wait, and " +
		"decides with a weighted random draw whether a map far from its data is worth starting. The paper's third mechanism, which places reduces by the location of " +
		"map output, is off by default, because on few nodes jobs take about as long with it, and on many nodes much longer (ablations); the experiment on single jobs uses it.",
	Paper:       "J. Tan, X. Meng and L. Zhang, *Coupling Task Progress for MapReduce Resource-Aware Scheduling*.",
	Headline:    "coupling-22-jobs",
	SetUp:       decisions,
	Experiments: experiments,
}

// decisions is the set-up of all experiments.
var decisions = []exp.Decision{
	{
		What: "nodes", Chosen: "7, 15 and 62 nodes with four cores, one disk and 1 Gb/s; four slots for maps, two for reduces; memory such that only slots are scarce",
		By: "Section III: sets A, B and C, four cores, six GB for six slots",
	},
	{
		What: "speed of a core", Chosen: "0.12 of the reference core",
		By: "a WordCount map takes 48.5 s under Fair (Fig. 10, µ = 1/48.5)",
	},
	{
		What: "set of the 22 jobs", Chosen: "B: fifteen nodes, 30 slots for reduces",
		By: "job 21, RandomWriter, has 150 maps, and Hadoop's example starts ten for each node (its default); Table II's has 70, on the seven nodes of A. " +
			"Jobs 1 and 2 with 15 reduces each “are about to take all reduce slots” (Section I-C)",
	},
	{
		What: "seconds of a Grep's map, by what it reads", Chosen: "Wikipedia 42, random numbers 100",
		By: "the starvation under Fair in Table IV: of pairs of 38 to 48 and 95 to 115 s these are among the nearest. Over seeds 1001 to 1100 they come within " +
			"0.86 minutes of it (root mean square over the jobs, means of the seeds) and the nearest, 42 and 105, within 0.76; over twenty of those seeds at a time, with which " +
			"they were chosen, within 0.76 to 1.03. Figures that were not used but are met: the first reduces of Fig. 1 start at 0.9 minutes; job 3 takes 0.8 to 12.1 " +
			"minutes under Fair, ours 1.4 to 7.3 in six runs. Missed: Fig. 5 ends after 78 minutes, ours after 100",
	},
	{
		What: "rate of a disk", Chosen: "35 MB/s",
		By: "Sort2 alone takes 16.15 to 23.5 minutes under Fair (Section III-A). With the manufacturer's 60 MB/s for such a disk it takes 11",
	},
	{
		What: "parts of Sorts", Chosen: "even, apart from the random draw of records",
		By: "RandomWriter's keys are random bytes; sizes of keys and values are its defaults",
	},
	{
		What: "wait of delay scheduling", Chosen: "15 s, then any node",
		By: "Eq. 2 uses T = 15 s until a map starts without local data, and T1 = T2; with another 15 s for the rack, running maps do not jump to 60 as they do under Fair in Fig. 10 and 13",
	},
	{
		What: "racks", Chosen: "the nodes that hold data are one rack, the eight nodes that B adds are another; C has racks of eight",
		By: "assumed. The paper's network is a tree, and α has a value for nodes without data in their rack; no figure for Fair shows where racks " +
			"end (one rack meets Table IV as well). For one rack see the sweeps beta and racks",
	},
	{
		What: "jobs of Fig. 1", Chosen: "427 maps on Wikipedia, 15 reduces; 8 maps on random numbers, 3 reduces",
		By: "job 1 holds all 14 slots and releases them at 11.3 minutes; the maps of job 2 end 168 s after its submission, and of the paper's inputs eight maps come nearest to that; reduces as for such jobs in Table IV",
	},
	{
		What: "size of the 200 jobs", Chosen: "1.4 times Table IV's",
		By: "the longest takes up to 35 minutes under Fair (Fig. 16); 36 here, the median of seeds 1001 to 1012",
	},
	{
		What: "heartbeat", Chosen: "3 s; one heartbeat may fill all free slots",
		By: "Hadoop 0.20: MRConstants.HEARTBEAT_INTERVAL_MIN; its fair scheduler assigns several tasks at once",
	},
	{
		What: "map output", Chosen: "as a part of the input: Grep 0.016 on Wikipedia, 0.04 on random numbers; WordCount 0.016, on random numbers 1.5; Sort all of it",
		By: "derived: distinct words of a split; distinct runs of digits of geometric length; every number is a word of its own",
	},
}

// method describes how all of Coupling's experiments were read.
const method = `
* Masters run as in YARN and take no slot. Input and output have one replica, like the paper's files.
* Baseline: Hadoop's fair scheduler over slots, reduces after 5 % of the maps, delay scheduling.
* Map output of Grep on random numbers: [1-5]* matches runs of digits whose length is geometric with 1/2. Of the 17 million
  in a split about a quarter of a million are distinct, at twelve bytes each.
* RandomWriter writes 1 GiB per map, its default.
`

const (
	fair     = "Fair"
	coupling = "Coupling"
)

// arm is an arm on a profile with changes.
func arm(name, profile string, set ...string) exp.Arm {
	switch profile {
	case "slots":
		set = append([]string{sharing, delay}, set...)
	case "coupling":
		set = append([]string{lagging}, set...)
	}
	return exp.Arm{Name: name, Profile: profile, Set: set, Change: even, Hadoop: reporting(heartbeat)}
}

// both returns the paper's two arms.
func both() []exp.Arm { return []exp.Arm{arm(fair, "slots"), arm(coupling, "coupling")} }

// The changes that add one mechanism to the baseline, or put the baseline's in its place.
const (
	lanes       = "lanes=[{kinds: [am, executor, other], order: fifo}, {kinds: [map], order: {slots: {kind: map}}, per_node: %d}, {kinds: [reduce], order: %s, per_node: 2}]"
	slowStart   = "gate.reduce={slowstart: {completed: 0.05}}"
	mismatch    = "gate.reduce=coupling.mismatch"
	wait        = "place.reduce=coupling.wait"
	each        = "place.reduce={coupling.wait: {each: true}}"
	delay       = "place.map={delay: {node_wait: 15, rack_wait: 0}}"
	patient     = "place.map={delay: {node_wait: 1e6, rack_wait: 0}}"
	anywhere    = "place.map=any"
	peek        = "place.map=coupling.peek"
	peekOptions = "place.map={coupling.peek: {%s}}"
)

func order(name string) string { return fmt.Sprintf(lanes, slots, name) }

// Slots with the fair order of reduces, and with that of Alg. 1.
var sharing, lagging = order("{slots: {kind: reduce}}"), order("coupling.mismatch")

// The null arm of experiments with reduces.
const nothingIs = "reduces start as under Fair, and maps start on any node with a free slot"

// nothing returns that arm.
func nothing() []exp.Arm { return []exp.Arm{arm(coupling, "coupling", sharing, slowStart, anywhere)} }

// ablation has each mechanism alone, and each left out.
func ablation(columns ...exp.Column) exp.Sweep {
	return exp.Sweep{
		Name: "ablation", Title: "Each mechanism alone, and each left out", Base: fair, Columns: columns, Plot: true,
		Arms: []exp.Arm{
			arm("mismatch and peek", "coupling"),
			arm("mismatch alone", "slots", lagging, mismatch),
			arm("mismatch, maps on any node at once", "coupling", anywhere),
			arm("peek alone", "slots", peek),
			arm("wait alone", "slots", wait),
			arm("mismatch, peek and wait", "coupling", wait),
			arm("the same, a candidate a job", "coupling", each),
		},
	}
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
