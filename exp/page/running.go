package page

import (
	"math"
	"slices"

	"heddle"
	"heddle/exp"
	"heddle/report"
	"heddle/sim"
)

// mostJobs is the largest number of jobs that are told apart by colour; for more, only their sum is drawn.
const mostJobs = report.Colours

// running draws the running maps and reduces of each job over time, with a panel for each arm. Executors and plain
// containers count as maps.
func running(p *exp.Plot, runs []report.Named) (*report.Plot, bool) {
	if len(runs) == 0 {
		return nil, false
	}
	x := &report.Plot{Title: p.Title, About: "Running maps and reduces of each job over time."}
	var results []*sim.Result
	for _, r := range runs {
		results = append(results, r.Run)
	}
	ids := jobIDs(p, results)
	lines := 2 * min(len(ids), mostJobs)
	if len(ids) > mostJobs {
		lines = 2
		x.Keys = []report.Key{{Name: "all jobs' maps"}, {Name: "reduces", Style: report.Dashed}}
	} else {
		for i, id := range ids {
			x.Keys = append(x.Keys, report.Key{Name: id, Colour: i})
		}
	}
	end, top := 0.0, 0.0
	columns := 2 * report.PointsOf(lines*len(runs)) // few jobs run all the time
	for _, r := range runs {
		for i := range r.Run.Jobs {
			if j := &r.Run.Jobs[i]; slices.Contains(ids, j.ID) {
				end = math.Max(end, j.End.Seconds())
			}
		}
	}
	for _, r := range runs {
		panel := report.Panel{X: report.Axis{Unit: report.Times, High: end}}
		if len(runs) > 1 {
			panel.Title = r.Name
		}
		for i, sums := range counts(r.Run, ids, end, columns) {
			for k, style := range []report.Style{report.Solid, report.Dashed} {
				if points := busy(sums[k], end/float64(columns)); len(points) > 0 {
					panel.Curves = append(panel.Curves, report.Curve{Colour: i, Style: style, Step: true, Points: points})
					top = math.Max(top, slices.Max(sums[k]))
				}
			}
		}
		x.Panels = append(x.Panels, panel)
	}
	for i := range x.Panels {
		x.Panels[i].Y = report.Axis{Label: "running containers; solid: maps, dashed: reduces", Unit: report.Counts, High: top}
	}
	return x, top > 0
}

// busy returns the part of a line between its first and last value above 0, starting and ending at 0.
func busy(values []float64, width float64) [][2]float64 {
	above := func(v float64) bool { return v > 0 }
	first := slices.IndexFunc(values, above)
	if first < 0 {
		return nil
	}
	points := [][2]float64{{float64(first) * width, 0}}
	last := len(values) - 1
	for !above(values[last]) {
		last--
	}
	for i := first; i <= last; i++ {
		points = append(points, [2]float64{float64(i) * width, values[i]})
	}
	return append(points, [2]float64{float64(last+1) * width, values[last]}, [2]float64{float64(last+1) * width, 0})
}

// counts returns how many maps and how many reduces of each job ran, averaged over each column. For too many jobs it
// returns their sums.
func counts(r *sim.Result, ids []string, end float64, columns int) [][2][]float64 {
	n := len(ids)
	if n > mostJobs {
		n = 1
	}
	out := make([][2][]float64, n)
	for i := range out {
		out[i] = [2][]float64{make([]float64, columns), make([]float64, columns)}
	}
	width := end / float64(columns)
	place := make([]int, len(r.Jobs)) // index in out; −1 = not shown
	for i := range r.Jobs {
		place[i] = min(slices.Index(ids, r.Jobs[i].ID), n-1)
	}
	for i := range r.Tasks {
		t := &r.Tasks[i]
		job := place[t.Job]
		if t.Kind == heddle.AM || !t.Ran() || job < 0 {
			continue
		}
		kind := 0
		if t.Kind == heddle.Reduce {
			kind = 1
		}
		into := out[job][kind]
		from, to := t.Started.Seconds(), math.Min(t.Ended.Seconds(), end)
		for c := int(from / width); c < columns && float64(c)*width < to; c++ {
			overlap := math.Min(to, float64(c+1)*width) - math.Max(from, float64(c)*width)
			into[c] += math.Max(overlap, 0) / width
		}
	}
	return out
}
