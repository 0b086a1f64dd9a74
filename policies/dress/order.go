package dress

import (
	"errors"

	"heddle"
	"heddle/policy"
)

// An Order serves, of a leaf queue's applications, those of the categories with the smaller demands first, as long as the
// category holds less than its part of what the leaf's applications hold. Within a category, and else, it is the order of
// the queues. How much a category takes is the share's business. The order says who goes first where there is room for one of
// two that are both below their part: in a cluster of small nodes some of the room is too small for any container, and whoever
// goes last has all of that in its own part.
//
// What a category holds is looked at when δ is adjusted. A priority goes before the category where the queue's order is by
// priority.
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
			o.share, s.ordered = s, true
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
	turn := int64(o.share.turn(a))
	if o.queues.Steady(a) { // by priority, and then in order of submission
		return policy.Key{k[0], turn, k[1]}
	}
	return policy.Key{turn, k[0], k[1]}
}

// A leaf is what the categories hold in a leaf queue, and not what is reserved for them.
type leaf struct {
	held  []heddle.Resource
	first []bool // which hold less than their part of that
}

// turn is when an application is served among those of its leaf: the smallest first.
func (s *Scheduler) turn(a *policy.App) int {
	category := s.apps[a.ID()].category
	if l := s.byLeaf[a.Queue().ID()]; l != nil && l.first[category] {
		return category
	}
	return len(s.cats) - 1
}

// turns finds out which categories hold less than their part of what is held in each leaf. It reports whether others do than
// before.
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
