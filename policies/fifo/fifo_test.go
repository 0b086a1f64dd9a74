package fifo_test

import (
	"testing"

	"heddle/policies/fifo"
	"heddle/policy"
	"heddle/policy/policytest"
)

func TestSuite(t *testing.T) {
	policytest.Run(t, fifo.New, "", func(o policy.Order) policy.Set { return policytest.Base(o) })
}
