package exp

import (
	"fmt"
	"slices"

	"heddle"
	"heddle/conf"
	"heddle/internal/median"
	"heddle/policies"
	"heddle/policy"
	"heddle/scenario"
	"heddle/sim"
	"heddle/sim/world"
	"heddle/workload"
)

// Options say how much of an experiment is run.
type Options struct {
	Seeds      []uint64
	MostSeeds  int  // while a figure is undecided, seeds after the last of Seeds are added, up to this many in all
	Null       bool // run the null arms; without them no figure is found to be reached by doing nothing
	Mutations  bool // run the mutations, with as many of the first seeds as an interval needs
	SweepSeeds int  // number of first seeds used for sweeps; 0 leaves sweeps out
	Effects    bool // run the arms once more with each effect of the world switched off, for the first seed
	Workers    int  // concurrent runs; 0 = one per processor
	Check      bool // recount the whole state after every step

	// Report is called after every run with how many of all runs are done, one call at a time.
	Report func(done, of int, what string)
	Stop   func() bool // whether to end early; may be nil
}

// ErrStopped means that Options.Stop ended the run.
var ErrStopped = fmt.Errorf("stopped before the end")

// effects lists what can be switched off, by the names scenarios use; memory_kill and page_cache are off anyway.
var effects = []struct {
	name string
	off  func(e *world.Effects)
}{
	{"locality", func(e *world.Effects) { e.Locality = false }},
	{"contention", func(e *world.Effects) { e.Contention = false }},
	{"skew", func(e *world.Effects) { e.Skew = false }},
	{"noise", func(e *world.Effects) { e.Noise = false }},
	{"memory", func(e *world.Effects) { e.Memory = false }},
	{"launch_delay", func(e *world.Effects) { e.LaunchDelay = false }},
	{"slow_nodes", func(e *world.Effects) { e.SlowNodes = false }},
}

// EffectNames returns the names of the effects of the world that [Options].Effects switches off.
func EffectNames() []string {
	names := make([]string, len(effects))
	for i := range effects {
		names[i] = effects[i].name
	}
	return names
}

// switchable returns the indices of the effects that the world of the experiment's first arm has. A given world has
// none.
func (e *Experiment) switchable() (on []int) {
	if e.Given {
		return nil
	}
	s, err := e.parse(&e.Arms[0], 1)
	if err != nil {
		return nil // the runs will report it
	}
	for i := range effects {
		has := world.Effects(s.Effects)
		if effects[i].off(&has); has != world.Effects(s.Effects) {
			on = append(on, i)
		}
	}
	return on
}

// A part is one simulation of an experiment.
type part struct {
	arm   *Arm
	seed  uint64
	off   int  // index into effects; −1 = none
	trace bool // keep what plots need

	result *sim.Result
	work   *workload.Workload
}

// Run runs experiments one after the other and hands over each outcome as soon as it is there. What an outcome holds of
// single runs may be large, and is released when each returns.
func Run(list []*Experiment, o Options, each func(*Outcome) error) error {
	total, done := 0, 0
	plans := make([][]part, len(list))
	for i, e := range list {
		plans[i] = e.parts(&o)
		total += len(plans[i])
	}
	for i, e := range list {
		report := func(p *part) {
			done++
			if o.Report != nil {
				o.Report(done, total, e.Name+", "+p.arm.Name)
			}
		}
		run := func(parts []part) error {
			if err := runParts(e, parts, &o, report); err != nil {
				return fmt.Errorf("experiment %s: %w", e.Name, err)
			}
			return nil
		}
		parts, seeds := plans[i], o.Seeds
		plans[i] = nil
		if err := run(parts); err != nil {
			return err
		}
		x := e.judge(parts, seeds, &o)
		for x.undecided() && len(seeds) < o.MostSeeds {
			more := Seeds(seeds[len(seeds)-1]+1, min(median.Least, o.MostSeeds-len(seeds)))
			add := e.plain(more, &o)
			total += len(add)
			if err := run(add); err != nil {
				return err
			}
			parts, seeds = append(parts, add...), slices.Concat(seeds, more)
			x = e.judge(parts, seeds, &o)
		}
		e.beside(x, parts, &o)
		if err := each(x); err != nil {
			return err
		}
	}
	return nil
}

// Seeds returns n consecutive seeds from first on.
func Seeds(first uint64, n int) []uint64 {
	out := make([]uint64, n)
	for i := range out {
		out[i] = first + uint64(i)
	}
	return out
}

// plain lists the simulations by which figures are judged: the arms and the null arms, for all seeds.
func (e *Experiment) plain(seeds []uint64, o *Options) []part {
	var out []part
	for _, seed := range seeds {
		for a := range e.Arms {
			out = append(out, part{arm: &e.Arms[a], seed: seed, off: -1, trace: seed == o.Seeds[0]})
		}
		if !o.Null {
			continue
		}
		for _, null := range [][]Arm{e.Null, e.Chance} {
			for a := range null {
				out = append(out, part{arm: &null[a], seed: seed, off: -1})
			}
		}
	}
	return out
}

// parts lists the simulations of the first seeds: those of [Experiment.plain], then those with an effect off, the
// mutations and the sweeps.
func (e *Experiment) parts(o *Options) []part {
	out := e.plain(o.Seeds, o)
	if o.Effects {
		for _, off := range e.switchable() {
			for a := range e.Arms {
				out = append(out, part{arm: &e.Arms[a], seed: o.Seeds[0], off: off})
			}
		}
	}
	list := func(arms []Arm, seeds int) {
		for _, seed := range o.Seeds[:min(seeds, len(o.Seeds))] {
			for a := range arms {
				out = append(out, part{arm: &arms[a], seed: seed, off: -1})
			}
		}
	}
	for m := range e.Mutations {
		if o.Mutations {
			list(e.Mutations[m].Arms, median.Least)
		}
	}
	for s := range e.Sweeps {
		list(e.Sweeps[s].Arms, o.SweepSeeds)
	}
	return out
}

func runParts(e *Experiment, parts []part, o *Options, report func(*part)) error {
	stopped := false
	p := pool{workers: o.Workers, stop: func() bool {
		stopped = stopped || o.Stop != nil && o.Stop()
		return stopped
	}}
	err := p.run(len(parts), func(i int) (func(), error) {
		x := &parts[i]
		err := e.run(x, o)
		if err != nil {
			err = fmt.Errorf("%s, seed %d: %w", x.arm.Name, x.seed, err)
		}
		return func() { report(x) }, err
	})
	if err == nil && stopped {
		return ErrStopped
	}
	return err
}

// Scenario returns the text of the scenario that an arm of the experiment is given for a seed.
func (e *Experiment) Scenario(a *Arm, seed uint64) (string, error) {
	w := a.Work
	if w == nil {
		w = e.Work
	}
	return w(seed)
}

// parse returns the scenario that an arm runs with a seed.
func (e *Experiment) parse(a *Arm, seed uint64) (*scenario.Scenario, error) {
	text, err := e.Scenario(a, seed)
	if err != nil {
		return nil, err
	}
	return scenario.Parse(e.Name+".yaml", []byte(text))
}

// run runs one simulation.
func (e *Experiment) run(p *part, o *Options) error {
	s, err := e.parse(p.arm, p.seed)
	if err != nil {
		return err
	}
	if p.work, err = s.Build(p.seed); err != nil {
		return err
	}
	if p.arm.Change != nil {
		p.arm.Change(p.seed, p.work)
	}
	profile, err := policies.Load(p.arm.Profile, p.arm.Set)
	if err != nil {
		return err
	}
	h := conf.Default()
	if p.arm.Hadoop != nil {
		h = p.arm.Hadoop()
	}
	nodes := Nodes(s)
	faults, err := Faults(s, p.seed, p.work, len(nodes))
	if err != nil {
		return err
	}
	plan := Plan{
		Workload: p.work, Profiles: []*policies.Profile{profile}, Seeds: []uint64{p.seed}, Conf: h,
		Nodes: nodes, UplinkBps: s.Uplink, Effects: world.Effects(s.Effects),
		Faults: func(uint64) []sim.Fault { return faults },
		Stock:  true,
		Given:  e.Given, KeepTasks: true, Trace: p.trace || e.Traced, Check: o.Check, MaxTime: longest, Workers: 1, Stop: o.Stop,
	}
	if p.arm.Prepare != nil {
		plan.Prepare = func(_ int, set *policy.Set) { p.arm.Prepare(p.seed, set) }
	}
	if p.off >= 0 {
		effects[p.off].off(&plan.Effects)
	}
	results, err := plan.Run()
	if err != nil {
		return err
	}
	if p.result = results[0][0]; p.result == nil || p.result.Cut && o.Stop != nil && o.Stop() {
		return ErrStopped
	}
	return nil
}

// longest bounds a run, in case a profile leaves a job waiting for ever: a week, far longer than any experiment. Jobs
// that are not done by then count as not succeeded.
const longest = heddle.Time(7 * 24 * heddle.Hour)

// runs collects the runs of one seed, keyed by the names of the experiment's arms. Arms in instead replace those with
// the same names.
func runs(parts []part, seed uint64, off int, arms, instead []Arm) Runs {
	r := Runs{Seed: seed, Arms: map[string]*sim.Result{}, Work: map[string]*workload.Workload{}}
	for _, list := range [][]Arm{arms, instead} {
		for i := range parts {
			p := &parts[i]
			if p.seed != seed || p.off != off || p.result == nil {
				continue
			}
			for a := range list {
				if p.arm == &list[a] {
					r.Arms[p.arm.Name], r.Work[p.arm.Name] = p.result, p.work
				}
			}
		}
	}
	return r
}
