//go:build linux

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/opencontainers/cgroups"

	"heddle/node/api"
	"heddle/node/groups"
	"heddle/node/procs"
)

// An agent that is killed leaves nothing behind: its warden resets every container to its defaults within a second.
func TestNodeAgentKilled(t *testing.T) {
	testNodeAgentGone(t, syscall.SIGKILL, time.Minute, time.Second)
}

// If an agent hangs, its warden resumes a container a second after its freeze was to end.
func TestNodeAgentHangs(t *testing.T) {
	testNodeAgentGone(t, syscall.SIGSTOP, 4*time.Second, 6*time.Second)
}

// testNodeAgentGone lets an agent freeze a container for a time, sends it a signal, and expects the container to run
// within another time.
func testNodeAgentGone(t *testing.T, signal syscall.Signal, freeze, within time.Duration) {
	const id = "container_1700000000000_0001_01_000002"
	dir := t.TempDir()
	folder := filepath.Join(dir, "nm", "nmPrivate", "application_1700000000000_0001", id)
	if err := os.MkdirAll(folder, 0o755); err != nil {
		t.Fatal(err)
	}
	sleeper := exec.Command("sh", "-c", "while :; do sleep 0.01; done # attempt_1700000000000_0001_r_000000_0")
	sleeper.Env = append(os.Environ(), "CONTAINER_ID="+id)
	sleeper.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := sleeper.Start(); err != nil {
		t.Fatal(err)
	}
	pid := sleeper.Process.Pid
	session := func(leader int) []int {
		pids, err := procs.Session(leader)
		if err != nil {
			t.Error(err)
		}
		return pids
	}
	if err := os.WriteFile(filepath.Join(folder, id+".pid"), []byte(fmt.Sprint(pid)), 0o600); err != nil {
		t.Fatal(err)
	}
	syncs := make(chan api.Sync, 100)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var s api.Sync
		if err := json.NewDecoder(r.Body).Decode(&s); err != nil || s.Check() != nil {
			t.Errorf("%+v: %v", s, err)
		}
		syncs <- s
		if s.Applied > 0 {
			select {
			case <-time.After(time.Second):
			case <-r.Context().Done():
			}
		}
		_ = json.NewEncoder(w).Encode(api.Wish{Version: 1, Every: 1000, Lease: 30_000, Want: []api.Want{{ID: id, Park: true, Freeze: freeze.Milliseconds()}}})
	}))
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	parent := fmt.Sprintf("heddle-test-%d", os.Getpid())
	args := []string{"--node", "127.0.0.1:8041", "--parent", parent, "--run", filepath.Join(dir, "run")}
	node := func(more ...string) *exec.Cmd {
		cmd := exec.Command(exe, slices.Concat([]string{"node"}, more, args)...)
		cmd.Args[0] = "heddle" // so that this binary acts as heddle and does not run its tests
		return cmd
	}
	p := &process{Cmd: node("agent", "--rm", server.URL, "--local-dirs", filepath.Join(dir, "nm")), t: t}
	p.Stderr, p.WaitDelay = p, 10*time.Second
	if err := p.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = p.Process.Kill()
		_ = p.Wait() // it was killed; its warden, which writes to the same stderr and to the run folder, ends after it
		server.CloseClientConnections()
		server.Close()
		for _, of := range session(pid) {
			_ = syscall.Kill(of, syscall.SIGKILL)
			_ = syscall.Kill(of, syscall.SIGCONT)
		}
		_ = sleeper.Wait() // it was killed
		ungroup(parent)
	})
	runs := func() bool { // it computes, so its processor time grows
		before := procs.Measure(session(pid)).CPU
		for range 50 {
			time.Sleep(10 * time.Millisecond)
			if procs.Measure(session(pid)).CPU > before {
				return true
			}
		}
		return false
	}
	for deadline := time.After(20 * time.Second); ; {
		select {
		case s := <-syncs:
			if s.Applied == 0 || len(s.Containers) == 0 || !s.Containers[0].Frozen {
				continue
			}
			if c := s.Containers[0]; !c.Parked || c.Task != "attempt_1700000000000_0001_r_000000_0" || len(s.Failed) > 0 {
				t.Errorf("%+v", s)
			}
		case <-deadline:
			t.Fatalf("it is not frozen:\n%s", p.log())
		}
		break
	}
	if runs() {
		t.Errorf("it is frozen and runs:\n%s", p.log())
	}
	if signal == syscall.SIGKILL {
		if out, err := node("agent", "--rm", server.URL, "--local-dirs", dir).CombinedOutput(); err == nil {
			t.Errorf("two agents of one node run:\n%s", out)
		}
	}
	began := time.Now()
	if err := p.Process.Signal(signal); err != nil {
		t.Fatal(err)
	}
	for stuck := true; stuck; {
		if time.Since(began) > within {
			t.Fatalf("it does not run %v after the agent was sent %v", within, signal)
		}
		stuck = frozen(t, parent, id, pid)
	}
	t.Logf("thawed %v after the signal", time.Since(began).Round(time.Millisecond))
	if !runs() {
		t.Error("it does not run again")
	}
	if out, err := node("thaw").CombinedOutput(); err != nil || len(out) > 0 {
		t.Errorf("thaw: %v\n%s", err, out)
	}
}

// ungroup removes the groups of a test.
func ungroup(parent string) {
	for _, dir := range []string{"/sys/fs/cgroup/cpu", "/sys/fs/cgroup/freezer", "/sys/fs/cgroup"} {
		_ = cgroups.RemovePath(filepath.Join(dir, parent)) // which of them exist depends on the machine
	}
}

// An agent that cannot start a warden ends, and gives every container its defaults before: the warden of an agent that
// was killed leaves that to the next.
func TestNodeAgentWithoutWarden(t *testing.T) {
	const id, node = "container_1700000000000_0001_01_000002", "127.0.0.1:8041"
	dir, parent := t.TempDir(), fmt.Sprintf("heddle-test-%d-warden", os.Getpid())
	run := filepath.Join(dir, "run")
	sleeper := exec.Command("sleep", "600")
	sleeper.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := sleeper.Start(); err != nil {
		t.Fatal(err)
	}
	g, err := groups.Open(groups.Options{Node: node, Parent: parent, Run: run})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = g.RestoreAll() // otherwise it could not end
		_ = sleeper.Process.Kill()
		_ = sleeper.Wait() // it was killed
		ungroup(parent)
	})
	began, _ := procs.Started(sleeper.Process.Pid)
	c := procs.Container{ID: id, PID: sleeper.Process.Pid, Start: began}
	if err := errors.Join(g.Prepare(), g.Adopt(c), g.Apply(id, groups.Set{Freeze: true})); err != nil || !frozen(t, parent, id, c.PID) {
		t.Fatalf("it is not frozen: %v", err)
	}
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(dir, "heddle") // removed while it runs, so that it finds no program for a warden
	if err := os.Link(exe, link); err != nil {
		t.Fatal(err)
	}
	file, err := os.Open(link)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = file.Close() }() // it was only read
	if err := os.Remove(link); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, "/proc/self/fd/3", "node", "agent", "--rm", "http://127.0.0.1:8039", "--local-dirs", dir, "--node", node, "--parent", parent, "--run", run)
	cmd.Args[0], cmd.ExtraFiles = "heddle", []*os.File{file}
	if out, err := cmd.CombinedOutput(); err == nil || !strings.Contains(string(out), link) {
		t.Errorf("%v\n%s", err, out)
	}
	if frozen(t, parent, id, c.PID) {
		t.Error("it is still frozen")
	}
}

// Reports leave the machine only encrypted.
func TestNodeAgentEncrypts(t *testing.T) {
	run := filepath.Join(t.TempDir(), "file") // in place of a folder, so that no agent runs whatever happens
	if err := os.WriteFile(run, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, more := range [][]string{{"--rm", "http://rm:8039"}, {"--rm", "http://127.0.0.1:8039", "--credentials", t.TempDir()}} {
		var said bytes.Buffer
		root := newRoot(&app{out: io.Discard, err: &said, log: slog.New(slog.DiscardHandler)})
		root.SetArgs(append([]string{"node", "agent", "--node", "nosuch:1", "--run", run, "--local-dirs", t.TempDir()}, more...))
		err := root.Execute()
		if _, ok := errors.AsType[usageError](err); !ok || !strings.Contains(err.Error(), "want a ResourceManager on this machine") && !strings.Contains(err.Error(), "want one such as https://rm:8039") {
			t.Errorf("%v: %v", more, err)
		}
	}
}

// A user who mistypes the node is told that nothing was done.
func TestThawOfAnotherNode(t *testing.T) {
	var said bytes.Buffer
	run := t.TempDir()
	thaw := func() {
		t.Helper()
		said.Reset()
		root := newRoot(&app{out: io.Discard, err: &said, log: slog.New(slog.DiscardHandler)})
		root.SetArgs([]string{"node", "thaw", "--node", "nosuch:1", "--run", run, "--parent", "heddle-nosuch"})
		if err := root.Execute(); err != nil {
			t.Error(err)
		}
	}
	if thaw(); !strings.Contains(said.String(), "no agent of nosuch:1 has run here") {
		t.Errorf("%q", said.String())
	}
	if err := os.Mkdir(filepath.Join(run, "nosuch_1"), 0o700); err != nil {
		t.Fatal(err)
	}
	if thaw(); said.Len() > 0 {
		t.Errorf("%q, though one has", said.String())
	}
}

// frozen reports whether a container does not run, by whatever means.
func frozen(t *testing.T, parent, id string, pid int) bool {
	t.Helper()
	for _, file := range []string{
		filepath.Join("/sys/fs/cgroup/freezer", parent, id, "freezer.state"), filepath.Join("/sys/fs/cgroup", parent, id, "cgroup.freeze"),
	} {
		if text, err := os.ReadFile(file); err == nil {
			return strings.TrimSpace(string(text)) != "THAWED" && strings.TrimSpace(string(text)) != "0"
		}
	}
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		t.Fatal(err)
	}
	return strings.Contains(string(text), ") T ")
}
