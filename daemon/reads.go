package daemon

import (
	"context"
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"heddle/internal/budget"
	"heddle/rm"
)

// Reads are answered from a view of the machine, which is immutable and shared by all readers. A reader gets a view that shows
// everything that had happened when it asked. If the last view does, the reader does not wait. Otherwise the loop makes another
// view from what has changed, in pieces, within the readers' share of its time. While there are no readers, it makes none.
//
// What no view contains is asked of the machine: one question at a time, within the same share of the loop's time. Questions of
// one caller wait behind each other, and the same question of several callers is asked once.
type reads struct {
	view  atomic.Pointer[published] // the last one; nil before the first
	stale atomic.Bool               // something has happened that the view does not show

	mu    sync.Mutex
	next  *round // readers who want a view that is not being made yet; nil for none
	queue fairQueue[*question]
	asked map[any]*question // the questions in queue, by key
	light int               // readers who use little and wait for a view or an answer

	views, questions, dropped atomic.Uint64
	busy                      atomic.Int64

	// What follows belongs to the loop.
	making   *round // readers who wait for the view that is being made; nil for none
	share    share
	lights   share     // a second share, used while a reader waits who uses little
	viewFrom time.Time // when there is time for another view
}

// A round is a group of readers who wait for the same view.
type round struct {
	n    int // of readers
	done chan struct{}
}

// A published is a view, with results that are computed from it on first use.
type published struct {
	*rm.View
	queues func() []rm.QueueReport
}

// A Memo keeps the encoded report of an application: Whole for callers who may see all of it, Masked for the others. It is the Memo
// of [rm.AppReport], and ends with the first view that shows a change of the application.
type Memo struct{ Whole, Masked atomic.Value }

func newMemo() any { return new(Memo) }

// A question is asked of the machine.
type question struct {
	key    any
	ask    func(rm.Reports) any
	answer any
	of     []string // callers in whose places it waits
	n      int      // of calls that wait for the answer
	done   chan struct{}
}

const (
	// piece is how many applications and nodes are added to a view at a time, and containers to a list.
	piece = 256
	// viewsApart is the least time between two views. Their part of the loop's time is bounded too: see share.
	viewsApart = time.Millisecond
	// readCredit is how much unused time counts later. It is enough for two milliseconds of views and questions in a row.
	readCredit = 2 * parts * time.Millisecond
)

// current waits until the last view shows everything that has happened by now.
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

// wait counts a caller who uses little among the waiting readers, until done is called.
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

// nudge wakes the loop.
func (r *RM) nudge() {
	select {
	case r.wake <- struct{}{}:
	default:
	}
}

// look returns what f finds in a current view.
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

// Begin begins the answer to a call, as [budget.Begin] does, once its data is there. The error is ErrBusy if there is no memory for
// the answer.
func Begin(ctx context.Context) error {
	err := budget.Begin(ctx)
	if errors.Is(err, budget.ErrFull) {
		return ErrBusy
	}
	return err
}

// ask asks the machine with f. Questions with the same key are the same question.
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

// question returns the waiting question of a key, a new one if there is none, and counts one more call. The question waits in
// the place of each caller, so that nobody waits behind what another caller asked before.
func (r *RM) question(ctx context.Context, key any, f func(rm.Reports) any) (*question, error) {
	d := &r.reads
	d.mu.Lock()
	defer d.mu.Unlock()
	q, caller := d.asked[key], CallerOf(ctx)
	if q == nil {
		q = &question{key: key, ask: f, done: make(chan struct{})}
	}
	if !slices.Contains(q.of, caller) {
		switch err := d.queue.push(caller, q); {
		case err == nil:
			q.of, d.asked[key] = append(q.of, caller), q
		case len(q.of) == 0:
			return nil, err
		}
	}
	q.n++
	return q, nil
}

// serveReads does what readers wait for, within their share of the time.
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
	took := of.spend(readCredit, func() {
		r.publish(now)
		r.answerOne()
	})
	d.busy.Add(int64(took))
}

// publish continues the view that readers wait for.
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

// answerOne asks the machine one waiting question, if there is one.
func (r *RM) answerOne() {
	d := &r.reads
	for {
		d.mu.Lock()
		q, ok := d.queue.pop()
		if !ok {
			d.mu.Unlock()
			return
		}
		if d.asked[q.key] != q { // it was taken in another caller's place
			d.mu.Unlock()
			continue
		}
		delete(d.asked, q.key)
		left := q.n == 0
		d.mu.Unlock()
		if left {
			d.dropped.Add(1)
			continue
		}
		q.answer = q.ask(r.m.Reports().At(r.at(time.Now())))
		d.questions.Add(1) // before the caller continues, which may read the count
		close(q.done)
		return
	}
}

// due returns when there is something to do for readers; ok is false if there is nothing.
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
	Dropped   uint64        // questions that no caller waited for any more
	Busy      time.Duration // processor time spent on all this
}

// ReadStats returns what the loop has done for readers.
func (r *RM) ReadStats() ReadStats {
	d := &r.reads
	return ReadStats{d.views.Load(), d.questions.Load(), d.dropped.Load(), time.Duration(d.busy.Load())}
}
