package dress

import (
	"math"
	"slices"

	"heddle/exp"
	"heddle/sim"
)

func jct(j *sim.JobResult) float64  { return j.JCT.Seconds() }
func wait(j *sim.JobResult) float64 { return j.Wait.Seconds() }

// rates returns the reductions of the chosen jobs from one run to another, in %. It is empty if one of them did not
// succeed.
func rates(base, ours *sim.Result, of func(*sim.JobResult) float64, pick exp.Pick) []float64 {
	var out []float64
	for i := range base.Jobs {
		a, b := &base.Jobs[i], &ours.Jobs[i]
		if pick != nil && !pick(a) {
			continue
		}
		if a.State != sim.Succeeded || b.State != sim.Succeeded {
			return nil
		}
		out = append(out, exp.Reduction(of(a), of(b)))
	}
	return out
}

// rate summarises the reductions of the chosen jobs with sum.
func rate(sum func([]float64) float64, of func(*sim.JobResult) float64, pick exp.Pick) func(exp.Runs) float64 {
	return func(r exp.Runs) float64 {
		rates := rates(r.Arm("capacity"), r.Arm("dress"), of, pick)
		if len(rates) == 0 {
			return math.NaN()
		}
		return sum(rates)
	}
}

// worst computes the largest increase of a chosen job's JCT.
func worst(pick exp.Pick) func(exp.Runs) float64 {
	return rate(worstOf, jct, pick)
}

// worstOf returns the largest increase among reductions.
func worstOf(reductions []float64) float64 {
	if len(reductions) == 0 {
		return math.NaN()
	}
	return -slices.Min(reductions)
}

// side returns the reductions of the jobs with a shorter JCT (sign 1), or the increases of the others (−1).
func side(r exp.Runs, sign float64) []float64 {
	var out []float64
	for _, x := range rates(r.Arm("capacity"), r.Arm("dress"), jct, nil) {
		if (x > 0) == (sign > 0) {
			out = append(out, sign*x)
		}
	}
	return out
}

// reduced computes the reduction of a figure of all jobs.
func reduced(sum func([]float64) float64, of func(*sim.JobResult) float64) func(exp.Runs) float64 {
	return exp.Reduced("capacity", "dress", all(sum, of))
}

// baseline is a figure of the run under Capacity, which shows whether the set-up is the paper's.
func baseline(name string, published float64, of func(*sim.Result) float64) exp.Metric {
	return exp.Metric{Name: "Capacity: " + name, Unit: "s", Kind: exp.SetUp, Published: published, Of: exp.Under("capacity", of)}
}

// all summarises a figure of all jobs of a run with sum.
func all(sum func([]float64) float64, of func(*sim.JobResult) float64) func(*sim.Result) float64 {
	return func(r *sim.Result) float64 {
		var values []float64
		for k := range r.Jobs {
			if j := &r.Jobs[k]; j.State == sim.Succeeded {
				values = append(values, of(j))
			} else {
				return math.NaN()
			}
		}
		return sum(values)
	}
}

// waitOf computes how long the job with a number waits; numbers start at 1.
func waitOf(id int) func(*sim.Result) float64 {
	return func(r *sim.Result) float64 { return wait(&r.Jobs[id-1]) }
}
