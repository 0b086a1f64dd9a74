package apps

import (
	"cmp"
	"math"
	"slices"

	"heddle"
	"heddle/workload"
)

const (
	dynamicIdle    = 60 * heddle.Second // spark.dynamicAllocation.executorIdleTimeout
	dynamicBacklog = heddle.Second      // spark.dynamicAllocation.schedulerBacklogTimeout
)

// dynamic is Spark's ExecutorAllocationManager: while tasks wait, it asks for one more executor, then two, then four;
// it asks for no more than tasks could use; it gives back idle ones.
type dynamic struct {
	min, max, initial int
	idle, backlog     heddle.Span
	tracks            bool // executors that hold shuffle files stay

	starting bool        // no stage has been submitted and no executor has been idle too long yet: the initial number stays
	toAdd    int         // executors the next round adds
	addAt    heddle.Time // when tasks have waited long enough; 0 = none wait
	removeAt heddle.Time // when the idle timeout of the first executor expires; 0 = none
	kept     bool        // an executor whose timeout has expired was kept: check again when the target falls
}

func newDynamic(sj *workload.SparkJob) *dynamic {
	c := sj.Dynamic
	d := &dynamic{
		min: max(0, c.Min), max: c.Max, idle: c.IdleTimeout, backlog: c.Backlog, tracks: c.Tracks, starting: true, toAdd: 1,
	}
	if d.max <= 0 {
		d.max = math.MaxInt32
	}
	d.max = max(d.max, d.min)
	if d.idle <= 0 {
		d.idle = dynamicIdle
	}
	if d.backlog <= 0 {
		d.backlog = dynamicBacklog
	}
	d.initial = min(max(d.min, c.Initial, sj.Executors), d.max)
	return d
}

// next returns when adjust must run; 0 = not by itself. If the time to add executors is past, the addition had to wait
// for the target, which only other calls change.
func (d *dynamic) next(now heddle.Time) heddle.Time {
	switch {
	case d.addAt <= now:
		return d.removeAt
	case d.removeAt == 0:
		return d.addAt
	}
	return min(d.addAt, d.removeAt)
}

// backlogged starts the wait for more executors.
func (d *dynamic) backlogged(now heddle.Time) {
	d.starting = false
	if d.addAt == 0 {
		d.addAt = now.Plus(d.backlog)
	}
}

// drained ends the wait: no task waits.
func (d *dynamic) drained() { d.addAt, d.toAdd = 0, 1 }

// stays reports whether an executor is never given back: it holds cached blocks or its own shuffle files.
func (e *executor) stays() bool { return e.caches || e.shuffles }

// idleFrom starts the idle time of an executor that may be given back.
func (d *dynamic) idleFrom(e *executor) {
	if e.stays() || e.removing {
		return
	}
	if at := e.idle.Plus(d.idle); d.removeAt == 0 || at < d.removeAt {
		d.removeAt = at
	}
}

// adjust changes the target and gives back idle executors.
func (m *spark) adjust(now heddle.Time, out *Actions) {
	d := m.dynamic
	before := m.target
	expired := d.removeAt != 0 && now >= d.removeAt
	d.starting = d.starting && !expired
	if !d.starting {
		need := (m.tasksLeft + m.slots - 1) / m.slots
		if need < m.target {
			m.target = max(need, d.min)
			d.toAdd = 1
		} else if d.addAt != 0 && now >= d.addAt {
			if m.grow(need); m.target > before {
				d.addAt = now.Plus(d.backlog)
			}
		}
	}
	if expired || (d.kept && m.target < before) {
		m.removeIdle(now)
	}
	if m.target != before {
		m.hints = m.wishes
		m.wake(now, out)
	}
}

// grow raises the target by the next step.
func (m *spark) grow(need int) {
	d := m.dynamic
	before := m.target
	if before >= d.max {
		d.toAdd = 1
		return
	}
	t := min(max(m.target, m.activeExecutors())+d.toAdd, need)
	m.target = max(min(t, d.max), d.min)
	if m.target-before == d.toAdd {
		d.toAdd *= 2
	} else {
		d.toAdd = 1
	}
}

// activeExecutors returns the number of registered executors that are not being removed.
func (m *spark) activeExecutors() int {
	n := 0
	for _, e := range m.alive {
		if !e.removing {
			n++
		}
	}
	return n
}

// removeIdle gives back executors whose idle timeout has expired, but keeps the minimum number and the target. The
// ResourceManager ends them after the next call.
func (m *spark) removeIdle(now heddle.Time) {
	d := m.dynamic
	d.removeAt, d.kept = 0, false
	left := m.activeExecutors()
	for _, e := range m.alive {
		if e.stays() || e.removing || len(e.running) > 0 {
			continue
		}
		if now < e.idle.Plus(d.idle) {
			d.idleFrom(e)
			continue
		}
		if left-1 < max(d.min, m.target) {
			d.kept = true
			continue
		}
		left--
		e.removing = true
		m.free -= e.free
		e.free = 0
		m.gone(e)
		m.release = append(m.release, e.id)
	}
}

// countWishes sums up where the input of some stages is.
func (m *spark) countWishes(of func(*stage) bool) placement {
	var p placement
	counts := map[heddle.NodeID]int{}
	for k := range m.stages {
		s := &m.stages[k]
		if !s.def.Input || !of(s) {
			continue
		}
		for i := range s.tasks {
			hosts := m.inputHosts(int32(k), int32(i))
			if len(hosts) > 0 {
				p.tasks++
			}
			for _, h := range hosts {
				if counts[h]++; counts[h] == 1 {
					p.hosts = append(p.hosts, hostCount{node: h})
				}
			}
		}
	}
	for i := range p.hosts {
		p.hosts[i].count = counts[p.hosts[i].node]
	}
	slices.SortFunc(p.hosts, func(a, b hostCount) int { return cmp.Compare(a.node, b.node) })
	return p
}
