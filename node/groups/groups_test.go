package groups

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/opencontainers/cgroups"
	"golang.org/x/sys/unix"

	"heddle"
	"heddle/node/procs"
)

const id = "container_1700000000000_0001_01_000002"

// open returns the groups of a node of its own, of the kind that the machine has.
func open(t *testing.T) *Groups {
	t.Helper()
	g, err := Open(Options{Node: "test:1", Parent: fmt.Sprintf("heddle-test-%d-%s", os.Getpid(), t.Name()), Run: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// onV1 returns groups of version 1, and skips the test if the machine has none.
func onV1(t *testing.T) *Groups {
	t.Helper()
	g := open(t)
	if g.how != byV1 || g.v1["cpu"] == "" || g.v1["freezer"] == "" || os.Geteuid() != 0 {
		t.Skip("this needs root, and the controllers cpu and freezer of version 1")
	}
	made(t, g)
	t.Cleanup(func() { clean(t, g.parents()...) })
	return g
}

// made makes the parents of groups, and skips the test if that is not allowed.
func made(t *testing.T, g *Groups) {
	t.Helper()
	how := g.how
	do(t, g.Prepare())
	if g.how != how {
		t.Skip("control groups cannot be made here")
	}
}

func clean(t *testing.T, dirs ...string) {
	for _, dir := range dirs {
		if err := cgroups.RemovePath(dir); err != nil {
			t.Error(err)
		}
	}
}

// start runs a session.
func start(t *testing.T, args ...string) procs.Container {
	t.Helper()
	cmd := exec.Command(args[0], args[1:]...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	began, ok := procs.Started(cmd.Process.Pid)
	if !ok {
		t.Fatal("it does not run")
	}
	c := procs.Container{ID: id, PID: cmd.Process.Pid, Start: began}
	t.Cleanup(func() {
		for _, pid := range members(t, c.PID) {
			_ = syscall.Kill(pid, syscall.SIGKILL)
			_ = syscall.Kill(pid, syscall.SIGCONT)
		}
		_ = cmd.Wait() // it was killed
	})
	return c
}

// members returns the processes of a session.
func members(t *testing.T, leader int) []int {
	t.Helper()
	pids, err := procs.Session(leader)
	do(t, err)
	return pids
}

func reads(t *testing.T, dir, file, want string) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, file))
	if err != nil || strings.TrimSpace(string(text)) != want {
		t.Errorf("%s of %s: %q, want %q (%v)", file, dir, text, want, err)
	}
}

func writes(t *testing.T, dir, file, text string) {
	t.Helper()
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, file), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func do(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func TestV1(t *testing.T) {
	g := onV1(t)
	c := start(t, "sh", "-c", "sleep 60 & sleep 60")
	do(t, g.Adopt(c))
	cpu, freezer := filepath.Join(g.v1["cpu"], id), filepath.Join(g.v1["freezer"], id)
	reads(t, cpu, "cpu.shares", "1024")
	if in, err := cgroups.GetPids(cpu); err != nil || len(in) != len(members(t, c.PID)) {
		t.Errorf("%v of %v were moved (%v)", in, members(t, c.PID), err)
	}
	if g.Can() != heddle.Parks|heddle.Weighs|heddle.Freezes|heddle.Bounds {
		t.Errorf("it can %v", g.Can())
	}
	for _, x := range []struct {
		set                  Set
		shares, quota, state string
	}{
		{Set{Park: true}, "2", "-1", "THAWED"},
		{Set{Weight: 250}, "2560", "-1", "THAWED"},
		{Set{Weight: 250, Quota: 500}, "2560", "50000", "THAWED"},
		{Set{Freeze: true}, "1024", "-1", "FROZEN"},
		{Set{Park: true, Weight: 300}, "2", "-1", "THAWED"},
		{Set{}, "1024", "-1", "THAWED"},
	} {
		do(t, g.Apply(id, x.set))
		reads(t, cpu, "cpu.shares", x.shares)
		reads(t, cpu, "cpu.cfs_quota_us", x.quota)
		reads(t, freezer, "freezer.state", x.state)
	}
	if err := g.Apply(id, Set{Weight: 200, High: 100}); err == nil || !strings.Contains(err.Error(), "this node cannot") {
		t.Errorf("memory: %v", err)
	}
	reads(t, cpu, "cpu.shares", "2048")

	// Another process restores it, using only the tree.
	do(t, g.Apply(id, Set{Freeze: true, Weight: 200, Quota: 100}))
	other := open(t)
	do(t, other.RestoreAll())
	reads(t, cpu, "cpu.shares", "1024")
	reads(t, cpu, "cpu.cfs_quota_us", "-1")
	reads(t, freezer, "freezer.state", "THAWED")

	// A frozen process that was told to end has not seen it.
	do(t, g.Apply(id, Set{Freeze: true}))
	if g.Ending(id) {
		t.Error("nobody told it to end")
	}
	do(t, unix.Kill(c.PID, unix.SIGTERM))
	if !g.Ending(id) {
		t.Error("it was told to end")
	}
	do(t, g.Apply(id, Set{}))

	endOrphan(t, g, other)
}

// endOrphan ends, by a Groups that did not adopt it, a container that another one adopted, and checks that its groups go.
func endOrphan(t *testing.T, g, other *Groups) {
	t.Helper()
	if list := other.List(); len(list) != 1 || list[0] != id {
		t.Errorf("there are %v", list)
	}
	do(t, other.Kill(id))
	for range 200 {
		do(t, g.Release(id))
		if len(g.List()) == 0 {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Errorf("%v are left", g.List())
}

// A group made by the NodeManager keeps its processes, and gets its former settings back.
func TestYarnsGroupOnV1(t *testing.T) {
	g := onV1(t)
	yarn := filepath.Join(g.mounts["cpu"], fmt.Sprintf("hadoop-yarn-test-%d", os.Getpid()))
	theirs := filepath.Join(yarn, id)
	do(t, os.MkdirAll(theirs, 0o755))
	t.Cleanup(func() { clean(t, yarn) })
	c := start(t, "sleep", "60")
	do(t, cgroups.WriteCgroupProc(theirs, c.PID))
	do(t, cgroups.WriteFile(theirs, "cpu.shares", "4096"))
	do(t, g.Adopt(c))
	if in, err := cgroups.GetPids(theirs); err != nil || len(in) != 1 {
		t.Errorf("%v are in the group of the NodeManager (%v)", in, err)
	}
	if in, err := cgroups.GetPids(filepath.Join(g.v1["freezer"], id)); err != nil || len(in) != 1 {
		t.Errorf("%v are in a group that can be frozen (%v)", in, err)
	}
	do(t, g.Apply(id, Set{Park: true, Freeze: true}))
	reads(t, theirs, "cpu.shares", "2")
	other := open(t)
	other.run = g.run
	do(t, other.RestoreAll())
	reads(t, theirs, "cpu.shares", "4096")
	reads(t, filepath.Join(g.v1["freezer"], id), "freezer.state", "THAWED")

	// What an earlier process wrote down counts, not the settings that it left.
	do(t, cgroups.WriteFile(theirs, "cpu.shares", "2"))
	do(t, other.Adopt(c))
	do(t, other.Apply(id, Set{}))
	reads(t, theirs, "cpu.shares", "4096")
	do(t, other.Release(id))
	if _, err := os.Stat(g.file(id)); err == nil {
		t.Error("what was written down is still there")
	}
}

func TestRatioOnV1(t *testing.T) {
	g := onV1(t)
	do(t, cgroups.WriteFile(g.v1["cpu"], "cpu.cfs_quota_us", halfACore))
	ratio(t, g)
}

// halfACore is what the containers of a ratio share, in microseconds per period, however busy the machine is.
const halfACore = "50000"

// ratio makes two containers compute on one processor, and measures each one's share.
func ratio(t *testing.T, g *Groups) {
	t.Helper()
	if testing.Short() {
		t.Skip("computes for seconds")
	}
	var ids []string
	for i := range 2 {
		c := start(t, "taskset", "-c", "0", "sh", "-c", "while :; do :; done")
		c.ID = fmt.Sprintf("container_1700000000000_0001_01_00000%d", i+2)
		do(t, g.Adopt(c))
		ids = append(ids, c.ID)
	}
	defer func() {
		for _, id := range ids {
			do(t, g.Kill(id))
		}
		time.Sleep(100 * time.Millisecond)
	}()
	measure := func(s Set) (first, second time.Duration) {
		err := g.Apply(ids[1], s)
		for i := 0; err != nil && i < 10; i++ { // processes that a quota keeps from running do not freeze at once
			err = g.Apply(ids[1], s)
		}
		do(t, err)
		a, b := g.Measure(ids[0]).CPU, g.Measure(ids[1]).CPU
		time.Sleep(2 * time.Second)
		return g.Measure(ids[0]).CPU - a, g.Measure(ids[1]).CPU - b
	}
	for _, x := range []struct {
		what string
		set  Set
		least,
		most float64
	}{{"alike", Set{}, 0.4, 2.5}, {"weighed 10 to 1", Set{Weight: 10}, 5, 40}, {"parked", Set{Park: true}, 40, 1e9}} {
		a, b := measure(x.set)
		ratio := float64(a) / max(float64(b), 1e6)
		t.Logf("%s: %v and %v of processor time", x.what, a, b)
		if ratio < x.least || ratio > x.most {
			t.Errorf("%s: %v and %v are %.1f to 1, want %v to %v", x.what, a, b, ratio, x.least, x.most)
		}
	}
	if a, b := measure(Set{Freeze: true}); b != 0 {
		t.Errorf("frozen: %v and %v", a, b)
	}
	do(t, g.Apply(ids[1], Set{}))
}

func TestSignals(t *testing.T) {
	g := open(t)
	g.how, g.v1, g.v2 = bySignals, nil, ""
	do(t, g.Prepare())
	c := start(t, "sh", "-c", "sleep 60 & while :; do :; done")
	do(t, g.Adopt(c))
	state := func() string {
		text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", c.PID))
		do(t, err)
		_, rest, _ := strings.Cut(string(text), ") ")
		return rest[:1]
	}
	policy := func() uint32 {
		attr, err := unix.SchedGetAttr(c.PID, 0)
		do(t, err)
		return attr.Policy
	}
	do(t, g.Apply(id, Set{Freeze: true, Park: true}))
	for range 100 {
		if state() == "T" {
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	if state() != "T" || policy() != unix.SCHED_IDLE {
		t.Errorf("state %s, policy %d", state(), policy())
	}
	other := open(t)
	other.how, other.run, other.v1, other.v2 = bySignals, g.run, nil, ""
	for _, undo := range []func() error{
		other.RestoreAll, // otherwise what another process left is undone with the first change
		func() error { return errors.Join(other.Prepare(), other.Adopt(c), other.Apply(id, Set{})) },
	} {
		do(t, g.Apply(id, Set{Freeze: true, Park: true}))
		do(t, undo())
		time.Sleep(20 * time.Millisecond)
		if state() == "T" || policy() != unix.SCHED_NORMAL {
			t.Errorf("state %s, policy %d", state(), policy())
		}
	}
	err := g.Apply(id, Set{Weight: 200, Quota: 500, High: 1})
	failed, ok := errors.AsType[*Failed](err)
	if !ok || strings.Count(err.Error(), "this node cannot") != 3 || failed.What != heddle.Weighs|heddle.Bounds|heddle.Reclaims {
		t.Errorf("%v", err)
	}
	if g.Can() != heddle.Parks|heddle.Freezes {
		t.Errorf("it can %v", g.Can())
	}
	do(t, g.Release(id))
	if files, _ := filepath.Glob(filepath.Join(g.run, "*.json")); len(files) != 0 {
		t.Errorf("%v are left", files)
	}
	// Another process that got its leader's number is left alone.
	if pids, err := (session{c.PID, c.Start + 1}).pids(); pids != nil || err != nil {
		t.Errorf("%v, %v", pids, err)
	}
}

// A session whose number another process got meanwhile is neither moved nor measured.
func TestReusedNumber(t *testing.T) {
	cgroups.TestMode = true
	defer func() { cgroups.TestMode = false }()
	dir := t.TempDir()
	writes(t, dir, "cgroup.procs", "")
	c := start(t, "sleep", "60")
	for _, x := range []struct {
		start uint64
		want  string
	}{{c.Start + 1, ""}, {c.Start, fmt.Sprint(c.PID)}} {
		b := &box{Container: procs.Container{ID: id, PID: c.PID, Start: x.start}}
		do(t, gather(b.session(), dir))
		reads(t, dir, "cgroup.procs", x.want)
		if pids := b.pids(); len(pids) > 0 != (x.want != "") {
			t.Errorf("measured are %v", pids)
		}
	}
}

// Kept files are found again whatever characters the node's name has.
func TestRestoreOfIPv6(t *testing.T) {
	run := t.TempDir()
	open := func() *Groups {
		g, err := Open(Options{Node: "[::1]:8041", Run: run})
		do(t, err)
		g.how, g.v1, g.v2 = bySignals, nil, ""
		return g
	}
	g := open()
	do(t, g.Prepare())
	c := start(t, "sleep", "60")
	do(t, g.Adopt(c))
	do(t, g.Apply(id, Set{Park: true}))
	do(t, open().RestoreAll())
	if attr, err := unix.SchedGetAttr(c.PID, 0); err != nil || attr.Policy != unix.SCHED_NORMAL {
		t.Errorf("policy %d, %v", attr.Policy, err)
	}
}

// A process that may not make threads normal again does not park.
func TestUnparks(t *testing.T) {
	g := open(t)
	g.how, g.v1, g.v2 = bySignals, nil, ""
	do(t, g.Prepare())
	g.parks = false
	c := start(t, "sleep", "60")
	do(t, g.Adopt(c))
	err := g.Apply(id, Set{Park: true})
	if failed, ok := errors.AsType[*Failed](err); !ok || failed.What != heddle.Parks || g.Can() != heddle.Freezes {
		t.Errorf("%v, and it can %v", err, g.Can())
	}
	attr, err := unix.SchedGetAttr(c.PID, 0)
	if err != nil || attr.Policy != unix.SCHED_NORMAL {
		t.Errorf("policy %d, %v", attr.Policy, err)
	}
	attr.Policy = unix.SCHED_IDLE // by its own choice
	do(t, unix.SchedSetAttr(c.PID, attr, 0))
	do(t, g.Release(id))
	if attr, err := unix.SchedGetAttr(c.PID, 0); err != nil || attr.Policy != unix.SCHED_IDLE {
		t.Errorf("policy %d, %v", attr.Policy, err)
	}

	may := make(chan bool)
	go func() {
		runtime.LockOSThread() // and never unlocked: nothing else is to run without the capability
		head := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
		var has [2]unix.CapUserData
		if err := unix.Capget(&head, &has[0]); err != nil {
			t.Error(err)
		}
		has[0].Effective &^= 1 << unix.CAP_SYS_NICE
		if err := unix.Capset(&head, &has[0]); err != nil {
			t.Error(err)
		}
		may <- unparked()
	}()
	var limit unix.Rlimit
	do(t, unix.Getrlimit(unix.RLIMIT_NICE, &limit))
	if got := <-may; got != (limit.Cur >= 20) {
		t.Errorf("without CAP_SYS_NICE, and with RLIMIT_NICE %d: %v", limit.Cur, got)
	}
}

// The files of version 2, in an ordinary folder.
func TestFilesOfV2(t *testing.T) {
	cgroups.TestMode = true
	defer func() { cgroups.TestMode = false }()
	g := open(t)
	dir := t.TempDir()
	g.how, g.v1, g.v2, g.mounts = byV2, nil, dir, map[string]string{"": filepath.Dir(dir)}
	own := filepath.Join(dir, id)
	for file, text := range map[string]string{
		"cgroup.procs": "", "cgroup.controllers": "cpu memory\n", "cpu.weight": "100\n", "cpu.idle": "0\n", "cpu.max": "max 100000\n", "memory.high": "max\n",
		"cgroup.freeze": "0\n", "cgroup.events": "frozen 1\n",
	} {
		writes(t, own, file, text)
	}
	b := &box{Container: procs.Container{ID: id, PID: 1 << 30}, dirs: map[string]string{"": own}, base: ownBase}
	g.boxes[id] = b
	for _, x := range []struct {
		set                 Set
		weight, idle, bound string
	}{
		{Set{Weight: 250, Quota: 500}, "250", "0", "50000 100000"},
		{Set{Park: true}, "250", "1", "max 100000"},
		{Set{Weight: 1 << 20}, "10000", "0", "max 100000"},
		{Set{}, "100", "0", "max 100000"},
	} {
		do(t, g.Apply(id, x.set))
		reads(t, own, "cpu.weight", x.weight)
		reads(t, own, "cpu.idle", x.idle)
		reads(t, own, "cpu.max", x.bound)
	}
	writes(t, own, "cgroup.procs", fmt.Sprintf("%d\n", os.Getpid()))
	do(t, g.Apply(id, Set{High: 1}))
	if high, err := number(own, "memory.high"); err != nil || high <= mib {
		t.Errorf("1 MiB is wanted, less than the processes hold, and memory.high is %v, %v", high, err)
	}
	do(t, g.Apply(id, Set{High: 100_000}))
	reads(t, own, "memory.high", fmt.Sprint(100_000*mib))
	do(t, g.RestoreAll())
	reads(t, own, "memory.high", "max")

	// A bound of the NodeManager's is replaced only by a lower one.
	b.base.Quota, b.base.Period, b.base.High = 40_000, 50_000, fmt.Sprint(1<<16*mib)
	for _, x := range []struct {
		set         Set
		bound, high string
	}{
		{Set{Quota: 500, High: 1 << 15}, "50000 100000", fmt.Sprint(1 << 15 * mib)},
		{Set{Quota: 900, High: 1 << 17}, "40000 50000", b.base.High},
	} {
		do(t, g.Apply(id, x.set))
		reads(t, own, "cpu.max", x.bound)
		reads(t, own, "memory.high", x.high)
	}
	b.base = ownBase

	// What could not be undone is undone as soon as possible, and not forgotten before.
	do(t, g.Apply(id, Set{Freeze: true, Weight: 250}))
	reads(t, own, "cgroup.freeze", "1")
	for _, file := range []string{"cgroup.freeze", "cpu.weight"} {
		do(t, os.Remove(filepath.Join(own, file)))
		do(t, os.Mkdir(filepath.Join(own, file), 0o700))
	}
	for range 2 {
		if g.Apply(id, Set{}) == nil || g.Release(id) == nil {
			t.Error("what cannot be undone counts as undone")
		}
	}
	for _, file := range []string{"cgroup.freeze", "cpu.weight"} {
		do(t, os.Remove(filepath.Join(own, file)))
		writes(t, own, file, "1\n")
	}
	do(t, g.Apply(id, Set{}))
	reads(t, own, "cgroup.freeze", "0")
	reads(t, own, "cpu.weight", "100")

	// Apply does not wait for a container with a process that waits for a disk.
	writes(t, own, "cgroup.events", "frozen 0\n")
	if err := g.Apply(id, Set{Freeze: true}); err == nil || !strings.Contains(err.Error(), "waits for a disk") {
		t.Errorf("it does not stop: %v", err)
	}
	// It waits only for the rest of the time if the container was told before.
	g.Begin(id)
	time.Sleep(freezing)
	before := time.Now()
	if err := g.Apply(id, Set{Freeze: true}); err == nil || time.Since(before) >= freezing {
		t.Errorf("after %v more: %v", time.Since(before), err)
	}
	do(t, g.Apply(id, Set{}))
	g.Begin(id)
	reads(t, own, "cgroup.freeze", "1")
	time.Sleep(freezing)
	writes(t, own, "cgroup.events", "frozen 1\n")
	do(t, g.Apply(id, Set{Freeze: true}))

	writes(t, own, "cpu.max", "20000 50000\n")
	writes(t, own, "cpu.weight", "300\n")
	if got, err := readV2(own); err != nil || got != (base{Weight: 300, Quota: 20000, Period: 50000, High: "max"}) {
		t.Errorf("%+v, %v", got, err)
	}
}

// A container that could not be thawed when the process began is thawed with its first change, or when it is released.
func TestLeftFrozen(t *testing.T) {
	cgroups.TestMode = true
	defer func() { cgroups.TestMode = false }()
	for what, undo := range map[string]func(*Groups) error{
		"changed":  func(g *Groups) error { return g.Apply(id, Set{}) },
		"weighed":  func(g *Groups) error { return g.Apply(id, Set{Weight: 250}) },
		"released": func(g *Groups) error { _ = g.Release(id); return nil }, // an ordinary folder with files stays
	} {
		t.Run(what, func(t *testing.T) {
			g, dir := open(t), t.TempDir()
			g.how, g.v1, g.v2, g.mounts = byV2, nil, dir, map[string]string{"": filepath.Dir(dir)}
			own := filepath.Join(dir, id)
			for file, text := range map[string]string{
				"cgroup.procs": "", "cgroup.controllers": "cpu\n", "cpu.weight": "100\n", "cpu.max": "max 100000\n", "cgroup.freeze": "1\n",
			} {
				writes(t, own, file, text)
			}
			do(t, g.Adopt(procs.Container{ID: id, PID: 1 << 30}))
			do(t, undo(g))
			reads(t, own, "cgroup.freeze", "0")
		})
	}
}

// A damaged kept file keeps no other container from its defaults, and is reported once.
func TestDamagedFile(t *testing.T) {
	g := open(t)
	g.how, g.v1, g.v2 = bySignals, nil, ""
	do(t, g.Prepare())
	c := start(t, "sleep", "60")
	do(t, g.Adopt(c))
	do(t, g.Apply(id, Set{Park: true}))
	const damaged = "container_1700000000000_0001_01_000001"
	writes(t, g.run, damaged+".json", `{"dir":`)
	if err := g.RestoreAll(); err == nil || !strings.Contains(err.Error(), damaged+".json is damaged") {
		t.Errorf("at first: %v", err)
	}
	if attr, err := unix.SchedGetAttr(c.PID, 0); err != nil || attr.Policy != unix.SCHED_NORMAL {
		t.Errorf("policy %d, %v", attr.Policy, err)
	}
	do(t, g.RestoreAll())
	reads(t, g.run, damaged+".json.damaged", `{"dir":`)
}

// A group that the NodeManager has parked has the weight of its container once that goes on.
func TestParkedByYARN(t *testing.T) {
	cgroups.TestMode = true
	defer func() { cgroups.TestMode = false }()
	g := open(t)
	g.how, g.v1, g.v2 = byV2, nil, t.TempDir()
	for _, x := range []struct {
		controller, file, parked string
		files                    map[string]string
		read                     func(string) (base, error)
		plain, weighed           string
	}{
		{"", "cpu.weight", "1", map[string]string{"cgroup.controllers": "cpu\n", "cpu.max": "max 100000\n"}, readV2, "100", "250"},
		{"cpu", "cpu.shares", "2", map[string]string{"cpu.cfs_quota_us": "-1\n", "cpu.cfs_period_us": "100000\n"}, readV1, "1024", "2560"},
	} {
		dir := t.TempDir()
		x.files[x.file] = x.parked
		for file, text := range x.files {
			writes(t, dir, file, text)
		}
		base, err := x.read(dir)
		do(t, err)
		g.boxes[id] = &box{Container: procs.Container{ID: id, PID: 1 << 30}, dirs: map[string]string{x.controller: dir}, yarns: true, base: base}
		for _, s := range []struct {
			set  Set
			want string
		}{{Set{Park: true, Weight: 250}, x.parked}, {Set{}, x.plain}, {Set{Park: true}, x.parked}, {Set{Weight: 250}, x.weighed}} {
			do(t, g.Apply(id, s.set))
			reads(t, dir, x.file, s.want)
		}
		do(t, g.Apply(id, Set{Park: true}))
		do(t, g.RestoreAll())
		reads(t, dir, x.file, x.plain)
	}
}

func TestLock(t *testing.T) {
	g := open(t)
	if ok, err := g.Lock(); !ok || err != nil {
		t.Errorf("%v, %v", ok, err)
	}
	if ok, err := g.Lock(); ok || err != nil {
		t.Errorf("two hold it: %v, %v", ok, err)
	}
}

func TestOpen(t *testing.T) {
	for _, o := range []Options{{}, {Node: "n:1", Parent: "..", Run: "/x"}} {
		if _, err := Open(o); err == nil {
			t.Errorf("%+v: no error", o)
		}
	}
}
