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
	writePiece = 256 << 10 // bytes in a write that has its own deadline
	keepOutput = 64 << 10  // maximum size of the buffers that an outbox keeps
)

// errClosed says that a connection ended before everything was sent.
var errClosed = errors.New("the connection is closed")

// An outbox is the writing side of a connection. A sender that finds no other one writing writes; what others send
// meanwhile is collected and leaves with the next write. No goroutine waits for work, and many answers cost one system
// call.
type outbox struct {
	conn  net.Conn
	raw   syscall.RawConn // of conn; nil if it has none
	limit int             // of bytes waiting; a sender that would exceed it waits
	write time.Duration   // for one piece; a slower peer counts as gone
	held  func(bytes int) // is told how many more bytes wait; may be nil

	mu      sync.Mutex
	room    sync.Cond // waiting shrank, the writer has finished, or the outbox was closed
	waiting []byte
	spare   []byte // the buffer that was written last
	busy    bool   // a sender is writing
	err     error  // why nothing more can be sent

	deadline time.Time // the one set on conn; belongs to the writer
	sent     func(bytes int)
}

// newOutbox returns the outbox of conn. Sent is told how many bytes have left.
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

// send sends frame after what was sent before. It returns when frame has been written or queued behind what is being
// written; frame is the caller's again. A sender that waits gives up the turn, if it has one; at may be nil.
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

// stream sends what f writes, as one: nothing else leaves meanwhile. It returns when all of it is written; writing may
// take at most within.
func (o *outbox) stream(at *turn, f func(write func([]byte) error) error, within time.Duration) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	for o.err == nil && o.busy {
		o.room.Wait()
	}
	if o.err != nil {
		return o.err
	}
	var took time.Duration // writing: encoding time is not the peer's fault
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

// occupy calls first, and then writes what has been queued. It is called with the lock held, which is released during
// writes.
func (o *outbox) occupy(at *turn, first func() error) error {
	o.busy = true
	o.mu.Unlock()
	err := first()
	o.mu.Lock()
	for err == nil && o.err == nil && len(o.waiting) > 0 {
		at.give() // the rest is not for this caller
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

// hold reports how many more bytes wait.
func (o *outbox) hold(bytes int) {
	if o.held != nil && bytes != 0 {
		o.held(bytes)
	}
}

// out writes b; what cannot leave at once is written without a turn.
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

// close stops all further sending; senders that wait for room get an error.
func (o *outbox) close() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.fail(errClosed)
}

// fail records the first reason why nothing more can be sent. The caller holds the lock.
func (o *outbox) fail(err error) {
	if o.err == nil {
		o.err = err
	}
	o.hold(-len(o.waiting))
	o.waiting, o.spare = nil, nil
	o.room.Broadcast()
}

// renew sets the deadline of a write. That costs a good part of a write, so a deadline is kept while half of it is left.
func (o *outbox) renew() error {
	now := time.Now()
	if o.deadline.Sub(now) >= o.write/2 {
		return nil
	}
	o.deadline = now.Add(o.write)
	return o.conn.SetWriteDeadline(o.deadline)
}

// atOnce writes as much of b as is possible without waiting, and returns how much that was.
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
