// Package backfill lets tasks run in the free room of a reserved node if they are expected to end before the
// reservation is served: EASY backfilling (Lifka, Job Scheduling Strategies for Parallel Processing, 1995) within a
// node. The scheduler of the profile's queues decides which nodes are reserved, and for whom, with two exceptions. A
// node needs no reservation if a single map or reduce holds enough: when it ends, the first application in the order
// gets that room. And a node is not reserved if it may never come free because masters hold the missing room and their
// applications themselves wait for containers: they may be waiting for that node.
//
// A reservation has a promise: the time by which enough of what its node holds is expected to have ended. The promise
// is made once, as soon as it can be. A map, or a reduce whose job's maps are over, may start beside the reservation if
// it is expected to end by the promise plus [Options].Slack of the wait until then. Nobody says how long tasks take: a
// task is expected to last from its grant for as long as [policy.Durations] estimates. Masters, executors and reduces
// that wait for maps end whenever their applications choose, so a reservation that waits for one of them has no
// promise, and its node is left alone.
//
// If every task lasts as long as expected, the reservation is served by its promise plus slack, at the node's next
// report. If not, it is late by at most as much as the last task that was let in. If an application has been passed
// over for longer than [Options].Patience, no task is let in beside its reservations, and nodes are reserved for it as
// the queues' scheduler would.
package backfill

import (
	"errors"
	"math"
	"slices"

	"heddle"
	"heddle/policy"
)

// Options are the options of the book.
type Options struct {
	// Slack is how much longer than promised a reservation may wait because of others, as a part of its wait.
	Slack float64 `yaml:"slack"`
	// Patience is how many seconds an application may be passed over before no task is let in beside its reservations,
	// and before nodes on which one task holds enough are reserved for it.
	Patience float64 `yaml:"patience"`
}

// Default lets a reservation wait at most a quarter longer.
var Default = Options{Slack: 0.25, Patience: 600}

// A Book is the book of the queues' scheduler, plus the decision which tasks may run beside a reservation.
type Book struct {
	policy.Book

	o        Options
	lengths  policy.Durations
	promises []promise // by node
	ends     []end     // scratch space for the containers of one node
}

// A promise is the time by which what runs beside a reservation must be gone.
type promise struct {
	to heddle.ContainerID // the reservation
	by heddle.Time
}

// An end is when a running container is expected to give back what it holds.
type end struct {
	at   heddle.Time
	room heddle.Resource
}

// Over returns a book over that of the queues' scheduler.
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

// Tick implements [policy.Ticker]. It learns how long the containers that have ended were held.
func (b *Book) Tick(v policy.View) bool {
	b.lengths.Learn(v)
	return false
}

// Reserve implements [policy.Book]. It does not reserve a node on which a single map or reduce holds enough: the first
// application in the order gets that room when the task ends, and until then no idle room counts as used. An
// application that has been passed over for longer than [Options].Patience may reserve such nodes too. A node that may
// never come free is not reserved for any application.
func (b *Book) Reserve(v policy.View, k *policy.Ask, n *policy.Node) bool {
	if v.Now().Since(k.App().PassedOver()) <= heddle.Seconds(b.o.Patience) && one(v, k, n) {
		return false
	}
	return b.Book.Reserve(v, k, n) && comes(v, k.Size(), n)
}

// Keep implements [policy.Book]. It gives up a reservation of a node that may never come free.
func (b *Book) Keep(v policy.View, k *policy.Ask, n *policy.Node) bool {
	return b.Book.Keep(v, k, n) && comes(v, k.Size(), n)
}

// comes reports whether a node will have room for need even if nothing else starts. Stuck containers may be waiting for
// this node, so they do not count as ending.
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

// one reports whether a single map or reduce on a node holds as much as an ask is for.
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

// served returns when a reservation is expected to be served: when enough of what its node holds has ended for it to
// fit. ok is false if that is unknown.
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

// lasts returns how long a container of an application is expected to be held; ok is false if that is unknown.
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
