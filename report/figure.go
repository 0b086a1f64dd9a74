package report

import (
	"math"
	"slices"
)

// A Plot is a picture of panels one below the other with a common key. The page shows each panel separately; [Plot.SVG]
// makes one file of them.
type Plot struct {
	Title  string
	About  string // what it shows, for people who cannot see it
	Keys   []Key
	Panels []Panel
}

// A Key says what a colour and a style stand for.
type Key struct {
	Name   string
	Colour int // counted from 0; the colours repeat
	Style  Style
}

// Style says how something is drawn.
type Style uint8

// The styles.
const (
	Solid  Style = iota // a line
	Dashed              // a broken line
	Filled              // bars
	Dotted              // single dots
)

// A Panel is a pair of axes with what is drawn between them.
type Panel struct {
	Title    string
	Caption  string
	X, Y     Axis
	Curves   []Curve
	Dots     []Dots
	Groups   []Group // bars; X then has only a label
	Diagonal bool    // draw the line on which X and Y are equal
}

// An Axis says what is measured along it. Without High it ends where the data end.
type Axis struct {
	Label     string
	Unit      Unit
	Low, High float64
	Log       bool // for times only; Low must be above 0
}

// TimesBetween returns an axis for times between lo, the least, and hi, the greatest; it is logarithmic if they are far
// apart.
func TimesBetween(lo, hi float64, label string) Axis {
	from, log := span(lo, hi)
	return Axis{Label: label + pick(log, ", logarithmic", ""), Unit: Times, Low: from, High: hi, Log: log}
}

// Unit says what an axis counts in.
type Unit uint8

// The units.
const (
	Numbers Unit = iota // plain numbers; the axis begins below 0 if the data do
	Times               // seconds
	Counts              // whole things, from 0
	Shares              // fractions, from 0, shown in percent
)

// A Curve is a line through points; a Step holds each value until the next point.
type Curve struct {
	Colour int
	Style  Style
	Step   bool
	Points [][2]float64
}

// Dots are single points of one colour.
type Dots struct {
	Colour int
	Points [][2]float64
}

// A Group is a group of bars side by side, each in the colour of its position.
type Group struct {
	Label string
	Bars  []Bar
}

// A Bar is a value with its range; a value that does not apply is NaN and takes no room.
type Bar struct{ Value, Low, High float64 }

// place lays an axis out between two coordinates, with room for about the given number of ticks.
func (a *Axis) place(values []float64, from, to float64, most int) axis {
	lo, hi := a.Low, a.High
	if hi <= lo {
		hi = lo
		for _, v := range values {
			if !math.IsNaN(v) && !math.IsInf(v, 0) {
				lo, hi = math.Min(lo, v), math.Max(hi, v)
			}
		}
	}
	switch a.Unit {
	case Times:
		return timeAxis(lo, hi, from, to, a.Log, most, a.Label)
	case Counts:
		return countAxis(hi, from, to, a.Label)
	case Shares:
		return shareAxis(hi, from, to, a.Label)
	default:
		return numberAxis(lo, hi, from, to, most, a.Label)
	}
}

// values lists the values that a panel's axes must cover: k is 0 for X, 1 for Y.
func (p *Panel) values(k int) []float64 {
	var out []float64
	for _, c := range p.Curves {
		for _, q := range c.Points {
			out = append(out, q[k])
		}
	}
	for _, d := range p.Dots {
		for _, q := range d.Points {
			out = append(out, q[k])
		}
	}
	for _, g := range p.Groups {
		for _, b := range g.Bars {
			out = append(out, b.Low, b.Value, b.High)
		}
	}
	return out
}

// on draws the panel into a frame; a curve has at most the given number of points.
func (p *Panel) on(d *drawing, f frame, most int) {
	y := p.Y.place(p.values(1), f.bottom, f.top, 5)
	if len(p.Groups) > 0 {
		p.bars(d, f, y)
		return
	}
	x := p.X.place(p.values(0), f.left, f.right, 6)
	d.grid(f, x, y)
	if p.Diagonal {
		top := math.Min(x.hi, y.hi)
		d.line("even", x.at(math.Max(x.lo, y.lo)), y.at(math.Max(x.lo, y.lo)), x.at(top), y.at(top))
	}
	for _, c := range p.Curves {
		d.path("curve"+pick(c.Style == Dashed, " dash", "")+" "+colourClass(c.Colour), c.data(x, y, most))
	}
	for _, s := range p.Dots {
		var b pen
		for _, q := range s.Points {
			b.dot(x.at(q[0]), y.at(q[1]))
		}
		d.path("dot "+colourClass(s.Colour), b.b.String())
	}
}

// data returns the curve's path. The line is broken where a value does not apply.
func (c *Curve) data(x, y axis, most int) string {
	var b pen
	down := false
	var last float64
	for _, q := range decimate(c.Points, most) {
		if math.IsNaN(q[1]) {
			down = false
			continue
		}
		u, v := x.at(q[0]), y.at(q[1])
		switch {
		case !down:
			b.move(u, v)
		case c.Step:
			b.step(u, v, num(v) == num(last))
		default:
			b.to(u, v)
		}
		down, last = true, v
	}
	return b.b.String()
}

// decimate divides a line that has too many points into equal parts and keeps the least and the greatest point of each.
func decimate(points [][2]float64, most int) [][2]float64 {
	if len(points) <= most || most < 4 {
		return points
	}
	parts := (most - 2) / 2
	out := [][2]float64{points[0]}
	inner := points[1 : len(points)-1]
	for i := range parts {
		part := inner[i*len(inner)/parts : (i+1)*len(inner)/parts]
		if len(part) == 0 {
			continue
		}
		lo, hi := 0, 0
		for k, q := range part {
			if q[1] < part[lo][1] {
				lo = k
			}
			if q[1] > part[hi][1] {
				hi = k
			}
		}
		for _, k := range slices.Compact([]int{min(lo, hi), max(lo, hi)}) {
			out = append(out, part[k])
		}
	}
	return append(out, points[len(points)-1])
}

const charWidth = 7.5 // of the text of plots, on average, with wide fonts

func textWidth(s string) float64 { return charWidth * float64(len([]rune(s))) }

// bars draws groups of bars with their names below.
func (p *Panel) bars(d *drawing, f frame, y axis) {
	for _, v := range y.ticks {
		d.line("grid", f.left, y.at(v), f.right, y.at(v))
		d.text("tick end", f.left-7, y.at(v)+4, y.format(v))
	}
	slot := (f.right - f.left) / float64(len(p.Groups))
	slanted, every := p.slants(f), int(math.Ceil(20/slot)) // slanting names need this much room
	zero := y.at(math.Max(0, y.lo))
	for i, g := range p.Groups {
		left := f.left + slot*float64(i)
		n := 0
		for _, b := range g.Bars {
			n += pick(math.IsNaN(b.Value), 0, 1)
		}
		width := math.Min(slot*0.8/float64(max(1, n)), 44)
		at := left + (slot-width*float64(n))/2 - width
		for k, b := range g.Bars {
			if math.IsNaN(b.Value) {
				continue
			}
			at += width
			top := math.Min(y.at(b.Value), zero)
			d.rect(` class="bar `+colourClass(k)+`"`, at, top, math.Max(width-1, 0.6), math.Abs(y.at(b.Value)-zero), "")
			if b.High > b.Low {
				d.line("whisker", at+(width-1)/2, y.at(b.Low), at+(width-1)/2, y.at(b.High))
			}
		}
		switch {
		case slanted && i%every == 0:
			d.slanted("tick end", left+slot/2+4, f.bottom+14, short(g.Label, p.slantLength(f)))
		case !slanted:
			d.text("tick mid", left+slot/2, f.bottom+18, g.Label)
		}
	}
	d.line("axis", f.left, zero, f.right, zero)
	d.text("name", f.left, f.top-9, y.label)
}

// The direction of slanted text, which rises at 35°.
const slantX, slantY = 0.82, 0.574

// slantLength returns how many characters a slanting name may have: what there is room for left of the first bar.
func (p *Panel) slantLength(f frame) int {
	slot := (f.right - f.left) / float64(max(1, len(p.Groups)))
	return max(10, min(26, int((f.left+slot/2-8)/(charWidth*slantX))))
}

// slants reports whether the names below bars do not fit side by side.
func (p *Panel) slants(f frame) bool {
	slot := (f.right - f.left) / float64(max(1, len(p.Groups)))
	return slices.ContainsFunc(p.Groups, func(g Group) bool { return textWidth(g.Label) > slot-4 })
}
