package estimate

import (
	"math"
	"math/rand/v2"
	"testing"
)

// One coefficient, doubt 1, x = 1, y = 1: gain 1/(1 + 1), θ = 1/2, doubt 1 − 1/2. Then y = 2: off by 3/2, gain
// (1/2)/(1 + 1/2) = 1/3, θ = 1/2 + 1/2 = 1.
func TestRecursive(t *testing.T) {
	r := NewRecursive([]float64{1}, 1)
	if off := r.Learn([]float64{1}, 1, 1); !near(off, 1) || !near(r.Theta[0], 0.5) {
		t.Errorf("off %v, θ %v; want 1, 0.5", off, r.Theta)
	}
	if off := r.Learn([]float64{1}, 2, 1); !near(off, 1.5) || !near(r.Theta[0], 1) {
		t.Errorf("off %v, θ %v; want 1.5, 1", off, r.Theta)
	}
}

// Without forgetting, the result is that of all samples at once, whatever their weights.
func TestRecursiveIsLeastSquares(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	r, s := NewRecursive([]float64{1e9, 1e9, 1e9}, 1), NewSquares(3)
	for range 50 {
		x := []float64{rng.Float64(), rng.Float64(), 1}
		y, w := 3*x[0]-2*x[1]+rng.NormFloat64(), 0.1+rng.Float64()
		r.Learn(x, y, w)
		s.Add(x, y, w)
	}
	for i, want := range s.Solve(0, make([]float64, 3)) {
		if math.Abs(r.Theta[i]-want) > 1e-4 {
			t.Errorf("θ%d = %v, want %v", i, r.Theta[i], want)
		}
	}
}

// With forgetting, the model follows a coefficient that changes, and directions without information stay within their
// initial doubt.
func TestRecursiveForgets(t *testing.T) {
	follow := func(forget float64) float64 {
		r := NewRecursive([]float64{10, 10}, forget)
		for i := range 2000 {
			want := 1.0
			if i >= 1000 {
				want = 5
			}
			r.Forget()
			r.Learn([]float64{1, 0}, want, 1)
		}
		if r.p[0] > 10+1e-9 || r.p[3] > 10+1e-9 {
			t.Errorf("forgetting %v: the doubt grew to %v", forget, r.p)
		}
		return r.Theta[0]
	}
	if th := follow(0.98); math.Abs(th-5) > 0.1 {
		t.Errorf("%v after a thousand samples of 5", th)
	}
	if th := follow(1); math.Abs(th-3) > 0.1 {
		t.Errorf("%v without forgetting, want about the mean, 3", th)
	}
	r := NewRecursive(make([]float64, 24), 0.98)
	x := make([]float64, 24)
	if n := testing.AllocsPerRun(100, func() { r.Forget(); r.Learn(x, 1, 1) }); n != 0 {
		t.Errorf("%v allocations a sample", n)
	}
}
