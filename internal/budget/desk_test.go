package budget

import (
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// Only so many long answers are put together at once; what one took up is what the next one is expected to, and all is given
// back in the end.
func TestDesk(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := New(1<<20, 1<<20)
		d := NewDesk(b.Account(0), 2, time.Second)
		var e Expectation
		first, err := d.Expect(t.Context(), ann, &e, true)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := d.Expect(t.Context(), ann, &e, true); !errors.Is(err, ErrFull) {
			t.Errorf("a second one of the same address: %v", err)
		}
		short, err := d.Expect(t.Context(), ann, &Expectation{}, false)
		if err != nil {
			t.Fatal(err)
		}
		short.Made(0)
		short.Left()
		first.Made(500 << 10)
		if used := b.Used(); used != leastAnswer+500<<10 || e.Bytes() != 500<<10 {
			t.Errorf("%d bytes are in use, and %d expected", used, e.Bytes())
		}
		if _, err := d.Expect(t.Context(), bob, &e, true); !errors.Is(err, ErrFull) {
			t.Errorf("one that is expected not to fit: %v", err)
		}
		first.Left()
		never, err := d.Expect(t.Context(), bob, &e, true)
		if err != nil {
			t.Fatal(err)
		}
		never.Left() // without having been made
		if d.seats.b.Used() != 0 || b.Used() != 0 {
			t.Errorf("%d seats and %d bytes are taken", d.seats.b.Used(), b.Used())
		}
		e.Saw(0)
		if e.Bytes() >= 500<<10 {
			t.Error("what was large once is expected for ever")
		}
	})
}

// An answer that is larger than what one address may have keeps nobody out who asks for the next one.
func TestDeskAfterTooMuch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := New(1<<20, 400<<10)
		d := NewDesk(b.Account(0), 2, time.Second)
		var e Expectation
		for _, bytes := range []int64{2 << 20, 0} {
			a, err := d.Expect(t.Context(), ann, &e, true)
			if err != nil {
				t.Fatal(err)
			}
			a.Made(bytes)
			a.Left()
		}
		if b.Used() != 0 {
			t.Errorf("%d bytes are taken", b.Used())
		}
	})
}

// Of many who ask for a long answer at once, before anybody knows how long it is, no more are given one than there is room for.
func TestDeskOfManyAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const most, long = 1 << 20, 300 << 10
		b := New(most, most)
		d := NewDesk(b.Account(0), 2, time.Second)
		var e Expectation
		held, refused := 0, 0
		var mu sync.Mutex
		for range 100 {
			go func() {
				a, err := d.Expect(t.Context(), ann, &e, true)
				if err == nil {
					time.Sleep(time.Millisecond) // it is put together
					a.Made(long)                 // and never leaves
				}
				mu.Lock()
				defer mu.Unlock()
				if err == nil {
					held++
				} else {
					refused++
				}
			}()
		}
		time.Sleep(time.Minute)
		if used := b.Used(); used > most || held == 0 || held+refused != 100 {
			t.Errorf("%d bytes are in use, by %d; %d were refused", used, held, refused)
		}
	})
}
