package hadoop_test

import (
	"context"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"heddle"
	"heddle/cluster"
	"heddle/daemon/serve"
	"heddle/daemon/setup"
	"heddle/internal/testkit/hadoop"
	"heddle/policies"
	"heddle/policy"
)

// since records since when running containers have been seen, by their ids.
type since map[heddle.ContainerID]heddle.Time

// each calls do with every running container except masters, and with how long it has been seen.
func (s since) each(v policy.View, do func(x *policy.Container, seen heddle.Span)) {
	for i := range v.AppIDs() {
		a := v.App(heddle.AppID(i))
		if a == nil {
			continue
		}
		a.Each(func(x *policy.Container) bool {
			if x.Kind() != heddle.AM && x.State() == cluster.Running {
				if _, ok := s[x.ID()]; !ok {
					s[x.ID()] = v.Now()
				}
				do(x, v.Now().Since(s[x.ID()]))
			}
			return true
		})
	}
}

// A resizer gives every running container except masters the sizes of a list, one after the other, for some seconds
// each.
type resizer struct {
	sizes []heddle.Resource
	every heddle.Span
	since since
}

func (r *resizer) Every() heddle.Span { return heddle.Second }

func (r *resizer) Run(v policy.View, p *policy.Plan) {
	r.since.each(v, func(x *policy.Container, seen heddle.Span) {
		if at := int(seen / r.every); at < len(r.sizes) && x.Limit() != r.sizes[at] {
			p.Resize(x.ID(), r.sizes[at])
		}
	})
}

// within runs a ResourceManager in this process, so that a test can add its own policies. file is its heddle.yaml.
func within(t *testing.T, ctx context.Context, file, profile string, sets ...string) {
	t.Helper()
	if _, err := testbed.UseRM(ctx, hadoop.Options{RM: hadoop.None}); err != nil {
		t.Fatal(err)
	}
	yaml := filepath.Join(t.TempDir(), setup.FileName)
	if err := os.WriteFile(yaml, []byte(file), 0o600); err != nil {
		t.Fatal(err)
	}
	d, err := setup.Load(setup.Options{File: yaml, ConfDir: testbed.Conf(), Profile: profile, Sets: sets, Data: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	d.Config.Recovery = false
	rm, err := serve.Start(serve.Options{Config: d.Config, Scheduler: d.Scheduler, Refresh: d.Refresh, Facts: d.Facts, DataDir: d.DataDir, Log: slog.New(slog.NewTextHandler(io.Discard, nil))})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := rm.Stop(); err != nil {
			t.Error(err)
		}
	})
	if err := testbed.AwaitLiveNodes(ctx); err != nil {
		t.Fatal(err)
	}
}

// sizesSeen watches all NodeManagers until a context ends, and returns the sizes in MiB and vcores that they accounted
// for, by container.
func sizesSeen(ctx context.Context) map[string][][2]int {
	seen := map[string][][2]int{}
	for ctx.Err() == nil {
		for n := 1; n <= testbed.Options().Nodes; n++ {
			list, err := testbed.NodeContainers(ctx, n)
			if err != nil {
				continue
			}
			for _, c := range list {
				size := [2]int{c.MemoryMB, c.Vcores}
				if had := seen[c.ID]; len(had) == 0 || had[len(had)-1] != size {
					seen[c.ID] = append(had, size)
				}
			}
		}
		time.Sleep(200 * time.Millisecond)
	}
	return seen
}

// Running containers of MapReduce and Spark get other sizes, larger and smaller, which their NodeManagers accept.
func TestRunningContainersAreResized(t *testing.T) {
	ctx := onTestbed(t, 5*time.Minute)
	sizes := []heddle.Resource{heddle.Of(900, 1000), heddle.Of(1200, 2000), heddle.Of(800, 1000)}
	policies.Table.Control["resizer"] = func(policy.Args) (policy.Control, error) {
		return &resizer{sizes: sizes, every: 5 * heddle.Second, since: since{}}, nil
	}
	t.Cleanup(func() { delete(policies.Table.Control, "resizer") })
	within(t, ctx, "", "capacity", "control=[resizer]")
	watched, stop := context.WithCancel(ctx)
	defer stop()
	found := make(chan map[string][][2]int, 1)
	go func() { found <- sizesSeen(watched) }()
	mr, err := testbed.StartSleep(ctx, "-m", "1", "-r", "0", "-mt", "20000", "-rt", "1")
	if err != nil {
		t.Fatal(err)
	}
	sp, err := testbed.StartSpark(ctx, hadoop.Spark3, testdata(t, "slow.py"), "10", "3")
	apps := []string{finish(t, mr, nil).App, finish(t, sp, err).App}
	stop()
	seen := <-found
	for _, app := range apps {
		succeeded(t, ctx, app, 1)
		workers := 0
		for id, had := range seen {
			if !strings.Contains(id, strings.TrimPrefix(app, "application_")) || strings.HasSuffix(id, "_000001") {
				continue
			}
			workers++
			for _, want := range [][2]int{{900, 1}, {1200, 2}, {800, 1}} {
				if !slices.Contains(had, want) {
					t.Errorf("%s had %v MiB and vcores at its NodeManager, never %v", id, had, want)
				}
			}
		}
		if workers == 0 {
			t.Errorf("no container of %s was seen at a NodeManager", app)
		}
	}
}
