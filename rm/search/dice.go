package search

import "heddle"

// dice is a stream of random numbers that is cheap to create: each fault and each message has its own, so that leaving
// one out does not change the others.
type dice uint64

// mix makes dice from what they are for.
func mix(parts ...uint64) *dice {
	d := dice(0)
	for _, p := range parts {
		d = dice(d.next() ^ p)
	}
	d.next()
	return &d
}

// next is splitmix64.
func (d *dice) next() uint64 {
	*d += 0x9e3779b97f4a7c15
	z := uint64(*d)
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

// n returns a number below n.
func (d *dice) n(n int) int { return int(d.next() % uint64(n)) }

// in returns true once in n times.
func (d *dice) in(n int) bool { return d.n(n) == 0 }

// span returns a time between two.
func (d *dice) span(from, to heddle.Span) heddle.Span {
	return from + heddle.Span(d.next()%uint64(to-from+1))
}

// pick returns an item of a list.
func pick[T any](d *dice, list ...T) T { return list[d.n(len(list))] }
