package sim

import (
	"cmp"
	"slices"

	"heddle"
	"heddle/workload"
)

// Parts determines what the tasks of a workload consist of: how much of its recorded time each would have computed had
// it been alone, and how long it waited. It replays the recorded run with everything that computed at the time: tasks
// and process starts, as Costs say, and loads.
//
// What a task computes is its counter, CPU_MILLISECONDS of MapReduce: the processor time of its processes since the
// task began in them. Before that its process starts, as Costs say. In the rest of the task's time, it either computed
// too, at a slower rate than assumed, or it waited. The tasks of one kind of one job run the same program, so this is
// decided for all of them together. If they could have computed more than waits times as much as their counters say in
// the time they had, they waited. Otherwise they computed all the time, and what they could compute is divided among
// them in proportion to their counters.
//
// A task that states no processor time is assumed to compute for its whole duration: Spark records the processor time
// of the task's thread, but not that of Python's processes, which do the work of a Python program.
//
// For the processes of masters and executors, only the time when they were up is recorded, not their beginning. It is
// found by replaying the run until they are up at that time. All nodes are assumed to run on one machine: histories do
// not tell where a task's other attempts ran.
func Parts(w *workload.Workload, c *Costs, loads []Load) []JobParts {
	p := recorded(w, c)
	for i := range loads {
		l := &loads[i]
		p.work(l.At, workload.NoTime, l.Cost.CPU, l.Cost.width())
	}
	for range passes {
		p.replay(c.Cores)
		if judged, moved := p.judge(&c.TaskEnd), p.settle(); !judged && !moved {
			break
		}
	}
	p.divide()
	return p.jobs
}

// waits is the ratio of what tasks could have computed to what their counters say above which they waited. The ratio is
// about 1 for tasks that compute; for those that sleep, it grows with how long they sleep.
const waits = 2

// passes is the most times the recorded run is replayed.
const passes = 12

const never = heddle.Time(1<<63 - 1)

// A past is a piece of work of the recorded run.
type past struct {
	begin, end heddle.Time
	start      float64     // core-seconds of the process before its task
	own        float64     // core-seconds by the task's counter
	maps       heddle.Time // for a reduce: when its job's last map ended, which it waits for once it has started; else NoTime
	width      float64
	up         heddle.Time // for work in no task's part: when it was done, if that was recorded and not begin; else NoTime
	part       *Part       // nil: in no task's part
	tail       *past       // for a task that waits: the end of its process
	kind       *kind       // for a task

	// What the last pass found.
	second  bool // it is in its second part
	at      heddle.Time
	through heddle.Time
	got     float64 // core-seconds that its part computed
	rest    heddle.Span
}

// A kind is the tasks of one kind in one job.
type kind struct {
	waits      bool
	start, own float64
	got        float64
}

type pasts struct {
	list  []*past
	kinds []*kind
	jobs  []JobParts
}

// work adds work that is in no task's part.
func (p *pasts) work(begin, up heddle.Time, cpu, width float64) {
	p.list = append(p.list, &past{begin: max(begin, 0), end: never, maps: workload.NoTime, start: cpu, width: width, up: up})
}

// process adds a process that was up at a given time.
func (p *pasts) process(c *Cost, up heddle.Time) {
	p.work(up.Plus(-c.alone()), max(up.Plus(-c.Rest), 0), c.CPU, c.width())
	p.work(up, workload.NoTime, c.After, 1)
}

// alone returns how long something takes if it has the machine to itself.
func (c *Cost) alone() heddle.Span {
	return c.Rest + heddle.Span(c.CPU/c.width()*float64(heddle.Second))
}

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
		mapsEnd := heddle.Time(0)
		for k := range j.Maps {
			mapsEnd = max(mapsEnd, j.Times.Maps[k].Plus(j.Maps[k].Duration))
		}
		parts.Maps = p.tasks(j.Maps, j.Times.Maps, &c.Task, workload.NoTime)
		parts.Reduces = p.tasks(j.Reduces, j.Times.Reduces, &c.Task, mapsEnd)
		if j.Spark == nil {
			continue
		}
		for s := range j.Spark.Stages {
			parts.Stages = append(parts.Stages, p.tasks(j.Spark.Stages[s].Tasks, j.Times.Stages[s], &Cost{}, workload.NoTime))
		}
	}
	return p
}

// master adds what a job's master and executors did when they started.
func (p *pasts) master(j *workload.Job, c *Costs) {
	start, _ := c.master(&app{job: j})
	if start != nil && j.Times.Ready >= 0 {
		p.process(start, j.Times.Ready)
	}
	for k, at := range j.Times.Executors {
		if k == 0 && start != nil {
			p.process(start, at.Plus(-c.Executor.alone()))
		}
		p.process(&c.Executor, at)
	}
}

// tasks adds the tasks of one kind of a job, and returns what will be their parts.
func (p *pasts) tasks(list []workload.Task, begins []heddle.Time, c *Cost, maps heddle.Time) []Part {
	parts, of := make([]Part, len(list)), &kind{}
	for k := range list {
		t := &list[k]
		if begins[k] < 0 {
			parts[k].Rest = t.Duration
			continue
		}
		x := &past{
			begin: begins[k], end: begins[k].Plus(t.Duration), start: c.CPU, own: t.CPU.Seconds(), maps: maps, width: c.width(),
			up: workload.NoTime, part: &parts[k], kind: of,
		}
		if maps < 0 { // the process is in its part
			of.start += c.CPU
		}
		of.own += x.own
		p.list = append(p.list, x)
	}
	p.kinds = append(p.kinds, of)
	return parts
}

// judge finds the kinds of tasks that could have computed too much for them not to have waited, and reports whether any
// are new. The ends of their processes come after their waits.
func (p *pasts) judge(end *Cost) (found bool) {
	for _, k := range p.kinds {
		k.got = 0
	}
	for i := range p.list {
		if x := p.list[i]; x.kind != nil {
			x.kind.got += x.got
		}
	}
	for _, k := range p.kinds {
		if !k.waits && k.own > 0 && k.got-k.start > waits*k.own {
			k.waits, found = true, true
			p.part(k, end)
		}
	}
	return found
}

// part separates the ends of processes from what their tasks do at once.
func (p *pasts) part(k *kind, end *Cost) {
	for _, x := range slices.Clone(p.list) {
		if x.kind == k && x.start >= end.CPU && end.CPU > 0 {
			x.start -= end.CPU
			x.tail = &past{begin: x.end.Plus(-end.alone()), end: never, maps: workload.NoTime, start: end.CPU, width: end.width(), up: x.end}
			p.list = append(p.list, x.tail)
		}
	}
}

// settle moves the beginning of each process by as much as it was late, and reports whether any moved.
func (p *pasts) settle() (moved bool) {
	for i := range p.list {
		x := p.list[i]
		if x.up < 0 {
			continue
		}
		begin := min(max(x.begin.Plus(x.up.Since(x.through)), 0), x.up)
		moved = moved || max(begin.Since(x.begin), x.begin.Since(begin)) > 10*heddle.Millisecond
		x.begin = begin
	}
	return moved
}

// divide makes parts from what was found.
func (p *pasts) divide() {
	for i := range p.list {
		x := p.list[i]
		switch {
		case x.part == nil:
		case x.kind.waits || x.kind.own == 0:
			*x.part = Part{CPU: x.got, Rest: x.rest}
			if x.tail != nil {
				x.part.Rest, x.part.End = max(x.rest-x.end.Since(x.tail.begin), 0), x.tail.start
			}
		default:
			share := x.own
			if x.maps < 0 {
				share += x.start
			}
			*x.part = Part{CPU: x.kind.got * share / (x.kind.start + x.kind.own)}
		}
	}
}

// replay replays the recorded run and determines what everything computed.
func (p *pasts) replay(n float64) {
	slices.SortStableFunc(p.list, func(a, b *past) int { return cmp.Compare(a.begin, b.begin) })
	m := machine{cores: n}
	var waiting []int // second parts, and ends, of the work in progress
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
			p.list[t.run].computed(at)
		}
		waiting = p.due(&m, waiting, at)
		for ; begun < len(p.list) && p.list[begun].begin <= at; begun++ {
			x := p.list[begun]
			x.second, x.got, x.rest = false, 0, 0
			m.add(at, x.first(), x.width, task{run: int32(begun)})
			if x.at = x.end; x.end != never {
				waiting = append(waiting, begun)
			}
		}
	}
}

// first returns what a piece of work computes, or what it does before it waits for maps.
func (x *past) first() float64 {
	if x.kind == nil || x.maps >= 0 {
		return x.start
	}
	return x.start + x.task()
}

// task returns what a task computes in its process.
func (x *past) task() float64 {
	if x.kind.waits {
		return x.own
	}
	return 2 * endless
}

// computed handles a piece of work being done by itself.
func (x *past) computed(at heddle.Time) {
	switch {
	case x.kind == nil:
		x.through = at
	case x.maps >= 0 && !x.second:
		x.at = min(max(x.maps, at), x.end)
	case x.second:
		x.got, x.rest = x.own, x.end.Since(at)
	default:
		x.got, x.rest = x.start+x.own, x.end.Since(at)
	}
}

// due continues what waited until now, and ends what had ended by now.
func (p *pasts) due(m *machine, waiting []int, at heddle.Time) []int {
	return slices.DeleteFunc(waiting, func(i int) bool {
		x := p.list[i]
		switch {
		case x.at > at:
			return false
		case x.maps >= 0 && !x.second && x.at < x.end:
			x.second, x.at = true, x.end
			m.add(at, x.task(), 1, task{run: int32(i)})
			return false
		}
		left := m.remove(at, int32(i), 0)
		switch {
		case left == 0 || x.maps >= 0 && !x.second:
		case x.second:
			x.got = max(x.task()-left, 0)
		default:
			x.got = max(x.first()-left, 0)
		}
		return true
	})
}
