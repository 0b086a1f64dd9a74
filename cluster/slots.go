package cluster

import "heddle"

// Slots say how many containers a node takes at most; zero = no limit.
type Slots struct {
	PerNode  int     // on every node
	PerVcore float64 // for each of a node's vcores, rounded down; one at least
}

// Of is the limit on a node; 0 = none.
func (s Slots) Of(n *Node) int {
	if s.PerVcore > 0 {
		return max(int(s.PerVcore*float64(n.total[heddle.CPU])/float64(heddle.CPU.Unit())), 1)
	}
	return s.PerNode
}

// SetSlots says how many containers of a kind a node takes at most.
func (c *Cluster) SetSlots(k heddle.Kind, s Slots) { c.slots[k] = s }

// Slots is how many containers a node takes at most of a kind and the others of its lane together, whatever room it has;
// 0 = no limit.
func (v View) Slots(n *Node, k heddle.Kind) int { return v.c.slots[k].Of(n) }
