// Package backfill lets tasks run on what is free of a node that is reserved, where they are expected to be gone before
// the reservation is served: EASY backfilling (Lifka, Job Scheduling Strategies for Parallel Processing, 1995) within a
// node. Which nodes are reserved, and for whom, is left to the scheduler of the profile's queues, but for those that need
// no reservation: where one map or reduce holds enough, whoever is first in the order has that when it ends. Nor is a node
// reserved that may never come free: one on which masters hold what is missing whose applications wait for containers
// themselves. They may wait for that node.
//
// A reservation has a promise: when enough of what its node holds is expected to have ended. It is made once, when it can
// be. A map, or a reduce whose job's maps are over, may start beside the reservation if it is expected to end by the
// promise and [Options].Slack of the wait until then. Nobody says how long tasks take: a task is expected to last as
// [policy.Durations] has it, from its grant on. Masters, executors and reduces that wait for maps end when their
// applications like, so that a reservation that waits for one of them has no promise, and its node is left alone.
//
// If every task lasts as long as expected, the reservation is served by its promise and slack, at the node's next report.
// If not, it is at most as much later as the last task that was let in is. An application that has been passed over for
// longer than [Options].Patience has nobody let in beside it, and has nodes reserved as the queues' scheduler would.
package backfill

import (
	"errors"
	"math"
	"slices"

	"heddle"
	"heddle/policy"
)

// Options are the slot's.
type Options struct {
	// Slack is how much longer than promised a reservation may wait because of others, as a part of its wait.
	Slack float64 `yaml:"slack"`
	// Patience is how many seconds an application is passed over at most before nobody is let in beside its reservations, and
	// before nodes are reserved for it on which one task holds enough.
	Patience float64 `yaml:"patience"`
}

// Default has a reservation wait a quarter longer at the most.
var Default = Options{Slack: 0.25, Patience: 600}

// A Book is the slot: that of the queues' scheduler, and who may run beside a reservation.
type Book struct {
	policy.Book

	o        Options
	lengths  policy.Durations
	promises []promise // by node
	ends     []end     // room for one node's containers
}

// A promise is by when what runs beside a reservation is to be gone.
type promise struct {
	to heddle.ContainerID // the reservation
	by heddle.Time
}

// An end is when a running container is expected to give back what it holds.
type end struct {
	at   heddle.Time
	room heddle.Resource
}

// Over returns the slot over that of the queues' scheduler.
func Over(a policy.Args, queues policy.Book) (policy.Book, error) {
	o := Default
	if err := a.Decode(&o); err != nil {
		return nil, err
	}
	switch {
	case !(o.Slack >= 0 && o.Slack <= 10):
		return nil, errors.New("backfill: slack must be 0 to 10 times the wait")
	case !(o.Patience > 0) || o.Patience > math.MaxInt32:
		return nil, errors.New("backfill: patience must be above 0 s")
	}
	return &Book{Book: queues, o: o}, nil
}

// Ticks implements [policy.Ticker].
func (b *Book) Ticks() (every, phase heddle.Span) { return heddle.Second, 0 }

// Tick implements [policy.Ticker]: it takes in how long containers were held that have ended.
func (b *Book) Tick(v policy.View) bool {
	b.lengths.Learn(v)
	return false
}

// Reserve implements [policy.Book]. A node is not reserved where one of its maps or reduces holds enough: what that leaves
// goes to whoever is first in the order then, and meanwhile nothing counts as used that nobody uses. An application that
// has been passed over for longer than [Options].Patience has such nodes too. Nobody has one that may never come free.
func (b *Book) Reserve(v policy.View, k *policy.Ask, n *policy.Node) bool {
	if v.Now().Since(k.App().PassedOver()) <= heddle.Seconds(b.o.Patience) && one(v, k, n) {
		return false
	}
	return b.Book.Reserve(v, k, n) && comes(v, k.Size(), n)
}

// Keep implements [policy.Book]. A reservation of a node that may never come free is given up.
func (b *Book) Keep(v policy.View, k *policy.Ask, n *policy.Node) bool {
	return b.Book.Keep(v, k, n) && comes(v, k.Size(), n)
}

// comes reports whether there will be so much room on a node though nothing else starts. What is stuck there may wait for this node.
func comes(v policy.View, need heddle.Resource, n *policy.Node) bool {
	room := n.Free()
	n.Each(func(x *policy.Container) bool {
		if !x.Stuck() {
			room = room.Plus(x.Limit())
		}
		return !v.Fits(need, room)
	})
	return v.Fits(need, room)
}

// one reports whether a map or reduce of a node holds as much as an ask is for.
func one(v policy.View, k *policy.Ask, n *policy.Node) (enough bool) {
	n.Each(func(x *policy.Container) bool {
		enough = (x.Kind() == heddle.Map || x.Kind() == heddle.Reduce) && v.Fits(k.Size(), x.Limit())
		return !enough
	})
	return enough
}

// Until implements [policy.Filler].
func (b *Book) Until(v policy.View, x *policy.Container) (heddle.Time, bool) {
	if v.Now().Since(x.App().PassedOver()) > heddle.Seconds(b.o.Patience) {
		return 0, false
	}
	id := x.Node().ID()
	if int(id) < len(b.promises) && b.promises[id].to == x.ID() {
		return b.promises[id].by, true
	}
	at, ok := b.served(v, x)
	if !ok {
		return 0, false
	}
	p := promise{x.ID(), at.Plus(heddle.Seconds(b.o.Slack * at.Since(x.Granted()).Seconds()))}
	if !v.Explaining() {
		for int(id) >= len(b.promises) {
			b.promises = append(b.promises, promise{})
		}
		b.promises[id] = p
	}
	return p.by, true
}

// served is when a reservation is expected to be served: when so much of what its node holds has ended that it fits. ok
// is false where nobody knows.
func (b *Book) served(v policy.View, x *policy.Container) (at heddle.Time, ok bool) {
	b.ends = b.ends[:0]
	x.Node().Each(func(y *policy.Container) bool {
		if length, ok := b.lasts(y.App(), y.Kind()); ok {
			b.ends = append(b.ends, end{max(v.Now(), y.Granted().Plus(length)), y.Limit()})
		}
		return true
	})
	slices.SortFunc(b.ends, func(a, b end) int { return int(a.at.Since(b.at)) })
	room := x.Node().Free()
	for i := range b.ends {
		if room = room.Plus(b.ends[i].room); v.Fits(x.Limit(), room) {
			return b.ends[i].at, true
		}
	}
	return 0, false
}

// lasts is how long a container of an application is expected to be held; ok is false where nobody knows.
func (b *Book) lasts(a *policy.App, k heddle.Kind) (heddle.Span, bool) {
	if k != heddle.Map && (k != heddle.Reduce || !a.MapsOver()) {
		return 0, false
	}
	seconds, ok := b.lengths.Of(a, k)
	return heddle.Seconds(seconds), ok
}

// Fill implements [policy.Filler].
func (b *Book) Fill(v policy.View, k *policy.Ask, until heddle.Time) bool {
	length, ok := b.lasts(k.App(), k.Kind())
	return ok && v.Now().Plus(length) <= until
}
