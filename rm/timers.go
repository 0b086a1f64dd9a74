package rm

import "heddle"

// An expiring is what may be silent, or stay unused, for so long only.
type expiring interface {
	// expire ends what is past its deadline, and returns the next deadline, never for none.
	expire(m *Machine) heddle.Time
}

// A timer is by when something is looked at: at its deadline, or before, where the deadline has moved on since.
type timer struct {
	of expiring
	i  int // place among those that run, from 1; 0 = it does not
}

// timers are all that run, in a four-way heap: the soonest first.
type timers struct{ heap []timed }

// timed is a timer that runs, and when it ends.
type timed struct {
	at heddle.Time
	t  *timer
}

// by has something looked at by a time at the latest.
func (q *timers) by(t *timer, of expiring, at heddle.Time) {
	switch {
	case t.i == 0:
		t.of = of
		q.heap = append(q.heap, timed{})
		q.up(len(q.heap)-1, timed{at, t})
	case at < q.heap[t.i-1].at:
		q.up(t.i-1, timed{at, t})
	}
}

// stop has something looked at no more.
func (q *timers) stop(t *timer) {
	if t.i == 0 {
		return
	}
	i, last := t.i-1, len(q.heap)-1
	t.i = 0
	r := q.heap[last]
	q.heap[last] = timed{}
	q.heap = q.heap[:last]
	switch {
	case i == last:
	case i > 0 && r.at < q.heap[(i-1)/4].at:
		q.up(i, r)
	default:
		q.down(i, r)
	}
}

// next is when something is to be looked at: just after its time.
func (q *timers) next() heddle.Time {
	if len(q.heap) == 0 {
		return never
	}
	return q.heap[0].at + 1
}

// due takes out one that should have been looked at before now; nil for none.
func (q *timers) due(now heddle.Time) *timer {
	if len(q.heap) == 0 || q.heap[0].at >= now {
		return nil
	}
	t := q.heap[0].t
	q.stop(t)
	return t
}

// up puts a timer into a place that is free, or before it.
func (q *timers) up(i int, r timed) {
	for i > 0 && r.at < q.heap[(i-1)/4].at {
		q.put(i, q.heap[(i-1)/4])
		i = (i - 1) / 4
	}
	q.put(i, r)
}

// down puts a timer into a place that is free, or behind it.
func (q *timers) down(i int, r timed) {
	for {
		least, at := i, r.at
		for c := 4*i + 1; c <= 4*i+4 && c < len(q.heap); c++ {
			if q.heap[c].at < at {
				least, at = c, q.heap[c].at
			}
		}
		if least == i {
			break
		}
		q.put(i, q.heap[least])
		i = least
	}
	q.put(i, r)
}

func (q *timers) put(i int, r timed) {
	q.heap[i] = r
	r.t.i = i + 1
}
