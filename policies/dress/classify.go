package dress

import (
	"heddle"
	"heddle/policy"
)

// slack is the largest rounding error of a sum of parts of a cluster.
const slack = 1e-9

// mostOfFew is the largest part of the cluster that few containers may take together.
const mostOfFew = 0.5

// classify returns the category, from 0 for the smallest, of a job that demands r out of R: the first whose bound θ·R
// is not below r (IV-C; with one bound, 0 is SD and 1 is LD).
func classify(r, R float64, theta []float64) int {
	for k, bound := range theta {
		if r <= bound*R+slack {
			return k
		}
	}
	return len(theta)
}

// share returns r as a part of total, by the dimension of which it takes the largest part. Only dimensions that take
// part in fits count.
func share(v policy.View, r, total heddle.Resource) float64 {
	s := 0.0
	for d, n := range total {
		if n > 0 && v.Counts(heddle.Dim(d)) {
			s = max(s, float64(r[d])/float64(n))
		}
	}
	return s
}

// category classifies an application by the most it has held and asked for at once. If θ is a part of what is
// available, the application is classified by what is free, each time it asks for more than ever before, and never
// moves to a smaller category.
func (s *Scheduler) category(v policy.View, st *appState, grown bool) int {
	r := share(v, st.peak, v.Total())
	if s.o.Against == total {
		n := st.expected.containers
		if !st.told {
			n = max(n, st.tasked.containers)
		}
		if 0 < n && n <= s.o.Few && r <= mostOfFew {
			return 0
		}
		return classify(r, 1, s.o.Theta)
	}
	if !grown {
		return st.category
	}
	free := v.Total().Minus(v.Used()).Max(heddle.Resource{})
	least := 1.0
	for d, n := range v.Total() {
		if n > 0 && v.Counts(heddle.Dim(d)) {
			least = min(least, float64(free[d])/float64(n))
		}
	}
	return max(st.category, classify(r, least, s.o.Theta))
}
