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
//
// At an address that uses more, a caller uses little that had less than littleOfUser, as long as all these had less than
// littleOfUsers. The bound is lower because one caller may have many names.
const (
	littleOfOne   = 0.2
	littleOfAll   = 0.5
	littleOfUser  = 0.05
	littleOfUsers = 0.1
)

// forgotten is the fraction of the time below which an address or a caller need not be kept.
const forgotten = 0.001

// usages are the usages of those that are kept, by name.
type usages struct {
	by    map[string]*usage
	swept time.Time // when those were last removed that need not be kept
}

// below reports whether a name used less than that. If it is not kept, it did, unless there are as many as can be kept.
func (us *usages) below(name string, part float64, now time.Time) bool {
	u := us.by[name]
	if u == nil {
		return len(us.by) < mostAccounts
	}
	return u.lately(now) < part
}

// of returns the usage of a name, or nil if it cannot be kept.
func (us *usages) of(name string, now time.Time) *usage {
	u := us.by[name]
	if u != nil {
		return u
	}
	// This goes through all, and must not come with every turn of a flood under made-up names.
	if len(us.by) >= mostAccounts && now.Sub(us.swept) >= usageTime/10 {
		us.swept = now
		maps.DeleteFunc(us.by, func(_ string, u *usage) bool { return u.lately(now) < forgotten })
	}
	if len(us.by) >= mostAccounts {
		return nil
	}
	if us.by == nil {
		us.by = map[string]*usage{}
	}
	u = &usage{at: now}
	us.by[name] = u
	return u
}

// usesLittle reports whether a caller uses little; d.mu is held.
func (d *Readers) usesLittle(caller string, now time.Time) bool {
	if d.lightly.lately(now) >= littleOfAll {
		return false
	}
	at := addressOf(caller)
	return d.used.below(at, littleOfOne, now) ||
		d.used.by[at] != nil && d.usersLightly.lately(now) < littleOfUsers && d.usedBy.below(caller, littleOfUser, now)
}

// use counts a caller's turn; d.mu is held. Beyond the number of addresses and callers that are kept, nothing is recorded.
func (d *Readers) use(caller string, took time.Duration, now time.Time) {
	u := d.used.of(addressOf(caller), now)
	if u == nil {
		return
	}
	by := d.usedBy.of(caller, now)
	switch {
	case u.lately(now) < littleOfOne:
		d.lightly.add(took, now)
	case by != nil && by.lately(now) < littleOfUser:
		d.usersLightly.add(took, now)
	}
	u.add(took, now)
	if by != nil {
		by.add(took, now)
	}
}
