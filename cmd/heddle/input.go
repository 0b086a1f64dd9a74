package main

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"heddle/exp"
	"heddle/policies"
	"heddle/scenario"
	"heddle/sim"
	"heddle/sim/world"
	"heddle/workload"
)

// An input is a workload and the data that come with it.
type input struct {
	path     string
	workload *workload.Workload // for the first seed
	effects  world.Effects

	scenario *scenario.Scenario                            // nil for a trace
	build    func(seed uint64) (*workload.Workload, error) // nil if the workload is the same for every seed
}

// readInput reads a scenario or a trace.
func (a *app) readInput(path string, o workload.Options, seed uint64) (*input, error) {
	if path == "-" {
		return nil, usagef("- is not standard input here; want the name of a file, such as /dev/stdin with --format")
	}
	began := time.Now()
	in := &input{path: path, effects: world.AllEffects()}
	var err error
	if scenario.IsScenario(path) {
		if in.scenario, err = scenario.ReadWith(path, o); err != nil {
			return nil, err
		}
		in.effects = world.Effects(in.scenario.Effects)
		in.build = in.scenario.Build
		in.workload, err = in.build(seed)
	} else {
		in.workload, err = workload.Read(path, o)
	}
	if err != nil {
		return nil, err
	}
	a.sayCut(in.workload.Cut)
	a.log.Info("read", "path", path, "format", in.workload.Format, "jobs", len(in.workload.Jobs),
		"skipped", len(in.workload.Skipped), "took", time.Since(began))
	return in, nil
}

// sayCut says where files of a workload are cut off. That is an error in the input, but the part that is there is used.
func (a *app) sayCut(cut []workload.Defect) {
	for i, d := range cut {
		if i == maxNotices {
			say(a.err, fmt.Sprintf("%d more files are cut off", len(cut)-i))
			break
		}
		say(a.err, d.String())
	}
}

// files returns the files that the workload was read from.
func (in *input) files() []string {
	if in.scenario != nil {
		return in.scenario.Files()
	}
	return in.workload.Files
}

// at puts the place of a wrong queue before the error: the line of the scenario that names it, or else the file.
func (in *input) at(err error) error {
	where := in.path
	if q, ok := errors.AsType[*exp.QueueError](err); ok && in.scenario != nil {
		where = cmp.Or(in.scenario.QueueAt(q.Queue), where)
	}
	return fmt.Errorf("%s: %w", where, err)
}

// A choiceOfWorld is full or given, the reason, and what a reader must know about it.
type choiceOfWorld struct{ world, why, note string }

const full, given = "full", "given"

// world returns the choice of the flag, or else of the scenario. Otherwise, a trace that states every duration is
// replayed with those durations, and the durations of any other workload are computed.
func (in *input) world(flag string) choiceOfWorld {
	lacking, failed, stated := in.workload.Unstated()
	switch {
	case flag != "":
		return choiceOfWorld{flag, "--world asks for it", ""}
	case in.scenario != nil && in.scenario.World != "":
		return choiceOfWorld{in.scenario.World, "the scenario asks for it", ""}
	case in.scenario != nil && !in.scenario.Replays():
		return choiceOfWorld{full, "the scenario names no world", ""}
	case !stated:
		return choiceOfWorld{full, "the trace states no durations", ""}
	case lacking == 0 && failed == 0:
		return choiceOfWorld{given, "the trace states every duration", ""}
	case lacking == 0:
		return choiceOfWorld{given, "the trace states every duration but those of " + plural(failed, "job") + " that failed", ""}
	}
	some := fmt.Sprintf("%d of %s", lacking, plural(len(in.workload.Jobs), "job"))
	return choiceOfWorld{
		full, some + " lack durations",
		some + " lack the durations of some tasks, so the full world works out all of them; --world given replays those " +
			"that are stated and gives the other tasks the median of their kind",
	}
}

// fillDurations gives tasks in a trace without a duration that of similar tasks, for the given world, and returns what
// it filled in for the first seed. What a scenario lists must state its own.
func (in *input) fillDurations() workload.Fill {
	if in.scenario != nil && !in.scenario.Replays() {
		return workload.Fill{}
	}
	filled := in.workload.FillDurations()
	if drawn := in.build; drawn != nil {
		in.build = func(seed uint64) (*workload.Workload, error) {
			w, err := drawn(seed)
			if err == nil {
				w.FillDurations()
			}
			return w, err
		}
	}
	return filled
}

// seeds returns the seeds from first on, as many as the flag says, or else the scenario, or else otherwise.
func (in *input) seeds(flag int, first uint64, otherwise int) []uint64 {
	n := otherwise
	if in.scenario != nil && in.scenario.Seeds > 0 {
		n = in.scenario.Seeds
	}
	if flag > 0 {
		n = flag
	}
	return exp.Seeds(first, n)
}

// profile returns the scenario's own profile, or nil if it has none; notes say what was left out of it.
func (in *input) profile(set []string, how manner) (own *policies.Profile, notes []string, err error) {
	if in.scenario == nil {
		return nil, nil, nil
	}
	switch p := in.scenario.Profile.(type) {
	case nil:
		return nil, nil, nil
	case string:
		if beside := filepath.Join(filepath.Dir(in.path), p); !slices.Contains(policies.Names(), p) && !filepath.IsAbs(p) && isFile(beside) {
			p = beside
		}
		loaded, off, err := loadProfiles([]string{p}, set, how)
		if err != nil {
			return nil, nil, fmt.Errorf("%s: profile: %w", in.scenario.ProfileAt(), err)
		}
		return loaded[0], off, nil
	}
	if len(set) > 0 {
		return nil, nil, usagef("--set changes a profile that has a name, and %s writes its own out; change it there or add --profile", in.path)
	}
	if own, err = policies.FromNode(in.path, in.scenario.ProfileNode); err != nil {
		return nil, nil, err
	}
	own, notes = how.apply(own)
	return own, notes, nil
}

// faults returns the faults by seed, and checks that they are possible on that many nodes.
func (in *input) faults(nodes int, seeds []uint64) (map[uint64][]sim.Fault, error) {
	if in.scenario == nil {
		return nil, nil
	}
	all := map[uint64][]sim.Fault{}
	for _, seed := range seeds {
		w, err := in.build(seed)
		if err != nil {
			return nil, err
		}
		if all[seed], err = exp.Faults(in.scenario, seed, w, nodes); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// scenarioCluster lays out the nodes of a scenario.
func scenarioCluster(s *scenario.Scenario) *hardware {
	return &hardware{nodes: exp.Nodes(s), uplinkBps: s.Uplink}
}

func isFile(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}
