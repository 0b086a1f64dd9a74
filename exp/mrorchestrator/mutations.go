package mrorchestrator

import (
	"heddle"
	"heddle/exp"
	"heddle/policy"
)

// An orchestrator is what [policies/mrorchestrator] adds to a set.
type orchestrator interface {
	policy.Control
	policy.Listener
	policy.Needer
}

// A mutant is an orchestrator with a mistake in the weights that it decides.
type mutant struct {
	orchestrator
	weight func(decided, size int64) int64
}

// Run implements [policy.Control].
func (m *mutant) Run(v policy.View, p *policy.Plan) {
	first := len(p.Steps)
	m.orchestrator.Run(v, p)
	for i := range p.Steps[first:] {
		if s := &p.Steps[first+i]; s.Do == policy.Weigh {
			s.Weight = max(1, m.weight(s.Weight, max(1, v.Container(s.Container).Told()[heddle.CPU])))
		}
	}
}

// mutated is an arm with the mistake.
func mutated(a exp.Arm, weight func(decided, size int64) int64) exp.Arm {
	a.Prepare = func(_ uint64, set *policy.Set) {
		for i, c := range set.Control {
			if o, ok := c.(orchestrator); ok {
				set.Control[i] = &mutant{o, weight}
			}
		}
	}
	return a
}

// mutations returns the mistakes that both estimators are tried with on the native cluster, with control of both
// resources, and the figures that each must lose.
func mutations(loses ...string) []exp.Mutation {
	both := func(weight func(decided, size int64) int64) []exp.Arm {
		var arms []exp.Arm
		for _, est := range estimators {
			arms = append(arms, mutated(native(est[0]+" CPU+Memory", orchestrate(est[1], "mode: both")), weight))
		}
		return arms
	}
	return []exp.Mutation{
		{Name: "rule off: every task keeps the weight of its size", Arms: both(func(_, size int64) int64 { return size }), Loses: loses},
		{Name: "sign flipped: a task that is due more gets less", Arms: both(func(decided, size int64) int64 { return size * size / decided }), Loses: loses},
		{Name: "constant estimate: all get twice their size", Arms: both(func(_, size int64) int64 { return 2 * size }), Loses: loses},
	}
}
