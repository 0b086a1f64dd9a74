package setup

import (
	"maps"
	"net/netip"
	"slices"

	"heddle/daemon"
)

// proxyUsers returns the users who may act for others. It looks hosts up once; unknown lists those without an address.
func (s *source) proxyUsers() (users map[string]daemon.ProxyUser, unknown []string) {
	known := map[string][]netip.Prefix{}
	for _, name := range slices.Sorted(maps.Keys(s.hadoop.Daemon.ProxyUsers)) {
		p := s.hadoop.Daemon.ProxyUsers[name]
		u := daemon.ProxyUser{Users: p.Users, Groups: p.Groups}
		for _, host := range p.Hosts {
			from, asked := known[host]
			if !asked {
				from = networks(host)
				known[host] = from
				if len(from) == 0 {
					unknown = append(unknown, host)
				}
			}
			u.From = append(u.From, from...)
		}
		if users == nil {
			users = map[string]daemon.ProxyUser{}
		}
		users[name] = u
	}
	return users, unknown
}

// networks returns what a host, an address, a network or "*" stands for; nothing for an unknown name.
func networks(host string) []netip.Prefix {
	if host == "*" {
		return []netip.Prefix{netip.PrefixFrom(netip.IPv4Unspecified(), 0), netip.PrefixFrom(netip.IPv6Unspecified(), 0)}
	}
	if n, err := netip.ParsePrefix(host); err == nil {
		return []netip.Prefix{n}
	}
	all, _ := addresses(host)
	out := make([]netip.Prefix, len(all))
	for i, a := range all {
		a = a.Unmap().WithZone("")
		out[i] = netip.PrefixFrom(a, a.BitLen())
	}
	return out
}
