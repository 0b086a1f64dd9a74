package cluster

import (
	"math/bits"

	"heddle"
)

const (
	levels         = 256
	triesPerBucket = 16 // nodes looked at in one bucket before the next one is tried
)

// A roomIndex keeps live nodes in buckets by how much they have free, so that a policy that names its
// node need not look at all of them. Within a bucket the order is that of arrival and removal, which
// is the same for the same events.
type roomIndex struct {
	largest heddle.Resource
	mask    [levels / 64]uint64
	buckets [levels][]*Node
}

// roomIndex builds the index at its first use; clusters whose policies never ask do not pay for it.
func (c *Cluster) roomIndex() *roomIndex {
	if c.index == nil || c.index.largest != c.largest {
		c.index = &roomIndex{largest: c.largest}
		for _, n := range c.nodes {
			if n != nil {
				n.bucket = -1
				c.index.update(c, n)
			}
		}
	}
	return c.index
}

// level is the bucket of an amount: the least share of the largest node over the dimensions that count.
func (x *roomIndex) level(c *Cluster, r heddle.Resource) int32 {
	l := int64(levels - 1)
	for d := range r {
		if c.counted[d] && x.largest[d] > 0 {
			l = min(l, r[d]*(levels-1)/x.largest[d])
		}
	}
	return int32(max(l, 0))
}

func (x *roomIndex) update(c *Cluster, n *Node) {
	to := int32(-1)
	if n.up {
		to = x.level(c, n.Free())
	}
	if to == n.bucket && (to < 0 || int(n.slot) < len(x.buckets[to]) && x.buckets[to][n.slot] == n) {
		return
	}
	if b := n.bucket; b >= 0 {
		last := len(x.buckets[b]) - 1
		m := x.buckets[b][last]
		x.buckets[b][n.slot], m.slot = m, n.slot
		x.buckets[b] = x.buckets[b][:last]
		if last == 0 {
			x.mask[b/64] &^= 1 << (b % 64)
		}
	}
	n.bucket = to
	if to >= 0 {
		n.slot = int32(len(x.buckets[to]))
		x.buckets[to] = append(x.buckets[to], n)
		x.mask[to/64] |= 1 << (to % 64)
	}
}

func (x *roomIndex) mostFree(c *Cluster, a *App, need heddle.Resource) (heddle.NodeID, bool) {
	for w := len(x.mask) - 1; w >= 0; w-- {
		for m := x.mask[w]; m != 0; {
			b := bits.Len64(m) - 1
			m &^= 1 << b
			if n, ok := x.tryBucket(c, w*64+b, a, need); ok {
				return n, true
			}
		}
	}
	return heddle.NoNode, false
}

func (x *roomIndex) leastFree(c *Cluster, a *App, need heddle.Resource) (heddle.NodeID, bool) {
	from := int(x.level(c, need))
	for w := from / 64; w < len(x.mask); w++ {
		m := x.mask[w]
		if w == from/64 {
			m &= ^uint64(0) << (from % 64)
		}
		for m != 0 {
			b := bits.TrailingZeros64(m)
			m &^= 1 << b
			if n, ok := x.tryBucket(c, w*64+b, a, need); ok {
				return n, true
			}
		}
	}
	return heddle.NoNode, false
}

func (x *roomIndex) tryBucket(c *Cluster, b int, a *App, need heddle.Resource) (heddle.NodeID, bool) {
	for i, n := range x.buckets[b] {
		if i == triesPerBucket {
			break
		}
		if n.booked == nil && !a.Excludes(n.id) && c.Fits(need, n.Room(a)) {
			return n.id, true
		}
	}
	return heddle.NoNode, false
}
