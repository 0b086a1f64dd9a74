package hadoop_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"heddle/internal/testkit/hadoop"
)

// deeds is how often something was done to running containers since the ResourceManager started.
func deeds(t *testing.T, name string) int {
	t.Helper()
	return int(must(testbed.Counters(onTestbed(t, 10*time.Second), "heddle_container_deeds_total", "deed"))(t)[name])
}

// With agents iKayak parks reduces that wait for maps, the maps of their job run in the meantime, and the job ends as if
// nothing had been. An executor of Spark holds vcores beside it: iKayak's delay factor is Spark's part of what is held.
func TestIKayakParksWaitingReduces(t *testing.T) {
	ctx := onTestbed(t, 8*time.Minute)
	withAgents(t, ctx, 2, 0, "ikayak", "control=[{ikayak.suspend: {interval: 5, v: 0.25}}]")
	spark, err := testbed.StartSpark(ctx, hadoop.Spark3, "--conf", "spark.executor.instances=1", "--conf", "spark.executor.cores=4", testdata(t, "holds.py"), "4", "100")
	if err != nil {
		t.Fatal(err)
	}
	r := must(testbed.StartSleep(ctx, "-Dmapreduce.map.memory.mb=384", "-Dmapreduce.reduce.memory.mb=384", "-Dmapreduce.map.cpu.vcores=3", "-Dmapreduce.reduce.cpu.vcores=3",
		"-Dmapreduce.job.reduce.slowstart.completedmaps=0.05", "-Dyarn.app.mapreduce.am.job.reduce.rampup.limit=1.0",
		"-m", "16", "-r", "1", "-mt", "6000", "-rt", "1000"))(t)
	app := must(r.App(ctx))(t)
	seen := map[string][]string{}
	res, err := watched(r, 50*time.Millisecond, func() { sharesSeen(seen) })
	if err != nil {
		t.Fatal(err)
	}
	succeeded(t, ctx, res.App, 1)
	ranOnce(t, ctx, app, tasksOf(t, ctx, app))
	parked := 0
	for id, had := range seen {
		if slices.Contains(had, "2") {
			parked++
			t.Logf("%s had processor shares %v", id, had)
			if had[len(had)-1] == "2" {
				t.Errorf("%s was parked as it ended", id)
			}
		}
	}
	suspended, resumed := deeds(t, "suspended"), deeds(t, "resumed")
	t.Logf("suspended %d times, resumed %d times", suspended, resumed)
	if parked != 1 || suspended < 1 || resumed > suspended {
		t.Errorf("%d containers were seen parked, suspended %d times and resumed %d times; want the reduce alone, once at least", parked, suspended, resumed)
	}
	finish(t, spark, nil)
	noGroupLeft(t, ctx)
}

// With an agent MROrchestrator weighs the maps of a busy node by what they use, and their output is right.
func TestMROrchestratorWeighsUnequalMaps(t *testing.T) {
	ctx := onTestbed(t, 8*time.Minute)
	withAgents(t, ctx, 1, 1, "mrorchestrator", "control=[{mrorchestrator.regression: {mode: cpu, epoch: 5, profile: 2.5, pressed: 0.05}}]")
	sleeps := must(testbed.StartSleep(ctx, "-m", "1", "-r", "0", "-mt", "40000", "-rt", "1"))(t)
	r := must(testbed.StartMR(ctx, "pi", "2", "400000000"))(t)
	seen := map[string][]string{}
	res, err := watched(r, 100*time.Millisecond, func() { sharesSeen(seen) })
	if err != nil {
		t.Fatal(err)
	}
	if got, want := number(t, res.Out, `Estimated value of Pi is ([\d.]+)`), piOf(2*400000000); got != want {
		t.Errorf("pi = %v, want %v", got, want)
	}
	succeeded(t, ctx, res.App, 1)
	ranOnce(t, ctx, res.App, tasksOf(t, ctx, res.App))
	weighed := 0
	for id, had := range seen {
		t.Logf("%s had processor shares %v", id, had)
		master := strings.HasSuffix(id, "_000001")
		if len(had) > 1 && !master {
			weighed++
		}
		if len(had) > 1 && master {
			t.Errorf("the master %s had processor shares %v", id, had)
		}
	}
	if n := deeds(t, "weighed"); weighed == 0 || n == 0 {
		t.Errorf("%d containers were seen with other weights, of %d that were given", weighed, n)
	}
	finish(t, sleeps, nil)
	noGroupLeft(t, ctx)
}
