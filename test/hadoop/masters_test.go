package hadoop_test

import (
	"context"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"heddle/internal/testkit/hadoop"
)

// TestMasters runs masters in containers smaller than they ask for, under AdaptCont. A stock ResourceManager gives them
// what they ask for.
func TestMasters(t *testing.T) {
	ctx := onTestbed(t, time.Hour)
	if *manager != hadoop.Heddle {
		t.Skip("masters are sized by Heddle alone")
	}
	use(t, ctx, "adaptcont", false, nil)
	t.Run("sized", testSizedMaster)
	tiny := filepath.Join(t.TempDir(), "tiny.yaml")
	if err := os.WriteFile(tiny, []byte("profile: adaptcont\nsize: {am: {adaptcont.dynamic: {queue: capacity, unit_memory: 128, least: 128}}}\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	use(t, ctx, tiny, false, nil)
	t.Run("too-small", testMasterTooSmall)
}

// askedMB is what the masters here ask for; 512 of it is their heap.
const askedMB = 1536

func sizedSleep(t *testing.T, ctx context.Context, args ...string) (*hadoop.Run, string) {
	t.Helper()
	r := must(testbed.StartSleep(ctx, append([]string{
		"-Dyarn.app.mapreduce.am.resource.mb=1536", "-Dyarn.app.mapreduce.am.command-opts=-Xms256m -Xmx512m -XX:+UseSerialGC", "-r", "1", "-rt", "500",
	}, args...)...))(t)
	return r, must(r.App(ctx))(t)
}

// A masterSeen is a running master: its memory according to its NodeManager, and the options of its command that set
// the size of its heap.
type masterSeen struct {
	mb   int64
	heap string
}

var heapOptions = regexp.MustCompile(`-Xm[sx]\S+`)

// seeMaster waits until the master of an attempt runs, and returns what it sees of it.
func seeMaster(t *testing.T, ctx context.Context, app string, attempt int) (seen masterSeen) {
	t.Helper()
	look := func() bool {
		had, err := testbed.Attempts(ctx, app)
		if err != nil || len(had) < attempt || testbed.NodeNumber(had[attempt-1].Node) == 0 {
			return false
		}
		at := had[attempt-1]
		mb, err := testbed.ContainerMB(ctx, testbed.NodeNumber(at.Node), at.Container)
		if err != nil {
			return false
		}
		for _, line := range testbed.ContainerCommands(app, at.Container) {
			if strings.Contains(line, "/bin/java ") && !strings.HasPrefix(line, "/bin/bash ") {
				seen = masterSeen{mb, strings.Join(heapOptions.FindAllString(line, -1), " ")}
			}
		}
		return seen.heap != ""
	}
	eventually(t, ctx, time.Minute, app+" with a master that runs", look)
	return seen
}

// testSizedMaster runs a job whose master gets a quarter of what it asks for, and a heap that fits in it.
func testSizedMaster(t *testing.T) {
	ctx := onTestbed(t, jobTime)
	r, app := sizedSleep(t, ctx, "-m", "4", "-mt", "3000")
	if got, want := seeMaster(t, ctx, app, 1), (masterSeen{384, "-Xms208m -Xmx208m"}); got != want {
		t.Errorf("its master has %+v, want %+v", got, want)
	}
	finish(t, r, nil)
	succeeded(t, ctx, app, 1)
	tasksOf(t, ctx, app)
}

// testMasterTooSmall runs a master that runs out of memory: the next one gets what it asks for, and the job succeeds.
func testMasterTooSmall(t *testing.T) {
	ctx := onTestbed(t, jobTime)
	r, app := sizedSleep(t, ctx, "-m", "4", "-mt", "3000")
	if got, want := seeMaster(t, ctx, app, 2), (masterSeen{askedMB, "-Xms256m -Xmx512m"}); got != want {
		t.Errorf("its second master has %+v, want %+v", got, want)
	}
	finish(t, r, nil)
	succeeded(t, ctx, app, 2)
	tasksOf(t, ctx, app)
	had := must(testbed.Attempts(ctx, app))(t)
	if had[0].State != "FAILED" || had[1].State != "FINISHED" {
		t.Errorf("its attempts are %s and %s", had[0].State, had[1].State)
	}
}
