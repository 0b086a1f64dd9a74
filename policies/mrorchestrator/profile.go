package mrorchestrator

import (
	"math"

	"heddle"
	"heddle/cluster"
	"heddle/estimate"
	"heddle/policy"
)

// The controlled resources, in the order of their dimensions.
var controlled = [...]heddle.Dim{heddle.Memory, heddle.CPU}

// An amount is one number for each controlled resource, by dimension: MiB and thousandths of a processor.
type amount [2]float64

// windows is the number of windows kept of a task's memory.
const windows = 32

// A series is the memory of a task over its last windows.
type series struct {
	n    int32 // windows seen
	time [windows]float32
	use  [windows]int32
}

// add records the use at a run time, in seconds.
func (s *series) add(time float64, use int64) {
	s.time[s.n%windows], s.use[s.n%windows] = float32(time), int32(min(max(use, 0), math.MaxInt32))
	s.n++
}

// back returns the window i before the last; 0 is the last itself.
func (s *series) back(i int) (time, use float64) {
	k := (int(s.n) - 1 - i) % windows
	return float64(s.time[k]), float64(s.use[k])
}

// A task is the profile of one running map or reduce.
type task struct {
	id     heddle.ContainerID
	app    heddle.AppID
	cpu    estimate.Line // use against run time, the whole history
	memory series
	sum    amount // of uses since the last epoch
	n      float64
	last   amount  // use in the last window
	weight float64 // as changed; 0 = the weight of its size
	bound  int64   // its bound in thousandths of a processor; 0 = none
}

// A phase is what all tasks of a job used in one step, including those that have ended.
type phase struct {
	sum amount
	n   float64

	peers        // of the current epoch
	able  amount // the part of its wants that the worst served peer can be given, by resource
}

// steps is one more than the last [heddle.Phase] of a map or reduce.
const steps = heddle.ReduceWrite + 1

// A profiler keeps the profiles of tasks and of phases.
type profiler struct {
	tasks []task // those with id 0 are free places
	free  []int32
	of    map[heddle.ContainerID]int32
	jobs  []*[steps]phase // by AppID; nil = nothing known
}

// profiled reports whether a container reports what it does, and is not suspended.
func profiled(x *policy.Container) bool {
	at, _ := x.Progress()
	return at > heddle.NoPhase && at < steps && !x.Suspended()
}

// note records a measurement of a container.
func (p *profiler) note(x *policy.Container, now heddle.Time, cpu, memory int64) {
	if x.State() != cluster.Running || !profiled(x) {
		return
	}
	at, _ := x.Progress()
	i, ok := p.of[x.ID()]
	if !ok {
		i = p.place()
		p.of[x.ID()] = i
		p.tasks[i] = task{id: x.ID(), app: x.App().ID()}
	}
	t, f, use := &p.tasks[i], p.phase(x.App().ID(), at), amount{float64(memory), float64(cpu)}
	ran := now.Since(x.Started()).Seconds()
	t.cpu.Add(ran, use[heddle.CPU])
	t.memory.add(ran, memory)
	t.n++
	f.n++
	t.last = use
	for d := range use {
		t.sum[d] += use[d]
		f.sum[d] += use[d]
	}
}

// place returns the index for a new task.
func (p *profiler) place() int32 {
	if n := len(p.free); n > 0 {
		i := p.free[n-1]
		p.free = p.free[:n-1]
		return i
	}
	p.tasks = append(p.tasks, task{})
	return int32(len(p.tasks) - 1)
}

// phase returns the profile of one step of a job.
func (p *profiler) phase(a heddle.AppID, at heddle.Phase) *phase {
	for int(a) >= len(p.jobs) {
		p.jobs = append(p.jobs, nil)
	}
	if p.jobs[a] == nil {
		p.jobs[a] = new([steps]phase)
	}
	return &p.jobs[a][at]
}

// forget drops a job.
func (p *profiler) forget(a heddle.AppID) {
	if int(a) < len(p.jobs) {
		p.jobs[a] = nil
	}
}

// drop forgets the task at an index; the next new task takes the index.
func (p *profiler) drop(i int32) {
	delete(p.of, p.tasks[i].id)
	p.tasks[i] = task{}
	p.free = append(p.free, i)
}
