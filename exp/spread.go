package exp

import (
	"math"
	"slices"
)

// A Spread is the distribution of a figure over seeds.
type Spread struct {
	Values            []float64 // by seed
	Median, Low, High float64   // NaN if a value is

	// From and To bound the interval that holds the true median in 95 of 100 such samples, whatever the figure's
	// distribution. They are two of the ordered values, chosen by the binomial distribution of how many lie below the
	// median. They are infinite if there are too few values, and NaN if one is.
	From, To float64
}

// seedsForInterval is the smallest number of values that has a 95 % interval: six values all lie on one side of the
// median in 2 of 64 samples.
const seedsForInterval = 6

// SpreadOf returns the median, the lowest and the highest of values, and the interval of the median; NaN if a value is.
func SpreadOf(values []float64) Spread {
	s := Spread{Values: values, Low: math.Inf(1), High: math.Inf(-1), From: math.Inf(-1), To: math.Inf(1)}
	for _, v := range values {
		if math.IsNaN(v) {
			return Spread{Values: values, Median: v, Low: v, High: v, From: v, To: v}
		}
		s.Low, s.High = min(s.Low, v), max(s.High, v)
	}
	s.Median = Median(values)
	if k := rank(len(values)); k > 0 {
		sorted := slices.Sorted(slices.Values(values))
		s.From, s.To = sorted[k-1], sorted[len(sorted)-k]
	}
	return s
}

// Interval returns From and To as they appear in JSON.
func (s *Spread) Interval() [2]Number { return [2]Number{Number(s.From), Number(s.To)} }

// rank returns the largest k for which the kth lowest and the kth highest of n values enclose the median in 95 of 100
// samples; 0 if there is none.
func rank(n int) int {
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

// Median returns the median of values without NaN: the middle one, or the mean of the two in the middle.
func Median(values []float64) float64 {
	v := slices.Sorted(slices.Values(values))
	if len(v) == 0 {
		return math.NaN()
	}
	return (v[(len(v)-1)/2] + v[len(v)/2]) / 2
}
