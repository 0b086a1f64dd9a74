package adaptcont

import (
	"slices"
	"testing"

	"heddle"
	"heddle/exp"
	"heddle/exp/exptest"
	"heddle/sim"
	"heddle/workload"
)

// What the simulated ResourceManager gives masters equals the paper's rules computed by hand.
//
// All at once, mixed sizes: under FIFO 2·256 + 2·512 + 6·768; under Capacity, where two of ten waves are above 100 and
// the last one's share grows beyond 200 once it is alone, 8·256 + 512 + 768; under Fair, and for Pool, ten alike. All
// at once, 10 GB each: of FIFO's waves, 160, 90, 160, 140, 110, 160 and less than the cluster's 225 from then on, only
// the second is below 100: 256 + 9·512. 10 GB each, one per wave: 160 for every job under FIFO and Capacity, 25 under
// Fair.
func TestTotals(t *testing.T) {
	list := experiments()
	for i, want := range [][9]float64{
		{10240, 6144, 5120, 10240, 2560, 5120, 10240, 3328, 5120},
		{10240, 4864, 5120, 10240, 2560, 5120, 10240, 2560, 5120},
		{},
		{10240, 5120, 5120, 10240, 2560, 5120, 10240, 5120, 5120},
		{},
	} {
		e := &list[i]
		if want[0] == 0 { // the order of arrival is drawn, or the experiment is not the paper's
			continue
		}
		runs := exptest.Run(t, e, 8, false)
		for k := range e.Arms {
			r := runs.Arm(e.Arms[k].Name)
			if got := MasterMemory(r); got != want[k] {
				t.Errorf("%s, %s: masters of %v MiB, want %v", e.Name, e.Arms[k].Name, got, want[k])
			}
			if n := len(r.Jobs); n != users {
				t.Errorf("%s, %s: %d jobs", e.Name, e.Arms[k].Name, n)
			}
		}
	}
}

// Workers never get room that is set apart for masters, and masters never get room for workers.
func TestKeepsMastersApart(t *testing.T) {
	list := experiments()
	runs := exptest.Run(t, &list[0], 3, false)
	for _, a := range list[0].Arms {
		r := runs.Arm(a.Name)
		var ends []edge
		for i := range r.Tasks {
			ends = append(ends, edges(&r.Tasks[i])...)
		}
		most := atOnce(ends)
		if most > nodes*perNode || most < nodes*perNode*9/10 {
			t.Errorf("%s: %d workers at once, want nearly 250 and no more", a.Name, most)
		}
	}
}

// The waves are the paper's: 8 + 56 + 112 leave 74 of 250 for the fourth job, whose other 166 come next. A tenth is
// gone from the fifth wave on, in which the sixth job is the first to have everything.
func TestWavesArePublished(t *testing.T) {
	list := experiments()
	got := waves(exptest.Run(t, &list[0], 5, false).Arm("FIFO, YARN"))
	for i, want := range []int{8, 56, 112, 166, 250, 225, 225, 225, 225, 225} {
		if got[i] < want || got[i] > want+25 {
			t.Errorf("job %d: a wave of %d, want %d, or a few more in the wave in which nodes fail", i+1, got[i], want)
		}
	}
}

// Feedback makes running masters larger, and no master is too small in the end.
func TestRunningMastersGrow(t *testing.T) {
	list := experiments()
	grown := 0
	for _, e := range list[:2] {
		runs := exptest.Run(t, &e, 2, false)
		for _, s := range schedulers {
			r := runs.Arm(s[1] + ", Dynamic")
			for i := range r.Tasks {
				if x := &r.Tasks[i]; x.Kind == heddle.AM && x.Limit[heddle.Memory] > x.Size[heddle.Memory] {
					grown++
				}
			}
			if n := tooSmall(r); n != 0 {
				t.Errorf("%s, %s: %v masters too small", e.Name, s[1], n)
			}
		}
	}
	if grown == 0 {
		t.Error("no master grew while it ran")
	}
}

// Feedback takes back what was planned for waves that do not come because further jobs have come. In the end every
// master is as large as the largest wave of its job requires.
func TestRunningMastersShrink(t *testing.T) {
	e := experiments()[2]
	e.Arms = append(e.Arms, arm("enlarged alone", "capacity", "dynamic"))
	r := exptest.Run(t, &e, 1, false)
	x := r.Arm("Capacity, Dynamic")
	for i, wave := range waves(x) {
		mib, vcores := byRule(wave)
		if got, want := masters(x)[i], heddle.Of(mib, 1000*vcores); got != want {
			t.Errorf("%s: a wave of %d has a master of %v, want %v", x.Jobs[i].ID, wave, got, want)
		}
	}
	if shrunk, enlarged := MasterMemory(x), MasterMemory(r.Arm("enlarged alone")); shrunk >= enlarged {
		t.Errorf("masters of %v MiB, %v where they are only enlarged", shrunk, enlarged)
	}
}

// One of the largest jobs comes first if they come in random order, as in Fig. 5(b).
func TestTheNinthComesFirst(t *testing.T) {
	seen := map[string]bool{}
	for seed := range uint64(20) {
		w := exptest.Jobs(t, setUp{sizes: mixed, random: true}.work(), seed)
		if w.Jobs[0].ID != "job9" {
			t.Errorf("seed %d: %s comes first", seed, w.Jobs[0].ID)
		}
		seen[w.Jobs[1].ID] = true
	}
	if len(seen) < 5 {
		t.Errorf("in 20 orders only %d jobs come second", len(seen))
	}
}

// medianOver returns the median over the first seeds of a figure of each arm of an experiment, compared with a base
// arm.
func medianOver(t *testing.T, e exp.Experiment, arms []exp.Arm, base string, of func(base, x *sim.Result) float64) map[string]float64 {
	t.Helper()
	yarn, err := e.Arm(base)
	if err != nil {
		t.Fatal(err)
	}
	e.Arms, e.Null, e.Metrics, e.Mutations, e.Sweeps = append([]exp.Arm{*yarn}, arms...), nil, nil, nil, nil
	values := map[string][]float64{}
	err = exp.Run([]*exp.Experiment{&e}, exp.Options{Seeds: []uint64{1, 2, 3, 4, 5, 6}}, func(o *exp.Outcome) error {
		for _, r := range o.All {
			for i := range arms {
				values[arms[i].Name] = append(values[arms[i].Name], of(r.Arm(base), r.Arm(arms[i].Name)))
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]float64{}
	for name, v := range values { // order: each by itself
		out[name] = exp.Median(v)
	}
	return out
}

// The null arms use the single size that saves most.
func TestNullIsTheBestOneSize(t *testing.T) {
	if testing.Short() {
		t.Skip("it runs every experiment of the paper")
	}
	list := experiments()
	for _, e := range list[:4] {
		for i, s := range schedulers {
			sized := []exp.Arm{oneSize("256", s[0], 256), oneSize("512", s[0], 512), oneSize("768", s[0], 768)}
			null := e.Null[2*i]
			null.Name = "null"
			saved := medianOver(t, e, append(sized, null), s[1]+", YARN", need(byRule).memorySaved)
			if best := max(saved["256"], saved["512"], saved["768"]); saved["null"] != best {
				t.Errorf("%s, %s: the null arm saves %v, one size up to %v", e.Name, s[1], saved["null"], best)
			}
		}
	}
}

// If tasks are not all alike, waves are smaller than the rule plans for, and one size saves as much.
func TestOneSizeInTheWholeWorld(t *testing.T) {
	if testing.Short() {
		t.Skip("it runs the whole world")
	}
	list := experiments()
	arms := []exp.Arm{oneSize("512", "fifo", 512), dynamic("rule", "fifo")}
	yarn := arm("FIFO, YARN", "fifo", "")
	e := list[0]
	e.Arms, e.Work = []exp.Arm{yarn}, setUp{sizes: mixed, whole: true}.work()
	if saved := medianOver(t, e, arms, "FIFO, YARN", need(byRule).memorySaved); saved["512"] < saved["rule"] {
		t.Errorf("one size saves %v, the rule %v", saved["512"], saved["rule"])
	}
}

// Smaller masters help small jobs if memory is counted and masters are limited, and do not help if processors are
// counted.
func TestLimit(t *testing.T) {
	list := experiments()
	e := list[4]
	processors := counted()
	for i := range processors.Arms {
		processors.Arms[i].Name += ", processors"
	}
	oneMap := jobSizes().Arms[:2]
	e.Arms, e.Metrics = slices.Concat(e.Arms, processors.Arms, oneMap), nil
	r := exptest.Run(t, &e, 3, false)
	if yarn, dynamic := exp.MeanJCT(r.Arm(oneMap[0].Name), nil), exp.MeanJCT(r.Arm(oneMap[1].Name), nil); !(dynamic < yarn/2) {
		t.Errorf("jobs of one map end after %v s with Dynamic's masters, %v with YARN's", dynamic, yarn)
	}
	for _, of := range []func(*sim.Result) float64{exp.JCTs(nil), waits, exp.Makespan} {
		yarn, dynamic := of(r.Arm("YARN")), of(r.Arm("Dynamic"))
		if !(dynamic < 0.75*yarn) {
			t.Errorf("%v with Dynamic's masters, %v with YARN's", dynamic, yarn)
		}
		if of(r.Arm("Dynamic, processors")) != of(r.Arm("YARN, processors")) {
			t.Error("with processors counted the masters' memory makes a difference")
		}
	}
}

func TestWaves(t *testing.T) {
	task := func(job int, from, to heddle.Time) sim.TaskResult {
		return sim.TaskResult{Job: job, Kind: heddle.Map, Started: from, Ended: to}
	}
	r := &sim.Result{Jobs: make([]sim.JobResult, 2), Tasks: []sim.TaskResult{
		task(0, 1, 5), task(0, 2, 4), task(0, 4, 6), // the third begins as the second ends
		task(1, 0, 9), task(1, workload.NoTime, 9), // the second never started
		{Job: 1, Kind: heddle.AM, Started: 1, Ended: 9, Limit: heddle.Of(256, 1000)},
	}}
	if got := waves(r); !slices.Equal(got, []int{2, 1}) {
		t.Errorf("%v, want 2 and 1", got)
	}
	master := func(job int, ended heddle.Time, mib int64) sim.TaskResult {
		return sim.TaskResult{Job: job, Kind: heddle.AM, Ended: ended, Limit: heddle.Of(mib, 1000)}
	}
	r.Tasks = append(r.Tasks, master(0, 9, 256), master(0, 3, 1024), master(1, 9, 128))
	if n := tooSmall(r); n != 1 {
		t.Errorf("%v masters too small, want 1: 256 MiB are the least", n)
	}
	// A wave of 101 before its node is lost, and one of 100 with the next.
	r = &sim.Result{Jobs: make([]sim.JobResult, 1)}
	for i := range 201 {
		from := heddle.Time(2)
		if i > 100 {
			from = 5
		}
		r.Tasks = append(r.Tasks, task(0, from, from+2))
	}
	next := master(0, 9, 256)
	next.Started = 5
	r.Tasks = append(r.Tasks, master(0, 4, 512), next)
	if n := tooSmall(r); n != 0 {
		t.Errorf("%v masters too small of two that suffice for their own waves", n)
	}
}
