package report

import (
	"math"
	"slices"

	"heddle"
	"heddle/sim"
)

// A Metric names one figure of a run.
type Metric uint8

// The metrics. Times are in seconds, utilisations and LocalMaps are fractions from 0 to 1.
//
// Completion, waiting and starvation times are those of jobs that succeeded; other jobs are only counted. Failed counts
// failed and rejected jobs, Unfinished those that a cut run left behind.
const (
	Jobs Metric = iota
	Completed
	Failed
	Unfinished
	JCTMean
	JCTP50
	JCTP95
	JCTP99
	WaitMean
	WaitP50
	WaitP95
	WaitP99
	StarvationMean // of jobs with reduces
	StarvationP50
	StarvationP95
	StarvationP99
	Makespan
	LocalMaps // of maps that had a split to be near to
	CPUUtilisation
	MemoryUtilisation
	JCTOverBound // mean completion time ÷ its lower bound
	Wall         // seconds the run took on this machine
	RecordedP50  // |predicted − recorded| ÷ recorded completion time, of jobs whose trace records it
	RecordedP95
	SlowdownMean // completion time ÷ that with the cluster to itself, of jobs for which the latter is known
	SlowdownP50
	SlowdownP95
	SlowdownP99

	NumMetrics = 28
)

// Figures holds a value of every metric; NaN if it does not apply.
type Figures [NumMetrics]float64

// Measure computes the figures of one run.
//
// A lower bound on the mean over all jobs says nothing about the mean over some of them. If some jobs did not succeed,
// the mean of the others is compared with the mean of their own bounds.
func Measure(r *sim.Result) Figures {
	var f Figures
	for m := range f {
		f[m] = math.NaN()
	}
	var jct, wait, starvation, off, slowdown []float64
	var completed, failed, own float64
	for i := range r.Jobs {
		j := &r.Jobs[i]
		switch j.State {
		case sim.Succeeded:
			completed++
		case sim.Failed, sim.Rejected:
			failed++
			continue
		default:
			continue
		}
		own += j.Bound.Seconds()
		jct = appendSpan(jct, j.JCT)
		wait = appendSpan(wait, j.Wait)
		starvation = appendSpan(starvation, j.Starvation)
		if j.Alone > 0 {
			slowdown = append(slowdown, j.JCT.Seconds()/j.Alone.Seconds())
		}
		if j.Recorded > 0 {
			off = append(off, math.Abs((j.JCT-j.Recorded).Seconds())/j.Recorded.Seconds())
		}
	}
	all := float64(len(r.Jobs))
	f[Jobs], f[Completed], f[Failed], f[Unfinished] = all, completed, failed, all-completed-failed
	f.spread(JCTMean, jct)
	f.spread(WaitMean, wait)
	f.spread(StarvationMean, starvation)
	f[Makespan] = r.Makespan.Seconds()
	f[CPUUtilisation], f[MemoryUtilisation] = r.CPUUsed, r.MemoryHeld
	if r.LocalisedMaps > 0 {
		f[LocalMaps] = float64(r.LocalMaps) / float64(r.LocalisedMaps)
	}
	bound := r.MeanJCTBound.Seconds()
	if completed < all {
		bound = own / completed
	}
	if bound > 0 {
		f[JCTOverBound] = f[JCTMean] / bound
	}
	f.spread(SlowdownMean, slowdown)
	f[Wall] = r.Wall
	slices.Sort(off)
	f[RecordedP50], f[RecordedP95] = Quantile(off, 0.5), Quantile(off, 0.95)
	return f
}

func appendSpan(to []float64, s heddle.Span) []float64 {
	if s < 0 { // NoSpan
		return to
	}
	return append(to, s.Seconds())
}

// spread sets the four metrics from first on to mean, median, 95th and 99th percentile of xs, or leaves them unchanged
// if xs is empty. It sorts xs.
func (f *Figures) spread(first Metric, xs []float64) {
	if len(xs) == 0 {
		return
	}
	slices.Sort(xs)
	f[first] = mean(xs)
	f[first+1], f[first+2], f[first+3] = Quantile(xs, 0.5), Quantile(xs, 0.95), Quantile(xs, 0.99)
}

func mean(xs []float64) float64 {
	sum := 0.0
	for _, x := range xs {
		sum += x
	}
	return sum / float64(len(xs))
}

// Quantile returns the q-quantile, 0 ≤ q ≤ 1, of values sorted ascending. It interpolates linearly between the two
// nearest ranks, to the value at rank 1 + q·(n−1), which is also the default of NumPy, R and spreadsheets. It returns
// NaN if there are no values.
func Quantile(sorted []float64, q float64) float64 {
	if len(sorted) == 0 {
		return math.NaN()
	}
	at := q * float64(len(sorted)-1)
	lo := int(at)
	if lo+1 >= len(sorted) {
		return sorted[len(sorted)-1]
	}
	return sorted[lo] + (at-float64(lo))*(sorted[lo+1]-sorted[lo])
}

// A Summary is a profile over its seeds: mean, lowest and highest value of every metric, over the runs to which it
// applies.
type Summary struct {
	Profile         string
	Runs            int
	Mean, Low, High Figures
	Won             int // seeds under which no rival that completed as many jobs had a lower mean completion time
	bySeed          map[uint64]Figures
}

// Summaries computes the summary of every profile, in order.
func (c *Comparison) Summaries() []Summary {
	out := make([]Summary, len(c.Profiles))
	for p := range c.Profiles {
		var runs []Figures
		bySeed := map[uint64]Figures{}
		for _, r := range c.Profiles[p].Runs {
			f := Measure(r)
			runs, bySeed[r.Seed] = append(runs, f), f
		}
		out[p] = summarise(runs)
		out[p].Profile, out[p].bySeed = c.Profiles[p].Name, bySeed
	}
	for _, seed := range c.Seeds() {
		for _, p := range winners(seed, out) {
			out[p].Won++
		}
	}
	return out
}

func summarise(runs []Figures) Summary {
	s := Summary{Runs: len(runs)}
	var xs []float64
	for m := range s.Mean {
		xs = xs[:0]
		for _, f := range runs {
			if !math.IsNaN(f[m]) {
				xs = append(xs, f[m])
			}
		}
		if len(xs) == 0 {
			s.Mean[m], s.Low[m], s.High[m] = math.NaN(), math.NaN(), math.NaN()
			continue
		}
		s.Mean[m], s.Low[m], s.High[m] = mean(xs), slices.Min(xs), slices.Max(xs)
	}
	return s
}

// winners lists the profiles with the lowest mean completion time under a seed, among at least two that completed as
// many jobs as any: fewer jobs have an easier mean.
func winners(seed uint64, sums []Summary) []int {
	var won []int
	var best Figures
	rivals := 0
	for p := range sums {
		f, ran := sums[p].bySeed[seed]
		switch {
		case !ran || math.IsNaN(f[JCTMean]) || rivals > 0 && f[Completed] < best[Completed]:
			continue
		case rivals == 0 || f[Completed] > best[Completed]:
			won, best, rivals = append(won[:0], p), f, 0
		case f[JCTMean] < best[JCTMean]:
			won, best = append(won[:0], p), f
		case f[JCTMean] == best[JCTMean]:
			won = append(won, p)
		}
		rivals++
	}
	if rivals < 2 {
		return nil
	}
	return won
}
