package capacity

import (
	"math"

	"heddle"
)

// compare orders two resources as the resource calculator does: by dominant share of the cluster, the
// next share breaking ties; by memory alone with the default calculator.
func (s *Scheduler) compare(a, b heddle.Resource) int {
	if a == b {
		return 0
	}
	if s.cfg.MemoryOnly {
		return sign(float64(a[heddle.Memory] - b[heddle.Memory]))
	}
	// Who has no less of anything has no smaller share, whichever is dominant.
	if c, ok := s.dominates(a, b); ok {
		return c
	}
	x, y := s.sorted(a), s.sorted(b)
	for i := range x {
		if d := sign(x[i] - y[i]); d != 0 {
			return d
		}
	}
	return 0
}

// dominates compares resources of which one is at least the other in every dimension the cluster has.
func (s *Scheduler) dominates(a, b heddle.Resource) (int, bool) {
	var less, more bool
	for d := range a {
		if s.total[d] > 0 {
			less = less || a[d] < b[d]
			more = more || a[d] > b[d]
		}
	}
	switch {
	case less && more:
		return 0, false
	case less:
		return -1, true
	case more:
		return 1, true
	}
	return 0, true
}

// sorted returns the shares of the cluster, largest first.
func (s *Scheduler) sorted(r heddle.Resource) (sh [heddle.NumDims]float64) {
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

func sign(x float64) int {
	switch {
	case x < 0:
		return -1
	case x > 0:
		return 1
	}
	return 0
}

func (s *Scheduler) less(a, b heddle.Resource) heddle.Resource {
	if s.compare(a, b) <= 0 {
		return a
	}
	return b
}

func (s *Scheduler) more(a, b heddle.Resource) heddle.Resource {
	if s.compare(a, b) >= 0 {
		return a
	}
	return b
}

// share is the dominant share of the cluster.
func (s *Scheduler) share(r heddle.Resource) float64 {
	if s.cfg.MemoryOnly {
		r = heddle.Resource{heddle.Memory: r[heddle.Memory]}
	}
	return r.Share(s.total)
}

// divide is the ratio of dominant shares, in single precision; by is the share of the divisor.
func (s *Scheduler) divide(a heddle.Resource, by float64) float32 {
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

// times returns r·f, each dimension cut to whole units.
func times(r heddle.Resource, f float64) heddle.Resource {
	for d := range r {
		u := heddle.Dim(d).Unit()
		r[d] = int64(float64(r[d]/u)*f) * u
	}
	return r
}

// timesUp returns r·f rounded up to whole smallest containers: to whole units first, upwards with
// dominant resources, to the nearest with the default calculator.
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

// floor rounds down to whole steps, below zero too: as Java's integer division does, towards zero.
func floor(r, step heddle.Resource) heddle.Resource {
	return r.RoundDown(step)
}
