package rm

import (
	"maps"
	"math/rand/v2"
	"testing"
)

// A dense table says what a map would.
func TestDense(t *testing.T) {
	for seed := range uint64(20) {
		rng := rand.New(rand.NewPCG(seed, 0))
		var d dense[int]
		want, last := map[int64]int{}, int64(0)
		for range 5000 {
			switch rng.IntN(4) {
			case 0, 1:
				last += 1 + rng.Int64N(1+rng.Int64N(100))
				d.set(last, int(last)+1)
				want[last] = int(last) + 1
			case 2:
				i := last - rng.Int64N(500)
				d.drop(i)
				delete(want, i)
			default:
				for i := range want { // order: any of them
					if i <= last {
						d.set(i, -1)
						want[i] = -1
					}
					break
				}
			}
			for range 3 {
				if i := last - rng.Int64N(600) + 50; d.get(i) != want[i] {
					t.Fatalf("seed %d: %d under %d, want %d", seed, d.get(i), i, want[i])
				}
			}
		}
		if got := maps.Collect(d.all); !maps.Equal(got, want) || d.n != len(want) {
			t.Fatalf("seed %d: %d of %d, want %d", seed, len(got), d.n, len(want))
		}
		for i := range want {
			d.drop(i)
		}
		if d.n != 0 || len(d.pages) > 1 {
			t.Fatalf("seed %d: empty, %d are left on %d pages", seed, d.n, len(d.pages))
		}
	}
}
