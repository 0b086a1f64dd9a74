package coupling

import (
	"fmt"
	"math"

	. "heddle/exp" //nolint:staticcheck // the frame's names are qualified next
	"heddle/sim"
)

func cpSequence() Experiment {
	starving := IDs("03", "04", "05", "06", "07", "11", "12", "13")
	const full = "Under Fair the run follows Table IV (sweep starvation), under Coupling jobs 03 to 07 nearly do. Jobs 11 to 13 do not: by Alg. 1 jobs 08 and 09 have launched seven of " +
		"their fifteen reduces each once 47 % of their maps are done. Here that is just before 11 to 13 come, and no slot is left until 08 and 09 end. Were maps on Wikipedia slower, " +
		"as in Fig. 5, there would be slots left: sweep map-times, 32 and 38 s, where the mean JCT falls by more than a quarter."
	const mean = "See the mean JCT."
	e := Experiment{
		System: "coupling", Name: "coupling-22-jobs", Title: "22 jobs on set A: large ones, and small ones behind them", Source: "Table IV and Fig. 3",
		Method: cpMethod, Work: cpWork(7, 0, cpTable4...), Arms: cpBoth(),
		Metrics: []Metric{
			{Name: "mean JCT, reduction", Unit: "%", Published: 39.1, Of: ReducedJCT(cpFair, cpCoupling, nil), Why: full},
			{Name: "times job 03 is faster", Published: 12.8, Why: "The published figures of job 03 do not agree: 6.1 minutes of starvation (Table IV) and a minute of its own are not 12.8 times the " +
				"0.8 minutes that it takes when it finds a slot (Section I-C).", Of: func(r Runs) float64 { return JCT(r.Arm(cpFair), "03") / JCT(r.Arm(cpCoupling), "03") }},
		},
		Plots:  []Plot{{Kind: BarsPerJob, Title: "Completion time of each job (Fig. 3)"}},
		Sweeps: []Sweep{cpStarved(), cpAblation(cpJCTColumn, cpStarvColumn, cpLocalColumn, cpSlotColumn), cpThresholds(), cpMapTimes()},
	}
	for _, j := range []struct{ id, why string }{
		{"03", mean},
		{"06", "Its starvation under Fair is much as in Table IV, but there is more beside it: eight maps of 38 s, on slots that seven jobs share, and a reduce leave it " +
			"about 100 s of its own under either scheduler; with some seeds it starves for more than a minute under Coupling too (sweep starvation)."},
		{"12", mean},
		{"13", mean},
	} {
		e.Metrics = append(e.Metrics, Metric{
			Name: "JCT of job " + j.id + ", reduction", Unit: "%", Published: 70, Text: "more than 70", Why: j.why, Of: ReducedJCT(cpFair, cpCoupling, IDs(j.id)),
		})
	}
	e.Metrics = append(e.Metrics,
		Metric{
			Name: "starvation of jobs 03–07 and 11–13, reduction", Unit: "%", Published: 96.2, Why: mean,
			Of: func(r Runs) float64 {
				return Reduction(Starvation(r.Arm(cpFair), starving), Starvation(r.Arm(cpCoupling), starving))
			},
		},
		Metric{
			Name: "starvation of jobs 03–07 and 11–13 under Fair", Unit: "s", Kind: Measured, Published: 337, Text: "337; map times were set by it",
			Of: func(r Runs) float64 { return Starvation(r.Arm(cpFair), starving) },
		})
	return e
}

// cpStarved is the last two columns of Table IV.
func cpStarved() Sweep {
	s := Sweep{Name: "starvation", Title: "Starvation of each job in minutes; after its number, what Table IV has for Fair and Coupling", Base: cpFair, Arms: cpBoth()}
	for _, j := range cpTable4 {
		if j.reduces > 0 {
			s.Columns = append(s.Columns, Column{
				Name: fmt.Sprintf("%s: %g, %g", j.id, j.starved[0], j.starved[1]), Unit: "min",
				Of: func(_, x *sim.Result) float64 { return Starvation(x, IDs(j.id)) / 60 },
			})
		}
	}
	return s
}

// cpThresholds are other values of what the paper sets without a test.
func cpThresholds() Sweep {
	s := Sweep{Name: "parameters", Title: "Threshold of the mismatch, δ by output, D of wait scheduling", Base: cpFair, Columns: []Column{cpJCTColumn, cpStarvColumn, cpSlotColumn}, Plot: true}
	add := func(name string, set ...string) { s.Arms = append(s.Arms, cpArm(name, "coupling", set...)) }
	for _, t := range []string{"1", "3", "6", "12"} {
		o := "{coupling.mismatch: {threshold: " + t + "}}"
		add("threshold "+t, cpOrder(o), "gate.reduce="+o)
	}
	o := "{coupling.mismatch: {delta_by_output: true}}"
	add("δ by output", cpOrder(o), "gate.reduce="+o)
	for _, d := range []string{"1", "3"} {
		add("D = "+d, "place.reduce={coupling.wait: {slots: 2, d: "+d+"}}")
	}
	add("a candidate a job", cpEach)
	add("patient rounds", cpPatient)
	return s
}

// cpMapTimes is how the map times of Table IV's Greps were found, and what others would come to.
func cpMapTimes() Sweep {
	s := Sweep{
		Name: "map-times", Title: "Map times of Table IV's Greps, on Wikipedia and on random numbers: the pair was chosen by how near Fair comes to Table IV", Base: cpFair,
		Columns: []Column{
			{Name: "starvation, distance from Table IV's Fair", Unit: "min", Of: func(_, x *sim.Result) float64 { return cpDistance(x) }},
			{Name: "mean JCT", Unit: "s", Of: func(_, x *sim.Result) float64 { return MeanJCT(x, nil) }},
			{Name: "starvation of jobs 11–13", Unit: "s", Of: func(_, x *sim.Result) float64 { return Starvation(x, IDs("11", "12", "13")) }},
		},
	}
	for _, t := range [][2]float64{{cpWordMap, cpRandomMap}, {16, cpRandomMap}, {24, cpRandomMap}, {cpWikiMap, cpRandomMap}, {cpWordMap, 34}, {cpWordMap, 42}, {cpWordMap, 46}} {
		for _, a := range cpBoth() {
			a.Name, a.Work = fmt.Sprintf("%s, %g and %g s", a.Name, t[0], t[1]), cpWork(7, 0, cpTimed(t[0], t[1])...)
			s.Arms = append(s.Arms, a)
		}
	}
	return s
}

// cpDistance is how far the starvation of the jobs is from Table IV's column for Fair: the root of the mean
// of the squares, in minutes.
func cpDistance(r *sim.Result) float64 {
	sum, n := 0.0, 0
	for _, j := range cpTable4 {
		if j.reduces > 0 {
			d := Starvation(r, IDs(j.id))/60 - j.starved[0]
			sum += d * d
			n++
		}
	}
	return math.Sqrt(sum / float64(n))
}
