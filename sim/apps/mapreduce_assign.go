package apps

import (
	"slices"

	"heddle"
)

// askMap adds a map to the request table.
func (m *mapReduce) askMap(i int32, now heddle.Time, fastFail bool) {
	t := &m.maps[i]
	t.state, t.asked, t.fastFail = scheduled, now, fastFail
	r := ref{i, t.attempt}
	m.scheduledMaps++
	m.recalculate = true
	m.order.push(r)
	m.rows(i, 1)
	if fastFail {
		m.failed.push(r)
		return
	}
	hosts := m.c.hosts(Work{Kind: heddle.Map, Index: i})
	for _, h := range hosts {
		push(m.byHost, h, r)
	}
	m.racks = m.c.racks(m.racks[:0], hosts)
	for _, k := range m.racks {
		push(m.byRack, k, r)
	}
}

func push[K comparable](lists map[K]*fifo[ref], key K, r ref) {
	q := lists[key]
	if q == nil {
		q = &fifo[ref]{}
		lists[key] = q
	}
	q.push(r)
}

// rows adds the rows of n requests for a map.
func (m *mapReduce) rows(i, n int32) {
	if m.maps[i].fastFail {
		m.table.add(&m.c, m.fastWant, nil, n)
		return
	}
	m.table.add(&m.c, m.mapWant, m.c.hosts(Work{Kind: heddle.Map, Index: i}), n)
}

// assign gives received containers to tasks, as ScheduledRequests.assign does: containers that no task can take are
// released, then reduces and re-runs take theirs, and maps take theirs by host, then by rack, then by age.
func (m *mapReduce) assign(granted []Grant, out *Actions) {
	m.grants = m.grants[:0]
	reduces := m.wanted.len()
	for i := range granted {
		g := &granted[i]
		switch {
		case !m.fitting(g, &reduces):
			m.release = append(m.release, g.Container)
		case m.excluded.has(g.Node):
			m.replace(g)
			m.release = append(m.release, g.Container)
		default:
			m.grants = append(m.grants, g)
		}
	}
	m.place(out, m.assignUnplaced)
	m.place(out, func(g *Grant) int32 { return m.popMap(m.byHost[g.Node]) })
	m.place(out, func(g *Grant) int32 { return m.popMap(m.byRack[m.c.rack(g.Node)]) })
	m.place(out, func(*Grant) int32 { return m.popMap(&m.order) })
	for _, g := range m.grants {
		m.release = append(m.release, g.Container)
	}
}

// fitting reports whether a container has a priority that was asked for, is large enough, and is needed.
func (m *mapReduce) fitting(g *Grant, reduces *int) bool {
	switch g.Priority {
	case priorityMap, priorityFastFail:
		return m.count(g.Size, m.mapWant.size) > 0 && m.scheduledMaps > 0
	case priorityReduce:
		if m.count(g.Size, m.reduceWant.size) <= 0 || *reduces <= 0 {
			return false
		}
		*reduces--
		return true
	}
	return false
}

// replace sends again the rows of a request that was satisfied with a container on an excluded node, since the
// ResourceManager has counted them down.
func (m *mapReduce) replace(g *Grant) {
	if i := m.peekMap(&m.order); i != none && g.Priority == priorityMap && !m.maps[i].fastFail {
		m.rows(i, 0)
		return
	}
	m.touch(g.Priority)
}

// touch sends the any-host row of a priority again.
func (m *mapReduce) touch(priority int32) {
	w := m.mapWant
	switch priority {
	case priorityFastFail:
		w = m.fastWant
	case priorityReduce:
		w = m.reduceWant
	}
	m.table.add(&m.c, w, nil, 0)
}

// place runs one pass over the containers not yet assigned: pick returns the index of the task that takes a container,
// or none.
func (m *mapReduce) place(out *Actions, pick func(*Grant) int32) {
	m.grants = slices.DeleteFunc(m.grants, func(g *Grant) bool {
		i := pick(g)
		if i == none {
			return false
		}
		m.run(g, i, out)
		return true
	})
}

const none int32 = -1

// assignUnplaced picks a task for a container whose place does not matter.
func (m *mapReduce) assignUnplaced(g *Grant) int32 {
	switch g.Priority {
	case priorityReduce:
		return m.wanted.pop()
	case priorityFastFail:
		return m.popMap(&m.failed)
	}
	return none
}

// run starts a task in a container.
func (m *mapReduce) run(g *Grant, i int32, out *Actions) {
	kind := heddle.Map
	if g.Priority == priorityReduce {
		kind = heddle.Reduce
		m.heldReds++
		m.table.add(&m.c, m.reduceWant, nil, -1)
	} else {
		m.heldMaps++
		m.scheduledMaps--
		m.rows(i, -1)
	}
	t := &m.tasks(kind)[i]
	if kind == heddle.Map && t.fastFail != (g.Priority == priorityFastFail) {
		m.touch(g.Priority) // the ResourceManager counted down a different row than this master
	}
	t.state, t.container, t.node = running, g.Container, g.Node
	m.held.Set(int64(g.Container), holding{number: i + 1, kind: kind})
	out.Launch = append(out.Launch, g.Container)
	out.Work = append(out.Work, Work{Container: g.Container, Kind: kind, Index: i, Attempt: t.attempt})
}

// popMap removes and returns the first map in a list that is still asked for.
func (m *mapReduce) popMap(q *fifo[ref]) int32 {
	i := m.peekMap(q)
	if i != none {
		q.pop()
	}
	return i
}

// peekMap drops stale entries at the head of a list and returns the map there.
func (m *mapReduce) peekMap(q *fifo[ref]) int32 {
	if q == nil {
		return none
	}
	for q.len() > 0 {
		if r := q.front(); m.current(r) {
			return r.index
		}
		q.pop()
	}
	return none
}

// current reports whether r is still asked for.
func (m *mapReduce) current(r ref) bool {
	t := &m.maps[r.index]
	return t.state == scheduled && t.attempt == r.attempt
}
