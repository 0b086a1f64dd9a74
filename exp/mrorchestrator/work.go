package mrorchestrator

import (
	"fmt"
	"slices"
	"strings"

	"heddle"
	"heddle/conf"
	. "heddle/exp" //nolint:staticcheck // the frame's names are qualified next
	"heddle/sim"
	"heddle/workload"
)

// orchJob is one job of MROrchestrator's suite.
type orchJob struct {
	id, program string
	input       string // empty = none: so many maps
	maps        int
	reduces     int
}

// orchSuite is the suite of six in the order of the paper's figures. Reduces are nine tenths of the reduce
// slots where the program sets them so (Sort) or nothing is known of it (Twitter), else Hadoop's default, 1.
var orchSuite = []orchJob{
	{id: "Twitter", program: workload.OtherProgram, input: "25GB", reduces: 41},
	{id: "Wcount", program: "wordcount", input: "20GB", reduces: 1},
	{id: "PiEst", program: "pi", maps: 10, reduces: 1},
	{id: "DistGrep", program: "grep", input: "20GB", reduces: 1},
	{id: "Sort", program: "sort", input: "20GB", reduces: 41},
	{id: "Kmeans", program: "kmeans", input: "10GB", reduces: 1},
}

// orchFour is the mix of Fig. 2 and 3: the paper gives the input of Sort and Wcount and calls the others'
// random.
var orchFour = []orchJob{
	{id: "PiEst", program: "pi", maps: 10, reduces: 1},
	{id: "DistGrep", program: "grep", input: "20GB", reduces: 1},
	{id: "Sort", program: "sort", input: "15GB", reduces: 41},
	{id: "Wcount", program: "wordcount", input: "10GB", reduces: 1},
}

// orchIDs lists the jobs of a mix.
func orchIDs(mix []orchJob) []string {
	var ids []string
	for _, j := range mix {
		ids = append(ids, j.id)
	}
	return ids
}

// orchWork writes the scenario of so many workers that are given the jobs of a mix, or those of them that
// are named, all at once.
func orchWork(workers int, mix []orchJob, ids ...string) Work {
	return func(uint64) (string, error) {
		var b strings.Builder
		fmt.Fprintf(&b, `name: mrorchestrator
cluster:
  nodes:
    - {name: workers, count: %d, memory: 3584MiB, vcores: 4, disk_mb_s: 70MB/s, nic_mb_s: 1Gb/s, speed: 0.025}
workload:
  jobs:
`, workers)
		for _, j := range mix {
			if len(ids) > 0 && !slices.Contains(ids, j.id) {
				continue
			}
			input := "input: " + j.input + ", split: 64MiB"
			if j.input == "" {
				input = fmt.Sprintf("maps: %d", j.maps)
			}
			fmt.Fprintf(&b, "    - {id: %s, program: %s, %s, reduces: %d}\n", j.id, j.program, input, j.reduces)
		}
		return b.String(), nil
	}
}

// orchSizes gives every task a container of a size, and every master little memory and no processors.
func orchSizes(task heddle.Resource) func(uint64, *workload.Workload) {
	return func(_ uint64, w *workload.Workload) {
		for i := range w.Jobs {
			j := &w.Jobs[i]
			j.Master = heddle.Of(256, 0)
			for _, tasks := range [][]workload.Task{j.Maps, j.Reduces} {
				for k := range tasks {
					tasks[k].Size = task
				}
			}
		}
	}
}

// The containers of tasks.
var (
	orchHeap  = heddle.Of(250, 1000)  // -Xmx200m, Hadoop 0.20's default
	orchSlice = heddle.Of(832, 1000)  // a fourth of a node, less its part of a master
	orchVM    = heddle.Of(1664, 2000) // half a machine, likewise
	orchGB    = heddle.Of(1024, 1000) // Mesos' and Hadoop 0.23's default
)

// orchShared is a task's container where a node has so many slots of each kind: with more than two the
// processors do not suffice for a core each.
func orchShared(slots int) heddle.Resource {
	size := orchHeap
	size[heddle.CPU] = min(1000, 2000/int64(slots))
	return size
}

// orchHadoop lets containers have any size, sends heartbeats every 5 s and lets the capacity scheduler count
// memory alone; the fair scheduler shares by dominant resources as it is.
func orchHadoop() *conf.Hadoop {
	h := conf.Default()
	h.Site.NodeHeartbeat = 5 * heddle.Second
	least := heddle.Of(1, 0)
	h.Site.Minimum, h.Capacity.Minimum, h.Fair.Minimum, h.Fair.Increment = least, least, least, least
	h.Capacity.MemoryOnly = true
	return h
}

// orchLanes is the change of a profile of slots that gives a node so many for maps and as many for reduces.
func orchLanes(slots int) string {
	return fmt.Sprintf("lanes=[{kinds: [am, executor, other], order: fifo}, "+
		"{kinds: [map], order: {slots: {kind: map}}, per_node: %d}, {kinds: [reduce], order: {slots: {kind: reduce}}, per_node: %d}]", slots, slots)
}

// orchestrate is the change of a profile that adds an estimator with options.
func orchestrate(estimator, options string) string {
	return "control=[{mrorchestrator." + estimator + ": {" + options + "}}]"
}

// orchArm is an arm on slots; an empty control is the baseline.
func orchArm(name string, slots int, task heddle.Resource, control string) Arm {
	return orchOn("slots", name, []string{orchLanes(slots)}, task, control)
}

// orchOn is an arm on a profile.
func orchOn(profile, name string, set []string, task heddle.Resource, control string) Arm {
	if control != "" {
		set = append(slices.Clone(set), control)
	}
	return Arm{Name: name, Profile: profile, Set: set, Hadoop: orchHadoop, Change: orchSizes(task)}
}

// orchModes are the control modes in the paper's words.
var orchModes = [...][2]string{{"CPU+Memory", "both"}, {"CPU", "cpu"}, {"Memory", "memory"}}

// orchReductions are by how many percent each job's time is reduced; what pairs says which run holds a job
// for the baseline and for ours.
func orchReductions(ids []string, base, ours func(id string) *sim.Result) []float64 {
	var out []float64
	for _, id := range ids {
		out = append(out, Reduction(JCT(base(id), id), JCT(ours(id), id)))
	}
	return out
}

// orchTogether are the reductions of jobs that ran together, from one arm to another.
func orchTogether(r Runs, base, ours string, ids []string) []float64 {
	return orchReductions(ids, func(string) *sim.Result { return r.Arm(base) }, func(string) *sim.Result { return r.Arm(ours) })
}

// orchAlone are those of jobs that ran alone, each in arms of its own.
func orchAlone(r Runs, base, ours string, ids []string) []float64 {
	return orchReductions(ids,
		func(id string) *sim.Result { return r.Arm(id + ", " + base) },
		func(id string) *sim.Result { return r.Arm(id + ", " + ours) })
}
