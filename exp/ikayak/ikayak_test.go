package ikayak

import (
	"math"
	"strings"
	"testing"

	"heddle"
	"heddle/exp/exptest"
)

// Every seed has 87 MapReduce jobs of the sizes between the cut tails, and about as much work for Spark; the
// same seed writes the same text.
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

// In a run of the case study each metric comes to a number.
func TestProblem(t *testing.T) {
	e := problem()
	r := exptest.Run(t, &e, 1, false)
	for _, m := range e.Metrics {
		if math.IsNaN(m.Of(r)) {
			t.Errorf("%s came to nothing", m.Name)
		}
	}
}
