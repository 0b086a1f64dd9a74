package estimate

import "math"

// A Rule of a Takagi–Sugeno model: IF each input is near its Centre THEN the output is linear in the inputs (Takagi and
// Sugeno, IEEE Transactions on Systems, Man and Cybernetics 15, 1985).
type Rule struct {
	// Centre and Width are the Gaussian fuzzy sets, one for each input: an input's membership is exp(−½·((x −
	// Centre)/Width)²). With a Width of 0, the set contains everything.
	Centre, Width []float64
	// Out holds a coefficient for each of the first inputs, and the offset last. Further inputs choose between rules
	// and take no part in their outputs.
	Out []float64
}

// Fuzzy is a Takagi–Sugeno model. Its output is the mean of its rules' outputs, weighted by the firing strength of
// each: the product of the memberships.
type Fuzzy []Rule

// Fire fills strength, which has one value per rule, with how strongly each rule fires at x; the values sum to 1. Far
// from all centres, the nearest rules fire.
func (f Fuzzy) Fire(x, strength []float64) {
	most := math.Inf(-1)
	for j := range f {
		r, sum := &f[j], 0.0
		for i, w := range r.Width {
			if w > 0 {
				d := (x[i] - r.Centre[i]) / w
				sum -= d * d
			}
		}
		strength[j] = sum / 2
		most = max(most, strength[j])
	}
	total := 0.0
	for j := range f {
		strength[j] = math.Exp(strength[j] - most)
		total += strength[j]
	}
	for j := range f {
		strength[j] /= total
	}
}

// At returns the model's output at x for the strengths that Fire computed.
func (f Fuzzy) At(x, strength []float64) float64 {
	y := 0.0
	for j := range f {
		out := f[j].Out
		last := len(out) - 1
		sum := out[last]
		for i, c := range out[:last] {
			sum += c * x[i]
		}
		y += strength[j] * sum
	}
	return y
}

// Stack fills wide with the inputs of a model that is linear in all rules' coefficients at once: for each rule, its
// inputs and 1, times its strength. At is then the product of wide and the concatenated Out of all rules.
func (f Fuzzy) Stack(x, strength, wide []float64) {
	k := 0
	for j := range f {
		last := len(f[j].Out) - 1
		for i := range last {
			wide[k+i] = strength[j] * x[i]
		}
		wide[k+last] = strength[j]
		k += last + 1
	}
}
