package daemon

import (
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"heddle"
	"heddle/daemon/store"
	"heddle/rm"
	"heddle/yarn/conv"
	"heddle/yarn/ids"
	"heddle/yarn/wire"
)

// inRestarts runs a test in a bubble, on a store of its own.
func inRestarts(t *testing.T, profile string, f func(t *testing.T, w *world, path string)) {
	synctest.Test(t, func(t *testing.T) {
		w := &world{T: t, config: testConfig(), profile: profile}
		path := filepath.Join(t.TempDir(), "data", "rm.db")
		w.restart(path, 0)
		defer func() { w.stop() }()
		f(t, w, path)
	})
}

// A master whose node comes back without it is followed by another one at once, and its containers elsewhere end.
func TestRestartMasterGone(t *testing.T) {
	for name, list := range map[string][]wire.ContainerState{
		"not there": nil, "ended": {wire.ContainerState_C_COMPLETE},
	} {
		t.Run(name, func(t *testing.T) {
			inRestarts(t, "capacity", func(t *testing.T, w *world, path string) {
				id, m, home, n := w.job("MAPREDUCE")
				master, task := w.masterOf(id), n.task(m)

				w.restart(path, time.Second)
				n.register(4096, 4, status(task, 20, wire.ContainerState_C_RUNNING))
				n.beat()
				if p := w.app(id); p.Containers != 1 {
					t.Fatalf("%d containers found, want the task", p.Containers)
				}
				var left []*wire.NMContainerStatus
				for _, s := range list {
					left = append(left, status(master, 0, s))
				}
				home.register(2048, 4, left...)
				if p := w.app(id); p.Attempt != 2 || p.State != rm.AppAccepted || p.Containers != 1 || p.Master.Attempt.N != 2 {
					t.Errorf("attempt %d, %s, with %d containers, its master in %v; want a second one, and its master alone", p.Attempt, p.State, p.Containers, p.Master)
				}
				if b := n.beat(); len(b.GetContainersToCleanup()) != 1 {
					t.Errorf("the first attempt's task runs on: %v", b)
				}
				w.check()
			})
		})
	}
}

// The ResourceManager died between two writes: all attempts have ended, but the application's record does not say so.
func TestRestartExhausted(t *testing.T) {
	inRestarts(t, "capacity", func(t *testing.T, w *world, path string) {
		id, _, _, _ := w.job("MAPREDUCE")
		w.stop()
		st, _, err := store.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		for n := range int32(2) {
			st.Commit(nil, store.PutAttempt(store.Attempt{ID: ids.Attempt{App: id, N: n + 1}, State: "FAILED", Exit: 1, Finished: time.Now().UnixMilli(), Diagnostics: "it fell over"}))
		}
		if err := st.Close(); err != nil {
			t.Fatal(err)
		}
		w.stop = nil
		w.restart(path, 0)
		if p := w.app(id); p.State != rm.AppFailed || p.Attempt != 2 {
			t.Errorf("%s with attempt %d: %s", p.State, p.Attempt, p.Diagnostics)
		}
	})
}

// A master comes back and finishes before its node comes back: the application is over when the node says so.
func TestRestartFinished(t *testing.T) {
	inRestarts(t, "capacity", func(t *testing.T, w *world, path string) {
		id, m, home, _ := w.job("MAPREDUCE")
		w.restart(path, time.Second)
		m.register()
		if !m.finish() {
			t.Fatal("not finished")
		}
		if p := w.app(id); p.Internal != "FINISHING" {
			t.Fatalf("it is %s before its master is known to be gone", p.Internal)
		}
		home.register(2048, 4)
		if p := w.app(id); p.Internal != string(rm.AppFinished) || p.Final != rm.Succeeded {
			t.Errorf("it is %s, %s", p.Internal, p.Final)
		}
		w.check()
	})
}

// After a restart an application's report is what it was before.
func TestRestartKeepsTheReport(t *testing.T) {
	inRestarts(t, "capacity", func(t *testing.T, w *world, path string) {
		id, _, err := w.r.NewApp(t.Context(), "ann")
		if err != nil {
			t.Fatal(err)
		}
		c := submission(id, "a type with a very long name", 1024)
		c.ApplicationTags = []string{"Nightly"}
		if err := w.r.Submit(t.Context(), "ann", c); err != nil {
			t.Fatal(err)
		}
		before := w.app(id)
		w.restart(path, time.Second)
		if _, err := w.r.SetPriority(t.Context(), Actor{User: "ann"}, id, 3); err != nil {
			t.Fatal(err)
		}
		after := w.app(id)
		if after.Type != before.Type || !slices.Equal(after.Tags, []string{"nightly"}) || !slices.Equal(before.Tags, after.Tags) {
			t.Errorf("type %q and tags %q were %q and %q", after.Type, after.Tags, before.Type, before.Tags)
		}
		w.restart(path, time.Second)
		if p := w.app(id).Priority; p != 3 {
			t.Errorf("its priority is %d, was set to 3 before the last start", p)
		}
	})
}

// A master is larger than containers may be after a restart. If it waits, its application fails and says why; if it
// runs, the next attempt gets the largest container there is.
func TestRestartWithSmallerContainers(t *testing.T) {
	inRestarts(t, "capacity", func(t *testing.T, w *world, path string) {
		n := w.node("n1", 4096, 4)
		runs, waits := w.submit("SPARK", 4096), w.submit("SPARK", 3000)
		n.run(w.masterOf(runs))
		n.beat()
		master := w.masterOf(runs)
		w.largest = 2048
		w.restart(path, time.Second)
		if p := w.app(waits); p.State != rm.AppFailed || !strings.Contains(p.Diagnostics, "maximum allowed <memory:2048") {
			t.Errorf("it is %s: %s", p.State, p.Diagnostics)
		}
		n.register(4096, 4, status(master, 0, wire.ContainerState_C_COMPLETE))
		time.Sleep(11 * time.Second)
		n.beat()
		if p := w.app(runs); p.Attempt != 2 || p.Master.ID == 0 {
			t.Errorf("attempt %d of %s has the master %v", p.Attempt, p.State, p.Master)
		}
		w.check()
	})
}

// What ran on a node that comes back unhealthy is over, and its masters are told; a master there gets a successor.
func TestRestartSickNode(t *testing.T) {
	inRestarts(t, "capacity", func(t *testing.T, w *world, path string) {
		id, m, home, n := w.job("SPARK")
		task, master := n.task(m), w.masterOf(id)
		w.restart(path, time.Second)
		m.register()
		n.sick, home.sick = true, true
		n.register(4096, 4, status(task, 20, wire.ContainerState_C_RUNNING))
		if s := m.ask().GetCompletedContainerStatuses(); len(s) != 1 || s[0].GetExitStatus() != int32(heddle.Aborted) || conv.Container(s[0].GetContainerId()) != task {
			t.Errorf("the master is told %v, want the end of its container", s)
		}
		home.register(2048, 4, status(master, 0, wire.ContainerState_C_RUNNING))
		if p := w.app(id); p.Attempt != 2 {
			t.Errorf("attempt %d of %s", p.Attempt, p.State)
		}
		w.check()
	})
}

// A disk that hangs never calls back: the ResourceManager ends all the same, since it can promise nothing.
func TestHungDisk(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &world{T: t, config: testConfig()}
		w.restart(filepath.Join(t.TempDir(), "data", "rm.db"), 0)
		hold := make(chan struct{})
		defer func() {
			close(hold)
			if err := w.r.store.Close(); err == nil {
				t.Error("the store closes as if nothing had been")
			}
		}()
		w.r.store.Commit(func(error) { <-hold })
		synctest.Wait()
		for range store.MaxWaiting + 1 {
			w.r.store.Commit(nil)
		}
		synctest.Wait()
		select {
		case <-w.r.done:
		default:
			t.Error("it goes on")
		}
		if _, _, err := w.r.NewApp(t.Context(), "ann"); !errors.Is(err, ErrStopping) {
			t.Errorf("who asks is told %v", err)
		}
	})
}
