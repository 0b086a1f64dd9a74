package apps

import (
	"fmt"
	"slices"

	"heddle"
	"heddle/workload"
)

// A stage is a set of tasks that run when the stages it depends on are done and the driver has paused.
type stage struct {
	def       *workload.Stage
	index     int32
	parents   []int32 // indexes of earlier stages
	children  []int32
	tasks     []sparkTask
	done      int
	pending   int         // tasks to launch
	due       heddle.Time // when the driver's pause before it ends; 0 = it has not begun
	submitted bool
	cachedBy  int32 // index of the stage whose cached output it reads; none if there is none
	locality
}

type sparkTask struct {
	container heddle.ContainerID // where it runs or ran
	node      heddle.NodeID
	attempt   int32
	failures  int32
	state     taskState
	wish      wish
	lost      bool // finished, but its output is gone
}

func (m *spark) buildStages() {
	defs := m.job.Stages
	m.stages = make([]stage, len(defs))
	m.stagesLeft = len(defs)
	byID := map[int]int32{}
	cache := none
	for k := range defs {
		s := &m.stages[k]
		s.def, s.index, s.cachedBy = &defs[k], int32(k), none
		s.tasks = make([]sparkTask, len(defs[k].Tasks))
		for _, id := range defs[k].Parents {
			if p, ok := byID[id]; ok && !slices.Contains(s.parents, p) {
				s.parents = append(s.parents, p)
				m.stages[p].children = append(m.stages[p].children, s.index)
			}
		}
		byID[defs[k].ID] = s.index
		if s.def.Cached {
			s.cachedBy = cache
		}
		if s.def.Caches && len(s.tasks) > 0 {
			cache = s.index
		}
	}
}

// complete reports whether all tasks of the listed stages are done.
func (m *spark) complete(stages []int32) bool {
	for _, k := range stages {
		if s := &m.stages[k]; s.done < len(s.tasks) || !s.submitted {
			return false
		}
	}
	return true
}

// submitStages submits the stages whose parents are done, unless the driver pauses before them.
func (m *spark) submitStages(now heddle.Time) {
	m.resume = 0
	for k := range m.stages {
		s := &m.stages[k]
		if s.submitted || !m.complete(s.parents) {
			continue
		}
		if s.due == 0 {
			s.due = now.Plus(s.def.Pause)
		}
		if s.due > now {
			if m.resume == 0 || s.due < m.resume {
				m.resume = s.due
			}
			continue
		}
		s.submitted = true
		if len(s.tasks) == 0 {
			m.stagesLeft--
			continue
		}
		s.locality.start(now)
		m.tasksLeft += len(s.tasks)
		for i := range slices.Backward(s.tasks) { // tasks are taken from the ends of the lists
			m.enlist(s, int32(i))
		}
		s.mask = m.levels(s)
		s.current = s.atLeast(0)
		if m.dynamic != nil {
			m.dynamic.backlogged(now)
		}
	}
	if m.stagesLeft == 0 {
		m.over = FinishedWell
	}
	m.recountWishes()
}

// recountWishes is called only when stages come and go, so that it costs nothing per task.
func (m *spark) recountWishes() {
	if m.dynamic != nil {
		m.wishes = m.countWishes(func(s *stage) bool { return s.submitted && s.done < len(s.tasks) })
	}
}

// enlist adds a task to those to launch.
func (m *spark) enlist(s *stage, i int32) {
	t := &s.tasks[i]
	t.state, t.lost = scheduled, false
	if s.pending == 0 {
		if at, found := slices.BinarySearch(m.active, s.index); !found {
			m.active = slices.Insert(m.active, at, s.index)
		}
	}
	s.pending++
	m.pending++
	s.all = append(s.all, i)
	cache, hosts := m.placesOf(s, i)
	t.wish = noWish
	if cache != 0 {
		t.wish |= wishExecutor
		s.byExecutor = appendTo(s.byExecutor, cache, i)
	}
	if len(hosts) > 0 {
		t.wish |= wishHost
		m.table.scratch = m.c.racks(m.table.scratch[:0], hosts)
		for _, r := range m.table.scratch {
			s.byRack = appendTo(s.byRack, r, i)
		}
		for _, h := range hosts {
			s.byHost = appendTo(s.byHost, h, i)
		}
	}
	if t.wish == noWish {
		s.anywhere = append(s.anywhere, i)
	}
	s.wishing(t.wish, 1)
}

func appendTo[K comparable](lists map[K][]int32, key K, i int32) map[K][]int32 {
	if lists == nil {
		lists = map[K][]int32{}
	}
	lists[key] = append(lists[key], i)
	return lists
}

// placesOf returns where a task would like to run: in the executor that caches its input, else where its input is, or
// that of what it would have found cached.
func (m *spark) placesOf(s *stage, i int32) (heddle.ContainerID, []heddle.NodeID) {
	if s.cachedBy == none {
		return 0, m.inputHosts(s.index, i)
	}
	c := &m.stages[s.cachedBy]
	from := i % int32(len(c.tasks))
	at := heddle.ContainerID(0)
	if t := &c.tasks[from]; m.c.Cached != nil {
		at = m.c.Cached(Work{Kind: heddle.Executor, Stage: s.index, Index: i})
	} else if t.state == finished {
		at = t.container
	}
	if e := m.executors[at]; e != nil && e.up {
		return e.id, []heddle.NodeID{e.node}
	}
	return 0, m.inputHosts(s.cachedBy, from)
}

func (m *spark) inputHosts(k, i int32) []heddle.NodeID {
	if !m.stages[k].def.Input {
		return nil
	}
	return m.c.hosts(Work{Kind: heddle.Executor, Stage: k, Index: i})
}

// slotFreed removes a task from its executor.
func (m *spark) slotFreed(now heddle.Time, e *executor, id taskID) {
	at := slices.Index(e.running, id)
	e.running = slices.Delete(e.running, at, at+1)
	e.free++
	m.free++
	if len(e.running) == 0 {
		e.idle = now
		if m.dynamic != nil {
			m.dynamic.idleFrom(e)
		}
	}
}

func (m *spark) taskDone(now heddle.Time, s *stage, t *sparkTask, e *executor) {
	t.state = finished
	e.caches = e.caches || s.def.Caches
	e.shuffles = e.shuffles || m.dynamic != nil && m.dynamic.tracks && s.def.Writes == workload.Shuffle
	s.done++
	m.tasksLeft--
	if s.done < len(s.tasks) {
		return
	}
	m.stagesLeft--
	m.submitStages(now)
}

// taskFailed puts a task back; a counted failure may be one too many.
func (m *spark) taskFailed(now heddle.Time, id taskID, counted bool) {
	s := &m.stages[id.stage]
	t := &s.tasks[id.index]
	t.attempt++
	if counted {
		if t.failures++; int(t.failures) >= m.c.MaxAttempts {
			m.over, m.why = FinishedBadly, fmt.Sprintf("a task of its stage %d failed %d times", id.stage, t.failures)
		}
	}
	if m.pending == 0 && m.dynamic != nil {
		m.dynamic.backlogged(now)
	}
	m.enlist(s, id.index)
}

// outputLost marks the lost output of finished tasks, and reruns those tasks whose output is read by a stage that is
// not done yet. Later stages come first: if one of their tasks runs again, it needs the output of earlier stages again.
func (m *spark) outputLost(now heddle.Time, gone func(*stage, *sparkTask) bool) {
	for k := len(m.stages) - 1; k >= 0; k-- {
		s := &m.stages[k]
		if !s.submitted || len(s.children) == 0 {
			continue
		}
		needed, whole := !m.complete(s.children), s.done == len(s.tasks)
		for i := len(s.tasks) - 1; i >= 0; i-- {
			t := &s.tasks[i]
			if t.state != finished {
				continue
			}
			t.lost = t.lost || gone(s, t)
			if !t.lost || !needed {
				continue
			}
			if m.pending == 0 && m.dynamic != nil {
				m.dynamic.backlogged(now)
			}
			t.attempt++
			s.done--
			m.tasksLeft++
			m.enlist(s, int32(i))
		}
		if whole && s.done < len(s.tasks) {
			m.stagesLeft++
		}
	}
}
