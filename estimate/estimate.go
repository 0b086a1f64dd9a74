// Package estimate is pure arithmetic that several policies share. It knows numbers, but neither tasks nor clusters.
package estimate

// Remaining returns how long a task will still take that has done a part of its work in the elapsed time, both above 0,
// if it continues at the mean rate so far: T·(1−P)/P, as in MROrchestrator's Alg. 2 with α = 1. ok is false if no
// estimate is possible: no progress, or a part outside (0, 1].
func Remaining(elapsed, part float64) (rest float64, ok bool) {
	if !(elapsed > 0) || !(part > 0) || part > 1 {
		return 0, false
	}
	return elapsed * (1 - part) / part, true
}
