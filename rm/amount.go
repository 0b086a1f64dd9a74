package rm

import (
	"math"
	"strconv"

	"heddle"
)

// An Amount is an amount of resources in reports, for readers who do not know which resources this cluster counts.
type Amount struct {
	MemoryMiB int64            `json:"memory_mib"`
	Vcores    float64          `json:"vcores"`          // to thousandths
	Extra     map[string]int64 `json:"extra,omitempty"` // further resources that the site counts, by name
}

// AmountOf returns r as an Amount. extra names what is counted in heddle.Extra1 and Extra2.
func AmountOf(r heddle.Resource, extra ...string) Amount {
	a := Amount{MemoryMiB: r[heddle.Memory], Vcores: float64(r[heddle.CPU]) / 1000}
	for i, name := range extra[:min(len(extra), heddle.NumDims-int(heddle.Extra1))] {
		if n := r[heddle.Extra1+heddle.Dim(i)]; n != 0 {
			if a.Extra == nil {
				a.Extra = map[string]int64{}
			}
			a.Extra[name] = n
		}
	}
	return a
}

// Resource returns a as a resource. extra names what is counted in heddle.Extra1 and Extra2; other names are left out.
func (a Amount) Resource(extra ...string) heddle.Resource {
	r := heddle.Of(a.MemoryMiB, int64(math.Round(a.Vcores*1000)))
	for i, name := range extra[:min(len(extra), heddle.NumDims-int(heddle.Extra1))] {
		r[heddle.Extra1+heddle.Dim(i)] = a.Extra[name]
	}
	return r
}

// IsZero reports whether a is empty.
func (a Amount) IsZero() bool { return a.MemoryMiB == 0 && a.Vcores == 0 && len(a.Extra) == 0 }

// ShareOf returns the share of total that a is, 0 to 1: of memory only, or of its dominant resource.
func ShareOf(a, total heddle.Resource, memoryOnly bool) float64 {
	switch {
	case !memoryOnly:
		return a.Share(total)
	case total[heddle.Memory] <= 0:
		return 0
	}
	return float64(a[heddle.Memory]) / float64(total[heddle.Memory])
}

// A Fraction is a part of something: 1 for all of it, below 0 if it does not apply. In JSON it is in per cent, with at
// most three decimals, and −1 if it does not apply.
type Fraction float64

// Of returns this fraction of an amount, rounded down.
func (f Fraction) Of(r heddle.Resource) heddle.Resource {
	for d := range r {
		r[d] = int64(float64(r[d]) * float64(f))
	}
	return r
}

// MarshalJSON writes the fraction in per cent.
func (f Fraction) MarshalJSON() ([]byte, error) {
	if !(f >= 0) || math.IsInf(float64(f), 0) {
		return []byte("-1"), nil
	}
	return strconv.AppendFloat(nil, math.Round(float64(f)*1e5)/1e3, 'f', -1, 64), nil
}

// UnmarshalJSON reads what MarshalJSON writes.
func (f *Fraction) UnmarshalJSON(text []byte) error {
	if string(text) == "null" {
		return nil
	}
	x, err := strconv.ParseFloat(string(text), 64)
	switch {
	case err != nil:
		return err
	case x < 0:
		*f = -1
	default:
		*f = Fraction(x / 100)
	}
	return nil
}
