package main

import (
	"bufio"
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// A run that is interrupted ends soon, prints what there is, says that this is not all, writes the files
// it was to write, and fails.
func TestInterrupted(t *testing.T) {
	for _, sig := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM} {
		t.Run(sig.String(), func(t *testing.T) { interrupt(t, sig) })
	}
}

func interrupt(t *testing.T, sig syscall.Signal) {
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	trace := filepath.Join(dir, "long.json")
	// 300,000 tasks on two nodes, so that no run is done before the signal comes.
	var jobs strings.Builder
	for range 30 {
		jobs.WriteString(`{"job.start.ms": 0, "job.count": 1000, "job.tasks": [{"count": 10, "container.duration.ms": 3000, "container.type": "map"}]}` + "\n")
	}
	if err = os.WriteFile(trace, []byte(jobs.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(exe, "sim", "compare", "--profiles", "fifo,fair", "-v", "--world", "given", "--nodes", "2",
		"--jobs", filepath.Join(dir, "jobs.csv"), trace)
	cmd.Args[0] = "heddle"
	var out bytes.Buffer
	cmd.Stdout = &out
	stderr, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var said strings.Builder
	signalled := false
	for lines := bufio.NewScanner(stderr); lines.Scan(); {
		said.WriteString(lines.Text() + "\n")
		if strings.Contains(lines.Text(), `msg="under way"`) && !signalled {
			signalled = true
			if err := cmd.Process.Signal(sig); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := cmd.Wait(); cmd.ProcessState.ExitCode() != exitFailed {
		t.Errorf("%v, want exit code %d", err, exitFailed)
	}
	if !strings.Contains(out.String(), "stopped early, after 0 of 10 runs") || !strings.Contains(out.String(), "unfinished") {
		t.Errorf("the result does not say that it is not whole:\n%s", out.String())
	}
	if !strings.Contains(said.String(), "heddle: "+trace+": stopped early") {
		t.Errorf("stderr does not say that the run was stopped:\n%s", said.String())
	}
	if rows, _ := os.ReadFile(filepath.Join(dir, "jobs.csv")); bytes.Count(rows, []byte("\n")) < 30_000 {
		t.Errorf("the file of jobs has %d lines", bytes.Count(rows, []byte("\n")))
	}
}
