package rm

import (
	"errors"
	"strings"
	"testing"

	"heddle"
	"heddle/yarn/ids"
)

// submits submits an application for a user.
func (w *world) submits(user string, id ids.App) error {
	w.Helper()
	_, err := answered[any](w, w.submitAs(user, submission(id, "SPARK"), ""))
	return err
}

// An id belongs to the user who asked for it, and to nobody else, even after its use.
func TestIDsOfOthers(t *testing.T) {
	w := newWorld(t, "capacity", nil)
	id := w.idFor("ann")
	if err := w.submits("bob", id); err == nil || !strings.Contains(err.Error(), "is not an unused id that was given to user bob") {
		t.Errorf("bob submits with an id of ann's: %v", err)
	}
	if err := w.submits("ann", id); err != nil {
		t.Fatal(err)
	}
	if err := w.submits("bob", id); !errors.As(err, new(*Invalid)) || !strings.Contains(err.Error(), "another user's") {
		t.Errorf("bob submits what ann has submitted: %v", err)
	}
	if err := w.submits("ann", id); err != nil { // her client did not receive the answer
		t.Errorf("ann submits again: %v", err)
	}
	for _, never := range []ids.App{{Cluster: id.Cluster, Seq: id.Seq + 1}, {Cluster: id.Cluster}, {Cluster: id.Cluster - 1, Seq: 1}, {}} {
		if err := w.submits("ann", never); err == nil {
			t.Errorf("%s was never given, and is taken", never)
		}
	}
}

// The number of unused ids is bounded per user and in total; the oldest goes first, and used ids no longer count.
func TestIDsAreBounded(t *testing.T) {
	w := newWorld(t, "capacity", nil)
	bob := w.idFor("bob")
	first, second := w.newID(), w.newID()
	for range maxGivenUser - 1 {
		w.newID()
	}
	if err := w.submits("ann", first); err == nil {
		t.Error("the oldest of too many ids of one user is taken")
	}
	for user, id := range map[string]ids.App{"ann": second, "bob": bob} {
		if err := w.submits(user, id); err != nil {
			t.Errorf("%s has no id any more: %v", user, err)
		}
	}
	g := newGiven()
	user := func(seq int32) string { return text("user%d", seq) }
	for seq := int32(1); seq <= maxGiven+10; seq++ {
		g.add(seq, user(seq), 0)
	}
	if len(g.to) != maxGiven || g.holds(10, user(10), 0) || !g.holds(11, user(11), 0) {
		t.Errorf("%d ids are remembered", len(g.to))
	}
	for seq := range int32(maxGiven + 10) {
		g.drop(seq + 1)
	}
	if len(g.to)+len(g.of) != 0 {
		t.Errorf("%d ids and %d users stay", len(g.to), len(g.of))
	}
}

// An unused id is valid for a day, and an id of an earlier start of the same store for an hour after this start.
func TestIDsExpire(t *testing.T) {
	const before = 1_600_000_000_000
	w := newWorld(t, "capacity", func(o *Options) { o.Epoch, o.Starts = 1, []int64{before} })
	early, late := w.newID(), w.newID()
	w.sleep(heddle.Hour)
	if err := w.submits("ann", ids.App{Cluster: before, Seq: 7}); err != nil {
		t.Errorf("its client waited for the start: %v", err)
	}
	if err := w.submits("ann", early); err != nil {
		t.Error(err)
	}
	w.sleep(heddle.Second)
	if err := w.submits("ann", ids.App{Cluster: before, Seq: 8}); err == nil {
		t.Error("an id of an earlier start is good for ever")
	}
	w.sleep(24 * heddle.Hour)
	if err := w.submits("ann", late); err == nil {
		t.Error("an id is good for ever")
	}
	w.newID()
	if len(w.m.given.to) != 1 {
		t.Errorf("%d ids are remembered", len(w.m.given.to))
	}
}
