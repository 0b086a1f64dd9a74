package rm

import (
	"errors"
	"slices"
	"testing"

	"heddle/yarn/wire"
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
		{"bob, ann", "ann", nil, false}, // what follows the blank are groups
		{"bob ops,staff", "ann", []string{"staff"}, true},
		{" ops", "ann", []string{"ops"}, true},
		{"ops", "ann", []string{"ops"}, false},
		{"ann", "", nil, false},
	} {
		if got := ACL(c.list).Admits(c.user, c.groups); got != c.want {
			t.Errorf("%q admits %s of %v: %v", c.list, c.user, c.groups, got)
		}
	}
}

// Where access lists count, submitting, changing and looking are for those that application, queue and cluster name.
func TestAccess(t *testing.T) {
	inWorld(t, "capacity", func(t *testing.T, w *world) {
		w.r.cfg.ACLs, w.r.cfg.Admins = true, "root"
		w.r.sch.Groups = func(user string) []string { return map[string][]string{"eve": {"ops"}, "mal": {"guests"}}[user] }
		w.r.sch.Queues[0].SubmitACL, w.r.sch.Queues[0].AdminACL = "boss", "boss"
		w.r.sch.Queues[1].SubmitACL, w.r.sch.Queues[1].AdminACL = "ann,dan", "carl ops"

		for user, may := range map[string]bool{"ann": true, "carl": true, "eve": true, "boss": true, "root": true, "mal": false, "sue": false} {
			id, _, err := w.r.NewApp(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			err = w.r.Submit(t.Context(), user, submission(id, "SPARK", 1024))
			if denied := (*Denied)(nil); errors.As(err, &denied) == may || err != nil && denied == nil {
				t.Errorf("%s submits: %v", user, err)
			}
		}

		id, _, err := w.r.NewApp(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		c := submission(id, "SPARK", 1024)
		for kind, list := range map[wire.ApplicationAccessType]string{
			wire.ApplicationAccessType_APPACCESS_VIEW_APP: "vic", wire.ApplicationAccessType_APPACCESS_MODIFY_APP: "moe",
		} {
			c.AmContainerSpec.Application_ACLs = append(c.AmContainerSpec.Application_ACLs, &wire.ApplicationACLMap{AccessType: kind.Enum(), Acl: new(list)})
		}
		if err := w.r.Submit(t.Context(), "ann", c); err != nil {
			t.Fatal(err)
		}
		if got := w.app(id).Viewers; !slices.Equal(got, []ACL{"vic", "carl ops", "boss"}) {
			t.Errorf("viewers %q", got)
		}
		for _, user := range []string{"vic", "dan", "mal"} {
			if _, err := w.r.SetPriority(t.Context(), Actor{User: user}, id, 1); !errors.As(err, new(*Denied)) {
				t.Errorf("%s changes it: %v", user, err)
			}
		}
		for _, user := range []string{"ann", "moe", "carl", "eve", "boss", "root"} {
			if _, err := w.r.SetPriority(t.Context(), Actor{User: user}, id, 1); err != nil {
				t.Errorf("%s: %v", user, err)
			}
		}
		if err := w.r.Move(t.Context(), Actor{User: "moe"}, id, "default"); !errors.As(err, new(*Denied)) {
			t.Errorf("moe moves it to a queue that is closed to him: %v", err)
		}
	})
}
