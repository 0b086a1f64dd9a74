package coupling

import (
	"cmp"
	"slices"

	"heddle"
	"heddle/cluster"
	"heddle/policy"
)

// Cost returns C(v), the cost of bringing a job's intermediate data to a node: the sum of w(u)·h(u, v), in bytes times
// hops, over the nodes u that hold some of it.
//
// Reference: Eq. 1.
func Cost(w []cluster.Output, h func(u heddle.NodeID) int) float64 {
	c := 0.0
	for _, o := range w {
		c += float64(o.Bytes) * float64(h(o.Node))
	}
	return c
}

// Group returns the group, 1 to 3, of the i-th cheapest node, with i from 0: the centrality by itself, the next two,
// the rest.
//
// Reference: Section II-A.2.
func Group(i int) int {
	switch i {
	case 0:
		return 1
	case 1, 2:
		return 2
	}
	return 3
}

// A central finds the nodes nearest to a job's intermediate data.
type central struct {
	best  []near
	racks []held
	order []heddle.RackID // the racks that hold data
	at    []float64       // bytes of the job on each node; all 0 between calls
}

// held is what a rack holds of a job.
type held struct {
	sum, most float64 // bytes, and bytes on its fullest node
	done      bool
}

// A near is a node with its cost.
type near struct {
	node heddle.NodeID
	cost float64
	tie  int64
}

func (n near) before(o near) bool {
	return n.cost < o.cost || n.cost == o.cost && n.tie < o.tie
}

// The hops of Eq. 1 in a tree of racks: across racks, and what a byte saves if it is in the rack, or on the node
// itself.
var (
	across   = float64(heddle.OffSwitch.Hops())
	saveRack = across - float64(heddle.RackLocal.Hops())
	saveNode = float64(heddle.RackLocal.Hops() - heddle.NodeLocal.Hops())
)

// nearest returns the d nodes with the lowest [Cost] among those that free accepts for a reduce, the cheapest first,
// with ties broken at random. In a tree of racks the sum depends only on the bytes in the node's rack and on the node.
// Racks are therefore tried by the lowest cost their best node can have, until the next rack cannot have one of the d.
func (c *central) nearest(v policy.View, w []cluster.Output, d int, salt uint64, free func(*policy.Node) bool) []near {
	total := c.weigh(v, w)
	c.best = c.best[:0]
	least := func(r heddle.RackID) float64 {
		return across*total - saveRack*c.racks[r].sum - saveNode*c.racks[r].most
	}
	slices.SortFunc(c.order, func(a, b heddle.RackID) int { return cmp.Or(cmp.Compare(least(a), least(b)), cmp.Compare(a, b)) })
	for _, r := range c.order {
		if len(c.best) == d && least(r) > c.best[d-1].cost {
			break
		}
		c.rack(v, r, total, d, salt, free)
	}
	if n := v.Racks(); n > 0 { // racks without data are all alike
		from := int(uint64(tie(salt, 0, 1)) % uint64(n))
		for i := 0; i < n && len(c.best) < d; i++ {
			if r := heddle.RackID((from + i) % n); !c.racks[r].done {
				c.rack(v, r, total, d, salt, free)
			}
		}
	}
	for i := range w {
		if int(w[i].Node) < len(c.at) {
			c.at[w[i].Node] = 0
		}
	}
	return c.best
}

// weigh sums the bytes by node and by rack.
func (c *central) weigh(v policy.View, w []cluster.Output) (total float64) {
	for len(c.at) < v.NodeIDs() {
		c.at = append(c.at, 0)
	}
	c.racks = slices.Grow(c.racks[:0], v.Racks())[:v.Racks()]
	clear(c.racks)
	c.order = c.order[:0]
	for i := range w {
		n, bytes := v.Node(w[i].Node), float64(w[i].Bytes)
		if n == nil || !n.Up() {
			continue // the data on it is lost
		}
		r := &c.racks[n.Rack()]
		if r.sum == 0 && bytes > 0 {
			c.order = append(c.order, n.Rack())
		}
		c.at[n.ID()] += bytes
		r.sum += bytes
		r.most = max(r.most, c.at[n.ID()])
		total += bytes
	}
	return total
}

// rack tries a rack's nodes.
func (c *central) rack(v policy.View, r heddle.RackID, total float64, d int, salt uint64, free func(*policy.Node) bool) {
	c.racks[r].done = true
	for _, id := range v.Rack(r) {
		if n := v.Node(id); n.Up() && free(n) {
			cost := across*total - saveRack*c.racks[r].sum - saveNode*c.at[id]
			c.keep(near{id, cost, tie(salt, uint64(id), 0)}, d)
		}
	}
}

// keep inserts a node into the d best in order.
func (c *central) keep(n near, d int) {
	i := len(c.best)
	for i > 0 && n.before(c.best[i-1]) {
		i--
	}
	switch {
	case i >= d:
		return
	case len(c.best) < d:
		c.best = append(c.best, near{})
	}
	copy(c.best[i+1:], c.best[i:])
	c.best[i] = n
}
