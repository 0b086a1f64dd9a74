package estimate

import (
	"math"
	"testing"
)

// y = 2·x + 1 through (1, 3), (2, 5), (3, 7) with the columns x and 1.
func TestSquares(t *testing.T) {
	s := NewSquares(2)
	for _, p := range [][2]float64{{1, 3}, {2, 5}, {3, 7}} {
		s.Add([]float64{p[0], 1}, p[1], 1)
	}
	if th := s.Solve(0, []float64{0, 0}); !near(th[0], 2) || !near(th[1], 1) {
		t.Errorf("%v, want 2 and 1", th)
	}
}

// One column: Σ w·x·y / Σ w·x² = (1·1·1 + 3·1·5)/(1 + 3) = 4. A ridge of 1 towards 2 doubles the denominator:
// (16 + 4·2)/(4 + 4) = 3.
func TestSquaresWeightsAndRidge(t *testing.T) {
	s := NewSquares(1)
	s.Add([]float64{1}, 1, 1)
	s.Add([]float64{1}, 5, 3)
	if th := s.Solve(0, []float64{2}); !near(th[0], 4) {
		t.Errorf("%v, want 4", th)
	}
	if th := s.Solve(1, []float64{2}); !near(th[0], 3) {
		t.Errorf("%v, want 3", th)
	}
}

// Collinear columns get half each; a column without information stays at its prior.
func TestSquaresSingular(t *testing.T) {
	s := NewSquares(3)
	for _, x := range []float64{1, 2, 3} {
		s.Add([]float64{x, x, 0}, 4*x, 1)
	}
	th := s.Solve(1e-9, []float64{0, 0, 7})
	if math.Abs(th[0]-2) > 1e-4 || math.Abs(th[1]-2) > 1e-4 || th[2] != 7 {
		t.Errorf("%v, want 2, 2 and 7", th)
	}
}
