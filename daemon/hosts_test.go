package daemon

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/proto"

	"heddle"
	"heddle/rm"
	"heddle/yarn/rpc"
	"heddle/yarn/wire"
)

// Lists may name hosts by their addresses.
func TestHostsByAddress(t *testing.T) {
	r := &RM{cfg: Config{ExcludeFile: "somewhere"}, log: slog.New(slog.DiscardHandler)}
	r.lookup = func(context.Context, string) ([]string, error) { return []string{"10.0.0.7", "fd00::7"}, nil }
	if got := r.namesOf(t.Context(), "n7"); !slices.Equal(got, []string{"10.0.0.7", "fd00::7", "n7"}) {
		t.Errorf("lists may call it %q", got)
	}
}

// A configured list must exist, at the start and later. If it disappears later, its last content stays in effect.
func TestListsMustBeThere(t *testing.T) {
	file := filepath.Join(t.TempDir(), "hosts")
	for name, c := range map[string]Config{"include": {IncludeFile: file}, "exclude": {ExcludeFile: file}} {
		include, exclude := c.IncludeFile, c.ExcludeFile
		c = testConfig()
		c.IncludeFile, c.ExcludeFile = include, exclude
		o := Options{Config: c, Scheduler: testScheduler(t, "capacity"), Log: slog.New(slog.DiscardHandler)}
		if _, err := New(o); err == nil || !strings.Contains(err.Error(), "the list of hosts "+file+" does not exist; create it") {
			t.Errorf("%s: %v", name, err)
		}
		if err := os.WriteFile(file, []byte("n1\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		r, err := New(o)
		if err != nil {
			t.Fatal(err)
		}
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- r.Run(ctx) }()
		if err := os.Remove(file); err != nil {
			t.Fatal(err)
		}
		if err := r.RefreshNodes(ctx, false, 0); err == nil || !strings.Contains(err.Error(), "the list of hosts "+file+" does not exist") {
			t.Errorf("%s: refreshed without it: %v", name, err)
		}
		r.lookup = func(context.Context, string) ([]string, error) { return nil, nil }
		for i := range 2 {
			host := fmt.Sprint("n", i+1)
			if in := registers(ctx, t, r, host) == wire.NodeAction_NORMAL; in != ((name == "include") == (host == "n1")) {
				t.Errorf("%s: what the list said is forgotten: %s is taken in %v", name, host, in)
			}
		}
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}
}

// An unreadable list is an error, at the start and later; what was read before stays. An empty list is valid: an empty
// include list admits every host.
func TestListsThatCannotBeRead(t *testing.T) {
	spoils := map[string]func(dir, file string) error{
		"a folder": func(_, file string) error { return errors.Join(os.Remove(file), os.Mkdir(file, 0o700)) },
		"a broken link": func(dir, file string) error {
			return errors.Join(os.Remove(file), os.Symlink(filepath.Join(dir, "gone"), file))
		},
		"below a file":    func(dir, _ string) error { return errors.Join(os.RemoveAll(dir), os.WriteFile(dir, nil, 0o600)) },
		"a line too long": func(_, file string) error { return os.WriteFile(file, make([]byte, 1<<17), 0o600) },
	}
	if os.Geteuid() != 0 { // root reads everything
		spoils["not for us"] = func(_, file string) error { return os.Chmod(file, 0) }
	}
	for name, spoil := range spoils { // order: of subtests
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "lists")
			file := filepath.Join(dir, "include")
			if err := errors.Join(os.Mkdir(dir, 0o700), os.WriteFile(file, []byte("n1"), 0o600)); err != nil {
				t.Fatal(err)
			}
			c := testConfig()
			c.IncludeFile = file
			o := Options{Config: c, Scheduler: testScheduler(t, "capacity"), Log: slog.New(slog.DiscardHandler)}
			r, err := New(o)
			if err != nil {
				t.Fatal(err)
			}
			r.lookup = func(context.Context, string) ([]string, error) { return nil, nil }
			ctx, stop := context.WithCancel(t.Context())
			defer stop()
			go func() { _ = r.Run(ctx) }()
			if err := spoil(dir, file); err != nil {
				t.Fatal(err)
			}
			if err := r.RefreshNodes(ctx, false, 0); err == nil || !strings.Contains(err.Error(), file) {
				t.Errorf("read again: %v", err)
			}
			for host, want := range map[string]wire.NodeAction{"n1": wire.NodeAction_NORMAL, "n2": wire.NodeAction_SHUTDOWN} {
				if got := registers(ctx, t, r, host); got != want {
					t.Errorf("%s is told %v", host, got)
				}
			}
			if _, err := New(o); err == nil || !strings.Contains(err.Error(), file) {
				t.Errorf("it starts: %v", err)
			}
		})
	}
	t.Run("empty", func(t *testing.T) {
		c := testConfig()
		c.IncludeFile = filepath.Join(t.TempDir(), "include")
		if err := os.WriteFile(c.IncludeFile, []byte("# nobody\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		r, err := New(Options{Config: c, Scheduler: testScheduler(t, "capacity"), Log: slog.New(slog.DiscardHandler)})
		if err != nil {
			t.Fatal(err)
		}
		r.lookup = func(context.Context, string) ([]string, error) { return nil, nil }
		ctx, stop := context.WithCancel(t.Context())
		defer stop()
		go func() { _ = r.Run(ctx) }()
		if got := registers(ctx, t, r, "n2"); got != wire.NodeAction_NORMAL {
			t.Errorf("with an empty list of hosts to include, n2 is told %v", got)
		}
	})
}

// A list of hosts in a file whose name ends in .xml has Hadoop's XML format.
func TestListsInXML(t *testing.T) {
	dir := t.TempDir()
	for text, want := range map[string]rm.HostLists{
		`<?xml version="1.0"?>
		<hosts><host><name>n1</name></host><host><name> n2, 10.0.0.3 </name><timeout>123</timeout></host><host><name>n4</name><timeout> -1 </timeout></host></hosts>`: {
			Exclude:  map[string]bool{"n1": true, "n2": true, "10.0.0.3": true, "n4": true},
			Timeouts: map[string]heddle.Span{"n2": 123 * heddle.Second, "10.0.0.3": 123 * heddle.Second, "n4": -heddle.Second},
		},
		"<hosts/>": {Exclude: map[string]bool{}, Timeouts: map[string]heddle.Span{}},
		"<hosts><host><name>n1</name><timeout>soon</timeout></host></hosts>": {},
		"n1": {},
	} {
		r := &RM{cfg: Config{ExcludeFile: filepath.Join(dir, "exclude.XML")}}
		if err := os.WriteFile(r.cfg.ExcludeFile, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		got, err := r.readHosts()
		if diff := cmp.Diff(want, got); diff != "" || (err == nil) != (want.Exclude != nil) {
			t.Errorf("%s: %v %s", text, err, diff)
		}
	}
	r := &RM{cfg: Config{IncludeFile: filepath.Join(dir, "include")}}
	if err := os.WriteFile(r.cfg.IncludeFile, []byte("<hosts/>"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := r.readHosts(); err == nil || !strings.Contains(err.Error(), r.cfg.IncludeFile+":1: a list of hosts in XML is in a file whose name ends in .xml") {
		t.Errorf("under another name: %v", err)
	}
}

// registers registers a NodeManager and returns the action it is told.
func registers(ctx context.Context, t *testing.T, r *RM, host string) wire.NodeAction {
	t.Helper()
	p, err := r.registerNode(ctx, &rpc.Call{}, &wire.RegisterNodeManagerRequest{
		NodeId: &wire.NodeId{Host: &host, Port: proto.Int32(1)}, Resource: &wire.Resource{Memory: proto.Int64(4096), VirtualCores: proto.Int32(4)},
	})
	if err != nil {
		t.Fatal(err)
	}
	return p.GetNodeAction()
}

// Only a few topology scripts run at once, however many nodes register, and a failure is not remembered.
func TestTopologyScript(t *testing.T) {
	dir := t.TempDir()
	script := filepath.Join(dir, "racks")
	// The script notes how many run beside it, and fails for hosts whose name ends with 7.
	text := `#!/bin/sh
cd "$(dirname "$0")" || exit 1
: > "run.$1"; sleep 0.02; ls run.* | wc -l > "saw.$1"; rm "run.$1"
case $1 in *7) exit 1;; esac
echo "/rack of $1" | tr -d ' '
`
	if err := os.WriteFile(script, []byte(text), 0o700); err != nil {
		t.Fatal(err)
	}
	r, err := New(Options{Config: Config{Topology: script}, Scheduler: testScheduler(t, "capacity"), Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	for i := range 40 {
		host := "h" + strconv.Itoa(i)
		want := "/rackof" + host
		if strings.HasSuffix(host, "7") {
			want = ""
		}
		all.Go(func() {
			if got := r.rackOf(t.Context(), []string{host}); got != want {
				t.Errorf("%s is in %q, want %q", host, got, want)
			}
		})
	}
	all.Wait()
	saw, err := filepath.Glob(filepath.Join(dir, "saw.*"))
	if err != nil || len(saw) != 40 {
		t.Fatalf("the script ran %d times: %v", len(saw), err)
	}
	for _, f := range saw {
		b, err := os.ReadFile(f)
		if n, bad := strconv.Atoi(strings.TrimSpace(string(b))); err != nil || bad != nil || n > scriptsAtOnce {
			t.Errorf("%s of them ran at once: %v", b, err)
		}
	}
}

// Topologies go by addresses, as with YARN, where MapReduce and Spark find the racks that they ask for. A table may also
// go by names.
func TestTopologyByAddress(t *testing.T) {
	script := filepath.Join(t.TempDir(), "racks")
	text := "#!/bin/sh\ncase $1 in 10.0.0.1) echo /rack1;; n2) echo /rack2;; *) echo /default-rack;; esac\n"
	if err := os.WriteFile(script, []byte(text), 0o700); err != nil {
		t.Fatal(err)
	}
	scripted, table := testConfig(), testConfig()
	scripted.Topology = script
	table.TopologyTable = map[string]string{"10.0.0.1": "/rack1", "n1": "/rack9", "fd00::1": "/rack9", "10.0.0.9": "/rack9", "n2": "/rack2", "n3": "/rack3"}
	for name, c := range map[string]struct {
		config Config
		third  string // rack of n3, whose address neither knows
	}{"script": {scripted, defaultRack}, "table": {table, "/rack3"}} {
		r, err := New(Options{Config: c.config, Scheduler: testScheduler(t, "capacity"), Log: slog.New(slog.DiscardHandler)})
		if err != nil {
			t.Fatal(err)
		}
		r.lookup = func(_ context.Context, host string) ([]string, error) {
			switch host {
			case "n1":
				return []string{"fd00::1", "10.0.0.1", "10.0.0.9"}, nil
			case "n3":
				return []string{"10.0.0.3"}, nil
			}
			return nil, errors.New("no such host")
		}
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- r.Run(ctx) }()
		racks := map[string]string{"n1": "/rack1", "n2": "/rack2", "n3": c.third}
		for host := range racks {
			registers(ctx, t, r, host)
		}
		nodes, err := r.Nodes(ctx)
		if err != nil || len(nodes) != len(racks) {
			t.Errorf("%s: %d nodes, %v", name, len(nodes), err)
		}
		for _, n := range nodes {
			if n.Rack != racks[n.ID.Host] {
				t.Errorf("%s: %s is in %s, want %s", name, n.ID.Host, n.Rack, racks[n.ID.Host])
			}
		}
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}
}

// Of files that two callers have read again at once, what was read later stays, in whatever turn the callers come.
func TestLaterReadingStays(t *testing.T) {
	c := testConfig()
	c.IncludeFile = filepath.Join(t.TempDir(), "include")
	says := func(t *testing.T, text string) {
		t.Helper()
		if err := os.WriteFile(c.IncludeFile, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for name, files := range map[string]struct {
		reread func(context.Context, *RM) error
		stays  func(*testing.T, *world) string // which reading
	}{
		"queues": {
			func(ctx context.Context, r *RM) error { return r.RefreshQueues(ctx) },
			func(_ *testing.T, w *world) (profile string) {
				w.inLoop(func() { profile = w.r.m.Scheduler().Profile })
				return profile
			},
		},
		"nodes": {
			func(ctx context.Context, r *RM) error { return r.RefreshNodes(ctx, false, 0) },
			func(t *testing.T, w *world) string {
				if registers(t.Context(), t, w.r, "second") == wire.NodeAction_NORMAL {
					return "second"
				}
				return "first"
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			says(t, "first")
			inWorldOf(t, "capacity", c, func(t *testing.T, w *world) {
				w.r.refresh = func() (*rm.Scheduler, error) {
					text, err := os.ReadFile(c.IncludeFile)
					sch := testScheduler(t, "capacity")
					sch.Profile = string(text)
					sch.Rebuild = func([]string) (*rm.Scheduler, error) { return sch, nil }
					return sch, err
				}
				var all sync.WaitGroup
				calls := func(user string, f func(context.Context, *RM) error) {
					all.Go(func() {
						if err := f(WithCaller(context.Background(), user), w.r); err != nil {
							t.Errorf("%s: %v", user, err)
						}
					})
					synctest.Wait()
				}
				resume := make(chan struct{})
				calls("eve", func(ctx context.Context, r *RM) error { // the loop stands still until then
					_, err := call(ctx, r, changeLane, func(reply func(any, error)) { <-resume; reply(nil, nil) })
					return err
				})
				calls("ann", func(ctx context.Context, r *RM) error { // her next call comes after another caller's first
					_, _, err := r.NewApp(ctx, "ann")
					return err
				})
				calls("ann", files.reread)
				says(t, "second")
				calls("bob", files.reread)
				close(resume)
				all.Wait()
				if got := files.stays(t, w); got != "second" {
					t.Errorf("the %s reading stays", got)
				}
			})
		})
	}
}
