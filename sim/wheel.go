package sim

import (
	"math/bits"
	"math/rand/v2"
	"slices"

	"heddle"
	"heddle/internal/slab"
)

// A wheel holds the heartbeats of all nodes. Each node beats once per interval at its own offset, unless a [pace] says
// in which turns. Only heartbeats that can matter are simulated: those of nodes that have something to report and,
// while some application waits for containers, of nodes that have room. The others would change nothing.
type wheel struct {
	interval heddle.Span
	order    []heddle.NodeID // by offset
	offset   []heddle.Span   // by rank
	rank     []int32         // by node
	first    []int32         // the first rank in each part of the interval, which has as many parts as there are nodes
	reports  slab.Bits
	roomy    slab.Bits
	up       slab.Bits
	telling  int // number of nodes in reports

	cycle int64 // of the last heartbeat made
	last  int32 // its rank; −1 before the first
	beats int64 // made
}

func newWheel(nodes int, interval heddle.Span, rng *rand.Rand) *wheel {
	w := &wheel{
		interval: interval, order: make([]heddle.NodeID, nodes), offset: make([]heddle.Span, nodes),
		rank: make([]int32, nodes), reports: slab.NewBits(nodes), roomy: slab.NewBits(nodes), up: slab.NewBits(nodes), last: -1,
	}
	by := make([]heddle.Span, nodes)
	for i := range by {
		w.order[i] = heddle.NodeID(i)
		by[i] = heddle.Span(rng.Int64N(int64(interval)))
	}
	slices.SortStableFunc(w.order, func(a, b heddle.NodeID) int {
		return int(by[a] - by[b])
	})
	w.first = make([]int32, nodes)
	part := 0
	for r, n := range w.order {
		w.offset[r], w.rank[n] = by[n], int32(r)
		for ; part < nodes && w.part(by[n]) >= part; part++ {
			w.first[part] = int32(r)
		}
	}
	for ; part < nodes; part++ {
		w.first[part] = int32(nodes)
	}
	return w
}

// part returns the part of the interval that an offset is in.
func (w *wheel) part(at heddle.Span) int {
	return int(int64(at) * int64(len(w.order)) / int64(w.interval))
}

// from returns the first rank whose offset is not before a time within the interval.
func (w *wheel) from(within heddle.Span) int32 {
	r := w.first[w.part(within)]
	for int(r) < len(w.offset) && w.offset[r] < within {
		r++
	}
	return r
}

// next returns the first heartbeat of a node in a or b at or after a time and later than the last one made.
func (w *wheel) next(from heddle.Time, a, b slab.Bits) (at heddle.Time, rank int32, ok bool) {
	cycle := int64(from) / int64(w.interval)
	within := heddle.Span(int64(from) % int64(w.interval))
	start := w.from(within)
	if cycle < w.cycle || cycle == w.cycle && start <= w.last {
		cycle, start = w.cycle, w.last+1
	}
	if rank, ok = firstIn(a, b, start, len(w.order)); !ok {
		cycle++
		if rank, ok = firstIn(a, b, 0, int(min(start, int32(len(w.order))))); !ok {
			return 0, 0, false
		}
	}
	return heddle.Time(cycle*int64(w.interval) + int64(w.offset[rank])), rank, true
}

func trailing(word uint64) int32 { return int32(bits.TrailingZeros64(word)) }

// firstIn returns the first member of a or b at or after from and below n.
func firstIn(a, b slab.Bits, from int32, n int) (int32, bool) {
	for word := int(from) / 64; word*64 < n; word++ {
		m := a[word] | b[word]
		if word == int(from)/64 {
			m &= ^uint64(0) << (from % 64)
		}
		if m != 0 {
			r := int32(word*64) + trailing(m)
			return r, int(r) < n
		}
	}
	return 0, false
}

// report sets whether a node has something to report.
func (w *wheel) report(rank int32, on bool) {
	if w.reports.Has(rank) == on {
		return
	}
	w.reports.Set(rank, on)
	if on {
		w.telling++
	} else {
		w.telling--
	}
}

// made records that a heartbeat was made.
func (w *wheel) made(at heddle.Time, rank int32) {
	w.cycle, w.last = int64(at)/int64(w.interval), rank
	w.beats++
}
