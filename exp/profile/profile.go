// Package profile compares the profile heddle with fair and capacity, on workloads of many kinds and in every column
// that users look at.
//
// Nothing was published about that; it has a goal instead. A [Case] is a workload on a cluster at a load. Each case is
// simulated as heddle rm under fair, capacity and heddle. Heddle runs both without node agents and with them, and gets
// a [Row] for each. A profile must be good everywhere, so a row compares every column with the better of fair and
// capacity in that column, even if that is fair in one column and capacity in another.
//
//	heddle exp run profile
package profile

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"heddle"
	"heddle/exp"
	"heddle/policies"
	"heddle/sim"
)

// The goals for a row.
const (
	MostWorse     = 1.05              // times the better of fair and capacity, in every column
	Resolution    = 1 * heddle.Second // a difference no larger than this counts as none: nodes report once a second
	MostMean      = 0.8               // times fair's mean completion time
	MostSmall     = 0.7               // times the better p95 of small jobs
	smallJobTasks = 10
)

// A Column is a figure of a run, in seconds; less is better.
type Column struct {
	Name string
	of   func(r *sim.Result) float64
}

// Columns lists what is compared, in the order of tables.
var Columns = []Column{
	{"mean", func(r *sim.Result) float64 { return exp.Mean(spans(r, jct, nil)) }},
	{"p50", quantile(0.5, jct, nil)},
	{"p95", quantile(0.95, jct, nil)},
	{"p99", quantile(0.99, jct, nil)},
	{"wait p50", quantile(0.5, wait, nil)},
	{"wait p95", quantile(0.95, wait, nil)},
	{"wait p99", quantile(0.99, wait, nil)},
	{"starvation", func(r *sim.Result) float64 { return exp.Mean(spans(r, starvation, nil)) }},
	{"small p95", quantile(0.95, jct, func(j *sim.JobResult) bool { return j.Tasks <= smallJobTasks })},
	{"makespan", exp.Makespan},
}

// The indices of columns that have their own goals.
const (
	meanColumn  = 0
	smallColumn = 8
)

func jct(j *sim.JobResult) heddle.Span        { return j.JCT }
func wait(j *sim.JobResult) heddle.Span       { return j.Wait }
func starvation(j *sim.JobResult) heddle.Span { return j.Starvation }

// spans returns the spans of the chosen jobs in seconds, in ascending order, leaving out those that do not apply.
func spans(r *sim.Result, of func(*sim.JobResult) heddle.Span, pick exp.Pick) []float64 {
	var out []float64
	exp.Jobs(r, pick, func(j *sim.JobResult) {
		if s := of(j); s != sim.NoSpan {
			out = append(out, s.Seconds())
		}
	})
	slices.Sort(out)
	return out
}

// quantile computes the smallest span that the given share of the chosen jobs does not exceed; NaN if there is none.
func quantile(share float64, of func(*sim.JobResult) heddle.Span, pick exp.Pick) func(*sim.Result) float64 {
	return func(r *sim.Result) float64 {
		list := spans(r, of, pick)
		if len(list) == 0 {
			return math.NaN()
		}
		return list[int(math.Ceil(share*float64(len(list))))-1]
	}
}

// A Cell is a column of a row: medians over the seeds. Seconds are NaN if a column does not apply.
type Cell struct {
	Fair, Capacity, Ours float64    // seconds
	Ratio                exp.Spread // ours to the better of fair and capacity, by seed
	Worse                bool       // than the goal allows: see [MostWorse] and [Resolution]
}

// Sure reports whether a worse column is worse beyond chance: the interval of the median lies above what the goal
// allows.
func (c *Cell) Sure() bool { return c.Worse && c.Ratio.From > MostWorse }

// A Row is the result of one case, with agents or without. Its figures cover the jobs that succeeded under all three
// profiles. The makespan is of whole runs, unless they did not lose the same jobs.
type Row struct {
	Case      *Case
	Agent     bool
	Jobs      int
	Failed    int // jobs that succeeded under fair or capacity but not under heddle, over all seeds
	Cells     []Cell
	MeanRatio exp.Spread // mean completion time relative to fair's, by seed
	Ordering  float64    // the same for what ordering could reach: see [Options.Clairvoyant]; NaN if unknown
	Alone     float64    // the same for each job with the cluster to itself; NaN if unknown
	// SmallAlone is the p95 of small jobs that have the cluster to themselves, relative to the better of fair and
	// capacity; NaN if it is unknown, or if there are no small jobs.
	SmallAlone float64
}

// Worst returns the largest ratio among columns that are worse than the goal allows; 0 if there are none.
func (r *Row) Worst() float64 {
	worst := 0.0
	for _, c := range r.Cells {
		if c.Worse {
			worst = max(worst, c.Ratio.Median)
		}
	}
	return worst
}

// NoneWorse reports whether no column is worse and no job was lost.
func (r *Row) NoneWorse() bool { return r.Worst() == 0 && r.Failed == 0 }

// MeanReached reports whether the mean completion time is as far below fair's as the goal demands, and no job was lost:
// whoever loses jobs has more room for the others.
func (r *Row) MeanReached() bool { return r.MeanRatio.Median <= MostMean && r.Failed == 0 }

// SmallReached reports the same for small jobs; if there are none, only whether no job was lost.
func (r *Row) SmallReached() bool {
	ratio := r.Cells[smallColumn].Ratio.Median
	return (ratio <= MostSmall || math.IsNaN(ratio)) && r.Failed == 0
}

// Options say how much is run.
type Options struct {
	Seeds   []uint64
	Set     []string // changes of the profile heddle, each as in --set
	Workers int      // concurrent runs; 0 = one per processor
	// Clairvoyant also runs each job alone, and all profiles with orders that know what jobs need: see
	// [exp.Plan.Clairvoyant]. The lowest mean completion time of the three, by seed, is an estimate of what ordering
	// could reach.
	Clairvoyant bool

	// Report is called after every run with how many of all runs are done, one call at a time.
	Report func(done, of int, what string)
	Stop   func() bool // whether to end early; may be nil
}

// Run simulates cases and returns their rows: those that lose first, the worst on top. With an error it returns the
// rows of the cases before.
func Run(cases []Case, o Options) ([]Row, error) {
	rows, err := run(cases, &o)
	slices.SortStableFunc(rows, func(a, b Row) int {
		return cmp.Or(cmp.Compare(b.Failed, a.Failed), cmp.Compare(b.Worst(), a.Worst()))
	})
	return rows, err
}

// run returns the rows in the order of the cases.
func run(cases []Case, o *Options) (rows []Row, err error) {
	arms, err := arms(o.Set)
	if err != nil {
		return nil, err
	}
	done, total := 0, len(cases)*len(arms)*len(o.Seeds)
	if o.Clairvoyant {
		total += len(cases) * (len(arms) + 1) * len(o.Seeds)
	}
	for i := range cases {
		c := &cases[i]
		plan, err := c.plan(o.Seeds)
		if err != nil {
			return rows, fmt.Errorf("%s: %w", c.Name, err)
		}
		plan.Profiles, plan.Seeds, plan.Workers, plan.Stop = arms, o.Seeds, o.Workers, o.Stop
		plan.Done = func(int, *sim.Result) {
			done++
			if o.Report != nil {
				o.Report(done, total, c.Name)
			}
		}
		bare, agent, err := compare(c, plan, o)
		if err != nil {
			return rows, fmt.Errorf("%s: %w", c.Name, err)
		}
		rows = append(rows, bare, agent)
	}
	return rows, nil
}

// compare runs the plan of a case and returns its rows without agents and with them.
func compare(c *Case, plan *exp.Plan, o *Options) (bare, agent Row, err error) {
	runs, err := whole(plan)
	if err != nil {
		return bare, agent, err
	}
	bare, agent = row(c, runs[0], runs[1], runs[2], false), row(c, runs[0], runs[1], runs[3], true)
	if !o.Clairvoyant {
		return bare, agent, nil
	}
	apart, err := plan.Alone()
	if err != nil {
		return bare, agent, err
	}
	alone, err := whole(apart)
	if err != nil {
		return bare, agent, err
	}
	knowing, err := whole(plan.Clairvoyant(alone[0]))
	if err != nil {
		return bare, agent, err
	}
	bare.Ordering = ordering(runs[0], knowing[0], knowing[1], knowing[2])
	agent.Ordering = ordering(runs[0], knowing[0], knowing[1], knowing[3])
	bare.Alone = ordering(runs[0], alone[0])
	bare.SmallAlone = row(c, runs[0], runs[1], alone[0], false).Cells[smallColumn].Ratio.Median
	agent.Alone, agent.SmallAlone = bare.Alone, bare.SmallAlone
	return bare, agent, nil
}

// whole runs a plan to its end; it is an error if the plan is stopped before.
func whole(p *exp.Plan) ([][]*sim.Result, error) {
	runs, err := p.Run()
	if err == nil && p.Stop != nil && p.Stop() {
		err = exp.ErrStopped
	}
	return runs, err
}

// ordering returns the lowest mean completion time of several profiles' runs by seed, relative to fair's, as the median
// over seeds. Each is compared with fair over the jobs that succeeded under both. A run that loses a job which fair
// completes does not count.
func ordering(fair []*sim.Result, profiles ...[]*sim.Result) float64 {
	mean := Columns[meanColumn].of
	var ratios []float64
	for s := range fair {
		best := math.Inf(1)
		for _, runs := range profiles {
			if lost(runs[s], fair[s]) == 0 {
				both := together(fair[s], runs[s])
				best = min(best, over(mean(both[1]), mean(both[0])))
			}
		}
		ratios = append(ratios, best)
	}
	return median(ratios)
}

// arms returns fair, capacity and heddle without agents, and heddle with realistic agents; set holds changes of heddle.
func arms(set []string) ([]*policies.Profile, error) {
	heddle, err := policies.Load("heddle", set)
	if err != nil {
		return nil, err
	}
	heddle.Agents = true
	var out []*policies.Profile
	for _, name := range []string{"fair", "capacity"} {
		p, err := policies.Load(name, nil)
		if err != nil {
			return nil, err
		}
		bare, _ := p.WithoutAgent()
		out = append(out, bare)
	}
	bare, _ := heddle.WithoutAgent()
	return append(out, bare, heddle), nil
}

// row compares the runs of heddle with those of the others, seed by seed.
func row(c *Case, fair, capacity, ours []*sim.Result, agent bool) Row {
	r := Row{Case: c, Agent: agent, Jobs: len(ours[0].Jobs), Ordering: math.NaN(), Alone: math.NaN(), SmallAlone: math.NaN()}
	alike := make([][]*sim.Result, len(ours)) // by seed: the three runs with the jobs that succeeded in all of them
	for s := range ours {
		alike[s] = together(fair[s], capacity[s], ours[s])
		r.Failed += lost(ours[s], fair[s], capacity[s])
	}
	for _, col := range Columns {
		var f, k, o, ratios []float64
		for s, x := range alike {
			f, k, o = append(f, col.of(x[0])), append(k, col.of(x[1])), append(o, col.of(x[2]))
			ratios = append(ratios, over(o[s], min(f[s], k[s])))
		}
		cell := Cell{Fair: median(f), Capacity: median(k), Ours: median(o), Ratio: exp.SpreadOf(ratios)}
		cell.Worse = cell.Ratio.Median > MostWorse && cell.Ours-min(cell.Fair, cell.Capacity) > Resolution.Seconds()
		r.Cells = append(r.Cells, cell)
	}
	var means []float64
	for _, x := range alike {
		mean := Columns[meanColumn].of
		means = append(means, over(mean(x[2]), mean(x[0])))
	}
	r.MeanRatio = exp.SpreadOf(means)
	return r
}

// together returns the runs of one workload with only the jobs that succeeded in all of them: a run that loses a slow
// job must not have a shorter mean for it. If the runs did not lose the same jobs, their makespans are of those jobs
// too: a run that loses a long job may end earlier.
func together(runs ...*sim.Result) []*sim.Result {
	out := make([]*sim.Result, len(runs))
	differ := false
	for i, r := range runs {
		with := *r
		with.Jobs = nil
		for j := range r.Jobs {
			if !slices.ContainsFunc(runs, func(x *sim.Result) bool { return x.Jobs[j].State != sim.Succeeded }) {
				with.Jobs = append(with.Jobs, r.Jobs[j])
			}
		}
		differ = differ || lost(r, runs...) > 0
		out[i] = &with
	}
	if differ {
		for _, r := range out {
			r.Makespan = makespan(r.Jobs)
		}
	}
	return out
}

// makespan returns the time from the first submission of jobs to the last end; 0 if there are none.
func makespan(jobs []sim.JobResult) heddle.Span {
	if len(jobs) == 0 {
		return 0
	}
	first, last := jobs[0].Submit, jobs[0].End
	for i := range jobs {
		first, last = min(first, jobs[i].Submit), max(last, jobs[i].End)
	}
	return last.Since(first)
}

// lost returns how many jobs did not succeed in a run but in one of the others.
func lost(run *sim.Result, others ...*sim.Result) (n int) {
	for j := range run.Jobs {
		if run.Jobs[j].State != sim.Succeeded && slices.ContainsFunc(others, func(x *sim.Result) bool { return x.Jobs[j].State == sim.Succeeded }) {
			n++
		}
	}
	return n
}

// over returns the ratio of a to b; it is 1 if both are zero.
func over(a, b float64) float64 {
	if a == b {
		return 1
	}
	return a / b
}

// median returns the median of values; NaN if a value is.
func median(values []float64) float64 {
	if slices.ContainsFunc(values, math.IsNaN) {
		return math.NaN()
	}
	return exp.Median(values)
}
