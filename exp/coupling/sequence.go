package coupling

import (
	"fmt"
	"math"

	"heddle/exp"
	"heddle/sim"
)

// alone03 is the arm in which job 03 has the cluster to itself.
const alone03 = "job 03 alone"

// ideally is how many times faster it is there than under Fair.
const ideally = "times job 03 is faster alone in the cluster"

func sequence() exp.Experiment {
	starving := exp.IDs("03", "04", "05", "06", "07", "11", "12", "13")
	const mean, starved = "mean JCT, reduction", "starvation of jobs 03–07 and 11–13, reduction"
	const job6 = "Its eight maps take 100 s and run while two large jobs hold most slots, under either scheduler. Under Fair it starves less than " +
		"published, for 2.2 minutes instead of 2.8 on average over seeds 1001 to 1100, and Coupling removes all of it."
	only := arm(alone03, "slots")
	only.Work = work(setB, table4[2])
	e := exp.Experiment{
		System: "coupling", Name: "coupling-22-jobs", Title: "22 jobs on set B: large jobs, with small jobs behind them", Source: "Table IV and Fig. 3",
		Method: method, Work: work(setB, table4...), Arms: append(both(), only), Null: nothing(), NullIs: nothingIs,
		Metrics: []exp.Metric{
			{Name: mean, Unit: "%", Published: 39.1, Of: exp.ReducedJCT(fair, coupling, nil), Why: "See the ablation: much of the mean comes from the large jobs, which random peeking makes faster and Alg. 1 does not."},
			{
				Name: "times job 03 is faster", Published: 12.8, Of: func(r exp.Runs) float64 { return exp.JCT(r.Arm(fair), "03") / exp.JCT(r.Arm(coupling), "03") },
				Bound:   exp.Under(fair, func(x *sim.Result) float64 { return exp.JCT(x, "03") / exp.LeastJCT(x, exp.IDs("03")) }),
				BoundIs: "Its time under Fair divided by its shortest possible time: its longest map and its reduce, one after the other, on the fastest core and disk.",
				Why: "The published figures of job 03 do not agree: 6.1 minutes of starvation (Table IV) and a minute of its own are not 12.8 times the " +
					"0.8 minutes that it takes when it finds a slot (Section I-C). Nor is it so much faster with the cluster to itself, where every task starts with the " +
					"first heartbeat after its request (“" + ideally + "”).",
			},
		},
		Plots:     []exp.Plot{{Kind: exp.BarsPerJob, Title: "Completion time of each job (Fig. 3)", Arms: []string{fair, coupling}}},
		Sweeps:    []exp.Sweep{starvedSweep(), ablation(jctColumn, starvColumn, localColumn, slotColumn), racks(), thresholds(), mapTimes()},
		Mutations: lagMutations(mean, starved),
	}
	for _, j := range []struct{ id, why string }{{"03", "See “times job 03 is faster”."}, {"06", job6}, {"12", "See the mean JCT."}, {"13", "See the mean JCT."}} {
		e.Metrics = append(e.Metrics, exp.Metric{
			Name: "JCT of job " + j.id + ", reduction", Unit: "%", Published: 70, Text: "more than 70", Why: j.why, Of: exp.ReducedJCT(fair, coupling, exp.IDs(j.id)),
		})
	}
	e.Metrics = append(e.Metrics,
		exp.Metric{
			Name: starved, Unit: "%", Published: 96.2, Why: "See the sweep.",
			Of: exp.Reduced(fair, coupling, func(x *sim.Result) float64 { return starvation(x, starving) }),
		},
		exp.Metric{
			Name: "starvation of jobs 03–07 and 11–13 under Fair", Unit: "s", Kind: exp.SetUp, Published: 337, Text: "337; the map times are derived from it",
			Of: exp.Under(fair, func(x *sim.Result) float64 { return starvation(x, starving) }),
		},
		exp.Metric{
			Name: "JCT of job 03 under Fair", Unit: "min", Kind: exp.SetUp, Published: 6.9, Text: "0.8 to 12.1",
			Of: exp.Under(fair, func(x *sim.Result) float64 { return exp.JCT(x, "03") / 60 }),
		},
		exp.Metric{
			Name: ideally, Kind: exp.Measured,
			Of: func(r exp.Runs) float64 { return exp.JCT(r.Arm(fair), "03") / exp.JCT(r.Arm(alone03), "03") },
		})
	return e
}

// racks has both schedulers with all nodes in one rack.
func racks() exp.Sweep {
	s := exp.Sweep{
		Name: "racks", Title: "All fifteen nodes in one rack", Base: fair,
		Columns: []exp.Column{exp.Figures("starvation, distance from Table IV's Fair", "min", distance), exp.Figures("mean JCT", "s", exp.JCTs(nil)), starvColumn},
	}
	flat := setB
	flat.flat = true
	for _, a := range both() {
		a.Name, a.Work = a.Name+", one rack", work(flat, table4...)
		s.Arms = append(s.Arms, a)
	}
	return s
}

// starvedSweep has the last two columns of Table IV.
func starvedSweep() exp.Sweep {
	s := exp.Sweep{Name: "starvation", Title: "Starvation of each job in minutes; the column headings give Table IV's figures for Fair and Coupling", Base: fair, Arms: both()}
	for _, j := range table4 {
		if j.reduces > 0 {
			s.Columns = append(s.Columns, exp.Figures(fmt.Sprintf("%s: %g, %g", j.id, j.starved[0], j.starved[1]), "min",
				func(x *sim.Result) float64 { return starvation(x, exp.IDs(j.id)) / 60 }))
		}
	}
	return s
}

// thresholds varies what the paper sets without a test.
func thresholds() exp.Sweep {
	s := exp.Sweep{Name: "parameters", Title: "Threshold of the mismatch, δ by output", Base: fair, Columns: []exp.Column{jctColumn, starvColumn, slotColumn}, Plot: true}
	add := func(name string, set ...string) { s.Arms = append(s.Arms, arm(name, "coupling", set...)) }
	for _, t := range []string{"1", "3", "6", "12"} {
		o := "{coupling.mismatch: {threshold: " + t + "}}"
		add("threshold "+t, order(o), "gate.reduce="+o)
	}
	o := "{coupling.mismatch: {delta_by_output: true}}"
	add("δ by output", order(o), "gate.reduce="+o)
	return s
}

// mapTimes shows what other map times of Table IV's Greps would give.
func mapTimes() exp.Sweep {
	s := exp.Sweep{
		Name: "map-times", Title: "Map times of Table IV's Greps, on Wikipedia and on random numbers; it takes more seeds than these to tell which pair is nearest to Table IV", Base: fair,
		Columns: []exp.Column{
			exp.Figures("starvation, distance from Table IV's Fair", "min", distance),
			exp.Figures("mean JCT", "s", exp.JCTs(nil)),
			exp.Figures("starvation of jobs 11–13", "s", func(x *sim.Result) float64 { return starvation(x, exp.IDs("11", "12", "13")) }),
		},
	}
	for _, t := range [][2]float64{{wikiMap, randomMap}, {38, randomMap}, {46, randomMap}, {wikiMap, 90}, {wikiMap, 110}} {
		for _, a := range both() {
			a.Name, a.Work = fmt.Sprintf("%s, %g and %g s", a.Name, t[0], t[1]), work(setB, timed(t[0], t[1])...)
			s.Arms = append(s.Arms, a)
		}
	}
	return s
}

// distance returns how far the starvation of a run's jobs is from Table IV's column for Fair: see [fromTable4].
func distance(r *sim.Result) float64 {
	return fromTable4(func(j *job) float64 { return starvation(r, exp.IDs(j.id)) })
}

// fromTable4 returns how far the starvation of the jobs, given in seconds, is from Table IV's column for Fair: the root
// mean square, in minutes.
func fromTable4(starves func(j *job) float64) float64 {
	sum, n := 0.0, 0
	for i := range table4 {
		if j := &table4[i]; j.reduces > 0 {
			d := starves(j)/60 - j.starved[0]
			sum += d * d
			n++
		}
	}
	return math.Sqrt(sum / float64(n))
}
