package rm

import (
	"math"
	"testing"

	"heddle"
)

// What a NodeManager measures of its containers reaches the core in processors of its machine, if a policy uses it.
// Nonsense leaves the last value.
func TestNodeUsage(t *testing.T) {
	for _, c := range []struct {
		profile  string
		physical int64 // processors; 0 = unknown
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
		shown := c.said
		if !(shown <= maxProcessors) {
			shown = 0
		}
		if node.contUse.CPU != shown {
			t.Errorf("%s: %v vcores are shown where the node said %v", c.profile, node.contUse.CPU, c.said)
		}
	}
}

// The use of the whole machine shows what others use of it and what is idle. A node that does not measure it says 0 or
// less; nothing follows for a node that does not say how many processors it has. Earlier values are forgotten then.
func TestNodeUsageOfOthers(t *testing.T) {
	for _, c := range []struct {
		physical     int64
		used, whole  float32
		others, idle int64
	}{
		{2, 1, 1.5, 1250, 500}, // a vcore is a quarter of a processor
		{2, 1, 0.2, 0, 1800},
		{4, 3, 3.5, 2000, 500}, // only the machine's use changes
		{4, 3, -1, 0, -1},      // … or is no longer known
		{2, 8, 2, 0, 0},
		{2, 1, 9, 1750, 0},
		{2, 1, 0, 0, -1},
		{2, 1, -1, 0, -1},
		{2, 1, float32(math.NaN()), 0, -1},
		{2, 1, float32(math.Inf(1)), 0, -1},
		{0, 1, 1.5, 0, -1},
	} {
		w := newWorld(t, "heddle", nil)
		n := w.node("a", 8192, 8)
		node := w.m.byNode[n.id]
		node.physical = heddle.Of(8192, 4000)
		n.used.CPU, n.whole.CPU = 3, 2.5
		n.beat()
		got := w.m.core.View().Node(node.nid)
		if got.CPUUsed() != 1500 || got.CPUOthers() != 1000 || got.CPUIdle() != 1500 {
			t.Fatalf("of four processors %d thousandths are used, %d by others, %d are idle", got.CPUUsed(), got.CPUOthers(), got.CPUIdle())
		}
		node.physical = heddle.Of(8192, 1000*c.physical)
		n.used.CPU, n.whole.CPU = c.used, c.whole
		n.beat()
		want := 125 * c.physical * int64(c.used)
		if c.physical == 0 {
			want = 1000 * int64(c.used)
		}
		if got.CPUUsed() != want || got.CPUOthers() != c.others || got.CPUIdle() != c.idle {
			t.Errorf("%d processors, %v vcores of containers, %v in use: containers use %d thousandths, want %d; others %d, want %d; %d are idle, want %d",
				c.physical, c.used, c.whole, got.CPUUsed(), want, got.CPUOthers(), c.others, got.CPUIdle(), c.idle)
		}
	}
}

// A machine without work is measured as idle. A NodeManager that has measured nothing reports no memory in use either.
func TestNodeUsageOfIdleMachine(t *testing.T) {
	w := newWorld(t, "heddle", nil)
	n := w.node("a", 8192, 8)
	node := w.m.byNode[n.id]
	node.physical = heddle.Of(8192, 4000)
	for _, c := range []struct {
		whole        Utilization
		others, idle int64
	}{
		{Utilization{}, 0, -1},
		{Utilization{Physical: 900, CPU: 2.5}, 2500, 1500},
		{Utilization{Physical: 900}, 0, 4000},
		{Utilization{}, 0, 4000},
	} {
		n.whole = c.whole
		n.beat()
		if got := w.m.core.View().Node(node.nid); got.CPUOthers() != c.others || got.CPUIdle() != c.idle {
			t.Errorf("%+v in use: others use %d thousandths, want %d; %d are idle, want %d", c.whole, got.CPUOthers(), c.others, got.CPUIdle(), c.idle)
		}
	}
}

// What a node measured is shown, but no number of processors that no machine has.
func TestMeasurementsAreNumbers(t *testing.T) {
	w := newWorld(t, "heddle", nil)
	n := w.node("a", 8192, 8)
	for cpu, want := range map[float32]float32{1.5: 1.5, -1: -1, float32(math.NaN()): 0, float32(math.Inf(-1)): 0, 1e30: 0} {
		n.used, n.whole = Utilization{Physical: 5, CPU: cpu}, Utilization{Physical: 7, CPU: cpu}
		n.beat()
		got := nodesOf(w.m.View())[0]
		if got.Aggregate != (Utilization{Physical: 5, CPU: want}) || got.Utilization != (Utilization{Physical: 7, CPU: want}) {
			t.Errorf("%v processors: shown are %+v and %+v", cpu, got.Aggregate, got.Utilization)
		}
	}
}

// A node that was lost and is back has used nothing yet, and reports the same as before: it is heard again.
func TestNodeUsageAfterLoss(t *testing.T) {
	w := newWorld(t, "heddle", nil)
	n := w.node("a", 8192, 8)
	n.used.CPU = 2
	n.beat()
	w.m.nodeDown(w.m.byNode[n.id], nodeLost)
	n.register(8192, 8)
	core := w.m.core.View().Node(w.m.byNode[n.id].nid)
	if core.CPUUsed() != 0 {
		t.Errorf("%d thousandths of a processor before it reported", core.CPUUsed())
	}
	n.beat()
	if core.CPUUsed() != 2000 {
		t.Errorf("%d milli-vcores after it reported", core.CPUUsed())
	}
}
