package sim

import (
	"heddle"
	"heddle/sim/bound"
	"heddle/sim/world"
	"heddle/workload"
)

// Bounds returns the bounds that no scheduler can beat on this workload and cluster, and the jobs and capacity they
// were computed from. They are the same for every profile. In the given world, countCPU says whether the schedulers
// compared count processors: one that does not can give nodes more work than they have processors for. If one of them
// shrinks tasks (o.Shrinks), only critical paths bound that world, since no task takes longer for having less.
func Bounds(o Options, countCPU bool) (bound.Bounds, []bound.Job, heddle.Resource, error) {
	var jobs []bound.Job
	var total heddle.Resource
	if o.Given {
		for _, n := range o.Nodes {
			total = total.Plus(n.Total)
		}
		if !countCPU {
			total = heddle.Resource{heddle.Memory: total[heddle.Memory]}
		}
		for i := range o.Workload.Jobs {
			n := givenNeed(&o.Workload.Jobs[i], o.LoadSim, countCPU)
			if o.Shrinks { // then a node runs more tasks at once than it has room for
				n.Work = [heddle.NumDims]float64{}
			}
			jobs = append(jobs, n)
		}
	} else {
		w := newWorld(&o, nil)
		total[heddle.CPU] = int64(1000 * w.Capacity())
		for i := range o.Workload.Jobs {
			n := fullNeed(w, &o.Workload.Jobs[i])
			if !o.Effects.Contention { // then a node does any amount of work at once
				n.Work = [heddle.NumDims]float64{}
			}
			jobs = append(jobs, n)
		}
	}
	b, err := bound.Of(jobs, total)
	return b, jobs, total, err
}

// diskDim is the dimension in which [Offered] counts disk transfers, in MB and MB/s.
const diskDim = heddle.Extra2

// Offered returns what the jobs' tasks would take of an idle cluster, to compute its load, and what the cluster has.
// Each task takes its container for the shortest time it can and, in the full world, time of the disks. Masters, and
// executors between tasks, are left out. countCPU says whether the schedulers compared count processors. If not,
// containers take none: in the full world, tasks take what they compute.
func Offered(o Options, countCPU bool) ([]bound.Job, heddle.Resource) {
	var total heddle.Resource
	for _, n := range o.Nodes {
		total = total.Plus(n.Total)
	}
	var w *world.World
	if !o.Given {
		w = newWorld(&o, nil)
		total[diskDim] = int64(w.DiskBps() / 1e6)
		if !countCPU {
			total[heddle.CPU] = int64(1000 * w.Capacity())
		}
	}
	jobs := make([]bound.Job, len(o.Workload.Jobs))
	for i := range jobs {
		j := &o.Workload.Jobs[i]
		if o.Given {
			jobs[i] = givenNeed(j, o.LoadSim, countCPU)
		} else {
			jobs[i] = held(w, j, countCPU)
			if !countCPU && !o.Effects.Contention { // then a node does any amount of work at once
				jobs[i].Work[heddle.CPU] = 0
			}
		}
	}
	return jobs, total
}

// held returns what a job's tasks hold in the full world; without countCPU, what they compute in place of processors.
func held(w *world.World, j *workload.Job, countCPU bool) bound.Job {
	n := bound.Job{Arrival: j.Submit}
	id := w.AddJob(j)
	add := func(t *workload.Task, size heddle.Resource, span heddle.Span) {
		if !t.Size.IsZero() {
			size = t.Size
		}
		for d := range size {
			n.Work[d] += float64(size[d]) * span.Seconds()
		}
	}
	plain := heddle.Of(1024, 1000)
	for i := range j.Maps {
		add(&j.Maps[i], plain, w.ShortestMap(id, int32(i)))
	}
	for i := range j.Reduces {
		add(&j.Reduces[i], plain, w.ShortestReduce(id, int32(i)))
	}
	for i := range j.Other {
		add(&j.Other[i], plain, w.ShortestPlain(id, int32(i)))
	}
	if s := j.Spark; s != nil {
		size := slotSize(s)
		for i := range s.Stages {
			for k := range s.Stages[i].Tasks {
				add(&workload.Task{}, size, w.ShortestSparkTask(id, int32(i), int32(k)))
			}
		}
	}
	n.Work[diskDim] = w.DiskBytes(id) / 1e6
	if !countCPU {
		n.Work[heddle.CPU] = computed(w, id, j)
	}
	w.EndJob(id)
	return n
}

// givenNeed returns what a job needs if every container lasts as long as the trace says.
func givenNeed(j *workload.Job, loadSim, countCPU bool) bound.Job {
	n := bound.Job{Arrival: j.Submit}
	add := func(ts []workload.Task, likeFirst bool) (longest, behind heddle.Span) {
		for i := range ts {
			size, span := ts[i].Size, ts[i].Worked()
			if likeFirst { // masters ask for all maps, and for all reduces, at one size
				size = ts[0].Size
			}
			if size.IsZero() {
				size = heddle.Of(1024, 1000)
			}
			n.Work[heddle.Memory] += float64(size[heddle.Memory]) * span.Seconds()
			if countCPU {
				n.Work[heddle.CPU] += float64(size[heddle.CPU]) * span.Seconds()
			}
			if longest = max(longest, span); ts[i].Waited > 0 {
				behind = max(behind, span)
			}
		}
		return longest, behind
	}
	maps, _ := add(j.Maps, true)
	reduces, behind := add(j.Reduces, true)
	other, _ := add(j.Other, false)
	if loadSim {
		behind = reduces
	}
	n.CriticalPath = max(maps+behind, reduces, other)
	if s := j.Spark; s != nil {
		n.CriticalPath = max(n.CriticalPath, chain(s, func(stage, i int) heddle.Span { return s.Stages[stage].Tasks[i].Duration }))
		n.Work = sparkWork(s, n.Work, countCPU)
	}
	return n
}

// sparkWork adds what an application's tasks occupy of its executors.
func sparkWork(s *workload.SparkJob, w [heddle.NumDims]float64, countCPU bool) [heddle.NumDims]float64 {
	size := slotSize(s)
	for i := range s.Stages {
		for k := range s.Stages[i].Tasks {
			sec := s.Stages[i].Tasks[k].Duration.Seconds()
			if countCPU {
				w[heddle.CPU] += float64(size[heddle.CPU]) * sec
			}
			w[heddle.Memory] += float64(size[heddle.Memory]) * sec
		}
	}
	return w
}

// slotSize returns what a task occupies of its executor: its cores, and its share of the memory among the tasks that
// run there at once.
func slotSize(s *workload.SparkJob) heddle.Resource {
	return heddle.Of(s.ExecutorSize()[heddle.Memory]/int64(s.Slots()), s.CoresOfTask())
}

// chain returns the length of the longest chain of stages, in which each stage takes as long as the driver's pause before
// it and its longest task.
func chain(s *workload.SparkJob, task func(stage, i int) heddle.Span) heddle.Span {
	end := make(map[int]heddle.Span, len(s.Stages))
	var last heddle.Span
	for i := range s.Stages {
		st := &s.Stages[i]
		var from, longest heddle.Span
		for _, p := range st.Parents {
			from = max(from, end[p])
		}
		for k := range st.Tasks {
			longest = max(longest, task(i, k))
		}
		end[st.ID] = from + st.Pause + longest
		last = max(last, end[st.ID])
	}
	return last
}

// fullNeed returns the least a job needs in the full world: processor time and its longest chain, with the shortest
// durations its tasks can have.
func fullNeed(w *world.World, j *workload.Job) bound.Job {
	n := bound.Job{Arrival: j.Submit}
	id := w.AddJob(j)
	var maps, reduces heddle.Span
	for i := range j.Maps {
		maps = max(maps, w.ShortestMap(id, int32(i)))
	}
	for i := range j.Reduces {
		reduces = max(reduces, w.ShortestReduce(id, int32(i)))
	}
	n.CriticalPath = maps + reduces
	for i := range j.Other {
		n.CriticalPath = max(n.CriticalPath, w.ShortestPlain(id, int32(i)))
	}
	if s := j.Spark; s != nil {
		n.CriticalPath = chain(s, func(stage, i int) heddle.Span { return w.ShortestSparkTask(id, int32(stage), int32(i)) })
	}
	n.Work[heddle.CPU] = computed(w, id, j)
	w.EndJob(id)
	return n
}

// computed returns the least processor time of a job's tasks in the full world, in seconds of a thousandth of the fastest
// core.
func computed(w *world.World, id world.JobID, j *workload.Job) float64 {
	work := 0.0
	for i := range j.Maps {
		work += w.WorkMap(id, int32(i))
	}
	for i := range j.Reduces {
		work += w.WorkReduce(id, int32(i))
	}
	for i := range j.Other {
		work += w.WorkPlain(id, int32(i))
	}
	if s := j.Spark; s != nil {
		for i := range s.Stages {
			for k := range s.Stages[i].Tasks {
				work += w.WorkSparkTask(id, int32(i), int32(k))
			}
		}
	}
	return 1000 * work
}

// attach writes the bounds into a result.
func (s *Sim) attach(b *bound.Bounds) {
	r := s.res
	r.MeanJCTBound, r.MakespanBound, r.BoundName = b.MeanJCT, b.Makespan, b.MeanJCTBy
	for i := range r.Jobs {
		r.Jobs[i].Bound = b.Jobs[i]
	}
}
