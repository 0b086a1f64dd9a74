package main

import (
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"
)

// heddle is the path of the program, built without changes.
var heddle string

func TestMain(m *testing.M) {
	if path := os.Getenv(asCommitter); path != "" {
		if err := asked(path); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	code := 1
	if err := inFolderOf(func(dir string) error {
		heddle = filepath.Join(dir, "heddle")
		build := exec.Command("go", "build", "-o", heddle, "heddle/cmd/heddle")
		build.Stderr = os.Stderr
		if err := build.Run(); err != nil {
			return err
		}
		code = m.Run()
		return nil
	}); err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
	os.Exit(code)
}

func inFolderOf(do func(dir string) error) error {
	dir, err := os.MkdirTemp("", "heddle-soak-test-")
	if err != nil {
		return err
	}
	return errors.Join(do(dir), os.RemoveAll(dir))
}

// A few kills; make soak does many of them.
func TestKills(t *testing.T) {
	t.Parallel()
	k := kills{binary: heddle, dir: t.TempDir(), count: 8, nodes: 10, seed: 1, out: t.Output()}
	res, err := k.run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	res.table(t.Output())
	if wrong := slices.Concat(res.wrong, res.complains); len(wrong) > 0 {
		t.Errorf("%d things are wrong:\n%s", len(wrong), strings.Join(wrong, "\n"))
	}
	if res.kills != k.count || res.early == 0 || res.lost == 0 || res.stats.Tasks == 0 || len(res.backs) == 0 {
		t.Errorf("nothing much was under way: %+v", res)
	}
}

// A faulty program is detected: one that forgets everything at each start.
func TestForgetful(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	script := filepath.Join(dir, "forgetful")
	text := fmt.Sprintf("#!/bin/sh\nrm -rf %s/state\nexec %s \"$@\"\n", dir, heddle)
	if err := os.WriteFile(script, []byte(text), 0o700); err != nil {
		t.Fatal(err)
	}
	k := kills{binary: script, dir: dir, count: 3, nodes: 5, seed: 1, calm: 5 * time.Second, out: t.Output()}
	res, err := k.run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"explains this one", "the master of"} {
		if !strings.Contains(strings.Join(res.wrong, "\n"), want) {
			t.Errorf("%q is not among what is wrong: %.2000q", want, res.wrong)
		}
	}
}

// Values that grow are told apart from values that do not.
func TestLine(t *testing.T) {
	var xs, flat, grows []float64
	for i := range 100 {
		x := float64(i)
		xs, flat, grows = append(xs, x), append(flat, 50+math.Sin(x)), append(grows, 50+math.Sin(x)+x/10)
	}
	if l := line(xs, flat); math.Abs(l.mean-50) > 0.1 || math.Abs(l.growth) > 2*l.sure || !l.flat() {
		t.Errorf("what is flat: %+v", l)
	}
	l := line(xs, grows)
	if l.bound = 5; math.Abs(l.growth-9.9) > 2*l.sure || l.flat() {
		t.Errorf("what grows: %+v", l)
	}
	if l = line(xs[:2], grows[:2]); !math.IsInf(l.sure, 1) {
		t.Errorf("of two: %+v", l)
	}
	if got := batches(xs); len(got) != numBatches || got[0] != 2 || got[numBatches-1] != 97 {
		t.Errorf("batches %v", got)
	}
}

// A short run under a steady load: everything is read, and nothing is left.
func TestSteady(t *testing.T) {
	if testing.Short() {
		t.Skip("this takes three quarters of a minute")
	}
	dir := t.TempDir()
	s := steady{binary: heddle, dir: dir, last: 45 * time.Second, every: time.Second, nodes: 10, seed: 1, plot: filepath.Join(dir, "plot.svg"), out: t.Output()}
	res, err := s.run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := res.table(t.Output()); err != nil {
		t.Error(err)
	}
	for _, what := range res.wrong {
		if !strings.Contains(what, "grows") { // the run is too short to tell
			t.Error(what)
		}
	}
	for g, tr := range res.trends {
		if tr.mean <= 0 {
			t.Errorf("%s was not read: %+v", gauges[g].name, tr)
		}
	}
	if text, err := os.ReadFile(s.plot); err != nil || strings.Count(string(text), gauges[heap].name) == 0 {
		t.Errorf("the plot: %v, %.200s", err, text)
	}
}

// Some power cuts of a store; make soak does many of them.
func TestCuts(t *testing.T) {
	t.Parallel()
	onLinux(t)
	c := cuts{count: 80, seed: 1, dir: t.TempDir(), out: t.Output()}
	res, err := c.run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	res.table(t.Output())
	for _, what := range res.wrong {
		t.Error(what)
	}
	if res.cuts != c.count || res.inOpen == 0 || res.torn == 0 || res.commits == 0 {
		t.Errorf("nothing much was cut: %+v", res)
	}
}

// A few power cuts of the program under a load.
func TestPower(t *testing.T) {
	t.Parallel()
	onLinux(t)
	k := kills{binary: heddle, dir: t.TempDir(), count: 4, power: true, nodes: 5, seed: 1, out: t.Output()}
	res, err := k.run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	res.table(t.Output())
	if wrong := slices.Concat(res.wrong, res.complains); len(wrong) > 0 {
		t.Errorf("%d things are wrong:\n%s", len(wrong), strings.Join(wrong, "\n"))
	}
}

func onLinux(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("programs are recorded on Linux alone")
	}
}

// A store that differs from the promises is detected.
func TestPromised(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state", "rm.db")
	var said strings.Builder
	if err := commitAll(path, 40, &said); err != nil {
		t.Fatal(err)
	}
	p := promised{}
	if err := p.hear(said.String()); err != nil || p.commits != 40 || p.epoch != 1 {
		t.Fatalf("heard is %+v, %v", p, err)
	}
	if why := p.check(path); why != "" {
		t.Error(why)
	}
	for want, p := range map[string]promised{
		"commit 41 was acknowledged": {epoch: 1, cluster: p.cluster, commits: 41},
		"one before did as 9":        {epoch: 9, cluster: p.cluster, commits: 40},
		"and was another":            {epoch: 1, cluster: "another", commits: 40},
	} {
		if why := p.check(path); !strings.Contains(why, want) {
			t.Errorf("%q, want %q", why, want)
		}
	}
	if why := differs(after(40), after(40)); why != "" {
		t.Error(why)
	}
	half := after(40)
	half.Attempts = half.Attempts[:len(half.Attempts)-1]
	if why := differs(half, after(40)); !strings.Contains(why, "attempts") {
		t.Errorf("half of a commit: %q", why)
	}
}
