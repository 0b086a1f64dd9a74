package cluster

import (
	"math/bits"
	"slices"

	"heddle"
)

const (
	levels         = 256
	roomiestLooks  = 1024 // maximum number of nodes looked at when listing the roomiest
	triesPerBucket = 16   // number of nodes too full for the need to look at in one bucket before trying the next one
)

// A roomIndex keeps the live nodes that report in buckets by how much they have free, so that a policy that names its
// node need not look at all of them. Within a bucket, the order is that of arrival and removal: the same events give
// the same order.
type roomIndex struct {
	largest heddle.Resource
	dims    []heddle.Dim // those that count
	mask    [levels / 64]uint64
	buckets [levels][]heddle.NodeID
	spots   []spot // by node

	none  [8]heddle.Resource // needs for which the last search found no node with room, and no node has had room since
	nones int                // how many were recorded so far
}

// A spot is a node's position. Spots are stored close together: when a node leaves a bucket, another one is moved, and
// only that one's spot is touched.
type spot struct{ bucket, place int32 }

var nowhere = spot{bucket: -1}

// roomIndex returns the index, building it at its first use; clusters whose policies never use it do not pay for it.
func (c *Cluster) roomIndex() *roomIndex {
	if c.index == nil || c.index.largest != c.largest {
		c.index = &roomIndex{largest: c.largest, spots: make([]spot, 0, len(c.nodes))}
		for d, most := range c.largest {
			if c.counted[d] && most > 0 {
				c.index.dims = append(c.index.dims, heddle.Dim(d))
			}
		}
		for _, n := range c.nodes {
			if n != nil {
				c.index.update(c, n)
			}
		}
	}
	return c.index
}

// level returns the bucket of an amount: its smallest share of the largest node over the dimensions that count.
func (x *roomIndex) level(r heddle.Resource) int32 {
	l := int64(levels - 1)
	for _, d := range x.dims {
		l = min(l, r[d]*(levels-1)/x.largest[d])
	}
	return int32(max(l, 0))
}

func (x *roomIndex) update(c *Cluster, n *Node) {
	for int(n.id) >= len(x.spots) {
		x.spots = append(x.spots, nowhere)
	}
	at, to := &x.spots[n.id], nowhere.bucket
	if n.up && !n.silent {
		free := n.Free()
		to = x.level(free)
		if x.nones > 0 && n.booked == nil {
			x.forgetFitting(c, free)
		}
	}
	if to == at.bucket {
		return
	}
	if b := at.bucket; b >= 0 {
		last := len(x.buckets[b]) - 1
		m := x.buckets[b][last]
		x.buckets[b][at.place] = m
		x.spots[m].place = at.place
		x.buckets[b] = x.buckets[b][:last]
		if last == 0 {
			x.mask[b/64] &^= 1 << (b % 64)
		}
	}
	at.bucket = to
	if to >= 0 {
		at.place = int32(len(x.buckets[to]))
		x.buckets[to] = append(x.buckets[to], n.id)
		x.mask[to/64] |= 1 << (to % 64)
	}
}

// mostFree searches the emptiest buckets first, leastFree the fullest that can hold need.
func (x *roomIndex) mostFree(c *Cluster, a *App, need heddle.Resource) (heddle.NodeID, bool) {
	return x.search(c, a, need, levels-1, x.fullest(c, need)-1, -1)
}

func (x *roomIndex) leastFree(c *Cluster, a *App, need heddle.Resource) (heddle.NodeID, bool) {
	return x.search(c, a, need, x.fullest(c, need), levels, 1)
}

// fullest returns the fullest bucket that can hold need.
func (x *roomIndex) fullest(c *Cluster, need heddle.Resource) int {
	if c.pools > 0 {
		return 0 // free room is not all that can be taken
	}
	return int(x.level(need))
}

// search goes through the buckets. It first looks at a few nodes of each; if that skipped some and found nothing, it
// looks at all of them.
func (x *roomIndex) search(c *Cluster, a *App, need heddle.Resource, from, to, step int) (heddle.NodeID, bool) {
	if c.pools == 0 && x.fitsNowhere(need) {
		return heddle.NoNode, false
	}
	excluded := false
	for _, tries := range [...]int{triesPerBucket, len(c.nodes)} {
		cut := false
		for b := x.nextBucket(from, to, step); b != to; b = x.nextBucket(b+step, to, step) {
			misses := 0
			for _, id := range x.buckets[b] {
				n := c.nodes[id]
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

// roomiest searches the emptiest buckets first.
func (x *roomIndex) roomiest(c *Cluster, a *App, need heddle.Resource, most int, ids []heddle.NodeID) []heddle.NodeID {
	if c.pools == 0 && x.fitsNowhere(need) {
		return ids
	}
	to, looks := x.fullest(c, need)-1, roomiestLooks
	for b := x.nextBucket(levels-1, to, -1); b != to; b = x.nextBucket(b-1, to, -1) {
		for _, id := range x.buckets[b] {
			if looks--; looks < 0 || most <= 0 {
				return ids
			}
			if n := c.nodes[id]; n.booked == nil && !a.Excludes(id) && c.Fits(need, n.Room(a)) {
				ids = append(ids, id)
				most--
			}
		}
	}
	return ids
}

// nextBucket returns the first bucket in use from b on in the direction of step, or to if there is none.
func (x *roomIndex) nextBucket(b, to, step int) int {
	for step > 0 && b < to {
		if m := x.mask[b/64] >> (b % 64); m != 0 {
			return min(b+bits.TrailingZeros64(m), to)
		}
		b = (b | 63) + 1
	}
	for step < 0 && b > to {
		if m := x.mask[b/64] << (63 - b%64); m != 0 {
			return max(b-bits.LeadingZeros64(m), to)
		}
		b = (b &^ 63) - 1
	}
	return to
}

// fitsNowhere reports whether the last search for need found no node with room, and none has had room since.
func (x *roomIndex) fitsNowhere(need heddle.Resource) bool {
	return slices.Contains(x.none[:min(x.nones, len(x.none))], need)
}

// forgetFitting forgets the needs that fit into a node's free room.
func (x *roomIndex) forgetFitting(c *Cluster, free heddle.Resource) {
	for i := range x.none[:min(x.nones, len(x.none))] {
		if c.Fits(x.none[i], free) {
			x.none[i] = nothing
		}
	}
}

// nothing is a need that no ask has.
var nothing = heddle.Resource{-1, -1, -1, -1}
