package newcomers_test

import (
	"testing"

	"heddle/policies/newcomers"
	"heddle/policy"
	"heddle/policy/policytest"
)

func TestSuite(t *testing.T) {
	policytest.Run(t, newcomers.New, "{wait: 20, most: 0.5}", func(s policy.Share) policy.Set {
		set := policytest.Base(policytest.Submitted{})
		set.Share = []policy.Share{s}
		return set
	})
}

func TestOptionsOutOfRange(t *testing.T) {
	for _, o := range []string{"wait: 0", "wait: -1", "wait: .nan", "wait: 1e12", "most: -0.1", "most: 1.1", "most: .nan", "patience: 0", "patience: -1", "patience: .nan"} {
		if _, err := newcomers.New(policytest.Args(o)); err == nil {
			t.Errorf("%s was taken", o)
		}
	}
}
