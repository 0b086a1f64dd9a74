package ikayak

import (
	"math"
	"testing"

	"heddle"
)

func every(heddle.Dim) bool { return true }

func fits(need, room heddle.Resource) bool { return need.Fits(room) }

// γ is Spark's part of what both hold: half if they hold the same, and 0 or 1 if only one runs.
//
// Reference: section 3.2, γ = R_Spark / (R_Spark + R_MR).
func TestDelayFactor(t *testing.T) {
	total := heddle.Of(100, 100)
	for _, c := range []struct {
		spark, mr heddle.Resource
		want      float64
	}{
		{heddle.Of(30, 10), heddle.Of(10, 30), 0.5}, // dominant shares 0.3 and 0.3
		{heddle.Of(10, 10), heddle.Of(30, 30), 0.25},
		{heddle.Of(10, 10), heddle.Resource{}, 1},
		{heddle.Resource{}, heddle.Of(10, 10), 0},
		{heddle.Resource{}, heddle.Resource{}, 0},
	} {
		if got := delayFactor(c.spark, c.mr, total); math.Abs(got-c.want) > 1e-12 {
			t.Errorf("γ of %v and %v is %v, want %v", c.spark, c.mr, got, c.want)
		}
	}
}

// T_suspend with v = 1 and ε = 0.15 of five minutes: with half the cluster for Spark it is 0.35 · 300 s; a larger γ
// suspends for longer; if γ is below ε nothing is suspended.
//
// Reference: section 3.2, T_suspend = [γ^v − ε]·T; section 4.2, T = 5 min, v = 1, ε = 0.15.
func TestSuspension(t *testing.T) {
	for _, c := range []struct{ gamma, v, epsilon, want float64 }{
		{0.5, 1, 0.15, 105},
		{0.8, 1, 0.15, 195},
		{1, 1, 0.15, 255},
		{0.15, 1, 0.15, 0},
		{0, 1, 0.15, 0},
		{0.5, 2, 0.15, 30},
		{0.25, 0.5, 0.15, 105},
		{0.5, 1, 0, 150},
	} {
		got := suspension(c.gamma, c.v, c.epsilon, 300*heddle.Second).Seconds()
		if math.Abs(got-c.want) > 1e-6 {
			t.Errorf("γ %v, v %v, ε %v: %v s, want %v", c.gamma, c.v, c.epsilon, got, c.want)
		}
	}
	if SuspendDefault != (SuspendOptions{V: 1, Epsilon: 0.15, Interval: 300, Slack: 0.05}) {
		t.Errorf("defaults %+v", SuspendDefault)
	}
}

// A reduce that has copied the output of half of its job's maps cannot continue while the others wait for containers.
// It can while there is output to copy, when no map waits, and when it is past copying.
//
// Reference: section 3.2, "when their allocated resource is not fully utilized due to the delay of their map task
// execution".
func TestStarved(t *testing.T) {
	for _, c := range []struct {
		name                    string
		phase                   heddle.Phase
		fraction                float64
		maps, finished, waiting int
		want                    bool
	}{
		{"has copied it all", heddle.ReduceCopy, 0.5 / 3, 100, 50, 30, true},
		{"a batch behind", heddle.ReduceCopy, 0.46 / 3, 100, 50, 30, true},
		{"much to copy", heddle.ReduceCopy, 0.3 / 3, 100, 50, 30, false},
		{"no map waits", heddle.ReduceCopy, 0.5 / 3, 100, 50, 0, false},
		{"maps done", heddle.ReduceCopy, 0.99 / 3, 100, 100, 1, false},
		{"reducing", heddle.ReduceWrite, 0.8, 100, 50, 30, false},
		{"nothing known", heddle.NoPhase, 0, 100, 50, 30, false},
		{"no map done yet", heddle.ReduceCopy, 0, 100, 0, 30, true},
	} {
		if got := starved(c.phase, c.fraction, c.maps, c.finished, c.waiting, 0.05); got != c.want {
			t.Errorf("%s: %v", c.name, got)
		}
	}
}

// Two maps of 2 cores and 2 GB find their data on M1, which has 2 cores and 2 GB: solution b runs both with half. It
// needs β ≤ 0.5; otherwise one runs with all of it (solution a).
//
// Reference: section 3.3, the example of node M1.
func TestShrinkExample(t *testing.T) {
	free, d := heddle.Of(2048, 2000), heddle.Of(2048, 2000)
	for _, c := range []struct {
		beta     float64
		accepted int
		size     heddle.Resource
	}{{0.5, 2, heddle.Of(1024, 1000)}, {0.51, 1, d}, {1, 1, d}} {
		if p, size := shrink(free, d, 2, c.beta, every, false); p != c.accepted || size != c.size {
			t.Errorf("β %v: %d maps of %v, want %d of %v", c.beta, p, size, c.accepted, c.size)
		}
	}
}

// There are ten cores, and maps of one core. If all fit, nothing is shrunk. Twelve maps get 10/12 = 0.83 of a core
// each. For fifteen at β = 0.8, 10/15, 10/14 and 10/13 are too little, and 12 get 0.83: the size is that of twelve, not
// the 0.77 of the thirteen that were one too many. With nothing free none is accepted, and the size is the full size,
// which does not fit.
//
// Reference: Alg. 3, lines 3 to 12.
func TestShrinkSteps(t *testing.T) {
	d := heddle.Of(1024, 1000)
	for _, c := range []struct {
		free        heddle.Resource
		p, accepted int
		size        heddle.Resource
	}{
		{heddle.Of(20480, 10000), 10, 10, d},
		{heddle.Of(20480, 10000), 3, 3, d},
		{heddle.Of(20480, 10000), 12, 12, heddle.Of(1024, 833)},
		{heddle.Of(20480, 10000), 15, 12, heddle.Of(1024, 833)},
		{heddle.Of(9216, 10000), 10, 10, heddle.Of(921, 1000)},
		{heddle.Of(20480, 0), 3, 0, d},
		{heddle.Of(0, 5000), 3, 0, d},
		{heddle.Of(20480, -1000), 3, 0, d},
		{heddle.Of(1024, 700), 1, 0, d},
		{heddle.Of(1024, 1000), 0, 0, d},
	} {
		if p, size := shrink(c.free, d, c.p, 0.8, every, false); p != c.accepted || size != c.size {
			t.Errorf("%d maps on %v: %d of %v, want %d of %v", c.p, c.free, p, size, c.accepted, c.size)
		}
	}
	// Even if no map ever ran locally, a map gets something.
	if p, size := shrink(heddle.Of(1024, 0), d, 1, 0, every, false); p != 0 || size != d {
		t.Errorf("β 0 and no processor free: %d of %v", p, size)
	}
}

// Accepting maps one by one has the same result as accepting them at once: after each map, the rest divide what is left
// into the same size.
//
// Reference: Alg. 3, line 12.
func TestShrinkOneByOne(t *testing.T) {
	free, d, p := heddle.Of(20480, 10000), heddle.Of(1024, 1000), 15
	n, _ := shrink(free, d, p, 0.8, every, false)
	for i := range n {
		_, size := shrink(free, d, p, 0.8, every, false)
		if size[heddle.CPU] < 833 || size[heddle.CPU] > 834 || !size.Fits(free) {
			t.Fatalf("map %d gets %v of %v", i, size, free)
		}
		free, p = free.Minus(size), p-1
	}
	if left, _ := shrink(free, d, p, 0.8, every, false); left != 0 {
		t.Errorf("one more than %d maps started, %v were left", n, free)
	}
}

// In proportion, memory follows the processors: 1024 · 0.833 = 852 MiB. Dimensions that do not count stay as they are.
//
// Reference: section 3.3, "have to be proportionally shrank".
func TestShrinkProportional(t *testing.T) {
	d := heddle.Of(1024, 1000)
	if _, size := shrink(heddle.Of(20480, 10000), d, 12, 0.8, every, true); size != heddle.Of(852, 833) {
		t.Errorf("size %v", size)
	}
	memory := func(x heddle.Dim) bool { return x == heddle.Memory }
	if p, size := shrink(heddle.Of(20480, -3000), d, 12, 0.8, memory, true); p != 12 || size != d {
		t.Errorf("where processors do not count: %d of %v", p, size)
	}
}

// β is the part of maps that read locally; 19 maps say nothing yet, nor does none.
//
// Reference: section 3.3, β = N_local / (N_local + N_remote).
func TestRatio(t *testing.T) {
	for _, c := range []struct {
		local, remote int64
		want          float64
	}{{0, 0, 1}, {10, 9, 1}, {10, 10, 0.5}, {19, 1, 0.95}, {0, 20, 0}} {
		if got := ratio(c.local, c.remote, 20); got != c.want {
			t.Errorf("β of %d and %d is %v, want %v", c.local, c.remote, got, c.want)
		}
	}
	if got := ratio(0, 0, 0); got != 1 {
		t.Errorf("β of nothing is %v", got)
	}
}

// A node lacks 4 cores for an executor. Its reduces of 2 cores end after 50, 20 and 90 s: the two that end first have
// given back 4 cores after 50 s. With the third as well, 6 cores are there after 90 s; 7 never are.
//
// Reference: Alg. 2, lines 4 to 8.
func TestWait(t *testing.T) {
	u := heddle.Of(1024, 2000)
	at := func(s int64) heddle.Time { return heddle.Time(s) * heddle.Time(heddle.Second) }
	reduces := []running{{1, u, at(50)}, {2, u, at(20)}, {3, u, at(90)}}
	sortEnds(reduces)
	for _, c := range []struct {
		need heddle.Resource
		y    heddle.Time
		ok   bool
	}{
		{heddle.Of(0, 2000), at(20), true},
		{heddle.Of(0, 4000), at(50), true},
		{heddle.Of(0, 6000), at(90), true},
		{heddle.Of(0, 7000), 0, false},
		{heddle.Of(3072, 1000), at(90), true}, // memory is what is missing
		{heddle.Of(-1, -1), at(20), true},
	} {
		if y, ok := wait(c.need, reduces, fits); y != c.y || ok != c.ok {
			t.Errorf("%v: %v %v, want %v %v", c.need, y, ok, c.y, c.ok)
		}
	}
	if _, ok := wait(heddle.Of(1, 0), nil, fits); ok {
		t.Error("a node without reduces is waited for")
	}
}

// Reduces of which nothing is known come last; ties go by id.
//
// Reference: Alg. 2, line 4.
func TestSortEnds(t *testing.T) {
	reduces := []running{{id: 3, y: never}, {id: 9, y: 5}, {id: 4, y: 5}, {id: 1, y: 7}}
	sortEnds(reduces)
	for i, want := range []heddle.ContainerID{4, 9, 1, 3} {
		if reduces[i].id != want {
			t.Fatalf("order %v", reduces)
		}
	}
}

// "Most" over several dimensions is the largest dominant share of what is left after placing. In a cluster of 64 GB and
// 64 cores, an executor of 4 GB and 4 cores leaves 16/64 on a node with 20 GB and 8 cores, and 10/64 on one with 10 GB
// and 14 cores.
//
// Reference: Alg. 1, lines 5 and 9.
func TestMostLeft(t *testing.T) {
	var g gauge
	g.set(heddle.Of(4096, 4000), heddle.Of(65536, 64000), every)
	for _, c := range []struct {
		have heddle.Resource
		want float64
	}{
		{heddle.Of(20480, 8000), 0.25},
		{heddle.Of(10240, 14000), 10.0 / 64},
		{heddle.Of(4096, 4000), 0},
		{heddle.Of(20480, 3999), -1},
		{heddle.Of(4095, 8000), -1},
	} {
		if got := g.left(&c.have); got != c.want || g.fits(&c.have) != (c.want >= 0) {
			t.Errorf("%v: %v left, want %v", c.have, got, c.want)
		}
	}
	g.set(heddle.Of(4096, 4000), heddle.Of(65536, 64000), func(d heddle.Dim) bool { return d == heddle.Memory })
	if have := heddle.Of(8192, -5000); g.left(&have) != 1.0/16 {
		t.Errorf("where processors do not count: %v left", g.left(&have))
	}
}
