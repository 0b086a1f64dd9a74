package scenario

import (
	"slices"

	"heddle/workload"
)

// Spark's defaults on YARN.
const defaultExecutors = 2

// sparkTasks returns how many tasks a job's stages have.
func (r *rawJob) sparkTasks() int {
	n := 0
	for i := range r.Spark.Stages {
		n += r.stageTasks(&r.Spark.Stages[i])
	}
	if len(r.Spark.Stages) == 0 {
		n = len(r.splits()) * r.Spark.Iterations.or(1)
	}
	return n
}

// stageTasks returns how many tasks a listed stage has: as many as there are splits if the file does not say.
func (r *rawJob) stageTasks(st *rawStage) int {
	if st.Tasks.set {
		return st.Tasks.value
	}
	return len(r.splits())
}

func (b *builder) spark(r *rawJob, blocks func(int64) []int32) *workload.SparkJob {
	s := &workload.SparkJob{
		Executors: r.Spark.Executors.or(defaultExecutors),
		Executor:  r.Spark.Executor.resource(),
		Client:    r.Spark.Client.value,
		Storage:   r.Spark.Storage.bytes,
		TaskCores: r.Spark.TaskCores.or(1),
	}
	if d := &r.Spark.Dynamic; d.set {
		s.Dynamic = &workload.Dynamic{
			Min: d.Min.value, Max: d.Max.or(maxWhole), Initial: max(d.Min.value, d.Initial.value), IdleTimeout: d.Idle.value, Backlog: d.Backlog.value,
		}
		s.Executors = s.Dynamic.Initial
	}
	if len(r.Spark.Stages) > 0 {
		s.Stages = r.listedStages(blocks)
	} else {
		s.Stages = r.iterations(blocks)
	}
	s.GivenSpans = true
	for _, st := range s.Stages {
		s.GivenSpans = s.GivenSpans && !slices.ContainsFunc(st.Tasks, func(t workload.Task) bool { return t.Duration == 0 })
	}
	return s
}

// iterations makes one stage for each pass over the input. The first reads the file system. With cache, it leaves the
// data in memory for the others; without, each of them reads the file system again.
func (r *rawJob) iterations(blocks func(int64) []int32) []workload.Stage {
	splits := r.splits()
	input := sum(splits)
	shuffle, output, inMemory := r.Shuffle.of(input), r.Output.of(input), input
	if r.Spark.InMemory.set {
		inMemory = r.Spark.InMemory.of(input)
	}
	hosts := make([][]int32, len(splits))
	for k, bytes := range splits {
		hosts[k] = blocks(bytes)
	}
	passes := r.Spark.Iterations.or(1)
	out := make([]workload.Stage, passes)
	for p := range out {
		cached := p > 0 && r.Spark.Cache.value
		st := workload.Stage{ID: p, Tasks: make([]workload.Task, len(splits)), Input: !cached, Cached: cached, Caches: p == 0 && r.Spark.Cache.value && passes > 1}
		if p > 0 {
			st.Parents = []int{p - 1}
		}
		written := shuffle
		if p == passes-1 {
			written = output
		}
		for k := range st.Tasks {
			t := workload.Task{Input: splits[k], Hosts: hosts[k], Output: part(written, len(splits), k), Duration: r.Spark.TaskTime.value}
			if cached {
				t.Input, t.Hosts = part(inMemory, len(splits), k), nil
				if r.Spark.CachedTime.set {
					t.Duration = r.Spark.CachedTime.value
				}
			} else if st.Caches { // its output is in memory; its size depends on its program if not stated
				if t.Output = 0; r.Spark.InMemory.set {
					t.Output = part(inMemory, len(splits), k)
				}
			}
			st.Tasks[k] = t
		}
		out[p] = st
	}
	return out
}

// listedStages makes the stages as listed.
func (r *rawJob) listedStages(blocks func(int64) []int32) []workload.Stage {
	splits := r.splits()
	input := sum(splits)
	var out []workload.Stage
	for i := range r.Spark.Stages {
		raw := &r.Spark.Stages[i]
		n := r.stageTasks(raw)
		st := workload.Stage{
			ID: i, Tasks: make([]workload.Task, n), Input: raw.Reads.value == "hdfs", Cached: raw.Reads.value == "cache", Caches: raw.Caches.value,
		}
		for _, p := range raw.Parents {
			st.Parents = append(st.Parents, p.value)
		}
		reads, writes := raw.Input.of(input), raw.Output.of(input)
		for k := range st.Tasks {
			t := workload.Task{Input: part(reads, n, k), Output: part(writes, n, k), Duration: r.Spark.TaskTime.value}
			if st.Input && !raw.Input.set && n == len(splits) {
				t.Input = splits[k]
			} else if st.Input && !raw.Input.set {
				t.Input = part(input, n, k)
			}
			if st.Input {
				t.Hosts = blocks(t.Input)
			}
			if raw.TaskTime.set {
				t.Duration = raw.TaskTime.value
			}
			st.Tasks[k] = t
		}
		out = append(out, st)
	}
	return out
}
