package ikayak

import (
	"math"
	"math/rand/v2"

	"heddle"
	"heddle/exp"
	"heddle/policy"
)

// The policies here stand in null arms and mutations: each has the form of one of iKayak's mechanisms, and decides at random or
// the wrong way round.

// A placer names the node of an executor as iKayak's placement does, by another rule: one of those with room, else one that is
// reserved, of those that are large enough.
type placer struct {
	choose func(of []*policy.Node) *policy.Node
	nodes  []*policy.Node
}

// Judge implements [policy.Place].
func (*placer) Judge(policy.View, *policy.Ask, *policy.Node, heddle.Locality) policy.Verdict {
	return policy.Yes
}

// Pick implements [policy.Pick].
func (p *placer) Pick(v policy.View, k *policy.Ask) (heddle.NodeID, bool) {
	p.collect(v, k, (*policy.Node).Free)
	if len(p.nodes) == 0 && k.Bookings() < k.Count() {
		p.collect(v, k, (*policy.Node).Total)
	}
	if len(p.nodes) == 0 {
		return heddle.NoNode, false
	}
	return p.choose(p.nodes).ID(), true
}

// collect lists the nodes of which so much suffices, and which are not reserved.
func (p *placer) collect(v policy.View, k *policy.Ask, of func(*policy.Node) heddle.Resource) {
	p.nodes = p.nodes[:0]
	for i := range v.NodeIDs() {
		n := v.Node(heddle.NodeID(i))
		if n != nil && n.Up() && n.Booked() == nil && !k.App().Excludes(n.ID()) && v.Fits(k.Size(), of(n)) {
			p.nodes = append(p.nodes, n)
		}
	}
}

// anyNode has executors placed at random.
func anyNode(set *policy.Set) {
	rng := rand.New(rand.NewPCG(1, 2))
	set.Place[heddle.Executor] = &placer{choose: func(of []*policy.Node) *policy.Node { return of[rng.IntN(len(of))] }}
}

// fullestNode is the placement with its sign turned: of what iKayak looks for the most of, the least.
func fullestNode(set *policy.Set) {
	set.Place[heddle.Executor] = &placer{choose: func(of []*policy.Node) *policy.Node {
		best, least := of[0], math.Inf(1)
		for _, n := range of {
			room := n.Free()
			n.Each(func(x *policy.Container) bool {
				if x.Kind() == heddle.Map {
					room = room.Plus(x.Limit())
				}
				return true
			})
			if s := room.Max(heddle.Resource{}).Share(n.Total()); s < least {
				best, least = n, s
			}
		}
		return best
	}}
}

// pauses suspends reduces as iKayak does, but other ones: those that choose says, of jobs whose maps wait. Reduces that do not run yet cannot be
// suspended: nothing comes of it.
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
	return policy.Needs{Feeds: policy.Feeds{Progress: 3 * heddle.Second, Starts: true}, Agent: policy.Freezes}
}

// Run implements [policy.Control]: every 300 s for as long as iKayak's rule has it where Spark holds half.
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
func suspendAny(set *policy.Set) {
	rng := rand.New(rand.NewPCG(1, 2))
	set.Control = []policy.Control{&pauses{choose: func(*policy.Container) bool { return rng.IntN(2) == 0 }}}
}

// instead returns an arm with policies replaced.
func instead(a exp.Arm, by func(set *policy.Set)) exp.Arm {
	a.Prepare = by
	return a
}

// as returns an arm under another one's name, to stand in its place.
func as(name string, a exp.Arm) exp.Arm {
	a.Name = name
	return a
}
