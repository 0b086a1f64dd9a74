package spread_test

import (
	"testing"

	"heddle"
	"heddle/policies/spread"
	"heddle/policy"
	"heddle/policy/policytest"
)

func put(p policy.Place) policy.Set {
	s := policytest.Base(policytest.Submitted{})
	for _, k := range []heddle.Kind{heddle.Map, heddle.Executor, heddle.Other} {
		s.Place[k] = p
	}
	return s
}

func TestSpread(t *testing.T) { policytest.Run(t, spread.New, "", put) }
func TestPack(t *testing.T)   { policytest.Run(t, spread.NewPack, "", put) }
