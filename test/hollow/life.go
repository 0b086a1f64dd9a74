// Package hollow has what is shared by programs that put a load of hollow NodeManagers and masters on a
// ResourceManager: how they speak YARN's protocols, their addresses, and what a process costs. Their containers are not
// processes.
package hollow

import (
	"context"
	"fmt"
	"sync"
	"time"
)

// A Life is the lifetime of all hollow parts, and what ended it.
type Life struct {
	Ctx  context.Context
	fail context.CancelCauseFunc
	runs sync.WaitGroup
}

// NewLife begins a life that fail ends.
func NewLife(ctx context.Context, fail context.CancelCauseFunc) *Life {
	return &Life{Ctx: ctx, fail: fail}
}

// End ends a life and waits until everything has stopped.
func (l *Life) End() {
	l.fail(nil)
	l.runs.Wait()
}

// Fail ends the life with a reason.
func (l *Life) Fail(err error) { l.fail(err) }

// Goes runs f until the life ends; an error of f ends the life.
func (l *Life) Goes(f func() error) {
	l.runs.Go(func() {
		if err := f(); err != nil && l.Ctx.Err() == nil {
			l.fail(err)
		}
	})
}

// Sleep waits, and reports whether the life goes on.
func (l *Life) Sleep(d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-l.Ctx.Done():
		return false
	}
}

// Until waits for a condition, with a time limit.
func (l *Life) Until(what string, within time.Duration, yes func() bool) error {
	for end := time.Now().Add(within); !yes(); {
		if !l.Sleep(10 * time.Millisecond) {
			return context.Cause(l.Ctx)
		}
		if time.Now().After(end) {
			return fmt.Errorf("%s: not within %v", what, within)
		}
	}
	return nil
}
