package rm

import (
	"container/heap"

	"heddle"
)

// An expiring is what may be silent, or stay unused, for so long only.
type expiring interface {
	// expire ends what is past its deadline, and returns the next deadline, never for none.
	expire(m *Machine) heddle.Time
}

// A timer is by when something is looked at: at its deadline, or before, where the deadline has moved on since.
type timer struct {
	at heddle.Time
	of expiring
	i  int // place in the heap, from 1; 0 = it is not there
}

// timers are all that run, in a heap: the soonest first.
type timers struct{ heap timerHeap }

// by has something looked at by a time at the latest.
func (q *timers) by(t *timer, of expiring, at heddle.Time) {
	switch {
	case t.i == 0:
		t.at, t.of = at, of
		heap.Push(&q.heap, t)
	case at < t.at:
		t.at = at
		heap.Fix(&q.heap, t.i-1)
	}
}

// stop has something looked at no more.
func (q *timers) stop(t *timer) {
	if t.i > 0 {
		heap.Remove(&q.heap, t.i-1)
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
	if len(q.heap) > 0 && q.heap[0].at < now {
		return heap.Pop(&q.heap).(*timer)
	}
	return nil
}

// A timerHeap is the order of timers, for package heap.
type timerHeap []*timer

// Len implements [heap.Interface].
func (h timerHeap) Len() int { return len(h) }

// Less implements [heap.Interface].
func (h timerHeap) Less(i, j int) bool { return h[i].at < h[j].at }

// Swap implements [heap.Interface].
func (h timerHeap) Swap(i, j int) {
	h[i], h[j] = h[j], h[i]
	h[i].i, h[j].i = i+1, j+1
}

// Push implements [heap.Interface].
func (h *timerHeap) Push(x any) {
	t := x.(*timer)
	*h = append(*h, t)
	t.i = len(*h)
}

// Pop implements [heap.Interface].
func (h *timerHeap) Pop() any {
	last := len(*h) - 1
	t := (*h)[last]
	(*h)[last] = nil
	*h, t.i = (*h)[:last], 0
	return t
}
