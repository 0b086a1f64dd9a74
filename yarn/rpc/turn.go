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
	// Little reports whether a caller has used little: its short requests are read without a turn.
	Little(caller string) bool
}

// smallRequest is how many bytes of a request are read without a turn, if its caller has used little.
const smallRequest = 512

// A turn is the processor time of one goroutine of a connection. Without [Turns] it does nothing.
type turn struct {
	c      *conn
	has    bool
	caller string
	since  time.Time
}

// waits reports whether a request of so many bytes is read in turn.
func (c *conn) waits(bytes int) bool {
	return c.s.turns != nil && (bytes > smallRequest || !c.s.turns.Little(c.caller()))
}

// take waits for the turn. A connection that ends meanwhile gets none, and goes on to its end.
func (t *turn) take() {
	if t.c.s.turns != nil && !t.has {
		t.caller = t.c.caller()
		t.has = t.c.s.turns.Enter(t.c.ctx, t.caller) == nil
		t.since = time.Now()
	}
}

// caller returns the user and the address of a connection, as [Turns] have them.
func (c *conn) caller() string { return c.user + "@" + c.from }

// held reports whether t is a turn that is held. A nil t is not.
func (t *turn) held() bool { return t != nil && t.has }

// give ends the turn. Anything that may have to wait for others is done without a turn.
func (t *turn) give() {
	if t.held() {
		t.has = false
		t.c.s.turns.Leave(t.caller, time.Since(t.since))
	}
}

// turnKey is the context key of the turn in which a call's answer is written.
type turnKey struct{}

// KeepTurn makes the turn of a handler, which turns gave to that caller at a time, the one in which the handler's answer
// is written. The caller then does not leave it. It reports false, and does nothing, if ctx is not that of a call of
// [Method.InTurn] on a server with these turns.
func KeepTurn(ctx context.Context, turns Turns, caller string, since time.Time) bool {
	t, ok := ctx.Value(turnKey{}).(*turn)
	if !ok || t.c.s.turns != turns || t.has {
		return false
	}
	t.has, t.caller, t.since = true, caller, since
	return true
}
