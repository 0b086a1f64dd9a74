package agents

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/netip"
	"reflect"
	"time"

	"heddle/internal/budget"
	"heddle/node/api"
	"heddle/rm"
)

// Memory holds the accounts that requests are charged to: Input while they are read, Calls while they are worked on and
// answered. A nil account has no limit.
type Memory struct{ Input, Calls *budget.Account }

// patience is how long a request waits for memory before its agent is told to try again.
const patience = 10 * time.Second

// A load is the memory that a request takes up. The request is read through it. It ends once the request is answered.
type load struct {
	Memory
	r    *http.Request
	body io.Reader
	from netip.Addr
	text int64 // charged to Input
	work int64 // charged to Calls
}

// arrives returns the load of a request whose size is limited to most bytes.
func (m Memory) arrives(w http.ResponseWriter, r *http.Request, most int64) *load {
	return &load{Memory: m, r: r, body: http.MaxBytesReader(w, r.Body, most), from: peer(r)}
}

// Read reads the request. It charges twice the bytes read before it reads more: a buffer may have grown to that size.
func (l *load) Read(b []byte) (int, error) {
	n, err := l.body.Read(b)
	if l.Input != nil && n > 0 {
		if full := l.Input.Take(l.r.Context(), l.from, int64(2*n), patience); full != nil {
			return 0, full
		}
		l.text += int64(2 * n)
	}
	return n, err
}

// works waits for the memory that the request takes up when decoded.
func (l *load) works(bytes int64) error {
	if l.Calls == nil {
		return nil
	}
	err := l.Calls.Take(l.r.Context(), l.from, bytes, patience)
	if err == nil {
		l.work = bytes
	}
	return err
}

// keeps sets how much memory the request takes up from now on. Its text has been released.
func (l *load) keeps(bytes int64) {
	if l.Input != nil && l.text > 0 {
		l.Input.Give(l.from, l.text)
		l.text = 0
	}
	if l.Calls != nil {
		l.Calls.More(l.from, bytes-l.work)
		l.work = bytes
	}
}

// ends gives back what the request took up.
func (l *load) ends() { l.keeps(0) }

// status returns the HTTP status and error to answer if a request could not be read.
func (l *load) status(err error) (int, error) {
	_, most := errors.AsType[*budget.TooLargeError](err)
	large, long := errors.AsType[*http.MaxBytesError](err)
	switch {
	case long:
		return http.StatusRequestEntityTooLarge, fmt.Errorf("the request is larger than the limit of %d bytes", large.Limit)
	case most:
		return http.StatusRequestEntityTooLarge, fmt.Errorf("the request: %w", err)
	case errors.Is(err, budget.ErrFull):
		return http.StatusServiceUnavailable, fmt.Errorf("%w; try again", err)
	}
	return http.StatusBadRequest, err
}

// weight returns the maximum number of bytes that an agent's request takes up when decoded. Each list element except
// the first has a comma before it, and a growing list has room for twice as many. Texts are rounded up.
func weight(text []byte) int64 {
	return 2*int64(len(text)) + 2*int64(1+bytes.Count(text, []byte{','}))*int64(reflect.TypeFor[api.Container]().Size())
}

// heldBy returns how many bytes are held while an agent's message is worked on.
func heldBy(q *rm.AgentSync) int64 {
	n := listSize(q.Used) + listSize(q.Failed) + listSize(q.Tasks) + listSize(q.Outputs) + listSize(q.Heaps)
	for i := range q.Failed {
		n += int64(len(q.Failed[i].Text))
	}
	return n
}

// toldSize estimates how many bytes an answer takes up: in the machine's form, in the agent's, and as JSON.
func toldSize(p *rm.AgentWish) int64 {
	const each = api.MaxID + 128 // as JSON, with the field names
	return 2*(listSize(p.Want)+listSize(p.Outputs)+listSize(p.Heaps)) + each*int64(len(p.Want)+len(p.Outputs)+len(p.Heaps))
}

func listSize[T any](list []T) int64 { return int64(cap(list)) * int64(reflect.TypeFor[T]().Size()) }
