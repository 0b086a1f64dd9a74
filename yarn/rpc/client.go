package rpc

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
	"time"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"

	"heddle/yarn/wire"
)

// A Token authenticates a client where a server requires one. Kind and Service are not sent.
type Token struct {
	Identifier, Password []byte
	Kind, Service        string
}

// String returns the kind of t and what it is for; its password stays out of logs.
func (t Token) String() string { return t.Kind + " for " + t.Service }

// ClientOptions configure a [Client]. Timeout bounds dialling, and every call whose context has no deadline; 0 means
// [DefaultTimeout].
type ClientOptions struct {
	Protocol string // full name, as in [Protocol]
	User     string // on whose behalf; not sent with a token, which names the user
	RealUser string // who acts for User; "" if User itself does
	Token    *Token // nil: SIMPLE
	Timeout  time.Duration
}

// DefaultTimeout is how long a [Client] waits by default.
const DefaultTimeout = 60 * time.Second

// A Client is one connection to a server, with the calls in progress on it. It is safe for concurrent use.
type Client struct {
	nc       net.Conn
	in       splitter
	out      *outbox
	id       [idSize]byte
	addr     string
	protocol string
	timeout  time.Duration
	ended    chan struct{} // closed when the reader has ended

	mu      sync.Mutex
	next    int32
	pending map[int32]*waiter
	err     error // why no further call can be made
}

// A waiter is a call waiting for its answer.
type waiter struct {
	resp proto.Message
	done chan error
}

// errLeft says that a client was closed by its owner.
var errLeft = errors.New("the client is closed")

// Dial connects to addr, a host:port, and authenticates. Its error is an [Error] if the server refused.
func Dial(ctx context.Context, addr string, o ClientOptions) (*Client, error) {
	if o.Timeout <= 0 {
		o.Timeout = DefaultTimeout
	}
	ctx, cancel := context.WithTimeout(ctx, o.Timeout)
	defer cancel()
	nc, err := new(net.Dialer).DialContext(ctx, "tcp", addr)
	if err != nil {
		return nil, fmt.Errorf("RPC to %s: %w", addr, err)
	}
	c, err := newClient(ctx, nc, o)
	if err != nil {
		return nil, fmt.Errorf("RPC to %s: %w", addr, err)
	}
	return c, nil
}

// newClient starts a client on nc, and closes nc if that fails.
func newClient(ctx context.Context, nc net.Conn, o ClientOptions) (*Client, error) {
	c := &Client{nc: nc, addr: nc.RemoteAddr().String(), protocol: o.Protocol, timeout: o.Timeout, ended: make(chan struct{}), pending: make(map[int32]*waiter)}
	rand.Read(c.id[:]) // it never fails: without randomness the program ends
	c.in = splitter{r: nc, limit: DefaultFrame}
	c.out = newOutbox(nc, DefaultOutput, min(o.Timeout, DefaultWrite), func(int) {})
	// The end of ctx ends any read or write in progress.
	stop := context.AfterFunc(ctx, func() { _ = nc.SetDeadline(time.Unix(1, 0)) })
	err := c.begin(o)
	if !stop() && ctx.Err() != nil {
		err = ctx.Err()
	}
	if err != nil {
		_ = nc.Close() // err says what went wrong
		return nil, err
	}
	go c.read()
	return c, nil
}

// begin sends the connection header and the context, and authenticates in between.
func (c *Client) begin(o ClientOptions) error {
	who := &wire.UserInformation{}
	auth := authNone
	if o.Token != nil {
		auth = authSASL
	} else {
		who.EffectiveUser = new(o.User)
		if o.RealUser != "" {
			who.RealUser = new(o.RealUser)
		}
	}
	b := append([]byte(magic), Version, 0, auth)
	if o.Token != nil {
		if err := c.authenticate(b, o.Token); err != nil {
			return fmt.Errorf("SASL: %w", err)
		}
		b = nil
	}
	at := len(b)
	b = appendRequestHeader(beginFrame(b), callContext, noRetry, c.id[:])
	b, err := appendMessage(b, &wire.IpcConnectionContext{UserInfo: who, Protocol: new(o.Protocol)})
	if err != nil {
		return err
	}
	endFrame(b, at)
	return c.out.send(nil, b)
}

// Call calls method with req and reads the answer into resp. An error that the server answered is an [Error]; after any
// other error the server may or may not have executed the call. When ctx ends, Call stops waiting for the answer; other
// calls are not affected.
func (c *Client) Call(ctx context.Context, method string, req, resp proto.Message) error {
	if err := c.call(ctx, method, req, resp); err != nil {
		return fmt.Errorf("calling %s at %s: %w", method, c.addr, err)
	}
	return nil
}

// call is Call with errors that do not name the call.
func (c *Client) call(ctx context.Context, method string, req, resp proto.Message) error {
	if _, ok := ctx.Deadline(); !ok {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, c.timeout)
		defer cancel()
	}
	w := &waiter{resp: resp, done: make(chan error, 1)}
	id, err := c.register(w)
	if err != nil {
		return err
	}
	if err := c.request(id, method, req); err != nil {
		if c.drop(id) {
			return err
		}
		// The connection ended meanwhile, and reported why.
		return <-w.done
	}
	select {
	case err = <-w.done:
		return err
	case <-ctx.Done():
		if c.drop(id) {
			return ctx.Err()
		}
		// The answer is being read into resp.
		return <-w.done
	}
}

// register gives w an id.
func (c *Client) register(w *waiter) (int32, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.err != nil {
		return 0, c.err
	}
	id := c.next
	for c.pending[id] != nil {
		id = (id + 1) & maxCall
	}
	c.next = (id + 1) & maxCall
	c.pending[id] = w
	return id, nil
}

// maxCall is the largest call id; the next one is 0.
const maxCall = 1<<31 - 1

// drop forgets call id and reports whether it was still waiting.
func (c *Client) drop(id int32) bool { return c.claim(id) != nil }

// claim removes call id from those that wait, and returns it.
func (c *Client) claim(id int32) *waiter {
	c.mu.Lock()
	defer c.mu.Unlock()
	w := c.pending[id]
	delete(c.pending, id)
	return w
}

// request sends a call.
func (c *Client) request(id int32, method string, req proto.Message) error {
	p := buffers.Get().(*[]byte)
	defer keep(p)
	b := appendRequestHeader(beginFrame((*p)[:0]), id, 0, c.id[:])
	b, err := appendMessage(appendMethodHeader(b, method, c.protocol), req)
	*p = b
	if err != nil {
		return fmt.Errorf("the request cannot be written: %w", err)
	}
	if len(b)-lengthSize > DefaultFrame {
		return fmt.Errorf("the request has %d bytes; at most %d can be sent", len(b)-lengthSize, DefaultFrame)
	}
	endFrame(b, 0)
	if err := c.out.send(nil, b); err != nil {
		c.end(err)
		return err
	}
	return nil
}

// read processes answers until the connection ends.
func (c *Client) read() {
	defer close(c.ended)
	for {
		b, err := c.in.next()
		if err == nil {
			err = c.answered(b)
		}
		if errors.Is(err, io.EOF) {
			err = fmt.Errorf("the server closed the connection: %w", err)
		}
		if err != nil {
			c.end(err)
			return
		}
	}
}

// answered passes an answer to the call that waits for it. An error ends the connection.
func (c *Client) answered(b []byte) error {
	h, body, err := c.response(b, c.id[:])
	if err != nil {
		return err
	}
	if h.err != nil && h.status == int32(wire.RpcStatus_FATAL) {
		return h.err
	}
	w := c.claim(h.call)
	if w == nil {
		return nil // its call no longer waits
	}
	if h.err != nil {
		w.done <- h.err
		return nil
	}
	if err := decoding.Unmarshal(body, w.resp); err != nil {
		err = fmt.Errorf("the answer cannot be read: %w", err)
		w.done <- err
	} else {
		w.done <- nil
	}
	return nil
}

// response splits an answer into its header and, for a success, its message. Client is the id that it must be for.
func (c *Client) response(b, client []byte) (responseHeader, []byte, error) {
	head, rest, err := delimited(b)
	if err != nil {
		return responseHeader{}, nil, fmt.Errorf("answer: %w", err)
	}
	h, err := parseResponseHeader(head)
	if err != nil {
		return h, nil, err
	}
	if len(h.client) > 0 && !bytes.Equal(h.client, client) {
		return h, nil, errors.New("the answer is for another client's id")
	}
	if h.err != nil {
		if len(rest) > 0 {
			return h, nil, fmt.Errorf("%d bytes follow an error", len(rest))
		}
		return h, nil, nil
	}
	body, n := protowire.ConsumeBytes(rest)
	if n != len(rest) {
		return h, nil, errors.New("the answer's message does not fill its frame")
	}
	return h, body, nil
}

// end fails all calls, current and future, with err. Only the first error counts.
func (c *Client) end(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.err != nil {
		return
	}
	c.err = err
	for id, w := range c.pending {
		delete(c.pending, id)
		w.done <- err
	}
	_ = c.nc.Close() // what was still to be sent is lost either way
	c.out.close()
}

// Close ends the connection; waiting calls fail. It returns when the client's goroutine has ended.
func (c *Client) Close() error {
	c.end(errLeft)
	<-c.ended
	return nil
}
