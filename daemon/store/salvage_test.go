package store

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"syscall"
	"testing"

	"go.etcd.io/bbolt"

	"heddle/yarn/ids"
)

const realApps = 120

// realistic returns a closed store as a cluster leaves it: applications that are over and alive, with submissions of
// several sizes and attempts; pages of all kinds.
func realistic(t testing.TB) (path string, content []byte) {
	path = place(t)
	s, _ := mustOpen(t, path)
	for n := range int32(realApps) {
		a := App{ID: app(n), User: "ann", Queue: "root.a", Submitted: int64(n), Launched: int64(n) + 1, Context: make([]byte, 200+int(n)%7*1500)}
		list := []Change{PutApp(a), PutAttempt(realAttempt(n, 1)), PutRun(run(n))}
		if n%5 == 0 {
			list = append(list, PutAttempt(realAttempt(n, 2)))
		}
		must(t, commitNow(s, list...))
		if n%3 == 0 {
			a.State, a.Finished, a.Context = "FINISHED", int64(n)+2, nil
			must(t, commitNow(s, PutApp(a)))
		}
	}
	must(t, commitNow(s, PutKeys(fullKeys), DropApp(app(7)), DropRun(run(9).RunKey)))
	must(t, s.Close())
	content, err := os.ReadFile(path)
	must(t, err)
	return path, content
}

func realAttempt(n, i int32) Attempt {
	return Attempt{ID: attempt(n, i), MasterID: 3<<ids.EpochShift | 1, Node: ids.Node{Host: "n1.example.com", Port: 8041}, NodeHTTP: "n1.example.com:8042", Started: int64(n) + 1, Tracking: "http://n1:7001"}
}

// placesOf returns the first and last page that each record needs, by its key. Overflow pages have no records without
// the first of their pages.
func placesOf(t *testing.T, content []byte) map[string][2]uint64 {
	t.Helper()
	h, _, err := findMeta(bytes.NewReader(content), int64(len(content)))
	must(t, err)
	out := map[string][2]uint64{}
	for _, head := range pagesOf(t, content, flagLeaf) {
		last := head + uint64(order.Uint32(content[head*4096+12:]))
		list, _, err := parse(content[head*4096 : (last+1)*4096])
		must(t, err)
		for _, e := range list {
			out[string(e.key)] = [2]uint64{head, last}
		}
	}
	if len(out) < realApps*3 || h.pages < 100 {
		t.Fatalf("%d records on %d pages", len(out), h.pages)
	}
	return out
}

// Whichever page of a store is lost, the next start continues with all records on other pages, says what is lost, and
// keeps the damaged file. Attempt and container numbers are not repeated.
func TestEveryPage(t *testing.T) {
	path, content := realistic(t)
	needsUsualPages(t, content)
	before := stateOf(t, content)
	h, _, err := findMeta(bytes.NewReader(content), int64(len(content)))
	must(t, err)
	places := placesOf(t, content)
	salvaged, lost := 0, 0
	step := uint64(1)
	if testing.Short() {
		step = 7
	}
	for page := uint64(0); page < h.pages; page += step {
		broken := slices.Clone(content)
		clear(broken[page*4096 : (page+1)*4096])
		must(t, os.WriteFile(path, broken, fileMode))
		s, state, err := Open(path)
		if err != nil {
			t.Fatalf("page %d: %v", page, err)
		}
		if state.Salvaged != nil {
			salvaged++
			if kept, err := os.ReadFile(state.Salvaged.Kept); err != nil || !bytes.Equal(kept, broken) {
				t.Errorf("page %d: the damaged file is not kept: %v", page, err)
			}
			must(t, os.Remove(state.Salvaged.Kept))
		}
		lost += wantRest(t, places, page, before, state)
		must(t, commitNow(s, PutApp(App{ID: app(9999)})))
		must(t, s.Close())
		again, state := mustOpen(t, path)
		if len(state.Bad) > 0 || state.Salvaged != nil {
			if page > 1 && state.Salvaged != nil {
				t.Errorf("page %d: the new store is damaged too: %+v", page, state.Salvaged)
			}
		}
		must(t, again.Close())
	}
	t.Logf("%d pages; %d starts made a new store; %d records were lost in all", h.pages, salvaged, lost)
	if salvaged == 0 || lost == 0 {
		t.Error("nothing was damaged")
	}
}

// A page of a submission that looks like a page of records is not taken for one if the page before it is lost.
func TestForgedPages(t *testing.T) {
	for name, store := range map[string]func(testing.TB) (string, []byte){
		"of many pages of submissions": realistic, "of the only page of submissions": twoLarge,
	} {
		t.Run(name, func(t *testing.T) {
			path, content := store(t)
			needsUsualPages(t, content)
			wantNoForged(t, path, content)
		})
	}
}

// twoLarge returns a closed store of two applications whose submissions take several pages.
func twoLarge(t testing.TB) (path string, content []byte) {
	path = place(t)
	s, _ := mustOpen(t, path)
	for n := range int32(2) {
		must(t, commitNow(s, PutApp(App{ID: app(n), User: "ann", Context: make([]byte, 20<<10)})))
	}
	must(t, s.Close())
	content, err := os.ReadFile(path)
	must(t, err)
	return path, content
}

// wantNoForged checks that the second page of a leaf page of submissions is not taken for one of records if the first is
// lost.
func wantNoForged(t *testing.T, path string, content []byte) {
	t.Helper()
	var lost uint64
	var stolen []byte
	for _, id := range pagesOf(t, content, flagLeaf) {
		if list := elementsOf(t, content, id); order.Uint32(content[id*4096+12:]) > 0 && bytes.Equal(bucketOf(list[0].key), submissions) {
			lost, stolen = id, list[0].key
		}
	}
	if lost == 0 {
		t.Fatal("no submissions have several pages")
	}
	record, err := encode([]byte(app(9999).String()), &App{ID: app(9999), User: "bob"})
	must(t, err)
	mine := pieceKey{app(9999), 1, 1}.bytes()
	forged := map[string][]byte{
		app(9999).String(): record, string(mine): seal(mine, []byte("bob's")), string(stolen): seal(stolen, []byte("bob's")),
	}
	broken := slices.Clone(content)
	clear(broken[lost*4096 : (lost+1)*4096])
	copy(broken[(lost+1)*4096:], leafOf(lost+1, forged))
	wantNone(t, path, broken, forged)
}

// wantNone checks that none of the given records is found in a damaged file, and returns what is read of it.
func wantNone(t *testing.T, path string, broken []byte, records map[string][]byte) *wreck {
	t.Helper()
	must(t, os.WriteFile(path, broken, fileMode))
	w, err := readWreck(path)
	must(t, err)
	for key := range records {
		for bucket, list := range w.records {
			if _, there := list[key]; there {
				t.Errorf("%s of a user's bytes is taken for a record of %s", key, bucket)
			}
		}
	}
	return w
}

// A page of a submission that looks like a page of records is not taken for one if the last element of its leaf page
// says that it is before it.
func TestForgedLastPage(t *testing.T) {
	path, content := realistic(t)
	needsUsualPages(t, content)
	ann := app(1) // a piece too many of its submission would cost her the application
	key := []byte(string(submissionPrefix(ann)) + "0000/0001")
	forged := map[string][]byte{string(key): seal(key, []byte("bob's"))}
	tried := 0
	for _, id := range pagesOf(t, content, flagLeaf) {
		n, last := int(order.Uint16(content[id*4096+10:])), id+uint64(order.Uint32(content[id*4096+12:]))
		list := elementsOf(t, content, id)
		if last == id || !bytes.Equal(bucketOf(list[0].key), submissions) || bytes.HasPrefix(list[n-1].key, submissionPrefix(ann)) {
			continue
		}
		for bit := range 16 {
			broken := slices.Clone(content)
			pos := broken[int(id)*4096+pageHeader+(n-1)*leafElement+4:]
			order.PutUint32(pos, order.Uint32(pos)^1<<bit)
			if extent(broken[id*4096:][:4096]) <= (last-id)*4096 {
				tried++
				copy(broken[last*4096:], leafOf(last, forged))
				if w := wantNone(t, path, broken, forged); w.apps[ann] == nil {
					t.Errorf("page %d, bit %d: %s is lost", id, bit, ann)
				}
			}
		}
	}
	if tried == 0 {
		t.Error("no element can be moved to an earlier page")
	}
}

// elementsOf returns the elements of an intact page.
func elementsOf(t *testing.T, content []byte, id uint64) []element {
	t.Helper()
	list, _, err := parse(content[id*4096 : (id+1+uint64(order.Uint32(content[id*4096+12:])))*4096])
	must(t, err)
	return list
}

// leafOf returns a leaf page of records.
func leafOf(id uint64, records map[string][]byte) []byte {
	b := make([]byte, 4096)
	order.PutUint64(b, id)
	order.PutUint16(b[8:], flagLeaf)
	order.PutUint16(b[10:], uint16(len(records)))
	end := pageHeader + len(records)*leafElement
	for i, key := range slices.Sorted(maps.Keys(records)) {
		at := pageHeader + i*leafElement
		order.PutUint32(b[at+4:], uint32(end-at))
		order.PutUint32(b[at+8:], uint32(len(key)))
		order.PutUint32(b[at+12:], uint32(len(records[key])))
		end += copy(b[end:], key)
		end += copy(b[end:], records[key])
	}
	return b
}

// If a reference leads to another page, the records of the page that it should lead to are found all the same.
func TestWrongReferences(t *testing.T) {
	_, content := realistic(t)
	needsUsualPages(t, content)
	h, _, err := findMeta(bytes.NewReader(content), int64(len(content)))
	must(t, err)
	whole := inspect(bytes.NewReader(content), h, nil)
	tried := 0
	for _, page := range pagesOf(t, content, flagBranch) {
		for i := range int(order.Uint16(content[page*4096+10:])) {
			at := int(page)*4096 + pageHeader + i*leafElement + 8
			child := order.Uint64(content[at:])
			if order.Uint16(content[child*4096+8:]) != flagLeaf {
				continue
			}
			for _, bit := range []uint64{1, 2, 4, 8, 1 << 40} {
				if other := child ^ bit; other < h.pages && whole.seen[other] == free { // then the list of free pages is in doubt
					continue
				}
				tried++
				broken := slices.Clone(content)
				order.PutUint64(broken[at:], child^bit)
				w := &wreck{records: map[string]map[string][]byte{}}
				inspect(bytes.NewReader(broken), h, w.take).orphans(w.stored(), w.take)
				for _, e := range elementsOf(t, content, child) {
					if w.records[string(bucketOf(e.key))][string(e.key)] == nil {
						t.Errorf("page %d instead of %d: %s is lost", child^bit, child, e.key)
					}
				}
			}
		}
	}
	if tried == 0 {
		t.Error("no reference leads to a leaf page")
	}
}

// wantRest checks that a state has all records of an earlier one except those on a page, and returns how many are lost.
func wantRest(t *testing.T, places map[string][2]uint64, page uint64, before, state *State) (lost int) {
	t.Helper()
	on := map[string]bool{}
	for key, p := range places {
		if k, err := parsePieceKey([]byte(key)); err == nil { // its application needs it
			key = k.app.String()
		}
		on[key] = on[key] || p[0] <= page && page <= p[1]
	}
	if state.Epoch < before.Epoch {
		t.Errorf("page %d: epoch %d after %d", page, state.Epoch, before.Epoch)
	}
	left := map[string]any{}
	highest := map[ids.App]int32{}
	older := page < 2 || state.Salvaged != nil && state.Salvaged.Older
	for _, a := range state.Apps {
		if (a.Taken > 0) != (older && a.State == "") {
			t.Errorf("page %d: attempts of %s up to %d are taken", page, a.ID, a.Taken)
		}
		highest[a.ID], a.Taken = a.Taken, 0
		left[a.ID.String()] = a
	}
	for _, a := range state.Attempts {
		left[a.ID.String()] = a
		highest[a.ID.App] = max(highest[a.ID.App], a.ID.N)
	}
	for _, r := range state.Runs {
		left[string(runKey(r.RunKey))] = r
	}
	want := func(key string, owner ids.App, record any) {
		switch got := left[key]; {
		case got == nil && !on[key] && !on[owner.String()]:
			t.Errorf("page %d: %s is lost, and is on another page", page, key)
		case got == nil:
			lost++
		case !on[key] && !reflect.DeepEqual(got, record):
			t.Errorf("page %d: %s is %+v, was %+v", page, key, got, record)
		}
	}
	for _, a := range before.Apps {
		want(a.ID.String(), ids.App{}, a)
	}
	for _, a := range before.Attempts {
		want(a.ID.String(), a.ID.App, a)
		if alive := left[a.ID.App.String()]; alive != nil && alive.(App).State == "" && highest[a.ID.App] < a.ID.N {
			t.Errorf("page %d: %s is lost, and the next one of its application would have its number", page, a.ID)
		}
	}
	for _, r := range before.Runs {
		want(string(runKey(r.RunKey)), ids.App{}, r)
	}
	if lost > 0 && (state.Salvaged == nil || len(state.Salvaged.Lost) == 0) && len(state.Bad) == 0 {
		t.Errorf("page %d: %d records are lost, and nothing is said", page, lost)
	}
	return lost
}

// Without the record of how often the store was opened, no container id is repeated.
func TestLostEpoch(t *testing.T) {
	for _, record := range []string{"", "00000000 7"} {
		path, content := realistic(t)
		edit(t, path, func(tx *bbolt.Tx) error {
			if record == "" {
				return tx.Bucket(meta).Delete(keyEpoch)
			}
			return tx.Bucket(meta).Put(keyEpoch, []byte(record))
		})
		before := stateOf(t, content)
		s, state := mustOpen(t, path)
		if state.Salvaged == nil || state.Epoch <= 3+epochJump || len(state.Apps) != len(before.Apps) || len(state.Attempts) != len(before.Attempts) {
			t.Errorf("opened with epoch %d, %d applications, %+v", state.Epoch, len(state.Apps), state.Salvaged)
		}
		must(t, s.Close())
		r, err := Check(path)
		must(t, err)
		if n, ok := r.Starts(); ok {
			t.Errorf("%d starts, of a file whose epoch was guessed", n)
		}
	}
}

// A copy whose mark cannot be read is still a copy after it was repaired.
func TestLostMark(t *testing.T) {
	path, content := realistic(t)
	must(t, mark(path))
	edit(t, path, func(tx *bbolt.Tx) error { return tx.Bucket(meta).Put(keyCopied, []byte("00000000 true")) })
	r, err := Repair(path)
	must(t, err)
	if len(r.Lost) != 1 || r.Lost[0].Bucket != string(meta) || r.Lost[0].Key != string(keyCopied) || r.Kept == "" {
		t.Errorf("of the mark is said: %+v; kept is %q", r.Lost, r.Kept)
	}
	s, state := mustOpen(t, path)
	if before := stateOf(t, content).Epoch; !state.Copied || state.Epoch <= before+epochJump {
		t.Errorf("opened as a copy: %v, with epoch %d after %d", state.Copied, state.Epoch, before)
	}
	must(t, s.Close())
}

// A copy is still one if what was written to it last is damaged.
func TestLastCommitOfCopyLost(t *testing.T) {
	for _, name := range []string{"the first page", "the root"} {
		path, content := realistic(t)
		must(t, mark(path))
		b, err := os.ReadFile(path)
		must(t, err)
		needsUsualPages(t, b)
		lastCommit(t)[name](b)
		must(t, os.WriteFile(path, b, fileMode))
		s, state := mustOpen(t, path)
		if before := stateOf(t, content).Epoch; !state.Copied || state.Epoch <= before+epochJump {
			t.Errorf("%s: opened as a copy: %v, with epoch %d after %d", name, state.Copied, state.Epoch, before)
		}
		must(t, s.Close())
	}
}

// Repairing a store as root leaves nothing that its owner cannot open, and nothing if there is no store.
func TestRepairLeavesLocks(t *testing.T) {
	path, _ := realistic(t)
	if os.Geteuid() != 0 {
		t.Skip("only root can give files away")
	}
	must(t, errors.Join(os.Remove(path+".lock"), os.Chown(path, 12345, 12345)))
	_, err := Repair(path)
	must(t, err)
	info, err := os.Stat(path + ".lock")
	must(t, err)
	if uid := info.Sys().(*syscall.Stat_t).Uid; uid != 12345 {
		t.Errorf("the lock is %d's, and the store is 12345's", uid)
	}
	none := filepath.Join(t.TempDir(), "none")
	if _, err := Repair(none); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no store: %v", err)
	}
	if _, err := os.Stat(none + ".lock"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("where there is no store there is a lock: %v", err)
	}
}

// A start does not guess if it is not sure which file it has; repair does, and says so.
func TestRepairOnly(t *testing.T) {
	path, content := realistic(t)
	h, _, err := findMeta(bytes.NewReader(content), int64(len(content)))
	must(t, err)
	for max(h.root, h.freelist) >= h.pages-10 { // the free pages they take depend on chance; these are cut off below
		path, content = realistic(t)
		h, _, err = findMeta(bytes.NewReader(content), int64(len(content)))
		must(t, err)
	}
	before := stateOf(t, content)
	for name, x := range map[string]struct {
		edit func(b []byte) []byte
		all  bool
	}{
		"no first pages": {func(b []byte) []byte { clear(b[:8192]); return b }, true},
		"cut off":        {func(b []byte) []byte { return b[:(h.pages-10)*4096+100] }, false},
	} {
		broken := x.edit(slices.Clone(content))
		must(t, os.WriteFile(path, broken, fileMode))
		if _, _, err := Open(path); err == nil || !strings.Contains(err.Error(), "heddle store repair") || !strings.Contains(err.Error(), "copy") {
			t.Errorf("%s: %v", name, err)
		}
		after, err := os.ReadFile(path)
		must(t, err)
		if !bytes.Equal(after, broken) {
			t.Errorf("%s: a file that was refused was written to", name)
		}
		r, err := Repair(path)
		must(t, err)
		kept, err := os.ReadFile(r.Kept)
		must(t, err)
		if !bytes.Equal(kept, broken) || r.Whole() {
			t.Errorf("%s: kept is another file than was there, or nothing is said: %+v", name, r)
		}
		s, state := mustOpen(t, path)
		if len(state.Bad) > 0 || len(state.Apps) == 0 || state.Epoch < before.Epoch ||
			x.all && (len(state.Apps) < len(before.Apps) || state.Epoch == before.Epoch) {
			t.Errorf("%s: %d applications of %d, %d attempts of %d, epoch %d, %v", name, len(state.Apps), len(before.Apps), len(state.Attempts), len(before.Attempts), state.Epoch, state.Bad)
		}
		must(t, s.Close())
		must(t, os.Remove(r.Kept))
	}
	// An undamaged file stays as it is, and a file that is no store is not made one.
	must(t, os.WriteFile(path, content, fileMode))
	if r, err := Repair(path); err != nil || !r.Whole() || r.Kept != "" {
		t.Errorf("%+v, %v", r, err)
	}
	must(t, os.WriteFile(path, bytes.Repeat([]byte("no store"), 10000), fileMode))
	if _, err := Repair(path); err == nil || !strings.Contains(err.Error(), "the file is not a store") {
		t.Error(err)
	}
}

// A file that lacks only free pages is refused all the same, and repaired.
func TestFreePagesCutOff(t *testing.T) {
	path := place(t)
	s, _ := mustOpen(t, path)
	must(t, commitNow(s, PutApp(App{ID: app(1)}), PutApp(App{ID: app(2), Context: make([]byte, 1<<20)})))
	must(t, commitNow(s, DropApp(app(2))))
	must(t, s.Close())
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	must(t, err)
	info, err := f.Stat()
	must(t, err)
	h, _, err := findMeta(f, info.Size())
	must(t, err)
	if c := inspect(f, h, nil); c.seen[h.pages-1] != free {
		t.Fatal("the last page is in use")
	}
	must(t, f.Truncate(int64(h.pages-1)*h.pageSize))
	must(t, f.Close())
	if _, _, err := Open(path); err == nil || !strings.Contains(err.Error(), "heddle store repair") {
		t.Fatal(err)
	}
	r, err := Repair(path)
	must(t, err)
	if r.Whole() || r.Kept == "" {
		t.Errorf("nothing is said of what is cut off: %+v", r)
	}
	s, state := mustOpen(t, path)
	if len(state.Apps) != 1 || len(state.Bad) > 0 {
		t.Errorf("%d applications, %v", len(state.Apps), state.Bad)
	}
	must(t, s.Close())
}

// A new store replaces a damaged one at once, or not at all.
func TestHalfSalvaged(t *testing.T) {
	path, content := realistic(t)
	leaf := pagesOf(t, content, flagLeaf)[0]
	broken := slices.Clone(content)
	clear(broken[leaf*4096 : (leaf+1)*4096])
	must(t, os.WriteFile(path, broken, fileMode))
	// An earlier start made the second name and half of a new file.
	must(t, os.Link(path, path+".damaged-1"))
	must(t, os.WriteFile(path+".new", []byte("half"), fileMode))
	s, state := mustOpen(t, path)
	if state.Salvaged == nil || state.Salvaged.Kept != path+".damaged-1" {
		t.Errorf("%+v", state.Salvaged)
	}
	must(t, s.Close())
	must(t, os.WriteFile(path, broken, fileMode))
	s, state = mustOpen(t, path)
	if state.Salvaged == nil || state.Salvaged.Kept != path+".damaged-2" {
		t.Errorf("%+v", state.Salvaged)
	}
	must(t, s.Close())
}

func TestExport(t *testing.T) {
	path, _ := realistic(t)
	edit(t, path, func(tx *bbolt.Tx) error { return flip(tx, apps, app(1).String()) })
	var out bytes.Buffer
	_, err := Export(path, &out)
	must(t, err)
	if text := out.String(); strings.Contains(text, "Context") || strings.Contains(text, `"Bytes"`) {
		t.Error("secrets are exported")
	}
	found := map[string]int{}
	for line := range strings.SplitSeq(strings.TrimSpace(out.String()), "\n") {
		var r exported
		must(t, json.Unmarshal([]byte(line), &r))
		found[r.Bucket]++
		if r.Lost != "" {
			found["lost"]++
		}
		if r.Key == app(2).String() {
			var a struct{ User string }
			must(t, json.Unmarshal(r.Record, &a))
			if a.User != "ann" {
				t.Errorf("%s", line)
			}
		}
	}
	// An attempt of a lost application is lost with it.
	want := map[string]int{"apps": realApps - 1, "attempts": realApps*6/5 - 1, "runs": realApps - 1, "submissions": realApps - 2, "meta": 4, "tokens": 1, "lost": 2}
	if !maps.Equal(found, want) {
		t.Errorf("found %v, want %v", found, want)
	}
}

func TestBackup(t *testing.T) {
	path, content := realistic(t)
	to := filepath.Join(t.TempDir(), "copy")
	s, _ := mustOpen(t, path)
	for what, f := range map[string]func() error{
		"backup": func() error { _, err := Backup(path, to); return err },
		"check":  func() error { _, err := Check(path); return err },
		"repair": func() error { _, err := Repair(path); return err },
	} {
		if err := f(); err == nil || !strings.Contains(err.Error(), fmt.Sprintf("process %d", os.Getpid())) {
			t.Errorf("%s of a store that is in use: %v", what, err)
		}
	}
	must(t, s.Close())
	must(t, os.WriteFile(path, content, fileMode))
	r, err := Backup(path, to)
	must(t, err)
	got, err := os.ReadFile(to)
	must(t, err)
	want, copied := stateOf(t, content), stateOf(t, got)
	if copied.Epoch, copied.Copied = want.Epoch, false; !reflect.DeepEqual(copied, want) || r.Records["apps"] != realApps-1 {
		t.Errorf("the copy is not what was there: %v", r.Records)
	}
	if info, err := os.Stat(to); err != nil || info.Mode().Perm() != fileMode {
		t.Errorf("%v, %v", info, err)
	}
	if _, err := Backup(path, to); err == nil {
		t.Error("a copy is overwritten")
	}
	broken := slices.Clone(content)
	leaf := pagesOf(t, content, flagLeaf)[0]
	clear(broken[leaf*4096 : (leaf+1)*4096])
	must(t, os.WriteFile(path, broken, fileMode))
	if _, err := Backup(path, to+"2"); err == nil || !strings.Contains(err.Error(), "heddle store repair") {
		t.Errorf("a damaged store is copied: %v", err)
	}
	if r, err := Check(path); err != nil || r.Whole() {
		t.Errorf("%+v, %v", r, err)
	}
}

// Who waits for a store hears of the process that has it, also if that only reads, and not of one that had it before.
func TestLockNamesItsHolder(t *testing.T) {
	path, _ := realistic(t)
	must(t, os.WriteFile(path+".lock", []byte("99999999\n"), fileMode)) // of a process that has ended
	lock, err := lockIfThere(path + ".lock")
	must(t, err)
	if _, _, err := Open(path); err == nil || !strings.Contains(err.Error(), fmt.Sprintf(": process %d uses it", os.Getpid())) {
		t.Errorf("%v", err)
	}
	must(t, os.Truncate(path+".lock", 0)) // the disk had no room for the number
	if _, _, err := Open(path); err == nil || !strings.Contains(err.Error(), ": another process uses it") {
		t.Errorf("%v", err)
	}
	must(t, lock.Close())
}

// Going back to a copy, even to the same one again, gives no attempt or container the number of one begun since the
// copy was made. Only the first start is one from a copy.
func TestBackToACopy(t *testing.T) {
	for name, live := range map[string]bool{"while it is open": true, "while it is closed": false} {
		path := place(t)
		s, _ := mustOpen(t, path)
		must(t, commitNow(s, PutApp(App{ID: app(1)}), PutApp(App{ID: app(2), State: "FINISHED"}), PutAttempt(Attempt{ID: attempt(1, 1)})))
		if live {
			must(t, s.Give())
		} else {
			must(t, s.Close())
		}
		to := filepath.Join(t.TempDir(), "copy")
		_, err := Backup(path, to)
		must(t, err)
		if live {
			must(t, s.Close())
		}
		s, state := mustOpen(t, path)
		if state.Copied || state.Epoch != 2 {
			t.Errorf("%s: the store itself has epoch %d, is taken for a copy: %v", name, state.Epoch, state.Copied)
		}
		must(t, s.Close())
		epochs, attempts := map[int64]bool{}, map[int32]bool{}
		for range 5 {
			must(t, os.Remove(path))
			must(t, copyFile(to, path))
			for n := range int64(2) {
				s, state = mustOpen(t, path)
				if state.Epoch < 2+epochJump || state.Copied != (n == 0) {
					t.Errorf("%s: start %d has epoch %d, from a copy: %v", name, n+1, state.Epoch, state.Copied)
				}
				epochs[state.Epoch-n] = true
				must(t, s.Close())
			}
			a, over := state.Apps[0].Taken, state.Apps[1].Taken
			if a < 1+attemptJump || over != 0 {
				t.Errorf("%s: attempts up to %d and %d are taken", name, a, over)
			}
			attempts[a] = true
		}
		if len(epochs) < 2 || len(attempts) < 2 {
			t.Errorf("%s: whoever goes back goes on with %v, and with attempts after %v", name, epochs, attempts)
		}
	}
}

// lastCommit returns what damages the last commit of a store, by what is damaged.
func lastCommit(t *testing.T) map[string]func(b []byte) {
	t.Helper()
	newest := func(b []byte) int { // of the first two pages
		one, _ := readMeta(bytes.NewReader(b), 0)
		other, _ := readMeta(bytes.NewReader(b), 4096)
		if other.tx > one.tx {
			return 1
		}
		return 0
	}
	return map[string]func(b []byte){
		"the first page": func(b []byte) { n := newest(b); clear(b[n*4096 : (n+1)*4096]) },
		"the root": func(b []byte) {
			h, _, err := findMeta(bytes.NewReader(b), int64(len(b)))
			must(t, err)
			clear(b[h.root*4096 : (h.root+1)*4096])
		},
		"both": func(b []byte) {
			h, _, err := findMeta(bytes.NewReader(b), int64(len(b)))
			must(t, err)
			clear(b[h.root*4096 : (h.root+1)*4096])
			clear(b[:8192])
		},
	}
}

// If the last commit is missing, whatever it contained, no attempt and no start gets its number again: not even after
// the start that noticed the loss.
func TestLastCommitLost(t *testing.T) {
	for name, damage := range lastCommit(t) {
		path := place(t)
		s, state := mustOpen(t, path)
		must(t, commitNow(s, PutApp(App{ID: app(1)}), PutApp(App{ID: app(2), State: "FINISHED"}), PutApp(App{ID: app(3)}), PutAttempt(Attempt{ID: attempt(1, 1)})))
		last := []Change{PutAttempt(Attempt{ID: attempt(1, 1), State: "FAILED"}), PutAttempt(Attempt{ID: attempt(3, 1)})}
		for n := range int32(3) { // each may have begun when the one before ended, while the disk was slow
			last = append(last, PutAttempt(Attempt{ID: attempt(1, 2+n)}))
		}
		must(t, commitNow(s, last...))
		must(t, s.Close())
		content, err := os.ReadFile(path)
		must(t, err)
		needsUsualPages(t, content)
		damage(content)
		must(t, os.WriteFile(path, content, fileMode))
		if name == "both" {
			_, err := Repair(path)
			must(t, err)
		}
		for range 2 {
			before := state.Epoch
			s, state = mustOpen(t, path)
			if state.Epoch <= before || len(state.Apps) != 3 || len(state.Attempts) != 1 {
				t.Fatalf("%s: epoch %d after %d, %d applications, %d attempts", name, state.Epoch, before, len(state.Apps), len(state.Attempts))
			}
			if a, over, b := state.Apps[0].Taken, state.Apps[1].Taken, state.Apps[2].Taken; a < 4 || over != 0 || b < 1 {
				t.Errorf("%s: attempts up to %d, %d and %d are taken", name, a, over, b)
			}
			must(t, s.Close())
		}
	}
}

// If it is unknown how many commits are missing, several starts may be missing.
func TestLastStartsLost(t *testing.T) {
	path, _ := realistic(t)
	var s *Store
	var state *State
	for range 8 {
		s, state = mustOpen(t, path)
		must(t, s.Close())
	}
	given := state.Epoch
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	must(t, err)
	info, err := f.Stat()
	must(t, err)
	for _, h := range beginnings(f, info.Size()) {
		w := &wreck{records: map[string]map[string][]byte{}}
		inspect(f, h, w.take)
		must(t, w.judge())
		if w.Epoch >= given-1 {
			_, err := f.WriteAt(make([]byte, h.pageSize), int64(h.root)*h.pageSize)
			must(t, err)
		}
	}
	_, err = f.WriteAt(make([]byte, 2*os.Getpagesize()), 0)
	must(t, errors.Join(err, f.Close()))
	_, err = Repair(path)
	must(t, err)
	s, state = mustOpen(t, path)
	if state.Epoch <= given {
		t.Errorf("the epoch is %d, and was %d", state.Epoch, given)
	}
	must(t, s.Close())
}

// If the last commit is missing and was the count of a start, that start may have given containers to earlier masters.
func TestLastStartLost(t *testing.T) {
	path := place(t)
	s, _ := mustOpen(t, path)
	must(t, s.Close())
	s, state := mustOpen(t, path)
	given := state.Epoch
	must(t, s.Close())
	content, err := os.ReadFile(path)
	must(t, err)
	h, _, err := findMeta(bytes.NewReader(content), int64(len(content)))
	must(t, err)
	page := h.tx % 2 * uint64(h.pageSize)
	clear(content[page : page+uint64(h.pageSize)])
	must(t, os.WriteFile(path, content, fileMode))
	s, state = mustOpen(t, path)
	if state.Epoch <= given {
		t.Errorf("the epoch is %d, and was %d", state.Epoch, given)
	}
	must(t, s.Close())
}
