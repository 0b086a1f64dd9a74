package budget

import (
	"context"
	"errors"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

var ann, bob, eve = netip.MustParseAddr("10.0.0.1"), netip.MustParseAddr("10.0.0.2"), netip.MustParseAddr("10.0.0.3")

// taken takes bytes in a goroutine and returns a function that reports whether they were granted.
func taken(t *testing.T, a *Account, from netip.Addr, bytes int64) func() bool {
	t.Helper()
	var done atomic.Bool
	go func() {
		if err := a.Take(t.Context(), from, bytes, 0); err != nil {
			t.Error(err)
		}
		done.Store(true)
	}()
	synctest.Wait()
	return func() bool { synctest.Wait(); return done.Load() }
}

// An address that has its part waits, and other addresses go on meanwhile.
func TestEach(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := New(1<<20, 512<<10)
		a := b.Account(0)
		first, second := taken(t, a, eve, 400<<10), taken(t, a, eve, 400<<10)
		if !first() || second() {
			t.Fatalf("eve has 400 KiB: %v; and 400 KiB more: %v", first(), second())
		}
		if third := taken(t, a, ann, 400<<10); !third() {
			t.Error("ann waits behind eve")
		}
		if a.Give(eve, 400<<10); !second() {
			t.Error("eve waits for what she gave back")
		}
		a.Give(eve, 400<<10)
		a.Give(ann, 400<<10)
		if b.Used() != 0 || len(b.by) != 0 {
			t.Errorf("%d bytes are in use by %v", b.Used(), b.by)
		}
	})
}

// Only other users get the bytes that are left for them, and a request for many bytes is not overtaken by equally large
// ones.
func TestOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := New(1200<<10, 1200<<10)
		readers, nodes := b.Account(400<<10), b.Account(0)
		if !taken(t, readers, ann, 300<<10)() {
			t.Fatal("ann waits for nobody")
		}
		much, more := taken(t, readers, bob, 500<<10), taken(t, readers, eve, 100<<10)
		if much() || more() {
			t.Errorf("bob has 500 KiB beside 300 of 650: %v; eve overtook him: %v", much(), more())
		}
		if !taken(t, readers, eve, small)() {
			t.Error("a small request waits behind a large one")
		}
		if !taken(t, nodes, eve, 400<<10)() {
			t.Error("a node waits behind readers")
		}
		nodes.Give(eve, 400<<10)
		readers.Give(eve, small)
		readers.Give(ann, 300<<10)
		if !much() || !more() {
			t.Errorf("bob got his: %v, eve hers: %v", much(), more())
		}
	})
}

// However many bytes are requested, there is room for small requests.
func TestSpare(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := New(800<<10, 800<<10)
		a := b.Account(200 << 10)
		if !taken(t, a, ann, a.Most())() || taken(t, a, bob, small+1)() {
			t.Error("more than large answers may have is given to them")
		}
		if !taken(t, a, bob, small)() {
			t.Error("a small request waits for room that large ones have")
		}
		a.Give(ann, a.Most())
	})
}

// Even if accounts that leave bytes for others unexpectedly hold too much, the bytes they leave are there.
func TestKept(t *testing.T) {
	b := New(1000, 1000)
	asking, working := b.Account(300), b.Account(0)
	asking.More(eve, 5000)
	if err := working.Try(ann, 300); err != nil {
		t.Error(err)
	}
	if working.Try(ann, 1) == nil || asking.Try(bob, 1) == nil {
		t.Error("more was had than there is")
	}
	working.Give(ann, 300)
	asking.Give(eve, 5000)
	if b.used != 0 || b.own != 0 {
		t.Errorf("%d and %d bytes are in use", b.used, b.own)
	}
}

// A request that stops waiting leaves nothing behind.
func TestGone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := New(120<<10, 120<<10)
		a := b.Account(0)
		taken(t, a, ann, 100<<10)
		ctx, cancel := context.WithCancel(t.Context())
		var err error
		go func() { err = a.Take(ctx, bob, 100<<10, 0) }()
		synctest.Wait()
		cancel()
		synctest.Wait()
		if !errors.Is(err, context.Canceled) || len(b.turns) != 0 {
			t.Errorf("%v, and %d wait", err, len(b.turns))
		}
		a.Give(ann, 100<<10)
		if b.Used() != 0 {
			t.Errorf("%d bytes are in use", b.Used())
		}
	})
}

// A request whose time runs out gets ErrFull.
func TestPatience(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := New(100, 100).Account(0)
		a.More(ann, 100)
		if err, since := a.Take(t.Context(), bob, 1, time.Second), time.Now(); !errors.Is(err, ErrFull) || time.Since(since) != 0 {
			t.Error(err)
		}
	})
}

// A request that can never be granted is refused, and one that does not wait gets no bytes that are not free now.
func TestNever(t *testing.T) {
	b := New(1000, 500)
	var large *TooLargeError
	if err := b.Account(0).Take(t.Context(), ann, 501, 0); !errors.As(err, &large) || !strings.Contains(err.Error(), "501") || !strings.Contains(err.Error(), "500") {
		t.Error(err)
	}
	if err := b.Account(600).Take(t.Context(), ann, 401, 0); !errors.As(err, &large) || large.Most != 400 {
		t.Error(err)
	}
	a := b.Account(0)
	if err := errors.Join(a.Try(ann, 500), a.Try(bob, 400)); err != nil {
		t.Error(err)
	}
	if a.Try(ann, 1) == nil || a.Try(eve, 101) == nil {
		t.Error("more was had than there is")
	}
	a.More(eve, 600)
	if b.Used() != 1500 {
		t.Errorf("%d bytes are in use", b.Used())
	}
}

// BenchmarkServe has 10,000 addresses wait while nothing is left.
func BenchmarkServe(b *testing.B) {
	full := New(1, 1)
	a := full.Account(0)
	a.add(ann, 1)
	for i := range 10_000 {
		a.enqueue(netip.AddrFrom4([4]byte{10, 1, byte(i >> 8), byte(i)}), &waiter{bytes: 1})
	}
	for b.Loop() {
		full.serve()
	}
}

// granted has addresses ask for half of an account's bytes each, one after the other, while a holder has a half, and
// gives back as many halves of the holder's. It returns the addresses in the order in which they were served.
func granted(t *testing.T, a *Account, holder netip.Addr, asking ...netip.Addr) (order []netip.Addr) {
	t.Helper()
	var all sync.WaitGroup
	for _, from := range asking {
		all.Go(func() {
			if err := a.Take(t.Context(), from, 1<<19, 0); err != nil {
				t.Error(err)
			}
			order = append(order, from)
		})
		synctest.Wait()
	}
	for range asking {
		a.Give(holder, 1<<19)
		synctest.Wait()
	}
	all.Wait()
	return order
}

// Addresses take turns: one with many requests that wait does not make another one wait behind all of them.
func TestAddressesTakeTurns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := New(1<<20, 1<<20).Account(0)
		if err := a.Take(t.Context(), eve, 1<<19, 0); err != nil {
			t.Fatal(err)
		}
		order := granted(t, a, eve, eve, eve, eve, bob, ann, bob)
		if want := []netip.Addr{eve, bob, ann, eve, bob, eve}; !slices.Equal(order, want) {
			t.Errorf("granted to %v, want %v", order, want)
		}
	})
}

// Others who ask again as soon as they were answered do not keep out an address that asks twice at once.
func TestTurnsAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := New(1<<20, 1<<20).Account(0)
		if err := a.Take(t.Context(), ann, 1<<19, 0); err != nil {
			t.Fatal(err)
		}
		ctx, stop := context.WithCancel(t.Context())
		var mu sync.Mutex
		var order []netip.Addr
		var all sync.WaitGroup
		ask := func(from netip.Addr) bool {
			if a.Take(ctx, from, 1<<19, 0) != nil {
				return false
			}
			mu.Lock()
			order = append(order, from)
			mu.Unlock()
			time.Sleep(time.Second)
			a.Give(from, 1<<19)
			return true
		}
		const others = 10
		for i := range others {
			all.Go(func() {
				for ctx.Err() == nil && ask(netip.AddrFrom4([4]byte{10, 0, 1, byte(i)})) {
				}
			})
			synctest.Wait()
		}
		for range 2 {
			all.Go(func() { ask(eve) })
			synctest.Wait()
		}
		a.Give(ann, 1<<19)
		time.Sleep(time.Minute)
		stop()
		all.Wait()
		first := slices.Index(order, eve)
		if second := slices.Index(order[first+1:], eve); first != others || second < 0 || second > others {
			t.Errorf("eve comes after %d others, and then after %d; want %d, and then at most as many: %v", first, second, others, order)
		}
		if len(a.b.turns) != 0 {
			t.Errorf("%d addresses are kept", len(a.b.turns))
		}
	})
}

// A new request of an address overtakes none of its older ones.
func TestOrderOfOneAddress(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := New(1<<20, 1<<20).Account(0)
		if err := a.Take(t.Context(), eve, 1<<19, 0); err != nil {
			t.Fatal(err)
		}
		var order []int
		var all sync.WaitGroup
		ask := func(i int) {
			all.Go(func() {
				if err := a.Take(t.Context(), eve, 1<<19, 0); err != nil {
					t.Error(err)
				}
				order = append(order, i)
			})
			synctest.Wait()
		}
		give := func(n int) {
			for range n {
				a.Give(eve, 1<<19)
				synctest.Wait()
			}
		}
		for i := range 10 {
			ask(i)
		}
		give(5)
		ask(10)
		give(6)
		all.Wait()
		if want := []int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10}; !slices.Equal(order, want) {
			t.Errorf("granted in the order %v, want %v", order, want)
		}
	})
}

// Requests that gave up leave their address no worse off than others.
func TestTurnsAfterGivingUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := New(1<<20, 1<<20).Account(0)
		if err := a.Take(t.Context(), ann, 1<<19, 0); err != nil {
			t.Fatal(err)
		}
		for range 10 {
			go func() { _ = a.Take(t.Context(), eve, 1<<19, time.Second) }()
		}
		time.Sleep(2 * time.Second)
		if synctest.Wait(); len(a.b.turns) != 0 {
			t.Fatalf("%d wait", len(a.b.turns))
		}
		order := granted(t, a, ann, bob, bob, eve)
		if want := []netip.Addr{bob, eve, bob}; !slices.Equal(order, want) {
			t.Errorf("granted to %v, want %v", order, want)
		}
	})
}

// A request that holds a smaller one back and gives up has used its address's turn, whatever else the address asks for.
func TestTurnGivenUp(t *testing.T) {
	for name, within := range map[string]time.Duration{"its time runs out": time.Second, "its caller leaves": 0} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				a := New(1<<20, 1<<20).Account(0)
				if err := a.Try(ann, 400<<10); err != nil {
					t.Fatal(err)
				}
				var all sync.WaitGroup
				ctx, leave := context.WithCancel(t.Context())
				all.Go(func() { _ = a.Take(ctx, eve, 600<<10, within) })
				all.Go(func() {
					for range 10 {
						time.Sleep(time.Second / 2)
						all.Go(func() { _ = a.Take(t.Context(), eve, 600<<10, time.Second) })
					}
				})
				time.Sleep(time.Second * 6 / 10)
				granted := taken(t, a, bob, 200<<10)
				if granted() {
					t.Error("bob overtakes eve")
				}
				time.Sleep(time.Second / 2)
				if leave(); !granted() {
					t.Error("bob waits for eve's next request")
				}
				a.Give(ann, 400<<10)
				all.Wait()
			})
		})
	}
}

// A request that gives up without holding others back leaves those of its address in their place.
func TestGivenUpBeforeItsTurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, zed := New(1<<20, 1<<20).Account(0), netip.MustParseAddr("10.0.0.4")
		if err := a.Try(ann, 1<<19); err != nil {
			t.Fatal(err)
		}
		first := taken(t, a, eve, 1<<19)
		go func() { _ = a.Take(t.Context(), bob, 1<<19, time.Second) }()
		synctest.Wait()
		second, third := taken(t, a, bob, 1<<19), taken(t, a, zed, 400<<10)
		time.Sleep(2 * time.Second)
		if a.Give(ann, 1<<19); !first() || second() || third() {
			t.Fatalf("eve: %v, bob: %v, zed: %v", first(), second(), third())
		}
		if a.Give(eve, 1<<19); !second() || third() {
			t.Errorf("bob: %v, zed: %v", second(), third())
		}
		a.Give(bob, 1<<19)
		a.Give(zed, 400<<10)
	})
}

// A request that gives up and has kept nobody from anything leaves its turn to the next one of its address.
func TestGivenUpForNobody(t *testing.T) {
	zed := netip.MustParseAddr("10.0.0.4")
	for name, asks := range map[string]func(t *testing.T, readers, nodes *Account){
		"equally large":                    func(*testing.T, *Account, *Account) {},
		"smaller, but above a part":        func(t *testing.T, readers, _ *Account) { taken(t, readers, ann, 100<<10) },
		"smaller, and not held back by it": func(t *testing.T, _, nodes *Account) { taken(t, nodes, zed, 300<<10) },
		"smaller, but leaves more":         func(t *testing.T, _, nodes *Account) { taken(t, nodes.b.Account(200<<10), zed, 350<<10) },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := New(1<<20, 640<<10)
				readers, nodes := b.Account(100<<10), b.Account(0)
				if err := readers.Try(ann, 600<<10); err != nil {
					t.Fatal(err)
				}
				go func() { _ = readers.Take(t.Context(), eve, 400<<10, time.Second) }()
				synctest.Wait()
				first, second := taken(t, readers, eve, 400<<10), taken(t, readers, bob, 400<<10)
				asks(t, readers, nodes)
				time.Sleep(2 * time.Second)
				if readers.Give(ann, 600<<10); !first() || second() {
					t.Errorf("eve: %v, bob: %v", first(), second())
				}
				readers.Give(eve, 400<<10)
				readers.Give(bob, 400<<10)
			})
		})
	}
}

// A request that has held others back, and gives up after another one of its address has used that turn, uses no other.
func TestGivenUpAfterItsTurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, zed := New(1<<20, 1<<19).Account(0), netip.MustParseAddr("10.0.0.4")
		if err := a.Try(ann, 1<<19); err != nil {
			t.Fatal(err)
		}
		go func() { _ = a.Take(t.Context(), eve, 400<<10, time.Second) }()
		synctest.Wait()
		bobs := taken(t, a, bob, 400<<10)
		a.More(eve, 120<<10) // so that her first request exceeds her part
		if !taken(t, a, eve, 200<<10)() {
			t.Fatal("eve waits, although she has the turn")
		}
		eves, zeds := taken(t, a, eve, 200<<10), taken(t, a, zed, 200<<10)
		time.Sleep(2 * time.Second)
		a.Give(eve, 120<<10)
		if a.Give(ann, 1<<19); !bobs() || !eves() || zeds() {
			t.Errorf("bob: %v, eve: %v, zed: %v", bobs(), eves(), zeds())
		}
		a.Give(bob, 400<<10)
		a.Give(eve, 400<<10)
		a.Give(zed, 200<<10)
	})
}

// However often those who leave nothing to others are let in, addresses of the others take turns as before.
func TestTurnsOfEachAccount(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := New(1<<20, 1<<20)
		readers, nodes := b.Account(300<<10), b.Account(0)
		if err := errors.Join(readers.Try(ann, 500<<10), nodes.Try(ann, 300<<10)); err != nil {
			t.Fatal(err)
		}
		var order []netip.Addr
		var all sync.WaitGroup
		ask := func(from netip.Addr) {
			all.Go(func() {
				if err := readers.Take(t.Context(), from, 500<<10, 0); err != nil {
					t.Error(err)
				}
				order = append(order, from)
				readers.Give(from, 500<<10)
			})
			synctest.Wait()
		}
		for range 3 {
			ask(eve)
		}
		for range 10 { // each waits for the one before
			node := taken(t, nodes, ann, 300<<10)
			if nodes.Give(ann, 300<<10); !node() {
				t.Fatal("a node waits")
			}
		}
		ask(bob)
		nodes.Give(ann, 300<<10)
		readers.Give(ann, 500<<10)
		all.Wait()
		if want := []netip.Addr{eve, bob, eve, eve}; !slices.Equal(order, want) {
			t.Errorf("granted to %v, want %v", order, want)
		}
	})
}

// oneMore has eve give back what she has, bytes of an account that leaves 896 KiB to large requests and of which ann has
// 400 KiB. Bob and three of eve's requests wait, for 200 KiB each: he is granted his and eve exactly one.
func oneMore(t *testing.T, a *Account, bob func() bool, eves []func() bool, bytes int64) {
	t.Helper()
	if bob() {
		t.Fatal("bob does not wait")
	}
	a.Give(eve, bytes)
	n := 0
	for _, granted := range eves {
		if granted() {
			n++
		}
	}
	if !bob() || n != 1 {
		t.Errorf("bob is granted: %v; of eve's three %d are, want 1", bob(), n)
	}
	for range 3 {
		a.Give(eve, 200<<10)
	}
}

// An address of which a late request is granted before its earlier ones puts nobody behind all of those.
func TestLateRoundGranted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, eves := crowded(t)
		if late := taken(t, a, eve, 90<<10); !late() {
			t.Fatal("eve's 90 KiB wait")
		}
		oneMore(t, a, taken(t, a, bob, 200<<10), eves, 490<<10)
	})
}

// Requests that are passed over while others are granted gather no turns, be they granted or given up.
func TestTurnsDoNotGather(t *testing.T) {
	for name, others := range map[string]func(t *testing.T, a *Account){
		"ann asks again and again": func(t *testing.T, a *Account) {
			for range 5 {
				if a.Give(ann, 400<<10); !taken(t, a, ann, 400<<10)() {
					t.Fatal("ann waits for what she gave back")
				}
			}
		},
		"a last request is granted": func(t *testing.T, a *Account) {
			zed := netip.MustParseAddr("10.0.0.4")
			ctx, cancel := context.WithCancel(t.Context())
			for range 5 {
				go func() { _ = a.Take(ctx, zed, 200<<10, 0) }()
				synctest.Wait()
			}
			last := taken(t, a, zed, 90<<10)
			if cancel(); !last() {
				t.Fatal("the last request waits")
			}
			a.Give(zed, 90<<10)
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				a, eves := crowded(t)
				others(t, a)
				oneMore(t, a, taken(t, a, bob, 200<<10), eves, 400<<10)
			})
		})
	}
}

// crowded returns an account of which eve and ann have 400 KiB each, and three requests of eve for 200 KiB each, which
// wait since they exceed her part.
func crowded(t *testing.T) (a *Account, eves []func() bool) {
	t.Helper()
	a = New(1<<20, 1<<19).Account(0)
	if err := errors.Join(a.Try(eve, 400<<10), a.Try(ann, 400<<10)); err != nil {
		t.Fatal(err)
	}
	for range 3 {
		eves = append(eves, taken(t, a, eve, 200<<10))
	}
	return a, eves
}
