package main

import (
	"fmt"
	"io"
	"math"
	"slices"
	"text/tabwriter"

	"heddle/bench/internal/measure"
)

const (
	drift   = 0.4 // a round whose scan is farther than this from the median scan is measured again
	repeats = 3   // the most rounds of a contest that are repeated
)

// A round is one run of every side, base first.
type round struct {
	scan  float64
	sides []measure.Figures
}

// A result is all rounds of a contest.
type result struct {
	contest
	rounds []round
	odd    int // remaining rounds in which the machine's speed differed
}

// measure runs the rounds, and repeats those in which the machine was faster or slower.
func (c *contest) measure(rounds int, scan func() (float64, error), run func(side) (measure.Figures, error)) (*result, error) {
	r := &result{contest: *c, rounds: make([]round, rounds)}
	for i := range r.rounds {
		var err error
		if r.rounds[i], err = c.round(scan, run); err != nil {
			return nil, err
		}
	}
	for range repeats {
		i := r.oddest()
		if i < 0 {
			break
		}
		var err error
		if r.rounds[i], err = c.round(scan, run); err != nil {
			return nil, err
		}
	}
	for i := range r.rounds {
		if r.off(i) > drift {
			r.odd++
		}
	}
	return r, nil
}

func (c *contest) round(scan func() (float64, error), run func(side) (measure.Figures, error)) (round, error) {
	var r round
	var err error
	if r.scan, err = scan(); err != nil {
		return r, err
	}
	for _, s := range append([]side{c.base}, c.others...) {
		f, err := run(s)
		if err != nil {
			return r, err
		}
		for _, name := range c.figures() {
			if !(f[name] > 0) && (s.program != "" || c.goalOf(name) != nil) {
				return r, fmt.Errorf("%s printed no %s", s.name, name)
			}
		}
		r.sides = append(r.sides, f)
	}
	return r, nil
}

// off returns how far a round's scan is from the median scan, as a fraction of the median.
func (r *result) off(i int) float64 {
	m := median(r.each(func(x round) float64 { return x.scan }))
	return math.Abs(r.rounds[i].scan-m) / m
}

// oddest returns the round to measure again first, or −1 if there is none.
func (r *result) oddest() int {
	worst := -1
	for i := range r.rounds {
		if r.off(i) > drift && (worst < 0 || r.off(i) > r.off(worst)) {
			worst = i
		}
	}
	return worst
}

func (r *result) each(f func(round) float64) []float64 {
	out := make([]float64, len(r.rounds))
	for i, x := range r.rounds {
		out[i] = f(x)
	}
	return out
}

// print writes the result and returns how many goals were missed.
func (r *result) print(w io.Writer) (missed int) {
	fmt.Fprintf(w, "\n%s\n", r.name)
	if len(r.columns) > 0 {
		r.table(w)
		return 0
	}
	for i, s := range append([]side{r.base}, r.others...) {
		fmt.Fprintf(w, "  %s\n", s.name)
		for _, name := range r.figures() {
			values := r.each(func(x round) float64 { return x.sides[i][name] })
			if values[0] == 0 {
				continue // a limit has only the figure that it limits
			}
			fmt.Fprintf(w, "    %-26s %s", name, spread(values))
			if g := r.goalOf(name); i > 0 && g != nil {
				missed += r.judge(w, g, i, s.beside)
			}
			fmt.Fprintln(w)
		}
	}
	fmt.Fprintf(w, "  scan of 10,000 nodes, ns     %s\n", spread(r.each(func(x round) float64 { return x.scan })))
	if r.odd > 0 {
		fmt.Fprintf(w, "  in %d rounds the machine's speed was over %.0f %% off: measure again\n", r.odd, 100*drift)
	}
	return missed
}

// table writes a line for every side: its medians, and their ratios to the base's.
func (r *result) table(w io.Writer) {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	for _, name := range r.figures() {
		fmt.Fprintf(t, "\t%s\tratio", name)
	}
	fmt.Fprintln(t, "\t")
	for i, s := range append([]side{r.base}, r.others...) {
		fmt.Fprint(t, s.name)
		for _, name := range r.figures() {
			values := r.each(func(x round) float64 { return x.sides[i][name] })
			ratios := r.each(func(x round) float64 { return x.sides[i][name] / x.sides[0][name] })
			fmt.Fprintf(t, "\t%s\t%s", short(median(values)), short(median(ratios)))
		}
		fmt.Fprintln(t, "\t")
	}
	_ = t.Flush() // error ignored, like that of every write before it
}

// judge writes a side's ratio to the base and returns 1 if it misses the goal.
func (r *result) judge(w io.Writer, g *goal, i int, beside bool) int {
	ratios := r.each(func(x round) float64 { return x.sides[i][g.figure] / x.sides[0][g.figure] })
	fmt.Fprintf(w, "; ratio %s", spread(ratios))
	switch {
	case beside:
		return 0
	case g.met(median(ratios)):
		fmt.Fprintf(w, ", goal %s: met", g)
		return 0
	}
	fmt.Fprintf(w, ", goal %s: missed", g)
	return 1
}

// figures returns the names of the figures that have goals, or the columns, and then the memory.
func (c *contest) figures() []string {
	names := slices.Clone(c.columns)
	for _, g := range c.goals {
		names = append(names, g.figure)
	}
	if !slices.Contains(names, measure.PeakMemory) {
		names = append(names, measure.PeakMemory)
	}
	return names
}

func (c *contest) goalOf(figure string) *goal {
	for i := range c.goals {
		if c.goals[i].figure == figure {
			return &c.goals[i]
		}
	}
	return nil
}

// spread formats the median and the range of values.
func spread(v []float64) string {
	return fmt.Sprintf("%s (%s to %s)", short(median(v)), short(slices.Min(v)), short(slices.Max(v)))
}

func short(x float64) string {
	if x >= 100 {
		return fmt.Sprintf("%.0f", x)
	}
	return fmt.Sprintf("%.3g", x)
}

func median(v []float64) float64 {
	s := slices.Sorted(slices.Values(v))
	if n := len(s); n%2 == 0 {
		return (s[n/2-1] + s[n/2]) / 2
	}
	return s[len(s)/2]
}
