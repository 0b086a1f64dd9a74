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

// A program that is measured under only one framework needs, under the other one, the mean of what the measured ones
// need there, so that none is free. Only pi, which reads nothing, needs the same under both.
func TestEveryProgramComputesUnderEitherFramework(t *testing.T) {
	p := DefaultParams()
	for name, q := range p.Programs {
		if q.Fixed == 0 && q.Map == 0 || q.Reduce == 0 {
			t.Errorf("%s needs nothing under MapReduce: %+v", name, q)
		}
		if q.Fixed == 0 && (q.First == 0 || q.Shuffle == 0 || q.Cached == 0 || q.Grow == 0) {
			t.Errorf("%s needs nothing under Spark: %+v", name, q)
		}
	}
	for _, name := range []string{"wordcount", "grep", "sort", "terasort", "randomwriter"} {
		q := p.Programs[name]
		if m := p.Mean; q.First != m.First || q.Shuffle != m.Shuffle || q.Cached != m.Cached || q.Grow != m.Grow {
			t.Errorf("%s needs %+v under Spark, the mean is %+v", name, q, m)
		}
	}
}
