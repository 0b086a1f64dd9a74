package report

import (
	"fmt"
	"slices"
	"strings"

	"heddle/sim"
)

// history lists the jobs whose completion time the trace records, with the mean simulated time over the seeds.
func (p *ProfileRuns) history() []historyJSON {
	out := []historyJSON{} // an empty list, not null
	at := map[string]int{}
	var runs []int
	for _, r := range p.Runs {
		for i := range r.Jobs {
			j := &r.Jobs[i]
			if j.Recorded <= 0 || j.State != sim.Succeeded {
				continue
			}
			k, known := at[j.ID]
			if !known {
				k = len(out)
				at[j.ID] = k
				out, runs = append(out, historyJSON{Job: j.ID, Recorded: number(j.Recorded.Seconds())}), append(runs, 0)
			}
			out[k].Predicted += number(j.JCT.Seconds())
			runs[k]++
		}
	}
	for k := range out {
		out[k].Predicted /= number(runs[k])
	}
	return out
}

// failures lists the jobs that did not succeed, by seed.
func (p *ProfileRuns) failures() []failureJSON {
	out := []failureJSON{}
	for _, r := range p.Runs {
		for i := range r.Jobs {
			if j := &r.Jobs[i]; j.State != sim.Succeeded {
				out = append(out, failureJSON{r.Seed, j.ID, j.State.String(), j.Why})
			}
		}
	}
	return out
}

// recorded explains the figures that are compared with the trace's record, if it has one.
func (c *Comparison) recorded() string {
	jobs, all := 0, 0
	for _, p := range c.Profiles {
		for _, r := range p.Runs {
			n := 0
			for i := range r.Jobs {
				n += pick(r.Jobs[i].Recorded > 0, 1, 0)
			}
			jobs, all = max(jobs, n), max(all, len(r.Jobs))
		}
	}
	if jobs == 0 {
		return ""
	}
	return fmt.Sprintf("the trace records the completion times of %s of %s; off record is |predicted − recorded| ÷ recorded. "+
		"It checks the simulation only for the scheduler, the settings and the cluster that the history was recorded under",
		count(float64(jobs)), some(all, "job", "jobs"))
}

// mostFailed is how many jobs that failed in the same way are named.
const mostFailed = 5

// failed says which jobs did not succeed and why: one line for the jobs of a profile that failed in the same way, and
// at most limit lines.
func (c *Comparison) failed(limit int) []string {
	type group struct {
		profile, state, why string
		jobs                []string
		times               int // over all seeds
	}
	var groups []group
	for _, p := range c.Profiles {
		for _, f := range p.failures() {
			i := slices.IndexFunc(groups, func(g group) bool { return g.profile == p.Name && g.state == f.State && g.why == f.Why })
			if i < 0 {
				i = len(groups)
				groups = append(groups, group{profile: p.Name, state: f.State, why: f.Why})
			}
			if groups[i].times++; !slices.Contains(groups[i].jobs, f.Job) {
				groups[i].jobs = append(groups[i].jobs, f.Job)
			}
		}
	}
	var out []string
	for i, g := range groups {
		if i == limit {
			return append(out, fmt.Sprintf("and %s more kinds of failure", count(float64(len(groups)-limit))))
		}
		names := strings.Join(g.jobs[:min(len(g.jobs), mostFailed)], ", ")
		if more := len(g.jobs) - mostFailed; more > 0 {
			names += " and " + count(float64(more)) + " more"
		}
		line := g.profile + ": " + g.state + ": " + names
		if g.why != "" {
			line += ": " + g.why
		}
		if n := len(c.Seeds()); n > 1 {
			line += fmt.Sprintf(" (%s in %d seeds)", some(g.times, "time", "times"), n)
		}
		out = append(out, line)
	}
	return out
}
