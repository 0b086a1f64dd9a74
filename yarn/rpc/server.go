package rpc

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/netip"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/semaphore"
)

// Options say what a [Server] serves.
type Options struct {
	Protocols []Protocol
	// Tokens makes every connection prove that it has a token. Without it the server is a SIMPLE port, which
	// believes what clients say of themselves.
	Tokens Verifier
	Limits Limits
	Log    *slog.Logger // nil: slog.Default
}

// A Server answers calls. It may serve several listeners.
type Server struct {
	protocols map[string]map[string]*served
	tokens    Verifier
	limits    Limits
	log       *slog.Logger
	slots     chan struct{} // one for each call being answered
	count     counters
	work      *semaphore.Weighted // bytes of the requests being answered: what they are read into is many times as large
	unsent    backlog
	input     atomic.Int64 // bytes of input buffers above keepInput each
	told      atomic.Int64 // when a refusal was logged last, in nanoseconds since 1970
	untold    atomic.Int64 // refusals since then

	mu        sync.Mutex
	closing   bool
	listeners map[net.Listener]struct{}
	conns     map[*conn]struct{}
	perAddr   map[netip.Addr]int
	running   sync.WaitGroup // connections
}

// NewServer makes a server. Two protocols of one name are a mistake of the caller's and panic.
func NewServer(o Options) *Server {
	l := o.Limits.withDefaults()
	s := &Server{
		protocols: make(map[string]map[string]*served, len(o.Protocols)),
		tokens:    o.Tokens,
		limits:    l,
		log:       o.Log,
		slots:     make(chan struct{}, l.Calls),
		work:      semaphore.NewWeighted(int64(l.Work)),
		unsent:    backlog{most: int64(l.Unsent)},
		listeners: make(map[net.Listener]struct{}),
		conns:     make(map[*conn]struct{}),
		perAddr:   make(map[netip.Addr]int),
	}
	if s.log == nil {
		s.log = slog.Default()
	}
	for _, p := range o.Protocols {
		if s.protocols[p.Name] != nil {
			panic("rpc: protocol " + p.Name + " stands twice in the options of a server")
		}
		methods := make(map[string]*served, len(p.Methods))
		for name, m := range p.Methods {
			methods[name] = &served{Method: m, name: name}
		}
		s.protocols[p.Name] = methods
	}
	return s
}

// Serve answers the connections ln accepts until [Server.Close], and returns nil then. It closes ln.
func (s *Server) Serve(ln net.Listener) error {
	s.mu.Lock()
	if s.closing {
		s.mu.Unlock()
		return errors.Join(ln.Close(), errors.New("the server was closed before it served "+ln.Addr().String()))
	}
	s.listeners[ln] = struct{}{}
	s.mu.Unlock()
	defer func() {
		s.mu.Lock()
		delete(s.listeners, ln)
		s.mu.Unlock()
		_ = ln.Close() // it may be closed already
	}()
	const shortest, longest = 5 * time.Millisecond, time.Second
	pause := shortest
	for {
		nc, err := ln.Accept()
		if err == nil {
			pause = shortest
			s.accept(nc)
			continue
		}
		if s.isClosing() {
			return nil
		}
		if errors.Is(err, net.ErrClosed) {
			return fmt.Errorf("listener on %s: %w", ln.Addr(), err)
		}
		// Out of file descriptors, mostly: connections that end give some back.
		s.log.Error("accepting a connection failed", "listener", ln.Addr().String(), "again in", pause, "err", err)
		time.Sleep(pause)
		pause = min(2*pause, longest)
	}
}

func (s *Server) isClosing() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.closing
}

// accept takes nc in or, where a limit is reached, closes it.
func (s *Server) accept(nc net.Conn) {
	s.count.accepted.Add(1)
	addr := peerOf(nc)
	s.mu.Lock()
	refused := reason(-1)
	switch {
	case s.closing:
		s.mu.Unlock()
		_ = nc.Close()
		return
	case len(s.conns) >= s.limits.Conns:
		refused = refusedConns
	case s.perAddr[addr.Addr()] >= s.limits.ConnsPer:
		refused = refusedAddress
	}
	if refused >= 0 {
		s.mu.Unlock()
		s.refuse(addr, refused, errors.New("the limit on connections is reached"))
		_ = nc.Close()
		return
	}
	c := newConn(s, nc, addr)
	s.conns[c] = struct{}{}
	s.perAddr[addr.Addr()]++
	s.running.Add(1)
	s.mu.Unlock()
	go c.serve()
}

// forget is called when c has ended.
func (s *Server) forget(c *conn) {
	s.mu.Lock()
	delete(s.conns, c)
	if s.perAddr[c.addr.Addr()]--; s.perAddr[c.addr.Addr()] == 0 {
		delete(s.perAddr, c.addr.Addr())
	}
	s.mu.Unlock()
	s.running.Done()
}

// Close takes no more connections and calls, lets the calls being answered be answered, and ends the
// connections. When ctx ends first it ends them at once, with the contexts of their calls, and returns ctx's
// error; it does not wait for handlers then.
func (s *Server) Close(ctx context.Context) error {
	s.mu.Lock()
	s.closing = true
	for ln := range s.listeners {
		_ = ln.Close() // Serve says what is worth saying
	}
	for c := range s.conns {
		c.stop()
	}
	s.mu.Unlock()
	done := make(chan struct{})
	go func() {
		s.running.Wait()
		close(done)
	}()
	select {
	case <-done:
		return nil
	case <-ctx.Done():
	}
	s.mu.Lock()
	for c := range s.conns {
		c.cancel()
		_ = c.nc.Close()
	}
	s.mu.Unlock()
	return fmt.Errorf("calls were still being answered: %w", ctx.Err())
}

// refuse counts and logs that a peer was turned away: one line a second at most, for a hostile peer can be
// turned away thousands of times in it.
func (s *Server) refuse(addr netip.AddrPort, why reason, err error) {
	s.count.refused[why].Add(1)
	now := time.Now().UnixNano()
	last := s.told.Load()
	if now-last < int64(time.Second) || !s.told.CompareAndSwap(last, now) {
		s.untold.Add(1)
		return
	}
	s.log.Warn("peer refused", "peer", addr.String(), "reason", why.String(), "err", err.Error(), "suppressed", s.untold.Swap(0))
}

// peerOf returns the address of the other side, or none where it is not one of TCP.
func peerOf(nc net.Conn) netip.AddrPort {
	tcp, ok := nc.RemoteAddr().(*net.TCPAddr)
	if !ok {
		return netip.AddrPort{}
	}
	ap := tcp.AddrPort()
	return netip.AddrPortFrom(ap.Addr().Unmap(), ap.Port())
}
