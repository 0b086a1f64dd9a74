package slots

import (
	"errors"
	"math"

	"heddle"
	"heddle/policy"
)

// Options are the order's.
type Options struct {
	Kind string `yaml:"kind"` // of the slots that are shared: map or reduce; the lane's own
}

// Order is fair sharing of one kind's slots among jobs.
type Order struct {
	policy.Unsteady

	kind heddle.Kind
}

// New returns the order; options must name the kind.
func New(a policy.Args) (policy.Order, error) {
	var o Options
	if err := a.Decode(&o); err != nil {
		return nil, err
	}
	switch o.Kind {
	case heddle.Map.String():
		return Order{kind: heddle.Map}, nil
	case heddle.Reduce.String():
		return Order{kind: heddle.Reduce}, nil
	}
	return nil, errors.New("slots: kind must be map or reduce, the kind of the lane's slots")
}

// Weight is a job's weight by its priority: doubled with each step from normal (0) up, halved with each
// step down, two steps at the most, as Hadoop's five priorities have it.
func Weight(priority int32) float64 {
	return math.Ldexp(1, int(min(max(priority, -2), 2)))
}

// Need is how much of a share a job has had: running slots against its weight. The smallest goes first.
func Need(running int, weight float64) float64 { return float64(running) / weight }

// Queue implements [policy.Order]: queues in the order they are listed.
func (Order) Queue(policy.View, *policy.Queue) policy.Key { return policy.Key{} }

// App implements [policy.Order]. Ties go to the earlier job.
func (o Order) App(_ policy.View, a *policy.App) policy.Key {
	need := Need(a.Running(o.kind), Weight(a.Priority()))
	return policy.Key{int64(math.Float64bits(need))} // of numbers not below 0, bits are in the same order
}
