package report

import (
	"fmt"
	"html/template"
	"math"
	"slices"

	"heddle"
	"heddle/sim"
)

// A panel is one plot of the page with its text and its table.
type panel struct {
	Title   string
	Profile int // the profile it belongs to; -1 = several profiles
	Image   template.HTML
	Caption string
	Table   grille
	Keys    []Key // what its colours stand for, if not profiles
}

// A grille is a plain table: the figures behind a plot.
type grille struct {
	Head []string
	Rows [][]string
}

// wide is the ratio from which a logarithmic axis shows more than a linear one.
const wide = 30

const cdfSteps = 160 // quantiles drawn

// A measure is a time of jobs whose distribution is drawn.
type measure struct {
	title, name string
	of          func(*sim.JobResult) heddle.Span
}

var measures = []measure{
	{"Completion time", "job completion time", func(j *sim.JobResult) heddle.Span { return j.JCT }},
	{"Waiting time", "waiting time", func(j *sim.JobResult) heddle.Span { return j.Wait }},
}

// times lists the measure for the jobs that succeeded, in seconds, ascending.
func (m *measure) times(runs ...*sim.Result) []float64 {
	var out []float64
	for _, r := range runs {
		for i := range r.Jobs {
			if j := &r.Jobs[i]; j.State == sim.Succeeded && m.of(j) >= 0 {
				out = append(out, m.of(j).Seconds())
			}
		}
	}
	slices.Sort(out)
	return out
}

// cdfs draws the distribution of each measure that has one.
func (c *Comparison) cdfs() []panel {
	var out []panel
	for i := range measures {
		if p, ok := c.cdf(&measures[i]); ok {
			out = append(out, p)
		}
	}
	return out
}

// cdf draws what share of jobs was done within what time: all seeds of a profile together as a line, with the range of
// its seeds behind it.
func (c *Comparison) cdf(m *measure) (panel, bool) {
	p := panel{Title: m.title, Profile: -1}
	pooled := make([][]float64, len(c.Profiles))
	lo, hi := math.Inf(1), 0.0
	for i, runs := range c.Profiles {
		pooled[i] = m.times(runs.Runs...)
		if n := len(pooled[i]); n > 0 {
			lo, hi = math.Min(lo, pooled[i][0]), math.Max(hi, pooled[i][n-1])
		}
	}
	if hi == 0 {
		return p, false
	}
	lo, log := span(lo, hi)
	above := keyLine * float64(len(c.Profiles))
	f := frame{72, 30 + above, 588, 330 + above}
	x := timeAxis(lo, hi, f.left, f.right, log, 7, m.name+pick(log, ", logarithmic", ""))
	y := shareAxis(1, f.bottom, f.top, "of jobs within")
	d := draw("plot", 600, 380+above, c.cdfWords(m, pooled))
	d.grid(f, x, y)
	for i, runs := range c.Profiles {
		if len(pooled[i]) == 0 {
			continue
		}
		d.group(profileClass(i))
		if len(runs.Runs) > 1 {
			d.path("band", m.band(runs.Runs, x, y))
		}
		d.path("curve", trace(curve(pooled[i], x, y)))
		d.end()
	}
	c.key(d, f.right, pooled)
	p.Image, p.Table = d.html(), c.cdfTable(pooled)
	if len(c.Seeds()) > 1 {
		p.Caption = "All seeds together; the shade is the range between seeds."
	}
	return p, true
}

// span chooses where an axis of times begins: at 0 or, if it is logarithmic, at the least time, but not below a tenth
// of a second, where differences mean nothing.
func span(lo, hi float64) (from float64, log bool) {
	lo = math.Max(lo, 0.1)
	if hi > wide*lo {
		return lo, true
	}
	return 0, false
}

// curve returns the quantiles of a distribution at even steps, including both ends.
func curve(sorted []float64, x, y axis) [][2]float64 {
	points := make([][2]float64, 0, cdfSteps+1)
	for s := 0; s <= cdfSteps; s++ {
		q := float64(s) / cdfSteps
		points = append(points, [2]float64{x.at(Quantile(sorted, q)), y.at(q)})
	}
	return points
}

// band returns the area between the seeds' lowest and highest quantiles.
func (m *measure) band(runs []*sim.Result, x, y axis) string {
	var seeds [][]float64
	for _, r := range runs {
		if t := m.times(r); len(t) > 0 {
			seeds = append(seeds, t)
		}
	}
	var low, high [][2]float64
	for s := 0; s <= cdfSteps; s++ {
		q := float64(s) / cdfSteps
		least, most := math.Inf(1), 0.0
		for _, t := range seeds {
			v := Quantile(t, q)
			least, most = math.Min(least, v), math.Max(most, v)
		}
		low = append(low, [2]float64{x.at(least), y.at(q)})
		high = append(high, [2]float64{x.at(most), y.at(q)})
	}
	return outline(low, high)
}

// keyLine is the height of a line of the key.
const keyLine = 24.0

// key names the curves above the plot, with their medians: any corner of a plot may contain a curve.
func (c *Comparison) key(d *drawing, right float64, pooled [][]float64) {
	at := 18.0
	for i, p := range c.Profiles {
		d.group(profileClass(i))
		d.line("curve", right-14, at-5, right, at-5)
		d.text("key end", right-22, at, fmt.Sprintf("%s, median %s", short(p.Name, 24), seconds(Quantile(pooled[i], 0.5))))
		d.end()
		at += keyLine
	}
}

// short cuts a name to the given number of characters.
func short(s string, most int) string {
	r := []rune(s)
	if len(r) <= most {
		return s
	}
	return string(r[:most-1]) + "…"
}

var cdfShares = []float64{0.05, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99, 1}

func (c *Comparison) cdfTable(pooled [][]float64) grille {
	t := grille{Head: []string{"share of jobs"}}
	for _, p := range c.Profiles {
		t.Head = append(t.Head, p.Name)
	}
	for _, q := range cdfShares {
		row := []string{wholePercent(q)}
		for i := range c.Profiles {
			row = append(row, seconds(Quantile(pooled[i], q)))
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

func (c *Comparison) cdfWords(m *measure, pooled [][]float64) string {
	s := "Cumulative distribution of " + m.name + "."
	for i, p := range c.Profiles {
		s += fmt.Sprintf(" %s: half of the jobs within %s, 95 %% within %s.", p.Name,
			seconds(Quantile(pooled[i], 0.5)), seconds(Quantile(pooled[i], 0.95)))
	}
	return s
}
