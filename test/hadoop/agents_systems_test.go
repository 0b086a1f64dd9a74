package hadoop_test

import (
	"fmt"
	"math"
	"strconv"
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

// With agents iKayak parks reduces that wait for maps, or keeps them from running at all. The maps of their job run in the
// meantime, and the job ends as if nothing had been. An executor of Spark holds vcores beside it: iKayak's delay factor is
// Spark's part of what is held.
func TestIKayakSuspendsWaitingReduces(t *testing.T) {
	t.Run("parked", func(t *testing.T) {
		testIKayakSuspends(t, "control=[{ikayak.suspend: {interval: 5, v: 0.25}}]", "suspended", parkedNow)
	})
	t.Run("frozen", func(t *testing.T) {
		testIKayakSuspends(t, "control=[{ikayak.suspend: {interval: 5, v: 0.25, freeze: true}}]", "frozen", frozenNow)
	})
}

// testIKayakSuspends runs a job whose reduce waits. Held counts the containers that a deed is done to now.
func testIKayakSuspends(t *testing.T, control, deed string, held func() int) {
	ctx := onTestbed(t, 8*time.Minute)
	withAgents(t, ctx, 2, 0, "ikayak", control)
	spark, err := testbed.StartSpark(ctx, hadoop.Spark3, "--conf", "spark.executor.instances=1", "--conf", "spark.executor.cores=4", testdata(t, "holds.py"), "4", "130")
	if err != nil {
		t.Fatal(err)
	}
	r := must(testbed.StartSleep(ctx, "-Dmapreduce.map.memory.mb=384", "-Dmapreduce.reduce.memory.mb=384", "-Dmapreduce.map.cpu.vcores=3", "-Dmapreduce.reduce.cpu.vcores=3",
		"-Dmapreduce.job.reduce.slowstart.completedmaps=0.05", "-Dyarn.app.mapreduce.am.job.reduce.rampup.limit=1.0",
		"-m", "40", "-r", "1", "-mt", "4000", "-rt", "1000"))(t)
	app := must(r.App(ctx))(t)
	most := 0
	res, err := watched(r, 50*time.Millisecond, func() { most = max(most, held()) })
	if err != nil {
		t.Fatal(err)
	}
	succeeded(t, ctx, res.App, 1)
	ranOnce(t, ctx, app, tasksOf(t, ctx, app))
	began, resumed := deeds(t, deed), deeds(t, "resumed")
	if t.Logf("%s %d times, resumed %d times", deed, began, resumed); most != 1 || began == 0 || resumed == 0 {
		t.Errorf("%d containers were seen %s at a time, %d times, and resumed %d times; want the reduce alone", most, deed, began, resumed)
	}
	finish(t, spark, nil)
	noGroupLeft(t, ctx)
}

// With agents MROrchestrator raises the weight of a map that is behind its peer because another job computes beside it, and
// the output is right. There is room for one such map on a node.
func TestMROrchestratorRaisesTheMapThatIsBehind(t *testing.T) {
	ctx := onTestbed(t, 8*time.Minute)
	withAgents(t, ctx, 2, 2, "mrorchestrator", "control=[{mrorchestrator.regression: {mode: cpu, epoch: 5, profile: 2.5, pressed: 0.05}}]")
	dir := "/" + strings.ReplaceAll(t.Name(), "/", "-")
	var line strings.Builder
	for i := range 100 {
		fmt.Fprintf(&line, "word%d%c", i*i%37, " \n"[i/99])
	}
	const lines, files = 300_000, 2
	text := []byte(strings.Repeat(line.String(), lines))
	for i := range files {
		if err := testbed.Put(ctx, fmt.Sprintf("%s/in/%d", dir, i), text); err != nil {
			t.Fatal(err)
		}
	}
	mb := testbed.Options().NodeMB
	small := "yarn.app.mapreduce.am.resource.mb=" + strconv.Itoa(mb/8)
	beside := must(testbed.StartMR(ctx, "pi", "-D"+small, "-Dmapreduce.map.memory.mb="+strconv.Itoa(mb/8), "-Dmapreduce.map.cpu.vcores=4", "1", "4000000000"))(t)
	r := must(testbed.StartMR(ctx, "wordcount", "-D"+small, "-Dmapreduce.map.memory.mb="+strconv.Itoa(mb*11/20), "-Dmapreduce.map.cpu.vcores=2",
		"-Dmapreduce.job.reduce.slowstart.completedmaps=1", "-Dmapreduce.input.fileinputformat.split.minsize=1000000000", dir+"/in", dir+"/out"))(t)
	seen := map[string][]string{}
	res, err := watched(r, 100*time.Millisecond, func() { sharesSeen(seen) })
	if err != nil {
		t.Fatal(err)
	}
	succeeded(t, ctx, res.App, 1)
	ranOnce(t, ctx, res.App, tasksOf(t, ctx, res.App))
	counted := 0
	for _, part := range must(testbed.Parts(ctx, dir+"/out"))(t) {
		for row := range strings.Lines(string(part)) {
			word, n, _ := strings.Cut(strings.TrimSpace(row), "\t")
			in := 0
			for had := range strings.FieldsSeq(line.String()) {
				if had == word {
					in++
				}
			}
			if counted++; n != strconv.Itoa(in*lines*files) {
				t.Errorf("%s was counted %s times, want %d", word, n, in*lines*files)
			}
		}
	}
	raised := 0
	for id, had := range seen {
		t.Logf("%s had processor shares %v", id, had)
		if first, last := must(strconv.Atoi(had[0]))(t), must(strconv.Atoi(had[len(had)-1]))(t); last > first && first == 2048 {
			raised++
		}
	}
	if n := deeds(t, "weighed"); counted == 0 || raised != 1 || n == 0 {
		t.Errorf("%d words; %d of its two maps were seen with more weight than at first, of %d weights that were given; want the one that is behind", counted, raised, n)
	}
	if err := testbed.Kill(ctx, must(beside.App(ctx))(t)); err != nil {
		t.Fatal(err)
	}
	_, _ = hadoop.Finish(beside, nil) // it was killed
	noGroupLeft(t, ctx)
}

// Under DRESS a small job gets what is reserved for it while large ones hold the rest; without the reservation, on the same
// ResourceManager, it waits for longer.
func TestDRESSReservesForSmallJobs(t *testing.T) {
	if *manager != hadoop.Heddle {
		t.Skip("only Heddle has the reservation")
	}
	waits := func(t *testing.T, reserve string) (seconds float64) {
		ctx := onTestbed(t, 8*time.Minute)
		within(t, ctx, "", "capacity", "share=[{dress: {reserve: "+reserve+"}}, capacity]")
		large := []string{"-Dmapreduce.map.memory.mb=" + strconv.Itoa(testbed.Options().NodeMB*3/8), "-m", "9", "-r", "0", "-mt", "12000", "-rt", "1"}
		first := must(testbed.StartSleep(ctx, large...))(t)
		second := must(testbed.StartSleep(ctx, large...))(t)
		must(first.App(ctx))(t)
		must(second.App(ctx))(t)
		time.Sleep(12 * time.Second)
		large[2] = "2"
		large[6] = "1000"
		small := must(testbed.StartSleep(ctx, large...))(t)
		app := must(small.App(ctx))(t)
		for _, r := range []*hadoop.Run{small, first, second} {
			res := finish(t, r, nil)
			succeeded(t, ctx, res.App, 1)
			ranOnce(t, ctx, res.App, tasksOf(t, ctx, res.App))
		}
		began := int64(math.MaxInt64)
		for _, task := range must(testbed.Tasks(ctx, app))(t) {
			began = min(began, task.Started)
		}
		return float64(began-must(testbed.App(ctx, app))(t).Started) / 1000
	}
	var with, without float64
	t.Run("with", func(t *testing.T) { with = waits(t, "true") })
	t.Run("without", func(t *testing.T) { without = waits(t, "false") })
	if t.Logf("a small job waits %.1f s, without the reservation %.1f s", with, without); with > 0.7*without {
		t.Errorf("a small job waits %.1f s with the reservation and %.1f s without", with, without)
	}
}
