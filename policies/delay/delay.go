// Package delay is delay scheduling: an ask that names places waits for a node that holds its data, then for the rack,
// before it takes any node. The wait is counted in time (T1, T2), or in offers as a fraction of the cluster's nodes, as
// in Hadoop's FairScheduler.
//
// It knows no order and no share.
package delay

import (
	"errors"
	"fmt"
	"math"

	"heddle"
	"heddle/policy"
)

// Options are the waits. A negative value, the default of the fractions, means no wait of that kind.
type Options struct {
	NodeWait     float64 `yaml:"node_wait"`     // seconds (T1)
	RackWait     float64 `yaml:"rack_wait"`     // seconds (T2)
	NodeFraction float64 `yaml:"node_fraction"` // of the cluster's nodes, in offers
	RackFraction float64 `yaml:"rack_fraction"`
}

// None never waits.
var None = Options{NodeWait: -1, RackWait: -1, NodeFraction: -1, RackFraction: -1}

// Default is T1 = T2 = 15 s, the waits of the Coupling paper's baseline.
var Default = Options{NodeWait: 15, RackWait: 15, NodeFraction: -1, RackFraction: -1}

// A Place is the placement, with how long each ask has waited so far.
type Place struct {
	o    Options
	asks []state
}

type state struct {
	app      heddle.AppID
	priority int32
	level    heddle.Locality // allowed now
	offers   int             // since the level or the last reset
	since    heddle.Time
	started  bool
}

// New returns the place.
func New(a policy.Args) (policy.Place, error) {
	o := Default
	if err := a.Decode(&o); err != nil {
		return nil, err
	}
	switch {
	case !(o.NodeWait <= math.MaxInt32 && o.RackWait <= math.MaxInt32):
		return nil, fmt.Errorf("delay: node_wait and rack_wait must be at most %d seconds; below 0 for no wait", math.MaxInt32)
	case !(o.NodeFraction <= 1 && o.RackFraction <= 1):
		return nil, errors.New("delay: node_fraction and rack_fraction must be at most 1; below 0 for no wait")
	}
	return Of(o)
}

// Of returns the place for given options.
func Of(o Options) (*Place, error) {
	byTime, byOffers := o.NodeWait >= 0 && o.RackWait >= 0, o.NodeFraction >= 0 && o.RackFraction >= 0
	if byTime && byOffers {
		return nil, errors.New("delay: give waits in seconds or in fractions of the cluster, not both")
	}
	return &Place{o: o}, nil
}

func (p *Place) of(k *policy.Ask) *state {
	for k.ID() >= len(p.asks) {
		p.asks = append(p.asks, state{app: heddle.NoApp})
	}
	s := &p.asks[k.ID()]
	if s.app != k.App().ID() || s.priority != k.Priority() {
		*s = state{app: k.App().ID(), priority: k.Priority()}
	}
	return s
}

// Judge implements [policy.Place].
func (p *Place) Judge(v policy.View, k *policy.Ask, n *policy.Node, at heddle.Locality) policy.Verdict {
	if !v.Fits(k.Size(), n.Total()) {
		return policy.No(heddle.NodeTooSmall)
	}
	if n.Booked() != nil && !v.Fits(k.Size(), n.Room(k.App())) {
		return policy.Yes // the reservation waits for room, not for a place
	}
	s := p.of(k)
	if v.Prompted() { // count on a copy
		is := *s
		s = &is
	}
	s.offers++
	level := p.allowed(v, s)
	if at <= level || k.Places() == 1 {
		return policy.Yes
	}
	if level == heddle.NodeLocal {
		return policy.No(heddle.WaitLocal)
	}
	return policy.No(heddle.WaitRack)
}

// allowed relaxes an ask's level by one step once the ask has waited long enough.
func (p *Place) allowed(v policy.View, s *state) heddle.Locality {
	byTime := p.o.NodeWait >= 0 && p.o.RackWait >= 0
	if !byTime && (p.o.NodeFraction < 0 || p.o.RackFraction < 0) {
		return heddle.OffSwitch
	}
	if !s.started { // the wait begins with the first node that is offered, as in Hadoop
		s.started, s.since = true, v.Now()
		return s.level
	}
	if s.level == heddle.OffSwitch {
		return s.level
	}
	var over bool
	if byTime {
		wait := p.o.NodeWait
		if s.level == heddle.RackLocal {
			wait = p.o.RackWait
		}
		over = v.Now().Since(s.since) > heddle.Seconds(wait)
	} else {
		fraction := min(p.o.NodeFraction, 1)
		if s.level == heddle.RackLocal {
			fraction = min(p.o.RackFraction, 1)
		}
		over = float64(s.offers) > float64(v.Live())*fraction
	}
	if over {
		s.level++
		s.offers, s.since = 0, v.Now()
	}
	return s.level
}

// Hears implements [policy.Listener].
func (p *Place) Hears() policy.News { return policy.Granted }

// Hear implements [policy.Listener]: an ask that found a better place than allowed waits for such places again.
func (p *Place) Hear(v policy.View, e policy.Effect) {
	x := e.Container
	s := p.of(x.Ask())
	if x.At() < s.level {
		s.level = x.At() // what was counted so far stays counted
	}
	s.since = v.Now()
}
