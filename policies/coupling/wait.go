package coupling

import (
	"errors"
	"math/rand/v2"

	"heddle"
	"heddle/cluster"
	"heddle/policy"
)

// WaitOptions are the options of Alg. 2.
type WaitOptions struct {
	// D is how many of the cheapest nodes are kept.
	D int `yaml:"d"`
	// Slots is how many reduces a node takes; 0 = as many as their lane allows, or as there is room for.
	Slots int `yaml:"slots"`
	// Each lets every job look for a node at the same time. The paper has one candidate in the whole cluster.
	Each bool `yaml:"each"`
}

// DefaultWait holds the paper's options.
var DefaultWait = WaitOptions{D: 7}

// rounds is the number of rounds of heartbeats in which only certain nodes are accepted; in one more round, any node
// is.
const rounds = 3

// A Wait is wait scheduling: it holds reduces back until a node near the centrality of their job's intermediate data
// reports, for at most three rounds of heartbeats.
//
// Reference: Alg. 2.
type Wait struct {
	o       WaitOptions
	rand    *rand.Rand
	beat    uint64 // number of the heartbeat
	bids    []bid  // by ask; only the first if there is one candidate
	central central
}

// A bid is a candidate's search for a node.
type bid struct {
	app    heddle.AppID
	ask    int
	kind   heddle.Kind
	round  int           // 1 to rounds; one more accepts any node
	first  heddle.NodeID // the node whose offer began the round
	offers int           // in the round
	beat   uint64        // the last heartbeat that was counted
	list   []near        // L, as of the beginning of the round
}

// NewWait returns the place.
func NewWait(a policy.Args) (policy.Place, error) {
	o := DefaultWait
	if err := a.Decode(&o); err != nil {
		return nil, err
	}
	switch {
	case o.D < 1:
		return nil, errors.New("coupling.wait: d must be at least 1: it is the number of nodes to keep")
	case o.Slots < 0:
		return nil, errors.New("coupling.wait: slots must be at least 0; leave it out to have it follow the lane")
	}
	return &Wait{o: o, rand: a.Rand, beat: 1}, nil
}

// Needs implements [policy.Needer].
func (p *Wait) Needs() policy.Needs { return policy.Needs{Feeds: policy.Feeds{Output: true}} }

// Hears implements [policy.Listener].
func (p *Wait) Hears() policy.News { return policy.NodeReported | policy.Granted }

// Hear implements [policy.Listener]: it counts heartbeats, and notes that the candidate has launched its reduce.
//
// Reference: Alg. 2, lines 14 and 22.
func (p *Wait) Hear(_ policy.View, e policy.Effect) {
	if e.What == policy.NodeReported {
		p.beat++
		return
	}
	k := e.Container.Ask()
	if b := p.of(k); b.app == e.App.ID() && b.ask == k.ID() {
		b.app = heddle.NoApp
	}
}

// Judge implements [policy.Place]. The lane's order offers the node to the job with the largest mismatch first, so the
// first ask becomes the candidate.
func (p *Wait) Judge(v policy.View, k *policy.Ask, n *policy.Node, _ heddle.Locality) policy.Verdict {
	if n.BookedFor(k) {
		return policy.Yes // the reservation waits for room, not for a place
	}
	b := p.of(k)
	switch {
	case v.Prompted() && v.Explaining() && b.wanted(v):
		return b.answer(k, n)
	case v.Prompted(): // rounds consist of heartbeats
		return policy.No(heddle.WaitLocal)
	}
	if b.app != heddle.NoApp && !b.wanted(v) {
		b.app = heddle.NoApp
	}
	if fresh := b.beat != p.beat; fresh {
		b.beat = p.beat
		if b.app == heddle.NoApp { // lines 4 to 8
			p.begin(v, b, k)
			return policy.No(heddle.WaitLocal)
		}
		p.count(v, b, n)
	}
	return b.answer(k, n)
}

// answer returns the verdict on an ask and a node in the candidate's round.
func (b *bid) answer(k *policy.Ask, n *policy.Node) policy.Verdict {
	switch {
	case b.app != k.App().ID() || b.ask != k.ID():
		return policy.No(heddle.NotPicked)
	case b.round > rounds: // line 20
		return policy.Yes
	case b.near(n) && !runs(n, k.App(), k.Kind()): // line 12
		return policy.Yes
	}
	return policy.No(heddle.WaitLocal)
}

func (p *Wait) of(k *policy.Ask) *bid {
	i := 0
	if p.o.Each {
		i = k.ID()
	}
	for i >= len(p.bids) {
		p.bids = append(p.bids, bid{app: heddle.NoApp})
	}
	return &p.bids[i]
}

// wanted reports whether the candidate still asks for a container.
func (b *bid) wanted(v policy.View) bool {
	a := v.App(b.app)
	return a != nil && a.Waiting(b.kind) > 0
}

// begin makes an ask the candidate.
func (p *Wait) begin(v policy.View, b *bid, k *policy.Ask) {
	b.app, b.ask, b.kind = k.App().ID(), k.ID(), k.Kind()
	b.round, b.first, b.offers = 1, heddle.NoNode, 0
	p.fill(v, b)
}

// count counts a heartbeat that the candidate saw. Every node reports once in a round, so the next round begins when
// the node that began this one reports again.
//
// Reference: Alg. 2, lines 10 to 12, 20 and 25.
func (p *Wait) count(v policy.View, b *bid, n *policy.Node) {
	b.offers++
	if b.first == heddle.NoNode {
		b.first = n.ID()
		return
	}
	if b.first == n.ID() || b.offers > v.Live() {
		p.next(v, b, n.ID())
		b.offers = 1
	}
}

// next begins the candidate's next round with a node's offer.
func (p *Wait) next(v policy.View, b *bid, first heddle.NodeID) {
	b.round, b.first, b.offers = b.round+1, first, 0
	switch {
	case b.round > rounds+1:
		b.app = heddle.NoApp
	case b.round <= rounds:
		p.fill(v, b)
	}
}

// fill lists the nodes nearest to the candidate's data.
func (p *Wait) fill(v policy.View, b *bid) {
	a := v.App(b.app)
	var size heddle.Resource
	for _, k := range a.Asks() {
		if k.ID() == b.ask {
			size = k.Size()
		}
	}
	free := func(n *policy.Node) bool {
		most := p.o.Slots
		if most == 0 {
			most = v.Slots(n, b.kind)
		}
		return (most == 0 || n.Running(b.kind) < most) && v.Fits(size, n.Room(a)) && !a.Excludes(n.ID())
	}
	b.list = append(b.list[:0], p.central.nearest(v, a.Outputs(), p.o.D, p.rand.Uint64(), free)...)
}

// near reports whether the node is in the round's group of the list.
func (b *bid) near(n *policy.Node) bool {
	for i := range b.list {
		if b.list[i].node == n.ID() {
			return Group(i) == b.round
		}
	}
	return false
}

// runs reports whether a container of the application and kind is on the node.
func runs(n *policy.Node, a *policy.App, kind heddle.Kind) (found bool) {
	if a.Running(kind) == 0 || n.Running(kind) == 0 {
		return false
	}
	n.Each(func(x *policy.Container) bool {
		found = x.App() == a && x.Kind() == kind && x.State() != cluster.Reserved
		return !found
	})
	return found
}
