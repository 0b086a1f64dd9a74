package exp

import (
	"bytes"
	"encoding/json"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

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
	back, err := ReadSummaries("x", strings.NewReader("["+text[0].String()+"]"))
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
