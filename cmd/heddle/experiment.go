package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"heddle/conf"
	"heddle/exp"
	"heddle/policies"
	"heddle/scenario"
	"heddle/sim"
	"heddle/workload"
)

// An experiment is everything known before the first run.
type experiment struct {
	input    *input
	plan     *exp.Plan
	hardware *hardware
	world    choiceOfWorld
	notes    []string
}

// files returns all files that were read: of the workload, the configuration, the cluster and the profiles.
func (e *experiment) files() []string {
	all := slices.Concat(e.input.files(), e.plan.Conf.Files, e.hardware.files)
	for _, p := range e.plan.Profiles {
		if p.File != "" {
			all = append(all, p.File)
		}
	}
	return all
}

// prepare reads everything and refuses wrong input, so that no run begins in vain.
func (a *app) prepare(f *simFlags, path string, seeds int) (*experiment, error) {
	if err := f.cluster.check(); err != nil {
		return nil, err
	}
	in, err := a.readInput(path, f.read.options(), f.firstSeed)
	if err != nil {
		return nil, err
	}
	h, err := in.configuration(f.conf, f.oneQueue)
	if err != nil {
		return nil, err
	}
	e := &experiment{input: in, world: in.world(f.world.value)}
	if e.world.world == given {
		in.fillDurations()
	}
	if e.world.note != "" {
		e.notes = append(e.notes, e.world.note)
	}
	e.plan = &exp.Plan{
		Workload: in.workload, Conf: h, Seeds: in.seeds(f.seeds.n, f.firstSeed, seeds), Effects: in.effects,
		Given: e.world.world == given, PromptEnds: in.workload.Format != "sls", KeepTasks: f.tasks != "" || f.report != "", Trace: f.report != "", Check: os.Getenv("HEDDLE_CHECK") == "1",
	}
	if err = checkSeeds(f.firstSeed, len(e.plan.Seeds)); err != nil {
		return nil, err
	}
	if err = e.choose(f, h); err != nil {
		return nil, err
	}
	if err = e.checkQueues(f, h); err != nil {
		return nil, err
	}
	e.notes = append(configurationNotes(h, f.conf, in.ownQueues(f.conf, f.oneQueue), e.plan.Profiles), e.notes...)
	if e.hardware, err = f.cluster.cluster(in, h.Site.Node); err != nil {
		return nil, err
	}
	e.notes = append(e.notes, e.hardware.notes...)
	e.plan.Nodes, e.plan.UplinkBps, e.plan.Rebuild = e.hardware.nodes, e.hardware.uplinkBps, in.build
	return e, e.settle(float64(f.load))
}

// choose selects the profiles.
func (e *experiment) choose(f *simFlags, h *conf.Hadoop) error {
	specs := f.profiles
	if len(specs) == 0 {
		own, off, err := e.input.profile(f.set, f.manner())
		if err != nil {
			return err
		}
		if own != nil {
			e.plan.Profiles, e.notes = []*policies.Profile{own}, append(e.notes, off...)
			return e.fit(h, f.conf)
		}
		name, why := defaultProfile(h, f.conf)
		specs, e.notes = []string{name}, append(e.notes, why)
	}
	profiles, off, err := loadProfiles(specs, f.set, f.manner())
	if err != nil {
		return err
	}
	e.plan.Profiles, e.notes = profiles, append(e.notes, off...)
	return e.fit(h, f.conf)
}

// fit completes the configuration for the profiles as heddle rm does, and builds them.
func (e *experiment) fit(h *conf.Hadoop, dir string) error {
	for _, file := range addMissing(h, e.plan.Profiles) {
		e.notes = append(e.notes, "no "+file+": one queue, root.default")
	}
	return checkProfiles(e.plan.Profiles, h, dir)
}

// checkQueues makes sure that every queue named by a job exists.
func (e *experiment) checkQueues(f *simFlags, h *conf.Hadoop) error {
	switch {
	case f.oneQueue && f.conf != "":
		return usagef("--one-queue is for runs without --conf, which defines the queues")
	case f.oneQueue:
		return nil
	case f.conf == "" && !e.input.ownQueues(f.conf, f.oneQueue):
		if err := exp.CheckOneQueue(e.input.workload); err != nil {
			return fmt.Errorf("%w; --conf DIR brings the queues of a configuration, queues in a scenario define some, --one-queue runs every job in default",
				e.input.at(err))
		}
		return nil
	}
	for _, p := range e.plan.Profiles {
		if err := exp.CheckQueues(p, h, e.input.workload); err != nil {
			return e.input.at(fmt.Errorf("profile %s: %w", p.Name, err))
		}
	}
	if slices.ContainsFunc(e.plan.Profiles, func(p *policies.Profile) bool { return p.Queues == "fair" }) {
		if made := exp.CreatedQueues(h, e.input.workload); len(made) > 0 {
			shown := strings.Join(made[:min(len(made), maxNotices)], ", ")
			if more := len(made) - maxNotices; more > 0 {
				shown += fmt.Sprintf(" and %d more", more)
			}
			e.notes = append(e.notes, "the fair scheduler's placement rules create queues that the configuration does not list: "+shown)
		}
	}
	return nil
}

// settle finishes the workload: it scales it and determines its faults.
func (e *experiment) settle(load float64) error {
	in := e.input
	if e.plan.Given {
		if ok, job, field := in.workload.Given(); !ok {
			return fmt.Errorf("%s: job %s states no duration for its %s, and the given world needs one for every task; --world full works them out",
				in.path, job, field)
		}
	}
	if load > 0 {
		if err := e.scale(load); err != nil {
			return fmt.Errorf("%s: --load %g: %w", in.path, load, err)
		}
	}
	faults, err := in.faults(len(e.plan.Nodes), e.plan.Seeds)
	if err != nil {
		return err
	}
	e.plan.Faults = func(seed uint64) []sim.Fault { return faults[seed] }
	if e.plan.Given && in.scenario != nil && in.scenario.Has(scenario.SlowNode) {
		e.notes = append(e.notes, "slow_node changes nothing in the given world: tasks last as long as stated on any node")
	}
	return nil
}

// scale changes the spacing of the jobs so that they offer a given load.
func (e *experiment) scale(load float64) error {
	in, factor := e.input, 0.0
	to := func(w *workload.Workload, seed uint64) error {
		f, err := e.plan.Space(w, seed, load)
		if w == in.workload {
			factor = f
		}
		return err
	}
	if drawn := in.build; drawn != nil {
		in.build = func(seed uint64) (*workload.Workload, error) {
			w, err := drawn(seed)
			if err == nil {
				err = to(w, seed)
			}
			return w, err
		}
		e.plan.Rebuild = in.build
	}
	if err := to(in.workload, e.plan.Seeds[0]); err != nil {
		return err
	}
	e.notes = append(e.notes, fmt.Sprintf("--load %g: the time between jobs is multiplied by %.3g; unscaled, the jobs offered %.3g of the cluster's capacity",
		load, factor, factor*load))
	return nil
}

// ownQueues reports whether the queues of a scenario are in effect: a Hadoop configuration folder or one queue for all
// jobs overrides them.
func (in *input) ownQueues(dir string, one bool) bool {
	return dir == "" && !one && in.scenario != nil && len(in.scenario.Queues) > 0
}

// configuration reads a Hadoop configuration folder, or returns the scenario's queues or the defaults.
func (in *input) configuration(dir string, one bool) (*conf.Hadoop, error) {
	switch {
	case dir != "":
		return conf.ReadDir(dir)
	case in.ownQueues(dir, one):
		return exp.Conf(in.scenario)
	}
	return conf.Default(), nil
}

// The most notices of one kind that a report repeats.
const maxNotices = 8

// configurationNotes says what a reader must know of the configuration: the parts that have no effect, or a different
// one than they seem to have. It leaves out parts for schedulers that no profile uses.
func configurationNotes(h *conf.Hadoop, dir string, own bool, profiles []*policies.Profile) []string {
	if own {
		notes := []string{"the scenario defines the queues; dominant resources"}
		for _, n := range h.Notices {
			notes = append(notes, fmt.Sprintf("%s: %s", n.Kind, n))
		}
		return notes
	}
	if dir == "" {
		return []string{"no configuration folder was given: one queue, default, and dominant resources"}
	}
	uses := func(tree string) bool {
		return slices.ContainsFunc(profiles, func(p *policies.Profile) bool { return p.Queues == tree })
	}
	var notes []string
	for _, kind := range []conf.NoticeKind{conf.Unsupported, conf.Unknown, conf.Remark} {
		n := 0
		for _, notice := range h.Notices {
			tree, isScheduler := strings.CutSuffix(filepath.Base(notice.File), "-scheduler.xml")
			if notice.Kind != kind || isScheduler && !uses(tree) {
				continue
			}
			if n++; n <= maxNotices {
				notes = append(notes, fmt.Sprintf("%s: %s", kind, notice))
			}
		}
		if n > maxNotices {
			notes = append(notes, fmt.Sprintf("%s: %d more, listed by: heddle config check %s", kind, n-maxNotices, dir))
		}
	}
	return append([]string{"configuration: " + dir}, notes...)
}
