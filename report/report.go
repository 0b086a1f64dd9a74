// Package report is everything a person or a script sees of simulation results: the terminal table,
// JSON, CSV of runs, jobs and tasks, one self-contained page with plots, and plots as files of their own.
//
// It only looks at results. It knows nothing of how a run came about: no policies, no scheduler core,
// no flags and no files, and it never reads a clock. The same results give the same bytes.
package report

import (
	"slices"

	"heddle/sim"
	"heddle/workload"
)

// A Comparison is what is reported on: a workload under one or more profiles. One profile is a plain run.
type Comparison struct {
	Workload *workload.Workload // its name and the story of how it was read; its jobs are not looked at
	World    string             // full or given
	WorldWhy string             // why that one, half a sentence
	Cluster  string             // for people: "600 nodes in 15 racks, 8192 MiB and 8 vcores each"
	Profiles []ProfileRuns      // in the order they are shown; the first is what the others are held against
	Notes    []string           // what a reader must know of the configuration, a sentence each

	// Clairvoyant are the runs of the same profiles with an order that knows what each job still needs; nil where
	// they were not simulated. The jobs of all runs have Alone then.
	Clairvoyant []ProfileRuns
}

// ProfileRuns are the runs of one profile, one for each seed. A profile whose runs did not come to be
// (the user interrupted) has none; its figures do not apply.
type ProfileRuns struct {
	Name  string
	Stock bool // a stock ResourceManager was simulated, and not heddle rm
	Agent bool // with a node agent beside every NodeManager
	Ideal bool // it does everything at once
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

// Cut counts the runs that ended before their time.
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

// bounds returns the lower bounds on mean JCT and makespan in seconds, the mean over seeds, and what
// binds the former. They are a property of workload and cluster, so the first profile that ran has them.
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
