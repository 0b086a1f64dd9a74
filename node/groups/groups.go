// Package groups changes how the processes of containers run: their share of busy processors, a bound on processor time,
// whether they run at all, and how much memory they keep. It uses control groups of version 1 or 2 if there are any,
// otherwise signals and the scheduling of threads. It never sets a hard memory limit, and ends processes only in
// [Groups.Kill].
//
// Another process can undo its changes at any time: see [Groups.RestoreAll].
package groups

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/opencontainers/cgroups"
	"github.com/opencontainers/cgroups/fs2"
	"golang.org/x/sys/unix"

	"heddle"
	"heddle/node/api"
	"heddle/node/procs"
)

// A Set is how a container differs from its defaults. The zero Set means the defaults.
type Set struct {
	Park   bool  // it gets only what nobody else on the node wants
	Weight int64 // its share of busy processors, in hundredths of a virtual core; 0 for the default
	Freeze bool  // it does not run at all
	Quota  int64 // the most processor time, in thousandths of a core; 0 for no bound
	High   int64 // the memory above which its caches are dropped, in MiB; 0 for no bound
}

// Options say which node's containers these are.
type Options struct {
	Node string // host:port of its NodeManager
	// Parent is the control group above those of its containers, relative to where a hierarchy is mounted. "" means
	// heddle/<node>, or on version 2 with systemd a scope of its own.
	Parent string
	// Run is a folder that is empty after the machine starts. It holds what is needed to undo changes outside of Parent.
	// "" means /run/heddle, or heddle in $XDG_RUNTIME_DIR for users other than root.
	Run string
	Log *slog.Logger
}

// Groups are the containers of a node. It is not safe for concurrent use.
type Groups struct {
	how    how
	name   string            // of the node, as part of a path
	v1     map[string]string // the parent in the hierarchies "cpu" and "freezer" of version 1
	v2     string            // the parent in the hierarchy of version 2
	scope  bool              // systemd is to make v2
	mounts map[string]string // where the hierarchies that may have existing groups are mounted, by controller; "" for version 2
	run    string
	log    *slog.Logger
	boxes  map[string]*box
	parks  bool // without groups, by scheduling: what is parked can be unparked
}

// how is the means that a node has.
type how int

const (
	bySignals how = iota
	byV1
	byV2
)

// A box is an adopted container.
type box struct {
	procs.Container
	dirs  map[string]string // its groups by "cpu" and "freezer"; "" is the one of version 2
	yarns bool              // the NodeManager made its group: no process is moved, and no group is made in it
	base  base
	set   Set
	sure  bool // nothing of what an earlier process did is left
	// kept says whether what is needed to undo changes is on disk.
	kept bool
	told time.Time // when Begin told it to freeze; zero once that was waited for
}

// Open finds out what the machine supports. It changes nothing.
func Open(o Options) (*Groups, error) {
	if o.Node == "" {
		return nil, errors.New("node: want host:port of the NodeManager, got an empty string")
	}
	g := &Groups{
		name: strings.NewReplacer(":", "_", "/", "_").Replace(o.Node), v1: map[string]string{}, mounts: map[string]string{},
		log: cmp.Or(o.Log, slog.New(slog.DiscardHandler)), boxes: map[string]*box{},
	}
	switch runtime := os.Getenv("XDG_RUNTIME_DIR"); {
	case o.Run != "":
		g.run = filepath.Join(o.Run, g.name)
	case os.Geteuid() == 0:
		g.run = filepath.Join("/run/heddle", g.name)
	case runtime != "":
		g.run = filepath.Join(runtime, "heddle", g.name)
	default:
		return nil, errors.New("there is no folder to keep defaults in: name one with --run, set $XDG_RUNTIME_DIR, or run as root")
	}
	parent := filepath.Join("/", cmp.Or(o.Parent, filepath.Join("heddle", g.name)))
	if parent == "/" {
		return nil, fmt.Errorf("parent: want the path of a control group below the first, got %q", o.Parent)
	}
	if cgroups.IsCgroup2UnifiedMode() {
		g.how, g.mounts[""] = byV2, fs2.UnifiedMountpoint
		g.v2 = filepath.Join(fs2.UnifiedMountpoint, parent)
		if o.Parent == "" && systemd() {
			g.scope = true
			g.v2 = filepath.Join(fs2.UnifiedMountpoint, slice, g.unit())
		}
		return g, nil
	}
	for _, controller := range []string{"cpu", "freezer"} {
		if mount, err := cgroups.FindCgroupMountpoint("", controller); err == nil {
			g.how, g.mounts[controller] = byV1, mount
			g.v1[controller] = filepath.Join(mount, parent)
		}
	}
	return g, nil
}

// Prepare makes the parent of the containers' groups. If that is not allowed, signals are used instead, and the log says
// so.
func (g *Groups) Prepare() error {
	if err := os.MkdirAll(g.run, 0o700); err != nil {
		return fmt.Errorf("the folder for the defaults of containers cannot be made: %w", err)
	}
	var err error
	switch g.how {
	case byV1:
		for _, dir := range g.v1 {
			err = errors.Join(err, os.MkdirAll(dir, 0o755))
		}
	case byV2:
		err = g.makeV2()
	case bySignals:
	}
	if err != nil {
		g.log.Warn("control groups cannot be made, so containers are frozen and parked by signals and scheduling", "error", err)
		g.how = bySignals
	}
	if g.how == bySignals || g.how == byV1 && g.v1["cpu"] == "" {
		if g.parks = unparks(); !g.parks {
			g.log.Warn("containers cannot be parked: this process lacks permission to unpark threads; " +
				"want root, CAP_SYS_NICE, or LimitNICE=20")
		}
	}
	return nil
}

// makeV2 makes the parent, with the controllers that groups need.
func (g *Groups) makeV2() error {
	if g.scope {
		if err := g.makeScope(); err != nil {
			return err
		}
		return enable(g.v2)
	}
	dir := g.mounts[""]
	below, err := filepath.Rel(dir, g.v2)
	if err != nil {
		return err
	}
	for part := range strings.SplitSeq(below, "/") {
		if err := enable(dir); err != nil {
			return err
		}
		dir = filepath.Join(dir, part)
		if err := os.Mkdir(dir, 0o755); err != nil && !errors.Is(err, fs.ErrExist) {
			return err
		}
	}
	return enable(dir)
}

// enable enables the controllers for the groups below one. Only the one for processors is required.
func enable(dir string) error {
	_ = cgroups.WriteFile(dir, "cgroup.subtree_control", "+memory") // what needs it says so
	if err := cgroups.WriteFile(dir, "cgroup.subtree_control", "+cpu"); err != nil {
		return fmt.Errorf("the control groups below %s get no share of the processors: %w", dir, err)
	}
	return nil
}

// Can returns what can be done to containers here. Call it after Prepare.
func (g *Groups) Can() heddle.Caps {
	switch {
	case g.how == byV2:
		can := heddle.Parks | heddle.Weighs | heddle.Freezes | heddle.Bounds
		given, err := cgroups.ReadFile(g.v2, "cgroup.subtree_control")
		if err == nil && slices.Contains(strings.Fields(given), "memory") {
			can |= heddle.Reclaims
		}
		return can
	case g.how == byV1 && g.v1["cpu"] != "":
		return heddle.Parks | heddle.Weighs | heddle.Freezes | heddle.Bounds
	case g.parks:
		return heddle.Parks | heddle.Freezes
	}
	return heddle.Freezes
}

// Lock makes this the only process that changes the node's containers, until it ends. It returns false if another one has
// the lock.
func (g *Groups) Lock() (bool, error) {
	if err := os.MkdirAll(g.run, 0o700); err != nil {
		return false, err
	}
	fd, err := unix.Open(filepath.Join(g.run, "lock"), unix.O_CREAT|unix.O_RDWR|unix.O_CLOEXEC, 0o600)
	if err != nil {
		return false, fmt.Errorf("%s cannot be locked: %w", g.run, err)
	}
	switch err := unix.Flock(fd, unix.LOCK_EX|unix.LOCK_NB); {
	case errors.Is(err, unix.EWOULDBLOCK):
		return false, unix.Close(fd)
	case err != nil:
		return false, fmt.Errorf("%s cannot be locked: %w", g.run, err)
	}
	return true, nil // the kernel closes it
}

// Adopt moves a container's processes into a group of their own, or finds the one that its NodeManager made for it.
func (g *Groups) Adopt(c procs.Container) error {
	if g.boxes[c.ID] != nil {
		return nil
	}
	b := &box{Container: c, dirs: map[string]string{}, base: ownBase}
	var err error
	switch g.how {
	case byV1:
		err = g.adoptV1(b)
	case byV2:
		err = g.adoptV2(b)
	case bySignals:
	}
	if err != nil {
		return fmt.Errorf("%s is left unchanged: %w", c.ID, err)
	}
	g.recall(b)
	g.boxes[c.ID] = b
	return nil
}

func (g *Groups) adoptV1(b *box) error {
	for controller, parent := range g.v1 {
		theirs, err := g.existing(b.PID, controller, b.ID)
		if err != nil {
			return err
		}
		if own := filepath.Join(parent, b.ID); theirs == "" || theirs == own {
			b.dirs[controller] = own
			if err := os.MkdirAll(own, 0o755); err != nil {
				return err
			}
			if err := gather(b.session(), own); err != nil {
				return err
			}
			continue
		}
		b.dirs[controller] = theirs
		if controller == "cpu" {
			b.yarns = true
			if b.base, err = readV1(theirs); err != nil {
				return err
			}
		}
	}
	return nil
}

func (g *Groups) adoptV2(b *box) error {
	own := filepath.Join(g.v2, b.ID)
	theirs, err := g.existing(b.PID, "", b.ID)
	if err != nil {
		return err
	}
	if theirs != "" && theirs != own {
		b.dirs[""], b.yarns = theirs, true
		b.base, err = readV2(theirs)
		return err
	}
	b.dirs[""] = own
	if err := os.MkdirAll(own, 0o755); err != nil {
		return err
	}
	return gather(b.session(), own)
}

// existing returns the group of a process, if it is named after its container.
func (g *Groups) existing(pid int, controller, id string) (string, error) {
	all, err := cgroups.ParseCgroupFile(fmt.Sprintf("/proc/%d/cgroup", pid))
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil // its first process has ended
	}
	if err != nil {
		return "", err
	}
	if path := all[controller]; filepath.Base(path) == id {
		return filepath.Join(g.mounts[controller], path), nil
	}
	return "", nil
}

// gather moves a session into a group, until no process is outside.
func gather(s session, dir string) error {
	const most = 100
	for range most {
		in, err := cgroups.GetAllPids(dir)
		if err != nil {
			return err
		}
		of, err := s.pids()
		if err != nil {
			return err
		}
		outside := slices.DeleteFunc(of, func(pid int) bool { return slices.Contains(in, pid) })
		if len(outside) == 0 {
			return nil
		}
		for _, pid := range outside {
			if err := cgroups.WriteCgroupProc(dir, pid); err != nil && !errors.Is(err, unix.ESRCH) {
				return err
			}
		}
	}
	return fmt.Errorf("its processes start new ones faster than they can be moved to %s: %d passes were not enough", dir, most)
}

// session returns the processes that the NodeManager started for a container.
func (b *box) session() session { return session{b.PID, b.Start} }

// pids returns the processes of a container.
func (b *box) pids() []int {
	for _, controller := range []string{"", "freezer", "cpu"} {
		if dir := b.dirs[controller]; dir != "" {
			if pids, err := cgroups.GetAllPids(dir); err == nil {
				return pids
			}
		}
	}
	pids, _ := b.session().pids() // processes that cannot be seen are not measured
	return pids
}

// Measure returns the resource use of a container's processes.
func (g *Groups) Measure(id string) procs.Use {
	b := g.boxes[id]
	if b == nil {
		return procs.Use{}
	}
	u := procs.Measure(b.pids())
	if dir := b.dirs[""]; dir != "" {
		if used, err := usedV2(dir); err == nil {
			u.CPU = used
		}
	}
	return u
}

// Ending reports whether any process of a container has been told to end and has not seen it yet.
func (g *Groups) Ending(id string) bool {
	b := g.boxes[id]
	return b != nil && slices.ContainsFunc(b.pids(), procs.Ending)
}

// Release gives a container its defaults again and forgets it. Its group is removed once it is empty.
func (g *Groups) Release(id string) error {
	b := g.boxes[id]
	if b == nil {
		return g.remove(id)
	}
	if b.set != (Set{}) || !b.sure {
		if err := g.Apply(id, Set{}); err != nil {
			return err
		}
	}
	delete(g.boxes, id)
	return g.remove(id)
}

// own returns the groups that a container has, or would have, below the parents.
func (g *Groups) own(id string) []string {
	var dirs []string
	for _, parent := range g.parents() {
		dirs = append(dirs, filepath.Join(parent, id))
	}
	return dirs
}

func (g *Groups) parents() []string {
	var dirs []string
	for _, dir := range g.v1 {
		dirs = append(dirs, dir)
	}
	if g.v2 != "" {
		dirs = append(dirs, g.v2)
	}
	return dirs
}

// Known reports whether an agent of the node was on this machine: its folder for defaults, or its group, exists.
func (g *Groups) Known() bool {
	return slices.ContainsFunc(append(g.parents(), g.run), func(dir string) bool {
		_, err := os.Stat(dir)
		return err == nil
	})
}

// remove removes the groups of a container if they are empty, and its kept file.
func (g *Groups) remove(id string) error {
	for _, dir := range g.own(id) {
		switch err := unix.Rmdir(dir); {
		case err == nil, errors.Is(err, unix.ENOENT), errors.Is(err, unix.EBUSY):
		default:
			return fmt.Errorf("%s: %w", dir, err)
		}
	}
	return g.forget(id)
}

// List returns the containers that have groups of their own, by id, including those that this process did not adopt.
func (g *Groups) List() []string {
	var list []string
	for _, parent := range g.parents() {
		in, err := os.ReadDir(parent)
		if err != nil {
			continue
		}
		for _, e := range in {
			if e.IsDir() && strings.HasPrefix(e.Name(), "container_") {
				list = append(list, e.Name())
			}
		}
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// Kill ends all processes in a container's own groups.
func (g *Groups) Kill(id string) error {
	var bad error
	for _, dir := range g.own(id) {
		if _, err := os.Stat(dir); err != nil {
			continue
		}
		bad = errors.Join(bad, thaw(dir))
		if err := cgroups.WriteFile(dir, "cgroup.kill", "1"); err == nil {
			continue
		}
		pids, err := cgroups.GetAllPids(dir)
		bad = errors.Join(bad, err)
		for _, pid := range pids {
			if err := unix.Kill(pid, unix.SIGKILL); err != nil && !errors.Is(err, unix.ESRCH) {
				bad = errors.Join(bad, fmt.Errorf("process %d of %s: %w", pid, dir, err))
			}
		}
	}
	return bad
}

// RestoreAll gives every container of the node its defaults again, frozen ones first. It goes by the state of the
// machine, not by what this process did.
func (g *Groups) RestoreAll() error {
	bad := g.Thaw()
	for _, id := range g.List() {
		if parent := g.v1["cpu"]; parent != "" {
			bad = errors.Join(bad, gone(ownBase.writeV1(filepath.Join(parent, id))))
		}
		if g.v2 != "" {
			bad = errors.Join(bad, gone(ownBase.restoreV2(filepath.Join(g.v2, id))))
		}
	}
	if bad = errors.Join(bad, g.eachKept(kept.restore)); bad != nil {
		return bad
	}
	for _, b := range g.boxes {
		b.set = Set{}
	}
	return nil
}

// Thaw thaws every frozen container of the node, and changes nothing else. It goes by the state of the machine, as
// RestoreAll does.
func (g *Groups) Thaw() error {
	var bad error
	for _, id := range g.List() {
		for _, dir := range g.own(id) {
			bad = errors.Join(bad, thaw(dir))
		}
	}
	return errors.Join(bad, g.eachKept(func(k kept) error {
		if k.Dir != "" {
			return thaw(k.Dir)
		}
		return k.session().stop(false)
	}))
}

// gone treats a group that no longer exists as success.
func gone(err error) error {
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, unix.ENODEV) {
		return nil
	}
	return err
}

// thaw thaws a group of either version.
func thaw(dir string) error {
	var bad error
	for file, value := range map[string]string{"freezer.state": "THAWED", "cgroup.freeze": "0"} {
		if _, err := os.Stat(filepath.Join(dir, file)); err == nil {
			bad = errors.Join(bad, gone(cgroups.WriteFile(dir, file, value)))
		}
	}
	return bad
}

// weightV1 converts a weight to cpu.shares, of which a virtual core has 1024.
func weightV1(weight int64) uint64 { return uint64(min(max(weight*1024/api.DefaultWeight, 2), 262144)) }

// weightV2 converts a weight to cpu.weight.
func weightV2(weight int64) uint64 { return uint64(min(max(weight, 1), 10_000)) }
