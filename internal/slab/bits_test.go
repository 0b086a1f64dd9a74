package slab

import (
	"math/rand/v2"
	"testing"
)

// Bits agrees with a map, also for numbers that there is no room for.
func TestBits(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 0))
	b, want := NewBits(100), map[int32]bool{}
	for range 5000 {
		switch i := rng.Int32N(1000); rng.IntN(4) {
		case 0:
			b.Add(i)
			want[i] = true
		case 1:
			b.Remove(i)
			delete(want, i)
		case 2:
			i %= 100
			on := rng.IntN(2) == 0
			b.Set(i, on)
			want[i] = on
		default:
			if b.Has(i) != want[i] {
				t.Fatalf("%d: %v, want %v", i, b.Has(i), want[i])
			}
		}
	}
}
