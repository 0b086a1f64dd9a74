// Package unit converts amounts between the units of YARN's resource types.
package unit

import (
	"math"
	"math/big"
)

// sizes are YARN's units by their names.
var sizes = map[string]*big.Rat{
	"p": power(10, -12), "n": power(10, -9), "u": power(10, -6), "m": power(10, -3), "": power(10, 0),
	"k": power(10, 3), "M": power(10, 6), "G": power(10, 9), "T": power(10, 12), "P": power(10, 15),
	"Ki": power(1024, 1), "Mi": power(1024, 2), "Gi": power(1024, 3), "Ti": power(1024, 4), "Pi": power(1024, 5),
}

func power(base int64, n int) *big.Rat {
	x, b := big.NewRat(1, 1), big.NewRat(base, 1)
	for range max(n, -n) {
		x.Mul(x, b)
	}
	if n < 0 {
		x.Inv(x)
	}
	return x
}

// Known reports whether YARN knows a unit. "" is one.
func Known(unit string) bool { return sizes[unit] != nil }

// Convert returns n of one unit in another, rounded towards zero; ok is false if either is unknown. Beyond 64 bits it
// returns the largest or smallest number.
func Convert(n int64, from, to string) (_ int64, ok bool) {
	switch {
	case !Known(from) || !Known(to):
		return 0, false
	case from == to:
		return n, true
	}
	x := big.NewRat(n, 1)
	x.Mul(x, sizes[from]).Quo(x, sizes[to])
	switch whole := new(big.Int).Quo(x.Num(), x.Denom()); {
	case whole.IsInt64():
		return whole.Int64(), true
	case n < 0:
		return math.MinInt64, true
	}
	return math.MaxInt64, true
}
