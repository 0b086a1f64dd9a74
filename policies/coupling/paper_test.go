package coupling_test

import (
	"math"
	"testing"

	"heddle"
	"heddle/cluster"
	"heddle/policies/coupling"
)

func near(a, b float64) bool { return math.Abs(a-b) < 5e-4 }

// With threshold 3, one reduce gives 1 − e^(−1/3) = 0.2835, three give 1 − 1/e = 0.6321, and eight give
// 1 − e^(−8/3) = 0.9305. Fewer reduces give a smaller δ.
// Reference: Alg. 1, line 3.
func TestDelta(t *testing.T) {
	for R, want := range map[int]float64{1: 0.2835, 3: 0.6321, 8: 0.9305, 27: 0.9999} {
		if δ := coupling.Delta(R, 3); !near(δ, want) {
			t.Errorf("δ of %d reduces is %v, want %v", R, δ, want)
		}
	}
}

// Mismatch is below 1/δ, and 1/0.25 = 4 bounds it: δ of a single reduce is above 0.25.
// Reference: Section II-A, on line 9.
func TestDeltaIsAboveAQuarter(t *testing.T) {
	if coupling.Delta(1, 3) <= 0.25 {
		t.Error(coupling.Delta(1, 3))
	}
}

// grep returns the job of Fig. 5, 427 maps and 8 reduces, at the given progress.
func grep(finishedMaps, runningReduces int) coupling.Progress {
	return coupling.Progress{
		DesiredMaps: 427, FinishedMaps: finishedMaps, PendingMaps: 427 - finishedMaps - 32,
		DesiredReduces: 8, RunningReduces: runningReduces, PendingReduces: 8 - runningReduces,
	}
}

// unit = 0.9305·427/8 = 49.66 maps a reduce. After 100 maps mapProgress = 2.0135. With one reduce running,
// redProgress = 2 and mismatch = 0.0135/8 = 0.0017: one may start. With two running, it is (2.0135 − 3)/8 = −0.123.
// Reference: Alg. 1, lines 4 to 7.
func TestMismatch(t *testing.T) {
	δ := coupling.Delta(8, 3)
	for _, c := range []struct {
		p    coupling.Progress
		want float64
		may  int
	}{
		{grep(0, 0), -0.125, 0},
		{grep(49, 0), -0.0017, 0},
		{grep(50, 0), 0.0008, 1},
		{grep(100, 0), 0.1267, 2},
		{grep(100, 1), 0.0017, 1},
		{grep(100, 2), -0.1233, 0},
	} {
		if m := coupling.Mismatch(c.p, δ); !near(m, c.want) {
			t.Errorf("%+v: mismatch %v, want %v", c.p, m, c.want)
		}
		if n := coupling.Launchable(c.p, δ); n != c.may {
			t.Errorf("%+v: %d reduces may start, want %d", c.p, n, c.may)
		}
	}
}

// All reduces of a job should be launched by the time a fraction δ of its maps has ended. The last one's redProgress is
// R, so its mismatch is above 0 from the first map after δ·M on: 0.9305·427 = 397.3, the 398th.
// Reference: Section II-A, on δ.
func TestAllReducesByDelta(t *testing.T) {
	δ := coupling.Delta(8, 3)
	for maps, want := range map[int]bool{397: false, 398: true} {
		p := grep(maps, 7)
		p.PendingMaps = 1
		if may := coupling.Mismatch(p, δ) > 0; may != want {
			t.Errorf("after %d maps the last reduce may start: %v, want %v", maps, may, want)
		}
	}
}

// A job without pending maps has a mismatch of 4 + 1/pendingReduces, more than any job with pending maps can have. The
// fewer reduces it lacks, the larger it is.
// Reference: Alg. 1, lines 8 and 9.
func TestNoPendingMaps(t *testing.T) {
	p := grep(420, 5)
	p.PendingMaps = 0
	few := coupling.Mismatch(p, coupling.Delta(8, 3))
	p.RunningReduces, p.PendingReduces = 0, 8
	many := coupling.Mismatch(p, coupling.Delta(8, 3))
	if !near(few, 4+1.0/3) || !near(many, 4.125) {
		t.Errorf("with 3 and 8 reduces pending: %v and %v", few, many)
	}
	one := coupling.Progress{DesiredMaps: 100, FinishedMaps: 99, PendingMaps: 1, DesiredReduces: 1, PendingReduces: 1}
	if m := coupling.Mismatch(one, coupling.Delta(1, 3)); m >= 4 {
		t.Errorf("with a pending map: %v", m)
	}
}

// Reference: Alg. 1, line 12.
func TestNoPendingReduces(t *testing.T) {
	p := grep(400, 8)
	if m, n := coupling.Mismatch(p, 0.9), coupling.Launchable(p, 0.9); m != 0 || n != 0 {
		t.Errorf("mismatch %v, %d may start", m, n)
	}
}

// Less intermediate data imply a larger δ: at ρ = 1/4, 1 − δ shrinks to a quarter.
// Reference: Section II-A, the paragraph on Alg. 1.
func TestDeltaByOutput(t *testing.T) {
	for ρ, want := range map[float64]float64{0: 1, 0.25: 0.9, 1: 0.6, 3: 0.6} {
		if δ := coupling.DeltaByOutput(0.6, ρ); !near(δ, want) {
			t.Errorf("δ at ρ = %v is %v, want %v", ρ, δ, want)
		}
	}
}

// There are two nodes in one rack and one in another, with 3 bytes on n0 and 1 on n2. C(n0) = 3·0 + 1·4 = 4,
// C(n1) = 3·2 + 1·4 = 10, C(n2) = 3·4 + 1·0 = 12.
// Reference: Eq. 1.
func TestCost(t *testing.T) {
	hops := [3][3]int{{0, 2, 4}, {2, 0, 4}, {4, 4, 0}}
	w := []cluster.Output{{Node: 0, Bytes: 3}, {Node: 2, Bytes: 1}}
	for v, want := range []float64{4, 10, 12} {
		if c := coupling.Cost(w, func(u heddle.NodeID) int { return hops[u][v] }); c != want {
			t.Errorf("C(n%d) = %v, want %v", v, c, want)
		}
	}
}

// Of seven nodes, the first is the centrality, the second and third are the next group, and the others are the last.
// Reference: Section II-A.2.
func TestGroups(t *testing.T) {
	for i, want := range []int{1, 2, 2, 3, 3, 3, 3} {
		if g := coupling.Group(i); g != want {
			t.Errorf("node %d is in group %d, want %d", i, g, want)
		}
	}
}

// With 400 maps pending and 32 nodes with a free slot, β = 0.1 + 0.9·(1 − e^(−12.5)) = 1.0; with 1 and 32, it is
// 0.1 + 0.9·(1 − e^(−1/32)) = 0.1277. If no node has a free slot, N counts as one.
// Reference: Eq. 3, below it.
func TestBeta(t *testing.T) {
	for _, c := range []struct{ M, N, want float64 }{
		{400, 32, 1}, {1, 32, 0.1277}, {0, 5, 0.1}, {2, 0, 0.1 + 0.9*0.8647},
	} {
		if β := coupling.Beta(c.M, c.N); !near(β, c.want) {
			t.Errorf("β(%v, %v) = %v, want %v", c.M, c.N, β, c.want)
		}
	}
}

// Fig. 11: 7 of 15 nodes hold input. With 8 nodes free, p = 1 − 0.8·(7/15)^0.5·(1 − e^(−8)) = 0.4537 for
// β = 0.5, and 1 − 0.8·0.9266 = 0.2590 for β = 0.1: the larger β, the sooner a remote map starts.
// Reference: Eq. 3, Fig. 11.
func TestChance(t *testing.T) {
	for _, c := range []struct{ α, held, β, N, want float64 }{
		{0.8, 7.0 / 15, 0.5, 8, 0.4537},
		{0.8, 7.0 / 15, 0.1, 8, 0.2590},
		{0.7, 7.0 / 15, 0.5, 8, 0.5220}, // a reduce of the job runs here
		{1, 7.0 / 15, 0.5, 8, 0.3171},   // no data in the rack
	} {
		if p := coupling.Chance(c.α, c.held, c.β, c.N); !near(p, c.want) {
			t.Errorf("p(%v, %v, %v, %v) = %v, want %v", c.α, c.held, c.β, c.N, p, c.want)
		}
	}
}

// When no node has a free slot, p is 1; when many have, it is 1 − α·p̂^β.
// Reference: Section II-B, on the extreme cases of Eq. 3.
func TestChanceAtItsLimits(t *testing.T) {
	if p := coupling.Chance(0.8, 0.5, 0.5, 0); p != 1 {
		t.Errorf("with no free slot p = %v", p)
	}
	if p, want := coupling.Chance(0.8, 0.5, 0.5, 1000), 1-0.8*math.Sqrt(0.5); !near(p, want) {
		t.Errorf("with many free slots p = %v, want %v", p, want)
	}
}

// Three reports a second apart give a candidate the chance of one heartbeat of 3 s: with chance q at each report,
// 1 − (1 − q)^3 is p. A report after more than a heartbeat gives no more than one heartbeat does.
// Reference: Section II-B, "skips the current heartbeat"; Hadoop 0.20's heartbeat is 3 s.
func TestWithin(t *testing.T) {
	for _, p := range []float64{0, 0.0734, 0.3169, 1} {
		each := coupling.Within(p, 1.0/3)
		if got := 1 - (1-each)*(1-each)*(1-each); !near(got, p) {
			t.Errorf("three reports give %v, a heartbeat %v", got, p)
		}
		if got := coupling.Within(p, 2); got != p {
			t.Errorf("after two heartbeats %v, want %v", got, p)
		}
	}
	if got := coupling.Within(0.5, 0); got != 0 {
		t.Errorf("in the same instant %v", got)
	}
}
