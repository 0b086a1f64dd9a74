package hadoop_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"
	"golang.org/x/sys/unix"

	"heddle"
	"heddle/internal/testkit/hadoop"
	"heddle/node/read"
	"heddle/policies"
	"heddle/policy"
)

// agentsAt is where the tests' ResourceManagers listen for node agents.
const agentsAt = "127.0.0.1:8039"

// agentGroup returns the control group that holds the containers of node n.
func agentGroup(n int) string { return fmt.Sprintf("%s/agent%d", testGroup, n) }

// withAgents starts a ResourceManager with a profile, and agents beside the NodeManagers of the first nodes; the other
// NodeManagers are stopped. The containers of all nodes together get that many processors, 0 for all of the machine's,
// so that ratios between them hold on a busy machine.
func withAgents(t *testing.T, ctx context.Context, nodes int, cores float64, profile string, sets ...string) {
	t.Helper()
	onlyNodes(t, nodes, cores)
	within(t, ctx, "listen: {agents: '"+agentsAt+"'}", profile, sets...)
	startAgents(t, ctx, nodes)
}

// onlyNodes stops the NodeManagers of all nodes but the first ones, until the test's end.
func onlyNodes(t *testing.T, nodes int, cores float64) {
	t.Helper()
	needsGroups(t)
	quota := "-1"
	if cores > 0 {
		quota = strconv.Itoa(int(cores * 100_000))
	}
	quotas := filepath.Join(cpuGroups, testGroup, "cpu.cfs_quota_us")
	if err := os.WriteFile(quotas, []byte(quota), 0o644); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.WriteFile(quotas, []byte("-1"), 0o644) })
	for n := nodes + 1; n <= testbed.Options().Nodes; n++ {
		if err := testbed.StopNode(n); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = testbed.StartNode(n, nil) })
	}
}

// startAgents starts agents beside the first nodes.
func startAgents(t *testing.T, ctx context.Context, nodes int) {
	t.Helper()
	binary := must(testbed.BuildHeddle(ctx))(t)
	for n := 1; n <= nodes; n++ {
		startAgent(t, n, binary)
	}
	eventually(t, ctx, 20*time.Second, "agents beside all nodes", func() bool { return len(agentsOf(t, ctx)) == nodes })
}

// needsGroups skips a test if there are no control groups of version 1, and creates the one for tests.
func needsGroups(t *testing.T) {
	t.Helper()
	left, _ := filepath.Glob(filepath.Join("/sys/fs/cgroup/*", testGroup, "agent*", "container_*"))
	for _, dir := range left { // of a test that failed
		_ = os.Remove(dir) // processes may still be in it
	}
	groups := filepath.Join(cpuGroups, testGroup)
	if err := os.MkdirAll(groups, 0o755); err != nil {
		t.Skipf("this needs control groups of version 1 for processors, and to be root: %v", err)
	}
	if _, err := os.Stat(filepath.Join(groups, "cpu.shares")); err != nil {
		t.Skipf("this needs control groups of version 1 for processors: %v", err)
	}
}

func startAgent(t *testing.T, n int, binary string) {
	t.Helper()
	if err := testbed.StartAgent(n, binary, "http://"+agentsAt, agentGroup(n)); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = testbed.StopAgent(n) }) // a test may have ended it
}

// agentsOf returns the nodes that can park containers: those with an agent, on this testbed.
func agentsOf(t *testing.T, ctx context.Context) (nodes []string) {
	t.Helper()
	var list struct {
		Nodes []struct {
			ID  string   `json:"id"`
			Can []string `json:"can"`
		} `json:"nodes"`
	}
	if err := testbed.Heddle(ctx, "nodes", &list); err != nil {
		t.Fatal(err)
	}
	for _, n := range list.Nodes {
		if slices.Contains(n.Can, "parks") {
			nodes = append(nodes, n.ID)
		}
	}
	return nodes
}

// sharesSeen adds the processor shares that containers have now to those seen, in order, by container.
func sharesSeen(seen map[string][]string) {
	files, _ := filepath.Glob(filepath.Join(cpuGroups, testGroup, "agent*", "container_*", "cpu.shares"))
	for _, f := range files {
		text, err := os.ReadFile(f)
		id := filepath.Base(filepath.Dir(f))
		if s := strings.TrimSpace(string(text)); err == nil && (len(seen[id]) == 0 || seen[id][len(seen[id])-1] != s) {
			seen[id] = append(seen[id], s)
		}
	}
}

// watched waits for a job's end and calls look at intervals in the meantime.
func watched(r *hadoop.Run, every time.Duration, look func()) (hadoop.Result, error) {
	type outcome struct {
		res hadoop.Result
		err error
	}
	done := make(chan outcome, 1)
	go func() {
		res, err := hadoop.Finish(r, nil)
		done <- outcome{res, err}
	}()
	for {
		look()
		select {
		case o := <-done:
			return o.res, o.err
		case <-time.After(every):
		}
	}
}

// control registers a policy under a name for the duration of a test.
func control(t *testing.T, name string, made func() policy.Control) {
	policies.Table.Control[name] = func(policy.Args) (policy.Control, error) { return made(), nil }
	t.Cleanup(func() { delete(policies.Table.Control, name) })
}

// An agent takes a container's processor shares away while it is suspended, and gives them back: soon, and with an
// unchanged NodeManager.
func TestAgentParks(t *testing.T) {
	ctx := onTestbed(t, 5*time.Minute)
	control(t, "parker", func() policy.Control {
		return &parker{after: 4 * heddle.Second, length: 8 * heddle.Second, since: since{}}
	})
	withAgents(t, ctx, testbed.Options().Nodes, 0, "capacity", "control=[parker]")
	r, err := testbed.StartSleep(ctx, "-m", "2", "-r", "0", "-mt", "22000", "-rt", "1")
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string][]string{}
	res, err := watched(r, 100*time.Millisecond, func() { sharesSeen(seen) })
	if err != nil {
		t.Fatal(err)
	}
	succeeded(t, ctx, res.App, 1)
	maps := 0
	for id, had := range seen {
		want := []string{"1024", "2", "1024"}
		if strings.HasSuffix(id, "_000001") {
			want = []string{"1024"}
		} else {
			maps++
		}
		if !slices.Equal(had, want) {
			t.Errorf("%s had processor shares %v, want %v", id, had, want)
		}
	}
	if maps != 2 {
		t.Errorf("control groups of %d maps were seen: %v", maps, seen)
	}
	noGroupLeft(t, ctx)
}

// noGroupLeft fails unless agents remove the groups of ended containers.
func noGroupLeft(t *testing.T, ctx context.Context) {
	t.Helper()
	eventually(t, ctx, 20*time.Second, "no group left", func() bool {
		left, _ := filepath.Glob(filepath.Join("/sys/fs/cgroup/*", testGroup, "agent*", "container_*"))
		return len(left) == 0
	})
}

// parkedNow returns how many containers have almost no processor shares.
func parkedNow() (n int) {
	seen := map[string][]string{}
	sharesSeen(seen)
	for _, had := range seen {
		if had[0] == "2" {
			n++
		}
	}
	return n
}

// frozenNow returns how many containers do not run at all.
func frozenNow() (n int) {
	files, _ := filepath.Glob(filepath.Join("/sys/fs/cgroup/freezer", testGroup, "agent*", "container_*", "freezer.state"))
	for _, f := range files {
		if text, _ := os.ReadFile(f); strings.TrimSpace(string(text)) == "FROZEN" {
			n++
		}
	}
	return n
}

// If an agent is killed while it keeps containers parked or frozen, its warden gives everything back within a second.
// The next agent does it again. In the meantime a job can be killed, and another goes on.
func TestAgentIsKilled(t *testing.T) {
	t.Run("parked", func(t *testing.T) { testAgentIsKilled(t, 0, parkedNow) })
	t.Run("frozen", func(t *testing.T) { testAgentIsKilled(t, 30*heddle.Second, frozenNow) })
}

func testAgentIsKilled(t *testing.T, frozen heddle.Span, heldNow func() int) {
	ctx := onTestbed(t, 3*time.Minute+cycles(15))
	control(t, "parker", func() policy.Control {
		return &parker{after: 3 * heddle.Second, length: 5 * heddle.Minute, frozen: frozen, since: since{}}
	})
	withAgents(t, ctx, 1, 0, "capacity", "control=[parker]")
	binary := must(testbed.BuildHeddle(ctx))(t)
	r, err := testbed.StartSleep(ctx, "-m", "2", "-r", "0", "-mt", millis(30*time.Second+cycles(12)), "-rt", "1")
	if err != nil {
		t.Fatal(err)
	}
	worst := time.Duration(0)
	for range kills() {
		eventually(t, ctx, time.Minute, "two maps that are held", func() bool { return heldNow() == 2 })
		at := time.Now()
		if err := testbed.KillAgent(1); err != nil {
			t.Fatal(err)
		}
		for heldNow() > 0 {
			if time.Since(at) > 10*time.Second {
				t.Fatal("containers are held after their agent was killed")
			}
			time.Sleep(2 * time.Millisecond)
		}
		worst = max(worst, time.Since(at))
		startAgent(t, 1, binary)
	}
	if t.Logf("given back after %v at most", worst); worst > time.Second {
		t.Errorf("given back after %v, want a second at most", worst)
	}
	eventually(t, ctx, time.Minute, "two maps that are held", func() bool { return heldNow() == 2 })
	kill(t, ctx, r)
	noGroupLeft(t, ctx)
	next, err := testbed.StartSleep(ctx, "-m", "2", "-r", "0", "-mt", "8000", "-rt", "1")
	res := finish(t, next, err)
	succeeded(t, ctx, res.App, 1)
	noGroupLeft(t, ctx)
}

// kills returns how often something is killed while work goes on.
func kills() int {
	if *extent == "full" {
		return 100
	}
	return 1
}

// cycles returns the time for kills cycles that take at most that many seconds each.
func cycles(seconds int) time.Duration { return time.Duration(kills()*seconds) * time.Second }

// millis formats a time as an argument of a sleep job.
func millis(d time.Duration) string { return strconv.FormatInt(d.Milliseconds(), 10) }

// A weigher gives every map of a job that starts with an even number ten times the weight of the others.
type weigher struct{}

func (weigher) Every() heddle.Span { return heddle.Second }

func (weigher) Run(v policy.View, p *policy.Plan) {
	since{}.each(v, func(x *policy.Container, _ heddle.Span) {
		if x.Kind() == heddle.Map {
			p.Weigh(x.ID(), 1000*(1+9*int64(x.ID()%2)))
		}
	})
}

// Needs implements policy.Needer.
func (weigher) Needs() policy.Needs { return policy.Needs{Can: heddle.Weighs} }

// onOneCore restricts what runs in the control groups of containers, and what it starts, to the first processor.
func onOneCore(t *testing.T) {
	t.Helper()
	files, _ := filepath.Glob(filepath.Join(cpuGroups, testGroup, "agent*", "container_*", "tasks"))
	for _, f := range files {
		text, _ := os.ReadFile(f) // the container may have ended
		for id := range strings.FieldsSeq(string(text)) {
			thread := must(strconv.Atoi(id))(t)
			one := unix.CPUSet{}
			one.Set(0)
			if err := unix.SchedSetaffinity(thread, &one); err != nil && !errors.Is(err, unix.ESRCH) {
				t.Fatal(err)
			}
		}
	}
}

// If a policy uses how busy disks are, agents report it, and a disk that is written to appears busy.
func TestAgentMeasuresDisks(t *testing.T) {
	ctx := onTestbed(t, 3*time.Minute)
	if busy, err := read.DiskBusy("/sys", []string{t.TempDir()}); busy == 0 || err != nil {
		t.Skipf("this needs files on a disk that rotates, or seems to: %v", err)
	}
	withAgents(t, ctx, 1, 0, "heddle")
	busy := func() float64 {
		var list struct {
			Nodes []struct {
				Agent *struct {
					Disks float64 `json:"disk_busy_percent"`
				} `json:"agent"`
			} `json:"nodes"`
		}
		if err := testbed.Heddle(ctx, "nodes", &list); err != nil {
			t.Fatal(err)
		}
		for _, n := range list.Nodes {
			if n.Agent != nil {
				return n.Agent.Disks
			}
		}
		return -1
	}
	quiet := 0.0
	eventually(t, ctx, 30*time.Second, "a quiet disk, and how busy it is", func() bool {
		quiet = busy()
		return quiet >= 0 && quiet < 50
	})
	f := must(os.Create(filepath.Join(t.TempDir(), "written")))(t)
	defer f.Close()
	block, written := make([]byte, 4<<20), 0.0
	eventually(t, ctx, 30*time.Second, "a busy disk", func() bool {
		for began := time.Now(); time.Since(began) < time.Second; {
			var writers errgroup.Group // a single writer would wait for a processor more than for a fast disk
			for at := range int64(4) {
				writers.Go(func() error {
					_, err := f.WriteAt(block, at*int64(len(block)))
					return errors.Join(err, f.Sync())
				})
			}
			if err := writers.Wait(); err != nil {
				t.Fatal(err)
			}
		}
		written = busy()
		return written > quiet+20
	})
	t.Logf("busy for %.1f %% of the time, while it is written to for %.1f %%", quiet, written)
}

// Two maps that share one core get processor time by their weights, from when both run until the first ends.
func TestAgentWeighs(t *testing.T) {
	ctx := onTestbed(t, 6*time.Minute)
	control(t, "weigher", func() policy.Control { return weigher{} })
	withAgents(t, ctx, 1, 1, "capacity", "control=[weigher]")
	r, err := testbed.StartMR(ctx, "pi", "2", "400000000")
	if err != nil {
		t.Fatal(err)
	}
	app := must(r.App(ctx))(t)
	var first, last map[string]time.Duration // processor time by shares
	var spent time.Duration
	began := time.Now()
	res, err := watched(r, 200*time.Millisecond, func() {
		onOneCore(t)
		now := map[string]time.Duration{}
		seen := map[string][]string{}
		sharesSeen(seen)
		for id, had := range seen {
			if !strings.HasSuffix(id, "_000001") {
				now[had[0]] = testbed.ContainerCPU(app, id)
			}
		}
		switch _, heavy := now["10240"]; {
		case len(now) < 2 || !heavy:
		case first == nil:
			if now["10240"] > 3*time.Second && now["1024"] > 0 { // both compute
				first, last, began = now, now, time.Now()
			}
		case now["10240"] >= last["10240"] && now["1024"] >= last["1024"]: // neither has begun to end
			last, spent = now, time.Since(began)
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	succeeded(t, ctx, res.App, 1)
	if first == nil {
		t.Fatal("the maps were never seen to compute at once with weights of their own")
	}
	heavy, light := last["10240"]-first["10240"], last["1024"]-first["1024"]
	if t.Logf("in %v they used %v and %v", spent, heavy, light); spent < time.Second || heavy < 4*light {
		t.Errorf("in %v maps that weigh 10 to 1 used %v and %v of one processor", spent, heavy, light)
	}
}
