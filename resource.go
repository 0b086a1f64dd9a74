package heddle

import "math"

// Dim names one dimension of a [Resource].
type Dim uint8

// The dimensions of a resource vector. Two more are free for other resources that a site counts (GPUs, licences).
const (
	Memory Dim = iota // MiB
	CPU               // milli-vcores: 1000 is one vcore
	Extra1            // whole units
	Extra2            // whole units

	NumDims = 4
)

// String returns the dimension's name as used in reports.
func (d Dim) String() string {
	return [NumDims]string{"memory", "vcores", "extra1", "extra2"}[d]
}

// Unit returns the smallest amount of a dimension that a YARN request can name: 1 MiB, 1 vcore.
func (d Dim) Unit() int64 {
	if d == CPU {
		return 1000
	}
	return 1
}

// A Resource is an amount in every dimension. It is passed by value and is comparable.
type Resource [NumDims]int64

// Unbounded is more than any cluster has, and small enough to add without overflow.
var Unbounded = Resource{math.MaxInt64 / 4, math.MaxInt64 / 4, math.MaxInt64 / 4, math.MaxInt64 / 4}

// Of returns memMiB of memory and cpuMilli milli-vcores.
func Of(memMiB, cpuMilli int64) Resource { return Resource{memMiB, cpuMilli} }

// Plus returns r + o.
func (r Resource) Plus(o Resource) Resource {
	return Resource{r[0] + o[0], r[1] + o[1], r[2] + o[2], r[3] + o[3]}
}

// Minus returns r − o; dimensions may become negative.
func (r Resource) Minus(o Resource) Resource {
	return Resource{r[0] - o[0], r[1] - o[1], r[2] - o[2], r[3] - o[3]}
}

// Times returns r · n.
func (r Resource) Times(n int64) Resource {
	return Resource{r[0] * n, r[1] * n, r[2] * n, r[3] * n}
}

// Part returns r · p, rounded towards zero.
func (r Resource) Part(p float64) (out Resource) {
	for d := range r {
		out[d] = int64(p * float64(r[d]))
	}
	return out
}

// Fits reports whether r ≤ o in every dimension.
func (r Resource) Fits(o Resource) bool {
	return r[0] <= o[0] && r[1] <= o[1] && r[2] <= o[2] && r[3] <= o[3]
}

// Min returns the smaller amount in each dimension.
func (r Resource) Min(o Resource) Resource {
	return Resource{min(r[0], o[0]), min(r[1], o[1]), min(r[2], o[2]), min(r[3], o[3])}
}

// Max returns the larger amount in each dimension.
func (r Resource) Max(o Resource) Resource {
	return Resource{max(r[0], o[0]), max(r[1], o[1]), max(r[2], o[2]), max(r[3], o[3])}
}

// IsZero reports whether every dimension is 0.
func (r Resource) IsZero() bool { return r == Resource{} }

// AnyNegative reports whether any dimension is below 0.
func (r Resource) AnyNegative() bool { return r[0] < 0 || r[1] < 0 || r[2] < 0 || r[3] < 0 }

// Whole returns r with its processors rounded up to whole vcores, as YARN's protocols express them.
func (r Resource) Whole() Resource {
	return r.RoundUp(Of(0, 1000))
}

// Share returns the dominant share of r in total: the largest r[d]/total[d] over the dimensions
// that total has.
func (r Resource) Share(total Resource) float64 {
	s := 0.0
	for d := range r {
		if total[d] > 0 {
			s = max(s, float64(r[d])/float64(total[d]))
		}
	}
	return s
}

// RoundUp returns r rounded up to a multiple of step in every dimension; a step of 0 leaves the
// dimension as it is.
func (r Resource) RoundUp(step Resource) Resource {
	for d, s := range step {
		if s > 0 {
			r[d] = (r[d] + s - 1) / s * s
		}
	}
	return r
}

// RoundDown returns r rounded down to a multiple of step in every dimension.
func (r Resource) RoundDown(step Resource) Resource {
	for d, s := range step {
		if s > 0 {
			r[d] = r[d] / s * s
		}
	}
	return r
}
