package rpc

import (
	"context"
	"time"
)

// Turns has those who call come in turn for a processor. Go runs goroutines in the order in which they can be run: a caller with
// many connections would have everybody wait behind all of them.
type Turns interface {
	// Enter waits until it is the turn of a caller: a user and an address, "user@address", or "@address" while nobody has said
	// who calls. Its error is that of ctx. Leave ends the turn of that caller, which it had for so long.
	Enter(ctx context.Context, caller string) error
	Leave(caller string, took time.Duration)
}

// A turn is what one goroutine of a connection has a processor for. Where nobody comes in turn it is nothing.
type turn struct {
	c      *conn
	has    bool
	caller string
	since  time.Time
}

// take waits for the turn. A connection that ends meanwhile has none, and goes on to its end.
func (t *turn) take() {
	if t.c.s.turns != nil && !t.has {
		t.caller = t.c.user + "@" + t.c.from
		t.has = t.c.s.turns.Enter(t.c.ctx, t.caller) == nil
		t.since = time.Now()
	}
}

// held reports whether there is a turn. Nobody's is none.
func (t *turn) held() bool { return t != nil && t.has }

// give ends it. What may have to wait for anybody else is done without a turn.
func (t *turn) give() {
	if t.held() {
		t.has = false
		t.c.s.turns.Leave(t.caller, time.Since(t.since))
	}
}
