package page

import (
	"fmt"
	"slices"
	"strings"

	"heddle/exp"
)

// judged explains how a figure gets its verdict: see [exp.Verdict].
const judged = "Ours is the median over seeds, beside it the lowest and the highest. A gain is *reached* from 0.8 to 1.5 times the\n" +
	"published effect and *exceeded* above, a cost is reached up to 1.25 times the published loss and exceeded where nothing is\n" +
	"lost, a level is reached within 20 % of the published value, and a shape if it holds. Seeds are added until the interval\n" +
	"that holds the median in 95 of 100 such samples lies on one side of the threshold; where it does not, the figure is\n" +
	"*undecided*. What the null arm reaches too, or a gain of which it has four fifths, says nothing of the mechanism (*null*). What\n" +
	"no schedule can reach in the set-up as it is described is *unattainable*. Figures of baselines say whether the set-up is the\n" +
	"paper's (*set-up*).\n\n"

// setUp returns the table of what was determined by what.
func setUp(list []exp.Decision) string {
	t := newTable("of the set-up", "chosen", "by")
	for _, d := range list {
		t.row(escape(d.What), escape(d.Chosen), escape(d.By))
	}
	return "What the paper publishes of its baselines and its set-up determines workload and world. Where a figure of its own system\n" +
		"had to, because the text has nothing else, the table says so, and that figure does not count.\n\n" + t.String()
}

// bounds writes, for each figure that no schedule can reach, what one could reach.
func (s *Section) bounds(b *strings.Builder) {
	for i := range s.outcome.Metrics {
		if m := &s.outcome.Metrics[i]; m.Verdict == exp.Unattainable {
			fmt.Fprintf(b, "No schedule can reach the published %s of %s here; the bound is %s. %s\n\n",
				exp.Figure(m.Published, m.Unit), escape(m.Name), exp.Figure(m.Limit.Median, m.Unit), upperFirst(strings.TrimSpace(m.BoundIs)))
		}
	}
}

// mutations writes the table of figures that mistakes in the mechanism must lose.
func (s *Section) mutations(b *strings.Builder) {
	n := 0
	t := newTable("with the mistake", "figure", "without it", "with it", "then it is")
	t.right(2, 3)
	for i := range s.outcome.Mutations {
		x := &s.outcome.Mutations[i]
		name := escape(x.Name)
		for k := range x.Figures {
			f := &x.Figures[k]
			n = len(f.Ours.Values)
			at := slices.IndexFunc(s.outcome.Metrics, func(m exp.Judged) bool { return m.Name == f.Name })
			with := f.Row()
			t.row(name, escape(f.Name), s.outcome.Metrics[at].Row().Ours, with.Ours, with.Verdict)
			name = ""
		}
	}
	if n == 0 {
		return
	}
	fmt.Fprintf(b, "Figures that are the mechanism's own, and what their medians come to with a mistake in it (the first %d seeds):\n\n%s\n", n, t)
}
