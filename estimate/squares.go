package estimate

import "math"

// Squares collects samples of a linear model y = θ·x for a least-squares fit.
type Squares struct {
	n int
	a []float64 // Σ w·x·xᵀ, row by row
	b []float64 // Σ w·y·x
}

// NewSquares returns an empty fit with n coefficients.
func NewSquares(n int) *Squares {
	return &Squares{n: n, a: make([]float64, n*n), b: make([]float64, n)}
}

// Add adds a sample with a weight; x has one value per coefficient.
func (s *Squares) Add(x []float64, y, weight float64) {
	for i := range s.n {
		wx := weight * x[i]
		s.b[i] += wx * y
		for j := range i + 1 {
			s.a[i*s.n+j] += wx * x[j]
		}
	}
}

// Solve returns the coefficients that minimise Σ w·(y − θ·x)² + ridge·Σ wx²·(θ − prior)², the inner sum being taken for
// each coefficient over its own column. The ridge is thus free of units. It keeps collinear columns from growing
// against each other, and leaves the coefficients of columns without information at prior.
func (s *Squares) Solve(ridge float64, prior []float64) []float64 {
	n := s.n
	a := append([]float64(nil), s.a...)
	theta := append([]float64(nil), s.b...)
	for i := range n {
		extra := ridge * s.a[i*n+i]
		if !(s.a[i*n+i] > 0) {
			extra = 1
		}
		a[i*n+i] += extra
		theta[i] += extra * prior[i]
	}
	cholesky(a, n)
	for i := range n { // L·z = b
		for j := range i {
			theta[i] -= a[i*n+j] * theta[j]
		}
		theta[i] /= a[i*n+i]
	}
	for i := n - 1; i >= 0; i-- { // Lᵀ·θ = z
		for j := i + 1; j < n; j++ {
			theta[i] -= a[j*n+i] * theta[j]
		}
		theta[i] /= a[i*n+i]
	}
	return theta
}

// cholesky replaces the lower triangle of a symmetric matrix by L with L·Lᵀ = a. Pivots that vanish through rounding
// are replaced by tiny ones.
func cholesky(a []float64, n int) {
	for i := range n {
		least := a[i*n+i] * 1e-14
		for j := range i + 1 {
			sum := a[i*n+j]
			for k := range j {
				sum -= a[i*n+k] * a[j*n+k]
			}
			if i == j {
				a[i*n+i] = math.Sqrt(max(sum, least))
			} else {
				a[i*n+j] = sum / a[j*n+j]
			}
		}
	}
}
