// Package histogram counts durations by length. It does not know what the durations are of or how they are shown.
package histogram

import (
	"sync/atomic"
	"time"
)

// bounds are the upper bounds of the classes. Longer durations are in the last class, which has no bound.
var bounds = [...]time.Duration{
	100 * time.Microsecond, 250 * time.Microsecond, 500 * time.Microsecond,
	time.Millisecond, 2500 * time.Microsecond, 5 * time.Millisecond,
	10 * time.Millisecond, 25 * time.Millisecond, 50 * time.Millisecond,
	100 * time.Millisecond, 250 * time.Millisecond, 500 * time.Millisecond,
	time.Second, 2500 * time.Millisecond, 5 * time.Second, 10 * time.Second, 30 * time.Second,
}

// A Histogram counts durations. It is safe for concurrent use. The zero value is empty.
type Histogram struct {
	counts [len(bounds) + 1]atomic.Uint64
	sum    atomic.Int64
}

// Add counts a duration.
func (h *Histogram) Add(d time.Duration) {
	i := 0
	for i < len(bounds) && d > bounds[i] {
		i++
	}
	h.counts[i].Add(1)
	h.sum.Add(int64(d))
}

// A Snapshot is the counts so far.
type Snapshot struct {
	Count   uint64
	Seconds float64            // the sum of all durations
	Up      map[float64]uint64 // how many durations are at most that many seconds
}

// Snapshot returns the counts so far.
func (h *Histogram) Snapshot() Snapshot {
	s := Snapshot{Up: make(map[float64]uint64, len(bounds))}
	for i := range h.counts {
		s.Count += h.counts[i].Load()
		if i < len(bounds) {
			s.Up[bounds[i].Seconds()] = s.Count
		}
	}
	s.Seconds = time.Duration(h.sum.Load()).Seconds()
	return s
}
