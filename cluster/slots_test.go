package cluster

import (
	"testing"

	"heddle"
)

// Slots per vcore are rounded down, with a minimum of one, and apply to the kind they were set for.
func TestSlots(t *testing.T) {
	c := New([]heddle.QueueID{heddle.NoQueue}, false)
	for i, vcores := range []int64{1, 6, 16} {
		c.AddNode(heddle.NodeID(i), 0, heddle.Of(1024, 1000*vcores))
	}
	c.SetSlots(heddle.Map, Slots{PerVcore: 0.667})
	c.SetSlots(heddle.Reduce, Slots{PerNode: 2})
	v := c.View()
	for i, maps := range []int{1, 4, 10} {
		n := v.Node(heddle.NodeID(i))
		if got := v.Slots(n, heddle.Map); got != maps {
			t.Errorf("%d maps on node %d, want %d", got, i, maps)
		}
		if r, other := v.Slots(n, heddle.Reduce), v.Slots(n, heddle.AM); r != 2 || other != 0 {
			t.Errorf("%d reduces and %d masters on node %d, want 2 and no limit", r, other, i)
		}
	}
}
