package main

import (
	"fmt"
	"runtime"
	"slices"
	"time"

	"heddle"
	"heddle/conf"
	"heddle/policies"
	"heddle/policies/capacity"
	"heddle/policies/fair"
	"heddle/policy"
	"heddle/sched"

	"heddle/bench/internal/measure"
)

const racks = 20

// size is the size of every container.
var size = heddle.Of(1024, 1000)

// A load is what a core is made of and what it has to do.
type load struct {
	shape   measure.Shape
	profile string
	place   string // for maps: beat, spread or pack
	kind    string // of the asks: map, executor, or both, which alternate by application
}

// kinds returns what the applications ask for, in turn.
func (l load) kinds() ([]heddle.Kind, error) {
	switch l.kind {
	case "map":
		return []heddle.Kind{heddle.Map}, nil
	case "executor":
		return []heddle.Kind{heddle.Executor}, nil
	case "both":
		return []heddle.Kind{heddle.Map, heddle.Executor}, nil
	}
	return nil, fmt.Errorf("no kind %q; want map, executor or both", l.kind)
}

// A harness is a core with nodes and running masters, and the state of its driver.
type harness struct {
	measure.Shape
	core    *sched.Core
	kinds   []heddle.Kind // asked for, alternating by application
	now     heddle.Time
	step    heddle.Span // between events: every node reports once per second
	held    []life
	waiting []bool // applications with grants that they have not fetched
	fetch   []heddle.AppID
	beats   bool // containers go where a heartbeat comes from
	profile bool // a policy uses the usage of tasks
	events  int
	turn    uint32 // for churn
	next    int    // the node to report if the one with room is left as it is
}

// A life is a granted container.
type life struct {
	id   heddle.ContainerID
	node heddle.NodeID
	app  heddle.AppID
}

// newHarness starts the core: nodes up, applications submitted, each with its master running.
func newHarness(l load) (*harness, error) {
	kinds, err := l.kinds()
	if err != nil {
		return nil, err
	}
	set, err := l.policySet()
	if err != nil {
		return nil, err
	}
	s := l.shape
	s.Queues = len(set.Queues) - 1 // without the root
	for i := range set.Lanes {
		lane := &set.Lanes[i]
		if lane.PerVcore > 0 { // to measure what is asked for, not what a fraction of the vcores leaves of it
			lane.Slots = policy.Slots{PerNode: s.Slots()}
		}
		if n := lane.PerNode; n > 0 && slices.ContainsFunc(kinds, func(k heddle.Kind) bool { return slices.Contains(lane.Kinds, k) }) {
			s.Asks = min(s.Asks, (n-1)*s.Nodes) // one slot per node stays free, as some room does
		}
	}
	b := &harness{
		Shape: s, core: sched.New(set.Set), kinds: kinds, step: heddle.Second / heddle.Span(s.Nodes), beats: l.place == "beat",
		profile: set.Feeds.Profile > 0, waiting: make([]bool, s.Apps),
	}
	for i := range s.Nodes {
		b.do(heddle.NodeUp{Node: heddle.NodeID(i), Rack: heddle.RackID(i % racks), Total: size.Times(int64(s.Slots()))})
	}
	for i := range s.Apps {
		b.do(heddle.Submit{App: heddle.AppID(i), Queue: heddle.QueueID(1 + i%s.Queues), Framework: heddle.MapReduce, Master: size})
	}
	for round := 0; len(b.held) < s.Apps; round++ {
		if round == s.Slots() {
			return nil, fmt.Errorf("%d of %d masters were granted in %d rounds of heartbeats", len(b.held), s.Apps, round)
		}
		b.round()
	}
	for _, m := range b.held {
		b.started(m)
	}
	b.held = make([]life, 0, s.Asks+s.Nodes)
	return b, nil
}

// policySet returns that of the profile, with as many equal queues as the shape has if the profile has a tree of
// queues.
func (l load) policySet() (*policies.Built, error) {
	var changes []string
	switch l.place {
	case "beat":
	case "spread", "pack":
		changes = []string{"place." + heddle.Map.String() + "=" + l.place}
	default:
		return nil, fmt.Errorf("no place %q; want beat, spread or pack", l.place)
	}
	p, err := policies.Load(l.profile, changes)
	if err != nil {
		return nil, err
	}
	byCapacity, byFair := conf.DefaultCapacity(), conf.DefaultFair()
	byCapacity.Queues = equal(byCapacity.Queues, l.shape.Queues, func(q *capacity.QueueConfig, path string) {
		q.Path, q.Capacity = path, 1/float64(l.shape.Queues)
	})
	byFair.Queues = equal(byFair.Queues, l.shape.Queues, func(q *fair.QueueConfig, path string) { q.Path = path })
	return policies.Build(p, policies.Env{Capacity: byCapacity, Fair: byFair, Minimum: size, Maximum: byCapacity.Maximum, Seed: 1})
}

// equal returns the root and n copies of the one queue there is, changed by name.
func equal[Q any](queues []Q, n int, name func(q *Q, path string)) []Q {
	out := queues[:1:1]
	for i := range n {
		leaf := queues[1]
		name(&leaf, fmt.Sprintf("root.q%d", i))
		out = append(out, leaf)
	}
	return out
}

// do gives the core an event and records its decisions.
func (b *harness) do(e heddle.Event) {
	b.now = b.now.Plus(b.step)
	if at, ok := b.core.Deadline(); ok && b.now >= at {
		b.take(heddle.Wake{})
	}
	b.take(e)
}

func (b *harness) take(e heddle.Event) {
	b.events++
	for _, d := range b.core.Step(b.now, e) {
		l, ok := d.(*heddle.Launch)
		if !ok {
			continue
		}
		b.held = append(b.held, life{l.Container, l.Node, l.App})
		if !b.waiting[l.App] {
			b.waiting[l.App] = true
			b.fetch = append(b.fetch, l.App)
		}
	}
}

// round is one second: every node reports, then every application with grants fetches them.
func (b *harness) round() {
	for i := range b.Nodes {
		b.do(heddle.Heartbeat{Node: heddle.NodeID(i)})
	}
	b.acquire()
}

func (b *harness) acquire() {
	for _, a := range b.fetch {
		b.do(heddle.Acquire{App: a})
		b.waiting[a] = false
	}
	b.fetch = b.fetch[:0]
}

// started starts a container, at full speed if a policy uses that.
func (b *harness) started(x life) {
	b.do(heddle.Started{Container: x.id})
	if b.profile {
		b.do(heddle.Profile{Container: x.id, CPU: size[heddle.CPU], Memory: size[heddle.Memory]})
	}
}

// ask makes an application want count containers.
func (b *harness) ask(app, count int) {
	row := heddle.Anywhere(20, b.kinds[app%len(b.kinds)], int32(count), size)
	b.do(heddle.Ask{App: heddle.AppID(app), Rows: []heddle.Row{row}})
}

// fill asks for everything and returns how long it took until everything was granted and fetched.
func (b *harness) fill() (time.Duration, error) {
	runtime.GC()
	start := time.Now()
	for i := range b.Apps {
		b.ask(i, b.Asks*(i+1)/b.Apps-b.Asks*i/b.Apps)
	}
	b.acquire()
	for round := 0; len(b.held) < b.Asks; round++ {
		if round > b.Asks {
			return 0, fmt.Errorf("%d of %d asks were granted", len(b.held), b.Asks)
		}
		b.round()
	}
	took := time.Since(start)
	return took, b.verify()
}

// verify adds up what is held on each node.
func (b *harness) verify() error {
	if len(b.held) != b.Asks {
		return fmt.Errorf("%d containers were granted, and %d asked for", len(b.held), b.Asks)
	}
	on := make([]int, b.Nodes)
	for _, x := range b.held {
		if on[x.node]++; on[x.node] > b.Slots() {
			return fmt.Errorf("node %d has room for %d containers, and was given more", x.node, b.Slots())
		}
	}
	if broken := b.core.Check(); len(broken) > 0 {
		return fmt.Errorf("the core's state is broken: %v", broken)
	}
	return nil
}
