package slab

// Bits is a set of small numbers.
type Bits []uint64

// NewBits returns an empty set with room for the numbers below n.
func NewBits(n int) Bits { return make(Bits, (n+63)/64) }

// Has reports whether a number is in the set.
func (b Bits) Has(i int32) bool { return int(i/64) < len(b) && b[i/64]>>(i%64)&1 == 1 }

// Set adds a number that there is room for to the set, or removes it.
func (b Bits) Set(i int32, on bool) {
	if on {
		b[i/64] |= 1 << (i % 64)
	} else {
		b[i/64] &^= 1 << (i % 64)
	}
}

// Add adds a number to the set and makes room for it.
func (b *Bits) Add(i int32) {
	for int(i/64) >= len(*b) {
		*b = append(*b, 0)
	}
	b.Set(i, true)
}

// Remove removes a number from the set, if there is room for it.
func (b Bits) Remove(i int32) {
	if int(i/64) < len(b) {
		b.Set(i, false)
	}
}
