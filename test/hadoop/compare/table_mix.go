package main

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"heddle/internal/testkit/hadoop"
)

// A measure is one figure of a run, in seconds. Less is better.
type measure struct {
	name string
	of   func(r mixResult) float64
}

// measures returns the measures of a mix: mean wait and completion of each class of jobs, and figures of the run as a
// whole.
func (m mix) measures() (all []measure) {
	for _, class := range m.classes() {
		all = append(all,
			measure{class + ": wait", func(r mixResult) float64 { return m.mean(r.Wait, class) }},
			measure{class + ": completion", func(r mixResult) float64 { return m.mean(r.Completion, class) }},
		)
	}
	if len(m.classes()) > 1 {
		all = append(all, measure{"all: completion", func(r mixResult) float64 { return m.mean(r.Completion, "") }})
	}
	return append(all, measure{"makespan", func(r mixResult) float64 { return r.Makespan }})
}

// mean returns the mean over the jobs of a class, or over all jobs.
func (m mix) mean(figures map[string]float64, class string) float64 {
	sum, n := 0.0, 0
	for _, j := range m.jobs {
		if class == "" || j.class() == class {
			sum, n = sum+figures[j.name], n+1
		}
	}
	return sum / float64(n)
}

// An arm is the result of a mix under one ResourceManager and profile.
type arm struct {
	under hadoop.Options
	runs  []mixResult
	fails int // abandoned runs
}

func (a arm) name() string {
	profile, agents := strings.CutSuffix(profileOf(a.under), withAgents)
	if agents {
		profile += " with agents"
	}
	return a.under.RM + " " + profile
}

// values returns the values of a measure in each run.
func (a arm) values(x measure) (all []float64) {
	for _, r := range a.runs {
		all = append(all, x.of(r))
	}
	return all
}

// A ratio compares a measure of an arm with the better of the stock schedulers.
type ratio struct {
	part   float64 // below 0: better
	beside string  // the stock scheduler it is compared with
}

// percent returns the difference in percent, rounded: more than half a percent counts as one.
func (r ratio) percent() int { return int(math.Round(100 * r.part)) }

func (r ratio) String() string { return fmt.Sprintf("%+d %% (%s)", r.percent(), r.beside) }

// against compares an arm with the better of the stock schedulers by the median of a measure; ok is false if one of
// them has no runs.
func against(arms []arm, a arm, x measure) (out ratio, ok bool) {
	best := 0.0
	for _, s := range arms {
		if s.under.RM != hadoop.Stock {
			continue
		}
		if len(s.runs) == 0 {
			return ratio{}, false
		}
		if v := median(s.values(x)); out.beside == "" || v < best {
			best, out.beside = v, s.under.Profile
		}
	}
	if out.beside == "" || len(a.runs) == 0 {
		return ratio{}, false
	}
	out.part = median(a.values(x))/best - 1
	return out, true
}

// writeMix writes the results of a mix: first what got worse, then the figures, then the ratios.
func writeMix(out io.Writer, m mix, arms []arm) error {
	_, err := fmt.Fprintf(out, "## Mix %s\n\n%s\n\nSeconds: medians over the runs, least to most in brackets, of the mean over the jobs of a kind.\n\n", m.name, m.about)
	fmt.Fprintln(out, worse(m, arms))
	fmt.Fprintln(out)
	columns := []string{"", "runs"}
	for _, x := range m.measures() {
		columns = append(columns, x.name)
	}
	head(out, columns...)
	for _, a := range arms {
		cells := []string{a.name(), strconv.Itoa(len(a.runs))}
		for _, x := range m.measures() {
			cells = append(cells, cell(a.values(x)))
		}
		row(out, cells...)
	}
	fmt.Fprint(out, "\nThe same beside the better one of the stock schedulers, which is named:\n\n")
	head(out, slices.Delete(columns, 1, 2)...)
	for _, a := range arms {
		if a.under.RM == hadoop.Stock {
			continue
		}
		cells := []string{a.name()}
		for _, x := range m.measures() {
			text := ""
			if r, ok := against(arms, a, x); ok {
				text = r.String()
			}
			cells = append(cells, text)
		}
		row(out, cells...)
	}
	fmt.Fprint(out, "\n", acted(arms), gaveUp(arms))
	return err
}

// acted says what was done to running containers in the median run.
func acted(arms []arm) string {
	var b strings.Builder
	for _, a := range arms {
		deeds := map[string][]float64{}
		for _, r := range a.runs {
			for deed, n := range r.Deeds {
				deeds[deed] = append(deeds[deed], n)
			}
		}
		var texts []string
		for _, deed := range slices.Sorted(maps.Keys(deeds)) {
			if slices.Max(deeds[deed]) > 0 {
				texts = append(texts, deed+" "+cell(deeds[deed]))
			}
		}
		if len(texts) > 0 {
			fmt.Fprintf(&b, "%s, containers in a run: %s.\n", a.name(), strings.Join(texts, ", "))
		}
	}
	if b.Len() > 0 {
		b.WriteString("\n")
	}
	return b.String()
}

// worse lists what is larger under Heddle's profiles than under the better stock scheduler, largest first.
func worse(m mix, arms []arm) string {
	type loss struct {
		text string
		part float64
	}
	var all []loss
	compared := false
	for _, a := range arms {
		for _, x := range m.measures() {
			r, ok := against(arms, a, x)
			compared = compared || ok
			if ok && a.under.RM != hadoop.Stock && r.percent() > 0 {
				all = append(all, loss{fmt.Sprintf("%s, %s %s", a.name(), x.name, r), r.part})
			}
		}
	}
	if !compared {
		return "No stock scheduler ran beside these."
	}
	if len(all) == 0 {
		return "Nothing is worse than under the better one of the stock schedulers."
	}
	slices.SortStableFunc(all, func(a, b loss) int { return cmp.Compare(b.part, a.part) })
	var texts []string
	for _, l := range all {
		texts = append(texts, l.text)
	}
	return "Worse than under the better one of the stock schedulers: " + strings.Join(texts, "; ") + "."
}

// gaveUp says which runs are not in the table, and in which of the others masters had to be restarted.
func gaveUp(arms []arm) string {
	var b strings.Builder
	for _, a := range arms {
		if a.fails > 0 {
			fmt.Fprintf(&b, "%s: %d runs were given up and are not in the table.\n", a.name(), a.fails)
		}
		again := 0
		for _, r := range a.runs {
			again += r.Again
		}
		if again > 0 {
			fmt.Fprintf(&b, "%s: %d applications needed another attempt.\n", a.name(), again)
		}
	}
	if b.Len() > 0 {
		b.WriteString("\n")
	}
	return b.String()
}
