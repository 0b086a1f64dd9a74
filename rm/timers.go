package rm

import "heddle"

// An expiring is something that may be silent or unused only for so long.
type expiring interface {
	// expire ends what is past its deadline, and returns the next deadline, or never.
	expire(m *Machine) heddle.Time
}

// A timer says when to check something: at its deadline, or earlier if the deadline has moved on since.
type timer struct {
	of expiring
	i  int // index among the running timers, from 1; 0 = not running
}

// timers holds all running timers in a four-way heap, the earliest first.
type timers struct{ heap []timed }

// A timed is a running timer and the time at which it fires.
type timed struct {
	at heddle.Time
	t  *timer
}

// by makes a timer fire no later than a time.
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

// stop stops a timer.
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

// next returns when the next timer is to be handled: just after its time.
func (q *timers) next() heddle.Time {
	if len(q.heap) == 0 {
		return never
	}
	return q.heap[0].at + 1
}

// due removes and returns a timer whose time has passed; nil if there is none.
func (q *timers) due(now heddle.Time) *timer {
	if len(q.heap) == 0 || q.heap[0].at >= now {
		return nil
	}
	t := q.heap[0].t
	q.stop(t)
	return t
}

// up puts a timer into a free place, or one above it.
func (q *timers) up(i int, r timed) {
	for i > 0 && r.at < q.heap[(i-1)/4].at {
		q.put(i, q.heap[(i-1)/4])
		i = (i - 1) / 4
	}
	q.put(i, r)
}

// down puts a timer into a free place, or one below it.
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
