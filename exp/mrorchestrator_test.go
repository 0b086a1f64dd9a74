package exp

import (
	"strings"
	"testing"

	"heddle/sim"
)

// orchRun makes one run of every arm.
func orchRun(t *testing.T, e *Experiment, o Options) Runs {
	t.Helper()
	o.Seeds = []uint64{1}
	var out Runs
	if err := Run([]*Experiment{e}, o, func(x *Outcome) error { out = x.All[0]; return nil }); err != nil {
		t.Fatal(err)
	}
	return out
}

// However many slots a node has, memory and processors that are taken from tasks are never worth more than
// what they are given for: no sum of completion times is above the baseline's.
func TestOrchestratorDoesNotSlowSlotsDown(t *testing.T) {
	s := orchSlotCounts()
	e := Experiment{Name: "slots", Work: orchWork(23, orchSuite), Arms: s.Arms}
	r := orchRun(t, &e, Options{})
	for i := 0; i < len(s.Arms); i += 2 {
		base, ours := s.Arms[i].Name, s.Arms[i+1].Name
		if !strings.HasPrefix(ours, base) {
			t.Fatalf("%s is not the pair of %s", ours, base)
		}
		if b, o := MeanJCT(r.Arm(base), nil), MeanJCT(r.Arm(ours), nil); !(o <= b) {
			t.Errorf("%s: mean JCT %.1f s, without %.1f s", ours, o, b)
		}
	}
}

// The books hold after every step of a run in which allocations move all the time.
func TestOrchestratorKeepsTheBooks(t *testing.T) {
	four := []orchJob{{id: "Sort", program: "sort", input: "2GB", reduces: 4}, {id: "Wcount", program: "wordcount", input: "1GB", reduces: 1}}
	for _, arm := range []func(name, control string) Arm{orchMesos, orchNGM} {
		e := Experiment{Name: "books", Work: orchWork(4, four), Arms: []Arm{arm("ours", orchestrate("regression", "epoch: 5, lower_cpu: needed"))}}
		r := orchRun(t, &e, Options{Check: true}).Arm("ours")
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

// Every experiment names arms that exist, and the suite is the paper's.
func TestOrchestratorExperiments(t *testing.T) {
	names := map[string]bool{}
	for _, e := range mrorchestratorExperiments() {
		if names[e.Name] || e.System != "mrorchestrator" || !strings.HasPrefix(e.Name, "mrorchestrator-") {
			t.Errorf("%s: %s", e.System, e.Name)
		}
		names[e.Name] = true
		arms := map[string]bool{}
		for _, a := range e.Arms {
			if arms[a.Name] {
				t.Errorf("%s: arm %s twice", e.Name, a.Name)
			}
			arms[a.Name] = true
		}
		for _, p := range e.Plots {
			for _, a := range p.Arms {
				if !arms[a] {
					t.Errorf("%s: a plot of arm %s, which there is not", e.Name, a)
				}
			}
		}
		for _, s := range e.Sweeps {
			if !arms[s.Base] {
				t.Errorf("%s: sweep %s against %s, which there is not", e.Name, s.Name, s.Base)
			}
		}
	}
	if len(names) != 9 {
		t.Errorf("%d experiments, want 9", len(names))
	}
}
