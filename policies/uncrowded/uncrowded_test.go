package uncrowded_test

import (
	"testing"

	"heddle"
	"heddle/policies/uncrowded"
	"heddle/policy"
	"heddle/policy/policytest"
)

func put(p policy.Place) policy.Set {
	s := policytest.Base(policytest.Submitted{})
	s.Veto[heddle.Map] = []policy.Place{p}
	return s
}

func TestSuite(t *testing.T) { policytest.Run(t, uncrowded.New, "least: 1", put) }

func TestOptionsOutOfRange(t *testing.T) {
	for _, o := range []string{"least: 0", "share: -0.1", "share: 1.1", "share: .nan", "of: node", "busy: -0.1", "busy: 1.1", "busy: .nan", "patience: 0", "patience: .nan"} {
		if _, err := uncrowded.New(policytest.Args(o)); err == nil {
			t.Errorf("%s was taken", o)
		}
	}
}
