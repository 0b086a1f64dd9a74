package exp

import (
	"fmt"
	"math"

	"heddle"
	"heddle/conf"
	"heddle/policies"
	"heddle/scenario"
	"heddle/sim"
	"heddle/sim/world"
	"heddle/workload"
)

// Options say how much of an experiment is run.
type Options struct {
	Seeds      []uint64
	SweepSeeds int  // the first so many seeds are used for sweeps; 0 leaves sweeps out
	Effects    bool // run the arms once more with each effect of the world switched off, the first seed
	Workers    int  // runs at once; 0 = one a processor
	Check      bool // recount the whole state after every step

	// Report is told after every run how many are done of how many; one call at a time.
	Report func(done, of int, what string)
	Stop   func() bool // whether to end early; may be nil
}

// ErrStopped says that Options.Stop ended it.
var ErrStopped = fmt.Errorf("stopped before the end")

// effects are what can be switched off, by the names scenarios use; memory_kill is off as it is.
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

// EffectNames are the names of the effects of the world that [Options].Effects switches off.
func EffectNames() []string {
	names := make([]string, len(effects))
	for i := range effects {
		names[i] = effects[i].name
	}
	return names
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

// Run runs experiments one after the other and hands each outcome over as it stands; what the outcome
// holds of single runs may be large, and is let go when each returns.
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
		if err := runParts(e, plans[i], &o, report); err != nil {
			return fmt.Errorf("experiment %s: %w", e.Name, err)
		}
		if err := each(e.judge(plans[i], &o)); err != nil {
			return err
		}
		plans[i] = nil
	}
	return nil
}

// parts lists the simulations: the arms for all seeds, then with an effect off, then the sweeps.
func (e *Experiment) parts(o *Options) []part {
	var out []part
	for i, seed := range o.Seeds {
		for a := range e.Arms {
			out = append(out, part{arm: &e.Arms[a], seed: seed, off: -1, trace: i == 0})
		}
	}
	if o.Effects {
		for off := range effects {
			for a := range e.Arms {
				out = append(out, part{arm: &e.Arms[a], seed: o.Seeds[0], off: off})
			}
		}
	}
	for s := range e.Sweeps {
		for _, seed := range o.Seeds[:min(o.SweepSeeds, len(o.Seeds))] {
			for a := range e.Sweeps[s].Arms {
				out = append(out, part{arm: &e.Sweeps[s].Arms[a], seed: seed, off: -1})
			}
		}
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

// run makes one simulation.
func (e *Experiment) run(p *part, o *Options) error {
	text, err := e.Scenario(p.arm, p.seed)
	if err != nil {
		return err
	}
	s, err := scenario.Parse(e.Name+".yaml", []byte(text))
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

// longest bounds a run, in case a profile leaves a job waiting for ever: a week, far beyond every
// experiment. Jobs that are not done by then count as not succeeded.
const longest = heddle.Time(7 * 24 * heddle.Hour)

// runs collects the runs of one seed, with the experiment's arms by name.
func runs(parts []part, seed uint64, off int, arms []Arm) Runs {
	r := Runs{Seed: seed, Arms: map[string]*sim.Result{}, Work: map[string]*workload.Workload{}}
	for i := range parts {
		p := &parts[i]
		if p.seed != seed || p.off != off || p.result == nil {
			continue
		}
		for a := range arms {
			if p.arm == &arms[a] {
				r.Arms[p.arm.Name], r.Work[p.arm.Name] = p.result, p.work
			}
		}
	}
	return r
}

// spread is the median, the lowest and the highest of values; NaN where one of them is.
func spread(values []float64) Spread {
	s := Spread{Values: values, Low: math.Inf(1), High: math.Inf(-1)}
	for _, v := range values {
		if math.IsNaN(v) {
			return Spread{Values: values, Median: v, Low: v, High: v}
		}
		s.Low, s.High = min(s.Low, v), max(s.High, v)
	}
	s.Median = Median(values)
	return s
}
