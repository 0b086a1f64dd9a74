package slowstart_test

import (
	"testing"

	"heddle"
	"heddle/policies/slowstart"
	"heddle/policy"
	"heddle/policy/policytest"
)

func put(g policy.Gate) policy.Set {
	s := policytest.Base(policytest.Submitted{})
	s.Gate[heddle.Reduce] = []policy.Gate{g}
	return s
}

func TestSuite(t *testing.T) { policytest.Run(t, slowstart.New, "completed: 0.5", put) }

func TestOptionsOutOfRange(t *testing.T) {
	for _, o := range []string{"completed: -0.1", "completed: 1.1", "completed: .nan"} {
		if _, err := slowstart.New(policytest.Args(o)); err == nil {
			t.Errorf("%s was taken", o)
		}
	}
}
