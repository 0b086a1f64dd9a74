package exp

import (
	"math"
	"slices"

	"heddle"
	"heddle/sim"
)

// A Pick chooses jobs of a run; nil chooses all.
type Pick func(j *sim.JobResult) bool

// IDs chooses the jobs with the given ids.
func IDs(ids ...string) Pick {
	return func(j *sim.JobResult) bool { return slices.Contains(ids, j.ID) }
}

// Of chooses the jobs of a framework.
func Of(f heddle.Framework) Pick {
	return func(j *sim.JobResult) bool { return j.Framework == f }
}

// WithReduces chooses jobs with reduces.
func WithReduces(j *sim.JobResult) bool { return j.Reduces > 0 }

// Jobs calls f for the chosen jobs that succeeded.
func Jobs(r *sim.Result, pick Pick, f func(j *sim.JobResult)) {
	for i := range r.Jobs {
		if j := &r.Jobs[i]; j.State == sim.Succeeded && (pick == nil || pick(j)) {
			f(j)
		}
	}
}

// MeanJCT returns the mean completion time of the chosen jobs, in seconds. It is NaN if one of them did not succeed,
// because the mean of the others would flatter.
func MeanJCT(r *sim.Result, pick Pick) float64 {
	return MeanOf(r, pick, func(j *sim.JobResult) float64 { return j.JCT.Seconds() })
}

// MeanWait returns the mean waiting time of the chosen jobs, in seconds; NaN likewise.
func MeanWait(r *sim.Result, pick Pick) float64 {
	return MeanOf(r, pick, func(j *sim.JobResult) float64 { return j.Wait.Seconds() })
}

// MeanOf returns the mean of a figure of the chosen jobs; NaN if one of them did not succeed.
func MeanOf(r *sim.Result, pick Pick, of func(j *sim.JobResult) float64) float64 {
	sum, n := 0.0, 0
	for i := range r.Jobs {
		j := &r.Jobs[i]
		switch {
		case pick != nil && !pick(j):
			continue
		case j.State != sim.Succeeded:
			return math.NaN()
		}
		sum += of(j)
		n++
	}
	return sum / float64(n)
}

// JCT returns the completion time of one job, in seconds; NaN if it did not succeed.
func JCT(r *sim.Result, id string) float64 { return MeanJCT(r, IDs(id)) }

// LeastJCT returns the least mean completion time of the chosen jobs under any schedule, in seconds: the mean of their
// own bounds. It is NaN if one of them did not succeed.
func LeastJCT(r *sim.Result, pick Pick) float64 {
	return MeanOf(r, pick, func(j *sim.JobResult) float64 { return j.Bound.Seconds() })
}

// Reduction returns by how many percent ours is below base.
func Reduction(base, ours float64) float64 { return 100 * (1 - ours/base) }

// Increase returns by how many percent ours is above base.
func Increase(base, ours float64) float64 { return 100 * (ours/base - 1) }

// MeanTask returns the mean time from start to end of the successful tasks of a kind, in seconds.
func MeanTask(r *sim.Result, k heddle.Kind, pick Pick) float64 {
	sum, n := 0.0, 0
	for i := range r.Tasks {
		t := &r.Tasks[i]
		if t.Kind == k && t.Status == heddle.Success && (pick == nil || pick(&r.Jobs[t.Job])) {
			sum += t.Ended.Since(t.Started).Seconds()
			n++
		}
	}
	return sum / float64(n)
}

// LocalRate returns the percentage of maps that ran on a node holding their split.
func LocalRate(r *sim.Result) float64 { return 100 * float64(r.LocalMaps) / float64(r.LocalisedMaps) }

// Makespan returns the makespan of a run, in seconds.
func Makespan(r *sim.Result) float64 { return r.Makespan.Seconds() }

// JCTs returns a function that computes [MeanJCT] of the chosen jobs.
func JCTs(pick Pick) func(*sim.Result) float64 {
	return func(r *sim.Result) float64 { return MeanJCT(r, pick) }
}

// Under returns a function that computes a figure of an arm's run.
func Under(arm string, of func(*sim.Result) float64) func(Runs) float64 {
	return func(r Runs) float64 { return of(r.Arm(arm)) }
}

// Reduced returns a function that computes the reduction of a figure from one arm to another.
func Reduced(base, ours string, of func(*sim.Result) float64) func(Runs) float64 {
	return func(r Runs) float64 { return Reduction(of(r.Arm(base)), of(r.Arm(ours))) }
}

// Increased returns a function that computes the increase of a figure from one arm to another.
func Increased(base, ours string, of func(*sim.Result) float64) func(Runs) float64 {
	return func(r Runs) float64 { return Increase(of(r.Arm(base)), of(r.Arm(ours))) }
}

// ReducedJCT is [Reduced] for the mean completion time of the chosen jobs.
func ReducedJCT(base, ours string, pick Pick) func(Runs) float64 {
	return Reduced(base, ours, JCTs(pick))
}

// MostReducedJCT returns a function that bounds [ReducedJCT] for every schedule.
func MostReducedJCT(base string, pick Pick) func(Runs) float64 {
	return Under(base, func(x *sim.Result) float64 { return Reduction(MeanJCT(x, pick), LeastJCT(x, pick)) })
}

// MostReducedJCTIs states the arithmetic of [MostReducedJCT].
const MostReducedJCTIs = "1 − the mean of the jobs' shortest possible times divided by the baseline's mean time: a job takes at least its critical path on the fastest core and disk, whatever else runs."

// Figures returns a column with a figure of each arm; the base does not matter.
func Figures(name, unit string, of func(*sim.Result) float64) Column {
	return Column{Name: name, Unit: unit, Of: func(_, x *sim.Result) float64 { return of(x) }}
}

// Reductions returns a column with the reduction of a figure from the base to each arm.
func Reductions(name string, of func(*sim.Result) float64) Column {
	return Column{Name: name, Unit: "%", Of: func(base, x *sim.Result) float64 { return Reduction(of(base), of(x)) }}
}

// Increases returns a column with the increase of a figure from the base to each arm.
func Increases(name string, of func(*sim.Result) float64) Column {
	return Column{Name: name, Unit: "%", Of: func(base, x *sim.Result) float64 { return Increase(of(base), of(x)) }}
}

// MedianOf returns the median over seeds of a figure; NaN if it is NaN for one of them.
func MedianOf(all []Runs, of func(Runs) float64) float64 {
	return over(all, of).Median
}

// Above reports whether the interval that holds a figure's median over seeds in 95 of 100 samples lies above 0.
func Above(all []Runs, of func(Runs) float64) bool {
	return over(all, of).From > 0
}

// over returns the spread of a figure over seeds.
func over(all []Runs, of func(Runs) float64) Spread {
	var values []float64
	for _, r := range all {
		values = append(values, of(r))
	}
	return SpreadOf(values)
}

// Mean returns the arithmetic mean, or NaN if there are no values.
func Mean(of []float64) float64 {
	sum := 0.0
	for _, x := range of {
		sum += x
	}
	return sum / float64(len(of))
}
