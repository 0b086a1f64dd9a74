package delay_test

import (
	"testing"

	"heddle"
	"heddle/policies/delay"
	"heddle/policy"
	"heddle/policy/policytest"
)

func put(p policy.Place) policy.Set {
	s := policytest.Base(policytest.Submitted{})
	s.Place[heddle.Map], s.Place[heddle.Reduce] = p, p
	return s
}

func TestByTime(t *testing.T) {
	policytest.Run(t, delay.New, "{node_wait: 2, rack_wait: 1}", put)
}

func TestByOffers(t *testing.T) {
	policytest.Run(t, delay.New, "{node_wait: -1, rack_wait: -1, node_fraction: 0.5, rack_fraction: 2}", put)
}

func TestNoWait(t *testing.T) {
	policytest.Run(t, delay.New, "{node_wait: -1, rack_wait: -1}", put)
}

func TestWaitsOfBothSortsAreRefused(t *testing.T) {
	if _, err := delay.New(policytest.Args("{node_wait: 2, rack_wait: 1, node_fraction: 0.5, rack_fraction: 0.5}")); err == nil {
		t.Error("waits in seconds and in offers were taken together")
	}
}
