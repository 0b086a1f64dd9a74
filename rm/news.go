package rm

import (
	"slices"

	"heddle/yarn/ids"
)

// mostUsable is how many nodes that have become usable a master is told of in one answer. After a restart all nodes
// become usable within seconds. Without a bound every master would be sent all of them at once.
const mostUsable = 100

// nodeNews is the last change of a node.
type nodeNews struct {
	n      *node
	how    NodeChange
	told   bool    // the master has heard of it
	queued [2]bool // whether it is in each of the queues
}

// urgency returns the queue in which a change waits. Containers on a node that is not usable are lost, and a master is
// told at once. What can be done on a node that is usable, it can be told later.
func (e *nodeNews) urgency() int { return one(e.how == Usable) }

// news is what a master has yet to hear of nodes. A change that was overtaken by another, or told from the other queue,
// is passed over.
type news struct {
	by     map[ids.Node]*nodeNews // all that are in a queue
	queues [2][]*nodeNews         // the urgent ones first, both in order
}

// add replaces what there was to hear of a node.
func (w *news) add(n *node, how NodeChange) {
	e := w.by[n.id]
	if e == nil {
		e = &nodeNews{}
		w.by[n.id] = e
	}
	e.n, e.how, e.told = n, how, false
	if k := e.urgency(); !e.queued[k] {
		e.queued[k] = true
		w.queues[k] = append(w.queues[k], e)
	}
}

// take returns what the next answer says, by node: all that is urgent, and of the rest at most mostUsable.
func (w *news) take() (out []*nodeNews) {
	for k, q := range w.queues {
		taken, most := 0, len(out)+mostUsable
		for ; taken < len(q) && (k == 0 || len(out) < most); taken++ {
			e := q[taken]
			e.queued[k] = false
			if e.urgency() == k && !e.told {
				e.told = true
				out = append(out, e)
			}
			if e.queued == [2]bool{} {
				delete(w.by, e.n.id)
			}
		}
		w.queues[k] = slices.Delete(q, 0, taken)
	}
	slices.SortFunc(out, func(a, b *nodeNews) int { return a.n.id.Compare(b.n.id) })
	return out
}
