// Package near helps users who wrote a name that does not exist: it lists the names there are and says which one was
// probably meant.
package near

import (
	"slices"
	"strings"

	"github.com/agnivade/levenshtein"
)

// Name returns the known name nearest to the written one, if it is near enough to be what was probably meant: apart
// from upper and lower case, one letter in three may be wrong, and the letters may be in another order. Of several
// equally near names it returns the first.
func Name(written string, known []string) (name string, ok bool) {
	w := strings.ToLower(written)
	best := min(max(1, len([]rune(w))/3), len([]rune(w))-1) + 1
	for _, k := range known {
		if d := distance(w, strings.ToLower(k)); d < best {
			name, best, ok = k, d, true
		}
	}
	return name, ok
}

// distance returns how many letters differ; the same letters in another order count as one difference.
func distance(a, b string) int {
	d := levenshtein.ComputeDistance(a, b)
	if d > 1 && slices.Equal(letters(a), letters(b)) {
		return 1
	}
	return d
}

func letters(s string) []rune {
	l := []rune(s)
	slices.Sort(l)
	return l
}

// Names returns the end of the message about a name that does not exist: "did you mean fair? There are capacity and
// fair", or without the question if no name is near.
func Names(written string, known []string) string {
	all := "here are none"
	switch n := len(known); {
	case n == 1:
		all = "here is only " + known[0]
	case n > 1:
		all = "here are " + strings.Join(known[:n-1], ", ") + " and " + known[n-1]
	}
	if name, ok := Name(written, known); ok {
		return "did you mean " + name + "? T" + all
	}
	return "t" + all
}
