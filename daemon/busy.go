package daemon

import (
	"math"
	"sync/atomic"
	"time"
)

// busyness measures how much of the last seconds the loop spent working.
type busyness struct {
	from    time.Time
	idleFor time.Duration
	last    atomic.Uint64 // bits of a float64; atomic because readers are outside the loop
}

// busyWindow is the time that each figure covers.
const busyWindow = 5 * time.Second

// idle records that the loop waited.
func (b *busyness) idle(from, to time.Time) {
	if b.from.IsZero() {
		b.from = from
	}
	b.idleFor += to.Sub(from)
	if span := to.Sub(b.from); span >= busyWindow {
		b.last.Store(math.Float64bits(100 * (1 - float64(b.idleFor)/float64(span))))
		b.from, b.idleFor = to, 0
	}
}

// percent returns the latest figure.
func (b *busyness) percent() float64 { return math.Float64frombits(b.last.Load()) }
