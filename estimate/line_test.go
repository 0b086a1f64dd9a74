package estimate

import (
	"math"
	"testing"
)

func near(a, b float64) bool { return math.Abs(a-b) <= 1e-9*max(1, math.Abs(a), math.Abs(b)) }

// Points (1, 2), (2, 3), (3, 5), (4, 6): means 2.5 and 4; Σdx² = 5, Σdxdy = 1.5·2 + 0.5·1 + 0.5·1 + 1.5·2 = 7.
// Slope 1.4, intercept 4 − 3.5 = 0.5.
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
}

func TestLineWithoutSlope(t *testing.T) {
	var l Line
	l.Add(3, 1)
	l.Add(3, 5)
	if _, _, ok := l.Fit(); ok {
		t.Error("a line of y over x through points of one x")
	}
}

// Far from the origin, a line loses no digits: y = 2 + 3·(x − 10⁹) for x from 10⁹ on.
func TestLineFarFromTheOrigin(t *testing.T) {
	var l Line
	for i := range 5000 {
		l.Add(1e9+float64(i), 2+3*float64(i))
	}
	if _, b, ok := l.Fit(); !ok || !near(b, 3) {
		t.Errorf("slope %v (%v), want 3", b, ok)
	}
	if y, _ := l.At(1e9 + 6000); !near(y, 18002) {
		t.Errorf("%v at 10⁹ + 6000, want 18002", y)
	}
}
