package main

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"heddle/internal/testkit/hadoop"
)

const (
	mixNodeMB = 4096            // memory of each of the three NodeManagers that mixes run on
	calm      = 3 * time.Second // from a ResourceManager's start to the first submission: leftovers of the last run end
	// longest is the time limit of a run: many times its usual time. The stock ResourceManager can lose a master that
	// is granted before its attempt is scheduled, and the application then waits forever.
	longest = 8 * time.Minute
	// tries is how often a run may fail before it is left out.
	tries = 3
)

// A turn is one run of a mix under a ResourceManager.
type turn struct {
	mix   mix
	under hadoop.Options
	round int // from 1
}

// name is unique among turns; it is also the turn's file below the folder of kept runs.
func (t turn) name() string {
	return fmt.Sprintf("%s/%s-%s-%d", t.mix.name, t.under.RM, profileOf(t.under), t.round)
}

// jobs describes the mix's jobs, so that runs with other jobs are not mistaken for its own.
func (t turn) jobs() string {
	return fmt.Sprint(t.mix.jobs, t.mix.conf, t.mix.scheduler, t.mix.cores, t.under.Set)
}

// turns returns all runs that the settings ask for, in the order in which they are made: every mix under every
// ResourceManager before anything runs again, so that an interrupted measurement has the same number of each.
func (s settings) turns() (all []turn) {
	for round := range s.mixRuns {
		for _, m := range s.chosen() {
			for _, o := range s.under(m) {
				all = append(all, turn{m, o, round + 1})
			}
		}
	}
	return all
}

// withAgents, after the name of a profile of Heddle, says that a node agent runs beside each NodeManager.
const withAgents = "+agent"

// variants are changed profiles of Heddle. What waits for minutes on a cluster waits for seconds here. MROrchestrator
// considers a node busy if its NodeManager sees no idle processor on the machine, and the nodes' quota leaves some
// idle.
var variants = map[string]struct{ profile, set string }{
	"mrorchestrator-busy": {"mrorchestrator", "control=[{mrorchestrator.regression: {mode: cpu, epoch: 10, profile: 2.5, pressed: 0.05}}]"},
	"ikayak-suspend":      {"ikayak", "control=[{ikayak.suspend: {interval: 5, v: 0.25}}]"},
}

// profileOf returns a profile's name as on the command line.
func profileOf(o hadoop.Options) string {
	name := o.Profile
	for variant, v := range variants {
		if v.profile == o.Profile && slices.Equal(o.Set, []string{v.set}) {
			name = variant
		}
	}
	if o.Agents {
		name += withAgents
	}
	return name
}

// under returns the ResourceManagers, with their profiles, that a mix runs under.
func (s settings) under(m mix) []hadoop.Options {
	return append(m.options(hadoop.Stock, s.stock), slices.DeleteFunc(m.options(hadoop.Heddle, cmp.Or(s.profiles, m.profiles)), func(o hadoop.Options) bool {
		return o.Agents && !s.groups
	})...)
}

// options returns the options of a ResourceManager under each profile in a list, which may be empty.
func (m mix) options(rm, profiles string) (all []hadoop.Options) {
	for p := range strings.FieldsFuncSeq(profiles, func(c rune) bool { return c == ',' }) {
		o := hadoop.Options{RM: rm, Scheduler: m.scheduler}
		o.Profile, o.Agents = strings.CutSuffix(p, withAgents)
		if v, ok := variants[o.Profile]; ok {
			o.Profile, o.Set = v.profile, []string{v.set}
		}
		if o.Profile == "fair" { // it would grant memory in steps of 1024 MiB, the others in steps of 128
			o.Site = map[string]string{"yarn.resource-types.memory-mb.increment-allocation": "128"}
		}
		all = append(all, o)
	}
	return all
}

// A mixResult is the result of one run of a mix, in seconds.
type mixResult struct {
	Wait, Completion map[string]float64 // by the job's name; wait is the time until the first task runs
	Makespan         float64
	Again            int                // application attempts beyond the first of each
	Jobs             string             // of the mix at that time
	Deeds            map[string]float64 `json:",omitempty"` // what was done to running containers, and how often; none under the stock ResourceManager
	Program          string             `json:",omitempty"` // the SHA-256 of the heddle program; none under the stock ResourceManager
}

// A shelf is the folder that keeps runs. All of its runs of Heddle are of the same program.
type shelf struct {
	dir     string
	program string // "" until one is known
}

// same fails if a run is of another heddle program than earlier runs.
func (k *shelf) same(r mixResult) error {
	if k.program == "" {
		k.program = r.Program
	}
	if r.Program != "" && r.Program != k.program {
		return fmt.Errorf("the runs in %s are of another heddle program: remove them, or name another folder with -dir", k.dir)
	}
	return nil
}

func (k *shelf) file(t turn) string { return filepath.Join(k.dir, t.name()+".json") }

// read returns a kept run; its error is os.ErrNotExist if there is none.
func (k *shelf) read(t turn) (r mixResult, err error) {
	text, err := os.ReadFile(k.file(t))
	if err != nil {
		return r, err
	}
	if err := json.Unmarshal(text, &r); err != nil {
		return r, fmt.Errorf("%s: %w", k.file(t), err)
	}
	if r.Jobs != t.jobs() {
		return r, fmt.Errorf("%s is a run of other jobs than the mix has now: remove it", k.file(t))
	}
	return r, k.same(r)
}

// write keeps a run: completely or not at all.
func (k *shelf) write(t turn, r mixResult) error {
	r.Jobs = t.jobs()
	if err := k.same(r); err != nil {
		return err
	}
	text, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(k.file(t)), 0o755); err != nil {
		return err
	}
	if err := os.WriteFile(k.file(t)+".part", append(text, '\n'), 0o644); err != nil {
		return err
	}
	return os.Rename(k.file(t)+".part", k.file(t))
}

// failed records that a run was abandoned, and why.
func (k *shelf) failed(t turn, why error) error {
	if err := os.MkdirAll(filepath.Dir(k.file(t)), 0o755); err != nil {
		return err
	}
	f, err := os.OpenFile(k.file(t)+".failed", os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	_, err = f.WriteString(strings.ReplaceAll(why.Error(), "\n", " ") + "\n")
	return errors.Join(err, f.Close())
}

// failures returns how often a run was abandoned.
func (k *shelf) failures(t turn) (int, error) {
	text, err := os.ReadFile(k.file(t) + ".failed")
	if errors.Is(err, os.ErrNotExist) {
		return 0, nil
	}
	return strings.Count(string(text), "\n"), err
}

// missing returns the turns that have no kept run and have not failed too often.
func (k *shelf) missing(all []turn) (left []turn, err error) {
	for _, t := range all {
		_, err := k.read(t)
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			return nil, err
		}
		if err == nil {
			continue
		}
		fails, err := k.failures(t)
		if err != nil {
			return nil, err
		}
		if fails < tries {
			left = append(left, t)
		}
	}
	return left, nil
}

// program identifies a heddle program by its content.
func program(file string) (string, error) {
	text, err := os.ReadFile(file)
	return fmt.Sprintf("%x", sha256.Sum256(text)), err
}

// runMixes makes the runs of mixes that are not kept, and writes the tables once all runs are there. After a failed run
// it continues with a new testbed.
func runMixes(ctx context.Context, s settings, out io.Writer) error {
	k := &shelf{dir: s.dir}
	if s.binary != "" {
		var err error
		if k.program, err = program(s.binary); err != nil {
			return err
		}
	}
	for made := 0; ; {
		left, err := k.missing(s.turns())
		if err != nil {
			return err
		}
		now := left
		if s.atMost > 0 {
			now = left[:min(s.atMost-made, len(left))]
		}
		if len(left) == 0 {
			return k.tables(s, out)
		}
		if len(now) == 0 {
			s.log.Info("runs are missing, so there is no table yet", "missing", len(left), "folder", s.dir)
			return nil
		}
		err = onTestbed(ctx, s, mixNodeMB, func(b *hadoop.Testbed) error {
			n, err := k.run(ctx, b, s, now)
			made += n
			return err
		})
		if err != nil && (ctx.Err() != nil || !errors.Is(err, errFailed)) {
			return err
		}
	}
}

// errFailed says that a run failed and that this was recorded.
var errFailed = errors.New("a run failed")

// run makes and keeps runs, one after the other, until one fails. It returns how many it made, including the failed
// one.
func (k *shelf) run(ctx context.Context, b *hadoop.Testbed, s settings, list []turn) (int, error) {
	for i, t := range list {
		r, err := s.turn(ctx, b, t)
		if ctx.Err() != nil {
			return i, errors.Join(ctx.Err(), err)
		}
		if err != nil {
			s.log.Warn("a run failed", "turn", t.name(), "error", err)
			return i + 1, errors.Join(errFailed, k.failed(t, err))
		}
		if err := k.write(t, r); err != nil {
			return i, err
		}
		s.log.Info("ran", "turn", t.name(), "makespan", r.Makespan)
	}
	return len(list), nil
}

// turn makes one run under its own ResourceManager.
func (s settings) turn(ctx context.Context, b *hadoop.Testbed, t turn) (r mixResult, err error) {
	ctx, cancel := context.WithTimeoutCause(ctx, longest, errEndless)
	defer cancel()
	t.under.Binary = s.binary
	if s.groups {
		if err := confine(b, t.mix.cores); err != nil {
			return r, err
		}
	}
	if _, err := b.UseRM(ctx, t.under); err != nil {
		return r, err
	}
	if t.under.Agents {
		if err := b.StartAgents(ctx, group); err != nil {
			return r, err
		}
	}
	if err := t.mix.prepare(ctx, b); err != nil {
		return r, err
	}
	if err := hadoop.Sleep(ctx, calm); err != nil {
		return r, err
	}
	if r, err = once(ctx, b, t); err != nil {
		if cause := context.Cause(ctx); errors.Is(cause, errEndless) {
			err = cause
		}
		return r, err
	}
	if t.under.RM == hadoop.Heddle {
		if r.Deeds, err = b.Counters(ctx, "heddle_container_deeds_total", "deed"); err != nil {
			return r, err
		}
	}
	if t.under.Agents {
		if err := b.StopAgents(ctx, group); err != nil {
			return r, err
		}
	}
	if t.under.RM == hadoop.Heddle {
		r.Program, err = program(b.Options().Binary)
	}
	return r, err
}

// tables writes the results of each mix from the kept runs.
func (k *shelf) tables(s settings, out io.Writer) error {
	for _, m := range s.chosen() {
		var arms []arm
		for _, o := range s.under(m) {
			a := arm{under: o}
			for round := range s.mixRuns {
				t := turn{m, o, round + 1}
				fails, err := k.failures(t)
				if err != nil {
					return err
				}
				a.fails += fails
				r, err := k.read(t)
				if errors.Is(err, os.ErrNotExist) && fails >= tries {
					continue
				}
				if err != nil {
					return err
				}
				a.runs = append(a.runs, r)
			}
			arms = append(arms, a)
		}
		if err := writeMix(out, m, arms); err != nil {
			return err
		}
	}
	return nil
}
