// Package proxy is the way from the daemon to the web servers of ApplicationMasters: from which address it goes, to
// which it does not, and how the text a master registered is read.
//
// A master names its own address, so that nothing it says is trusted. The package knows nothing of what is asked there
// and of what becomes of the answer.
package proxy

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"syscall"
	"time"
)

// Limits of a connection to a master.
const (
	connectTimeout = 10 * time.Second
	headerWait     = 30 * time.Second // for the master to begin its answer
	maxHeader      = 64 << 10         // bytes
)

// A Way is what decides where masters may be reached, and from which address.
type Way struct {
	// Local says that only this machine reaches the daemon: all of the cluster is on it.
	Local bool
	// WebHost is host:port as clients reach the daemon's pages.
	WebHost string
	// Source is the address masters are called from: the one of WebHost, which is what they expect. The zero address
	// leaves it to the system.
	Source netip.Addr
	// Private are ports of this machine that are never connected to: the daemon's own.
	Private []uint16
}

// ErrTarget says that a master's address is one the daemon does not go to.
var ErrTarget = errors.New("the proxy does not go to this address")

type loopbackKey struct{}

// AllowLoopback says whether connections made with the context may go to this machine's loopback.
func AllowLoopback(ctx context.Context, may bool) context.Context {
	return context.WithValue(ctx, loopbackKey{}, may)
}

// MayLoop reports whether the pages of a master on a node may be on this machine's loopback: where all of the cluster is,
// or where the node goes by the same name.
func (w *Way) MayLoop(node string, target *url.URL) bool {
	host := target.Hostname()
	own, _, err := net.SplitHostPort(w.WebHost)
	return w.Local || host == node || err == nil && host == own
}

// Transport returns a new way to masters. Every connection is checked as it is made, with the context of the request
// that it is made for; whether it is kept for others is the caller's to say: without a word it is not.
func (w *Way) Transport() *http.Transport {
	plain := &net.Dialer{Timeout: connectTimeout, ControlContext: w.check}
	bound := *plain
	if a := w.Source; a.IsValid() && !a.IsUnspecified() {
		bound.LocalAddr = net.TCPAddrFromAddrPort(netip.AddrPortFrom(a, 0))
	}
	return &http.Transport{
		DialContext: func(ctx context.Context, network, addr string) (net.Conn, error) {
			c, err := bound.DialContext(ctx, network, addr)
			if err != nil && bound.LocalAddr != nil && ctx.Err() == nil &&
				!errors.Is(err, ErrTarget) && !errors.Is(err, syscall.ECONNREFUSED) {
				// Not every address can be reached from that one: loopback reaches no other machine.
				return plain.DialContext(ctx, network, addr)
			}
			return c, err
		},
		DisableKeepAlives: true, DisableCompression: true, TLSHandshakeTimeout: connectTimeout,
		ResponseHeaderTimeout: headerWait, MaxResponseHeaderBytes: maxHeader,
		ExpectContinueTimeout: time.Second,
	}
}

// check looks at an address a name stands for, at the moment of connecting to it.
func (w *Way) check(ctx context.Context, _, address string, _ syscall.RawConn) error {
	ap, err := netip.ParseAddrPort(address)
	if err != nil {
		return fmt.Errorf("%w: %s", ErrTarget, address)
	}
	a := ap.Addr().Unmap().WithZone("")
	may, _ := ctx.Value(loopbackKey{}).(bool)
	switch {
	case a.IsUnspecified(), a.IsMulticast(), a.IsLinkLocalUnicast(), a == netip.AddrFrom4([4]byte{255, 255, 255, 255}):
		return fmt.Errorf("%w: %s", ErrTarget, address)
	case a.IsLoopback() && !may:
		return fmt.Errorf("%w: %s is this machine's loopback", ErrTarget, address)
	case slices.Contains(w.Private, ap.Port()) && ofThisMachine(a):
		return fmt.Errorf("%w: %s is a port of the ResourceManager", ErrTarget, address)
	}
	return nil
}

// ofThisMachine reports whether an address is one of this machine's. It says so too where that cannot be found out.
func ofThisMachine(a netip.Addr) bool {
	if a.IsLoopback() {
		return true
	}
	all, err := net.InterfaceAddrs()
	if err != nil {
		return true
	}
	return slices.ContainsFunc(all, func(n net.Addr) bool {
		ipnet, ok := n.(*net.IPNet)
		if !ok {
			return false
		}
		own, ok := netip.AddrFromSlice(ipnet.IP)
		return ok && own.Unmap() == a
	})
}

// Target returns where a master said its pages are, nil where there is nothing to go to.
func Target(tracking string) *url.URL {
	if tracking == "" || tracking == "N/A" {
		return nil
	}
	if !strings.Contains(tracking, "://") {
		tracking = "http://" + tracking
	}
	u, err := url.Parse(tracking)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" || u.User != nil {
		return nil
	}
	return u
}

// Join returns a path below target, which is escaped, with a query. What target has of a query and a fragment stays: the pages
// of some histories say by that what they show.
func Join(target *url.URL, rest, query string) *url.URL {
	u := *target
	u.RawPath = target.EscapedPath()
	if rest != "" || u.RawPath == "" {
		u.RawPath = strings.TrimSuffix(u.RawPath, "/") + "/" + rest
	}
	if path, err := url.PathUnescape(u.RawPath); err == nil {
		u.Path = path
	} else {
		u.Path, u.RawPath = u.RawPath, ""
	}
	if u.RawQuery != "" && query != "" {
		query = "&" + query
	}
	u.RawQuery += query
	return &u
}

// Within reports whether a master's redirect stays with the master.
func Within(target, to *url.URL) bool { return to.Scheme == target.Scheme && to.Host == target.Host }

// SetUser tells a master who asks, as YARN's own proxy does.
func SetUser(h http.Header, user string) { h.Set("Cookie", "proxy-user="+url.QueryEscape(user)) }

// Reason returns an error of a call without the URL in front of it.
func Reason(err error) string {
	if u := (*url.Error)(nil); errors.As(err, &u) {
		err = u.Err
	}
	return err.Error()
}
