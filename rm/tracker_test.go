package rm

import (
	"math"
	"testing"
)

// What a NodeManager measures of its containers reaches the core, where a policy goes by it, and nonsense does not.
func TestNodeUsage(t *testing.T) {
	for _, c := range []struct {
		profile string
		said    float32
		heard   int64
	}{
		{"heddle", 3.25, 3250},
		{"heddle", 0, 0},
		{"heddle", -1, 0},
		{"heddle", float32(math.NaN()), 0},
		{"heddle", float32(math.Inf(1)), 0},
		{"heddle", math.MaxFloat32, 0},
		{"capacity", 3.25, 0},
	} {
		w := newWorld(t, c.profile, nil)
		n := w.node("a", 8192, 8)
		n.used.CPU = c.said
		n.beat()
		node := w.m.byNode[n.id]
		if got := w.m.core.View().Node(node.nid).CPUUsed(); got != c.heard {
			t.Errorf("%s: a node said %v vcores, and the core knows %d milli-vcores", c.profile, c.said, got)
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
