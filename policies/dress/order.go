package dress

import (
	"errors"

	"heddle"
	"heddle/policy"
)

// An Order serves the applications of a leaf queue by category: a category with smaller demands comes first, as long as
// it holds less than its part of what the leaf's applications hold. Within a category, and otherwise, the order of the
// queues applies. The share decides how much a category takes. The order decides who goes first if there is room for
// only one of two applications that are both below their part: in a cluster of small nodes some of the room is too
// small for any container, and all of that room lies in the part of the one that goes last.
//
// What a category holds is determined when δ is adjusted. If the queue's order is by priority, the priority comes
// before the category.
type Order struct {
	policy.Unsteady

	queues policy.Order
	share  *Scheduler
}

// Within returns an order for the applications of a leaf; another order, queues, orders the queues. [Order.Of] must be
// called before the order is used.
func Within(a policy.Args, queues policy.Order) (*Order, error) {
	return &Order{queues: queues}, a.Decode(&struct{}{})
}

// Of tells the order which shares its profile has: the order uses the categories of the first one that is DRESS's.
func (o *Order) Of(shares []policy.Share) error {
	for _, s := range shares {
		if s, ok := s.(*Scheduler); ok {
			o.share, s.ordered = s, true
			return nil
		}
	}
	return errors.New("dress: the order uses the categories of the share dress, and the profile does not have that share")
}

// Queue implements [policy.Order].
func (o *Order) Queue(v policy.View, q *policy.Queue) policy.Key { return o.queues.Queue(v, q) }

// App implements [policy.Order]: by category, then in the queue's order; if nothing is reserved, in the queue's order
// alone.
func (o *Order) App(v policy.View, a *policy.App) policy.Key {
	k := o.queues.App(v, a)
	if o.share.of(a) == nil {
		return k
	}
	turn := int64(o.share.turn(a))
	if o.queues.Steady(a) { // by priority, and then in order of submission
		return policy.Key{k[0], turn, k[1]}
	}
	return policy.Key{turn, k[0], k[1]}
}

// A leaf is what the categories hold in a leaf queue, not what is reserved for them.
type leaf struct {
	held  []heddle.Resource
	first []bool // the categories that hold less than their part of that
}

// turn returns an application's turn among the applications of its leaf: the smallest is served first.
func (s *Scheduler) turn(a *policy.App) int {
	category := s.apps[a.ID()].category
	if l := s.byLeaf[a.Queue().ID()]; l != nil && l.first[category] {
		return category
	}
	return len(s.cats) - 1
}

// turns determines, for each leaf, which categories hold less than their part of what is held there. It reports whether
// any of this changed.
func (s *Scheduler) turns(v policy.View) (changed bool) {
	for _, l := range s.byLeaf { // order: each for itself
		clear(l.held)
	}
	for _, id := range s.alive {
		a, st := v.App(id), &s.apps[id]
		if a == nil {
			continue
		}
		l := s.byLeaf[a.Queue().ID()]
		if l == nil {
			l = &leaf{make([]heddle.Resource, len(s.cats)), make([]bool, len(s.cats))}
			s.byLeaf[a.Queue().ID()] = l
		}
		l.held[st.category] = l.held[st.category].Plus(a.Used())
	}
	for _, l := range s.byLeaf { // order: each for itself
		var all heddle.Resource
		for _, r := range l.held {
			all = all.Plus(r)
		}
		for k, r := range l.held {
			first := share(v, r, s.total) < s.delta[k]*share(v, all, s.total)
			changed = changed || first != l.first[k]
			l.first[k] = first
		}
	}
	return changed
}
