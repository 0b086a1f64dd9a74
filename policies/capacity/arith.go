package capacity

import (
	"cmp"
	"math"

	"heddle"
)

// compare orders two resources as the resource calculator does: by dominant share of the cluster, with the next share
// breaking ties, or by memory alone with the default calculator.
func (s *Scheduler) compare(a, b *heddle.Resource) int {
	if s.cfg.MemoryOnly {
		return cmp.Compare(a[heddle.Memory], b[heddle.Memory])
	}
	// If one has no less than the other in any dimension, its share is no smaller, whichever dimension is dominant. So
	// most comparisons need no division.
	var less, more bool
	for _, d := range s.dims {
		switch x, y := a[d], b[d]; {
		case x < y:
			less = true
		case x > y:
			more = true
		}
	}
	switch {
	case less && more:
		return s.compareShares(a, b)
	case less:
		return -1
	case more:
		return 1
	}
	return 0
}

func (s *Scheduler) compareShares(a, b *heddle.Resource) int {
	x, y := s.sorted(a), s.sorted(b)
	for i := range x {
		if d := cmp.Compare(x[i], y[i]); d != 0 {
			return d
		}
	}
	return 0
}

// sorted returns r's shares of the cluster, largest first.
func (s *Scheduler) sorted(r *heddle.Resource) (sh [heddle.NumDims]float64) {
	n := 0
	for d := range r {
		if s.total[d] > 0 {
			v := float64(r[d]) / float64(s.total[d])
			i := n
			for ; i > 0 && sh[i-1] < v; i-- {
				sh[i] = sh[i-1]
			}
			sh[i] = v
			n++
		}
	}
	return sh
}

func (s *Scheduler) less(a, b heddle.Resource) heddle.Resource {
	if s.compare(&a, &b) <= 0 {
		return a
	}
	return b
}

func (s *Scheduler) more(a, b heddle.Resource) heddle.Resource {
	if s.compare(&a, &b) >= 0 {
		return a
	}
	return b
}

// share returns r's dominant share of the cluster.
func (s *Scheduler) share(r *heddle.Resource) float64 {
	most := 0.0
	for _, d := range s.dims {
		if s.cfg.MemoryOnly && d != heddle.Memory {
			break
		}
		if x := float64(r[d]) / float64(s.total[d]); x > most {
			most = x
		}
	}
	return most
}

// divide returns the ratio of a's dominant share to by, the share of the divisor, in single precision.
func (s *Scheduler) divide(a *heddle.Resource, by float64) float32 {
	if by == 0 {
		return 0
	}
	return float32(s.share(a) / by)
}

// anyAbove reports whether a dimension that counts is above 0.
func (s *Scheduler) anyAbove(r heddle.Resource) bool {
	if s.cfg.MemoryOnly {
		return r[heddle.Memory] > 0
	}
	return r[0] > 0 || r[1] > 0 || r[2] > 0 || r[3] > 0
}

// times returns r·f, with each dimension truncated to whole units.
func times(r heddle.Resource, f float64) heddle.Resource {
	for d := range r {
		u := heddle.Dim(d).Unit()
		r[d] = int64(float64(r[d]/u)*f) * u
	}
	return r
}

// timesUp returns r·f rounded up to whole smallest containers. It first rounds to whole units: up with dominant
// resources, to the nearest with the default calculator.
func (s *Scheduler) timesUp(r heddle.Resource, f float64) heddle.Resource {
	for d := range r {
		u := heddle.Dim(d).Unit()
		x := float64(r[d]/u) * f
		if s.cfg.MemoryOnly {
			x = math.Floor(x + 0.5)
		} else {
			x = math.Ceil(float64(float32(x)))
		}
		r[d] = int64(x) * u
	}
	return r.RoundUp(s.cfg.Minimum)
}
