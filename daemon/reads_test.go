package daemon

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"net/netip"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"heddle/internal/budget"
	"heddle/rm"
	"heddle/yarn/ids"
)

// hold keeps the loop busy until it is released, so that calls gather before it.
func (w *world) hold() (release func()) {
	until := make(chan struct{})
	synctest.Wait() // for what still comes of what was done
	w.r.post(func() { <-until })
	synctest.Wait()
	return func() { close(until); synctest.Wait() }
}

// However many lists are asked for, the loop makes one view for them all, and does nothing more for each.
func TestListsShareAView(t *testing.T) {
	inWorld(t, "capacity", func(t *testing.T, w *world) {
		n := w.node("n1", 8192, 8)
		for range 50 {
			w.submit("MAPREDUCE", 1024)
		}
		n.beat()
		before := w.r.ReadStats()
		release := w.hold()
		var lists, right sync.WaitGroup
		for range 1024 {
			lists.Go(func() {
				list, err := w.r.Apps(t.Context(), rm.AppFilter{})
				if err != nil || len(list) != 50 {
					t.Errorf("%d applications, %v", len(list), err)
				}
			})
			right.Go(func() {
				if _, err := w.r.Queues(t.Context()); err != nil {
					t.Error(err)
				}
			})
		}
		synctest.Wait()
		release()
		lists.Wait()
		right.Wait()
		after := w.r.ReadStats()
		if views := after.Views - before.Views; views != 1 {
			t.Errorf("%d views were made for lists that were asked for at the same time", views)
		}
		// Some look for an explanation just before it is there.
		if asked := after.Questions - before.Questions; asked > 20*explained {
			t.Errorf("the machine was asked %d times what %d applications wait for", asked, explained)
		}
		if _, err := w.r.Apps(t.Context(), rm.AppFilter{Limit: 1}); err != nil || w.r.ReadStats() != after {
			t.Errorf("a list after which nothing has happened: %+v, before %+v, %v", w.r.ReadStats(), after, err)
		}
	})
}

// While a long list is made, whoever waits for a turn has one.
func TestLongListsTakeTurns(t *testing.T) {
	inWorld(t, "capacity", func(t *testing.T, w *world) {
		for i := range 40 {
			w.node(fmt.Sprint("n", i), 8192, 8)
			w.submit("MAPREDUCE", 1024)
		}
		synctest.Wait()                                                  // masters are started
		if _, err := w.r.Apps(t.Context(), rm.AppFilter{}); err != nil { // there is a view
			t.Fatal(err)
		}
		for name, list := range map[string]func(context.Context) (int, error){
			"applications": func(ctx context.Context) (int, error) { l, err := w.r.Apps(ctx, rm.AppFilter{}); return len(l), err },
			"nodes":        func(ctx context.Context) (int, error) { l, err := w.r.Nodes(ctx); return len(l), err },
		} {
			d := NewReaders(1)
			ctx, reading := d.Begin(t.Context(), "10.0.0.66")
			if err := reading.Turn(ctx); err != nil {
				t.Fatal(err)
			}
			had := false
			var other sync.WaitGroup
			other.Go(func() {
				if err := d.Enter(t.Context(), "10.0.0.1"); err != nil {
					t.Error(err)
				}
				had = true
				d.Leave("10.0.0.1", 0)
			})
			synctest.Wait()
			before := w.r.ReadStats()
			n, err := list(ctx)
			if w.r.ReadStats() != before {
				t.Error("it waits for the loop, and thus gives its turn up in any case")
			}
			if err != nil || n != 40 || !had {
				t.Errorf("%s: %d, %v; another caller had a turn meanwhile: %v", name, n, err, had)
			}
			reading.End(0)
			other.Wait()
		}
	})
}

// A submission is translated in its turn, and waits for the loop without one.
func TestSubmissionsInTurn(t *testing.T) {
	inWorld(t, "capacity", func(t *testing.T, w *world) {
		made, _, err := w.r.NewApp(t.Context(), "ann")
		if err != nil {
			t.Fatal(err)
		}
		d := NewReaders(1)
		enter := func() (entered bool) {
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			return d.Enter(ctx, "bob@10.0.0.2") == nil
		}
		enter()
		release := w.hold()
		over := false
		var all sync.WaitGroup
		all.Go(func() {
			ctx, reading := d.Begin(t.Context(), "ann@10.0.0.1")
			defer reading.End(0)
			if err := w.r.Submit(ctx, "ann", submission(made, "SPARK", 1024)); err != nil {
				t.Error(err)
			}
			over = true
		})
		synctest.Wait()
		if n := w.r.lanes.waiting(); n != 0 {
			t.Errorf("%d changes wait for the loop before their turn", n)
		}
		d.Leave("bob@10.0.0.2", 0)
		synctest.Wait()
		if n := w.r.lanes.waiting(); n != 1 || over {
			t.Errorf("%d changes wait for the loop, want 1", n)
		}
		if enter() {
			d.Leave("bob@10.0.0.2", 0)
		} else {
			t.Error("it has the turn while it waits for the loop")
		}
		release()
		all.Wait()
	})
}

// Whoever waits for a view has no seat at the desk. Where there is none, who asks is told to come again.
func TestListsSitOnceThereIsAView(t *testing.T) {
	inWorld(t, "capacity", func(t *testing.T, w *world) {
		desk := budget.NewDesk(budget.New(1<<20, 1<<20).Account(0), 1, time.Second)
		var e budget.Expectation
		w.submit("MAPREDUCE", 1024)
		release := w.hold()
		waits, stop := context.WithCancel(t.Context())
		ctx, first := desk.Answer(waits, netip.Addr{}, &e, true)
		failed := make(chan error)
		go func() {
			_, err := w.r.Apps(ctx, rm.AppFilter{})
			failed <- err
		}()
		synctest.Wait()
		ctx, second := desk.Answer(t.Context(), netip.Addr{}, &e, true)
		if err := budget.Begin(ctx); err != nil {
			t.Errorf("while somebody waits for a view: %v", err)
		}
		stop()
		if err := <-failed; !errors.Is(err, context.Canceled) {
			t.Errorf("who waited for a view: %v", err)
		}
		release()
		ctx, third := desk.Answer(t.Context(), netip.Addr{}, &e, true)
		if _, err := w.r.Apps(ctx, rm.AppFilter{}); !errors.Is(err, ErrBusy) {
			t.Errorf("without a seat: %v, want %v", err, ErrBusy)
		}
		for _, a := range []*budget.Answer{first, second, third} {
			a.Left()
		}
	})
}

// Who is told that something is done sees it in what he reads next, whatever else goes on.
func TestReadsOwnChanges(t *testing.T) {
	inWorld(t, "capacity", func(t *testing.T, w *world) {
		nodes := []*nm{w.node("n1", 8192, 8), w.node("n2", 8192, 8)}
		ctx, stop := context.WithCancel(t.Context())
		var crowd sync.WaitGroup
		for _, n := range nodes {
			crowd.Go(func() {
				for ctx.Err() == nil {
					n.beat()
					time.Sleep(time.Millisecond)
				}
			})
		}
		for range 4 {
			crowd.Go(func() {
				for ctx.Err() == nil {
					_, _ = w.r.Apps(ctx, rm.AppFilter{})
				}
			})
		}
		var clients sync.WaitGroup
		for user := range 4 {
			clients.Go(func() {
				for range 50 {
					id := w.submit("MAPREDUCE", 1024)
					if _, err := w.r.App(t.Context(), id); err != nil {
						t.Error(err)
					}
					if err := w.r.Kill(t.Context(), Actor{User: "ann"}, id, ""); err != nil {
						t.Error(err)
					}
					list, err := w.r.Apps(t.Context(), rm.AppFilter{States: []rm.AppState{rm.AppKilled}})
					if err != nil || !slices.ContainsFunc(list, func(a rm.AppReport) bool { return a.ID == id }) {
						t.Errorf("user %d: %s is not among the %d that were killed, %v", user, id, len(list), err)
					}
				}
			})
		}
		clients.Wait()
		stop()
		crowd.Wait()
	})
}

// Beats go before changes, and changes before reads.
func TestLanes(t *testing.T) {
	inWorld(t, "capacity", func(t *testing.T, w *world) {
		w.node("n1", 8192, 8)
		id := w.submit("MAPREDUCE", 1024)
		var order []string
		note := func(what string) func() { return func() { order = append(order, what) } }
		release := w.hold()
		var waiting sync.WaitGroup
		waiting.Go(func() {
			_, _ = ask(t.Context(), w.r, whyQuestion{id}, func(rm.Reports) (any, error) { note("read")(); return nil, nil })
		})
		synctest.Wait()
		for range 3 {
			if err := w.r.enter(t.Context(), changeLane, note("change")); err != nil {
				t.Error(err)
			}
		}
		for range 3 {
			if err := w.r.enter(t.Context(), beatLane, note("beat")); err != nil {
				t.Error(err)
			}
		}
		release()
		waiting.Wait()
		if want := []string{"beat", "beat", "beat", "change", "change", "change", "read"}; !slices.Equal(order, want) {
			t.Errorf("%v, want %v", order, want)
		}
	})
}

// What is urgent does not keep the rest waiting for ever.
func TestLanesTakeTurns(t *testing.T) { synctest.Test(t, testLanesTakeTurns) } // in which nothing takes time

func testLanesTakeTurns(t *testing.T) {
	l := newLanes()
	var order []lane
	for range 2 * beatsPerTurn {
		l.beats <- func() { order = append(order, beatLane) }
	}
	for range 2 * joinsPerTurn {
		l.joins.add("@10.0.0.1", func() { order = append(order, joinLane) })
	}
	for range 2 * changesPerTurn {
		if err := l.changes.push("ann", func() { order = append(order, changeLane) }); err != nil {
			t.Fatal(err)
		}
	}
	want := slices.Concat(slices.Repeat([]lane{beatLane}, beatsPerTurn), slices.Repeat([]lane{joinLane}, joinsPerTurn), slices.Repeat([]lane{changeLane}, changesPerTurn))
	for i, more := range []bool{true, false} {
		if left := l.run(nil); left != more || !slices.Equal(order, want) {
			t.Errorf("in turn %d %v ran; some are left: %v", i, order, left)
		}
		order = nil
	}
	l.beats <- func() { order = append(order, beatLane) }
	l.run(func() { order = append(order, changeLane) })
	if !slices.Equal(order, []lane{changeLane, beatLane}) {
		t.Errorf("the one that woke the loop, and another one: %v", order)
	}
}

// Changes that take long do not follow each other without a look at what is more urgent.
func TestLongChanges(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, changed := newLanes(), 0
		for range 8 {
			l.changes.add("ann", func() { changed++; time.Sleep(longestTurn / 2) })
		}
		if l.run(nil); changed != 2 {
			t.Errorf("%d changes in one turn", changed)
		}
	})
}

// A bounded number of changes is under way, unless the disk is full or does not answer. What needs no disk does not count.
func TestChangesAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := &RM{lanes: newLanes(), wake: make(chan struct{}, 1), done: make(chan struct{})}
		var begun []func(int, error)
		var answered atomic.Int32
		ask := func(calls int, atOnce bool) {
			for range calls {
				go func() {
					_, err := call(t.Context(), r, changeLane, func(reply func(int, error)) {
						if atOnce {
							reply(0, nil)
							return
						}
						begun = append(begun, reply)
					})
					if err == nil {
						answered.Add(1)
					}
				}()
			}
		}
		expect := func(when string, begins, answers int) {
			t.Helper()
			synctest.Wait()
			for r.lanes.run(nil) {
			}
			if synctest.Wait(); len(begun) != begins || int(answered.Load()) != answers {
				t.Fatalf("%s %d changes have begun and %d are answered, want %d and %d", when, len(begun), answered.Load(), begins, answers)
			}
		}
		const most = changesAtOnce
		ask(2*most, true)
		expect("without a need for the disk", 0, 2*most)
		ask(3*most, false)
		expect("at first", most, 2*most)
		<-r.wake // of the calls
		begun[0](0, nil)
		select {
		case <-r.wake:
		default:
			t.Error("the loop is not woken for the next change")
		}
		expect("after an answer", most+1, 2*most+1)
		at, ok := r.lanes.resumes()
		if until := time.Until(at); !ok || until != longestChange {
			t.Errorf("others begin in %v, %v", until, ok)
		}
		time.Sleep(longestChange)
		ask(1, true)
		expect("without an answer for long", 3*most, 2*most+2)
		if at, ok := r.lanes.resumes(); ok {
			t.Errorf("nothing waits, but others begin at %v", at)
		}
		ask(1, true)
		expect("still without one", 3*most, 2*most+3)
		begun[1](0, nil)
		ask(1, false)
		expect("while too many are under way", 3*most, 2*most+4)
		r.lanes.full = true
		expect("with a full disk", 3*most+1, 2*most+4)
		r.lanes.full = false
		for _, reply := range begun[2:] {
			reply(0, nil)
		}
		ask(1, false)
		expect("after all answers", 3*most+2, 5*most+3)
	})
}

// NodeManagers that register have a part of the loop's time.
func TestJoinsRest(t *testing.T) {
	const each = 100 * time.Microsecond
	l, began, joined := newLanes(), time.Now(), 0
	for range 3 * joinsPerTurn {
		l.joins.add("@10.0.0.1", func() { joined++; work(each) })
	}
	for joined < 2*joinsPerTurn {
		l.run(nil)
		time.Sleep(time.Millisecond)
	}
	if took := time.Since(began); took < parts*joinsPerTurn*each {
		t.Errorf("%d NodeManagers registered in %v", joined, took)
	}
	if at, ok := l.due(); !ok || at.Sub(began) < 2*parts*joinsPerTurn*each {
		t.Errorf("the next are due after %v, %v", at.Sub(began), ok)
	}
}

// work has a processor do something for so long.
func work(d time.Duration) {
	for done := time.Duration(0); done < d; {
		done += worked(func() { _ = sha256.Sum256(make([]byte, 1<<10)) })
	}
}

// What the loop does not do for want of a processor is not held against those who wait for it.
func TestShareOfProcessor(t *testing.T) {
	var s share
	began := time.Now()
	s.spend(0, func() { time.Sleep(50 * time.Millisecond) })
	if rest := s.from.Sub(began); rest > 250*time.Millisecond && runtime.GOOS == "linux" {
		t.Errorf("after a sleep of 50 ms others wait for %v", rest)
	}
	began = time.Now()
	s.spend(0, func() { work(time.Millisecond) })
	if rest := s.from.Sub(began); rest < 10*time.Millisecond {
		t.Errorf("after a millisecond of work others wait for %v", rest)
	}
	s.from = began.Add(-time.Hour)
	for i, long := range []time.Duration{time.Millisecond, time.Millisecond, 5 * time.Millisecond} {
		now := time.Now()
		s.spend(30*time.Millisecond, func() { work(long) })
		if rest := s.from.Sub(now); rest > 0 != (i == 2) {
			t.Errorf("with three milliseconds of unused time others wait for %v after piece %d, of %v", rest, i, long)
		}
	}
	if got := until(time.Minute); got != time.Minute+longestRest {
		t.Errorf("after a minute in which the machine stood still others wait until %v", got)
	}
}

// However many NodeManagers register from one address, those that report do not wait for them, nor does one that registers from
// another address.
func TestJoinsOfOneAddress(t *testing.T) {
	inWorld(t, "capacity", func(t *testing.T, w *world) {
		var order []string
		wants := func(in lane, from string) {
			if err := w.r.enter(WithCaller(t.Context(), "@"+from), in, func() { order = append(order, from) }); err != nil {
				t.Error(err)
			}
		}
		release := w.hold()
		for range 2 * mostOfAll { // none of which is refused
			wants(joinLane, "10.0.0.66")
		}
		wants(joinLane, "10.0.0.2")
		wants(beatLane, "10.0.0.1")
		release()
		if at := slices.Index(order, "10.0.0.1"); at > joinsPerTurn {
			t.Errorf("who reports was answered after %d others", at)
		}
		if at := slices.Index(order, "10.0.0.2"); at > joinsPerTurn {
			t.Errorf("who registers from another address was answered after %d others", at)
		}
		if len(order) != 2*mostOfAll+2 {
			t.Errorf("%d were answered", len(order))
		}

		release = w.hold()
		var made sync.WaitGroup
		made.Go(func() { w.node("n1", 8192, 8) })
		synctest.Wait()
		if got := w.r.lanes.joins.n; got != 1 {
			t.Errorf("%d NodeManagers that register are among those", got)
		}
		release()
		made.Wait()
	})
}

// Whoever wants much changed waits behind himself.
func TestChangesOfOneCaller(t *testing.T) {
	inWorld(t, "capacity", func(t *testing.T, w *world) {
		var order []string
		wants := func(caller string) {
			if err := w.r.enter(WithCaller(t.Context(), caller), changeLane, func() { order = append(order, caller) }); err != nil {
				t.Error(err)
			}
		}
		release := w.hold()
		for range mostOfOne {
			wants("eve")
		}
		wants("ann")
		wants("bob")
		wants("ann")
		release()
		if want := []string{"eve", "ann", "bob", "eve", "ann", "eve", "eve"}; len(order) != mostOfOne+3 || !slices.Equal(order[:7], want) {
			t.Errorf("%d are done, %v first; want %v", len(order), order[:min(7, len(order))], want)
		}
	})
}

// Whoever asks what another caller has asked too does not wait behind that caller's other questions.
func TestSameQuestion(t *testing.T) {
	inWorld(t, "capacity", func(t *testing.T, w *world) {
		var order []int
		var asked sync.WaitGroup
		asks := func(caller string, key int) {
			asked.Go(func() {
				got, err := ask(WithCaller(t.Context(), caller), w.r, key, func(rm.Reports) (int, error) { order = append(order, key); return key, nil })
				if err != nil || got != key {
					t.Errorf("%s asked for %d and was told %d, %v", caller, key, got, err)
				}
			})
			synctest.Wait()
		}
		release := w.hold()
		for i := range 9 {
			asks("eve@10.0.0.66", i)
		}
		asks("ann@10.0.0.1", 8)
		asks("ann@10.0.0.1", 8)
		release()
		asked.Wait()
		if want := []int{0, 8, 1, 2, 3, 4, 5, 6, 7}; !slices.Equal(order, want) {
			t.Errorf("answered in the order %v, want %v", order, want)
		}
		if len(w.r.reads.asked) > 0 || w.r.reads.queue.n > 0 {
			t.Errorf("%d questions and %d places are left", len(w.r.reads.asked), w.r.reads.queue.n)
		}
	})
}

// What nobody waits for any more is not done.
func TestDropped(t *testing.T) {
	inWorld(t, "capacity", func(t *testing.T, w *world) {
		w.node("n1", 8192, 8)
		id := w.submit("MAPREDUCE", 1024)
		views := w.r.ReadStats().Views
		release := w.hold()
		ctx, leave := context.WithCancel(t.Context())
		var gone sync.WaitGroup
		for _, what := range []func() error{
			func() error { return w.r.Kill(ctx, Actor{User: "ann"}, id, "") },
			func() error { _, err := w.r.Why(ctx, id); return err },
			func() error { _, err := w.r.Apps(ctx, rm.AppFilter{}); return err },
		} {
			gone.Go(func() {
				if err := what(); !errors.Is(err, context.Canceled) {
					t.Errorf("%v, want that the caller left", err)
				}
			})
		}
		synctest.Wait()
		leave()
		gone.Wait()
		release()
		if s := w.r.ReadStats(); s.Dropped != 1 || s.Questions != 0 || s.Views != views {
			t.Errorf("%+v, before it %d views", s, views)
		}
		if a := w.app(id); a.State.Final() {
			t.Errorf("%s was %s for somebody who had left", id, a.State)
		}
	})
}

// The same question of many is asked once.
func TestSameQuestionOfAnother(t *testing.T) {
	inWorld(t, "capacity", func(t *testing.T, w *world) {
		w.node("n1", 8192, 8)
		id := w.submit("MAPREDUCE", 1024)
		release := w.hold()
		var all sync.WaitGroup
		for range 100 {
			all.Go(func() {
				if e, err := w.r.Why(t.Context(), id); err != nil || e.App != id {
					t.Errorf("%+v, %v", e, err)
				}
			})
		}
		synctest.Wait()
		release()
		all.Wait()
		if s := w.r.Health().Reads; s.Questions != 1 || s != w.r.ReadStats() {
			t.Errorf("%+v, %+v", s, w.r.ReadStats())
		}
	})
}

// A process that stood still while it answered somebody does not let others wait for ten times as long.
func TestReadsAfterStandstill(t *testing.T) {
	inWorld(t, "capacity", func(t *testing.T, w *world) {
		var took time.Duration
		for _, long := range []time.Duration{time.Minute, 0} {
			began := time.Now()
			if _, err := ask(t.Context(), w.r, long, func(rm.Reports) (any, error) { time.Sleep(long); return nil, nil }); err != nil {
				t.Fatal(err)
			}
			took = time.Since(began)
		}
		if took > longestRest {
			t.Errorf("the next one waited for %v", took)
		}
	})
}

// While others have used up the time that the loop has for readers, it has as much again for those who use little.
func TestWhoUsesLittleHasTime(t *testing.T) {
	inWorld(t, "capacity", func(t *testing.T, w *world) {
		for caller, least := range map[string]time.Duration{"eve@10.0.0.66": time.Second, "ann@10.0.0.1": 0} {
			for what, read := range map[string]func(context.Context, ids.App) error{
				"a view":    func(ctx context.Context, id ids.App) error { _, err := w.r.App(ctx, id); return err },
				"an answer": func(ctx context.Context, id ids.App) error { _, err := w.r.Why(ctx, id); return err },
			} {
				id := w.submit("MAPREDUCE", 1024) // which the last view does not show
				readers, began, d := NewReaders(1), time.Now(), &w.r.reads
				readers.use("eve@10.0.0.66", usageTime*3/10, began)
				d.mu.Lock()
				d.share.from, d.lights.from = began.Add(time.Second), began
				d.mu.Unlock()
				ctx, r := readers.Begin(t.Context(), caller)
				if err := read(ctx, id); err != nil {
					t.Fatal(err)
				}
				r.End(1)
				if took := time.Since(began).Truncate(100 * time.Millisecond); took != least {
					t.Errorf("%s has %s after %v", caller, what, took)
				}
			}
		}
		if w.r.reads.light != 0 {
			t.Errorf("%d wait", w.r.reads.light)
		}
	})
}

// A lane that is full says so at once to clients; the loop takes nothing in that it could not do.
func TestFullLane(t *testing.T) {
	inWorld(t, "capacity", func(t *testing.T, w *world) {
		id := w.submit("MAPREDUCE", 1024)
		release := w.hold()
		for range mostOfOne {
			if err := w.r.enter(t.Context(), changeLane, func() {}); err != nil {
				t.Fatal(err)
			}
		}
		if err := w.r.Kill(t.Context(), Actor{User: "ann"}, id, ""); !errors.Is(err, ErrBusy) {
			t.Errorf("%v, want %v", err, ErrBusy)
		}
		for i := range mostOfAll - mostOfOne {
			if err := w.r.enter(WithCaller(t.Context(), fmt.Sprint("caller", i%64)), changeLane, func() {}); err != nil {
				t.Fatal(err)
			}
		}
		if err := w.r.enter(WithCaller(t.Context(), "caller0"), changeLane, func() {}); !errors.Is(err, ErrBusy) {
			t.Errorf("%v, want %v", err, ErrBusy)
		}
		if err := w.r.enter(WithCaller(t.Context(), "another"), changeLane, func() {}); err != nil {
			t.Errorf("the only one of its caller: %v", err)
		}
		release()
		if err := w.r.Kill(t.Context(), Actor{User: "ann"}, id, ""); err != nil {
			t.Error(err)
		}
	})
}

// Who wants much waits behind himself.
func TestFairQueue(t *testing.T) {
	var q fairQueue[string]
	for i := range mostOfOne {
		if err := q.push("flood", fmt.Sprint("flood", i)); err != nil {
			t.Fatal(err)
		}
	}
	if err := q.push("flood", "more"); !errors.Is(err, ErrBusy) {
		t.Errorf("%v, want %v", err, ErrBusy)
	}
	for _, x := range []string{"a1", "b1", "a2"} {
		if err := q.push(x[:1], x); err != nil {
			t.Fatal(err)
		}
	}
	got := popped(&q, 7)
	if want := []string{"flood0", "a1", "b1", "flood1", "a2", "flood2", "flood3"}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	for q.n > 0 {
		q.pop()
	}
	if x, ok := q.pop(); ok || len(q.by)+len(q.turns) > 0 {
		t.Errorf("%q is left: %+v", x, q)
	}
	for i := range mostOfAll {
		if err := q.push(fmt.Sprint("caller", i), "x"); err != nil {
			t.Fatal(i, err)
		}
	}
	if err := q.push("caller0", "x"); !errors.Is(err, ErrBusy) {
		t.Errorf("a second one of a caller: %v, want %v", err, ErrBusy)
	}
	for i := range mostOfAll {
		if err := q.push(fmt.Sprint("another", i), "x"); err != nil {
			t.Fatal(i, err)
		}
	}
	if err := q.push("one more", "x"); !errors.Is(err, ErrBusy) {
		t.Errorf("%v, want %v", err, ErrBusy)
	}
}

// popped are the next so many of a queue.
func popped(q *fairQueue[string], n int) (got []string) {
	for range n {
		x, _ := q.pop()
		got = append(got, x)
	}
	return got
}

// Many names at one address have the turns of one address, and leave room to others.
func TestFairQueueOfAddresses(t *testing.T) {
	var q fairQueue[string]
	for i := range mostOfAddress {
		if err := q.push(fmt.Sprintf("eve%d@10.0.0.66", i), fmt.Sprint("eve", i)); err != nil {
			t.Fatal(i, err)
		}
	}
	if err := q.push("another@10.0.0.66", "more"); !errors.Is(err, ErrBusy) {
		t.Errorf("%v, want %v", err, ErrBusy)
	}
	for _, x := range []string{"ann1", "ann2", "bob1"} {
		if err := q.push(x[:3]+"@10.0.0.1", x); err != nil {
			t.Fatal(err)
		}
	}
	got := popped(&q, 7)
	if want := []string{"eve0", "ann1", "eve1", "bob1", "eve2", "ann2", "eve3"}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	for q.n > 0 {
		q.pop()
	}
	if len(q.by)+len(q.at)+len(q.turns) > 0 {
		t.Errorf("there is left: %+v", q)
	}
}

// A list does not wait longer for what its applications wait for than a report of one does.
func TestExplanationsDoNotAddUp(t *testing.T) {
	inWorld(t, "capacity", func(t *testing.T, w *world) {
		w.job("MAPREDUCE") // takes the one master's room that the queue has
		var id ids.App
		for range 2 * explained {
			id = w.submit("MAPREDUCE", 1024)
		}
		w.app(id) // there is a view
		clear(w.r.explanations.by)
		release := w.hold()
		defer release()
		for what, read := range map[string]func() error{
			"a list":   func() error { _, err := w.r.Apps(t.Context(), rm.AppFilter{}); return err },
			"a report": func() error { _, err := w.r.App(t.Context(), id); return err },
		} {
			began := time.Now()
			if err := read(); err != nil || time.Since(began) != explainWithin {
				t.Errorf("%s took %v, want %v; %v", what, time.Since(began), explainWithin, err)
			}
		}
	})
}

// A list says what its newest applications wait for, and does not say something else a moment later.
func TestExplanationsAreKept(t *testing.T) {
	inWorld(t, "capacity", func(t *testing.T, w *world) {
		w.job("MAPREDUCE") // takes the one master's room that the queue has
		id := w.submit("MAPREDUCE", 1024)
		first := w.app(id).Diagnostics
		asked := w.r.ReadStats().Questions
		for range 20 {
			w.submit("MAPREDUCE", 1024)
			if got := w.app(id).Diagnostics; got != first {
				t.Errorf("%q, before %q", got, first)
			}
		}
		if s := w.r.ReadStats(); s.Questions != asked {
			t.Errorf("%d more questions", s.Questions-asked)
		}
		many := &explanations{by: map[ids.App]explanation{}}
		for i := range 2 * mostExplained {
			many.put(ids.App{Seq: int32(i)}, explanation{})
		}
		if len(many.by) != mostExplained {
			t.Errorf("%d are kept", len(many.by))
		}
	})
}

// Many containers are listed in pieces, each of which is a question of its own.
func TestContainersInPieces(t *testing.T) {
	inWorld(t, "capacity", func(t *testing.T, w *world) {
		id, m, _, _ := w.job("MAPREDUCE")
		big := w.node("big", 1<<20, 2000)
		m.ask(row(20, "*", 1024, 2*piece))
		big.beat()
		attempt := ids.Attempt{App: id, N: 1}
		asked := w.r.ReadStats().Questions
		list, err := w.r.Containers(t.Context(), attempt)
		if err != nil || len(list) < 2*piece {
			t.Fatalf("%d containers, %v", len(list), err)
		}
		for i, c := range list {
			if i > 0 && c.ID.ID <= list[i-1].ID.ID {
				t.Fatalf("%s comes after %s", c.ID, list[i-1].ID)
			}
		}
		if n := w.r.ReadStats().Questions - asked; n != uint64(len(list)/piece+1) {
			t.Errorf("%d containers are listed in %d pieces", len(list), n)
		}
	})
}
