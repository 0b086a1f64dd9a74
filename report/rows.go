package report

import (
	"math"
	"slices"
)

// A row is one line of the result table, in the terminal and on the page.
type row struct {
	label  string
	metric Metric
	format func(float64) string
	better int  // -1: less is better, 1: more is, 0: neither
	first  bool // begins a group
	odd    bool // only shown if it is not 0
}

var rows = []row{
	{"jobs", Jobs, count, 0, true, false},
	{"completed", Completed, count, 0, false, false},
	{"failed or rejected", Failed, count, 0, false, true},
	{"unfinished", Unfinished, count, 0, false, true},
	{"JCT mean", JCTMean, seconds, -1, true, false},
	{"JCT median", JCTP50, seconds, -1, false, false},
	{"JCT p95", JCTP95, seconds, -1, false, false},
	{"JCT p99", JCTP99, seconds, -1, false, false},
	{"mean JCT ÷ bound", JCTOverBound, ratio, -1, false, false},
	{"slowdown mean", SlowdownMean, ratio, -1, false, false},
	{"slowdown p95", SlowdownP95, ratio, -1, false, false},
	{"waiting mean", WaitMean, seconds, -1, true, false},
	{"waiting median", WaitP50, seconds, -1, false, false},
	{"waiting p95", WaitP95, seconds, -1, false, false},
	{"waiting p99", WaitP99, seconds, -1, false, false},
	{"starvation mean", StarvationMean, seconds, -1, true, false},
	{"starvation median", StarvationP50, seconds, -1, false, false},
	{"starvation p95", StarvationP95, seconds, -1, false, false},
	{"starvation p99", StarvationP99, seconds, -1, false, false},
	{"makespan", Makespan, seconds, -1, true, false},
	{"local maps", LocalMaps, percent, 1, false, false},
	{"CPU used", CPUUtilisation, percent, 0, false, false},
	{"memory held", MemoryUtilisation, percent, 0, false, false},
	{"off record median", RecordedP50, percent, 0, true, false},
	{"off record p95", RecordedP95, percent, 0, false, false},
}

// shown lists the rows worth showing. If slowdowns are known, the comparison with a bound says less.
func shown(sums []Summary) []row {
	var out []row
	for _, r := range rows {
		if r.odd && !anyAbove(sums, r.metric) || r.metric >= RecordedP50 && !applies(sums, r.metric) ||
			r.metric == JCTOverBound && applies(sums, SlowdownMean) {
			continue
		}
		out = append(out, r)
	}
	return out
}

// applies reports whether a figure applies to any profile.
func applies(sums []Summary, m Metric) bool {
	return slices.ContainsFunc(sums, func(s Summary) bool { return !math.IsNaN(s.Mean[m]) })
}

func anyAbove(sums []Summary, m Metric) bool {
	for i := range sums {
		if sums[i].High[m] > 0 {
			return true
		}
	}
	return false
}

// comparable says which profiles completed as many jobs as any. A profile that completed fewer jobs has an easier mean,
// so its times cannot be compared with theirs.
func comparable(sums []Summary) []bool {
	most := 0.0
	for i := range sums {
		if n := sums[i].Mean[Completed]; n > most {
			most = n
		}
	}
	out := make([]bool, len(sums))
	for i := range sums {
		out[i] = most > 0 && sums[i].Mean[Completed] == most
	}
	return out
}

// rivals counts the comparable profiles.
func rivals(sums []Summary) int {
	n := 0
	for _, yes := range comparable(sums) {
		n += pick(yes, 1, 0)
	}
	return n
}

// best says which of the comparable profiles have the best value of a row, judging by what is shown. It names none if
// all show the same, or if neither less nor more is better.
func (r *row) best(sums []Summary) []bool {
	out := make([]bool, len(sums))
	best, differ := math.NaN(), false
	eligible := comparable(sums)
	for i := range sums {
		v := sums[i].Mean[r.metric]
		switch {
		case r.better == 0 || !eligible[i] || math.IsNaN(v):
			continue
		case math.IsNaN(best):
			best = v
			continue
		case r.format(v) != r.format(best):
			differ = true
		}
		if v*float64(r.better) > best*float64(r.better) {
			best = v
		}
	}
	for i := range sums {
		out[i] = differ && eligible[i] && r.format(sums[i].Mean[r.metric]) == r.format(best)
	}
	return out
}

// spread writes the lowest and highest value of a row, or nothing if all runs show the same.
func (r *row) spread(s *Summary) string {
	if s.Runs < 2 || math.IsNaN(s.Mean[r.metric]) {
		return ""
	}
	low, high := r.format(s.Low[r.metric]), r.format(s.High[r.metric])
	if low == high {
		return ""
	}
	return between(low, high)
}
