package bound

import (
	"math"
	"slices"

	"heddle"
)

// A tiny is a scheduling problem small enough to be solved exactly: jobs of stages of tasks, on nodes.
// Times are whole seconds. A task runs on one node, from its start to its end.
type tiny struct {
	nodes []heddle.Resource
	jobs  []tinyJob
	tasks []tinyTask // of all jobs; identical ones are neighbours
}

type tinyJob struct{ arrival, stages int }

type tinyTask struct {
	job, stage, length int
	size               heddle.Resource
}

// input returns what the bounds are told of t.
func (t *tiny) input() ([]Job, heddle.Resource) {
	var total heddle.Resource
	for _, n := range t.nodes {
		total = total.Plus(n)
	}
	jobs := make([]Job, len(t.jobs))
	for j, job := range t.jobs {
		jobs[j].Arrival = heddle.Time(job.arrival) * heddle.Time(heddle.Second)
		for s := range job.stages {
			jobs[j].CriticalPath += heddle.Span(t.longestTask(j, s)) * heddle.Second
		}
	}
	for _, k := range t.tasks {
		for d := range k.size {
			jobs[k.job].Work[d] += float64(k.size[d]) * float64(k.length)
		}
	}
	return jobs, total
}

func (t *tiny) longestTask(job, stage int) int {
	most := 0
	for _, k := range t.tasks {
		if k.job == job && k.stage == stage {
			most = max(most, k.length)
		}
	}
	return most
}

// A state is a partial schedule at one instant.
type state struct {
	now  int
	free []heddle.Resource
	end  []int // of each task; 0 = not started
	node []int
}

func (t *tiny) start() state {
	return state{now: t.jobs[0].arrival, free: slices.Clone(t.nodes), end: make([]int, len(t.tasks)), node: make([]int, len(t.tasks))}
}

// ready reports whether task i may start now: it has not started, its job has arrived, and the previous stage is over.
func (t *tiny) ready(s *state, i int) bool {
	k := t.tasks[i]
	if s.end[i] > 0 || t.jobs[k.job].arrival > s.now {
		return false
	}
	for o, other := range t.tasks {
		if other.job == k.job && other.stage < k.stage && (s.end[o] == 0 || s.end[o] > s.now) {
			return false
		}
	}
	return true
}

// put starts task i on a node now.
func (t *tiny) put(s *state, i, node int) {
	s.free[node] = s.free[node].Minus(t.tasks[i].size)
	s.end[i], s.node[i] = s.now+t.tasks[i].length, node
}

// take undoes put.
func (t *tiny) take(s *state, i int) {
	s.free[s.node[i]] = s.free[s.node[i]].Plus(t.tasks[i].size)
	s.end[i] = 0
}

// advance moves to the next instant at which anything changes; false if there is none.
func (t *tiny) advance(s *state) bool {
	next := math.MaxInt
	for _, e := range s.end {
		if e > s.now {
			next = min(next, e)
		}
	}
	for _, j := range t.jobs {
		if j.arrival > s.now {
			next = min(next, j.arrival)
		}
	}
	if next == math.MaxInt {
		return false
	}
	for i, e := range s.end {
		if e == next {
			s.free[s.node[i]] = s.free[s.node[i]].Plus(t.tasks[i].size)
		}
	}
	s.now = next
	return true
}

// result returns the end of each job: when all its tasks have ended or, for an unfinished schedule, the earliest time
// it could end.
func (t *tiny) result(s *state) []int {
	ends := make([]int, len(t.jobs))
	for j, job := range t.jobs {
		at := job.arrival
		for stage := range job.stages {
			over := at
			for i, k := range t.tasks {
				switch {
				case k.job != j || k.stage != stage:
				case s.end[i] > 0:
					over = max(over, s.end[i])
				default:
					over = max(over, max(at, s.now)+k.length)
				}
			}
			at = over
		}
		ends[j] = at
	}
	return ends
}

// An objective is what to minimise.
type objective func(t *tiny, ends []int) int

func makespan(t *tiny, ends []int) int { return slices.Max(ends) - t.jobs[0].arrival }

func totalJCT(t *tiny, ends []int) int {
	sum := 0
	for j, e := range ends {
		sum += e - t.jobs[j].arrival
	}
	return sum
}

// list schedules the tasks by a list: at every instant, each task that is ready and fits starts, in the list's order.
func (t *tiny) list(order []int) []int {
	s := t.start()
	for {
		for _, i := range order {
			for n := range t.nodes {
				if t.ready(&s, i) && t.tasks[i].size.Fits(s.free[n]) {
					t.put(&s, i, n)
				}
			}
		}
		if !t.advance(&s) {
			return t.result(&s)
		}
	}
}

// exact returns the smallest value of an objective over all schedules. Both objectives only grow with the ends of jobs,
// so tasks need to start only at arrivals and at ends of tasks.
func (t *tiny) exact(value objective) int {
	order := make([]int, len(t.tasks))
	for i := range order {
		order[i] = i
	}
	e := exact{t: t, value: value, best: value(t, t.list(order)), seen: map[situation]int{}}
	s := t.start()
	e.branch(&s, 0)
	return e.best
}

type exact struct {
	t     *tiny
	value objective
	best  int
	seen  map[situation]int // the lowest cost of the jobs over by then
}

// A situation is everything about a partial schedule that its continuation depends on.
type situation struct {
	now  int
	left [mostTasks]int8 // of each task until its end; −1 = not started
	node [mostTasks]int8 // of running tasks
}

const mostTasks = 12

// branch tries everything that may start now among the tasks from index from on, then everything later. Of nodes that
// are wholly free, the first represents all; two nodes with the same free capacity are not equivalent if what runs on
// them ends at different times.
func (e *exact) branch(s *state, from int) {
	if e.value(e.t, e.t.result(s)) >= e.best {
		return
	}
	for i := from; i < len(e.t.tasks); i++ {
		if i > 0 && e.t.tasks[i] == e.t.tasks[i-1] && s.end[i-1] == 0 || !e.t.ready(s, i) {
			continue // of two identical ones, the first goes first
		}
		for n := range e.t.nodes {
			idle := s.free[n] == e.t.nodes[n]
			if e.t.tasks[i].size.Fits(s.free[n]) && (!idle || slices.Index(s.free, s.free[n]) == n) {
				e.t.put(s, i, n)
				e.branch(s, i+1)
				e.t.take(s, i)
			}
		}
	}
	later := state{now: s.now, free: slices.Clone(s.free), end: slices.Clone(s.end), node: slices.Clone(s.node)}
	if !e.t.advance(&later) {
		if !slices.Contains(s.end, 0) {
			e.best = min(e.best, e.value(e.t, e.t.result(s)))
		}
		return
	}
	k, cost := e.situation(&later)
	if old, ok := e.seen[k]; !ok || cost < old {
		e.seen[k] = cost
		e.branch(&later, 0)
	}
}

func (e *exact) situation(s *state) (k situation, cost int) {
	k.now = s.now
	for i, end := range s.end {
		switch {
		case end == 0:
			k.left[i] = -1
		case end > s.now:
			k.left[i], k.node[i] = int8(end-s.now), int8(s.node[i])
		}
	}
	ends := e.t.result(s)
	for j, end := range ends {
		if end > s.now {
			ends[j] = e.t.jobs[j].arrival
		}
	}
	return k, e.value(e.t, ends)
}

// everySecond returns the smallest value of an objective by trying every start of every task on the first node, up to
// the second at which all tasks, one after the other, would have ended.
func (t *tiny) everySecond(value objective) int {
	horizon := t.jobs[len(t.jobs)-1].arrival
	for _, k := range t.tasks {
		horizon += k.length
	}
	best := math.MaxInt
	s := t.start()
	var try func(i int)
	try = func(i int) {
		if i == len(t.tasks) {
			if t.feasible(&s, horizon) {
				best = min(best, value(t, t.result(&s)))
			}
			return
		}
		for s.end[i] = t.tasks[i].length; s.end[i] <= horizon; s.end[i]++ {
			try(i + 1)
		}
	}
	try(0)
	return best
}

// feasible reports whether a complete schedule on the first node respects arrivals, stages and capacity.
func (t *tiny) feasible(s *state, horizon int) bool {
	for i, k := range t.tasks {
		start := s.end[i] - k.length
		if start < t.jobs[k.job].arrival {
			return false
		}
		for o, other := range t.tasks {
			if other.job == k.job && other.stage < k.stage && s.end[o] > start {
				return false
			}
		}
	}
	for now := range horizon {
		var used heddle.Resource
		for i, k := range t.tasks {
			if s.end[i]-k.length <= now && now < s.end[i] {
				used = used.Plus(k.size)
			}
		}
		if !used.Fits(t.nodes[0]) {
			return false
		}
	}
	return true
}
