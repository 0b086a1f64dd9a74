package workload

import "strings"

// The names that known programs go by, and the programs. Of two that both fit the first counts.
var programs = [...][2]string{
	{"wordcount", "wordcount"},
	{"wcount", "wordcount"},
	{"grep", "grep"},
	{"terasort", "terasort"},
	{"randomwriter", "randomwriter"},
	{"teragen", "randomwriter"},
	{"sort", "sort"},
	{"montecarlo", "pi"},
	{"piest", "pi"},
	{"kmeans", "kmeans"},
	{"pagerank", "pagerank"},
	{"index", "index"},
}

// OtherProgram is the name for any program of which nothing is known; it needs what known ones need on average.
const OtherProgram = "other"

// Programs lists the programs whose needs are known, and [OtherProgram].
func Programs() []string {
	return []string{"wordcount", "grep", "terasort", "randomwriter", "sort", "pi", "kmeans", "pagerank", "index", OtherProgram}
}

// Program returns the known program that a name stands for: the one that it contains, or another name of it,
// whatever the case: "DistGrep", "word count 2", "teragen".
func Program(name string) (known string, ok bool) {
	plain := strings.ToLower(strings.NewReplacer(" ", "", "-", "", "_", "").Replace(name))
	if plain == "pi" || plain == OtherProgram {
		return plain, true
	}
	for _, p := range programs {
		if strings.Contains(plain, p[0]) {
			return p[1], true
		}
	}
	return "", false
}
