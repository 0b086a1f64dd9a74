package sched

import (
	"cmp"
	"slices"

	"heddle"
	"heddle/policy"
)

// The limits of one Offer. What it leaves is served as nodes report.
const (
	promptNodes  = 64   // nodes offered
	promptGrants = 512  // containers granted
	promptTries  = 1024 // waiting applications looked at
	promptHosts  = 1024 // nodes looked at among those that one ask names
)

// prompt is the working memory of an Offer.
type prompt struct {
	nodes []heddle.NodeID // to be offered, in order
	found []heddle.NodeID
	round uint64   // number of the collection
	seen  []uint64 // by node: the round it was taken in
}

// offerNow offers nodes for what an application asks for. It goes round them, granting one container per node and
// round, so that no node is filled while others are empty. Each round counts as one report of each node, but an
// application that waits for a place has not missed an opportunity by it. Asks whose policies name their nodes have
// been served on arrival.
func (c *Core) offerNow(id heddle.AppID) {
	a := c.v.App(id)
	if a == nil {
		return
	}
	defer c.as(c.v)
	c.v = c.v.AsPrompted()
	tries, grants := 0, 0
	for more := true; more; {
		more = false
		c.collect(a)
		for _, id := range c.prompt.nodes {
			n := c.v.Node(id)
			free := n.Free()
			if n.Booked() != nil || !n.Lends() && !c.roomy(&free) {
				continue
			}
			o := offer{n: n, one: true}
			c.serveNode(&o)
			tries += o.tries
			grants += o.grants
			more = more || o.grants > 0
			if o.grants == 0 && !c.local || tries > promptTries || grants >= promptGrants {
				more = false
				break
			}
			if _, wants := c.wanted(a); !wants {
				more = false
				break
			}
		}
	}
}

// wanted returns the least, in each dimension, that the application asks for among asks served by offers of nodes; ok
// is false if it has no such asks waiting.
func (c *Core) wanted(a *policy.App) (least heddle.Resource, ok bool) {
	least = heddle.Unbounded
	for _, k := range a.Asks() {
		if k.Count() > 0 && c.picks[k.Kind()] == nil {
			least, ok = least.Min(k.Size()), true
		}
	}
	return least, ok
}

// collect lists the nodes to offer: first those the application names, then any, the roomiest first.
func (c *Core) collect(a *policy.App) {
	p := &c.prompt
	p.nodes = p.nodes[:0]
	p.round++
	for len(p.seen) < c.v.NodeIDs() {
		p.seen = append(p.seen, 0)
	}
	least, ok := c.wanted(a)
	if !ok {
		return
	}
	most := promptNodes
	for _, k := range a.Asks() {
		if k.Count() > 0 && k.Hosts() > promptHosts {
			most = promptHosts
		}
	}
	p.found = c.v.Roomiest(a, least, most, p.found[:0])
	c.named(a)
	for _, id := range p.found {
		if len(p.nodes) >= promptNodes {
			return
		}
		if p.seen[id] != p.round {
			p.seen[id] = p.round
			p.nodes = append(p.nodes, id)
		}
	}
}

// named lists the nodes with room for an ask that names them: the roomiest first, ties by id. If an ask names more
// nodes than may be looked at, only those among the roomiest count.
func (c *Core) named(a *policy.App) {
	p := &c.prompt
	for _, k := range a.Asks() {
		if k.Count() == 0 || c.picks[k.Kind()] != nil || k.Hosts() == 0 {
			continue
		}
		take := func(id heddle.NodeID) {
			n := c.v.Node(id)
			if n == nil || !n.Up() || n.Booked() != nil || p.seen[id] == p.round || a.Excludes(id) || !c.v.Fits(k.Size(), n.Room(a)) {
				return
			}
			p.seen[id] = p.round
			p.nodes = append(p.nodes, id)
		}
		if k.Hosts() > promptHosts {
			for _, id := range p.found {
				if k.AtHost(id) > 0 {
					take(id)
				}
			}
			continue
		}
		k.EachHost(take)
	}
	slices.SortFunc(p.nodes, func(x, y heddle.NodeID) int {
		return cmp.Or(cmp.Compare(c.v.Level(y), c.v.Level(x)), cmp.Compare(x, y))
	})
	p.nodes = p.nodes[:min(len(p.nodes), promptNodes)]
}
