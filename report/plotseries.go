package report

import (
	"fmt"
	"math"
	"strings"
)

const seriesColumns = 265 // steps drawn: one per two units of width

// A band is a sampled line of a run, averaged over the columns that are drawn.
type band struct {
	name, class string
	values      []float64
	peak        float64 // of the samples
}

// resample averages samples over at most seriesColumns columns of per samples each.
func resample[T int32 | float32](name, class string, samples []T, per int) band {
	b := band{name: name, class: class}
	for at := 0; at < len(samples); at += per {
		sum, n := 0.0, 0
		for _, v := range samples[at:min(at+per, len(samples))] {
			sum += float64(v)
			n++
			b.peak = math.Max(b.peak, float64(v))
		}
		b.values = append(b.values, sum/float64(n))
	}
	return b
}

// A lapse is what one run did over time, ready to be drawn.
type lapse struct {
	profile int
	seed    uint64
	step    float64 // seconds between values
	running []band  // containers, to be stacked
	share   []band  // fractions of the cluster
}

// lapses returns the first runs of the profiles that kept a series, the time at which the longest ended, and the most
// containers and the largest fraction to draw.
func (c *Comparison) lapses() (all []lapse, end, top, share float64) {
	for i, p := range c.Profiles {
		if len(p.Runs) == 0 || p.Runs[0].Series.Step <= 0 || len(p.Runs[0].Series.CPUUsed) == 0 {
			continue
		}
		s := &p.Runs[0].Series
		per := (len(s.CPUUsed) + seriesColumns - 1) / seriesColumns
		l := lapse{profile: i, seed: p.Runs[0].Seed, step: s.Step.Seconds() * float64(per)}
		l.running = []band{
			resample("maps", "k1", s.Maps, per), resample("reduces", "k2", s.Reduces, per),
			resample("executors", "k3", s.Executors, per),
		}
		l.share = []band{
			resample("CPU held", "held", s.CPUHeld, per), resample("CPU used", "used", s.CPUUsed, per),
			resample("memory held", "memory", s.MemoryHeld, per),
		}
		all = append(all, l)
		end = math.Max(end, s.Step.Seconds()*float64(len(s.CPUUsed)))
		for k := range l.running[0].values {
			sum := 0.0
			for _, b := range l.running {
				sum += b.at(k)
			}
			top = math.Max(top, sum)
			for _, b := range l.share {
				share = math.Max(share, b.at(k))
			}
		}
	}
	return all, end, top, share
}

func (b *band) at(k int) float64 {
	if k < len(b.values) {
		return b.values[k]
	}
	return 0
}

var lapseFrame = frame{72, 30, 588, 196}

// overTime draws, for every profile, the running containers and the utilisation next to each other, then what its
// policies show.
func (c *Comparison) overTime() (out [][]panel) {
	all, end, top, share := c.lapses()
	for _, l := range all {
		out = append(out, append([]panel{c.running(l, end, top), c.utilisation(l, end, share)}, c.gauges(l.profile, end)...))
	}
	return out
}

func (c *Comparison) running(l lapse, end, top float64) panel {
	f := lapseFrame
	x, y := timeAxis(0, end, f.left, f.right, false, 6, ""), countAxis(top, f.bottom, f.top, "containers")
	name := c.Profiles[l.profile].Name
	words := fmt.Sprintf("Running containers over time under %s, seed %d.", name, l.seed)
	peaks := ""
	for _, b := range l.running {
		if b.peak > 0 {
			peaks += pick(peaks == "", "", ", ") + count(b.peak) + " " + b.name
		}
	}
	if peaks != "" {
		peaks = "At most " + peaks + "."
	}
	d := draw("plot", 600, 228, strings.TrimSpace(words+" "+peaks))
	d.grid(f, x, y)
	floor := make([]float64, len(l.running[0].values))
	for _, b := range l.running {
		var lower, upper [][2]float64
		for k := range floor {
			from, to := x.at(float64(k)*l.step), x.at(math.Min(float64(k+1)*l.step, end))
			below, above := y.at(floor[k]), y.at(floor[k]+b.at(k))
			lower = append(lower, [2]float64{from, below}, [2]float64{to, below})
			upper = append(upper, [2]float64{from, above}, [2]float64{to, above})
			floor[k] += b.at(k)
		}
		if b.peak > 0 {
			d.path("area "+b.class, outline(upper, lower))
		}
	}
	return panel{Title: "Running containers", Profile: l.profile, Image: d.html(), Caption: peaks, Table: l.table(end)}
}

func (c *Comparison) utilisation(l lapse, end, top float64) panel {
	f := lapseFrame
	x, y := timeAxis(0, end, f.left, f.right, false, 6, ""), shareAxis(top, f.bottom, f.top, "of the cluster")
	r := c.Profiles[l.profile].Runs[0]
	words := fmt.Sprintf("Utilisation over time under %s, seed %d: on average %s of the processors used, %s of the memory held.",
		c.Profiles[l.profile].Name, l.seed, percent(r.CPUUsed), percent(r.MemoryHeld))
	d := draw("plot", 600, 228, words)
	d.grid(f, x, y)
	d.group(profileClass(l.profile))
	for _, b := range l.share {
		var line, ground [][2]float64
		for k := range b.values {
			from, to := x.at(float64(k)*l.step), x.at(math.Min(float64(k+1)*l.step, end))
			at := y.at(math.Min(b.at(k), y.hi))
			line = append(line, [2]float64{from, at}, [2]float64{to, at})
			ground = append(ground, [2]float64{from, f.bottom}, [2]float64{to, f.bottom})
		}
		if b.class == "memory" {
			d.path(b.class, trace(line))
		} else {
			d.path(b.class, outline(line, ground))
		}
	}
	d.end()
	return panel{
		Title: "Utilisation", Profile: l.profile, Image: d.html(),
		Caption: fmt.Sprintf("On average %s of the CPU used, %s of the memory held.", percent(r.CPUUsed), percent(r.MemoryHeld)),
	}
}

const lapseRows = 16

// table averages a lapse over a few rows, for people who cannot or do not want to look at plots.
func (l *lapse) table(end float64) grille {
	t := grille{Head: []string{"from", "to"}}
	bands := append(append([]band(nil), l.running...), l.share...)
	for _, b := range bands {
		t.Head = append(t.Head, b.name)
	}
	n := len(l.running[0].values)
	per := (n + lapseRows - 1) / lapseRows
	for from := 0; from < n; from += per {
		to := min(from+per, n)
		row := []string{tick(float64(from) * l.step), tick(math.Round(math.Min(float64(to)*l.step, end)))}
		for i, b := range bands {
			sum := 0.0
			for k := from; k < to; k++ {
				sum += b.at(k)
			}
			m := sum / float64(to-from)
			row = append(row, pick(i < len(l.running), count(math.Round(m)), percent(m)))
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}
