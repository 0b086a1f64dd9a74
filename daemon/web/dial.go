package web

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"syscall"
	"time"

	"heddle/rm"
)

// errTarget says that a master's address is one the proxy does not go to.
var errTarget = errors.New("the proxy does not go to this address")

type loopbackKey struct{}

// allowLoopback says whether the proxy may connect to this machine's loopback for one request.
func allowLoopback(ctx context.Context, may bool) context.Context {
	return context.WithValue(ctx, loopbackKey{}, may)
}

// mayLoop reports whether an application's pages may be on this machine's loopback: where all of the cluster
// is, or where its master's node goes by the same name.
func (s *site) mayLoop(a *rm.AppReport, target *url.URL) bool {
	host := target.Hostname()
	own, _, err := net.SplitHostPort(s.WebHost)
	return s.Local || host == a.MasterNode.Host || err == nil && host == own
}

// newTransport returns the way to masters. Connections are not kept: every one is checked as it is made.
func newTransport(s *site) *http.Transport {
	plain := &net.Dialer{Timeout: connectTimeout, ControlContext: s.checkAddress}
	bound := *plain
	if a := s.ProxySource; a.IsValid() && !a.IsUnspecified() {
		bound.LocalAddr = net.TCPAddrFromAddrPort(netip.AddrPortFrom(a, 0))
	}
	return &http.Transport{
		DialContext: func(ctx context.Context, network, addr string) (net.Conn, error) {
			c, err := bound.DialContext(ctx, network, addr)
			if err != nil && bound.LocalAddr != nil && ctx.Err() == nil &&
				!errors.Is(err, errTarget) && !errors.Is(err, syscall.ECONNREFUSED) {
				// Not every address can be reached from that one: loopback reaches no other machine.
				return plain.DialContext(ctx, network, addr)
			}
			return c, err
		},
		DisableKeepAlives: true, DisableCompression: true, TLSHandshakeTimeout: connectTimeout,
		ResponseHeaderTimeout: proxyHeaderWait, MaxResponseHeaderBytes: maxHeader * 2,
		ExpectContinueTimeout: time.Second,
	}
}

// checkAddress looks at an address a name stands for, at the moment of connecting to it. A master names its own
// address, so what it says is not to be trusted.
func (s *site) checkAddress(ctx context.Context, _, address string, _ syscall.RawConn) error {
	ap, err := netip.ParseAddrPort(address)
	if err != nil {
		return fmt.Errorf("%w: %s", errTarget, address)
	}
	a := ap.Addr().Unmap().WithZone("")
	may, _ := ctx.Value(loopbackKey{}).(bool)
	switch {
	case a.IsUnspecified(), a.IsMulticast(), a.IsLinkLocalUnicast(), a == netip.AddrFrom4([4]byte{255, 255, 255, 255}):
		return fmt.Errorf("%w: %s", errTarget, address)
	case a.IsLoopback() && !may:
		return fmt.Errorf("%w: %s is this machine's loopback", errTarget, address)
	case slices.Contains(s.Private, ap.Port()) && ofThisMachine(a):
		return fmt.Errorf("%w: %s is a port of the ResourceManager", errTarget, address)
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
