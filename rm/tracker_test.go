package rm

import (
	"math"
	"testing"

	"heddle"
)

// What a NodeManager measures of its containers reaches the core in processors of its machine, where a policy goes by
// it. Nonsense leaves what was said before.
func TestNodeUsage(t *testing.T) {
	for _, c := range []struct {
		profile  string
		physical int64 // processors; 0 = the node does not say
		said     float32
		heard    int64
	}{
		{"heddle", 0, 3.25, 3250},
		{"heddle", 8, 3.25, 3250},
		{"heddle", 32, 3.25, 13000},
		{"heddle", 4, 8, 4000},
		{"heddle", 0, 0, 0},
		{"heddle", 0, -1, 2000},
		{"heddle", 0, float32(math.NaN()), 2000},
		{"heddle", 0, float32(math.Inf(1)), 2000},
		{"heddle", 0, math.MaxFloat32, 2000},
		{"capacity", 0, 3.25, 0},
	} {
		w := newWorld(t, c.profile, nil)
		n := w.node("a", 8192, 8)
		n.used.CPU = 2
		n.beat()
		node := w.m.byNode[n.id]
		node.physical = heddle.Of(8192, 1000*c.physical)
		n.used.CPU = c.said
		n.beat()
		if got := w.m.core.View().Node(node.nid).CPUUsed(); got != c.heard {
			t.Errorf("%s, %d processors: a node said %v vcores, and the core knows %d thousandths", c.profile, c.physical, c.said, got)
		}
		if node.contUse.CPU != c.said && !math.IsNaN(float64(c.said)) {
			t.Errorf("%s: %v vcores are shown where the node said %v", c.profile, node.contUse.CPU, c.said)
		}
	}
}

// A node that was lost and is back has used nothing yet, and says the same as before: it is heard again.
func TestNodeUsageAfterLoss(t *testing.T) {
	w := newWorld(t, "heddle", nil)
	n := w.node("a", 8192, 8)
	n.used.CPU = 2
	n.beat()
	w.m.nodeDown(w.m.byNode[n.id], nodeLost)
	n.register(8192, 8)
	core := w.m.core.View().Node(w.m.byNode[n.id].nid)
	if core.CPUUsed() != 0 {
		t.Errorf("%d milli-vcores before it reported", core.CPUUsed())
	}
	n.beat()
	if core.CPUUsed() != 2000 {
		t.Errorf("%d milli-vcores after it reported", core.CPUUsed())
	}
}
