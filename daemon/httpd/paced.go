package httpd

import (
	"errors"
	"net"
	"sync"
	"time"
)

// How fast an answer must be read: it takes up memory until its last byte has left.
const (
	readRate  = 64 << 10         // bytes a second
	patience  = 10 * time.Second // how far a reader may be behind
	pacePiece = 64 << 10         // bytes of a write with its own deadline
)

// A paced connection gives up on a peer that reads too slowly. Only the time that a write waits counts; the program
// that writes may take as long as it likes.
type paced struct {
	net.Conn

	mu    sync.Mutex
	until time.Time     // the deadline set by the server; zero for none
	set   time.Time     // the deadline of Conn
	left  time.Duration // how much longer writes may wait
}

// SetWriteDeadline sets the deadline of all writes, as the server does for each request. The reader may be behind anew.
func (c *paced) SetWriteDeadline(t time.Time) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.until, c.set, c.left = t, t, patience
	return c.Conn.SetWriteDeadline(t)
}

// SetDeadline sets both deadlines.
func (c *paced) SetDeadline(t time.Time) error {
	return errors.Join(c.SetReadDeadline(t), c.SetWriteDeadline(t))
}

// Write writes b in pieces.
func (c *paced) Write(b []byte) (n int, err error) {
	for first := true; err == nil && (first || n < len(b)); first = false {
		var wrote int
		wrote, err = c.writePiece(b[n:min(len(b), n+pacePiece)])
		n += wrote
	}
	return n, err
}

func (c *paced) writePiece(b []byte) (int, error) {
	began := time.Now()
	if err := c.expect(began, len(b)); err != nil {
		return 0, err
	}
	n, err := c.Conn.Write(b)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.left = min(patience, c.left+worth(n)-time.Since(began))
	return n, err
}

// worth returns how long reading a number of bytes may take.
func worth(bytes int) time.Duration { return time.Duration(bytes) * time.Second / readRate }

// expect sets the deadline of a write. Setting one costs a good part of a write, so an earlier deadline is kept as long
// as it leaves at least half of the time.
func (c *paced) expect(now time.Time, bytes int) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	wait := max(c.left+worth(bytes), 0)
	end := now.Add(wait)
	if !c.until.IsZero() && c.until.Before(end) {
		end = c.until
	}
	if !c.set.IsZero() && !c.set.After(end) && c.set.Sub(now) >= end.Sub(now)/2 {
		return nil
	}
	c.set = end
	return c.Conn.SetWriteDeadline(end)
}
