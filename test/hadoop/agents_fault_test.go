package hadoop_test

import (
	"context"
	"errors"
	"log/slog"
	"math/rand/v2"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"heddle"
	"heddle/daemon/serve"
	"heddle/daemon/setup"
	"heddle/internal/testkit/hadoop"
	"heddle/policies"
	"heddle/policy"
)

// parkingMode is the environment variable that makes this program a ResourceManager: see [beParkingRM].
const parkingMode = "HEDDLE_TEST_PARKING"

// beParkingRM is heddle rm with agents and a policy that parks every map after it has run for 3 s. It uses the command
// line.
func beParkingRM() error {
	dir := ""
	for i, arg := range os.Args {
		if arg == "--data" && i+1 < len(os.Args) {
			dir = os.Args[i+1]
		}
	}
	if dir == "" {
		return errors.New("want --data DIR")
	}
	policies.Table.Control["parker"] = func(policy.Args) (policy.Control, error) {
		return &parker{after: 3 * heddle.Second, length: heddle.Hour, since: since{}}, nil
	}
	yaml := filepath.Join(dir, "parking.yaml")
	if err := os.WriteFile(yaml, []byte("listen: {agents: '"+agentsAt+"'}"), 0o600); err != nil {
		return err
	}
	d, err := setup.Load(setup.Options{File: yaml, ConfDir: os.Getenv("HADOOP_CONF_DIR"), Profile: "capacity", Sets: []string{"control=[parker]"}, Data: dir})
	if err != nil {
		return err
	}
	log := slog.New(slog.NewTextHandler(os.Stderr, nil))
	rm, err := serve.Start(serve.Options{Config: d.Config, Scheduler: d.Scheduler, Refresh: d.Refresh, Facts: d.Facts, DataDir: d.DataDir, Log: log})
	if err != nil {
		return err
	}
	stop := make(chan os.Signal, 1)
	signal.Notify(stop, syscall.SIGTERM)
	<-stop
	return rm.Stop()
}

// withParkingRM starts this program as a ResourceManager that parks maps and can be killed, and agents beside the first
// nodes.
func withParkingRM(t *testing.T, ctx context.Context, nodes int, site map[string]string) {
	t.Helper()
	onlyNodes(t, nodes, 0)
	t.Setenv(parkingMode, "yes")
	t.Cleanup(func() { use(t, context.WithoutCancel(ctx), "capacity", false, nil) }) // before the variable is gone, which is not passed on then
	o := hadoop.Options{RM: hadoop.Heddle, Profile: "capacity", Binary: must(os.Executable())(t), Recovery: true, Site: site}
	if _, err := testbed.UseRM(ctx, o); err != nil {
		t.Fatal(err)
	}
	startAgents(t, ctx, nodes)
}

// parked waits until n containers are parked.
func parked(t *testing.T, ctx context.Context, n int) {
	t.Helper()
	eventually(t, ctx, time.Minute, "parked maps", func() bool { return parkedNow() == n })
}

// If the ResourceManager is killed while maps are parked, the next one parks them again. If it stays away for longer
// than a lease, all maps get back what they had. The job goes on undisturbed.
func TestResourceManagerIsKilledWhileMapsAreParked(t *testing.T) {
	ctx := onTestbed(t, 5*time.Minute+cycles(20))
	withParkingRM(t, ctx, 1, nil)
	r := must(testbed.StartSleep(ctx, "-m", "2", "-r", "1", "-mt", millis(70*time.Second+cycles(15)), "-rt", "1"))(t)
	app := must(r.App(ctx))(t)
	parked(t, ctx, 2)
	if err := testbed.KillRM(); err != nil {
		t.Fatal(err)
	}
	at := time.Now()
	eventually(t, ctx, time.Minute, "maps that are given back", func() bool { return parkedNow() == 0 })
	if away := time.Since(at); away < 20*time.Second || away > 33*time.Second {
		t.Errorf("maps were given back %v after the ResourceManager was killed; a lease is 30 s", away)
	}
	for range kills() {
		if _, err := testbed.RestartRM(ctx); err != nil {
			t.Fatal(err)
		}
		parked(t, ctx, 2)
		time.Sleep(time.Duration(rand.IntN(1000)) * time.Millisecond)
		if err := testbed.KillRM(); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := testbed.RestartRM(ctx); err != nil {
		t.Fatal(err)
	}
	finish(t, r, nil)
	succeeded(t, ctx, app, 1)
	ranOnce(t, ctx, app, tasksOf(t, ctx, app))
	noGroupLeft(t, ctx)
}

// A NodeManager that is killed while maps are parked and restarts with recovery finds them as they were.
func TestNodeManagerRecoversWhileMapsAreParked(t *testing.T) {
	ctx := onTestbed(t, 5*time.Minute+cycles(30))
	withParkingRM(t, ctx, 1, map[string]string{expiryName: expiryLate})
	recovery := hadoop.Properties{
		"yarn.nodemanager.recovery.enabled":    "true",
		"yarn.nodemanager.recovery.supervised": "true",
		"yarn.nodemanager.recovery.dir":        t.TempDir(),
	}
	t.Cleanup(func() { _ = errors.Join(testbed.StopNode(1), testbed.StartNode(1, nil)) })
	if err := testbed.StopNode(1); err != nil {
		t.Fatal(err)
	}
	becomes(t, ctx, 1, "SHUTDOWN")
	if err := testbed.StartNode(1, recovery); err != nil {
		t.Fatal(err)
	}
	becomes(t, ctx, 1, "RUNNING")
	r := must(testbed.StartSleep(ctx, "-m", "2", "-r", "1", "-mt", millis(20*time.Second+cycles(18)), "-rt", "1"))(t)
	app := must(r.App(ctx))(t)
	for range kills() {
		parked(t, ctx, 2)
		if err := errors.Join(testbed.KillNode(1), testbed.StartNode(1, recovery)); err != nil {
			t.Fatal(err)
		}
		eventually(t, ctx, time.Minute, "the NodeManager with its containers", func() bool {
			had, err := testbed.NodeContainers(ctx, 1)
			return err == nil && len(had) >= 3
		})
		time.Sleep(3 * time.Second) // it registers
	}
	finish(t, r, nil)
	succeeded(t, ctx, app, 1)
	ranOnce(t, ctx, app, tasksOf(t, ctx, app))
	noGroupLeft(t, ctx)
}

// If a node is lost with the maps that were parked there, they run elsewhere, and its agent leaves no group behind.
func TestNodeIsLostWhileMapsAreParked(t *testing.T) {
	ctx := onTestbed(t, 6*time.Minute)
	withParkingRM(t, ctx, 2, map[string]string{expiryName: expirySoon})
	r, app := waves(t, ctx, "6", "12000")
	n := atWork(t, ctx, app)
	parkedThere := func() bool {
		seen := map[string][]string{}
		sharesSeen(seen)
		for id, had := range seen {
			if _, err := os.Stat(filepath.Join(cpuGroups, agentGroup(n), id)); err == nil && had[0] == "2" && !strings.HasSuffix(id, "_000001") {
				return true
			}
		}
		return false
	}
	eventually(t, ctx, time.Minute, "a parked map beside its master's node", parkedThere)
	t.Cleanup(func() { _ = testbed.StartNode(n, nil) })
	if err := testbed.KillNode(n); err != nil {
		t.Fatal(err)
	}
	testbed.KillContainers(n)
	becomes(t, ctx, n, "LOST")
	finish(t, r, nil)
	succeeded(t, ctx, app, 1)
	tasksOf(t, ctx, app)
	noGroupLeft(t, ctx)
}
