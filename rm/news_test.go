package rm

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"testing"

	"heddle"
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

// told returns what a master is told of nodes, by host.
func (m *am) told() map[string]NodeChange {
	m.w.Helper()
	out := map[string]NodeChange{}
	for _, n := range m.ask().Nodes {
		out[n.ID.Host] = n.Change
	}
	return out
}

// A master hears of the nodes that went with the last one, and of those of which the last one had not heard yet: maps
// that are done may have left their output there. It does not hear of nodes that came before it registered.
func TestNextMasterHearsOfNodes(t *testing.T) {
	w := newWorld(t, "capacity", nil)
	id, m, home, other := w.job("MAPREDUCE")
	m.ask()
	for _, n := range []*nm{other, home} {
		w.step(&UnregisterNode{Call: w.next(), Node: n.id})
	}
	third := w.node("n3", 8192, 8)
	third.run(w.app(id).Master)
	third.beat()
	if got := w.master(id).told(); !maps.Equal(got, map[string]NodeChange{"n1": Unusable, "n2": Unusable}) {
		t.Errorf("the second master is told %v", got)
	}
}

// A master that was running before a restart hears of the nodes that came back and went before it registered again.
func TestMasterHearsOfNodesAfterAStart(t *testing.T) {
	w := newWorld(t, "capacity", nil)
	id, m, home, other := w.job("MAPREDUCE")
	w.restart(heddle.Second)
	home.register(2048, 4, found(w.app(id).Master, 0))
	other.register(4096, 4)
	w.step(&UnregisterNode{Call: w.next(), Node: other.id})
	m.register()
	if got := m.told(); !maps.Equal(got, map[string]NodeChange{"n2": Unusable}) {
		t.Errorf("told %v", got)
	}
}

// A master that was running before a restart hears of the nodes that come back unhealthy, and of those that do not come
// back at all.
func TestMasterHearsOfNodesThatDoNotComeBack(t *testing.T) {
	w := newWorld(t, "capacity", nil)
	id, m, home, other := w.job("MAPREDUCE")
	w.node("n3", 8192, 8)
	w.restart(heddle.Second)
	home.register(2048, 4, found(w.app(id).Master, 0))
	w.step(&RegisterNode{
		Call: w.next(), Node: other.id, Names: []string{"n2"}, Rack: defaultRack, HTTPPort: 8042, Total: heddle.Of(4096, 4000),
		Health: Health{Said: true, Sick: true},
	})
	m.register()
	if got := m.told(); !maps.Equal(got, map[string]NodeChange{"n2": Unusable}) {
		t.Errorf("once it has registered it is told %v", got)
	}
	w.pass(w.m.cfg.NodeExpiry+heddle.Second, nil, home)
	if got := m.told(); !maps.Equal(got, map[string]NodeChange{"n3": Unusable}) {
		t.Errorf("after the expiry of nodes it is told %v", got)
	}
}
