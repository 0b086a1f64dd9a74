package workload

import "strings"

// The names of known programs, and the programs. If two names fit, the first one counts.
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

// OtherProgram is the name for any unknown program, which needs what known ones need on average.
const OtherProgram = "other"

// Programs returns the programs whose needs are known, and [OtherProgram].
func Programs() []string {
	return []string{"wordcount", "grep", "terasort", "randomwriter", "sort", "pi", "kmeans", "pagerank", "index", OtherProgram}
}

// Program returns the known program for a name that contains its name or one of its other names, in any case:
// "DistGrep", "word count 2", "teragen".
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
