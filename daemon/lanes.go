package daemon

import (
	"context"
	"time"

	"heddle/rm"
)

// A lane is what the loop is asked for, by how long it may wait. Reads have none: see reads.go.
type lane int

const (
	beatLane   lane = iota // what nodes, their agents and masters say: the cluster stands still without it
	changeLane             // what clients and administrators say
	numLanes
)

// maxWaiting is how many calls wait in each lane. Of nodes and masters more wait to be let in; clients are told to try
// again.
const maxWaiting = 4096

// perTurn is how many calls of each lane the loop takes before it looks at the next: no lane waits for ever.
var perTurn = [numLanes]int{beatLane: 64, changeLane: 16}

// lanes are the calls that wait for the loop.
type lanes [numLanes]chan func()

func newLanes() (l lanes) {
	for i := range l {
		l[i] = make(chan func(), maxWaiting)
	}
	return l
}

// waiting is how many calls there are.
func (l *lanes) waiting() (n int) {
	for _, c := range l {
		n += len(c)
	}
	return n
}

// run runs calls, the most urgent first. Those that woke the loop have left their lanes.
func (l *lanes) run(woke [numLanes]func()) {
	for i, c := range l {
		n := perTurn[i]
		if f := woke[i]; f != nil {
			f()
			n--
		}
		for ; n > 0; n-- {
			select {
			case f := <-c:
				f()
				continue
			default:
			}
			break
		}
	}
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
		select {
		case r.lanes[in] <- do:
			return nil
		case <-r.done:
			return ErrStopping
		default:
			return ErrBusy
		}
	}
	select {
	case r.lanes[in] <- do:
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
	return call(ctx, r, in, func(reply func(T, error)) {
		r.last++
		r.waiting[r.last] = func(v any, err error) {
			t, _ := v.(T) // nil where it says no more than that it is done
			reply(t, err)
		}
		r.step(with(r.last))
	})
}
