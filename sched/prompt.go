package sched

import (
	"cmp"
	"slices"

	"heddle"
	"heddle/policy"
)

// What one Offer costs at the most. What it leaves is served as nodes report in.
const (
	promptNodes  = 64   // nodes offered
	promptGrants = 512  // containers granted
	promptTries  = 1024 // applications looked at, of those that wait
	promptHosts  = 1024 // nodes looked at, of those one ask names
)

// prompt is the room that an Offer works in.
type prompt struct {
	nodes []heddle.NodeID // to be offered, in order
	found []heddle.NodeID
	round uint64   // number of the collection
	seen  []uint64 // by node: the round it was taken in
}

// offerNow offers nodes for what an application asks for. It goes round them, one container a node and round,
// so that no node is filled while others are empty; each round counts as one report of each node, but nobody
// who waits for a place has missed anything by it. Asks whose policy names their node have been served as they came.
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

// wanted is what an application asks for at the least, per dimension, of what nodes are offered for; ok is
// false where it waits for nothing of that sort.
func (c *Core) wanted(a *policy.App) (least heddle.Resource, ok bool) {
	least = heddle.Unbounded
	for _, k := range a.Asks() {
		if k.Count() > 0 && c.picks[k.Kind()] == nil {
			least, ok = least.Min(k.Size()), true
		}
	}
	return least, ok
}

// collect lists the nodes to be offered: those the application names, then any, the roomiest first.
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

// named lists the nodes with room for an ask that names them: the roomiest first, ties by id. Where an ask names
// more than could be looked at, those of them count that are among the roomiest.
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
