package dress_test

import (
	"testing"

	"heddle/policies/dress"
	"heddle/policy"
	"heddle/policy/policytest"
)

func put(s policy.Share) policy.Set {
	set := policytest.Base(policytest.Submitted{})
	set.Share = []policy.Share{s}
	return set
}

func TestShare(t *testing.T) {
	for _, o := range []string{
		"",
		"{theta: [0.3], delta: 0.3, interval: 0.5, window: 2, t_s: 0, t_e: 0}",
		"{theta: [0.2, 0.5], delta: 0.2, delta_min: 0.05, delta_max: 0.9, classify_against: available}",
		"{theta: [0.5], adjust: false, delta: 0.5}",
		"{reserve: false}",
		"{theta: [0.3], release: false, delta_max: 1}",
		"{theta: [0.3], estimate: cumulative, gamma: all, t_s: 0, t_e: 0, window: 1}",
	} {
		t.Run(o, func(t *testing.T) { policytest.Run(t, dress.New, o, put) })
	}
}
