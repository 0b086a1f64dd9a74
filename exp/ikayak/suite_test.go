package ikayak

import (
	"testing"

	"heddle/exp/exptest"
)

func TestWhole(t *testing.T) { exptest.Whole(t, &System) }

func TestExperimentsAsKept(t *testing.T) { exptest.AsKept(t, &System) }

func TestMutationsLose(t *testing.T) { exptest.MutationsLose(t, &System) }
