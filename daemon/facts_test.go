package daemon

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"heddle/rm"
	"heddle/yarn/ids"
)

// slowFacts answers when a test says so.
type slowFacts struct {
	asked, ended atomic.Int32
	now          chan struct{}
}

func (f *slowFacts) wait(ctx context.Context) {
	f.asked.Add(1)
	select {
	case <-f.now:
	case <-ctx.Done():
	}
	f.ended.Add(1)
}

func (f *slowFacts) Read(ctx context.Context, q *rm.ReadJob) *rm.JobRead {
	f.wait(ctx)
	return &rm.JobRead{App: q.App}
}

func (f *slowFacts) Ask(ctx context.Context, q *rm.AskMaster) *rm.MasterTold {
	f.wait(ctx)
	return &rm.MasterTold{Attempt: q.Attempt}
}

// What the machine wants to know is found out outside the loop, which goes on meanwhile, and not after the loop's end.
func TestFactsAreFoundOutBesideTheLoop(t *testing.T) {
	inWorld(t, "capacity", func(t *testing.T, w *world) {
		f := &slowFacts{now: make(chan struct{})}
		want := func() {
			w.r.post(func() {
				w.r.carry([]rm.Effect{&rm.ReadJob{App: ids.App{Seq: 1}}, &rm.AskMaster{Attempt: ids.Attempt{N: 1}}})
			})
			synctest.Wait()
		}
		want() // while nobody finds anything out
		w.r.post(func() { w.r.facts = f })
		want()
		if n := f.asked.Load(); n != 2 {
			t.Fatalf("%d of 2 are being found out", n)
		}
		if _, err := w.r.Cluster(context.Background()); err != nil || f.ended.Load() != 0 {
			t.Errorf("the loop did not go on: %v, %d ended", err, f.ended.Load())
		}
		close(f.now)
		synctest.Wait()
		if f.ended.Load() != 2 {
			t.Errorf("%d of 2 were found out", f.ended.Load())
		}
		f.now = nil
		want()
		w.stop()
		synctest.Wait()
		if f.asked.Load() != 4 || f.ended.Load() != 4 {
			t.Errorf("%d of %d go on after the end", f.asked.Load()-f.ended.Load(), f.asked.Load())
		}
	})
}
