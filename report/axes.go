package report

import (
	"math"
	"slices"
	"strconv"
)

// A scale maps values to coordinates.
type scale struct {
	lo, hi   float64 // values
	from, to float64 // coordinates
	log      bool
}

func (s scale) at(v float64) float64 {
	lo, hi := s.lo, s.hi
	if s.log {
		v, lo, hi = math.Log(math.Max(v, lo)), math.Log(lo), math.Log(hi)
	}
	if hi <= lo {
		return s.from
	}
	return s.from + (v-lo)/(hi-lo)*(s.to-s.from)
}

// An axis is a scale with the labels along it.
type axis struct {
	scale
	ticks  []float64
	format func(float64) string
	label  string
}

// A frame is the area of a plot inside its image.
type frame struct{ left, top, right, bottom float64 }

// grid draws the grid lines, the values next to them and the labels of the axes.
func (d *drawing) grid(f frame, x, y axis) {
	for _, v := range y.ticks {
		at := y.at(v)
		d.line("grid", f.left, at, f.right, at)
		d.text("tick end", f.left-7, at+4, y.format(v))
	}
	for _, v := range x.ticks {
		at := x.at(v)
		d.line("grid", at, f.top, at, f.bottom)
		d.text(pick(at > f.right-24, "tick end", "tick mid"), math.Min(at, f.right), f.bottom+22, x.format(v))
	}
	d.line("axis", f.left, f.bottom, f.right, f.bottom)
	d.text("name", f.left, f.top-9, y.label)
	d.text("name end", f.right, f.bottom+44, x.label)
}

// The possible steps of a time axis, in seconds.
var timeSteps = []float64{
	0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800,
	3600, 2 * 3600, 3 * 3600, 6 * 3600, 12 * 3600, 86400, 2 * 86400, 5 * 86400, 10 * 86400, 30 * 86400, 100 * 86400,
}

// timeAxis returns an axis of seconds with at most about the given number of ticks.
func timeAxis(lo, hi, from, to float64, log bool, most int, label string) axis {
	if hi <= lo {
		hi = lo + 1
	}
	a := axis{scale{lo, hi, from, to, log}, nil, tick, label}
	if log {
		a.ticks = a.logTicks(math.Abs(to-from) / float64(most))
		return a
	}
	step := niceStep((hi - lo) / float64(most))
	if a.ticks = multiples(lo, hi, step); a.alike() { // a short time late in a run
		a.format = instant
		if hi >= 3600 { // their labels are longer
			a.ticks = multiples(lo, hi, niceStep(1.5*step))
		}
	}
	return a
}

// alike reports whether two ticks have the same label.
func (a axis) alike() bool {
	for i := range a.ticks {
		if i > 0 && a.format(a.ticks[i-1]) == a.format(a.ticks[i]) {
			return true
		}
	}
	return false
}

func niceStep(least float64) float64 {
	for _, s := range timeSteps {
		if s >= least {
			return s
		}
	}
	return math.Pow(10, math.Ceil(math.Log10(least)))
}

func multiples(lo, hi, step float64) []float64 {
	var out []float64
	for i := int(math.Ceil(lo/step - 1e-9)); float64(i)*step <= hi+1e-9*step; i++ {
		out = append(out, float64(i)*step)
	}
	return out
}

// Times suitable as ticks on a logarithmic axis, the roundest first.
var logTimes = []float64{
	60, 3600, 1, 600, 10, 86400, 36000, 0.1, 10 * 86400, 0.01, 100 * 86400,
	30, 300, 1800, 3, 3 * 3600, 3 * 86400, 0.3, 30 * 86400, 120, 7200, 20, 1200, 5, 6 * 3600, 2, 0.5, 2 * 86400,
}

// logTicks returns as many ticks as leave room for their labels.
func (a axis) logTicks(room float64) []float64 {
	var out []float64
	for _, v := range logTimes {
		near := func(o float64) bool { return math.Abs(a.at(o)-a.at(v)) < room }
		if v >= a.lo && v <= a.hi && !slices.ContainsFunc(out, near) {
			out = append(out, v)
		}
	}
	slices.Sort(out)
	return out
}

// countAxis returns an axis of whole numbers from 0 to at least hi.
func countAxis(hi, from, to float64, label string) axis {
	const most = 4 // ticks above 0, as far as round steps allow
	step := 1.0
	for i := 0; step*most < hi; i++ {
		step *= [...]float64{2, 2.5, 2}[i%3] // 1, 2, 5, 10, …
	}
	top := math.Max(step, math.Ceil(hi/step)*step)
	return axis{scale{0, top, from, to, false}, multiples(0, top, step), count, label}
}

// shareAxis returns an axis of fractions from 0 to 5, 10, 20, 50 or 100 %, whichever reaches hi first.
func shareAxis(hi, from, to float64, label string) axis {
	top := 1.0
	for _, t := range []float64{0.5, 0.2, 0.1, 0.05} {
		if hi <= t {
			top = t
		}
	}
	parts := pick(top == 1, 4.0, 5.0)
	return axis{scale{0, top, from, to, false}, multiples(0, top, top/parts), wholePercent, label}
}

// numberAxis returns an axis of plain numbers with at most about the given number of ticks.
func numberAxis(lo, hi, from, to float64, most int, label string) axis {
	if hi <= lo {
		hi = lo + 1
	}
	step := math.Pow(10, math.Floor(math.Log10((hi-lo)/float64(most))))
	for _, times := range []float64{1, 2, 5, 10} {
		if step*times*float64(most) >= (hi-lo)*(1-1e-9) {
			step *= times
			break
		}
	}
	lo, hi = math.Floor(lo/step+1e-9)*step, math.Ceil(hi/step-1e-9)*step
	digits := max(0, -int(math.Floor(math.Log10(step)+1e-9)))
	format := func(v float64) string {
		s := strconv.FormatFloat(v, 'f', digits, 64)
		if digits == 0 {
			s = count(v)
		}
		return pick(v == 0, "0", s)
	}
	return axis{scale{lo, hi, from, to, false}, multiples(lo, hi, step), format, label}
}

func wholePercent(f float64) string { return count(math.Round(100*f)) + " %" }
