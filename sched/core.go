// Package sched is the scheduler core: one event in, decisions out.
//
// A driver makes a [Core] with [New] from a policy set, which package policies builds from a profile, and then tells it
// with [Core.Step] what happened: a node joined, reported or was lost; an application arrived, asked for containers or
// ended; a container started or ended. Each call returns what is to be done: start this container there, kill that one.
// The driver is responsible for four things:
//
//   - Time. It passes the time with each event, never earlier than before, and sends [heddle.Wake] by the time that
//     [Core.Deadline] names.
//   - Numbers. The driver numbers nodes, racks, queues, users and applications with small numbers from 0 up, which index
//     the slices that hold the state. Of applications that a policy ranks alike, the lowest number goes first. The queues
//     are those of the set. The core numbers containers.
//   - Order. Events about the same thing arrive in the order in which they happened: a node's exits before its report, a
//     grant's fetch ([heddle.Acquire]) before its start. Events about what is gone are ignored: they crossed with the end.
//   - Copies. Decisions are valid until the next Step.
//
// A node is given work when it reports ([heddle.Heartbeat]). [Core.Wants] and [Core.Quiet] tell which reports could
// change anything, so that the others need not be sent; [heddle.Offer] makes the core offer nodes at once. [Core.View]
// shows the state, [Core.Explain] says what an application waits for, and [Core.Check] recounts everything.
//
// A Core is a deterministic function of its policy set, its seed and the events it was given. It has no clock, no
// goroutines, no locks and no I/O, and knows neither the wire protocol nor the simulator around it.
package sched

import (
	"slices"

	"heddle"
	"heddle/cluster"
	"heddle/policy"
)

// A Core is a deterministic state machine. The same policy set and the same events give the same decisions, byte for
// byte. It is not safe for concurrent use and does not need to be.
type Core struct {
	set policy.Set
	c   *cluster.Cluster
	v   policy.View

	lanes   []lane
	laneOf  [heddle.NumKinds]int8
	picks   [heddle.NumKinds]policy.Pick
	picking bool                  // some place names its node
	filler  policy.Filler         // nil means nothing runs beside a reservation
	blind   [heddle.NumKinds]bool // the kind's Place takes any node and does not count offers
	apps    []appState
	notes   []notes // by application, as apps

	listeners [newsSorts][]policy.Listener
	gauged    []policy.Gauged
	wakers    []policy.Waker
	sizers    []policy.Waker    // those that size masters
	masters   []heddle.Resource // the size requested for each application's master; kept if a policy sizes masters
	revised   []heddle.AppID
	remade    []heddle.AppID // applications whose waiting masters were sized again in this step
	woken     []heddle.AppID
	tickers   []ticker
	checkers  []policy.Checker
	controls  []controller
	plan      policy.Plan
	touched   map[heddle.ContainerID]bool // by the plan so far
	weighed   map[heddle.ContainerID]bool // likewise, for weights
	done      []done                      // … and what it changed of running containers

	out     []heddle.Decision
	arena   arena
	gated   []gatedApp
	prompt  prompt
	version uint64        // changes with everything but heartbeats
	quiet   uint64        // the version at which an offer found that nothing could be given to any node
	shuts   []uint64      // by node: the version at which nothing was let in beside its reservation
	pickTry uint64        // the version at which naming nodes last came to nothing
	freed   []heddle.Time // by node: when room last came free; kept if some place names its node
	retry   heddle.Time   // when to try naming nodes again; 0 means no need
	local   bool          // the walk met a refusal that another node might not give
	counts  Counts
}

// Counts are what the core has done so far.
type Counts struct {
	Steps, Offers, EmptyOffers, Grants, Bookings, Refusals uint64
	TriesLimit, BeatLimit                                  uint64                 // limits hit
	Undone                                                 [heddle.NumCaps]uint64 // as in Explanation, of all applications
}

type ticker struct {
	t            policy.Ticker
	every, phase heddle.Time
	next         heddle.Time
}

// gatedApp is an application with all its asks in a lane behind a closed gate.
type gatedApp struct {
	app  heddle.AppID
	lane int
}

type controller struct {
	c        policy.Control
	name     string // slot and name in the profile; "" if not known
	next     heddle.Time
	from, to int // its steps in the plan
}

// New returns a core for a policy set. It panics if the set is incomplete: no lane, a kind in two lanes or in none, a
// lane without an order.
func New(set policy.Set) *Core {
	c := &Core{set: set, c: cluster.New(set.Queues, set.MemoryOnly), version: 1, touched: map[heddle.ContainerID]bool{}, weighed: map[heddle.ContainerID]bool{}}
	c.v = c.c.View()
	for k := range c.laneOf {
		c.laneOf[k] = -1
	}
	for i, l := range set.Lanes {
		for _, k := range l.Kinds {
			if c.laneOf[k] >= 0 {
				panic("sched: kind " + k.String() + " in two lanes")
			}
			c.laneOf[k] = int8(i)
			c.c.SetSlots(k, l.Slots)
		}
		if l.Order == nil {
			panic("sched: lane without an order")
		}
		c.lanes = append(c.lanes, newLane(l, len(set.Queues)))
		for _, k := range l.Kinds {
			if t := set.Trim[k]; t != nil {
				c.lanes[i].trims = append(c.lanes[i].trims, t)
			}
		}
	}
	for k, l := range c.laneOf {
		if l < 0 {
			panic("sched: kind " + heddle.Kind(k).String() + " in no lane")
		}
		if p, ok := set.Place[k].(policy.Pick); ok {
			c.picks[k] = p
			c.lanes[l].picks = append(c.lanes[l].picks, heddle.Kind(k))
			c.picking = true
		}
		_, anywhere := set.Place[k].(policy.Anywhere)
		c.blind[k] = anywhere || set.Place[k] == nil
	}
	if c.set.Beat.Applications == 0 {
		c.set.Beat.Applications = policy.DefaultTries
	}
	c.findPowers()
	return c
}

// findPowers collects the optional powers of everything in the set, each object once.
func (c *Core) findPowers() {
	var seen []any
	add := func(h any) {
		if h == nil {
			return
		}
		if slices.Contains(seen, h) {
			return
		}
		seen = append(seen, h)
		if l, ok := h.(policy.Listener); ok {
			for rest := l.Hears(); rest != 0; rest &= rest - 1 {
				at := &c.listeners[sortOf(rest)]
				*at = append(*at, l)
			}
		}
		if g, ok := h.(policy.Gauged); ok {
			c.gauged = append(c.gauged, g)
		}
		if w, ok := h.(policy.Waker); ok {
			if _, sizes := h.(policy.Size); sizes {
				c.sizers = append(c.sizers, w)
			} else {
				c.wakers = append(c.wakers, w)
			}
		}
		if t, ok := h.(policy.Ticker); ok {
			every, phase := t.Ticks()
			c.tickers = append(c.tickers, ticker{t: t, every: heddle.Time(every), phase: heddle.Time(phase % every)})
		}
		if k, ok := h.(policy.Checker); ok {
			c.checkers = append(c.checkers, k)
		}
		if k, ok := h.(policy.Control); ok && k.Every() > 0 {
			c.controls = append(c.controls, controller{c: k, next: heddle.Time(k.Every())})
		}
	}
	add(c.set.Release) // first: others ask the estimates when they hear what these have already heard
	add(c.set.Remaining)
	for _, l := range c.set.Lanes {
		add(l.Order)
	}
	for _, s := range c.set.Share {
		add(s)
	}
	for k := range heddle.NumKinds {
		add(c.set.Size[k])
		for _, g := range c.set.Gate[k] {
			add(g)
		}
		add(c.set.Trim[k])
		add(c.set.Place[k])
		for _, p := range c.set.Veto[k] {
			add(p)
		}
	}
	add(c.set.Book)
	c.filler, _ = c.set.Book.(policy.Filler)
	for i, ctl := range c.set.Control {
		add(ctl)
		for at := range c.controls {
			if k := &c.controls[at]; k.c == ctl {
				k.name = called("control", c.set.Names.Control, i)
			}
		}
	}
}

// View returns read access to the state.
func (c *Core) View() policy.View { return c.v }

// Counts returns what the core has done so far.
func (c *Core) Counts() Counts { return c.counts }

// Gauges calls emit for every number that the policies show, always with the same names in the same order.
func (c *Core) Gauges(emit func(name string, value float64)) {
	for _, g := range c.gauged {
		g.Gauges(c.v, emit)
	}
}

// GaugeWords returns a sentence that says what a number shown by the policies is, given its name.
func (c *Core) GaugeWords(name string) string {
	for _, g := range c.gauged {
		if words := g.GaugeWords(name); words != "" {
			return words
		}
	}
	return ""
}

// Deadline returns the time by which the core wants Step(…, Wake). The core never waits; it says when to wake it.
func (c *Core) Deadline() (heddle.Time, bool) {
	var at heddle.Time
	ok := false
	for _, k := range c.controls {
		if !ok || k.next < at {
			at, ok = k.next, true
		}
	}
	if c.retry > 0 && (!ok || c.retry < at) {
		at, ok = c.retry, true
	}
	return at, ok
}

// Headroom returns what an application could still get: the smallest that its shares say, in each dimension.
func (c *Core) Headroom(id heddle.AppID) heddle.Resource {
	a := c.v.App(id)
	if a == nil {
		return heddle.Resource{}
	}
	h := c.v.Total().Minus(c.v.Used())
	for _, s := range c.set.Share {
		h = h.Min(s.Headroom(c.v, a))
	}
	return h.Max(heddle.Resource{})
}

// Wants reports whether a heartbeat of the node now could change anything. It may return true in vain, but never false
// wrongly.
func (c *Core) Wants(id heddle.NodeID) bool {
	n := c.v.Node(id)
	if n == nil || !n.Up() {
		return false
	}
	return n.Booked() != nil || !c.idle() && c.worth(n)
}

// Quiet reports whether no heartbeat of any node could change anything until another event arrives, or until the time
// that [Core.NextTick] returns.
func (c *Core) Quiet() bool { return c.v.Root().Booked().IsZero() && c.idle() }

// idle reports whether nothing could be given to any node without a reservation.
func (c *Core) idle() bool { return c.quiet == c.version || !c.waited() }

// waited reports whether any application waits in a lane.
func (c *Core) waited() bool {
	for i := range c.lanes {
		if c.lanes[i].active > 0 {
			return true
		}
	}
	return false
}

// AnyNode reports whether even nodes without room for the smallest container may matter: a policy may
// reserve them, or start a container there with less than it asked for.
func (c *Core) AnyNode() bool {
	for i := range c.lanes {
		l := &c.lanes[i]
		if l.active == 0 {
			continue
		}
		if len(l.trims) > 0 && !c.v.Fits(c.set.Minimum, c.least(l)) {
			return true
		}
		if c.set.Book != nil && !c.set.Minimum.Fits(c.set.Book.Floor(c.v, l.largest)) {
			return true
		}
	}
	return false
}

// NextTick returns the next time at which an event, even a heartbeat, makes a policy's periodic arithmetic run; ok is
// false if no policy has any or nothing is asked for.
func (c *Core) NextTick() (at heddle.Time, ok bool) {
	if !c.v.Root().Waiting() {
		return 0, false
	}
	for _, t := range c.tickers {
		if !ok || t.next < at {
			at, ok = t.next, true
		}
	}
	return at, ok
}
