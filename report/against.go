package report

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"unicode/utf8"

	"heddle/internal/median"
)

// A verdict is what got worse and what got better under the last profile.
type verdict struct {
	title         string // heddle against the better of capacity and fair
	worse, better []string
	chance        []string // what the seeds do not agree on
	few           bool     // the seeds are too few to say that of anything
}

// alike is the largest relative difference between two figures that count as even.
const alike = 0.02

// against compares the last profile with the best of the others in each row, among those that completed as many jobs.
// It leaves out the rows in which neither less nor more is better, and the one that only repeats the mean completion
// time. ok is false if there is nothing to compare with.
func against(sums []Summary) (v verdict, ok bool) {
	last, eligible := len(sums)-1, comparable(sums)
	var others []string
	for i := range sums {
		if i != last && eligible[i] {
			others = append(others, sums[i].Profile)
		}
	}
	if len(others) == 0 || !eligible[last] {
		return v, false
	}
	v.title = sums[last].Profile + " against " + others[0]
	if n := len(others); n > 1 {
		v.title = sums[last].Profile + " against the " + pick(n == 2, "better", "best") + " of " + strings.Join(others[:n-1], ", ") + " and " + others[n-1]
	}
	v.few = sums[last].Runs < median.Least
	type change struct {
		text string
		by   float64 // factor of the change
	}
	var worse, better, chance []change
	for _, r := range rows {
		best, rival := math.NaN(), last
		for i := range sums {
			if x := sums[i].Mean[r.metric]; i != last && eligible[i] && !math.IsNaN(x) && (math.IsNaN(best) || x*float64(r.better) > best*float64(r.better)) {
				best, rival = x, i
			}
		}
		own := sums[last].Mean[r.metric]
		if r.better == 0 || r.metric == JCTOverBound || math.IsNaN(own) || math.IsNaN(best) || r.format(own) == r.format(best) || math.Abs(own-best) <= alike*best {
			continue
		}
		c := change{fmt.Sprintf("%s %s against %s", r.label, r.format(own), r.format(best)), math.Max(own, best) / math.Min(own, best)}
		if times := own / best; math.Min(own, best) > 0 {
			c.text += " (" + changed(times) + ")"
		}
		switch {
		case !v.few && !sums[last].surely(&sums[rival], r.metric):
			chance = append(chance, c)
		case (own-best)*float64(r.better) < 0:
			worse = append(worse, c)
		default:
			better = append(better, c)
		}
	}
	list := func(cs []change) (texts []string) {
		slices.SortStableFunc(cs, func(a, b change) int { return cmp.Compare(b.by, a.by) })
		for _, c := range cs {
			texts = append(texts, c.text)
		}
		return texts
	}
	v.worse, v.better, v.chance = list(worse), list(better), list(chance)
	return v, true
}

// surely reports whether the mean of a figure differs from another profile's beyond chance: the interval of the median
// of the differences by seed lies on the same side of 0.
func (s *Summary) surely(other *Summary, m Metric) bool {
	var more []float64
	for seed, f := range s.bySeed { // the interval does not depend on the order
		if g, both := other.bySeed[seed]; both && !math.IsNaN(f[m]-g[m]) {
			more = append(more, f[m]-g[m])
		}
	}
	from, to := median.Interval(more)
	return s.Mean[m] > other.Mean[m] && from > 0 || s.Mean[m] < other.Mean[m] && to < 0
}

// rule says which rows are in no list, and what chance has to do with the lists.
func (v *verdict) rule() string {
	s := "rows within 2 % left out"
	switch {
	case v.few:
		s += fmt.Sprintf("; it takes %d seeds to rule out chance", median.Least)
	case len(v.chance) > 0:
		s += "; what may be chance comes last"
	}
	return s
}

// changed writes by how much a figure has changed: −9 %, +35 %, 16 ×.
func changed(times float64) string {
	switch {
	case times >= 10:
		return fmt.Sprintf("%.0f ×", times)
	case times >= 2:
		return fmt.Sprintf("%.1f ×", times)
	case times > 1:
		return fmt.Sprintf("+%.0f %%", 100*(times-1))
	}
	return fmt.Sprintf("−%.0f %%", 100*(1-times))
}

// topics returns the topics of the verdict, what is worse first. No change is broken across lines of the given width.
func (v *verdict) topics(width int) []topic {
	lists := []topic{{"worse", v.worse}, {"better", v.better}}
	nothing := "nothing by more than 2 %"
	if len(v.chance) > 0 {
		lists, nothing = append(lists, topic{"chance", v.chance}), "nothing beyond chance"
	}
	var out []topic
	for _, t := range lists {
		if len(t.lines) == 0 {
			t.lines = []string{nothing}
		}
		var lines []string
		for i, text := range t.lines {
			text += pick(i < len(t.lines)-1, ";", "")
			if n := len(lines); n > 0 && utf8.RuneCountInString(lines[n-1]+" "+text) <= width {
				lines[n-1] += " " + text
				continue
			}
			lines = append(lines, text)
		}
		out = append(out, topic{t.label, lines})
	}
	return out
}
