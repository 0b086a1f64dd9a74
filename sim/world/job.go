package world

import (
	"math"

	"heddle"
	"heddle/workload"
)

// The names of the random streams. Everything random draws from its own stream, so that one effect does not shift
// another's numbers.
const (
	streamLaunch uint64 = 0x6c61756e6368 + iota<<56
	streamNodes
	streamNoise
	streamSkew
	streamPlace
)

const mib = 1 << 20

// A job is what an application needs, and where its data are.
type job struct {
	id   JobID
	def  *workload.Job
	prog Program

	scale float64   // output per byte of input, if the workload states none
	parts []float64 // bytes each reduce copies

	where    []int32 // node of each map's output, -1 = not there
	mapsLeft int
	total    float64 // bytes of the output of all maps
	ready    float64 // bytes of it that exist
	released float64 // fraction of it that reduces may fetch: follows ready in batches
	waiting  []int32 // reduces that have fetched everything released

	pool *pool

	// For Spark.
	cached  map[partition]heddle.ContainerID // which executor holds a partition in memory
	sources []int32                          // by stage: the stage whose output it finds cached; noStage = none
}

// AddJob adds a job, which must not change until EndJob. What is drawn for a job depends on its place in the order of
// AddJob, so that runs are comparable if they all add their jobs in the same order.
func (w *World) AddJob(def *workload.Job) JobID {
	j := &job{id: JobID(len(w.jobs)), def: def, prog: w.p.program(def.Program)}
	w.jobs = append(w.jobs, j)
	if len(def.Reduces) > 0 {
		w.planShuffle(j)
	}
	if def.Spark != nil {
		j.pool = w.newPool()
		j.cached, j.sources = map[partition]heddle.ContainerID{}, sources(def.Spark.Stages)
	}
	return j.id
}

// EndJob forgets a job's data. None of its work may be running.
func (w *World) EndJob(id JobID) {
	j := w.job(id)
	if j == nil {
		return
	}
	if j.pool != nil {
		for k := range j.pool.src {
			w.setPulled(j.pool, int32(k), false)
			w.touch(j.pool.src[k].node)
		}
		w.uncrossPool(j.pool)
		j.pool.demand = 0
	}
	w.jobs[id] = nil
}

func (w *World) job(id JobID) *job {
	if id < 0 || int(id) >= len(w.jobs) {
		return nil
	}
	return w.jobs[id]
}

// planShuffle computes how much output each map leaves and how much each reduce fetches.
func (w *World) planShuffle(j *job) {
	d := j.def
	var in, fetched int64
	for i := range d.Maps {
		j.total += float64(d.Maps[i].Output)
		if !d.Maps[i].NoOutput {
			in += d.Maps[i].Input
		}
	}
	for i := range d.Reduces {
		fetched += d.Reduces[i].Input
	}
	switch {
	case j.total > 0:
	case fetched > 0 && in > 0:
		j.scale = float64(fetched) / float64(in)
	case fetched == 0:
		j.scale = j.prog.Ratio
	}
	if j.scale > 0 {
		j.total = j.scale * float64(in)
	}
	j.where = make([]int32, len(d.Maps))
	for i := range j.where {
		j.where[i] = -1
	}
	j.mapsLeft = len(d.Maps)
	if j.mapsLeft == 0 {
		j.released = 1
	}
	j.pool = w.newPool()
	w.partition(j, float64(fetched))
}

// partition divides the map output among the reduces. Sizes that differ in the workload are real and are kept; equal or
// unknown ones are a trace's rule of thumb and are replaced by Zipf's sizes in a random order.
func (w *World) partition(j *job, fetched float64) {
	d := j.def.Reduces
	j.parts = make([]float64, len(d))
	alike := true
	for i := range d {
		j.parts[i] = float64(d[i].Input)
		alike = alike && max(d[i].Input-d[0].Input, d[0].Input-d[i].Input) <= 1
	}
	if !alike {
		return
	}
	if fetched == 0 {
		fetched = j.total
	}
	sum := 0.0
	for i := range d {
		j.parts[i] = 1
		if w.fx.Skew {
			j.parts[i] = math.Round(1e6 * math.Pow(float64(i+1), -w.p.PartitionZipf))
		}
		sum += j.parts[i]
	}
	for i := range d {
		j.parts[i] *= fetched / sum
	}
	if w.fx.Skew {
		w.pcg.Seed(mix(w.seed^streamSkew), mix(uint64(j.id)))
		w.rng.Shuffle(len(d), func(a, b int) { j.parts[a], j.parts[b] = j.parts[b], j.parts[a] })
	}
}

// out returns the bytes that a map leaves for reduces, or writes if there are none.
func (j *job) out(i int32) float64 {
	t := &j.def.Maps[i]
	if j.scale > 0 && !t.NoOutput {
		return j.scale * float64(t.Input)
	}
	return float64(t.Output)
}

// noise returns a task's processor time as a multiple of the mean. It is the same for all attempts, because the data
// are the same.
func (w *World) noise(j JobID, kind heddle.Kind, stage, index int32) float64 {
	if !w.fx.Noise {
		return 1
	}
	w.pcg.Seed(mix(w.seed^streamNoise^uint64(j)<<20), mix(uint64(kind)<<60|uint64(stage)<<32|uint64(index)))
	return lognormal(w.rng.NormFloat64(), w.p.Noise)
}

// lognormal returns a value with median 1. It is rounded, so that the last bit of a machine's Exp does not matter.
func lognormal(z, sigma float64) float64 { return math.Round(math.Exp(z*sigma)*1e6) / 1e6 }

// mix spreads a number over all bits (the finaliser of SplitMix64).
func mix(x uint64) uint64 {
	x ^= x >> 30
	x *= 0xbf58476d1ce4e5b9
	x ^= x >> 27
	x *= 0x94d049bb133111eb
	return x ^ x>>31
}

// processor returns the core-seconds that a task needs. If the trace states its processor time, that counts. Otherwise
// it is the task's duration less the start of its container (a Spark task has none of its own), with one core busy
// throughout. This makes the task take as long as the trace says on an idle node that has its data. Only a time derived
// from the program is noisy.
func (w *World) processor(j *job, t *workload.Task, kind heddle.Kind, stage, index int32, derived float64) float64 {
	switch {
	case t.CPU > 0:
		return t.CPU.Seconds()
	case t.Duration > 0 && kind == heddle.Executor:
		return t.Duration.Seconds()
	case t.Duration > 0:
		return max(t.Duration-w.p.TaskStart.Alone(), t.Duration/10).Seconds()
	}
	return derived * w.noise(j.id, kind, stage, index)
}

// left records the output of a map. It returns how much there now is to fetch; a second attempt that ends adds nothing.
func (w *World) left(j *job, i int32, node int32) int64 {
	if j.where == nil || j.where[i] >= 0 {
		return 0
	}
	b := j.out(i)
	j.where[i] = node
	j.mapsLeft--
	j.ready += b
	w.leave(j.pool, node, b)
	w.release(j)
	return int64(b)
}

// release lets reduces fetch the output gathered so far, once it is enough or complete.
func (w *World) release(j *job) {
	f := 1.0
	if j.mapsLeft > 0 {
		f = 1 - float64(j.mapsLeft)/float64(len(j.where))
		if j.total > 0 {
			f = min(1, j.ready/j.total)
		}
		if f-j.released < max(w.p.BatchFloor, w.p.BatchOfRest*(1-j.released)) {
			return
		}
	}
	j.released = f
	w.woken = append(w.woken[:0], j.waiting...)
	for _, t := range w.woken {
		w.fetchMore(t)
	}
}

// loseOutput removes the output that a lost node held.
func (w *World) loseOutput(j *job, node int32) {
	if j.pool == nil {
		return
	}
	k, ok := j.pool.at[node]
	if !ok {
		return
	}
	for i, n := range j.where {
		if n == node {
			j.where[i] = -1
			j.mapsLeft++
			j.ready -= j.out(int32(i))
		}
	}
	if j.total > 0 {
		j.released = min(j.released, j.ready/j.total)
	}
	w.leave(j.pool, node, -j.pool.src[k].bytes)
	w.setPulled(j.pool, k, false)
}
