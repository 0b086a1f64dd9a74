package store

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.etcd.io/bbolt"

	"heddle/yarn/ids"
)

func TestPermissions(t *testing.T) {
	path := place(t)
	dir := filepath.Dir(path)
	s, _ := mustOpen(t, path)
	must(t, s.Close())
	for name, want := range map[string]os.FileMode{dir: 0o700, path: 0o600, path + ".lock": 0o600} {
		info, err := os.Stat(name)
		must(t, err)
		if info.Mode().Perm() != want {
			t.Errorf("%s has mode %o, want %o", name, info.Mode().Perm(), want)
		}
	}
	refused := func(wide string, mode os.FileMode) {
		t.Helper()
		_, _, err := Open(path)
		if want := fmt.Sprintf("run: chmod %o %s", mode, wide); err == nil || !strings.HasSuffix(err.Error(), want) {
			t.Errorf("%v, want … %s", err, want)
		}
		must(t, os.Chmod(wide, mode))
	}
	must(t, os.Chmod(dir, 0o750))
	refused(dir, 0o700)
	must(t, os.Chmod(path, 0o604))
	refused(path, 0o600)
	s, _ = mustOpen(t, path)
	must(t, s.Close())
}

func TestHalfCreated(t *testing.T) {
	path := place(t)
	must(t, os.MkdirAll(filepath.Dir(path), 0o700))
	must(t, os.WriteFile(path+".new", []byte("half of a file"), 0o600))
	s, _ := mustOpen(t, path)
	must(t, s.Close())
	if _, err := os.Stat(path + ".new"); err == nil {
		t.Error("the file of the start that failed is still there")
	}
}

// edit changes a closed store's records by hand.
func edit(t *testing.T, path string, f func(tx *bbolt.Tx) error) {
	t.Helper()
	db, err := bbolt.Open(path, fileMode, nil)
	must(t, err)
	must(t, db.Update(f))
	must(t, db.Close())
}

func flip(tx *bbolt.Tx, bucket []byte, key string) error {
	b := tx.Bucket(bucket)
	v := []byte(string(b.Get([]byte(key))))
	v[len(v)/2] ^= 4
	return b.Put([]byte(key), v)
}

func TestBadRecords(t *testing.T) {
	path := place(t)
	s, _ := mustOpen(t, path)
	for n := range int32(6) {
		must(t, commitNow(s, PutApp(App{ID: app(n), User: "ann"}), PutAttempt(Attempt{ID: attempt(n, 1)}), PutAttempt(Attempt{ID: attempt(n, 2)})))
	}
	must(t, commitNow(s, PutKeys(fullKeys), PutRun(run(1)), PutRun(run(2))))
	must(t, s.Close())
	edit(t, path, func(tx *bbolt.Tx) error {
		must(t, flip(tx, runs, "3:ann/1"))
		for _, key := range []string{"3:annie", "99:ann/1", "ann"} {
			must(t, tx.Bucket(runs).Put([]byte(key), tx.Bucket(runs).Get([]byte("3:ann/2"))))
		}
		must(t, flip(tx, apps, app(0).String()))
		must(t, flip(tx, attempts, attempt(2, 1).String()))
		must(t, flip(tx, tokens, "amrm"))
		must(t, tx.Bucket(apps).Put([]byte("application_x"), []byte("?")))
		must(t, tx.Bucket(apps).Delete([]byte(app(3).String())))
		other, err := encode([]byte(app(4).String()), &App{ID: app(5)})
		must(t, err)
		return tx.Bucket(apps).Put([]byte(app(4).String()), other)
	})
	s, state := mustOpen(t, path)
	if len(state.Apps) != 2 || state.Apps[0].ID != app(1) || state.Apps[1].ID != app(5) || len(state.Attempts) != 4 {
		t.Errorf("kept %v and %v", state.Apps, state.Attempts)
	}
	if state.Keys.Current != nil {
		t.Errorf("kept keys %+v", state.Keys)
	}
	if len(state.Runs) != 1 || state.Runs[0].Name != "2" {
		t.Errorf("kept runs %+v", state.Runs)
	}
	want := map[string]string{
		"":                     "there are 5 records, but there were 2",
		"3:ann/1":              "the record is damaged",
		"3:annie":              "its key does not consist",
		"99:ann/1":             "its key does not consist",
		"ann":                  "its key does not consist",
		app(0).String():        "the record is damaged",
		attempt(2, 1).String(): "the record is damaged",
		"amrm":                 "the record is damaged",
		"application_x":        "is not an application id",
		attempt(3, 1).String(): "its application is not in the store",
		attempt(3, 2).String(): "its application is not in the store",
		app(4).String():        "the record belongs to application_1700000000000_0005",
	}
	for _, b := range state.Bad {
		if text, ok := want[b.Key]; !ok || !strings.Contains(b.Reason, text) {
			t.Errorf("%s/%s: %q, want %q", b.Bucket, b.Key, b.Reason, text)
		}
		delete(want, b.Key)
	}
	if len(want) > 0 {
		t.Errorf("not said: %v", want)
	}
	// Bad records stay until they are dropped.
	must(t, commitNow(s, DropApp(app(0)), DropApp(app(3))))
	must(t, s.Close())
	s, state = mustOpen(t, path)
	if len(state.Bad) != 8 {
		t.Errorf("%d bad records of 8: %v", len(state.Bad), state.Bad)
	}
	must(t, s.Close())
}

func TestRefused(t *testing.T) {
	set := func(key []byte, value string) func(tx *bbolt.Tx) error {
		return func(tx *bbolt.Tx) error { return tx.Bucket(meta).Put(key, []byte(value)) }
	}
	tests := []struct {
		name string
		edit func(tx *bbolt.Tx) error
		want string
	}{
		{"newer", set(keyFormat, "3"), "its format is 3, and this program supports up to 2: use the newer Heddle"},
		{"no number", set(keyFormat, "one"), `its format is "one"`},
		{"foreign", func(tx *bbolt.Tx) error { return tx.DeleteBucket(meta) }, "not a store of Heddle"},
		{"bucket", func(tx *bbolt.Tx) error { return tx.DeleteBucket(attempts) }, "bucket attempts is missing"},
		{"last epoch", func(tx *bbolt.Tx) error { return put(tx.Bucket(meta), keyEpoch, maxEpoch) }, "container IDs allow for at most"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			path := place(t)
			s, _ := mustOpen(t, path)
			must(t, s.Close())
			edit(t, path, tt.edit)
			before, err := os.ReadFile(path)
			must(t, err)
			if _, _, err := Open(path); err == nil || !strings.Contains(err.Error(), tt.want) || !strings.Contains(err.Error(), path) {
				t.Errorf("%v, want %q", err, tt.want)
			}
			after, err := os.ReadFile(path)
			must(t, err)
			if string(before) != string(after) {
				t.Error("a store that was refused was written to")
			}
		})
	}
}

// A program that does not know last runs or nodes leaves them alone and does not count them. What it wrote is read like
// any other store, with them or without.
func TestOlderProgram(t *testing.T) {
	path := place(t)
	node := func(n int32) Node { return Node{ID: ids.Node{Host: fmt.Sprint("n", n), Port: 1}} }
	s, _ := mustOpen(t, path)
	must(t, commitNow(s, PutApp(App{ID: app(1)}), PutRun(run(1)), PutNode(node(1))))
	must(t, s.Close())
	older := func(tx *bbolt.Tx) error { return put(tx.Bucket(meta), keyCounts, counts{"apps": 1, "attempts": 0}) }
	opens := func(n int) {
		t.Helper()
		again, state := mustOpen(t, path)
		if len(state.Bad) > 0 || len(state.Apps) != 1 || len(state.Runs) != n || len(state.Nodes) != n {
			t.Errorf("found %+v, want an application, %d runs and as many nodes", state, n)
		}
		must(t, commitNow(again, PutRun(run(2)), PutNode(node(2))))
		must(t, again.Close())
	}
	edit(t, path, older)
	opens(1)
	edit(t, path, func(tx *bbolt.Tx) error {
		must(t, older(tx))
		return errors.Join(tx.DeleteBucket(runs), tx.DeleteBucket(nodes))
	})
	opens(0)
	opens(1)
	// A lost bucket is noticed.
	for _, bucket := range [][]byte{runs, nodes} {
		edit(t, path, func(tx *bbolt.Tx) error { return tx.DeleteBucket(bucket) })
		s, state := mustOpen(t, path)
		if n := len(state.Bad); n == 0 || state.Bad[n-1].Bucket != string(bucket) {
			t.Errorf("a bucket is gone, and %v is said", state.Bad)
		}
		must(t, s.Close())
	}
}

const records = 60

// filled returns a closed store with a number of applications and attempts.
func filled(t *testing.T) (path string, content []byte) {
	path = place(t)
	s, _ := mustOpen(t, path)
	for n := range int32(records) {
		s.Commit(nil, PutApp(App{ID: app(n), User: "ann", Context: make([]byte, 2000)}), PutAttempt(Attempt{ID: attempt(n, 1)}), PutRun(run(n)))
	}
	must(t, s.Close())
	content, err := os.ReadFile(path)
	must(t, err)
	return path, content
}

func TestTorn(t *testing.T) {
	path, content := filled(t)
	opened := 0
	for size := 0; size < len(content); size += 40960 + 1000 {
		must(t, os.WriteFile(path, content[:size], 0o600))
		s, state, err := Open(path)
		if err == nil {
			opened++
			if len(state.Apps) != records {
				t.Errorf("cut off at %d of %d bytes: opened with %d applications", size, len(content), len(state.Apps))
			}
			must(t, s.Close())
		} else if !strings.Contains(err.Error(), path) || !strings.Contains(err.Error(), "copy") {
			t.Errorf("cut off at %d bytes: %v", size, err)
		}
	}
	t.Logf("%d bytes; opened %d times", len(content), opened)
}

// Whatever bits are flipped, damage is refused or reported, and nothing wrong is passed on.
func TestFlippedBits(t *testing.T) {
	path, content := filled(t)
	r := rand.New(rand.NewPCG(1, 2))
	refused, noticed, harmless := 0, 0, 0
	for range 500 {
		bad := []byte(string(content))
		for range 1 + r.IntN(4) {
			at := r.IntN(len(bad))
			if r.IntN(2) == 0 { // half of them in the first bytes of a page, where its structure is
				at = at/4096*4096 + r.IntN(64)
			}
			bad[at] ^= 1 << r.IntN(8)
		}
		must(t, os.WriteFile(path, bad, 0o600))
		db, state, err := read(path)
		if err != nil {
			refused++
			continue
		}
		must(t, db.Close())
		switch {
		case len(state.Bad) > 0:
			noticed++
		default:
			harmless++
			if len(state.Apps) != records || len(state.Attempts) != records || len(state.Runs) != records {
				t.Errorf("%d applications, %d attempts, %d runs, nothing said", len(state.Apps), len(state.Attempts), len(state.Runs))
			}
		}
		for _, a := range state.Apps {
			if a.User != "ann" || len(a.Context) != 2000 {
				t.Errorf("%s is wrong and nothing was said", a.ID)
			}
		}
		for _, r := range state.Runs {
			if r.User != "ann" || r.Name != fmt.Sprint(r.Ended) {
				t.Errorf("%+v is wrong and nothing was said", r)
			}
		}
	}
	t.Logf("%d refused, %d noticed, %d harmless", refused, noticed, harmless)
}
