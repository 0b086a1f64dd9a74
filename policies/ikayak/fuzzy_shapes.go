package ikayak

import (
	"strconv"
	"strings"
)

// A Shape is the number of lags and of rules of a program: n_y, n_u and the rules.
type Shape struct{ Outputs, Inputs, Rules int }

// String returns n_y/n_u/rules.
func (s Shape) String() string {
	return strconv.Itoa(s.Outputs) + "/" + strconv.Itoa(s.Inputs) + "/" + strconv.Itoa(s.Rules)
}

// Shapes lists the shapes that have rules: other lags with three rules, and other numbers of rules with the default's
// lags.
var Shapes = []Shape{
	{3, 2, 3},
	{1, 2, 3},
	{2, 2, 3},
	{5, 2, 3},
	{3, 0, 3},
	{3, 1, 3},
	{3, 3, 3},
	{3, 2, 1},
	{3, 2, 2},
	{3, 2, 5},
	{3, 2, 8},
	{3, 2, 12},
}

// trained returns the rules of a program.
func trained(program string, s Shape) (Base, bool) {
	for _, b := range tables {
		if b.Program == program && b.Shape == s {
			return b, true
		}
	}
	return Base{}, false
}

func shapes() string {
	var out []string
	for _, s := range Shapes {
		out = append(out, s.String())
	}
	return strings.Join(out, ", ")
}
