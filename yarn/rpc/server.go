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

	"heddle/internal/budget"
)

// Options configure a [Server].
type Options struct {
	Protocols []Protocol
	// Tokens makes every connection prove that it has a token. Without it the server is a SIMPLE port, which believes
	// what clients say about themselves.
	Tokens Verifier
	Limits Limits
	Input  *budget.Account // for input that has arrived but is not read yet; nil for its own DefaultInput
	Memory *budget.Account // for calls being executed and answered; nil for its own DefaultMemory
	Desk   *budget.Desk    // where long answers are made; nil for as many at once as there are calls
	Turns  Turns           // who has a processor for handshakes, calls of [Method.InTurn] and calls of no method; nil for no turns
	Log    *slog.Logger    // nil: slog.Default
}

// A Server answers calls. It may serve several listeners.
type Server struct {
	protocols map[string]map[string]*served
	tokens    Verifier
	limits    Limits
	log       *slog.Logger
	slots     chan struct{} // one for each call being answered
	count     counters
	input     *budget.Account
	memory    *budget.Account
	desk      *budget.Desk
	turns     Turns
	told      atomic.Int64 // when a refusal was last logged, in nanoseconds since 1970
	untold    atomic.Int64 // refusals not logged since then

	mu        sync.Mutex
	closing   bool
	listeners map[net.Listener]struct{}
	conns     map[*conn]struct{}
	perAddr   map[netip.Addr]map[*conn]struct{}
	callers   map[callerKey]*caller
	running   sync.WaitGroup // connections
}

// NewServer makes a server. It panics if two protocols have the same name.
func NewServer(o Options) *Server {
	l := o.Limits.withDefaults()
	s := &Server{
		protocols: make(map[string]map[string]*served, len(o.Protocols)),
		tokens:    o.Tokens,
		limits:    l,
		log:       o.Log,
		slots:     make(chan struct{}, l.Calls),
		input:     o.Input,
		memory:    o.Memory,
		desk:      o.Desk,
		turns:     o.Turns,
		listeners: make(map[net.Listener]struct{}),
		conns:     make(map[*conn]struct{}),
		perAddr:   make(map[netip.Addr]map[*conn]struct{}),
		callers:   make(map[callerKey]*caller),
	}
	if s.log == nil {
		s.log = slog.Default()
	}
	if s.input == nil {
		s.input = budget.New(DefaultInput, DefaultInput).Account(0)
	}
	if s.memory == nil {
		s.memory = budget.New(DefaultMemory, DefaultMemory).Account(0)
	}
	all := shapes{}
	for _, p := range o.Protocols {
		if s.protocols[p.Name] != nil {
			panic("rpc: protocol " + p.Name + " appears twice in the options of a server")
		}
		methods := make(map[string]*served, len(p.Methods))
		for name, m := range p.Methods {
			methods[name] = newServed(name, m, all)
		}
		s.protocols[p.Name] = methods
	}
	return s
}

// Serve answers the connections that ln accepts until [Server.Close], and then returns nil. It closes ln.
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
		// Usually out of file descriptors: connections that end free some.
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

// accept serves nc. At a limit it closes the longest idle connection of nc's address or, at the limit for all, of the
// address with the most connections; if none is idle, it closes nc.
func (s *Server) accept(nc net.Conn) {
	s.count.accepted.Add(1)
	addr := peerOf(nc)
	s.mu.Lock()
	if s.closing {
		s.mu.Unlock()
		_ = nc.Close()
		return
	}
	refused, crowd := reason(-1), addr.Addr()
	switch {
	case len(s.perAddr[crowd]) >= s.limits.ConnsPer:
		refused = refusedAddress
	case len(s.conns) >= s.limits.Conns:
		refused, crowd = refusedConns, s.crowd()
	}
	gone := nc
	if refused >= 0 {
		if c := idlest(s.perAddr[crowd]); c != nil && len(s.perAddr[crowd]) > 1 {
			gone = c.nc
			c.cancel()
			s.drop(c)
		}
	}
	if refused < 0 || gone != nc {
		s.take(nc, addr)
	}
	s.mu.Unlock()
	if refused >= 0 {
		s.refuse(peerOf(gone), refused, errors.New("the limit on connections is reached, and this idle connection has the lowest priority"))
		_ = gone.Close()
	}
}

// take serves a connection. The caller holds the lock.
func (s *Server) take(nc net.Conn, addr netip.AddrPort) {
	c := newConn(s, nc, addr)
	s.conns[c] = struct{}{}
	if s.perAddr[addr.Addr()] == nil {
		s.perAddr[addr.Addr()] = map[*conn]struct{}{}
	}
	s.perAddr[addr.Addr()][c] = struct{}{}
	s.running.Add(1)
	go c.serve()
}

// crowd returns the address with the most connections.
func (s *Server) crowd() (most netip.Addr) {
	for a, conns := range s.perAddr {
		if len(conns) > len(s.perAddr[most]) {
			most = a
		}
	}
	return most
}

// idlest returns the connection that has been without a call for longest, or nil if all have one.
func idlest(conns map[*conn]struct{}) (first *conn) {
	for c := range conns {
		if c.active.Load() == 0 && (first == nil || c.seen.Load() < first.seen.Load()) {
			first = c
		}
	}
	return first
}

// forget is called when c has ended.
func (s *Server) forget(c *conn) {
	s.mu.Lock()
	s.drop(c)
	s.mu.Unlock()
	s.running.Done()
}

// A callerKey is a user at an address, or all users there.
type callerKey struct {
	addr netip.Addr
	user string
	all  bool
}

// A caller is a user at an address, or all users there, with its connections.
type caller struct {
	key   callerKey
	conns int
	slots chan struct{} // one for each of its calls being answered
}

// introduce records the callers of c, if callers are limited.
func (s *Server) introduce(c *conn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, counted := s.conns[c]; !counted {
		return // it is ending
	}
	// The user comes first: a call that waits for it holds no place of the address's.
	if most := s.limits.CallsOf; most > 0 {
		c.callers = append(c.callers, s.caller(callerKey{addr: c.addr.Addr(), user: c.user}, most))
	}
	if most := s.limits.CallsAt; most > 0 {
		c.callers = append(c.callers, s.caller(callerKey{addr: c.addr.Addr(), all: true}, most))
	}
}

// caller returns the caller with a key, with one more connection. At most this many of its calls are answered at a time.
func (s *Server) caller(k callerKey, most int) *caller {
	of := s.callers[k]
	if of == nil {
		of = &caller{key: k, slots: make(chan struct{}, most)}
		s.callers[k] = of
	}
	of.conns++
	return of
}

// drop removes c from the counts.
func (s *Server) drop(c *conn) {
	if _, counted := s.conns[c]; counted {
		for _, of := range c.callers {
			if of.conns--; of.conns == 0 {
				delete(s.callers, of.key)
			}
		}
	}
	delete(s.conns, c)
	of := s.perAddr[c.addr.Addr()]
	if delete(of, c); len(of) == 0 {
		delete(s.perAddr, c.addr.Addr())
	}
}

// Close accepts no more connections and calls, lets calls in progress finish, and ends the connections. If ctx ends
// first, it ends them at once, together with the contexts of their calls, and returns ctx's error; it does not wait for
// handlers then.
func (s *Server) Close(ctx context.Context) error {
	s.mu.Lock()
	s.closing = true
	for ln := range s.listeners {
		_ = ln.Close() // Serve reports what is worth reporting
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

// refuse counts and logs that a peer was refused: at most one line a second, because a hostile peer can be refused
// thousands of times in it.
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

// peerOf returns the address of the other side, or none if it is not a TCP address.
func peerOf(nc net.Conn) netip.AddrPort {
	tcp, ok := nc.RemoteAddr().(*net.TCPAddr)
	if !ok {
		return netip.AddrPort{}
	}
	ap := tcp.AddrPort()
	return netip.AddrPortFrom(ap.Addr().Unmap(), ap.Port())
}
