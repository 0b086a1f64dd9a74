package main

import (
	"testing"

	"heddle/bench/internal/measure"
)

// The floor is a scheduler, too: what it holds is what nodes and queues are charged for.
func TestFloorKeepsItsAccounts(t *testing.T) {
	c := newCore(measure.Shape{Nodes: 50, Asks: 500, Queues: 5, Apps: 20})
	for range 5000 {
		c.churn()
	}
	var held room64
	free := make([]room, len(c.nodes.free))
	for i := range free {
		free[i] = room{128 << 10, 64}
	}
	for _, x := range c.held {
		if x.node < 0 {
			continue
		}
		held.mem += int64(x.app.size.mem)
		held.cpu += int64(x.app.size.cpu)
		free[x.node].mem -= x.app.size.mem
		free[x.node].cpu -= x.app.size.cpu
	}
	if held != c.root.used || held.cpu == 0 {
		t.Errorf("%+v are held, the root is charged for %+v", held, c.root.used)
	}
	for i := range free {
		if free[i] != c.nodes.free[i] || free[i].mem < 0 || free[i].cpu < 0 {
			t.Fatalf("node %d: %+v free by its containers, %+v by its account", i, free[i], c.nodes.free[i])
		}
	}
}

func TestScanLooksAtEveryNode(t *testing.T) {
	s := newScan(100)
	if s.first(); s.found != 99 {
		t.Errorf("found %d, want the last", s.found)
	}
}
