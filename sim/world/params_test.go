package world

import (
	"maps"
	"slices"
	"testing"

	"heddle/workload"
)

// The programs that scenarios may name are those whose needs are known here.
func TestProgramsAgree(t *testing.T) {
	p := DefaultParams()
	names := slices.DeleteFunc(workload.Programs(), func(n string) bool { return n == workload.OtherProgram })
	slices.Sort(names)
	if have := slices.Sorted(maps.Keys(p.Programs)); !slices.Equal(have, names) {
		t.Errorf("needs are known of %v, names of %v", have, names)
	}
	for name, want := range map[string]string{
		"DistGrep": "grep", "word count 2": "wordcount", "TeraSort": "terasort", "teragen": "randomwriter", "Sort-1": "sort",
		"QuasiMonteCarlo": "pi", "pi": "pi", "KMEANS": "kmeans", "inverted_index": "index",
	} {
		if got := p.program(name); got != p.Programs[want] {
			t.Errorf("%s is not taken for %s", name, want)
		}
	}
	for _, name := range []string{"mystery", "", workload.OtherProgram} {
		if got := p.program(name); got != p.Mean {
			t.Errorf("%q needs %+v, want the mean", name, got)
		}
	}
}
