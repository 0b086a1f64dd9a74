package daemon

import (
	"context"
	"slices"

	"heddle/rm"
)

// Access decides who may view applications and who administers the ResourceManager. It does not decide who may change
// an application: the machine does.
type Access struct {
	ACLs   bool   // yarn.acl.enable: check who may view applications
	Admins rm.ACL // yarn.admin.acl
	Owner  string // the user the daemon runs as, who is an administrator too
	// Groups returns a user's groups, none for an unknown user; nil if nobody is in a group. The error says that they are
	// not known now.
	Groups func(user string) ([]string, error)
}

// Administers reports whether a user is an administrator. As in stock YARN, yarn.acl.enable does not matter. The error
// says that it depends on groups that are not known.
func (x *Access) Administers(ctx context.Context, name string) (bool, error) {
	if name == x.Owner && name != "" {
		return true, nil
	}
	return x.Admits(ctx, x.Admins, name)
}

// Sees reports whether a user may view an application; "" is an unknown user. It looks up groups only if they matter. If they
// are not known, [Reading.Unsure] says so, and whoever may only be a member may not view the application.
func (x *Access) Sees(ctx context.Context, name string, a *rm.AppReport) bool {
	names := func(acl rm.ACL) bool { return acl.Admits(name, nil) }
	if !x.ACLs || name == a.User && name != "" || slices.ContainsFunc(a.Viewers, names) {
		return true
	}
	may := func(yes bool, _ error) bool { return yes }
	return may(x.Administers(ctx, name)) ||
		slices.ContainsFunc(a.Viewers, func(acl rm.ACL) bool { return may(x.Admits(ctx, acl, name)) })
}

// GroupsOf returns the groups of a user. A [Reading] that ctx belongs to has no turn while they are looked up, which may take
// seconds, and looks them up once.
func (x *Access) GroupsOf(ctx context.Context, name string) ([]string, error) {
	if x.Groups == nil || name == "" {
		return nil, nil
	}
	r := ReadingOf(ctx)
	if r == nil {
		return x.Groups(name)
	}
	if r.member != name || r.groups == nil {
		had := r.has
		r.Pause()
		found, err := x.Groups(name)
		r.member, r.groups, r.failed = name, append([]string{}, found...), err
		if had {
			_ = r.Turn(ctx) // it fails if ctx has ended; then so does what the turn is for
		}
	}
	return r.groups, r.failed
}

// Prepare looks up the groups of a user who asks for a list, unless the name makes the user an administrator. Lists that show
// some of it only to some call it before they take a seat at a [budget.Desk]: there are few seats, and which access lists
// matter is known only later. Other answers need only [Access.Sees] or [Access.Admits].
func (x *Access) Prepare(ctx context.Context, name string) {
	if x.ACLs && ReadingOf(ctx) != nil && name != x.Owner && !x.Admins.Admits(name, nil) {
		_, _ = x.GroupsOf(ctx, name) // an error is kept for those who need the groups
	}
}

// Admits reports whether an access list admits a user. It looks up groups only if they matter. The error says that they are
// not known, and then [Reading.Unsure] has it too.
func (x *Access) Admits(ctx context.Context, acl rm.ACL, name string) (bool, error) {
	if acl.Admits(name, nil) || !acl.NamesGroups() {
		return acl.Admits(name, nil), nil
	}
	groups, err := x.GroupsOf(ctx, name)
	if r := ReadingOf(ctx); r != nil && err != nil {
		r.unsure = err
	}
	return acl.Admits(name, groups), err
}
