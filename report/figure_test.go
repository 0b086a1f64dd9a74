package report

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"math"
	"regexp"
	"slices"
	"strings"
	"testing"

	"heddle"
	"heddle/sim"
)

func TestNumberAxis(t *testing.T) {
	for _, c := range []struct {
		lo, hi float64
		want   []float64
		texts  string
	}{
		{0, 0.4, []float64{0, 0.1, 0.2, 0.3, 0.4}, "0 0.1 0.2 0.3 0.4"},
		{0, 1, []float64{0, 0.2, 0.4, 0.6, 0.8, 1}, "0 0.2 0.4 0.6 0.8 1.0"},
		{-30, 70, []float64{-40, -20, 0, 20, 40, 60, 80}, "-40 -20 0 20 40 60 80"},
		{0, 12000, []float64{0, 5000, 10000, 15000}, "0 5,000 10,000 15,000"},
		{0, 0, []float64{0, 0.2, 0.4, 0.6, 0.8, 1}, "0 0.2 0.4 0.6 0.8 1.0"},
		{-0.47, 0, []float64{-0.5, -0.4, -0.3, -0.2, -0.1, 0}, "-0.5 -0.4 -0.3 -0.2 -0.1 0"},
	} {
		a := numberAxis(c.lo, c.hi, 0, 100, 5, "")
		var texts []string
		for _, v := range a.ticks {
			texts = append(texts, a.format(v))
		}
		if !slices.EqualFunc(a.ticks, c.want, near) || strings.Join(texts, " ") != c.texts {
			t.Errorf("%v to %v: %v as %q, want %v as %q", c.lo, c.hi, a.ticks, texts, c.want, c.texts)
		}
		if a.lo > c.lo || a.hi < c.hi {
			t.Errorf("%v to %v: from %v to %v", c.lo, c.hi, a.lo, a.hi)
		}
	}
}

// A line with too many points keeps its ends, its order and its extremes.
func TestDecimate(t *testing.T) {
	var points [][2]float64
	for i := range 5000 {
		points = append(points, [2]float64{float64(i), math.Sin(float64(i) / 100)})
	}
	points[3333][1] = 9
	points[1234][1] = -9
	few := decimate(points, 100)
	if len(few) > 100 || few[0] != points[0] || few[len(few)-1] != points[4999] {
		t.Errorf("%d points from %v to %v", len(few), few[0], few[len(few)-1])
	}
	if lo, hi := reach(few); lo != -9 || hi != 9 {
		t.Errorf("between %v and %v, want -9 and 9", lo, hi)
	}
	if !slices.IsSortedFunc(few, func(a, b [2]float64) int { return int(a[0] - b[0]) }) {
		t.Error("out of order")
	}
	if same := decimate(points[:100], 100); len(same) != 100 {
		t.Errorf("%d points of 100", len(same))
	}
}

func TestCurveData(t *testing.T) {
	x, y := axis{scale: scale{0, 10, 0, 10, false}}, axis{scale: scale{0, 10, 10, 0, false}}
	for _, c := range []struct {
		curve Curve
		want  string
	}{
		{Curve{Points: [][2]float64{{0, 0}, {5, 5}, {10, 0}}}, "M0 10L5 5L10 10"},
		{Curve{Step: true, Points: [][2]float64{{0, 2}, {4, 2}, {6, 3}, {9, 3}}}, "M0 8H4H6V7H9"},
		{Curve{Points: [][2]float64{{0, math.NaN()}, {1, 1}, {2, math.NaN()}, {3, 3}, {4, 4}}}, "M1 9M3 7L4 6"},
	} {
		if got := c.curve.data(x, y, 100); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}

func named(f fixture) []Named {
	var out []Named
	for _, p := range f.build().Profiles {
		out = append(out, Named{p.Name, p.Runs[0]})
	}
	return out
}

func watched() fixture {
	f := usual()
	f.watched = true
	return f
}

// A file is self-contained: it is XML, refers to nothing else, is small, and contains all the rules it uses.
func TestPlotFiles(t *testing.T) {
	runs := named(watched())
	gauge, ok1 := Gauge("δ & <so>", "δ", runs)
	said, ok2 := Predictions("remaining time", runs)
	given, ok3 := Allocation("given", runs[1], nil)
	if !ok1 || !ok2 || !ok3 {
		t.Fatalf("gauge %v, predictions %v, allocation %v", ok1, ok2, ok3)
	}
	bars := &Plot{Title: "bars", Keys: []Key{{"a", 0, Filled}, {"b", 1, Filled}}, Panels: []Panel{{
		Y: Axis{Label: "gain, %"},
		Groups: []Group{
			{"one", []Bar{{3, 2, 4}, {math.NaN(), math.NaN(), math.NaN()}}},
			{"a group with a rather long name", []Bar{{-3, -4, -2}, {0, 0, 0}}},
			{"x", nil},
		},
	}}}
	for _, p := range []*Plot{gauge, said, given, bars} {
		svg := p.SVG()
		if !bytes.Equal(svg, p.SVG()) {
			t.Errorf("%s: the same plot gave another file", p.Title)
		}
		if len(svg) > 60_000 {
			t.Errorf("%s: %d bytes", p.Title, len(svg))
		}
		d := xml.NewDecoder(bytes.NewReader(svg))
		for {
			if _, err := d.Token(); errors.Is(err, io.EOF) {
				break
			} else if err != nil {
				t.Fatalf("%s: %v", p.Title, err)
			}
		}
		text := string(svg)
		for _, bad := range []string{"NaN", "Inf", "https://", "@import", "url("} {
			if strings.Contains(text, bad) {
				t.Errorf("%s: has %q", p.Title, bad)
			}
		}
		for _, class := range regexp.MustCompile(`class="(\w+)`).FindAllStringSubmatch(text, -1) {
			if !strings.Contains(text, "."+class[1]) && class[1] != "key" {
				t.Errorf("%s: nothing says how .%s looks", p.Title, class[1])
			}
		}
	}
	if n := strings.Count(string(bars.SVG()), `class="bar`); n != 2+3 {
		t.Errorf("%d bars and keys, want 5", n)
	}
	if strings.Contains(string(gauge.SVG()), "svg .dots") {
		t.Error("a file carries rules it has no use for")
	}
}

func TestPlotsOfNothing(t *testing.T) {
	none := []Named{{"fair", &sim.Result{}}}
	if _, ok := Gauge("", "δ", none); ok {
		t.Error("a gauge that nobody shows")
	}
	if _, ok := Predictions("", none); ok {
		t.Error("predictions that nobody made")
	}
	if _, ok := Allocation("", none[0], nil); ok {
		t.Error("allocations that nobody traced")
	}
	if _, ok := Allocation("", named(watched())[1], []string{"no such job"}); ok {
		t.Error("allocations of a job that is not there")
	}
	if svg := (&Plot{Title: "nothing", Panels: []Panel{{}}}).SVG(); !strings.Contains(string(svg), "nothing") {
		t.Error("a plot of nothing is none")
	}
}

// Four estimates of two reduces, off by 1, 2, 3 and 10 s; a reduce that was not seen to end is left out.
func TestForetoldByHand(t *testing.T) {
	s := heddle.Second
	r := &sim.Result{Jobs: []sim.JobResult{{ID: "sort"}}, Predictions: []sim.Prediction{
		{Container: 7, Remaining: 11 * s, Actual: 10 * s},
		{Container: 7, At: heddle.Time(s), Remaining: 7 * s, Actual: 9 * s},
		{Container: 3, Remaining: 13 * s, Actual: 10 * s},
		{Container: 3, At: heddle.Time(s), Remaining: 19 * s, Actual: 9 * s},
		{Container: 9, Remaining: 100 * s, Actual: sim.NoSpan},
	}}
	f := newForetold(r)
	if got := f.errors(); !slices.EqualFunc(got, []float64{1, 2, 3, 10}, near) {
		t.Errorf("errors %v", got)
	}
	if want := "4 estimates of 2 reduces, half of them within 2.5 s of what came, 90 % within 7.9 s."; f.words() != want {
		t.Errorf("%q, want %q", f.words(), want)
	}
	if f.longest != 3 { // as many as 7 has, and the lower number
		t.Errorf("container %d is shown", f.longest)
	}
	one, several := f.one(0)
	if !several || !slices.Equal(one.Curves[1].Points, [][2]float64{{0, 13}, {1, 19}}) || !slices.Equal(one.Curves[0].Points, [][2]float64{{0, 10}, {1, 9}}) {
		t.Errorf("%+v", one.Curves)
	}
	p := Panel{Caption: "Of two.", Dots: []Dots{{0, [][2]float64{{10, 11}, {5, 90}, {8, 29}}}}}
	p.square()
	if p.X.High != 30 || p.Y.High != 30 || p.Dots[0].Points[1] != [2]float64{5, 30} || p.Caption != "Of two. 1 dot beyond the axis at its edge." {
		t.Errorf("%+v", p)
	}
	if rows := f.table().Rows; len(rows) != 2 || rows[1][1] != "2" || rows[1][2] != "12.0 s" || rows[1][3] != "2.0 s" {
		t.Errorf("table %q", rows)
	}
}

// For a reduce with one estimate there is no line to draw.
func TestForetoldOnce(t *testing.T) {
	s := heddle.Second
	r := &sim.Result{Jobs: []sim.JobResult{{ID: "sort"}}, Predictions: []sim.Prediction{{Container: 7, Remaining: 11 * s, Actual: 10 * s}}}
	if p, several := newForetold(r).one(0); several {
		t.Errorf("%+v", p)
	}
	if p, ok := Predictions("estimates", []Named{{Name: "fair", Run: r}}); !ok || len(p.Panels) != 1 || len(p.Keys) != 1 {
		t.Errorf("%v: %+v", ok, p)
	}
	if p, ok := Predictions("estimates", nil); ok {
		t.Errorf("of nothing: %+v", p)
	}
}

// Tasks whose limits changed come before longer ones.
func TestTracedByHand(t *testing.T) {
	trace := func(c heddle.ContainerID, job int, seconds int, changes int) sim.Trace {
		x := sim.Trace{Container: c, Job: job, Kind: heddle.Map}
		limit := heddle.Of(1024, 1000)
		for i := range seconds {
			if changes > 0 {
				limit[heddle.CPU]--
				changes--
			}
			x.Points = append(x.Points, sim.TracePoint{At: heddle.Time(i) * heddle.Time(heddle.Second), Limit: limit})
		}
		return x
	}
	r := &sim.Result{
		Jobs:   []sim.JobResult{{ID: "a"}, {ID: "b"}},
		Traces: []sim.Trace{trace(1, 0, 90, 0), trace(2, 0, 10, 5), trace(3, 1, 80, 0), trace(4, 0, 2, 1), trace(5, 0, 70, 0), trace(6, 1, 20, 3)},
		Tasks:  []sim.TaskResult{{Container: 2, Index: 4}},
	}
	ids := func(jobs ...string) (out []heddle.ContainerID) {
		for _, x := range traced(r, jobs) {
			out = append(out, x.Container)
		}
		return out
	}
	if got := ids(); !slices.Equal(got, []heddle.ContainerID{1, 2, 3, 6}) {
		t.Errorf("containers %v are shown, want 1 2 3 6", got)
	}
	if got := ids("b"); !slices.Equal(got, []heddle.ContainerID{3, 6}) {
		t.Errorf("containers %v of b are shown, want 3 6", got)
	}
	if a, b := traceName(r, &r.Traces[1]), traceName(r, &r.Traces[0]); a != "a, map 4" || b != "a, map, container 1" {
		t.Errorf("names %q, %q", a, b)
	}
}
