package ikayak

import (
	"math"
	"slices"

	"heddle"
	"heddle/exp"
	"heddle/policy"
)

// The policies here are used in null arms and mutations: each has the form of one of iKayak's mechanisms, but decides
// at random or the wrong way round.

// A placer names the node of an executor step by step, as iKayak's placement does. The first step that has any suitable
// node chooses one of them.
type placer struct {
	steps []step
	stay  bool // like iKayak's option
	nodes []*policy.Node
}

// A step is one step of a placer; those after the first one reserve.
type step struct {
	room   func(*policy.Node) heddle.Resource
	choose func(of []*policy.Node) *policy.Node
}

// Judge implements [policy.Place].
func (*placer) Judge(policy.View, *policy.Ask, *policy.Node, heddle.Locality) policy.Verdict {
	return policy.Yes
}

// Pick implements [policy.Pick].
func (p *placer) Pick(v policy.View, k *policy.Ask) (heddle.NodeID, bool) {
	placed := k.Bookings() >= k.Count()
	for i, s := range p.steps {
		if placed && (p.stay || i > 0) {
			break
		}
		if p.collect(v, k, s.room); len(p.nodes) > 0 {
			return s.choose(p.nodes).ID(), true
		}
	}
	return heddle.NoNode, false
}

// collect lists the nodes that have enough of what of returns and are not reserved.
func (p *placer) collect(v policy.View, k *policy.Ask, of func(*policy.Node) heddle.Resource) {
	p.nodes = p.nodes[:0]
	for i := range v.NodeIDs() {
		n := v.Node(heddle.NodeID(i))
		if n != nil && n.Up() && n.Booked() == nil && !k.App().Excludes(n.ID()) && v.Fits(k.Size(), of(n)) {
			p.nodes = append(p.nodes, n)
		}
	}
}

// with returns a function for the room that a node has free or in containers of some kinds.
func with(kinds ...heddle.Kind) func(*policy.Node) heddle.Resource {
	return func(n *policy.Node) heddle.Resource {
		room := n.Free()
		n.Each(func(x *policy.Container) bool {
			if slices.Contains(kinds, x.Kind()) {
				room = room.Plus(x.Limit())
			}
			return true
		})
		return room
	}
}

// most chooses the node with the largest share of some room, or with sign −1 the one with the smallest.
func most(room func(*policy.Node) heddle.Resource, sign float64) func(of []*policy.Node) *policy.Node {
	return func(of []*policy.Node) *policy.Node {
		best, top := of[0], math.Inf(-1)
		for _, n := range of {
			if s := sign * room(n).Max(heddle.Resource{}).Share(n.Total()); s > top {
				best, top = n, s
			}
		}
		return best
	}
}

// drawn chooses a node at random.
func drawn(seed uint64) func(of []*policy.Node) *policy.Node {
	rng := exp.Chance(seed)
	return func(of []*policy.Node) *policy.Node { return of[rng.IntN(len(of))] }
}

// anyNode places executors at random.
func anyNode(seed uint64, set *policy.Set) {
	draw := drawn(seed)
	set.Place[heddle.Executor] = &placer{steps: []step{{(*policy.Node).Free, draw}, {(*policy.Node).Total, draw}}}
}

// anyReduces places executors as iKayak does until reduces must end: it then draws one of the nodes that would have
// room.
func anyReduces(seed uint64, set *policy.Set) {
	set.Place[heddle.Executor] = &placer{stay: true, steps: []step{
		{with(), most(with(), 1)}, {with(heddle.Map), most(with(heddle.Map), 1)}, {with(heddle.Map, heddle.Reduce), drawn(seed)},
	}}
}

// fullestNode is the placement with its sign flipped: it looks for the least of what iKayak looks for the most of.
func fullestNode(_ uint64, set *policy.Set) {
	least := most(with(heddle.Map), -1)
	set.Place[heddle.Executor] = &placer{steps: []step{{(*policy.Node).Free, least}, {(*policy.Node).Total, least}}}
}

// pauses suspends reduces as iKayak does, but different ones: those that choose picks, of jobs whose maps wait.
// Suspending reduces that do not run yet has no effect, since they cannot be suspended.
type pauses struct {
	choose func(x *policy.Container) bool
	frozen []heddle.ContainerID
	next   heddle.Time
	until  heddle.Time
}

// Every implements [policy.Control].
func (*pauses) Every() heddle.Span { return 5 * heddle.Second }

// Needs implements [policy.Needer].
func (*pauses) Needs() policy.Needs {
	return policy.Needs{Feeds: policy.Feeds{Progress: 3 * heddle.Second, Starts: true}, Can: heddle.Lends}
}

// Run implements [policy.Control]. It suspends every 300 s, for as long as iKayak's rule would if Spark held half.
func (p *pauses) Run(v policy.View, plan *policy.Plan) {
	const interval, length = 300 * heddle.Second, 105 * heddle.Second
	if v.Now() >= p.until {
		for _, id := range p.frozen {
			if x := v.Container(id); x != nil && x.Suspended() {
				plan.Resume(id)
			}
		}
		p.frozen = p.frozen[:0]
	}
	if v.Now() < p.next {
		return
	}
	p.next, p.until = v.Now().Plus(interval), v.Now().Plus(length)
	for i := range v.AppIDs() {
		a := v.App(heddle.AppID(i))
		if a == nil || a.Running(heddle.Reduce) == 0 || a.Waiting(heddle.Map) == 0 {
			continue
		}
		a.Each(func(x *policy.Container) bool {
			if x.Kind() == heddle.Reduce && !x.Suspended() && p.choose(x) {
				plan.Suspend(x.ID())
				p.frozen = append(p.frozen, x.ID())
			}
			return true
		})
	}
}

// suspendAny suspends every second reduce of those jobs, drawn at random.
func suspendAny(seed uint64, set *policy.Set) {
	rng := exp.Chance(seed)
	set.Control = []policy.Control{&pauses{choose: func(*policy.Container) bool { return rng.IntN(2) == 0 }}}
}

// instead returns an arm with policies replaced.
func instead(a exp.Arm, by func(seed uint64, set *policy.Set)) exp.Arm {
	a.Prepare = by
	return a
}

// as returns an arm under another arm's name, to replace it.
func as(name string, a exp.Arm) exp.Arm {
	a.Name = name
	return a
}
