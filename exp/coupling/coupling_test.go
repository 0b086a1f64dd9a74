package coupling

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"heddle"
	"heddle/exp"
	"heddle/exp/exptest"
	"heddle/sim"
)

// The columns of Table IV add up to 2150 maps and 195 reduces.
func TestSequence(t *testing.T) {
	w := exptest.Jobs(t, work(setB, table4...), 1)
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
	w := exptest.Jobs(t, work(setB, table3...), 1)
	for i := range w.Jobs {
		for _, m := range w.Jobs[i].Maps {
			if len(m.Hosts) != 1 || m.Hosts[0] >= 7 {
				t.Fatalf("job %s has a split on %v", w.Jobs[i].ID, m.Hosts)
			}
		}
	}
}

// A map of 38 s, of which its process takes 1.2 to start, takes 36.8 · 0.12 = 4.416 s on the reference core, and 5.619
// with the start there.
func TestMapTime(t *testing.T) {
	if got := mapTime(38); math.Abs(got-5.619) > 0.001 {
		t.Errorf("%v s, want 5.619", got)
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

// Parts of Sorts differ by as much as random draws of records do: half a percent for 53,000 records.
func TestEven(t *testing.T) {
	w := exptest.Jobs(t, work(setA, table2[4]), 1)
	even(1, w)
	least, most := int64(math.MaxInt64), int64(0)
	for _, r := range w.Jobs[0].Reduces {
		least, most = min(least, r.Input), max(most, r.Input)
		if math.Abs(float64(r.Output)/float64(r.Input)-1) > 1e-6 {
			t.Errorf("a reduce copies %d bytes and writes %d", r.Input, r.Output)
		}
	}
	if mean := 29e9 / 27.0; !(float64(least) > 0.97*mean && float64(most) < 1.03*mean && least < most) {
		t.Errorf("parts of %d to %d bytes", least, most)
	}
}

// Set B has one rack with data and one without; set C has racks of at most eight.
func TestRacks(t *testing.T) {
	for want, got := range map[string]string{
		"[data1]": setB.racks("data", 7), "[bare1]": setB.racks("bare", 8), "[all]": nodes{flat: true}.racks("data", 7),
		"[data1, data2, data3, data4, data5, data6, data7, data8]": setC.racks("data", 62),
	} {
		if got != want {
			t.Errorf("racks %s, want %s", got, want)
		}
	}
}

// By Table I, Fair's processors do 0.28 cores of work per node that Coupling's do not do. That is less than the 0.40
// that would slow four maps by 10.1 %.
func TestTableI(t *testing.T) {
	if math.Abs(spareCores-0.28) > 0.005 || math.Abs(takenCores-0.40) > 0.005 {
		t.Errorf("%.3f and %.3f cores", spareCores, takenCores)
	}
}

// The map times of the Greps were chosen so that Fair comes close to the published starvation times, which are up to
// 8.6 minutes.
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

// No pair of map times in the sweep comes nearer to Table IV than the chosen one by more than that pair's distance
// differs from one set of twenty seeds to another.
func TestPairFitsTable4(t *testing.T) {
	if testing.Short() {
		t.Skip("it runs the 22 jobs a hundred times")
	}
	const differs = 0.27 // minutes
	e := exp.Experiment{Name: "fit", Arms: slices.DeleteFunc(mapTimes().Arms, func(a exp.Arm) bool { return !strings.HasPrefix(a.Name, fair) })}
	var seeds []uint64
	for s := uint64(1001); s <= 1020; s++ {
		seeds = append(seeds, s)
	}
	off := map[string]float64{}
	err := exp.Run([]*exp.Experiment{&e}, exp.Options{Seeds: seeds}, func(o *exp.Outcome) error {
		for i := range e.Arms {
			name := e.Arms[i].Name
			off[name] = fromTable4(func(j *job) float64 {
				var starved []float64
				for _, r := range o.All {
					starved = append(starved, starvation(r.Arm(name), exp.IDs(j.id)))
				}
				return exp.Mean(starved)
			})
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	chosen := off[fmt.Sprintf("%s, %g and %g s", fair, float64(wikiMap), float64(randomMap))]
	if !(chosen < 0.9) {
		t.Errorf("%.2f minutes from Table IV", chosen)
	}
	for name, d := range off {
		if d < chosen-differs {
			t.Errorf("%s: %.2f minutes from Table IV, and the chosen pair %.2f", name, d, chosen)
		}
	}
}

// handRun is a run of two jobs written by hand, in seconds.
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
	// Two maps run from 0 to 10 and from 10 to 18, and one from 18 to 20.
	if n := mostMapsFor(r); n != 2 {
		t.Errorf("most of the time %v maps run, want 2", n)
	}
	if s := slotTime(r, heddle.Reduce); s != 18 {
		t.Errorf("reduces hold slots for %v s, want 18", s)
	}
	if a, b := firstReduce(r, "a"), firstReduce(r, "b"); a != 12 || !math.IsNaN(b) {
		t.Errorf("the first reduces start after %v and %v s, want 12 and NaN", a, b)
	}
	// A map takes 15 s on node 0 and 8 s on node 1. Within 4 s the four slots of node 1 do two maps; the third is node 0's.
	if l := leastMapTime(r, 4*heddle.Second); math.Abs(l-(2*8+1*15)/3.0) > 1e-9 {
		t.Errorf("maps take %v s at the least, want 10.33", l)
	}
	if l := shortestMapTime(r); l != 8 {
		t.Errorf("maps take %v s on the fastest node, want 8", l)
	}
	// The nodes do 4/15 + 4/8 maps per second. One job's two maps are done after 2.61 s, the other's single map 1.30 s
	// after the job came at 5 s.
	if s := sharedJCT(r); math.Abs(s-1.957) > 1e-3 {
		t.Errorf("maps end after %v s on average, want 1.957", s)
	}
	// If it comes at 1 s, it shares the slots for 2.61 s, and the first job ends at 3.91 s.
	r.Jobs[1].Submit = heddle.Time(heddle.Second)
	if s := sharedJCT(r); math.Abs(s-3.261) > 1e-3 {
		t.Errorf("with shared slots maps end after %v s on average, want 3.261", s)
	}
	r.Jobs[1].Submit = heddle.Time(5 * heddle.Second)
	if l := longestJCT(r); l != 35 {
		t.Errorf("the longest takes %v s, want 35", l)
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
	// 20 MB in 20 s on node 0; 16 MB in 8 s of the second step of ten on node 1. In the steps of 10 s the maximum is 1,
	// 1.6, 0 and 0 MB/s, and 0 in the fifth, which begins with the makespan: mean 0.52.
	got := peakIntake(r, func(job int, _ int32) int64 { return []int64{20e6, 16e6}[job] })
	if math.Abs(got-0.52) > 1e-9 {
		t.Errorf("the busiest node takes in %v MB/s, want 0.52", got)
	}
}

func TestSooner(t *testing.T) {
	run := func() *sim.Result {
		r := &sim.Result{}
		for i := range 200 {
			r.Jobs = append(r.Jobs, sim.JobResult{State: sim.Succeeded, JCT: heddle.Span(10 * (i + 1))})
		}
		return r
	}
	shorter := run()
	for i := range shorter.Jobs {
		shorter.Jobs[i].JCT -= 3
	}
	for _, c := range []struct {
		name string
		ours *sim.Result
		want bool
	}{{"as soon", run(), true}, {"each sooner", shorter, true}, {"two later than hundreds", later(run(), 2), true}, {"three later", later(run(), 3), false}} {
		all := []exp.Runs{{Arms: map[string]*sim.Result{"base": run(), "ours": c.ours}}}
		if got := sooner(all, "base", "ours"); got != c.want {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}

// later makes the given number of a run's jobs end after all others.
func later(r *sim.Result, jobs int) *sim.Result {
	for i := range jobs {
		r.Jobs[i].JCT += heddle.Second
	}
	return r
}

// One Grep after the other gains more than any schedule with equal shares, and no more than the bound.
func TestBoundOfTenGreps(t *testing.T) {
	e := tenGreps()
	mean, equal := e.Metrics[0], e.Metrics[slices.IndexFunc(e.Metrics, func(m exp.Metric) bool { return m.Name == equally })]
	inTurn := arm("in turn", "slots", "lanes=[{kinds: [am, executor, other], order: fifo}, {kinds: [map], order: fifo, per_node: 4}, {kinds: [reduce], order: fifo, per_node: 2}]")
	least, err := e.Arm(alone)
	if err != nil {
		t.Fatal(err)
	}
	e.Arms, e.Null, e.Metrics = []exp.Arm{e.Arms[0], *least, inTurn}, nil, nil
	r := exptest.Run(t, &e, 1, false)
	got := exp.ReducedJCT(fair, inTurn.Name, nil)(r)
	if most := mean.Bound(r); got < mean.Published || got > most || most > 100 {
		t.Errorf("one after the other %.1f %% less, published %.1f, the bound is %.1f", got, mean.Published, most)
	}
	if shared := equal.Of(r); shared > got || shared > 0.8*mean.Published {
		t.Errorf("with equal shares at most %.1f %% less", shared)
	}
}

// All maps may run on the fastest node, however long that takes: the bound of map time does not depend on when Fair
// ends. What schedules as short as Fair's reach does.
func TestBoundOfMapTime(t *testing.T) {
	metrics := tenGreps().Metrics
	named := func(name string) *exp.Metric {
		return &metrics[slices.IndexFunc(metrics, func(m exp.Metric) bool { return m.Name == name })]
	}
	base := handRun() // maps take 12.67 s on average, and 8 s on the fast node
	r := exp.Runs{Arms: map[string]*sim.Result{fair: base, alone: handRun()}}
	for _, c := range []struct {
		makespan, early float64
	}{{4, (2*8 + 15) / 3.0}, {40, 8}} {
		base.Makespan = heddle.Seconds(c.makespan)
		mean := (10 + 20 + 8) / 3.0
		if most := named("map time, reduction").Bound(r); math.Abs(most-exp.Reduction(mean, 8)) > 1e-9 {
			t.Errorf("Fair ends after %g s: at most %.2f %% less, want %.2f", c.makespan, most, exp.Reduction(mean, 8))
		}
		if got := named(asEarly).Of(r); math.Abs(got-exp.Reduction(mean, c.early)) > 1e-9 {
			t.Errorf("Fair ends after %g s: as early %.2f %% less, want %.2f", c.makespan, got, exp.Reduction(mean, c.early))
		}
	}
}

// The bound of job 03 is its own shortest time, not that of another run.
func TestBoundOfJob03(t *testing.T) {
	run := func(seconds float64) *sim.Result {
		return &sim.Result{Jobs: []sim.JobResult{{ID: "03", State: sim.Succeeded, JCT: heddle.Seconds(seconds), Bound: 4 * heddle.Second}}}
	}
	r := exp.Runs{Arms: map[string]*sim.Result{fair: run(60), alone03: run(10)}}
	for _, m := range sequence().Metrics {
		if m.Bound != nil && m.Bound(r) != 15 || m.Name == ideally && m.Of(r) != 6 {
			t.Errorf("%s: a bound of a 15th of the time is expected, and a sixth of it alone", m.Name)
		}
	}
}

// The world that bounds iowait has no reduces and reads nothing over the network, on any node.
func TestWithoutCosts(t *testing.T) {
	w := exptest.Jobs(t, work(nodes{data: 8}, table4[7]), 1)
	withoutCosts(1, w)
	j := &w.Jobs[0]
	if len(j.Maps) != 427 || len(j.Reduces) != 0 {
		t.Fatalf("%d maps and %d reduces", len(j.Maps), len(j.Reduces))
	}
	for _, m := range j.Maps {
		if len(m.Hosts) != 8 {
			t.Fatalf("a split on %v", m.Hosts)
		}
	}
}

// swept runs an arm of an experiment's sweep and the arm that it is compared with, for three seeds.
func swept(t *testing.T, e exp.Experiment, base, name string, see func(base, x *sim.Result)) {
	t.Helper()
	var arms []exp.Arm
	for _, n := range []string{base, name} {
		a, err := e.Arm(n)
		if err != nil {
			t.Fatal(err)
		}
		arms = append(arms, *a)
	}
	e.Arms, e.Null, e.Metrics, e.Mutations, e.Sweeps, e.Plots = arms, nil, nil, nil, nil, nil
	err := exp.Run([]*exp.Experiment{&e}, exp.Options{Seeds: []uint64{1, 2, 3}}, func(o *exp.Outcome) error {
		for _, r := range o.All {
			see(r.Arm(base), r.Arm(name))
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// No bound rules out the published fall of await: if maps wait for their nodes, it falls as far as published.
func TestAwaitCanFall(t *testing.T) {
	swept(t, tenGreps(), fair, unhurried, func(base, x *sim.Result) {
		if fell := exp.Reduction(base.Disks.Await, x.Disks.Await); fell < 0.8*13.6 {
			t.Errorf("await falls by %v %%", fell)
		}
	})
}

// Twelve reduces spread evenly over seven nodes leave two nodes with one each.
func TestSpreadEvenly(t *testing.T) {
	swept(t, single(), "Sort1, "+fair, fair+spread, func(_, x *sim.Result) {
		on := make([]int, len(x.Nodes))
		for i := range x.Tasks {
			if x.Tasks[i].Kind == heddle.Reduce && x.Tasks[i].Status == heddle.Success {
				on[x.Tasks[i].Node]++
			}
		}
		if slices.Sort(on); !slices.Equal(on, []int{1, 1, 2, 2, 2, 2, 2}) {
			t.Errorf("reduces on nodes: %v", on)
		}
	})
}

// The gain of the 22 jobs does not depend on chance: they gain as much if maps start on any node at once, and hardly
// half as much if reduces start as under Fair.
func TestMismatchGains(t *testing.T) {
	e := sequence()
	named := func(name string, set ...string) exp.Arm { return arm(name, "coupling", set...) }
	e.Arms = []exp.Arm{arm(fair, "slots"), named("both"), named("anywhere", anywhere), named("peek", sharing, slowStart)}
	e.Metrics, e.Null, e.Mutations, e.Sweeps = nil, nil, nil, nil
	gain := func(arm string) (mean float64) {
		for seed := uint64(1); seed <= 3; seed++ {
			mean += exp.ReducedJCT(fair, arm, nil)(exptest.Run(t, &e, seed, false)) / 3
		}
		return mean
	}
	both, anywhere, peek := gain("both"), gain("anywhere"), gain("peek")
	if math.Abs(anywhere-both) > 3 || peek > both/2 {
		t.Errorf("%.1f %% with both, %.1f %% with maps anywhere, %.1f %% with random peeking alone", both, anywhere, peek)
	}
}
