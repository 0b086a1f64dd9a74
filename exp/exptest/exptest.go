// Package exptest is the suite that the experiments of every system must pass, with helpers for tests of single ones.
//
// Whole checks what is written, AsKept checks its results, and MutationsLose checks that the experiments can fail. None
// of them knows a system.
package exptest

import (
	"testing"

	"heddle/exp"
	"heddle/scenario"
	"heddle/workload"
)

// Jobs builds the jobs that a work writes for a seed, and checks that the work writes the same twice.
func Jobs(t *testing.T, w exp.Work, seed uint64) *workload.Workload {
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

// Run runs every arm of an experiment once.
func Run(t *testing.T, e *exp.Experiment, seed uint64, check bool) exp.Runs {
	t.Helper()
	var out exp.Runs
	err := exp.Run([]*exp.Experiment{e}, exp.Options{Seeds: []uint64{seed}, Check: check}, func(o *exp.Outcome) error {
		out = o.All[0]
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}
