package estimate

import "math"

// Recursive is a linear model y = θ·x that learns from one sample after the other: recursive least squares with
// exponential forgetting.
type Recursive struct {
	Theta []float64 // the current coefficients; may be set before the first sample

	forget float64
	p      []float64 // covariance, row by row
	doubt  []float64 // its initial diagonal
	gain   []float64

	some, touched []int // scratch
}

// NewRecursive returns a model of len(doubt) coefficients, all 0. forget, in (0, 1], is the weight of a sample relative
// to the next one. doubt is how far off each coefficient may be initially, squared, in units of the variance of y.
func NewRecursive(doubt []float64, forget float64) *Recursive {
	n := len(doubt)
	r := &Recursive{
		Theta: make([]float64, n), forget: forget, p: make([]float64, n*n),
		doubt: append([]float64(nil), doubt...), gain: make([]float64, n),
		some: make([]int, 0, n), touched: make([]int, 0, n),
	}
	for i, d := range doubt {
		r.p[i*n+i] = d
	}
	return r
}

// Forget reduces the weight of what was learned so far by the forgetting factor. No coefficient is doubted more than
// initially: otherwise the doubt about coefficients on which no sample gives information would grow forever.
func (r *Recursive) Forget() {
	n := len(r.Theta)
	for i, d := range r.doubt {
		r.gain[i] = math.Sqrt(1 / r.forget)
		if p := r.p[i*n+i]; p > d*r.forget {
			r.gain[i] = math.Sqrt(d / p)
		}
	}
	for i, g := range r.gain {
		row := r.p[i*n : i*n+n]
		for j, h := range r.gain {
			row[j] *= g * h
		}
	}
}

// Learn takes in a sample with a weight, and returns the model's error before it: y − θ·x. It takes time proportional
// to the number of coefficients and to the number of those that the sample touches.
func (r *Recursive) Learn(x []float64, y, weight float64) (off float64) {
	n := len(r.Theta)
	some, touched := r.some[:0], r.touched[:0]
	off = y
	for j, v := range x {
		if v != 0 {
			some = append(some, j)
			off -= r.Theta[j] * v
		}
	}
	for i := range n {
		row, sum := r.p[i*n:i*n+n], 0.0
		for _, j := range some {
			sum += row[j] * x[j]
		}
		if r.gain[i] = sum; sum != 0 {
			touched = append(touched, i)
		}
	}
	power := 1 / weight
	for _, j := range some {
		power += r.gain[j] * x[j]
	}
	for _, i := range touched {
		g := r.gain[i] / power
		r.Theta[i] += off * g
		row := r.p[i*n : i*n+n]
		for _, j := range touched {
			row[j] -= g * r.gain[j]
		}
		row[i] = max(0, row[i])
	}
	return off
}
