package rpc

import (
	"errors"
	"net"
	"sync"
	"sync/atomic"
	"time"
)

const (
	writePiece = 256 << 10 // bytes of a write that has a deadline of its own
	keepOutput = 64 << 10  // what the buffers of an outbox may keep
)

// errBacklog says that the answers of all connections that have not left are too many for a large one more.
var errBacklog = errors.New("too much waits for peers that do not read")

// A backlog counts the bytes that have not left, over many outboxes.
type backlog struct {
	most  int64
	bytes atomic.Int64
}

// errClosed says that a connection ended before what was to be sent had left.
var errClosed = errors.New("the connection is closed")

// An outbox is the writing side of a connection. Whoever finds nobody writing writes; what comes meanwhile is
// put together and leaves with the next write. No goroutine waits for work, and many answers cost one system
// call.
type outbox struct {
	conn  net.Conn
	limit int           // of bytes waiting; whoever would exceed it waits
	write time.Duration // for one piece; a peer that takes longer is gone
	all   *backlog

	mu      sync.Mutex
	room    sync.Cond // waiting shrank, or closed
	waiting []byte
	spare   []byte // the buffer that was written last
	busy    bool   // somebody writes
	err     error  // why nothing more is sent

	deadline time.Time // that is set on conn; of the one who writes
	sent     func(bytes int)
}

// newOutbox returns the outbox of conn. Sent is told how many bytes left.
func newOutbox(conn net.Conn, limit int, write time.Duration, all *backlog, sent func(int)) *outbox {
	o := &outbox{conn: conn, limit: limit, write: write, all: all, sent: sent}
	o.room.L = &o.mu
	return o
}

// send sees to it that frame leaves, after what was sent before. It returns when frame was written or put
// behind what is being written; frame is the caller's again.
func (o *outbox) send(frame []byte) error {
	size := int64(len(frame))
	if all := o.all.bytes.Add(size); all > o.all.most && size > keepOutput {
		o.all.bytes.Add(-size)
		return errBacklog
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	for o.err == nil && o.busy && len(o.waiting) > 0 && len(o.waiting)+len(frame) > o.limit {
		o.room.Wait()
	}
	if o.err != nil {
		o.all.bytes.Add(-size)
		return o.err
	}
	if o.busy {
		o.waiting = append(o.waiting, frame...)
		return nil
	}
	o.busy = true
	err := o.out(frame)
	o.all.bytes.Add(-size)
	for err == nil && len(o.waiting) > 0 {
		batch := o.waiting
		o.waiting, o.spare = o.spare[:0], nil
		o.room.Broadcast()
		err = o.out(batch)
		o.all.bytes.Add(-int64(len(batch)))
		if cap(batch) <= keepOutput {
			o.spare = batch
		}
	}
	o.busy = false
	if err != nil {
		o.fail(err)
	}
	return err
}

// out writes b. It is called with the lock held and gives it away meanwhile.
func (o *outbox) out(b []byte) error {
	o.mu.Unlock()
	defer o.mu.Lock()
	for len(b) > 0 {
		piece := b[:min(len(b), writePiece)]
		// Setting a deadline costs a good part of a write, so one serves as long as half of it is left.
		if now := time.Now(); o.deadline.Sub(now) < o.write/2 {
			o.deadline = now.Add(o.write)
			if err := o.conn.SetWriteDeadline(o.deadline); err != nil {
				return err
			}
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
	o.all.bytes.Add(-int64(len(o.waiting)))
	o.waiting, o.spare = nil, nil
	o.room.Broadcast()
}
