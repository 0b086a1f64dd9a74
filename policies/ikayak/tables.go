package ikayak

import (
	"strconv"
	"strings"
)

// A Shape is a number of lags and rules that rules are trained for.
type Shape struct{ Outputs, Inputs, Rules int }

// Shapes are those there are rules for: the default, and those of the sweeps around it.
var Shapes = []Shape{
	{3, 2, 3},
	{1, 2, 3}, {2, 2, 3}, {5, 2, 3},
	{3, 0, 3}, {3, 1, 3}, {3, 3, 3},
	{3, 2, 1}, {3, 2, 2}, {3, 2, 5}, {3, 2, 8},
}

// trained finds the rules of a program.
func trained(program string, s Shape) (Base, bool) {
	for _, b := range tables {
		if b.Program == program && b.Shape == s {
			return b, true
		}
	}
	return Base{}, false
}

func trainedFor() string {
	var out []string
	for _, s := range Shapes {
		out = append(out, strconv.Itoa(s.Outputs)+"/"+strconv.Itoa(s.Inputs)+"/"+strconv.Itoa(s.Rules))
	}
	return strings.Join(out, ", ")
}
