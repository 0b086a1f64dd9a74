package coupling

import (
	"errors"
	"math"
	"math/rand/v2"

	"heddle"
	"heddle/policy"
)

// Beta returns β_j, the weight of the nodes that hold input of a job: the more maps are pending for each node with a
// free slot, the nearer it is to 1.
//
// Reference: Eq. 3, below it.
func Beta(M, N float64) float64 { return 0.1 + 0.9*-math.Expm1(-M/max(N, 1)) }

// Chance returns p_j, the probability with which a map candidate of job j is launched on a node that holds no input of
// the job. share is p̂_m, the share of nodes that hold input of its pending maps. N is N̂_m, the number of nodes with a
// free map slot.
//
// Reference: Eq. 3.
func Chance(α, share, β, N float64) float64 { return 1 - α*math.Pow(share, β)*-math.Expm1(-N) }

// PeekOptions are the options of Alg. 3.
type PeekOptions struct {
	// Sample is K, the number of nodes that are checked for free slots and, while some node is down, for input of asks that
	// name more hosts; all live nodes if there are no more than that.
	Sample int `yaml:"sample"`
	// Slots is how many maps a node takes; 0 = as many as their lane allows, or as there is room for.
	Slots int `yaml:"slots"`
	// Beta fixes β; if left out, β is [Beta] of the pending maps and the free nodes.
	Beta *float64 `yaml:"beta"`
	// AlphaReduce, AlphaRack and AlphaOff are α: AlphaReduce if the job has data in the rack and one of its reduces
	// runs on the node, AlphaRack if it has data in the rack, and AlphaOff elsewhere.
	AlphaReduce float64 `yaml:"alpha_reduce"`
	AlphaRack   float64 `yaml:"alpha_rack"`
	AlphaOff    float64 `yaml:"alpha_off"`
	// Others leaves the node itself out of the nodes with a free slot. The definition counts every node; the remark
	// that p is 1 when there are none holds for the others only.
	Others bool `yaml:"others"`
	// Once gives a job one candidate in a heartbeat, since a job that chance denies skips the heartbeat. If it is
	// false, a job has a candidate for every free slot of the node.
	Once bool `yaml:"once"`
	// Beat is the time in seconds between a node's reports for which the chance is p: the heartbeat of the paper's
	// Hadoop. If a node reports sooner, a candidate's chance is reduced so that it starts in the same time. 0 = the
	// chance is p at every report.
	Beat float64 `yaml:"beat"`
}

// DefaultPeek holds the paper's options; the whole of its cluster of 62 nodes was sampled. In Hadoop 0.20 a node
// reports at most once every 3 s: MRConstants.HEARTBEAT_INTERVAL_MIN.
var DefaultPeek = PeekOptions{Sample: 64, AlphaReduce: 0.7, AlphaRack: 0.8, AlphaOff: 1, Once: true, Beat: 3}

// Within returns the chance of a candidate at a report when only part of the paper's heartbeat has passed since the
// report before. chance is the chance after a whole heartbeat: consecutive reports give the same chance in all.
func Within(chance, part float64) float64 {
	if part >= 1 {
		return chance
	}
	return 1 - math.Pow(1-chance, part)
}

// A Peek is random peeking: maps start at once on a node without their data, with a probability that falls with what
// other nodes could do for them.
//
// Reference: Alg. 3.
type Peek struct {
	o     PeekOptions
	rand  *rand.Rand
	beat  uint64          // number of the heartbeat
	drawn uint64          // the heartbeat for which the sample was drawn
	nodes []heddle.NodeID // the sample
	asks  []draws         // by ask

	counted uint64  // the heartbeat for which N was computed
	N       float64 // nodes with a free slot, N̂_m

	last []heddle.Time // by node: when chance last decided there
	part float64       // the part of a heartbeat that has passed since then, for the node that reports
	of   uint64        // the heartbeat for which part was computed
}

// never marks a node on which chance has not decided yet.
const never = heddle.Time(-1)

// draws is an ask's state in a heartbeat.
type draws struct {
	beat   uint64
	left   int // candidates of the ask on which chance has yet to decide
	chance float64
}

// NewPeek returns the place.
func NewPeek(a policy.Args) (policy.Place, error) {
	o := DefaultPeek
	if err := a.Decode(&o); err != nil {
		return nil, err
	}
	fraction := func(x float64) bool { return x >= 0 && x <= 1 }
	switch {
	case o.Sample < 1:
		return nil, errors.New("coupling.peek: sample must be at least 1: it is the number of nodes to look at")
	case o.Slots < 0:
		return nil, errors.New("coupling.peek: slots must be at least 0; leave it out to have it follow the lane")
	case !(o.Beat >= 0 && o.Beat <= math.MaxInt32):
		return nil, errors.New("coupling.peek: beat must be at least 0: it is the interval of reports, in seconds, that leaves the chance unchanged")
	case o.Beta != nil && !(*o.Beta >= 0 && *o.Beta <= math.MaxFloat64):
		return nil, errors.New("coupling.peek: beta must be at least 0; leave it out to have it follow the pending maps")
	case !fraction(o.AlphaReduce) || !fraction(o.AlphaRack) || !fraction(o.AlphaOff):
		return nil, errors.New("coupling.peek: alpha_reduce, alpha_rack and alpha_off must be between 0 and 1")
	}
	return &Peek{o: o, rand: a.Rand, beat: 1, part: 1}, nil
}

// Hears implements [policy.Listener].
func (p *Peek) Hears() policy.News { return policy.NodeReported }

// Hear implements [policy.Listener]: it counts heartbeats.
func (p *Peek) Hear(policy.View, policy.Effect) { p.beat++ }

// Judge implements [policy.Place]. A free slot of the node is a candidate for the order's first job: one slot in a
// heartbeat with once, otherwise every one. If chance denies the first job a slot, it may grant the slot to the next.
func (p *Peek) Judge(v policy.View, k *policy.Ask, n *policy.Node, at heddle.Locality) policy.Verdict {
	if at == heddle.NodeLocal || k.Places() == 1 || n.BookedFor(k) {
		return policy.Yes
	}
	if v.Prompted() { // chance decides once a heartbeat
		return policy.No(heddle.WaitLocal)
	}
	for k.ID() >= len(p.asks) {
		p.asks = append(p.asks, draws{})
	}
	d := &p.asks[k.ID()]
	if d.beat != p.beat {
		*d = draws{beat: p.beat, left: p.slots(v, k, n), chance: Within(p.chance(v, k, n), p.since(v, n))}
		if p.o.Once {
			d.left = min(d.left, 1)
		}
	}
	for ; d.left > 0; d.left-- {
		if p.rand.Float64() < d.chance {
			d.left--
			return policy.Yes
		}
	}
	return policy.No(heddle.WaitLocal)
}

// since returns the part of a heartbeat that has passed since chance last decided on the node, at most 1.
func (p *Peek) since(v policy.View, n *policy.Node) float64 {
	if p.o.Beat == 0 || p.of == p.beat {
		return p.part
	}
	for int(n.ID()) >= len(p.last) {
		p.last = append(p.last, never)
	}
	p.of, p.part = p.beat, 1
	if last := p.last[n.ID()]; last != never {
		p.part = min(v.Now().Since(last).Seconds()/p.o.Beat, 1)
	}
	p.last[n.ID()] = v.Now()
	return p.part
}

// most returns how many containers of the ask's kind the node takes, whatever room it has; 0 = no bound.
func (p *Peek) most(v policy.View, k *policy.Ask, n *policy.Node) int {
	if p.o.Slots > 0 {
		return p.o.Slots
	}
	return v.Slots(n, k.Kind())
}

// slots returns how many containers of the ask the node could start now.
func (p *Peek) slots(v policy.View, k *policy.Ask, n *policy.Node) int {
	if most := p.most(v, k, n); most > 0 {
		return most - n.Running(k.Kind())
	}
	fit := int64(math.MaxInt32)
	room, size := n.Room(k.App()), k.Size()
	for d := range size {
		if size[d] > 0 && v.Counts(heddle.Dim(d)) {
			fit = min(fit, room[d]/size[d])
		}
	}
	return int(fit)
}

// chance is Eq. 3 for an ask without data on the node.
func (p *Peek) chance(v policy.View, k *policy.Ask, n *policy.Node) float64 {
	share := p.holding(v, k)
	N := p.free(v, k, n)
	β := Beta(float64(k.Count()), N)
	if p.o.Beta != nil {
		β = *p.o.Beta
	}
	return Chance(p.alpha(k, n), share, β, N)
}

// holding returns p̂_m, the share of the live nodes that hold input of the ask. Hosts that are down start no map. If some
// node is down and the ask names more hosts than a sample has nodes, the share is that of the sample.
func (p *Peek) holding(v policy.View, k *policy.Ask) float64 {
	hosts, nodes := k.Hosts(), v.Live()
	switch {
	case nodes == v.NodeIDs(): // all are up
	case hosts > p.o.Sample:
		p.draw(v)
		hosts, nodes = 0, len(p.nodes)
		for _, id := range p.nodes {
			if k.AtHost(id) > 0 {
				hosts++
			}
		}
	default:
		hosts = 0
		k.EachHost(func(id heddle.NodeID) {
			if n := v.Node(id); n != nil && n.Up() {
				hosts++
			}
		})
	}
	return min(float64(hosts)/float64(max(nodes, 1)), 1)
}

// free estimates how many nodes have a free slot. With slots, the number is the same for every ask in a heartbeat.
func (p *Peek) free(v policy.View, k *policy.Ask, n *policy.Node) float64 {
	if p.counted == p.beat && p.most(v, k, n) > 0 {
		return p.N
	}
	p.draw(v)
	free, own := 0, 0
	for _, id := range p.nodes {
		switch o := v.Node(id); {
		case p.o.Others && o == n:
			own = 1
		case p.slots(v, k, o) > 0:
			free++
		}
	}
	p.counted = p.beat
	p.N = float64(v.Live()-own) * float64(free) / float64(max(len(p.nodes)-own, 1))
	return p.N
}

// draw takes the heartbeat's sample of live nodes: all of them, or a random choice.
func (p *Peek) draw(v policy.View) {
	if p.drawn == p.beat {
		return
	}
	p.drawn, p.nodes = p.beat, p.nodes[:0]
	if v.Live() <= p.o.Sample {
		for i := range v.NodeIDs() {
			if n := v.Node(heddle.NodeID(i)); n != nil && n.Up() {
				p.nodes = append(p.nodes, n.ID())
			}
		}
		return
	}
	for len(p.nodes) < p.o.Sample { // there are more live nodes than needed, so the loop ends
		if n := v.Node(heddle.NodeID(p.rand.IntN(v.NodeIDs()))); n != nil && n.Up() {
			p.nodes = append(p.nodes, n.ID())
		}
	}
}

func (p *Peek) alpha(k *policy.Ask, n *policy.Node) float64 {
	switch {
	case k.AtRack(n.Rack()) == 0:
		return p.o.AlphaOff
	case runs(n, k.App(), heddle.Reduce):
		return p.o.AlphaReduce
	}
	return p.o.AlphaRack
}
