// Package budget shares memory out among callers: to each a part, to all of them together no more than there is. It knows
// nothing of what the memory is for: whoever takes some says how much, and gives it back.
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
	// small is how many bytes may overtake those who wait for more.
	small = 64 << 10
	// spare is the part of a budget that is for them alone, one of so many: otherwise a few who read long answers slowly keep
	// out all who ask for short ones.
	spare = 8
)

// ErrFull says that what is asked for is not there now.
var ErrFull = errors.New("the memory for calls is in use")

// A TooLargeError says that something is more than a caller may ever have.
type TooLargeError struct{ Bytes, Most int64 }

func (e *TooLargeError) Error() string {
	return fmt.Sprintf("it would take %d bytes of memory; at most %d are given to one address (memory.per_address in heddle.yaml)", e.Bytes, e.Most)
}

// A Budget is bytes that are shared out. It may be used by many goroutines.
type Budget struct {
	most, each int64

	mu      sync.Mutex
	kept    int64 // for those who leave nothing to others
	used    int64
	own     int64 // of it, by those
	by      map[netip.Addr]int64
	waiting []*waiter // first come first
}

// A waiter waits for bytes.
type waiter struct {
	by      *Account
	from    netip.Addr
	bytes   int64
	granted chan struct{}
}

// New returns a budget of so many bytes in all, and for each address.
func New(most, each int64) *Budget {
	return &Budget{most: most, each: min(each, most), by: map[netip.Addr]int64{}}
}

// An Account is a budget as some of its users have it.
type Account struct {
	b    *Budget
	keep int64 // left for other users
}

// Account returns the budget for those who leave so many bytes of it to others: to those who leave nothing. These have so much
// whatever the former have that nobody expected.
func (b *Budget) Account(keep int64) *Account {
	b.mu.Lock()
	defer b.mu.Unlock()
	keep = max(0, min(keep, b.most-b.most/spare-1))
	b.kept = max(b.kept, keep)
	return &Account{b, keep}
}

// Most is how many bytes an address may have at the most.
func (a *Account) Most() int64 { return a.most(math.MaxInt64) }

// most is how many there may be in use for whoever asks for so many.
func (a *Account) most(bytes int64) int64 { return min(a.b.each, a.b.most-a.keepFrom(bytes)) }

// beside is what long calls of others have left while one address has all that it may have.
func (a *Account) beside() int64 { return a.b.most - a.keepFrom(math.MaxInt64) - a.b.each }

// keepFrom is how many bytes whoever asks for so many leaves.
func (a *Account) keepFrom(bytes int64) int64 {
	if bytes <= small {
		return a.keep
	}
	return a.keep + a.b.most/spare
}

// Take takes bytes for an address, and waits for them until ctx ends, or for a time; 0 is as long as it takes. Its error is a
// [TooLargeError], ErrFull or that of ctx.
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
	w := &waiter{a, from, bytes, make(chan struct{})}
	b.waiting = append(b.waiting, w)
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
	} else { // it was granted meanwhile
		a.add(from, -bytes)
	}
	b.serve()
	return err
}

// Try takes bytes if they are there now. Its error is ErrFull.
func (a *Account) Try(from netip.Addr, bytes int64) error {
	a.b.mu.Lock()
	defer a.b.mu.Unlock()
	if !a.fits(from, bytes) {
		return ErrFull
	}
	a.add(from, bytes)
	return nil
}

// More takes bytes that are in use already, though there may be none left: what comes after waits the longer.
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

// Used is how many bytes are in use.
func (b *Budget) Used() int64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.used
}

// fits reports whether there are bytes for an address.
func (a *Account) fits(from netip.Addr, bytes int64) bool {
	return a.free(bytes) && a.b.by[from]+bytes <= a.b.each
}

// free reports whether there are bytes.
func (a *Account) free(bytes int64) bool {
	b := a.b
	return b.used+bytes <= b.most-a.keepFrom(bytes) || a.keep == 0 && b.own+bytes <= b.kept
}

// add counts bytes of an address.
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

// serve grants what waits and fits. Those whose address has its part are passed over. The first for whom there is not enough
// in all has those behind it wait too that leave as much for others, so that whoever waits gets much in the end.
func (b *Budget) serve() {
	left := b.waiting[:0]
	stop := int64(math.MaxInt64)
	for i, w := range b.waiting {
		if stop == 0 { // there is nothing for anybody: thousands may wait
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
			w.by.add(w.from, w.bytes)
			close(w.granted)
			continue
		}
		left = append(left, w)
	}
	clear(b.waiting[len(left):])
	b.waiting = left
}
