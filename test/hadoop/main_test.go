// Package hadoop_test runs real MapReduce and Spark jobs, and Hadoop's command line, on a ResourceManager and checks
// their results. The tests are about YARN, not about Heddle: with -rm stock they pass on Hadoop's own ResourceManager,
// which shows that they ask for the right things.
//
// They take minutes and need a machine to themselves, so go test runs them only on request:
//
//	go test ./test/hadoop -hadoop normal|full [-rm stock] [-run 'TestJobs/fair/wordcount']
package hadoop_test

import (
	"context"
	"flag"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"heddle/internal/testkit/hadoop"
)

var (
	extent     = flag.String("hadoop", "", "normal: each job under one profile; full: each under all; nothing: no test runs")
	manager    = flag.String("rm", hadoop.Heddle, "the ResourceManager: heddle or stock")
	binaryFlag = flag.String("binary", "", "the heddle program; it is built where none is named")
)

// testbed is shared by the tests: starting one takes 20 s, another ResourceManager on it 2 s.
var testbed *hadoop.Testbed

// program is the heddle program that is tested.
var program string

// lockWait is how long tests wait for another testbed on this machine.
const lockWait = 20 * time.Minute

func TestMain(m *testing.M) {
	if os.Getenv(strangerMode) != "" {
		if err := beStranger(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	if os.Getenv(parkingMode) != "" {
		if err := beParkingRM(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	flag.Parse()
	code, err := run(m)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

func run(m *testing.M) (code int, err error) {
	switch *extent {
	case "":
		return m.Run(), nil
	case "normal", "full":
	default:
		return 0, fmt.Errorf("-hadoop %s: not normal or full", *extent)
	}
	if missing := hadoop.Missing(); missing != "" {
		return 0, fmt.Errorf("the tests on real Hadoop cannot run: %s", missing)
	}
	dir, err := testDir()
	if err != nil {
		return 0, err
	}
	testbed, err = hadoop.Start(context.Background(), hadoop.Options{
		Dir: dir, RM: *manager, Binary: *binaryFlag, LockWait: lockWait, Log: slog.New(slog.NewTextHandler(os.Stderr, nil)),
	})
	if err != nil {
		return 0, err
	}
	program = testbed.Options().Binary
	interrupted := make(chan os.Signal, 1)
	signal.Notify(interrupted, os.Interrupt, syscall.SIGTERM)
	go func() {
		s := <-interrupted
		fmt.Fprintln(os.Stderr, "stopping the testbed:", s)
		_ = testbed.Stop() // what is left ends with this program
		os.Exit(1)
	}()
	code = m.Run()
	return code, testbed.Stop()
}

func testDir() (string, error) {
	cache, err := hadoop.OpenCache()
	return filepath.Join(cache.Dir, "test"), err
}

// onTestbed skips a test unless the testbed is up, and returns a context for the test with a time limit.
func onTestbed(t *testing.T, within time.Duration) context.Context {
	t.Helper()
	if testbed == nil {
		t.Skip("this runs real Hadoop: make test-hadoop, or go test -hadoop normal")
	}
	ctx, cancel := context.WithTimeoutCause(t.Context(), within, fmt.Errorf("the test had %v", within))
	t.Cleanup(cancel)
	return ctx
}

// profiles returns the profiles that the tests run under.
func profiles() []string {
	if *manager == hadoop.Stock {
		return []string{"capacity", "fair"}
	}
	return []string{"capacity", "fair", "heddle"}
}

// use replaces the testbed's ResourceManager with one that has no state, with its own profile and properties.
func use(t *testing.T, ctx context.Context, profile string, recovery bool, site map[string]string) {
	t.Helper()
	o := hadoop.Options{RM: *manager, Profile: profile, Binary: program, Recovery: recovery, Site: site}
	if _, err := testbed.UseRM(ctx, o); err != nil {
		t.Fatalf("%s %s: %v", *manager, profile, err)
	}
}

// finish waits for a client to succeed.
func finish(t *testing.T, r *hadoop.Run, err error) hadoop.Result {
	t.Helper()
	res, err := hadoop.Finish(r, err)
	if err != nil {
		t.Fatal(err)
	}
	return res
}

// kill ends an application early.
func kill(t *testing.T, ctx context.Context, r *hadoop.Run) {
	t.Helper()
	if err := testbed.Kill(ctx, must(r.App(ctx))(t)); err != nil {
		t.Fatal(err)
	}
	_, _ = hadoop.Finish(r, nil) // its client reports that it was killed
}

// must is for calls that can fail only if the testbed is broken: must(f())(t) is f's value.
func must[T any](v T, err error) func(*testing.T) T {
	return func(t *testing.T) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

// eventually fails unless yes returns true within a time.
func eventually(t *testing.T, ctx context.Context, within time.Duration, what string, yes func() bool) {
	t.Helper()
	for deadline := time.Now().Add(within); !yes(); {
		if time.Now().After(deadline) || ctx.Err() != nil {
			t.Fatalf("%s: not within %v", what, within)
		}
		time.Sleep(100 * time.Millisecond)
	}
}

// succeeded fails unless the ResourceManager says that the application succeeded, in that many attempts, and that
// nothing of it is left.
func succeeded(t *testing.T, ctx context.Context, app string, attempts int) {
	t.Helper()
	var a hadoop.App
	ended := func() bool { // the client may know it a moment earlier
		var err error
		a, err = testbed.App(ctx, app)
		return err == nil && (a.State == "FINISHED" || a.State == "FAILED" || a.State == "KILLED")
	}
	eventually(t, ctx, 20*time.Second, app+" over", ended)
	if a.State != "FINISHED" || a.FinalStatus != "SUCCEEDED" {
		t.Errorf("%s: %s, final status %s, diagnostics %q", app, a.State, a.FinalStatus, a.Diagnostics)
	}
	eventually(t, ctx, time.Minute, "no container of "+app, func() bool { return testbed.ContainerProcesses(app) == 0 })
	had, err := testbed.Attempts(ctx, app)
	if err != nil || len(had) != attempts {
		t.Errorf("%s had %d attempts, want %d (%v): %v", app, len(had), attempts, err, had)
	}
	if slices.ContainsFunc(had, func(at hadoop.Attempt) bool { return at.Container == "" }) {
		t.Errorf("%s: an attempt without its container: %v", app, had)
	}
}

// lines returns the lines of a text without their ends.
func lines(text string) []string { return strings.Split(strings.TrimSpace(text), "\n") }
