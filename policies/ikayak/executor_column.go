package ikayak

import "heddle"

// block is the number of nodes that a search of a column skips in one step if none of them can match.
const block = 64

// A column holds a resource of every node. It keeps the maximum of each block of nodes, by dimension, so that a search
// for a node among ten thousand skips most of them.
type column struct {
	of    []heddle.Resource
	top   []heddle.Resource // of each block: none of its nodes has more
	stale []bool            // of each block: top must be recomputed
}

// add adds a node that has nothing.
func (c *column) add() {
	c.of = append(c.of, heddle.Resource{})
	if len(c.of) > block*len(c.top) {
		c.top = append(c.top, heddle.Resource{})
		c.stale = append(c.stale, false)
	}
	c.stale[len(c.top)-1] = true
}

// set sets what a node has.
func (c *column) set(n heddle.NodeID, r heddle.Resource) {
	c.of[n] = r
	c.stale[int(n)/block] = true
}

// upTo returns the smallest resource that covers what each node of a block has.
func (c *column) upTo(i int) *heddle.Resource {
	if c.stale[i] {
		top := lost
		for _, r := range c.nodes(i) {
			top = top.Max(r)
		}
		c.top[i], c.stale[i] = top, false
	}
	return &c.top[i]
}

// nodes returns the resources of a block's nodes.
func (c *column) nodes(i int) []heddle.Resource {
	return c.of[i*block : min((i+1)*block, len(c.of))]
}
