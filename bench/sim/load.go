package main

import (
	"fmt"
	"math/rand/v2"
	"strconv"

	"heddle"
	"heddle/sim/world"
	"heddle/workload"
)

const (
	nodes    = 10_000
	racks    = 250
	perJob   = 1000
	meanTask = 60 // s
)

// container is the size of every task and master.
var container = heddle.Of(1024, 1000)

// A bench is a cluster and its workload.
type bench struct {
	nodes []world.NodeSpec
	jobs  *workload.Workload
}

// newBench makes a load of that many tasks. Durations are exponential, and jobs arrive as a Poisson process.
func newBench(load string, tasks int) (*bench, error) {
	if tasks < perJob || tasks%perJob != 0 {
		return nil, fmt.Errorf("%d tasks; want a multiple of %d", tasks, perJob)
	}
	switch load {
	case "farm":
		// One container per node; tasks keep nine tenths of the nodes busy, and masters a few more.
		return makeBench(container, tasks, perJob*meanTask/(0.9*nodes), 0), nil
	case "day":
		return makeBench(container.Times(8), tasks, 86_400/float64(tasks/perJob), 0.1), nil
	}
	return nil, fmt.Errorf("no load %q; want farm or day", load)
}

// makeBench makes jobs that arrive every gap seconds on average; reduces is the fraction of their tasks that are
// reduces.
func makeBench(node heddle.Resource, tasks int, gap, reduces float64) *bench {
	b := &bench{jobs: &workload.Workload{Name: "bench", Format: "scenario"}}
	for i := range nodes {
		b.nodes = append(b.nodes, world.NodeSpec{Name: "n" + strconv.Itoa(i), Rack: heddle.RackID(i % racks), Total: node})
	}
	r := rand.New(rand.NewPCG(1, 2))
	at := 0.0
	for j := range tasks / perJob {
		job := workload.Job{
			ID: "job" + strconv.Itoa(j), User: "user" + strconv.Itoa(j%20), Framework: heddle.MapReduce,
			Submit: heddle.Time(heddle.Seconds(at)), Master: container, SlowStart: -1,
		}
		job.Reduces = draw(r, int(perJob*reduces))
		job.Maps = draw(r, perJob-len(job.Reduces))
		b.jobs.Jobs = append(b.jobs.Jobs, job)
		at += r.ExpFloat64() * gap
	}
	return b
}

// draw makes n random tasks.
func draw(r *rand.Rand, n int) []workload.Task {
	tasks := make([]workload.Task, n)
	for i := range tasks {
		length := heddle.Seconds(0.001 + r.ExpFloat64()*meanTask)
		tasks[i] = workload.Task{Duration: length, CPU: length, Input: 128 << 20, Output: 32 << 20, Size: container}
	}
	return tasks
}
