package budget

import (
	"context"
	"net/netip"
	"sync/atomic"
	"time"
)

// A Desk puts answers together out of memory: how much one takes is known when it is there, so that only a few are put together
// at once, and each is expected to take as much as the last one like it.
type Desk struct {
	memory *Account
	seats  *Account
	within time.Duration
}

// NewDesk returns a desk where so many answers are put together at once, half of them for one address. Whoever comes waits so
// long for memory, and for a seat; 0 is as long as it takes.
func NewDesk(memory *Account, seats int, within time.Duration) *Desk {
	return &Desk{memory, New(int64(seats), int64(seats+1)/2).Account(0), within}
}

// An Expectation is how many bytes answers of one kind take up.
type Expectation struct{ bytes atomic.Int64 }

// Bytes is how many the next one is expected to take up.
func (e *Expectation) Bytes() int64 { return e.bytes.Load() }

// Saw notes what one took up: the next one is expected to take as much, and less by and by.
func (e *Expectation) Saw(bytes int64) {
	was := e.bytes.Load()
	e.bytes.Store(max(bytes, was-was/8))
}

// Sit waits for a seat at which an answer is put together. The caller holds so many bytes for it, and others beside. Where more is
// expected by the time that there is a seat, Sit waits for that too, and tells how much it took: of many who ask for the first
// long answer at once, only those at a desk do not know how long it is.
func (d *Desk) Sit(ctx context.Context, from netip.Addr, e *Expectation, holds, beside int64) (more int64, err error) {
	for {
		if err := d.seats.Take(ctx, from, 1, d.within); err != nil {
			d.memory.Give(from, more)
			return 0, err
		}
		lacks := min(e.Bytes(), d.memory.Most()-beside) - holds - more
		if lacks <= 0 {
			return more, nil
		}
		d.Rise(from)
		if err := d.memory.Take(ctx, from, lacks, d.within); err != nil {
			d.memory.Give(from, more)
			return 0, err
		}
		more += lacks
	}
}

// Rise gives a seat back.
func (d *Desk) Rise(from netip.Addr) { d.seats.Give(from, 1) }

// An Answer is memory that an answer takes up until it has left.
type Answer struct {
	d     *Desk
	e     *Expectation
	from  netip.Addr
	bytes int64
	sits  bool
}

// Expect waits for memory for an answer, for no more than there may be, and where it may be long for a seat, at which it is put together. [Answer.Made] and [Answer.Left] follow.
func (d *Desk) Expect(ctx context.Context, from netip.Addr, e *Expectation, long bool) (*Answer, error) {
	a := &Answer{d: d, e: e, from: from, bytes: min(leastAnswer+e.Bytes(), d.memory.Most()), sits: long}
	if err := d.memory.Take(ctx, from, a.bytes, d.within); err != nil {
		return nil, err
	}
	if long {
		more, err := d.Sit(ctx, from, e, a.bytes-leastAnswer, leastAnswer)
		if err != nil {
			d.memory.Give(from, a.bytes)
			return nil, err
		}
		a.bytes += more
	}
	return a, nil
}

// leastAnswer is what a request takes up beside its answer.
const leastAnswer = 32 << 10

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
}

func (a *Answer) rise() {
	if a.sits {
		a.sits = false
		a.d.Rise(a.from)
	}
}
