package groups

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/opencontainers/cgroups"
	"golang.org/x/sys/unix"

	"heddle"
)

// onV2 returns groups of version 2, and skips the test if the machine has none.
func onV2(t *testing.T) *Groups {
	t.Helper()
	g := open(t)
	if g.how != byV2 || os.Geteuid() != 0 {
		t.Skip("this needs root, and control groups of version 2 alone")
	}
	made(t, g)
	t.Cleanup(func() { clean(t, g.v2) })
	return g
}

// has reports whether a group has a file, and logs it if the kernel lacks it.
func has(t *testing.T, dir, file string) bool {
	t.Helper()
	if _, err := os.Stat(filepath.Join(dir, file)); err != nil {
		t.Logf("this kernel has no %s, which is left out", file)
		return false
	}
	return true
}

func TestV2(t *testing.T) {
	g := onV2(t)
	ready := filepath.Join(t.TempDir(), "ready")
	c := start(t, "sh", "-c", `trap exit TERM; sleep 60 & touch "$1"; wait`, "sh", ready)
	await(t, ready)
	do(t, g.Adopt(c))
	own := filepath.Join(g.v2, id)
	if in, err := cgroups.GetPids(own); err != nil || len(in) != len(members(t, c.PID)) {
		t.Errorf("%v of %v were moved (%v)", in, members(t, c.PID), err)
	}
	idles, bounds := has(t, own, "cpu.idle"), has(t, own, "memory.high")
	check := func(weight, idle, quota, high, frozen string) {
		t.Helper()
		switch {
		case idle == "0":
			reads(t, own, "cpu.weight", weight)
		case !idles:
			reads(t, own, "cpu.weight", "1")
		}
		if idles {
			reads(t, own, "cpu.idle", idle)
		}
		if bounds {
			reads(t, own, "memory.high", high)
		}
		reads(t, own, "cpu.max", quota+" 100000")
		reads(t, own, "cgroup.freeze", frozen)
	}
	check("100", "0", "max", "max", "0")
	for _, x := range []struct {
		set                               Set
		weight, idle, quota, high, frozen string
	}{
		{Set{Park: true}, "", "1", "max", "max", "0"},
		{Set{Weight: 250}, "250", "0", "max", "max", "0"},
		{Set{Weight: 250, Quota: 500}, "250", "0", "50000", "max", "0"},
		{Set{Freeze: true}, "100", "0", "max", "max", "1"},
		{Set{Park: true, Weight: 300, Freeze: true}, "", "1", "max", "max", "1"},
		{Set{Park: true, Quota: 200}, "", "1", "20000", "max", "0"},
		{Set{}, "100", "0", "max", "max", "0"},
	} {
		do(t, g.Apply(id, x.set))
		check(x.weight, x.idle, x.quota, x.high, x.frozen)
	}
	all := Set{Park: true, Freeze: true, Weight: 200, Quota: 100}
	if got := g.Can(); !got.Has(heddle.Parks|heddle.Weighs|heddle.Freezes|heddle.Bounds) || got.Has(heddle.Reclaims) != bounds {
		t.Errorf("it can %v", got)
	}
	if bounds {
		all.High = 100
		do(t, g.Apply(id, all))
		check("", "1", "10000", fmt.Sprint(100*mib), "1")
	} else if err := g.Apply(id, Set{High: 100}); err == nil {
		t.Error("it bounds what the kernel does not")
	}

	// Another process restores it, using only the tree.
	do(t, g.Apply(id, all))
	other := open(t)
	do(t, other.RestoreAll())
	check("100", "0", "max", "max", "0")

	// A frozen process that catches the signal and was told to end has not seen it.
	do(t, g.Apply(id, Set{Freeze: true}))
	if g.Ending(id) {
		t.Error("nobody told it to end")
	}
	do(t, unix.Kill(c.PID, unix.SIGTERM))
	if !g.Ending(id) {
		t.Error("it was told to end")
	}
	do(t, g.Apply(id, Set{Park: true, Freeze: true}))
	endOrphan(t, g, other)
}

// A group made by the NodeManager keeps its processes, and gets its former settings back.
func TestYarnsGroupOnV2(t *testing.T) {
	g := onV2(t)
	yarn := filepath.Join(g.mounts[""], fmt.Sprintf("hadoop-yarn-test-%d", os.Getpid()))
	theirs := filepath.Join(yarn, id)
	do(t, os.Mkdir(yarn, 0o755))
	t.Cleanup(func() { clean(t, yarn) })
	do(t, enable(yarn))
	do(t, os.Mkdir(theirs, 0o755))
	c := start(t, "sleep", "60")
	do(t, cgroups.WriteCgroupProc(theirs, c.PID))
	do(t, cgroups.WriteFile(theirs, "cpu.weight", "400"))
	do(t, cgroups.WriteFile(theirs, "cpu.max", "40000 50000"))
	set, high := Set{Park: true, Freeze: true, Quota: 100}, fmt.Sprint(1000*mib)
	bounds := has(t, theirs, "memory.high")
	if bounds {
		do(t, cgroups.WriteFile(theirs, "memory.high", high))
		set.High = 100
	}
	check := func() {
		t.Helper()
		reads(t, theirs, "cpu.weight", "400")
		reads(t, theirs, "cpu.max", "40000 50000")
		reads(t, theirs, "cgroup.freeze", "0")
		if bounds {
			reads(t, theirs, "memory.high", high)
		}
	}
	do(t, g.Adopt(c))
	if in, err := cgroups.GetPids(theirs); err != nil || len(in) != 1 {
		t.Errorf("%v are in the group of the NodeManager (%v)", in, err)
	}
	do(t, g.Apply(id, set))
	reads(t, theirs, "cpu.max", "10000 100000")
	reads(t, theirs, "cgroup.freeze", "1")
	other := open(t)
	other.run = g.run
	do(t, other.RestoreAll())
	check()

	// What an earlier process wrote down counts, not the settings that it left.
	do(t, g.Apply(id, set))
	do(t, other.Adopt(c))
	do(t, other.Apply(id, Set{Freeze: true}))
	do(t, other.Apply(id, Set{}))
	check()
	do(t, other.Release(id))
	if _, err := os.Stat(g.file(id)); err == nil {
		t.Error("what was written down is still there")
	}
}

func TestRatioOnV2(t *testing.T) {
	g := onV2(t)
	do(t, cgroups.WriteFile(g.v2, "cpu.max", halfACore))
	ratio(t, g)
}

// A bound drops what a container has read from and written to files, and is never below what cannot be dropped.
func TestMemoryOnV2(t *testing.T) {
	g := onV2(t)
	dir := t.TempDir()
	var on unix.Statfs_t
	do(t, unix.Statfs(dir, &on))
	if on.Type == unix.TMPFS_MAGIC || on.Type == unix.RAMFS_MAGIC {
		t.Skipf("the files in %s are in memory, from which they cannot be dropped", dir)
	}
	c := start(t, "sh", "-c", `cd "$1"; x=$(head -c 8000000 /dev/zero | tr '\0' x); touch holds
		while ! [ -e go ]; do sleep 0.1; done; dd if=/dev/zero of=file bs=1M count=150 2>/dev/null; touch wrote; sleep 60; echo $x`, "sh", dir)
	do(t, g.Adopt(c))
	own := filepath.Join(g.v2, id)
	if !has(t, own, "memory.high") {
		t.Skip("without it nothing bounds memory")
	}
	await(t, filepath.Join(dir, "holds"))
	do(t, g.Apply(id, Set{High: 5}))
	if high, err := number(own, "memory.high"); err != nil || high < 9*mib || high > 40*mib {
		t.Errorf("5 MiB are wanted, less than the 8 and more that it holds, and memory.high is %v, %v", high, err)
	}
	do(t, g.Apply(id, Set{High: 40}))
	writes(t, dir, "go", "")
	await(t, filepath.Join(dir, "wrote"))
	used, err := number(own, "memory.current")
	do(t, err)
	t.Logf("150 MiB written with a bound of 40, %.1f MiB in use", float64(used)/mib)
	if used > 48*mib {
		t.Errorf("%.1f MiB are in use, want 40 and little more", float64(used)/mib)
	}
	do(t, g.Apply(id, Set{}))
	reads(t, own, "memory.high", "max")
}

// await waits for a file.
func await(t *testing.T, file string) {
	t.Helper()
	for range 600 {
		if _, err := os.Stat(file); err == nil {
			return
		}
		time.Sleep(100 * time.Millisecond)
	}
	t.Fatalf("there is no %s after a minute", file)
}

// A systemd scope outlives the process that made it, and keeps its settings.
func TestScope(t *testing.T) {
	o := Options{Node: fmt.Sprintf("test-%d:1", os.Getpid()), Run: t.TempDir()}
	g, err := Open(o)
	do(t, err)
	if !g.scope || os.Geteuid() != 0 {
		t.Skip("this needs root, systemd, and control groups of version 2 alone")
	}
	ctl := func(args ...string) string {
		t.Helper()
		out, err := exec.Command("systemctl", args...).CombinedOutput()
		if err != nil {
			t.Errorf("systemctl %s: %v\n%s", strings.Join(args, " "), err, out)
		}
		return strings.TrimSpace(string(out))
	}
	// A unit of this name has failed.
	if out, err := exec.Command("systemd-run", "--scope", "--unit", g.unit(), "-p", "RuntimeMaxSec=1", "sleep", "60").CombinedOutput(); err == nil {
		t.Errorf("it did not end early:\n%s", out)
	}
	if got := ctl("show", "-P", "ActiveState", g.unit()); got != "failed" {
		t.Errorf("the state before is %s", got)
	}
	prepared := func() *Groups {
		t.Helper()
		made, err := Open(o)
		do(t, err)
		do(t, made.Prepare())
		if made.how != byV2 {
			t.Fatal("it has no groups")
		}
		in, err := cgroups.GetPids(filepath.Join(made.v2, "holder"))
		if err != nil || len(in) != 1 {
			t.Fatalf("%v hold it (%v)", in, err)
		}
		return made
	}
	g = prepared()
	t.Cleanup(func() { ctl("stop", g.unit()) })
	if got := ctl("show", "-P", "Delegate", g.unit()); got != "yes" {
		t.Errorf("delegated: %s", got)
	}
	c := start(t, "sleep", "60")
	do(t, g.Adopt(c))
	own := filepath.Join(g.v2, id)
	do(t, g.Apply(id, Set{Weight: 77, Quota: 300}))
	ctl("daemon-reload")
	ctl("set-property", "--runtime", slice, "CPUWeight=200")
	reads(t, own, "cpu.weight", "77")
	reads(t, own, "cpu.max", "30000 100000")

	// The process that made it was killed between two steps.
	in, err := cgroups.GetPids(filepath.Join(g.v2, "holder"))
	do(t, err)
	_ = cgroups.WriteFile(g.v2, "cgroup.subtree_control", "-memory") // not every kernel has it
	do(t, cgroups.WriteFile(g.v2, "cgroup.subtree_control", "-cpu"))
	do(t, cgroups.WriteCgroupProc(g.v2, in[0]))
	other := prepared()
	if again, _ := cgroups.GetPids(filepath.Join(g.v2, "holder")); len(again) != 1 || again[0] != in[0] {
		t.Errorf("%v hold it, and %v did", again, in)
	}
	do(t, other.RestoreAll())
	reads(t, own, "cpu.weight", "100")
	do(t, other.Kill(id))

	// The unit was stopped.
	ctl("stop", g.unit())
	prepared()
}
