package ikayak

import (
	"math"

	"heddle"
	"heddle/policy"
)

// books is what executor placement knows of every node. Only nodes on which something changed are counted again, before
// the next decision or prediction that needs them.
type books struct {
	rest policy.Remaining // nil = nothing is known of remaining times

	// By node; a node that is down has less than any executor needs.
	free    column        // R_free
	maps    column        // R_free + R_map
	all     column        // R_free + R_map + R_reduce
	first   []heddle.Time // the earliest end of a reduce
	reduces [][]running   // in order of their ends

	dirty  []heddle.NodeID // to be counted again
	marked []bool          // by node: is in dirty
	fresh  []running       // buffer for one node's reduces
	stamp  uint64          // changes when some node may have come to offer more
}

// Hears implements [policy.Listener]: the events that change what nodes hold or offer, and when reduces end.
func (b *books) Hears() policy.News {
	return policy.NodesChanged | policy.AppExcluded | policy.Reserved | policy.Granted | policy.Adopted | policy.Resized |
		policy.Suspended | policy.Resumed | policy.Ended | policy.TaskProgress
}

// Hear implements [policy.Listener]. The estimate has already received the same progress report.
func (b *books) Hear(v policy.View, e policy.Effect) {
	switch e.What {
	case policy.AppExcluded, policy.Reserved: // a reservation holds nothing yet
		b.stamp++
	case policy.TaskProgress:
		if e.Container.Kind() == heddle.Reduce {
			b.drain(v)
			b.predict(v, e.Container)
		}
	default:
		b.mark(e.Node.ID())
	}
}

func (b *books) mark(n heddle.NodeID) {
	for int(n) >= len(b.marked) {
		b.marked = append(b.marked, false)
		b.free.add()
		b.maps.add()
		b.all.add()
		b.first = append(b.first, never)
		b.reduces = append(b.reduces, nil)
	}
	if !b.marked[n] {
		b.marked[n] = true
		b.dirty = append(b.dirty, n)
	}
}

// drain brings the books up to date.
func (b *books) drain(v policy.View) {
	for _, id := range b.dirty {
		b.marked[id] = false
		b.count(v, id)
	}
	b.dirty = b.dirty[:0]
}

// lost is what a node that is down offers.
var lost = heddle.Resource{math.MinInt64 / 2, math.MinInt64 / 2, math.MinInt64 / 2, math.MinInt64 / 2}

// count counts a node again.
func (b *books) count(v policy.View, id heddle.NodeID) {
	n := v.Node(id)
	was := b.all.of[id]
	old := b.reduces[id]
	b.fresh = b.fresh[:0]
	if n == nil || !n.Up() {
		b.free.set(id, lost)
		b.maps.set(id, lost)
		b.all.set(id, lost)
	} else {
		var maps, reduces heddle.Resource
		n.Each(func(x *policy.Container) bool {
			switch x.Kind() {
			case heddle.Map:
				maps = maps.Plus(x.Limit())
			case heddle.Reduce:
				reduces = reduces.Plus(x.Limit())
				b.fresh = append(b.fresh, running{x.ID(), x.Limit(), b.end(v, x, old)})
			default: // held for as long as its application likes
			}
			return true
		})
		maps = maps.Plus(n.Free())
		b.free.set(id, n.Free())
		b.maps.set(id, maps)
		b.all.set(id, maps.Plus(reduces))
	}
	b.reduces[id] = append(old[:0], b.fresh...)
	b.order(id)
	if !b.all.of[id].Fits(was) {
		b.stamp++
	}
}

// end returns the time at which a reduce is predicted to end: the earlier prediction, until the reduce reports again.
func (b *books) end(v policy.View, x *policy.Container, old []running) heddle.Time {
	for i := range old {
		if old[i].id == x.ID() {
			return old[i].y
		}
	}
	return b.estimate(v, x)
}

func (b *books) estimate(v policy.View, x *policy.Container) heddle.Time {
	if b.rest == nil {
		return never
	}
	rest, ok := b.rest.Remaining(v, x)
	if !ok {
		return never
	}
	return v.Now().Plus(rest)
}

// predict predicts a running reduce's end again.
func (b *books) predict(v policy.View, x *policy.Container) {
	n := x.Node().ID()
	for i := range b.reduces[n] {
		if r := &b.reduces[n][i]; r.id == x.ID() {
			r.y = b.estimate(v, x)
			b.order(n)
			return
		}
	}
}

// order sorts a node's reduces by their ends.
func (b *books) order(id heddle.NodeID) {
	b.first[id] = never
	if r := b.reduces[id]; len(r) > 0 {
		sortEnds(r)
		b.first[id] = r[0].y
	}
}

// Check implements [policy.Checker]: the counts of every unmarked node are right.
func (b *books) Check(v policy.View) (broken []string) {
	for i := range b.free.of {
		n := v.Node(heddle.NodeID(i))
		if b.marked[i] || n == nil || !n.Up() {
			continue
		}
		maps, all, reduces := n.Free(), n.Free(), 0
		n.Each(func(x *policy.Container) bool {
			switch x.Kind() {
			case heddle.Map:
				maps = maps.Plus(x.Limit())
				all = all.Plus(x.Limit())
			case heddle.Reduce:
				all = all.Plus(x.Limit())
				reduces++
			default: // not counted
			}
			return true
		})
		if b.free.of[i] != n.Free() || b.maps.of[i] != maps || b.all.of[i] != all || len(b.reduces[i]) != reduces {
			broken = append(broken, "ikayak-books: a node's free resources, maps or reduces were counted wrong")
		}
	}
	return broken
}
