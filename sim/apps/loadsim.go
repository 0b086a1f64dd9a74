package apps

import (
	"heddle"
	"heddle/workload"
)

// A loadTask is a container the load simulator's master wants.
type loadTask struct {
	work  Work // Container is unset until it runs; Attempt counts
	group int32
}

// A loadGroup is the tasks asked for under one key of the request table.
type loadGroup struct {
	want  want
	asked fifo[int32] // tasks asked for and not yet assigned, oldest first
}

type loadSim struct {
	c      Config
	table  table
	tasks  []loadTask
	groups []loadGroup

	pending, reduces []int32 // tasks to ask for at the next heartbeat, and when the maps are done
	assigned         map[heddle.ContainerID]int32
	mapsLeft, left   int
	before           Response // the answer to the last call, acted on at the next
	answered         bool
	release          []heddle.ContainerID
}

// NewLoadSimulator returns a master that behaves like the one of Hadoop's Scheduler Load Simulator (MRAMSimulator), the
// master of applications whose containers last a given time. Its heartbeats are at whole intervals after the
// application was submitted, starting after it has registered. The first asks for every map and every container of no
// kind; reduces follow when every map has ended. It acts on the answer to an allocate call only at the next heartbeat:
// it launches a container, or notices an end, one interval after the ResourceManager told it. It hears of ends from the
// ResourceManager alone, and unregisters at the heartbeat at which it notices the last.
//
// As in the original, maps are asked for at priority 20 and reduces at 10, all at the size of the first one, whatever
// size the other tasks state; containers of no kind are asked for at their own priority and size. A container that did
// not end well is asked for again at the next heartbeat, without a limit. Unlike the original, it releases containers
// that no task needs. As in the original, it sends rows when it asks for something and not again when containers
// arrive.
func NewLoadSimulator(job *workload.Job, c Config) Master {
	c = c.filled()
	m := &loadSim{
		c: c, assigned: map[heddle.ContainerID]int32{},
		mapsLeft: len(job.Maps), left: len(job.Maps) + len(job.Reduces) + len(job.Other),
	}
	m.tasks = make([]loadTask, 0, m.left)
	base := want{priority: priorityMap, kind: heddle.Map, size: firstSize(job.Maps, c.MapSize)}
	for i := range job.Maps {
		m.pending = append(m.pending, m.addTask(base, int32(i)))
	}
	for i := range job.Other {
		t := &job.Other[i]
		w := want{priority: t.Priority, kind: heddle.Other, size: t.Size}
		if w.priority == 0 {
			w.priority = priorityMap
		}
		if w.size.IsZero() {
			w.size = c.MapSize
		}
		m.pending = append(m.pending, m.addTask(w, int32(i)))
	}
	base = want{priority: priorityReduce, kind: heddle.Reduce, size: firstSize(job.Reduces, c.ReduceSize)}
	for i := range job.Reduces {
		m.reduces = append(m.reduces, m.addTask(base, int32(i)))
	}
	return m
}

// addTask adds a task to the group of its key. Different sizes at one priority get separate allocation ids.
func (m *loadSim) addTask(w want, index int32) int32 {
	g := len(m.groups)
	for i := range m.groups {
		o := m.groups[i].want
		if o.priority != w.priority {
			continue
		}
		if o.kind == w.kind && o.size == w.size {
			g = i
			break
		}
		w.alloc = max(w.alloc, o.alloc+1)
	}
	if g == len(m.groups) {
		m.groups = append(m.groups, loadGroup{want: w})
	}
	m.tasks = append(m.tasks, loadTask{Work{Kind: w.kind, Index: index}, int32(g)})
	return int32(len(m.tasks) - 1)
}

func (m *loadSim) Start(now heddle.Time, out *Actions) {
	registered := now.Plus(m.c.StartUp)
	interval := m.c.HeartbeatInterval
	beats := max(0, registered.Since(m.c.Submitted)) / interval
	out.Beat = m.c.Submitted.Plus((beats + 1) * interval)
}

func (m *loadSim) Call(now heddle.Time, out *Actions) {
	m.completed()
	if m.answered && m.left == 0 {
		out.Finish = FinishedWell
		return
	}
	m.granted(out)
	m.table.clean() // counting down the rows it sent is the ResourceManager's task
	m.ask()
	out.Rows = m.table.flush(out.Rows)
	out.Release = append(out.Release, m.release...)
	m.release = m.release[:0]
	out.Beat = now.Plus(m.c.HeartbeatInterval)
}

func (m *loadSim) Answer(_ heddle.Time, in *Response, _ *Actions) {
	m.before.Granted = append(m.before.Granted[:0], in.Granted...)
	m.before.Completed = append(m.before.Completed[:0], in.Completed...)
	m.answered = true
}

// Idle implements [Idler]: the last answer was empty, and nothing is due to be asked for.
func (m *loadSim) Idle() bool {
	return m.answered && m.left > 0 && len(m.before.Granted)+len(m.before.Completed) == 0 &&
		len(m.pending)+len(m.release) == 0 && (m.mapsLeft > 0 || len(m.reduces) == 0)
}

// Up does nothing.
func (m *loadSim) Up(heddle.Time, heddle.ContainerID, *Actions) {}

// WorkDone does nothing: this master communicates with its tasks only through the ResourceManager.
func (m *loadSim) WorkDone(heddle.Time, Work, bool, *Actions) {}

// Alarm is never requested.
func (m *loadSim) Alarm(heddle.Time, *Actions) {}

func (m *loadSim) completed() {
	for _, c := range m.before.Completed {
		i, ok := m.assigned[c.Container]
		if !ok {
			continue
		}
		delete(m.assigned, c.Container)
		if c.Status != heddle.Success {
			m.tasks[i].work.Attempt++
			m.pending = append(m.pending, i)
			continue
		}
		m.left--
		if m.tasks[i].work.Kind == heddle.Map {
			m.mapsLeft--
		}
	}
}

// granted launches, in each container, the oldest task asked for under the container's key.
func (m *loadSim) granted(out *Actions) {
	for i := range m.before.Granted {
		c := &m.before.Granted[i]
		g := m.group(c)
		if g == nil || g.asked.len() == 0 {
			m.release = append(m.release, c.Container)
			continue
		}
		task := g.asked.pop()
		t := &m.tasks[task]
		m.table.add(&m.c, g.want, m.c.hosts(Work{Kind: t.work.Kind, Index: t.work.Index}), -1)
		m.assigned[c.Container] = task
		work := t.work
		work.Container = c.Container
		out.Launch = append(out.Launch, c.Container)
		out.Work = append(out.Work, work)
	}
}

func (m *loadSim) group(c *Grant) *loadGroup {
	for i := range m.groups {
		if w := &m.groups[i].want; w.priority == c.Priority && w.alloc == c.AllocID {
			return &m.groups[i]
		}
	}
	return nil
}

// ask adds what is due to the request table.
func (m *loadSim) ask() {
	if m.mapsLeft == 0 {
		m.pending = append(m.pending, m.reduces...)
		m.reduces = nil
	}
	for _, i := range m.pending {
		t := &m.tasks[i]
		g := &m.groups[t.group]
		g.asked.push(i)
		m.table.add(&m.c, g.want, m.c.hosts(Work{Kind: t.work.Kind, Index: t.work.Index}), 1)
	}
	m.pending = m.pending[:0]
}
