package page

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"heddle/exp"
	"heddle/report"
	"heddle/sim"
)

// draw makes the pictures of a plot, or none if the runs have nothing to show.
func draw(e *exp.Experiment, p *exp.Plot, all []exp.Runs) []*report.Plot {
	if len(all) == 0 {
		return nil
	}
	arms := p.Arms
	if len(arms) == 0 {
		for i := range e.Arms {
			arms = append(arms, e.Arms[i].Name)
		}
	}
	var runs []report.Named
	for _, a := range arms {
		runs = append(runs, report.Named{Name: a, Run: all[0].Arm(a)})
	}
	one := func(x *report.Plot, ok bool) []*report.Plot {
		if !ok {
			return nil
		}
		return []*report.Plot{x}
	}
	switch p.Kind {
	case exp.RunningOverTime:
		return one(running(p, runs))
	case exp.CDF:
		return one(cdf(p, arms, all))
	case exp.BarsPerJob:
		return one(barsPerJob(p, arms, all))
	case exp.GaugeOverTime:
		return one(report.Gauge(p.Title, p.Gauge, runs))
	case exp.Predicted:
		return one(report.Predictions(p.Title, runs))
	case exp.Allocation:
		var out []*report.Plot
		for _, r := range runs {
			title := p.Title
			if len(runs) > 1 {
				title += ", " + r.Name
			}
			if x, ok := report.Allocation(title, r, p.Jobs); ok {
				out = append(out, x)
			}
		}
		return out
	}
	return nil
}

// wanted reports whether a plot shows a job.
func wanted(p *exp.Plot, id string) bool { return len(p.Jobs) == 0 || slices.Contains(p.Jobs, id) }

// cdf draws which share of jobs was done within which time, for the jobs of all seeds together.
func cdf(p *exp.Plot, arms []string, all []exp.Runs) (*report.Plot, bool) {
	x := &report.Plot{Title: p.Title, About: "Cumulative distribution of job completion times."}
	var panel report.Panel
	lo, hi := math.Inf(1), 0.0
	for i, arm := range arms {
		var times []float64
		for _, r := range all {
			exp.Jobs(r.Arm(arm), func(j *sim.JobResult) bool { return wanted(p, j.ID) }, func(j *sim.JobResult) {
				times = append(times, j.JCT.Seconds())
			})
		}
		if len(times) == 0 {
			continue
		}
		slices.Sort(times)
		lo, hi = math.Min(lo, times[0]), math.Max(hi, times[len(times)-1])
		x.Keys = append(x.Keys, report.Key{Name: arm, Colour: i})
		x.About += fmt.Sprintf(" %s: half of the jobs within %s, 95 %% within %s.", arm,
			exp.Figure(report.Quantile(times, 0.5), "s"), exp.Figure(report.Quantile(times, 0.95), "s"))
		panel.Curves = append(panel.Curves, quantiles(times, i))
	}
	panel.X = report.TimesBetween(lo, hi, "job completion time")
	panel.Y = report.Axis{Label: "of jobs within", Unit: report.Shares, High: 1}
	x.Panels = []report.Panel{panel}
	return x, len(panel.Curves) > 0
}

// quantiles returns a distribution as a curve; with few values it has a step for each.
func quantiles(sorted []float64, colour int) report.Curve {
	c := report.Curve{Colour: colour}
	const steps = 160
	if n := len(sorted); n <= steps {
		c.Step = true
		c.Points = append(c.Points, [2]float64{sorted[0], 0})
		for i, v := range sorted {
			c.Points = append(c.Points, [2]float64{v, float64(i+1) / float64(n)})
		}
		return c
	}
	for s := 0; s <= steps; s++ {
		q := float64(s) / steps
		c.Points = append(c.Points, [2]float64{report.Quantile(sorted, q), q})
	}
	return c
}

// mostBars is the largest number of bars in a plot.
const mostBars = 240

// barsPerJob draws each job's completion time under each arm: the median over seeds, with their range.
func barsPerJob(p *exp.Plot, arms []string, all []exp.Runs) (*report.Plot, bool) {
	x := &report.Plot{Title: p.Title, About: "Completion time of each job under " + strings.Join(arms, ", ") + "."}
	for i, a := range arms {
		x.Keys = append(x.Keys, report.Key{Name: a, Colour: i, Style: report.Filled})
	}
	panel := report.Panel{Y: report.Axis{Label: "job completion time", Unit: report.Times}}
	var first []*sim.Result
	for _, a := range arms {
		first = append(first, all[0].Arm(a))
	}
	ids := jobIDs(p, first)
	if most := max(1, mostBars/len(arms)); len(ids) > most {
		panel.Caption = fmt.Sprintf("The first %d of %d jobs.", most, len(ids))
		ids = ids[:most]
	}
	for _, id := range ids {
		g := report.Group{Label: id}
		for _, a := range arms {
			g.Bars = append(g.Bars, barOf(id, a, all))
		}
		panel.Groups = append(panel.Groups, g)
	}
	x.Panels = []report.Panel{panel}
	return x, len(ids) > 0
}

// barOf returns a job's completion time over the seeds that have the job. There is none if the job failed in one of
// them.
func barOf(id, arm string, all []exp.Runs) report.Bar {
	var times []float64
	for _, r := range all {
		for i := range r.Arm(arm).Jobs {
			switch j := &r.Arm(arm).Jobs[i]; {
			case j.ID != id:
			case j.State != sim.Succeeded:
				return report.Bar{Value: math.NaN(), Low: math.NaN(), High: math.NaN()}
			default:
				times = append(times, j.JCT.Seconds())
			}
		}
	}
	if len(times) == 0 {
		return report.Bar{Value: math.NaN(), Low: math.NaN(), High: math.NaN()}
	}
	slices.Sort(times)
	return report.Bar{Value: report.Quantile(times, 0.5), Low: times[0], High: times[len(times)-1]}
}

// jobIDs lists the jobs in any of the runs that a plot shows, in order of submission.
func jobIDs(p *exp.Plot, runs []*sim.Result) []string {
	var jobs []*sim.JobResult
	seen := map[string]bool{}
	for _, r := range runs {
		for i := range r.Jobs {
			if j := &r.Jobs[i]; wanted(p, j.ID) && !seen[j.ID] {
				seen[j.ID] = true
				jobs = append(jobs, j)
			}
		}
	}
	slices.SortStableFunc(jobs, func(a, b *sim.JobResult) int { return cmp.Compare(a.Submit, b.Submit) })
	var ids []string
	for _, j := range jobs {
		ids = append(ids, j.ID)
	}
	return ids
}

// sweepPlot draws the first column of a sweep over its arms.
func sweepPlot(x *exp.Swept) *report.Plot {
	if len(x.Columns) == 0 || len(x.Arms) == 0 {
		return nil
	}
	c := x.Columns[0]
	panel := report.Panel{Y: report.Axis{Label: named(c.Name, c.Unit)}}
	about := named(c.Name, c.Unit) + ":"
	for a := range x.Arms {
		v := x.Cells[a][0]
		panel.Groups = append(panel.Groups, report.Group{Label: x.Arms[a].Name, Bars: []report.Bar{{Value: v.Median, Low: v.Low, High: v.High}}})
		about += fmt.Sprintf(" %s %s;", x.Arms[a].Name, exp.Figure(v.Median, ""))
	}
	return &report.Plot{Title: upperFirst(strings.TrimSuffix(x.Title, ".")), About: strings.TrimSuffix(about, ";") + ".", Panels: []report.Panel{panel}}
}
