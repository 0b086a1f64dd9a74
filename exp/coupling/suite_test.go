package coupling

import (
	"testing"

	"heddle/exp/exptest"
)

// A map that runs alone on its node has only its own work left, which no schedule makes less.
func TestWhole(t *testing.T) {
	exptest.Whole(t, &System, exptest.Minimum{Experiment: "coupling-ten-greps", Metric: "map time, reduction", Arm: alone})
}

func TestMutationsLose(t *testing.T) { exptest.MutationsLose(t, &System) }

func TestExperimentsAsKept(t *testing.T) { exptest.AsKept(t, &System) }
