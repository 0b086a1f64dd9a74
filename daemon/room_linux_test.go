package daemon

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"heddle/daemon/store"
	"heddle/rm"
	"heddle/yarn/ids"
)

// While the disk is full, submissions are refused with the reason. Running applications go on, get containers and end,
// and have still ended after a restart. Once there is room, submissions are accepted again.
func TestFullDisk(t *testing.T) {
	dir := t.TempDir()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=64m,mode=0700"); err != nil {
		t.Skipf("a file system of its own needs root: %v", err)
	}
	defer func() {
		if err := syscall.Unmount(dir, 0); err != nil {
			t.Error(err)
		}
	}()
	synctest.Test(t, func(t *testing.T) {
		w := &world{T: t, config: testConfig()}
		path := filepath.Join(dir, "data", "rm.db")
		w.restart(path, 0)
		defer func() { w.stop() }()
		n := w.node("n1", 8192, 8)
		id := w.submit("MAPREDUCE", 1024)
		master := w.masterOf(id)
		n.run(master)
		n.beat()
		m := w.master(id)

		ballast := filepath.Join(dir, "ballast")
		fill(t, ballast)
		w.untilShort(true)
		other, _, err := w.r.NewApp(t.Context(), "ann")
		if err != nil {
			t.Fatal(err)
		}
		for what, f := range map[string]func() error{
			"submitted": func() error { return w.r.Submit(t.Context(), "ann", submission(other, "SPARK", 1024)) },
			"moved":     func() error { return w.r.Move(t.Context(), Actor{User: "ann"}, id, "default") },
			"raised":    func() error { _, err := w.r.SetPriority(t.Context(), Actor{User: "ann"}, id, 1); return err },
			"prolonged": func() error {
				return w.r.SetLifetime(t.Context(), Actor{User: "ann"}, id, time.Now().Add(time.Hour))
			},
		} {
			err := f()
			wantClass(t, err, "org.apache.hadoop.yarn.exceptions.YarnException")
			if text := err.Error(); !strings.Contains(text, filepath.Dir(path)) || !strings.Contains(text, "no space left on device") {
				t.Errorf("%s: refused with %q", what, text)
			}
		}
		if a := m.ask(row(20, "*", 1024, 2)); len(a.GetAllocatedContainers()) != 2 {
			t.Errorf("%d containers of 2 were granted", len(a.GetAllocatedContainers()))
		}
		if !m.finish() {
			t.Error("the master could not unregister")
		}
		n.exit(master, 0)
		n.beat()
		if p := w.app(id); p.State != rm.AppFinished {
			t.Errorf("it is %s", p.State)
		}

		if err := os.Remove(ballast); err != nil {
			t.Fatal(err)
		}
		w.untilShort(false)
		if err := w.r.Submit(t.Context(), "ann", submission(other, "SPARK", 1024)); err != nil {
			t.Error(err)
		}
		w.restart(path, time.Second)
		if p := w.app(id); p.State != rm.AppFinished || p.Final != rm.Succeeded {
			t.Errorf("found again as %s, %s", p.State, p.Final)
		}
		if p := w.app(other); p.State.Final() {
			t.Errorf("the other one was found again as %s", p.State)
		}
		if n := bytes.Count(w.log.Bytes(), []byte("the store has no disk space")); n != 1 {
			t.Errorf("%d lines say that the store has no room", n)
		}
	})
}

// fill takes all room except the store's reserve.
func fill(t *testing.T, ballast string) {
	t.Helper()
	f, err := os.Create(ballast)
	if err != nil {
		t.Fatal(err)
	}
	block := make([]byte, 1<<16)
	for err == nil {
		_, err = f.Write(block)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
}

// untilShort waits until the store is short, or is not. It writes records: a store is short once its reserve is used.
func (w *world) untilShort(short bool) {
	w.Helper()
	for i := range 100 {
		time.Sleep(time.Second)
		synctest.Wait()
		if (w.r.store.Stats().Short != nil) == short {
			return
		}
		if short {
			w.r.store.Commit(nil, store.PutApp(store.App{ID: ids.App{Cluster: 1, Seq: int32(i + 1)}, State: "FINISHED", Context: make([]byte, 1<<20)}))
		}
	}
	w.Fatalf("the store is never short %t", short)
}
