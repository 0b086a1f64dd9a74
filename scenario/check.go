package scenario

import (
	"slices"

	"heddle"
	"heddle/internal/near"
	"heddle/workload"
)

// check finds what is well-formed but makes no sense.
func (s *Scenario) check() error {
	ids := map[string]bool{}
	if s.trace != nil {
		for i := range s.trace.Jobs {
			ids[s.trace.Jobs[i].ID] = true
		}
	}
	total := 0
	for n := range s.jobs {
		r := &s.jobs[n]
		if err := r.check(s); err != nil {
			return err
		}
		if total += r.jobs(); total > workload.MaxJobs {
			return r.errorf("more than %d jobs", workload.MaxJobs)
		}
		for i := range r.jobs() {
			id := r.id(n, i)
			if ids[id] {
				return r.errorf("two jobs have the id %q; ids must differ", id)
			}
			ids[id] = true
		}
	}
	return s.checkFaults(ids)
}

func (r *rawJob) check(s *Scenario) error {
	if !slices.Contains([]string{"", "mapreduce", "spark"}, r.Framework.value) {
		return r.Framework.errorf("%s: no such framework; %s", clip(r.Framework.value), near.Names(r.Framework.value, []string{"mapreduce", "spark"}))
	}
	if p := r.Program.value; p != "" {
		if _, known := workload.Program(p); !known {
			return r.Program.errorf("%s: unknown program; %s", clip(p), near.Names(p, workload.Programs()))
		}
	}
	if r.Count.set && r.Count.value == 0 {
		return r.Count.errorf("0: wanted 1 job or more")
	}
	if err := r.checkArrival(); err != nil {
		return err
	}
	if err := r.checkInput(); err != nil {
		return err
	}
	for _, g := range r.Data.On {
		if !slices.ContainsFunc(s.Cluster, func(c NodeGroup) bool { return c.Name == g.value }) || g.value == "" {
			return g.errorf("%s: no group of nodes has this name", clip(g.value))
		}
	}
	for _, z := range []*rawSize{&r.MapSize, &r.ReduceSize, &r.Master, &r.Spark.Executor} {
		if z.set && (z.Memory.mib == 0 || z.Vcores.value == 0) {
			return z.errorf("a container's size: wanted memory and vcores, both above 0")
		}
	}
	if r.Replicas.set && r.Replicas.value == 0 {
		return r.Replicas.errorf("wanted at least 1 replica of the output")
	}
	if r.SlowStart.value > 1 {
		return r.SlowStart.errorf("%g: wanted a fraction of the maps, 0 to 1", r.SlowStart.value)
	}
	if r.isSpark() {
		return r.checkSpark()
	}
	if r.Spark.set {
		return r.Spark.errorf("spark in a job of another framework: wanted framework: spark with it")
	}
	return nil
}

func (r *rawJob) checkArrival() error {
	a := &r.Arrival
	ways := 0
	for _, set := range []bool{len(a.At) > 0, a.Every.set, a.Poisson.set} {
		if set {
			ways++
		}
	}
	if ways > 1 {
		return a.errorf("arrival: wanted one of at, every, poisson")
	}
	if len(a.At) > 0 && r.Count.set && r.Count.value != len(a.At) {
		return r.Count.errorf("%d: %d times are listed under arrival", r.Count.value, len(a.At))
	}
	if a.Poisson.set && a.Poisson.value == 0 {
		return a.Poisson.errorf("0: wanted the mean time between two jobs")
	}
	last := r.Submit.value
	for _, t := range a.At {
		last = max(last, r.Submit.value+t.value)
	}
	if n := r.jobs(); a.Every.value > (workload.MaxSpan-r.Submit.value)/heddle.Span(max(1, n)) || last > workload.MaxSpan {
		return r.errorf("its last job comes after %g s; wanted at most %g", last.Seconds(), workload.MaxSpan.Seconds())
	}
	return nil
}

func (r *rawJob) checkInput() error {
	if r.Maps.set && r.Input.set && r.Split.set {
		return r.Split.errorf("split, maps and input together: two of them determine the third")
	}
	if r.Split.set && r.Split.bytes == 0 {
		return r.Split.errorf("0: wanted a split of 1 byte or more")
	}
	block := int64(workload.DefaultBlockSize)
	if r.Split.set {
		block = r.Split.bytes
	}
	if !r.Maps.set && r.Input.bytes/block >= workload.MaxTasksPerJob {
		return r.Input.errorf("gives more than %d splits; a larger split gives fewer", workload.MaxTasksPerJob)
	}
	if r.Maps.set && r.Split.set && int64(r.Maps.value) > workload.MaxBytes/block {
		return r.Split.errorf("%d splits are more than %d bytes", r.Maps.value, int64(workload.MaxBytes))
	}
	stages := r.isSpark() && len(r.Spark.Stages) > 0
	switch {
	case stages || r.Maps.value > 0 || !r.Maps.set && r.Input.bytes > 0:
	case r.Input.bytes > 0:
		return r.Maps.errorf("0: wanted 1 map or more, to read the input")
	default:
		return r.errorf("has no task: wanted maps, input, or both")
	}
	return nil
}

func (r *rawJob) checkSpark() error {
	if r.Reduces.set {
		return r.Reduces.errorf("reduces of a Spark job: wanted spark.iterations or spark.stages")
	}
	s := &r.Spark
	if s.Executors.set && s.Executors.value == 0 && !s.Dynamic.set {
		return s.Executors.errorf("0: wanted 1 executor or more, or dynamic allocation")
	}
	if d := &s.Dynamic; d.set {
		if s.Executors.set {
			return s.Executors.errorf("executors with dynamic: wanted dynamic.initial")
		}
		if most := d.Max.or(maxWhole); most == 0 || d.Min.value > most || d.Initial.value > most {
			return d.errorf("dynamic: wanted min and initial up to max, and max above 0")
		}
	}
	executor := workload.SparkJob{Executor: s.Executor.resource()}
	if has := int(executor.ExecutorSize()[heddle.CPU] / heddle.CPU.Unit()); s.TaskCores.set && (s.TaskCores.value == 0 || s.TaskCores.value > has) {
		return s.TaskCores.errorf("%d: wanted 1 to the vcores of an executor, here %d", s.TaskCores.value, has)
	}
	if len(s.Stages) == 0 {
		if s.Iterations.set && (s.Iterations.value == 0 || s.Iterations.value > workload.MaxTasksPerJob/max(1, len(r.splits()))) {
			return s.Iterations.errorf("%d: wanted 1 iteration or more, and at most %d tasks in all", s.Iterations.value, workload.MaxTasksPerJob)
		}
		return nil
	}
	if s.Iterations.set {
		return s.Iterations.errorf("iterations and stages: wanted only one of them")
	}
	return r.checkStages()
}

func (r *rawJob) checkStages() error {
	total, cached := 0, false
	for i := range r.Spark.Stages {
		st := &r.Spark.Stages[i]
		if !slices.Contains([]string{"", "hdfs", "shuffle", "cache"}, st.Reads.value) {
			return st.Reads.errorf("%s: wanted hdfs, shuffle or cache", clip(st.Reads.value))
		}
		if st.Reads.value == "cache" && !cached {
			return st.Reads.errorf("cache: no stage before this one caches")
		}
		cached = cached || st.Caches.value
		for _, p := range st.Parents {
			if p.value >= i {
				return p.errorf("%d: wanted the number of a stage listed before; the first is 0", p.value)
			}
		}
		n := r.stageTasks(st)
		if n == 0 {
			return st.errorf("a stage without tasks: wanted tasks, or input of the job")
		}
		if total += n; total > workload.MaxTasksPerJob {
			return st.errorf("more than %d tasks in one job", workload.MaxTasksPerJob)
		}
	}
	return nil
}
