package coupling

import (
	"fmt"
	"math"

	"heddle/exp"
	"heddle/sim"
)

func sequence() exp.Experiment {
	starving := exp.IDs("03", "04", "05", "06", "07", "11", "12", "13")
	const full = "Under Fair the run follows Table IV (sweep starvation), under Coupling jobs 03 to 07 nearly do. Jobs 11 to 13 do not: by Alg. 1 jobs 08 and 09 have launched seven of " +
		"their fifteen reduces each once 47 % of their maps are done. Here that is just before 11 to 13 come, and no slot is left until 08 and 09 end. Were maps on Wikipedia slower, " +
		"as in Fig. 5, there would be slots left: sweep map-times, 32 and 38 s, where the mean JCT falls by more than a quarter."
	const mean = "See the mean JCT."
	e := exp.Experiment{
		System: "coupling", Name: "coupling-22-jobs", Title: "22 jobs on set A: large ones, and small ones behind them", Source: "Table IV and Fig. 3",
		Method: method, Work: work(7, 0, table4...), Arms: both(),
		Metrics: []exp.Metric{
			{Name: "mean JCT, reduction", Unit: "%", Published: 39.1, Of: exp.ReducedJCT(fair, coupling, nil), Why: full},
			{Name: "times job 03 is faster", Published: 12.8, Why: "The published figures of job 03 do not agree: 6.1 minutes of starvation (Table IV) and a minute of its own are not 12.8 times the " +
				"0.8 minutes that it takes when it finds a slot (Section I-C).", Of: func(r exp.Runs) float64 { return exp.JCT(r.Arm(fair), "03") / exp.JCT(r.Arm(coupling), "03") }},
		},
		Plots:  []exp.Plot{{Kind: exp.BarsPerJob, Title: "Completion time of each job (Fig. 3)"}},
		Sweeps: []exp.Sweep{starved(), ablation(jctColumn, starvColumn, localColumn, slotColumn), thresholds(), mapTimes()},
	}
	for _, j := range []struct{ id, why string }{
		{"03", mean},
		{"06", "Its starvation under Fair is much as in Table IV, but there is more beside it: eight maps of 38 s, on slots that seven jobs share, and a reduce leave it " +
			"about 100 s of its own under either scheduler; with some seeds it starves for more than a minute under Coupling too (sweep starvation)."},
		{"12", mean},
		{"13", mean},
	} {
		e.Metrics = append(e.Metrics, exp.Metric{
			Name: "JCT of job " + j.id + ", reduction", Unit: "%", Published: 70, Text: "more than 70", Why: j.why, Of: exp.ReducedJCT(fair, coupling, exp.IDs(j.id)),
		})
	}
	e.Metrics = append(e.Metrics,
		exp.Metric{
			Name: "starvation of jobs 03–07 and 11–13, reduction", Unit: "%", Published: 96.2, Why: mean,
			Of: exp.Reduced(fair, coupling, func(x *sim.Result) float64 { return starvation(x, starving) }),
		},
		exp.Metric{
			Name: "starvation of jobs 03–07 and 11–13 under Fair", Unit: "s", Kind: exp.Measured, Published: 337, Text: "337; map times were set by it",
			Of: exp.Under(fair, func(x *sim.Result) float64 { return starvation(x, starving) }),
		})
	return e
}

// starved is the last two columns of Table IV.
func starved() exp.Sweep {
	s := exp.Sweep{Name: "starvation", Title: "Starvation of each job in minutes; after its number, what Table IV has for Fair and Coupling", Base: fair, Arms: both()}
	for _, j := range table4 {
		if j.reduces > 0 {
			s.Columns = append(s.Columns, exp.Figures(fmt.Sprintf("%s: %g, %g", j.id, j.starved[0], j.starved[1]), "min",
				func(x *sim.Result) float64 { return starvation(x, exp.IDs(j.id)) / 60 }))
		}
	}
	return s
}

// thresholds are other values of what the paper sets without a test.
func thresholds() exp.Sweep {
	s := exp.Sweep{Name: "parameters", Title: "Threshold of the mismatch, δ by output, D of wait scheduling", Base: fair, Columns: []exp.Column{jctColumn, starvColumn, slotColumn}, Plot: true}
	add := func(name string, set ...string) { s.Arms = append(s.Arms, arm(name, "coupling", set...)) }
	for _, t := range []string{"1", "3", "6", "12"} {
		o := "{coupling.mismatch: {threshold: " + t + "}}"
		add("threshold "+t, order(o), "gate.reduce="+o)
	}
	o := "{coupling.mismatch: {delta_by_output: true}}"
	add("δ by output", order(o), "gate.reduce="+o)
	for _, d := range []string{"1", "3"} {
		add("D = "+d, "place.reduce={coupling.wait: {slots: 2, d: "+d+"}}")
	}
	add("a candidate a job", each)
	add("patient rounds", patient)
	return s
}

// mapTimes is how the map times of Table IV's Greps were found, and what others would come to.
func mapTimes() exp.Sweep {
	s := exp.Sweep{
		Name: "map-times", Title: "Map times of Table IV's Greps, on Wikipedia and on random numbers: the pair was chosen by how near Fair comes to Table IV", Base: fair,
		Columns: []exp.Column{
			exp.Figures("starvation, distance from Table IV's Fair", "min", distance),
			exp.Figures("mean JCT", "s", exp.JCTs(nil)),
			exp.Figures("starvation of jobs 11–13", "s", func(x *sim.Result) float64 { return starvation(x, exp.IDs("11", "12", "13")) }),
		},
	}
	for _, t := range [][2]float64{{wordMap, randomMap}, {16, randomMap}, {24, randomMap}, {wikiMap, randomMap}, {wordMap, 34}, {wordMap, 42}, {wordMap, 46}} {
		for _, a := range both() {
			a.Name, a.Work = fmt.Sprintf("%s, %g and %g s", a.Name, t[0], t[1]), work(7, 0, timed(t[0], t[1])...)
			s.Arms = append(s.Arms, a)
		}
	}
	return s
}

// distance is how far the starvation of the jobs is from Table IV's column for Fair: the root of the mean
// of the squares, in minutes.
func distance(r *sim.Result) float64 {
	sum, n := 0.0, 0
	for _, j := range table4 {
		if j.reduces > 0 {
			d := starvation(r, exp.IDs(j.id))/60 - j.starved[0]
			sum += d * d
			n++
		}
	}
	return math.Sqrt(sum / float64(n))
}
