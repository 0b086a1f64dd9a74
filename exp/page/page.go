// Package page presents the results of experiments for people: a Markdown page with plots for each system, and the
// table of headlines.
//
// It runs nothing, judges nothing and touches no file: the same outcomes give the same bytes.
package page

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"unicode/utf8"

	"heddle/exp"
	"heddle/report"
	"heddle/sim"
)

// A Section is the part of a page about one experiment. It is made while the experiment's runs are there, and does not
// keep them.
type Section struct {
	Plots []File // named relative to the page

	outcome *exp.Outcome
	text    []string // for each plot of the experiment: its picture, or why there is none
	swept   []string // likewise for each sweep; empty if no plot is wanted
	failed  []string // the arms under which some jobs did not succeed
}

// A File is a plot on its own.
type File struct {
	Name string // plots/coupling-two-greps-1.svg
	Data []byte
}

// New makes the section of an outcome.
func New(x *exp.Outcome) *Section {
	kept := *x
	kept.All = nil
	s := &Section{outcome: &kept, failed: failures(x)}
	for i := range x.Experiment.Plots {
		p := &x.Experiment.Plots[i]
		drawn := draw(x.Experiment, p, x.All)
		if len(drawn) == 0 {
			s.text = append(s.text, fmt.Sprintf("*%s: the runs have nothing to show.*", escape(p.Title)))
			continue
		}
		var links []string
		for _, d := range drawn {
			links = append(links, s.add(d))
		}
		s.text = append(s.text, strings.Join(links, "\n\n"))
	}
	for i := range x.Sweeps {
		link := ""
		if x.Sweeps[i].Plot {
			if p := sweepPlot(&x.Sweeps[i]); p != nil {
				link = s.add(p)
			}
		}
		s.swept = append(s.swept, link)
	}
	return s
}

// failures lists, arm by arm, which jobs did not succeed: figures may lack them, or cover less work.
func failures(x *exp.Outcome) []string {
	var out []string
	for i := range x.Experiment.Arms {
		arm := x.Experiment.Arms[i].Name
		lost, jobs := 0, 0
		var first string
		for _, r := range x.All {
			for k := range r.Arm(arm).Jobs {
				j := &r.Arm(arm).Jobs[k]
				jobs++
				if j.State == sim.Succeeded {
					continue
				}
				if lost++; lost == 1 {
					first = fmt.Sprintf("%s %s with seed %d", j.ID, j.State, r.Seed)
				}
			}
		}
		if lost > 0 {
			out = append(out, fmt.Sprintf("%s: %d of %d, the first %s", escape(arm), lost, jobs, escape(first)))
		}
	}
	return out
}

// add keeps a plot as a file and returns the Markdown that shows it.
func (s *Section) add(p *report.Plot) string {
	f := File{Name: fmt.Sprintf("plots/%s-%d.svg", s.outcome.Experiment.Name, len(s.Plots)+1), Data: p.SVG()}
	s.Plots = append(s.Plots, f)
	return fmt.Sprintf("![%s](%s)", bracketless.Replace(p.Title), f.Name)
}

// Page returns the page of a system, made of those of the sections that belong to it, in their order.
func Page(system *exp.System, sections []*Section) []byte {
	sections = slices.DeleteFunc(slices.Clone(sections), func(s *Section) bool { return s.outcome.Experiment.System != system.Name })
	var b strings.Builder
	fmt.Fprintf(&b, "<!-- Made by heddle exp report. Changes are lost. -->\n\n# %s\n\n%s\n\n", system.Title, system.What)
	if system.Paper != "" {
		fmt.Fprintf(&b, "The paper: %s\n\n", system.Paper)
	}
	all := tally(sections)
	fmt.Fprintf(&b, "%s\n\n%s%s%s", all.String(), judged, manner, figures(sections))
	if len(system.SetUp) > 0 {
		b.WriteString("\n" + setUp(system.SetUp))
	}
	for _, s := range sections {
		s.write(&b)
	}
	return []byte(b.String())
}

// manner describes how every arm of every experiment is simulated: see [exp.Experiment].
const manner = "Every arm is simulated as a stock ResourceManager with an ideal node agent beside every NodeManager: containers are\n" +
	"allocated only when a node reports, nodes report at a fixed interval, and they report the end of a container with their\nnext heartbeat.\n\n"

// tally counts the figures of sections.
func tally(sections []*Section) exp.Tally {
	var all exp.Tally
	for _, s := range sections {
		all.Add(s.outcome)
	}
	return all
}

// figures returns the table of all figures of a system.
func figures(sections []*Section) string {
	t := newTable("experiment", "figure", "published", "ours", "lowest – highest", "null arm", "same direction", "verdict")
	t.right(2, 3, 4, 5)
	for _, s := range sections {
		name := fmt.Sprintf("[%s](#%s)", s.outcome.Experiment.Name, s.outcome.Experiment.Name)
		for i := range s.outcome.Metrics {
			m := &s.outcome.Metrics[i]
			r := m.Row()
			t.row(name, escape(r.Name), escape(r.Published), r.Ours, r.Range, r.Null, r.Direction, r.Verdict)
			name = ""
		}
	}
	return t.String()
}

func (s *Section) write(b *strings.Builder) {
	e := s.outcome.Experiment
	fmt.Fprintf(b, "\n## %s\n\n**%s** (%s)\n\n", e.Name, escape(strings.TrimSuffix(e.Title, ".")), escape(e.Source))
	if m := strings.TrimSpace(e.Method); m != "" {
		b.WriteString(m + "\n\n")
	}
	fmt.Fprintf(b, "%s\n\n", s.arms())
	if len(s.failed) > 0 {
		fmt.Fprintf(b, "**Jobs that did not succeed**, over all seeds: %s.\n\n", strings.Join(s.failed, "; "))
	}
	for _, p := range s.text {
		b.WriteString(p + "\n\n")
	}
	s.shortfalls(b)
	s.bounds(b)
	s.mutations(b)
	s.effects(b)
	for i := range s.outcome.Sweeps {
		writeSweep(b, &s.outcome.Sweeps[i], s.swept[i])
	}
}

// arms describes what was compared with what and how often, and which profiles the arms use.
func (s *Section) arms() string {
	var names, profiles []string
	tell, wide := false, 0
	for i := range s.outcome.Experiment.Arms {
		wide = max(wide, utf8.RuneCountInString(s.outcome.Experiment.Arms[i].Name))
	}
	for i := range s.outcome.Experiment.Arms {
		a := &s.outcome.Experiment.Arms[i]
		names = append(names, escape(a.Name))
		profiles = append(profiles, fmt.Sprintf("%-*s  %s", wide, a.Name, profileOf(a)))
		tell = tell || profileOf(a) != a.Name
	}
	text := "Arms: " + strings.Join(names, "; ") + ". "
	if e := s.outcome.Experiment; len(e.Null) > 0 {
		text += "Null arm: " + strings.TrimSuffix(e.NullIs, ".") + ". "
	}
	text += seeds(s.outcome.Seeds) + "."
	if tell {
		text += "\n\n<details><summary>The arms as profiles</summary>\n\n```\n" + strings.Join(profiles, "\n") + "\n```\n\n</details>"
	}
	return text
}

// profileOf returns an arm's profile as written on a command line.
func profileOf(a *exp.Arm) string {
	s := a.Profile
	for _, set := range a.Set {
		s += " --set " + set
	}
	return s
}

func seeds(list []uint64) string {
	n := len(list)
	switch {
	case n == 1:
		return fmt.Sprintf("Seed %d", list[0])
	case n > 1 && list[n-1]-list[0] == uint64(n-1):
		return fmt.Sprintf("Seeds %d to %d", list[0], list[n-1])
	}
	return "Seeds " + strings.Trim(strings.ReplaceAll(fmt.Sprint(list), " ", ", "), "[]")
}

// shortfalls writes by how much each lost or undecided figure falls short, and why. Figures with the same reason are
// grouped.
func (s *Section) shortfalls(b *strings.Builder) {
	all := s.outcome.Shortfalls()
	if len(all) == 0 {
		return
	}
	b.WriteString("Lost or undecided:\n\n")
	for _, f := range all {
		var lines []string
		for _, m := range f.Metrics {
			lines = append(lines, escape(m.Name)+": "+shortfall(m))
		}
		fmt.Fprintf(b, "- %s.\n  %s\n", strings.Join(lines, ";\n  "), upperFirst(f.Why))
	}
	b.WriteString("\n")
}

// shortfall describes by how much a figure is not reached.
func shortfall(m *exp.Judged) string {
	ours, published := m.Ours.Median, m.Published
	off := fmt.Sprintf("%s against %s", exp.Figure(ours, m.Unit), exp.Figure(published, m.Unit))
	switch {
	case m.Kind == exp.Shape:
		return fmt.Sprintf("the published “%s” does not hold", strings.TrimSuffix(escape(m.Text), "."))
	case math.IsNaN(ours):
		return "there is no figure"
	case m.Verdict == exp.Undecided && math.IsInf(m.Ours.From, 0):
		return off
	case m.Verdict == exp.Undecided:
		return fmt.Sprintf("%s, with a median between %s and %s", off, exp.Figure(m.Ours.From, ""), exp.Figure(m.Ours.To, ""))
	case published == 0:
		return off
	case m.Kind == exp.Level:
		return fmt.Sprintf("%s, %+.0f %% (20 %% is allowed)", off, 100*(ours/published-1))
	case m.Kind == exp.Cost && published < 0:
		return off
	case m.Kind == exp.Cost:
		return fmt.Sprintf("%s, %.2f times the published loss", off, ours/published)
	case !m.SameDirection:
		return off + ", in the other direction"
	}
	return fmt.Sprintf("%s, %.0f %% of the published effect", off, 100*ours/published)
}

// effects writes the table of the headline without each effect of the world, and what a gain depends on according to
// it.
func (s *Section) effects(b *strings.Builder) {
	if len(s.outcome.Effects) == 0 {
		return
	}
	unit := s.outcome.Metrics[0].Unit
	fmt.Fprintf(b, "The headline (%s) with each effect of the simulated world switched off in turn, seed %d; with all effects it is %s:\n\n",
		escape(s.outcome.Metrics[0].Name), s.outcome.Seeds[0], exp.Figure(s.outcome.Effects[0].With, unit))
	t := newTable("without", "headline", "part left", "claimed to depend on it")
	t.right(1, 2)
	for _, f := range s.outcome.Effects {
		t.row(f.Name, exp.Figure(f.Without, unit), left(&f), claim(&f))
	}
	b.WriteString(t.String() + "\n")
	if text := livesOff(s.outcome.Effects); text != "" && s.outcome.Metrics[0].Kind == exp.Gain {
		b.WriteString(text + "\n\n")
	}
}

// livesOff states what follows from the table, if that is more than the table says itself.
func livesOff(effects []exp.Effect) string {
	var lost []string // effects that it depends on, though nobody said so
	said, judged := false, true
	for i := range effects {
		f := &effects[i]
		said = said || f.LivesOn
		judged = judged && left(f) != none
		if f.Lost && !f.LivesOn {
			lost = append(lost, f.Name)
		}
	}
	switch {
	case len(lost) > 0:
		return "Less than 80 % of the headline is left without " + strings.Join(lost, ", ") + ", although no such dependence is claimed."
	case said:
		return ""
	case judged:
		return "The headline depends on none of them: it comes from what runs when, not from how fast it runs."
	}
	return "The headline is not claimed to depend on any of them."
}

// none is shown if there is no figure.
const none = "–"

// left returns the part of a headline that remains without an effect.
func left(f *exp.Effect) string {
	if math.IsNaN(f.Without) || !(f.With > 0) {
		return none
	}
	return fmt.Sprintf("%.0f %%", 100*f.Without/f.With)
}

func claim(f *exp.Effect) string {
	switch {
	case f.Defect:
		return "yes, and it survives: **a defect**"
	case f.LivesOn:
		return "yes"
	}
	return ""
}

func writeSweep(b *strings.Builder, x *exp.Swept, picture string) {
	fmt.Fprintf(b, "### %s\n\n", escape(upperFirst(strings.TrimSuffix(x.Title, "."))))
	head := []string{""}
	for _, c := range x.Columns {
		head = append(head, escape(named(c.Name, c.Unit)))
	}
	t := newTable(head...)
	for c := range x.Columns {
		t.right(c + 1)
	}
	n := 0
	for a := range x.Arms {
		cells := []string{escape(x.Arms[a].Name)}
		for _, v := range x.Cells[a] {
			cell := exp.Figure(v.Median, "")
			if low, high := exp.Figure(v.Low, ""), exp.Figure(v.High, ""); low != high {
				cell += " (" + low + " – " + high + ")"
			}
			cells = append(cells, cell)
			n = max(n, len(v.Values))
		}
		t.row(cells...)
	}
	fmt.Fprintf(b, "Compared with %s; %d %s.\n\n%s\n", escape(x.Base), n, map[bool]string{true: "seed", false: "seeds"}[n == 1], t)
	if picture != "" {
		b.WriteString(picture + "\n\n")
	}
}

func named(name, unit string) string {
	if unit == "" {
		return name
	}
	return name + ", " + unit
}

// System returns the name of the system that the section's experiment belongs to.
func (s *Section) System() string { return s.outcome.Experiment.System }
