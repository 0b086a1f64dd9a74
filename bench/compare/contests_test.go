package main

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"heddle/policies"

	"heddle/bench/internal/measure"
)

// Every contest of profiles has each of them once, with the CapacityScheduler's as the base, and takes one round; one
// contest has 5,000 waiting applications.
func TestProfiles(t *testing.T) {
	crowd := false
	for _, c := range profiles() {
		got := []string{c.base.name}
		for _, s := range c.others {
			got = append(got, s.name)
			crowd = crowd || slices.Contains(s.args, measure.Crowd.Name)
			if !slices.Contains(s.args, s.name) {
				t.Errorf("%s: %s is run with %v", c.name, s.name, s.args)
			}
		}
		if slices.Sort(got); c.base.name != "capacity" || !slices.Equal(got, policies.Names()) || !c.once || len(c.columns) == 0 {
			t.Errorf("%s: %s beside %v, in one round: %t, columns %v", c.name, c.base.name, got, c.once, c.columns)
		}
	}
	if !crowd || measure.Crowd.Apps != 5000 {
		t.Errorf("no contest has 5,000 applications that wait: %d, %t", measure.Crowd.Apps, crowd)
	}
}

func TestTable(t *testing.T) {
	c := contest{name: "all", base: side{name: "first"}, others: []side{{name: "second"}}, columns: []string{rate}, once: true}
	scan, run, _ := script([]float64{7}, map[string][]float64{"first": {400}, "second": {100}})
	r, err := c.measure(1, scan, run)
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	missed := r.print(&out)
	var lines []string
	for line := range strings.Lines(out.String()) {
		lines = append(lines, strings.Join(strings.Fields(line), " "))
	}
	want := []string{"", "all", "allocations_per_s ratio peak_rss_mib ratio", "first 400 1 1 1", "second 100 0.25 1 1"}
	if missed != 0 || !slices.Equal(lines, want) {
		t.Errorf("%d goals missed, printed %q, want %q", missed, lines, want)
	}
}
