package groups

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/opencontainers/cgroups"
	fs1 "github.com/opencontainers/cgroups/fs"
	"github.com/opencontainers/cgroups/fs2"

	"heddle"
	"heddle/node/api"
	"heddle/node/procs"
)

const (
	mib    = 1 << 20
	period = 100_000 // microseconds; the period of a quota
)

// A base is what a container has by default.
type base struct {
	Weight uint64 `json:"weight"` // cpu.shares or cpu.weight
	Idle   int64  `json:"idle"`   // cpu.idle, of version 2
	Quota  int64  `json:"quota"`  // of processor time in a period, in microseconds; -1 for no bound
	Period uint64 `json:"period"` // microseconds
	High   string `json:"high"`   // memory.high, of version 2
}

// ownBase is the base of groups made here. A weight of 0 stands for that of one virtual core.
var ownBase = base{Quota: -1, Period: period, High: "max"}

// kept is what is needed to give a container its defaults again, if the tree of groups does not show it.
type kept struct {
	Dir    string `json:"dir"` // the NodeManager's group; "" for a session that has none
	V2     bool   `json:"v2"`  // it is of version 2
	Base   base   `json:"base"`
	Leader int    `json:"leader"` // of the session, and when it started
	Start  uint64 `json:"start"`
}

func (g *Groups) file(id string) string { return filepath.Join(g.run, id+".json") }

// keep writes down the defaults of a container before they are changed.
func (g *Groups) keep(b *box) error {
	if b.kept || g.inTree(b) {
		return nil
	}
	k := kept{Base: b.base, Leader: b.PID, Start: b.Start}
	if b.yarns {
		k.Dir, k.V2 = b.dirs["cpu"], false
		if dir := b.dirs[""]; dir != "" {
			k.Dir, k.V2 = dir, true
		}
	}
	text, err := json.Marshal(k)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(g.run, 0o700); err != nil {
		return err
	}
	// Readers see the complete file or none.
	if err := os.WriteFile(g.file(b.ID)+".new", text, 0o600); err != nil {
		return err
	}
	if err := os.Rename(g.file(b.ID)+".new", g.file(b.ID)); err != nil {
		return err
	}
	b.kept = true
	return nil
}

// recall takes the defaults of a container from what an earlier process wrote down, if that is about the same container.
func (g *Groups) recall(b *box) {
	k, err := g.read(g.file(b.ID))
	if err == nil && k.Leader == b.PID && k.Start == b.Start && b.yarns == (k.Dir != "") {
		b.base, b.kept = k.Base, true
	}
}

// read reads a kept file. It renames a damaged one, which therefore fails only once.
func (g *Groups) read(file string) (k kept, err error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return k, err
	}
	if err := json.Unmarshal(text, &k); err != nil {
		err = fmt.Errorf("%s is damaged, so it is renamed and what it says is not undone: %w", file, err)
		return k, errors.Join(err, os.Rename(file, file+".damaged"))
	}
	return k, nil
}

// inTree reports whether groups below the parents show everything that is done to a container.
func (g *Groups) inTree(b *box) bool {
	return !b.yarns && (b.dirs[""] != "" || b.dirs["cpu"] != "" && b.dirs["freezer"] != "")
}

func (g *Groups) forget(id string) error {
	if err := os.Remove(g.file(id)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// eachKept calls do for each container with a kept file, and removes the files of those that have ended.
func (g *Groups) eachKept(do func(kept) error) error {
	files, bad := os.ReadDir(g.run)
	if errors.Is(bad, fs.ErrNotExist) {
		return nil // nothing was ever kept
	}
	for _, f := range files {
		if !strings.HasPrefix(f.Name(), "container_") || filepath.Ext(f.Name()) != ".json" {
			continue
		}
		file := filepath.Join(g.run, f.Name())
		k, err := g.read(file)
		if err != nil {
			bad = errors.Join(bad, err)
			continue
		}
		pids, err := k.session().pids()
		if _, none := os.Stat(k.Dir); none != nil && err == nil && len(pids) == 0 {
			bad = errors.Join(bad, os.Remove(file))
			continue
		}
		bad = errors.Join(bad, do(k))
	}
	return bad
}

func (k *kept) session() session { return session{k.Leader, k.Start} }

// restore gives a container its kept defaults.
func (k kept) restore() error {
	var err error
	switch {
	case k.Dir != "" && k.V2:
		err = errors.Join(thaw(k.Dir), gone(k.Base.restoreV2(k.Dir)))
	case k.Dir != "":
		err = errors.Join(thaw(k.Dir), gone(k.Base.writeV1(k.Dir)))
	}
	return errors.Join(err, k.session().stop(false), k.session().idle(false))
}

// A Failed says what could not be done to a container, and why.
type Failed struct {
	ID   string
	What heddle.Caps
	Err  error
}

func (f *Failed) Error() string { return f.ID + ": " + f.Err.Error() }

// Unwrap returns the reason.
func (f *Failed) Unwrap() error { return f.Err }

const ofProcessors = heddle.Parks | heddle.Weighs | heddle.Bounds

// Needs returns what a node must be able to do for a Set.
func (s Set) Needs() (can heddle.Caps) {
	if s.Park {
		can |= heddle.Parks
	}
	if s.Weight > 0 && !s.Park {
		can |= heddle.Weighs
	}
	if s.Freeze {
		can |= heddle.Freezes
	}
	if s.Quota > 0 {
		can |= heddle.Bounds
	}
	if s.High > 0 {
		can |= heddle.Reclaims
	}
	return can
}

// Apply gives a container as much of a Set as can be done. For everything else it returns the reasons in a [*Failed].
// What could not be undone still counts as set, and another Apply or Release undoes it. What a group had that no longer
// exists counts as undone. Until all of one Set could be done, a container counts as frozen and parked by an earlier
// process.
func (g *Groups) Apply(id string, s Set) error {
	b := g.boxes[id]
	if b == nil {
		return fmt.Errorf("container %s was not found", id)
	}
	if s != (Set{}) {
		if err := g.keep(b); err != nil {
			return fmt.Errorf("the defaults of %s cannot be saved, so nothing is changed: %w", id, err)
		}
	}
	bad, was := Failed{ID: id}, b.set
	if !b.sure {
		was.Freeze, was.Park = true, true
	}
	b.set = s
	note := func(what heddle.Caps, err error) bool {
		if s == (Set{}) {
			err = gone(err)
		}
		if err != nil {
			bad.What |= what
			bad.Err = errors.Join(bad.Err, err)
		}
		return err != nil
	}
	if was.Freeze && !s.Freeze && note(heddle.Freezes, gone(g.freeze(b, false))) { // nothing keeps it from running again
		b.set.Freeze = true
	}
	if s.Freeze { // while it still gets the processors that freezing needs
		note(heddle.Freezes, g.freeze(b, true))
	}
	if note(s.Needs()&ofProcessors, g.processors(b, s, was.Park)) {
		b.set.Park, b.set.Weight, b.set.Quota = s.Park || was.Park, cmp.Or(s.Weight, was.Weight), cmp.Or(s.Quota, was.Quota)
	}
	if note(heddle.Reclaims, g.memory(b, s)) {
		b.set.High = cmp.Or(s.High, was.High)
	}
	if bad.Err != nil {
		return &bad
	}
	b.sure = true
	return nil
}

// freeze freezes or thaws a container.
func (g *Groups) freeze(b *box, frozen bool) error {
	switch {
	case b.dirs[""] != "":
		told := cmp.Or(b.told, time.Now())
		b.told = time.Time{}
		return freezeV2(b.dirs[""], frozen, told.Add(freezing))
	case b.dirs["freezer"] != "":
		m, err := fs1.NewManager(config(), b.dirs)
		if err != nil {
			return err
		}
		if frozen {
			return m.Freeze(cgroups.Frozen)
		}
		return m.Freeze(cgroups.Thawed)
	}
	return b.session().stop(frozen)
}

// Begin tells a container with a group of version 2 to freeze, and does not wait. The Apply that follows waits only for
// what is left of the time since then, so several containers freeze at once. If this fails, Apply fails too and says why.
func (g *Groups) Begin(id string) {
	b := g.boxes[id]
	if b == nil || b.dirs[""] == "" || g.keep(b) != nil {
		return
	}
	_ = cgroups.WriteFile(b.dirs[""], "cgroup.freeze", "1")
	b.told = time.Now()
}

// freezing is how long to wait until a group of version 2 is frozen. A process that waits for a disk stops once it has
// what it waits for: a later check then finds it frozen.
const freezing = 200 * time.Millisecond

// freezeV2 freezes or thaws a group of version 2. It waits until a deadline, and looks once after that.
func freezeV2(dir string, frozen bool, until time.Time) error {
	if !frozen {
		return cgroups.WriteFile(dir, "cgroup.freeze", "0")
	}
	if err := cgroups.WriteFile(dir, "cgroup.freeze", "1"); err != nil {
		return err
	}
	for ; ; time.Sleep(time.Millisecond) {
		late := time.Now().After(until)
		events, err := cgroups.ReadFile(dir, "cgroup.events")
		if err != nil || strings.Contains(events, "frozen 1") {
			return err
		}
		if late {
			return fmt.Errorf("%s does not stop within %v: a process of it waits for a disk", dir, freezing)
		}
	}
}

func config() *cgroups.Cgroup {
	return &cgroups.Cgroup{Resources: &cgroups.Resources{SkipDevices: true}}
}

// processors sets a container's share of the processors; parked says whether it may be parked now.
func (g *Groups) processors(b *box, s Set, parked bool) error {
	want := b.base
	if quota := s.Quota * period / 1000; s.Quota > 0 && (want.Quota < 0 || quota*int64(want.Period) < want.Quota*period) {
		want.Quota, want.Period = quota, period // the NodeManager's own stays if it is lower
	}
	switch {
	case b.dirs[""] != "":
		if s.Weight > 0 {
			want.Weight = weightV2(s.Weight)
		}
		if s.Park {
			want.Weight, want.Idle = 1, 1
		}
		return want.writeV2(b.dirs[""])
	case b.dirs["cpu"] != "":
		if s.Weight > 0 {
			want.Weight = weightV1(s.Weight)
		}
		if s.Park {
			want.Weight = weightV1(0)
		}
		return want.writeV1(b.dirs["cpu"])
	}
	var bad error
	if s.Weight > 0 && !s.Park {
		bad = errors.New("this node cannot weigh containers: it has no CPU control group")
	}
	if s.Quota > 0 {
		bad = errors.Join(bad, errors.New("this node cannot bound processor time: it has no CPU control group"))
	}
	switch {
	case s.Park && !g.parks:
		bad = errors.Join(bad, errors.New("this node cannot park containers: it could not unpark them again"))
	case s.Park || parked && g.parks:
		bad = errors.Join(bad, b.session().idle(s.Park))
	}
	return bad
}

// memory sets the memory use above which caches are dropped.
func (g *Groups) memory(b *box, s Set) error {
	dir := b.dirs[""]
	if dir == "" {
		if s.High > 0 {
			return errors.New("this node cannot bound caches: it has no cgroup v2")
		}
		return nil
	}
	high := b.base.High
	if s.High > 0 {
		anon := procs.Measure(b.pids()).Anon // with less than 1.2 times its anonymous memory its processes would stall
		ours := max(s.High, (anon+anon/5+mib-1)/mib) * mib
		if theirs, err := strconv.ParseInt(high, 10, 64); err != nil || ours < theirs { // max is no number
			high = strconv.FormatInt(ours, 10)
		}
	}
	if _, err := os.Stat(filepath.Join(dir, "memory.high")); err != nil && s.High == 0 {
		return nil // there is none, and none is wanted
	}
	return writeHigh(dir, high)
}

func writeHigh(dir, high string) error {
	m, err := fs2.NewManager(config(), dir)
	if err != nil {
		return err
	}
	return m.Set(&cgroups.Resources{SkipDevices: true, Unified: map[string]string{"memory.high": high}})
}

// writeV1 sets the share of the processors of a group of version 1.
func (b base) writeV1(dir string) error {
	if _, err := os.Stat(dir); err != nil {
		return err
	}
	m, err := fs1.NewManager(config(), map[string]string{"cpu": dir})
	if err != nil {
		return err
	}
	r := &cgroups.Resources{SkipDevices: true, CpuShares: b.Weight, CpuQuota: b.Quota, CpuPeriod: b.Period}
	if r.CpuShares == 0 {
		r.CpuShares = weightV1(api.DefaultWeight)
	}
	return m.Set(r)
}

// writeV2 sets the share of the processors of a group of version 2.
func (b base) writeV2(dir string) error {
	if _, err := os.Stat(dir); err != nil {
		return err
	}
	m, err := fs2.NewManager(config(), dir)
	if err != nil {
		return err
	}
	r := &cgroups.Resources{SkipDevices: true, CpuWeight: b.Weight, CpuQuota: b.Quota, CpuPeriod: b.Period}
	if r.CpuWeight == 0 {
		r.CpuWeight = weightV2(api.DefaultWeight)
	}
	if _, err := os.Stat(filepath.Join(dir, "cpu.idle")); err == nil {
		r.CPUIdle = &b.Idle
		if b.Idle == 1 {
			r.CpuWeight = 0 // an idle group has no weight, and accepts none
		}
	}
	return m.Set(r)
}

// restoreV2 does what writeV2 does, and also sets the memory use above which caches are dropped.
func (b base) restoreV2(dir string) error {
	err := b.writeV2(dir)
	if _, none := os.Stat(filepath.Join(dir, "memory.high")); none == nil {
		err = errors.Join(err, writeHigh(dir, b.High))
	}
	return err
}

// plain returns the weight that a group has, or 0 if that is the weight of a parked one: then the NodeManager has parked
// it, and what it has otherwise is not known.
func plain(weight int64, parked uint64) uint64 {
	if uint64(weight) == parked {
		return 0
	}
	return uint64(weight)
}

// readV1 reads the settings of a group of version 1.
func readV1(dir string) (b base, err error) {
	weight, err := number(dir, "cpu.shares")
	if err != nil {
		return b, err
	}
	quota, err := number(dir, "cpu.cfs_quota_us")
	if err != nil {
		return b, err
	}
	per, err := number(dir, "cpu.cfs_period_us")
	return base{Weight: plain(weight, weightV1(0)), Quota: quota, Period: uint64(per), High: "max"}, err
}

// readV2 reads the settings of a group of version 2.
func readV2(dir string) (b base, err error) {
	weight, err := number(dir, "cpu.weight")
	if err != nil {
		return b, err
	}
	b = base{Weight: plain(weight, weightV2(0)), Quota: -1, Period: period, High: "max"}
	if b.Idle, err = number(dir, "cpu.idle"); errors.Is(err, fs.ErrNotExist) {
		err = nil // an older kernel
	}
	if err != nil {
		return b, err
	}
	if high, err := cgroups.ReadFile(dir, "memory.high"); err == nil {
		b.High = strings.TrimSpace(high)
	}
	bound, err := cgroups.ReadFile(dir, "cpu.max")
	if err != nil {
		return b, err
	}
	quota, per, _ := strings.Cut(strings.TrimSpace(bound), " ")
	if b.Period, err = strconv.ParseUint(per, 10, 64); err != nil {
		return b, fmt.Errorf("cpu.max of %s: %w", dir, err)
	}
	if quota != "max" {
		if b.Quota, err = strconv.ParseInt(quota, 10, 64); err != nil {
			return b, fmt.Errorf("cpu.max of %s: %w", dir, err)
		}
	}
	return b, nil
}

func number(dir, file string) (int64, error) {
	text, err := cgroups.ReadFile(dir, file)
	if err != nil {
		return 0, err
	}
	n, err := strconv.ParseInt(strings.TrimSpace(text), 10, 64)
	if err != nil {
		return 0, fmt.Errorf("%s of %s: %w", file, dir, err)
	}
	return n, nil
}

// usedV2 returns the processor time that a group of version 2 used.
func usedV2(dir string) (time.Duration, error) {
	m, err := fs2.NewManager(config(), dir)
	if err != nil {
		return 0, err
	}
	s, err := m.Stats(&cgroups.StatsOptions{Controllers: cgroups.CPU})
	if err != nil {
		return 0, err
	}
	return time.Duration(s.CpuStats.CpuUsage.TotalUsage), nil
}
