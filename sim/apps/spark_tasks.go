package apps

import (
	"math/bits"
	"slices"

	"heddle"
)

// A level is how near a task is to its preferred place, nearest first.
type level uint8

const (
	inProcess level = iota // the executor that caches its input
	onNode
	noWishLevel // tasks without a preferred place
	onRack
	anyLevel
	noLevel
)

// A wish says which lists a task to launch is in.
type wish uint8

const (
	wishExecutor wish = 1 << iota
	wishHost
	noWish wish = 0
)

// locality is the part of a stage that decides which of its tasks an executor may take now (TaskSetManager). Tasks wait
// for a nearer executor up to 3 s per level, counted from when the stage last used everything it was offered.
type locality struct {
	byExecutor map[heddle.ContainerID][]int32 // tasks to launch, taken from the end; stale ones are skipped
	byHost     map[heddle.NodeID][]int32
	byRack     map[heddle.RackID][]int32
	anywhere   []int32 // without a preferred place
	all        []int32

	cached, hosted, free int         // tasks to launch with such a preference, and without one
	mask                 uint8       // levels that some executor could serve
	current              level       // the farthest level allowed now
	since                heddle.Time // when the wait at this level began
	satisfied            bool        // nothing was left over since the wait last restarted
}

func (l *locality) start(now heddle.Time) { l.since, l.satisfied = now, true }

func (l *locality) wishing(w wish, n int) {
	if w&wishExecutor != 0 {
		l.cached += n
	}
	if w&wishHost != 0 {
		l.hosted += n
	}
	if w == noWish {
		l.free += n
	}
}

// atLeast returns the first level in the mask that is v or farther.
func (l *locality) atLeast(v level) level {
	return level(bits.TrailingZeros8(l.mask &^ (1<<v - 1)))
}

// remask takes over a new set of levels and returns to nearer ones that were added.
func (l *locality) remask(mask uint8) {
	rank := func(mask uint8, v level) int { return bits.OnesCount8(mask & (1<<v - 1)) }
	old, at := l.mask, l.current
	l.mask = mask
	l.current = l.atLeast(at)
	if rank(mask, l.current) > rank(old, at) {
		l.current = level(bits.TrailingZeros8(mask &^ old))
	}
}

// allowed returns how far from its preferred place a task may be launched now.
func (l *locality) allowed(now heddle.Time) level {
	for l.current < anyLevel {
		more, wait := false, sparkLocalityWait
		switch l.current {
		case inProcess:
			more = l.cached > 0
		case onNode, onRack:
			more = l.hosted > 0
		case noWishLevel:
			more, wait = l.free > 0, 0
		case anyLevel, noLevel: // not nearer than any
		}
		switch {
		case !more:
			l.since = now
		case now.Since(l.since) >= wait:
			l.since = l.since.Plus(wait)
		default:
			return l.current
		}
		l.current = l.atLeast(l.current + 1)
	}
	return anyLevel
}

// levels returns the levels at which some registered executor could serve a task of the stage.
func (m *spark) levels(s *stage) uint8 {
	mask := uint8(1 << anyLevel)
	if s.locality.free > 0 {
		mask |= 1 << noWishLevel
	}
	for _, e := range m.alive {
		mask |= m.levelsOf(s, e)
	}
	return mask
}

func (m *spark) levelsOf(s *stage, e *executor) uint8 {
	mask := uint8(0)
	if len(s.byExecutor[e.id]) > 0 {
		mask |= 1 << inProcess
	}
	if len(s.byHost[e.node]) > 0 {
		mask |= 1 << onNode
	}
	if len(s.byRack[m.c.rack(e.node)]) > 0 {
		mask |= 1 << onRack
	}
	return mask
}

func (m *spark) levelsGained(e *executor) {
	for _, k := range m.active {
		s := &m.stages[k]
		s.remask(s.mask | m.levelsOf(s, e))
	}
}

func (m *spark) levelsLost() {
	for _, k := range m.active {
		s := &m.stages[k]
		s.remask(m.levels(s))
	}
}

// offerAll offers every free slot.
func (m *spark) offerAll(now heddle.Time, out *Actions) {
	if !m.ready || m.pending == 0 || m.free == 0 {
		return
	}
	m.offered = m.offered[:0]
	for _, e := range m.alive {
		if e.free > 0 {
			m.offered = append(m.offered, e)
		}
	}
	if r := m.c.Rand; r != nil {
		r.Shuffle(len(m.offered), func(i, j int) { m.offered[i], m.offered[j] = m.offered[j], m.offered[i] })
	}
	m.offer(now, m.offered, true, out)
}

// offer lets the stages, oldest first, take slots of executors; everything says that executors holds all the free ones.
func (m *spark) offer(now heddle.Time, executors []*executor, everything bool, out *Actions) {
	m.offered = executors
	for _, k := range m.active {
		if s := &m.stages[k]; m.complete(s.parents) {
			m.offerStage(now, s, everything, out)
		}
	}
	m.active = slices.DeleteFunc(m.active, func(k int32) bool { return m.stages[k].pending == 0 })
	if m.pending == 0 && m.dynamic != nil && m.ready {
		m.dynamic.drained()
	}
}

// offerStage goes round the offered executors level by level, one task each at a time. The wait for nearer places
// restarts when something was launched and nothing was refused because of its distance.
func (m *spark) offerStage(now heddle.Time, s *stage, everything bool, out *Actions) {
	nearest, refused := noLevel, false
	for v := s.atLeast(0); v <= anyLevel && s.pending > 0; v = s.atLeast(v + 1) {
		for launched := true; launched && s.pending > 0; {
			launched = false
			for _, e := range m.offered {
				if e.free == 0 || s.pending == 0 {
					continue
				}
				if i, at := m.takeTask(now, s, e, v); i != none {
					m.start(s, i, e, out)
					nearest, launched = min(nearest, at), true
				} else if v == anyLevel {
					refused = true
				}
			}
		}
	}
	switch {
	case refused:
		s.satisfied = false
	case nearest != noLevel && (everything || s.satisfied):
		s.since, s.satisfied = now, true
		s.current = s.atLeast(nearest)
	}
}

// takeTask removes from the lists, and returns, the nearest task that an executor may run at a level.
func (m *spark) takeTask(now heddle.Time, s *stage, e *executor, v level) (int32, level) {
	if v != noWishLevel {
		v = min(v, s.allowed(now))
	}
	if i := pop(s, s.byExecutor, e.id); i != none {
		return i, inProcess
	}
	if v >= onNode {
		if i := pop(s, s.byHost, e.node); i != none {
			return i, onNode
		}
	}
	if v >= noWishLevel {
		if i := popList(s, &s.anywhere); i != none {
			return i, inProcess
		}
	}
	if v >= onRack {
		if i := pop(s, s.byRack, m.c.rack(e.node)); i != none {
			return i, onRack
		}
	}
	if v >= anyLevel {
		if i := popList(s, &s.all); i != none {
			return i, anyLevel
		}
	}
	return none, noLevel
}

func pop[K comparable](s *stage, lists map[K][]int32, key K) int32 {
	list := lists[key]
	if len(list) == 0 {
		return none
	}
	i := popList(s, &list)
	lists[key] = list
	return i
}

// popList removes and returns the last task of a list that is still to be launched.
func popList(s *stage, list *[]int32) int32 {
	for l := *list; len(l) > 0; {
		i := l[len(l)-1]
		l = l[:len(l)-1]
		*list = l
		if s.tasks[i].state == scheduled {
			return i
		}
	}
	return none
}

// start runs a task in an executor.
func (m *spark) start(s *stage, i int32, e *executor, out *Actions) {
	t := &s.tasks[i]
	t.state, t.container, t.node = running, e.id, e.node
	s.wishing(t.wish, -1)
	s.pending--
	m.pending--
	e.free--
	m.free--
	e.running = append(e.running, taskID{s.index, i})
	out.Work = append(out.Work, Work{
		Container: e.id, Kind: heddle.Executor, Stage: s.index, Index: i, Attempt: t.attempt,
	})
}
