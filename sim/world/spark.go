package world

import (
	"slices"

	"heddle"
	"heddle/workload"
)

// A partition is a piece of the output of a stage that caches.
type partition struct{ stage, index int32 }

// task returns the work that makes a partition.
func (p partition) task() Work {
	return Work{Kind: heddle.Executor, Stage: p.stage, Index: p.index}
}

// cached is a partition in an executor's memory.
type cached struct {
	partition
	bytes float64
}

// startSpark starts a task in its executor. It has one stage: it reads from the file system, from memory or from
// shuffle files, computes, and writes to memory, shuffle files or the file system, all at the same time.
func (w *World) startSpark(i int32) {
	t := &w.tasks[i]
	st, d := t.job.sparkTask(t.work)
	t.step = stepRun
	k := w.newAct(i)
	a := &w.acts[k]
	in := max(0, float64(d.Input))
	a.cpu = w.sparkCPU(t.job, st, d, t.work)
	switch {
	case st.Cached:
		w.readCached(a, t, in)
	case st.Input:
		w.readFrom(a, t, in, t.hosts)
	case in > 0:
		a.pool, a.reads, a.fetch = t.job.pool, in, w.p.Fetchers
		a.legs[0].in = in * (1 - t.job.pool.share(t.node))
		a.cpu += float64(a.legs[0].in * w.p.NetCPU)
	}
	out := max(0, float64(d.Output))
	switch t.job.sink(st) {
	case workload.Shuffle:
		a.legs[0].disk += out
	case workload.Files:
		if out > 0 {
			w.writeOut(a, t, out)
		}
	case workload.Unsaid: // what it caches
	}
	w.executorDemand(t.cont)
	w.begin(k)
}

// sparkCPU returns the processor time of a task whose input is where it should be.
func (w *World) sparkCPU(j *job, st *workload.Stage, d *workload.Task, k Work) float64 {
	per := j.prog.Shuffle
	if st.Cached {
		per = j.prog.Cached
	} else if st.Input {
		per = j.prog.First
	}
	return w.processor(j, d, heddle.Executor, k.Stage, k.Index, j.prog.Fixed+per*max(0, float64(d.Input))/mib)
}

func (j *job) sparkTask(k Work) (*workload.Stage, *workload.Task) {
	st := &j.def.Spark.Stages[k.Stage]
	return st, &st.Tasks[k.Index]
}

// sink returns where a stage's output goes; Unsaid if it goes to the cache.
func (j *job) sink(st *workload.Stage) workload.Sink {
	switch {
	case st.Writes != workload.Unsaid:
		return st.Writes
	case st.Caches:
		return workload.Unsaid
	case j.hasChild(st.ID):
		return workload.Shuffle
	}
	return workload.Files
}

// hasChild reports whether a later stage reads a stage's output.
func (j *job) hasChild(id int) bool {
	for i := range j.def.Spark.Stages {
		if slices.Contains(j.def.Spark.Stages[i].Parents, id) {
			return true
		}
	}
	return false
}

// source returns the partition that a task of a cached stage reads.
func (j *job) source(k Work) (partition, bool) {
	s := j.sources[k.Stage]
	if s == noStage {
		return partition{}, false
	}
	return partition{s, k.Index % int32(len(j.def.Spark.Stages[s].Tasks))}, true
}

// sources returns, for each stage that reads a cache, the stage whose output it reads: its nearest ancestor that caches.
// Of several as near it is that of the first parent. Parents come before their children.
func sources(stages []workload.Stage) []int32 {
	out := make([]int32, len(stages))
	at := make(map[int]int32, len(stages))
	nearest, far := make([]int32, len(stages)), make([]int, len(stages)) // ancestor that caches, and how far up it is
	for i := range stages {
		nearest[i], out[i] = noStage, noStage
		for _, id := range stages[i].Parents {
			p, ok := at[id]
			if !ok {
				continue
			}
			c, d := nearest[p], far[p]+1
			if stages[p].Caches && len(stages[p].Tasks) > 0 {
				c, d = p, 1
			}
			if c != noStage && (nearest[i] == noStage || d < far[i]) {
				nearest[i], far[i] = c, d
			}
		}
		if stages[i].Cached {
			out[i] = nearest[i]
		}
		at[stages[i].ID] = int32(i)
	}
	return out
}

// readCached reads a partition from the executor's own memory, which costs nothing; from another executor's memory,
// over the network; or, if no executor has it, computes it again from the file system and keeps it.
func (w *World) readCached(a *act, t *task, in float64) {
	p, ok := t.job.source(t.work)
	if !ok {
		return
	}
	own := &w.conts[t.cont]
	at, there := t.job.cached[p]
	switch {
	case there && at == own.id:
		own.use(p)
	case there:
		other := &w.conts[w.byID[at]]
		other.use(p)
		if other.node != t.node {
			w.receive(a, other.node, in, 0)
		}
	default:
		st, d := t.job.sparkTask(p.task())
		a.cpu += w.sparkCPU(t.job, st, d, p.task())
		w.readFrom(a, t, max(0, float64(d.Input)), t.hosts)
		w.keep(t, p, w.cacheSize(t.job, st, d))
	}
}

// cacheSize returns the memory that a partition takes.
func (w *World) cacheSize(j *job, st *workload.Stage, d *workload.Task) float64 {
	if d.Output > 0 && j.sink(st) == workload.Unsaid {
		return float64(d.Output)
	}
	return max(0, float64(d.Input)) * j.prog.Grow
}

// sparkDone leaves a task's output where it belongs.
func (w *World) sparkDone(t *task) {
	st, d := t.job.sparkTask(t.work)
	if st.Caches {
		w.keep(t, partition{t.work.Stage, t.work.Index}, w.cacheSize(t.job, st, d))
	}
	if d.Output > 0 && t.job.sink(st) == workload.Shuffle {
		w.leave(t.job.pool, t.node, float64(d.Output))
	}
}

// keep puts a partition into the executor's storage, evicting the least recently used partitions of other stages. If
// these do not make enough room, it is not kept: a partition never replaces another of its own stage, as in Spark's
// MemoryStore.
func (w *World) keep(t *task, p partition, bytes float64) {
	c := &w.conts[t.cont]
	room := w.storage(c) - bytes
	if _, there := t.job.cached[p]; there || c.storedOf(p.stage) > room {
		return
	}
	w.evict(c, room, p.stage)
	c.cache = append(c.cache, cached{p, bytes})
	c.stored += bytes
	t.job.cached[p] = c.id
	w.executorDemand(t.cont)
}

// use makes a partition the most recently used one.
func (c *container) use(p partition) {
	for k, e := range c.cache {
		if e.partition == p {
			copy(c.cache[k:], c.cache[k+1:])
			c.cache[len(c.cache)-1] = e
			return
		}
	}
}

// storedOf returns how many bytes of a stage's partitions an executor holds.
func (c *container) storedOf(stage int32) (bytes float64) {
	for _, e := range c.cache {
		if e.stage == stage {
			bytes += e.bytes
		}
	}
	return bytes
}

// noStage is the stage of no partition.
const noStage = -1

// evict drops partitions until at most room bytes are stored, or all if there is no room. The partitions of stage stays
// are not dropped.
func (w *World) evict(c *container, room float64, stays int32) {
	j := w.job(c.job)
	c.cache = slices.DeleteFunc(c.cache, func(e cached) bool {
		if room > 0 && c.stored <= room || e.stage == stays {
			return false
		}
		c.stored -= e.bytes
		if j != nil {
			delete(j.cached, e.partition)
		}
		return true
	})
}

// Cached returns the executor that has in memory the partition that a task of a cached stage reads; 0 if none has it.
func (w *World) Cached(j JobID, k Work) heddle.ContainerID {
	p, ok := w.reads(j, k)
	if !ok {
		return 0
	}
	return w.jobs[j].cached[p]
}

// Source returns the task whose output a task of a cached stage reads, and whose work it repeats for what is not in
// memory.
func (w *World) Source(j JobID, k Work) (source Work, ok bool) {
	p, ok := w.reads(j, k)
	return p.task(), ok
}

// reads returns the partition that a piece of a job's work reads; ok is false if it reads none or the job is over.
func (w *World) reads(j JobID, k Work) (partition, bool) {
	of := w.job(j)
	if of == nil || k.Kind != heddle.Executor {
		return partition{}, false
	}
	return of.source(k)
}

// storage returns how many bytes an executor can cache: what the job says, in proportion to the executor's limit, or
// Spark's unified memory in the heap that its container leaves.
func (w *World) storage(c *container) float64 {
	told, limit := c.told[heddle.Memory], min(c.told[heddle.Memory], c.limit[heddle.Memory])
	if j := w.job(c.job); j != nil && j.def.Spark != nil && j.def.Spark.Storage > 0 {
		return float64(j.def.Spark.Storage) * float64(limit) / float64(max(told, 1))
	}
	overhead := max(w.p.SparkMinOverhead, int64(float64(limit)*w.p.SparkOverhead/(1+w.p.SparkOverhead)))
	return w.p.SparkFraction * float64(max(0, limit-overhead-w.p.SparkReserved)) * mib
}

// executorDemand sets what an executor would like to hold: what is set aside, what it caches and what its tasks state.
func (w *World) executorDemand(i int32) {
	c := &w.conts[i]
	m := w.p.SparkReserved + int64(c.stored/mib)
	for _, t := range c.tasks {
		if _, d := w.tasks[t].job.sparkTask(w.tasks[t].work); d.Memory > 0 {
			m += d.Memory
		}
	}
	w.setDemand(i, m)
}
