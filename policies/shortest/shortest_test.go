package shortest_test

import (
	"testing"

	"heddle/policies/shortest"
	"heddle/policy/policytest"
)

func TestSuite(t *testing.T) { policytest.Run(t, shortest.New, "patience: 20", policytest.Base) }

func TestOptionsOutOfRange(t *testing.T) {
	for _, o := range []string{"patience: 0", "patience: -1", "patience: .nan", "patience: 1e12"} {
		if _, err := shortest.New(policytest.Args(o)); err == nil {
			t.Errorf("%s was taken", o)
		}
	}
}
