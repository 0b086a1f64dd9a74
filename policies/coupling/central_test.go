package coupling

import (
	"math/rand/v2"
	"slices"
	"testing"

	"heddle"
	"heddle/cluster"
)

// The shortcut to the cheapest nodes finds the same nodes as Eq. 1 over all nodes.
func TestNearestIsCheapest(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	var found central
	for round := range 300 {
		c := cluster.New([]heddle.QueueID{heddle.NoQueue}, false)
		nodes, racks := 1+rng.IntN(12), 1+rng.IntN(4)
		for i := range nodes {
			c.AddNode(heddle.NodeID(i), heddle.RackID(rng.IntN(racks)), heddle.Of(1024, 1000))
		}
		a := c.Submit(heddle.Submit{App: 0, Queue: 0})
		for range rng.IntN(8) {
			c.AddOutput(a, heddle.NodeID(rng.IntN(nodes)), int64(rng.IntN(4)))
		}
		v := c.View()
		busy := heddle.NodeID(rng.IntN(nodes))
		free := func(n *cluster.Node) bool { return n.ID() != busy }
		cost := func(n *cluster.Node) float64 {
			return Cost(a.Outputs(), func(u heddle.NodeID) int { return v.Node(u).To(n).Hops() })
		}
		var want []float64
		for i := range nodes {
			if n := v.Node(heddle.NodeID(i)); free(n) {
				want = append(want, cost(n))
			}
		}
		slices.Sort(want)
		d := 1 + rng.IntN(7)
		want = want[:min(d, len(want))]
		got := found.nearest(v, a.Outputs(), d, uint64(round), free)
		if len(got) != len(want) {
			t.Fatalf("round %d: %d nodes, want %d", round, len(got), len(want))
		}
		for i, n := range got {
			if n.cost != want[i] || cost(v.Node(n.node)) != want[i] || !free(v.Node(n.node)) {
				t.Fatalf("round %d: node %d is given cost %v, costs %v, want %v", round, n.node, n.cost, cost(v.Node(n.node)), want[i])
			}
		}
	}
}

// Ties between nodes of equal cost are broken at random: without data, each node is first now and then.
func TestTiesAreRandom(t *testing.T) {
	c := cluster.New([]heddle.QueueID{heddle.NoQueue}, false)
	for i := range 4 {
		c.AddNode(heddle.NodeID(i), heddle.RackID(i%2), heddle.Of(1024, 1000))
	}
	var found central
	var first [4]int
	for salt := range uint64(400) {
		first[found.nearest(c.View(), nil, 4, salt, func(*cluster.Node) bool { return true })[0].node]++
	}
	for n, times := range first {
		if times < 50 {
			t.Errorf("node %d was first %d times of 400", n, times)
		}
	}
}
