package exptest

import (
	"math"
	"slices"
	"strings"
	"testing"

	"heddle"
	"heddle/exp"
	"heddle/policies"
	"heddle/scenario"
	"heddle/sim"
	"heddle/workload"
)

// A Minimum is an arm that measures what no schedule goes below, in place of what one does: its run may set the bound of a
// metric.
type Minimum struct{ Experiment, Metric, Arm string }

// Whole checks that a system has the texts for its page, and that its experiments are complete: names are unique, arms
// that are named exist, profiles load, works write scenarios, and bounds hold for every schedule. Only minima set
// bounds besides baselines, each with its reason where it is listed.
func Whole(t *testing.T, system *exp.System, minima ...Minimum) {
	if system.Title == "" || strings.Count(system.What, ". ") != 1 || !strings.HasSuffix(system.What, ".") {
		t.Errorf("%s: %q: want a title, and two sentences on what it does", system.Name, system.What)
	}
	names, read := map[string]bool{}, map[string]bool{}
	list := system.Experiments()
	for i := range list {
		e := &list[i]
		if e.System != system.Name {
			t.Errorf("%s is of the system %q", e.Name, e.System)
		}
		if names[e.Name] || !strings.HasPrefix(e.Name, e.System+"-") {
			t.Errorf("%s: the name is not unique, or does not begin with %s-", e.Name, e.System)
		}
		names[e.Name] = true
		checkExperiment(t, e)
		checkArms(t, e, read)
		checkBounds(t, e, minima)
	}
	for _, m := range minima {
		if !bounded(list, m) {
			t.Errorf("%s: no experiment %q has an arm %q and a bound of %q", system.Name, m.Experiment, m.Arm, m.Metric)
		}
	}
	if system.Headline != "" && !names[system.Headline] {
		t.Errorf("%s: no experiment %q", system.Name, system.Headline)
	}
}

// bounded reports whether one of the experiments has the arm of a minimum and a bound that it can set.
func bounded(list []exp.Experiment, is Minimum) bool {
	return slices.ContainsFunc(list, func(e exp.Experiment) bool {
		_, err := e.Arm(is.Arm)
		return e.Name == is.Experiment && err == nil && slices.ContainsFunc(e.Metrics, func(m exp.Metric) bool { return m.Name == is.Metric && m.Bound != nil })
	})
}

// checkExperiment checks an experiment except for its arms.
func checkExperiment(t *testing.T, e *exp.Experiment) {
	t.Helper()
	if e.Title == "" || e.Source == "" || e.Method == "" || len(e.Arms) == 0 || len(e.Metrics) == 0 {
		t.Errorf("%s: something is missing", e.Name)
	}
	metrics, counted := map[string]bool{}, false
	for _, m := range e.Metrics {
		if metrics[m.Name] {
			t.Errorf("%s: metric %q twice", e.Name, m.Name)
		}
		metrics[m.Name] = true
		counted = counted || m.Kind != exp.Measured && m.Kind != exp.SetUp
		if (m.Bound != nil) != (m.BoundIs != "") || m.Bound != nil && m.Kind != exp.Gain && m.Kind != exp.Cost {
			t.Errorf("%s, %s: a bound without its arithmetic, or of a %v", e.Name, m.Name, m.Kind)
		}
		if (m.Kind == exp.Shape) != (m.Holds != nil) || m.Kind == exp.Shape && m.Text == "" || m.Kind != exp.Shape && m.Of == nil {
			t.Errorf("%s, %s: what is missing, or too much, for a %v", e.Name, m.Name, m.Kind)
		}
	}
	if counted && len(e.Null) == 0 || (len(e.Null) > 0) != (e.NullIs != "") || len(e.Chance) > 0 && len(e.Null) == 0 {
		t.Errorf("%s: no null arm, or no word for what it is", e.Name)
	}
	for _, m := range e.Mutations {
		if len(m.Loses) == 0 {
			t.Errorf("%s, %s: nothing is said to be lost", e.Name, m.Name)
		}
		for _, name := range m.Loses {
			if !metrics[name] {
				t.Errorf("%s, %s: no metric %q", e.Name, m.Name, name)
			}
		}
	}
	for _, p := range e.Plots {
		for _, a := range p.Arms {
			if _, err := e.Arm(a); err != nil {
				t.Errorf("%s: plot: %v", e.Name, err)
			}
		}
	}
	for _, f := range e.LivesOff {
		if !slices.Contains(exp.EffectNames(), f) {
			t.Errorf("%s: no effect %q", e.Name, f)
		}
	}
}

// checkArms checks the arms of an experiment and of its sweeps; read holds the scenarios that were read before.
func checkArms(t *testing.T, e *exp.Experiment, read map[string]bool) {
	t.Helper()
	arms := map[string]bool{}
	for i := range e.Arms {
		if arms[e.Arms[i].Name] {
			t.Errorf("%s: arm %s twice", e.Name, e.Arms[i].Name)
		}
		arms[e.Arms[i].Name] = true
		checkArm(t, e, &e.Arms[i], read)
	}
	instead := [][]exp.Arm{e.Null, e.Chance}
	for _, m := range e.Mutations {
		instead = append(instead, m.Arms)
	}
	for _, list := range instead {
		for i := range list {
			if !arms[list[i].Name] {
				t.Errorf("%s: %s stands for no arm", e.Name, list[i].Name)
			}
			checkArm(t, e, &list[i], read)
		}
	}
	for _, s := range e.Sweeps {
		if !arms[s.Base] {
			t.Errorf("%s, %s: no arm %s to be held against", e.Name, s.Name, s.Base)
		}
		for i := range s.Arms {
			checkArm(t, e, &s.Arms[i], read)
		}
	}
}

// checkBounds checks that the bounds of an experiment hold for every schedule: no better run of an arm
// besides the baseline raises the bound of a gain, or lowers that of a cost. The best of the runs at hand would. So does
// a minimum, and it must, or it is none.
func checkBounds(t *testing.T, e *exp.Experiment, minima []Minimum) {
	t.Helper()
	if !slices.ContainsFunc(e.Metrics, func(m exp.Metric) bool { return m.Bound != nil }) {
		return
	}
	jobs := map[string]*workload.Workload{} // by scenario
	r := exp.Runs{Arms: map[string]*sim.Result{}, Work: map[string]*workload.Workload{}}
	for i := range e.Arms {
		a := &e.Arms[i]
		text, err := e.Scenario(a, 1)
		if err == nil && jobs[text] == nil {
			var s *scenario.Scenario
			if s, err = scenario.Parse(e.Name+".yaml", []byte(text)); err == nil {
				jobs[text], err = s.Build(1)
			}
		}
		if err != nil {
			return // checkArm says so
		}
		r.Work[a.Name], r.Arms[a.Name] = jobs[text], made(jobs[text], 1)
	}
	for _, m := range e.Metrics {
		if m.Bound == nil {
			continue
		}
		bound := m.Bound(r)
		if math.IsNaN(bound) || math.IsInf(bound, 0) {
			t.Errorf("%s, %s: the bound of a run written by hand is %g, so nothing is checked", e.Name, m.Name, bound)
			continue
		}
		for i := range e.Arms[1:] {
			name := e.Arms[1+i].Name
			worse := r.Arms[name]
			r.Arms[name] = made(r.Work[name], 2)
			with := m.Bound(r)
			moves := m.Kind == exp.Gain && !(with <= bound+1e-9) || m.Kind == exp.Cost && !(with >= bound-1e-9)
			switch minimum := slices.Contains(minima, Minimum{e.Name, m.Name, name}); {
			case minimum && !moves:
				t.Errorf("%s, %s: the bound does not come from %q, which is said to be a minimum", e.Name, m.Name, name)
			case moves && !minimum:
				t.Errorf("%s, %s: if %s is better, the bound is %g instead of %g; want a bound for every schedule, not the best at hand", e.Name, m.Name, name, with, bound)
			}
			r.Arms[name] = worse
		}
	}
}

// made returns a run written by hand, in which everything takes a given part of the time: a half, a third. The
// processors do more work then, so that a bound by the work of a run shows, too. Each job has a map on each of two
// nodes.
func made(w *workload.Workload, part heddle.Span) *sim.Result {
	r := &sim.Result{
		Makespan: 1000 * heddle.Second / part, MakespanBound: 50 * heddle.Second,
		CPUUsed: 0.2 * float64(part*part), MemoryFilled: 0.2 * float64(part), LocalMaps: 10 * int(part), LocalisedMaps: 40,
		Nodes: make([]sim.NodeInfo, 2),
		Disks: sim.DiskUse{IOWait: 0.2 / float64(part), Await: 1 / float64(part), Service: 1 / float64(part)},
	}
	for i := range w.Jobs {
		j := &w.Jobs[i]
		r.Jobs = append(r.Jobs, sim.JobResult{
			ID: j.ID, Framework: j.Framework, State: sim.Succeeded, Submit: j.Submit,
			JCT: 100 * heddle.Second / part, Wait: 10 * heddle.Second / part, Bound: heddle.Second,
			Maps: len(j.Maps), Reduces: len(j.Reduces),
		})
		for n := range r.Nodes {
			r.Tasks = append(r.Tasks, sim.TaskResult{
				Job: i, Kind: heddle.Map, Node: heddle.NodeID(n), Status: heddle.Success,
				Granted: j.Submit, Started: j.Submit, Ended: j.Submit.Plus(20 * heddle.Second / part),
			})
		}
	}
	return r
}

// checkArm loads an arm's profile and reads its scenario, unless that was read before.
func checkArm(t *testing.T, e *exp.Experiment, a *exp.Arm, read map[string]bool) {
	t.Helper()
	if _, err := policies.Load(a.Profile, a.Set); err != nil {
		t.Errorf("%s, %s: %v", e.Name, a.Name, err)
	}
	text, err := e.Scenario(a, 1)
	if err == nil && !read[text] {
		var s *scenario.Scenario
		if s, err = scenario.Parse(e.Name+".yaml", []byte(text)); err == nil {
			err = checkShown(s)
		}
	}
	if err != nil {
		t.Errorf("%s, %s: %v", e.Name, a.Name, err)
	}
	read[text] = true
}

// checkShown checks that a scenario that exp show prints has the queues that its jobs name.
func checkShown(s *scenario.Scenario) error {
	w, err := s.Build(1)
	if err != nil {
		return err
	}
	if len(s.Queues) == 0 {
		return exp.CheckOneQueue(w)
	}
	h, err := exp.Conf(s)
	for _, profile := range []string{"capacity", "fair", "fifo"} {
		if err == nil {
			err = exp.CheckQueues(&policies.Profile{Queues: map[string]string{"capacity": "capacity", "fair": "fair"}[profile]}, h, w)
		}
	}
	return err
}
