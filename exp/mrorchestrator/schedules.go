package mrorchestrator

import (
	"fmt"
	"math"
	"slices"

	"heddle"
	"heddle/exp"
	"heddle/policy"
)

// A divider divides the processors of every node among the tasks that run there. Every few seconds it weights each task
// anew, by something that no mechanism could know, or by chance.
type divider struct {
	every  heddle.Span
	weight func(x *policy.Container) float64 // times the container's size
}

// Every implements [policy.Control].
func (d *divider) Every() heddle.Span { return d.every }

// Run implements [policy.Control].
func (d *divider) Run(v policy.View, p *policy.Plan) {
	for n := range v.NodeIDs() {
		node := v.Node(heddle.NodeID(n))
		if node == nil {
			continue
		}
		node.Each(func(x *policy.Container) bool {
			if x.Kind() == heddle.Map || x.Kind() == heddle.Reduce {
				p.Weigh(x.ID(), int64(max(1, float64(x.Told()[heddle.CPU])*d.weight(x))))
			}
			return true
		})
	}
}

// divided is an arm whose tasks are weighted by a divider, which may draw by the seed.
func divided(a exp.Arm, made func(seed uint64) *divider) exp.Arm {
	a.Prepare = func(seed uint64, set *policy.Set) {
		set.Control = append(set.Control, made(seed))
		set.Feeds = set.Feeds.And(policy.Feeds{Starts: true}) // from the agents that set weights
	}
	return a
}

// byChance is the null arm of an estimator: whatever is controlled, each epoch every task is given half, all or twice
// the weight of its size.
func byChance(seed uint64) *divider {
	r := exp.Chance(seed)
	return &divider{every: 20 * heddle.Second, weight: func(*policy.Container) float64 {
		return math.Exp2(float64(r.IntN(3) - 1))
	}}
}

// nullIs says what null arms do.
const nullIs = "each epoch every running task gets, at random, half, all or twice its part of a busy processor; memory is left alone"

// null returns the arms in which chance replaces an estimator.
func null(arm func(name, control string) exp.Arm, names ...string) []exp.Arm {
	var arms []exp.Arm
	for _, name := range names {
		arms = append(arms, divided(arm(name, ""), byChance))
	}
	return arms
}

// soonest lists the programs in the order in which their jobs end when they run together without control.
var soonest = []string{"grep", "pi", "sort", "other", "wordcount", "kmeans"}

// A clairvoyant is a schedule that knows what no mechanism can.
type clairvoyant struct {
	name   string
	weight func(x *policy.Container) float64
}

// clairvoyants lists the schedules that show what weights can gain. A weight ratio of ten to one from job to job leaves
// hardly anything to the later jobs.
var clairvoyants = []clairvoyant{
	{"soonest job first", func(x *policy.Container) float64 {
		return math.Pow(10, float64(len(soonest)-1-slices.Index(soonest, x.App().Facts().Name)))
	}},
	{"reduces first", func(x *policy.Container) float64 {
		if x.Kind() == heddle.Reduce {
			return 10
		}
		return 1
	}},
}

// knowing returns the arms of clairvoyants on a cluster.
func knowing(arm func(name, control string) exp.Arm) []exp.Arm {
	var arms []exp.Arm
	for _, c := range clairvoyants {
		arms = append(arms, divided(arm(c.name, ""), func(uint64) *divider { return &divider{every: 5 * heddle.Second, weight: c.weight} }))
	}
	return arms
}

// first is an arm that puts the job that ends soonest first.
func first(name string, a exp.Arm) exp.Arm {
	a.Name = name
	return divided(a, func(uint64) *divider { return &divider{every: 5 * heddle.Second, weight: clairvoyants[0].weight} })
}

// names returns the names of arms.
func names(arms []exp.Arm) []string {
	var list []string
	for i := range arms {
		list = append(list, arms[i].Name)
	}
	return list
}

// ideal is an arm in a world that gives every task the most that moving processors and memory between tasks could give:
// its own processor, and a machine with so much memory that as much as all of a real machine's is left for files,
// whatever tasks hold. Heaps stay as they are.
func ideal(a exp.Arm, ram string, w exp.Work) exp.Arm {
	a.Name, a.Work = idealName, with(w, "ram: 4GiB", "ram: "+ram+coreEach)
	return a
}

// Cores of a real machine, and of one with a processor for each of its tasks.
const (
	machineCores = 2
	idealCores   = 16
)

// coreEach is appended to the ram of a machine with that many cores.
var coreEach = fmt.Sprintf(", cores: %d", idealCores)

const idealName = "all memory for files, a processor for each task"

// The memory that a machine needs for that: 3.5 GiB and the most that its tasks hold, with an eighth for the system.
const (
	idealNative  = "7GiB"    // ten heaps of 250 MiB
	idealVirtual = "5648MiB" // a map of 289 MiB and the largest reduce, of 1057
	idealAtop    = "7680MiB" // three containers of 1 GiB
)
