package cluster

import (
	"testing"

	"heddle"
)

func TestHopsBetweenNodes(t *testing.T) {
	c := New([]heddle.QueueID{heddle.NoQueue}, false)
	a := c.AddNode(0, 0, heddle.Of(1024, 1000))
	b := c.AddNode(1, 0, heddle.Of(1024, 1000))
	far := c.AddNode(2, 1, heddle.Of(1024, 1000))
	for _, x := range []struct {
		from, to *Node
		hops     int
	}{{a, a, 0}, {a, b, 2}, {b, a, 2}, {a, far, 4}, {far, b, 4}} {
		if got := x.from.To(x.to).Hops(); got != x.hops {
			t.Errorf("from node %d to %d: %d hops, want %d", x.from.ID(), x.to.ID(), got, x.hops)
		}
	}
}
