package ikayak

import "strings"

// pooled names the rules of all programs together.
const pooled = "pooled"

// baseNames are the rule bases: one for each program that is trained for, and the pooled one, last.
var baseNames = []string{"grep", "terasort", "wordcount", pooled}

// Bases are the names of all rule bases.
func Bases() []string { return baseNames }

// Programs are the programs that training knows, the three of the paper (ikayak: 3.2).
func Programs() []string { return baseNames[:len(baseNames)-1] }

// baseOf is the rule base for an application of a name: that of the program whose name it contains,
// whatever the case and the separators ("word count", "TeraSort"); else the pooled one. A resource manager
// knows an application's name, and nothing else, of what it runs.
func baseOf(name string) int {
	plain := strings.NewReplacer(" ", "", "-", "", "_", "").Replace(strings.ToLower(name))
	for i, p := range Programs() {
		if strings.Contains(plain, p) {
			return i
		}
	}
	return len(baseNames) - 1
}
