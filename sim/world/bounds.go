package world

import (
	"heddle"
	"heddle/workload"
)

// bounds holds the best value of each resource on any node.
type bounds struct{ speed, disk, nic float64 }

func (b *bounds) add(n *node) {
	b.speed = max(b.speed, n.base)
	b.disk = max(b.disk, n.disk)
	b.nic = max(b.nic, n.nic)
}

// The shortest times below are lower bounds that nothing in the model can beat. A task has one thread: no quota, weight
// or idle core gives it more than one core, and no core is faster than the fastest as drawn (SetSpeed only slows). Each
// byte passes at least one disk at that disk's full rate: reading from another node only adds two networks to it.
// Memory, swapping, contention, launch and suspension only ever add. Noise belongs to the task, not to the attempt, and
// is included. Stages count one after the other, as they run. The copy of a reduce is left out, because it can be over
// as soon as the last map is, and so is memory: whatever a run decides about limits does not change the bound. Times
// are rounded down.

// ShortestMap returns the shortest time that a map can take from Run to its end.
func (w *World) ShortestMap(id JobID, index int32) heddle.Span {
	j := w.job(id)
	if j == nil || !j.has(Work{Kind: heddle.Map, Index: index}) {
		return 0
	}
	n := w.mapNeed(j, index)
	return w.shortest(n.cpu, max(n.in, w.uncached(max(n.out, n.spilled)))) + w.shortest(n.spillCPU, w.uncached(n.spillDisk))
}

// ShortestReduce returns the shortest time that a reduce can take after its job's last map has ended.
func (w *World) ShortestReduce(id JobID, index int32) heddle.Span {
	j := w.job(id)
	if j == nil || !j.has(Work{Kind: heddle.Reduce, Index: index}) {
		return 0
	}
	n := w.reduceNeed(j, index, heddle.Unbounded[heddle.Memory]>>24)
	return w.shortest(n.mergeCPU, 0) + w.shortest(n.cpu, w.uncached(max(n.part, n.result)))
}

// ShortestSparkTask returns the shortest time that a Spark task can take.
func (w *World) ShortestSparkTask(id JobID, stage, index int32) heddle.Span {
	j := w.job(id)
	k := Work{Kind: heddle.Executor, Stage: stage, Index: index}
	if j == nil || !j.has(k) {
		return 0
	}
	st, d := j.sparkTask(k)
	disk := 0.0
	if st.Input && !st.Cached {
		disk = max(0, float64(d.Input))
	}
	return w.shortest(w.sparkCPU(j, st, d, k), disk)
}

// ShortestPlain returns the shortest time that a plain task can take.
func (w *World) ShortestPlain(id JobID, index int32) heddle.Span {
	j := w.job(id)
	if j == nil || !j.has(Work{Kind: heddle.Other, Index: index}) {
		return 0
	}
	return w.shortest(w.plainCPU(j, index), max(0, float64(j.def.Other[index].Input), w.uncached(float64(j.def.Other[index].Output))))
}

// uncached returns how many of the given bytes need a disk while a task runs. With a page cache, what is written may
// wait to be written back and is in memory when it is read again; what a job reads first comes from a disk.
func (w *World) uncached(bytes float64) float64 {
	if w.fx.PageCache {
		return 0
	}
	return bytes
}

// shortest returns the time of a stage that has the best of everything to itself.
func (w *World) shortest(cpu, disk float64) heddle.Span {
	return heddle.Span(1e9 * max(cpu/w.bounds.speed, disk/w.bounds.disk))
}

// The work below is the least processor time that a task uses, in seconds of the fastest core.

// WorkMap returns the processor time of a map.
func (w *World) WorkMap(id JobID, index int32) float64 {
	j := w.job(id)
	if j == nil || !j.has(Work{Kind: heddle.Map, Index: index}) {
		return 0
	}
	n := w.mapNeed(j, index)
	return (n.cpu + n.spillCPU) / w.bounds.speed
}

// WorkReduce returns the processor time of a reduce.
func (w *World) WorkReduce(id JobID, index int32) float64 {
	j := w.job(id)
	if j == nil || !j.has(Work{Kind: heddle.Reduce, Index: index}) {
		return 0
	}
	return w.reduceCPU(j, index, max(0, j.parts[index])) / w.bounds.speed
}

// WorkSparkTask returns the processor time of a Spark task.
func (w *World) WorkSparkTask(id JobID, stage, index int32) float64 {
	j := w.job(id)
	k := Work{Kind: heddle.Executor, Stage: stage, Index: index}
	if j == nil || !j.has(k) {
		return 0
	}
	st, d := j.sparkTask(k)
	return w.sparkCPU(j, st, d, k) / w.bounds.speed
}

// WorkPlain returns the processor time of a plain task.
func (w *World) WorkPlain(id JobID, index int32) float64 {
	j := w.job(id)
	if j == nil || !j.has(Work{Kind: heddle.Other, Index: index}) {
		return 0
	}
	return w.plainCPU(j, index) / w.bounds.speed
}

// Capacity returns the processors of all nodes, live and lost, in fastest cores: the most work that can be done in a
// second.
func (w *World) Capacity() float64 {
	sum := 0.0
	for i := range w.nodes {
		sum += w.nodes[i].cores * w.nodes[i].base
	}
	return sum / w.bounds.speed
}

// DiskBytes returns what a job's tasks move to and from disks when memory is not short: splits, spills, map output read
// by reduces, merges and replicas of what is written. It is the load the job offers the disks, not a bound.
func (w *World) DiskBytes(id JobID) float64 {
	j := w.job(id)
	if j == nil {
		return 0
	}
	sum := 0.0
	for i := range j.def.Maps {
		n := w.mapNeed(j, int32(i))
		sum += n.in + n.spilled + n.spillDisk + w.written(j, n.out)
	}
	for i := range j.def.Reduces {
		told := j.def.Reduces[i].Size[heddle.Memory]
		if told == 0 {
			told = 1024
		}
		n := w.reduceNeed(j, int32(i), told)
		sum += n.part*(1+n.spilled) + n.mergeDisk + w.written(j, n.result)
	}
	for i := range j.def.Other {
		sum += max(0, float64(j.def.Other[i].Input)) + max(0, float64(j.def.Other[i].Output))
	}
	if s := j.def.Spark; s != nil {
		for i := range s.Stages {
			for k := range s.Stages[i].Tasks {
				t := &s.Stages[i].Tasks[k]
				if !s.Stages[i].Cached {
					sum += max(0, float64(t.Input))
				}
				if j.sink(&s.Stages[i]) != workload.Unsaid {
					sum += max(0, float64(t.Output))
				}
			}
		}
	}
	return sum
}

// written returns the disk bytes that writing a file of the given size takes, including its replicas.
func (w *World) written(j *job, bytes float64) float64 {
	if bytes < w.p.FreeOutput {
		return bytes
	}
	return bytes * float64(min(w.replicas(j), len(w.nodes)))
}

// DiskBps returns the total transfer rate of the disks of all nodes, in bytes a second.
func (w *World) DiskBps() float64 {
	sum := 0.0
	for i := range w.nodes {
		sum += w.nodes[i].disk
	}
	return sum
}
