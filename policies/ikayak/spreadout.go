package ikayak

import (
	"heddle"
	"heddle/policy"
)

// A Spread is one of Spark's own placements of executors, which the paper compares with: SpreadOut puts each executor
// on the node with the fewest of its application, NonSpreadOut on the one with the most, as long as more fit. Among
// equal nodes it takes the one with the most free, as Spark's standalone master sorts its workers.
//
// They first consider nodes with room for the executor. If no node has room, the same rule applies to the nodes that
// could hold it without the containers of others, and the node is reserved, as YARN does with a container that does not
// fit: neither considers when it will have room.
type Spread struct {
	pack  bool
	gauge gauge
	held  []int // containers of the current application, by node
}

// NewSpreadOut returns SpreadOut.
func NewSpreadOut(a policy.Args) (policy.Place, error) { return &Spread{}, a.Decode(&struct{}{}) }

// NewNonSpreadOut returns NonSpreadOut.
func NewNonSpreadOut(a policy.Args) (policy.Place, error) {
	return &Spread{pack: true}, a.Decode(&struct{}{})
}

// Judge implements [policy.Place]; it is called for reservations only.
func (*Spread) Judge(policy.View, *policy.Ask, *policy.Node, heddle.Locality) policy.Verdict {
	return policy.Yes
}

// Pick implements [policy.Pick].
func (s *Spread) Pick(v policy.View, k *policy.Ask) (heddle.NodeID, bool) {
	_, room := v.MostFree(k.App(), k.Size())
	if !room && k.Bookings() >= k.Count() {
		return heddle.NoNode, false
	}
	s.gauge.set(k.Size(), v.Total(), v.Counts)
	s.count(v, k.App())
	best, most := heddle.NoNode, -1.0
	for i, held := range s.held {
		n := v.Node(heddle.NodeID(i))
		if n == nil || !n.Up() || !usable(v, k, n.ID()) {
			continue
		}
		have, left := n.Total().Minus(k.Size().Times(int64(held))), n.Free()
		if room {
			have = left
		}
		if !s.gauge.fits(&have) {
			continue
		}
		free := left.Max(heddle.Resource{}).Share(v.Total())
		if best == heddle.NoNode || s.before(held, s.held[best]) || held == s.held[best] && free > most {
			best, most = n.ID(), free
		}
	}
	return best, best != heddle.NoNode
}

// before reports whether a node with held of the application's containers comes before one with others.
func (s *Spread) before(held, others int) bool {
	if s.pack {
		return held > others
	}
	return held < others
}

// count counts the application's executors on every node.
func (s *Spread) count(v policy.View, a *policy.App) {
	for len(s.held) < v.NodeIDs() {
		s.held = append(s.held, 0)
	}
	clear(s.held)
	a.Each(func(x *policy.Container) bool {
		if x.Kind() == heddle.Executor {
			s.held[x.Node().ID()]++
		}
		return true
	})
}
