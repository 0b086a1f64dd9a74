package exp

import (
	"math"
	"slices"
)

// A Spread is a figure over seeds.
type Spread struct {
	Values            []float64 // by seed
	Median, Low, High float64   // NaN where a value is

	// From and To are the interval that holds the true median in 95 of 100 such samples, whatever the figure's distribution:
	// two of the ordered values, by the binomial distribution of how many lie below the median. They are infinite where
	// there are too few values, and NaN where one is.
	From, To float64
}

// seedsForInterval is the least number of values that an interval of 95 % has: of six all lie on one side of the median in 2
// of 64 samples.
const seedsForInterval = 6

// SpreadOf is the median, the lowest and the highest of values, and the interval of the median; NaN where one of them is.
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

// Interval is From and To as they stand in JSON.
func (s *Spread) Interval() [2]Number { return [2]Number{Number(s.From), Number(s.To)} }

// rank is the largest k for which the kth lowest and the kth highest of n values enclose the median in 95 of 100 samples; 0
// where none does.
func rank(n int) int {
	const each = 0.025                // that may lie outside on either side
	term := math.Pow(0.5, float64(n)) // the chance that exactly k lie below the median, of k = 0
	below := 0.0
	for k := 0; ; k++ {
		if below += term; below > each {
			return k
		}
		term *= float64(n-k) / float64(k+1)
	}
}

// Median is the median of values without NaN: the middle one, or the mean of the two in the middle.
func Median(values []float64) float64 {
	v := slices.Sorted(slices.Values(values))
	if len(v) == 0 {
		return math.NaN()
	}
	return (v[(len(v)-1)/2] + v[len(v)/2]) / 2
}
