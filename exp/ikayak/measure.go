package ikayak

import (
	"math"
	"slices"
	"strings"

	"heddle"
	"heddle/exp"
	"heddle/sim"
)

// ofProgram chooses the jobs of iKayak's workloads that run a program: their ids begin with its name.
func ofProgram(program string) exp.Pick {
	return func(j *sim.JobResult) bool { return strings.HasPrefix(j.ID, program+"-") }
}

// largest returns the largest value of a figure over programs, which is what the paper means by "up to".
func largest(programs []string, of func(pick exp.Pick) float64) float64 {
	most := math.Inf(-1)
	for _, p := range programs {
		most = max(most, of(ofProgram(p)))
	}
	return most
}

// meanReservation returns for how long nodes were reserved for each of the chosen jobs on average, summed over nodes,
// in seconds.
func meanReservation(r *sim.Result, pick exp.Pick) float64 {
	return exp.MeanOf(r, pick, func(j *sim.JobResult) float64 { return j.Reservation.Seconds() })
}

// desktops is the first desktop among the nodes of iKayak's testbed. The desktops come last.
const desktops heddle.NodeID = 8

// onNodes calls f for the successful tasks of a kind on nodes from first on.
func onNodes(r *sim.Result, k heddle.Kind, first heddle.NodeID, f func(t *sim.TaskResult)) {
	for i := range r.Tasks {
		if t := &r.Tasks[i]; t.Kind == k && t.Status == heddle.Success && t.Node >= first {
			f(t)
		}
	}
}

// mapsPerHour returns how many maps per hour succeeded on nodes from the given one on, from the first one's start to
// the last one's end.
func mapsPerHour(r *sim.Result, node heddle.NodeID) float64 {
	n, first, last := 0, heddle.Time(math.MaxInt64), heddle.Time(0)
	onNodes(r, heddle.Map, node, func(t *sim.TaskResult) {
		n++
		first, last = min(first, t.Started), max(last, t.Ended)
	})
	return float64(n) / last.Since(first).Seconds() * 3600
}

// meanTaskOn returns the mean time of tasks of a kind on nodes from the given one on, in seconds.
func meanTaskOn(r *sim.Result, k heddle.Kind, node heddle.NodeID) float64 {
	sum, n := 0.0, 0
	onNodes(r, k, node, func(t *sim.TaskResult) {
		sum += t.Ended.Since(t.Started).Seconds()
		n++
	})
	return sum / float64(n)
}

// mapWaves returns how many maps ran one after the other in a slot: all maps over the most that ran at once.
func mapWaves(r *sim.Result) float64 {
	maps := 0
	onNodes(r, heddle.Map, 0, func(*sim.TaskResult) { maps++ })
	return float64(maps) / float64(slices.Max(r.Series.Maps))
}

// localExecutors returns the percentage of executors that were granted on a node for which they were asked.
func localExecutors(r *sim.Result) float64 {
	near, n := 0, 0
	for i := range r.Tasks {
		if t := &r.Tasks[i]; t.Kind == heddle.Executor {
			n++
			if t.At == heddle.NodeLocal {
				near++
			}
		}
	}
	return 100 * float64(near) / float64(n)
}

// suspendedTime returns how much of the total running time of reduces they were suspended, in percent, by the profile's
// own gauge.
func suspendedTime(r *sim.Result) float64 {
	frozen, ran := 0.0, 0.0
	for i := range r.Gauges {
		if r.Gauges[i].Name == "ikayak.suspended" {
			for _, n := range r.Gauges[i].Values {
				frozen += float64(n) * r.Series.Step.Seconds()
			}
		}
	}
	onNodes(r, heddle.Reduce, 0, func(t *sim.TaskResult) { ran += t.Ended.Since(t.Started).Seconds() })
	return 100 * frozen / ran
}

// shrunkMaps returns the percentage of maps that were given less than they asked for.
func shrunkMaps(r *sim.Result) float64 {
	n, shrunk := 0, 0
	onNodes(r, heddle.Map, 0, func(t *sim.TaskResult) {
		n++
		if t.Limit != t.Size {
			shrunk++
		}
	})
	return 100 * float64(shrunk) / float64(n)
}

// afterMaps returns how long MapReduce jobs ran after their last map ended, as a mean in seconds.
func afterMaps(r *sim.Result) float64 {
	last := make([]heddle.Time, len(r.Jobs))
	onNodes(r, heddle.Map, 0, func(t *sim.TaskResult) { last[t.Job] = max(last[t.Job], t.Ended) })
	sum, n := 0.0, 0
	for i := range r.Jobs {
		if last[i] > 0 {
			sum += r.Jobs[i].End.Since(last[i]).Seconds()
			n++
		}
	}
	return sum / float64(n)
}
