package slots

import (
	"errors"
	"math"

	"heddle"
	"heddle/policy"
)

// Options are the options of the order.
type Options struct {
	Kind string `yaml:"kind"` // the kind of slots that are shared, map or reduce: the lane's own
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

// Weight returns a job's weight for its priority. The weight doubles with each step above normal (0) and halves with
// each step below, for at most two steps, like Hadoop's five priorities.
func Weight(priority int32) float64 {
	return math.Ldexp(1, int(min(max(priority, -2), 2)))
}

// Need returns how much of its share a job has had: running slots relative to its weight. The smallest goes first.
func Need(running int, weight float64) float64 { return float64(running) / weight }

// Queue implements [policy.Order]: queues go in the order they are listed.
func (Order) Queue(policy.View, *policy.Queue) policy.Key { return policy.Key{} }

// App implements [policy.Order]. Ties go to the earlier job.
func (o Order) App(_ policy.View, a *policy.App) policy.Key {
	need := Need(a.Running(o.kind), Weight(a.Priority()))
	return policy.Key{int64(math.Float64bits(need))} // the bits of non-negative floats sort like the floats
}
