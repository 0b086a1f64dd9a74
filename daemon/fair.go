package daemon

import "errors"

// ErrBusy says that as much waits already as may: its callers try again.
var ErrBusy = errors.New("too much waits for the ResourceManager already; try again")

// How many may wait at a time, of one caller and of all. Once there are so many of all, nobody may have more than one, of which
// there may be as many again: some who want much do not shut the others out.
const (
	mostOfOne = 128
	mostOfAll = 4096
)

// A fairQueue is what callers wait for. What one caller wants comes in the order in which it was wanted, and callers come in
// turn: who wants much waits behind himself.
type fairQueue[T any] struct {
	by    map[string][]T
	turns []string // of those who want something
	n     int
}

func (q *fairQueue[T]) push(caller string, x T) error {
	had := q.by[caller]
	if len(had) >= mostOfOne || q.n >= mostOfAll && (len(had) > 0 || q.n >= 2*mostOfAll) {
		return ErrBusy
	}
	q.add(caller, x)
	return nil
}

// add adds what waits again, of which there is no more than was let in before.
func (q *fairQueue[T]) add(caller string, x T) {
	had := q.by[caller]
	if q.by == nil {
		q.by = map[string][]T{}
	}
	if len(had) == 0 {
		q.turns = append(q.turns, caller)
	}
	q.by[caller] = append(had, x)
	q.n++
}

func (q *fairQueue[T]) pop() (x T, ok bool) {
	if len(q.turns) == 0 {
		return x, false
	}
	caller := q.turns[0]
	q.turns = q.turns[1:]
	list := q.by[caller]
	var none T
	x, list[0] = list[0], none
	list = list[1:]
	if q.n--; len(list) == 0 {
		delete(q.by, caller)
	} else {
		q.by[caller] = list
		q.turns = append(q.turns, caller)
	}
	return x, true
}
