package ikayak

import (
	"math/rand/v2"

	"heddle"
	"heddle/policy"
)

// An erring estimate is another one made worse on purpose, for experiments on sensitivity (ikayak:
// 5.3): each container's estimate is multiplied by a factor of its own, the same all its life, drawn
// evenly from 1 − 2e to 1 + 2e, so that it is off by e on average.
type erring struct {
	of    *Remaining
	error float64
	seed  uint64
}

func newErring(of *Remaining, e float64, rng *rand.Rand) *erring {
	return &erring{of, e, rng.Uint64()}
}

// factor depends on nothing but the seed and the container, so that it does not matter who asks when.
func (r *erring) factor(c heddle.ContainerID) float64 {
	draw := rand.New(rand.NewPCG(r.seed, uint64(c))).Float64()
	return 1 + r.error*(4*draw-2)
}

// Remaining implements [policy.Remaining].
func (r *erring) Remaining(v policy.View, x *policy.Container) (heddle.Span, bool) {
	s, ok := r.of.Remaining(v, x)
	return heddle.Seconds(s.Seconds() * r.factor(x.ID())), ok
}

// Hears implements [policy.Listener] for the estimate inside.
func (r *erring) Hears() policy.News { return r.of.Hears() }

// Hear implements [policy.Listener] for the estimate inside.
func (r *erring) Hear(v policy.View, e policy.Effect) { r.of.Hear(v, e) }

// Needs implements [policy.Needer] for the estimate inside.
func (r *erring) Needs() policy.Needs { return r.of.Needs() }
