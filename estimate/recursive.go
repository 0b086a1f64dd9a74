package estimate

// Recursive is a linear model y = θ·x that learns from one sample after the other: recursive least
// squares with exponential forgetting.
type Recursive struct {
	Theta []float64 // the coefficients as they stand; may be set before the first sample

	forget float64
	p      []float64 // covariance, row by row
	gain   []float64
	trace  float64 // of p
	most   float64 // the trace it began with
}

// NewRecursive returns a model of len(doubt) coefficients, all 0. forget, in (0, 1], is what a sample
// counts after the next one, relative to it. doubt is how far off each coefficient may be to begin with,
// squared, in units of the variance of y.
func NewRecursive(doubt []float64, forget float64) *Recursive {
	n := len(doubt)
	r := &Recursive{Theta: make([]float64, n), forget: forget, p: make([]float64, n*n), gain: make([]float64, n)}
	for i, d := range doubt {
		r.p[i*n+i] = d
		r.most += d
	}
	r.trace = r.most
	return r
}

// Forget makes what was learned so far count less by the factor of forgetting. It does nothing while the
// doubt is as large as it was to begin with: directions no sample tells anything about would be blown up.
func (r *Recursive) Forget() {
	if r.trace/r.forget > r.most {
		return
	}
	for i := range r.p {
		r.p[i] /= r.forget
	}
	r.trace /= r.forget
}

// Learn takes in a sample of a weight, and returns by how much the model was off before: y − θ·x.
func (r *Recursive) Learn(x []float64, y, weight float64) (off float64) {
	n := len(r.Theta)
	off = y
	power := 1 / weight
	for i := range n {
		row, sum := r.p[i*n:i*n+n], 0.0
		for j, v := range x {
			sum += row[j] * v
		}
		r.gain[i] = sum
		off -= r.Theta[i] * x[i]
		power += sum * x[i]
	}
	r.trace = 0
	for i, g := range r.gain {
		r.Theta[i] += off * g / power
		row := r.p[i*n : i*n+n]
		for j, h := range r.gain {
			row[j] -= g * h / power
		}
		row[i] = max(0, row[i])
		r.trace += row[i]
	}
	return off
}
