// Package estimate is pure arithmetic that several policies share. It knows numbers, and neither tasks nor
// clusters.
package estimate

// Remaining is how long a task still takes that has done a part of its work in some time, both above 0,
// if it goes on at the mean rate so far: T·(1−P)/P, as MROrchestrator's Alg. 2 has it with α = 1. ok is
// false where nothing can be said: no progress, or parts outside (0, 1].
func Remaining(elapsed, part float64) (rest float64, ok bool) {
	if !(elapsed > 0) || !(part > 0) || part > 1 {
		return 0, false
	}
	return elapsed * (1 - part) / part, true
}
