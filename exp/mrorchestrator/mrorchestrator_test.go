package mrorchestrator

import (
	"slices"
	"testing"

	"heddle/exp"
	"heddle/exp/exptest"
	"heddle/sim"
)

// Where every task has a processor of its own, no division of processors changes when a job ends: not the
// orchestrator's, not a clairvoyant's, not chance. On the native cluster each of them does.
func TestWeightsMatterWhereProcessorsAreShort(t *testing.T) {
	for _, e := range []exp.Experiment{virtualTogether(), nativeTogether()} {
		e.Arms = slices.Concat(e.Arms[:1], []exp.Arm{*arm(t, &e, "REGRESSION CPU")}, e.Arms[len(e.Arms)-len(clairvoyants):])
		e.Arms = append(e.Arms, e.Null[0])
		e.Sweeps, e.Null, e.Mutations, e.Metrics = nil, nil, nil, nil
		r := exptest.Run(t, &e, 1, false)
		short := e.Name == "mrorchestrator-native-together"
		for i := range e.Arms[1:] {
			name := e.Arms[1+i].Name
			if changed := exp.MeanJCT(r.Arm(name), nil) != exp.MeanJCT(r.Arm("slots"), nil); changed != short {
				t.Errorf("%s: the mean JCT with %s changed: %v", e.Name, name, changed)
			}
		}
	}
}

func arm(t *testing.T, e *exp.Experiment, name string) *exp.Arm {
	t.Helper()
	a, err := e.Arm(name)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// The books hold after every step of a run in which allocations move all the time.
func TestKeepsTheBooks(t *testing.T) {
	four := []job{{id: "Sort", program: "sort", input: "2GB", reduces: 4}, {id: "Wcount", program: "wordcount", input: "1GB", reduces: 1}}
	for _, arm := range []func(name, control string) exp.Arm{mesos, ngm} {
		e := exp.Experiment{Name: "books", Work: work(4, four), Arms: []exp.Arm{arm("ours", orchestrate("regression", "epoch: 5, lower_cpu: needed, lower_memory: always"))}}
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
