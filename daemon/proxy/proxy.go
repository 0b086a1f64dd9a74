// Package proxy connects the daemon to the web servers of ApplicationMasters: it says from which address to connect,
// where not to connect, and how to read the tracking text that a master registered.
//
// A master names its own address, so nothing it says is trusted. The package knows neither what is requested nor what
// becomes of the answer.
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

// A Way decides where masters may be reached, and from which address.
type Way struct {
	// Local says that only this machine reaches the daemon: the whole cluster is on it.
	Local bool
	// WebHost is the host:port at which clients reach the daemon's pages.
	WebHost string
	// Source is the address that masters are called from: that of WebHost, which is what they expect. The zero address
	// leaves the choice to the system.
	Source netip.Addr
	// Private are ports of this machine that are never connected to: the daemon's own ports.
	Private []uint16
}

// ErrTarget says that a master's address is one that the daemon does not connect to.
var ErrTarget = errors.New("the proxy does not connect to this address")

type loopbackKey struct{}

// AllowLoopback returns a context that says whether its connections may go to this machine's loopback.
func AllowLoopback(ctx context.Context, may bool) context.Context {
	return context.WithValue(ctx, loopbackKey{}, may)
}

// MayLoop reports whether the pages of a master on a node may be on this machine's loopback: if the whole cluster is,
// or if target names the node or the host of WebHost.
func (w *Way) MayLoop(node string, target *url.URL) bool {
	host := target.Hostname()
	own, _, err := net.SplitHostPort(w.WebHost)
	return w.Local || host == node || err == nil && host == own
}

// Transport returns a new transport to masters. It checks every connection as it is made, with the context of the
// request that the connection is made for. Keep-alives are off; the caller may turn them on.
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
				// Not every address can be reached from Source: loopback reaches no other machine.
				return plain.DialContext(ctx, network, addr)
			}
			return c, err
		},
		DisableKeepAlives: true, DisableCompression: true, TLSHandshakeTimeout: connectTimeout,
		ResponseHeaderTimeout: headerWait, MaxResponseHeaderBytes: maxHeader,
		ExpectContinueTimeout: time.Second,
	}
}

// check checks the address that a name resolved to, when connecting to it.
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

// ofThisMachine reports whether an address belongs to this machine. It returns true if that cannot be found out.
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

// Target returns the URL at which a master said its pages are, or nil if there is nothing to connect to.
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

// Join returns the URL of an escaped path below target, with a query. It keeps target's own query and fragment, because
// the pages of some history servers select by them what they show.
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

// Reason returns the text of a call's error without the leading URL.
func Reason(err error) string {
	if u := (*url.Error)(nil); errors.As(err, &u) {
		err = u.Err
	}
	return err.Error()
}
