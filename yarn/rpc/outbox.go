package rpc

import (
	"errors"
	"net"
	"os"
	"sync"
	"syscall"
	"time"
)

const (
	writePiece = 256 << 10 // bytes of a write that has a deadline of its own
	keepOutput = 64 << 10  // what the buffers of an outbox may keep
)

// errClosed says that a connection ended before what was to be sent had left.
var errClosed = errors.New("the connection is closed")

// An outbox is the writing side of a connection. Whoever finds nobody writing writes; what comes meanwhile is
// put together and leaves with the next write. No goroutine waits for work, and many answers cost one system
// call.
type outbox struct {
	conn  net.Conn
	raw   syscall.RawConn // of conn; nil where it has none
	limit int             // of bytes waiting; whoever would exceed it waits
	write time.Duration   // for one piece; a peer that takes longer is gone
	held  func(bytes int) // is told how many bytes more wait; nil for nobody

	mu      sync.Mutex
	room    sync.Cond // waiting shrank, nobody writes any more, or closed
	waiting []byte
	spare   []byte // the buffer that was written last
	busy    bool   // somebody writes
	err     error  // why nothing more is sent

	deadline time.Time // that is set on conn; of the one who writes
	sent     func(bytes int)
}

// newOutbox returns the outbox of conn. Sent is told how many bytes left.
func newOutbox(conn net.Conn, limit int, write time.Duration, sent func(int)) *outbox {
	o := &outbox{conn: conn, limit: limit, write: write, sent: sent}
	o.room.L = &o.mu
	if sc, ok := conn.(syscall.Conn); ok {
		if raw, err := sc.SyscallConn(); err == nil {
			o.raw = raw
		}
	}
	return o
}

// send sees to it that frame leaves, after what was sent before. It returns when frame was written or put
// behind what is being written; frame is the caller's again. Whoever waits gives up the turn, if it has one; nil is none.
func (o *outbox) send(at *turn, frame []byte) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	for o.err == nil && o.busy && len(o.waiting) > 0 && len(o.waiting)+len(frame) > o.limit {
		at.give()
		o.room.Wait()
	}
	if o.err != nil {
		return o.err
	}
	if o.busy {
		o.waiting = append(o.waiting, frame...)
		o.hold(len(frame))
		return nil
	}
	return o.occupy(at, func() error { return o.out(at, frame) })
}

// stream sends what f writes, as one: nothing else leaves meanwhile. It returns when all of it is written, within a time.
func (o *outbox) stream(at *turn, f func(write func([]byte) error) error, within time.Duration) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	for o.err == nil && o.busy {
		o.room.Wait()
	}
	if o.err != nil {
		return o.err
	}
	var took time.Duration // to leave: what it takes to put it together is no fault of the peer's
	return o.occupy(at, func() error {
		return f(func(b []byte) error {
			if took > within {
				return os.ErrDeadlineExceeded
			}
			began := time.Now()
			defer func() { took += time.Since(began) }()
			return o.out(at, b)
		})
	})
}

// occupy has first write, and then writes what has come to wait. It is called with the lock held, which nobody who writes
// holds.
func (o *outbox) occupy(at *turn, first func() error) error {
	o.busy = true
	o.mu.Unlock()
	err := first()
	o.mu.Lock()
	for err == nil && o.err == nil && len(o.waiting) > 0 {
		at.give() // it is not for this caller
		batch := o.waiting
		o.waiting, o.spare = o.spare[:0], nil
		o.room.Broadcast()
		o.mu.Unlock()
		err = o.out(at, batch)
		o.mu.Lock()
		o.hold(-len(batch))
		if cap(batch) <= keepOutput {
			o.spare = batch
		}
	}
	o.busy = false
	o.room.Broadcast()
	if err != nil {
		o.fail(err)
	}
	return err
}

// hold tells how many bytes more wait.
func (o *outbox) hold(bytes int) {
	if o.held != nil && bytes != 0 {
		o.held(bytes)
	}
}

// out writes b; what does not leave at once, without a turn.
func (o *outbox) out(at *turn, b []byte) error {
	if at.held() && o.renew() == nil {
		n := o.atOnce(b)
		o.sent(n)
		if b = b[n:]; len(b) > 0 {
			at.give()
		}
	}
	for len(b) > 0 {
		piece := b[:min(len(b), writePiece)]
		if err := o.renew(); err != nil {
			return err
		}
		n, err := o.conn.Write(piece)
		o.sent(n)
		if err != nil {
			return err
		}
		b = b[n:]
	}
	return nil
}

// close lets nothing more be sent; who waits for room is told.
func (o *outbox) close() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.fail(errClosed)
}

// fail notes the first reason for which nothing more is sent. Its caller holds the lock.
func (o *outbox) fail(err error) {
	if o.err == nil {
		o.err = err
	}
	o.hold(-len(o.waiting))
	o.waiting, o.spare = nil, nil
	o.room.Broadcast()
}

// renew sets the deadline of a write. That costs a good part of a write, so one serves as long as half of it is left.
func (o *outbox) renew() error {
	now := time.Now()
	if o.deadline.Sub(now) >= o.write/2 {
		return nil
	}
	o.deadline = now.Add(o.write)
	return o.conn.SetWriteDeadline(o.deadline)
}

// atOnce writes as much of b as leaves without waiting, and returns how much that is.
func (o *outbox) atOnce(b []byte) (n int) {
	if o.raw == nil {
		return 0
	}
	_ = o.raw.Write(func(fd uintptr) bool {
		if got, err := syscall.Write(int(fd), b); err == nil {
			n = got
		}
		return true
	})
	return n
}
