package daemon

import (
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// flooded returns readers with one turn at a time. A caller at 10.0.0.66 has queued 6000 calls and uses much.
func flooded(t *testing.T, lasts time.Duration) (d *Readers, all *sync.WaitGroup) {
	t.Helper()
	d, all = NewReaders(1), &sync.WaitGroup{}
	for range 6000 {
		all.Go(func() {
			if err := d.Enter(t.Context(), "eve@10.0.0.66"); err != nil {
				t.Error(err)
			}
			time.Sleep(lasts)
			d.Leave("eve@10.0.0.66", lasts)
		})
	}
	time.Sleep(time.Second) // it has used much
	return d, all
}

// A caller that uses little waits for the current turn, but neither for others in the queue nor for a rest.
func TestWhoUsesLittleIsNext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const lasts = 300 * time.Microsecond
		d, all := flooded(t, lasts)
		for i := range 50 {
			time.Sleep(7 * time.Millisecond)
			began := time.Now()
			ctx, r := d.Begin(t.Context(), "ann@10.0.0.1")
			if err := r.Turn(ctx); err != nil {
				t.Fatal(err)
			}
			if waited := time.Since(began); waited > lasts {
				t.Errorf("call %d waits for %v", i, waited)
			}
			time.Sleep(lasts / 3)
			r.End(1)
		}
		all.Wait()
		if d.running+d.resting != 0 || d.wanted() {
			t.Errorf("%d have a turn, %d rest, and somebody waits: %v", d.running, d.resting, d.wanted())
		}
	})
}

// A caller that no longer uses little waits with the others, and so do all if those that use little use much together.
func TestWhoUsesMuchWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := NewReaders(1)
		now := time.Now()
		d.use("ann@10.0.0.1", usageTime*15/100, now)
		if !d.usesLittle("ann@10.0.0.1", now) || !d.usesLittle("joe@10.0.0.1", now) {
			t.Error("0.15 of the time is not little")
		}
		d.use("joe@10.0.0.1", usageTime/10, now)
		if d.usesLittle("ann@10.0.0.1", now) || !d.usesLittle("ann@10.0.0.2", now) {
			t.Error("0.25 of the time is little, or another address counts")
		}
		if now = now.Add(usageTime); !d.usesLittle("ann@10.0.0.1", now) {
			t.Error("a while later it is not little")
		}
		for i := range 40 { // a fiftieth each: 0.8 in total
			d.use(fmt.Sprintf("eve@10.0.1.%d", i), usageTime/50, now)
		}
		if d.usesLittle("ann@10.0.0.2", now) {
			t.Error("those who use little use four fifths of the time together, and are still let in before others")
		}
	})
}

// At an address that uses much, callers still use little that seldom ask, as long as these do not use much together.
func TestUsersOfOneAddress(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := NewReaders(1)
		now := time.Now()
		for range 40 {
			d.use("eve@10.0.0.1", usageTime/100, now)
		}
		if d.usesLittle("eve@10.0.0.1", now) || !d.usesLittle("ann@10.0.0.1", now) {
			t.Error("eve uses little, or ann does not")
		}
		for i := range 3 {
			d.use("ann@10.0.0.1", usageTime/50, now)
			if got := d.usesLittle("ann@10.0.0.1", now); got != (i < 2) {
				t.Errorf("ann, with %d fiftieths of the time, uses little: %v", i+1, got)
			}
		}
		for i := range 5 {
			d.use(fmt.Sprintf("eve%d@10.0.0.1", i), usageTime/100, now)
		}
		if d.usesLittle("joe@10.0.0.1", now) || !d.usesLittle("joe@10.0.0.2", now) {
			t.Error("those who use little have a tenth of the time together, and are still let in before others; or another address counts")
		}
		if now = now.Add(usageTime / 5); !d.usesLittle("joe@10.0.0.1", now) || d.usesLittle("eve@10.0.0.1", now) {
			t.Error("a while later they are not let in, or one who uses much is")
		}
	})
}

// Many addresses take no more memory, and unknown ones have no turn before others.
func TestUsageIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := NewReaders(1)
		now := time.Now()
		for i := range 10 * mostAccounts {
			d.use(fmt.Sprintf("eve@10.0.%d.%d", i/256, i%256), 100*time.Microsecond, now)
		}
		for i := range 10 * mostAccounts {
			d.use(fmt.Sprintf("eve%d@10.0.0.1", i), usageTime, now)
		}
		if len(d.used.by) > mostAccounts || len(d.usedBy.by) > mostAccounts {
			t.Errorf("%d addresses and %d callers are kept", len(d.used.by), len(d.usedBy.by))
		}
		for i := range mostAccounts {
			d.use(fmt.Sprintf("eve@10.1.0.%d", i), 10*time.Millisecond, now.Add(time.Minute))
		}
		d.lightly = usage{}
		if len(d.used.by) != mostAccounts || d.usesLittle("ann@10.0.0.1", now.Add(time.Minute)) || !d.usesLittle("eve@10.1.0.7", now.Add(time.Minute)) {
			t.Errorf("%d addresses are kept", len(d.used.by))
		}
	})
}
