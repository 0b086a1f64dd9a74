package coupling

import (
	"cmp"
	"math"
	"slices"

	"heddle"
	"heddle/exp"
	"heddle/sim"
)

// starvation returns how long reduces that were launched after their job's last map ended had to wait since then, in
// seconds, as the mean over the chosen jobs; NaN if a job did not succeed or has no reduce.
func starvation(r *sim.Result, pick exp.Pick) float64 {
	return exp.MeanOf(r, pick, func(j *sim.JobResult) float64 {
		if j.Starvation == sim.NoSpan {
			return math.NaN()
		}
		return j.Starvation.Seconds()
	})
}

// slotTime returns how long containers of a kind were held in total, in seconds.
func slotTime(r *sim.Result, k heddle.Kind) float64 {
	sum := 0.0
	for i := range r.Tasks {
		if t := &r.Tasks[i]; t.Kind == k {
			sum += t.Ended.Since(t.Granted).Seconds()
		}
	}
	return sum
}

// mapsEnd returns when the last map of a job ended, in seconds since its submission; NaN if it has none.
func mapsEnd(r *sim.Result, id string) float64 {
	end := math.NaN()
	for i := range r.Tasks {
		t := &r.Tasks[i]
		if j := &r.Jobs[t.Job]; t.Kind == heddle.Map && j.ID == id && t.Status == heddle.Success {
			if at := t.Ended.Since(j.Submit).Seconds(); !(at <= end) {
				end = at
			}
		}
	}
	return end
}

// firstReduce returns when the first reduce of a job was launched, in seconds since its submission; NaN if none was.
func firstReduce(r *sim.Result, id string) float64 {
	first := math.NaN()
	for i := range r.Tasks {
		t := &r.Tasks[i]
		if j := &r.Jobs[t.Job]; t.Kind == heddle.Reduce && j.ID == id {
			if at := t.Granted.Since(j.Submit).Seconds(); !(at >= first) {
				first = at
			}
		}
	}
	return first
}

// longestJCT returns the longest completion time of a job, in seconds.
func longestJCT(r *sim.Result) float64 {
	longest := 0.0
	exp.Jobs(r, nil, func(j *sim.JobResult) { longest = max(longest, j.JCT.Seconds()) })
	return longest
}

// slots is the number of map slots per node.
const slots = 4

// timesByNode returns how long a map takes on average on each node that ran any, in seconds, the shortest first, and
// how many maps there were.
func timesByNode(r *sim.Result) (times []float64, maps int) {
	for n := range r.Nodes {
		sum, count := 0.0, 0
		for i := range r.Tasks {
			if t := &r.Tasks[i]; t.Kind == heddle.Map && int(t.Node) == n && t.Status == heddle.Success {
				sum += t.Ended.Since(t.Started).Seconds()
				count++
			}
		}
		if maps += count; count > 0 {
			times = append(times, sum/float64(count))
		}
	}
	slices.Sort(times)
	return times, maps
}

// shortestMapTime returns how long the maps of a run take on average on the node where they take least, in seconds; NaN
// if there were none.
func shortestMapTime(r *sim.Result) float64 {
	times, _ := timesByNode(r)
	if len(times) == 0 {
		return math.NaN()
	}
	return times[0]
}

// leastMapTime returns the smallest mean time of a run's maps, in seconds, that the nodes can reach within a given time
// on four slots each, if a map takes on a node what the maps of the run take there on average.
func leastMapTime(r *sim.Result, within heddle.Span) float64 {
	times, maps := timesByNode(r)
	left, total := float64(maps), 0.0
	for _, t := range times {
		here := min(left, slots*within.Seconds()/t)
		left -= here
		total += here * t
	}
	return total / (float64(maps) - left)
}

// sharedJCT returns the mean time from submission to the last map of a run's jobs, in seconds, if no slot of any node
// is ever empty, the jobs whose maps have not ended share all slots equally, and a map takes on a node what the maps of
// the run take there on average. If no job ever has a larger share than that, the mean is no smaller.
func sharedJCT(r *sim.Result) float64 {
	rate := 0.0 // maps per second
	times, _ := timesByNode(r)
	for _, t := range times {
		rate += slots / t
	}
	left := make([]float64, len(r.Jobs)) // maps
	for i := range r.Tasks {
		if t := &r.Tasks[i]; t.Kind == heddle.Map && t.Status == heddle.Success {
			left[t.Job]++
		}
	}
	var here []int // jobs that have arrived and have not ended, in order of submission
	now, sum := 0.0, 0.0
	for next := 0; next < len(left) || len(here) > 0; {
		to, each := math.Inf(1), rate/float64(max(len(here), 1))
		if next < len(left) {
			to = r.Jobs[next].Submit.Seconds()
		}
		for _, i := range here {
			to = min(to, now+left[i]/each)
		}
		for _, i := range here {
			left[i] -= each * (to - now)
		}
		sum += float64(len(here)) * (to - now)
		now = to
		here = slices.DeleteFunc(here, func(i int) bool { return left[i] < 1e-9 })
		for ; next < len(left) && r.Jobs[next].Submit.Seconds() <= now; next++ {
			here = append(here, next)
		}
	}
	return sum / float64(len(left))
}

// mostMapsFor returns the number of running maps, above 0, at which the run spends the most time.
func mostMapsFor(r *sim.Result) float64 {
	type edge struct {
		at heddle.Time
		by int
	}
	var edges []edge
	for i := range r.Tasks {
		if t := &r.Tasks[i]; t.Kind == heddle.Map {
			edges = append(edges, edge{t.Granted, 1}, edge{t.Ended, -1})
		}
	}
	slices.SortFunc(edges, func(a, b edge) int { return cmp.Compare(a.at, b.at) })
	var spent []heddle.Span
	running := 0
	for i, e := range edges {
		if i > 0 && running > 0 {
			for len(spent) <= running {
				spent = append(spent, 0)
			}
			spent[running] += e.at.Since(edges[i-1].at)
		}
		running += e.by
	}
	best := 0
	for n, s := range spent {
		if s > spent[best] {
			best = n
		}
	}
	return float64(best)
}

// peakIntake returns the rate, in MB/s, at which the node that currently receives the most map input over the network
// receives it, as the mean over time. Each remote read counts evenly from its map's start to its end.
func peakIntake(r *sim.Result, input func(job int, task int32) int64) float64 {
	const step = 10 * float64(heddle.Second)
	steps := int(float64(r.Makespan)/step) + 1
	rate := make([]float64, len(r.Nodes)*steps)
	for i := range r.Tasks {
		t := &r.Tasks[i]
		if t.Kind != heddle.Map || t.At == heddle.NodeLocal || t.Status != heddle.Success || t.Ended <= t.Started {
			continue
		}
		per := float64(input(t.Job, t.Index)) / float64(t.Ended-t.Started)
		for s := int(float64(t.Started) / step); s <= int(float64(t.Ended)/step) && s < steps; s++ {
			from, to := max(float64(t.Started), float64(s)*step), min(float64(t.Ended), float64(s+1)*step)
			rate[int(t.Node)*steps+s] += per * (to - from) / step
		}
	}
	sum := 0.0
	for s := range steps {
		most := 0.0
		for n := range r.Nodes {
			most = max(most, rate[n*steps+s])
		}
		sum += most
	}
	return sum / float64(steps) * float64(heddle.Second) / 1e6
}

// readable is the smallest difference between two curves that Fig. 16 shows: a hundredth of all jobs.
const readable = 0.01

// sooner reports whether the completion times of one arm's jobs, over all runs together, are nowhere behind those of
// the other, as far as can be read: the share done within t is at least as large for every t.
func sooner(all []exp.Runs, base, ours string) bool {
	times := func(arm string) []heddle.Span {
		var out []heddle.Span
		for _, r := range all {
			exp.Jobs(r.Arm(arm), nil, func(j *sim.JobResult) { out = append(out, j.JCT) })
		}
		slices.Sort(out)
		return out
	}
	a, b := times(base), times(ours)
	if len(a) == 0 || len(a) != len(b) {
		return false
	}
	done := 0 // of ours
	for i := range a {
		for done < len(b) && b[done] <= a[i] {
			done++
		}
		if float64(i+1-done) > readable*float64(len(a)) {
			return false
		}
	}
	return true
}
