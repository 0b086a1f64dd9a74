package daemon

import (
	"maps"
	"math"
	"time"
)

// usageTime is the time constant of a [usage].
const usageTime = 250 * time.Millisecond

// A usage is the fraction of the last [usageTime] or so in which a caller had a turn: an exponentially weighted mean.
type usage struct {
	part float64
	at   time.Time
}

// lately returns the mean at a time.
func (u *usage) lately(now time.Time) float64 {
	if d := now.Sub(u.at); d > 0 {
		u.part *= math.Exp(-d.Seconds() / usageTime.Seconds())
		u.at = now
	}
	return u.part
}

// add counts a turn that has just ended.
func (u *usage) add(took time.Duration, now time.Time) {
	u.part = u.lately(now) + took.Seconds()/usageTime.Seconds()
}

// The callers of an address use little if they recently had turns for less than littleOfOne of the time, as long as all
// such callers together had less than littleOfAll. They get the next turn, and turns that rest, so that a caller that
// seldom asks does not wait for one that asks all the time.
const (
	littleOfOne = 0.2
	littleOfAll = 0.5
)

// forgotten is the fraction of the time below which an address need not be kept.
const forgotten = 0.001

// usesLittle reports whether a caller uses little; d.mu is held.
func (d *Readers) usesLittle(caller string, now time.Time) bool {
	if d.lightly.lately(now) >= littleOfAll {
		return false
	}
	u := d.used[addressOf(caller)]
	if u == nil {
		return len(d.used) < mostAccounts
	}
	return u.lately(now) < littleOfOne
}

// use counts a caller's turn; d.mu is held. Beyond the number of addresses that are kept, nothing is recorded.
func (d *Readers) use(caller string, took time.Duration, now time.Time) {
	from := addressOf(caller)
	u := d.used[from]
	if u == nil {
		if len(d.used) >= mostAccounts {
			maps.DeleteFunc(d.used, func(_ string, u *usage) bool { return u.lately(now) < forgotten })
		}
		if len(d.used) >= mostAccounts {
			return
		}
		u = &usage{at: now}
		d.used[from] = u
	}
	if u.lately(now) < littleOfOne {
		d.lightly.add(took, now)
	}
	u.add(took, now)
}
