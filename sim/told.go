package sim

import (
	"slices"

	"heddle"
	"heddle/policy"
	"heddle/rm"
)

// How long a master takes to answer, as measured: a list of some 200 tasks took 17 to 220 ms, and every other request
// took 4 ms of processor time.
const (
	listTakes = 100 * heddle.Millisecond
	eachTakes = 4 * heddle.Millisecond
)

// Tasks report to their master every tellEvery from their start on (mapreduce.task.progress-report.interval; if that is
// not set, a hundredth of mapreduce.task.timeout). The first report only says that the task is alive.
const (
	tellEvery = 6 * heddle.Second
	firstTold = 2 * tellEvery
)

// progresses reports whether a container's task reports to a master that is asked for its progress.
func (s *Sim) progresses(c *container) bool {
	f := &s.o.Set.Feeds
	return s.asks && f.Progress > 0 && c.app.job.Framework == heddle.MapReduce && c.kind != heddle.AM && (f.Of == 0 || f.Of.Has(c.kind))
}

// taskReports handles a task reporting to its master. A frozen task does not report.
func (s *Sim) taskReports(c *container) {
	if c == nil || c.over {
		return
	}
	if !c.frozen {
		c.phase, c.part = s.phys.progress(s.now, c)
	}
	s.heap.push(entry{at: s.now.Plus(tellEvery), what: progressed, id: int64(c.id)})
}

// askMaster makes a master answer a question, based on the last reports of its tasks. Nothing is answered for Spark,
// whose executors do not report progress.
func (s *Sim) askMaster(q *rm.AskMaster) {
	a := s.appOf(q.Attempt.App)
	p := &rm.MasterTold{Attempt: q.Attempt}
	var after heddle.Span
	switch c := s.container(a.masterAt); {
	case a.master != nil:
		after = s.answers(a, q, p)
	case c != nil && s.nodes[c.node].dead:
		p.Failed, after = "the master does not answer", q.Within
	default:
		p.Failed = "the master's machine refuses to connect"
	}
	a.said = append(a.said, p)
	s.heap.push(entry{at: s.now.Plus(max(after, eachTakes)), what: told, id: int64(a.id)})
}

// answers assembles a master's answer, and returns how long it takes. As in Hadoop, a list of tasks does not name their
// containers.
func (s *Sim) answers(a *app, q *rm.AskMaster, p *rm.MasterTold) (takes heddle.Span) {
	at := map[rm.Task]int{} // index into p.Tasks
	news := func(of rm.Task) *rm.TaskNews {
		i, ok := at[of]
		if !ok {
			i = len(p.Tasks)
			at[of] = i
			p.Tasks = append(p.Tasks, rm.TaskNews{Task: of})
		}
		return &p.Tasks[i]
	}
	in := map[rm.Task]*container{}
	if q.Tasks || len(q.Containers) > 0 {
		s.tasksOf(a, func(c *container) {
			of := c.task()
			in[of] = c
			if q.Tasks && q.Kinds.Has(c.kind) {
				t := news(of)
				t.Listed, t.State, t.Phase, t.Progress = true, rm.TaskRuns, c.phase, c.part
			}
		})
	}
	if q.Tasks {
		p.Requests++
		takes += listTakes
		for i := range a.succeeded {
			if of := a.succeeded[i].Task; q.Kinds.Has(of.Kind) && in[of] == nil {
				t := news(of)
				t.Listed, t.State, t.Progress = true, rm.TaskSucceeded, 1
			}
		}
	}
	for _, of := range q.Containers {
		if c := in[of]; c != nil {
			t := news(of)
			t.Container, t.NodeHTTP = c.name, s.nodeHTTP(c.node)
		} else if done := a.succeededAs(of); done != nil {
			t := news(of)
			t.Container, t.NodeHTTP = done.Container, done.NodeHTTP
		}
	}
	for _, of := range q.Counters {
		if done := a.succeededAs(of); done != nil {
			t := news(of)
			t.Counted, t.Output, t.Memory = true, done.Output, done.Memory
		}
	}
	others := len(q.Containers) + len(q.Counters)
	if q.Heap {
		p.Heap = s.heapOf(a)
		others += 2 // for available memory, and for threads
	}
	p.Requests += others
	return takes + heddle.Span(others)*eachTakes
}

// What a master's JVM says of itself, in MiB, as measured: what lives in its heap before it has run a task, and what it
// has outside the heap for classes and code.
const (
	idleHeap   = 21
	besideHeap = 69
)

// heapOf returns what a master says of its heap. The live part is as of now, as if everything had just been collected.
func (s *Sim) heapOf(a *app) rm.HeapNews {
	return rm.HeapNews{Live: idleHeap + int64(float64(a.managed)*s.o.Params.MasterPerTask)>>20, Outside: besideHeap}
}

// masterTold handles a master's answer arriving.
func (s *Sim) masterTold(a *app) {
	p := a.said[0]
	a.said = a.said[1:]
	s.say(p)
	if s.tracer != nil && a.master != nil {
		s.tasksOf(a, func(c *container) { s.tracer.reported(s, c) })
	}
}

// tasksOf calls do for every container of a master whose task runs, the oldest first.
func (s *Sim) tasksOf(a *app, do func(*container)) {
	v := s.core().View().App(a.aid)
	if v == nil {
		return
	}
	var ids []heddle.ContainerID
	v.Each(func(x *policy.Container) bool {
		ids = append(ids, x.ID())
		return true
	})
	for _, id := range slices.Backward(ids) {
		c := s.container(id)
		if c != nil && c.exists() && !c.known && c.name.Attempt == a.attempt && c.runsTask() {
			do(c)
		}
	}
}

// runsTask reports whether a container runs a MapReduce task.
func (c *container) runsTask() bool {
	return c.app.job.Framework == heddle.MapReduce && c.index >= 0 && (c.kind == heddle.Map || c.kind == heddle.Reduce)
}

// task returns the task that a MapReduce container runs.
func (c *container) task() rm.Task { return rm.Task{Kind: c.kind, Index: c.index} }

// nodeHTTP returns the address of a node's web pages.
func (s *Sim) nodeHTTP(id heddle.NodeID) string { return s.nodes[id].name.Host + ":0" }

// succeededAs returns a task as it succeeded, or nil if it has not.
func (a *app) succeededAs(of rm.Task) *rm.TaskNews {
	if i, ok := a.succeededAt[of]; ok {
		return &a.succeeded[i]
	}
	return nil
}

// counts records what a successful task used, for questions to its master.
func (s *Sim) counts(a *app, c *container, e *ended) {
	if !s.asks || e.work.Kind != heddle.Map && e.work.Kind != heddle.Reduce {
		return
	}
	_, memory := s.phys.consumed(s.now, c)
	t := rm.TaskNews{
		Task: rm.Task{Kind: e.work.Kind, Index: e.work.Index}, Container: c.name, NodeHTTP: s.nodeHTTP(c.node), Output: e.output, Memory: memory,
	}
	if before := a.succeededAs(t.Task); before != nil { // its output was lost, and it ran again
		*before = t
		return
	}
	if a.succeededAt == nil {
		a.succeededAt = map[rm.Task]int{}
	}
	a.succeededAt[t.Task] = len(a.succeeded)
	a.succeeded = append(a.succeeded, t)
}
