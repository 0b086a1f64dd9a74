package ikayak

import (
	"heddle/exp"
	"heddle/sim"
)

// The bounds here are what no schedule can exceed in this set-up, computed from the runs themselves.

// boundUse states the arithmetic of mostUsed.
const boundUse = "Processor use cannot exceed 100 %: 100/u − 100 %, where u is the baseline's."

// mostUsed bounds how much more of the processors can be used than under a baseline, in percent. The work does not
// bound it: a second of a core counts however fast the core, so a schedule can take more of them for the same jobs.
func mostUsed(base string) func(exp.Runs) float64 {
	return exp.Under(base, func(x *sim.Result) float64 { return exp.Increase(x.CPUUsed, 1) })
}

// boundLocal states the arithmetic of mostLocal.
const boundLocal = "All maps local: 100 divided by the baseline's rate, less 1."

// mostLocal bounds how much a rate of locality can rise, in percent of that rate.
func mostLocal(base string, rate func(*sim.Result) float64) func(exp.Runs) float64 {
	return func(r exp.Runs) float64 { return exp.Increase(rate(r.Arm(base)), 100) }
}
