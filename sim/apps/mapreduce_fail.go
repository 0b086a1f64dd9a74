package apps

import (
	"fmt"
	"slices"

	"heddle"
)

// completed handles a container's end. A task that has already reported its own end needs nothing more.
func (m *mapReduce) completed(now heddle.Time, c Completed) {
	h := m.held.Get(int64(c.Container))
	if h == (holding{}) {
		return // released, or of an earlier master
	}
	m.held.Drop(int64(c.Container))
	if h.kind == heddle.Map {
		m.heldMaps--
	} else {
		m.heldReds--
	}
	if h.preempted {
		m.preempting--
	}
	i := h.number - 1
	t := &m.tasks(h.kind)[i]
	if t.state != running || t.container != c.Container {
		return
	}
	switch c.Status {
	case heddle.Aborted, heddle.Preempted:
		m.attemptKilled(now, h.kind, i, false)
	default:
		m.attemptFailed(now, h.kind, i)
	}
}

// nodeLost gives up what runs on a node and, while reduces need it, the output of maps there.
func (m *mapReduce) nodeLost(now heddle.Time, n heddle.NodeID) {
	for i := range m.maps {
		t := &m.maps[i]
		if t.node != n {
			continue
		}
		switch {
		case t.state == running:
			m.attemptKilled(now, heddle.Map, int32(i), true)
		case t.state == finished && m.doneReds < len(m.reduces):
			m.doneMaps--
			m.attemptKilled(now, heddle.Map, int32(i), true)
		}
	}
	for i := range m.reduces {
		if t := &m.reduces[i]; t.node == n && t.state == running {
			m.attemptKilled(now, heddle.Reduce, int32(i), false)
		}
	}
}

// attemptFailed counts a failure, and asks for another attempt or gives up the job.
func (m *mapReduce) attemptFailed(now heddle.Time, k heddle.Kind, i int32) {
	t := &m.tasks(k)[i]
	m.excluded.failedOn(t.node)
	t.failures++
	if int(t.failures) >= m.c.MaxAttempts {
		t.state, t.container = waiting, 0
		m.over, m.why = FinishedBadly, fmt.Sprintf("its %s %d failed %d times", k, i+1, t.failures)
		return
	}
	m.attemptKilled(now, k, i, true)
}

// attemptKilled asks for another attempt. A map that is a re-run or failed before runs again first and anywhere; a
// reduce that failed before goes to the front.
func (m *mapReduce) attemptKilled(now heddle.Time, k heddle.Kind, i int32, rerun bool) {
	t := &m.tasks(k)[i]
	t.state, t.container = waiting, 0
	t.attempt++
	if k == heddle.Map {
		m.askMap(i, now, rerun || t.failures > 0)
	} else {
		m.wantReduce(i, now, t.failures > 0)
	}
}

const (
	failuresPerHost   = 3  // mapreduce.job.maxtaskfailures.per.tracker
	ignoreExclusionAt = 33 // percent of the cluster's nodes
)

// exclusions are the nodes a job wants nothing on because its tasks failed there. When they become too large a part of
// the cluster, all of them are allowed again.
type exclusions struct {
	failures map[heddle.NodeID]int
	bad      []heddle.NodeID // ordered by id
	ignored  bool
	changed  bool
}

func (e *exclusions) failedOn(n heddle.NodeID) {
	if e.failures == nil {
		e.failures = map[heddle.NodeID]int{}
	}
	if e.failures[n]++; e.failures[n] != failuresPerHost {
		return
	}
	at, _ := slices.BinarySearch(e.bad, n)
	e.bad = slices.Insert(e.bad, at, n)
	e.changed = e.changed || !e.ignored
}

// count updates the size of the cluster.
func (e *exclusions) count(nodes int) {
	if len(e.bad) == 0 || nodes == 0 {
		return
	}
	ignore := len(e.bad)*100/nodes >= ignoreExclusionAt
	if ignore != e.ignored {
		e.ignored, e.changed = ignore, true
	}
}

func (e *exclusions) has(n heddle.NodeID) bool {
	if e.ignored || len(e.bad) == 0 {
		return false
	}
	_, found := slices.BinarySearch(e.bad, n)
	return found
}

func (e *exclusions) flush(out *Actions) {
	if !e.changed {
		return
	}
	e.changed = false
	out.Excluding = true
	if !e.ignored {
		out.Exclude = append(out.Exclude, e.bad...)
	}
}
