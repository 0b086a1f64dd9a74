package report

import (
	"html"
	"html/template"
	"math"
	"slices"
	"strconv"
	"strings"
)

// A drawing is an SVG image under construction. The colours and text sizes come from the page's style sheet by class,
// so that one image serves both colour schemes and both widths.
type drawing struct{ b strings.Builder }

// draw begins an image with the given size in user units; about says in words what it shows.
func draw(class string, w, h float64, about string) *drawing {
	d := &drawing{}
	d.b.WriteString(`<svg class="` + class + `" viewBox="0 0 ` + num(w) + " " + num(h) + `" role="img" aria-label="` +
		html.EscapeString(about) + `">`)
	return d
}

func (d *drawing) html() template.HTML {
	d.b.WriteString("</svg>")
	return template.HTML(d.b.String()) // every text in it was escaped when it was added
}

func (d *drawing) group(class string) { d.b.WriteString(`<g class="` + class + `">`) }
func (d *drawing) end()               { d.b.WriteString("</g>") }

func (d *drawing) line(class string, x1, y1, x2, y2 float64) {
	d.b.WriteString(`<line class="` + class + `" x1="` + num(x1) + `" y1="` + num(y1) + `" x2="` + num(x2) + `" y2="` + num(y2) + `"/>`)
}

func (d *drawing) path(class, data string) {
	d.b.WriteString(`<path class="` + class + `" d="` + data + `"/>`)
}

// rect draws a rectangle; extra holds further attributes, title is the tooltip.
func (d *drawing) rect(extra string, x, y, w, h float64, title string) {
	d.b.WriteString(`<rect` + extra + ` x="` + num(x) + `" y="` + num(y) + `" width="` + num(w) + `" height="` + num(h) + `"`)
	d.close("rect", title)
}

func (d *drawing) circle(x, y, r float64, title string) {
	d.b.WriteString(`<circle cx="` + num(x) + `" cy="` + num(y) + `" r="` + num(r) + `"`)
	d.close("circle", title)
}

func (d *drawing) close(tag, title string) {
	if title == "" {
		d.b.WriteString("/>")
		return
	}
	d.b.WriteString("><title>" + html.EscapeString(title) + "</title></" + tag + ">")
}

func (d *drawing) text(class string, x, y float64, s string) {
	d.b.WriteString(`<text class="` + class + `" x="` + num(x) + `" y="` + num(y) + `">` + html.EscapeString(s) + "</text>")
}

// slanted writes a text that ends at a point and rises towards it.
func (d *drawing) slanted(class string, x, y float64, s string) {
	d.b.WriteString(`<text class="` + class + `" transform="translate(` + num(x) + " " + num(y) + `) rotate(-35)">` + html.EscapeString(s) + "</text>")
}

// num writes a coordinate, to a tenth of a unit.
func num(x float64) string {
	return strconv.FormatFloat(math.Round(x*10)/10, 'f', -1, 64)
}

// A pen writes path data.
type pen struct{ b strings.Builder }

func (p *pen) to(x, y float64) {
	p.b.WriteString(pick(p.b.Len() == 0, "M", "L") + num(x) + " " + num(y))
}

func (p *pen) move(x, y float64) { p.b.WriteString("M" + num(x) + " " + num(y)) }

// step goes horizontally to x, then vertically to y unless it is there already.
func (p *pen) step(x, y float64, level bool) {
	p.b.WriteString("H" + num(x))
	if !level {
		p.b.WriteString("V" + num(y))
	}
}

// dot adds a line of zero length, which round line ends turn into a dot.
func (p *pen) dot(x, y float64) { p.b.WriteString("M" + num(x) + " " + num(y) + "h0") }

// outline returns the closed path along the upper points and back along the lower ones.
func outline(upper, lower [][2]float64) string {
	var p pen
	for _, q := range upper {
		p.to(q[0], q[1])
	}
	for _, q := range slices.Backward(lower) {
		p.to(q[0], q[1])
	}
	return p.b.String() + "Z"
}

func trace(points [][2]float64) string {
	var p pen
	for _, q := range points {
		p.to(q[0], q[1])
	}
	return p.b.String()
}
