package ikayak

import (
	"math"
	"slices"

	"heddle"
	"heddle/cluster"
	"heddle/policy"
)

// Books are what executor placement knows of every node: only nodes that an event touched are looked at again,
// before the next decision that needs them, or with the next event where a reduce started, whose end is
// predicted as of then.
type books struct {
	rest policy.Remaining // nil = nothing is known of remaining times

	// By node; nodes that are down have less than anybody needs.
	free    column        // R_free
	maps    column        // R_free + R_map
	all     column        // R_free + R_map + R_reduce
	first   []heddle.Time // the soonest end of a reduce
	reduces [][]running   // by their ends

	where  map[heddle.ContainerID]place
	apps   [][]heddle.ContainerID // ever granted, of applications that are not done
	dirty  []heddle.NodeID        // to be looked at again
	marked []bool                 // by node: is in dirty
	starts bool                   // a reduce started on one of them
	news   []heddle.ContainerID   // reduces whose end is to be predicted anew
	fresh  []running              // room for one node's reduces
	stamp  uint64                 // changes when some node may have come to offer more
}

// A place is where a container was granted.
type place struct {
	node heddle.NodeID
	app  heddle.AppID
	kind heddle.Kind
}

// Granted implements [policy.Granted].
func (b *books) Granted(_ policy.View, x *policy.Container) {
	if x.State() == cluster.Reserved { // it holds nothing yet
		b.stamp++
		return
	}
	b.enter(x)
}

// Adopted implements [policy.Adopter].
func (b *books) Adopted(_ policy.View, x *policy.Container) { b.enter(x) }

// enter takes note of a container that holds something from now on.
func (b *books) enter(x *policy.Container) {
	p := place{x.Node().ID(), x.App().ID(), x.Kind()}
	b.where[x.ID()] = p
	for int(p.app) >= len(b.apps) {
		b.apps = append(b.apps, nil)
	}
	b.apps[p.app] = append(b.apps[p.app], x.ID())
	b.mark(p.node)
	b.starts = b.starts || p.kind == heddle.Reduce
}

// Observe implements [policy.Observe]. Progress is acted on with the next event, when the estimate has
// heard of it too. Heartbeats bring nothing: those in vain may be left out.
func (b *books) Observe(v policy.View, ev heddle.Event) {
	if _, beat := ev.(heddle.Heartbeat); beat {
		return
	}
	if b.starts || len(b.news) > 0 {
		b.drain(v)
	}
	switch e := ev.(type) {
	case heddle.Progress:
		if x := v.Container(e.Container); x != nil && x.Kind() == heddle.Reduce {
			b.news = append(b.news, e.Container)
		}
	case heddle.Exit:
		b.ended(v, e.Container)
	case heddle.Release:
		b.ended(v, e.Container)
	case heddle.AppDone:
		b.done(e.App)
	case heddle.Exclude:
		b.stamp++
	case heddle.NodeUp:
		b.mark(e.Node)
	case heddle.NodeResized:
		if v.Node(e.Node) != nil {
			b.mark(e.Node)
		}
	case heddle.NodeDown, heddle.Wake: // containers anywhere may have ended with their masters, or been resized
		for i := range v.NodeIDs() {
			b.mark(heddle.NodeID(i))
		}
	default: // grants are told by Granted, and nothing else changes what nodes hold
	}
}

// ended takes note of a container's end, if it did end, and of that of all others where it was a master's.
func (b *books) ended(v policy.View, id heddle.ContainerID) {
	p, ok := b.where[id]
	if !ok || v.Container(id) != nil {
		return
	}
	delete(b.where, id)
	b.mark(p.node)
	if p.kind == heddle.AM {
		b.done(p.app)
	}
}

// done takes note of the end of whatever an application holds.
func (b *books) done(a heddle.AppID) {
	if int(a) >= len(b.apps) || a < 0 {
		return
	}
	for _, id := range b.apps[a] {
		if p, ok := b.where[id]; ok {
			delete(b.where, id)
			b.mark(p.node)
		}
	}
	b.apps[a] = nil
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
	b.dirty, b.starts = b.dirty[:0], false
	for _, id := range b.news {
		b.predict(v, id)
	}
	b.news = b.news[:0]
}

// lost is what a node that is down offers.
var lost = heddle.Resource{math.MinInt64 / 2, math.MinInt64 / 2, math.MinInt64 / 2, math.MinInt64 / 2}

// count looks at a node again.
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

// end is when a reduce is predicted to end: what was predicted before, until there is news of it.
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

// predict predicts a running reduce's end anew.
func (b *books) predict(v policy.View, id heddle.ContainerID) {
	x := v.Container(id)
	if x == nil {
		return
	}
	n := x.Node().ID()
	reduces := b.reduces[n]
	if i := slices.IndexFunc(reduces, func(r running) bool { return r.id == id }); i >= 0 {
		reduces[i].y = b.estimate(v, x)
		b.order(n)
	}
}

// order keeps a node's reduces by their ends.
func (b *books) order(id heddle.NodeID) {
	b.first[id] = never
	if r := b.reduces[id]; len(r) > 0 {
		sortEnds(r)
		b.first[id] = r[0].y
	}
}

// Check implements [policy.Checker]: every node not marked is as it was counted.
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
