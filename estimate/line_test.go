package estimate

import (
	"math"
	"math/rand/v2"
	"testing"
)

func near(a, b float64) bool { return math.Abs(a-b) <= 1e-9*max(1, math.Abs(a), math.Abs(b)) }

// Points (1, 2), (2, 3), (3, 5), (4, 6): means 2.5 and 4; Σdx² = 5, ΣdxdY = 1.5·2 + 0.5·1 + 0.5·1 + 1.5·2 = 7,
// Σdy² = 10. Slope 1.4, intercept 4 − 3.5 = 0.5, residual 10 − 49/5 = 0.2.
func TestLine(t *testing.T) {
	var l Line
	if _, _, ok := l.Fit(); ok {
		t.Error("a line through nothing")
	}
	points := [][2]float64{{1, 2}, {2, 3}, {3, 5}, {4, 6}}
	for _, p := range points {
		l.Add(p[0], p[1])
	}
	if a, b, ok := l.Fit(); !ok || !near(a, 0.5) || !near(b, 1.4) {
		t.Errorf("%v + %v x, %v; want 0.5 + 1.4 x", a, b, ok)
	}
	if y, ok := l.At(10); !ok || !near(y, 14.5) {
		t.Errorf("%v at 10, want 14.5", y)
	}
	if r := l.Residual(); !near(r, 0.2) {
		t.Errorf("residual %v, want 0.2", r)
	}
	if x, y := l.Mean(); x != 2.5 || y != 4 || l.Len() != 4 {
		t.Errorf("means %v, %v of %d", x, y, l.Len())
	}
	// Without the last, (1, 2), (2, 3), (3, 5): slope 3/2, intercept 10/3 − 3 = 1/3.
	l.Drop(4, 6)
	if a, b, ok := l.Fit(); !ok || !near(a, 1./3) || !near(b, 1.5) {
		t.Errorf("%v + %v x, %v; want 1/3 + 1.5 x", a, b, ok)
	}
	for _, p := range points[:3] {
		l.Drop(p[0], p[1])
	}
	if l != (Line{}) {
		t.Errorf("%+v is left of nothing", l)
	}
}

func TestLineWithoutSlope(t *testing.T) {
	var l Line
	l.Add(3, 1)
	l.Add(3, 5)
	if _, _, ok := l.Fit(); ok {
		t.Error("a line of y over x through points of one x")
	}
	if r := l.Residual(); r != 8 { // from the mean 3: 2² + 2²
		t.Errorf("residual %v, want 8", r)
	}
}

// A window's line is that of its last points, also after thousands, and far from the origin.
func TestWindow(t *testing.T) {
	const size = 5
	rng := rand.New(rand.NewPCG(1, 1))
	w := NewWindow(size)
	var all [][2]float64
	for i := range 5000 {
		p := [2]float64{1e9 + float64(i), rng.Float64()}
		all = append(all, p)
		w.Add(p[0], p[1])
		var l Line
		for _, p := range all[max(0, len(all)-size):] {
			l.Add(p[0], p[1])
		}
		a, b, ok := w.Fit()
		wa, wb, wok := l.Fit()
		if ok != wok || math.Abs(b-wb) > 1e-6 || math.Abs((a+b*p[0])-(wa+wb*p[0])) > 1e-6 || w.Len() != l.Len() {
			t.Fatalf("after %d points %v + %v x, want %v + %v x", i+1, a, b, wa, wb)
		}
	}
	if n := testing.AllocsPerRun(100, func() { w.Add(1, 2) }); n != 0 {
		t.Errorf("%v allocations a point", n)
	}
}
