package httpd

import (
	"context"
	"crypto/tls"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// A limited listener bounds the number of open connections: in total, and from one address. Beyond that, a new
// connection replaces the one that has been without a request for longest, of the address that has most. If all of
// those have a request, the new one is a spare for vital paths. There are a few spares; any more are closed at once.
type limited struct {
	net.Listener
	all, each, spare int

	mu   sync.Mutex
	open int
	from map[netip.Addr]map[*counted]struct{}
}

// A counted connection gives its place back when it is closed.
type counted struct {
	paced
	l     *limited
	addr  netip.Addr
	spare bool
	busy  atomic.Int32 // requests being answered
	seen  atomic.Int64 // when the last of them was answered, or the connection was made, in nanoseconds since 1970
}

// Accept returns the next connection that is within the limits.
func (l *limited) Accept() (net.Conn, error) {
	for {
		nc, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		c := &counted{paced: paced{Conn: nc, left: patience}, l: l, addr: addressOf(nc)}
		c.seen.Store(time.Now().UnixNano())
		gone, ok := l.take(c)
		if gone != nil {
			_ = gone.Close() // nobody waits for an answer on it
		}
		if ok {
			return c, nil
		}
		_ = nc.Close() // nothing was sent on it yet
	}
}

func addressOf(c net.Conn) netip.Addr {
	if t, ok := c.RemoteAddr().(*net.TCPAddr); ok {
		return t.AddrPort().Addr().Unmap()
	}
	return netip.Addr{}
}

// take makes room for a connection and reports whether there is any. If gone is not nil, the caller must close it.
func (l *limited) take(c *counted) (gone *counted, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	crowd := c.addr
	full := len(l.from[crowd]) >= l.each
	if !full && l.open >= l.all {
		full, crowd = true, l.crowd()
	}
	if full {
		if gone = idlest(l.from[crowd]); gone != nil {
			l.remove(gone)
			c.spare = gone.spare // it takes that connection's place
		} else if c.spare = true; len(l.from[c.addr]) >= l.each+l.spare || l.open >= l.all+l.spare {
			return nil, false
		}
	}
	if l.from == nil {
		l.from = map[netip.Addr]map[*counted]struct{}{}
	}
	if l.from[c.addr] == nil {
		l.from[c.addr] = map[*counted]struct{}{}
	}
	l.open++
	l.from[c.addr][c] = struct{}{}
	return gone, true
}

// crowd returns the address with most connections.
func (l *limited) crowd() (most netip.Addr) {
	for a, conns := range l.from {
		if len(conns) > len(l.from[most]) {
			most = a
		}
	}
	return most
}

// idlest returns the connection that has been without a request for longest, or nil if all have a request.
func idlest(conns map[*counted]struct{}) (first *counted) {
	for c := range conns {
		if c.busy.Load() == 0 && (first == nil || c.seen.Load() < first.seen.Load()) {
			first = c
		}
	}
	return first
}

// remove stops counting a connection, if it is counted.
func (l *limited) remove(c *counted) {
	of := l.from[c.addr]
	if _, there := of[c]; !there {
		return
	}
	l.open--
	if delete(of, c); len(of) == 0 {
		delete(l.from, c.addr)
	}
}

// Close closes the connection.
func (c *counted) Close() error {
	c.l.mu.Lock()
	c.l.remove(c)
	c.l.mu.Unlock()
	return c.Conn.Close()
}

// connKey is the context key of a request's connection.
type connKey struct{}

// remember lets requests know their connection.
func remember(ctx context.Context, c net.Conn) context.Context {
	if t, ok := c.(*tls.Conn); ok {
		c = t.NetConn()
	}
	return context.WithValue(ctx, connKey{}, c)
}

// bounded tracks which connections have requests, and serves only vital paths on spare ones.
func (o *Options) bounded(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c := r.Context().Value(connKey{}).(*counted)
		c.busy.Add(1)
		defer func() {
			c.seen.Store(time.Now().UnixNano())
			c.busy.Add(-1)
		}()
		if c.spare {
			w.Header().Set("Connection", "close")
			if !slices.Contains(o.Vital, r.URL.Path) {
				w.Header().Set("Retry-After", "1")
				http.Error(w, "too many connections from your address are in use; try again, or raise "+o.Key+" in heddle.yaml", http.StatusServiceUnavailable)
				return
			}
		}
		h.ServeHTTP(w, r)
	})
}
