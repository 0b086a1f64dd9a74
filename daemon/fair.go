package daemon

import (
	"errors"
	"strings"
)

// ErrBusy says that too many calls are waiting already; callers should retry.
var ErrBusy = errors.New("too many calls are waiting for the ResourceManager; try again")

// How many calls may wait at a time: of one caller, of all callers at one address, and in total. Once mostOfAll wait,
// nobody may have more than one waiting, and there may be as many of those again: callers that want much do not shut
// out the others.
const (
	mostOfOne     = 128
	mostOfAddress = mostOfAll / 2
	mostOfAll     = 4096
)

// A fairQueue holds what callers wait for. The items of one caller stay in order. Addresses take turns, and so do the
// callers of each address: a caller that wants much only delays itself, under however many names.
type fairQueue[T any] struct {
	by    map[string][]T
	at    map[string]*address
	turns []string // addresses with waiting items
	n     int
}

// An address holds the callers of a [fairQueue] at one address.
type address struct {
	turns []string // callers with waiting items
	n     int      // number of their items
}

// addressOf returns the address of a caller, as [WithCaller] has it.
func addressOf(caller string) string { return caller[strings.LastIndexByte(caller, '@')+1:] }

func (q *fairQueue[T]) push(caller string, x T) error {
	had, ofAddress := q.by[caller], 0
	if a := q.at[addressOf(caller)]; a != nil {
		ofAddress = a.n
	}
	if len(had) >= mostOfOne || ofAddress >= mostOfAddress || q.n >= mostOfAll && (len(had) > 0 || q.n >= 2*mostOfAll) {
		return ErrBusy
	}
	q.add(caller, x)
	return nil
}

// add adds an item that is bounded elsewhere; one that waits again was admitted before.
func (q *fairQueue[T]) add(caller string, x T) {
	if q.by == nil {
		q.by, q.at = map[string][]T{}, map[string]*address{}
	}
	from := addressOf(caller)
	a := q.at[from]
	if a == nil {
		a = &address{}
		q.at[from] = a
		q.turns = append(q.turns, from)
	}
	had := q.by[caller]
	if len(had) == 0 {
		a.turns = append(a.turns, caller)
	}
	q.by[caller] = append(had, x)
	a.n++
	q.n++
}

func (q *fairQueue[T]) pop() (x T, ok bool) {
	if len(q.turns) == 0 {
		return x, false
	}
	from := q.turns[0]
	q.turns = q.turns[1:]
	a := q.at[from]
	caller := a.turns[0]
	a.turns = a.turns[1:]
	list := q.by[caller]
	var none T
	x, list[0] = list[0], none
	if list = list[1:]; len(list) == 0 {
		delete(q.by, caller)
	} else {
		q.by[caller] = list
		a.turns = append(a.turns, caller)
	}
	q.n--
	if a.n--; a.n == 0 {
		delete(q.at, from)
	} else {
		q.turns = append(q.turns, from)
	}
	return x, true
}
