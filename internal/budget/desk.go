package budget

import (
	"context"
	"net/netip"
	"sync"
	"time"
)

// A Desk limits the memory of answers under construction. The size of an answer is known only when it is finished, so
// only a few are built at once, and each is expected to take as much memory as the longest recent answer of its kind.
type Desk struct {
	memory *Account
	seats  *Account
	within time.Duration
}

// NewDesk returns a desk that builds that many long answers at once, half of them for one address. A request waits at
// most within for memory and a seat; 0 means without limit.
func NewDesk(memory *Account, seats int, within time.Duration) *Desk {
	return &Desk{memory, New(int64(seats), int64(seats+1)/2).Account(0), within}
}

// halfLife is the time after which the expected size has fallen to half of the longest answer. The number of short
// answers since then does not matter: otherwise a caller could send many short requests and then get room for long
// answers that nobody expects.
const halfLife = 10 * time.Minute

// An Expectation is the expected size in bytes of answers of one kind.
type Expectation struct {
	mu    sync.Mutex
	bytes int64
	seen  time.Time // when an answer had that size
}

// Bytes returns the expected size of the next answer.
func (e *Expectation) Bytes() int64 {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.now()
}

func (e *Expectation) now() int64 { return e.bytes >> min(time.Since(e.seen)/halfLife, 63) }

// Saw records the size of an answer.
func (e *Expectation) Saw(bytes int64) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if bytes >= e.now() {
		e.bytes, e.seen = bytes, time.Now()
	}
}

// An Answer is the memory that an answer takes, from when it begins until it has been sent.
type Answer struct {
	d     *Desk
	e     *Expectation
	from  netip.Addr
	long  bool
	bytes int64
	begun bool
	sits  bool
}

// answerKey is the context key of an [Answer].
type answerKey struct{}

// Answer returns an answer that is about to be built and the context in which [Begin] begins it. An answer that may be
// long holds a seat while it is built. The caller always calls [Answer.Made] and [Answer.Left] afterwards. One
// goroutine uses an Answer.
func (d *Desk) Answer(ctx context.Context, from netip.Addr, e *Expectation, long bool) (context.Context, *Answer) {
	a := &Answer{d: d, e: e, from: from, long: long}
	return context.WithValue(ctx, answerKey{}, a), a
}

// Begin waits for memory and a seat for the answer of a context, if it has one that has not begun. Callers call it once
// they have all the data of the answer: nobody holds a seat while waiting for anything else. An answer that waits for a
// seat holds only the memory it is expected to need: if more is expected by the time a seat is free, it gives
// everything back and starts over. The error is ErrFull or that of ctx.
func Begin(ctx context.Context) error {
	a, _ := ctx.Value(answerKey{}).(*Answer)
	if a == nil || a.begun {
		return nil
	}
	within, cancel := ctx, context.CancelFunc(func() {})
	if a.d.within > 0 {
		within, cancel = context.WithTimeout(ctx, a.d.within)
	}
	defer cancel()
	err := a.take(within)
	if a.begun = err == nil; a.begun || ctx.Err() != nil {
		return err
	}
	return ErrFull
}

func (a *Answer) take(ctx context.Context) error {
	for {
		expected := a.expected()
		if err := a.d.memory.Take(ctx, a.from, expected, 0); err != nil {
			return err
		}
		a.bytes = expected
		if !a.long {
			return nil
		}
		if err := a.d.seats.Take(ctx, a.from, 1, 0); err != nil {
			a.Left()
			return err
		}
		a.sits = true
		if a.expected() <= a.bytes {
			return nil
		}
		a.Left()
	}
}

// leastAnswer is how many bytes a request takes in addition to its answer.
const leastAnswer = 32 << 10

// expected returns the expected size of the answer. It is at most what an address has room for beside other calls, and
// what others have while one address has everything it may have, so that no request is refused because of another
// caller's answer.
func (a *Answer) expected() int64 {
	most := a.d.memory.Most() / 4 * 3
	if beside := a.d.memory.beside(); beside > leastAnswer {
		most = min(most, beside)
	}
	return min(leastAnswer+a.e.Bytes(), most)
}

// Made records the size of the answer, which is now finished.
func (a *Answer) Made(bytes int64) {
	a.rise()
	a.e.Saw(bytes)
	more := leastAnswer + bytes - a.bytes
	a.d.memory.More(a.from, more)
	a.bytes += more
}

// Left gives back the memory, and also the seat if the answer was never made.
func (a *Answer) Left() {
	a.rise()
	a.d.memory.Give(a.from, a.bytes)
	a.bytes = 0
}

func (a *Answer) rise() {
	if a.sits {
		a.sits = false
		a.d.seats.Give(a.from, 1)
	}
}
