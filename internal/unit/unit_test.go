package unit

import (
	"math"
	"testing"
)

func TestConvert(t *testing.T) {
	for _, c := range []struct {
		n        int64
		from, to string
		want     int64
	}{
		{5, "G", "M", 5000},
		{500, "M", "G", 0},
		{1999, "M", "G", 1},
		{-1999, "M", "G", -1},
		{3000, "m", "", 3},
		{7, "", "", 7},
		{1, "Gi", "Mi", 1024},
		{1, "G", "Mi", 953},
		{1, "p", "p", 1},
		{2, "k", "Ki", 1},
		{3, "P", "p", math.MaxInt64},
		{-3, "P", "p", math.MinInt64},
		{math.MaxInt64, "m", "m", math.MaxInt64},
		{math.MaxInt64, "", "Pi", 8191},
	} {
		if got, ok := Convert(c.n, c.from, c.to); got != c.want || !ok {
			t.Errorf("%d%s is %d%s, want %d", c.n, c.from, got, c.to, c.want)
		}
	}
	if _, ok := Convert(1, "K", ""); ok || Known("K") || !Known("") {
		t.Error("an unknown unit is converted")
	}
}
