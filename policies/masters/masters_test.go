package masters_test

import (
	"testing"

	"heddle/internal/testkit/dialogue"
	"heddle/policies/masters"
	"heddle/policy"
	"heddle/policy/policytest"
)

func put(c policy.Control) policy.Set {
	s := policytest.Base(policytest.Submitted{})
	s.Control = []policy.Control{c}
	return s
}

func TestSuite(t *testing.T) { policytest.Run(t, masters.New, "{weight: 4, for: 5}", put) }

func TestDialogues(t *testing.T) { dialogue.Run(t, "testdata") }

func TestOptionsOutOfRange(t *testing.T) {
	for _, o := range []string{"weight: 0.5", "weight: 101", "weight: .nan", "for: 0", "for: -1", "for: .nan", "for: 3601"} {
		if _, err := masters.New(policytest.Args(o)); err == nil {
			t.Errorf("%s was taken", o)
		}
	}
}
