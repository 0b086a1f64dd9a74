package cluster

import "heddle"

const (
	levels         = 256
	triesPerBucket = 16 // nodes too full for the need looked at in one bucket before the next one is tried
)

// A roomIndex keeps live nodes in buckets by how much they have free, so that a policy that names its
// node need not look at all of them. Within a bucket the order is that of arrival and removal, which
// is the same for the same events.
type roomIndex struct {
	largest heddle.Resource
	mask    [levels / 64]uint64
	buckets [levels][]*Node

	none  [8]heddle.Resource // needs that no node had room for when looked for, nor since
	nones int                // how many were noted so far
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
	x.hope(c, n)
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

// mostFree looks in the emptiest buckets first, leastFree in the fullest that can hold need.
func (x *roomIndex) mostFree(c *Cluster, a *App, need heddle.Resource) (heddle.NodeID, bool) {
	return x.search(c, a, need, levels-1, -1, -1)
}

func (x *roomIndex) leastFree(c *Cluster, a *App, need heddle.Resource) (heddle.NodeID, bool) {
	from := 0
	if c.pools == 0 {
		from = int(x.level(c, need)) // what nobody holds is all there is to take
	}
	return x.search(c, a, need, from, levels, 1)
}

// search goes through the buckets, first looking at a few nodes of each, then, where that left some out,
// at all of them.
func (x *roomIndex) search(c *Cluster, a *App, need heddle.Resource, from, to, step int) (heddle.NodeID, bool) {
	if c.pools == 0 && x.hopeless(need) {
		return heddle.NoNode, false
	}
	excluded := false
	for _, tries := range [...]int{triesPerBucket, len(c.nodes)} {
		cut := false
		for b := x.nextBucket(from, to, step); b != to; b = x.nextBucket(b+step, to, step) {
			misses := 0
			for _, n := range x.buckets[b] {
				switch {
				case misses == tries:
				case n.booked != nil:
					continue
				case a.Excludes(n.id):
					excluded = true
					continue
				case c.Fits(need, n.Room(a)):
					return n.id, true
				default:
					misses++
					continue
				}
				cut = true
				break
			}
		}
		if !cut {
			break
		}
	}
	if !excluded {
		x.none[x.nones%len(x.none)] = need
		x.nones++
	}
	return heddle.NoNode, false
}

// nextBucket returns the first bucket in use from b on, or to.
func (x *roomIndex) nextBucket(b, to, step int) int {
	for ; b != to; b += step {
		switch m := x.mask[b/64]; {
		case m>>(b%64)&1 == 1:
			return b
		case m == 0 && step > 0:
			b |= 63
		case m == 0:
			b &^= 63
		}
	}
	return to
}

// hopeless reports whether no node had room for need when it was last looked for, and none since.
func (x *roomIndex) hopeless(need heddle.Resource) bool {
	for _, r := range x.none[:min(x.nones, len(x.none))] {
		if r == need {
			return true
		}
	}
	return false
}

// hope forgets the needs that a node has room for now.
func (x *roomIndex) hope(c *Cluster, n *Node) {
	for i := 0; i < min(x.nones, len(x.none)); i++ {
		if n.up && n.booked == nil && c.Fits(x.none[i], n.Free()) {
			x.none[i] = nothing
		}
	}
}

// nothing is a need nobody has.
var nothing = heddle.Resource{-1, -1, -1, -1}
