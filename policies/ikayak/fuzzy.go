package ikayak

import (
	"heddle"
	"heddle/estimate"
)

// A Base is a rule base as produced by training.
type Base struct {
	Program string // one of [Bases]
	Shape   Shape
	Fuzzy   estimate.Fuzzy
	// Size is the root mean square of each coefficient's regressor, rule by rule, as a part of its reduce's whole time.
	// It turns the doubt about a coefficient into a doubt about the output.
	Size []float64
}

// The constants of online learning, as squared errors in parts of a reduce's whole time.
const (
	// normal is how far off one reduce's samples may be without a rule being wrong: 0.1.
	normal = 0.01
	// doubtTrained and doubtUntrained are how far each coefficient is assumed to put the output off before anything is
	// learned: 0.05 after training, 1 without.
	doubtTrained   = 0.0025
	doubtUntrained = 1
)

// A base is a rule base in use. The learner's coefficients are those of the rules, each multiplied by its size, so that
// the learner treats all alike.
type base struct {
	rules    estimate.Fuzzy
	size     []float64
	learner  *estimate.Recursive
	discount float64

	x, strength, wide, before []float64 // scratch
}

func newBase(b *Base, o *RemainingOptions) *base {
	w := &base{
		size: b.Size, discount: o.Discount,
		x: make([]float64, width(o.Outputs, o.Inputs)), strength: make([]float64, len(b.Fuzzy)),
		wide: make([]float64, len(b.Size)), before: make([]float64, len(b.Size)),
	}
	doubt := make([]float64, len(b.Size))
	for i, s := range b.Size {
		if s > 0 {
			doubt[i] = doubtTrained
			if !o.Offline {
				doubt[i] = doubtUntrained
			}
		}
	}
	w.learner = estimate.NewRecursive(doubt, o.Forgetting)
	for _, r := range b.Fuzzy {
		out := make([]float64, len(r.Out))
		if out[0] = 1; o.Offline { // without training: the stage's pace alone
			copy(out, r.Out)
		}
		w.rules = append(w.rules, estimate.Rule{Centre: r.Centre, Width: r.Width, Out: out})
	}
	k := 0
	for _, r := range w.rules {
		for _, c := range r.Out {
			w.learner.Theta[k] = c * b.Size[k]
			k++
		}
	}
	return w
}

// predict returns y(t) = F(u(t), d, ξ(t)) (Eq. 1) of the regressors in x, in seconds.
func (b *base) predict() float64 {
	b.rules.Fire(b.x, b.strength)
	return b.rules.At(b.x, b.strength)
}

// learn adapts the rules' consequents to what a reduce that has ended shows about each of its samples: recursive least
// squares on e(t)² + λ·e(t−1)² (Eq. 5 and 6). Errors count as parts of the reduce's whole time, so that long reduces
// teach no more than short ones. Its samples together count as one observation, since their errors are correlated.
func (b *base) learn(r *reduce, end heddle.Time) {
	whole := end.Since(r.began).Seconds()
	if r.nkept == 0 || !(whole > 0) {
		return
	}
	weight := 1 / (normal * float64(r.nkept) * (1 + b.discount))
	b.learner.Forget()
	restBefore := 0.0
	for i := range r.nkept {
		x, at := r.sample(i)
		b.rules.Fire(x, b.strength)
		b.rules.Stack(x, b.strength, b.wide)
		for k, s := range b.size {
			if s > 0 {
				b.wide[k] /= s * whole
			}
		}
		rest := (end.Seconds() - at) / whole
		b.learner.Learn(b.wide, rest, weight)
		if i > 0 && b.discount > 0 {
			b.learner.Learn(b.before, restBefore, b.discount*weight)
		}
		b.wide, b.before, restBefore = b.before, b.wide, rest
	}
	b.adopt()
}

// adopt copies the learner's coefficients into the rules.
func (b *base) adopt() {
	k := 0
	for _, r := range b.rules {
		for i := range r.Out {
			if s := b.size[k]; s > 0 {
				r.Out[i] = b.learner.Theta[k] / s
			}
			k++
		}
	}
}
