package rm

import (
	"strings"
	"testing"

	"heddle"
	"heddle/yarn/ids"
)

// heapWorld returns a world that sizes MapReduce's masters, from 1 MiB on, and a node that holds one.
func heapWorld(t *testing.T) (*world, *nm) {
	t.Helper()
	small := func(s *Scheduler) *Scheduler {
		s.Set.Minimum, s.Set.Step, s.Minimum = heddle.Of(1, 1000), heddle.Of(1, 0), heddle.Of(1, 1000)
		return s
	}
	w := newWorld(t, "adaptcont", func(o *Options) {
		build := o.Scheduler.Rebuild
		small(o.Scheduler).Rebuild = func(leaves []string) (*Scheduler, error) {
			s, err := build(leaves)
			return small(s), err
		}
	})
	return w, w.node("n1", 4096, 8)
}

// sized returns a submission whose master is made smaller than requested.
func sized(id ids.App) Submission {
	s := submission(id, "MAPREDUCE")
	s.Facts = heddle.Facts{Maps: 4, MasterHeap: 800}
	return s
}

// mastersAre fails unless an application's masters were started in these containers with these heaps, in order.
func (w *world) mastersAre(id ids.App, want ...[2]int64) {
	w.Helper()
	var got [][2]int64
	for _, e := range w.rest {
		if e, ok := e.(*StartMaster); ok && e.App == id {
			got = append(got, [2]int64{e.Size[heddle.Memory], e.Heap})
		}
	}
	if len(got) != len(want) {
		w.Fatalf("masters %v, want %v", got, want)
	}
	for i := range want {
		if got[i] != want[i] {
			w.Errorf("masters %v, want %v", got, want)
		}
	}
}

var (
	cutTo384 = [2]int64{384, 384 - 176}
	inFull   = [2]int64{1024, 0}
)

// failMaster ends the current master with a status, and lets the next one begin.
func (n *nm) failMaster(id ids.App, status int32) {
	n.w.Helper()
	n.run(n.w.app(id).Master)
	n.beat()
	n.w.master(id)
	n.exit(n.w.app(id).Master, status)
	n.beat()
	n.beat()
}

// A master that was made smaller and fails by its own fault is followed by one with the size asked for. That failure is
// not counted: the application may lose as many attempts as otherwise.
func TestFullAfterFailure(t *testing.T) {
	for _, status := range []int32{1, 137, 255, int32(heddle.KilledOverPhysical), exitInvalid} {
		w, n := heapWorld(t)
		id := w.newID()
		w.done(w.submitAs("ann", sized(id), ""))
		n.beat()
		w.mastersAre(id, cutTo384)
		n.failMaster(id, status)
		w.mastersAre(id, cutTo384, inFull)
		if d := w.tries[ids.Attempt{App: id, N: 1}].Diagnostics; !strings.HasSuffix(d, "cut to 208 MiB; the next master gets the requested size.") {
			t.Errorf("its client reads %q", d)
		}
		n.failMaster(id, status)
		w.mastersAre(id, cutTo384, inFull, inFull)
		if p := w.app(id); p.State == AppFailed {
			t.Fatalf("status %d: it failed after one failure at full size", status)
		}
		n.failMaster(id, status)
		if p := w.app(id); p.State != AppFailed || len(w.m.byApp[id].attempts) != 3 {
			t.Errorf("status %d: it is %s after %d attempts", status, p.State, len(w.m.byApp[id].attempts))
		}
		if got := w.m.byApp[id].tooSmall(); got != 384-176 {
			t.Errorf("a heap of %d MiB was too small", got)
		}
	}
}

// A master lost through the fault of others says nothing about its size.
func TestSizedAgainAfterALoss(t *testing.T) {
	for _, status := range []heddle.ExitStatus{heddle.Aborted, heddle.Preempted, heddle.DisksFailed, heddle.KilledByRM} {
		w, n := heapWorld(t)
		id := w.newID()
		w.done(w.submitAs("ann", sized(id), ""))
		n.beat()
		n.failMaster(id, int32(status))
		w.mastersAre(id, cutTo384, cutTo384)
		if got := w.m.byApp[id].tooSmall(); got != 0 {
			t.Errorf("after %d a heap of %d MiB is too small", status, got)
		}
	}
}

// A master gets what it asks for if its application has only one attempt, or if its command cannot be changed.
func TestMastersThatAreNotSized(t *testing.T) {
	for _, change := range []func(*Submission){
		func(s *Submission) { s.MaxAttempts = 1 },
		func(s *Submission) { s.Facts.MasterHeap = 0 },
		func(s *Submission) { s.Facts.Maps = 0 },
		func(s *Submission) { s.Type = "TEZ" },
	} {
		w, n := heapWorld(t)
		s := sized(w.idFor("bob"))
		change(&s)
		w.done(w.submitAs("bob", s, ""))
		n.beat()
		w.mastersAre(s.ID, inFull)
	}
}

// A heap is never larger than its command says.
func TestHeapWithinWhatWasAsked(t *testing.T) {
	w, n := heapWorld(t)
	s := sized(w.newID())
	s.Facts.MasterHeap = 100
	w.done(w.submitAs("ann", s, ""))
	n.beat()
	w.mastersAre(s.ID, [2]int64{384, 100})
}

// The heap in which the first master failed is known after a restart: the second gets what was asked for, whether it
// was waiting when the ResourceManager stopped, or was running and failed then.
func TestFullAfterAStart(t *testing.T) {
	w, n := heapWorld(t)
	id := w.newID()
	w.done(w.submitAs("ann", sized(id), ""))
	n.beat()
	n.failMaster(id, 255)
	w.mastersAre(id, cutTo384, inFull)
	w.restart(heddle.Second)
	n = w.node("n1", 4096, 8)
	w.sleep(20 * heddle.Second)
	n.beat()
	n.beat()
	w.mastersAre(id, inFull)
	a := w.m.byApp[id]
	if a.tooSmall() != 384-176 || w.m.failures(a) != 0 {
		t.Errorf("a heap of %d MiB was too small, %d failures are counted", a.tooSmall(), w.m.failures(a))
	}
}

// A master that was running in a smaller container when the ResourceManager stopped, and fails after the restart, is
// also followed by one with the size asked for.
func TestFailureAfterAStart(t *testing.T) {
	w, n := heapWorld(t)
	id := w.newID()
	w.done(w.submitAs("ann", sized(id), ""))
	n.beat()
	master := w.app(id).Master
	w.restart(heddle.Second)
	c := found(master, 0)
	c.Size = heddle.Of(384, 1000)
	n = &nm{w: w, id: n.id, conts: map[ids.Container]ContainerNews{}}
	n.register(4096, 8, c)
	n.run(master)
	n.beat()
	w.master(id)
	n.exit(master, 255)
	n.beat()
	n.beat()
	w.mastersAre(id, inFull)
	if a := w.m.byApp[id]; a.tooSmall() != 384-176 || w.m.failures(a) != 0 {
		t.Errorf("a heap of %d MiB was too small, %d failures are counted", a.tooSmall(), w.m.failures(a))
	}
}

// What masters of a user and name used, and what was too little for one, is known for the next.
func TestHeapsAreRemembered(t *testing.T) {
	w, n := heapWorld(t)
	run := func() ids.App {
		id := w.newID()
		w.done(w.submitAs("ann", sized(id), ""))
		n.beat()
		return id
	}
	end := func(id ids.App) {
		n.run(w.app(id).Master)
		n.beat()
		w.done(w.kill(id))
		n.exit(w.app(id).Master, int32(heddle.KilledByRM))
		n.beat()
	}
	first := run()
	w.mastersAre(first, cutTo384)
	n.failMaster(first, 255)
	end(first)
	second := run()
	w.mastersAre(second, inFull)
	w.m.byApp[second].lives(w.m, HeapNews{Live: 40, Outside: 100})
	w.m.byApp[second].lives(w.m, HeapNews{Live: 30, Outside: 90})
	if got := w.m.past.of(RunKey{"ann", "job"}); got.Heap != 40 || got.Outside != 100 || got.Maps != 4 || got.TooSmall != 208 {
		t.Errorf("remembered is %+v", got)
	}
	end(second)
	w.mastersAre(run(), [2]int64{2*208 + 1 + 176, 2*208 + 1}) // twice what was too small
}

// A heap that is recorded for a number of maps is not replaced by a smaller one of an unknown number.
func TestHeapsOfUnknownSizes(t *testing.T) {
	for _, c := range []struct {
		maps, was  int32
		live, heap int64
		want       heddle.LastRun
	}{
		{4, 2, 40, 50, heddle.LastRun{Heap: 40, Outside: 7, Maps: 4}},
		{0, 0, 40, 50, heddle.LastRun{Heap: 40, Outside: 7}},
		{0, 2, 40, 50, heddle.LastRun{Heap: 50, Outside: 9, Maps: 2}},
		{0, 2, 60, 50, heddle.LastRun{Heap: 60, Outside: 7, Maps: 2}},
	} {
		a := &app{live: c.live, beside: 7}
		a.Facts.Maps = c.maps
		r := heddle.LastRun{Heap: c.heap, Outside: 9, Maps: c.was}
		if a.keepHeap(&r); r != c.want {
			t.Errorf("%d MiB of %d maps after %d of %d: recorded is %+v, want %+v", c.live, c.maps, c.heap, c.was, r, c.want)
		}
	}
}

// A job whose tasks may run in its master gets the master that it asks for.
func TestUberJobsAreNotSized(t *testing.T) {
	for uber, want := range map[bool][2]int64{false: cutTo384, true: inFull} { // order: each by itself
		w, n := heapWorld(t)
		w.m.cfg.ReadJobs = true
		s := sized(w.newID())
		s.Facts.Maps = 0
		c := w.submitAs("ann", s, "")
		w.step(&JobRead{App: s.ID, Maps: 4, Uber: uber})
		w.done(c)
		n.beat()
		w.mastersAre(s.ID, want)
	}
}
