package page

import (
	"fmt"
	"slices"

	"heddle/exp"
)

// system is what a page says of a system beside its figures.
type system struct {
	title    string
	what     string // in two sentences
	paper    string
	headline string // the experiment whose first figure stands for the system; empty = its first
}

var systems = map[string]system{
	"dress": {
		title: "DRESS",
		what: "DRESS keeps a share of a congested cluster for jobs that want little, so that they do not wait behind jobs that want much. " +
			"How large the share is follows from estimates of when running jobs will give containers back.",
		paper:    "Y. Mao, V. Green, J. Wang, H. Xiong and Z. Guo, *DRESS: Dynamic RESource-reservation Scheme for Congested Data-intensive Computing Platforms*.",
		headline: "dress-mixed-10",
	},
	"coupling": {
		title: "Coupling Scheduler",
		what: "The Coupling Scheduler starts a job's reduces as its maps progress, not all as soon as it may, so that reduces do not hold slots while they wait. " +
			"It chooses where they go by where map output already lies, and weighs at random whether a map far from its data is worth starting.",
		paper:    "J. Tan, X. Meng and L. Zhang, *Coupling Task Progress for MapReduce Resource-Aware Scheduling*.",
		headline: "coupling-22-jobs",
	},
	"ikayak": {
		title: "iKayak",
		what: "iKayak runs Spark and MapReduce on one cluster: it places executors on nodes whose tasks end soon, predicts how long reduces will still run, and suspends some while maps are short of room. " +
			"Where a map would otherwise go far from its data, it starts it in a smaller container near them.",
		paper:    "D. Cheng, X. Zhou, P. Lama, J. Wu and C. Jiang, *Cross-platform Resource Scheduling for Spark and MapReduce on YARN*.",
		headline: "ikayak-overall",
	},
	"adaptcont": {
		title: "AdaptCont",
		what: "AdaptCont gives each ApplicationMaster a container sized to its job instead of the same for all. " +
			"It works the size out from how many tasks the master will look after, or takes the nearest of a pool of sizes, and does so again when the cluster changes.",
		paper: "B. Memishi, M. S. Pérez and G. Antoniu, *Feedback-Based Resource Allocation in MapReduce-Based Systems*.",
	},
	"mrorchestrator": {
		title: "MROrchestrator",
		what: "MROrchestrator moves processor and memory between running tasks every epoch, from tasks that have more than their peers to tasks that have too little. " +
			"What a task needs it estimates from its job's other tasks or by regression, and it changes a limit only in step with the job's tasks elsewhere.",
		paper:    "B. Sharma, R. Prabhakar, S.-H. Lim, M. T. Kandemir and C. R. Das, *MROrchestrator: A Fine-Grained Resource Orchestration Framework for Hadoop MapReduce*.",
		headline: "mrorchestrator-native-together",
	},
	"heddle": {
		title: "Heddle",
		what: "The `heddle` profile uses the mechanisms of the five systems together. " +
			"It is held against each of them on the work of its own paper, and against the schedulers that ship with Hadoop.",
	},
}

// Headlines returns the table with one line for each system that has a section: its headline figure, the
// published one and ours.
func Headlines(sections []*Section) []byte {
	t := newTable("system", "headline", "published", "ours", "lowest – highest", "reached", "figures reached")
	t.right(2, 3, 4, 6)
	for _, name := range exp.Systems {
		own := slices.DeleteFunc(slices.Clone(sections), func(s *Section) bool { return s.outcome.Experiment.System != name })
		at := max(0, slices.IndexFunc(own, func(s *Section) bool { return s.outcome.Experiment.Name == systems[name].headline }))
		if len(own) == 0 || len(own[at].outcome.Metrics) == 0 {
			continue
		}
		r := own[at].outcome.Metrics[0].Row()
		reached, counted := tally(own)
		t.row(fmt.Sprintf("[%s](docs/experiments/%s.md)", systems[name].title, name), escape(r.Name), escape(r.Published), r.Ours, r.Range, r.Reached,
			fmt.Sprintf("%d of %d", reached, counted))
	}
	return []byte(t.String())
}
