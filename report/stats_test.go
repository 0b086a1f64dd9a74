package report

import (
	"math"
	"testing"

	"heddle/sim"
)

func near(a, b float64) bool {
	return math.IsNaN(a) && math.IsNaN(b) || math.Abs(a-b) < 1e-9
}

func TestQuantile(t *testing.T) {
	xs := []float64{10, 20, 30, 100}
	for _, c := range []struct{ q, want float64 }{
		{0, 10}, {0.5, 25}, {0.95, 89.5}, {0.99, 97.9}, {1, 100}, {1.0 / 3, 20},
	} {
		if got := Quantile(xs, c.q); !near(got, c.want) {
			t.Errorf("quantile %v is %v, want %v", c.q, got, c.want)
		}
	}
	if got := Quantile([]float64{7}, 0.95); got != 7 {
		t.Errorf("the quantile of one value is %v, want the value", got)
	}
	if got := Quantile(nil, 0.5); !math.IsNaN(got) {
		t.Errorf("the quantile of no value is %v, want NaN", got)
	}
}

func TestMeasure(t *testing.T) {
	c := worked()
	nan := math.NaN()
	for _, one := range []struct {
		name string
		run  *sim.Result
		want map[Metric]float64
	}{
		{"all succeed", c.Profiles[0].Runs[0], map[Metric]float64{
			Jobs: 4, Completed: 4, Failed: 0, Unfinished: 0,
			JCTMean: 40, JCTP50: 25, JCTP95: 89.5, JCTP99: 97.9,
			WaitMean: 4, WaitP50: 2.5, WaitP95: 8.95, WaitP99: 9.79,
			StarvationMean: 26.0 / 3, StarvationP50: 4, StarvationP95: 18.4, StarvationP99: 19.68, // 2, 4, 20
			Makespan: 200, LocalMaps: 0.75, CPUUtilisation: 0.5, MemoryUtilisation: 0.25,
			JCTOverBound: 2, Wall: 0.5,
		}},
		{"one fails", c.Profiles[1].Runs[0], map[Metric]float64{
			Jobs: 4, Completed: 3, Failed: 1, Unfinished: 0,
			JCTMean: 80.0 / 3, JCTP50: 20, WaitMean: 8.0 / 3, StarvationMean: 4,
			JCTOverBound: 80.0 / 3 / 5, // its own bounds, 5 s each
		}},
		{"none", &sim.Result{}, map[Metric]float64{
			Jobs: 0, Completed: 0, JCTMean: nan, WaitP99: nan, StarvationMean: nan, LocalMaps: nan, JCTOverBound: nan,
		}},
		{"none succeeds", &sim.Result{Jobs: []sim.JobResult{{State: sim.Rejected}, {State: sim.Unfinished}, {State: sim.Failed, JCT: 5e9}}}, map[Metric]float64{
			Jobs: 3, Completed: 0, Failed: 2, Unfinished: 1, JCTMean: nan, JCTOverBound: nan,
		}},
	} {
		got := Measure(one.run)
		for m, want := range one.want {
			if !near(got[m], want) {
				t.Errorf("%s: metric %d is %v, want %v", one.name, m, got[m], want)
			}
		}
	}
}

func TestSummaries(t *testing.T) {
	s := worked().Summaries()
	fair, fifo := s[0], s[1]
	for _, c := range []struct {
		name      string
		got, want float64
	}{
		{"fair's mean JCT", fair.Mean[JCTMean], 40},
		{"lowest", fair.Low[JCTMean], 40},
		{"highest", fair.High[JCTMean], 40},
		{"fair's median", fair.Mean[JCTP50], 27.5},
		{"lowest", fair.Low[JCTP50], 25},
		{"highest", fair.High[JCTP50], 30},
		{"fair's CPU", fair.Mean[CPUUtilisation], 0.6},
		{"lowest", fair.Low[CPUUtilisation], 0.5},
		{"highest", fair.High[CPUUtilisation], 0.7},
		{"fifo's mean JCT", fifo.Mean[JCTMean], 50.0 / 3},
		{"lowest", fifo.Low[JCTMean], 20.0 / 3},
		{"highest", fifo.High[JCTMean], 80.0 / 3},
	} {
		if !near(c.got, c.want) {
			t.Errorf("%s is %v, want %v", c.name, c.got, c.want)
		}
	}
	// Fifo's mean is lower because its longest job failed: that does not count as winning, nor does fair have the
	// lowest mean.
	if fair.Won != 0 || fifo.Won != 0 {
		t.Errorf("won: fair %d, fifo %d; want none", fair.Won, fifo.Won)
	}
}

func TestWon(t *testing.T) {
	c := worked()
	c.Profiles[1].Runs = []*sim.Result{workedRun("fifo", 1, []float64{9, 20, 30, 100}, 0, true), workedRun("fifo", 2, []float64{13, 24, 36, 88}, 0, true)}
	// A third profile that completes fewer jobs changes nothing, whatever its position.
	hasty := ProfileRuns{Name: "hasty", Runs: []*sim.Result{workedRun("hasty", 1, []float64{1, 1, 1, 1}, 0, false)}}
	for _, c.Profiles = range [][]ProfileRuns{append(c.Profiles[:2:2], hasty), {hasty, c.Profiles[0], c.Profiles[1]}} {
		for _, s := range c.Summaries() {
			if want := pick(s.Profile == "hasty", 0, 1); s.Won != want {
				t.Errorf("%s won under %d seeds, want %d", s.Profile, s.Won, want)
			}
		}
	}
}

// The mean of a figure that applies only under some seeds is taken over those.
func TestSummaryOfSome(t *testing.T) {
	c := worked()
	c.Profiles[0].Runs[1].LocalisedMaps = 0
	s := c.Summaries()[0]
	if s.Mean[LocalMaps] != 0.75 || s.Low[LocalMaps] != 0.75 {
		t.Errorf("local maps are %v from %v, want 0.75", s.Mean[LocalMaps], s.Low[LocalMaps])
	}
	c.Profiles[0].Runs = nil
	if s = c.Summaries()[0]; !math.IsNaN(s.Mean[JCTMean]) || s.Runs != 0 {
		t.Errorf("a profile that did not run has a mean JCT of %v", s.Mean[JCTMean])
	}
}

func TestTiesAreWonByBoth(t *testing.T) {
	c := worked()
	c.Profiles[1].Runs = c.Profiles[0].Runs
	if s := c.Summaries(); s[0].Won != 2 || s[1].Won != 2 {
		t.Errorf("won %d and %d, want 2 and 2", s[0].Won, s[1].Won)
	}
}

func TestBest(t *testing.T) {
	three := func(values ...float64) []Summary {
		out := make([]Summary, len(values))
		for i, v := range values {
			out[i].Mean[JCTMean], out[i].Mean[LocalMaps], out[i].Mean[CPUUtilisation], out[i].Mean[Completed] = v, v, v, 9
		}
		return out
	}
	less := three(1, 2, 3)
	less[0].Mean[Completed] = 8
	alone := three(1, 2, 3)
	alone[0].Mean[Completed], alone[1].Mean[Completed] = 8, 7
	nan := math.NaN()
	for _, c := range []struct {
		name   string
		metric Metric
		sums   []Summary
		want   [3]bool
	}{
		{"less is better", JCTMean, three(30, 20, 40), [3]bool{false, true, false}},
		{"more is better", LocalMaps, three(0.3, 0.2, 0.4), [3]bool{false, false, true}},
		{"neither is", CPUUtilisation, three(0.3, 0.2, 0.4), [3]bool{}},
		{"alike as shown", JCTMean, three(20.01, 20.02, 40), [3]bool{true, true, false}},
		{"all alike as shown", JCTMean, three(20.01, 20.02, 20.03), [3]bool{}},
		{"all do not apply but one", JCTMean, three(nan, 20, nan), [3]bool{}},
		{"does not apply to one", JCTMean, three(nan, 20, 30), [3]bool{false, true, false}},
		{"completed fewer jobs", JCTMean, less, [3]bool{false, true, false}},
		{"nothing to compare with", JCTMean, alone, [3]bool{}},
	} {
		for _, r := range rows {
			if r.metric != c.metric {
				continue
			}
			if got := [3]bool(r.best(c.sums)); got != c.want {
				t.Errorf("%s: best are %v, want %v", c.name, got, c.want)
			}
		}
	}
}
