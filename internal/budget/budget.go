// Package budget shares memory among callers: each gets at most its part, and all together get no more than the total.
// It does not know what the memory is for: callers say how many bytes they take and give them back.
package budget

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net/netip"
	"slices"
	"sync"
	"time"
)

const (
	// small is the size in bytes up to which a request may overtake the requests that wait for more.
	small = 64 << 10
	// spare is the divisor of the part of a budget that is reserved for small requests: 1/spare of it. Without it, a
	// few callers that read long answers slowly keep out every caller that asks for a short one.
	spare = 8
)

// ErrFull says that the requested bytes are not free now.
var ErrFull = errors.New("the memory for calls is in use")

// A TooLargeError says that a request is for more bytes than a caller may ever have.
type TooLargeError struct{ Bytes, Most int64 }

func (e *TooLargeError) Error() string {
	return fmt.Sprintf("it would need %d bytes of memory; one address may use at most %d (memory.per_address in heddle.yaml)", e.Bytes, e.Most)
}

// A Budget is a number of bytes that callers share. It is safe for concurrent use.
type Budget struct {
	most, each int64

	mu    sync.Mutex
	kept  int64 // reserved for accounts that leave nothing to others
	used  int64
	own   int64 // the part of used that those accounts hold
	by    map[netip.Addr]int64
	turns []*line // those with requests that wait; the one whose turn is next is first
}

// A line holds the waiting requests of one address that leave equally many bytes to others, in order of arrival.
type line struct {
	by      *Account
	from    netip.Addr
	keep    int64 // the bytes that each of them leaves free
	waiting []*waiter
}

// A waiter is a request that waits for bytes.
type waiter struct {
	bytes   int64
	granted chan struct{}
	held    bool // it has held others back in this turn of its line
}

// New returns a budget of most bytes in total and each bytes per address.
func New(most, each int64) *Budget {
	return &Budget{most: most, each: min(each, most), by: map[netip.Addr]int64{}}
}

// An Account is a view of a budget for one group of users.
type Account struct {
	b    *Budget
	keep int64 // bytes left for other users
}

// Account returns an account whose users leave keep bytes of the budget to the accounts that leave nothing. The latter
// can have that many bytes even if the former unexpectedly hold more than their share.
func (b *Budget) Account(keep int64) *Account {
	b.mu.Lock()
	defer b.mu.Unlock()
	keep = max(0, min(keep, b.most-b.most/spare-1))
	b.kept = max(b.kept, keep)
	return &Account{b, keep}
}

// Most returns the most bytes that an address may have.
func (a *Account) Most() int64 { return a.most(math.MaxInt64) }

// most returns the most bytes that may be in use for a request of this size to be granted.
func (a *Account) most(bytes int64) int64 { return min(a.b.each, a.b.most-a.keepFrom(bytes)) }

// beside returns how many bytes the long calls of others have left while one address has everything it may have.
func (a *Account) beside() int64 { return a.b.most - a.keepFrom(math.MaxInt64) - a.b.each }

// keepFrom returns how many bytes a request of this size must leave free.
func (a *Account) keepFrom(bytes int64) int64 {
	if bytes <= small {
		return a.keep
	}
	return a.keep + a.b.most/spare
}

// Take takes bytes for an address. It waits for them until ctx ends or, unless within is 0, for that time. Its error is
// a [TooLargeError], ErrFull or that of ctx.
func (a *Account) Take(ctx context.Context, from netip.Addr, bytes int64, within time.Duration) error {
	b := a.b
	if most := a.most(bytes); bytes > most {
		return &TooLargeError{bytes, most}
	}
	b.mu.Lock()
	if (bytes <= small || len(b.turns) == 0) && a.fits(from, bytes) {
		a.add(from, bytes)
		b.mu.Unlock()
		return nil
	}
	w := &waiter{bytes: bytes, granted: make(chan struct{})}
	l := a.enqueue(from, w)
	b.serve()
	b.mu.Unlock()
	var late <-chan time.Time
	if within > 0 {
		t := time.NewTimer(within)
		defer t.Stop()
		late = t.C
	}
	err := ErrFull
	select {
	case <-w.granted:
		return nil
	case <-late:
	case <-ctx.Done():
		err = ctx.Err()
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if i := slices.Index(l.waiting, w); i >= 0 {
		l.waiting = slices.Delete(l.waiting, i, i+1)
		if turn := slices.Index(b.turns, l); len(l.waiting) == 0 || w.held && b.smaller(turn, bytes) {
			b.endTurn(turn)
		}
	} else { // granted in the meantime
		a.add(from, -bytes)
	}
	b.serve()
	return err
}

// enqueue adds a request to those of its address that wait, and returns the line it is in. A line begins behind all others.
func (a *Account) enqueue(from netip.Addr, w *waiter) *line {
	b, keep := a.b, a.keepFrom(w.bytes)
	at := slices.IndexFunc(b.turns, func(l *line) bool { return l.by == a && l.from == from && l.keep == keep })
	if at < 0 {
		at = len(b.turns)
		b.turns = append(b.turns, &line{by: a, from: from, keep: keep})
	}
	l := b.turns[at]
	l.waiting = append(l.waiting, w)
	return l
}

// Try takes bytes if they are free now. Its error is ErrFull.
func (a *Account) Try(from netip.Addr, bytes int64) error {
	a.b.mu.Lock()
	defer a.b.mu.Unlock()
	if !a.fits(from, bytes) {
		return ErrFull
	}
	a.add(from, bytes)
	return nil
}

// More takes bytes that are already in use, even if none are left: later requests then wait longer.
func (a *Account) More(from netip.Addr, bytes int64) {
	a.b.mu.Lock()
	defer a.b.mu.Unlock()
	a.add(from, bytes)
	if bytes < 0 {
		a.b.serve()
	}
}

// Give gives bytes back.
func (a *Account) Give(from netip.Addr, bytes int64) { a.More(from, -bytes) }

// Used returns how many bytes are in use.
func (b *Budget) Used() int64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.used
}

// fits reports whether bytes are free for an address.
func (a *Account) fits(from netip.Addr, bytes int64) bool {
	return a.free(bytes) && a.b.by[from]+bytes <= a.b.each
}

// free reports whether bytes are free in the budget as a whole, regardless of address.
func (a *Account) free(bytes int64) bool {
	b := a.b
	return b.used+bytes <= b.most-a.keepFrom(bytes) || a.keep == 0 && b.own+bytes <= b.kept
}

// add counts bytes for an address.
func (a *Account) add(from netip.Addr, bytes int64) {
	b := a.b
	b.used += bytes
	if a.keep == 0 {
		b.own += bytes
	}
	if b.by[from] += bytes; b.by[from] <= 0 {
		delete(b.by, from)
	}
}

// serve grants the waiting requests that fit, one of each line in turn. It passes over those whose address already has
// its part; a line with only such requests keeps its turn. The first request that the whole budget has too few bytes for
// also holds back the lines behind it that leave at least as much for others, so that a request for many bytes is
// granted eventually. If it gives up while a smaller one waits there, the turn of its line is over: an address that asks
// again and again would otherwise hold the others back without end.
func (b *Budget) serve() {
	stop := int64(math.MaxInt64)
	for i := 0; i < len(b.turns) && stop > 0; { // at 0 nothing is free for anyone: thousands may wait
		l := b.turns[i]
		at := -1
		if l.keep < stop {
			at = slices.IndexFunc(l.waiting, func(w *waiter) bool { return b.by[l.from]+w.bytes <= b.each })
		}
		switch {
		case at < 0:
			i++
		case !l.by.free(l.waiting[at].bytes):
			stop, l.waiting[at].held = l.keep, true
			i++
		default:
			b.grant(i, at)
		}
	}
}

// grant gives a waiting request of a line its bytes, and ends the turn of the line.
func (b *Budget) grant(turn, at int) {
	l := b.turns[turn]
	w := l.waiting[at]
	l.by.add(l.from, w.bytes)
	close(w.granted)
	l.waiting = slices.Delete(l.waiting, at, at+1)
	b.endTurn(turn)
}

// smaller reports whether a line holds back a request that needs fewer free bytes than its own request for so many, with those
// that each must leave to others, and that its address's part allows.
func (b *Budget) smaller(turn int, bytes int64) bool {
	keep := b.turns[turn].keep
	return slices.ContainsFunc(b.turns[turn+1:], func(l *line) bool {
		return l.keep >= keep && slices.ContainsFunc(l.waiting, func(w *waiter) bool {
			return w.bytes+l.keep < bytes+keep && b.by[l.from]+w.bytes <= b.each
		})
	})
}

// endTurn removes a line unless requests of it wait: its next turn comes after those of all others.
func (b *Budget) endTurn(turn int) {
	l := b.turns[turn]
	b.turns = slices.Delete(b.turns, turn, turn+1)
	if len(l.waiting) == 0 {
		return
	}
	for _, w := range l.waiting {
		w.held = false
	}
	b.turns = append(b.turns, l)
}
