// Package even spreads an application's containers of a kind evenly over nodes: none takes another while it holds more of them
// than there are on average on a node that is large enough for one.
//
// It is for reduces. A node that has just ended a wave of maps has room for several, so that whoever reports first gets them all.
// What they copy, merge and write shares one disk then, and the job ends when the fullest node does.
//
// The package knows nothing of what else is on a node.
package even

import (
	"errors"
	"math"
	"slices"

	"heddle"
	"heddle/policy"
)

// Options are the place's.
type Options struct {
	// Patience is how many seconds an application is passed over at most before any node will do.
	Patience float64 `yaml:"patience"`
}

// Default waits for a few reports of other nodes.
var Default = Options{Patience: 5}

// A Place refuses nodes that hold more than others.
type Place struct {
	o       Options
	refused bool        // somebody, who may not be once patience is over
	looked  heddle.Time // when it was looked whose is
	large   []large     // of the sizes asked for since nodes changed
}

// large is how many nodes are large enough for a container of a size.
type large struct {
	size  heddle.Resource
	nodes int
}

// New returns the place.
func New(a policy.Args) (policy.Place, error) {
	o := Default
	if err := a.Decode(&o); err != nil {
		return nil, err
	}
	if !(o.Patience > 0) || o.Patience > math.MaxInt32 {
		return nil, errors.New("even: patience must be above 0 s")
	}
	return &Place{o: o, large: make([]large, 0, sizes)}, nil
}

// Judge implements [policy.Place]. Who has the node reserved takes it.
func (p *Place) Judge(v policy.View, k *policy.Ask, n *policy.Node, _ heddle.Locality) policy.Verdict {
	a, kind := k.App(), k.Kind()
	all := a.Running(kind)
	if all == 0 || n.Running(kind) == 0 || n.BookedFor(k) || v.Now().Since(a.PassedOver()) > heddle.Seconds(p.o.Patience) {
		return policy.Yes
	}
	here, most := 0, all/max(1, p.largeEnough(v, k.Size()))
	n.Each(func(x *policy.Container) bool {
		if x.App() == a && x.Kind() == kind {
			here++
		}
		return here <= most
	})
	if here <= most {
		return policy.Yes
	}
	p.refused = p.refused || !v.Explaining()
	return policy.No(heddle.NotPicked)
}

// sizes is for how many sizes it is kept how many nodes are large enough.
const sizes = 16

// largeEnough is how many nodes could hold a container of a size if they were empty.
func (p *Place) largeEnough(v policy.View, size heddle.Resource) (nodes int) {
	if i := slices.IndexFunc(p.large, func(l large) bool { return l.size == size }); i >= 0 {
		return p.large[i].nodes
	}
	for i := range v.NodeIDs() {
		if n := v.Node(heddle.NodeID(i)); n != nil && n.Up() && v.Fits(size, n.Total()) {
			nodes++
		}
	}
	if len(p.large) == sizes {
		p.large = p.large[:0]
	}
	p.large = append(p.large, large{size, nodes})
	return nodes
}

// Hears implements [policy.Listener].
func (*Place) Hears() policy.News { return policy.NodesChanged }

// Hear implements [policy.Listener].
func (p *Place) Hear(policy.View, policy.Effect) { p.large = p.large[:0] }

// Ticks implements [policy.Ticker].
func (*Place) Ticks() (_, phase heddle.Span) { return every, 0 }

// every is how often it is looked whether somebody's patience is over.
const every = 3 * heddle.Second

// Tick implements [policy.Ticker].
func (p *Place) Tick(v policy.View) (late bool) {
	if p.refused {
		late, p.refused = policy.Patience(v, heddle.Seconds(p.o.Patience), p.looked)
	}
	p.looked = v.Now()
	return late
}
