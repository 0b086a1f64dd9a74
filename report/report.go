// Package report produces everything that a person or a script sees of simulation results: the terminal table, JSON,
// CSV of runs, jobs and tasks, one self-contained page with plots, and plots as separate files.
//
// It only looks at results. It knows nothing of how a run came about: no policies, no scheduler core, no flags and no
// files, and it never reads a clock. The same results give the same bytes.
package report

import (
	"slices"

	"heddle/sim"
	"heddle/workload"
)

// A Comparison is the subject of a report: a workload under one or more profiles. One profile is a plain run.
type Comparison struct {
	Workload *workload.Workload // its name and the account of how it was read; its jobs are not looked at
	World    string             // full or given
	WorldWhy string             // why that world, half a sentence
	Cluster  string             // for people: "600 nodes in 15 racks, 8192 MiB and 8 vcores each"
	Profiles []ProfileRuns      // in display order; the others are compared with the first
	Notes    []string           // what a reader must know about the configuration, a sentence each

	// Clairvoyant holds the runs of the same profiles with an order that knows what each job still needs; nil if they
	// were not simulated. If they were, the jobs of all runs have Alone.
	Clairvoyant []ProfileRuns
}

// ProfileRuns holds the runs of one profile, one per seed. A profile whose runs did not take place (because the user
// interrupted) has none; its figures do not apply.
type ProfileRuns struct {
	Name  string
	Stock bool // a stock ResourceManager was simulated instead of heddle rm
	Agent bool // with a node agent beside every NodeManager
	Ideal bool // the agent is ideal: it does everything at once
	Runs  []*sim.Result
}

// Seeds lists the seeds of all runs, ascending.
func (c *Comparison) Seeds() []uint64 {
	var seeds []uint64
	for _, p := range c.Profiles {
		for _, r := range p.Runs {
			seeds = append(seeds, r.Seed)
		}
	}
	slices.Sort(seeds)
	return slices.Compact(seeds)
}

// Cut counts the runs that ended early.
func (c *Comparison) Cut() int {
	n := 0
	for _, p := range c.Profiles {
		for _, r := range p.Runs {
			if r.Cut {
				n++
			}
		}
	}
	return n
}

// bounds returns the lower bounds on mean JCT and makespan in seconds, as means over the seeds, and what binds the
// former. They are a property of workload and cluster, so they are taken from the first profile that ran.
func (c *Comparison) bounds() (jct, makespan float64, name string, ok bool) {
	for _, p := range c.Profiles {
		if len(p.Runs) == 0 {
			continue
		}
		for _, r := range p.Runs {
			jct += r.MeanJCTBound.Seconds()
			makespan += r.MakespanBound.Seconds()
		}
		n := float64(len(p.Runs))
		return jct / n, makespan / n, p.Runs[0].BoundName, true
	}
	return 0, 0, "", false
}
