package estimate

import (
	"math"
	"testing"
)

func TestRemaining(t *testing.T) {
	for _, c := range []struct {
		elapsed, part, want float64
		ok                  bool
	}{
		{10, 0.25, 30, true}, // a quarter in 10 s: three more quarters
		{7, 1, 0, true},
		{10, 0, 0, false},
		{10, -0.1, 0, false},
		{10, 1.1, 0, false},
		{0, 0.5, 0, false},
		{math.NaN(), 0.5, 0, false},
		{10, math.NaN(), 0, false},
	} {
		got, ok := Remaining(c.elapsed, c.part)
		if got != c.want || ok != c.ok {
			t.Errorf("Remaining(%v, %v) = %v, %v; want %v, %v", c.elapsed, c.part, got, ok, c.want, c.ok)
		}
	}
}
