package main

import (
	"container/heap"
	"math/rand/v2"

	"heddle/bench/internal/measure"
)

// A core is the least that can be called one: queues in three levels, from which it takes the least-served queue and in
// it the application that has least; best fit among nodes; and accounts up the tree.
type core struct {
	root  *queue
	nodes *buckets
	held  []container // a ring of allocated containers
	at    uint32
}

type queue struct {
	parent *queue
	kids   []*queue
	apps   apps
	share  float64
	used   room64
}

type room64 struct{ mem, cpu int64 }

type app struct {
	queue *queue
	used  int64
	size  room
	pos   int
}

type container struct {
	app  *app
	node int32 // −1 = holds nothing
}

// newCore returns a core of the shape, filled with as many containers as the shape asks for.
func newCore(s measure.Shape) *core {
	c := &core{root: &queue{share: 1}, nodes: newBuckets(s.Nodes, room{128 << 10, 64}), held: make([]container, s.Asks)}
	r := rand.New(rand.NewPCG(1, 2))
	for range s.Queues {
		mid := &queue{parent: c.root, share: 1 / float64(s.Queues)}
		leaf := &queue{parent: mid, share: mid.share}
		c.root.kids, mid.kids = append(c.root.kids, mid), []*queue{leaf}
		for range s.Apps / s.Queues {
			heap.Push(&leaf.apps, &app{queue: leaf, size: room{1024 * (1 + r.Int32N(8)), 1 + r.Int32N(4)}})
		}
	}
	for i := range c.held {
		c.allocate(&c.held[i])
	}
	return c
}

// churn releases a container somewhere in the ring and allocates another.
func (c *core) churn() {
	x := &c.held[int(uint64(c.at*2654435761)*uint64(len(c.held))>>32)]
	c.at++
	c.release(x)
	c.allocate(x)
}

func (c *core) allocate(x *container) {
	q := c.root
	for len(q.kids) > 0 {
		q = q.leastServed()
	}
	a := q.apps[0]
	x.app, x.node = a, c.nodes.bestFit(a.size)
	if x.node >= 0 {
		c.nodes.change(x.node, room{-a.size.mem, -a.size.cpu})
		a.account(1)
	}
}

func (c *core) release(x *container) {
	if x.node >= 0 {
		c.nodes.change(x.node, x.app.size)
		x.app.account(-1)
	}
}

func (q *queue) leastServed() *queue {
	best, least := q.kids[0], float64(q.kids[0].used.mem)/q.kids[0].share
	for _, k := range q.kids[1:] {
		if v := float64(k.used.mem) / k.share; v < least {
			best, least = k, v
		}
	}
	return best
}

// account books n containers of a on the application and on the queues above it.
func (a *app) account(n int64) {
	mem, cpu := n*int64(a.size.mem), n*int64(a.size.cpu)
	a.used += mem
	heap.Fix(&a.queue.apps, a.pos)
	for q := a.queue; q != nil; q = q.parent {
		q.used.mem += mem
		q.used.cpu += cpu
	}
}

// apps is a heap of applications, with the one that has least on top.
type apps []*app

func (h apps) Len() int           { return len(h) }
func (h apps) Less(i, j int) bool { return h[i].used < h[j].used }
func (h apps) Swap(i, j int)      { h[i], h[j] = h[j], h[i]; h[i].pos, h[j].pos = i, j }
func (h *apps) Push(x any)        { a := x.(*app); a.pos = len(*h); *h = append(*h, a) }
func (h *apps) Pop() any {
	last := len(*h) - 1
	a := (*h)[last]
	*h = (*h)[:last]
	return a
}
