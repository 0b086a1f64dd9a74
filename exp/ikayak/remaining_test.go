package ikayak

import (
	"math"
	"testing"

	"heddle"
	"heddle/scenario"
	"heddle/sim"
)

// The predictions for a reduce that takes 100 s are off by 30 and 40 s: √((900 + 1600)/2)/100 = 35.36 %, and 40 % for
// its second half. A reduce that was not chosen and one whose end was not seen do not count.
func TestNRMSE(t *testing.T) {
	s := heddle.Second
	r := &sim.Result{Predictions: []sim.Prediction{
		{Container: 7, Remaining: 130 * s, Actual: 100 * s},
		{Container: 7, Remaining: 0, Actual: 40 * s},
		{Container: 8, Remaining: 900 * s, Actual: 100 * s},
		{Container: 9, Remaining: 900 * s, Actual: sim.NoSpan},
	}}
	of := map[heddle.ContainerID]int{7: 0, 9: 0}
	if got, want := nrmse(r, of, 0, 1), 100*math.Sqrt(1250)/100; math.Abs(got-want) > 1e-9 {
		t.Errorf("%v, want %v", got, want)
	}
	if got := nrmse(r, of, 0.5, 1); math.Abs(got-40) > 1e-9 {
		t.Errorf("%v of the second half, want 40", got)
	}
	if got := nrmse(&sim.Result{}, of, 0, 1); !math.IsNaN(got) {
		t.Errorf("%v of nothing", got)
	}
}

// One prediction for each of two reduces, which have 100 and 300 s left, is off by 30 and 40 s: √((900 + 1600)/2)/200 =
// 17.68 %.
func TestOnce(t *testing.T) {
	s := heddle.Second
	r := &sim.Result{Predictions: []sim.Prediction{
		{Container: 7, Remaining: 130 * s, Actual: 100 * s},
		{Container: 8, Remaining: 260 * s, Actual: 300 * s},
		{Container: 9, Remaining: 900 * s, Actual: sim.NoSpan},
	}}
	if got, want := once(r, map[heddle.ContainerID]int{7: 0, 8: 0, 9: 0}, 1), 100*math.Sqrt(1250)/200; math.Abs(got-want) > 1e-9 {
		t.Errorf("%v, want %v", got, want)
	}
	if got := once(r, map[heddle.ContainerID]int{7: 0}, 1); !math.IsNaN(got) {
		t.Errorf("%v of one", got)
	}
}

// The training work differs by seed, is the same for the same seed, and is a scenario.
func TestTrainingWork(t *testing.T) {
	for seed := uint64(FirstTrainingSeed); seed < FirstTrainingSeed+20; seed++ {
		text := TrainingWork(seed)
		if text != TrainingWork(seed) || text == TrainingWork(seed+1) {
			t.Errorf("seed %d", seed)
		}
		if _, err := scenario.Parse("training.yaml", []byte(text)); err != nil {
			t.Error(err)
		}
	}
}
