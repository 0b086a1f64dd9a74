package store

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"go.etcd.io/bbolt"
)

// disk mounts a file system of size bytes; this needs root.
func disk(t *testing.T, size int64) (dir string) {
	dir = t.TempDir()
	if err := mount(dir, size); err != nil {
		t.Skipf("a file system of its own needs root: %v", err)
	}
	t.Cleanup(func() { must(t, unmount(dir)) })
	return dir
}

// ballast takes all room except keep bytes.
func ballast(t *testing.T, dir string, keep int64) (lift func()) {
	t.Helper()
	name := filepath.Join(dir, "ballast")
	f, err := os.Create(name)
	must(t, err)
	must(t, allocate(f, 0, spare(dir)-keep))
	must(t, f.Close())
	return func() { must(t, os.Remove(name)) }
}

// heard collects what a store says about its disk.
type heard struct {
	sync.Mutex
	said []*Shortage
}

func listen(s *Store) *heard {
	h := &heard{}
	s.OnShortage(func(short *Shortage) {
		h.Lock()
		defer h.Unlock()
		h.said = append(h.said, short)
	})
	return h
}

// last waits until the last thing said is the wanted one.
func (h *heard) last(t *testing.T, short bool) *Shortage {
	t.Helper()
	for end := time.Now().Add(10 * time.Second); ; time.Sleep(5 * time.Millisecond) {
		h.Lock()
		n := len(h.said)
		if n > 0 && (h.said[n-1] != nil) == short {
			defer h.Unlock()
			return h.said[n-1]
		}
		h.Unlock()
		if time.Now().After(end) {
			t.Fatalf("short %t was not said, but %v", short, h.said)
		}
	}
}

// A full disk is reported as soon as only the reserve is left. Commits use the reserve until it is exhausted. Then they
// wait, are written in order once there is room, and nothing is lost.
func TestFullDisk(t *testing.T) {
	dir := disk(t, 64<<20)
	path := filepath.Join(dir, "data", "rm.db")
	s, _ := mustOpen(t, path)
	h := listen(s)
	must(t, commitNow(s, PutApp(App{ID: app(1)}))) // the reserve is there

	lift := ballast(t, dir, 0)
	const size = 1 << 18
	big := func(n int32) Change { return PutApp(App{ID: app(n), User: "ann", Context: make([]byte, size)}) }
	n := int32(2)
	for ; s.Stats().Short == nil; n++ {
		must(t, commitNow(s, big(n)))
	}
	short := h.last(t, true)
	if !errors.Is(short, syscall.ENOSPC) || short.Folder != filepath.Dir(path) || short.Need != Reserve || short.Free >= 1<<20 {
		t.Errorf("said %+v", short)
	}
	if text := short.Error(); !strings.Contains(text, filepath.Dir(path)) || !strings.Contains(text, "16.0 MiB are needed") {
		t.Errorf("said %q", text)
	}

	// Small records go on as long as there is a reserve.
	for range 100 {
		must(t, commitNow(s, PutAttempt(Attempt{ID: attempt(1, 1)})))
	}

	var mu sync.Mutex
	var order []int32
	const more = 80
	for i := range int32(more) {
		k := n + i
		s.Commit(func(err error) {
			mu.Lock()
			defer mu.Unlock()
			if order = append(order, k); err != nil {
				t.Errorf("%d: %v", k, err)
			}
		}, big(k))
	}
	written := func() int { mu.Lock(); defer mu.Unlock(); return len(order) }
	for end := time.Now().Add(5 * time.Second); s.Stats().Oldest < 1500*time.Millisecond && time.Now().Before(end); {
		time.Sleep(20 * time.Millisecond)
	}
	stuck := written()
	if st := s.Stats(); stuck == more || st.Commits != more-stuck || st.Bytes < (more-stuck)*size || st.Writing == 0 || s.Err() != nil {
		t.Fatalf("%d of %d were written to a full disk: %+v, %v", stuck, more, st, s.Err())
	}

	lift()
	_ = h.last(t, false)
	must(t, commitNow(s, PutAttempt(Attempt{ID: attempt(1, 2)})))
	for i, k := range order {
		if k != n+int32(i) {
			t.Fatalf("written in the order %v", order)
		}
	}
	must(t, s.Close())
	s, state := mustOpen(t, path)
	if len(state.Apps) != int(n)-1+more || len(state.Attempts) != 2 || len(state.Bad) > 0 {
		t.Errorf("%d applications of %d, %d attempts, %v", len(state.Apps), int(n)-1+more, len(state.Attempts), state.Bad)
	}
	must(t, s.Close())
}

// Wherever in a transaction the disk turns out to be full, the content of the file is what it was before, and the store
// goes on with it.
func TestFullAtEveryPage(t *testing.T) {
	const page = 4096
	dir := disk(t, 40<<20)
	tried, waited := 0, 0
	for k := range 40 {
		path := filepath.Join(dir, fmt.Sprint(k), "rm.db")
		s, _ := mustOpen(t, path)
		for n := range int32(20) {
			must(t, commitNow(s, PutApp(App{ID: app(n), Context: make([]byte, 3000)})))
		}
		must(t, s.Close())
		content, err := os.ReadFile(path)
		must(t, err)
		must(t, os.Remove(path)) // with its reserve
		must(t, os.WriteFile(path, content, fileMode))
		db, state, err := begin(path)
		must(t, err)
		// A store without a reserve meets the full disk in the middle of a transaction.
		s = bare(path, db, state.kept)
		lift := ballast(t, dir, int64(k*page))
		done := make(chan error, 1)
		s.Commit(func(err error) { done <- err }, PutApp(App{ID: app(100), Context: make([]byte, 200_000)}), DropApp(app(3)))
		tried++
		select {
		case err := <-done:
			done <- err
		case <-time.After(100 * time.Millisecond):
			waited++
			content, err := os.ReadFile(path)
			must(t, err)
			if now := stateOf(t, content); len(now.Apps) != 20 || len(now.Bad) > 0 {
				t.Errorf("with %d pages: half of it is in the file: %d applications, %v", k, len(now.Apps), now.Bad)
			}
		}
		lift()
		must(t, <-done)
		must(t, s.Close())
		s, state = mustOpen(t, path)
		if len(state.Apps) != 20 || state.Apps[19].ID != app(100) || len(state.Bad) > 0 {
			t.Errorf("with %d pages: %d applications, %v", k, len(state.Apps), state.Bad)
		}
		must(t, s.Close())
		must(t, os.RemoveAll(filepath.Dir(path)))
	}
	if waited == 0 || waited == tried {
		t.Errorf("the disk was full in %d of %d cases", waited, tried)
	}
	t.Logf("the disk was full in %d of %d cases", waited, tried)
}

// bare returns a store without a reserve.
func bare(path string, db *bbolt.DB, kept counts) *Store {
	lock, _ := os.Open(os.DevNull)
	s := makeStore(path, db, lock, kept)
	s.unreserved, s.retry = true, 10*time.Millisecond
	go s.run()
	return s
}

// stateOf returns the content of a copy of a file.
func stateOf(t *testing.T, content []byte) *State {
	t.Helper()
	path := filepath.Join(t.TempDir(), "copy")
	must(t, os.WriteFile(path, content, fileMode))
	db, state, err := read(path)
	must(t, err)
	must(t, db.Close())
	return state
}

// The last thing that is said of the disk is how it is, even if it changes while somebody begins to listen.
func TestLastWordOnRoom(t *testing.T) {
	s := makeStore(place(t), nil, nil, counts{})
	s.lacks(syscall.ENOSPC, Reserve)
	var said atomic.Pointer[Shortage]
	first := make(chan struct{})
	changed := make(chan struct{})
	go func() {
		<-first
		s.lacks(nil, 0)
		close(changed)
	}()
	s.OnShortage(func(short *Shortage) {
		if short != nil {
			close(first)
			select {
			case <-changed: // before this call is over
			case <-time.After(100 * time.Millisecond):
			}
		}
		said.Store(short)
	})
	<-changed
	if short := said.Load(); short != nil {
		t.Errorf("the disk has room, and the last word is %v", short)
	}
}

// A store that is closed while it waits for room says that not everything was written.
func TestClosedWhileFull(t *testing.T) {
	dir := disk(t, 20<<20)
	path := filepath.Join(dir, "data", "rm.db")
	s, _ := mustOpen(t, path)
	must(t, commitNow(s)) // the reserve is there
	lift := ballast(t, dir, 0)
	done := make(chan error, 1)
	var many []Change // more than the reserve
	for n := range int32(5) {
		many = append(many, PutApp(App{ID: app(n), Context: make([]byte, 4<<20)}))
	}
	s.Commit(func(err error) { done <- err }, many...)
	time.Sleep(50 * time.Millisecond)
	err := s.Close()
	if err == nil || !errors.Is(err, syscall.ENOSPC) || !errors.Is(<-done, syscall.ENOSPC) {
		t.Errorf("closed with %v", err)
	}
	lift()
	s, state := mustOpen(t, path)
	if len(state.Apps) != 0 || len(state.Bad) > 0 {
		t.Errorf("found %d applications, %v", len(state.Apps), state.Bad)
	}
	must(t, s.Close())
}
