package exp

import (
	"testing"

	"heddle/scenario"
	"heddle/workload"
)

// jobsOf builds the jobs that a work writes for a seed, and checks that it writes the same twice.
func jobsOf(t *testing.T, w Work, seed uint64) *workload.Workload {
	t.Helper()
	text, err := w(seed)
	if err != nil {
		t.Fatal(err)
	}
	if again, _ := w(seed); again != text {
		t.Fatalf("seed %d writes two texts", seed)
	}
	s, err := scenario.Parse("work.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	jobs, err := s.Build(seed)
	if err != nil {
		t.Fatal(err)
	}
	return jobs
}

// runOf makes one run of every arm of an experiment.
func runOf(t *testing.T, e *Experiment, seed uint64, check bool) Runs {
	t.Helper()
	var out Runs
	err := Run([]*Experiment{e}, Options{Seeds: []uint64{seed}, Check: check}, func(o *Outcome) error {
		out = o.All[0]
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}
