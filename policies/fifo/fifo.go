// Package fifo serves applications by priority, then in order of submission, over the whole cluster.
//
// It knows nothing of queues beyond their ids.
package fifo

import "heddle/policy"

// Order is first come, first served within a priority.
type Order struct{}

// New returns the order; it has no options.
func New(a policy.Args) (policy.Order, error) {
	return Order{}, a.Decode(&struct{}{})
}

// Queue implements [policy.Order]: queues go in the order they are listed.
func (Order) Queue(policy.View, *policy.Queue) policy.Key { return policy.Key{} }

// App implements [policy.Order].
func (Order) App(_ policy.View, a *policy.App) policy.Key {
	return policy.Key{-int64(a.Priority())}
}

// Steady implements [policy.Order]: nothing else counts.
func (Order) Steady(*policy.App) bool { return true }
