package capacity

import (
	"heddle"
	"heddle/policy"
)

// Beside implements [policy.Book]: an application normally holds no more reservations than it still wants containers,
// and a few more after a long wait.
func (s *Scheduler) Beside(_ policy.View, k *policy.Ask) bool { return s.cfg.beside(k) }

func (c *Config) beside(k *policy.Ask) bool {
	starvation := 0
	if n := k.Bookings(); n > 0 {
		largest := c.Maximum
		nodeFactor := c.ratio(k.Size(), largest)
		minFactor := c.ratio(largest.Minus(c.Minimum), largest)
		starvation = int(float32(k.Rebooked()) / float32(n) * (1 - min(nodeFactor, minFactor)))
	}
	return starvation+k.Count()-k.Bookings() > 0
}

func (c *Config) ratio(a, b heddle.Resource) float32 {
	if c.MemoryOnly {
		return float32(a[heddle.Memory]) / float32(b[heddle.Memory])
	}
	return float32(a.Share(b))
}

// Reserve implements [policy.Book].
func (s *Scheduler) Reserve(v policy.View, k *policy.Ask, _ *policy.Node) bool { return s.Beside(v, k) }

// Keep implements [policy.Book]: a reservation stays as long as its ask.
func (s *Scheduler) Keep(policy.View, *policy.Ask, *policy.Node) bool { return true }

// Floor implements [policy.Book]: a node without room for the smallest container is skipped.
func (s *Scheduler) Floor(policy.View, heddle.Resource) heddle.Resource { return s.cfg.Minimum }

// A Delay is the Place of the CapacityScheduler: an ask that names places waits for them. The wait is counted in offers
// that the ask passed up.
type Delay struct {
	cfg    *Config
	missed []missed
}

type missed struct {
	app      heddle.AppID
	priority int32
	n        int
}

// NewDelay returns the delay scheduling of a configuration.
func NewDelay(cfg *Config) *Delay {
	return &Delay{cfg: cfg}
}

func (d *Delay) of(k *policy.Ask) *missed {
	for k.ID() >= len(d.missed) {
		d.missed = append(d.missed, missed{app: heddle.NoApp})
	}
	m := &d.missed[k.ID()]
	if m.app != k.App().ID() || m.priority != k.Priority() {
		*m = missed{app: k.App().ID(), priority: k.Priority()}
	}
	return m
}

// Judge implements [policy.Place].
func (d *Delay) Judge(v policy.View, k *policy.Ask, n *policy.Node, at heddle.Locality) policy.Verdict {
	reserved := n.BookedFor(k)
	if !reserved && !d.cfg.ContinueLooking && !d.cfg.beside(k) {
		return policy.No(heddle.HoldsBooking)
	}
	m := d.of(k)
	if v.Prompted() { // count on a copy
		is := *m
		m = &is
	}
	m.n++
	switch {
	case !v.Fits(k.Size(), n.Total()):
		if k.Strict() {
			m.n--
		}
		return policy.NoApp(heddle.NodeTooSmall)
	case at == heddle.NodeLocal || at == heddle.RackLocal && m.n > min(v.Live(), d.cfg.NodeLocalityDelay):
		return policy.Yes
	case k.Strict():
		if !reserved {
			m.n--
		}
		return policy.No(heddle.StrictElsewhere)
	case reserved || d.farAllowed(v, k, m.n):
		return policy.Verdict{Far: true}
	case at == heddle.RackLocal:
		return policy.NoApp(heddle.WaitLocal)
	}
	return policy.NoApp(heddle.WaitRack)
}

// farAllowed reports whether an ask that has passed up so many offers may go anywhere.
func (d *Delay) farAllowed(v policy.View, k *policy.Ask, passed int) bool {
	nodes := v.Live()
	if k.Places() == 1 {
		return true
	}
	if d.cfg.RackLocalityAdditional > -1 {
		return passed > min(nodes, d.cfg.NodeLocalityDelay+d.cfg.RackLocalityAdditional)
	}
	factor := min(float32(k.Places()-1)/float32(nodes), 1)
	return min(float32(nodes), float32(k.Count())*factor) < float32(passed)
}

// Hears implements [policy.Listener].
func (d *Delay) Hears() policy.News { return policy.Granted | policy.Reserved }

// Hear implements [policy.Listener]: the count restarts when a container is granted or reserved near its data. A
// container that fulfils a reservation was counted when the reservation was made.
func (d *Delay) Hear(_ policy.View, e policy.Effect) {
	x := e.Container
	if x.Fulfils() {
		return
	}
	if x.At() == heddle.NodeLocal || x.At() == heddle.RackLocal && d.cfg.RackLocalityFullReset {
		d.of(x.Ask()).n = 0
	}
}
