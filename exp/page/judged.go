package page

import (
	"fmt"
	"slices"
	"strings"

	"heddle/exp"
)

// judged explains how a figure gets its verdict: see [exp.Verdict].
const judged = "“Ours” is the median over seeds, shown with the lowest and the highest value. A gain is *reached* from 0.8 to 1.5 times\n" +
	"the published effect and *exceeded* above that. A cost is reached up to 1.25 times the published loss, and exceeded if\n" +
	"nothing is lost. A level is reached within 20 % of the published value, and a shape is reached if it holds. Seeds are added\n" +
	"until the interval that contains the median in 95 of 100 such samples lies on one side of the threshold; if it never does,\n" +
	"the figure is *undecided*. Looking again after every six seeds makes 95 of 100 about 90 of 100 with 30 seeds. A figure says\n" +
	"nothing about the mechanism (*null*) if the null arm also reaches it, or if the null arm has four fifths of the gain. A\n" +
	"figure that no schedule can reach in the set-up as described is *unattainable*. Figures of baselines show whether the\n" +
	"set-up matches the paper's (*set-up*).\n\n"

// setUp returns the table of what was determined by what.
func setUp(list []exp.Decision) string {
	t := newTable("part of the set-up", "chosen", "determined by")
	for _, d := range list {
		t.row(escape(d.What), escape(d.Chosen), escape(d.By))
	}
	return "The workload and the simulated world follow from what the paper publishes about its baselines and its set-up. If the text\n" +
		"gives nothing else and a figure of the paper's own system had to be used, the table says so, and that figure does not\n" +
		"count.\n\n" + t.String()
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
	t := newTable("mistake", "figure", "without it", "with it", "verdict with it")
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
	fmt.Fprintf(b, "Figures that come from the mechanism, and their medians when the mechanism contains a mistake (the first %d seeds):\n\n%s\n", n, t)
}
