package ikayak

import (
	"heddle/exp"
	"heddle/sim"
)

// The bounds here are what no schedule can exceed in this set-up, computed from the runs themselves.

// boundUse states the arithmetic of mostUsed.
const boundUse = "Processor use is the work divided by the makespan. The work is that of the run that did most. The makespan is at least the time from the first submission until the earliest possible end of the last job: jobs keep coming for nine tenths of the time."

// mostUsed bounds how much more of the processors can be used than under a baseline, in percent.
func mostUsed(base, ours string) func(exp.Runs) float64 {
	return func(r exp.Runs) float64 {
		x := r.Arm(base)
		most := 0.0
		for _, a := range []string{base, ours} {
			y := r.Arm(a)
			most = max(most, y.CPUUsed*y.Makespan.Seconds())
		}
		return exp.Increase(x.CPUUsed, most/x.MakespanBound.Seconds())
	}
}

// boundLocal states the arithmetic of mostLocal.
const boundLocal = "All maps local: 100 divided by the baseline's rate, less 1."

// mostLocal bounds how much a rate of locality can rise, in percent of that rate.
func mostLocal(base string, rate func(*sim.Result) float64) func(exp.Runs) float64 {
	return func(r exp.Runs) float64 { return exp.Increase(rate(r.Arm(base)), 100) }
}
