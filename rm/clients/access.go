package clients

import (
	"net/netip"
	"os/user"
	"slices"

	"heddle/rm"
	"heddle/yarn/rpc"
)

// everybody is the word for all users, groups or hosts.
const everybody = "*"

// A ProxyUser says for whom somebody may act, and from where: hadoop.proxyuser.<name>.users, .groups and .hosts.
// "*" stands for all. For whom needs one of the two, from where must match in any case.
type ProxyUser struct {
	Users, Groups []string
	Hosts         []string // addresses, networks as 10.0.0.0/8
}

// admit refuses a call of somebody who acts for another and may not. On a port without authentication this is
// no protection; it keeps a configuration's meaning.
func (s *service) admit(call *rpc.Call) error {
	if call.RealUser == "" || call.RealUser == call.User {
		return nil
	}
	p, ok := s.o.ProxyUsers[call.RealUser]
	if ok && p.from(call.Addr.Addr()) && s.mayActFor(p, call.User) {
		return nil
	}
	return deniedError("User: %s is not allowed to impersonate %s from %s: set hadoop.proxyuser.%[1]s.hosts and hadoop.proxyuser.%[1]s.users or .groups in core-site.xml",
		call.RealUser, call.User, address(call))
}

func (s *service) mayActFor(p ProxyUser, name string) bool {
	if slices.Contains(p.Users, everybody) || slices.Contains(p.Users, name) || slices.Contains(p.Groups, everybody) {
		return true
	}
	if len(p.Groups) == 0 {
		return false
	}
	groups, err := s.o.Groups(name)
	return err == nil && slices.ContainsFunc(groups, func(g string) bool { return slices.Contains(p.Groups, g) })
}

// from reports whether calls may come from an address.
func (p ProxyUser) from(addr netip.Addr) bool {
	addr = addr.Unmap()
	return slices.ContainsFunc(p.Hosts, func(h string) bool {
		if h == everybody {
			return true
		}
		if net, err := netip.ParsePrefix(h); err == nil {
			return net.Contains(addr)
		}
		a, err := netip.ParseAddr(h)
		return err == nil && a.Unmap() == addr
	})
}

// administers reports whether a user is an administrator, as stock has it: yarn.acl.enable does not matter.
func (s *service) administers(name string) bool {
	return name == s.o.Owner && name != "" || slices.Contains(s.o.Admins, everybody) || slices.Contains(s.o.Admins, name)
}

// sees reports whether a user may look at an application.
func (s *service) sees(name string, a *rm.AppReport) bool {
	return !s.o.ACLs || name == a.User || s.administers(name)
}

// systemGroups are the groups the machine knows a user by, the user's own first.
func systemGroups(name string) ([]string, error) {
	u, err := user.Lookup(name)
	if err != nil {
		return nil, err
	}
	list, err := u.GroupIds()
	if err != nil {
		return nil, err
	}
	var names []string
	for _, id := range list {
		if g, err := user.LookupGroupId(id); err == nil {
			names = append(names, g.Name)
		}
	}
	return names, nil
}
