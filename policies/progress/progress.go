// Package progress estimates how much longer a container will be held from the progress its task reports. It is the
// baseline for estimates: it assumes that a task continues at its mean rate so far.
//
// It knows nothing of what tasks do.
package progress

import (
	"heddle"
	"heddle/estimate"
	"heddle/policy"
)

// reportEvery is how often a MapReduce task reports its progress to its master: 3 s.
const reportEvery = 3 * heddle.Second

// Remaining is the estimate.
type Remaining struct{}

// New returns the estimate; it has no options.
func New(a policy.Args) (policy.Remaining, error) { return Remaining{}, a.Decode(&struct{}{}) }

// Remaining implements [policy.Remaining] by the mean rate since the container started.
func (Remaining) Remaining(v policy.View, x *policy.Container) (heddle.Span, bool) {
	_, part := x.Progress()
	if x.Started() == 0 {
		return 0, false
	}
	rest, ok := estimate.Remaining(v.Now().Since(x.Started()).Seconds(), part)
	return heddle.Seconds(rest), ok
}

// Needs implements [policy.Needer].
func (Remaining) Needs() policy.Needs {
	return policy.Needs{Feeds: policy.Feeds{Progress: reportEvery, Starts: true}}
}
