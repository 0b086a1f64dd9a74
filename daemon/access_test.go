package daemon

import (
	"slices"
	"testing"

	"heddle/rm"
)

// Administrators are the named users, the members of named groups, and the owner. If it is checked, only they, an
// application's owner, and those named by the application or its queue may view it.
func TestAccess(t *testing.T) {
	groups := func(user string) []string {
		return map[string][]string{"bob": {"ops"}, "eve": {"staff"}, "gus": {"watch"}}[user]
	}
	x := Access{ACLs: true, Admins: "root ops", Owner: "yarn", Groups: groups}
	a := &rm.AppReport{User: "ann", Viewers: []rm.ACL{"", "vic watch"}}
	for name, want := range map[string]struct{ administers, sees bool }{
		"yarn": {true, true}, "root": {true, true}, "bob": {true, true}, "ann": {false, true}, "vic": {false, true},
		"gus": {false, true}, "eve": {false, false}, "": {false, false},
	} {
		if got := x.Administers(t.Context(), name); got != want.administers {
			t.Errorf("%q administers: %v", name, got)
		}
		if got := x.Sees(t.Context(), name, a); got != want.sees {
			t.Errorf("%q sees: %v", name, got)
		}
	}
	if (&Access{ACLs: true, Admins: " ops"}).Sees(t.Context(), "bob", &rm.AppReport{}) {
		t.Error("who is in no group is in one that is named")
	}
	if (&Access{ACLs: true}).Sees(t.Context(), "", &rm.AppReport{}) {
		t.Error("somebody unknown owns an application of nobody")
	}
	if !(&Access{}).Sees(t.Context(), "eve", a) {
		t.Error("lists that are off are heeded")
	}
}

// Before a list, the groups of those are looked up whose name alone does not decide what they may view; once.
func TestPrepare(t *testing.T) {
	var asked []string
	groups := func(user string) []string { asked = append(asked, user); return nil }
	prepare := func(x Access, user string) {
		x.Groups = groups
		ctx, _ := NewReaders(1).Begin(t.Context(), "10.0.0.1")
		x.Prepare(ctx, user)
		x.Sees(ctx, user, &rm.AppReport{User: "ann", Viewers: []rm.ACL{" ops"}})
	}
	for _, user := range []string{"yarn", "root", "eve", ""} {
		prepare(Access{ACLs: true, Admins: "root ops", Owner: "yarn"}, user)
	}
	prepare(Access{ACLs: true, Admins: "*"}, "bob")
	prepare(Access{Admins: "root ops"}, "gus")
	if !slices.Equal(asked, []string{"eve"}) {
		t.Errorf("looked up: %q", asked)
	}
}
