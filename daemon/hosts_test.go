package daemon

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"google.golang.org/protobuf/proto"

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

// A list that is named must be there, at the start and later; one that is gone later leaves what it said.
func TestListsMustBeThere(t *testing.T) {
	file := filepath.Join(t.TempDir(), "hosts")
	for name, c := range map[string]Config{"include": {IncludeFile: file}, "exclude": {ExcludeFile: file}} {
		include, exclude := c.IncludeFile, c.ExcludeFile
		c = testConfig()
		c.IncludeFile, c.ExcludeFile = include, exclude
		o := Options{Config: c, Scheduler: testScheduler(t, "capacity"), Log: slog.New(slog.DiscardHandler)}
		if _, err := New(o); err == nil || !strings.Contains(err.Error(), "there is no list of hosts "+file+"; make it") {
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
		if err := r.RefreshNodes(ctx, false, 0); err == nil || !strings.Contains(err.Error(), "there is no list of hosts "+file) {
			t.Errorf("%s: refreshed without it: %v", name, err)
		}
		r.lookup = func(context.Context, string) ([]string, error) { return nil, nil }
		for i := range 2 {
			host := fmt.Sprint("n", i+1)
			p, err := r.registerNode(ctx, &rpc.Call{}, &wire.RegisterNodeManagerRequest{
				NodeId: &wire.NodeId{Host: &host, Port: proto.Int32(1)}, Resource: &wire.Resource{Memory: proto.Int64(4096), VirtualCores: proto.Int32(4)},
			})
			if in := p.GetNodeAction() == wire.NodeAction_NORMAL; err != nil || in != ((name == "include") == (host == "n1")) {
				t.Errorf("%s: what the list said is forgotten: %s is told %v, %v", name, host, p, err)
			}
		}
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}
}

// The topology script runs a few times at once however many nodes register, and where it fails nothing is remembered.
func TestTopologyScript(t *testing.T) {
	dir := t.TempDir()
	script := filepath.Join(dir, "racks")
	// It notes how many run beside it, and fails for hosts whose name ends with 7.
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
			if got := r.rackOf(t.Context(), host); got != want {
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
