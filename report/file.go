package report

import (
	_ "embed"
	"html"
	"math"
	"slices"
	"strconv"
	"strings"
)

//go:embed plot.css
var plotCSS string

// The layout of a file.
const (
	fileWidth    = 760.0
	fileLeft     = 72.0
	fileRight    = 744.0
	filePanel    = 190.0 // height of a panel's area
	fileSquare   = 300.0 // of the area of a panel with a diagonal
	filePoints   = 2600  // of all curves together
	leastPoints  = 40    // of a curve, in any case
	pointsACurve = 300
)

// Colours is how many colours the keys of a plot distinguish.
const Colours = 12

func colourClass(i int) string { return "c" + strconv.Itoa(i%Colours) }

// SVG returns the plot as a separate file, with its title and key. The file contains its own colours, for light and
// dark surroundings.
func (p *Plot) SVG() []byte {
	d := &drawing{}
	at := 30.0
	d.text("title", 16, at, p.Title)
	at = p.fileKeys(d, at+26)
	for i := range p.Panels {
		at = p.Panels[i].below(d, at, p.points())
	}
	height := num(math.Ceil(at + 6))
	var out strings.Builder
	out.WriteString(`<svg xmlns="http://www.w3.org/2000/svg" width="` + num(fileWidth) + `" height="` + height + `" viewBox="0 0 ` + num(fileWidth) + " " + height +
		`" role="img">` + "\n<title>" + html.EscapeString(p.Title) + "</title>\n<desc>" + html.EscapeString(p.About) + "</desc>\n<style>\n" +
		`svg { font-family: system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif; font-variant-numeric: tabular-nums; }` + "\n" +
		used(plotCSS, `"ground"`+d.b.String()) + "</style>\n")
	out.WriteString(`<rect class="ground" x="0.5" y="0.5" width="` + num(fileWidth-1) + `" height="` + num(math.Ceil(at+6)-1) + `" rx="8"/>` + "\n")
	out.WriteString(d.b.String())
	out.WriteString("\n</svg>\n")
	return []byte(out.String())
}

// used removes the rules whose classes do not occur in an image.
func used(css, image string) string {
	var out []string
	for line := range strings.Lines(css) {
		if name, ok := strings.CutPrefix(line, "svg ."); ok && strings.Count(line, "{") == 1 {
			name, _, _ = strings.Cut(name, " ")
			name = strings.TrimSuffix(name, ",")
			if !slices.ContainsFunc([]string{`"` + name + `"`, `"` + name + " ", " " + name + `"`, " " + name + " "}, func(s string) bool { return strings.Contains(image, s) }) {
				continue
			}
		}
		out = append(out, line)
	}
	return strings.Join(out, "")
}

// points returns how many points each curve may have.
func (p *Plot) points() int {
	curves := 0
	for i := range p.Panels {
		curves += len(p.Panels[i].Curves)
	}
	return PointsOf(curves)
}

// PointsOf returns how many points a file keeps of each of the given number of curves. Of a curve with more points, it
// draws the least and the greatest.
func PointsOf(curves int) int {
	return min(pointsACurve, max(leastPoints, filePoints/max(1, curves)))
}

// fileKeys writes the key, with as many entries on a line as there is room for.
func (p *Plot) fileKeys(d *drawing, at float64) float64 {
	if len(p.Keys) == 0 {
		return at - 18
	}
	x := 16.0
	for _, k := range p.Keys {
		name := short(k.Name, 48)
		if x > 16 && x+26+textWidth(name) > fileWidth-16 {
			x, at = 16, at+20
		}
		c := colourClass(k.Colour)
		switch k.Style {
		case Filled:
			d.rect(` class="bar `+c+`"`, x, at-11, 14, 12, "")
		case Dotted:
			var b pen
			b.dot(x+7, at-4)
			d.path("dot "+c, b.b.String())
		default:
			d.line("curve"+pick(k.Style == Dashed, " dash", "")+" "+c, x, at-4.5, x+20, at-4.5)
		}
		d.text("key", x+26, at, name)
		x += 26 + textWidth(name) + 18
	}
	return at
}

// below draws a panel below what is already there and returns where it ends.
func (p *Panel) below(d *drawing, at float64, most int) float64 {
	if p.Title != "" {
		at += 28
		d.text("head", 16, at, p.Title)
	}
	f := frame{fileLeft, at + 32, fileRight, at + 32 + pick(p.Diagonal, fileSquare, filePanel)}
	p.on(d, f, most)
	end := f.bottom + 26
	switch {
	case len(p.Groups) > 0 && p.slants(f):
		longest := 0.0
		for _, g := range p.Groups {
			longest = math.Max(longest, textWidth(short(g.Label, p.slantLength(f))))
		}
		end += longest*slantY - 4
	case p.X.Label != "":
		end += 22
	}
	if p.Caption != "" {
		end += 16
		d.text("name", 16, end, p.Caption)
		end += 6
	}
	return end
}
