package rpc

import (
	"context"
	"errors"
	"io"
	"net"
	"net/netip"
	"os"
	"runtime"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"

	"google.golang.org/protobuf/encoding/protowire"

	"heddle/yarn/wire"
)

// When a connection ends with an answer, what the peer is still sending is read for a while: closing over unread
// input would reset the connection and could destroy the answer.
const (
	lingerTime  = time.Second
	lingerBytes = 256 << 10
)

// errStopped says that the server wants no more frames from a connection.
var errStopped = errors.New("the server is closing")

// A refusal ends a connection, with an answer if err is not nil.
type refusal struct {
	why  reason
	to   echo
	err  *Error
	text string // instead of an answer: text that is written unchanged
}

func (r *refusal) Error() string {
	if r.err == nil {
		return r.why.String()
	}
	return r.err.Error()
}

// An echo is the part of a request that its answer repeats.
type echo struct {
	call, retry int32
	client      [idSize]byte
	anonymous   bool // there was no client id
}

// nobody is the echo of answers to no call.
var nobody = echo{call: callConnection, retry: noRetry, anonymous: true}

func (e *echo) id() []byte {
	if e.anonymous {
		return nil
	}
	return e.client[:]
}

// A conn is a connection to a server. Fields not marked as shared belong to the reading goroutine.
type conn struct {
	s      *Server
	nc     net.Conn
	addr   netip.AddrPort
	from   string          // only its IP address
	ctx    context.Context //nolint:containedctx // it is the connection's own, handed to every call of it
	cancel context.CancelFunc
	in     splitter
	turn   turn    // to read
	out    *outbox // shared

	sasl     *saslServer // nil: the client says who it is
	open     bool        // the connection context has come
	user     string
	realUser string
	identity any
	context  string // the caller's, as last received

	armed    time.Time // the read deadline of the handshake, and then between frames
	inFrame  bool      // the read deadline is that of a frame
	slots    chan struct{}
	callers  []*caller      // its callers, if they are limited
	calls    sync.WaitGroup // being answered
	active   atomic.Int32   // their number; shared
	answered atomic.Int64   // when the last one was, in nanoseconds since 1970; shared
	seen     atomic.Int64   // when the last frame was read, likewise; shared
	stopped  atomic.Bool    // nothing more is read; shared
	broken   atomic.Bool    // nothing more can be written; shared
}

// newConn makes the connection of nc.
func newConn(s *Server, nc net.Conn, addr netip.AddrPort) *conn {
	c := &conn{s: s, nc: nc, addr: addr, from: addr.Addr().String(), slots: make(chan struct{}, s.limits.CallsPer)}
	c.ctx, c.cancel = context.WithCancel(context.Background())
	c.seen.Store(time.Now().UnixNano())
	c.turn.c = c
	c.in = splitter{r: nc, limit: s.limits.FirstFrame, wait: c.arm, room: c.room, pass: c.pass, unwanted: c.unwanted}
	c.out = newOutbox(nc, s.limits.Output, min(s.limits.Write, s.limits.Handshake), func(n int) { s.count.bytesOut.Add(uint64(n)) })
	c.out.held = func(n int) { s.memory.More(addr.Addr(), int64(n)) }
	return c
}

// room takes memory for input, or gives it back.
func (c *conn) room(bytes int) bool {
	if bytes <= 0 {
		c.s.input.Give(c.addr.Addr(), int64(-bytes))
		return true
	}
	return c.s.input.Try(c.addr.Addr(), int64(bytes)) == nil
}

// serve reads the connection to its end.
func (c *conn) serve() {
	defer c.s.forget(c)
	defer c.finish()
	defer func() {
		if p := recover(); p != nil {
			_ = c.fail(&c.turn, nobody, c.panicked(p)) // the connection ends whether the peer gets this or not
		}
	}()
	if tcp, ok := c.nc.(*net.TCPConn); ok {
		_ = tcp.SetNoDelay(true) // Go's default; an answer must not wait for the next
	}
	c.armed = time.Now().Add(c.s.limits.Handshake)
	err := c.nc.SetReadDeadline(c.armed)
	if err == nil {
		err = c.greet()
	}
	for err == nil {
		err = c.frame()
	}
	c.leave(err)
}

// frame reads one frame and acts on it.
func (c *conn) frame() error {
	b, err := c.in.next()
	if err != nil {
		if c.idles(err) {
			return nil
		}
		return err
	}
	c.inFrame = false
	c.seen.Store(time.Now().UnixNano())
	if b == nil {
		return nil
	}
	c.s.count.bytesIn.Add(uint64(len(b) + lengthSize))
	defer c.turn.give()
	if !c.open { // anybody can have come this far
		if err := c.enter(); err != nil {
			return err
		}
	}
	return c.handle(b)
}

// enter takes the turn for a frame of the handshake. The wait for it does not count against the peer.
func (c *conn) enter() error {
	came := time.Now()
	c.turn.take()
	waited := time.Since(came)
	if waited < time.Millisecond {
		return nil
	}
	c.armed = c.armed.Add(waited)
	return c.nc.SetReadDeadline(c.armed)
}

// unwanted reports whether to skip a large frame with this beginning and size, because its call is refused.
func (c *conn) unwanted(begin []byte, bytes int) (bool, error) {
	if !c.open {
		return false, nil
	}
	defer c.turn.give()
	h, to, rest, err := c.head(begin)
	if err != nil {
		return false, err
	}
	if h.call < 0 {
		return false, c.disorder(to, "a frame of more than %d bytes is not a call", readPiece)
	}
	method, rest, why, failed, err := c.method(to, rest)
	if err != nil {
		return false, err
	}
	if failed == nil {
		size, n := protowire.ConsumeVarint(rest)
		if n < 0 {
			return false, c.unreadable(to, protowire.ParseError(n))
		}
		// Bytes after the request mean nothing, but would be kept until the whole frame has arrived.
		if size = max(size, uint64(bytes-(len(begin)-len(rest))-n)); size <= uint64(method.bytes) {
			return false, nil
		}
		why, failed = refusedMessage, notTaken(method.tooLong(size))
	}
	c.s.count.bytesIn.Add(uint64(bytes + lengthSize))
	return true, c.turnDown(why, to, failed)
}

// pass lets others run between the reads of a large frame.
func (c *conn) pass() {
	if c.s.limits.Pause == 0 {
		runtime.Gosched()
		return
	}
	select {
	case <-time.After(c.s.limits.Pause):
	case <-c.ctx.Done():
	}
}

// arm sets the deadline of the next read. Before the connection context it is the one set at the beginning, which bounds
// the whole handshake; later it is one for the time between frames, or one for a whole frame.
func (c *conn) arm(begun bool) error {
	if c.open {
		now := time.Now()
		switch {
		case begun && !c.inFrame:
			c.inFrame, c.armed = true, time.Time{}
			if err := c.nc.SetReadDeadline(now.Add(c.s.limits.FrameTime)); err != nil {
				return err
			}
		case !begun && c.armed.Sub(now) < c.s.limits.Idle*3/4:
			// Setting a deadline costs as much as reading a small frame, so one serves for many.
			c.armed = now.Add(c.s.limits.Idle)
			if err := c.nc.SetReadDeadline(c.armed); err != nil {
				return err
			}
		}
	}
	// Only after the deadline is set: stop sets its own deadline after stopped, so that one of the two takes effect.
	if c.stopped.Load() {
		return errStopped
	}
	return nil
}

// idles reports whether err is the deadline between frames on a connection that is to stay: one whose calls are being
// answered, or were not long ago.
func (c *conn) idles(err error) bool {
	if !errors.Is(err, os.ErrDeadlineExceeded) || !c.open || c.inFrame || c.stopped.Load() {
		return false
	}
	c.armed = time.Time{}
	last := time.Unix(0, c.answered.Load())
	return c.active.Load() > 0 || time.Since(last) < c.s.limits.Idle*3/4
}

// stop makes the reader read no further frame. Any goroutine may call it.
func (c *conn) stop() {
	c.stopped.Store(true)
	_ = c.nc.SetReadDeadline(time.Unix(1, 0)) // a closed connection has stopped
}

// leave ends the conversation for the reason err.
func (c *conn) leave(err error) {
	var refused *refusal
	var tooLong *tooLongError
	switch {
	case errors.As(err, &refused):
	case errors.As(err, &tooLong):
		refused = &refusal{refusedFrame, nobody, errorf(wire.RpcErrorCode_FATAL_INVALID_RPC_HEADER, ClassServer, "%v", err), ""}
	case errors.Is(err, errNoRoom):
		refused = &refusal{refusedInput, nobody, nil, ""}
	case c.stopped.Load():
		// Calls that were made are answered: they hold the connection until then.
		c.calls.Wait()
		c.linger()
		return
	case errors.Is(err, os.ErrDeadlineExceeded) && (!c.open || c.inFrame):
		refused = &refusal{refusedDeadline, nobody, nil, ""}
	default:
		return // the peer left, or was idle
	}
	c.s.refuse(c.addr, refused.why, refused)
	if refused.err == nil && refused.text == "" {
		return
	}
	if !c.open {
		c.turn.take()
	}
	if refused.err != nil {
		err = c.fail(&c.turn, refused.to, refused.err)
	} else {
		err = c.out.send(&c.turn, []byte(refused.text))
	}
	c.turn.give()
	if err == nil {
		c.linger()
	}
}

// linger signals that nothing follows, and reads on until the peer has seen it.
func (c *conn) linger() {
	half, ok := c.nc.(interface{ CloseWrite() error })
	if !ok || half.CloseWrite() != nil {
		return
	}
	if c.nc.SetReadDeadline(time.Now().Add(lingerTime)) == nil {
		_, _ = io.CopyN(io.Discard, c.nc, lingerBytes) // it does not matter how it ends
	}
}

// finish ends the connection and waits for its calls.
func (c *conn) finish() {
	c.turn.give() // after a panic
	c.cancel()
	_ = c.nc.Close() // nobody is left to tell
	c.out.close()
	c.calls.Wait()
	c.in.release()
}

// panicked records panic p and returns what the peer is told. The peer's connection ends; the process goes on.
func (c *conn) panicked(p any) *Error {
	c.s.count.panics.Add(1)
	c.s.count.refused[refusedPanic].Add(1)
	c.s.log.Error("panic while answering a peer; its connection ends", "peer", c.addr.String(), "panic", p, "stack", string(debug.Stack()))
	return errorf(wire.RpcErrorCode_FATAL_UNKNOWN, ClassYarn, "internal error in the server; its log has the details")
}
