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

// longestTurn is how long the loop stays with a lane other than the first. A call that begins within this time is finished.
const longestTurn = time.Millisecond

const (
	// tenth is the part of the loop's time that NodeManagers have that register, as 1/tenth. Readers have as much. A caller that
	// makes NodeManagers up thus leaves time for those who read what has changed. 10,000 genuine NodeManagers register within a
	// few seconds.
	tenth = 10
	// quarter is the part that changes have: a loop that never sleeps would slow down everything else on its host. What follows a
	// change once it is stored does not count.
	quarter = 4
	// changeCredit is enough for ten milliseconds of changes in a row, which are hundreds.
	changeCredit = quarter * 10 * time.Millisecond
	// longestRest bounds the rest after a long piece of work, because the machine may have stood still.
	longestRest = time.Second
	// longestChangeRest bounds the rest after a long change, such as a new queue: it is not one of a flood.
	longestChangeRest = 20 * time.Millisecond
)

// A share is a part of the loop's time. It is measured in processor time, so nothing is spent while other processes have
// the processor. A loop that gets a processor only now and then thus has a larger part of its time for this.
type share struct {
	part    time.Duration // 1/part of the time
	credit  time.Duration // how much unused time counts later
	longest time.Duration // of the rests
	from    time.Time     // when there is time again
}

// spend runs f. After that the share has no time for a while. Time that was not used before, up to credit, shortens this rest.
func (s *share) spend(f func()) (took time.Duration) {
	began := time.Now()
	took = worked(f)
	took = min(took, time.Since(began)) // under a simulated clock, as in tests, nothing takes any time
	s.from = latest(s.from, began.Add(-s.credit)).Add(s.until(took))
	return took
}

// until returns the time, counted from the beginning of work that took so long, after which the work is a part of it as large as
// the share.
func (s *share) until(took time.Duration) time.Duration { return min(s.part*took, took+s.longest) }

// A slowLane is a lane that has a share of the loop's time.
type slowLane struct {
	share     // owned by the loop
	most  int // calls in a turn
	queue fairQueue[func()]
}

// lanes holds the calls that wait for the loop.
type lanes struct {
	beats chan func()

	mu             sync.Mutex // of the queues
	joins, changes slowLane
}

func newLanes() *lanes {
	return &lanes{
		beats:   make(chan func(), maxBeats),
		joins:   slowLane{share: share{part: tenth, longest: longestRest}, most: joinsPerTurn},
		changes: slowLane{share: share{part: quarter, credit: changeCredit, longest: longestChangeRest}, most: changesPerTurn},
	}
}

// waiting returns the number of waiting calls.
func (l *lanes) waiting() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.beats) + l.joins.queue.n + l.changes.queue.n
}

// run runs calls, the most urgent first. The call that woke the loop, if any, is no longer in its lane.
func (l *lanes) run(woke func()) {
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
	for _, in := range []*slowLane{&l.joins, &l.changes} {
		if at, ok := l.dueIn(in); ok && !time.Now().Before(at) {
			in.spend(func() { l.some(in) })
		}
	}
}

// due returns when the loop runs calls of the other lanes again; ok is false if none wait.
func (l *lanes) due() (at time.Time, ok bool) {
	for _, in := range []*slowLane{&l.joins, &l.changes} {
		if from, waits := l.dueIn(in); waits && (!ok || from.Before(at)) {
			at, ok = from, true
		}
	}
	return at, ok
}

func (l *lanes) dueIn(in *slowLane) (at time.Time, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return in.from, in.queue.n > 0
}

// some runs calls of a lane that begin within longestTurn.
func (l *lanes) some(in *slowLane) {
	next := func() (func(), bool) {
		l.mu.Lock()
		defer l.mu.Unlock()
		return in.queue.pop()
	}
	began := time.Now()
	for i := 0; i < in.most && (i == 0 || time.Since(began) < longestTurn); i++ {
		f, ok := next()
		if !ok {
			return
		}
		f()
	}
}

// enter makes the loop run f, unless ctx has ended by then.
func (r *RM) enter(ctx context.Context, in lane, f func()) error {
	came := time.Now()
	do := func() {
		r.watch.lag.Add(time.Since(came))
		if ctx.Err() == nil { // otherwise the caller no longer waits
			f()
		}
	}
	if in != beatLane {
		defer r.nudge()
		r.lanes.mu.Lock()
		defer r.lanes.mu.Unlock()
		if in == changeLane {
			return r.lanes.changes.queue.push(CallerOf(ctx), do)
		}
		// The number of these is bounded by the calls that are admitted, and a NodeManager that is refused may give up.
		r.lanes.joins.queue.add(CallerOf(ctx), do)
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
	if err := r.enter(ctx, in, func() { f(func(v T, err error) { ch <- answer[T]{v, err} }) }); err != nil {
		return none, err
	}
	return await(ctx, r, ch)
}

// await waits for the result of a call.
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
