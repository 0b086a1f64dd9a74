package mrorchestrator

// Uniform returns the estimate of UNIFORM: the mean use of a resource by all tasks of the same phase and job over the
// past windows. ok is false if there are none.
func Uniform(sum, n float64) (est float64, ok bool) {
	if !(n > 0) {
		return 0, false
	}
	return sum / n, true
}
