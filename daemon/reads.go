package daemon

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"heddle/internal/budget"
	"heddle/rm"
)

// Reads are answered from a view of the machine, which does not change and is shared by all who read. A reader is given one
// that shows all that had happened when it asked. Where the last one does, it does not wait; otherwise it wants another one,
// which the loop makes of what has changed, in pieces, in the time that it has for that. While nobody reads nothing is made.
//
// What no view has is asked of the machine: one question at a time, in the same share of the loop's time. Questions of one
// caller wait behind each other, and the same question of several is asked once.
type reads struct {
	view  atomic.Pointer[published] // the last one; nil before the first
	stale atomic.Bool               // something has happened that it does not show

	mu    sync.Mutex
	next  *round // those who want a view that is not being made yet; nil for nobody
	queue fairQueue[*question]
	asked map[any]*question // those of the queue
	light int               // how many wait, for a view or an answer, who use little

	views, questions, dropped atomic.Uint64
	busy                      atomic.Int64

	// What follows belongs to the loop.
	making   *round // those who wait for the view that is being made; nil for none
	share    share
	lights   share     // another one, while somebody waits who uses little
	viewFrom time.Time // when there is time for another view
}

// A round is the readers that wait for the same view.
type round struct {
	n    int // of them
	done chan struct{}
}

// A published is a view, with what is worked out of it once it is wanted.
type published struct {
	*rm.View
	queues func() []rm.QueueReport
}

// A Memo is what is kept of an application's report once it was put together for somebody, by whether that one may see all of it:
// the Memo of [rm.AppReport]. It is gone with the first view that shows the application changed.
type Memo struct{ Whole, Masked atomic.Value }

func newMemo() any { return new(Memo) }

// A question is asked of the machine.
type question struct {
	key    any
	ask    func(rm.Reports) any
	answer any
	n      int // callers who wait for the answer
	done   chan struct{}
}

const (
	// piece is how many applications and nodes are looked at for a view at a time, and containers for a list.
	piece = 256
	// viewsApart is the least time between two views. What they may take of the loop's time is bounded beside it: see share.
	viewsApart = time.Millisecond
)

// current waits until the last view shows all that had happened by now.
func (r *RM) current(ctx context.Context) error {
	d := &r.reads
	if !d.stale.Load() {
		return nil
	}
	ReadingOf(ctx).Pause()
	defer d.wait(ctx)()
	d.mu.Lock()
	if d.next == nil {
		d.next = &round{done: make(chan struct{})}
	}
	w := d.next
	w.n++
	d.mu.Unlock()
	r.nudge()
	select {
	case <-w.done:
		return nil
	case <-ctx.Done():
		d.mu.Lock()
		w.n--
		d.mu.Unlock()
		return ctx.Err()
	case <-r.done:
		return ErrStopping
	}
}

// wait counts a caller who uses little among those who wait, until it is done.
func (d *reads) wait(ctx context.Context) (done func()) {
	if !ReadingOf(ctx).usesLittle() {
		return func() {}
	}
	count := func(more int) {
		d.mu.Lock()
		defer d.mu.Unlock()
		d.light += more
	}
	count(1)
	return func() { count(-1) }
}

// nudge has the loop look for something to do.
func (r *RM) nudge() {
	select {
	case r.wake <- struct{}{}:
	default:
	}
}

// look answers a question by what f finds in a view.
func look[T any](ctx context.Context, r *RM, f func(*published) (T, error)) (T, error) {
	var none T
	if err := r.current(ctx); err != nil {
		return none, err
	}
	if err := Begin(ctx); err != nil {
		return none, err
	}
	if err := ReadingOf(ctx).Turn(ctx); err != nil {
		return none, err
	}
	return f(r.reads.view.Load())
}

// Begin begins the answer that a call is for, as [budget.Begin] does: there is what it is made of. Its error is ErrBusy where there is no
// memory for it.
func Begin(ctx context.Context) error {
	err := budget.Begin(ctx)
	if errors.Is(err, budget.ErrFull) {
		return ErrBusy
	}
	return err
}

// ask has the machine asked what f asks. Questions with the same key are the same question.
func ask[T any](ctx context.Context, r *RM, key any, f func(rm.Reports) (T, error)) (T, error) {
	var none T
	if err := Begin(ctx); err != nil {
		return none, err
	}
	q, err := r.question(ctx, key, func(m rm.Reports) any {
		v, err := f(m)
		return answer[T]{v, err}
	})
	if err != nil {
		return none, err
	}
	ReadingOf(ctx).Pause()
	defer r.reads.wait(ctx)()
	r.nudge()
	select {
	case <-q.done:
		a := q.answer.(answer[T])
		return a.value, a.err
	case <-ctx.Done():
		r.reads.mu.Lock()
		q.n--
		r.reads.mu.Unlock()
		return none, ctx.Err()
	case <-r.done:
		return none, ErrStopping
	}
}

// question is the one of a key that waits to be asked, with one more who waits for the answer.
func (r *RM) question(ctx context.Context, key any, f func(rm.Reports) any) (*question, error) {
	d := &r.reads
	d.mu.Lock()
	defer d.mu.Unlock()
	q := d.asked[key]
	if q == nil {
		q = &question{key: key, ask: f, done: make(chan struct{})}
		if err := d.queue.push(CallerOf(ctx), q); err != nil {
			return nil, err
		}
		d.asked[key] = q
	}
	q.n++
	return q, nil
}

// serveReads does what readers wait for, in the time that there is for it.
func (r *RM) serveReads() {
	d := &r.reads
	now := time.Now()
	if at, ok := d.due(); !ok || now.Before(at) {
		return
	}
	of := &d.share
	if now.Before(of.from) {
		of = &d.lights
	}
	took := of.spend(func() {
		r.publish(now)
		r.answerOne()
	})
	d.busy.Add(int64(took))
}

// publish goes on with the view that readers wait for.
func (r *RM) publish(now time.Time) {
	d := &r.reads
	if d.making == nil {
		if now.Before(d.viewFrom) {
			return
		}
		d.mu.Lock()
		if d.next != nil && d.next.n > 0 {
			d.making, d.next = d.next, nil
		}
		d.mu.Unlock()
		if d.making == nil {
			return
		}
	}
	v := r.m.Publish(piece)
	if v == nil {
		return
	}
	d.view.Store(&published{View: v, queues: sync.OnceValue(v.Queues)})
	d.stale.Store(r.m.Changed())
	d.views.Add(1)
	close(d.making.done)
	d.making, d.viewFrom = nil, now.Add(viewsApart)
}

// answerOne asks the machine one question, if there is any.
func (r *RM) answerOne() {
	d := &r.reads
	for {
		d.mu.Lock()
		q, ok := d.queue.pop()
		if !ok {
			d.mu.Unlock()
			return
		}
		delete(d.asked, q.key)
		left := q.n == 0
		d.mu.Unlock()
		if left {
			d.dropped.Add(1)
			continue
		}
		q.answer = q.ask(r.m.Reports().At(r.at(time.Now())))
		d.questions.Add(1) // before whoever asked goes on, who may look how many there were
		close(q.done)
		return
	}
}

// due is when there is something to do for readers; ok is false for nothing.
func (d *reads) due() (at time.Time, ok bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	from := d.share.from
	if d.light > 0 && d.lights.from.Before(from) {
		from = d.lights.from
	}
	switch {
	case d.making != nil || d.queue.n > 0:
		return from, true
	case d.next != nil && d.next.n > 0:
		return latest(from, d.viewFrom), true
	}
	return at, false
}

func latest(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// ReadStats counts what the loop did for readers.
type ReadStats struct {
	Views     uint64        // made
	Questions uint64        // asked of the machine
	Dropped   uint64        // questions that nobody waited for any more
	Busy      time.Duration // of a processor, that all this took
}

// ReadStats says what the loop has done for readers.
func (r *RM) ReadStats() ReadStats {
	d := &r.reads
	return ReadStats{d.views.Load(), d.questions.Load(), d.dropped.Load(), time.Duration(d.busy.Load())}
}
