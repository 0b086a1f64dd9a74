// Package hollow has what programs share that put a load of hollow NodeManagers and masters on a ResourceManager: how
// they speak YARN's protocols, where they are, and what a process costs. Their containers are no processes.
package hollow

import (
	"context"
	"fmt"
	"sync"
	"time"
)

// A Life is how long all that is hollow lives, and what ended it.
type Life struct {
	Ctx  context.Context
	fail context.CancelCauseFunc
	runs sync.WaitGroup
}

// NewLife begins a life, which fail ends.
func NewLife(ctx context.Context, fail context.CancelCauseFunc) *Life {
	return &Life{Ctx: ctx, fail: fail}
}

// End ends a life, and waits until all is gone.
func (l *Life) End() {
	l.fail(nil)
	l.runs.Wait()
}

// Fail ends it for a reason.
func (l *Life) Fail(err error) { l.fail(err) }

// Goes runs f until the life ends; its error ends all.
func (l *Life) Goes(f func() error) {
	l.runs.Go(func() {
		if err := f(); err != nil && l.Ctx.Err() == nil {
			l.fail(err)
		}
	})
}

// Sleep waits, and reports whether there is more to do.
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

// Until waits for something that has so long.
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
