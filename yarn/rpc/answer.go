package rpc

import (
	"encoding/binary"
	"errors"
	"os"
	"runtime"
	"strings"
	"sync"
	"time"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"

	"heddle/internal/budget"
	"heddle/yarn/wire"
)

// errBye says that the peer asked to end the connection.
var errBye = errors.New("the peer closes the connection")

// maxContext is how many bytes of a caller's context are kept.
const maxContext = 128

// A task is a call on its way to an answer.
type task struct {
	Call
	method   *served
	req      proto.Message
	to       echo
	memory   int64          // bytes held, including those expected for the answer
	expected int64          // … unless the answer is made at a desk:
	answer   *budget.Answer // nil until then
	turn     turn           // to write
}

// called reads a call and starts answering it. An error in one call ends that call, an error in its frame the connection.
func (c *conn) called(h requestHeader, to echo, b []byte) error {
	method, rest, why, failed, err := c.method(to, b)
	switch {
	case err != nil:
		return err
	case failed != nil:
		return c.turnDown(why, to, failed)
	}
	body, _, err := delimited(rest)
	if err != nil {
		return c.unreadable(to, err)
	}
	if method.inTurn {
		c.turn.take()
	}
	memory, err := method.weigh(body)
	if err != nil {
		return c.turnDown(refusedMessage, to, notTaken(err))
	}
	// The expected size may be that of a long answer to another caller. The expectation alone refuses no call.
	var expected int64
	if !c.s.atDesk(method) {
		expected = max(min(method.expected.Bytes(), c.s.memory.Most()-memory), 0)
		memory += expected
	}
	c.turn.give()
	failed, err = c.admit(memory)
	if method.inTurn {
		c.turn.take()
	}
	if err != nil || failed != nil {
		if err != nil {
			return err
		}
		failed.Message = "the call of " + method.name + " is not accepted: " + failed.Message
		return c.turnDown(refusedMemory, to, failed)
	}
	req, err := method.decode(body)
	if err != nil {
		c.leavePlaces()
		c.s.memory.Give(c.addr.Addr(), memory)
		c.active.Add(-1)
		<-c.slots
		return c.turnDown(refusedMessage, to, errorf(wire.RpcErrorCode_ERROR_RPC_SERVER, ClassServer,
			"the request of %s cannot be read: %v", method.name, err))
	}
	if string(h.context) != c.context {
		c.context = string(h.context[:min(len(h.context), maxContext)])
	}
	t := &task{method: method, req: req, to: to, memory: memory, expected: expected, turn: turn{c: c}, Call: Call{
		Method: method.name, User: c.user, RealUser: c.realUser, Addr: c.addr,
		ClientID: to.client, ID: h.call, Retry: h.retry, Context: c.context, Identity: c.identity,
	}}
	c.calls.Add(1)
	c.s.count.calls.Add(1)
	go c.run(t)
	return nil
}

// method reads the header of a call and finds its method, or says why there is none; it returns what follows the header.
// An error ends the connection.
func (c *conn) method(to echo, b []byte) (m *served, rest []byte, why reason, failed *Error, err error) {
	head, rest, err := delimited(b)
	if err != nil {
		return nil, nil, 0, nil, c.unreadable(to, err)
	}
	h, err := parseMethodHeader(head)
	if err != nil {
		return nil, nil, 0, nil, c.unreadable(to, err)
	}
	m, why, failed = c.s.find(h)
	return m, rest, why, failed, nil
}

// notTaken is the answer to a request that is refused because of its content.
func notTaken(err error) *Error {
	return errorf(wire.RpcErrorCode_ERROR_RPC_SERVER, ClassServer, "%v", err)
}

// admit waits until a call that takes this much memory may be answered: at any of the limits nothing more is read, and
// the peer's writes block in turn. The connection's own limit comes first, then its callers': a peer that does not read
// its answers, or floods, holds nothing of the others' while it waits. Failed says why the call is not taken.
func (c *conn) admit(memory int64) (failed *Error, err error) {
	if !c.takeSlot(c.slots) {
		return nil, c.ctx.Err()
	}
	for i, of := range c.callers { // still counted as idle: the connection may be closed
		if !c.takeSlot(of.slots) {
			leave(c.callers[:i])
			<-c.slots
			return nil, c.ctx.Err()
		}
	}
	c.active.Add(1)
	switch err := c.s.memory.Take(c.ctx, c.addr.Addr(), memory, c.s.limits.Patience); {
	case err == nil:
		if c.takeSlot(c.s.slots) {
			return nil, nil
		}
		c.s.memory.Give(c.addr.Addr(), memory)
	case errors.Is(err, budget.ErrFull):
		failed = &Error{Class: ClassRetry, Message: err.Error() + "; try again"}
	case c.ctx.Err() == nil:
		failed = errorf(wire.RpcErrorCode_ERROR_RPC_SERVER, ClassServer, "%v", err)
	}
	c.active.Add(-1)
	leave(c.callers)
	<-c.slots
	return failed, c.ctx.Err()
}

// leavePlaces frees a call's places among the calls of others.
func (c *conn) leavePlaces() {
	<-c.s.slots
	leave(c.callers)
}

// leave frees the places of one call.
func leave(callers []*caller) {
	for _, of := range callers {
		<-of.slots
	}
}

// takeSlot waits for a place among the calls being answered.
func (c *conn) takeSlot(slots chan struct{}) bool {
	select {
	case slots <- struct{}{}:
		return true
	default:
	}
	select {
	case slots <- struct{}{}:
		return true
	case <-c.ctx.Done():
		return false
	}
}

// atDesk reports whether answers of a method are made at a desk.
func (s *Server) atDesk(m *served) bool { return m.long && s.desk != nil }

// find returns the called method, or why there is none.
func (s *Server) find(m methodHeader) (*served, reason, *Error) {
	methods, ok := s.protocols[string(m.protocol)]
	if !ok {
		return nil, refusedProtocol, errorf(wire.RpcErrorCode_ERROR_NO_SUCH_PROTOCOL, ClassNoProtocol,
			"Unknown protocol: %s", clip(string(m.protocol)))
	}
	if m.version != protocolVersion {
		return nil, refusedProtocol, errorf(wire.RpcErrorCode_ERROR_RPC_VERSION_MISMATCH, ClassVersion,
			"Protocol %s version mismatch. (client = %d, server = %d)", m.protocol, m.version, protocolVersion)
	}
	method, ok := methods[string(m.method)]
	if !ok {
		return nil, refusedMethod, errorf(wire.RpcErrorCode_ERROR_NO_SUCH_METHOD, ClassNoMethod,
			"Unknown method %s called on %s protocol.", clip(string(m.method)), m.protocol)
	}
	return method, 0, nil
}

// turnDown answers a call that is refused; the connection goes on.
func (c *conn) turnDown(why reason, to echo, failed *Error) error {
	c.turn.give() // the log's consumer may be slow
	c.s.refuse(c.addr, why, failed)
	c.turn.take()
	return c.fail(&c.turn, to, failed)
}

// run answers a call.
func (c *conn) run(t *task) {
	defer c.ran(t)
	resp, err := c.invoke(t)
	if t.After > 0 {
		c.rest(t)
	}
	if t.method.inTurn {
		t.turn.take()
		defer t.turn.give()
	}
	if err == nil {
		size := proto.Size(resp)
		c.settle(t, resp, size)
		if err = c.succeed(&t.turn, t.to, resp, size); err == nil {
			return
		}
	}
	t.method.failed.Add(1)
	var failed *Error
	if !errors.As(err, &failed) {
		failed = &Error{Class: ClassYarn, Message: err.Error()}
	}
	if c.fail(&t.turn, t.to, failed) == nil && failed.fatal() {
		c.cancel()
		c.stop()
	}
}

// rest waits for as long as the handler has asked.
func (c *conn) rest(t *task) {
	c.s.memory.Give(c.addr.Addr(), t.memory)
	t.memory, t.expected, t.req = 0, 0, nil
	select {
	case <-time.After(t.After):
	case <-c.ctx.Done():
	}
}

// ran gives back what a call held until its answer had left: it counted only against this peer.
func (c *conn) ran(t *task) {
	c.s.memory.Give(c.addr.Addr(), t.memory)
	if t.answer != nil {
		t.answer.Left()
	}
	c.answered.Store(time.Now().UnixNano())
	c.active.Add(-1)
	<-c.slots
	c.calls.Done()
}

// invoke calls the handler. It frees the call's places among the calls of others before the answer leaves: a peer that
// does not read holds none.
func (c *conn) invoke(t *task) (resp proto.Message, err error) {
	t.method.calls.Add(1)
	defer func() {
		c.s.count.calls.Add(-1)
		c.leavePlaces()
		if p := recover(); p != nil {
			resp, err = nil, c.panicked(p)
		}
	}()
	ctx := c.ctx
	if c.s.atDesk(t.method) {
		ctx, t.answer = c.s.desk.Answer(ctx, c.addr.Addr(), &t.method.expected, true)
	}
	return t.method.invoke(ctx, &t.Call, t.req)
}

// buffers are for encoding answers.
var buffers = sync.Pool{New: func() any { return new([]byte) }}

// settle makes a call hold the actual memory of its answer, in place of what was expected.
func (c *conn) settle(t *task, resp proto.Message, size int) {
	takes := t.method.answerBytes(resp, size)
	if t.answer != nil {
		t.answer.Made(takes)
		return
	}
	t.method.expected.Saw(takes)
	if more := takes - t.expected; more != 0 {
		c.s.memory.More(c.addr.Addr(), more)
		t.memory += more
	}
}

// succeed sends the answer resp, of the given size. It returns an [Error] if resp cannot be encoded: the caller can be
// told so.
func (c *conn) succeed(at *turn, to echo, resp proto.Message, size int) error {
	if size > keepOutput {
		return c.streamed(at, to, resp, size)
	}
	p := buffers.Get().(*[]byte)
	defer keep(p)
	b := appendResponseHeader(beginFrame((*p)[:0]), to.call, to.retry, to.id(), nil)
	b, err := proto.MarshalOptions{UseCachedSize: true}.MarshalAppend(protowire.AppendVarint(b, uint64(size)), resp)
	*p = b
	if err != nil {
		at.give()
		return c.unwritable(resp, err)
	}
	return c.sendFrame(at, b)
}

// unwritable is the error for an answer that cannot be encoded: it contains something that its message does not allow.
func (c *conn) unwritable(resp proto.Message, err error) error {
	c.s.log.Error("an answer cannot be written", "peer", c.addr.String(), "message", resp.ProtoReflect().Descriptor().FullName(), "err", err)
	return errorf(wire.RpcErrorCode_ERROR_SERIALIZING_RESPONSE, ClassYarn, "the answer cannot be written: %v", err)
}

// streamed sends an answer in pieces, as they are encoded: it is never in memory as a whole.
func (c *conn) streamed(at *turn, to echo, resp proto.Message, size int) error {
	if err := proto.CheckInitialized(resp); err != nil {
		at.give()
		return c.unwritable(resp, err)
	}
	b := appendResponseHeader(beginFrame(make([]byte, 0, 2*keepOutput)), to.call, to.retry, to.id(), nil)
	b = protowire.AppendVarint(b, uint64(size))
	binary.BigEndian.PutUint32(b, uint32(len(b)-lengthSize+size))
	within := c.s.limits.Write + time.Duration(size/leastRate)*time.Second
	again := runtime.Gosched // nodes may be waiting for a processor
	if at.has {
		again = at.take
	}
	at.give() // until this answer may leave
	return c.sent(c.out.stream(at, func(write func([]byte) error) error {
		p := pieces{b: b, write: func(b []byte) error {
			at.give()
			err := write(b)
			if err == nil {
				again()
			}
			return err
		}}
		again()
		if err := p.message(resp.ProtoReflect(), size); err != nil {
			return err
		}
		at.give()
		return write(p.b)
	}, within))
}

// fail sends an error as an answer: nothing follows the header.
func (c *conn) fail(at *turn, to echo, failed *Error) error {
	p := buffers.Get().(*[]byte)
	defer keep(p)
	valid := Error{strings.ToValidUTF8(failed.Class, "?"), strings.ToValidUTF8(failed.Message, "?"), failed.Code}
	*p = appendResponseHeader(beginFrame((*p)[:0]), to.call, to.retry, to.id(), &valid)
	return c.sendFrame(at, *p)
}

// keep returns a buffer to the pool unless it has grown large.
func keep(p *[]byte) {
	if cap(*p) <= keepOutput {
		buffers.Put(p)
	}
}

// sendFrame sends b as a frame. If that fails, the connection ends.
func (c *conn) sendFrame(at *turn, b []byte) error {
	endFrame(b, 0)
	return c.sent(c.out.send(at, b))
}

// sent ends the connection if sending failed.
func (c *conn) sent(err error) error {
	if err != nil && c.broken.CompareAndSwap(false, true) {
		if errors.Is(err, os.ErrDeadlineExceeded) {
			c.s.refuse(c.addr, refusedOutput, errors.New("the peer does not read its answers"))
		}
		c.cancel()
		_ = c.nc.Close() // the reader ends with it
	}
	return err
}

// appendMessage appends m with its length.
func appendMessage(b []byte, m proto.Message) ([]byte, error) {
	b = protowire.AppendVarint(b, uint64(proto.Size(m)))
	return proto.MarshalOptions{UseCachedSize: true}.MarshalAppend(b, m)
}
