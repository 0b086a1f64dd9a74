// Package median says how well a few values, such as those of a figure by seed, determine the median of all such values.
package median

import (
	"math"
	"slices"
)

// Least is the smallest number of values that has an interval: six values all lie on one side of the median in 2 of 64
// samples.
const Least = 6

// Interval returns the bounds of the interval that holds the true median in 95 of 100 such samples, whatever the
// distribution. They are two of the ordered values, chosen by the binomial distribution of how many lie below the
// median, and infinite if there are too few values. No value may be NaN.
func Interval(values []float64) (from, to float64) {
	k := Rank(len(values))
	if k == 0 {
		return math.Inf(-1), math.Inf(1)
	}
	sorted := slices.Sorted(slices.Values(values))
	return sorted[k-1], sorted[len(sorted)-k]
}

// Rank returns the largest k for which the kth lowest and the kth highest of n values enclose the median in 95 of 100
// samples; 0 if there is none.
func Rank(n int) int {
	const each = 0.025                // probability that may lie outside on either side
	term := math.Pow(0.5, float64(n)) // the probability that exactly k values lie below the median, for k = 0
	below := 0.0
	for k := 0; ; k++ {
		if below += term; below > each {
			return k
		}
		term *= float64(n-k) / float64(k+1)
	}
}
