package workload

import (
	"fmt"
	"math"

	"heddle"
)

// Scale multiplies the time between any two submissions by f: with 0.5 jobs arrive twice as fast, with 0 all at once.
// If f is negative, not a number, or so large that a job would arrive later than MaxSpan, it returns an error and
// changes nothing.
func (w *Workload) Scale(f float64) error {
	if !(f >= 0) || math.IsInf(f, 0) {
		return fmt.Errorf("inter-arrival times cannot be multiplied by %g; wanted a number from 0", f)
	}
	if n := len(w.Jobs); n > 0 && float64(w.Jobs[n-1].Submit)*f > float64(MaxSpan) {
		return fmt.Errorf("multiplied by %g the last job would come after %g s; at most %g", f, w.Jobs[n-1].Submit.Seconds()*f, MaxSpan.Seconds())
	}
	for i := range w.Jobs {
		w.Jobs[i].Submit = heddle.Time(math.Round(float64(w.Jobs[i].Submit) * f))
	}
	w.Sort() // jobs that now coincide are ordered by id
	return nil
}
