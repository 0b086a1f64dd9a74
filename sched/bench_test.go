package sched_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"heddle"
	"heddle/cluster"
	"heddle/policies/capacity"
	"heddle/policies/fair"
	"heddle/policy"
	"heddle/policy/policytest"
	"heddle/sched"
)

// roomy returns schedulers with one queue whose limits leave room for a thousand masters.
func roomy() []scheduler {
	c := leafQueue("root.default", 0, 1)
	c.MaxAMShare, c.UserLimitFactor, c.MinimumUserLimit = 1, -1, 1
	f := fair.QueueConfig{Path: "root.default", Weight: 1, MaxAMShare: -1}
	return []scheduler{
		{name: "fifo", profile: "fifo"},
		{name: "capacity", profile: "capacity", capacity: capacityConfig(nil, c)},
		{name: "fair", profile: "fair", fair: fairConfig(nil, f)},
		{name: "ikayak", profile: "ikayak", capacity: capacityConfig(nil, c)},
		{name: "heddle", profile: "heddle", capacity: capacityConfig(nil, c)},
	}
}

const refused = 1000

// Refusing a thousand applications at a heartbeat does not allocate.
func TestRefusingAllocatesNothing(t *testing.T) {
	for _, s := range roomy() {
		t.Run(s.name, func(t *testing.T) {
			set := s.set()
			c := policytest.Refusing(set, refused)
			before := c.Counts().Refusals
			c.Step(1e15, heddle.Heartbeat{Node: 0})
			if s.name != "fifo" && c.Counts().Refusals-before != refused { // fifo sees that no ask fits
				t.Errorf("%d applications were refused of %d", c.Counts().Refusals-before, refused)
			}
			if n, _ := policytest.RefusalAllocs(s.set(), refused); n != 0 {
				t.Errorf("%v allocations", n)
			}
		})
	}
}

// BenchmarkRefused measures the cost of one application refused at a heartbeat.
func BenchmarkRefused(b *testing.B) {
	for _, s := range roomy()[1:] {
		b.Run(s.name, func(b *testing.B) {
			c := policytest.Refusing(s.set(), refused)
			var ev heddle.Event = heddle.Heartbeat{Node: 0}
			c.Step(1e15, ev)
			was := c.Counts().Refusals
			b.ReportAllocs()
			b.ResetTimer()
			for range b.N {
				c.Step(1e15, ev)
			}
			b.StopTimer()
			if n := c.Counts().Refusals - was; n != uint64(b.N)*refused {
				b.Fatalf("%d refusals in %d heartbeats", n, b.N)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/refused, "ns/refusal")
		})
	}
}

// A load keeps a full cluster busy: containers end, nodes report, and masters ask again.
type load struct {
	c     *sched.Core
	now   heddle.Time
	nodes int
	apps  int
	run   []heddle.ContainerID
	of    []heddle.AppID
}

func newLoad(set policy.Set, nodes, apps int) *load {
	l := &load{c: sched.New(set), nodes: nodes, apps: apps}
	leaf := heddle.QueueID(len(set.Queues) - 1)
	for n := range nodes {
		l.c.Step(0, heddle.NodeUp{Node: heddle.NodeID(n), Rack: heddle.RackID(n / 40), Total: heddle.Of(8192, 8000), Can: heddle.AllCaps})
	}
	for a := range apps {
		l.c.Step(0, heddle.Submit{App: heddle.AppID(a), Queue: leaf, Master: heddle.Of(1024, 1000)})
	}
	for range 40 {
		l.now = l.now.Plus(heddle.Second)
		for n := range nodes {
			l.step(heddle.Heartbeat{Node: heddle.NodeID(n)})
		}
		if len(l.run) == 0 {
			for a := range apps {
				l.ask(heddle.AppID(a))
			}
		}
	}
	return l
}

func (l *load) ask(a heddle.AppID) {
	l.step(heddle.Ask{App: a, Rows: []heddle.Row{heddle.Anywhere(20, heddle.Map, 200, heddle.Of(1024, 1000))}})
}

func (l *load) step(ev heddle.Event) {
	for _, d := range l.c.Step(l.now, ev) {
		if g, ok := d.(*heddle.Launch); ok && g.Kind != heddle.AM {
			l.run = append(l.run, g.Container)
			l.of = append(l.of, g.App)
		}
	}
}

// BenchmarkEvents measures the mean cost of an event on 10,000 full nodes with 1,000 applications waiting: of sixteen
// events, one is the end of a container, one its node's heartbeat, one a master's ask, and the rest are heartbeats of
// full nodes.
func BenchmarkEvents(b *testing.B) {
	for _, s := range roomy() {
		b.Run(s.name, func(b *testing.B) {
			l := newLoad(s.set(), 10_000, 1000)
			if len(l.run) < 10_000 {
				b.Fatalf("only %d containers run", len(l.run))
			}
			b.ReportAllocs()
			b.ResetTimer()
			at := 0
			for i := range b.N {
				switch i % 16 {
				case 0:
					at = (at + 7919) % len(l.run)
					id, app := l.run[at], l.of[at]
					node := l.c.View().Container(id).Node().ID()
					l.run[at], l.of[at] = l.run[len(l.run)-1], l.of[len(l.of)-1]
					l.run, l.of = l.run[:len(l.run)-1], l.of[:len(l.of)-1]
					l.step(heddle.Acquire{App: app})
					l.step(heddle.Exit{Container: id})
					l.step(heddle.Heartbeat{Node: node})
				case 1:
					l.ask(heddle.AppID(i / 16 % l.apps))
				default:
					l.now += heddle.Time(heddle.Second) / 10_000 // every node once a second
					l.step(heddle.Heartbeat{Node: heddle.NodeID(i * 31 % l.nodes)})
				}
			}
			b.StopTimer()
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N+b.N/16*2), "ns/event")
		})
	}
}

// A mix is a full cluster with every kind of event: every node reports each second, every task reports its progress
// every 3 s and its use every 5 s, and lasts a minute. Of ten jobs, two are Spark jobs; the others have maps, with data
// on three nodes each, and reduces.
type mix struct {
	*load
	set   policy.Set
	rand  *rand.Rand
	queue []heddle.Event
	node  heddle.NodeID
	spent map[string]time.Duration
	count map[string]int
}

func newMix(set policy.Set, nodes, apps int) *mix {
	m := &mix{
		load: &load{c: sched.New(set), nodes: nodes, apps: apps}, set: set, rand: rand.New(rand.NewPCG(1, 2)),
		spent: map[string]time.Duration{}, count: map[string]int{},
	}
	for n := range nodes {
		m.c.Step(0, heddle.NodeUp{Node: heddle.NodeID(n), Rack: heddle.RackID(n / 40), Total: heddle.Of(8192, 8000), Can: heddle.AllCaps})
	}
	leaf := heddle.QueueID(len(set.Queues) - 1)
	for a := range apps {
		e := heddle.Submit{App: heddle.AppID(a), Queue: leaf, Master: heddle.Of(1024, 1000), Facts: heddle.Facts{Maps: 200, Reduces: 20}}
		if a%5 == 0 {
			e.Framework, e.Facts = heddle.Spark, heddle.Facts{}
		}
		m.c.Step(0, e)
	}
	return m
}

// next returns the next event; a second of the cluster is one round over its nodes.
func (m *mix) next() heddle.Event {
	for len(m.queue) == 0 {
		m.report()
	}
	ev := m.queue[0]
	m.queue = m.queue[1:]
	return ev
}

// report queues what a node has to report, and what the masters do meanwhile.
func (m *mix) report() {
	m.queue = m.queue[:0]
	m.node++
	if int(m.node) == m.nodes {
		m.node = 0
	}
	m.now += heddle.Time(heddle.Second) / heddle.Time(m.nodes)
	v := m.c.View()
	if at, ok := m.c.Deadline(); ok && m.now >= at {
		m.queue = append(m.queue, heddle.Wake{})
	}
	if n := m.nodes / m.apps; int(m.node)%n == 0 { // every master once a second
		m.master(heddle.AppID(int(m.node) / n))
	}
	second := int64(m.now) / int64(heddle.Second)
	v.Node(m.node).Each(func(x *policy.Container) bool {
		id := int64(x.ID())
		switch {
		case x.Kind() == heddle.AM:
		case x.State() == cluster.Acquired:
			m.queue = append(m.queue, heddle.Started{Container: x.ID()})
		case x.State() != cluster.Running:
		case m.rand.IntN(60) == 0:
			m.queue = append(m.queue, heddle.Exit{Container: x.ID()})
			if x.Kind() == heddle.Map {
				m.queue = append(m.queue, heddle.Output{App: x.App().ID(), Node: m.node, Bytes: 1 << 20})
			}
		default:
			if (second+id)%3 == 0 {
				phase := heddle.MapRead
				if x.Kind() == heddle.Reduce {
					phase = heddle.ReduceCopy
				}
				m.queue = append(m.queue, heddle.Progress{Container: x.ID(), Phase: phase, Fraction: float64(second%60) / 60})
			}
			if (second+id)%5 == 0 {
				m.queue = append(m.queue, heddle.Profile{Container: x.ID(), CPU: 500 + id%500, Memory: 900})
			}
		}
		return true
	})
	if (second+int64(m.node))%3 == 0 { // on half of the nodes, tasks wait more than they compute
		m.queue = append(m.queue, heddle.NodeUsed{Node: m.node, CPU: (second + 2500*int64(m.node%2)) * 4, Idle: 2000 + second})
	}
	m.queue = append(m.queue, heddle.Heartbeat{Node: m.node})
}

// master queues an acquire, and a new ask if a job waits for little.
func (m *mix) master(id heddle.AppID) {
	a := m.c.View().App(id)
	if a == nil || a.Master() == nil {
		return
	}
	m.queue = append(m.queue, heddle.Acquire{App: id})
	one := heddle.Of(1024, 1000)
	if a.Framework() == heddle.Spark {
		if a.Waiting(heddle.Executor) == 0 && a.Running(heddle.Executor) < 20 {
			m.queue = append(m.queue, heddle.Ask{App: id, Rows: []heddle.Row{heddle.Anywhere(1, heddle.Executor, 20, heddle.Of(2048, 2000))}})
		}
		return
	}
	if a.Waiting(heddle.Map) > 20 {
		return
	}
	rows := []heddle.Row{heddle.Anywhere(10, heddle.Reduce, 20, one), heddle.Anywhere(20, heddle.Map, 200, one)}
	for range 60 {
		host := rows[1]
		host.Host, host.Count = heddle.NodeID(m.rand.IntN(m.nodes)), 10
		rack := rows[1]
		rack.Rack, rack.Count = heddle.RackID(host.Host/40), 10
		rows = append(rows, host, rack)
	}
	m.queue = append(m.queue, heddle.Ask{App: id, Rows: rows})
}

func (m *mix) step(ev heddle.Event) {
	from := time.Now()
	m.c.Step(m.now, ev)
	name := strings.ToLower(strings.TrimPrefix(fmt.Sprintf("%T", ev), "heddle."))
	m.spent[name] += time.Since(from)
	m.count[name]++
}

// BenchmarkMix measures the mean cost of an event on 10,000 full nodes, with 1,000 applications and every mechanism on,
// by type of event.
func BenchmarkMix(b *testing.B) {
	for _, s := range roomy() {
		if s.name != "capacity" && s.name != "heddle" {
			continue
		}
		b.Run(s.name, func(b *testing.B) {
			m := newMix(s.set(), 10_000, 1000)
			for m.now < heddle.Time(30*heddle.Second) {
				m.c.Step(m.now, m.next())
			}
			b.ResetTimer()
			for range b.N {
				m.step(m.next())
			}
			b.StopTimer()
			all, n := time.Duration(0), 0
			for name, d := range m.spent { // order: metrics are sorted by name
				b.ReportMetric(float64(d.Nanoseconds())/float64(m.count[name]), "ns/"+name)
				all, n = all+d, n+m.count[name]
			}
			b.ReportMetric(float64(all.Nanoseconds())/float64(n), "ns/event")
			v := m.c.View()
			b.ReportMetric(float64(v.Used()[heddle.Memory])/float64(v.Total()[heddle.Memory]), "full")
		})
	}
}

// BenchmarkOffer measures the cost of offering nodes at once for an ask, on 10,000 nodes with 1,000 applications and
// every mechanism on: with all applications waiting and no node with room, with one such node, and with room on all.
func BenchmarkOffer(b *testing.B) {
	set := roomy()[len(roomy())-1].set
	full := func() *mix {
		m := newMix(set(), 10_000, 1000)
		for m.now < heddle.Time(30*heddle.Second) {
			m.c.Step(m.now, m.next())
		}
		return m
	}
	b.Run("full", func(b *testing.B) {
		m := full()
		for i := 0; b.Loop(); i++ {
			m.c.Step(m.now, heddle.Offer{App: heddle.AppID(i % m.apps)})
		}
	})
	b.Run("one node free", func(b *testing.B) {
		o := offers{load: full().load}
		for i := range b.N {
			a := o.c.View().App(heddle.AppID(i % o.apps))
			if x := newest(a, heddle.Map); x != 0 {
				o.c.Step(o.now, heddle.Acquire{App: a.ID()})
				o.c.Step(o.now, heddle.Exit{Container: x})
			}
			o.offer(a.ID())
		}
		o.report(b)
	})
	b.Run("all free", func(b *testing.B) {
		o := offers{load: newLoad(set(), 10_000, 1000)}
		none := []heddle.Row{heddle.Anywhere(20, heddle.Map, 0, heddle.Of(1024, 1000))}
		for a := range o.apps {
			o.c.Step(o.now, heddle.Ask{App: heddle.AppID(a), Rows: none})
		}
		for i := range b.N {
			o.end()
			a := heddle.AppID(i % o.apps)
			rows := []heddle.Row{heddle.Anywhere(20, heddle.Map, 4, heddle.Of(1024, 1000))}
			for k := range 12 {
				host, rack := rows[0], rows[0]
				host.Host, host.Count = heddle.NodeID((i*31+k*977)%o.nodes), 1
				rack.Rack, rack.Count = heddle.RackID(host.Host/40), 1
				rows = append(rows, host, rack)
			}
			o.c.Step(o.now, heddle.Ask{App: a, Rows: rows})
			o.offer(a)
		}
		o.report(b)
	})
}

// offers is a load in which only Offers are timed.
type offers struct {
	*load
	spent   time.Duration
	granted int
}

func (o *offers) offer(a heddle.AppID) {
	before, from := len(o.run), time.Now()
	o.step(heddle.Offer{App: a})
	o.spent += time.Since(from)
	o.granted += len(o.run) - before
}

// end ends all running containers except masters.
func (o *offers) end() {
	for i, x := range o.run {
		o.c.Step(o.now, heddle.Acquire{App: o.of[i]})
		o.c.Step(o.now, heddle.Exit{Container: x})
	}
	o.run, o.of = o.run[:0], o.of[:0]
}

func (o *offers) report(b *testing.B) {
	b.ReportMetric(float64(o.spent.Nanoseconds())/float64(b.N), "ns/offer")
	b.ReportMetric(float64(o.granted)/float64(b.N), "grants")
}

// newest returns the application's newest container of a kind, or 0 if it has none.
func newest(a *policy.App, k heddle.Kind) (id heddle.ContainerID) {
	a.Each(func(x *policy.Container) bool {
		if x.Kind() == k {
			id = x.ID()
		}
		return id == 0
	})
	return id
}

// A shape is a cluster and what is asked of it: containers of 1 core and 10 MiB, and nodes with room for all the
// containers they get and one more.
type shape struct {
	name        string
	nodes, asks int
	queues      int
	apps        int
}

var shapes = []shape{{"A", 1000, 10_000, 10, 100}, {"B", 5000, 50_000, 10, 100}, {"C", 10_000, 100_000, 10, 1000}}

func (s shape) set(spread bool) policy.Set {
	var queues []capacity.QueueConfig
	for i := range s.queues {
		q := leafQueue(fmt.Sprintf("root.q%d", i), 0, 1/float64(s.queues))
		q.MaxAMShare, q.UserLimitFactor = 1, -1
		queues = append(queues, q)
	}
	changes := ""
	if spread {
		changes = "place: {other: spread}"
	}
	return scheduler{name: s.name, profile: "capacity", changes: changes, capacity: capacityConfig(func(c *capacity.Config) {
		c.Minimum, c.Maximum, c.MaxOffSwitch, c.MaxAssignments = heddle.Of(10, 1000), heddle.Of(1000, 100_000), 0, -1
		c.MaxApplications = 100_000
	}, queues...)}.set()
}

// BenchmarkAllocate grants every ask of a shape under the CapacityScheduler's rules: at heartbeats, or at once on the
// emptiest node.
func BenchmarkAllocate(b *testing.B) {
	for _, mode := range []string{"heartbeat", "spread"} {
		for _, s := range shapes {
			b.Run(mode+"/"+s.name, func(b *testing.B) {
				for range b.N {
					b.StopTimer()
					c := s.prepared(mode == "spread")
					b.StartTimer()
					s.allocate(b, c)
				}
				b.ReportMetric(float64(b.N)*float64(s.asks)/b.Elapsed().Seconds(), "grants/s")
			})
		}
	}
}

// prepared returns a core with all nodes up and every master running.
func (s shape) prepared(spread bool) *sched.Core {
	set := s.set(spread)
	c := sched.New(set)
	each := int64((s.asks+s.apps)/s.nodes + 2)
	for n := range s.nodes {
		c.Step(0, heddle.NodeUp{Node: heddle.NodeID(n), Rack: heddle.RackID(n / 40), Total: heddle.Of(10*each, 1000*each), Can: heddle.AllCaps})
	}
	for a := range s.apps {
		c.Step(0, heddle.Submit{App: heddle.AppID(a), Queue: heddle.QueueID(1 + a%s.queues), Master: heddle.Of(10, 1000)})
	}
	for n := range s.nodes {
		c.Step(1, heddle.Heartbeat{Node: heddle.NodeID(n)})
	}
	return c
}

func (s shape) allocate(b *testing.B, c *sched.Core) {
	granted := 0
	count := func(ds []heddle.Decision) {
		for _, d := range ds {
			if _, ok := d.(*heddle.Launch); ok {
				granted++
			}
		}
	}
	for a := range s.apps {
		count(c.Step(2, heddle.Ask{App: heddle.AppID(a), Rows: []heddle.Row{heddle.Anywhere(20, heddle.Other, int32(s.asks/s.apps), heddle.Of(10, 1000))}}))
	}
	for beat := 0; granted < s.asks && beat < 20; beat++ {
		for n := range s.nodes {
			count(c.Step(3, heddle.Heartbeat{Node: heddle.NodeID(n)}))
		}
	}
	if granted != s.asks {
		b.Fatalf("%d granted of %d", granted, s.asks)
	}
}
