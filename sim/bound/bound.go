// Package bound computes what no scheduler can beat: the least makespan and the least mean job completion time that a
// workload allows on a cluster, and the load it offers.
//
// It is arithmetic over arrivals, critical paths and work. It knows nothing of nodes, containers or policies, so
// whatever it leaves out (fragmentation, heartbeats, locality) only makes a bound lower.
package bound

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"heddle"
)

// A Job is what the bounds need to know of a job. Both amounts assume the shortest durations its tasks can have: with
// longer ones the results would not be bounds.
type Job struct {
	Arrival      heddle.Time
	CriticalPath heddle.Span             // the longest chain of tasks that wait for each other
	Work         [heddle.NumDims]float64 // amount held × seconds, summed over its tasks
}

// Bounds is the least that a workload needs on a cluster, under any scheduler.
type Bounds struct {
	Makespan   heddle.Span   // first arrival to last end
	MakespanBy string        // the binding bound: "critical path" or "work: memory" …
	MeanJCT    heddle.Span   // mean over the jobs of arrival to end
	MeanJCTBy  string        // "each job at its shortest" or "shortest remaining work: memory" …
	Jobs       []heddle.Span // arrival to end of each job if it had the cluster to itself
}

// Of computes the bounds of jobs, in any order, on a cluster of total resources, in O(n log n). Without jobs there are
// no bounds: the result is zero.
//
// The error names the first job, by index, that no cluster or not this one can run: it has a negative or non-finite
// amount, work in a dimension the cluster lacks, or more than a hundred years of it.
func Of(jobs []Job, total heddle.Resource) (Bounds, error) {
	if len(jobs) == 0 {
		return Bounds{}, nil
	}
	need, err := needs(jobs, total)
	if err != nil {
		return Bounds{}, err
	}
	byArrival := make([]int, len(jobs))
	for i := range byArrival {
		byArrival[i] = i
	}
	slices.SortStableFunc(byArrival, func(a, b int) int { return cmp.Compare(jobs[a].Arrival, jobs[b].Arrival) })

	b := Bounds{Jobs: make([]heddle.Span, len(jobs)), MakespanBy: "critical path", MeanJCTBy: "each job at its shortest"}
	first := jobs[byArrival[0]].Arrival
	for i := range jobs {
		b.Jobs[i] = jobs[i].CriticalPath
		for d := range need {
			b.Jobs[i] = max(b.Jobs[i], need[d][i])
		}
		b.Makespan = max(b.Makespan, jobs[i].Arrival.Since(first)+jobs[i].CriticalPath)
	}
	b.MeanJCT = mean(b.Jobs)
	for d := range heddle.Dim(heddle.NumDims) {
		if total[d] == 0 {
			continue
		}
		if s := area(jobs, byArrival, need[d]); s > b.Makespan {
			b.Makespan, b.MakespanBy = s, "work: "+d.String()
		}
		if s := mean(shortestRemaining(jobs, byArrival, need[d])); s > b.MeanJCT {
			b.MeanJCT, b.MeanJCTBy = s, "shortest remaining work: "+d.String()
		}
	}
	return b, nil
}

// longest is the longest span and the latest time accepted: a hundred years, so that sums of a few of them stay within
// 64 bits.
const longest = 100 * 365 * 24 * heddle.Hour

// rounding is the relative error that the caller's sums over tasks and the division may have. Work is lowered by it, so
// that the bounds stay bounds.
const rounding = 1e-12

// needs returns how long each job's work would keep the whole cluster busy, per dimension, rounded down to the
// nanosecond: from there on, all arithmetic is exact.
func needs(jobs []Job, total heddle.Resource) (need [heddle.NumDims][]heddle.Span, err error) {
	for d := range heddle.Dim(heddle.NumDims) {
		need[d] = make([]heddle.Span, len(jobs))
		var sum heddle.Span
		for i := range jobs {
			w := jobs[i].Work[d]
			if !(w >= 0) || math.IsInf(w, 1) {
				return need, fmt.Errorf("job %d: work in %v is %v; want a finite amount, at least 0", i, d, w)
			}
			if w == 0 {
				continue
			}
			if total[d] <= 0 {
				return need, fmt.Errorf("job %d needs %v, and the cluster has none", i, d)
			}
			ns := w / float64(total[d]) * 1e9 * (1 - rounding)
			if ns > float64(longest-sum) {
				return need, fmt.Errorf("job %d: with it the work in %v would keep the cluster busy for over 100 years", i, d)
			}
			need[d][i] = heddle.Span(ns)
			sum += need[d][i]
		}
	}
	for i := range jobs {
		if a := jobs[i].Arrival; a < 0 || a > heddle.Time(longest) {
			return need, fmt.Errorf("job %d: arrival is %g s; want 0 to 100 years", i, a.Seconds())
		}
		if c := jobs[i].CriticalPath; c < 0 || c > longest {
			return need, fmt.Errorf("job %d: critical path is %g s; want 0 to 100 years", i, c.Seconds())
		}
	}
	return need, nil
}

// area returns the largest value, over all arrivals t, of t (since the first) plus the work that arrives from t on.
func area(jobs []Job, byArrival []int, need []heddle.Span) heddle.Span {
	first := jobs[byArrival[0]].Arrival
	var from, most heddle.Span
	for _, i := range slices.Backward(byArrival) {
		from += need[i]
		most = max(most, jobs[i].Arrival.Since(first)+from)
	}
	return most
}

// mean returns the mean of spans, rounded down, even if their sum might overflow.
func mean(spans []heddle.Span) heddle.Span {
	n := heddle.Span(len(spans))
	var whole, rest heddle.Span
	for _, s := range spans {
		whole += s / n
		rest += s % n
	}
	return whole + rest/n
}
