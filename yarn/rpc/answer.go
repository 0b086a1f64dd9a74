package rpc

import (
	"errors"
	"os"
	"strings"
	"sync"
	"time"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"

	"heddle/yarn/wire"
)

// errBye says that the peer asked for the end of the connection.
var errBye = errors.New("the peer closes the connection")

// maxContext is how many bytes of a caller's context are kept.
const maxContext = 128

// A task is a call on its way to an answer.
type task struct {
	Call
	method *served
	req    proto.Message
	to     echo
	work   int64 // bytes held of [Limits.Work]
}

// called reads a call and has it answered. What is wrong with one call ends that call, what is wrong with its
// frame the connection.
func (c *conn) called(h requestHeader, to echo, b []byte) error {
	head, rest, err := delimited(b)
	if err != nil {
		return c.unreadable(to, err)
	}
	m, err := parseMethodHeader(head)
	if err != nil {
		return c.unreadable(to, err)
	}
	body, _, err := delimited(rest)
	if err != nil {
		return c.unreadable(to, err)
	}
	method, why, failed := c.s.find(m)
	if failed != nil {
		return c.turnDown(why, to, failed)
	}
	work := int64(min(len(body), c.s.limits.Work))
	if err := c.admit(work); err != nil {
		return err
	}
	req, err := method.decode(body)
	if err != nil {
		c.s.dismiss(work)
		<-c.slots
		return c.turnDown(refusedMessage, to, errorf(wire.RpcErrorCode_ERROR_RPC_SERVER, ClassServer,
			"the request of %s cannot be read: %v", method.name, err))
	}
	if string(h.context) != c.context {
		c.context = string(h.context[:min(len(h.context), maxContext)])
	}
	t := &task{method: method, req: req, to: to, work: work, Call: Call{
		Method: method.name, User: c.user, RealUser: c.realUser, Addr: c.addr,
		ClientID: to.client, ID: h.call, Retry: h.retry, Context: c.context, Identity: c.identity,
	}}
	c.calls.Add(1)
	c.active.Add(1)
	c.s.count.calls.Add(1)
	go c.run(t)
	return nil
}

// admit waits until a call may be answered whose request has so many bytes: above any of the limits nothing more is
// read, and the peer's writes wait in their turn. The connection's own limit comes first: one whose answers do not
// leave holds nothing of the others' while it waits.
func (c *conn) admit(work int64) error {
	if !c.takeSlot(c.slots) {
		return c.ctx.Err()
	}
	if c.s.work.Acquire(c.ctx, work) == nil {
		if c.takeSlot(c.s.slots) {
			return nil
		}
		c.s.work.Release(work)
	}
	<-c.slots
	return c.ctx.Err()
}

// dismiss gives back what a call holds of what all connections share.
func (s *Server) dismiss(work int64) {
	s.work.Release(work)
	<-s.slots
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

// find returns the method that is called, or why there is none.
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

// turnDown answers a call that cannot be made; the connection goes on.
func (c *conn) turnDown(why reason, to echo, failed *Error) error {
	c.s.refuse(c.addr, why, failed)
	return c.fail(to, failed)
}

// run answers a call.
func (c *conn) run(t *task) {
	defer c.ran()
	resp, err := c.invoke(t)
	if err == nil {
		if err = c.succeed(t.to, resp); err == nil {
			return
		}
	}
	t.method.failed.Add(1)
	var failed *Error
	if !errors.As(err, &failed) {
		failed = &Error{Class: ClassYarn, Message: err.Error()}
	}
	if c.fail(t.to, failed) == nil && failed.fatal() {
		c.cancel()
		c.stop()
	}
}

// ran gives back what a call held on the connection.
func (c *conn) ran() {
	c.answered.Store(time.Now().UnixNano())
	c.active.Add(-1)
	<-c.slots
	c.calls.Done()
}

// invoke calls the handler. What it holds of what all connections share is free before the answer leaves: a
// peer that does not read holds none of it.
func (c *conn) invoke(t *task) (resp proto.Message, err error) {
	t.method.calls.Add(1)
	defer func() {
		c.s.count.calls.Add(-1)
		c.s.dismiss(t.work)
		if p := recover(); p != nil {
			resp, err = nil, c.panicked(p)
		}
	}()
	return t.method.invoke(c.ctx, &t.Call, t.req)
}

// buffers are where answers are put together.
var buffers = sync.Pool{New: func() any { return new([]byte) }}

// succeed sends the answer resp. Its error is an [Error] where resp cannot be written down: the caller can be
// told so.
func (c *conn) succeed(to echo, resp proto.Message) error {
	p := buffers.Get().(*[]byte)
	defer keep(p)
	b, err := appendMessage(appendResponseHeader(beginFrame((*p)[:0]), to.call, to.retry, to.id(), nil), resp)
	*p = b
	if err != nil {
		c.s.log.Error("an answer cannot be written", "peer", c.addr.String(), "message", resp.ProtoReflect().Descriptor().FullName(), "err", err)
		return errorf(wire.RpcErrorCode_ERROR_SERIALIZING_RESPONSE, ClassYarn, "the answer cannot be written: %v", err)
	}
	return c.sendFrame(b)
}

// fail sends an error as an answer: nothing follows the header.
func (c *conn) fail(to echo, failed *Error) error {
	p := buffers.Get().(*[]byte)
	defer keep(p)
	valid := Error{strings.ToValidUTF8(failed.Class, "?"), strings.ToValidUTF8(failed.Message, "?"), failed.Code}
	*p = appendResponseHeader(beginFrame((*p)[:0]), to.call, to.retry, to.id(), &valid)
	return c.sendFrame(*p)
}

// keep gives a buffer back unless it has grown large.
func keep(p *[]byte) {
	if cap(*p) <= keepOutput {
		buffers.Put(p)
	}
}

// sendFrame sends b as a frame. A connection that cannot take it ends.
func (c *conn) sendFrame(b []byte) error {
	endFrame(b, 0)
	err := c.out.send(b)
	if err != nil && c.broken.CompareAndSwap(false, true) {
		switch {
		case errors.Is(err, os.ErrDeadlineExceeded):
			c.s.refuse(c.addr, refusedOutput, errors.New("it does not read its answers"))
		case errors.Is(err, errBacklog):
			c.s.refuse(c.addr, refusedOutput, err)
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
