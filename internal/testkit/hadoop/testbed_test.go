package hadoop

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// emptyTestbed returns a testbed in which nothing runs; tests start small programs in it instead of Java's.
func emptyTestbed(t *testing.T) *Testbed {
	t.Helper()
	o := Options{Dir: t.TempDir()}
	if err := o.complete(Cache{Dir: t.TempDir()}); err != nil {
		t.Fatal(err)
	}
	b := &Testbed{Dir: o.Dir, opt: o, user: "somebody", starter: newStarter()}
	if err := b.clear(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := b.Stop(); err != nil {
			t.Error(err)
		}
	})
	return b
}

func (b *Testbed) startShell(t *testing.T, name, script string) pid {
	t.Helper()
	if err := b.start(command{name: name, args: []string{"/bin/sh", "-c", script}, onDeath: syscall.SIGKILL}); err != nil {
		t.Fatal(err)
	}
	p, err := b.pid(name)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestOptions(t *testing.T) {
	for _, o := range []Options{{RM: "yarn"}, {RM: Stock, Profile: "heddle"}, {Nodes: maxNodes + 1}} {
		o.Dir = t.TempDir()
		if err := o.complete(Cache{}); err == nil {
			t.Errorf("%+v is accepted", o)
		}
	}
}

func TestStopAsksThenKills(t *testing.T) {
	b := emptyTestbed(t)
	b.startShell(t, "obeys", "trap 'echo bye; exit' TERM; echo up; while :; do sleep 0.01; done")
	deaf := b.startShell(t, "deaf", "trap '' TERM; echo up; while :; do sleep 0.01; done")
	for name, grace := range map[string]time.Duration{"obeys": 5 * time.Second, "deaf": 200 * time.Millisecond} {
		up := func(context.Context) bool {
			text, err := os.ReadFile(b.LogFile(name))
			return err == nil && string(text) == "up\n"
		}
		if err := b.await(t.Context(), 5*time.Second, name, up, name); err != nil {
			t.Fatal(err)
		}
		if err := b.stop(name, syscall.SIGTERM, grace); err != nil {
			t.Error(err)
		}
	}
	if text, err := os.ReadFile(b.LogFile("obeys")); err != nil || !strings.HasSuffix(string(text), "bye\n") {
		t.Errorf("it was not let end by itself: %q, %v", text, err)
	}
	if deaf.alive() || len(b.daemons()) != 0 {
		t.Errorf("still there: %v", b.daemons())
	}
}

func TestStopReapsContainers(t *testing.T) {
	b := emptyTestbed(t)
	dir := filepath.Join(b.nodeDir(2), "local", "usercache", "somebody", "appcache", "application_1_0001", "container_1_0001_01_000002")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	daemon := b.startShell(t, "nodemanager2", "exec sleep 60")
	container := exec.Command("sleep", "60") // in its own process group, as with NodeManagers
	container.Dir, container.SysProcAttr = dir, &syscall.SysProcAttr{Setsid: true}
	if err := container.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() {
		_ = container.Wait() // it is killed
		close(ended)
	}()
	if n := b.ContainerProcesses("application_1_0001"); n != 1 {
		t.Errorf("%d processes of the container, want 1", n)
	}
	if n := b.SignalContainer("application_1_0001", "container_1_0001_01_000003", syscall.SIGKILL); n != 0 {
		t.Errorf("%d processes of another container", n)
	}
	if err := b.Stop(); err != nil {
		t.Error(err)
	}
	<-ended
	if daemon.alive() || b.ContainerProcesses("application_1_0001") != 0 {
		t.Error("something of the testbed is still running")
	}
}

// TestNothingOutlives runs itself in a second program, which dies without stopping its testbed.
func TestNothingOutlives(t *testing.T) {
	const dies = "HEDDLE_TEST_DIES"
	if os.Getenv(dies) != "" {
		p := emptyTestbed(t).startShell(t, "namenode", "exec sleep 60")
		fmt.Println("started", p.N, p.Start)
		os.Exit(0) // no cleanup runs
	}
	program := exec.Command(os.Args[0], "-test.run", "^TestNothingOutlives$")
	program.Env = append(os.Environ(), dies+"=1", "TMPDIR="+t.TempDir())
	out, err := program.Output()
	if err != nil {
		t.Fatal(err)
	}
	var p pid
	if _, err := fmt.Sscanf(string(out), "started %d %s", &p.N, &p.Start); err != nil {
		t.Fatalf("it printed %q: %v", out, err)
	}
	if !p.gone(5 * time.Second) {
		t.Error("a daemon outlives the program that started it")
		p.signalGroup(syscall.SIGKILL)
	}
}

func TestAwaitSaysWhatDied(t *testing.T) {
	b := emptyTestbed(t)
	b.startShell(t, "namenode", "sleep 0.1; echo no disk; exit 3")
	err := b.await(t.Context(), 5*time.Second, "HDFS", func(context.Context) bool { return false }, "namenode")
	if err == nil || !strings.Contains(err.Error(), "HDFS: namenode ended") || !strings.Contains(err.Error(), "no disk") {
		t.Errorf("the error is %v", err)
	}
	b.startShell(t, "datanode1", "exec sleep 60")
	err = b.await(t.Context(), 100*time.Millisecond, "HDFS", func(context.Context) bool { return false }, "datanode1")
	if err == nil || !strings.Contains(err.Error(), "HDFS: not within 100ms") {
		t.Errorf("the error is %v", err)
	}
}

func TestLockIsOnePerMachine(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	log := slog.New(slog.DiscardHandler)
	first, err := takeLock(t.Context(), "/one", 0, log)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := takeLock(t.Context(), "/two", 0, log); err == nil || !strings.Contains(err.Error(), "folder /one") {
		t.Errorf("the second testbed is told %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := takeLock(ctx, "/two", time.Hour, log); !errors.Is(err, context.Canceled) {
		t.Errorf("waiting ends with %v", err)
	}
	// A daemon inherits the lock: it is free only when the daemon has also ended.
	b := emptyTestbed(t)
	b.lock = first
	p := b.startShell(t, "namenode", "exec sleep 60")
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	b.lock = nil
	if _, err := takeLock(t.Context(), "/two", 0, log); err == nil {
		t.Error("the lock is free while a daemon runs")
	}
	p.signalGroup(syscall.SIGKILL)
	second, err := takeLock(t.Context(), "/two", 5*time.Second, log)
	if err != nil {
		t.Fatal(err)
	}
	if err := second.Close(); err != nil {
		t.Error(err)
	}
}

func TestClient(t *testing.T) {
	b := emptyTestbed(t)
	script := "echo Submitted application application_7_0003 >&2; echo done; exit $0"
	res, err := Finish(b.launch(t.Context(), "good", nil, []string{"/bin/sh", "-c", script, "0"}))
	if err != nil || res.App != "application_7_0003" || res.Out != "done\n" {
		t.Errorf("%+v, %v", res, err)
	}
	_, err = Finish(b.launch(t.Context(), "bad", nil, []string{"/bin/sh", "-c", script, "4"}))
	if err == nil || !strings.Contains(err.Error(), "exit status 4") || !strings.Contains(err.Error(), "Submitted") {
		t.Errorf("the error of a client that failed is %v", err)
	}
	hung, err := b.launch(t.Context(), "hung", nil, []string{"/bin/sh", "-c", "echo job_7_0003; echo Submitted application application_7_0004; sleep 60"})
	if err != nil {
		t.Fatal(err)
	}
	if app, err := hung.App(t.Context()); app != "application_7_0004" {
		t.Errorf("submitted %q, %v", app, err)
	}
	hung.Kill()
	if _, err := hung.Wait(); !errors.Is(err, context.Canceled) {
		t.Errorf("the error of a client that was ended is %v", err)
	}
}

func TestSparkEvents(t *testing.T) {
	b := emptyTestbed(t)
	if err := os.MkdirAll(b.dir("events"), 0o755); err != nil {
		t.Fatal(err)
	}
	const log = `{"Event":"SparkListenerExecutorAdded"}
{"Event":"SparkListenerExecutorAdded"}
{"Event":"SparkListenerTaskStart","Stage ID":1,"Task Info":{"Index":5}}
{"Event":"SparkListenerTaskEnd","Stage ID":1,"Task Info":{"Index":5},"Task End Reason":{"Reason":"ExecutorLostFailure"}}
{"Event":"SparkListenerExecutorRemoved","Removed Reason":"lost"}
{"Event":"SparkListenerExecutorAdded"}
{"Event":"SparkListenerTaskStart","Stage ID":1,"Task Info":{"Index":5}}
{"Event":"SparkListenerTaskEnd","Stage ID":1,"Task Info":{"Index":5},"Task End Reason":{"Reason":"Success"}}
{"Event":"SparkListenerTaskStart","Stage ID":1,"Task Info":{"Index":5}}
`
	if err := os.WriteFile(filepath.Join(b.dir("events"), "application_1_0002"), []byte(log), 0o644); err != nil {
		t.Fatal(err)
	}
	e, err := b.SparkEvents("application_1_0002")
	if err != nil || e.Added != 3 || e.Peak != 2 || e.Removed["lost"] != 1 || e.Runs[SparkTask{1, 5}] != 1 || e.Again != 1 {
		t.Errorf("%+v, %v", e, err)
	}
	if _, err := b.SparkEvents("application_1_0003"); err == nil {
		t.Error("an application without a log has events")
	}
}
