package daemon

import (
	"slices"

	"heddle/rm"
)

// Access decides who may view applications and who administers the ResourceManager. It does not decide who may change
// an application: the machine does.
type Access struct {
	ACLs   bool                       // yarn.acl.enable: check who may view applications
	Admins rm.ACL                     // yarn.admin.acl
	Owner  string                     // the user the daemon runs as, who is an administrator too
	Groups func(user string) []string // returns a user's groups, none for an unknown user; nil if nobody is in a group
}

// Administers reports whether a user is an administrator. As in stock YARN, yarn.acl.enable does not matter.
func (x *Access) Administers(name string) bool {
	return name == x.Owner && name != "" || x.admits(x.Admins, name)
}

// Sees reports whether a user may view an application; "" is an unknown user.
func (x *Access) Sees(name string, a *rm.AppReport) bool {
	return !x.ACLs || name == a.User && name != "" || x.Administers(name) ||
		slices.ContainsFunc(a.Viewers, func(acl rm.ACL) bool { return x.admits(acl, name) })
}

// GroupsOf returns the groups of a user.
func (x *Access) GroupsOf(name string) []string {
	if x.Groups == nil {
		return nil
	}
	return x.Groups(name)
}

// admits reports whether a list admits a user. It looks up groups only if they matter.
func (x *Access) admits(acl rm.ACL, name string) bool {
	return acl.Admits(name, nil) || acl.NamesGroups() && acl.Admits(name, x.GroupsOf(name))
}
