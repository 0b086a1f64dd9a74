package budget

import (
	"context"
	"net/netip"
	"sync"
	"time"
)

// A Desk puts answers together out of memory: how much one takes is known when it is there, so that only a few are put together
// at once, and each is expected to take as much as the longest one like it lately.
type Desk struct {
	memory *Account
	seats  *Account
	within time.Duration
}

// NewDesk returns a desk where so many answers are put together at once, half of them for one address. Whoever comes waits so
// long for memory and a seat; 0 is as long as it takes.
func NewDesk(memory *Account, seats int, within time.Duration) *Desk {
	return &Desk{memory, New(int64(seats), int64(seats+1)/2).Account(0), within}
}

// halfLife is how long it takes until half as much is expected as the longest answer took up. It is no matter of how many
// short ones there were since: whoever asks for many would have room for long ones that nobody expects.
const halfLife = 10 * time.Minute

// An Expectation is how many bytes answers of one kind take up.
type Expectation struct {
	mu    sync.Mutex
	bytes int64
	seen  time.Time // when one took up so much
}

// Bytes is how many the next one is expected to take up.
func (e *Expectation) Bytes() int64 {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.now()
}

func (e *Expectation) now() int64 { return e.bytes >> min(time.Since(e.seen)/halfLife, 63) }

// Saw notes what one took up.
func (e *Expectation) Saw(bytes int64) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if bytes >= e.now() {
		e.bytes, e.seen = bytes, time.Now()
	}
}

// An Answer is memory that an answer takes up, from when it is begun until it has left.
type Answer struct {
	d     *Desk
	e     *Expectation
	from  netip.Addr
	long  bool
	bytes int64
	begun bool
	sits  bool
}

// answerKey is an [Answer] in a context.
type answerKey struct{}

// Answer is one that is about to be put together, with the context in which [Begin] begins it; one that may be long has a seat
// while it is. [Answer.Made] and [Answer.Left] follow in any case. It is used by one goroutine.
func (d *Desk) Answer(ctx context.Context, from netip.Addr, e *Expectation, long bool) (context.Context, *Answer) {
	a := &Answer{d: d, e: e, from: from, long: long}
	return context.WithValue(ctx, answerKey{}, a), a
}

// Begin waits for memory for the answer that a context is about, if there is one that has not begun, and for a seat. It is called
// once all is there that the answer is made of: nobody has a seat while waiting for anything else. Whoever waits for a seat holds
// nothing but what is expected of its own answer: where more is expected by the time that there is one, it gives all back and
// comes again. Its error is ErrFull or that of ctx.
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

// leastAnswer is what a request takes up beside its answer.
const leastAnswer = 32 << 10

// expected is what the answer is expected to take up. Nobody is refused for what somebody else was told: it is no more than an
// address has room for beside other calls, and than others have while one address has all that it may have.
func (a *Answer) expected() int64 {
	most := a.d.memory.Most() / 4 * 3
	if beside := a.d.memory.beside(); beside > leastAnswer {
		most = min(most, beside)
	}
	return min(leastAnswer+a.e.Bytes(), most)
}

// Made says how many bytes the answer takes up, which is there now.
func (a *Answer) Made(bytes int64) {
	a.rise()
	a.e.Saw(bytes)
	more := leastAnswer + bytes - a.bytes
	a.d.memory.More(a.from, more)
	a.bytes += more
}

// Left gives the memory back, and the seat where there never was an answer.
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
