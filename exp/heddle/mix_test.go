package heddle

import (
	"path/filepath"
	"strings"
	"testing"

	"heddle/conf"
	"heddle/exp"
	"heddle/policies"
	"heddle/scenario"
	"heddle/sim"
	"heddle/sim/world"
)

// runs runs a scenario under heddle with changes.
func runs(t *testing.T, file string, seeds []uint64, changes ...string) []*sim.Result {
	t.Helper()
	s, err := scenario.Read(file)
	if err != nil {
		t.Fatal(err)
	}
	p, err := policies.Load("heddle", changes)
	if err != nil {
		t.Fatal(err)
	}
	bare, _ := p.WithoutAgent()
	plan := exp.Plan{
		Profiles: []*policies.Profile{bare}, Seeds: seeds, Conf: conf.Default(),
		Rebuild: s.Build, Nodes: exp.Nodes(s), UplinkBps: s.Uplink, Effects: world.Effects(s.Effects), Given: s.World == "given",
	}
	all, err := plan.Run()
	if err != nil {
		t.Fatal(err)
	}
	return all[0]
}

// mix runs the scenario executors-behind-maps under heddle with changes, and returns the means over the seeds.
func mix(t *testing.T, changes ...string) (spark, mapReduce, makespan float64) {
	t.Helper()
	list := runs(t, filepath.Join("..", "..", "scenarios", "executors-behind-maps.yaml"), []uint64{1, 2, 3, 4, 5}, changes...)
	of := func(name string) func(*sim.JobResult) bool {
		return func(j *sim.JobResult) bool { return strings.HasPrefix(j.ID, name) }
	}
	for _, r := range list {
		n := float64(len(list))
		spark += exp.MeanJCT(r, of("spark")) / n
		mapReduce += exp.MeanJCT(r, of("mapreduce")) / n
		makespan += r.Makespan.Seconds() / n
	}
	return spark, mapReduce, makespan
}

// alike turns off the rule that a Spark application that lacks one executor goes first.
const alike = "lanes=[{kinds: [am, map, reduce, executor, other], order: shortest}]"

// Spark runs nothing before 80 % of its executors are there. If the second of two waits behind a wave of maps, the
// first one, and the room that the second waits for, lie idle.
func TestGatherInTheMix(t *testing.T) {
	spark, mapReduce, makespan := mix(t, alike)
	gatheredSpark, gatheredMapReduce, gatheredMakespan := mix(t)
	if gatheredSpark > spark-10 || gatheredMapReduce > mapReduce-5 || gatheredMakespan > makespan-7 {
		t.Errorf("Spark %.1f → %.1f s, MapReduce %.1f → %.1f s, makespan %.1f → %.1f s", spark, gatheredSpark, mapReduce, gatheredMapReduce, makespan, gatheredMakespan)
	}
}

// Maps that run in the free room of reserved nodes make MapReduce faster and do not make Spark wait longer.
func TestBackfillInTheMix(t *testing.T) {
	spark, mapReduce, makespan := mix(t, alike, "book=capacity")
	filledSpark, filledMapReduce, filledMakespan := mix(t, alike)
	if filledMapReduce > mapReduce-0.5 || filledMakespan > makespan-1 || filledSpark > spark+0.1 {
		t.Errorf("Spark %.1f → %.1f s, MapReduce %.1f → %.1f s, makespan %.1f → %.1f s", spark, filledSpark, mapReduce, filledMapReduce, makespan, filledMakespan)
	}
}

// A node that is reserved for an executor may wait for masters to end, and these for maps that have no room because of
// the reservation. backfill does not reserve such a node; when it did, five of these nine jobs waited for ever.
func TestNobodyWaitsInACircle(t *testing.T) {
	for _, j := range runs(t, filepath.Join("testdata", "circle.yaml"), []uint64{1}, "share=[newcomers, capacity]")[0].Jobs {
		if j.State != sim.Succeeded {
			t.Errorf("%s: %s", j.ID, j.Why)
		}
	}
}

// A job's reduces are spread over as many nodes as there are, which makes the job end sooner.
func TestReducesOnAsManyNodes(t *testing.T) {
	sort := func(changes ...string) (jct float64) {
		for _, r := range runs(t, filepath.Join("testdata", "sort.yaml"), []uint64{1, 2, 3}, changes...) {
			jct += exp.MeanJCT(r, nil) / 3
		}
		return jct
	}
	if with, without := sort(), sort("place.reduce=[any, uncrowded]"); with > 0.95*without {
		t.Errorf("%.1f → %.1f s", without, with)
	}
}
