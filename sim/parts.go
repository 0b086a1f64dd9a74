package sim

import (
	"cmp"
	"slices"

	"heddle"
	"heddle/workload"
)

// A past is a piece of work of the recorded run.
type past struct {
	begin, end heddle.Time
	after      heddle.Time // it goes on then at the earliest, with cpu2; NoTime: it has one part
	cpu, cpu2  float64
	width      float64
	part       *Part // nil: nobody asks
	second     bool  // it is in its second part
	at         heddle.Time
}

// Parts works out what the tasks of a workload consist of: how much of its recorded time each of them computed, had it
// been alone, and how long it waited. It goes through the recorded run once more, with everything that computed at the
// time: tasks and starts of processes as Costs say, and loads. The rest of a task's time is what it waited for. What
// computed less than it is said to by its recorded end computes that much.
//
// All nodes are taken to stand on one machine: histories do not tell where a task's other attempts ran.
func Parts(w *workload.Workload, c *Costs, loads []Load) []JobParts {
	all := recorded(w, c)
	out := all.jobs
	for i := range loads {
		l := &loads[i]
		all.add(past{begin: l.At, end: never, after: workload.NoTime, cpu: l.Cost.CPU, width: l.Cost.width()})
	}
	all.replay(c.Cores)
	return out
}

// worksOnData is from how many bytes on a task counts as working on data. What its counters say it computed leaves out
// what others computed for it (the file system's servers, the kernel, the node's shuffle service), which share the
// cores: it is taken to need the machine as long as it lasts.
const worksOnData = 64 << 10

const never = heddle.Time(1<<63 - 1)

type pasts struct {
	list []past
	jobs []JobParts
}

func (p *pasts) add(x past) { p.list = append(p.list, x) }

// recorded lists what went on in the recorded run.
func recorded(w *workload.Workload, c *Costs) *pasts {
	p := &pasts{jobs: make([]JobParts, len(w.Jobs))}
	for i := range w.Jobs {
		j := &w.Jobs[i]
		if j.Times == nil {
			continue
		}
		parts := &p.jobs[i]
		p.master(j, c)
		parts.Maps, parts.Reduces = make([]Part, len(j.Maps)), make([]Part, len(j.Reduces))
		mapsEnd := heddle.Time(0)
		for k := range j.Maps {
			p.task(j.Times.Maps[k], &j.Maps[k], c.Task.CPU, &parts.Maps[k], &c.Task)
			mapsEnd = max(mapsEnd, j.Times.Maps[k].Plus(j.Maps[k].Duration))
		}
		for k := range j.Reduces {
			n := len(p.list)
			p.task(j.Times.Reduces[k], &j.Reduces[k], 0, &parts.Reduces[k], &c.Task)
			if len(p.list) > n {
				x := &p.list[n]
				x.cpu, x.cpu2, x.after = c.Task.CPU, x.cpu, mapsEnd
			}
		}
		if j.Spark == nil {
			continue
		}
		parts.Stages = make([][]Part, len(j.Spark.Stages))
		for s := range j.Spark.Stages {
			tasks := j.Spark.Stages[s].Tasks
			parts.Stages[s] = make([]Part, len(tasks))
			for k := range tasks {
				p.task(j.Times.Stages[s][k], &tasks[k], 0, &parts.Stages[s][k], &Cost{})
			}
		}
	}
	return p
}

// master adds what a job's master and executors did as they started and left.
func (p *pasts) master(j *workload.Job, c *Costs) {
	start, _ := c.master(&app{job: j})
	if start != nil && j.Times.Ready >= 0 {
		begin := j.Times.Ready.Plus(-start.alone())
		p.add(past{begin: max(begin, 0), end: never, after: workload.NoTime, cpu: start.CPU + start.After, width: start.width()})
	}
	for k, at := range j.Times.Executors {
		if k == 0 && start != nil {
			begin := at.Plus(-start.alone() - c.Executor.alone())
			p.add(past{begin: max(begin, 0), end: never, after: workload.NoTime, cpu: start.CPU + start.After, width: start.width()})
		}
		p.add(past{begin: max(at.Plus(-c.Executor.alone()), 0), end: never, after: workload.NoTime, cpu: c.Executor.CPU, width: c.Executor.width()})
	}
}

// alone is how long something takes that has the machine to itself.
func (c *Cost) alone() heddle.Span {
	return c.Rest + heddle.Span(c.CPU/c.width()*float64(heddle.Second))
}

// task adds a task whose start is recorded.
func (p *pasts) task(begin heddle.Time, t *workload.Task, start float64, part *Part, c *Cost) {
	if begin < 0 {
		part.Rest = t.Duration
		return
	}
	x := past{begin: begin, end: begin.Plus(t.Duration), after: workload.NoTime, cpu: start + t.CPU.Seconds(), width: c.width(), part: part}
	if t.CPU == 0 || t.Input >= worksOnData {
		x.cpu, x.width = 2*endless, 1 // it computes as long as it lasts
	}
	p.add(x)
}

// replay goes through the recorded run and finds out what everything computed.
func (p *pasts) replay(n float64) {
	slices.SortStableFunc(p.list, func(a, b past) int { return cmp.Compare(a.begin, b.begin) })
	m := machine{cores: n}
	var waiting []int // second parts, and ends, of what is under way
	begun := 0
	var done []task
	for {
		at, found := heddle.Time(0), false
		soonest := func(t heddle.Time) {
			if t != never && (!found || t < at) {
				at, found = t, true
			}
		}
		if begun < len(p.list) {
			soonest(p.list[begun].begin)
		}
		if t, ok := m.next(); ok {
			soonest(t)
		}
		for _, i := range waiting {
			soonest(p.list[i].at)
		}
		if !found {
			return
		}
		done = m.through(at, done[:0])
		for _, t := range done {
			p.computed(int(t.run), at)
		}
		waiting = p.due(&m, waiting, at)
		for ; begun < len(p.list) && p.list[begun].begin <= at; begun++ {
			x := &p.list[begun]
			m.add(at, x.cpu, x.width, task{run: int32(begun)})
			if x.at = x.end; x.end != never {
				waiting = append(waiting, begun)
			}
		}
	}
}

// computed is a piece being through by itself.
func (p *pasts) computed(i int, at heddle.Time) {
	x := &p.list[i]
	switch {
	case x.part == nil:
	case x.after >= 0 && !x.second:
		x.at = min(max(x.after, at), x.end)
	case x.second:
		*x.part = Part{CPU: x.cpu2, Rest: x.end.Since(at)}
	default:
		*x.part = Part{CPU: x.cpu, Rest: x.end.Since(at)}
	}
}

// due goes on with what waited until now, and ends what had ended by now.
func (p *pasts) due(m *machine, waiting []int, at heddle.Time) []int {
	return slices.DeleteFunc(waiting, func(i int) bool {
		x := &p.list[i]
		if x.at > at {
			return false
		}
		if x.after >= 0 && !x.second && x.at < x.end {
			x.second, x.at = true, x.end
			m.add(at, x.cpu2, 1, task{run: int32(i)})
			return false
		}
		cpu := x.cpu
		if x.second {
			cpu = x.cpu2
		}
		if x.after >= 0 && !x.second {
			*x.part = Part{}
			m.remove(at, int32(i), 0)
		} else if left := m.remove(at, int32(i), 0); left > 0 {
			*x.part = Part{CPU: max(cpu-left, 0)}
		}
		return true
	})
}
