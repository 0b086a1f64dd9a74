package mrorchestrator

import (
	"strings"
	"testing"

	"heddle/exp"
	"heddle/exp/exptest"
	"heddle/sim"
)

// However many slots a node has, memory and processors that are taken from tasks are never worth more than
// what they are given for: no sum of completion times is above the baseline's.
func TestDoesNotSlowSlotsDown(t *testing.T) {
	s := slotCounts()
	e := exp.Experiment{Name: "slots", Work: work(23, suite), Arms: s.Arms}
	r := exptest.Run(t, &e, 1, false)
	for i := 0; i < len(s.Arms); i += 2 {
		base, ours := s.Arms[i].Name, s.Arms[i+1].Name
		if !strings.HasPrefix(ours, base) {
			t.Fatalf("%s is not the pair of %s", ours, base)
		}
		if b, o := exp.MeanJCT(r.Arm(base), nil), exp.MeanJCT(r.Arm(ours), nil); !(o <= b) {
			t.Errorf("%s: mean JCT %.1f s, without %.1f s", ours, o, b)
		}
	}
}

// The books hold after every step of a run in which allocations move all the time.
func TestKeepsTheBooks(t *testing.T) {
	four := []job{{id: "Sort", program: "sort", input: "2GB", reduces: 4}, {id: "Wcount", program: "wordcount", input: "1GB", reduces: 1}}
	for _, arm := range []func(name, control string) exp.Arm{mesos, ngm} {
		e := exp.Experiment{Name: "books", Work: work(4, four), Arms: []exp.Arm{arm("ours", orchestrate("regression", "epoch: 5, lower_cpu: needed"))}}
		r := exptest.Run(t, &e, 1, true).Arm("ours")
		if r.CheckedSteps == 0 {
			t.Error("nothing was checked")
		}
		for i := range r.Jobs {
			if r.Jobs[i].State != sim.Succeeded {
				t.Errorf("%s %v", r.Jobs[i].ID, r.Jobs[i].State)
			}
		}
	}
}
