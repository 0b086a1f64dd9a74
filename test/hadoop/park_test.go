package hadoop_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"heddle"
	"heddle/internal/testkit/hadoop"
	"heddle/policies"
	"heddle/policy"
)

// A parker suspends every running map once, for some seconds. If frozen is not 0, maps do not run at all for that long.
type parker struct {
	after, length, frozen heddle.Span
	since                 since
}

func (r *parker) Every() heddle.Span { return heddle.Second }

func (r *parker) Run(v policy.View, p *policy.Plan) {
	r.since.each(v, func(x *policy.Container, seen heddle.Span) {
		switch {
		case x.Kind() != heddle.Map:
		case seen > r.after+r.length:
			p.Resume(x.ID())
		case seen > r.after:
			p.Freeze(x.ID(), r.frozen)
		}
	})
}

const (
	cpuGroups = "/sys/fs/cgroup/cpu"
	testGroup = "heddle-test"
)

// A NodeManager whose LinuxContainerExecutor uses control groups takes a container's processor shares away while it is
// suspended, and gives them back.
func TestContainersAreParked(t *testing.T) {
	ctx := onTestbed(t, 5*time.Minute)
	groups := filepath.Join(cpuGroups, testGroup)
	if err := os.MkdirAll(groups, 0o755); err != nil {
		t.Skipf("this needs control groups of version 1 for processors, and to be root: %v", err)
	}
	if _, err := os.Stat(filepath.Join(groups, "cpu.shares")); err != nil {
		t.Skipf("this needs control groups of version 1 for processors: %v", err)
	}
	for n := 1; n <= testbed.Options().Nodes; n++ {
		if err := testbed.StopNode(n); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = testbed.StartNode(n, nil) })
	}
	t.Cleanup(func() { _ = testbed.StopNode(1) })
	if err := testbed.StartNode(1, hadoop.Properties{
		"yarn.nodemanager.container-executor.class":                            "org.apache.hadoop.yarn.server.nodemanager.LinuxContainerExecutor",
		"yarn.nodemanager.linux-container-executor.path":                       testdata(t, "container-executor"),
		"yarn.nodemanager.linux-container-executor.group":                      "root",
		"yarn.nodemanager.linux-container-executor.nonsecure-mode.limit-users": "false",
		"yarn.nodemanager.resource.cpu.enabled":                                "true",
		"yarn.nodemanager.linux-container-executor.cgroups.hierarchy":          "/" + testGroup,
		"yarn.nodemanager.linux-container-executor.cgroups.mount":              "false",
	}); err != nil {
		t.Fatal(err)
	}
	policies.Table.Control["parker"] = func(policy.Args) (policy.Control, error) {
		return &parker{after: 4 * heddle.Second, length: 8 * heddle.Second, since: since{}}, nil
	}
	t.Cleanup(func() { delete(policies.Table.Control, "parker") })
	within(t, ctx, "nodes: {can: [limits, resizes, lends, parks]}", "capacity", "control=[parker]")

	r, err := testbed.StartSleep(ctx, "-m", "1", "-r", "0", "-mt", "22000", "-rt", "1")
	if err != nil {
		t.Fatal(err)
	}
	containers := strings.Replace(must(r.App(ctx))(t), "application", "container", 1) + "_*"
	done := make(chan hadoop.Result, 1)
	go func() {
		res, _ := hadoop.Finish(r, nil)
		done <- res
	}()
	seen := map[string][]string{} // shares by container
	var res hadoop.Result
	for over := false; !over; {
		files, _ := filepath.Glob(filepath.Join(groups, containers, "cpu.shares"))
		for _, f := range files {
			text, err := os.ReadFile(f)
			id := filepath.Base(filepath.Dir(f))
			if s := strings.TrimSpace(string(text)); err == nil && (len(seen[id]) == 0 || seen[id][len(seen[id])-1] != s) {
				seen[id] = append(seen[id], s)
			}
		}
		select {
		case res = <-done:
			over = true
		case <-time.After(200 * time.Millisecond):
		}
	}
	succeeded(t, ctx, res.App, 1)
	maps := 0
	for id, had := range seen {
		if strings.HasSuffix(id, "_000001") {
			if !slices.Equal(had, []string{"1024"}) {
				t.Errorf("the master %s had processor shares %v, want 1024 alone", id, had)
			}
			continue
		}
		maps++
		if !slices.Equal(had, []string{"1024", "2", "1024"}) {
			t.Errorf("%s had processor shares %v, want 1024, then 2 while it was suspended, then 1024", id, had)
		}
	}
	if maps != 1 {
		t.Errorf("control groups of %d maps were seen: %v", maps, seen)
	}
}
