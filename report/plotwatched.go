package report

import (
	"fmt"
	"math"

	"heddle"
	"heddle/sim"
)

// panelOf draws a panel for the page, with nothing written below its axis.
func panelOf(p *Panel, profile int, height float64, about string) panel {
	d := draw("plot", 600, height, about)
	f := lapseFrame
	f.bottom = height - 32
	if p.X.Label != "" {
		f.bottom = height - 50
	}
	d.group(profileClass(profile))
	p.on(d, f, seriesColumns)
	d.end()
	return panel{Title: p.Title, Profile: profile, Image: d.html(), Caption: p.Caption}
}

// gauges draws what the policies of a profile showed in its first run, until the end of all.
func (c *Comparison) gauges(i int, end float64) []panel {
	r := c.Profiles[i].Runs[0]
	var out []panel
	for _, g := range r.Gauges {
		plot, ok := Gauge(g.Name, g.Name, []Named{{c.Profiles[i].Name, r}})
		if !ok {
			continue
		}
		p := &plot.Panels[0]
		p.Curves[0].Colour = i
		lo, hi := reach(p.Curves[0].Points)
		if math.IsNaN(lo) {
			continue
		}
		p.Title, p.Y.Label, p.X.High = g.Name, "", end
		p.Caption = pick(threeDigits(lo) == threeDigits(hi), "Always "+threeDigits(lo)+".", "Between "+threeDigits(lo)+" and "+threeDigits(hi)+".")
		if g.Words != "" {
			p.Caption = g.Words + " " + p.Caption
		}
		out = append(out, panelOf(p, i, 228, plot.About))
	}
	return out
}

// threeDigits writes a number of unknown kind with three significant digits.
func threeDigits(v float64) string {
	if math.IsNaN(v) {
		return none
	}
	if math.Abs(v) >= 999.5 { // which three digits round to 1000
		return count(math.Round(v))
	}
	return fmt.Sprintf("%.3g", v)
}

// estimates draws, for every profile that made predictions, the predictions against the actual values.
func (c *Comparison) estimates() (out [][]panel) {
	for i := range c.Profiles {
		if len(c.Profiles[i].Runs) == 0 {
			continue
		}
		f := newForetold(c.Profiles[i].Runs[0])
		if f == nil {
			continue
		}
		all := Panel{
			Title: "Remaining time of reduces", Caption: "Of " + f.words(), Diagonal: true,
			X: Axis{Label: "as it was", Unit: Times}, Y: Axis{Label: "as estimated", Unit: Times}, Dots: []Dots{{i, f.dots()}},
		}
		all.square()
		a := panelOf(&all, i, 380, "Estimated against actual remaining time of reduces under "+c.Profiles[i].Name+". "+f.words())
		a.Table = f.table()
		row := []panel{a}
		if one, several := f.one(i); several {
			one.X.Label, one.Caption = "", "The one with the most estimates. Solid: as estimated, broken: as it was."
			row = append(row, panelOf(&one, i, 380, one.Title+" under "+c.Profiles[i].Name+": estimated and actual remaining time."))
		}
		out = append(out, row)
	}
	return out
}

const foretoldRows = 8

// table lists the estimates by how much time was left.
func (f *foretold) table() grille {
	t := grille{Head: []string{"left", "estimates", "estimated on average", "mean error"}}
	hi := heddle.Span(0)
	for _, p := range f.list {
		hi = max(hi, p.Actual)
	}
	step := niceStep(math.Max(hi.Seconds(), 1) / foretoldRows)
	for from := 0.0; from <= hi.Seconds(); from += step {
		n, said, off := 0, 0.0, 0.0
		for _, p := range f.list {
			if a := p.Actual.Seconds(); a >= from && a < from+step {
				n++
				said += p.Remaining.Seconds()
				off += math.Abs(p.Remaining.Seconds() - a)
			}
		}
		if n > 0 {
			t.Rows = append(t.Rows, []string{tick(from) + " – " + tick(from+step), count(float64(n)), seconds(said / float64(n)), seconds(off / float64(n))})
		}
	}
	return t
}

// allocations draws what a few tasks were given and used, for every profile that was traced.
func (c *Comparison) allocations() (out [][]panel) {
	for i, runs := range c.Profiles {
		if len(runs.Runs) == 0 {
			continue
		}
		plot, ok := Allocation("", Named{runs.Name, runs.Runs[0]}, nil)
		if !ok {
			continue
		}
		var pair []panel
		for k := range plot.Panels {
			p := &plot.Panels[k]
			p.X.Label = ""
			pair = append(pair, panelOf(p, i, 228, p.Title+". "+plot.About))
		}
		pair[0].Keys, pair[0].Table = plot.Keys, allocationTable(runs.Runs[0])
		out = append(out, pair)
	}
	return out
}

func allocationTable(r *sim.Result) grille {
	t := grille{Head: []string{"task", "from", "to", "CPU given", "used", "memory given", "held"}}
	for _, x := range traced(r, nil) {
		var cpu, used, memory, held float64
		for k := range x.Points {
			q := &x.Points[k]
			cpu, used = cpu+float64(q.Limit[heddle.CPU])/1000, used+float64(q.CPU)/1000
			memory, held = memory+float64(q.Limit[heddle.Memory]), held+float64(q.Memory)
		}
		n := float64(len(x.Points))
		t.Rows = append(t.Rows, []string{
			traceName(r, x), clock(x.Points[0].At), clock(x.Points[len(x.Points)-1].At),
			fmt.Sprintf("%.2f vcores", cpu/n), fmt.Sprintf("%.2f vcores", used/n), count(math.Round(memory/n)) + " MiB", count(math.Round(held/n)) + " MiB",
		})
	}
	return t
}
