package dress

import (
	"math"
	"slices"
	"testing"

	"heddle"
)

func at(s float64) heddle.Time { return heddle.Time(heddle.Seconds(s)) }

func near(t *testing.T, what string, got, want float64) {
	t.Helper()
	if math.Abs(got-want) > 1e-9 {
		t.Errorf("%s: %v, want %v", what, got, want)
	}
}

// papers returns a tracker with the paper's parameters.
func papers() *tracker { return &tracker{pw: 10 * heddle.Second, ts: 5, te: 5} }

// A job whose request is larger than A_c × θ is classified as LD, otherwise as SD. With 100 containers and θ = 10 %, LD
// starts at the eleventh; if nothing is available, at the first.
// Reference: IV-C, second paragraph.
func TestClassify(t *testing.T) {
	for _, c := range []struct {
		r, R  float64
		theta []float64
		want  int
	}{
		{10, 100, []float64{0.1}, 0},
		{11, 100, []float64{0.1}, 1},
		{1, 0, []float64{0.1}, 1},
		{5, 100, []float64{0.05, 0.2}, 0},
		{6, 100, []float64{0.05, 0.2}, 1},
		{20, 100, []float64{0.05, 0.2}, 1},
		{21, 100, []float64{0.05, 0.2}, 2},
	} {
		if got := classify(c.r, c.R, c.theta); got != c.want {
			t.Errorf("%v of %v by %v: category %d, want %d", c.r, c.R, c.theta, got, c.want)
		}
	}
}

// t_s and t_e are counts in a cluster of a hundred containers (five nodes of twenty cores). In a smaller cluster they
// are fewer in proportion, and at least one; zero stays zero.
// Reference: V-A1.
func TestThresholds(t *testing.T) {
	for _, c := range [][3]int{{5, 100, 5}, {5, 1000, 5}, {5, 60, 3}, {5, 12, 1}, {5, 1, 1}, {10, 50, 5}, {0, 12, 0}} {
		if got := scaled(c[0], c[1]); got != c[2] {
			t.Errorf("%d of a hundred is %d of %d, want %d", c[0], got, c[1], c[2])
		}
	}
}

// Twenty maps start within three seconds. The phase opens with the sixth, and its first start is the earliest. Ten
// seconds after the last start nothing has grown for pw: Δps = 3 s.
// Reference: Alg. 1, lines 11 to 16.
func TestStartingVariation(t *testing.T) {
	k := papers()
	for i := range 20 {
		k.start(at(100 + 3*float64(i)/19))
		if got, want := k.at(0).open, i+1 > 5; got != want {
			t.Errorf("after start %d the phase is open: %v, want %v", i+1, got, want)
		}
	}
	k.advance(at(112.99))
	if k.at(0).closed {
		t.Error("closed while the last start is within pw")
	}
	k.advance(at(113))
	dps, ok := k.at(0).variation()
	if p := k.at(0); !ok || dps != 3*heddle.Second || p.first != at(100) || p.last != at(103) {
		t.Errorf("Δps = %v (%v) from %v to %v; want 3 s from 100 to 103 s", dps.Seconds(), ok, p.first.Seconds(), p.last.Seconds())
	}
	if n := k.start(at(130)); n != 1 {
		t.Errorf("a task after the phase's last start is in phase %d, want the next one", n)
	}
}

// Five starts within pw are no more than t_s, and open no phase, however many follow slowly.
// Reference: Alg. 1, line 11.
func TestFewStartsOpenNoPhase(t *testing.T) {
	k := papers()
	for i := range 30 {
		k.start(at(2 * float64(i))) // five within any ten seconds
	}
	if k.at(0).open {
		t.Error("a phase opened without a burst")
	}
}

// One of the nine reduces of the PageRank example takes 1.26 s and the others about 18.25 s: the short one is a heading
// task, and the release starts with the first of the others.
// Reference: III-A2; Alg. 2, lines 8 to 10.
func TestHeadingTask(t *testing.T) {
	for _, all := range []bool{false, true} {
		k := papers()
		k.all = all
		for range 9 {
			k.start(at(0))
		}
		k.finish(at(1.26), 0)
		for i := range 6 {
			if k.at(0).ending {
				t.Errorf("ending after %d ends within pw", i)
			}
			k.finish(at(18+0.1*float64(i)), 0)
		}
		want := 18.0
		if all {
			want = 1.26
		}
		if p := k.at(0); !p.ending || p.gamma != at(want) {
			t.Errorf("all = %v: γ = %v (%v), want %v", all, p.gamma.Seconds(), p.ending, want)
		}
	}
}

// One task takes 17.6 s longer than the others. When none has ended for pw it is a trailing task and counts in the next
// phase. When it ends, no task is left and the job is over.
// Reference: Alg. 2, lines 11 to 14.
func TestTrailingTask(t *testing.T) {
	k := papers()
	for i := range 20 {
		k.start(at(float64(i) / 10))
	}
	for i := range 19 {
		k.finish(at(44+float64(i)/10), 0)
	}
	k.advance(at(55.7))
	if _, ok := k.trailing(at(55.7)); ok {
		t.Error("trailing within pw of the last end at 45.8")
	}
	n, ok := k.trailing(at(55.8))
	if !ok || n != 0 {
		t.Fatal("no trailing task pw after the last end")
	}
	to := k.trail(n)
	if p, next := k.at(0), k.at(1); to != 1 || p.running != 0 || next.c != 1 || next.running != 1 {
		t.Errorf("the trailing task is not counted to the next phase: %+v", k.phases)
	}
	k.finish(at(63.4), to)
	if k.running != 0 || len(k.phases) != 0 {
		t.Errorf("%d tasks run in %d phases, want none", k.running, len(k.phases))
	}
}

// Nothing is released before γ, then c containers evenly within Δps, then nothing. For 20 containers from 10 s on
// within 4 s, that is 5 a second. As printed, the function gives what was released since γ.
// Reference: Eq. 9.
func TestReleasePattern(t *testing.T) {
	const c, h = 20, heddle.Second
	gamma, dps := at(10), 4*heddle.Second
	sum := 0.0
	for i := range 20 {
		sum += released(c, c, gamma, dps, at(float64(i)), h)
	}
	near(t, "all that is expected", sum, c)
	for _, x := range []struct{ t, want float64 }{{8, 0}, {9, 0}, {9.5, 2.5}, {10, 5}, {12.5, 5}, {13.5, 2.5}, {14, 0}} {
		near(t, "expected in a second", released(c, c, gamma, dps, at(x.t), h), x.want)
	}
	near(t, "no more than still run", released(c, 3, gamma, dps, at(11), h), 3)
	near(t, "all begun at once, before γ", released(c, 7, gamma, 0, at(9.5), h), 7)
	near(t, "all begun at once, after γ", released(c, 7, gamma, 0, at(10), h), 0)
	for _, x := range []struct{ t, want float64 }{{9.9, 0}, {10, 0}, {11, 5}, {13, 15}, {14, 20}, {14.1, 0}} {
		near(t, "as printed", releasedSince(c, gamma, dps, at(x.t)), x.want)
	}
}

// A job releases what its phases release together; a job that has not started or is over releases nothing.
// Reference: Eq. 5.
func TestJobRelease(t *testing.T) {
	k := papers()
	near(t, "before α", k.f(at(5), heddle.Second, expected), 0)
	k.phases = []phase{
		{c: 20, running: 20, open: true, closed: true, first: at(0), last: at(4), ending: true, gamma: at(30)},
		{c: 6, running: 6, open: true, closed: true, first: at(12), last: at(14), ending: true, gamma: at(31)},
		{c: 9, running: 9, open: true, first: at(29), last: at(31)},
	}
	near(t, "both phases", k.f(at(31), heddle.Second, expected), 20.0/4+6.0/2)
	near(t, "both as printed", k.f(at(31), heddle.Second, cumulative), 20*2.0/4+6*1.0/2)
}

// two returns the supplies of SD and LD; the arguments count containers of 100.
func two(a1, f1 float64, sd []float64, a2, f2 float64, ld []float64) []supply {
	part := func(of []float64) (out []float64) {
		for _, x := range of {
			out = append(out, x/100)
		}
		return out
	}
	return []supply{{available: a1 / 100, released: f1 / 100, demands: part(sd)}, {available: a2 / 100, released: f2 / 100, demands: part(ld)}}
}

// Each case is computed by hand, in containers of 100, with δ initially at 30 %. Both categories are short in all but
// the first four.
// Reference: Alg. 3.
func TestAdjust(t *testing.T) {
	for i, c := range []struct {
		what string
		cats []supply
		want float64
	}{
		{"lines 7, 8: what SD has too much goes to LD, 4 + 2 − 5", two(4, 2, []float64{2, 3}, 0, 0, []float64{40}), 29},
		{"likewise when LD has too much as well", two(4, 2, nil, 9, 0, nil), 24},
		{"exactly enough moves nothing", two(4, 1, []float64{5}, 0, 0, []float64{40}), 30},
		{"lines 9 to 11: LD has 10 + 5 − 12 too much", two(1, 1, []float64{5}, 10, 5, []float64{12}), 33},
		{"both short: SD's 2 fits its own 3, the 4 left of LD and SD's 1 serve the next, 5", two(2, 1, []float64{2, 5, 9}, 3, 1, []float64{20}), 35},
		{"what fits exactly fits", two(3, 0, []float64{3, 4}, 4, 0, []float64{20}), 34},
		{"LD's own come first: 3 of its 4", two(3, 0, []float64{3, 4}, 4, 0, []float64{3, 20}), 30},
		{"line 14 as corrected: LD's estimate is LD's", two(0, 3, []float64{4}, 0, 1, []float64{20}), 34},
		{"the smallest demand is five and four are available: these four are left over", two(0, 0, []float64{3, 8}, 4, 0, []float64{5}), 33},
		{"two next jobs, until one does not fit", two(0, 0, []float64{2, 3, 3}, 6, 0, []float64{7}), 35},
	} {
		delta := []float64{0.3, 0.7}
		if short := adjust(delta, c.cats, false); short != (i > 3) {
			t.Errorf("%s: both are short: %v", c.what, short)
		}
		if math.Abs(delta[0]-c.want/100) > 1e-9 || math.Abs(delta[0]+delta[1]-1) > 1e-9 {
			t.Errorf("%s: δ = %v, want %v", c.what, delta[0], c.want/100)
		}
	}
}

// A job that does not fit as a whole gets what it lacks for one container of two, if the larger category has that left.
// Amounts are containers of 100; δ is initially 30 %.
func TestLendInPart(t *testing.T) {
	for _, c := range []struct {
		what string
		cats []supply
		want float64
	}{
		{"the 8 left of LD serve 2, 3, and 2 of the next", two(0, 0, []float64{2, 3, 4}, 8, 0, []float64{9}), 37},
		{"one is left, which is too little", two(0, 0, []float64{2, 3, 3}, 6, 0, []float64{7}), 35},
		{"nothing is left", two(0, 0, []float64{2}, 0, 0, []float64{7}), 30},
		{"what LD's smallest fits is LD's first", two(0, 0, []float64{8}, 5, 0, []float64{3, 9}), 32},
		{"SD has one of its own", two(1, 0, []float64{5}, 1, 0, []float64{7}), 31},
		{"SD has one container's room of its own", two(2, 0, []float64{9}, 4, 0, []float64{20}), 30},
		{"there is no next job", two(3, 0, []float64{3, 4}, 4, 0, []float64{20}), 34},
		{"all of what is lent as a whole is taken from LD", two(3, 0, []float64{6, 7}, 4, 0, []float64{50}), 36},
	} {
		delta := []float64{0.3, 0.7}
		for k := range c.cats {
			c.cats[k].first = 0.02
		}
		adjust(delta, c.cats, true)
		near(t, c.what, delta[0], c.want/100)
		near(t, c.what+": the sum", delta[0]+delta[1], 1)
	}

	// The middle category's job is served as a whole, all of it from the last category. Then the smallest category's
	// job is served in part, from what the middle one has left.
	delta := []float64{0.2, 0.2, 0.6}
	adjust(delta, []supply{
		{demands: []float64{0.1}, first: 0.01},
		{available: 0.03, demands: []float64{0.06}, first: 0.01},
		{available: 0.04, demands: []float64{0.5}, first: 0.01},
	}, true)
	if want := []float64{0.21, 0.25, 0.54}; !close3(delta, want) {
		t.Errorf("ratios %v, want %v", delta, want)
	}
}

// A category that keeps its surplus gives nothing away, and still gets the surplus of another.
// Reference: V-B1, "after Job 4-5, the DRESS increased the reserved ratio".
func TestKeep(t *testing.T) {
	delta, cats := []float64{0.3, 0.7}, two(4, 2, []float64{2}, 0, 0, []float64{40})
	cats[0].keeps = true
	if adjust(delta, cats, false) {
		t.Error("both are short, and small jobs have too much")
	}
	near(t, "with too much", delta[0], 0.3)
	cats = two(0, 0, []float64{2}, 14, 0, nil)
	cats[0].keeps = true
	adjust(delta, cats, false)
	near(t, "with too little", delta[0], 0.44)
}

// It is easy to classify into more categories. A surplus goes to the smallest category that is short. When all are
// short, the smaller ones' next jobs are served from what they and the larger ones have left.
// Reference: IV-C, second paragraph.
func TestThreeCategories(t *testing.T) {
	delta := []float64{0.2, 0.3, 0.5}
	adjust(delta, []supply{
		{available: 0.01, demands: []float64{0.05}},
		{available: 0.04, demands: []float64{0.03}},
		{available: 0.02, demands: []float64{0.30}},
	}, false)
	if want := []float64{0.21, 0.29, 0.5}; !close3(delta, want) {
		t.Errorf("ratios %v, want %v: the middle one's 0.01 goes to the smallest", delta, want)
	}
	delta = []float64{0.2, 0.3, 0.5}
	adjust(delta, []supply{
		{available: 0.01, demands: []float64{0.03, 0.05}},
		{available: 0.02, demands: []float64{0.06}},
		{available: 0.03, demands: []float64{0.30}},
	}, false)
	// 0.06 is left in all. 0.03 of it, the last category's, serves the job of 0.03; the job of 0.05 does not fit in
	// 0.03, nor does that of 0.06.
	if want := []float64{0.23, 0.3, 0.47}; !close3(delta, want) {
		t.Errorf("ratios %v, want %v", delta, want)
	}
}

func close3(a, b []float64) bool {
	return slices.EqualFunc(a, b, func(x, y float64) bool { return math.Abs(x-y) < 1e-9 })
}

// By the paper δ lies in (0, 1). Here it stays within its bounds, and the larger categories give way first.
// Reference: IV-C, fourth paragraph.
func TestBound(t *testing.T) {
	for _, c := range []struct{ delta, want []float64 }{
		{[]float64{-0.1, 1.1}, []float64{0.05, 0.95}},
		{[]float64{0.8, 0.2}, []float64{0.5, 0.5}},
		{[]float64{0.3, 0.4, 0.3}, []float64{0.3, 0.2, 0.5}},
		{[]float64{0.6, 0.4, 0}, []float64{0.45, 0.05, 0.5}},
	} {
		bound(c.delta, 0.05, 0.5)
		if !close3(c.delta, c.want) {
			t.Errorf("%v, want %v", c.delta, c.want)
		}
	}
}

// A job of many phases keeps only those that still release something.
func TestPhasesAreForgotten(t *testing.T) {
	j := &job{tracker: *papers()}
	for i := range 50 {
		from := 100 * float64(i)
		for k := range 8 {
			j.pass(at(from + float64(k)/10))
			j.tasks = append(j.tasks, task{phase: j.start(at(from + float64(k)/10))})
		}
		for k := range 7 { // one keeps running: the job is never over
			j.pass(at(from + 30 + float64(k)/10))
			j.finish(at(from+30+float64(k)/10), j.tasks[0].phase)
			j.tasks = j.tasks[1:]
		}
		if i > 0 {
			j.pass(at(from + 50))
			j.finish(at(from+50), j.tasks[0].phase)
			j.tasks = j.tasks[1:]
		}
	}
	j.pass(at(6000))
	if n := len(j.phases); n > 2 {
		t.Errorf("%d phases are remembered", n)
	}
}
