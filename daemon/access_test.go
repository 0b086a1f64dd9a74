package daemon

import (
	"errors"
	"slices"
	"testing"

	"heddle/rm"
)

// Administrators are the named users, the members of named groups, and the owner. If it is checked, only they, an
// application's owner, and those named by the application or its queue may view it.
func TestAccess(t *testing.T) {
	groups := func(user string) ([]string, error) {
		return map[string][]string{"bob": {"ops"}, "eve": {"staff"}, "gus": {"watch"}}[user], nil
	}
	x := Access{ACLs: true, Admins: "root ops", Owner: "yarn", Groups: groups}
	a := &rm.AppReport{User: "ann", Viewers: []rm.ACL{"", "vic watch"}}
	for name, want := range map[string]struct{ administers, sees bool }{
		"yarn": {true, true}, "root": {true, true}, "bob": {true, true}, "ann": {false, true}, "vic": {false, true},
		"gus": {false, true}, "eve": {false, false}, "": {false, false},
	} {
		if got, err := x.Administers(t.Context(), name); got != want.administers || err != nil {
			t.Errorf("%q administers: %v, %v", name, got, err)
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

// Before a list, the groups of those are looked up whose name does not make them administrators; once.
func TestPrepare(t *testing.T) {
	var asked []string
	groups := func(user string) ([]string, error) {
		asked = append(asked, user)
		if user == "eve" {
			return nil, ErrNoGroups // which is kept, too
		}
		return []string{"staff"}, nil
	}
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

// If a user's groups are not known, that matters only for what depends on them, and they are looked up once for an answer.
func TestAccessOfGroupsUnknown(t *testing.T) {
	asked := 0
	x := Access{ACLs: true, Admins: "root ops", Owner: "yarn", Groups: func(string) ([]string, error) { asked++; return nil, ErrNoGroups }}
	a := &rm.AppReport{User: "ann", Viewers: []rm.ACL{"vic watch"}}
	for name, want := range map[string]struct{ administers, sees, unsure bool }{
		"root": {true, true, false}, "yarn": {true, true, false}, "ann": {false, true, true}, "vic": {false, true, true}, "bob": {false, false, true},
	} {
		if got, err := x.Administers(t.Context(), name); got != want.administers || errors.Is(err, ErrNoGroups) != want.unsure {
			t.Errorf("%s administers: %v, %v", name, got, err)
		}
		if got := x.Sees(t.Context(), name, a); got != want.sees {
			t.Errorf("%s sees: %v", name, got)
		}
	}
	asked = 0
	if ctx, reading := NewReaders(1).Begin(t.Context(), "10.0.0.66"); !x.Sees(ctx, "vic", a) || asked > 0 || reading.Unsure() != nil {
		t.Errorf("vic, whom the application names, does not see it, or not without %d lookups: %v", asked, reading.Unsure())
	}
	ctx, reading := NewReaders(1).Begin(t.Context(), "10.0.0.66")
	for range 3 {
		if x.Sees(ctx, "bob", a) || !errors.Is(reading.Unsure(), ErrNoGroups) {
			t.Errorf("bob sees it, or it is sure that he does not: %v", reading.Unsure())
		}
	}
	if asked != 1 {
		t.Errorf("looked up %d times", asked)
	}
	reading.End(0)
	x.Admins, a.Viewers = "root", []rm.ACL{"vic"}
	ctx, reading = NewReaders(1).Begin(t.Context(), "10.0.0.66")
	if x.Prepare(ctx, "bob"); x.Sees(ctx, "bob", a) || reading.Unsure() != nil {
		t.Errorf("bob sees it, or that depends on groups that no list names: %v", reading.Unsure())
	}
	reading.End(0)
}

// A change that no list could allow by a group is denied without a lookup of groups.
func TestDeniedWithoutGroups(t *testing.T) {
	c := testConfig()
	c.ACLs, c.Admins = true, "root"
	inWorldOf(t, "capacity", c, func(t *testing.T, w *world) {
		asked := 0
		sch := testScheduler(t, "capacity")
		sch.Queues[0].SubmitACL, sch.Rebuild = "ann", func([]string) (*rm.Scheduler, error) { return sch, nil }
		sch.Groups = func(string) ([]string, error) { asked++; return nil, ErrNoGroups }
		if err := w.refresh(sch); err != nil {
			t.Fatal(err)
		}
		id, bob := w.submit("MAPREDUCE", 1024), Actor{User: "bob"}
		_, priority := w.r.SetPriority(t.Context(), bob, id, 1)
		given, _, err := w.r.NewApp(t.Context(), "bob")
		if err != nil {
			t.Fatal(err)
		}
		for what, err := range map[string]error{
			"a kill": w.r.Kill(t.Context(), bob, id, ""), "a move": w.r.Move(t.Context(), bob, id, "default"), "a priority": priority,
			"a submission": w.r.Submit(t.Context(), "bob", submission(given, "MAPREDUCE", 1024)),
		} {
			if !errors.As(err, new(*rm.Denied)) {
				t.Errorf("%s by somebody else: %v", what, err)
			}
		}
		if asked > 0 {
			t.Errorf("groups are looked up %d times", asked)
		}
	})
}

// A change that is denied to somebody whose groups are not known may be tried again. One that does not depend on them is
// made, and a submission is not placed without them.
func TestChangesWithoutGroups(t *testing.T) {
	c := testConfig()
	c.ACLs, c.Admins = true, "root ops"
	inWorldOf(t, "capacity", c, func(t *testing.T, w *world) {
		known, place, asked := []string(nil), error(nil), map[string]int{}
		sch := testScheduler(t, "capacity")
		sch.Queues[0].SubmitACL, sch.Rebuild = "ann ops", func([]string) (*rm.Scheduler, error) { return sch, nil }
		sch.Groups = func(user string) ([]string, error) {
			if asked[user]++; user == "bob" && known == nil {
				return nil, ErrNoGroups
			}
			return known, nil
		}
		sch.Place = func(rm.Placement) (string, error) { return "root.default", place }
		if err := w.refresh(sch); err != nil {
			t.Fatal(err)
		}
		id := w.submit("MAPREDUCE", 1024)
		if _, err := w.r.SetPriority(t.Context(), Actor{User: "ann"}, id, 1); err != nil || asked["ann"] > 0 {
			t.Errorf("a change by the owner: %v, after %d lookups", err, asked["ann"])
		}
		bob := Actor{User: "bob"}
		_, priority := w.r.SetPriority(t.Context(), bob, id, 1)
		for what, err := range map[string]error{
			"a kill": w.r.Kill(t.Context(), bob, id, ""), "a move": w.r.Move(t.Context(), bob, id, "default"), "a priority": priority,
		} {
			if !errors.Is(err, ErrNoGroups) {
				t.Errorf("%s by an administrator whose groups are not known: %v", what, err)
			}
		}
		for user, want := range map[string]error{"bob": nil, "ann": ErrNoGroups} { // neither the one who may not submit nor the other
			place = want
			given, _, err := w.r.NewApp(t.Context(), user)
			if err != nil {
				t.Fatal(err)
			}
			if err := w.r.Submit(t.Context(), user, submission(given, "MAPREDUCE", 1024)); !errors.Is(err, ErrNoGroups) {
				t.Errorf("a submission by %s: %v", user, err)
			}
			if a, err := w.r.App(t.Context(), given); !errors.As(err, new(*rm.NotFound)) {
				t.Errorf("what %s submitted is %s, %v", user, a.State, err)
			}
		}
		known = []string{"staff"}
		if err := w.r.Kill(t.Context(), bob, id, ""); !errors.As(err, new(*rm.Denied)) {
			t.Errorf("a kill by somebody else: %v", err)
		}
		known = []string{"ops"}
		if err := w.r.Kill(t.Context(), bob, id, ""); err != nil {
			t.Errorf("a kill by an administrator: %v", err)
		}
	})
}
