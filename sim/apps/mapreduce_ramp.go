package apps

import (
	"cmp"
	"math"
	"slices"

	"heddle"
)

// preemptionLimit is the largest fraction of the job's resources that is freed at one time by killing reduces.
const preemptionLimit = 0.5

// wantReduce queues a reduce; slow start and ramp-up decide when it is asked for.
func (m *mapReduce) wantReduce(i int32, now heddle.Time, failed bool) {
	t := &m.reduces[i]
	t.state, t.asked = waiting, now
	m.recalculate = true
	switch {
	case m.c.AllReducesAtOnce:
		m.askReduce(i)
	case failed:
		m.pending.pushFront(i)
	default:
		m.pending.push(i)
	}
}

func (m *mapReduce) askReduce(i int32) {
	m.reduces[i].state = scheduled
	m.wanted.push(i)
	m.table.add(&m.c, m.reduceWant, nil, 1)
}

// schedule decides about reduces at the end of a heartbeat if something has changed.
func (m *mapReduce) schedule(now heddle.Time, out *Actions) {
	if done := m.doneMaps + m.doneReds; done != m.lastDone || m.scheduledMaps > 0 {
		m.lastDone = done
		m.recalculate = true
	}
	if !m.recalculate || m.c.AllReducesAtOnce {
		return
	}
	m.recalculate = false
	if !m.preempt(now, out) {
		m.scheduleReduces()
	}
}

// scheduleReduces asks for reduces: for none before slow start, for all when no map waits for a container, otherwise
// for as many as fit into their part of what the job has and may get.
func (m *mapReduce) scheduleReduces() {
	if m.pending.len() == 0 {
		return
	}
	if !m.reduceStarted {
		if m.doneMaps < m.slowStart {
			return
		}
		m.reduceStarted = true
	}
	if m.scheduledMaps == 0 {
		m.rampUp(m.pending.len())
		return
	}
	n := m.count(m.reduceLimit().Minus(m.reduceWant.size.Times(int64(m.wanted.len()+m.heldReds))), m.reduceWant.size)
	if n > 0 {
		m.rampUp(min(n, m.pending.len()))
	} else if n < 0 {
		m.rampDown(-n)
	}
}

// reduceLimit returns what reduces may have in total: a part of the job's resources that grows with the maps done, plus
// what maps leave of theirs. (There are maps: some wait for a container.)
func (m *mapReduce) reduceLimit() heddle.Resource {
	done := float32(m.doneMaps) / float32(len(m.maps))
	total := m.limit()
	reduces := part(total, float64(min(done, float32(m.c.RampUpLimit))))
	maps := total.Minus(reduces)
	wanted := m.scheduledMaps + m.heldMaps
	if m.count(maps, m.mapWant.size) >= wanted {
		return reduces.Plus(maps.Minus(m.mapWant.size.Times(int64(wanted))))
	}
	return reduces
}

// limit returns what the job has and may still get.
func (m *mapReduce) limit() heddle.Resource {
	return m.headroom.
		Plus(m.mapWant.size.Times(int64(m.heldMaps))).
		Plus(m.reduceWant.size.Times(int64(m.heldReds)))
}

func (m *mapReduce) rampUp(n int) {
	for range n {
		m.askReduce(m.pending.pop())
	}
}

func (m *mapReduce) rampDown(n int) {
	for range min(n, m.wanted.len()) {
		i := m.wanted.pop()
		m.reduces[i].state = waiting
		m.table.add(&m.c, m.reduceWant, nil, -1)
		m.pending.push(i)
	}
}

// preempt kills reduces when maps wait, no map has a container, and either the maps have waited very long or there is
// no room for one. It reports whether maps starve.
func (m *mapReduce) preempt(now heddle.Time, out *Actions) bool {
	if len(m.reduces) == 0 || m.heldMaps > 0 || m.scheduledMaps == 0 {
		return false
	}
	if d := m.c.UnconditionalPreempt; d >= 0 && m.preemptFor(now, d, out) {
		return true
	}
	room := m.headroom.Minus(m.reduceWant.size.Times(int64(m.wanted.len())))
	if m.count(room, m.mapWant.size) > 0 {
		return false
	}
	return m.preemptFor(now, m.c.PreemptDelay, out)
}

// preemptFor makes room for the maps that have waited longer than delay, and reports whether there are any.
func (m *mapReduce) preemptFor(now heddle.Time, delay heddle.Span, out *Actions) bool {
	m.peekMap(&m.order)
	if delay > 0 && !m.hanging(now, delay, m.order.front()) {
		return false
	}
	m.rampDown(m.wanted.len())
	if m.heldReds == 0 {
		return true // nothing to kill: no need to count the waiting maps
	}
	waiting := m.scheduledMaps
	if delay > 0 {
		waiting = 0
		for _, r := range m.order.items[m.order.head:] {
			if m.hanging(now, delay, r) {
				waiting++
			}
		}
	}
	one := m.cover(m.mapWant.size)
	limit := m.cover(part(m.limit(), preemptionLimit))
	all := m.cover(m.mapWant.size.Times(int64(waiting)))
	m.killReduces(now, min(max(one, limit), all)-m.preempting, out)
	return true
}

func (m *mapReduce) hanging(now heddle.Time, delay heddle.Span, r ref) bool {
	return m.current(r) && now.Since(m.maps[r.index].asked) > delay
}

// killReduces ends the n running reduces with the least progress.
func (m *mapReduce) killReduces(now heddle.Time, n int, out *Actions) {
	if n <= 0 {
		return
	}
	type victim struct {
		progress float64
		index    int32
	}
	var victims []victim
	for i := range m.reduces {
		t := &m.reduces[i]
		if t.state != running {
			continue
		}
		v := victim{index: int32(i), progress: -float64(t.container)}
		if m.c.Progress != nil {
			v.progress = m.c.Progress(Work{Container: t.container, Kind: heddle.Reduce, Index: v.index, Attempt: t.attempt})
		}
		victims = append(victims, v)
	}
	slices.SortFunc(victims, func(a, b victim) int {
		return cmp.Or(cmp.Compare(a.progress, b.progress),
			cmp.Compare(m.reduces[a.index].container, m.reduces[b.index].container))
	})
	for _, v := range victims[:min(n, len(victims))] {
		c := m.reduces[v.index].container
		h := m.held.Get(int64(c))
		h.preempted = true
		m.held.Set(int64(c), h)
		m.preempting++
		out.Stop = append(out.Stop, c)
		m.attemptKilled(now, heddle.Reduce, v.index, false)
	}
}

// count returns how many containers of a size fit into r: by memory, and by vcores if those count. It is negative if r
// is.
func (m *mapReduce) count(r, size heddle.Resource) int {
	n := ratio(r[heddle.Memory], size[heddle.Memory])
	if m.c.CountCPU {
		n = min(n, ratio(r[heddle.CPU], size[heddle.CPU]))
	}
	return n
}

func ratio(a, b int64) int {
	if b == 0 {
		return math.MaxInt32
	}
	return int(a / b)
}

// cover returns how many reduces must end to give back r.
func (m *mapReduce) cover(r heddle.Resource) int {
	size := m.reduceWant.size
	n := ceilDiv(r[heddle.Memory], size[heddle.Memory])
	if m.c.CountCPU {
		n = max(n, ceilDiv(r[heddle.CPU], size[heddle.CPU]))
	}
	return n
}

func ceilDiv(a, b int64) int {
	if b == 0 {
		return 0
	}
	return int((a + b - 1) / b)
}

// part returns a fraction of r, rounded down to whole units in each dimension, as in Hadoop's resources.
func part(r heddle.Resource, f float64) heddle.Resource {
	for d := range r {
		unit := heddle.Dim(d).Unit()
		r[d] = int64(math.Floor(float64(r[d]/unit)*f)) * unit
	}
	return r
}

// slowStartMaps returns how many maps must be done before the first reduce is asked for, computed in single precision
// as in the real master.
func slowStartMaps(fraction float64, maps int) int {
	return int(math.Ceil(float64(float32(fraction) * float32(maps))))
}
