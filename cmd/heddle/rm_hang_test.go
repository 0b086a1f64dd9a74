package main

import (
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"heddle"
	"heddle/daemon/setup"
)

// hangs is the name of a heddle rm whose loop hangs once an application is submitted.
const hangs = "heddle-hangs"

// hang is the program that hangs names.
func hang() {
	a := &app{out: os.Stdout, err: os.Stderr, log: slog.New(slog.DiscardHandler)}
	f := &rmFlags{Options: setup.Options{Data: os.Args[1], ConfDir: os.Args[2]}}
	must(f.listen.Set(freePorts))
	f.Listen = f.listen.Listen
	d, err := setup.Load(f.Options)
	must(err)
	d.Scheduler.UserName = func(heddle.UserID, string) { stuck() }
	os.Exit(exitOf(nil, a.manageAs(f, d)))
}

func stuck() { select {} }

// watched returns a folder with a configuration that has the shortest possible watchdog, and the longest time that the
// watchdog and the end of the process may take.
func watched(t *testing.T) (dir string, most time.Duration) {
	if testing.Short() {
		t.Skip("a watchdog takes its time")
	}
	t.Parallel()
	const watchdog = 10 * time.Second
	dir = t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "heddle.yaml"), fmt.Appendf(nil, "watchdog: %v\n", watchdog), 0o644); err != nil {
		t.Fatal(err)
	}
	return dir, watchdog + stopTime + 15*time.Second // the machine may be busy
}

// A configuration that cannot be read to its end, as on a file system that hangs, does not keep a ResourceManager from
// stopping.
func TestStopsWhileReading(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "heddle.yaml")
	if err := os.WriteFile(file, []byte("profile: capacity\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	p := start(t, "rm", "--conf", dir, "--data", filepath.Join(dir, "state"), "--listen", freePorts)
	p.until("pages and REST")
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	if err := unix.Mkfifo(file, 0o600); err != nil { // a reader waits for a writer
		t.Fatal(err)
	}
	for range 3 {
		if err := p.Process.Signal(syscall.SIGHUP); err != nil {
			t.Fatal(err)
		}
		time.Sleep(100 * time.Millisecond) // until it is reading
	}
	if code := p.end(syscall.SIGTERM); code != exitDone {
		t.Errorf("it ended with %d:\n%s", code, p.log())
	}
}

// A start that hangs, as on a disk that does, ends when it is told to.
func TestStopsWhileStarting(t *testing.T) {
	data := t.TempDir()
	err := os.Chmod(data, 0o700)
	if err == nil {
		err = unix.Mkfifo(filepath.Join(data, "agents.pem"), 0o600) // a reader waits for a writer
	}
	if err != nil {
		t.Fatal(err)
	}
	p := start(t, "rm", "--data", data, "--listen", freePorts, "--listen", "agents=0.0.0.0:0")
	for end := time.Now().Add(10 * time.Second); ; time.Sleep(100 * time.Millisecond) {
		if _, err := os.Stat(filepath.Join(data, "rm.db.sock")); err == nil {
			break
		}
		if time.Now().After(end) {
			t.Fatalf("the store is not opened:\n%s", p.log())
		}
	}
	if p.end(syscall.SIGTERM); strings.Contains(p.log(), "listening") {
		t.Errorf("it had started:\n%s", p.log())
	}
}

// If the loop hangs, the process ends with exit code 1, and the log says where it hangs and why the process ends.
func TestWatchdog(t *testing.T) {
	dir, most := watched(t)
	p := &process{t: t}
	p.launch(p, hangs, filepath.Join(dir, "state"), dir)
	said := p.until(`pages and REST`)
	go func() { _, _ = trySubmit(t.Context(), clientOf(said), "ada", "by hand") }()
	if code := p.ends(most); code != exitFailed {
		t.Errorf("it ended with %d", code)
	}
	log := p.log()
	for _, want := range []string{
		`level=ERROR msg="the loop is stuck" after=5s stack="goroutine `, `heddle/cmd/heddle.stuck`,
		"heddle: the ResourceManager ended: the loop has been busy with one call for 10s, longer than the watchdog's 10s\n",
	} {
		if strings.Count(log, want) != 1 {
			t.Errorf("it does not say once %q:\n%s", want, log)
		}
	}
}

// unheard starts a ResourceManager whose log nobody reads, so that it blocks at its next log line.
func unheard(t *testing.T, dir string) (p *process, client string) {
	t.Helper()
	unread, log, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _, _ = unread.Close(), log.Close() })
	p = &process{t: t}
	p.launch(log, "heddle", "rm", "--data", filepath.Join(dir, "state"), "--conf", dir, "--listen", freePorts)
	said := p.until(`pages and REST`)
	client = clientOf(said)
	web := webOf(said)
	impatient := &http.Client{Timeout: time.Second}
	silent := 0 // unanswered requests in a row: one can happen on a busy machine
	for range 10_000 {
		q, err := http.NewRequestWithContext(t.Context(), http.MethodPut, web+"/ws/v1/cluster/apps/application_1_0001/state?user.name="+strings.Repeat("a", 1000), strings.NewReader(`{"state":"KILLED"}`))
		if err != nil {
			t.Fatal(err)
		}
		q.Header.Set("Content-Type", "application/json")
		r, err := impatient.Do(q)
		if err != nil { // perhaps its log line cannot be written
			if silent++; silent >= 3 && stuffed(log) {
				return p, client
			}
			continue
		}
		silent = 0
		_, _ = io.Copy(io.Discard, r.Body)
		_ = r.Body.Close()
	}
	t.Fatal("nobody reads the log, and all is answered")
	return nil, ""
}

// stuffed reports whether a pipe has no room for a page.
func stuffed(pipe *os.File) bool {
	n, err := unix.Poll([]unix.PollFd{{Fd: int32(pipe.Fd()), Events: unix.POLLOUT}}, 0)
	return n == 0 && err == nil
}

// webOf returns the address of the pages, given the output up to that line.
func webOf(said string) string { return said[strings.LastIndex(said, "http://") : len(said)-1] }

func clientOf(said string) string {
	return regexp.MustCompile(`clients +(\S+)`).FindStringSubmatch(said)[1]
}

// If nobody reads the log any more, the loop hangs as it writes to it, and the process still ends.
func TestWatchdogWithoutLog(t *testing.T) {
	dir, most := watched(t)
	p, client := unheard(t, dir)
	go func() { _, _ = trySubmit(t.Context(), client, "ada", "by hand") }()
	if code := p.ends(most); code != exitFailed {
		t.Errorf("it ended with %d", code)
	}
}

// It also ends when it is told to.
func TestStopWithoutLog(t *testing.T) {
	dir, most := watched(t)
	p, _ := unheard(t, dir)
	if err := p.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if code := p.ends(most); code != exitFailed {
		t.Errorf("it ended with %d", code)
	}
}
