package ikayak

import "strings"

// The rule bases.
const (
	grep = iota
	terasort
	wordcount
	pooled // of all programs together

	numBases
)

// Bases lists the names of the rule bases: the paper's three programs (ikayak: 5.3), and all together.
var Bases = [numBases]string{"grep", "terasort", "wordcount", "pooled"}

// baseOf returns the rule base for an application's name: that of the program whose name it contains, ignoring case and
// separators ("word count", "TeraSort"); else the pooled one. A resource manager knows the name an application was
// submitted under, and nothing else of what it runs.
func baseOf(name string) int {
	plain := strings.NewReplacer(" ", "", "-", "", "_", "").Replace(strings.ToLower(name))
	for i, p := range Bases[:pooled] {
		if strings.Contains(plain, p) {
			return i
		}
	}
	return pooled
}
