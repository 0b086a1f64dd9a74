package main

import (
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
)

// The binary that make builds is small: it has no tables for debuggers. It still knows its version and where its
// goroutines are.
func TestBuild(t *testing.T) {
	if testing.Short() {
		t.Skip("builds a heddle")
	}
	makefile, err := os.ReadFile("../../Makefile")
	if err != nil {
		t.Fatal(err)
	}
	recipe := regexp.MustCompile(`\n\tCGO_ENABLED=0 \$\(GO\) (build .*) -o bin/heddle \./cmd/heddle\n`).FindSubmatch(makefile)
	if recipe == nil {
		t.Fatal("the Makefile builds no bin/heddle")
	}
	dir := t.TempDir()
	exe := filepath.Join(dir, "heddle")
	build := exec.Command("sh", "-c", "CGO_ENABLED=0 go "+string(recipe[1])+" -o "+exe+" .")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	const most = 30 << 20
	if info, err := os.Stat(exe); err != nil || info.Size() > most {
		t.Errorf("it has %d bytes, want at most %d: is -ldflags='-s -w' there? (%v)", info.Size(), most, err)
	}
	if out, err := exec.Command(exe, "version").Output(); err != nil || !strings.HasPrefix(string(out), "heddle ") || !strings.Contains(string(out), " go1.") {
		t.Errorf("version: %q, %v", out, err)
	}

	p := &process{Cmd: exec.Command(exe, "rm", "--data", filepath.Join(dir, "state"), "--listen", freePorts), t: t}
	p.Stderr, p.Env = p, append(os.Environ(), "HADOOP_CONF_DIR=", "GOTRACEBACK=all")
	if err := p.Start(); err != nil {
		t.Fatal(err)
	}
	p.logs("listening")
	web := regexp.MustCompile(` web=(\S+)`).FindStringSubmatch(p.log())
	if web == nil {
		t.Fatalf("it does not say where its pages are:\n%s", p.log())
	}
	answer, err := http.Post("http://"+web[1]+"/ws/v1/cluster/apps/new-application?user.name=me", "", nil) // the loop answers it and is then running
	if err != nil {
		t.Fatal(err)
	}
	if answer.StatusCode != http.StatusOK {
		t.Fatalf("a new application is answered with %s", answer.Status)
	}
	if err := answer.Body.Close(); err != nil {
		t.Fatal(err)
	}
	if err := p.Process.Signal(syscall.SIGQUIT); err != nil {
		t.Fatal(err)
	}
	_ = p.Wait() // it was killed
	if trace := p.log(); !regexp.MustCompile(`heddle/daemon\.\(\*RM\)\.Run\(.*\n\t\S*daemon/rm\.go:\d+`).MatchString(trace) {
		t.Errorf("the trace does not say where the loop is:\n%s", trace)
	}
}
