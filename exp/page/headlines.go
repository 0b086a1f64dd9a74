package page

import (
	"fmt"
	"slices"

	"heddle/exp"
)

// Headlines returns the table with one line for each system that has a section: the experiment that its headline figure
// is from, the published figure and ours.
func Headlines(systems []exp.System, sections []*Section) []byte {
	t := newTable("system", "headline", "published", "ours", "lowest – highest", "verdict", "figures reached or exceeded")
	t.right(2, 3, 4, 6)
	for i := range systems {
		system := &systems[i]
		own := slices.DeleteFunc(slices.Clone(sections), func(s *Section) bool { return s.outcome.Experiment.System != system.Name })
		at := max(0, slices.IndexFunc(own, func(s *Section) bool { return s.outcome.Experiment.Name == system.Headline }))
		if len(own) == 0 || len(own[at].outcome.Metrics) == 0 {
			continue
		}
		x := own[at].outcome
		r := x.Metrics[0].Row()
		all := tally(own)
		t.row(fmt.Sprintf("[%s](docs/experiments/%s.md)", system.Title, system.Name), escape(x.Experiment.Name+": "+r.Name), escape(r.Published), r.Ours, r.Range, r.Verdict,
			fmt.Sprintf("%d of %d", all.Good(), all.Counted()))
	}
	return []byte(t.String())
}
