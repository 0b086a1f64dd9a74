package policytest

import (
	"flag"
	"fmt"
	"strconv"
	"testing"

	"pgregory.net/rapid"

	"heddle"
	"heddle/policy"
	"heddle/sched"
)

// A Stream is a random sequence of possible events, fed to one core or to several that must answer alike. After every
// event the state is recounted and the answers are checked against a model that knows only what was asked for and what
// was granted.
type Stream struct {
	// Beat, if set, reports whether a core gets a heartbeat; the first core gets all.
	Beat func(core int, c *sched.Core, n heddle.NodeID, now heddle.Time) bool
	// Node translates a node for a core, and Back translates it back; nil leaves it as it is.
	Node, Back func(core int, n heddle.NodeID) heddle.NodeID
	// Users, Steady and Beats restrict the stream. Users is the number of users (0 means 3). With Steady, no master or
	// node is lost, no node is resized or excluded, nothing is asked without a master, and no container is found that
	// bypasses the limits. With Beats, only nodes that report are offered.
	Users  int
	Steady bool
	Beats  bool
	// Stock makes nodes do what NodeManagers do without an agent; otherwise some can do more and some less.
	Stock bool

	t      *rapid.T
	cores  []*sched.Core
	leaves []heddle.QueueID
	now    heddle.Time
	nodes  int
	up     []bool
	apps   []heddle.AppID
	given  []heddle.ContainerID
	next   heddle.AppID
	model  model
}

// streams is the number of random streams on which a property is tested.
const streams = 30

// Racks is the number of racks in a stream.
const Racks = 2

// NewStream starts a stream over fresh cores for the sets that make returns, with a few nodes up.
func NewStream(t *rapid.T, cores int, make func() policy.Set) *Stream {
	s := &Stream{t: t, model: newModel()}
	for range cores {
		set := make()
		s.cores = append(s.cores, sched.New(set))
		s.leaves = leaves(set.Queues)
	}
	s.nodes = rapid.IntRange(1, 6).Draw(t, "nodes")
	s.up = append(s.up, []bool{false, false, false, false, false, false}[:s.nodes]...)
	return s
}

func leaves(parents []heddle.QueueID) (out []heddle.QueueID) {
	inner := map[heddle.QueueID]bool{}
	for _, p := range parents {
		inner[p] = true
	}
	for i := range parents {
		if !inner[heddle.QueueID(i)] {
			out = append(out, heddle.QueueID(i))
		}
	}
	return out
}

// Core returns one of the cores.
func (s *Stream) Core(i int) *sched.Core { return s.cores[i] }

// Run makes up to most random steps.
func (s *Stream) Run(most int) {
	for i := range s.nodes {
		s.nodeUp(heddle.NodeID(i))
	}
	for range s.intn(most, "steps") {
		s.random()
	}
}

func (s *Stream) intn(n int, what string) int { return rapid.IntRange(0, n-1).Draw(s.t, what) }

func (s *Stream) size(what string) heddle.Resource {
	return heddle.Of(int64(1024*(1+s.intn(4, what))), int64(1000*(1+s.intn(3, what))))
}

func (s *Stream) random() {
	switch s.intn(20, "event") {
	case 0, 1:
		s.submit()
	case 2, 3, 4, 5:
		s.ask()
	case 6, 7, 8:
		s.beat(heddle.NodeID(s.intn(s.nodes, "node")))
	case 9, 10:
		s.BeatAll()
	case 11:
		s.now = s.now.Plus(heddle.Span(s.intn(1500, "wait")) * heddle.Millisecond)
	case 12:
		if a, ok := s.app(); ok {
			s.Step(heddle.Acquire{App: a})
		}
	case 13:
		if c, ok := s.container(); ok {
			s.Step(heddle.Started{Container: c})
		}
	case 14, 15:
		if c, ok := s.container(); ok {
			s.Step(heddle.Exit{Container: c, Status: heddle.ExitStatus(s.intn(2, "status"))})
		}
	default:
		s.rare()
	}
}

// rare takes one of the less frequent steps.
func (s *Stream) rare() {
	a, alive := s.app()
	switch s.intn(14, "rare") {
	case 0:
		if alive {
			s.Step(heddle.AppDone{App: a})
		}
	case 1:
		if c, ok := s.container(); ok {
			s.Step(heddle.Release{App: s.cores[0].View().Container(c).App().ID(), Container: c})
		}
	case 2:
		if alive && !s.Steady {
			s.Step(heddle.Exclude{App: a, Nodes: []heddle.NodeID{heddle.NodeID(s.intn(s.nodes, "excluded"))}})
		}
	case 3, 4:
		if n := heddle.NodeID(s.intn(s.nodes, "node")); !s.Steady && s.up[n] {
			s.up[n] = false
			s.Step(heddle.NodeDown{Node: n})
		} else if !s.up[n] {
			s.nodeUp(n)
		}
	case 5:
		if c, ok := s.container(); ok {
			s.Step(heddle.Progress{Container: c, Phase: heddle.MapRead, Fraction: 0.5})
			s.Step(heddle.Profile{Container: c, CPU: 500, Memory: 512})
			if c%7 == 0 && !s.Steady {
				s.Step(heddle.Unable{Container: c, What: []heddle.Caps{heddle.Freezes, heddle.Weighs, heddle.Parks | heddle.Freezes}[c%3]})
			}
			s.Step(heddle.NodeUsed{Node: heddle.NodeID(int(c) % s.nodes), CPU: int64(c) % 3 * 500, Others: int64(c) % 5 * 500, Idle: int64(c) % 2 * 1000})
			s.Step(heddle.NodeDisks{Node: heddle.NodeID(int(c) % s.nodes), Busy: int64(c)%4*400 - 400})
		}
	case 6:
		if alive {
			s.Step(heddle.TaskUsed{App: a, Kind: heddle.Map, Memory: int64(s.intn(2000, "used"))})
			s.Step(heddle.Output{App: a, Node: heddle.NodeID(s.intn(s.nodes, "node")), Bytes: 1000})
		}
	case 7:
		s.Step(heddle.Wake{})
	case 8: // events about things that are gone
		s.Step(heddle.Exit{Container: 1 << 40})
		s.Step(heddle.AppDone{App: s.next + 5})
		s.Step(heddle.Heartbeat{Node: heddle.NodeID(s.nodes + 5)})
		s.Step(heddle.NodeDown{Node: heddle.NodeID(s.nodes + 5)})
		s.Step(heddle.NodeResized{Node: heddle.NodeID(s.nodes + 5), Total: heddle.Of(1024, 1000)})
		s.Step(heddle.Found{App: s.next + 5, Node: 0, Kind: heddle.Map, Size: heddle.Of(1024, 1000)})
		s.Step(heddle.Move{App: s.next + 5, Queue: s.leaves[0]})
		s.Step(heddle.Reprioritise{App: s.next + 5, Priority: 1})
		s.Step(heddle.Offer{App: s.next + 5})
		s.Step(heddle.NodeCan{Node: heddle.NodeID(s.nodes + 5), Can: heddle.Stock})
		s.Step(heddle.NodeSilent{Node: heddle.NodeID(s.nodes + 5), Silent: true})
		s.Step(heddle.TaskUsed{App: s.next + 5, Kind: heddle.Map, Memory: 100})
		s.Step(heddle.Refused{Container: 1 << 40, Has: heddle.Of(1024, 1000)})
		s.Step(heddle.Unable{Container: 1 << 40, What: heddle.Freezes})
	default:
		if alive {
			s.change(a)
		}
	}
	if alive {
		if v := s.cores[0].View().App(a); v != nil && v.Master() == nil && v.Waiting(heddle.AM) == 0 {
			s.Step(heddle.Attempt{App: a, Master: s.master(), Full: s.intn(2, "full") == 0})
		}
	}
}

// change takes a step that happens to an application, or its nodes, in a long-running scheduler.
func (s *Stream) change(a heddle.AppID) {
	n := heddle.NodeID(s.intn(s.nodes, "node"))
	switch what := s.intn(8, "change"); {
	case what == 7 && !s.Steady:
		s.Step(heddle.NodeSilent{Node: n, Silent: s.intn(2, "silent") == 0})
	case what == 6:
		s.Step(heddle.NodeCan{Node: n, Can: s.can()})
	case what < 2 && !s.Steady:
		s.Step(heddle.Found{
			App: a, Node: n, Kind: heddle.Kind(s.intn(heddle.NumKinds, "kind")), Priority: int32(s.intn(3, "priority")),
			AllocID: int64(s.intn(2, "id")), Size: s.size("size"), Ref: int64(s.intn(100, "ref")),
		})
	case what == 2 && !s.Steady:
		e := heddle.NodeResized{Node: n} // takes nothing more
		if s.intn(4, "drained") > 0 {
			e.Total = s.total()
		}
		s.Step(e)
	case what == 3: // a queue with children is not a valid target
		s.Step(heddle.Move{App: a, Queue: heddle.QueueID(s.intn(s.cores[0].View().Queues()+1, "queue"))})
	case what == 4:
		s.Step(heddle.Reprioritise{App: a, Priority: int32(s.intn(3, "priority"))})
	case !s.Beats:
		s.Step(heddle.Offer{App: a})
	}
}

// master returns the size wanted for a master: sometimes zero.
func (s *Stream) master() heddle.Resource {
	if !s.Steady && s.intn(8, "no master") == 0 {
		return heddle.Resource{}
	}
	return heddle.Of(int64(1024*(1+s.intn(2, "master"))), 1000)
}

// facts returns what is known of a job: sometimes that its master's heap can be cut, and what the last run's master
// needed.
func (s *Stream) facts() heddle.Facts {
	f := heddle.Facts{Maps: int32(s.intn(9, "maps")), MasterHeap: int64(512 * s.intn(3, "heap"))}
	if s.intn(3, "last run") == 0 {
		f.Last = heddle.LastRun{Heap: int64(200 * s.intn(9, "last heap")), Maps: int32(s.intn(9, "last maps")), TooSmall: int64(200 * s.intn(3, "too small"))}
	}
	return f
}

func (s *Stream) total() heddle.Resource {
	return heddle.Of(int64(1024*(3+s.intn(8, "memory"))), int64(1000*(2+s.intn(10, "cores"))))
}

func (s *Stream) nodeUp(n heddle.NodeID) {
	s.up[n] = true
	s.Step(heddle.NodeUp{Node: n, Rack: heddle.RackID(n % Racks), Total: s.total(), Can: s.can()})
}

// can returns what a node can do: mostly everything.
func (s *Stream) can() heddle.Caps {
	switch {
	case s.Stock:
		return heddle.Stock
	case s.intn(4, "able") > 0:
		return heddle.AllCaps
	}
	return heddle.Caps(s.intn(int(heddle.AllCaps)+1, "can"))
}

func (s *Stream) submit() {
	users := s.Users
	if users == 0 {
		users = 3
	}
	s.Step(heddle.Submit{
		App: s.next, Queue: s.leaves[s.intn(len(s.leaves), "queue")], User: heddle.UserID(s.intn(users, "user")),
		Priority: int32(s.intn(3, "priority")), Framework: heddle.Framework(s.intn(3, "framework")), Master: s.master(), Facts: s.facts(),
	})
	s.next++
}

func (s *Stream) ask() {
	a, ok := s.app()
	if !ok || s.Steady && s.cores[0].View().App(a).Master() == nil {
		return // only a master can ask
	}
	row := heddle.Anywhere(int32(s.intn(3, "priority")), heddle.Kind(1+s.intn(4, "kind")), int32(s.intn(5, "count")), s.size("size"))
	row.AllocID = int64(s.intn(2, "id"))
	rows := []heddle.Row{row}
	if s.intn(2, "places") == 0 {
		n := heddle.NodeID(s.intn(s.nodes, "host"))
		host, rack := row, row
		host.Host, rack.Rack = n, heddle.RackID(n%Racks)
		rows = append(rows, host, rack)
		if !s.Steady && s.intn(4, "strict") == 0 {
			rows[0].Strict, rows[2].Strict = true, s.intn(2, "rack strict") == 0
		}
	}
	s.Step(heddle.Ask{App: a, Rows: rows})
	if !s.Beats && s.intn(4, "offer") == 0 {
		s.Step(heddle.Offer{App: a})
	}
}

func (s *Stream) app() (heddle.AppID, bool) {
	if len(s.apps) == 0 {
		return 0, false
	}
	return s.apps[s.intn(len(s.apps), "app")], true
}

func (s *Stream) container() (heddle.ContainerID, bool) {
	var live []heddle.ContainerID
	for _, id := range s.given {
		if x := s.cores[0].View().Container(id); x != nil && !(s.Steady && x.Kind() == heddle.AM) {
			live = append(live, id)
		}
	}
	s.given = live
	if len(live) == 0 {
		return 0, false
	}
	return live[s.intn(len(live), "container")], true
}

// BeatAll makes every node that is up report.
func (s *Stream) BeatAll() {
	for n := range s.up {
		if s.up[n] {
			s.beat(heddle.NodeID(n))
		}
	}
}

func (s *Stream) beat(n heddle.NodeID) {
	if s.up[n] {
		s.Step(heddle.Heartbeat{Node: n})
	}
}

// Wait advances the time.
func (s *Stream) Wait(d heddle.Span) { s.now = s.now.Plus(d) }

// Step feeds one event to every core that gets it, and compares the answers with each other, the model and the checks.
func (s *Stream) Step(ev heddle.Event) []string {
	s.model.before(s.cores[0].View(), ev)
	var first []string
	for i, c := range s.cores {
		own := ev
		if s.Node != nil {
			own = mapped(ev, func(n heddle.NodeID) heddle.NodeID { return s.Node(i, n) })
		}
		if hb, ok := own.(heddle.Heartbeat); ok && s.Beat != nil && !s.Beat(i, c, hb.Node, s.now) {
			if len(first) > 0 {
				s.t.Fatalf("core %d does not want the heartbeat of node %d, which brings %v", i, hb.Node, first)
			}
			continue
		}
		decisions := c.Step(s.now, own)
		if i == 0 {
			if err := s.model.after(decisions); err != nil {
				s.t.Fatalf("after %T%+v: %v", ev, ev, err)
			}
			if err := s.model.carried(decisions); err != nil {
				s.t.Fatalf("after %T%+v: %v", ev, ev, err)
			}
			s.note(decisions)
		}
		text := s.text(i, decisions)
		if i == 0 {
			first = text
		} else if fmt.Sprint(first) != fmt.Sprint(text) {
			s.t.Fatalf("after %T%+v core 0 says\n%v\nand core %d\n%v", ev, ev, first, i, text)
		}
		s.check(i, c, ev)
	}
	return first
}

func (s *Stream) check(i int, c *sched.Core, ev heddle.Event) {
	if broken := c.Check(); len(broken) > 0 {
		s.t.Fatalf("core %d after %T%+v: %v", i, ev, ev, broken)
	}
	for _, a := range s.apps {
		if h := c.Headroom(a); h.AnyNegative() {
			s.t.Fatalf("headroom of application %d is %v", a, h)
		}
	}
}

// note keeps the live applications and the granted containers.
func (s *Stream) note(decisions []heddle.Decision) {
	for _, d := range decisions {
		switch d := d.(type) {
		case *heddle.Admit:
			s.apps = append(s.apps, d.App)
		case *heddle.Launch:
			s.given = append(s.given, d.Container)
		case *heddle.Adopt:
			s.given = append(s.given, d.Container)
		default:
		}
	}
	kept := s.apps[:0]
	for _, a := range s.apps {
		if s.cores[0].View().App(a) != nil {
			kept = append(kept, a)
		}
	}
	s.apps = kept
}

func (s *Stream) text(core int, decisions []heddle.Decision) (out []string) {
	back := func(n heddle.NodeID) heddle.NodeID { return n }
	if s.Back != nil {
		back = func(n heddle.NodeID) heddle.NodeID { return s.Back(core, n) }
	}
	for _, d := range decisions {
		switch d := d.(type) {
		case *heddle.Launch:
			e := *d
			e.Node = back(e.Node)
			out = append(out, fmt.Sprintf("Launch%+v", e))
		case *heddle.Book:
			e := *d
			e.Node = back(e.Node)
			out = append(out, fmt.Sprintf("Book%+v", e))
		case *heddle.Unbook:
			e := *d
			e.Node = back(e.Node)
			out = append(out, fmt.Sprintf("Unbook%+v", e))
		default:
			out = append(out, fmt.Sprintf("%T%+v", d, d))
		}
	}
	return out
}

// mapped returns an event with its nodes translated.
func mapped(ev heddle.Event, f func(heddle.NodeID) heddle.NodeID) heddle.Event {
	switch e := ev.(type) {
	case heddle.NodeUp:
		e.Node = f(e.Node)
		return e
	case heddle.NodeDown:
		e.Node = f(e.Node)
		return e
	case heddle.NodeCan:
		e.Node = f(e.Node)
		return e
	case heddle.NodeResized:
		e.Node = f(e.Node)
		return e
	case heddle.NodeSilent:
		e.Node = f(e.Node)
		return e
	case heddle.Found:
		e.Node = f(e.Node)
		return e
	case heddle.Heartbeat:
		e.Node = f(e.Node)
		return e
	case heddle.Output:
		e.Node = f(e.Node)
		return e
	case heddle.Exclude:
		nodes := e.Nodes
		e.Nodes = nil
		for _, n := range nodes {
			e.Nodes = append(e.Nodes, f(n))
		}
		return e
	case heddle.Ask:
		rows := e.Rows
		e.Rows = nil
		for _, r := range rows {
			if r.Host != heddle.NoNode {
				r.Host = f(r.Host)
			}
			e.Rows = append(e.Rows, r)
		}
		return e
	default: // names no node
		return ev
	}
}

// Streams tests a property on random streams: on the number given by streams, or by -rapid.checks.
func Streams(t *testing.T, f func(t *rapid.T)) {
	t.Helper()
	if n := flag.Lookup("rapid.checks"); n != nil && n.Value.String() == n.DefValue {
		if err := n.Value.Set(strconv.Itoa(streams)); err != nil {
			t.Fatal(err)
		}
		defer func() { _ = n.Value.Set(n.DefValue) }()
	}
	rapid.Check(t, f)
}
