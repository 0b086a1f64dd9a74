package exp

import (
	"math"
	"strings"
	"testing"

	"heddle"
	"heddle/scenario"
)

// Every seed has 87 MapReduce jobs of the sizes between the cut tails, and about as much work for Spark; the
// same seed writes the same text.
func TestIkayakWork(t *testing.T) {
	lowest := ikayakMedian * math.Exp(ikayakSpread*normalQuantile(ikayakLowest)) * 1e9
	for seed := uint64(1); seed <= 5; seed++ {
		text, err := ikayakMSD.work(seed)
		if err != nil {
			t.Fatal(err)
		}
		if again, _ := ikayakMSD.work(seed); again != text {
			t.Fatalf("seed %d writes two texts", seed)
		}
		s, err := scenario.Parse("x.yaml", []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		w, err := s.Build(seed)
		if err != nil {
			t.Fatal(err)
		}
		jobs, maps, spark := 0, 0.0, 0.0
		for i := range w.Jobs {
			j := &w.Jobs[i]
			program, _, _ := strings.Cut(j.ID, "-")
			if j.Framework == heddle.Spark {
				spark += sparkWork(program, ikayakSparkGB)
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
func TestIkayakSizes(t *testing.T) {
	for u, want := range map[float64]float64{0.5: 14, 0.9: 100} {
		if got := ikayakMedian * math.Exp(ikayakSpread*normalQuantile(u)); math.Abs(got-want) > 1e-9 {
			t.Errorf("quantile %v is %v GB, want %v", u, got, want)
		}
	}
}

// One short run of every kind of workload: each metric comes to a number, every sweep's arms can be built.
func TestIkayakExperiments(t *testing.T) {
	names := map[string]bool{}
	for _, e := range ikayakExperiments() {
		if names[e.Name] || e.System != "ikayak" || !strings.HasPrefix(e.Name, "ikayak-") {
			t.Errorf("experiment %s of %s", e.Name, e.System)
		}
		names[e.Name] = true
		for _, m := range e.Metrics {
			if (m.Kind == Shape) != (m.Holds != nil) || m.Of == nil {
				t.Errorf("%s, %s: a shape has a predicate and everything a figure", e.Name, m.Name)
			}
		}
		for _, arms := range append([]Sweep{{Arms: e.Arms}}, e.Sweeps...) {
			for i := range arms.Arms {
				if text, err := e.Scenario(&arms.Arms[i], 1); err != nil {
					t.Errorf("%s, %s: %v", e.Name, arms.Arms[i].Name, err)
				} else if _, err := scenario.Parse("x.yaml", []byte(text)); err != nil {
					t.Errorf("%s, %s: %v", e.Name, arms.Arms[i].Name, err)
				}
			}
		}
	}
	small := ikProblem()
	err := Run([]*Experiment{&small}, Options{Seeds: []uint64{1}}, func(x *Outcome) error {
		for _, m := range x.Metrics {
			if math.IsNaN(m.Ours.Median) {
				t.Errorf("%s came to nothing", m.Name)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
