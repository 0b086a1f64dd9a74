package report

import (
	"fmt"
	"slices"
	"strings"

	"heddle/workload"
)

// A topic is one thing to know about a comparison besides its figures.
type topic struct {
	label string
	lines []string
}

// topics describes what was run, what was filled in and skipped (at most defects lines of it), the lower bounds and the
// notes.
func (c *Comparison) topics(defects int) []topic {
	topics := []topic{{"workload", []string{c.workloadLine()}}}
	add := func(label string, lines ...string) {
		if len(lines) > 0 && lines[0] != "" {
			topics = append(topics, topic{label, lines})
		}
	}
	add("filled", c.filled()...)
	add("skipped", listed(c.Workload.Skipped, defects)...)
	add("cut off", listed(c.Workload.Cut, defects)...)
	add("cluster", c.Cluster)
	add("simulated", c.mannersLines()...)
	add("world", c.worldLine())
	add("bounds", c.boundsLine())
	add("alone", c.aloneLine())
	add("ordering", c.orderingLine())
	add("recorded", c.recorded())
	add("failed", c.failed(defects)...)
	add("notes", c.notes()...)
	return topics
}

func (c *Comparison) workloadLine() string {
	w := c.Workload
	s := w.Name
	if w.Format != "" {
		s += " (" + w.Format + ")"
	}
	jobs := 0
	for _, p := range c.Profiles {
		for _, r := range p.Runs {
			jobs = max(jobs, len(r.Jobs))
		}
	}
	s += ": " + some(jobs, "job", "jobs")
	if w.Lines > 0 {
		s += ", " + some(w.Lines, "record", "records") + " read, " + count(float64(len(w.Skipped))) + " skipped"
	}
	return s
}

func (c *Comparison) filled() []string {
	var out []string
	for _, f := range c.Workload.Filled {
		out = append(out, f.String())
	}
	return out
}

// listed returns the first defects of a list, then how many more there are.
func listed(all []workload.Defect, limit int) []string {
	var out []string
	for i, d := range all {
		if i == limit {
			out = append(out, fmt.Sprintf("and %s more", count(float64(len(all)-limit))))
			break
		}
		out = append(out, d.String())
	}
	return out
}

func (c *Comparison) worldLine() string {
	seeds, world := c.Seeds(), c.World
	if c.WorldWhy != "" {
		world += ", because " + c.WorldWhy
	}
	if len(seeds) == 0 {
		return world
	}
	return fmt.Sprintf("%s; %s %s", world, pick(len(seeds) == 1, "seed", "seeds"), seedRange(seeds))
}

// manner says which ResourceManager was simulated.
func (p *ProfileRuns) manner() string {
	return pick(p.Stock, "a stock ResourceManager", "heddle rm") +
		pick(!p.Agent, ", without node agents", pick(p.Ideal, ", with an ideal node agent", ", with a node agent")+" beside every NodeManager")
}

// manners lists which ResourceManagers were simulated, in the order of the profiles.
func (c *Comparison) manners() []string {
	var out []string
	for i := range c.Profiles {
		if m := c.Profiles[i].manner(); !slices.Contains(out, m) {
			out = append(out, m)
		}
	}
	return out
}

// mannersLines says which ResourceManagers were simulated, and for which profiles if they differ.
func (c *Comparison) mannersLines() []string {
	out := c.manners()
	if len(out) < 2 {
		return out
	}
	for i, m := range out {
		var names []string
		for k := range c.Profiles {
			if c.Profiles[k].manner() == m {
				names = append(names, c.Profiles[k].Name)
			}
		}
		out[i] += ": " + strings.Join(names, ", ")
	}
	return out
}

func (c *Comparison) boundsLine() string {
	jct, makespan, name, ok := c.bounds()
	if !ok || jct == 0 && makespan == 0 {
		return ""
	}
	s := "no schedule has a mean JCT below " + seconds(jct)
	if name != "" {
		s += " (" + name + ")"
	}
	return s + " or a makespan below " + seconds(makespan)
}

// notes returns the notes of the configuration and those that the results themselves call for.
func (c *Comparison) notes() []string {
	notes := append([]string(nil), c.Notes...)
	if n := c.Cut(); n > 0 {
		notes = append(notes, some(n, "run was", "runs were")+" cut short: figures cover only the part that ran")
	}
	for _, p := range c.Profiles {
		if len(p.Runs) == 0 {
			notes = append(notes, p.Name+" was not run")
		}
	}
	for _, s := range c.Summaries() {
		if lost := s.Mean[Jobs] - s.Mean[Completed]; lost > 0 {
			notes = append(notes, fmt.Sprintf("%s: %s of %s jobs did not succeed; they are not in its JCT, waiting and "+
				"starvation, and its JCT is held against the bounds of the jobs that did",
				s.Profile, count(lost), count(s.Mean[Jobs])))
		}
	}
	return notes
}
