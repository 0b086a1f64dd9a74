package sched

import (
	"cmp"
	"math"
	"slices"

	"heddle"
	"heddle/policy"
)

// An Explanation says what an application waits for.
type Explanation struct {
	App     heddle.AppID
	Pending []PendingAsk
	History [heddle.NumWhys]uint32 // how often each reason has refused it so far
	// Undone is how often policies wanted an action on its containers that their nodes cannot carry out, indexed by the
	// position in [heddle.Caps] of the missing ability.
	Undone [heddle.NumCaps]uint32
}

// PendingAsk is one ask that waits, and what prevents it from being served.
type PendingAsk struct {
	Priority int32
	Kind     heddle.Kind
	Count    int
	Since    heddle.Time
	Size     heddle.Resource

	// Why is the one reason that holds for every node, or Fine if the reason differs by node.
	Why heddle.Why
	// Policy is the policy that gave the reason, by slot and name as in the profile: "gate.am: capacity". It is empty
	// if no policy gave it, or the set has no names.
	Policy string
	// Limit is the limit that Policy applied to the ask; nil if it told none.
	Limit *policy.Limit
	// Place is the application's place, from 1, among the Of applications of its queue that wait as this ask does.
	// Order says in which order: that of the lane, or of the closed gate. Place and Of are 0 if it has none.
	Place, Of int
	Order     string
	// Need is the size of one container. Have is what the limit leaves for it, or the node that lacks least. Short is
	// what is missing, in each dimension. Have and Short are zero if the reason is not about resources.
	Need, Have, Short heddle.Resource
	// Holders are the applications that hold most of what the reason is about, largest first: of what the limit counts,
	// of the user's, the queue's or the cluster's resources.
	Holders []Holder
	// Nodes counts the nodes by what prevents a grant on each, in the order of the reasons; Fine means nothing does,
	// and the node would take the container at its next heartbeat.
	Nodes []NodeGroup
}

// A Holder is an application and what it holds.
type Holder struct {
	App  heddle.AppID
	Used heddle.Resource
}

// A NodeGroup is the number of nodes that gave one answer, and the most free room among them.
type NodeGroup struct {
	Why    heddle.Why
	Policy string // as in PendingAsk
	Nodes  int
	Most   heddle.Resource
	// Until is the latest time by which what is let in beside the reservations of nodes must be gone; 0 if nothing is
	// let in.
	Until heddle.Time
}

// maxHolders limits the holders listed for one ask.
const maxHolders = 5

// Refusals returns how often each reason has refused an application so far.
func (c *Core) Refusals(id heddle.AppID) [heddle.NumWhys]uint32 {
	if id < 0 || int(id) >= len(c.notes) {
		return [heddle.NumWhys]uint32{}
	}
	return c.notes[id].refused
}

// Explain returns, for a live application, what each of its asks waits for. It looks at every node and changes nothing.
func (c *Core) Explain(id heddle.AppID) (Explanation, bool) {
	a := c.v.App(id)
	if a == nil {
		return Explanation{}, false
	}
	e := Explanation{App: id, History: c.notes[id].refused, Undone: c.notes[id].undone}
	defer c.as(c.v)
	c.v = c.v.AsExplaining().AsPrompted()
	for _, k := range a.Asks() {
		if k.Count() > 0 {
			e.Pending = append(e.Pending, c.explain(a, k))
		}
	}
	return e, true
}

// as makes the core ask policies in the mode of a view from now on.
func (c *Core) as(v policy.View) { c.v = v }

func (c *Core) explain(a *policy.App, k *policy.Ask) PendingAsk {
	p := PendingAsk{Priority: k.Priority(), Kind: k.Kind(), Count: k.Count(), Since: k.Since(), Size: k.Size(), Need: k.Size()}
	c.everywhere(a, k, &p)
	p.Nodes = c.groups(a, k)
	if p.Limit != nil && c.full(&p) {
		p.Why, p.Policy, p.Limit = heddle.Fine, "", nil
	}
	var resources bool
	if p.Have, resources = c.have(a, k, &p); resources && (p.Why != heddle.Fine || !p.taken()) {
		p.Short = c.short(p.Need, p.Have)
	}
	if p.Why == heddle.Fine && len(p.Nodes) == 1 {
		p.Why, p.Policy = p.Nodes[0].Why, p.Nodes[0].Policy
	}
	p.Holders = c.holders(a, &p)
	return p
}

// have returns how much there is of what an ask waits for; ok is false if it does not wait for resources.
func (c *Core) have(a *policy.App, k *policy.Ask, p *PendingAsk) (have heddle.Resource, ok bool) {
	switch l := p.Limit; {
	case p.Why == heddle.Fine:
		return c.closest(a, k), true
	case p.Why == heddle.NodeGone:
		return heddle.Resource{}, true
	case p.Why == heddle.GateClosed || l != nil && l.Counted:
		return heddle.Resource{}, false
	case l != nil:
		return l.Most.Minus(l.Used).Max(heddle.Resource{}), true
	}
	return c.Headroom(a.ID()), true
}

// full reports whether the cluster is full: the ask is refused by the limit of a queue or share that may have the whole
// cluster, and no node has room. An application that waits for its place in a line waits for that instead.
func (c *Core) full(p *PendingAsk) bool {
	return (p.Why == heddle.QueueLimit || p.Why == heddle.ShareLimit) && p.Limit.Line == 0 && c.v.Fits(c.v.Total(), p.Limit.Most) && !p.taken()
}

// taken reports whether some node would take a container.
func (p *PendingAsk) taken() bool {
	return slices.ContainsFunc(p.Nodes, func(g NodeGroup) bool { return g.Why == heddle.Fine })
}

// short returns what have lacks of need, in the dimensions that count.
func (c *Core) short(need, have heddle.Resource) heddle.Resource {
	s := need.Minus(have).Max(heddle.Resource{})
	for d := range s {
		if !c.v.Counts(heddle.Dim(d)) {
			s[d] = 0
		}
	}
	return s
}

// closest returns the room on the live node that lacks least for the ask, relative to its size; among equals, on the
// roomiest.
func (c *Core) closest(a *policy.App, k *policy.Ask) (room heddle.Resource) {
	least := math.Inf(1)
	for i := range c.v.NodeIDs() {
		n := c.v.Node(heddle.NodeID(i))
		if n == nil || !n.Up() {
			continue
		}
		r := n.Room(a)
		if lacks := c.short(k.Size(), r).Share(k.Size()); lacks < least ||
			lacks == least && r.Share(c.v.Total()) > room.Share(c.v.Total()) {
			room, least = r, lacks
		}
	}
	return room
}

// place returns the application's position among those of its queue that wait in the ask's lane, and their number.
// Applications behind closed gates are counted: they wait too.
func (c *Core) place(a *policy.App, k *policy.Ask) (place, of int) {
	lane := int(c.laneOf[k.Kind()])
	l := &c.lanes[lane]
	key := c.keyOf(a, lane)
	for _, b := range a.Queue().Apps() {
		if b.Over() || !l.waits(b) {
			continue
		}
		of++
		if e := (entry{c.keyOf(b, lane), int32(b.ID())}); b == a || e.before(&key, int32(a.ID())) {
			place++
		}
	}
	return place, of
}

// keyOf returns an application's key in a lane; if it sleeps, its current key is computed.
func (c *Core) keyOf(a *policy.App, lane int) policy.Key {
	if in := &c.apps[a.ID()].in[lane]; in.on {
		return in.key
	}
	return c.lanes[lane].Order.App(c.v, a)
}

// called names the i-th policy of a slot; it returns "" if the policy has no name.
func called(slot string, names []string, i int) string {
	if i >= len(names) || names[i] == "" {
		return ""
	}
	return slot + ": " + names[i]
}

// everywhere finds the reason that does not depend on the node, or Fine if there is none, and the policy that gives it.
// It also finds the ask's place in line, which behind a closed gate is that of the gate's line.
func (c *Core) everywhere(a *policy.App, k *policy.Ask, p *PendingAsk) {
	if c.v.Live() == 0 { // limits are shares of nothing then, and mean nothing
		p.Why = heddle.NodeGone
		return
	}
	for i, g := range c.set.Gate[k.Kind()] {
		if d := g.Open(c.v, a, k.Kind()); !d.OK() {
			p.Why, p.Policy = d.Why, called("gate."+k.Kind().String(), c.set.Names.Gate[k.Kind()], i)
			p.Limit = c.limit(g, k, p.Why)
			if p.Limit != nil && p.Limit.Place > 0 {
				p.Place, p.Of, p.Order = p.Limit.Place, p.Limit.Line, p.Policy
			}
			return
		}
	}
	p.Place, p.Of = c.place(a, k)
	p.Order = called("order", c.set.Names.Order, int(c.laneOf[k.Kind()]))
	d, i := c.shares(a, k.Kind(), k.Size())
	if d.OK() {
		return
	}
	p.Why, p.Policy = d.Why, called("share", c.set.Names.Share, i)
	p.Limit = c.limit(c.set.Share[i], k, p.Why)
}

// limit returns the limit behind a policy's refusal, or nil if it tells none.
func (c *Core) limit(h any, k *policy.Ask, why heddle.Why) *policy.Limit {
	if x, ok := h.(policy.Limiter); ok {
		if l, ok := x.Limit(c.v, k, why); ok {
			return &l
		}
	}
	return nil
}

// shares returns what the shares say to an application that wants need more, and which of them refuses. A yes with
// Unbook holds only if a reservation is given up first.
func (c *Core) shares(a *policy.App, kind heddle.Kind, need heddle.Resource) (out policy.Verdict, by int) {
	out = policy.Yes
	for i, s := range c.set.Share {
		for _, q := range path(a.Queue()) {
			if d := s.Enter(c.v, q); !d.OK() {
				return d, i
			}
		}
		d := s.Allow(c.v, a, kind, need)
		if !d.OK() {
			return d, i
		}
		out.Unbook = out.Unbook || d.Unbook
	}
	return out, 0
}

// path returns the queues from the root down to q.
func path(q *policy.Queue) []*policy.Queue {
	if q == nil {
		return nil
	}
	return append(path(q.Parent()), q)
}

// groups asks about every node.
func (c *Core) groups(a *policy.App, k *policy.Ask) (out []NodeGroup) {
	for i := range c.v.NodeIDs() {
		n := c.v.Node(heddle.NodeID(i))
		if n == nil {
			continue
		}
		why, by := c.answer(a, k, n)
		at := slices.IndexFunc(out, func(g NodeGroup) bool { return g.Why == why && g.Policy == by })
		if at < 0 {
			at = len(out)
			out = append(out, NodeGroup{Why: why, Policy: by})
		}
		out[at].Nodes++
		out[at].Most = out[at].Most.Max(n.Free())
		if why == heddle.NodeReserved {
			out[at].Until = max(out[at].Until, c.until(n.Booked()))
		}
	}
	slices.SortStableFunc(out, func(a, b NodeGroup) int { return cmp.Compare(a.Why, b.Why) })
	return out
}

// answer returns what prevents a container of the ask on one node, and which policy says so.
func (c *Core) answer(a *policy.App, k *policy.Ask, n *policy.Node) (why heddle.Why, by string) {
	at, allowed := k.Nearest(n)
	l := &c.lanes[c.laneOf[k.Kind()]]
	switch {
	case !n.Up():
		return heddle.NodeGone, ""
	case n.Silent():
		return heddle.Silent, ""
	case a.Excludes(n.ID()):
		return heddle.NodeExcluded, ""
	case !allowed:
		return heddle.StrictElsewhere, ""
	case !c.v.Fits(c.trimmed(k, n, n.Total()), n.Total()):
		return heddle.NodeTooSmall, ""
	case n.Booked() != nil && !n.BookedFor(k):
		switch {
		case c.filler == nil:
			return heddle.NodeReserved, ""
		case c.fits(l, k, n):
			return c.verdict(k, n, at)
		}
		return heddle.NodeReserved, called("book", []string{c.set.Names.Book}, 0)
	case !c.v.Fits(c.trimmed(k, n, n.Room(a)), n.Room(a)):
		return heddle.NoRoom, ""
	case l.filled(n):
		return heddle.NotPicked, "lanes: " + l.slotsBy()
	}
	return c.verdict(k, n, at)
}

// until returns the time by which what is let in beside a reservation must be gone; 0 if nothing is let in.
func (c *Core) until(reservation *policy.Container) heddle.Time {
	if c.filler == nil {
		return 0
	}
	by, ok := c.filler.Until(c.v, reservation)
	if !ok || by <= c.v.Now() {
		return 0
	}
	return by
}

// fits reports whether a container of the ask would be let in beside a node's reservation.
func (c *Core) fits(l *lane, k *policy.Ask, n *policy.Node) bool {
	by := c.until(n.Booked())
	return by > 0 && c.v.Fits(c.trimmed(k, n, n.Free()), n.Free()) && !l.filled(n) && c.fills(k, n.Booked(), by)
}

// verdict returns what the places say of a node that has room. If a place names its node, it did not name this one.
func (c *Core) verdict(k *policy.Ask, n *policy.Node, at heddle.Locality) (why heddle.Why, by string) {
	kind, names := k.Kind(), &c.set.Names
	slot := "place." + kind.String()
	if c.picks[kind] != nil {
		return heddle.NotPicked, called(slot, names.Place[kind:kind+1], 0)
	}
	for i, p := range c.set.Veto[kind] {
		if d := p.Judge(c.v, k, n, at); !d.OK() {
			return d.Why, called(slot, names.Veto[kind], i)
		}
	}
	if p := c.set.Place[kind]; p != nil {
		if d := p.Judge(c.v, k, n, at); !d.OK() {
			return d.Why, called(slot, names.Place[kind:kind+1], 0)
		}
	}
	return heddle.Fine, ""
}

// holders lists the applications that hold most of what a reason is about.
func (c *Core) holders(a *policy.App, p *PendingAsk) []Holder {
	var out []Holder
	for i := range c.v.AppIDs() {
		b := c.v.App(heddle.AppID(i))
		if b == nil {
			continue
		}
		held, counts := c.holds(a, b, p)
		if !counts || held.IsZero() {
			continue
		}
		at := len(out)
		for at > 0 && out[at-1].Used.Share(c.v.Total()) < held.Share(c.v.Total()) {
			at--
		}
		out = slices.Insert(out, at, Holder{b.ID(), held})
		out = out[:min(len(out), maxHolders)]
	}
	return out
}

// holds returns how much b holds of what a's ask waits for, and whether b counts.
func (c *Core) holds(a, b *policy.App, p *PendingAsk) (held heddle.Resource, counts bool) {
	if p.Limit != nil && p.Limit.Holds != nil {
		return p.Limit.Holds(b)
	}
	switch p.Why {
	case heddle.UserLimit, heddle.UserAMLimit:
		return b.Used(), b.User() == a.User()
	case heddle.QueueLimit, heddle.AMLimit, heddle.ShareLimit, heddle.AppLimit:
		return b.Used(), b.Queue() == a.Queue()
	default: // it is about the whole cluster
		return b.Used(), true
	}
}
