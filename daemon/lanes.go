package daemon

import (
	"context"
	"sync"
	"time"

	"heddle/rm"
)

// A lane is a class of calls to the loop, by how long they may wait. Reads have no lane: see reads.go.
type lane int

const (
	beatLane   lane = iota // calls of nodes, their agents and masters: the cluster stands still without them
	joinLane               // NodeManagers that register: a caller that can make one up can make up thousands
	changeLane             // changes by clients and administrators
)

// maxBeats is how many calls wait in the first lane. Further calls of nodes and masters block until there is room.
const maxBeats = 4096

// How many calls of each lane the loop takes before it looks at the next lane, so that no lane waits for ever.
const (
	beatsPerTurn   = 64
	joinsPerTurn   = 8
	changesPerTurn = 16
)

// changesAtOnce is how many changes are under way at a time: they wait for the disk. One transaction stores all that wait, and
// then all of them are answered. Whoever calls at that moment waits for a processor behind all of them.
//
// If none of them is answered for longestChange, others begin all the same: what needs no disk is answered even if the disk
// hangs, and what callers that left had asked for is dropped.
const (
	changesAtOnce = 16
	longestChange = 100 * time.Millisecond
)

// longestTurn is how long the loop stays with a lane other than the first. A call that begins within this time is finished.
const longestTurn = time.Millisecond

// parts is the number of parts that the loop's time is divided into. NodeManagers that register get one of them, and readers get
// another. A caller that makes NodeManagers up thus leaves time for those who read what has changed. 10,000 genuine NodeManagers
// register within a few seconds.
const parts = 10

// longestRest bounds the rest after a long piece of work, because the machine may have stood still.
const longestRest = time.Second

// A share is one of the parts of the loop's time. It is measured in processor time, so nothing is spent while other processes have
// the processor. A loop that gets a processor only now and then thus has a larger part of its time for this.
type share struct {
	from time.Time // when there is time again
}

// spend runs f. After that the share has no time for a while. Time that was not used before, up to credit, shortens this rest.
func (s *share) spend(credit time.Duration, f func()) (took time.Duration) {
	began := time.Now()
	took = worked(f)
	took = min(took, time.Since(began)) // under a simulated clock, as in tests, nothing takes any time
	s.from = latest(s.from, began.Add(-credit)).Add(until(took))
	return took
}

// until returns the time, counted from the beginning of work that took so long, after which the work is one part of it.
func until(took time.Duration) time.Duration { return min(parts*took, took+longestRest) }

// lanes holds the calls that wait for the loop.
type lanes struct {
	beats chan func()

	mu      sync.Mutex
	joins   fairQueue[func()]
	changes fairQueue[func()]

	// The fields below belong to the loop.
	share share     // of NodeManagers that register
	begun int       // changes under way
	moved time.Time // when one of them was answered last, or the first began
	full  bool      // the disk is full: more changes begin, to be refused
}

func newLanes() *lanes {
	return &lanes{beats: make(chan func(), maxBeats)}
}

// waiting returns the number of waiting calls.
func (l *lanes) waiting() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.beats) + l.joins.n + l.changes.n
}

// run runs calls, the most urgent first, and reports whether there are more changes that can begin. The call that woke
// the loop, if any, is no longer in its lane. NodeManagers that register get their share of the time.
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
		l.share.spend(0, func() { l.some(&l.joins, joinsPerTurn) })
	}
	most := changesPerTurn
	if !l.full && time.Since(l.moved) < longestChange {
		most = min(most, changesAtOnce-l.begun)
	}
	return most > 0 && l.some(&l.changes, most)
}

// resumes returns when changes that wait for those under way begin in any case; ok is false if none wait.
func (l *lanes) resumes() (at time.Time, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.moved.Add(longestChange), l.begun >= changesAtOnce && l.changes.n > 0
}

// begin counts a change that is under way.
func (l *lanes) begin() {
	if l.begun++; l.begun == 1 {
		l.moved = time.Now()
	}
}

// answered counts a change that is answered, and reports whether another can begin for that.
func (l *lanes) answered() bool {
	l.begun--
	l.moved = time.Now()
	return l.begun == changesAtOnce-1
}

// due returns when the loop takes more NodeManagers that register; ok is false if none do.
func (l *lanes) due() (at time.Time, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.share.from, l.joins.n > 0
}

// some runs at most this many calls of a queue, and only those that begin within longestTurn. It reports whether some are left.
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

// enter makes the loop run f, unless ctx has ended by then. After an error the loop does not run it.
func (r *RM) enter(ctx context.Context, in lane, f func()) error {
	came := time.Now()
	do := func() {
		r.watch.lag.Add(time.Since(came))
		if ctx.Err() == nil { // otherwise the caller no longer waits
			f()
		}
	}
	if in != beatLane {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-r.done:
			return ErrStopping
		default:
		}
		defer r.nudge()
		r.lanes.mu.Lock()
		defer r.lanes.mu.Unlock()
		if in == changeLane {
			return r.lanes.changes.push(CallerOf(ctx), do)
		}
		// The number of these is bounded by the calls that are admitted, and a NodeManager that is refused may give up.
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

// answer is the result of a call of the loop.
type answer[T any] struct {
	value T
	err   error
}

// call makes the loop run f and waits until f, or something that f arranged for, replies.
func call[T any](ctx context.Context, r *RM, in lane, f func(reply func(T, error))) (T, error) {
	ch := make(chan answer[T], 1)
	var none T
	reply := func(v T, err error) { ch <- answer[T]{v, err} }
	do := func() { f(reply) }
	if in == changeLane {
		do = func() {
			answered, waits := false, false
			f(func(v T, err error) {
				if answered = true; waits && r.lanes.answered() {
					r.nudge()
				}
				reply(v, err)
			})
			if waits = !answered; waits {
				r.lanes.begin()
			}
		}
	}
	if err := r.enter(ctx, in, do); err != nil {
		return none, err
	}
	return await(ctx, r, ch)
}

// unanswered is the error of a call that the loop had, and whose result nobody waited for.
type unanswered struct{ error }

func (u unanswered) Unwrap() error { return u.error }

// await waits for the result of a call that the loop has.
func await[T any](ctx context.Context, r *RM, ch <-chan answer[T]) (none T, err error) {
	select {
	case a := <-ch:
		return a.value, a.err
	case <-ctx.Done():
		return none, unanswered{ctx.Err()}
	case <-r.done:
		return none, unanswered{ErrStopping}
	}
}

// say sends the machine the message that with makes for the call's number, and waits for the answer.
func say[T any](ctx context.Context, r *RM, in lane, with func(rm.Call) rm.Message) (T, error) {
	return call(ctx, r, in, func(reply func(T, error)) { tell(r, with, reply) })
}

// tell is say within the loop: it passes the answer to reply.
func tell[T any](r *RM, with func(rm.Call) rm.Message, reply func(T, error)) {
	r.last++
	r.waiting[r.last] = func(v any, err error) {
		t, _ := v.(T) // nil if the answer only says that it is done
		reply(t, err)
	}
	r.step(with(r.last))
}
