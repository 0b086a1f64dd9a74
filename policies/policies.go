// Package policies is the table of everything a profile can name, and the builder that turns a profile
// into a [policy.Set].
//
// It decides nothing about containers; the mechanisms live in its folders.
package policies

import (
	"errors"

	"heddle/policies/adaptcont"
	"heddle/policies/backfill"
	"heddle/policies/capacity"
	"heddle/policies/coupling"
	"heddle/policies/delay"
	"heddle/policies/dress"
	"heddle/policies/even"
	"heddle/policies/fair"
	"heddle/policies/fifo"
	"heddle/policies/ikayak"
	"heddle/policies/masters"
	"heddle/policies/mrorchestrator"
	"heddle/policies/newcomers"
	"heddle/policies/progress"
	"heddle/policies/shortest"
	"heddle/policies/slots"
	"heddle/policies/slowstart"
	"heddle/policies/spread"
	"heddle/policies/uncrowded"
	"heddle/policy"
)

// Table lists what there is to choose from, one line per mechanism.
var Table = policy.Table{
	Size: map[string]policy.Maker[policy.Size]{
		"asked":             neutral[policy.Size](policy.AsAsked{}),
		"adaptcont.dynamic": adaptcont.NewDynamic,
		"adaptcont.pool":    adaptcont.NewPool,
	},
	Order: map[string]policy.Maker[policy.Order]{
		"fifo":              fifo.New,
		"capacity":          shared[policy.Order]("capacity"),
		"fair":              shared[policy.Order]("fair"),
		"coupling.mismatch": coupling.NewOrder,
		"dress":             newCategories,
		"shortest":          newShortest,
		"slots":             slots.New,
	},
	Share: map[string]policy.Maker[policy.Share]{
		"whole":     neutral[policy.Share](policy.Unshared{}),
		"capacity":  shared[policy.Share]("capacity"),
		"dress":     dress.New,
		"fair":      shared[policy.Share]("fair"),
		"newcomers": newcomers.New,
	},
	Gate: map[string]policy.Maker[policy.Gate]{
		"open":              neutral[policy.Gate](policy.AlwaysOpen{}),
		"capacity":          newCapacityGate,
		"fair":              shared[policy.Gate]("fair"),
		"coupling.mismatch": coupling.NewGate,
		"slowstart":         slowstart.New,
		"ikayak.client":     ikayak.NewClient,
	},
	Trim: map[string]policy.Maker[policy.Trim]{
		"whole":         neutral[policy.Trim](policy.Whole{}),
		"ikayak.shrink": ikayak.NewShrink,
		"ikayak.fixed":  ikayak.NewFixed,
	},
	Place: map[string]policy.Maker[policy.Place]{
		"any":                 neutral[policy.Place](policy.Anywhere{}),
		"capacity":            newCapacityDelay,
		"delay":               delay.New,
		"fair":                newFairDelay,
		"pack":                spread.NewPack,
		"coupling.peek":       coupling.NewPeek,
		"spread":              spread.New,
		"uncrowded":           uncrowded.New,
		"even":                even.New,
		"coupling.wait":       coupling.NewWait,
		"ikayak.executor":     ikayak.NewExecutor,
		"ikayak.spreadout":    ikayak.NewSpreadOut,
		"ikayak.nonspreadout": ikayak.NewNonSpreadOut,
		"ikayak.local":        ikayak.NewLocal,
	},
	Book: map[string]policy.Maker[policy.Book]{
		"backfill": newBackfill,
		"capacity": shared[policy.Book]("capacity"),
		"fair":     shared[policy.Book]("fair"),
	},
	Control: map[string]policy.Maker[policy.Control]{
		"mrorchestrator.regression": mrorchestrator.NewRegression,
		"mrorchestrator.uniform":    mrorchestrator.NewUniform,
		"idle":                      neutral[policy.Control](policy.Idle{}),
		"ikayak.suspend":            ikayak.NewSuspend,
		"masters":                   masters.New,
	},
	Release: map[string]policy.Maker[policy.Release]{
		"dress": dress.NewRelease,
	},
	Remain: map[string]policy.Maker[policy.Remaining]{
		"ikayak.fuzzy": ikayak.NewRemaining,
		"progress":     progress.New,
	},
}

// neutral makes a slot's neutral policy, which changes nothing.
func neutral[H any](h H) policy.Maker[H] {
	return func(a policy.Args) (H, error) { return h, a.Decode(&struct{}{}) }
}

// shared makes the policy for one slot from a scheduler that fills several.
func shared[H any](name string) policy.Maker[H] {
	return func(a policy.Args) (H, error) {
		var none H
		if err := a.Decode(&struct{}{}); err != nil {
			return none, err
		}
		s, err := a.Shared(name)
		if err != nil {
			return none, err
		}
		return s.(H), nil
	}
}

// newCapacityGate makes the CapacityScheduler's limits on masters, with Heddle's own options.
func newCapacityGate(a policy.Args) (policy.Gate, error) {
	o := capacity.MastersOptions{Patience: 600, Behind: 1}
	if err := a.Decode(&o); err != nil {
		return nil, err
	}
	s, err := a.Shared("capacity")
	if err != nil {
		return nil, err
	}
	gate := s.(*capacity.Scheduler)
	return gate, gate.Masters(o)
}

func newCapacityDelay(a policy.Args) (policy.Place, error) {
	s, err := shared[policy.Order]("capacity")(a)
	if err != nil {
		return nil, err
	}
	return capacity.NewDelay(s.(*capacity.Scheduler).Config()), nil
}

// queues returns the scheduler of the profile's own queues, or nil if they are neither capacity's nor fair's.
func queues(a policy.Args) any {
	for _, name := range []string{"capacity", "fair"} {
		if s, err := a.Shared(name); err == nil {
			return s
		}
	}
	return nil
}

// newShortest makes the order that serves the least remaining work first within the profile's own queues.
func newShortest(a policy.Args) (policy.Order, error) {
	if s := queues(a); s != nil {
		return shortest.Within(a, s.(policy.Order))
	}
	return shortest.New(a)
}

// newCategories makes the order that serves the smaller of DRESS's categories first within the profile's own queues.
func newCategories(a policy.Args) (policy.Order, error) {
	if s := queues(a); s != nil {
		return dress.Within(a, s.(policy.Order))
	}
	return dress.Within(a, fifo.Order{})
}

// newBackfill makes the book that backfills what the profile's own queues reserve.
func newBackfill(a policy.Args) (policy.Book, error) {
	if s := queues(a); s != nil {
		return backfill.Over(a, s.(policy.Book))
	}
	return nil, errors.New("backfill: the profile's queues must be capacity or fair, which reserve nodes")
}

// newFairDelay makes the delay that the FairScheduler's own settings ask for.
func newFairDelay(a policy.Args) (policy.Place, error) {
	s, err := shared[policy.Order]("fair")(a)
	if err != nil {
		return nil, err
	}
	c := s.(*fair.Scheduler).Config()
	o := delay.None
	switch {
	case c.Continuous && c.NodeDelay >= 0 && c.RackDelay >= 0:
		o.NodeWait, o.RackWait = c.NodeDelay.Seconds(), c.RackDelay.Seconds()
	case !c.Continuous && c.NodeThreshold >= 0 && c.RackThreshold >= 0:
		o.NodeFraction, o.RackFraction = c.NodeThreshold, c.RackThreshold
	default:
		return policy.Anywhere{}, nil
	}
	return delay.Of(o)
}
