package policy_test

import (
	"testing"

	"heddle"
	"heddle/policy"
	"heddle/policy/policytest"
)

// The neutral policies, each in its slot, change nothing.
func TestNeutralPolicies(t *testing.T) {
	maker := func(a policy.Args) (struct{}, error) { return struct{}{}, a.Decode(&struct{}{}) }
	policytest.Run(t, maker, "", func(struct{}) policy.Set {
		s := policytest.Base(policytest.Submitted{})
		s.Share = []policy.Share{policy.Unshared{}}
		s.Control = []policy.Control{policy.Idle{}}
		for k := range s.Place {
			s.Size[k], s.Place[k], s.Trim[k] = policy.AsAsked{}, policy.Anywhere{}, policy.Whole{}
			s.Gate[k] = []policy.Gate{policy.AlwaysOpen{}}
		}
		return s
	})
}

func TestVerdicts(t *testing.T) {
	for _, c := range []struct {
		v    policy.Verdict
		ok   bool
		skip policy.Skip
	}{
		{policy.Yes, true, policy.SkipAsk},
		{policy.No(heddle.NoRoom), false, policy.SkipAsk},
		{policy.NoApp(heddle.NoRoom), false, policy.SkipApp},
		{policy.NoQueue(heddle.NoRoom), false, policy.SkipQueue},
	} {
		if c.v.OK() != c.ok || c.v.Skip != c.skip {
			t.Errorf("%+v", c.v)
		}
	}
}
