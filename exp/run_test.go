package exp

import (
	"bytes"
	"encoding/json"
	"errors"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"heddle/policies"
	"heddle/scenario"
	"heddle/sim"
)

// small is an experiment of one small job behind a large one, under three orders.
func small() *Experiment {
	const text = `
cluster: {nodes: [{count: 4, memory: 8GiB, vcores: 8}]}
workload:
  jobs:
    - {id: large, program: wordcount, input: 40GiB, reduces: 4}
    - {id: small, program: grep, submit: 20s, input: 256MiB, reduces: 1}
`
	reduction := ReducedJCT("fifo", "fair", IDs("small"))
	return &Experiment{
		System: "heddle", Name: "small-behind-large", Title: "t", Source: "s",
		Work: func(uint64) (string, error) { return text, nil },
		Arms: []Arm{{Name: "fifo", Profile: "fifo"}, {Name: "fair", Profile: "fair"}},
		Metrics: []Metric{
			{Name: "JCT of the small job, reduction", Unit: "%", Published: 50, Of: reduction},
			{Name: "makespan, increase", Unit: "%", Kind: Cost, Published: 5, Of: func(r Runs) float64 {
				return Increase(r.Arm("fifo").Makespan.Seconds(), r.Arm("fair").Makespan.Seconds())
			}},
			{Name: "the small job ends first", Kind: Shape, Text: "it does", Holds: func(all []Runs) bool {
				return !slices.ContainsFunc(all, func(r Runs) bool { return JCT(r.Arm("fair"), "small") > JCT(r.Arm("fair"), "large") })
			}},
			{Name: "of a job that is not there", Unit: "s", Published: 1, Of: func(r Runs) float64 { return JCT(r.Arm("fair"), "none") }},
		},
		LivesOff: []string{"noise"},
		Sweeps: []Sweep{{
			Name: "delay", Base: "fifo", Arms: []Arm{{Name: "with delay", Profile: "fifo", Set: []string{"place.map=delay"}}},
			Columns: []Column{{Name: "JCT, reduction", Unit: "%", Of: func(base, x *sim.Result) float64 { return Reduction(MeanJCT(base, nil), MeanJCT(x, nil)) }}},
		}},
	}
}

func TestRun(t *testing.T) {
	var text [2]bytes.Buffer
	for i := range text {
		e := small()
		last := 0
		o := Options{Seeds: []uint64{1, 2, 3}, SweepSeeds: 2, Effects: true, Workers: 1 + i, Report: func(done, of int, _ string) {
			last++
			if done != last || of != 3*2+7*2+2 {
				t.Errorf("%d of %d after %d runs", done, of, last)
			}
		}}
		err := Run([]*Experiment{e}, o, func(x *Outcome) error {
			if len(x.All) != 3 || len(x.Effects) != 7 || len(x.Sweeps) != 1 || len(x.Sweeps[0].Cells) != 1 || len(x.Sweeps[0].Cells[0][0].Values) != 2 {
				t.Errorf("%d seeds, %d effects, sweeps %+v", len(x.All), len(x.Effects), x.Sweeps)
			}
			head := x.Metrics[0]
			if !head.Reached || !head.SameDirection || head.Ours.Low > head.Ours.Median || head.Ours.Median > head.Ours.High {
				t.Errorf("headline %+v", head)
			}
			if !x.Metrics[2].Reached {
				t.Error("the shape does not hold")
			}
			if m := x.Metrics[3]; m.Reached || !strings.Contains(m.Why, "3 of 3") {
				t.Errorf("without a figure: %+v", m)
			}
			for _, f := range x.Effects {
				if f.LivesOn != (f.Name == "noise") || f.Defect != f.LivesOn { // the small job gains without noise as well
					t.Errorf("effect %+v", f)
				}
			}
			return json.NewEncoder(&text[i]).Encode(x.Summary())
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if text[0].String() != text[1].String() {
		t.Errorf("one worker and two differ:\n%s\n%s", &text[0], &text[1])
	}
	if !json.Valid(text[0].Bytes()) || !strings.Contains(text[0].String(), `"ours":{"median":null`) {
		t.Errorf("%s", &text[0])
	}
	back, err := readSummaries("x", strings.NewReader("["+text[0].String()+"]"))
	if err != nil || len(back) != 1 || !math.IsNaN(float64(back[0].Metrics[3].Values[0])) {
		t.Errorf("%+v, %v", back, err)
	}
}

func TestRunStops(t *testing.T) {
	err := Run([]*Experiment{small()}, Options{Seeds: []uint64{1}, Stop: func() bool { return true }}, nil)
	if !errors.Is(err, ErrStopped) {
		t.Errorf("got %v", err)
	}
}

func TestRunNamesWhatFailed(t *testing.T) {
	e := small()
	e.Arms[1].Set = []string{"place.map=nowhere"}
	err := Run([]*Experiment{e}, Options{Seeds: []uint64{7}}, nil)
	if err == nil || !strings.Contains(err.Error(), "experiment small-behind-large: fair, seed 7: ") {
		t.Errorf("got %v", err)
	}
}

func TestStands(t *testing.T) {
	for _, c := range []struct {
		kind            Kind
		published, ours float64
		same, reached   bool
	}{
		{Gain, 40, 32, true, true},
		{Gain, 40, 31, true, false},
		{Gain, 40, 90, true, true},
		{Gain, 40, -1, false, false},
		{Gain, -20, -16, true, true},
		{Cost, 4, 5, true, true},
		{Cost, 4, 5.1, true, false},
		{Cost, 4, -3, false, true},
		{Level, 10, 8, true, true},
		{Level, 10, 12.1, true, false},
		{Level, -10, -9, true, true},
		{Measured, 1, 1, true, false},
		{Gain, 10, math.NaN(), false, false},
	} {
		m := Metric{Kind: c.kind, Published: c.published}
		if same, reached := m.stands(c.ours); same != c.same || reached != c.reached {
			t.Errorf("%v %v beside %v: direction %v, reached %v", c.kind, c.ours, c.published, same, reached)
		}
	}
}

// Every experiment is whole: names are unique, arms that are named exist, profiles load, and works write
// scenarios.
func TestCatalogue(t *testing.T) {
	names, read := map[string]bool{}, map[string]bool{}
	for _, e := range All() {
		if names[e.Name] || !strings.HasPrefix(e.Name, e.System+"-") {
			t.Errorf("%s: the name is not unique, or does not begin with %s-", e.Name, e.System)
		}
		names[e.Name] = true
		if !slices.Contains(Systems, e.System) || e.Title == "" || e.Source == "" || e.Method == "" || len(e.Arms) == 0 || len(e.Metrics) == 0 {
			t.Errorf("%s: something is missing", e.Name)
		}
		for _, m := range e.Metrics {
			if (m.Kind == Shape) != (m.Holds != nil) || m.Kind == Shape && m.Text == "" || m.Kind != Shape && m.Of == nil {
				t.Errorf("%s, %s: what is missing, or too much, for a %v", e.Name, m.Name, m.Kind)
			}
		}
		for _, p := range e.Plots {
			for _, a := range p.Arms {
				if _, err := e.Arm(a); err != nil {
					t.Errorf("%s: plot: %v", e.Name, err)
				}
			}
		}
		arms := map[string]bool{}
		for i := range e.Arms {
			if arms[e.Arms[i].Name] {
				t.Errorf("%s: arm %s twice", e.Name, e.Arms[i].Name)
			}
			arms[e.Arms[i].Name] = true
			checkArm(t, e, &e.Arms[i], read)
		}
		for _, s := range e.Sweeps {
			if !arms[s.Base] {
				t.Errorf("%s, %s: no arm %s to be held against", e.Name, s.Name, s.Base)
			}
			for i := range s.Arms {
				checkArm(t, e, &s.Arms[i], read)
			}
		}
		for _, f := range e.LivesOff {
			if !slices.Contains(effectNames(), f) {
				t.Errorf("%s: no effect %q", e.Name, f)
			}
		}
	}
}

// checkArm loads an arm's profile and reads its scenario, unless that was read before.
func checkArm(t *testing.T, e *Experiment, a *Arm, read map[string]bool) {
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

// checkShown makes sure that a scenario that exp show prints has the queues that its jobs name.
func checkShown(s *scenario.Scenario) error {
	w, err := s.Build(1)
	if err != nil {
		return err
	}
	if len(s.Queues) == 0 {
		return CheckOneQueue(w)
	}
	h, err := Conf(s)
	for _, profile := range []string{"capacity", "fair", "fifo"} {
		if err == nil {
			err = CheckQueues(&policies.Profile{Queues: map[string]string{"capacity": "capacity", "fair": "fair"}[profile]}, h, w)
		}
	}
	return err
}

func effectNames() (names []string) {
	for _, f := range effects {
		names = append(names, f.name)
	}
	return names
}

// The first seed of every experiment gives the figures that are kept: what moves one is explained with
// the change that moved it, and `make exp` writes them anew.
func TestExperimentsAsKept(t *testing.T) {
	if testing.Short() {
		t.Skip("it runs every experiment")
	}
	kept := map[string]Summary{}
	for _, system := range Systems {
		path := filepath.Join("..", "docs", "experiments", system+".json")
		f, err := os.Open(path)
		if errors.Is(err, os.ErrNotExist) {
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		list, err := readSummaries(path, f)
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range list {
			kept[s.Experiment] = s
		}
		f.Close()
	}
	err := Run(All(), Options{Seeds: []uint64{1}}, func(x *Outcome) error {
		t.Run(x.Experiment.Name, func(t *testing.T) {
			s, ok := kept[x.Experiment.Name]
			if !ok || len(s.Metrics) != len(x.Metrics) {
				t.Fatalf("%d metrics are kept of %d; make exp writes them", len(s.Metrics), len(x.Metrics))
			}
			for i, m := range x.Summary().Metrics {
				k := s.Metrics[i]
				if k.Metric != m.Metric || len(m.Values) > 0 && (len(k.Values) == 0 || !alike(float64(m.Values[0]), float64(k.Values[0]))) {
					t.Errorf("%s: %v, kept is %s: %v", m.Metric, m.Values, k.Metric, k.Values)
				}
			}
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// alike allows for the digits that are not kept.
func alike(a, b float64) bool {
	return math.IsNaN(a) && math.IsNaN(b) || math.Abs(a-b) <= 1e-6*max(1, math.Abs(a))
}

// Without an effect a headline survives, or it does not; where there is no figure nobody knows.
func TestEffectsAreJudged(t *testing.T) {
	for _, c := range []struct {
		x            Effect
		lost, defect bool
	}{
		{Effect{With: 40, Without: 38}, false, false},
		{Effect{With: 40, Without: 38, LivesOn: true}, false, true},
		{Effect{With: 27, Without: 0.27}, true, false},
		{Effect{With: 40, Without: -4, LivesOn: true}, true, false},
		{Effect{With: 40, Without: math.NaN(), LivesOn: true}, false, false},
		{Effect{With: -5, Without: -9}, false, false},
	} {
		if c.x.judge(); c.x.Lost != c.lost || c.x.Defect != c.defect {
			t.Errorf("%+v", c.x)
		}
	}
}
