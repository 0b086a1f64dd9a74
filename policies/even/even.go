// Package even spreads an application's containers of a kind evenly over nodes: a node takes no more while it holds
// more of them than the average over the nodes that are large enough for one.
//
// It is meant for reduces. A node that has just finished a wave of maps has room for several reduces, so the first node
// to report would get them all. Everything they copy, merge and write would then share one disk, and the job ends when
// the fullest node does.
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

// Options are the options of the placement.
type Options struct {
	// Patience is how many seconds an application may be passed over before any node will do. From then on, nodes take
	// as many of its containers as the fullest one that was taken after such a wait.
	Patience float64 `yaml:"patience"`
}

// Default waits for the reports of a few other nodes.
var Default = Options{Patience: 5}

// A Place refuses nodes that hold more of an application's containers than others.
type Place struct {
	o       Options
	refused bool        // an application was refused that may be accepted once its patience is over
	looked  heddle.Time // when patience was last checked
	large   []large     // one per size asked for since nodes last changed
	waited  map[group]int
	judges  [heddle.NumKinds]bool // kinds whose nodes it has judged
}

// group is an application's containers of a kind. Once one of them has been taken after a long enough wait, other nodes
// are taken to have no room for them: each may have as many as the node that took it.
type group struct {
	app  heddle.AppID
	kind heddle.Kind
}

// large is the number of nodes that are large enough for a container of a size.
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
	return &Place{o: o, large: make([]large, 0, sizes), waited: map[group]int{}}, nil
}

// Judge implements [policy.Place]. An application that has reserved the node takes it.
func (p *Place) Judge(v policy.View, k *policy.Ask, n *policy.Node, _ heddle.Locality) policy.Verdict {
	a, kind := k.App(), k.Kind()
	all := a.Running(kind)
	if !v.Explaining() {
		p.judges[kind] = true
		if all == 0 {
			delete(p.waited, group{a.ID(), kind})
		}
	}
	if all == 0 || n.Running(kind) == 0 || n.BookedFor(k) || here(a, kind, n) <= p.most(v, k, all) {
		return policy.Yes
	}
	if v.Now().Since(a.PassedOver()) > heddle.Seconds(p.o.Patience) {
		return policy.Yes
	}
	p.refused = p.refused || !v.Explaining()
	return policy.No(heddle.NotPicked)
}

// here returns how many of an application's containers of a kind are on a node.
func here(a *policy.App, kind heddle.Kind, n *policy.Node) (count int) {
	n.Each(func(x *policy.Container) bool {
		if x.App() == a && x.Kind() == kind {
			count++
		}
		return true
	})
	return count
}

// most returns how many of an application's containers of an ask's kind a node may hold and still take another one at
// once; all is how many of them run.
func (p *Place) most(v policy.View, k *policy.Ask, all int) int {
	return max(all/max(1, p.largeEnough(v, k.Size())), p.waited[group{k.App().ID(), k.Kind()}])
}

// taken records a node that took a container although it held more of them than the average: the application has waited
// for it, or had reserved it.
func (p *Place) taken(v policy.View, x *policy.Container) {
	a, kind := x.App(), x.Kind()
	if before := here(a, kind, x.Node()) - 1; before > p.most(v, x.Ask(), a.Running(kind)-1) {
		p.waited[group{a.ID(), kind}] = before
	}
}

// sizes is the number of sizes for which [Place] caches how many nodes are large enough.
const sizes = 16

// largeEnough returns how many nodes could hold a container of a size if they were empty.
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
func (*Place) Hears() policy.News { return policy.NodesChanged | policy.Granted | policy.AppDone }

// Hear implements [policy.Listener].
func (p *Place) Hear(v policy.View, e policy.Effect) {
	switch {
	case e.App == nil:
		p.large = p.large[:0]
		return
	case e.What == policy.Granted:
		if p.judges[e.Container.Kind()] {
			p.taken(v, e.Container)
		}
		return
	}
	for kind := range heddle.Kind(heddle.NumKinds) {
		delete(p.waited, group{e.App.ID(), kind})
	}
}

// Ticks implements [policy.Ticker].
func (*Place) Ticks() (_, phase heddle.Span) { return every, 0 }

// every is how often the patience of waiting applications is checked.
const every = 3 * heddle.Second

// Tick implements [policy.Ticker].
func (p *Place) Tick(v policy.View) (late bool) {
	if p.refused {
		late, p.refused = policy.Patience(v, heddle.Seconds(p.o.Patience), p.looked)
	}
	p.looked = v.Now()
	return late
}
