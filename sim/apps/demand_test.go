package apps

import (
	"testing"

	"heddle"
	"heddle/workload"
)

// A job's demand is what its master asks for at once and heddle rm can tell from its submission: the larger of its maps
// and its reduces, its executors, or the initial number of dynamic allocation; at the sizes that masters ask for if the
// job states none. The size of its stages is not known then, nor anything about other frameworks.
func TestDemand(t *testing.T) {
	task := func(n int, size heddle.Resource) []workload.Task {
		out := make([]workload.Task, n)
		for i := range out {
			out[i].Size = size
		}
		return out
	}
	g := func(n int64) heddle.Resource { return heddle.Of(n<<10, 1000) }
	stages := []workload.Stage{{Tasks: make([]workload.Task, 10)}, {Tasks: make([]workload.Task, 5)}}
	two := heddle.Of(2<<10, 2000)
	for _, c := range []struct {
		what string
		job  workload.Job
		want heddle.Demand
	}{
		{"maps", workload.Job{Maps: task(20, g(2)), Reduces: task(4, g(2))}, heddle.Demand{Containers: 20, Each: g(2)}},
		{"reduces, larger in all", workload.Job{Maps: task(4, g(1)), Reduces: task(3, g(2))}, heddle.Demand{Containers: 3, Each: g(2)}},
		{"no size", workload.Job{Maps: task(3, heddle.Resource{})}, heddle.Demand{Containers: 3, Each: g(1)}},
		{"plain", workload.Job{Framework: heddle.Plain, Other: task(2, g(3))}, heddle.Demand{}},
		{"nothing", workload.Job{}, heddle.Demand{}},
		{"executors", workload.Job{Spark: &workload.SparkJob{Executors: 7, Executor: two, Stages: stages}}, heddle.Demand{Containers: 7, Each: two}},
		{"Spark's default", workload.Job{Spark: &workload.SparkJob{}}, heddle.Demand{Containers: 2, Each: heddle.Of(1408, 1000)}},
		{"dynamic", workload.Job{Spark: &workload.SparkJob{Executor: two, Stages: stages, Dynamic: &workload.Dynamic{Max: 100}}}, heddle.Demand{}},
		{"dynamic, to begin with", workload.Job{Spark: &workload.SparkJob{Executor: two, Stages: stages, Dynamic: &workload.Dynamic{Initial: 3, Max: 100}}}, heddle.Demand{Containers: 3, Each: two}},
		{"dynamic, at least", workload.Job{Spark: &workload.SparkJob{Executor: two, Stages: stages, Dynamic: &workload.Dynamic{Min: 8, Max: 9}}}, heddle.Demand{Containers: 8, Each: two}},
	} {
		if got := Demand(&c.job); got != c.want {
			t.Errorf("%s: %+v, want %+v", c.what, got, c.want)
		}
	}
	if got := (heddle.Demand{Containers: 3, Each: two}).Total(); got != heddle.Of(6<<10, 6000) {
		t.Errorf("three of them are %v", got)
	}
}
