// Package uncrowded starts no more tasks on a node whose tasks wait more than they compute: its disk or
// network is the bottleneck, and another task would slow those that run and gain nothing. A task that has
// not been measured yet is taken to compute as much as others of its job, or else of the cluster. An application
// of which no task runs is refused nowhere.
//
// It looks at processor time alone, which is what a node can tell of a task; it knows nothing of disks.
package uncrowded

import (
	"errors"
	"math"

	"heddle"
	"heddle/cluster"
	"heddle/policy"
)

// Options are the place's.
type Options struct {
	// Least is how many tasks of a kind a node takes in any case, and Share the part of the node that they may
	// hold in any case, by the dominant resource.
	Least int     `yaml:"least"`
	Share float64 `yaml:"share"`
	// Of says whose part Share is: of the tasks of the kind alone, or of all maps and reduces of the node, so that
	// reduces find room where no maps are left.
	Of string `yaml:"of"`
	// Busy is the share of a vcore that the node's tasks of the kind must use on average for it to take another.
	Busy float64 `yaml:"busy"`
	// Patience is how many seconds an application is passed over at most before any node will do.
	Patience float64 `yaml:"patience"`
}

// What Share is the part of.
const (
	ofKind  = "kind"
	ofTasks = "tasks"
)

// Default are the defaults: a quarter of a node, which is two tasks where eight fit.
var Default = Options{Least: 1, Share: 0.25, Of: ofKind, Busy: 0.75, Patience: 600}

// sampleEvery is how often tasks are measured.
const sampleEvery = 5 * heddle.Second

// memory is the weight of the last measurement in a running mean.
const memory = 0.05

// A Place refuses crowded nodes.
type Place struct {
	o       Options
	byApp   [][heddle.NumKinds]mean
	cluster [heddle.NumKinds]mean
	late    bool // somebody's patience is over, or may be before it is looked again
}

// A mean is a running mean of the share of a vcore a task uses.
type mean struct {
	value float64
	known bool
}

func (m *mean) add(x float64) {
	if !m.known {
		m.value, m.known = x, true
		return
	}
	m.value += memory * (x - m.value)
}

// New returns the place.
func New(a policy.Args) (policy.Place, error) {
	o := Default
	if err := a.Decode(&o); err != nil {
		return nil, err
	}
	switch {
	case o.Least < 1:
		return nil, errors.New("uncrowded: least must be 1 or more")
	case !(o.Share >= 0 && o.Share <= 1):
		return nil, errors.New("uncrowded: share must be a part of a node, 0 to 1")
	case o.Of != ofKind && o.Of != ofTasks:
		return nil, errors.New("uncrowded: of must be kind or tasks, not " + o.Of)
	case !(o.Busy >= 0 && o.Busy <= 1):
		return nil, errors.New("uncrowded: busy must be a share of a vcore, 0 to 1")
	case !(o.Patience > 0) || o.Patience > math.MaxInt32:
		return nil, errors.New("uncrowded: patience must be above 0 s")
	}
	return &Place{o: o}, nil
}

// Needs implements [policy.Needer].
func (p *Place) Needs() policy.Needs {
	return policy.Needs{Feeds: policy.Feeds{Profile: sampleEvery, Starts: true}}
}

// Hears implements [policy.Listener].
func (p *Place) Hears() policy.News { return policy.TaskUsage }

// Hear implements [policy.Listener]: it learns how much the tasks of a job compute.
func (p *Place) Hear(v policy.View, e policy.Effect) {
	x := e.Container
	if !measured(v, x) {
		return
	}
	used := share(x)
	p.cluster[x.Kind()].add(used)
	id := x.App().ID()
	for int(id) >= len(p.byApp) {
		p.byApp = append(p.byApp, [heddle.NumKinds]mean{})
	}
	p.byApp[id][x.Kind()].add(used)
}

// Judge implements [policy.Place].
func (p *Place) Judge(v policy.View, k *policy.Ask, n *policy.Node, _ heddle.Locality) policy.Verdict {
	running := n.Running(k.Kind())
	if running < p.o.Least || k.App().Unserved() || v.Now().Since(k.App().PassedOver()) > heddle.Seconds(p.o.Patience) {
		return policy.Yes
	}
	used, held := 0.0, k.Size()
	n.Each(func(x *policy.Container) bool {
		if x.Kind() == k.Kind() || p.o.Of == ofTasks && (x.Kind() == heddle.Map || x.Kind() == heddle.Reduce) {
			held = held.Plus(x.Limit())
		}
		if x.Kind() == k.Kind() && !x.Suspended() {
			used += p.expect(v, x)
		}
		return true
	})
	if held.Share(n.Total()) <= p.o.Share || used >= p.o.Busy*float64(running) {
		return policy.Yes
	}
	no := policy.No(heddle.NodeCrowded)
	if !p.late && v.Unserved() == 0 && held.Minus(k.Size()).Share(n.Total()) >= p.o.Share {
		no.Skip = policy.SkipKind // whoever asks, and for however little: every container has some of each resource
	}
	return no
}

// Ticks implements [policy.Ticker].
func (p *Place) Ticks() (every, phase heddle.Span) { return sampleEvery, 0 }

// Tick implements [policy.Ticker]: it looks whether anybody's patience ends before the next time.
func (p *Place) Tick(v policy.View) bool {
	p.late = heddle.Seconds(p.o.Patience) <= sampleEvery
	for i := range v.AppIDs() {
		if a := v.App(heddle.AppID(i)); a != nil && !a.Pending().IsZero() {
			p.late = p.late || v.Now().Since(a.PassedOver())+sampleEvery > heddle.Seconds(p.o.Patience)
		}
	}
	return false
}

// expect is the share of a vcore that a task uses, as far as anybody knows; 1 where nobody does.
func (p *Place) expect(v policy.View, x *policy.Container) float64 {
	id, kind := int(x.App().ID()), x.Kind()
	usual := 1.0
	switch {
	case id < len(p.byApp) && p.byApp[id][kind].known:
		usual = p.byApp[id][kind].value
	case p.cluster[kind].known:
		usual = p.cluster[kind].value
	}
	if measured(v, x) {
		return min(usual, share(x))
	}
	return usual
}

// measured reports whether a task has run for long enough to have been measured.
func measured(v policy.View, x *policy.Container) bool {
	return x.State() == cluster.Running && v.Now().Since(x.Started()) >= 2*sampleEvery
}

// share is how much of a vcore a task uses, or of what it may use, where that is less: one that others have
// shrunk does not wait because it is small.
func share(x *policy.Container) float64 {
	cpu, _ := x.Usage()
	may := max(1, min(heddle.CPU.Unit(), x.Limit()[heddle.CPU]))
	return min(1, float64(cpu)/float64(may))
}
