package main

import (
	"fmt"
	"runtime"
	"time"

	"heddle"
	"heddle/conf"
	"heddle/policies"
	"heddle/policies/capacity"
	"heddle/sched"

	"heddle/bench/internal/measure"
)

const racks = 20

// size is that of every container.
var size = heddle.Of(1024, 1000)

// A harness is a core with nodes and running masters, and what its driver has to know.
type harness struct {
	measure.Shape
	core    *sched.Core
	now     heddle.Time
	step    heddle.Span // between events: every node reports in once a second
	held    []life
	waiting []bool // applications with grants they have not fetched
	fetch   []heddle.AppID
	beats   bool // containers go where a heartbeat comes from
	events  int
	turn    uint32 // of churn
}

// A life is a granted container.
type life struct {
	id   heddle.ContainerID
	node heddle.NodeID
	app  heddle.AppID
}

// newHarness starts the core: nodes up, applications submitted, each with its master running.
func newHarness(s measure.Shape, place string) (*harness, error) {
	set, err := policySet(s, place)
	if err != nil {
		return nil, err
	}
	b := &harness{
		Shape: s, core: sched.New(set.Set), step: heddle.Second / heddle.Span(s.Nodes), beats: place == "beat",
		waiting: make([]bool, s.Apps),
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
		b.do(heddle.Started{Container: m.id})
	}
	b.held = make([]life, 0, s.Asks+s.Nodes)
	return b, nil
}

// policySet is the capacity scheduler with as many equal queues as the shape has.
func policySet(s measure.Shape, place string) (*policies.Built, error) {
	var changes []string
	switch place {
	case "beat":
	case "spread", "pack":
		changes = []string{"place.map=" + place}
	default:
		return nil, fmt.Errorf("no place %q; want beat, spread or pack", place)
	}
	p, err := policies.Load("capacity", changes)
	if err != nil {
		return nil, err
	}
	cfg := conf.DefaultCapacity()
	leaf := cfg.Queues[1]
	leaf.Capacity = 1 / float64(s.Queues)
	cfg.Queues = append([]capacity.QueueConfig(nil), cfg.Queues[0])
	for i := range s.Queues {
		leaf.Path = fmt.Sprintf("root.q%d", i)
		cfg.Queues = append(cfg.Queues, leaf)
	}
	return policies.Build(p, policies.Env{Capacity: cfg})
}

// do gives the core an event and files what it decided.
func (b *harness) do(e heddle.Event) {
	b.now = b.now.Plus(b.step)
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

// round is one second: every node reports in, then every application with grants fetches them.
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

// ask has an application want so many containers.
func (b *harness) ask(app, count int) {
	row := heddle.Anywhere(20, heddle.Map, int32(count), size)
	b.do(heddle.Ask{App: heddle.AppID(app), Rows: []heddle.Row{row}})
}

// fill asks for everything and returns how long it took until all was granted and fetched.
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
