package daemon

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"heddle/rm"
)

// A caller that floods waits behind its own calls: another caller comes next.
func TestReadersTakeTurns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := NewReaders(1)
		var mu sync.Mutex
		var order []string
		var all sync.WaitGroup
		read := func(caller string) {
			all.Go(func() {
				ctx, r := d.Begin(t.Context(), caller)
				defer r.End(7)
				if err := r.Turn(ctx); err != nil {
					t.Error(err)
				}
				mu.Lock()
				order = append(order, caller)
				mu.Unlock()
				time.Sleep(time.Second)
			})
			synctest.Wait()
		}
		for range 10 {
			read("flood")
		}
		read("a")
		read("b")
		all.Wait()
		if want := []string{"flood", "flood", "a", "b"}; !slices.Equal(order[:4], want) {
			t.Errorf("%v, want %v first", order, want)
		}
		got := d.Accounts(2)
		const each = time.Second + stretchRest
		want := []Account{
			{Caller: "flood", Calls: 10, Worked: 10 * time.Second, Waited: (0 + 1 + 4 + 5 + 6 + 7 + 8 + 9 + 10 + 11) * each, Bytes: 70},
			{Caller: "a", Calls: 1, Worked: time.Second, Waited: 2 * each, Bytes: 7},
			{Calls: 1, Worked: time.Second, Waited: 3 * each, Bytes: 7},
		}
		if !slices.Equal(got, want) {
			t.Errorf("%+v\nwant %+v", got, want)
		}
	})
}

// Consecutive turns leave a third of the time to others. A caller that finds no turn taken does not wait, and neither
// does one behind a turn that has lasted less than a stretch.
func TestReadersRest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := NewReaders(1)
		turn := func(lasts time.Duration) (waited time.Duration) {
			began := time.Now()
			if err := d.Enter(t.Context(), "ann@10.0.0.1"); err != nil {
				t.Error(err)
			}
			waited = time.Since(began)
			time.Sleep(lasts)
			d.Leave("ann@10.0.0.1", lasts)
			return waited
		}
		for range 10 {
			if waited := turn(time.Second); waited != 0 {
				t.Errorf("alone it waits for %v", waited)
			}
		}
		var all sync.WaitGroup
		all.Go(func() { turn(longestStretch / 2) })
		synctest.Wait()
		if waited := turn(0); waited != longestStretch/2 {
			t.Errorf("behind a short turn it waits for %v", waited)
		}
		all.Wait()
		began := time.Now()
		const turns = 60
		for range turns {
			all.Go(func() { turn(longestStretch / 2) })
		}
		all.Wait()
		if took, want := time.Since(began), (turns*longestStretch/2)/2*3; took < want-2*longestStretch || took > want {
			t.Errorf("%d turns take %v, want %v", turns, took, want)
		}
		if d.running+d.resting != 0 {
			t.Errorf("%d have a turn, %d rest", d.running, d.resting)
		}
		if err := d.Enter(t.Context(), "ann@10.0.0.1"); err != nil {
			t.Fatal(err)
		}
		begun := false
		all.Go(func() { turn(0); begun = true })
		synctest.Wait()
		d.since = time.Now().Add(-time.Hour)
		d.rested() // an hour late
		synctest.Wait()
		if !begun {
			t.Error("a rest that ends late is followed by another one")
		}
		all.Wait()
	})
}

// However many calls wait for a turn, readings are let in and get every other turn; a caller that leaves gets none.
func TestCallersAndReaders(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := NewReaders(1)
		d.lightly = usage{part: 1, at: time.Now()} // nobody uses little
		if err := d.Enter(t.Context(), "eve@10.0.0.66"); err != nil {
			t.Fatal(err)
		}
		var mu sync.Mutex
		var order []string
		var all sync.WaitGroup
		begun := func(who string) {
			mu.Lock()
			defer mu.Unlock()
			order = append(order, who)
		}
		gone, leave := context.WithCancel(t.Context())
		for i := range 3 * mostOfAll {
			all.Go(func() {
				ctx := t.Context()
				if i >= 5 {
					ctx = gone
				}
				if d.Enter(ctx, fmt.Sprintf("u%d@10.0.0.%d", i, i%100)) == nil {
					begun("calls")
					d.Leave("eve@10.0.0.66", 0)
				} else if i < 5 {
					t.Error("a caller had no turn")
				}
			})
		}
		synctest.Wait()
		for range 5 {
			all.Go(func() {
				ctx, r := d.Begin(t.Context(), "ann@10.0.0.1")
				defer r.End(1)
				if err := r.Turn(ctx); err != nil {
					t.Error(err)
				}
				begun("reads")
			})
			synctest.Wait()
		}
		leave()
		synctest.Wait()
		d.Leave("eve@10.0.0.66", time.Second)
		all.Wait()
		for i, who := range order {
			if i > 0 && who == order[i-1] || len(order) != 10 {
				t.Fatalf("turns of %v", order)
			}
		}
		if d.running+d.resting != 0 || d.wanted() {
			t.Errorf("%d have a turn, %d rest, and somebody waits: %v", d.running, d.resting, d.wanted())
		}
	})
}

// A reading that leaves gives its turn back, even one that it gets just then. While it waits for the loop, others go on.
func TestReadersLeave(t *testing.T) {
	inWorld(t, "capacity", func(t *testing.T, w *world) {
		w.node("n1", 8192, 8)
		id := w.submit("MAPREDUCE", 1024)
		d := NewReaders(1)
		slow, first := d.Begin(t.Context(), "slow")
		if _, err := w.r.Apps(slow, rm.AppFilter{}); err != nil || !first.has {
			t.Fatalf("%v, its turn %v", err, first.has)
		}
		ctx, leave := context.WithTimeout(t.Context(), time.Second)
		defer leave()
		ctx, second := d.Begin(ctx, "gone")
		if _, err := w.r.Apps(ctx, rm.AppFilter{}); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%v", err)
		}
		second.End(0)
		release := w.hold()
		var asks sync.WaitGroup
		asks.Go(func() { _, _ = w.r.Why(slow, id) })
		synctest.Wait()
		other, third := d.Begin(t.Context(), "other")
		if err := third.Turn(other); err != nil {
			t.Error(err)
		}
		third.End(0)
		release()
		asks.Wait()
		first.End(0)
		if d.running+d.resting != 0 || d.wanted() {
			t.Errorf("%d have a turn, %d rest, and somebody waits: %v", d.running, d.resting, d.wanted())
		}
	})
}

// While a caller's groups are looked up, others have turns, and it has one afterwards.
func TestGroupsWithoutATurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := NewReaders(1)
		asked, had := 0, false
		x := Access{ACLs: true, Groups: func(string) ([]string, error) {
			asked++
			time.Sleep(2 * time.Second)
			return []string{"ops"}, nil
		}}
		ctx, reading := d.Begin(t.Context(), "10.0.0.66")
		if err := reading.Turn(ctx); err != nil {
			t.Fatal(err)
		}
		go func() {
			time.Sleep(time.Second)
			had = d.Enter(t.Context(), "10.0.0.1") == nil
			d.Leave("10.0.0.1", 0)
		}()
		for range 3 {
			if !x.Sees(ctx, "eve", &rm.AppReport{User: "ann", Viewers: []rm.ACL{" ops"}}) {
				t.Error("a member of the group does not see it")
			}
		}
		if asked != 1 || !had || !reading.has {
			t.Errorf("looked up %d times; another caller had a turn meanwhile: %v; it has one afterwards: %v", asked, had, reading.has)
		}
		reading.End(0)
	})
}

// A caller that goes through a long list lets others have a turn in the middle of it.
func TestReadersTakeTurnsInAList(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := NewReaders(1)
		listing, long := d.Begin(t.Context(), "long")
		if err := long.Turn(listing); err != nil {
			t.Fatal(err)
		}
		var order []string
		var all sync.WaitGroup
		all.Go(func() {
			ctx, short := d.Begin(t.Context(), "short")
			defer short.End(0)
			if err := short.Turn(ctx); err != nil {
				t.Error(err)
			}
			order = append(order, "short")
		})
		synctest.Wait()
		for i := range 100 {
			if err := Breathe(listing, i); err != nil {
				t.Fatal(err)
			}
		}
		order = append(order, "long")
		long.End(0)
		all.Wait()
		if want := []string{"short", "long"}; !slices.Equal(order, want) {
			t.Errorf("%v, want %v", order, want)
		}
	})
}

// A long answer is built piece by piece: others have turns in between, and a caller that does not read the answer holds
// nobody up.
func TestReadersTakeTurnsInAnAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := NewReaders(1)
		ctx, slow := d.Begin(t.Context(), "slow")
		if err := slow.Turn(ctx); err != nil {
			t.Fatal(err)
		}
		out, in := io.Pipe()
		var all sync.WaitGroup
		all.Go(func() {
			w := slow.Writer(ctx, in)
			for range 4 * turnBytes / 1000 {
				if _, err := w.Write(make([]byte, 1000)); err != nil {
					t.Error(err)
				}
			}
			if err := w.End(); err != nil {
				t.Error(err)
			}
			slow.End(0)
			_ = in.Close()
		})
		synctest.Wait() // nobody reads
		if other, r := d.Begin(t.Context(), "other"); r.Turn(other) != nil || !r.has {
			t.Error("another caller waits for one who does not read")
		} else {
			r.End(0)
		}
		if b, err := io.ReadAll(out); err != nil || len(b) != 4*turnBytes/1000*1000 {
			t.Errorf("%d bytes arrive: %v", len(b), err)
		}
		all.Wait()
		if d.running+d.resting != 0 || d.wanted() {
			t.Errorf("%d have a turn, %d rest, and somebody waits: %v", d.running, d.resting, d.wanted())
		}
	})
}

// There are accounts for many callers, and one for all others.
func TestAccountsAreBounded(t *testing.T) {
	d := NewReaders(1)
	const callers = 3 * mostAccounts
	for i := range callers {
		_, r := d.Begin(t.Context(), fmt.Sprint("caller", i))
		r.End(1)
	}
	if len(d.accounts) != mostAccounts {
		t.Errorf("%d accounts", len(d.accounts))
	}
	list, calls := d.Accounts(10), uint64(0)
	for _, a := range list {
		calls += a.Calls
	}
	if len(list) != 11 || calls != callers {
		t.Errorf("%d accounts with %d calls, want 11 with %d", len(list), calls, callers)
	}
}
