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

	mu      sync.Mutex
	kept    int64 // reserved for accounts that leave nothing to others
	used    int64
	own     int64 // the part of used that those accounts hold
	by      map[netip.Addr]int64
	waiting []*waiter // those of one account by round, and within a round in order of arrival
}

// A waiter is a request that waits for bytes.
type waiter struct {
	by      *Account
	from    netip.Addr
	bytes   int64
	round   int // of the account's; each address has one request in each: addresses take turns
	granted chan struct{}
}

// New returns a budget of most bytes in total and each bytes per address.
func New(most, each int64) *Budget {
	return &Budget{most: most, each: min(each, most), by: map[netip.Addr]int64{}}
}

// An Account is a view of a budget for one group of users.
type Account struct {
	b    *Budget
	keep int64 // bytes left for other users

	round  int                 // the last one in which a request that had waited was granted
	served map[netip.Addr]bool // the addresses of which one was granted in that round
}

// Account returns an account whose users leave keep bytes of the budget to the accounts that leave nothing. The latter
// can have that many bytes even if the former unexpectedly hold more than their share.
func (b *Budget) Account(keep int64) *Account {
	b.mu.Lock()
	defer b.mu.Unlock()
	keep = max(0, min(keep, b.most-b.most/spare-1))
	b.kept = max(b.kept, keep)
	return &Account{b: b, keep: keep, served: map[netip.Addr]bool{}}
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
	if (bytes <= small || len(b.waiting) == 0) && a.fits(from, bytes) {
		a.add(from, bytes)
		b.mu.Unlock()
		return nil
	}
	w := &waiter{by: a, from: from, bytes: bytes, granted: make(chan struct{})}
	b.enqueue(w)
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
	if i := slices.Index(b.waiting, w); i >= 0 {
		b.waiting = slices.Delete(b.waiting, i, i+1)
	} else { // granted in the meantime
		a.add(from, -bytes)
	}
	b.serve()
	return err
}

// enqueue adds a request to those that wait. It belongs to the first round that is not over and in which its address has
// no other request, so that those who ask again and again overtake nobody, not even an older request of their own.
func (b *Budget) enqueue(w *waiter) {
	a := w.by
	if !slices.ContainsFunc(b.waiting, func(other *waiter) bool { return other.by == a }) {
		clear(a.served)
	}
	w.round = a.round
	if a.served[w.from] {
		w.round++
	}
	for _, other := range b.waiting {
		if other.by == a && other.from == w.from {
			w.round = max(w.round, other.round+1)
		}
	}
	at := slices.IndexFunc(b.waiting, func(other *waiter) bool { return other.by == a && other.round > w.round })
	if at < 0 {
		at = len(b.waiting)
	}
	b.waiting = slices.Insert(b.waiting, at, w)
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
	if bytes < 0 && len(a.b.waiting) > 0 {
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

// serve grants the waiting requests that fit. It passes over those whose address already has its part. The first
// request that the whole budget has too few bytes for also holds back the requests behind it that leave at least as
// much for others, so that a request for many bytes is granted eventually.
func (b *Budget) serve() {
	left := b.waiting[:0]
	stop := int64(math.MaxInt64)
	for i, w := range b.waiting {
		if stop == 0 { // nothing is free for anyone: thousands may wait
			if len(left) == i {
				return
			}
			left = append(left, b.waiting[i:]...)
			break
		}
		switch {
		case b.by[w.from]+w.bytes > b.each:
		case w.by.keepFrom(w.bytes) >= stop || !w.by.free(w.bytes):
			stop = min(stop, w.by.keepFrom(w.bytes))
		default:
			w.grant()
			continue
		}
		left = append(left, w)
	}
	clear(b.waiting[len(left):])
	b.waiting = left
}

// grant gives a waiting request its bytes. Its round may be over, if there was nothing for it until now.
func (w *waiter) grant() {
	a := w.by
	a.add(w.from, w.bytes)
	if w.round > a.round {
		a.round = w.round
		clear(a.served)
	}
	if w.round == a.round {
		a.served[w.from] = true
	}
	close(w.granted)
}
