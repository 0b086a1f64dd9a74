package slab

import (
	"maps"
	"math/rand/v2"
	"testing"
)

// An Index agrees with a map.
func TestIndex(t *testing.T) {
	for seed := range uint64(20) {
		rng := rand.New(rand.NewPCG(seed, 0))
		var d Index[int]
		want, last := map[int64]int{}, int64(0)
		for range 5000 {
			switch rng.IntN(5) {
			case 4: // a number that may be below all others
				i := max(last-rng.Int64N(1000), 0)
				d.Set(i, int(i)+1)
				want[i] = int(i) + 1
			case 0, 1:
				last += 1 + rng.Int64N(1+rng.Int64N(100))
				d.Set(last, int(last)+1)
				want[last] = int(last) + 1
			case 2:
				i := last - rng.Int64N(500)
				d.Drop(i)
				delete(want, i)
			default:
				for i := range want { // order: any of them
					if i <= last {
						d.Set(i, -1)
						want[i] = -1
					}
					break
				}
			}
			for range 3 {
				if i := last - rng.Int64N(600) + 50; d.Get(i) != want[i] {
					t.Fatalf("seed %d: %d under %d, want %d", seed, d.Get(i), i, want[i])
				}
			}
		}
		if got := maps.Collect(d.All); !maps.Equal(got, want) || d.Len() != len(want) {
			t.Fatalf("seed %d: %d of %d, want %d", seed, len(got), d.Len(), len(want))
		}
		for range 100 {
			least := rng.Int64N(last + 200)
			if rng.IntN(2) == 0 {
				least = max(last-rng.Int64N(3000), 0)
			}
			got, before := 0, least-1
			for i, v := range d.From(least) {
				if i <= before || v != want[i] {
					t.Fatalf("seed %d: from %d on, %d stands under %d after %d, want %d", seed, least, v, i, before, want[i])
				}
				got, before = got+1, i
			}
			for i := range want { // order: they are counted
				if i >= least {
					got--
				}
			}
			if got != 0 {
				t.Fatalf("seed %d: from %d on there are %d too many", seed, least, got)
			}
		}
		for i := range want {
			d.Drop(i)
		}
		if d.Len() != 0 || len(d.pages) > 1 {
			t.Fatalf("seed %d: empty, %d are left on %d pages", seed, d.Len(), len(d.pages))
		}
	}
}

// The function may drop the value it is given.
func TestDropAsItIsMet(t *testing.T) {
	var d Index[int64]
	for i := range int64(1000) {
		d.Set(i, i+1)
	}
	for i, v := range d.All {
		if v != i+1 {
			t.Fatalf("%d stands under %d", v, i)
		}
		if i < 900 {
			d.Drop(i)
		}
	}
	if d.Len() != 100 || d.Get(950) != 951 {
		t.Errorf("%d are left, and %d under 950", d.Len(), d.Get(950))
	}
}

// A Table gives each number its own place and reuses the places of dropped numbers.
func TestTable(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 0))
	var d Table[int64]
	want, last, most := map[int64]int64{}, int64(0), 0
	for range 20_000 {
		if last++; rng.IntN(3) > 0 {
			*d.Add(last) = -last
			want[last] = -last
		}
		for range rng.IntN(3) {
			i := last - rng.Int64N(2000)
			d.Drop(i)
			delete(want, i)
		}
		most = max(most, len(want))
	}
	got := map[int64]int64{}
	for i, v := range d.All {
		got[i] = *v
		if d.Get(i) != v {
			t.Fatalf("%d stands in two places", i)
		}
	}
	if !maps.Equal(got, want) || d.Len() != len(want) {
		t.Fatalf("%d of %d, want %d", len(got), d.Len(), len(want))
	}
	if n := len(d.chunks) * chunkSize; n > most+chunkSize {
		t.Errorf("%d places for at most %d at once", n, most)
	}
}
