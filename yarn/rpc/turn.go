package rpc

import (
	"context"
	"time"
)

// Turns makes callers take turns for a processor. Go runs goroutines in the order in which they become runnable: a caller
// with many connections would make everybody wait behind all of them.
type Turns interface {
	// Enter waits for the turn of a caller: a user and an address, "user@address", or "@address" while the user is not
	// known yet. It fails only with ctx's error. Leave ends that caller's turn, which lasted for took.
	Enter(ctx context.Context, caller string) error
	Leave(caller string, took time.Duration)
}

// A turn is the processor time of one goroutine of a connection. Without [Turns] it does nothing.
type turn struct {
	c      *conn
	has    bool
	caller string
	since  time.Time
}

// take waits for the turn. A connection that ends meanwhile gets none, and goes on to its end.
func (t *turn) take() {
	if t.c.s.turns != nil && !t.has {
		t.caller = t.c.user + "@" + t.c.from
		t.has = t.c.s.turns.Enter(t.c.ctx, t.caller) == nil
		t.since = time.Now()
	}
}

// held reports whether t is a turn that is held. A nil t is not.
func (t *turn) held() bool { return t != nil && t.has }

// give ends the turn. Anything that may have to wait for others is done without a turn.
func (t *turn) give() {
	if t.held() {
		t.has = false
		t.c.s.turns.Leave(t.caller, time.Since(t.since))
	}
}
