package sched_test

import (
	"fmt"
	"maps"
	"testing"

	"pgregory.net/rapid"

	"heddle"
	"heddle/cluster"
	"heddle/policy"
	"heddle/policy/policytest"
)

// A ledger is what a listener can know from effects alone. As a checker, it compares that with the state after every
// event.
type ledger struct {
	policy.Unshared
	nodes  map[heddle.NodeID]heddle.Resource
	apps   map[heddle.AppID]appSeen
	held   map[heddle.ContainerID]containerSeen
	booked map[heddle.NodeID]heddle.ContainerID
}

type appSeen struct {
	queue    heddle.QueueID
	priority int32
	waiting  [heddle.NumKinds]int // without masters: a policy may size them again
	over     bool                 // the attempt has ended: its asks are forgotten
}

type containerSeen struct {
	node      heddle.NodeID
	app       heddle.AppID
	kind      heddle.Kind
	limit     heddle.Resource
	running   bool
	suspended bool
}

func newLedger() *ledger {
	return &ledger{
		nodes: map[heddle.NodeID]heddle.Resource{}, apps: map[heddle.AppID]appSeen{},
		held: map[heddle.ContainerID]containerSeen{}, booked: map[heddle.NodeID]heddle.ContainerID{},
	}
}

func (l *ledger) Hears() policy.News { return ^policy.News(0) }

func (l *ledger) Hear(_ policy.View, e policy.Effect) {
	switch x := e.Container; e.What {
	case policy.NodeUp, policy.NodeResized:
		l.nodes[e.Node.ID()] = e.Node.Total()
	case policy.NodeDown:
		delete(l.nodes, e.Node.ID())
	case policy.AppDone:
		delete(l.apps, e.App.ID())
	case policy.AppAdded, policy.AppMoved, policy.AppReprioritised, policy.AppRetried, policy.AppAsked:
		l.apps[e.App.ID()] = see(e.App)
	case policy.Reserved:
		l.booked[e.Node.ID()] = x.ID()
	case policy.Unreserved:
		delete(l.booked, e.Node.ID())
	case policy.Granted, policy.Adopted:
		if x.Fulfils() {
			delete(l.booked, e.Node.ID())
		}
		l.held[x.ID()] = containerSeen{e.Node.ID(), e.App.ID(), x.Kind(), x.Limit(), e.What == policy.Adopted, false}
		l.apps[e.App.ID()] = see(e.App)
	case policy.Started, policy.Resized, policy.Suspended, policy.Resumed:
		seen := l.held[x.ID()]
		switch e.What {
		case policy.Started:
			seen.running = true
		case policy.Resized:
			seen.limit = x.Limit()
		default:
			seen.suspended = e.What == policy.Suspended
		}
		l.held[x.ID()] = seen
	case policy.Ended:
		if seen := l.held[x.ID()]; seen.node != e.Node.ID() || seen.app != e.App.ID() || seen.kind != x.Kind() || seen.limit != x.Limit() || !x.State().Ended() {
			panic(fmt.Sprintf("container %d ended as %v, and was %+v", x.ID(), x.State(), seen))
		}
		delete(l.held, x.ID())
		if x.Kind() == heddle.AM {
			a := l.apps[e.App.ID()]
			a.over, a.waiting = true, [heddle.NumKinds]int{}
			l.apps[e.App.ID()] = a
		}
	default: // nothing that is compared with the state
	}
}

func see(a *policy.App) appSeen {
	s := appSeen{queue: a.Queue().ID(), priority: a.Priority()}
	for k := heddle.AM + 1; k < heddle.NumKinds; k++ {
		s.waiting[k] = a.Waiting(k)
	}
	return s
}

// Check implements [policy.Checker].
func (l *ledger) Check(v policy.View) (broken []string) {
	is := newLedger()
	for i := range v.NodeIDs() {
		n := v.Node(heddle.NodeID(i))
		if n == nil || !n.Up() {
			continue
		}
		is.nodes[n.ID()] = n.Total()
		if x := n.Booked(); x != nil {
			is.booked[n.ID()] = x.ID()
		}
		n.Each(func(x *policy.Container) bool {
			is.held[x.ID()] = containerSeen{n.ID(), x.App().ID(), x.Kind(), x.Limit(), x.State() == cluster.Running, x.Suspended()}
			return true
		})
	}
	for i := range v.AppIDs() {
		if a := v.App(heddle.AppID(i)); a != nil {
			s := see(a)
			s.over = l.apps[a.ID()].over
			is.apps[a.ID()] = s
		}
	}
	for what, same := range map[string]bool{ // order: any fault may be reported first
		"nodes": maps.Equal(l.nodes, is.nodes), "applications": maps.Equal(l.apps, is.apps),
		"containers": maps.Equal(l.held, is.held), "reservations": maps.Equal(l.booked, is.booked),
	} {
		if !same {
			broken = append(broken, fmt.Sprintf("told: %s are other than was told: heard %+v, is %+v", what, l, is))
		}
	}
	return broken
}

// A listener that hears of all effects knows what nodes hold, what is reserved, and what applications wait for and
// where.
func TestListenersHearOfAll(t *testing.T) {
	each(t, func(t *rapid.T, s scheduler) {
		policytest.NewStream(t, 1, func() policy.Set {
			set := s.set()
			set.Share = append(set.Share, newLedger())
			return set
		}).Run(policytest.Steps)
	})
}

// listener records the changes that it hears of.
type listener struct {
	policy.Unshared
	hears policy.News
	heard []policy.News
}

func (l *listener) Hears() policy.News { return l.hears }

func (l *listener) Hear(_ policy.View, e policy.Effect) { l.heard = append(l.heard, e.What) }

// No listener is told what it did not ask for.
func TestListenersHearNoMore(t *testing.T) {
	each(t, func(t *rapid.T, s scheduler) {
		l := &listener{hears: policy.News(rapid.Uint32().Draw(t, "hears"))}
		policytest.NewStream(t, 1, func() policy.Set {
			set := s.set()
			set.Share = append(set.Share, l)
			return set
		}).Run(policytest.Steps)
		for _, what := range l.heard {
			if what&l.hears == 0 {
				t.Fatalf("%b was told to who asked for %b", what, l.hears)
			}
		}
	})
}
