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

// Readers are the callers that read, over RPC, REST and pages. Building their answers from a view, above all lists,
// takes processors that the loop needs too. So there are only as many turns at a time as processors less one, and
// callers take turns. Readers keep one account of how much each caller asked for.
type Readers struct {
	mu           sync.Mutex
	atOnce       int               // how many callers may have a turn at a time
	running      int               // how many callers have a turn
	resting      int               // turns that rest: only callers that use little may have them
	light        fairQueue[*place] // callers that use little
	waiting      fairQueue[*place] // readings
	calling      fairQueue[*place] // all other calls; there are no more than connections
	called       bool              // the last turn that began was one of calling
	since        time.Time         // since then no turn was free, and none rested
	used         usages            // by address
	lightly      usage             // of all addresses that use little
	usedBy       usages            // by caller
	usersLightly usage             // of all callers that use little at addresses that use more
	accounts     map[string]*Account
	others       Account // callers that are no longer kept by name
}

// A place is a caller's place in the queue.
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
	Busy   uint64        `json:"refused_busy"` // of Calls, those refused because too many of the caller's were waiting
	Worked time.Duration `json:"-"`            // on answers
	Waited time.Duration `json:"-"`            // for a turn
	Bytes  uint64        `json:"bytes"`        // of answers
}

// mostAccounts is how many callers are kept by name. A new caller replaces the one that took the least.
const mostAccounts = 256

// NewReaders returns readers with atOnce turns at a time; 0 means as many as there are processors less one.
func NewReaders(atOnce int) *Readers {
	if atOnce == 0 {
		atOnce = max(1, runtime.GOMAXPROCS(0)-1)
	}
	return &Readers{atOnce: atOnce, accounts: map[string]*Account{}}
}

// Accounts returns the accounts that took the longest, limited to most. The sum of all others, if any, comes last.
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

// begin waits for a turn. It may refuse a reading, unless the reading had a turn before (again).
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
		// Go lets a woken goroutine go on at once, in the time slice of the one that woke it, ahead of others that wait
		// for the same processor. A chain of turns would delay those by ten milliseconds.
		runtime.Gosched()
		return nil
	case <-ctx.Done():
	}
	d.mu.Lock()
	p.left = true
	begun := p.begun
	d.mu.Unlock()
	if begun { // it began at the same moment
		d.next(caller, 0)
	}
	return ctx.Err()
}

// queue returns the queue in which a place waits.
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

// Enter waits until a caller may use a processor for anything that a [Reading] does not cover. The caller has the turn
// until Leave. If such calls and readings both wait, they alternate.
func (d *Readers) Enter(ctx context.Context, caller string) error {
	return d.begin(ctx, caller, false, false)
}

// Leave ends a turn that Enter began. took is how long it lasted.
func (d *Readers) Leave(caller string, took time.Duration) { d.next(caller, took) }

// wanted reports whether somebody waits for a turn.
func (d *Readers) wanted() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.light.n+d.waiting.n+d.calling.n > 0
}

// After longestStretch of turns one after another, the next turn rests for stretchRest, so that a flood leaves time to
// nodes and masters even if the host has no more than that to give. Only callers that use little have it meanwhile.
const (
	longestStretch = 2 * time.Millisecond
	stretchRest    = time.Millisecond
)

// next ends a caller's turn and lets the next turn begin, after a rest if one is due.
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
		d.since = now.Add(stretchRest) // other turns go on meanwhile
		d.resting++
		time.AfterFunc(stretchRest, d.rested)
		return
	}
	d.let()
}

// rested lets the next turn begin after a rest, however long the rest was. On a busy host it ends late, and another
// rest right after it would make everybody wait for ever.
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

// let begins as many turns as are free; d.mu is held.
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

// A Reading is one call that reads. It is used by one goroutine.
type Reading struct {
	of     *Readers
	caller string
	spent  Account
	has    bool // it has the turn
	had    bool // it had a turn before
	over   bool
	since  time.Time
	member string   // a user who asks
	groups []string // the user's groups; nil if they were not looked up
	failed error    // they were, and are not known
	unsure error    // the same, and an access list needed them
}

// readingKey is the context key of a [Reading].
type readingKey struct{}

// Begin begins a call that reads. What is read with the returned context is charged to the caller. The caller must call
// End. On nil Readers, nobody waits for a turn.
func (d *Readers) Begin(ctx context.Context, caller string) (context.Context, *Reading) {
	if d == nil {
		return ctx, nil
	}
	r := &Reading{of: d, caller: caller, spent: Account{Calls: 1}}
	return context.WithValue(ctx, readingKey{}, r), r
}

// End ends the call. bytes is the length of its answer. Only the first call of End counts.
func (r *Reading) End(bytes int) {
	if r == nil || r.over {
		return
	}
	r.over = true
	r.Pause()
	r.spent.Bytes = uint64(bytes)
	r.of.charge(r.caller, &r.spent)
}

// Turn waits until the call has the turn.
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

// Breathe lets others run from time to time in a loop over a long list, where i counts the iterations: readers that
// wait for a turn, and goroutines that wait for a processor. Those may serve nodes, and would otherwise wait for ten
// milliseconds at every step. It fails if the call's context ends before its next turn.
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

// Pause gives the turn up while the call waits for something else.
func (r *Reading) Pause() {
	if r == nil || !r.has {
		return
	}
	r.has = false
	took := time.Since(r.since)
	r.spent.Worked += took
	r.of.next(r.caller, took)
}

// Unsure returns the error of looking up the groups of the user who asks, if that failed and an access list needed them:
// whether the user may view something may depend on it.
func (r *Reading) Unsure() error {
	if r == nil {
		return nil
	}
	return r.unsure
}

// A TurnWriter writes an answer that is built during the turns of a reading. While it writes, others have turns. The
// caller must call End.
type TurnWriter struct {
	r   *Reading
	ctx context.Context //nolint:containedctx // of the answer that is written
	w   io.Writer
	b   []byte

	passed int // bytes since the last turn
}

// turnBytes is how much is collected before it is written.
const turnBytes = 32 << 10

// Writer returns a TurnWriter to w. A write fails if ctx ends before the next turn.
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

// Passed counts bytes that Write receives only in compressed form, so that others get their turns as often.
func (t *TurnWriter) Passed(bytes int) error {
	if t.passed += bytes; t.passed < turnBytes {
		return nil
	}
	t.passed = 0
	t.r.Pause()
	return t.r.Turn(t.ctx)
}

// End writes what is left. Nothing may be written after it.
func (t *TurnWriter) End() error {
	t.r.Pause()
	_, err := t.w.Write(t.b)
	t.b = t.b[:0]
	return err
}

// ReadingOf returns the call that a context belongs to, or nil if there is none.
func ReadingOf(ctx context.Context) *Reading {
	r, _ := ctx.Value(readingKey{}).(*Reading)
	return r
}

// callerKey is the context key of the caller.
type callerKey struct{}

// WithCaller returns the context of a call by a user at an address (RPC) or an address (HTTP). Callers take turns.
func WithCaller(ctx context.Context, caller string) context.Context {
	return context.WithValue(ctx, callerKey{}, caller)
}

// CallerOf returns the caller; "" if the context does not say.
func CallerOf(ctx context.Context) string {
	if r := ReadingOf(ctx); r != nil {
		return r.caller
	}
	caller, _ := ctx.Value(callerKey{}).(string)
	return caller
}
