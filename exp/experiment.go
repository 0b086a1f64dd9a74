package exp

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"heddle/conf"
	"heddle/internal/near"
	"heddle/policy"
	"heddle/sim"
	"heddle/workload"
)

// A System is what experiments belong to: a paper's system, or Heddle itself.
type System struct {
	Name     string // as used in commands and files: dress
	Title    string // as used on pages: DRESS
	What     string // what it does, in two sentences; Markdown
	Paper    string // authors and title; Markdown, empty if there is none
	Headline string // the experiment whose first figure represents the system; empty = its first

	// SetUp says what determined the workload and the world of the system's experiments.
	SetUp []Decision

	Experiments func() []Experiment // in the paper's order
}

// A Decision is one decision about the set-up of a system's experiments. It may follow from what a paper publishes of
// its baselines and its set-up, or from a source outside the paper, but not from what the paper publishes of its own
// system.
type Decision struct {
	What   string // "length of a Spark job"; Markdown, like the other two
	Chosen string // "90 to 200 s"
	By     string // "Capacity's makespan in Table II", "assumed: the paper is silent"
}

// An Experiment is one row of a paper's table of experiments: what is run, what is measured, and what was published.
type Experiment struct {
	System string // the name of its system
	Name   string // unique among all experiments: coupling-two-greps
	Title  string // a sentence for people
	Source string // where it is in the paper: "Fig. 1 and 2"
	Method string // how the paper's set-up was read, and what was assumed from which source; Markdown

	Work    Work     // for every arm that has none of its own
	Arms    []Arm    // the first is the baseline
	Metrics []Metric // the first is the headline
	Plots   []Plot
	Sweeps  []Sweep

	// Null holds arms with the mechanism switched off, or with its decision replaced by a random one, and everything
	// else the same. Each has the name of the arm that it replaces. A figure that they reach too, or a gain of which
	// they have four fifths, says nothing about the mechanism: it is shown but not counted.
	Null   []Arm
	Chance []Arm  // likewise with a random decision, if those of Null have the mechanism off: chance alone reaches some figures
	NullIs string // what both do, as a clause: "small jobs are not told from large ones"

	Mutations []Mutation

	// LivesOff names the effects of the world, as in scenarios, on which the headline claims to depend. A gain that
	// survives without one of them is a defect.
	LivesOff []string

	// Traced keeps predictions and traces of tasks in every run, for metrics that need them; otherwise only the first
	// seed has them.
	Traced bool

	// Given runs the experiment in the given world, where every container lasts as long as its job says.
	Given bool
}

// A Work writes an arm's scenario for a seed: cluster, jobs and faults as in a scenario file. Its random draws depend
// on the seed alone.
type Work func(seed uint64) (string, error)

// An Arm is one side of an experiment: a scheduler, and the work it is given.
type Arm struct {
	Name    string   // as in tables: fair, coupling β = 0.5
	Profile string   // a built-in profile
	Set     []string // changes of the profile, each as in --set

	Work   Work                                    // nil = the experiment's
	Change func(seed uint64, w *workload.Workload) // changes the jobs, for what a scenario cannot say; may be nil
	Hadoop func() *conf.Hadoop                     // nil = [conf.Default]; a new one at each call

	// Prepare may replace policies of a run before it begins, for what no profile option can say; may be nil. Its
	// random draws depend on the seed, so that an arm that decides by chance is another one with each seed.
	Prepare func(seed uint64, set *policy.Set)
}

// Chance returns the stream of random draws of an arm that decides by chance. No other part of a run draws from it.
func Chance(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 0xc4a7ce)) }

// A Mutation is a mechanism with a mistake in it: a rule switched off, a sign flipped, a constant in place of an
// estimate. The figures that come from the mechanism must be lost with it.
type Mutation struct {
	Name  string
	Arms  []Arm    // each has the name of the arm that it replaces
	Loses []string // metrics that are reached without the mutation and must not be with it
}

// Arm returns the arm with a name, from the experiment or one of its sweeps.
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

// Kind says when a metric is reached.
type Kind uint8

// The kinds of metric.
const (
	Gain     Kind = iota // reached from 0.8 to 1.5 of the published effect, exceeded above; if that is 0, reached if nothing is lost
	Cost                 // reached up to 1.25 of the published loss, exceeded if nothing is lost
	Level                // reached within 20 % of the published value
	Shape                // reached if a predicate holds, which is published as text
	Measured             // never counted: a time of our own code, or a figure that nobody published
	SetUp                // never counted: a baseline's figure, which says whether the set-up is the paper's
)

// String returns the kind as it appears in JSON.
func (k Kind) String() string {
	return [...]string{"gain", "cost", "level", "shape", "measured", "set-up"}[k]
}

// A Metric is one figure of an experiment and the published one.
//
// Effects are written so that a larger number is a larger effect: "mean JCT, reduction", 39.1, %.
type Metric struct {
	Name      string
	Unit      string // %, s, points, MiB; empty for a plain number
	Kind      Kind
	Published float64
	Text      string // what was published, for a Shape; for others, shown instead of the number if set

	// Of computes the figure from the runs of one seed; it returns NaN if the figure does not apply.
	Of func(r Runs) float64

	// Bound is the most (for a Gain) or the least (for a Cost) that any schedule can reach in this set-up, computed
	// from the runs of one seed. A published figure beyond it is not attainable. nil = nothing is known.
	Bound   func(r Runs) float64
	BoundIs string // its arithmetic; Markdown

	// Holds is the predicate of a Shape over the runs of all seeds.
	Holds func(all []Runs) bool

	// Why is the best explanation for a figure that is not reached. It names the run that supports it, a sweep or an
	// effect switched off. It is shown only if the figure is not reached.
	Why string
}

// Runs are the runs of one seed.
type Runs struct {
	Seed uint64
	Arms map[string]*sim.Result        // by the arm's name
	Work map[string]*workload.Workload // the work that each was given
}

// Arm returns the result of an arm. It panics if the experiment has no such arm.
func (r Runs) Arm(name string) *sim.Result {
	if x, ok := r.Arms[name]; ok {
		return x
	}
	panic("exp: no arm " + name)
}

// A Sweep is a table whose cells have no published figures: each mechanism alone and left out, or a parameter over its
// range.
type Sweep struct {
	Name    string // unique in the experiment: ablation, beta
	Title   string
	Base    string // the experiment's arm that the others are compared against
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

// The forms of plots, as in the papers.
const (
	RunningOverTime PlotKind = iota // running maps and reduces of each job over time, for the first seed
	CDF                             // of JCT, for the jobs of all seeds
	BarsPerJob                      // JCT of each job, median over seeds
	GaugeOverTime                   // a number that a policy shows, for the first seed
	Predicted                       // predicted and actual remaining time of reduces, for the first seed
	Allocation                      // CPU and memory of a few tasks over time: what they were given and what they used
)

// A Plot is one picture of an experiment.
type Plot struct {
	Kind  PlotKind
	Title string
	Arms  []string // empty = all
	Jobs  []string // ids; empty = all
	Gauge string   // of a GaugeOverTime
}
