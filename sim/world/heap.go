package world

import "heddle"

const never = heddle.Time(1<<63 - 1)

// A timeHeap orders a fixed set of items by (time, index), each at most once.
type timeHeap struct {
	at   []heddle.Time // by index
	heap []int32
	pos  []int32 // place in heap, -1 outside
}

func newTimeHeap(n int) timeHeap {
	h := timeHeap{at: make([]heddle.Time, n), pos: make([]int32, n), heap: make([]int32, 0, n)}
	for i := range h.pos {
		h.pos[i] = -1
	}
	return h
}

func (h *timeHeap) less(a, b int32) bool {
	return h.at[a] < h.at[b] || h.at[a] == h.at[b] && a < b
}

// top returns the first item.
func (h *timeHeap) top() (int32, heddle.Time, bool) {
	if len(h.heap) == 0 {
		return 0, never, false
	}
	return h.heap[0], h.at[h.heap[0]], true
}

// min returns the first time.
func (h *timeHeap) min() (heddle.Time, bool) {
	_, t, ok := h.top()
	return t, ok
}

// set moves i to a time; never takes it out.
func (h *timeHeap) set(i int32, t heddle.Time) {
	if t == never {
		h.remove(i)
		return
	}
	old := h.at[i]
	h.at[i] = t
	switch {
	case h.pos[i] < 0:
		h.pos[i] = int32(len(h.heap))
		h.heap = append(h.heap, i)
		h.up(int(h.pos[i]))
	case t < old:
		h.up(int(h.pos[i]))
	case t > old:
		h.down(int(h.pos[i]))
	}
}

func (h *timeHeap) remove(i int32) {
	p := int(h.pos[i])
	if p < 0 {
		return
	}
	last := len(h.heap) - 1
	h.swap(p, last)
	h.heap = h.heap[:last]
	h.pos[i] = -1
	if p < last {
		h.up(p)
		h.down(p)
	}
}

func (h *timeHeap) swap(a, b int) {
	h.heap[a], h.heap[b] = h.heap[b], h.heap[a]
	h.pos[h.heap[a]], h.pos[h.heap[b]] = int32(a), int32(b)
}

func (h *timeHeap) up(p int) {
	for p > 0 && h.less(h.heap[p], h.heap[(p-1)/2]) {
		h.swap(p, (p-1)/2)
		p = (p - 1) / 2
	}
}

func (h *timeHeap) down(p int) {
	for {
		c := 2*p + 1
		if c >= len(h.heap) {
			return
		}
		if c+1 < len(h.heap) && h.less(h.heap[c+1], h.heap[c]) {
			c++
		}
		if !h.less(h.heap[c], h.heap[p]) {
			return
		}
		h.swap(p, c)
		p = c
	}
}

// A timer is something that happens to a container or a pool at a given time.
type timer struct {
	at   heddle.Time
	seq  int64
	pool *pool              // set its sources anew, or
	cont heddle.ContainerID // apply what was decided for the container
}

// A timerHeap orders timers by (time, order of creation).
type timerHeap []timer

func (h timerHeap) less(a, b int) bool {
	return h[a].at < h[b].at || h[a].at == h[b].at && h[a].seq < h[b].seq
}

func (h *timerHeap) push(t timer) {
	*h = append(*h, t)
	s := *h
	for p := len(s) - 1; p > 0 && s.less(p, (p-1)/2); p = (p - 1) / 2 {
		s[p], s[(p-1)/2] = s[(p-1)/2], s[p]
	}
}

func (h *timerHeap) pop() timer {
	s := *h
	t := s[0]
	last := len(s) - 1
	s[0], s[last] = s[last], timer{}
	s = s[:last]
	for p := 0; ; {
		c := 2*p + 1
		if c >= len(s) {
			break
		}
		if c+1 < len(s) && s.less(c+1, c) {
			c++
		}
		if !s.less(c, p) {
			break
		}
		s[c], s[p] = s[p], s[c]
		p = c
	}
	*h = s
	return t
}
