package hollow

import (
	"context"
	"errors"
	"strings"
	"sync"

	"google.golang.org/protobuf/proto"

	"heddle/yarn/rpc"
)

// A Peer calls a ResourceManager that may die: after a broken connection, the next call makes a new one.
type Peer struct {
	addr string
	opt  rpc.ClientOptions
	mu   sync.Mutex
	conn *rpc.Client
}

// NewPeer returns a Peer that has not called yet.
func NewPeer(addr string, o rpc.ClientOptions) *Peer { return &Peer{addr: addr, opt: o} }

// Call calls once. If the error is not an [rpc.Error], there was no answer: the call may or may not have had its
// effect.
func (p *Peer) Call(ctx context.Context, method string, req, resp proto.Message) error {
	conn, err := p.dial(ctx)
	if err != nil {
		return err
	}
	err = conn.Call(ctx, method, req, resp)
	if answered := (*rpc.Error)(nil); err != nil && !errors.As(err, &answered) {
		p.drop(conn)
	}
	return err
}

// Close ends the connection, if there is one.
func (p *Peer) Close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.conn != nil {
		_ = p.conn.Close() // nobody waits for an answer
		p.conn = nil
	}
}

func (p *Peer) dial(ctx context.Context) (*rpc.Client, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.conn != nil {
		return p.conn, nil
	}
	conn, err := rpc.Dial(ctx, p.addr, p.opt)
	if err == nil {
		p.conn = conn
	}
	return conn, err
}

func (p *Peer) drop(conn *rpc.Client) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.conn == conn {
		p.conn = nil
	}
	_ = conn.Close() // it is broken
}

// Refused returns the exception, without its package, with which a call was answered, or "" if there was no answer.
func Refused(err error) string {
	answered := (*rpc.Error)(nil)
	if !errors.As(err, &answered) {
		return ""
	}
	return answered.Class[strings.LastIndexByte(answered.Class, '.')+1:]
}
