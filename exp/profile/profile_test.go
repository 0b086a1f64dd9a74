package profile

import (
	"errors"
	"math"
	"slices"
	"testing"

	"heddle"
	"heddle/exp"
	"heddle/sim"
)

// Every case reads its work on a cluster and is spaced to its load; names are unique.
func TestCases(t *testing.T) {
	seen, heldOut := map[string]bool{}, 0
	cases := Cases()
	for i := range cases {
		c := &cases[i]
		if seen[c.Name] || c.From == "" {
			t.Errorf("%q stands twice, or nobody knows from where", c.Name)
		}
		seen[c.Name] = true
		if c.HeldOut {
			heldOut++
		}
		p, err := c.plan([]uint64{1})
		if err != nil {
			t.Fatalf("%s: %v", c.Name, err)
		}
		w, err := p.Rebuild(1)
		if err != nil || len(w.Jobs) == 0 || len(p.Nodes) == 0 {
			t.Fatalf("%s: %d jobs on %d nodes, %v", c.Name, len(w.Jobs), len(p.Nodes), err)
		}
		if c.Load == 0 {
			continue
		}
		p.Workload, p.Rebuild, p.Seeds = w, nil, []uint64{1}
		if factor, err := p.ScaleTo(c.Load); err != nil || math.Abs(factor-1) > 0.01 {
			t.Errorf("%s: it takes a factor of %g to reach the load, %v", c.Name, factor, err)
		}
	}
	if heldOut == 0 || heldOut == len(cases) {
		t.Errorf("%d of %d cases are held out", heldOut, len(cases))
	}
}

// result is a run of jobs with these completion times, each with a wait of a tenth of it.
func result(seconds ...float64) *sim.Result {
	r := &sim.Result{}
	for _, s := range seconds {
		jct := heddle.Seconds(s)
		r.Jobs = append(r.Jobs, sim.JobResult{State: sim.Succeeded, Tasks: 2, End: heddle.Time(jct), JCT: jct, Wait: jct / 10, Starvation: sim.NoSpan})
		r.Makespan = max(r.Makespan, jct)
	}
	return r
}

// Each column is compared with the better one of the two in that column, by the median over seeds.
func TestRow(t *testing.T) {
	fair := []*sim.Result{result(10, 20, 90), result(10, 20, 90), result(10, 20, 90)}
	capacity := []*sim.Result{result(30, 40, 50), result(30, 40, 50), result(30, 40, 50)}
	ours := []*sim.Result{result(10, 15, 60), result(10, 15, 65), result(10, 15, 500)}
	r := row(&Case{}, fair, capacity, ours, true)
	want := map[string]struct {
		ratio float64
		worse bool
	}{
		"mean":     {30.0 / 40, false}, // both have 40, and the second seed is the median
		"p50":      {0.75, false},      // fair is the better
		"p95":      {1.3, true},        // capacity is
		"wait p95": {1.3, true},
		"wait p50": {0.75, false},
		"makespan": {1.3, true},
	}
	for i, c := range Columns {
		if w, ok := want[c.Name]; ok && (math.Abs(r.Cells[i].Ratio.Median-w.ratio) > 1e-9 || r.Cells[i].Worse != w.worse) {
			t.Errorf("%s: %g, worse %v; want %g, %v", c.Name, r.Cells[i].Ratio.Median, r.Cells[i].Worse, w.ratio, w.worse)
		}
		if c.Name == "starvation" && !math.IsNaN(r.Cells[i].Ratio.Median) {
			t.Errorf("starvation is %g where no job has reduces", r.Cells[i].Ratio.Median)
		}
	}
	if r.NoneWorse() || r.Worst() != 1.3 || !r.MeanReached() || r.SmallReached() {
		t.Errorf("none worse %v, worst %g, mean %g, small %v", r.NoneWorse(), r.Worst(), r.MeanRatio.Median, r.SmallReached())
	}
	for _, run := range ours {
		run.Jobs[2].Maps, run.Jobs[2].Tasks = 10, 512 // a Spark job of ten executors
	}
	if small := row(&Case{}, fair, capacity, ours, true).Cells[smallColumn]; small.Ours != 15 {
		t.Errorf("p95 of small jobs %g s, want 15 s: a job of few executors is small only if it has few tasks", small.Ours)
	}
	if same := row(&Case{}, fair, capacity, fair, true); same.Cells[meanColumn].Worse || same.MeanRatio.Median != 1 {
		t.Errorf("fair beside itself: %+v", same.Cells)
	}
}

// A worse column is worse beyond chance only if most seeds have it, and there are enough of them.
func TestSure(t *testing.T) {
	other, worse, better := result(10), result(20), result(9)
	for _, c := range []struct {
		ours []*sim.Result
		sure bool
	}{
		{[]*sim.Result{worse, worse, worse, worse, worse}, false}, // too few
		{[]*sim.Result{worse, worse, worse, worse, worse, worse}, true},
		{[]*sim.Result{worse, worse, worse, worse, worse, better}, false}, // the interval is all six
	} {
		others := slices.Repeat([]*sim.Result{other}, len(c.ours))
		r := row(&Case{}, others, others, c.ours, false)
		if mean := r.Cells[meanColumn]; !mean.Worse || mean.Sure() != c.sure {
			t.Errorf("%v: worse %v, sure %v; want it sure: %v", mean.Ratio.Values, mean.Worse, mean.Sure(), c.sure)
		}
		if tally := Sum([]Row{r}); tally.Worse == 0 || (tally.Sure > 0) != c.sure {
			t.Errorf("%v: %+v", r.Cells[meanColumn].Ratio.Values, tally)
		}
	}
}

// A difference of up to a second counts as none, however short the times are.
func TestResolution(t *testing.T) {
	short, longer := []*sim.Result{result(1)}, []*sim.Result{result(1.9)}
	if r := row(&Case{}, short, short, longer, false); !r.NoneWorse() {
		t.Errorf("0.9 s more count: %+v", r.Cells)
	}
	if r := row(&Case{}, short, short, []*sim.Result{result(2.1)}, false); r.NoneWorse() {
		t.Error("1.1 s more do not count")
	}
}

// A job that heddle loses and one of the others does not is worse than any ratio, and makes no figure better.
func TestLost(t *testing.T) {
	run := func(failed ...int) []*sim.Result {
		r := result(10, 20, 300)
		r.Makespan = 0
		for i := range r.Jobs {
			if slices.Contains(failed, i) {
				r.Jobs[i].State = sim.Failed
			} else { // a run ends with the last job that it completes
				r.Makespan = max(r.Makespan, r.Jobs[i].JCT)
			}
		}
		return []*sim.Result{r}
	}
	for _, c := range []struct {
		what                 string
		fair, capacity, ours []*sim.Result
		failed               int
		mean, makespan       float64 // seconds under heddle, as under the others
	}{
		{"none", run(), run(), run(), 0, 110, 300},
		{"the slowest, by heddle", run(), run(), run(2), 1, 15, 20},
		{"the slowest, by heddle and capacity", run(), run(2), run(2), 1, 15, 20},
		{"the slowest, by all", run(2), run(2), run(2), 0, 15, 20},
		{"the slowest, by the others", run(2), run(2), run(), 0, 15, 20},
		{"as many by each, but others", run(0), run(0), run(2), 1, 20, 20},
		{"the fastest, by all", run(0), run(0), run(0), 0, 160, 300},
	} {
		r := row(&Case{}, c.fair, c.capacity, c.ours, false)
		if m := r.Cells[meanColumn]; r.Failed != c.failed || r.NoneWorse() == (c.failed > 0) || m.Ours != c.mean || m.Fair != c.mean || r.MeanRatio.Median != 1 {
			t.Errorf("%s: %d failed, none worse %v, means %g and %g s; want %d and %g s", c.what, r.Failed, r.NoneWorse(), m.Ours, m.Fair, c.failed, c.mean)
		}
		if m := r.Cells[len(r.Cells)-1]; m.Ours != c.makespan || m.Fair != c.makespan || m.Capacity != c.makespan {
			t.Errorf("%s: makespans %g, %g and %g s, want %g", c.what, m.Fair, m.Capacity, m.Ours, c.makespan)
		}
	}
	// Twice as fast, but a job short: nothing is reached.
	short := []*sim.Result{result(5, 10, 150)}
	if r := row(&Case{}, run(), run(), short, false); !r.MeanReached() || !r.SmallReached() {
		t.Errorf("the mean is %g of fair's, and not reached", r.MeanRatio.Median)
	}
	short[0].Jobs[0].State = sim.Failed
	if r := row(&Case{}, run(), run(), short, false); r.MeanReached() || r.SmallReached() {
		t.Errorf("%d failed, mean reached %v, small %v", r.Failed, r.MeanReached(), r.SmallReached())
	}
}

// The demo is run under all profiles, without agents and with them, and the worst row comes first.
func TestRun(t *testing.T) {
	cases := Cases()[:1]
	reports := 0
	rows, err := Run(cases, Options{Seeds: []uint64{1}, Report: func(done, of int, _ string) {
		if reports++; done != reports || of != 4 {
			t.Errorf("%d of %d", done, of)
		}
	}})
	if err != nil || len(rows) != 2 || rows[0].Agent == rows[1].Agent || rows[0].Worst() < rows[1].Worst() || reports != 4 {
		t.Fatalf("%+v, %d reports, %v", rows, reports, err)
	}
	for _, r := range rows {
		if r.Jobs != 36 || r.Failed != 0 || r.MeanRatio.Median <= 0 || r.MeanRatio.Median >= 1.1 {
			t.Errorf("%+v", r)
		}
	}
	agents, err := Run(cases, Options{Seeds: []uint64{2}, Set: []string{"control=[mrorchestrator.regression]"}})
	if err != nil || agents[0].Cells[meanColumn].Ours == agents[1].Cells[meanColumn].Ours {
		t.Errorf("agents change nothing of what they carry out otherwise: %v", err)
	}
	off, err := Run(cases, Options{Seeds: []uint64{1}, Set: []string{"gate.reduce=open"}})
	if err != nil || off[0].Cells[meanColumn].Ours == rows[0].Cells[meanColumn].Ours {
		t.Errorf("a change of the profile changes nothing: %v", err)
	}
	if _, err := Run(cases, Options{Seeds: []uint64{1}, Set: []string{"gate.reduce=nothing"}}); err == nil {
		t.Error("a change that names nothing is taken")
	}
}

// Of runs that are stopped, the rows of the cases before are there.
func TestStopped(t *testing.T) {
	stopped := false
	rows, err := Run(slices.Repeat(Cases()[:1], 2), Options{
		Seeds: []uint64{1}, Workers: 1, Report: func(done, _ int, _ string) { stopped = done > 4 }, Stop: func() bool { return stopped },
	})
	if !errors.Is(err, exp.ErrStopped) || len(rows) != 2 || rows[0].Worst() < rows[1].Worst() {
		t.Errorf("%d rows, %v; want both of the first case, the worst first, and that it was stopped", len(rows), err)
	}
}

// The estimate of what ordering could reach is from the best profile that loses no job, by seed.
func TestOrdering(t *testing.T) {
	fair := []*sim.Result{result(10, 20), result(10, 20), result(10, 20)}
	a := []*sim.Result{result(5, 10), result(20, 20), result(10, 20)}
	b := []*sim.Result{result(10, 20), result(9, 9), result(1, 1)}
	b[2].Jobs[0].State = sim.Failed
	if got := ordering(fair, a, b); math.Abs(got-0.6) > 1e-9 { // of 0.5, 0.6 and 1
		t.Errorf("%g of fair's", got)
	}
	// Of a run that completes a job more than fair, the job that only it completes does not count. A run that loses a job
	// does not count at all, even if it completes another one instead.
	short := []*sim.Result{result(10, 20, 300)}
	short[0].Jobs[2].State = sim.Failed
	if got := ordering(short, []*sim.Result{result(5, 10, 300)}); got != 0.5 {
		t.Errorf("%g of what fair takes for the jobs that it completes", got)
	}
	other := []*sim.Result{result(1, 1, 1)}
	other[0].Jobs[0].State = sim.Failed
	if got := ordering(short, other, []*sim.Result{result(10, 20, 300)}); got != 1 {
		t.Errorf("%g of fair's, with a job less", got)
	}
}

// Orders that know what jobs need run only on request, and do not change the other figures.
func TestClairvoyant(t *testing.T) {
	cases, runs := Cases()[:1], 0
	without, err := Run(cases, Options{Seeds: []uint64{1}})
	if err != nil || !math.IsNaN(without[0].Ordering) || !math.IsNaN(without[0].Alone) || !math.IsNaN(without[0].SmallAlone) {
		t.Fatalf("%g and %g of what was not run, %v", without[0].Ordering, without[0].Alone, err)
	}
	with, err := Run(cases, Options{Seeds: []uint64{1}, Clairvoyant: true, Report: func(done, of int, _ string) {
		if runs++; done != runs || of != 9 {
			t.Errorf("%d of %d", done, of)
		}
	}})
	if err != nil || runs != 9 {
		t.Fatalf("%d runs, %v", runs, err)
	}
	for i, r := range with {
		if !(r.Alone > 0 && r.Alone < r.Ordering) || !(r.SmallAlone > 0 && r.SmallAlone < 1) {
			t.Errorf("alone %g, ordering %g; small ones %g", r.Alone, r.Ordering, r.SmallAlone)
		}
		if !(r.Ordering > 0.3 && r.Ordering < 1) || r.MeanRatio.Median != without[i].MeanRatio.Median {
			t.Errorf("ordering %g, mean %g and without %g", r.Ordering, r.MeanRatio, without[i].MeanRatio)
		}
	}
}
