package rpc

import (
	"context"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"sync"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"
	"google.golang.org/protobuf/proto"

	"heddle/yarn/wire"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// patience is how long a test waits for what should happen at once.
const patience = 5 * time.Second

// startServer serves o on its own port until the test ends.
func startServer(t testing.TB, o Options) (*Server, string) {
	t.Helper()
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := NewServer(o)
	ended := make(chan error, 1)
	go func() { ended <- s.Serve(ln) }()
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		if err := s.Close(ctx); err != nil {
			t.Errorf("closing the server: %v", err)
		}
		if err := <-ended; err != nil {
			t.Errorf("serving: %v", err)
		}
	})
	return s, ln.Addr().String()
}

// A pipes is a listener for connections inside the process, for tests with their own clock.
type pipes struct {
	conns chan net.Conn
	once  sync.Once
	done  chan struct{}
}

func newPipes() *pipes { return &pipes{conns: make(chan net.Conn), done: make(chan struct{})} }

func (p *pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.conns:
		return c, nil
	case <-p.done:
		return nil, net.ErrClosed
	}
}

func (p *pipes) Close() error   { p.once.Do(func() { close(p.done) }); return nil }
func (p *pipes) Addr() net.Addr { return &net.UnixAddr{Name: "pipe", Net: "unix"} }

// startPiped serves o on pipes; each call of the returned function connects a peer.
func startPiped(t *testing.T, o Options) (*Server, func() *peer) {
	t.Helper()
	o.Log = slog.New(slog.DiscardHandler)
	s, ln := NewServer(o), newPipes()
	ended := make(chan error, 1)
	go func() { ended <- s.Serve(ln) }()
	t.Cleanup(func() {
		if err := s.Close(t.Context()); err != nil && !errors.Is(err, context.Canceled) {
			t.Errorf("closing the server: %v", err)
		}
		if err := <-ended; err != nil {
			t.Errorf("serving: %v", err)
		}
	})
	return s, func() *peer {
		near, far := net.Pipe()
		ln.conns <- far
		t.Cleanup(func() { _ = near.Close() })
		return &peer{near, t}
	}
}

// A peer is a client that sends raw bytes.
type peer struct {
	net.Conn
	t *testing.T
}

func connect(t *testing.T, addr string) *peer {
	t.Helper()
	c, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	if err := c.SetDeadline(time.Now().Add(patience)); err != nil {
		t.Fatal(err)
	}
	return &peer{c, t}
}

// send writes hexadecimal digits as bytes.
func (p *peer) send(s string) {
	p.t.Helper()
	if _, err := p.Write(unhex(s)); err != nil {
		p.t.Fatalf("sending: %v", err)
	}
}

// answer reads a frame and returns its header and what follows it.
func (p *peer) answer() (*wire.RpcResponseHeader, []byte) {
	p.t.Helper()
	h, rest, err := readAnswer(p)
	if err != nil {
		p.t.Fatalf("reading an answer: %v", err)
	}
	return h, rest
}

func readAnswer(r io.Reader) (*wire.RpcResponseHeader, []byte, error) {
	var length [lengthSize]byte
	if _, err := io.ReadFull(r, length[:]); err != nil {
		return nil, nil, err
	}
	b := make([]byte, binary.BigEndian.Uint32(length[:]))
	if _, err := io.ReadFull(r, b); err != nil {
		return nil, nil, err
	}
	head, rest, err := delimited(b)
	if err != nil {
		return nil, nil, err
	}
	h := new(wire.RpcResponseHeader)
	return h, rest, proto.Unmarshal(head, h)
}

// gone waits for the server to end the connection.
func (p *peer) gone() {
	p.t.Helper()
	b, err := io.ReadAll(p)
	if len(b) > 0 {
		p.t.Fatalf("%d bytes came: %x", len(b), b)
	}
	// Closing with unread input resets a connection; that is an end too.
	if err != nil && !errors.Is(err, syscall.ECONNRESET) {
		p.t.Fatalf("the connection did not end: %v", err)
	}
}

// hexFrame makes a frame of a request header and messages, using only generated code.
func hexFrame(h *wire.RpcRequestHeader, messages ...proto.Message) string {
	b := beginFrame(nil)
	for _, m := range append([]proto.Message{h}, messages...) {
		var err error
		if b, err = appendMessage(b, m); err != nil {
			panic(err)
		}
	}
	endFrame(b, 0)
	return hex.EncodeToString(b)
}

// head returns the header of call id, as Java clients send it.
func head(id int32) *wire.RpcRequestHeader {
	return &wire.RpcRequestHeader{
		RpcKind: wire.RpcKind_RPC_PROTOCOL_BUFFER.Enum(), RpcOp: wire.RpcRequestHeader_RPC_FINAL_PACKET.Enum(),
		CallId: &id, ClientId: exampleID[:], RetryCount: new(int32(0)),
	}
}

// hexMethod encodes a call of clientPB's method.
func hexMethod(id int32, method string, req proto.Message) string {
	return hexFrame(head(id), &wire.RequestHeader{
		MethodName: &method, DeclaringClassProtocolName: new(clientPB), ClientProtocolVersion: new(uint64(1)),
	}, req)
}

// hexSASL encodes a SASL message.
func hexSASL(m *wire.RpcSasl) string {
	h := head(callSASL)
	h.ClientId, h.RetryCount = []byte{}, new(int32(-1))
	return hexFrame(h, m)
}

// A bench is a protocol whose methods a test controls.
type bench struct {
	release chan struct{} // ends waitForIt
	started chan int32    // ids of calls of waitForIt
	ended   chan error    // why their contexts ended
}

func newBench() *bench {
	return &bench{make(chan struct{}), make(chan int32, 1000), make(chan error, 1000)}
}

type (
	killReq  = wire.KillApplicationRequest
	killResp = wire.KillApplicationResponse
)

// protocol has echo, which repeats the user and the diagnostics; waitForIt, which waits; big, which answers as many
// kilobytes as the length of its diagnostics; and handlers that fail.
func (b *bench) protocol() []Protocol {
	fails := func(err error) Method {
		return Serve(func(context.Context, *Call, *killReq) (*killResp, error) { return nil, err })
	}
	return []Protocol{{clientPB, map[string]Method{
		"echo": Serve(func(_ context.Context, c *Call, req *killReq) (*wire.GetQueueInfoRequest, error) {
			return &wire.GetQueueInfoRequest{QueueName: new(c.User + "/" + c.RealUser + "/" + req.GetDiagnostics())}, nil
		}),
		"waitForIt": Serve(func(ctx context.Context, c *Call, _ *killReq) (*killResp, error) {
			b.started <- c.ID
			select {
			case <-b.release:
				return &killResp{IsKillCompleted: new(true)}, nil
			case <-ctx.Done():
				b.ended <- ctx.Err()
				return nil, ctx.Err()
			}
		}),
		"big": Serve(func(_ context.Context, _ *Call, req *killReq) (*wire.GetQueueInfoRequest, error) {
			return &wire.GetQueueInfoRequest{QueueName: new(string(make([]byte, len(req.GetDiagnostics())<<10)))}, nil
		}),
		"incomplete": Serve(func(context.Context, *Call, *killReq) (*wire.Token, error) { return &wire.Token{}, nil }),
		"nothing":    Serve(func(context.Context, *Call, *killReq) (*killResp, error) { return nil, nil }),
		"plain":      fails(errors.New("it did not work")),
		"wrapped":    fails(fmt.Errorf("while trying: %w", &Error{Class: ClassAccessControl, Message: "not yours"})),
		"fatal":      fails(&Error{Class: ClassYarn, Message: "go away", Code: wire.RpcErrorCode_FATAL_UNKNOWN}),
		"panics":     Serve(func(context.Context, *Call, *killReq) (*killResp, error) { panic("a mistake") }),
	}}}
}

// listenSilently returns an address that accepts connections and sends nothing.
func listenSilently(t *testing.T) string {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = ln.Close() })
	return ln.Addr().String()
}
