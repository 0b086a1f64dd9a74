package coupling

import (
	"math"
	"testing"

	"heddle"
	"heddle/exp"
	"heddle/exp/exptest"
	"heddle/sim"
)

// The columns of Table IV add up to 2150 maps and 195 reduces.
func TestSequence(t *testing.T) {
	w := exptest.Jobs(t, work(7, 0, table4...), 1)
	maps, reduces := 0, 0
	for i := range w.Jobs {
		maps, reduces = maps+len(w.Jobs[i].Maps), reduces+len(w.Jobs[i].Reduces)
	}
	if len(w.Jobs) != 22 || maps != 2150 || reduces != 195 {
		t.Errorf("%d jobs with %d maps and %d reduces", len(w.Jobs), maps, reduces)
	}
	if j := &w.Jobs[9]; j.Program != "sort" || j.Submit != heddle.Time(800*heddle.Second) || j.Maps[0].Input != 15_000_000_000/224+1 || j.Replicas != 1 {
		t.Errorf("job 10: %s at %v, %d bytes a map, %d replicas", j.Program, j.Submit, j.Maps[0].Input, j.Replicas)
	}
}

// Set B: seven nodes hold all input, once each.
func TestSetB(t *testing.T) {
	w := exptest.Jobs(t, work(7, 8, table3...), 1)
	for i := range w.Jobs {
		for _, m := range w.Jobs[i].Maps {
			if len(m.Hosts) != 1 || m.Hosts[0] >= 7 {
				t.Fatalf("job %s has a split on %v", w.Jobs[i].ID, m.Hosts)
			}
		}
	}
}

// A map of 38 s, two of which its container takes to start, is 36 · 0.12 = 4.32 s of the reference core.
func TestMapTime(t *testing.T) {
	if got := mapTime(38); math.Abs(got-6.32) > 1e-9 {
		t.Errorf("%v s, want 6.32", got)
	}
}

func TestBatches(t *testing.T) {
	w := exptest.Jobs(t, batches, 3)
	programs := map[string]int{}
	for i := range w.Jobs {
		programs[w.Jobs[i].Program]++
		if i > 0 && i%20 != 0 && w.Jobs[i].Submit < w.Jobs[i-1].Submit {
			t.Errorf("job %d comes before job %d of its batch", i, i-1)
		}
	}
	for p, n := range map[string]int{"grep": 147, "wordcount": 18, "pi": 14, "sort": 21} {
		if programs[p] != n {
			t.Errorf("%d jobs are %s, want %d", programs[p], p, n)
		}
	}
	if other := exptest.Jobs(t, batches, 4); other.Jobs[7].Submit == w.Jobs[7].Submit {
		t.Error("another seed gives the same times")
	}
}

// The map times of the Greps were chosen so that Fair comes near the published starvation times, which are
// up to 8.6 minutes.
func TestBaselineFollowsTable4(t *testing.T) {
	e := sequence()
	e.Arms, e.Metrics = e.Arms[:1], nil
	err := exp.Run([]*exp.Experiment{&e}, exp.Options{Seeds: []uint64{1, 2, 3}}, func(o *exp.Outcome) error {
		if d := exp.MedianOf(o.All, func(r exp.Runs) float64 { return distance(r.Arm(fair)) }); !(d < 1.5) {
			t.Errorf("%.2f minutes from Table IV, root mean square", d)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// handRun is a run of two jobs written by hand: seconds.
func handRun() *sim.Result {
	at := func(s float64) heddle.Time { return heddle.Time(s * float64(heddle.Second)) }
	task := func(job int, k heddle.Kind, node int, near heddle.Locality, from, to float64) sim.TaskResult {
		return sim.TaskResult{Job: job, Kind: k, Node: heddle.NodeID(node), At: near, Granted: at(from), Started: at(from), Ended: at(to)}
	}
	return &sim.Result{
		Makespan: 40 * heddle.Second, Nodes: make([]sim.NodeInfo, 2),
		Jobs: []sim.JobResult{
			{ID: "a", State: sim.Succeeded, JCT: 30 * heddle.Second, Reduces: 1, Starvation: 4 * heddle.Second},
			{ID: "b", State: sim.Succeeded, JCT: 35 * heddle.Second, Starvation: sim.NoSpan, Submit: at(5)},
		},
		Tasks: []sim.TaskResult{
			task(0, heddle.Map, 0, heddle.NodeLocal, 0, 10),
			task(0, heddle.Map, 0, heddle.RackLocal, 0, 20),
			task(1, heddle.Map, 1, heddle.RackLocal, 10, 18),
			task(0, heddle.Reduce, 1, heddle.OffSwitch, 12, 30),
		},
	}
}

func TestMeasures(t *testing.T) {
	r := handRun()
	// Two maps run from 0 to 10 and from 10 to 18, one from 18 to 20.
	if n := mostMapsFor(r); n != 2 {
		t.Errorf("most of the time %v maps run, want 2", n)
	}
	if s := slotTime(r, heddle.Reduce); s != 18 {
		t.Errorf("reduces hold slots for %v s, want 18", s)
	}
	if a, b, none := mapsEnd(r, "a"), mapsEnd(r, "b"), mapsEnd(r, "c"); a != 20 || b != 13 || !math.IsNaN(none) {
		t.Errorf("maps end after %v and %v s, and %v of none; want 20, 13 and NaN", a, b, none)
	}
	if s := starvation(r, exp.IDs("a")); s != 4 {
		t.Errorf("a starves %v s, want 4", s)
	}
	if s := starvation(r, nil); !math.IsNaN(s) {
		t.Errorf("with a job without reduces %v, want NaN", s)
	}
	// 20 MB in 20 s on node 0; 16 MB in 8 s of the second step of ten on node 1. In the steps of 10 s the most
	// is 1, 1.6, 0 and 0 MB/s, and so is that of the fifth, which begins with the makespan: mean 0.52.
	got := peakIntake(r, func(job int, _ int32) int64 { return []int64{20e6, 16e6}[job] })
	if math.Abs(got-0.52) > 1e-9 {
		t.Errorf("the busiest node takes in %v MB/s, want 0.52", got)
	}
}

func TestSooner(t *testing.T) {
	with := func(a, b heddle.Span) *sim.Result {
		return &sim.Result{Jobs: []sim.JobResult{{State: sim.Succeeded, JCT: a}, {State: sim.Succeeded, JCT: b}}}
	}
	for _, c := range []struct {
		a, b heddle.Span
		want bool
	}{{9, 20, true}, {20, 9, true}, {10, 20, true}, {5, 21, false}} {
		all := []exp.Runs{{Arms: map[string]*sim.Result{"base": with(10, 20), "ours": with(c.a, c.b)}}}
		if got := sooner(all, "base", "ours"); got != c.want {
			t.Errorf("%d and %d beside 10 and 20: %v, want %v", c.a, c.b, got, c.want)
		}
	}
}
