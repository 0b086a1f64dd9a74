package report

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"heddle"
	"heddle/sim"
)

// A Named is a run with the name under which it is shown.
type Named struct {
	Name string
	Run  *sim.Result
}

// Gauge plots a number that policies show over time, one curve per run that has it; ok is false if none has.
func Gauge(title, gauge string, runs []Named) (p *Plot, ok bool) {
	p = &Plot{Title: title, Panels: []Panel{{Y: Axis{Label: gauge}, X: Axis{Unit: Times}}}}
	for i, r := range runs {
		c, ok := gaugeCurve(r.Run, gauge, i)
		if !ok {
			continue
		}
		p.Keys = append(p.Keys, Key{Name: r.Name, Colour: i})
		p.Panels[0].Curves = append(p.Panels[0].Curves, c)
		lo, hi := reach(c.Points)
		p.About += fmt.Sprintf("%s over time under %s: between %s and %s. ", gauge, r.Name, threeDigits(lo), threeDigits(hi))
	}
	return p, len(p.Keys) > 0
}

func gaugeCurve(r *sim.Result, gauge string, colour int) (Curve, bool) {
	at := slices.IndexFunc(r.Gauges, func(g sim.Gauge) bool { return g.Name == gauge })
	if at < 0 || len(r.Gauges[at].Values) == 0 {
		return Curve{}, false
	}
	c := Curve{Colour: colour}
	for k, v := range r.Gauges[at].Values {
		c.Points = append(c.Points, [2]float64{r.Series.Step.Seconds() * float64(k+1), float64(v)})
	}
	return c, true
}

func reach(points [][2]float64) (lo, hi float64) {
	lo, hi = math.Inf(1), math.Inf(-1)
	for _, q := range points {
		if !math.IsNaN(q[1]) {
			lo, hi = math.Min(lo, q[1]), math.Max(hi, q[1])
		}
	}
	if lo > hi {
		return math.NaN(), math.NaN()
	}
	return lo, hi
}

// mostPredictions is how many dots are drawn per run.
const mostPredictions = 500

// Predictions plots the predictions for running reduces against the actual values, for all runs that have any, and over
// time for one reduce of the first of them; ok is false if no run has any.
func Predictions(title string, runs []Named) (p *Plot, ok bool) {
	p = &Plot{Title: title}
	var one *Panel
	all := Panel{X: Axis{Label: "remaining time as it was", Unit: Times}, Y: Axis{Label: "as estimated", Unit: Times}, Diagonal: true}
	for i, r := range runs {
		f := newForetold(r.Run)
		if f == nil {
			continue
		}
		p.Keys = append(p.Keys, Key{Name: r.Name + ", estimated", Colour: i, Style: Dotted})
		all.Dots = append(all.Dots, Dots{Colour: i, Points: f.dots()})
		p.About += r.Name + ": " + f.words() + " "
		if one == nil {
			x, several := f.one(i)
			if !several {
				continue
			}
			one = &x
			p.Keys = append(p.Keys, Key{Name: "as it was", Colour: i, Style: Dashed})
		}
	}
	if len(all.Dots) == 0 {
		return p, false
	}
	all.square()
	p.Panels = []Panel{all}
	if one != nil {
		p.Panels = append(p.Panels, *one)
	}
	return p, true
}

// furthest limits the axis of estimates, as a multiple of the longest actual time: early estimates may be off by far
// more, and would leave no room for the rest.
const furthest = 3

// square gives both axes of a panel of dots the same end, and moves dots beyond it to the edge; the caption says how
// many.
func (p *Panel) square() {
	actual, all := 0.0, 0.0
	for k := range 2 {
		for _, v := range p.values(k) {
			all = math.Max(all, v)
			if k == 0 {
				actual = math.Max(actual, v)
			}
		}
	}
	p.X.High = math.Min(all, furthest*actual)
	p.Y.High = p.X.High
	beyond := 0
	for _, d := range p.Dots {
		beyond += cut(d.Points, p.Y.High)
	}
	if beyond > 0 {
		p.Caption += fmt.Sprintf(" %s beyond the axis at its edge.", pick(beyond == 1, "1 dot", count(float64(beyond))+" dots"))
		p.Caption = strings.TrimSpace(p.Caption)
	}
}

// cut moves points above a value down to it and counts them; if the value is 0 there is no limit to apply.
func cut(points [][2]float64, most float64) (n int) {
	for i := range points {
		if points[i][1] > most && most > 0 {
			points[i][1] = most
			n++
		}
	}
	return n
}

// foretold holds the predictions of a run whose actual values became known.
type foretold struct {
	run     *sim.Result
	list    []sim.Prediction
	reduces int
	longest heddle.ContainerID // the reduce with the most predictions
}

func newForetold(r *sim.Result) *foretold {
	f := &foretold{run: r}
	n := map[heddle.ContainerID]int{}
	most := 0
	for _, p := range r.Predictions {
		if p.Actual == sim.NoSpan {
			continue
		}
		f.list = append(f.list, p)
		if n[p.Container]++; n[p.Container] == 1 {
			f.reduces++
		}
		if k := n[p.Container]; k > most || k == most && p.Container < f.longest {
			most, f.longest = k, p.Container
		}
	}
	if len(f.list) == 0 {
		return nil
	}
	return f
}

// dots returns actual and estimated remaining times, thinned out evenly if there are too many.
func (f *foretold) dots() [][2]float64 {
	var out [][2]float64
	every := (len(f.list) + mostPredictions - 1) / mostPredictions
	for i := 0; i < len(f.list); i += every {
		out = append(out, [2]float64{f.list[i].Actual.Seconds(), f.list[i].Remaining.Seconds()})
	}
	return out
}

// errors returns the absolute errors in seconds, ascending.
func (f *foretold) errors() []float64 {
	var out []float64
	for _, p := range f.list {
		out = append(out, math.Abs((p.Remaining - p.Actual).Seconds()))
	}
	slices.Sort(out)
	return out
}

func (f *foretold) words() string {
	e := f.errors()
	return fmt.Sprintf("%s of %s, half of them within %s of what came, 90 %% within %s.",
		some(len(f.list), "estimate", "estimates"), some(f.reduces, "reduce", "reduces"), seconds(Quantile(e, 0.5)), seconds(Quantile(e, 0.9)))
}

// one returns the panel of the reduce with the most predictions; several is false if that has only one, which is not a
// line.
func (f *foretold) one(colour int) (p Panel, several bool) {
	said, was := Curve{Colour: colour}, Curve{Colour: colour, Style: Dashed}
	job := 0
	for _, p := range f.list {
		if p.Container == f.longest {
			job = p.Job
			said.Points = append(said.Points, [2]float64{p.At.Seconds(), p.Remaining.Seconds()})
			was.Points = append(was.Points, [2]float64{p.At.Seconds(), p.Actual.Seconds()})
		}
	}
	if len(said.Points) < 2 {
		return p, false
	}
	lo, hi := said.Points[0][0], said.Points[len(said.Points)-1][0]
	_, longest := reach(was.Points)
	cut(said.Points, furthest*longest)
	return Panel{
		Title: "One reduce of " + f.run.Jobs[job].ID, X: Axis{Label: "time of the run", Unit: Times, Low: lo, High: hi},
		Y: Axis{Label: "remaining time", Unit: Times}, Curves: []Curve{was, said},
	}, true
}

// mostTraced is how many tasks' allocations are drawn.
const mostTraced = 4

// Allocation plots what a few tasks of a run were given and what they used, from the named jobs or from all; ok is
// false if nothing was traced. It selects the tasks whose limits changed most often, and among those the longest.
func Allocation(title string, r Named, jobs []string) (p *Plot, ok bool) {
	list := traced(r.Run, jobs)
	if len(list) == 0 {
		return nil, false
	}
	lo, hi := math.Inf(1), 0.0
	cpu, memory := Panel{Y: Axis{Label: "vcores"}}, Panel{Y: Axis{Label: "GiB"}}
	p = &Plot{Title: title, About: "What tasks were given and what they used under " + r.Name + ": "}
	for i, x := range list {
		name := traceName(r.Run, x)
		p.Keys = append(p.Keys, Key{Name: name, Colour: i})
		p.About += name + pick(i < len(list)-1, ", ", ".")
		lo, hi = math.Min(lo, x.Points[0].At.Seconds()), math.Max(hi, x.Points[len(x.Points)-1].At.Seconds())
		cpu.Curves = append(cpu.Curves,
			traceCurve(x, i, Dashed, func(q *sim.TracePoint) float64 { return float64(q.Limit[heddle.CPU]) / 1000 }),
			traceCurve(x, i, Solid, func(q *sim.TracePoint) float64 { return float64(q.CPU) / 1000 }))
		memory.Curves = append(memory.Curves,
			traceCurve(x, i, Dashed, func(q *sim.TracePoint) float64 { return float64(q.Limit[heddle.Memory]) / 1024 }),
			traceCurve(x, i, Solid, func(q *sim.TracePoint) float64 { return float64(q.Memory) / 1024 }))
	}
	cpu.Title, memory.Title = "CPU", "Memory"
	for _, q := range []*Panel{&cpu, &memory} {
		q.X = Axis{Unit: Times, Low: lo, High: hi, Label: "time of the run; solid: used, broken: limit"}
		q.Y.High = 0
		for _, v := range q.values(1) {
			q.Y.High = math.Max(q.Y.High, v)
		}
	}
	p.Panels = []Panel{cpu, memory}
	return p, true
}

func traceCurve(x *sim.Trace, colour int, style Style, of func(*sim.TracePoint) float64) Curve {
	c := Curve{Colour: colour, Style: style, Step: style == Dashed}
	for k := range x.Points {
		c.Points = append(c.Points, [2]float64{x.Points[k].At.Seconds(), of(&x.Points[k])})
	}
	return c
}

// traced chooses the tasks to draw, ordered by start.
func traced(r *sim.Result, jobs []string) []*sim.Trace {
	var all []*sim.Trace
	for i := range r.Traces {
		x := &r.Traces[i]
		if len(x.Points) > 2 && (len(jobs) == 0 || slices.Contains(jobs, r.Jobs[x.Job].ID)) {
			all = append(all, x)
		}
	}
	slices.SortStableFunc(all, func(a, b *sim.Trace) int {
		return cmp.Or(cmp.Compare(changes(b), changes(a)), cmp.Compare(lasts(b), lasts(a)), cmp.Compare(a.Container, b.Container))
	})
	all = all[:min(mostTraced, len(all))]
	slices.SortFunc(all, func(a, b *sim.Trace) int {
		return cmp.Or(cmp.Compare(a.Points[0].At, b.Points[0].At), cmp.Compare(a.Container, b.Container))
	})
	return all
}

func changes(x *sim.Trace) (n int) {
	for k := range x.Points[1:] {
		if x.Points[k].Limit != x.Points[k+1].Limit {
			n++
		}
	}
	return n
}

func lasts(x *sim.Trace) heddle.Span { return x.Points[len(x.Points)-1].At.Since(x.Points[0].At) }

// traceName returns the task's job and number, or the container's number if tasks were not kept.
func traceName(r *sim.Result, x *sim.Trace) string {
	for i := range r.Tasks {
		if t := &r.Tasks[i]; t.Container == x.Container {
			return fmt.Sprintf("%s, %s %d", r.Jobs[x.Job].ID, x.Kind, t.Index)
		}
	}
	return fmt.Sprintf("%s, %s, container %d", r.Jobs[x.Job].ID, x.Kind, x.Container)
}
