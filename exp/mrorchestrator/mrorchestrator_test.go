package mrorchestrator

import (
	"math"
	"os"
	"slices"
	"strings"
	"testing"

	"heddle/exp"
	"heddle/exp/exptest"
	"heddle/sim"
	"heddle/workload"
)

// If every task has its own processor, the orchestrator's division of processors hardly changes when a job ends. On the
// native cluster its division does, and so does a clairvoyant's and one by chance.
func TestWeightsMatterWhereProcessorsAreShort(t *testing.T) {
	for _, e := range []exp.Experiment{virtualTogether(), nativeTogether()} {
		list := []exp.Arm{e.Arms[0], *arm(t, &e, "REGRESSION CPU"), *arm(t, &e, "UNIFORM CPU")}
		if e.Name == "mrorchestrator-native-together" {
			list = slices.Concat(list, knowing(native), e.Null[:1])
			list[len(list)-1].Name = "chance"
		}
		e.Arms = list
		e.Sweeps, e.Null, e.Mutations, e.Metrics = nil, nil, nil, nil
		r := exptest.Run(t, &e, 1, false)
		short := e.Name == "mrorchestrator-native-together"
		for i := range e.Arms[1:] {
			name := e.Arms[1+i].Name
			by := exp.Reduction(exp.MeanJCT(r.Arm("slots"), nil), exp.MeanJCT(r.Arm(name), nil))
			if changed := math.Abs(by) > 0.1; changed != short {
				t.Errorf("%s: the mean JCT with %s changed by %.3f %%", e.Name, name, by)
			}
		}
	}
}

// Memory in use on top of another manager is bounded by the machines' memory, not by the runs at hand.
func TestBoundOfMemory(t *testing.T) {
	for _, e := range []exp.Experiment{onMesos(), onNGM()} {
		r := exp.Runs{Arms: map[string]*sim.Result{}}
		for i := range e.Arms {
			r.Arms[e.Arms[i].Name] = &sim.Result{MemoryFilled: 0.8}
		}
		i := slices.IndexFunc(e.Metrics, func(m exp.Metric) bool { return m.Name == "memory utilisation, increase" })
		if most := e.Metrics[i].Bound(r); !(math.Abs(most-25) < 1e-9) {
			t.Errorf("%s: of 80 %% in use at most %g %% more can be, want 25", e.Name, most)
		}
	}
}

// One job after the other on virtual machines gains more than published, and no more than the bounds: that moving
// processors and memory between tasks gains nothing there bounds no schedule.
func TestBoundOfVirtual(t *testing.T) {
	e := virtualTogether()
	inTurn := virtual("in turn", "")
	inTurn.Set = []string{strings.NewReplacer("{slots: {kind: map}}", "fifo", "{slots: {kind: reduce}}", "fifo").Replace(lanes(1))}
	inTurn.Change = func(seed uint64, w *workload.Workload) {
		sizes(vm)(seed, w)
		for i := range w.Jobs {
			w.Jobs[i].Priority = int32(len(soonest) - slices.Index(soonest, w.Jobs[i].Program))
		}
	}
	metrics := e.Metrics
	e.Arms, e.Null, e.Metrics = []exp.Arm{*arm(t, &e, "slots"), inTurn}, nil, nil
	r := exptest.Run(t, &e, 1, false)
	gains := together(r, "slots", inTurn.Name, idsOf(suite))
	for i, got := range []float64{exp.Mean(gains), slices.Max(gains)} {
		if m := metrics[i]; !(m.Published < got && got <= m.Bound(r) && m.Bound(r) < 100) {
			t.Errorf("%s: %.1f %% in turn, published %g %%, the bound is %.1f %%", m.Name, got, m.Published, m.Bound(r))
		}
	}
	i := slices.IndexFunc(metrics, func(m exp.Metric) bool { return m.Name == "CPU utilisation, increase" })
	if got, most := increase([]pair{{"slots", inTurn.Name}}, cpuUsed)(r), metrics[i].Bound(r); !(got <= most && most > 10) {
		t.Errorf("processors are used %.1f %% more in turn, and the bound is %.1f %%", got, most)
	}
}

// What the reasons say that an ideal world gains on virtual machines is what the page shows for that experiment.
func TestReasonsOnVirtualMachines(t *testing.T) {
	const path = "../../docs/experiments/mrorchestrator.json"
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	kept, err := exp.ReadSummaries(path, f)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		experiment, says, figure string
		about                    float64
	}{
		{"mrorchestrator-virtual-single", "Only Sort ends earlier there, by a tenth of its time", "largest reduction", 10},
		{"mrorchestrator-virtual-together", "The six jobs together end a hundredth earlier there on average", "mean reduction", 1},
	} {
		found := 0
		for _, s := range kept {
			for _, m := range s.Metrics {
				if s.Experiment != c.experiment || m.Metric != "JCT with "+ideally+", "+c.figure {
					continue
				}
				found++
				if got := float64(m.Ours.Median); !(math.Abs(got-c.about) <= 0.5) {
					t.Errorf("%s, %s: %.2f %%, want about %g", s.Experiment, m.Metric, got, c.about)
				}
			}
		}
		if found != 1 {
			t.Errorf("%s: the page has %d figures for JCT with %s, %s", c.experiment, found, ideally, c.figure)
		}
		for _, e := range []exp.Experiment{virtualSingle(), virtualTogether()} {
			for _, m := range e.Metrics {
				if m.Why != "" && strings.Contains(m.Why, c.says) != (e.Name == c.experiment) {
					t.Errorf("%s, %s: what it says of the ideal world is wrong there: %s", e.Name, m.Name, m.Why)
				}
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

// The bookkeeping is right after every step of a run in which allocations move all the time.
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

// Most of the lead over Mesos comes from slots, without MROrchestrator.
func TestLeadOverMesos(t *testing.T) {
	e := against()
	e.Arms = []exp.Arm{*arm(t, &e, "slots"), *arm(t, &e, "MROrchestrator"), *arm(t, &e, "Mesos")}
	e.Null, e.Metrics = nil, nil
	r := exptest.Run(t, &e, 1, false)
	gain := func(arm string) float64 { return exp.Mean(together(r, "slots", arm, idsOf(suite))) }
	if own, lead := gain("MROrchestrator"), -gain("Mesos"); own < 1 || own > 6 || lead < 10 {
		t.Errorf("slots are %.1f points ahead of Mesos, and MROrchestrator %.1f of slots", lead, own)
	}
}
