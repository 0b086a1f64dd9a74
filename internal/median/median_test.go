package median

import (
	"math"
	"testing"
)

// The interval of a median follows the binomial distribution.
func TestInterval(t *testing.T) {
	for n, k := range map[int]int{5: 0, 6: 1, 8: 1, 9: 2, 12: 3, 18: 5, 20: 6, 24: 7, 30: 10} { // as in tables of the sign test
		if got := Rank(n); got != k {
			t.Errorf("%d values: the %dth from either end, want the %dth", n, got, k)
		}
	}
	if from, to := Interval([]float64{3, 1, 2, 6, 5, 4, 9, 7, 8}); from != 2 || to != 8 {
		t.Errorf("nine values: %g to %g, want 2 to 8", from, to)
	}
	if from, to := Interval(make([]float64, Least-1)); !math.IsInf(from, -1) || !math.IsInf(to, 1) {
		t.Errorf("too few values: %g to %g", from, to)
	}
}
