package mrorchestrator

import (
	"fmt"
	"slices"
	"strings"

	"heddle"
	"heddle/conf"
	"heddle/exp"
	"heddle/sim"
	"heddle/workload"
)

// A job is one job of MROrchestrator's suite.
type job struct {
	id, program string
	input       string // empty = none: the number of maps is given
	maps        int
	reduces     int
}

// The native cluster: slots of each kind per node, and all slots of a kind.
const (
	workers  = 23
	perNode  = 5
	allSlots = workers * perNode
)

// most is nine tenths of the reduce slots: what Hadoop's Sort starts.
const most = allSlots * 9 / 10

// suite is the suite of six, in the order of the paper's figures. A job has reduces for nine tenths of the reduce slots
// if the program sets them so (Sort) or nothing is known of it (Twitter), else Hadoop's default, 1.
var suite = []job{
	{id: "Twitter", program: workload.OtherProgram, input: "25GB", reduces: most},
	{id: "Wcount", program: "wordcount", input: "20GB", reduces: 1},
	{id: "PiEst", program: "pi", maps: allSlots, reduces: 1},
	{id: "DistGrep", program: "grep", input: "20GB", reduces: 1},
	{id: "Sort", program: "sort", input: "20GB", reduces: most},
	{id: "Kmeans", program: "kmeans", input: "140GB", reduces: 1}, // 14 passes over 10 GB
}

// four is the mix of Fig. 2 and 3. The paper gives the input of Sort and Wcount and calls the others' random.
var four = []job{
	{id: "PiEst", program: "pi", maps: allSlots, reduces: 1},
	{id: "DistGrep", program: "grep", input: "20GB", reduces: 1},
	{id: "Sort", program: "sort", input: "15GB", reduces: most},
	{id: "Wcount", program: "wordcount", input: "10GB", reduces: 1},
}

// idsOf returns the ids of the jobs of a mix.
func idsOf(mix []job) []string {
	var ids []string
	for _, j := range mix {
		ids = append(ids, j.id)
	}
	return ids
}

// A worker: its machine, how much its disk serves of one stream before it turns to the next, and the speed of a core
// relative to the reference.
const (
	machine = "memory: 3584MiB, ram: 4GiB, vcores: 2, disk_mb_s: 65MB/s, disk_seek: 7.7ms, nic_mb_s: 1Gb/s"
	run     = "64KB"
	speed   = "0.05"
)

// work writes a scenario with the given number of workers. They get the jobs of a mix, or only those named, all at
// once.
func work(nodes int, mix []job, ids ...string) exp.Work {
	return func(uint64) (string, error) {
		var b strings.Builder
		fmt.Fprintf(&b, `name: mrorchestrator
cluster:
  nodes:
    - {name: workers, count: %d, %s, disk_run: %s, speed: %s}
effects: {page_cache: true}
workload:
  jobs:
`, nodes, machine, run, speed)
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

// with is work on other machines: in each pair, the second text replaces the first in the scenario, once.
func with(w exp.Work, pairs ...string) exp.Work {
	return func(seed uint64) (string, error) {
		text, err := w(seed)
		for i := 0; i+1 < len(pairs); i += 2 {
			text = strings.Replace(text, pairs[i], pairs[i+1], 1)
		}
		return text, err
	}
}

// sizes gives every task a container of the given size, and every master little memory and no processors.
func sizes(task heddle.Resource) func(uint64, *workload.Workload) {
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
	heap     = heddle.Of(250, 200)   // -Xmx200m, Hadoop 0.20's default, and a tenth of a node's processors
	vm       = heddle.Of(1664, 1000) // half a machine, less its part of a master
	gigabyte = heddle.Of(1024, 1000) // Mesos' and Hadoop 0.23's default
)

// shared returns a task's container on nodes with the given number of slots of each kind, which share the processors.
func shared(slots int) heddle.Resource {
	size := heap
	size[heddle.CPU] = 1000 / int64(slots)
	return size
}

// hadoop lets containers have any size and sends heartbeats every 5 s. It lets the capacity scheduler count memory
// alone and share fairly among the jobs of a queue; the fair scheduler shares by dominant resources anyway.
func hadoop() *conf.Hadoop {
	h := conf.Default()
	h.Site.NodeHeartbeat = 5 * heddle.Second
	least := heddle.Of(1, 0)
	h.Site.Minimum, h.Capacity.Minimum, h.Fair.Minimum, h.Fair.Increment = least, least, least, least
	h.Capacity.MemoryOnly = true
	for i := range h.Capacity.Queues {
		h.Capacity.Queues[i].Fair = true
	}
	return h
}

// lanes is a change of a slots profile that gives a node the given number of slots for maps, and as many for reduces.
func lanes(slots int) string {
	return fmt.Sprintf("lanes=[{kinds: [am, executor, other], order: fifo}, "+
		"{kinds: [map], order: {slots: {kind: map}}, per_node: %d}, {kinds: [reduce], order: {slots: {kind: reduce}}, per_node: %d}]", slots, slots)
}

// orchestrate is a change of a profile that adds an estimator with options.
func orchestrate(estimator, options string) string {
	return "control=[{mrorchestrator." + estimator + ": {" + options + "}}]"
}

// onSlots is an arm on slots; an empty control is the baseline.
func onSlots(name string, slots int, task heddle.Resource, control string) exp.Arm {
	return onProfile("slots", name, []string{lanes(slots)}, task, control)
}

// onProfile is an arm on a profile.
func onProfile(profile, name string, set []string, task heddle.Resource, control string) exp.Arm {
	if control != "" {
		set = append(slices.Clone(set), control)
	}
	return exp.Arm{Name: name, Profile: profile, Set: set, Hadoop: hadoop, Change: sizes(task)}
}

// modes are the control modes in the paper's words.
var modes = [...][2]string{{"CPU+Memory", "both"}, {"CPU", "cpu"}, {"Memory", "memory"}}

// reductions returns by how many percent each job's time is reduced. base and ours say which run holds a job for the
// baseline and for ours.
func reductions(ids []string, base, ours func(id string) *sim.Result) []float64 {
	var out []float64
	for _, id := range ids {
		out = append(out, exp.Reduction(exp.JCT(base(id), id), exp.JCT(ours(id), id)))
	}
	return out
}

// together returns the reductions of jobs that ran together, from one arm to another.
func together(r exp.Runs, base, ours string, ids []string) []float64 {
	return reductions(ids, func(string) *sim.Result { return r.Arm(base) }, func(string) *sim.Result { return r.Arm(ours) })
}

// alone returns the reductions of jobs that ran alone, each in its own arms.
func alone(r exp.Runs, base, ours string, ids []string) []float64 {
	return reductions(ids,
		func(id string) *sim.Result { return r.Arm(id + ", " + base) },
		func(id string) *sim.Result { return r.Arm(id + ", " + ours) })
}
