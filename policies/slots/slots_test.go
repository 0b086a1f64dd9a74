package slots_test

import (
	"testing"

	"heddle"
	"heddle/internal/testkit/dialogue"
	"heddle/policies/slots"
	"heddle/policy"
	"heddle/policy/policytest"
)

func put(o policy.Order) policy.Set {
	s := policytest.Base(policytest.Submitted{})
	s.Lanes = []policy.Lane{
		{Kinds: []heddle.Kind{heddle.AM, heddle.Executor, heddle.Other, heddle.Reduce}, Order: policytest.Submitted{}},
		{Kinds: []heddle.Kind{heddle.Map}, Order: o, Slots: policy.Slots{PerNode: 4}},
	}
	return s
}

func TestSuite(t *testing.T) { policytest.Run(t, slots.New, "kind: map", put) }

func TestDialogues(t *testing.T) { dialogue.Run(t, "testdata") }

// Hadoop's priorities very low, low, normal, high and very high have weights 1/4, 1/2, 1, 2 and 4.
func TestWeight(t *testing.T) {
	for p, want := range map[int32]float64{-9: 0.25, -2: 0.25, -1: 0.5, 0: 1, 1: 2, 2: 4, 9: 4} {
		if w := slots.Weight(p); w != want {
			t.Errorf("priority %d weighs %v, want %v", p, w, want)
		}
	}
}

func TestKindIsAskedFor(t *testing.T) {
	for _, o := range []string{"", "kind: am", "kind: mop"} {
		if _, err := slots.New(policytest.Args(o)); err == nil {
			t.Errorf("%q was taken", o)
		}
	}
}
