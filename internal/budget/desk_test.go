package budget

import (
	"errors"
	"net/netip"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// Only the given number of long answers are built at once. For a while, the next answer is expected to be as large as
// the last one, and everything is given back in the end.
func TestDesk(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := New(1<<20, 1<<20)
		d := NewDesk(b.Account(0), 2, time.Second)
		var e Expectation
		first, err := expect(t, d, ann, &e, true)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := expect(t, d, ann, &e, true); !errors.Is(err, ErrFull) {
			t.Errorf("a second one of the same address: %v", err)
		}
		short, err := expect(t, d, ann, &Expectation{}, false)
		if err != nil {
			t.Fatal(err)
		}
		short.Made(0)
		short.Left()
		first.Made(500 << 10)
		if used := b.Used(); used != leastAnswer+500<<10 || e.Bytes() != 500<<10 {
			t.Errorf("%d bytes are in use, and %d expected", used, e.Bytes())
		}
		if _, err := expect(t, d, bob, &e, true); !errors.Is(err, ErrFull) {
			t.Errorf("one that is expected not to fit: %v", err)
		}
		first.Left()
		never, err := expect(t, d, bob, &e, true)
		if err != nil {
			t.Fatal(err)
		}
		never.Left() // without Made
		if d.seats.b.Used() != 0 || b.Used() != 0 {
			t.Errorf("%d seats and %d bytes are taken", d.seats.b.Used(), b.Used())
		}
		for range 100 {
			e.Saw(0)
		}
		if e.Bytes() != 500<<10 {
			t.Errorf("short ones had %d bytes expected", e.Bytes())
		}
		if time.Sleep(2 * halfLife); e.Bytes() != 125<<10 {
			t.Errorf("a while later %d bytes are expected", e.Bytes())
		}
	})
}

// An answer larger than one address may have does not keep out the next request, and an address that has its part with
// such answers keeps no other address out.
func TestDeskAfterTooMuch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := New(1<<20, 400<<10)
		d := NewDesk(b.Account(100<<10), 2, time.Second)
		var e Expectation
		for _, bytes := range []int64{2 << 20, 0} {
			a, err := expect(t, d, ann, &e, true)
			if err != nil {
				t.Fatal(err)
			}
			a.Made(bytes)
			a.Left()
		}
		if b.Used() != 0 {
			t.Errorf("%d bytes are taken", b.Used())
		}
		d.memory.add(ann, b.each)
		a, err := expect(t, d, bob, &e, true)
		if err != nil {
			t.Fatal(err)
		}
		a.Left()
	})
}

// If many callers ask at once, before the size of answers is known, or for long and short answers in turn, none is
// refused while answers leave, and together they take no more memory than there is, except for those at the desk.
func TestDeskOfMany(t *testing.T) {
	for _, addresses := range []int{1, 8} {
		synctest.Test(t, func(t *testing.T) {
			const most, long, seats = 4 << 20, 300 << 10, 4
			b := New(most, most/2)
			d := NewDesk(b.Account(most/4), seats, 10*time.Second)
			var e Expectation
			var all sync.WaitGroup
			peak, made := int64(0), 0
			var mu sync.Mutex
			for i := range 200 {
				all.Go(func() {
					a, err := expect(t, d, netip.AddrFrom4([4]byte{10, 0, 0, byte(i % addresses)}), &e, true)
					if err != nil {
						t.Error(err)
						return
					}
					time.Sleep(10 * time.Millisecond) // build it
					size := int64(long)
					if i%5 > 0 {
						size = 1 << 10
					}
					a.Made(size)
					mu.Lock()
					made++
					peak = max(peak, b.Used())
					mu.Unlock()
					time.Sleep(100 * time.Millisecond) // read it
					a.Left()
				})
			}
			all.Wait()
			if made != 200 || peak > most/4*3+seats*long || b.Used() != 0 || d.seats.b.Used() != 0 {
				t.Errorf("%d addresses: %d answers, at most %d bytes; %d are in use", addresses, made, peak, b.Used())
			}
		})
	}
}

// If callers never read, no more long answers are given out than there is room for: nodes keep their part.
func TestDeskThatNobodyReads(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const most, long, seats = 4 << 20, 300 << 10, 2
		b := New(most, most/2)
		d := NewDesk(b.Account(most/4), seats, 10*time.Second)
		var e Expectation
		for i := range 100 {
			go func() {
				a, err := expect(t, d, netip.AddrFrom4([4]byte{10, 0, 0, byte(i % 4)}), &e, true)
				if err == nil {
					time.Sleep(10 * time.Millisecond)
					a.Made(long)
				}
			}()
		}
		time.Sleep(time.Minute)
		if used := b.Used(); used < most/4 || used > most/4*3+seats*long {
			t.Errorf("%d bytes are in use", used)
		}
		if err := b.Account(0).Try(bob, 64<<10); err != nil {
			t.Errorf("a node: %v", err)
		}
	})
}

// expect begins an answer.
func expect(t *testing.T, d *Desk, from netip.Addr, e *Expectation, long bool) (*Answer, error) {
	ctx, a := d.Answer(t.Context(), from, e, long)
	return a, Begin(ctx)
}
