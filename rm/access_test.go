package rm

import (
	"errors"
	"slices"
	"testing"
)

func TestACL(t *testing.T) {
	for _, c := range []struct {
		list, user string
		groups     []string
		want       bool
	}{
		{"*", "ann", nil, true},
		{" * ", "ann", nil, true},
		{"", "ann", []string{"ops"}, false},
		{" ", "ann", []string{"ops"}, false},
		{"bob,ann", "ann", nil, true},
		{"bob, ann", "ann", nil, false}, // groups follow the blank
		{"bob ops,staff", "ann", []string{"staff"}, true},
		{" ops", "ann", []string{"ops"}, true},
		{"ops", "ann", []string{"ops"}, false},
		{"ann", "", nil, false},
		{"* *", "ann", nil, true},
		{"* ops", "ann", nil, true},
		{"bob *", "ann", nil, true},
		{"bob,* ops", "ann", nil, false},
	} {
		if got := ACL(c.list).Admits(c.user, c.groups); got != c.want {
			t.Errorf("%q admits %s of %v: %v", c.list, c.user, c.groups, got)
		}
	}
}

// With access lists on, only those named by the application, the queue or the cluster may submit, change and view.
func TestAccess(t *testing.T) {
	w := newWorld(t, "capacity", func(o *Options) {
		o.Config.ACLs, o.Config.Admins, o.Config.Owner = true, "root", "yarn"
		q := o.Scheduler.Queues
		q[0].SubmitACL, q[0].AdminACL = "boss", "boss"
		q[1].SubmitACL, q[1].AdminACL = "ann,dan", "carl ops"
	})
	person := func(user string) Person {
		return Person{User: user, Groups: map[string][]string{"eve": {"ops"}, "mal": {"guests"}}[user]}
	}
	submits := func(user string, s Submission) error {
		t.Helper()
		c := w.next()
		w.step(&SubmitApp{Call: c, Who: person(user), Queue: "root.default", App: s})
		_, err := answered[any](w, c)
		return err
	}
	for user, may := range map[string]bool{"ann": true, "carl": true, "eve": true, "boss": true, "root": false, "yarn": false, "": false, "mal": false, "sue": false} {
		err := submits(user, submission(w.idFor(user), "SPARK"))
		if denied := (*Denied)(nil); errors.As(err, &denied) == may || err != nil && denied == nil {
			t.Errorf("%s submits: %v", user, err)
		}
	}

	s := submission(w.newID(), "SPARK")
	s.Access = []Access{{List: "vic"}, {Change: true, List: "moe"}}
	if err := submits("ann", s); err != nil {
		t.Fatal(err)
	}
	if got := w.app(s.ID).Viewers; !slices.Equal(got, []ACL{"vic", "carl ops", "boss"}) {
		t.Errorf("viewers %q", got)
	}
	changes := func(user string) error {
		t.Helper()
		c := w.next()
		w.step(&SetPriority{Call: c, Who: person(user), App: s.ID, Priority: 1})
		_, err := answered[int32](w, c)
		return err
	}
	for _, user := range []string{"vic", "dan", "mal"} {
		if err := changes(user); !errors.As(err, new(*Denied)) {
			t.Errorf("%s changes it: %v", user, err)
		}
	}
	for _, user := range []string{"ann", "moe", "carl", "eve", "boss", "root", "yarn"} {
		if err := changes(user); err != nil {
			t.Errorf("%s: %v", user, err)
		}
	}
	c := w.next()
	w.step(&MoveApp{Call: c, Who: person("moe"), App: s.ID, Queue: "default"})
	if _, err := answered[any](w, c); !errors.As(err, new(*Denied)) {
		t.Errorf("moe moves it to a queue that is closed to him: %v", err)
	}
}

// A denial says whether one of the lists that apply names groups.
func TestDeniedByGroups(t *testing.T) {
	for name, c := range map[string]struct {
		access         []Access
		set            func(*Options)
		change, submit bool
	}{
		"none":                   {},
		"viewers":                {access: []Access{{List: "vic ops"}}},
		"those who change it":    {access: []Access{{Change: true, List: " ops"}}, change: true},
		"administrators":         {set: func(o *Options) { o.Config.Admins = "root ops" }, change: true},
		"the queue's":            {set: func(o *Options) { o.Scheduler.Queues[1].AdminACL = " ops" }, change: true, submit: true},
		"those above":            {set: func(o *Options) { o.Scheduler.Queues[0].AdminACL = "boss ops" }, change: true, submit: true},
		"those who submit":       {set: func(o *Options) { o.Scheduler.Queues[1].SubmitACL = "ann ops" }, submit: true},
		"those who submit above": {set: func(o *Options) { o.Scheduler.Queues[0].SubmitACL = " ops" }, submit: true},
	} {
		w := newWorld(t, "capacity", func(o *Options) {
			o.Config.ACLs, o.Config.Admins, o.Scheduler.Queues[1].SubmitACL = true, "root", "ann"
			if c.set != nil {
				c.set(o)
			}
		})
		s := submission(w.newID(), "SPARK")
		s.Access = slices.Concat(c.access, []Access{{Change: true, List: "moe"}})
		w.done(w.submitAs("ann", s, "root.default"))
		denied := func(what string, call Call, want bool) {
			t.Helper()
			_, err := answered[any](w, call)
			if d, is := errors.AsType[*Denied](err); !is || d.Groups != want {
				t.Errorf("%s: %s: %#v; want it to depend on groups: %v", name, what, err, want)
			}
		}
		change, move := w.next(), w.next()
		w.step(&SetPriority{Call: change, Who: Person{User: "mal"}, App: s.ID, Priority: 1})
		w.step(&MoveApp{Call: move, Who: Person{User: "moe"}, App: s.ID, Queue: "default"})
		denied("a change", change, c.change)
		denied("a move", move, c.submit)
		denied("a submission", w.submitAs("mal", submission(w.idFor("mal"), "SPARK"), "root.default"), c.submit)
	}
}
