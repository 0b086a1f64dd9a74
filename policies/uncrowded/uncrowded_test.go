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

func TestSuite(t *testing.T) { policytest.Run(t, uncrowded.New, "share: 0.1", put) }

func TestOptionsOutOfRange(t *testing.T) {
	for _, o := range []string{"share: -0.1", "share: 1.1", "share: .nan", "busy: -0.1", "busy: 1.1", "busy: .nan", "disk: -0.1", "disk: 1.1", "disk: .nan", "ahead: -1", "ahead: .nan", "small: -0.1", "small: 1.1", "masters: -1", "masters: .nan", "small: .nan", "patience: 0", "patience: .nan"} {
		if _, err := uncrowded.New(policytest.Args(o)); err == nil {
			t.Errorf("%s was taken", o)
		}
	}
}
