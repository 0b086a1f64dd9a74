// Package uncrowded starts no more tasks on a node whose tasks wait more than they compute: its disk or
// network is the bottleneck, and another task would slow those that run and gain next to nothing. Tasks that
// write gigabytes take turns then, in the profile's order, in place of sharing the disk with all others.
//
// It goes by what every NodeManager reports, which is how much processor time its containers use together. That is
// divided among them: a map, and a reduce whose job's maps are over, counts as one, an executor as its vcores.
// Masters use next to nothing, and so does a reduce that still copies: it waits for maps and not for the disk. A task
// that runs too shortly to have been measured is taken to compute as much as others of its job, or else of the
// cluster.
//
// A reduce that could only copy goes to no node of which tasks hold more than a part, however much they compute. One
// whose job's maps are over is refused nowhere, since it is all that its job waits for. Nor is a task of an
// application of which no task runs.
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
	// Share is the part of the node that maps and reduces may hold in any case, by the dominant resource. One that holds
	// none of them takes one in any case.
	Share float64 `yaml:"share"`
	// Busy is the share of a vcore that the node's tasks must use on average for it to take another.
	Busy float64 `yaml:"busy"`
	// Patience is how many seconds an application is passed over at most before any node will do.
	Patience float64 `yaml:"patience"`
}

// Default are the defaults: tasks that compute more than half of the time are let in.
var Default = Options{Share: 0.4, Busy: 0.6, Patience: 20}

// A Place refuses crowded nodes.
type Place struct {
	o       Options
	byApp   [][heddle.NumKinds]mean
	cluster [heddle.NumKinds]mean
	refused bool // somebody, since the last tick
	late    bool // somebody's patience is over, or may be before it is looked again
}

// A mean is a running mean of the share of a vcore a task uses.
type mean struct {
	value float64
	known bool
}

// memory is the weight of the last measurement in a running mean.
const memory = 0.05

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
	case !(o.Share >= 0 && o.Share <= 1):
		return nil, errors.New("uncrowded: share must be a part of a node, 0 to 1")
	case !(o.Busy >= 0 && o.Busy <= 1):
		return nil, errors.New("uncrowded: busy must be a share of a vcore, 0 to 1")
	case !(o.Patience > 0) || o.Patience > math.MaxInt32:
		return nil, errors.New("uncrowded: patience must be above 0 s")
	}
	return &Place{o: o}, nil
}

// Needs implements [policy.Needer].
func (p *Place) Needs() policy.Needs {
	return policy.Needs{Feeds: policy.Feeds{Nodes: true, Starts: true}}
}

// Hears implements [policy.Listener].
func (p *Place) Hears() policy.News { return policy.NodeUsage }

// Hear implements [policy.Listener]: it learns how much the tasks of jobs compute.
func (p *Place) Hear(v policy.View, e policy.Effect) {
	used, known := each(v, e.Node)
	if !known {
		return
	}
	e.Node.Each(func(x *policy.Container) bool {
		if !counts(x) || !measured(v, x) {
			return true
		}
		id := x.App().ID()
		for int(id) >= len(p.byApp) {
			p.byApp = append(p.byApp, [heddle.NumKinds]mean{})
		}
		p.byApp[id][x.Kind()].add(used)
		p.cluster[x.Kind()].add(used)
		return true
	})
}

// Judge implements [policy.Place].
func (p *Place) Judge(v policy.View, k *policy.Ask, n *policy.Node, _ heddle.Locality) policy.Verdict {
	a := k.App()
	if a.Unserved() || k.Kind() == heddle.Reduce && mapsOver(a) || v.Now().Since(a.PassedOver()) > heddle.Seconds(p.o.Patience) {
		return policy.Yes
	}
	now, known := each(v, n)
	if !known {
		now = 1
	}
	held, used, tasks := heddle.Resource{}, 0.0, 0
	n.Each(func(x *policy.Container) bool {
		if x.Kind() == heddle.Map || x.Kind() == heddle.Reduce {
			held = held.Plus(x.Limit())
		}
		if counts(x) && !x.Suspended() {
			used += p.expect(v, x, now)
			tasks++
		}
		return true
	})
	if held.IsZero() || held.Plus(k.Size()).Share(n.Total()) <= p.o.Share || k.Kind() != heddle.Reduce && used >= p.o.Busy*float64(tasks) {
		return policy.Yes
	}
	p.refused = p.refused || !v.Explaining()
	no := policy.No(heddle.NodeCrowded)
	if k.Kind() != heddle.Reduce && !p.late && v.Unserved() == 0 && held.Share(n.Total()) >= p.o.Share {
		no.Skip = policy.SkipKind // whoever asks, and for however little: every container has some of each resource
	}
	return no
}

// Ticks implements [policy.Ticker].
func (p *Place) Ticks() (every, phase heddle.Span) { return lookEvery, 0 }

// lookEvery is how often it is looked whether nodes are as crowded as before.
const lookEvery = 3 * heddle.Second

// Tick implements [policy.Ticker]: who was refused may not be any more. It looks whether anybody's patience ends before
// the next time.
func (p *Place) Tick(v policy.View) bool {
	p.late = heddle.Seconds(p.o.Patience) <= lookEvery
	for i := range v.AppIDs() {
		if a := v.App(heddle.AppID(i)); a != nil && !a.Pending().IsZero() {
			p.late = p.late || v.Now().Since(a.PassedOver())+lookEvery > heddle.Seconds(p.o.Patience)
		}
	}
	again := p.refused
	p.refused = false
	return again
}

// expect is the share of a vcore that a task uses, as far as anybody knows; 1 where nobody does. Now is what those
// of its node use that are measured.
func (p *Place) expect(v policy.View, x *policy.Container, now float64) float64 {
	id, kind := int(x.App().ID()), x.Kind()
	usual := 1.0
	switch {
	case id < len(p.byApp) && p.byApp[id][kind].known:
		usual = p.byApp[id][kind].value
	case p.cluster[kind].known:
		usual = p.cluster[kind].value
	}
	if measured(v, x) {
		return now
	}
	return usual
}

// each is the share of a vcore that one of the node's tasks uses, at most 1; false where none was measured.
func each(v policy.View, n *policy.Node) (used float64, known bool) {
	weights := 0.0
	n.Each(func(x *policy.Container) bool {
		if measured(v, x) {
			weights += weight(x)
		}
		return true
	})
	if weights < 1 {
		return 0, false
	}
	return min(1, float64(n.CPUUsed())/float64(heddle.CPU.Unit())/weights), true
}

// weight is how much of a node's processor time a container has, beside a task that counts.
func weight(x *policy.Container) float64 {
	switch {
	case x.Suspended():
		return 0
	case counts(x):
		return min(1, float64(x.Limit()[heddle.CPU])/float64(heddle.CPU.Unit()))
	case x.Kind() == heddle.Executor:
		return float64(x.Limit()[heddle.CPU]) / float64(heddle.CPU.Unit())
	default:
		return idle
	}
}

// idle is the weight of a container that mostly waits for others.
const idle = 0.1

// counts reports whether a container is a task that has work of its own to do: not a reduce that can only copy.
func counts(x *policy.Container) bool {
	return x.Kind() == heddle.Map || x.Kind() == heddle.Reduce && mapsOver(x.App())
}

// mapsOver reports whether an application has no maps left.
func mapsOver(a *policy.App) bool { return a.Waiting(heddle.Map)+a.Running(heddle.Map) == 0 }

// measured reports whether a container has run for long enough to be in what its node measured: NodeManagers measure
// every 3 s, and a container from the second time on.
func measured(v policy.View, x *policy.Container) bool {
	return x.State() == cluster.Running && v.Now().Since(x.Started()) >= 3*lookEvery
}
