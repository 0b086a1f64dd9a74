package sched

import (
	"heddle"
	"heddle/policy"
)

// An Explanation says what an application waits for.
type Explanation struct {
	App     heddle.AppID
	Pending []PendingAsk
	History [heddle.NumWhys]uint32 // how often each reason refused it so far
}

// PendingAsk is one ask that waits, and what stands against it.
type PendingAsk struct {
	Priority int32
	Kind     heddle.Kind
	Count    int
	Since    heddle.Time
	Size     heddle.Resource

	// Why is the one reason that holds for every node, or Fine where it differs by node.
	Why heddle.Why
	// Need is the size of one container, Have the most any node or limit leaves for it, Short what is
	// missing, per dimension.
	Need, Have, Short heddle.Resource
	// Holders are the applications that hold most of what the reason is about, most first: of the
	// user, of the queue, or of the cluster.
	Holders []Holder
	// Nodes counts the nodes by what stands against each, in the order of the reasons; Fine = nothing,
	// the node would take it at its next heartbeat.
	Nodes []NodeGroup
}

// A Holder is an application and what it holds.
type Holder struct {
	App  heddle.AppID
	Used heddle.Resource
}

// A NodeGroup is how many nodes gave one answer, and the most free room among them.
type NodeGroup struct {
	Why   heddle.Why
	Nodes int
	Most  heddle.Resource
}

// maxHolders bounds the holders of one ask.
const maxHolders = 5

// Refusals returns how often each reason refused an application so far.
func (c *Core) Refusals(id heddle.AppID) [heddle.NumWhys]uint32 {
	if id < 0 || int(id) >= len(c.notes) {
		return [heddle.NumWhys]uint32{}
	}
	return c.notes[id].refused
}

// Explain says, for an application that is alive, what each of its asks waits for. It looks at every
// node and changes nothing; what a Place would say depends on how long it waited and is told from the
// last refusal.
func (c *Core) Explain(id heddle.AppID) (Explanation, bool) {
	a := c.v.App(id)
	if a == nil {
		return Explanation{}, false
	}
	e := Explanation{App: id, History: c.notes[id].refused}
	c.explaining(true)
	defer c.explaining(false)
	for _, k := range a.Asks() {
		if k.Count() > 0 {
			e.Pending = append(e.Pending, c.explain(a, k))
		}
	}
	return e, true
}

// explaining tells the shares that nothing is to come of the next walks, or that it is over.
func (c *Core) explaining(on bool) {
	for _, s := range c.set.Share {
		if x, ok := s.(policy.Explained); ok {
			x.Explaining(on)
		}
	}
}

func (c *Core) explain(a *policy.App, k *policy.Ask) PendingAsk {
	p := PendingAsk{Priority: k.Priority(), Kind: k.Kind(), Count: k.Count(), Since: k.Since(), Size: k.Size(), Need: k.Size()}
	p.Why = c.everywhere(a, k)
	if p.Why != heddle.Fine {
		p.Have = c.Headroom(a.ID())
	}
	p.Nodes = c.groups(a, k)
	if p.Why == heddle.Fine {
		for _, g := range p.Nodes {
			p.Have = p.Have.Max(g.Most)
		}
		if len(p.Nodes) == 1 {
			p.Why = p.Nodes[0].Why
		}
	}
	p.Short = p.Need.Minus(p.Have).Max(heddle.Resource{})
	p.Holders = c.holders(a, p.Why)
	return p
}

// everywhere is the reason that does not depend on the node, Fine where there is none.
func (c *Core) everywhere(a *policy.App, k *policy.Ask) heddle.Why {
	if c.v.Live() == 0 { // limits are shares of nothing then, and say nothing
		return heddle.NodeGone
	}
	if d := c.gate(a, k); !d.OK() {
		if s := c.set.Share; k.Kind() == heddle.AM && len(s) > 0 {
			return heddle.AMLimit
		}
		return d.Why
	}
	return c.shares(a, k.Kind(), k.Size()).Why
}

// shares is what the shares say to an application that wants so much more. A yes that sets Unbook holds only if a
// reservation is given up first.
func (c *Core) shares(a *policy.App, kind heddle.Kind, need heddle.Resource) policy.Verdict {
	out := policy.Yes
	for _, s := range c.set.Share {
		for _, q := range path(a.Queue()) {
			if d := s.Enter(c.v, q); !d.OK() {
				return d
			}
		}
		d := s.Allow(c.v, a, kind, need)
		if !d.OK() {
			return d
		}
		out.Unbook = out.Unbook || d.Unbook
	}
	return out
}

// path is the queues from the root down to q.
func path(q *policy.Queue) []*policy.Queue {
	if q == nil {
		return nil
	}
	return append(path(q.Parent()), q)
}

// groups asks every node.
func (c *Core) groups(a *policy.App, k *policy.Ask) []NodeGroup {
	var by [heddle.NumWhys]NodeGroup
	for i := range c.v.NodeIDs() {
		n := c.v.Node(heddle.NodeID(i))
		if n == nil {
			continue
		}
		g := &by[c.answer(a, k, n)]
		g.Nodes++
		g.Most = g.Most.Max(n.Free())
	}
	var out []NodeGroup
	for w := range by {
		if by[w].Nodes > 0 {
			by[w].Why = heddle.Why(w)
			out = append(out, by[w])
		}
	}
	return out
}

// answer is what stands against a container of the ask on one node.
func (c *Core) answer(a *policy.App, k *policy.Ask, n *policy.Node) heddle.Why {
	_, allowed := k.Nearest(n)
	switch {
	case !n.Up():
		return heddle.NodeGone
	case a.Excludes(n.ID()):
		return heddle.NodeExcluded
	case !allowed:
		return heddle.StrictElsewhere
	case !c.v.Fits(k.Size(), n.Total()):
		return heddle.NodeTooSmall
	case n.Booked() != nil && n.Booked().App() != a:
		return heddle.NodeReserved
	case !c.v.Fits(k.Size(), n.Room(a)):
		return heddle.NoRoom
	}
	if last := c.notes[a.ID()].last; last.ask == int32(k.ID()) && (last.why == heddle.WaitLocal || last.why == heddle.WaitRack) {
		if at, _ := k.Nearest(n); at != heddle.NodeLocal {
			return last.why
		}
	}
	return heddle.Fine
}

// holders lists who holds most of what a reason is about.
func (c *Core) holders(a *policy.App, why heddle.Why) []Holder {
	var out []Holder
	for i := range c.v.AppIDs() {
		b := c.v.App(heddle.AppID(i))
		if b == nil || b.Used().IsZero() {
			continue
		}
		switch why {
		case heddle.UserLimit, heddle.UserAMLimit:
			if b.User() != a.User() {
				continue
			}
		case heddle.QueueLimit, heddle.AMLimit, heddle.ShareLimit, heddle.AppLimit:
			if b.Queue() != a.Queue() {
				continue
			}
		default: // it is about the whole cluster
		}
		h := Holder{b.ID(), b.Used()}
		at := len(out)
		for at > 0 && out[at-1].Used.Share(c.v.Total()) < h.Used.Share(c.v.Total()) {
			at--
		}
		out = append(out, Holder{})
		copy(out[at+1:], out[at:])
		out[at] = h
		if len(out) > maxHolders {
			out = out[:maxHolders]
		}
	}
	return out
}
