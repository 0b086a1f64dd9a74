package exp

import (
	"fmt"
	"slices"

	"heddle/conf"
	"heddle/internal/near"
	"heddle/policy"
	"heddle/sim"
	"heddle/workload"
)

// A System is what experiments belong to: a paper's system, or Heddle itself.
type System struct {
	Name     string // as commands and files have it: dress
	Title    string // as pages have it: DRESS
	What     string // what it does, in two sentences; Markdown
	Paper    string // authors and title; Markdown, empty where there is none
	Headline string // the experiment whose first figure stands for the system; empty = its first

	// SetUp says what of the workload and the world of its experiments was determined by what.
	SetUp []Decision

	Experiments func() []Experiment // in the paper's order
}

// A Decision is one about the set-up of a system's experiments: what a paper publishes of its baselines and its set-up may
// determine it, and a source outside the paper. What it publishes of its own system may not.
type Decision struct {
	What   string // "length of a Spark job"; Markdown, as the other two
	Chosen string // "90 to 200 s"
	By     string // "Capacity's makespan in Table II", "assumed: the paper is silent"
}

// An Experiment is one row of a paper's table of experiments: what is run, what is measured of it, and
// what was published.
type Experiment struct {
	System string // the name of its system
	Name   string // unique among all: coupling-two-greps
	Title  string // a sentence for people
	Source string // where the paper has it: "Fig. 1 and 2"
	Method string // how the paper's set-up was read, what was assumed and from which source; Markdown

	Work    Work     // of every arm that has none of its own
	Arms    []Arm    // the first is the baseline
	Metrics []Metric // the first is the headline
	Plots   []Plot
	Sweeps  []Sweep

	// Null are arms with the mechanism switched off, or with its decision replaced by a random one, and all else the same.
	// Each has the name of the arm that it stands for. A figure that they reach too, or a gain of which they have four fifths,
	// says nothing of the mechanism: it is shown and not counted.
	Null   []Arm
	Chance []Arm  // likewise, with a random decision, where those of Null have the mechanism off: some figures are reached by chance alone
	NullIs string // what both do, as a clause: "small jobs are not told from large ones"

	Mutations []Mutation

	// LivesOff names the effects of the world, as scenarios do, that the headline claims to live off. A
	// gain that survives without one of them is a defect.
	LivesOff []string

	// Traced keeps predictions and traces of tasks in every run, for metrics that live off them; else the
	// first seed alone has them.
	Traced bool

	// Given runs it in the given world, where every container lasts what its job says.
	Given bool
}

// A Work writes an arm's scenario for a seed: cluster, jobs and faults as a scenario file has them.
// Whatever it draws, it draws from the seed alone.
type Work func(seed uint64) (string, error)

// An Arm is one side of an experiment: a scheduler, and what it is given to do.
type Arm struct {
	Name    string   // as tables have it: fair, coupling β = 0.5
	Profile string   // a built-in profile
	Set     []string // changes of it, each as --set has them

	Work   Work                                    // nil = the experiment's
	Change func(seed uint64, w *workload.Workload) // of the jobs, for what a scenario cannot say; may be nil
	Hadoop func() *conf.Hadoop                     // nil = [conf.Default]; a new one at each call

	// Prepare may replace policies of a run before it begins, for what no option of a profile says; may be nil.
	Prepare func(set *policy.Set)
}

// A Mutation is a mechanism with a mistake in it: a rule off, a sign turned, a constant in place of an estimate. The figures
// that are the mechanism's own must be lost by it.
type Mutation struct {
	Name  string
	Arms  []Arm    // each has the name of the arm that it stands for
	Loses []string // metrics that are reached without it and must not be with it
}

// Arm returns the arm of a name, of the experiment or of one of its sweeps.
func (e *Experiment) Arm(name string) (*Arm, error) {
	var names []string
	lists := [][]Arm{e.Arms}
	for i := range e.Sweeps {
		lists = append(lists, e.Sweeps[i].Arms)
	}
	for _, arms := range lists {
		for i := range arms {
			if arms[i].Name == name {
				return &arms[i], nil
			}
			if !slices.Contains(names, arms[i].Name) {
				names = append(names, arms[i].Name)
			}
		}
	}
	return nil, fmt.Errorf("experiment %s has no arm %q; %s", e.Name, name, near.Names(name, names))
}

// Kind says what it means for a metric to be reached.
type Kind uint8

// The kinds of metric.
const (
	Gain     Kind = iota // reached from 0.8 to 1.5 of the published effect, exceeded above; of 0, reached if nothing is lost
	Cost                 // reached up to 1.25 of the published loss, exceeded where nothing is lost
	Level                // reached within 20 % of the published value
	Shape                // reached if a predicate holds, which is published as text
	Measured             // never counted: a time of our own code, what nobody published
	SetUp                // never counted: a baseline's figure, which says whether the set-up is the paper's
)

// String returns the kind as it stands in JSON.
func (k Kind) String() string {
	return [...]string{"gain", "cost", "level", "shape", "measured", "set-up"}[k]
}

// A Metric is one figure of an experiment beside the published one.
//
// Effects are written so that a larger number is a larger effect: "mean JCT, reduction", 39.1, %.
type Metric struct {
	Name      string
	Unit      string // %, s, points, MiB; empty for a plain number
	Kind      Kind
	Published float64
	Text      string // what was published of a Shape; of others, shown instead of the number where set

	// Of computes the figure from the runs of one seed; NaN where it does not apply.
	Of func(r Runs) float64

	// Bound is the most (of a Gain) or the least (of a Cost) that any schedule can come to in this set-up, computed from the
	// runs of one seed. A published figure beyond it is not attainable. nil = nothing is known.
	Bound   func(r Runs) float64
	BoundIs string // its arithmetic; Markdown

	// Holds is the predicate of a Shape over the runs of all seeds.
	Holds func(all []Runs) bool

	// Why is the best explanation for a figure that is not reached; it names the run that supports it,
	// a sweep or an effect switched off. It is shown only where the figure is not reached.
	Why string
}

// Runs are the runs of one seed.
type Runs struct {
	Seed uint64
	Arms map[string]*sim.Result        // by the arm's name
	Work map[string]*workload.Workload // what each was given to do
}

// Arm returns what an arm came to. It panics where the experiment has no such arm.
func (r Runs) Arm(name string) *sim.Result {
	if x, ok := r.Arms[name]; ok {
		return x
	}
	panic("exp: no arm " + name)
}

// A Sweep is a table without a published figure in each cell: each mechanism alone and left out, or a
// parameter over its range.
type Sweep struct {
	Name    string // unique in the experiment: ablation, beta
	Title   string
	Base    string // the experiment's arm that the others are held against
	Arms    []Arm
	Columns []Column
	Plot    bool // draw the first column over the arms
}

// A Column is one figure of each arm of a sweep.
type Column struct {
	Name, Unit string
	Of         func(base, x *sim.Result) float64
}

// PlotKind is the form of a plot.
type PlotKind uint8

// The forms, each as a paper has it.
const (
	RunningOverTime PlotKind = iota // running maps and reduces of each job over time, the first seed
	CDF                             // of JCT, the jobs of all seeds
	BarsPerJob                      // JCT of each job, median over seeds
	GaugeOverTime                   // a number a policy shows, the first seed
	Predicted                       // predicted and actual remaining time of reduces, the first seed
	Allocation                      // CPU and memory of a few tasks over time: what they got and what they used
)

// A Plot is one picture of an experiment.
type Plot struct {
	Kind  PlotKind
	Title string
	Arms  []string // empty = all
	Jobs  []string // ids; empty = all
	Gauge string   // of a GaugeOverTime
}
