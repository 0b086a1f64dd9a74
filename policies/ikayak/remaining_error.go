package ikayak

import (
	"math/rand/v2"

	"heddle"
	"heddle/policy"
)

// An erring is an estimate made worse on purpose, for experiments on sensitivity (ikayak: 5.3). It multiplies each
// container's estimate by a factor of its own, constant for its life and drawn evenly from 1 − 2e to 1 + 2e, so that
// the estimate is off by e on average.
type erring struct {
	of    *Remaining
	error float64
	seed  uint64
}

func newErring(of *Remaining, e float64, rng *rand.Rand) *erring {
	return &erring{of, e, rng.Uint64()}
}

// factor depends only on the seed and the container, so the order of calls does not matter.
func (r *erring) factor(c heddle.ContainerID) float64 {
	draw := rand.New(rand.NewPCG(r.seed, uint64(c))).Float64()
	return 1 + r.error*(4*draw-2)
}

// Remaining implements [policy.Remaining].
func (r *erring) Remaining(v policy.View, x *policy.Container) (heddle.Span, bool) {
	s, ok := r.of.Remaining(v, x)
	return heddle.Seconds(s.Seconds() * r.factor(x.ID())), ok
}

// Hears implements [policy.Listener] for the inner estimate.
func (r *erring) Hears() policy.News { return r.of.Hears() }

// Hear implements [policy.Listener] for the inner estimate.
func (r *erring) Hear(v policy.View, e policy.Effect) { r.of.Hear(v, e) }

// Needs implements [policy.Needer] for the inner estimate.
func (r *erring) Needs() policy.Needs { return r.of.Needs() }
