package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"text/tabwriter"
	"time"

	"heddle/report"
	"heddle/test/hollow"
)

// steady are the settings of a run under a steady load.
type steady struct {
	binary, dir string
	last, every time.Duration
	nodes       int
	seed        uint64
	plot        string // where a plot is written; "" for none
	out         io.Writer
}

const (
	// kept is how many completed applications heddle rm keeps here. The warm-up lasts until there were twice as many,
	// so that from then on one is forgotten for each that ends, and until a part of the time is over.
	kept     = 100
	warmPart = 6               // at least a sixth of the time,
	warmMost = 5 * time.Minute // and at most this long
	// A leaked map entry is at least an id and a pointer, which is three words or more.
	leakOfJob = 24.0 // in bytes
	// The ResourceManager numbers applications and starts over after this many. It has tables indexed by these numbers,
	// which take this many bytes for each number in between.
	numbers, ofNumber = 20_000, 600.0
	churners          = 4 // clients that submit and kill, so that numbers start over often
	churnEvery        = 50 * time.Millisecond
)

// A sample is one reading: a value for each gauge.
type sample struct {
	at     time.Duration
	values [numGauges]float64
}

// The gauges.
const (
	heap = iota
	resident
	descriptors
	goroutines
	file
	middle
	late
	numGauges
)

// A gauge is a value that must not grow under a steady load.
type gauge struct {
	name  string
	slack float64 // how much it may have grown by the end, as a fraction of its mean
	least float64 // or at least this much
	why   string
}

// The bounds. Counts may vary with what is under way when they are read; stored data may not grow.
var gauges = [numGauges]gauge{
	heap:        {"live heap, MiB", 0, 0, "24 B for each application, and what tables by their numbers take before these begin anew"},
	resident:    {"resident, MiB", 0.05, 2, "5 %, or 2 MiB, as the collector lets go of pages when it likes; and twice what tables take"},
	descriptors: {"descriptors", 0.02, 2, "2 %, or 2: connections are as many as there are callers"},
	goroutines:  {"goroutines", 0.05, 5, "5 %, or 5: each connection has some, and calls in progress one"},
	file:        {"store, MiB", 0.02, 0.25, "2 %, or 0.25 MiB: what is dropped makes room for what comes"},
	middle:      {"report p50, ms", 0.5, 0.5, "half, or 0.5 ms: the machine has other work too"},
	late:        {"report p99, ms", 1, 5, "as much again, or 5 ms: likewise"},
}

// A trend is a line through the readings of a gauge.
type trend struct {
	mean, growth, sure float64 // growth by the end, and its standard error
	bound              float64
}

// flat reports whether a gauge has not grown beyond its bound with certainty, that is by more than twice the standard
// error.
func (t trend) flat() bool { return t.growth-2*t.sure <= t.bound }

// soaked is the result of a run.
type soaked struct {
	samples []sample
	warm    time.Duration
	jobs    int // after the warm-up
	trends  [numGauges]trend
	wrong   []string
}

// run puts a steady load on a heddle rm and reads its gauges.
func (s *steady) run(ctx context.Context) (res *soaked, err error) {
	ctx, fail := context.WithCancelCause(ctx)
	defer fail(nil)
	ch, err := newChild(s.binary, s.dir, freeHost(), kept)
	if err != nil {
		return nil, err
	}
	if err := ch.start(); err != nil {
		return nil, err
	}
	defer func() {
		if ended := ch.stop(); err == nil {
			err = ended
		}
		if err == nil {
			res.wrong = append(res.wrong, ch.complaints()...)
		}
	}()
	if _, err := ch.answers(ctx); err != nil {
		return nil, err
	}
	c, err := newCluster(ctx, fail, ch, s.nodes, 4, 8, 700*time.Millisecond)
	if err != nil {
		return nil, err
	}
	c.forgets = true
	defer c.close()
	calm, jobs := c.load(s.seed)
	for i := range churners {
		cl := c.newClient(s.seed, uint64(clients+1+i))
		c.Goes(func() error { return cl.churn(calm) })
	}
	res = &soaked{}
	if err := s.sample(c, res); err != nil {
		return nil, err
	}
	res.judge()
	close(calm)
	if err := c.settle(jobs, calmTime); err != nil {
		return nil, err
	}
	c.close()
	res.wrong = append(res.wrong, c.check()...)
	if s.plot != "" {
		err = os.WriteFile(s.plot, res.picture().SVG(), 0o644)
	}
	return res, err
}

// sample takes readings at intervals for as long as the run lasts.
func (s *steady) sample(c *cluster, res *soaked) error {
	atWarm := -1
	for began := c.now(); c.now()-began < s.last; {
		if !c.Sleep(s.every) {
			return context.Cause(c.Ctx)
		}
		now, err := c.read()
		if err != nil {
			return err
		}
		res.samples = append(res.samples, now)
		jobs := 0
		c.count(func(st *stats) { jobs = st.Jobs })
		if atWarm < 0 && now.at >= min(s.last/warmPart, warmMost) && jobs >= 2*kept {
			atWarm, res.warm = jobs, now.at
		}
		res.jobs = jobs - atWarm
		v := now.values
		fmt.Fprintf(s.out, "%7.0f s  %6d applications  heap %.2f MiB  resident %.1f MiB  %3.0f descriptors  %3.0f goroutines  store %.2f MiB  report %.2f ms, p99 %.1f ms\n",
			now.at.Seconds(), jobs, v[heap], v[resident], v[descriptors], v[goroutines], v[file], v[middle], v[late])
	}
	if atWarm < 0 {
		return fmt.Errorf("after %v there were not yet %d applications, and only then is the warm-up over: it has to last longer", s.last, 2*kept)
	}
	return nil
}

const mib = 1 << 20

// read reads everything once.
func (c *cluster) read() (s sample, err error) {
	pid := c.child.pid()
	m, err := hollow.ReadMetrics(c.Ctx, c.child.web())
	if err != nil {
		return s, err
	}
	s.at = c.now()
	next, err1 := m.Value("go_memstats_next_gc_bytes")
	s.values[heap] = next / 2 / mib // GOGC is 100: the next collection is at twice what the last one left
	var err2, err3 error
	s.values[goroutines], err2 = m.Value("go_goroutines")
	s.values[resident], err3 = hollow.Resident(pid)
	files, err4 := hollow.Descriptors(pid)
	s.values[descriptors] = float64(files)
	info, err5 := os.Stat(filepath.Join(c.child.state(), "rm.db"))
	if err := errors.Join(err1, err2, err3, err4, err5); err != nil {
		return s, err
	}
	s.values[file] = float64(info.Size()) / mib
	if lags := c.lags(); len(lags) > 0 {
		s.values[middle], s.values[late] = lags[len(lags)/2].Seconds()*1000, lags[len(lags)*99/100].Seconds()*1000
	}
	return s, nil
}

// judge fits a line to each gauge after the warm-up.
func (res *soaked) judge() {
	for g := range res.trends {
		var xs, ys []float64
		for _, s := range res.samples {
			if s.at >= res.warm {
				xs, ys = append(xs, s.at.Seconds()), append(ys, s.values[g])
			}
		}
		t := line(batches(xs), batches(ys))
		t.bound = max(gauges[g].slack*t.mean, gauges[g].least)
		switch g {
		case heap:
			t.bound = (leakOfJob*float64(res.jobs) + tables(res.jobs)) / mib
		case resident:
			t.bound += 2 * tables(res.jobs) / mib
		}
		res.trends[g] = t
		if !t.flat() {
			res.wrong = append(res.wrong, fmt.Sprintf("%s grows by %.3f ± %.3f, more than %.3f", gauges[g].name, t.growth, 2*t.sure, t.bound))
		}
	}
}

// tables returns by how many bytes a line may grow because of the tables by number alone. They fill for a number of
// applications and then start over. If they start over many times, the line shows only a part of that.
func tables(jobs int) float64 {
	n := float64(jobs)
	return ofNumber * min(n, numbers*numbers/n)
}

// numBatches is the number of groups into which readings are combined: consecutive readings are alike, and would count
// for more than they are worth.
const numBatches = 20

// batches returns the means of that many parts of a list, or the list itself if it is not longer.
func batches(list []float64) (out []float64) {
	if len(list) <= numBatches {
		return list
	}
	for i := range numBatches {
		part := list[i*len(list)/numBatches : (i+1)*len(list)/numBatches]
		sum := 0.0
		for _, v := range part {
			sum += v
		}
		out = append(out, sum/float64(len(part)))
	}
	return out
}

// line fits a line of least squares: the mean, the growth from the first to the last value, and its standard error.
func line(xs, ys []float64) (t trend) {
	n := float64(len(xs))
	if n < 3 {
		return trend{sure: math.Inf(1)}
	}
	var mx, my float64
	for i := range xs {
		mx, my = mx+xs[i]/n, my+ys[i]/n
	}
	var sxx, sxy float64
	for i := range xs {
		sxx, sxy = sxx+(xs[i]-mx)*(xs[i]-mx), sxy+(xs[i]-mx)*(ys[i]-my)
	}
	slope, rest := sxy/sxx, 0.0
	for i := range xs {
		d := ys[i] - my - slope*(xs[i]-mx)
		rest += d * d
	}
	span := xs[len(xs)-1] - xs[0]
	return trend{mean: my, growth: slope * span, sure: math.Sqrt(rest/(n-2)/sxx) * span}
}

// table writes the result of a run.
func (res *soaked) table(w io.Writer) error {
	last := res.samples[len(res.samples)-1].at
	fmt.Fprintf(w, "%v after a warm-up of %v, %d applications, %d samples\n", (last - res.warm).Round(time.Second), res.warm, res.jobs, len(res.samples))
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "\tmean\tgrowth\t± 2 se\tbound\t\twhy so much")
	for g, tr := range res.trends {
		verdict := "flat"
		if !tr.flat() {
			verdict = "GROWS"
		}
		fmt.Fprintf(t, "%s\t%.2f\t%+.3f\t%.3f\t%.3f\t%s\t%s\n", gauges[g].name, tr.mean, tr.growth, 2*tr.sure, tr.bound, verdict, gauges[g].why)
	}
	return t.Flush()
}

// picture returns a plot with a panel for each gauge.
func (res *soaked) picture() *report.Plot {
	p := &report.Plot{
		Title: "heddle rm under a steady load", About: "what heddle rm takes over time, and lines through it after the warm-up",
		Keys: []report.Key{{Name: "read", Colour: 0}, {Name: "line of least squares", Colour: 1, Style: report.Dashed}},
	}
	last := res.samples[len(res.samples)-1].at.Minutes()
	for g, tr := range res.trends {
		c := report.Curve{Colour: 0}
		high := 0.0
		for _, s := range res.samples {
			c.Points = append(c.Points, [2]float64{s.at.Minutes(), s.values[g]})
			high = max(high, s.values[g])
		}
		fit := report.Curve{Colour: 1, Style: report.Dashed, Points: [][2]float64{
			{res.warm.Minutes(), tr.mean - tr.growth/2}, {last, tr.mean + tr.growth/2},
		}}
		p.Panels = append(p.Panels, report.Panel{
			Title: gauges[g].name, X: report.Axis{Label: "minutes"}, Y: report.Axis{High: 1.1 * high}, Curves: []report.Curve{c, fit},
		})
	}
	return p
}
