package hadoop_test

import (
	"context"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"heddle/internal/testkit/hadoop"
	"heddle/node/procs"
)

// deeds returns how often something was done to running containers since the ResourceManager started.
func deeds(t *testing.T, name string) int {
	t.Helper()
	return int(must(testbed.Counters(onTestbed(t, 10*time.Second), "heddle_container_deeds_total", "deed"))(t)[name])
}

// With agents, iKayak parks reduces that wait for maps, or keeps them from running at all. Meanwhile the maps of their
// job run, and the job ends undisturbed. A Spark executor beside it holds vcores: iKayak's delay factor is Spark's part
// of what is held.
func TestIKayakSuspendsWaitingReduces(t *testing.T) {
	t.Run("parked", func(t *testing.T) {
		testIKayakSuspends(t, "control=[{ikayak.suspend: {interval: 5, v: 0.25, slack: 0.5}}]", "suspended", parkedNow)
	})
	t.Run("frozen", func(t *testing.T) {
		if *extent != "full" {
			t.Skip("TestKillsWhileAReduceIsFrozen freezes one too")
		}
		testIKayakSuspends(t, "control=[{ikayak.suspend: {interval: 5, v: 0.25, slack: 0.5, freeze: true}}]", "frozen", frozenNow)
	})
}

// testIKayakSuspends runs a job whose reduce waits. held counts the containers that the deed is done to now.
func testIKayakSuspends(t *testing.T, control, deed string, held func() int) {
	ctx := onTestbed(t, 8*time.Minute)
	withAgents(t, ctx, 2, 0, "ikayak", control)
	spark, err := testbed.StartSpark(ctx, hadoop.Spark3, "--conf", "spark.executor.instances=1", "--conf", "spark.executor.cores=4", testdata(t, "holds.py"), "4", "900")
	if err != nil {
		t.Fatal(err)
	}
	r := must(testbed.StartSleep(ctx, "-Dmapreduce.map.memory.mb=384", "-Dmapreduce.reduce.memory.mb=384", "-Dmapreduce.map.cpu.vcores=3", "-Dmapreduce.reduce.cpu.vcores=3",
		"-Dmapreduce.job.reduce.slowstart.completedmaps=0.05", "-Dyarn.app.mapreduce.am.job.reduce.rampup.limit=1.0",
		"-Dmapreduce.task.progress-report.interval=1000", "-m", "20", "-r", "1", "-mt", "4000", "-rt", "1000"))(t)
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
	kill(t, ctx, spark)
	noGroupLeft(t, ctx)
}

// With agents, MROrchestrator raises the weight of a map that is behind its peer because another job computes beside
// it, and the output is right. A node has room for one such map.
func TestMROrchestratorRaisesTheMapThatIsBehind(t *testing.T) {
	ctx := onTestbed(t, 8*time.Minute)
	withAgents(t, ctx, 2, 2, "mrorchestrator", "place.map=any", // both start at once, wherever their blocks are
		"control=[{mrorchestrator.regression: {mode: cpu, epoch: 5, profile: 2.5}}]")
	dir := "/" + strings.ReplaceAll(t.Name(), "/", "-")
	var line strings.Builder
	for i := range 100 {
		fmt.Fprintf(&line, "word%d%c", i*i%37, " \n"[i/99])
	}
	const lines, files = 400_000, 2
	text := []byte(strings.Repeat(line.String(), lines))
	for i := range files {
		if err := testbed.Put(ctx, fmt.Sprintf("%s/in/%d", dir, i), text); err != nil {
			t.Fatal(err)
		}
	}
	mb := testbed.Options().NodeMB
	small := "yarn.app.mapreduce.am.resource.mb=" + strconv.Itoa(mb/8)
	// Four threads: with fewer, each may have a processor of this machine to itself, and the map too.
	// In the foreground: timeout's own process group would outlive the container.
	beside := must(testbed.StartShell(ctx, "-shell_command", "for i in 1 2 3 4; do timeout --foreground 480 sh -c 'while :; do :; done' & done; wait", "-num_containers", "1",
		"-container_memory", strconv.Itoa(mb/8), "-container_vcores", "4", "-master_memory", strconv.Itoa(mb/8)))(t)
	r := must(testbed.StartMR(ctx, "wordcount", "-D"+small, "-Dmapreduce.map.memory.mb="+strconv.Itoa(mb*11/20), "-Dmapreduce.map.cpu.vcores=2",
		"-Dmapreduce.job.reduce.slowstart.completedmaps=1", "-Dmapreduce.input.fileinputformat.split.minsize=1000000000",
		"-Dmapreduce.task.progress-report.interval=1000", // instead of the default 6 s, so that both are seen for a few epochs
		dir+"/in", dir+"/out"))(t)
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
	var most []int // the most that each of the two maps was seen with
	for id, had := range seen {
		t.Logf("%s had processor shares %v", id, had)
		if slices.Contains(had, "2048") { // beside 1024, before a container is adopted and once it is given back
			x := 0
			for _, shares := range had {
				x = max(x, must(strconv.Atoi(shares))(t))
			}
			most = append(most, x)
		}
	}
	// On a busy machine the other map may be behind for a while too.
	slices.Sort(most)
	if n := deeds(t, "weighed"); counted == 0 || n == 0 || len(most) != 2 || 2*most[1] < 3*most[0] {
		t.Errorf("%d words; its two maps had processor shares up to %v, of %d weights that were given; want one that is behind to have far more", counted, most, n)
	}
	kill(t, ctx, beside)
	noGroupLeft(t, ctx)
}

// With agents, MROrchestrator moves memory as bookings: in the accounts of their NodeManager, measured maps have less
// memory than was asked for, but never less than they hold, and more maps run at a time than there is room for whole
// ones.
func TestMROrchestratorMovesMemory(t *testing.T) {
	ctx := onTestbed(t, 8*time.Minute)
	withAgents(t, ctx, 2, 0, "mrorchestrator", "control=[{mrorchestrator.uniform: {mode: memory, lower_memory: always, epoch: 4, profile: 2}}]")
	const asked = 1024
	// Maps are measured once their work is known: by default they first report it after more than ten seconds.
	r := must(testbed.StartSleep(ctx, "-Dmapreduce.map.memory.mb="+strconv.Itoa(asked), "-Dmapreduce.task.progress-report.interval=1000", "-m", "24", "-r", "0", "-mt", "12000", "-rt", "1"))(t)
	app := must(r.App(ctx))(t)
	most, least := 0, int64(asked)
	res, err := watched(r, 200*time.Millisecond, func() {
		at := 0
		for n := 1; n <= 2; n++ {
			list, _ := testbed.NodeContainers(ctx, n)
			for _, c := range list {
				if c.State != "RUNNING" || strings.HasSuffix(c.ID, "_000001") {
					continue
				}
				at++
				booked := int64(c.MemoryMB)
				if holds := holdsMB(n, c.ID); booked < min(holds, asked) {
					t.Errorf("%s has %d MiB in its NodeManager's accounts, and holds %d", c.ID, booked, holds)
				}
				least = min(least, booked)
			}
		}
		most = max(most, at)
	})
	if err != nil {
		t.Fatal(err)
	}
	succeeded(t, ctx, app, 1)
	ranOnce(t, ctx, app, tasksOf(t, ctx, res.App))
	whole := 2 * (testbed.Options().NodeMB / asked)
	if t.Logf("%d maps at a time, of whole ones there is room for %d; the smallest had %d MiB", most, whole, least); most <= whole || least >= asked {
		t.Errorf("at most %d maps ran at a time, of whole ones there is room for %d; the smallest had %d MiB of %d", most, whole, least, asked)
	}
	noGroupLeft(t, ctx)
}

// holdsMB returns the memory that the processes of a container on node n hold, in MiB, or 0 if there are none.
func holdsMB(n int, container string) int64 {
	text, _ := os.ReadFile(filepath.Join(cpuGroups, agentGroup(n), container, "cgroup.procs")) // the container may have ended
	var pids []int
	for id := range strings.FieldsSeq(string(text)) {
		if pid, err := strconv.Atoi(id); err == nil {
			pids = append(pids, pid)
		}
	}
	return procs.Measure(pids).RSS >> 20
}

// Under DRESS a small job gets what is reserved for it while large jobs hold the rest; without the reservation, on the
// same ResourceManager, it waits longer.
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
		finish(t, small, nil)
		succeeded(t, ctx, app, 1)
		ranOnce(t, ctx, app, tasksOf(t, ctx, app))
		kill(t, ctx, first)
		kill(t, ctx, second)
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

// If the agent, and later the ResourceManager, is killed while iKayak keeps a waiting reduce from running, the reduce
// resumes within a second, and at the latest when it was to run again, even if another agent has frozen it for the rest
// of the time. No attempt fails, and the output is right.
func TestKillsWhileAReduceIsFrozen(t *testing.T) {
	ctx := onTestbed(t, 15*time.Minute)
	onlyNodes(t, 2, 0)
	binary := must(testbed.BuildHeddle(ctx))(t)
	t.Cleanup(func() { use(t, context.WithoutCancel(ctx), "capacity", false, nil) })
	if _, err := testbed.UseRM(ctx, hadoop.Options{
		RM: hadoop.Heddle, Profile: "ikayak", Binary: binary, Recovery: true, Agents: true,
		Set: []string{"control=[{ikayak.suspend: {interval: 10, v: 0.25, slack: 0.5, freeze: true}}]"},
	}); err != nil {
		t.Fatal(err)
	}
	startAgents(t, ctx, 2)
	spark, err := testbed.StartSpark(ctx, hadoop.Spark3, "--conf", "spark.executor.instances=1", "--conf", "spark.executor.cores=4", testdata(t, "holds.py"), "4", "900")
	if err != nil {
		t.Fatal(err)
	}
	const maps, samples = 45, 1000
	r := must(testbed.StartMR(ctx, "pi", "-Dmapreduce.map.memory.mb=384", "-Dmapreduce.reduce.memory.mb=384", "-Dmapreduce.map.cpu.vcores=3", "-Dmapreduce.reduce.cpu.vcores=3",
		"-Dmapreduce.job.reduce.slowstart.completedmaps=0.05", "-Dyarn.app.mapreduce.am.job.reduce.rampup.limit=1.0",
		"-Dmapreduce.task.progress-report.interval=1000", strconv.Itoa(maps), strconv.Itoa(samples)))(t)
	app := must(r.App(ctx))(t)

	node, until := whenFrozen(t, ctx)
	at := time.Now()
	if err := testbed.KillAgent(node); err != nil {
		t.Fatal(err)
	}
	runs(t, at.Add(time.Second), "its agent was killed")
	startAgent(t, node, binary)
	first := until
	_, until = whenFrozen(t, ctx)
	if t.Logf("frozen until %v, after another agent came until %v", first, until); until.Before(first) {
		t.Errorf("another agent freezes it until %v, want %v or a later freeze", until, first)
	}
	if err := testbed.KillRM(); err != nil {
		t.Fatal(err)
	}
	runs(t, until.Add(time.Second), "the ResourceManager was killed")
	if _, err := testbed.RestartRM(ctx); err != nil {
		t.Fatal(err)
	}
	res := finish(t, r, nil)
	if got, want := number(t, res.Out, `Estimated value of Pi is ([\d.]+)`), piOf(maps*samples); got != want {
		t.Errorf("pi = %v, want %v", got, want)
	}
	succeeded(t, ctx, app, 1)
	ranOnce(t, ctx, app, tasksOf(t, ctx, app))
	kill(t, ctx, spark)
	noGroupLeft(t, ctx)
}

// whenFrozen waits until a container is frozen, and returns its node and when it is to run again.
func whenFrozen(t *testing.T, ctx context.Context) (node int, until time.Time) {
	t.Helper()
	eventually(t, ctx, 4*time.Minute, "a frozen reduce", func() bool {
		for n := 1; n <= testbed.Options().Nodes && frozenNow() == 1; n++ {
			var on struct {
				Containers []struct {
					Until int64 `json:"frozen_until_ms"`
				} `json:"containers"`
			}
			if err := testbed.Heddle(ctx, "nodes/"+testbed.NodeID(n)+"/containers", &on); err != nil {
				continue // its NodeManager is stopped
			}
			for _, c := range on.Containers {
				if left := time.Until(time.UnixMilli(c.Until)); left > 2*time.Second { // it is not about to run anyway
					node, until = n, time.UnixMilli(c.Until)
					return true
				}
			}
		}
		return false
	})
	return node, until
}

// runs fails unless all containers run by the time then.
func runs(t *testing.T, then time.Time, since string) {
	t.Helper()
	for frozenNow() > 0 {
		if late := time.Since(then); late > 0 {
			t.Fatalf("a reduce is frozen %v too long after %s", late, since)
		}
		time.Sleep(5 * time.Millisecond)
	}
}
