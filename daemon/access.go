package daemon

import (
	"slices"

	"heddle/rm"
)

// Access is who may look at applications, and who administers the ResourceManager. It changes nothing: who may change an
// application is asked of the machine.
type Access struct {
	ACLs   bool                       // yarn.acl.enable: who may look at applications is checked
	Admins rm.ACL                     // yarn.admin.acl
	Owner  string                     // the user the daemon runs as, who may administer it too
	Groups func(user string) []string // of a user, none for somebody unknown; nil where nobody is in any
}

// Administers reports whether a user is an administrator, as stock has it: yarn.acl.enable does not matter.
func (x *Access) Administers(name string) bool {
	return name == x.Owner && name != "" || x.admits(x.Admins, name)
}

// Sees reports whether a user may look at an application; "" is somebody unknown.
func (x *Access) Sees(name string, a *rm.AppReport) bool {
	return !x.ACLs || name == a.User && name != "" || x.Administers(name) ||
		slices.ContainsFunc(a.Viewers, func(acl rm.ACL) bool { return x.admits(acl, name) })
}

// GroupsOf are the groups of a user.
func (x *Access) GroupsOf(name string) []string {
	if x.Groups == nil {
		return nil
	}
	return x.Groups(name)
}

// admits looks groups up only where they matter.
func (x *Access) admits(acl rm.ACL, name string) bool {
	return acl.Admits(name, nil) || acl.NamesGroups() && acl.Admits(name, x.GroupsOf(name))
}
