package main

import "math/bits"

// room is what a node has free.
type room struct{ mem, cpu int32 }

// buckets keeps nodes by free processors, with a bitmap of the buckets that are not empty: best fit in constant time.
type buckets struct {
	mask       [2]uint64
	head       [128]int32
	next, prev []int32
	free       []room
}

func newBuckets(nodes int, each room) *buckets {
	b := &buckets{next: make([]int32, nodes), prev: make([]int32, nodes), free: make([]room, nodes)}
	for k := range b.head {
		b.head[k] = -1
	}
	for i := range b.free {
		b.free[i] = each
		b.link(int32(i))
	}
	return b
}

func (b *buckets) link(i int32) {
	k := b.free[i].cpu
	b.next[i], b.prev[i] = b.head[k], -1
	if b.head[k] >= 0 {
		b.prev[b.head[k]] = i
	}
	b.head[k] = i
	b.mask[k>>6] |= 1 << (k & 63)
}

func (b *buckets) unlink(i int32) {
	k := b.free[i].cpu
	if b.prev[i] >= 0 {
		b.next[b.prev[i]] = b.next[i]
	} else {
		b.head[k] = b.next[i]
	}
	if b.next[i] >= 0 {
		b.prev[b.next[i]] = b.prev[i]
	}
	if b.head[k] < 0 {
		b.mask[k>>6] &^= 1 << (k & 63)
	}
}

// change gives a node more room, or less.
func (b *buckets) change(i int32, by room) {
	b.unlink(i)
	b.free[i].mem += by.mem
	b.free[i].cpu += by.cpu
	b.link(i)
}

// bestFit returns the node with room for need that has the fewest processors free, or −1 if there is none.
func (b *buckets) bestFit(need room) int32 {
	for k := need.cpu; k < int32(len(b.head)); {
		m := b.mask[k>>6] >> (k & 63)
		if m == 0 {
			k = (k>>6 + 1) << 6
			continue
		}
		k += int32(bits.TrailingZeros64(m))
		for i := b.head[k]; i >= 0; i = b.next[i] {
			if b.free[i].mem >= need.mem {
				return i
			}
		}
		k++
	}
	return -1
}
