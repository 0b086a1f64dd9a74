package ikayak

import "heddle"

// block is how many nodes a column looks at in one step where none of them can be meant.
const block = 64

// A column holds a resource of every node. It keeps the largest of each block of nodes, by dimension, so that
// whoever looks for a node among ten thousand passes over most of them at once.
type column struct {
	of    []heddle.Resource
	top   []heddle.Resource // of each block: none of its nodes has more
	stale []bool            // of each block: top is to be worked out again
}

// add makes room for another node, which has nothing.
func (c *column) add() {
	c.of = append(c.of, heddle.Resource{})
	if len(c.of) > block*len(c.top) {
		c.top = append(c.top, heddle.Resource{})
		c.stale = append(c.stale, false)
	}
	c.stale[len(c.top)-1] = true
}

// set changes what a node has.
func (c *column) set(n heddle.NodeID, r heddle.Resource) {
	c.of[n] = r
	c.stale[int(n)/block] = true
}

// upTo is the least of a block that covers what each of its nodes has.
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

// nodes are a block's.
func (c *column) nodes(i int) []heddle.Resource {
	return c.of[i*block : min((i+1)*block, len(c.of))]
}
