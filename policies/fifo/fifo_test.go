package fifo_test

import (
	"testing"

	"heddle/policies/fifo"
	"heddle/policy/policytest"
)

func TestSuite(t *testing.T) {
	policytest.Run(t, fifo.New, "", policytest.Base)
}
