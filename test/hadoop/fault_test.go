package hadoop_test

import (
	"context"
	"maps"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"heddle/internal/testkit/hadoop"
)

// How long a NodeManager may be silent, in milliseconds; YARN's default is ten minutes.
const (
	expirySoon = "30000" // longer than starting JVMs keep a NodeManager from reporting on a small machine
	expiryLate = "60000" // longer than a NodeManager takes to start
	expiryName = "yarn.nm.liveness-monitor.expiry-interval-ms"
)

func TestFaults(t *testing.T) {
	ctx := onTestbed(t, time.Hour)
	under := profiles()[len(profiles())-1:]
	if *extent == "full" {
		under = profiles()
	}
	for _, profile := range under {
		t.Run(profile, func(t *testing.T) {
			use(t, ctx, profile, true, map[string]string{expiryName: expirySoon})
			t.Run("applications", func(t *testing.T) {
				t.Run("master-crash", testMasterCrash)
				t.Run("kill", testKill)
			})
			t.Run("rm-crash", testRMCrash)
			t.Run("node-crash", testNodeCrash)
			t.Run("node-silent", testNodeSilent)
			use(t, ctx, profile, true, map[string]string{expiryName: expiryLate})
			t.Run("node-restart", testNodeRestart)
		})
	}
}

// waves starts a sleep job whose maps run four at a time, so that some are done while others wait.
func waves(t *testing.T, ctx context.Context, maps, ms string) (*hadoop.Run, string) {
	t.Helper()
	r := must(testbed.StartSleep(ctx, "-Dmapreduce.job.running.map.limit=4", "-m", maps, "-r", "1", "-mt", ms, "-rt", "500"))(t)
	return r, must(r.App(ctx))(t)
}

// mapsDone waits until n maps of a running job have succeeded, and returns their names.
func mapsDone(t *testing.T, ctx context.Context, app string, n int) []string {
	t.Helper()
	var done []string
	enough := func() bool {
		tasks, err := testbed.RunningTasks(ctx, app)
		done = done[:0]
		for _, task := range tasks {
			if task.State == "SUCCEEDED" {
				done = append(done, task.ID)
			}
		}
		return err == nil && len(done) >= n
	}
	eventually(t, ctx, 2*time.Minute, app+" with maps that are done", enough)
	return done
}

// ranOnce fails unless each of a finished job's tasks had one attempt.
func ranOnce(t *testing.T, ctx context.Context, app string, tasks []string) {
	t.Helper()
	for _, task := range tasks {
		if had := must(testbed.TaskAttempts(ctx, app, task))(t); len(had) != 1 || had[0].State != "SUCCEEDED" {
			t.Errorf("%s was done and had these attempts in the end: %v", task, had)
		}
	}
}

func tasksOf(t *testing.T, ctx context.Context, app string) []string {
	t.Helper()
	var ids []string
	for _, task := range must(testbed.Tasks(ctx, app))(t) {
		if task.State != "SUCCEEDED" {
			t.Errorf("%s is %s", task.ID, task.State)
		}
		ids = append(ids, task.ID)
	}
	return ids
}

// testRMCrash kills the ResourceManager between two heartbeats, while a MapReduce and a Spark job run.
func testRMCrash(t *testing.T) {
	ctx := onTestbed(t, jobTime)
	before := must(testbed.Apps(ctx))(t)
	mr, mrApp := waves(t, ctx, "24", "4000")
	spark := must(testbed.StartSpark(ctx, hadoop.Spark3, testdata(t, "slow.py"), "28", "2"))(t)
	sparkApp := must(spark.App(ctx))(t)
	done := mapsDone(t, ctx, mrApp, 2)
	working := func() bool {
		n, err := testbed.SparkTasksDone(ctx, sparkApp)
		return err == nil && n >= 2
	}
	eventually(t, ctx, time.Minute, sparkApp+" with tasks that are done", working)
	if m := must(testbed.Running(ctx, mrApp))(t); m.MapsCompleted == m.MapsTotal {
		t.Fatalf("the maps of %s were done before the crash: it proves nothing", mrApp)
	}

	if err := testbed.KillRM(); err != nil {
		t.Fatal(err)
	}
	time.Sleep(5 * time.Second)
	if _, err := testbed.RestartRM(ctx); err != nil {
		t.Fatal(err)
	}
	finish(t, mr, nil)
	res := finish(t, spark, nil)
	succeeded(t, ctx, mrApp, 1)
	succeeded(t, ctx, sparkApp, 1)

	all := tasksOf(t, ctx, mrApp)
	ranOnce(t, ctx, mrApp, done)
	ranOnce(t, ctx, mrApp, all) // the others did not lose a container either
	if want := "sums [1456, 1631, 1820, 2023]"; !slices.Contains(lines(res.Out), want) {
		t.Errorf("Spark printed %q, want %q", res.Out, want)
	}
	e := must(testbed.SparkEvents(sparkApp))(t)
	for task, n := range e.Runs {
		if n != 1 {
			t.Errorf("task %v succeeded %d times", task, n)
		}
	}
	if len(e.Runs) != 28+4 || e.Again != 0 || len(e.Removed) != 0 {
		t.Errorf("Spark: %d tasks, %d started again, executors lost: %v; want 32, none, none", len(e.Runs), e.Again, e.Removed)
	}
	for _, was := range before {
		if is, err := testbed.App(ctx, was.ID); err != nil || is.FinalStatus != was.FinalStatus || is.Finished != was.Finished {
			t.Errorf("%s was %s before the crash and is %s after it (%v)", was.ID, was.FinalStatus, is.FinalStatus, err)
		}
	}
}

// testMasterCrash kills an application's master: the second attempt takes over what the first had done.
func testMasterCrash(t *testing.T) {
	t.Parallel()
	ctx := onTestbed(t, jobTime)
	r, app := waves(t, ctx, "8", "3000")
	done := mapsDone(t, ctx, app, 2)
	time.Sleep(2 * time.Second) // its history is written by a separate thread
	first := must(testbed.Attempts(ctx, app))(t)
	if testbed.SignalContainer(app, first[0].Container, syscall.SIGKILL) == 0 {
		t.Fatalf("no process in %s, where the master of %s should be", first[0].Container, app)
	}
	finish(t, r, nil)
	succeeded(t, ctx, app, 2)
	tasksOf(t, ctx, app)
	ranOnce(t, ctx, app, done)
	for _, task := range done { // a master that takes over nothing runs them as its own attempts, from 1000 on
		if had := must(testbed.TaskAttempts(ctx, app, task))(t); len(had) != 1 || !strings.HasSuffix(had[0].ID, "_0") {
			t.Errorf("%s was done before its master was lost, and has the attempts %v", task, had)
		}
	}
	over := func() bool {
		had, err := testbed.Attempts(ctx, app)
		return err == nil && len(had) == 2 && had[0].State == "FAILED" && had[1].State == "FINISHED"
	}
	eventually(t, ctx, 20*time.Second, app+" with its attempts FAILED and FINISHED", over)
}

// testKill kills a Spark application whose driver runs in the cluster.
func testKill(t *testing.T) {
	t.Parallel()
	ctx := onTestbed(t, jobTime)
	r := must(testbed.StartSpark(ctx, hadoop.Spark4, "--deploy-mode", "cluster", testdata(t, "slow.py"), "200", "2"))(t)
	app := must(r.App(ctx))(t)
	working := func() bool {
		a, err := testbed.App(ctx, app)
		return err == nil && a.State == "RUNNING" && a.RunningContainers == 3 && testbed.ContainerProcesses(app) >= 3
	}
	eventually(t, ctx, 2*time.Minute, app+" RUNNING in 3 containers", working)
	if err := testbed.Kill(ctx, app); err != nil {
		t.Fatal(err)
	}
	eventually(t, ctx, 30*time.Second, "no container of "+app, func() bool { return testbed.ContainerProcesses(app) == 0 })
	a := must(testbed.App(ctx, app))(t)
	if a.State != "KILLED" || a.FinalStatus != "KILLED" || a.RunningContainers > 0 {
		t.Errorf("%s is %s, %s, with %d containers; want it KILLED, with none", app, a.State, a.FinalStatus, a.RunningContainers)
	}
	if _, err := r.Wait(); err == nil {
		t.Error("spark-submit of a killed application succeeds")
	}
}

// atWork returns a node that runs a map of the job but not its master.
func atWork(t *testing.T, ctx context.Context, app string) int {
	t.Helper()
	found := 0
	look := func() bool {
		had, err := testbed.Attempts(ctx, app)
		if err != nil || len(had) == 0 || testbed.NodeNumber(had[0].Node) == 0 {
			return false // the master has no container yet
		}
		master := testbed.NodeNumber(had[0].Node)
		tasks, err := testbed.RunningTasks(ctx, app)
		if err != nil {
			return false
		}
		for _, task := range tasks {
			attempts, err := testbed.RunningAttempts(ctx, app, task.ID)
			if err != nil || len(attempts) == 0 || attempts[0].State != "RUNNING" {
				continue
			}
			if n := testbed.NodeNumber(attempts[0].Node); n != master {
				found = n
				return true
			}
		}
		return false
	}
	eventually(t, ctx, 2*time.Minute, "a map of "+app+" beside its master's node", look)
	return found
}

// becomes waits until the ResourceManager sees a node in a state.
func becomes(t *testing.T, ctx context.Context, n int, state string) {
	t.Helper()
	yes := func() bool {
		nodes, err := testbed.Nodes(ctx)
		return err == nil && slices.ContainsFunc(nodes, func(node hadoop.Node) bool { return node.ID == testbed.NodeID(n) && node.State == state })
	}
	eventually(t, ctx, time.Minute, testbed.NodeID(n)+" "+state, yes)
}

// lost reports whether the ResourceManager saw a node as lost at some moment before ctx ended.
func lost(ctx context.Context, n int) (was bool) {
	for ctx.Err() == nil {
		nodes, _ := testbed.Nodes(ctx) // a request that fails is repeated
		was = was || slices.ContainsFunc(nodes, func(node hadoop.Node) bool { return node.ID == testbed.NodeID(n) && node.State == "LOST" })
		time.Sleep(100 * time.Millisecond)
	}
	return was
}

// again fails unless some task of a finished job ran more than once.
func again(t *testing.T, ctx context.Context, app string) {
	t.Helper()
	runs := map[string]int{}
	for _, task := range tasksOf(t, ctx, app) {
		if had := must(testbed.TaskAttempts(ctx, app, task))(t); len(had) > 1 {
			runs[task] = len(had)
		}
	}
	if len(runs) == 0 {
		t.Errorf("no task of %s had a second attempt, though a node was lost under one", app)
	}
	t.Logf("%s: more than one attempt had %v", app, slices.Sorted(maps.Keys(runs)))
}

// testNodeCrash ends a NodeManager and all its containers, as a power cut does.
func testNodeCrash(t *testing.T) {
	ctx := onTestbed(t, jobTime)
	r, app := waves(t, ctx, "6", "8000")
	n := atWork(t, ctx, app)
	t.Cleanup(func() { _ = testbed.StartNode(n, nil) }) // if the test ends before it does so
	if err := testbed.KillNode(n); err != nil {
		t.Fatal(err)
	}
	testbed.KillContainers(n)
	becomes(t, ctx, n, "LOST")
	finish(t, r, nil)
	succeeded(t, ctx, app, 1)
	again(t, ctx, app)
	if err := testbed.StartNode(n, nil); err != nil {
		t.Fatal(err)
	}
	becomes(t, ctx, n, "RUNNING")
}

// testNodeRestart stops a NodeManager in an orderly way and starts it, and then kills one and starts it again before
// anyone notices.
func testNodeRestart(t *testing.T) {
	ctx := onTestbed(t, jobTime)
	const stopped = 1
	t.Cleanup(func() { _ = testbed.StartNode(stopped, nil) }) // if the test ends before it does so
	if err := testbed.StopNode(stopped); err != nil {
		t.Fatal(err)
	}
	becomes(t, ctx, stopped, "SHUTDOWN")
	if err := testbed.StartNode(stopped, nil); err != nil {
		t.Fatal(err)
	}
	becomes(t, ctx, stopped, "RUNNING")

	r, app := waves(t, ctx, "6", "6000")
	n := atWork(t, ctx, app)
	t.Cleanup(func() { _ = testbed.StartNode(n, nil) }) // if the test ends before it does so
	if err := testbed.KillNode(n); err != nil {
		t.Fatal(err)
	}
	testbed.KillContainers(n)
	if err := testbed.StartNode(n, nil); err != nil {
		t.Fatal(err)
	}
	missed := make(chan bool)
	over, stop := context.WithCancel(ctx)
	go func() { missed <- lost(over, n) }()
	finish(t, r, nil)
	stop()
	if <-missed {
		t.Errorf("%s was given up, though it came back in time", testbed.NodeID(n))
	}
	succeeded(t, ctx, app, 1)
	again(t, ctx, app)
	if err := testbed.AwaitNodes(ctx); err != nil {
		t.Fatal(err)
	}
}

// testNodeSilent makes a NodeManager stop answering and, after it was declared lost, lets it go on.
func testNodeSilent(t *testing.T) {
	ctx := onTestbed(t, jobTime)
	r, app := waves(t, ctx, "6", "16000")
	n := atWork(t, ctx, app)
	t.Cleanup(func() { _ = testbed.Thaw(n) }) // if the test ends before it does so
	if err := testbed.Freeze(n); err != nil {
		t.Fatal(err)
	}
	becomes(t, ctx, n, "LOST")
	if err := testbed.Thaw(n); err != nil {
		t.Fatal(err)
	}
	becomes(t, ctx, n, "RUNNING")
	finish(t, r, nil)
	succeeded(t, ctx, app, 1)
	eventually(t, ctx, 30*time.Second, "no container of "+app, func() bool { return testbed.ContainerProcesses(app) == 0 })
	idle := func() bool {
		m, err := testbed.Metrics(ctx)
		return err == nil && m.ContainersAllocated == 0 && m.AllocatedMB == 0
	}
	eventually(t, ctx, 30*time.Second, "a cluster with nothing allocated", idle)
}
