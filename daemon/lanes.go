package daemon

import (
	"context"
	"sync"
	"time"

	"heddle/rm"
)

// A lane is what the loop is asked for, by how long it may wait. Reads have none: see reads.go.
type lane int

const (
	beatLane   lane = iota // what nodes, their agents and masters say: the cluster stands still without it
	joinLane               // NodeManagers that register: whoever can make one up can make up thousands
	changeLane             // what clients and administrators say
)

// maxBeats is how many calls wait in the first lane. Of nodes and masters more wait to be let in.
const maxBeats = 4096

// How many calls of each lane the loop takes before it looks at the next: no lane waits for ever.
const (
	beatsPerTurn   = 64
	joinsPerTurn   = 8
	changesPerTurn = 16
)

// longestTurn is how long the calls of a lane but the first go on before the loop looks at the next; one that takes longer is the last.
const longestTurn = time.Millisecond

// parts is how many parts of its time the loop has of which NodeManagers that register have one, and readers another. Whoever makes
// NodeManagers up leaves time for others, who look at what has changed; 10,000 genuine ones have registered after a few seconds.
const parts = 10

// longestRest is how long there is no time after what took long at the most: it may be that the machine stood still.
const longestRest = time.Second

// A share is one of the parts of the loop's time. What is spent of it goes by the time of a processor: while other processes have that,
// nothing is. So a loop that has a processor now and then has a larger part of what it gets for this.
type share struct {
	from time.Time // there is time again
}

// spend does what there is time for. After it there is none for a while.
func (s *share) spend(f func()) (took time.Duration) {
	began := time.Now()
	took = worked(f)
	took = min(took, time.Since(began)) // where the time is made up, as in tests, nothing takes any
	s.from = began.Add(until(took))
	return took
}

// until is when, after the beginning of what took so long, that is one of the parts of the time since then.
func until(took time.Duration) time.Duration { return min(parts*took, took+longestRest) }

// lanes are the calls that wait for the loop.
type lanes struct {
	beats chan func()

	mu      sync.Mutex
	joins   fairQueue[func()]
	changes fairQueue[func()]

	share share // of those that register; the loop's own
}

func newLanes() *lanes {
	return &lanes{beats: make(chan func(), maxBeats)}
}

// waiting is how many calls there are.
func (l *lanes) waiting() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.beats) + l.joins.n + l.changes.n
}

// run runs calls, the most urgent first, and reports whether changes are left. The one that woke the loop, if any, has left its
// lane. NodeManagers that register have a part of its time.
func (l *lanes) run(woke func()) (more bool) {
	n := beatsPerTurn
	if woke != nil {
		woke()
		n--
	}
	for ; n > 0; n-- {
		select {
		case f := <-l.beats:
			f()
			continue
		default:
		}
		break
	}
	if at, ok := l.due(); ok && time.Until(at) <= 0 {
		l.share.spend(func() { l.some(&l.joins, joinsPerTurn) })
	}
	return l.some(&l.changes, changesPerTurn)
}

// due is when the loop takes more of those that register; ok is false where none do.
func (l *lanes) due() (at time.Time, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.share.from, l.joins.n > 0
}

// some runs so many calls of a queue at the most, or those that begin within longestTurn, and reports whether some are left.
func (l *lanes) some(q *fairQueue[func()], most int) (more bool) {
	next := func() (func(), bool) {
		l.mu.Lock()
		defer l.mu.Unlock()
		return q.pop()
	}
	began := time.Now()
	for i := 0; i < most && (i == 0 || time.Since(began) < longestTurn); i++ {
		f, ok := next()
		if !ok {
			return false
		}
		f()
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return q.n > 0
}

// enter has the loop run f, unless ctx has ended by then.
func (r *RM) enter(ctx context.Context, in lane, f func()) error {
	came := time.Now()
	do := func() {
		r.watch.lag.Add(time.Since(came))
		if ctx.Err() == nil { // otherwise nobody waits any more
			f()
		}
	}
	if in != beatLane {
		defer r.nudge()
		r.lanes.mu.Lock()
		defer r.lanes.mu.Unlock()
		if in == changeLane {
			return r.lanes.changes.push(CallerOf(ctx), do)
		}
		// There are no more than calls that were let in, and a NodeManager that is refused may give up.
		r.lanes.joins.add(CallerOf(ctx), do)
		return nil
	}
	select {
	case r.lanes.beats <- do:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	case <-r.done:
		return ErrStopping
	}
}

// answer is what a call of the loop came to.
type answer[T any] struct {
	value T
	err   error
}

// call has the loop run f and waits until f, or something f arranged for, replies.
func call[T any](ctx context.Context, r *RM, in lane, f func(reply func(T, error))) (T, error) {
	ch := make(chan answer[T], 1)
	var none T
	if err := r.enter(ctx, in, func() { f(func(v T, err error) { ch <- answer[T]{v, err} }) }); err != nil {
		return none, err
	}
	return await(ctx, r, ch)
}

// await waits for what a call came to.
func await[T any](ctx context.Context, r *RM, ch <-chan answer[T]) (none T, err error) {
	select {
	case a := <-ch:
		return a.value, a.err
	case <-ctx.Done():
		return none, ctx.Err()
	case <-r.done:
		return none, ErrStopping
	}
}

// say says to the machine what with makes of the call's number, and waits for the answer.
func say[T any](ctx context.Context, r *RM, in lane, with func(rm.Call) rm.Message) (T, error) {
	return call(ctx, r, in, func(reply func(T, error)) { tell(r, with, reply) })
}

// tell is say within the loop: whoever waits for the answer has it from reply.
func tell[T any](r *RM, with func(rm.Call) rm.Message, reply func(T, error)) {
	r.last++
	r.waiting[r.last] = func(v any, err error) {
		t, _ := v.(T) // nil where it says no more than that it is done
		reply(t, err)
	}
	r.step(with(r.last))
}
