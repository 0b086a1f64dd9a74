package exp

import (
	"math"
	"slices"

	"heddle/internal/median"
)

// A Spread is the distribution of a figure over seeds.
type Spread struct {
	Values            []float64 // by seed
	Median, Low, High float64   // NaN if a value is

	From, To float64 // the interval of the median, as of [median.Interval]; NaN if a value is
}

// SpreadOf returns the median, the lowest and the highest of values, and the interval of the median; NaN if a value is.
func SpreadOf(values []float64) Spread {
	s := Spread{Values: values, Low: math.Inf(1), High: math.Inf(-1)}
	for _, v := range values {
		if math.IsNaN(v) {
			return Spread{Values: values, Median: v, Low: v, High: v, From: v, To: v}
		}
		s.Low, s.High = min(s.Low, v), max(s.High, v)
	}
	s.Median = Median(values)
	s.From, s.To = median.Interval(values)
	return s
}

// Interval returns From and To as they appear in JSON.
func (s *Spread) Interval() [2]Number { return [2]Number{Number(s.From), Number(s.To)} }

// Median returns the median of values without NaN: the middle one, or the mean of the two in the middle.
func Median(values []float64) float64 {
	v := slices.Sorted(slices.Values(values))
	if len(v) == 0 {
		return math.NaN()
	}
	return (v[(len(v)-1)/2] + v[len(v)/2]) / 2
}
