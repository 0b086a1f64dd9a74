package proxy

import "sync"

// A Crowd counts those who are at something at once, in all and of one kind, so that a master that hangs keeps no others
// waiting.
type Crowd[K comparable] struct {
	all, each int

	mu    sync.Mutex
	total int
	of    map[K]int
}

// NewCrowd returns one that lets in so many in all, and so many of each kind.
func NewCrowd[K comparable](all, each int) *Crowd[K] {
	return &Crowd[K]{all: all, each: each, of: map[K]int{}}
}

// Enter reports whether there is room for one more. Who is let in has to leave.
func (c *Crowd[K]) Enter(k K) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.total >= c.all || c.of[k] >= c.each {
		return false
	}
	c.total++
	c.of[k]++
	return true
}

// Leave gives the place back.
func (c *Crowd[K]) Leave(k K) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.total--
	if c.of[k]--; c.of[k] == 0 {
		delete(c.of, k)
	}
}
