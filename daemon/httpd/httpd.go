// Package httpd serves HTTP within limits: times, sizes of headers and numbers of connections. It knows nothing of
// what is served.
package httpd

import (
	"context"
	"crypto/tls"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"sync"
	"time"
)

// Limits of connections.
const (
	headerTimeout = 5 * time.Second  // for the request line and headers
	readTimeout   = 30 * time.Second // for the whole request
	writeTimeout  = 90 * time.Second // for the answer, what a proxy or a long poll waits for included
	idleTimeout   = 60 * time.Second // between requests
	stopTimeout   = 5 * time.Second  // for requests in flight when the server stops
	maxHeader     = 32 << 10         // bytes
	maxPerAddress = 200              // connections open at once from one address
)

// Options are what servers differ in.
type Options struct {
	Conns int         // the most connections open at once
	TLS   *tls.Config // nil: in the clear
}

// Serve answers requests that come to l until ctx ends, then lets those in flight finish for a moment. It
// returns nil after that, and the error of l otherwise. It closes l.
func Serve(ctx context.Context, l net.Listener, h http.Handler, o Options) error {
	l = &limited{Listener: l, all: o.Conns, each: maxPerAddress}
	if o.TLS != nil {
		l = tls.NewListener(l, o.TLS)
	}
	server := &http.Server{
		Handler: h, ReadHeaderTimeout: headerTimeout, ReadTimeout: readTimeout, WriteTimeout: writeTimeout,
		IdleTimeout: idleTimeout, MaxHeaderBytes: maxHeader,
		ErrorLog: slog.NewLogLogger(slog.Default().Handler(), slog.LevelDebug),
	}
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(l) }()
	select {
	case err := <-ended:
		return err
	case <-ctx.Done():
	}
	stop, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopTimeout)
	defer cancel()
	if err := server.Shutdown(stop); err != nil {
		_ = server.Close() // the listener is closed, what is left are connections
	}
	if err := <-ended; !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

// A limited listener closes connections above a number at once: in all, and from one address.
type limited struct {
	net.Listener
	all, each int

	mu   sync.Mutex
	open int
	from map[netip.Addr]int
}

// Accept returns the next connection that is within the limits.
func (l *limited) Accept() (net.Conn, error) {
	for {
		c, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		addr := addressOf(c)
		if l.take(addr) {
			return &counted{Conn: c, done: sync.OnceFunc(func() { l.drop(addr) })}, nil
		}
		_ = c.Close() // nobody was told anything yet
	}
}

func addressOf(c net.Conn) netip.Addr {
	if t, ok := c.RemoteAddr().(*net.TCPAddr); ok {
		return t.AddrPort().Addr().Unmap()
	}
	return netip.Addr{}
}

func (l *limited) take(a netip.Addr) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.open >= l.all || l.from[a] >= l.each {
		return false
	}
	if l.from == nil {
		l.from = make(map[netip.Addr]int)
	}
	l.open++
	l.from[a]++
	return true
}

func (l *limited) drop(a netip.Addr) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.open--
	if l.from[a]--; l.from[a] == 0 {
		delete(l.from, a)
	}
}

// A counted connection gives its place back when it is closed.
type counted struct {
	net.Conn
	done func()
}

// Close closes the connection.
func (c *counted) Close() error {
	c.done()
	return c.Conn.Close()
}
