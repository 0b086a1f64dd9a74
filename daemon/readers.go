package daemon

import (
	"cmp"
	"context"
	"io"
	"maps"
	"runtime"
	"slices"
	"sync"
	"time"
)

// Readers are those who read, over RPC, REST and pages. What is made of a view for them, lists most of all, takes a processor
// that the loop needs too: it is made for so many at once as there are processors but one, and callers come in turn. Readers
// keep one account of who asked how much.
type Readers struct {
	mu       sync.Mutex
	atOnce   int               // whose turn it may be at a time
	running  int               // whose turn it is
	resting  int               // turns that only those may have who use little
	light    fairQueue[*place] // of those who use little
	waiting  fairQueue[*place] // readings
	calling  fairQueue[*place] // all others; there are no more than connections
	called   bool              // the last one that began was of those
	since    time.Time         // there was nobody free, and nobody rested
	used     map[string]*usage // by address
	lightly  usage             // of all who use little
	accounts map[string]*Account
	others   Account // those that are not kept by name any more
}

// A place is a caller's in the queue.
type place struct {
	caller string
	reads  bool
	begin  chan struct{}
	begun  bool
	left   bool
}

// An Account is what a caller asked for since the start.
type Account struct {
	Caller string        `json:"caller"` // user and address over RPC, the address over HTTP; "" for all that are not kept by name
	Calls  uint64        `json:"calls"`
	Busy   uint64        `json:"refused_busy"` // of them, refused because too many of the caller's were waiting
	Worked time.Duration `json:"-"`            // on answers
	Waited time.Duration `json:"-"`            // for a turn
	Bytes  uint64        `json:"bytes"`        // of answers
}

// mostAccounts is how many callers are kept by name. The one that took the least gives way to a new one.
const mostAccounts = 256

// NewReaders returns readers for whom so much is made at once; for 0, as much as there are processors but one.
func NewReaders(atOnce int) *Readers {
	if atOnce == 0 {
		atOnce = max(1, runtime.GOMAXPROCS(0)-1)
	}
	return &Readers{atOnce: atOnce, used: map[string]*usage{}, accounts: map[string]*Account{}}
}

// Accounts are those who took the longest, at most so many, and all the others together, if any, as the last.
func (d *Readers) Accounts(most int) []Account {
	d.mu.Lock()
	defer d.mu.Unlock()
	out := make([]Account, 0, len(d.accounts)+1)
	for _, a := range d.accounts {
		out = append(out, *a)
	}
	slices.SortFunc(out, func(a, b Account) int {
		return cmp.Or(cmp.Compare(b.Worked, a.Worked), cmp.Compare(b.Calls, a.Calls), cmp.Compare(a.Caller, b.Caller))
	})
	rest := d.others
	for _, a := range out[min(most, len(out)):] {
		rest.add(&a)
	}
	if out = out[:min(most, len(out))]; rest.Calls > 0 {
		out = append(out, rest)
	}
	return out
}

func (a *Account) add(b *Account) {
	a.Calls, a.Busy, a.Bytes = a.Calls+b.Calls, a.Busy+b.Busy, a.Bytes+b.Bytes
	a.Worked, a.Waited = a.Worked+b.Worked, a.Waited+b.Waited
}

// charge adds to a caller's account.
func (d *Readers) charge(caller string, what *Account) {
	d.mu.Lock()
	defer d.mu.Unlock()
	a := d.accounts[caller]
	if a == nil {
		if len(d.accounts) >= mostAccounts {
			least := slices.MinFunc(slices.Collect(maps.Values(d.accounts)), func(a, b *Account) int {
				return cmp.Or(cmp.Compare(a.Worked, b.Worked), cmp.Compare(a.Calls, b.Calls), cmp.Compare(a.Caller, b.Caller))
			})
			d.others.add(least)
			delete(d.accounts, least.Caller)
		}
		a = &Account{Caller: caller}
		d.accounts[caller] = a
	}
	a.add(what)
}

// begin waits for a turn. One who reads may be refused, unless it goes on again with what it had a turn for.
func (d *Readers) begin(ctx context.Context, caller string, reads, again bool) error {
	d.mu.Lock()
	now := time.Now()
	light := d.usesLittle(caller, now)
	if d.running+d.resting < d.atOnce || light && d.running < d.atOnce {
		d.running++
		if d.resting == 0 {
			d.since = now
		}
		d.mu.Unlock()
		return nil
	}
	p := &place{caller: caller, reads: reads, begin: make(chan struct{})}
	var err error
	if reads && !again {
		err = d.queue(p, light).push(caller, p)
	} else {
		d.queue(p, light).add(caller, p)
	}
	d.mu.Unlock()
	if err != nil {
		return err
	}
	select {
	case <-p.begin:
		// Go has whoever is let in go on at once, in the time of whoever let him in, before others that wait for the same processor: a
		// chain of turns would keep them for ten milliseconds.
		runtime.Gosched()
		return nil
	case <-ctx.Done():
	}
	d.mu.Lock()
	p.left = true
	begun := p.begun
	d.mu.Unlock()
	if begun { // at the same moment
		d.next(caller, 0)
	}
	return ctx.Err()
}

// queue is where a place waits.
func (d *Readers) queue(p *place, light bool) *fairQueue[*place] {
	switch {
	case light:
		return &d.light
	case p.reads:
		return &d.waiting
	default:
		return &d.calling
	}
}

// Enter waits until a caller may have a processor, for anything but what a [Reading] is for; it is the caller's turn until Leave.
// Those who wait for that and those who read have every other turn.
func (d *Readers) Enter(ctx context.Context, caller string) error {
	return d.begin(ctx, caller, false, false)
}

// Leave is the end of a turn that Enter began, and that took so long.
func (d *Readers) Leave(caller string, took time.Duration) { d.next(caller, took) }

// wanted reports whether somebody waits for a turn.
func (d *Readers) wanted() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.light.n+d.waiting.n+d.calling.n > 0
}

// After longestStretch in which one turn followed another there is none for stretchRest: a flood leaves time to nodes and masters,
// even where the machine has no more than that to give. Only those who use little have turns meanwhile.
const (
	longestStretch = 2 * time.Millisecond
	stretchRest    = time.Millisecond
)

// next ends a caller's turn, and lets the next one begin, after a rest where one is due.
func (d *Readers) next(caller string, took time.Duration) {
	d.mu.Lock()
	defer d.mu.Unlock()
	now := time.Now()
	d.use(caller, took, now)
	d.running--
	for p, ok := d.light.pop(); ok; p, ok = d.light.pop() {
		switch {
		case p.left:
		case d.usesLittle(p.caller, now):
			d.start(p)
			return
		default: // it has used much meanwhile
			d.queue(p, false).add(p.caller, p)
		}
	}
	if d.waiting.n+d.calling.n > 0 && d.running+d.resting < d.atOnce && now.Sub(d.since) >= longestStretch {
		d.since = now.Add(stretchRest) // others go on meanwhile
		d.resting++
		time.AfterFunc(stretchRest, d.rested)
		return
	}
	d.let()
}

// rested lets the next one begin after a rest, however long that was: on a busy machine it ends late, and another one behind it would
// have everybody wait for ever.
func (d *Readers) rested() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.since = time.Now()
	d.resting--
	d.let()
}

// start begins the turn of a place; d.mu is held.
func (d *Readers) start(p *place) {
	d.running++
	p.begun = true
	close(p.begin)
}

// let lets the next ones begin; d.mu is held.
func (d *Readers) let() {
	for d.running+d.resting < d.atOnce {
		calling, from := d.waiting.n == 0 || d.calling.n > 0 && !d.called, &d.waiting
		if calling {
			from = &d.calling
		}
		p, ok := from.pop()
		if !ok {
			return
		}
		if !p.left {
			d.called = calling
			d.start(p)
		}
	}
}

// A Reading is one call of somebody who reads. It is used by one goroutine.
type Reading struct {
	of     *Readers
	caller string
	spent  Account
	has    bool // it is its turn
	had    bool // it was before
	over   bool
	since  time.Time
}

// readingKey is a [Reading] in a context.
type readingKey struct{}

// Begin is a call of somebody who reads. What is read with its context is charged to the caller; the call has to be ended.
// Where there are no readers to speak of, nobody waits for a turn.
func (d *Readers) Begin(ctx context.Context, caller string) (context.Context, *Reading) {
	if d == nil {
		return ctx, nil
	}
	r := &Reading{of: d, caller: caller, spent: Account{Calls: 1}}
	return context.WithValue(ctx, readingKey{}, r), r
}

// End is the end of the call, whose answer has so many bytes. Only the first end counts.
func (r *Reading) End(bytes int) {
	if r == nil || r.over {
		return
	}
	r.over = true
	r.Pause()
	r.spent.Bytes = uint64(bytes)
	r.of.charge(r.caller, &r.spent)
}

// Turn waits until it is the call's turn.
func (r *Reading) Turn(ctx context.Context) error {
	if r == nil || r.has {
		return nil
	}
	began := time.Now()
	err := r.of.begin(ctx, r.caller, true, r.had)
	r.since = time.Now()
	r.spent.Waited += r.since.Sub(began)
	r.had = r.had || err == nil
	if r.has = err == nil; err == ErrBusy { //nolint:errorlint // as it is returned
		r.spent.Busy++
	}
	return err
}

// Breathe lets others go on, now and then in a loop over a long list, of which i counts the rounds: readers whose turn it is not,
// and goroutines that wait for a processor. Those may be of nodes, which would wait for ten milliseconds at every step otherwise. It
// fails where the call's context ends before its next turn.
func Breathe(ctx context.Context, i int) error {
	const each = 32 // a few tenths of a millisecond
	if i%each != each-1 {
		return nil
	}
	if r := ReadingOf(ctx); r != nil && r.of.wanted() {
		r.Pause()
		return r.Turn(ctx)
	}
	runtime.Gosched()
	return nil
}

// usesLittle reports whether the caller uses little.
func (r *Reading) usesLittle() bool {
	if r == nil {
		return false
	}
	r.of.mu.Lock()
	defer r.of.mu.Unlock()
	return r.of.usesLittle(r.caller, time.Now())
}

// Pause lets others go on, while the call waits for something else.
func (r *Reading) Pause() {
	if r == nil || !r.has {
		return
	}
	r.has = false
	took := time.Since(r.since)
	r.spent.Worked += took
	r.of.next(r.caller, took)
}

// A TurnWriter writes an answer that is put together in the turns of a reading: while it is written, others have theirs. It is
// to be ended.
type TurnWriter struct {
	r   *Reading
	ctx context.Context //nolint:containedctx // of the answer that is written
	w   io.Writer
	b   []byte

	passed int // since the last turn
}

// turnBytes is how much is put together before it is written.
const turnBytes = 32 << 10

// Writer is a writer to w. A write fails where ctx ends before the next turn.
func (r *Reading) Writer(ctx context.Context, w io.Writer) *TurnWriter {
	return &TurnWriter{r: r, ctx: ctx, w: w}
}

// Write implements [io.Writer].
func (t *TurnWriter) Write(b []byte) (int, error) {
	if t.b = append(t.b, b...); len(t.b) < turnBytes {
		return len(b), nil
	}
	if err := t.End(); err != nil {
		return 0, err
	}
	return len(b), t.r.Turn(t.ctx)
}

// Passed says that so many bytes were put together for what Write gets a packed form of: others have their turns as often.
func (t *TurnWriter) Passed(bytes int) error {
	if t.passed += bytes; t.passed < turnBytes {
		return nil
	}
	t.passed = 0
	t.r.Pause()
	return t.r.Turn(t.ctx)
}

// End writes what is left; nothing more is put together.
func (t *TurnWriter) End() error {
	t.r.Pause()
	_, err := t.w.Write(t.b)
	t.b = t.b[:0]
	return err
}

// ReadingOf is the call that a context belongs to, nil for none.
func ReadingOf(ctx context.Context) *Reading {
	r, _ := ctx.Value(readingKey{}).(*Reading)
	return r
}

// callerKey is who calls, in a context.
type callerKey struct{}

// WithCaller is the context of a call of somebody: a user at an address over RPC, an address over HTTP. Callers come in turn.
func WithCaller(ctx context.Context, caller string) context.Context {
	return context.WithValue(ctx, callerKey{}, caller)
}

// CallerOf is who calls; "" where nobody says.
func CallerOf(ctx context.Context) string {
	if r := ReadingOf(ctx); r != nil {
		return r.caller
	}
	caller, _ := ctx.Value(callerKey{}).(string)
	return caller
}
