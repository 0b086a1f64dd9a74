package store

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.etcd.io/bbolt"
)

// context returns a submission of that many bytes, always the same.
func context(n int) []byte {
	out := make([]byte, n)
	r := rand.New(rand.NewPCG(1, uint64(n)))
	for i := range out {
		out[i] = byte(r.Uint32())
	}
	return out
}

// differ returns how applications differ from those that are wanted.
func differ(want, got []App) string {
	if len(got) != len(want) {
		return fmt.Sprintf("%d applications of %d", len(got), len(want))
	}
	for i, w := range want {
		g := got[i]
		if !bytes.Equal(w.Context, g.Context) {
			return fmt.Sprintf("%s has another submission, of %d bytes, want %d", w.ID, len(g.Context), len(w.Context))
		}
		w.Context, g.Context = nil, nil
		if d := cmp.Diff(w, g); d != "" {
			return d
		}
	}
	return ""
}

func TestSubmissionsOfAllLengths(t *testing.T) {
	path := place(t)
	s, _ := mustOpen(t, path)
	lengths := []int{0, 1, pieceSize - 1, pieceSize, pieceSize + 1, 2 * pieceSize, 3*pieceSize + 7, 4 << 20}
	var want []App
	for i, n := range lengths {
		a := App{ID: app(int32(i + 1)), User: "ann", Context: context(n)}
		must(t, commitNow(s, PutApp(a)))
		a.Priority, a.Context = 3, nil
		must(t, commitNow(s, UpdateApp(a)))
		a.Context = context(n)
		want = append(want, a)
	}
	// A shorter one leaves nothing of the longer one, nor does a dropped application.
	want[7].Context = context(100)
	must(t, commitNow(s, PutApp(want[7])))
	must(t, commitNow(s, DropApp(want[6].ID)))
	want = slices.Delete(want, 6, 7)
	must(t, s.Close())
	s, state := mustOpen(t, path)
	if d := differ(want, state.Apps); d != "" || len(state.Bad) > 0 {
		t.Errorf("%v, %s", state.Bad, d)
	}
	if got := state.kept[string(submissions)]; got != 9 {
		t.Errorf("%d pieces are kept, want 9", got)
	}
	must(t, s.Close())
}

// A change of an application does not write its submission again, nor one beside it.
func TestChangesAreSmall(t *testing.T) {
	s, _ := mustOpen(t, place(t))
	for n := range int32(8) {
		must(t, commitNow(s, PutApp(App{ID: app(n), Context: context(4 << 20)})))
	}
	written := func(c Change) (bytes int64) {
		must(t, s.db.Update(func(tx *bbolt.Tx) error {
			tx.OnCommit(func() {
				stats := tx.Stats()
				bytes = stats.GetPageAlloc()
			})
			records, err := encodeAll(tx, []Change{c})
			return errors.Join(err, s.kept.apply(tx, []Change{c}, records))
		}))
		return bytes
	}
	if got := written(UpdateApp(App{ID: app(3), Priority: 1})); got > 64<<10 {
		t.Errorf("a change of a priority writes %d bytes", got)
	}
	if got := written(PutApp(App{ID: app(9), Context: context(4 << 20)})); got > 5<<20 {
		t.Errorf("a submission of 4 MiB writes %d bytes", got)
	}
	must(t, s.Close())
}

func TestUpdateOfNoApplication(t *testing.T) {
	s, _ := mustOpen(t, place(t))
	err := commitNow(s, PutApp(App{ID: app(1)}), DropApp(app(1)), UpdateApp(App{ID: app(1)}))
	if err == nil || !strings.Contains(err.Error(), "application_1700000000000_0001 is not in the store") {
		t.Errorf("%v", err)
	}
	must(t, commitNow(s, PutApp(App{ID: app(1)}), UpdateApp(App{ID: app(1)})))
	must(t, s.Close())
}

// older makes a store as a program wrote it that knows format 1.
func older(t *testing.T, path string, list ...App) {
	t.Helper()
	s, _ := mustOpen(t, path)
	var changes []Change
	for _, a := range list {
		changes = append(changes, PutApp(a), PutAttempt(Attempt{ID: attempt(a.ID.Seq, 1)}))
	}
	must(t, commitNow(s, changes...))
	must(t, s.Close())
	edit(t, path, func(tx *bbolt.Tx) error {
		must(t, tx.DeleteBucket(submissions))
		b := tx.Bucket(meta)
		must(t, put(b, keyCounts, counts{"apps": len(list), "attempts": len(list), "runs": 0, "nodes": 0}))
		must(t, b.Put(keyFormat, []byte("1")))
		for _, a := range list {
			key := []byte(a.ID.String())
			must(t, put(tx.Bucket(apps), key, appInFile{ID: appParts(a.ID), AppRecord: &a}))
		}
		return nil
	})
}

func TestFormat1(t *testing.T) {
	want := []App{{ID: app(1), User: "ann", Context: context(3 << 20)}, {ID: app(2)}}
	for n := range int32(20) {
		want = append(want, App{ID: app(n + 3), User: "bob", State: "FINISHED", Context: context(2 << 20)})
	}
	path := place(t)
	older(t, path, want...)
	if r, err := Check(path); err != nil || !r.Whole() || r.Records["apps"] != len(want) {
		t.Fatalf("%+v, %v", r, err)
	}
	// Salvaged, it is a store of this format.
	w, err := readWreck(path)
	must(t, err)
	w.Path = place(t)
	must(t, os.Mkdir(filepath.Dir(w.Path), folderMode))
	must(t, w.write(w.Path))
	for _, path := range []string{path, w.Path} {
		for range 2 {
			s, state := mustOpen(t, path)
			if d := differ(want, state.Apps); d != "" || len(state.Bad) > 0 || len(state.Attempts) != len(want) {
				t.Fatalf("%v, %d attempts, %s", state.Bad, len(state.Attempts), d)
			}
			must(t, commitNow(s, UpdateApp(App{ID: app(1), User: "ann"})))
			must(t, s.Close())
		}
		edit(t, path, func(tx *bbolt.Tx) error {
			if got := string(tx.Bucket(meta).Get(keyFormat)); got != fmt.Sprint(Format) {
				t.Errorf("format %s", got)
			}
			return nil
		})
	}
}

// If the last commit may be missing, numbers are not given out again even if the conversion from format 1 is interrupted.
// That is not taken for a copy, and a copy is still taken for one.
func TestInterruptedConversion(t *testing.T) {
	for _, copied := range []bool{false, true} {
		t.Run(fmt.Sprintf("copied %t", copied), func(t *testing.T) { interruptConversion(t, copied) })
	}
}

func interruptConversion(t *testing.T, copied bool) {
	path := place(t)
	want := []App{{ID: app(1), User: "ann", Context: context(100)}, {ID: app(2), User: "ann"}}
	older(t, path, want...)
	if copied {
		must(t, mark(path))
	}
	edit(t, path, func(*bbolt.Tx) error { return nil }) // the commit that is lost
	content, err := os.ReadFile(path)
	must(t, err)
	h, _, err := findMeta(bytes.NewReader(content), int64(len(content)))
	must(t, err)
	content[int64(h.tx%2)*h.pageSize+pageHeader+50] ^= 1
	must(t, os.WriteFile(path, content, fileMode))
	db, state, err := read(path)
	must(t, err)
	if !state.older {
		t.Fatal("both of the first pages are intact")
	}
	first := state.Epoch
	if copied {
		first = epochJump // and a random number
	}
	must(t, state.separate(db))
	must(t, db.Close()) // the process ends
	s, state := mustOpen(t, path)
	if len(state.Apps) != 2 || len(state.Bad) > 0 || state.Epoch < first {
		t.Errorf("%d applications, epoch %d after %d, %v", len(state.Apps), state.Epoch, first, state.Bad)
	}
	if state.Copied != copied || state.Interrupted == copied {
		t.Errorf("a copy: %t, interrupted: %t", state.Copied, state.Interrupted)
	}
	must(t, s.Close())
	s, state = mustOpen(t, path)
	for _, a := range state.Apps {
		if a.Taken < attemptJump {
			t.Errorf("attempt numbers of %s up to %d are taken", a.ID, a.Taken)
		}
	}
	if state.Copied || state.Interrupted {
		t.Error("the mark is still there")
	}
	must(t, s.Close())
}

// An application without all pieces of its submission is left out, and a repaired store does without it.
func TestLostPieces(t *testing.T) {
	three := func(n int32) App { return App{ID: app(n), User: "ann", Context: context(2*pieceSize + 1)} } // pieces
	for name, x := range map[string]struct {
		edit func(b *bbolt.Bucket) error
		why  string
	}{
		"first":    {func(b *bbolt.Bucket) error { return b.Delete(pieceKey{app(1), 1, 3}.bytes()) }, "piece 2 of 3 of its submission follows piece 0 of 3"},
		"middle":   {func(b *bbolt.Bucket) error { return b.Delete(pieceKey{app(1), 2, 3}.bytes()) }, "piece 3 of 3 of its submission follows piece 1 of 3"},
		"last":     {func(b *bbolt.Bucket) error { return b.Delete(pieceKey{app(1), 3, 3}.bytes()) }, "its submission has 2 pieces of 3"},
		"changed":  {func(b *bbolt.Bucket) error { return flip(b.Tx(), submissions, string(pieceKey{app(1), 2, 3}.bytes())) }, "the record is damaged"},
		"all":      {func(b *bbolt.Bucket) error { return counts{}.dropAll(b, submissions, submissionPrefix(app(1))) }, "its submission is missing"},
		"mistaken": {func(b *bbolt.Bucket) error { return b.Put([]byte("submission_x"), seal([]byte("submission_x"), nil)) }, "its key does not name a piece of a submission"},
	} {
		t.Run(name, func(t *testing.T) {
			path := place(t)
			s, _ := mustOpen(t, path)
			for n := range int32(3) {
				must(t, commitNow(s, PutApp(three(n)), PutAttempt(Attempt{ID: attempt(n, 1)})))
			}
			must(t, s.Close())
			edit(t, path, func(tx *bbolt.Tx) error { return x.edit(tx.Bucket(submissions)) })
			left := []App{three(0), three(2)}
			if name == "mistaken" {
				left = slices.Insert(left, 1, three(1))
			}
			check := func(what string, state *State) {
				t.Helper()
				if d := differ(left, state.Apps); d != "" || len(state.Attempts) != len(left) {
					t.Errorf("%s: %d attempts, %s", what, len(state.Attempts), d)
				}
			}
			db, state, err := read(path)
			must(t, err)
			must(t, db.Close())
			check("read", state)
			if !slices.ContainsFunc(state.Bad, func(b Bad) bool { return strings.Contains(b.Reason, x.why) }) {
				t.Errorf("%+v; want %q", state.Bad, x.why)
			}
			r, err := Repair(path)
			must(t, err)
			if !slices.ContainsFunc(r.Lost, func(b Bad) bool { return strings.Contains(b.Reason, x.why) }) {
				t.Errorf("lost: %+v; want %q", r.Lost, x.why)
			}
			s, state = mustOpen(t, path)
			check("repaired", state)
			if len(state.Bad) > 0 || state.kept[string(submissions)] != 3*len(left) {
				t.Errorf("%+v in the repaired store, with %d pieces", state.Bad, state.kept[string(submissions)])
			}
			must(t, s.Close())
		})
	}
}
