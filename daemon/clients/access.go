package clients

import (
	"context"
	"net/netip"
	"slices"

	"heddle/daemon"
	"heddle/yarn/rpc"
)

// everybody stands for all users, groups or hosts.
const everybody = "*"

// admit refuses the call of a user who acts for another without permission. On a port without authentication this is no
// protection, but it preserves the meaning of a configuration.
func (s *service) admit(ctx context.Context, call *rpc.Call) error {
	if call.RealUser == "" || call.RealUser == call.User {
		return nil
	}
	p, ok := s.o.ProxyUsers[call.RealUser]
	if ok && from(p, call.Addr.Addr().Unmap().WithZone("")) {
		if may, err := s.mayActFor(ctx, p, call.User); may || err != nil {
			return err
		}
	}
	return deniedError("User: %s is not allowed to impersonate %s from %s: set hadoop.proxyuser.%[1]s.hosts and hadoop.proxyuser.%[1]s.users or .groups in core-site.xml",
		call.RealUser, call.User, address(call))
}

func from(p daemon.ProxyUser, addr netip.Addr) bool {
	return slices.ContainsFunc(p.From, func(n netip.Prefix) bool { return n.Contains(addr) })
}

// mayActFor reports whether a proxy user may act for a user. The error says that it depends on groups that are not known.
func (s *service) mayActFor(ctx context.Context, p daemon.ProxyUser, name string) (bool, error) {
	if slices.Contains(p.Users, everybody) || slices.Contains(p.Users, name) || slices.Contains(p.Groups, everybody) {
		return true, nil
	}
	if len(p.Groups) == 0 {
		return false, nil
	}
	groups, err := s.o.GroupsOf(ctx, name)
	return slices.ContainsFunc(groups, func(g string) bool { return slices.Contains(p.Groups, g) }), err
}
