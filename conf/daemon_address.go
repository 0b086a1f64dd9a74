package conf

import (
	"fmt"
	"math"
	"net/netip"
	"strings"
)

// An Address is where a port is found.
type Address struct {
	Host string // as clients are told; a name or an address
	Bind string // what is listened on where it is not Host: yarn.resourcemanager.bind-host
	Port uint16

	Place string // file, line and property that say so; "" for a default
}

// String returns host:port as clients are told.
func (a Address) String() string {
	if strings.Contains(a.Host, ":") {
		return fmt.Sprintf("[%s]:%d", a.Host, a.Port)
	}
	return fmt.Sprintf("%s:%d", a.Host, a.Port)
}

// Listens returns the host that is listened on.
func (a Address) Listens() string {
	if a.Bind != "" {
		return a.Bind
	}
	return a.Host
}

// Loopback is where a ResourceManager listens that is not told where.
const Loopback = "127.0.0.1"

// readAddresses reads the five addresses, which follow from yarn.resourcemanager.hostname unless they are
// set one by one.
func (d *Daemon) readAddresses(ps *properties) {
	common := Address{Host: Loopback}
	if v, p := ps.given(rmPrefix + "hostname"); p != nil {
		common.Host, common.Place = v, placeOf(p)
		if !isHost(v) {
			ps.bad(p, "%q is not a host name or address; a port belongs in the individual addresses, such as %saddress", v, rmPrefix)
		}
	}
	bind, bound := ps.given(rmPrefix + "bind-host")
	if bound != nil && !isHost(bind) {
		ps.bad(bound, "%q is not a host name or address", bind)
	}
	for _, a := range []struct {
		into *Address
		name string
		port uint16
	}{
		{&d.Client, "address", defaultClientPort},
		{&d.Scheduler, "scheduler.address", defaultSchedulerPort},
		{&d.Tracker, "resource-tracker.address", defaultTrackerPort},
		{&d.Admin, "admin.address", defaultAdminPort},
		{&d.Web, "webapp.address", defaultWebPort},
	} {
		*a.into = common
		a.into.Port = a.port
		if v, p := ps.given(rmPrefix + a.name); p != nil {
			host, port, err := SplitAddress(v, a.port)
			if err != nil {
				ps.bad(p, "%v", err)
				continue
			}
			*a.into = Address{Host: host, Port: port, Place: placeOf(p)}
		}
		if bound != nil {
			a.into.Bind, a.into.Place = bind, placeOf(bound)
		}
	}
}

// readWebProxy reads yarn.web-proxy.address, which is no other proxy where it is the address of the pages.
func (d *Daemon) readWebProxy(ps *properties) {
	const name = "yarn.web-proxy.address"
	v, p := ps.given(name)
	if p == nil {
		return
	}
	host, port, err := SplitAddress(v, d.Web.Port)
	if err != nil {
		ps.bad(p, "%v", err)
		return
	}
	if strings.EqualFold(host, d.Web.Host) && port == d.Web.Port {
		return
	}
	d.WebProxy = v
	d.Remarks = append(d.Remarks, Notice{Remark, p.file, p.line, name, "masters show their pages only to this proxy: links and /proxy/ lead there, and heddle rm itself can ask masters only if the proxy is on its machine"})
}

// placeOf returns file:line: property.
func placeOf(p *property) string { return strings.TrimSuffix(place(p.file, p.line, p.name), ": ") }

// isHost reports whether a text can be a host's name, or is an address. Only an address of IPv6 has colons.
func isHost(v string) bool {
	if strings.Contains(v, ":") {
		_, err := netip.ParseAddr(v)
		return err == nil
	}
	return v != "" && !strings.ContainsAny(v, "/ \t")
}

// SplitAddress reads host or host:port, where a host alone has the port that is given; IPv6 addresses stand in brackets where a port follows.
func SplitAddress(v string, port uint16) (string, uint16, error) {
	bad := fmt.Errorf("%q is not an address; expected host:port, such as %s:%d", v, Loopback, port)
	host, digits := v, ""
	switch i := strings.LastIndexByte(v, ':'); {
	case strings.HasPrefix(v, "["):
		end := strings.IndexByte(v, ']')
		if end < 0 || end+1 < len(v) && v[end+1] != ':' {
			return "", 0, bad
		}
		host, digits = v[1:end], strings.TrimPrefix(v[end+1:], ":")
	case strings.Count(v, ":") == 1:
		host, digits = v[:i], v[i+1:]
		if digits == "" {
			return "", 0, bad
		}
	}
	if !isHost(host) {
		return "", 0, bad
	}
	if digits == "" {
		return host, port, nil
	}
	n, err := parseInt(digits)
	if err != nil || n < 0 || n > math.MaxUint16 {
		return "", 0, fmt.Errorf("%q is not a port; expected a number of at most %d", digits, math.MaxUint16)
	}
	return host, uint16(n), nil
}
