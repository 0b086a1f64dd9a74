package estimate

import (
	"math"
	"testing"
)

// Two rules over one input that counts and one that only chooses: near 0 y = x + 1, near 1 y = 10·x.
func two() Fuzzy {
	return Fuzzy{
		{Centre: []float64{0, 0}, Width: []float64{0, 0.5}, Out: []float64{1, 1}},
		{Centre: []float64{0, 1}, Width: []float64{0, 0.5}, Out: []float64{10, 0}},
	}
}

// At z = 1/4 the first centre is half a width away, the second one and a half: strengths e^(−1/8) to e^(−9/8), so 1 to
// 1/e, divided by their sum. At z = 1/2 both rules fire equally.
func TestFuzzy(t *testing.T) {
	f, w := two(), make([]float64, 2)
	f.Fire([]float64{3, 0.25}, w)
	if want := 1 / (1 + 1/math.E); !near(w[0], want) || !near(w[1], 1-want) {
		t.Errorf("strengths %v, want %v and the rest", w, want)
	}
	f.Fire([]float64{3, 0.5}, w)
	if y := f.At([]float64{3, 0.5}, w); !near(y, (4+30)/2) {
		t.Errorf("%v, want 17", y)
	}
}

// Far from every centre, the nearest rule fires even if the product of memberships is 0 in floating point.
func TestFuzzyFar(t *testing.T) {
	f, w := two(), make([]float64, 2)
	f.Fire([]float64{3, 1e6}, w)
	if w[0] != 0 || w[1] != 1 {
		t.Errorf("strengths %v, want 0 and 1", w)
	}
}

// Stack turns the model into one that is linear in its coefficients.
func TestFuzzyStack(t *testing.T) {
	f, x := two(), []float64{3, 0.3}
	w, wide := make([]float64, 2), make([]float64, 4)
	f.Fire(x, w)
	f.Stack(x, w, wide)
	sum, k := 0.0, 0
	for _, r := range f {
		for _, c := range r.Out {
			sum += c * wide[k]
			k++
		}
	}
	if y := f.At(x, w); !near(sum, y) {
		t.Errorf("%v by stack, %v by rules", sum, y)
	}
	if n := testing.AllocsPerRun(100, func() { f.Fire(x, w); f.At(x, w); f.Stack(x, w, wide) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
