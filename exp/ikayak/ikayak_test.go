package ikayak

import (
	"math"
	"strings"
	"testing"

	"heddle"
	"heddle/exp"
	"heddle/exp/exptest"
)

// Every seed has 87 MapReduce jobs with sizes between the cut tails, and about as much work for Spark; the same seed
// writes the same text.
func TestWork(t *testing.T) {
	lowest := medianGB * math.Exp(spread*normalQuantile(lowest)) * 1e9
	for seed := uint64(1); seed <= 5; seed++ {
		w := exptest.Jobs(t, msd.work, seed)
		jobs, maps, spark := 0, 0.0, 0.0
		for i := range w.Jobs {
			j := &w.Jobs[i]
			program, _, _ := strings.Cut(j.ID, "-")
			if j.Framework == heddle.Spark {
				spark += sparkWork(program, sparkGB)
				continue
			}
			jobs++
			bytes := 0.0
			for k := range j.Maps {
				bytes += float64(j.Maps[k].Input)
			}
			if bytes < lowest-1e6 || bytes > 100.01e9 {
				t.Errorf("seed %d: %s reads %.1f GB", seed, j.ID, bytes/1e9)
			}
			maps += mapReduceWork(program, bytes/1e9)
		}
		if jobs != 87 || math.Abs(spark/maps-1) > 0.1 {
			t.Errorf("seed %d: %d MapReduce jobs; Spark's work is %.2f of theirs", seed, jobs, spark/maps)
		}
	}
}

// The distribution of sizes has the published median and 90 % below 100 GB.
func TestSizes(t *testing.T) {
	for u, want := range map[float64]float64{0.5: 14, 0.9: 100} {
		if got := medianGB * math.Exp(spread*normalQuantile(u)); math.Abs(got-want) > 1e-9 {
			t.Errorf("quantile %v is %v GB, want %v", u, got, want)
		}
	}
}

// In the case study the baseline is as published, to within a fifth: local maps, waves of maps, and how long reduces
// are held. The speed of the cores is set by it.
func TestProblem(t *testing.T) {
	e := problem()
	r := exptest.Run(t, &e, 1, false)
	for _, m := range e.Metrics {
		if got := m.Of(r); !(math.Abs(got/m.Published-1) <= 0.2) {
			t.Errorf("%s is %.1f, published %.1f", m.Name, got, m.Published)
		}
	}
}

// A machine has no more cores than threads, and clocks are within one generation; the testbed has 15 workers and 273
// GiB.
func TestTestbed(t *testing.T) {
	n := 0
	for _, m := range machines {
		n += m.count
		if m.cores >= float64(m.vcores) || m.cores < float64(m.vcores)/2 || m.turbo > desktopGHz {
			t.Errorf("%s: %g cores for %d threads, %g GHz", m.name, m.cores, m.vcores, m.turbo)
		}
	}
	if n != 15 || memoryGiB() != 273 {
		t.Errorf("%d workers with %d GiB", n, memoryGiB())
	}
}

// Beside one MapReduce job the three Spark applications hold half of the memory, and they end after it.
func TestBeside(t *testing.T) {
	e := exp.Experiment{Work: beside{program: "wordcount", slowStart: 0.05}.work, Arms: []exp.Arm{arm("a", "yarn-cluster")}}
	x := exptest.Run(t, &e, 1, false).Arm("a")
	held := int64(0)
	for i := range x.Tasks {
		if k := &x.Tasks[i]; k.Kind == heddle.Executor && k.Ended.Since(k.Started) > heddle.Minute { // the others were too many, and were given back
			held += x.Tasks[i].Size[heddle.Memory]
		}
	}
	if part := float64(held) / 1024 / float64(memoryGiB()); part < 0.45 || part > 0.5 {
		t.Errorf("executors hold %.2f of the memory", part)
	}
	last := x.Jobs[len(x.Jobs)-1]
	for _, j := range x.Jobs[:len(x.Jobs)-1] {
		if j.End < last.End {
			t.Errorf("%s ends before %s", j.ID, last.ID)
		}
	}
}

// Reservations are shorter because of where executors go, not because executors are served before tasks.
func TestPlacementShortensReservations(t *testing.T) {
	e := placing()
	ours := e.Arms[2]
	e.Arms = []exp.Arm{e.Arms[0], as("placement", arm("", "yarn-cluster", place[0], place[1], inOrder)), as("first", arm("", "yarn-cluster", atOnce)), ours}
	e.Null, e.Mutations, e.Metrics = nil, nil, nil
	r := exptest.Run(t, &e, 1, false)
	reserved := func(arm string) float64 { return meanReservation(r.Arm(arm), exp.Of(heddle.Spark)) }
	none := reserved(e.Arms[0].Name)
	if placed, first := exp.Reduction(none, reserved("placement")), exp.Reduction(none, reserved("first")); placed < 60 || placed < first+10 {
		t.Errorf("reduced by %.0f %% by placement in order of submission, by %.0f %% by the order alone", placed, first)
	}
}

// Executors that come to empty nodes go where iKayak's placement puts them, whatever it estimates, and spreading them
// gains no less.
func TestEarlyStartIsWhereExecutorsGo(t *testing.T) {
	e := earlyStart()
	w := beside{slowStart: 0.05}
	e.Arms = perProgram([]string{"wordcount", "terasort"}, w, arm("YARN", "yarn-cluster"), arm("iKayak", "ikayak"),
		arm("mean progress", "ikayak", "estimate.remaining=progress"), arm("spread", "ikayak", "place.executor=spread"))
	e.Null, e.Mutations, e.Metrics = nil, nil, nil
	r := exptest.Run(t, &e, 1, false)
	gain := func(name string) float64 {
		return overPrograms([]string{"wordcount", "terasort"}, "YARN", name, exp.Reduction, exp.JCTs(exp.Of(heddle.MapReduce)))(r)
	}
	if placed, progress, spread := gain("iKayak"), gain("mean progress"), gain("spread"); placed != progress || spread < placed {
		t.Errorf("%.1f %% with iKayak's placement, %.1f %% by mean progress, %.1f %% spread", placed, progress, spread)
	}
}
