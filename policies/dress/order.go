package dress

import (
	"errors"

	"heddle/policy"
)

// An Order serves the categories with the smaller demands first, and the applications of a category in the order of
// its queue. Each category is held to its part of the cluster in any case. The order says who goes first where there is room
// for one of two that are both below theirs: in a cluster of small nodes a part of the room is too small for any
// container, and whoever goes last has all of that in its own part.
type Order struct {
	policy.Unsteady

	queues policy.Order
	share  *Scheduler
}

// Within returns the order for the applications of a leaf, where another one orders the queues. [Order.Of] must be
// called before it is used.
func Within(a policy.Args, queues policy.Order) (*Order, error) {
	return &Order{queues: queues}, a.Decode(&struct{}{})
}

// Of tells the order which shares its profile has: categories are those of the first one that is DRESS's.
func (o *Order) Of(shares []policy.Share) error {
	for _, s := range shares {
		if s, ok := s.(*Scheduler); ok {
			o.share = s
			return nil
		}
	}
	return errors.New("dress: the order goes by the categories of the share dress, and the profile has no such share")
}

// Queue implements [policy.Order].
func (o *Order) Queue(v policy.View, q *policy.Queue) policy.Key { return o.queues.Queue(v, q) }

// App implements [policy.Order]: by category, then as the queue has it; where nothing is reserved as the queue has it alone.
func (o *Order) App(v policy.View, a *policy.App) policy.Key {
	k := o.queues.App(v, a)
	if o.share.of(a) == nil {
		return k
	}
	return policy.Key{int64(o.share.apps[a.ID()].category), k[0], k[1]}
}
