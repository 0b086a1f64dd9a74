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
	policytest.Run(t, delay.New, "{node_wait: -1, rack_wait: -1, node_fraction: 0.5, rack_fraction: 1}", put)
}

func TestNoWait(t *testing.T) {
	policytest.Run(t, delay.New, "{node_wait: -1, rack_wait: -1}", put)
}

// A wait is a number, within bounds.
func TestOptionsAreChecked(t *testing.T) {
	for options, want := range map[string]string{
		"{node_wait: .nan}": "delay: node_wait and rack_wait must be at most 2147483647 seconds; below 0 for no wait",
		"{rack_wait: .inf}": "delay: node_wait and rack_wait must be at most 2147483647 seconds; below 0 for no wait",
		"{node_wait: -1, rack_wait: -1, node_fraction: 1e300, rack_fraction: 1}": "delay: node_fraction and rack_fraction must be at most 1; below 0 for no wait",
		"{node_wait: -1, rack_wait: -1, node_fraction: 1, rack_fraction: .nan}":  "delay: node_fraction and rack_fraction must be at most 1; below 0 for no wait",
	} {
		if _, err := delay.New(policytest.Args(options)); err == nil || err.Error() != want {
			t.Errorf("%s: %v, want %s", options, err, want)
		}
	}
}

func TestWaitsOfBothSortsAreRefused(t *testing.T) {
	if _, err := delay.New(policytest.Args("{node_wait: 2, rack_wait: 1, node_fraction: 0.5, rack_fraction: 0.5}")); err == nil {
		t.Error("waits in seconds and in offers were taken together")
	}
}
