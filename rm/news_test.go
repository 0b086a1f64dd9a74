package rm

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"heddle/yarn/ids"
)

// A master is told at once of nodes that are no longer usable, and of the others some at a time: in the end the last
// change of each.
func TestNews(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	w := news{by: map[ids.Node]*nodeNews{}}
	nodes := make([]*node, 500)
	for i := range nodes {
		nodes[i] = &node{id: ids.Node{Host: fmt.Sprintf("n%03d", i)}}
	}
	last, told := map[ids.Node]NodeChange{}, map[ids.Node]NodeChange{}
	take := func() (n int) {
		usable := 0
		out := w.take()
		for i, e := range out {
			if i > 0 && out[i-1].n.id.Compare(e.n.id) >= 0 {
				t.Fatalf("%s comes after %s", e.n.id, out[i-1].n.id)
			}
			told[e.n.id] = e.how
			usable += one(e.how == Usable)
		}
		if usable > mostUsable {
			t.Fatalf("told of %d usable nodes at once", usable)
		}
		for id, how := range last {
			if how != Usable && told[id] != how {
				t.Fatalf("%s is %d, told %d", id, how, told[id])
			}
		}
		return len(out)
	}
	for range 300 {
		for range rng.IntN(2000) {
			n, how := nodes[rng.IntN(len(nodes))], NodeChange(rng.IntN(3))
			w.add(n, how)
			last[n.id] = how
		}
		take()
		if n := len(w.queues[0]) + len(w.queues[1]); n > 2*len(nodes) {
			t.Fatalf("%d wait, for %d nodes", n, len(nodes))
		}
	}
	for take() > 0 {
	}
	for id, how := range last {
		if told[id] != how {
			t.Errorf("%s is %d, told %d", id, how, told[id])
		}
	}
	if len(w.by)+len(w.queues[0])+len(w.queues[1]) > 0 {
		t.Errorf("left: %+v", w)
	}
}

// When many nodes come at once, masters hear of them in several answers.
func TestManyNodesCome(t *testing.T) {
	w := newWorld(t, "capacity", nil)
	_, m, _, _ := w.job("MAPREDUCE")
	m.ask()
	for i := range 2*mostUsable + 50 {
		w.node(fmt.Sprint("late", i), 8192, 8)
	}
	for _, want := range []int{mostUsable, mostUsable, 50, 0} {
		if got := m.ask().Nodes; len(got) != want {
			t.Errorf("told of %d nodes, want %d", len(got), want)
		}
	}
}
