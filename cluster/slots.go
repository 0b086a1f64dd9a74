package cluster

import "heddle"

// Slots limit how many containers a node takes; zero means no limit.
type Slots struct {
	PerNode  int     // on every node
	PerVcore float64 // for each vcore of a node, rounded down; at least one
}

// Of returns the limit on a node; 0 means no limit.
func (s Slots) Of(n *Node) int {
	if s.PerVcore > 0 {
		return max(int(s.PerVcore*float64(n.total[heddle.CPU])/float64(heddle.CPU.Unit())), 1)
	}
	return s.PerNode
}

// SetSlots sets how many containers of a kind a node takes at most.
func (c *Cluster) SetSlots(k heddle.Kind, s Slots) { c.slots[k] = s }

// Slots returns how many containers of a kind, together with the other kinds of its lane, a node takes at most, however
// much room it has; 0 means no limit.
func (v View) Slots(n *Node, k heddle.Kind) int { return v.c.slots[k].Of(n) }
