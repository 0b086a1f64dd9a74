package dress

import (
	"fmt"
	"math"
	"testing"

	"heddle"
	"heddle/exp"
	"heddle/exp/exptest"
	"heddle/policy"
	"heddle/sim"
)

// The jobs drawn are as the method describes: the mix sets how many are small, and which ids are small if those are
// published. Small jobs ask for fewer than ten containers, large ones for more than a tenth, and the first six Spark
// jobs fill the cluster.
func TestWork(t *testing.T) {
	for _, m := range []mix{{small: 6, ids: []int{4, 5, 7, 9, 10, 12}, spark: true}, {small: 8, mapReduce: true}, {small: 2, mapReduce: true, spark: true}} {
		for seed := range uint64(5) {
			w := exptest.Jobs(t, m.work, seed)
			small, first := 0, 0
			for i := range w.Jobs {
				j := &w.Jobs[i]
				containers := len(j.Maps)
				if j.Spark != nil {
					containers = j.Spark.Executors
				}
				if i < 6 {
					first += containers
				}
				if Small(&sim.JobResult{ID: j.ID}) {
					small++
					if containers+1 >= 10 {
						t.Errorf("%s asks for %d containers", j.ID, containers)
					}
				} else if containers <= nodes*cores/10 {
					t.Errorf("%s asks for %d containers", j.ID, containers)
				}
			}
			if m.spark && !m.mapReduce && (first < room || first > room+2) {
				t.Errorf("the first six jobs ask for %d containers, of %d", first, room)
			}
			if len(w.Jobs) != jobs || small != m.small {
				t.Errorf("%d jobs, %d small; want %d, %d", len(w.Jobs), small, jobs, m.small)
			}
			for _, id := range m.ids {
				if !Small(&sim.JobResult{ID: w.Jobs[id-1].ID}) {
					t.Errorf("job %d is not small", id)
				}
			}
		}
	}
}

// The figures of two runs, computed by hand.
func TestFigures(t *testing.T) {
	run := func(jct ...float64) *sim.Result {
		r := &sim.Result{}
		for i, s := range jct {
			id := "small"
			if i > 1 {
				id = "large"
			}
			span := sim.JobResult{ID: id, State: sim.Succeeded}
			span.JCT = heddle.Seconds(s)
			r.Jobs = append(r.Jobs, span)
		}
		return r
	}
	r := exp.Runs{Arms: map[string]*sim.Result{"capacity": run(100, 200, 300, 400), "dress": run(50, 150, 330, 200)}}
	for _, c := range []struct {
		what      string
		got, want float64
	}{
		{"mean of the small jobs' reductions, 50 and 25 %", rate(exp.Mean, jct, Small)(r), 37.5},
		{"worst large job, 10 %", worst(large)(r), 10},
		{"jobs with a shorter JCT", float64(len(side(r, 1))), 3},
		{"the other's increase", exp.Mean(side(r, -1)), 10},
		{"mean JCT from 250 to 182.5 s", reduced(exp.Mean, jct)(r), 27},
	} {
		if math.Abs(c.got-c.want) > 1e-9 {
			t.Errorf("%s: %v, want %v", c.what, c.got, c.want)
		}
	}
	r.Arm("dress").Jobs[0].State = sim.Failed
	if x := rate(exp.Mean, jct, Small)(r); !math.IsNaN(x) {
		t.Errorf("with a failed job the small ones' mean is %v", x)
	}
}

// By chance half of the jobs are reported as small and half as large, and other jobs with each seed.
func TestAtRandom(t *testing.T) {
	e := spark()
	seen := map[string]bool{}
	for seed := uint64(1); seed <= 6; seed++ {
		var set policy.Set
		e.Chance[0].Prepare(seed, &set)
		l := set.Share[0].(liar)
		drawn, small := "", 0
		for id := range heddle.AppID(jobs) {
			n := l.demand(l.seed, id, heddle.Demand{Containers: 5}).Containers
			if n == 1 {
				small++
			}
			drawn += fmt.Sprint(n, " ")
		}
		if small != jobs/2 || seen[drawn] {
			t.Errorf("seed %d: %d of %d jobs are reported as small: %s", seed, small, jobs, drawn)
		}
		seen[drawn] = true
	}
}

// Fig. 1 in the simulated cluster: strict order under Capacity. Under DRESS the mean wait is the paper's or less, and
// the end is 30 s after the fourth job came plus a start-up of a second.
func TestFourJobs(t *testing.T) {
	e := fourJobs()
	r := exptest.Run(t, &e, 1, true)
	base, ours := r.Arm("capacity"), r.Arm("dress")
	for i, want := range []float64{0, 9, 28, 27} {
		if got := base.Jobs[i].Wait.Seconds(); math.Abs(got-want) > 1 {
			t.Errorf("job %d waits %.2f s in strict order, want %v", i+1, got, want)
		}
	}
	if w := exp.MeanWait(ours, nil); w > 5.75 {
		t.Errorf("mean wait %.2f s, want 5.75 or less", w)
	}
	if end := ours.Makespan.Seconds(); end-3 > 30 {
		t.Errorf("the end is %.2f s after the fourth submission, want 30", end-3)
	}
	if end := fourEnds(); end != 31 {
		t.Errorf("the best order ends after %d s, want 31", end)
	}
}

// The four jobs gain as much if all are small, since DRESS passes over jobs that it has no room for. Behind Capacity's
// own limits no job is passed over for want of room, and the remaining gain comes from telling the jobs apart.
func TestWhatFourJobsGainFrom(t *testing.T) {
	e := fourJobs()
	behind := e.Arms[1]
	behind.Name, behind.Set = "behind", []string{"share=[capacity, {dress: {" + fourOptions + "}}]"}
	alike, behindAlike := told(e.Arms[1], least), told(behind, least)
	alike.Name, behindAlike.Name = "alike", "behind, alike"
	e.Arms = append(e.Arms, behind, alike, behindAlike)
	e.Null, e.Metrics = nil, nil
	r := exptest.Run(t, &e, 1, false)
	for name, want := range map[string]float64{"dress": 70, "alike": 71, "behind": 30, "behind, alike": 0} { // order: each by itself
		if got := exp.Reduction(exp.MeanWait(r.Arm("capacity"), nil), exp.MeanWait(r.Arm(name), nil)); math.Abs(got-want) > 2 {
			t.Errorf("%s: the mean wait is %.1f %% shorter, want %v", name, got, want)
		}
	}
}

// The large job that pays most is the last of those that fill the cluster: the small jobs that come next have its room.
func TestWhoPays(t *testing.T) {
	e := spark()
	for seed := uint64(1); seed <= 6; seed++ {
		r := exptest.Run(t, &e, seed, false)
		paid := func(i int) float64 {
			return -exp.Reduction(jct(&r.Arm("capacity").Jobs[i]), jct(&r.Arm("dress").Jobs[i]))
		}
		for i := range jobs {
			if i != firstJobs-1 && large(&r.Arm("dress").Jobs[i]) && paid(i) > paid(firstJobs-1) {
				t.Errorf("seed %d: job %d pays %.0f %%, job %d %.0f %%", seed, i+1, paid(i), firstJobs, paid(firstJobs-1))
			}
		}
	}
}

// Small MapReduce jobs gain as much if they are presented as large ones and large ones as small, and nearly as much if
// δ keeps its first value. Spark's gain nothing then.
func TestWhatSmallJobsGainFrom(t *testing.T) {
	gains := func(e exp.Experiment) (asItComes, exchanged, fixed float64) {
		e.Arms = []exp.Arm{e.Arms[0], arm("dress", "")}
		e.Null, e.Sweeps, e.Metrics = nil, nil, nil
		with := func(a exp.Arm) (mean float64) {
			e.Arms[1] = a
			for seed := uint64(1); seed <= 3; seed++ {
				mean += rate(exp.Mean, jct, Small)(exptest.Run(t, &e, seed, false)) / 3
			}
			return mean
		}
		return with(arm("dress", "")), with(lying("dress", turned)), with(arm("dress", "adjust: false"))
	}
	if asItComes, exchanged, fixed := gains(mapReduce()); math.Abs(exchanged-asItComes) > 10 || fixed < asItComes-15 {
		t.Errorf("MapReduce: %.1f %%, %.1f %% exchanged, %.1f %% without Alg. 3", asItComes, exchanged, fixed)
	}
	if asItComes, exchanged, fixed := gains(spark()); math.Abs(exchanged-asItComes) > 10 || fixed > 0 {
		t.Errorf("Spark: %.1f %%, %.1f %% exchanged, %.1f %% without Alg. 3", asItComes, exchanged, fixed)
	}
}
