package even_test

import (
	"testing"

	"heddle"
	"heddle/internal/testkit/dialogue"
	"heddle/policies/even"
	"heddle/policy"
	"heddle/policy/policytest"
)

func put(p policy.Place) policy.Set {
	s := policytest.Base(policytest.Submitted{})
	s.Place[heddle.Map], s.Place[heddle.Reduce] = p, p
	return s
}

func TestSuite(t *testing.T) { policytest.Run(t, even.New, "{patience: 5}", put) }

func TestDialogues(t *testing.T) { dialogue.Run(t, "testdata") }

func TestOptionsOutOfRange(t *testing.T) {
	for _, o := range []string{"patience: 0", "patience: -1", "patience: .nan", "patience: 1e12"} {
		if _, err := even.New(policytest.Args(o)); err == nil {
			t.Errorf("%s was taken", o)
		}
	}
}
