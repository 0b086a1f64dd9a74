package proxy

import "sync"

// A Crowd limits how many users do something at once, in total and per kind, so that a master that hangs does not make
// others wait.
type Crowd[K comparable] struct {
	all, each int

	mu    sync.Mutex
	total int
	of    map[K]int
}

// NewCrowd returns a Crowd with the given limits in total (all) and per kind (each).
func NewCrowd[K comparable](all, each int) *Crowd[K] {
	return &Crowd[K]{all: all, each: each, of: map[K]int{}}
}

// Enter reports whether there is room for one more. If it returns true, the caller must call Leave.
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

// Leave gives a place back.
func (c *Crowd[K]) Leave(k K) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.total--
	if c.of[k]--; c.of[k] == 0 {
		delete(c.of, k)
	}
}
