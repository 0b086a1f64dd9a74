package main

import (
	"math"
	"testing"

	"heddle/policies"
)

func TestLoads(t *testing.T) {
	for _, c := range []struct {
		load    string
		reduces int
		hours   float64
	}{{"farm", 0, 6667.0 / 3600}, {"day", 100, 24}} {
		b, err := newBench(c.load, 1_000_000)
		if err != nil {
			t.Fatal(err)
		}
		sum, seconds := 0, 0.0
		for i := range b.jobs.Jobs {
			j := &b.jobs.Jobs[i]
			sum += len(j.Maps) + len(j.Reduces)
			if len(j.Reduces) != c.reduces {
				t.Fatalf("%s: %d reduces, want %d", c.load, len(j.Reduces), c.reduces)
			}
			for _, k := range j.Maps {
				seconds += k.Duration.Seconds()
			}
		}
		last := b.jobs.Jobs[len(b.jobs.Jobs)-1].Submit.Seconds() / 3600
		mean := seconds / float64(sum-c.reduces*len(b.jobs.Jobs))
		if sum != 1_000_000 || len(b.nodes) != nodes || math.Abs(last/c.hours-1) > 0.1 || math.Abs(mean/meanTask-1) > 0.01 {
			t.Errorf("%s: %d tasks of %.1f s on %d nodes, the last job after %.2f h", c.load, sum, mean, len(b.nodes), last)
		}
	}
}

func TestRuns(t *testing.T) {
	for _, load := range []string{"farm", "day"} {
		if err := run(load, false, false, "capacity", 24*perJob); err != nil {
			t.Errorf("%s: %v", load, err)
		}
	}
	for _, profile := range policies.Names() {
		if err := run("farm", false, false, profile, perJob); err != nil {
			t.Errorf("%s: %v", profile, err)
		}
	}
	for _, tasks := range []int{0, perJob + 1} {
		if err := run("farm", false, false, "capacity", tasks); err == nil {
			t.Errorf("%d tasks were taken", tasks)
		}
	}
	if err := run("night", false, false, "capacity", perJob); err == nil {
		t.Error("a load that is none was taken")
	}
}
