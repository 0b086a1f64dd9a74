package rm

import (
	"cmp"
	"maps"
	"slices"
	"testing"

	"heddle"
	"heddle/conf"
	"heddle/policies"
	"heddle/policies/fair"
	"heddle/yarn/ids"
)

// A world is a machine whose shell, NodeManagers, masters and clients are functions of the test.
type world struct {
	testing.TB
	m     *Machine
	with  Options
	now   heddle.Time
	call  Call
	heard map[Call]*Answer
	rest  []Effect // effects that are neither answers nor stores

	slow    bool      // writes become durable only when the test says so
	unkept  []*Store  // not yet durable
	altered []Altered // logged
	apps    map[ids.App]Recovered
	tries   map[ids.Attempt]AttemptRecord
	runs    map[RunKey]RunRecord
	nodes   map[ids.Node]NodeRecord
}

// clusterBegan is the date of time 0 of every first machine.
const clusterBegan = 1_700_000_000_000

func testConfig() Config {
	return Config{
		NodeExpiry: 10 * heddle.Minute, MasterExpiry: 15 * heddle.Minute, ContainerExpiry: 10 * heddle.Minute,
		MaxAttempts: 2, GlobalAttempts: 2, MaxCompleted: 1000, MaxTags: 10, MaxTagLength: 100, SchedulingWait: 10 * heddle.Second, WorkPreserving: true,
		Beat: heddle.Second, FastBeat: 200 * heddle.Millisecond, IdleBeat: 3 * heddle.Second, BeatLoad: 1000, MaxPriority: 10,
		Keyed: true,
	}
}

// testScheduler returns a profile for one queue, root.default; with fair, also for further leaves below the root.
func testScheduler(t testing.TB, profile string, leaves ...string) *Scheduler {
	t.Helper()
	p, err := policies.Load(profile, nil)
	if err != nil {
		t.Fatal(err)
	}
	p, off := p.WithoutAgent()
	h := conf.Default()
	queues := *h.Fair
	queues.Queues = slices.Clone(queues.Queues)
	for _, leaf := range leaves {
		if !slices.ContainsFunc(queues.Queues, func(q fair.QueueConfig) bool { return q.Path == leaf }) {
			queues.Queues = append(queues.Queues, fair.QueueConfig{Path: leaf, Weight: 1, MaxAMShare: -1})
		}
	}
	queues.SortQueues()
	b, err := policies.Build(p, policies.Env{Capacity: h.Capacity, Fair: &queues, Minimum: h.Site.Minimum, Maximum: h.Site.Maximum, Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	s := &Scheduler{Set: b.Set, Type: "capacity", Profile: profile, Off: off, Minimum: b.Minimum, Maximum: b.Maximum, UserName: b.User}
	for i, path := range b.Paths {
		s.Queues = append(s.Queues, QueueInfo{Path: path, Parent: b.Queues[i], Leaf: i > 0, State: QueueRunning, Capacity: 1, Max: 1, Absolute: 1, AbsoluteMax: 1})
	}
	s.Rebuild = func(leaves []string) (*Scheduler, error) {
		if p.Queues != "fair" {
			leaves = nil
		}
		return testScheduler(t, profile, leaves...), nil
	}
	return s
}

// newWorld starts a machine; change, which may be nil, can modify its options.
func newWorld(t testing.TB, profile string, change func(*Options)) *world {
	t.Helper()
	w := &world{
		TB: t, heard: map[Call]*Answer{}, apps: map[ids.App]Recovered{}, tries: map[ids.Attempt]AttemptRecord{}, runs: map[RunKey]RunRecord{},
		nodes: map[ids.Node]NodeRecord{},
		with:  Options{Config: testConfig(), Scheduler: testScheduler(t, profile), Began: clusterBegan},
	}
	if change != nil {
		change(&w.with)
	}
	w.start()
	return w
}

func (w *world) start() {
	w.Helper()
	m, effects := New(w.with)
	w.m = m
	w.carry(effects)
	w.check()
}

// settle stores all nodes.
func (w *world) settle() {
	w.Helper()
	w.carry(w.m.Settle())
}

// restart lets another machine continue from what was stored, after some time. All nodes are stored first.
func (w *world) restart(after heddle.Span) {
	w.Helper()
	w.settle()
	w.with.Starts = append(w.with.Starts, w.with.Began)
	w.with.Began += int64(w.now.Plus(after)) / 1e6
	w.with.Epoch++
	w.with.State = nil
	for _, a := range w.apps {
		if a.ID.IsZero() { // its submission was not stored
			continue
		}
		a.Attempts = nil
		for id, t := range w.tries {
			if id.App == a.ID {
				a.Attempts = append(a.Attempts, t)
			}
		}
		w.with.State = append(w.with.State, a)
	}
	w.with.Runs, w.with.Nodes = slices.Collect(maps.Values(w.runs)), slices.Collect(maps.Values(w.nodes))
	slices.SortFunc(w.with.State, func(a, b Recovered) int { return a.ID.Compare(b.ID) })
	sch, err := w.with.Scheduler.Rebuild(nil)
	if err != nil {
		w.Fatal(err)
	}
	w.with.Scheduler, w.now, w.unkept, w.rest = sch, 0, nil, nil
	clear(w.heard)
	w.start()
}

// step passes a message, and the messages that follow from it, to the machine.
func (w *world) step(msg Message) {
	w.Helper()
	w.carry(w.m.Step(w.now, msg))
	w.check()
}

// carry carries out effects: masters start at once, and writes are durable at once unless w is slow.
func (w *world) carry(effects []Effect) {
	w.Helper()
	var then []Message
	for _, e := range effects {
		switch e := e.(type) {
		case *Answer:
			if w.heard[e.Call] != nil {
				w.Errorf("call %d is answered twice", e.Call)
			}
			w.heard[e.Call] = new(*e)
		case *Altered:
			w.altered = append(w.altered, *e)
		case *Store:
			w.unkept = append(w.unkept, e)
		case *StartMaster:
			w.rest = append(w.rest, e)
			then = append(then, &Started{Container: e.ID})
		default:
			w.rest = append(w.rest, e)
		}
	}
	if !w.slow {
		w.keep()
	}
	for _, msg := range then {
		w.step(msg)
	}
}

// keep makes all pending writes durable.
func (w *world) keep() {
	w.Helper()
	for len(w.unkept) > 0 {
		s := w.unkept[0]
		w.unkept = w.unkept[1:]
		for _, c := range s.Changes {
			switch {
			case c.App != nil:
				a := w.apps[c.App.ID]
				before := a.Context
				a.AppRecord = *c.App
				if c.SameContext {
					a.Context = before
				}
				w.apps[a.ID] = a
			case c.Attempt != nil:
				w.tries[c.Attempt.ID] = *c.Attempt
			case c.Run != nil:
				w.runs[c.Run.RunKey] = *c.Run
			case c.DropAttempt != nil:
				delete(w.tries, *c.DropAttempt)
			case c.DropRun != nil:
				delete(w.runs, *c.DropRun)
			case c.Node != nil:
				w.nodes[c.Node.ID] = *c.Node
			case c.DropNode != nil:
				delete(w.nodes, *c.DropNode)
			default:
				delete(w.apps, c.Drop)
			}
		}
		w.step(Stored{s.Seq})
	}
}

func (w *world) check() {
	w.Helper()
	for _, wrong := range w.m.Check() {
		w.Error(wrong)
	}
}

// next returns the next call number.
func (w *world) next() Call {
	w.call++
	return w.call
}

// answered returns the answer to a call; the test fails if there is none.
func answered[T any](w *world, c Call) (T, error) {
	w.Helper()
	a := w.heard[c]
	if a == nil {
		w.Fatalf("call %d is not answered", c)
	}
	v, _ := a.Value.(T)
	return v, a.Err
}

// done fails unless a call was answered without an error.
func (w *world) done(c Call) {
	w.Helper()
	if _, err := answered[any](w, c); err != nil {
		w.Fatal(err)
	}
}

// pass lets time go by, while nodes and a master, if there is one, keep reporting.
func (w *world) pass(d heddle.Span, m *am, nodes ...*nm) {
	w.Helper()
	for end := w.now.Plus(d); ; {
		for _, n := range nodes {
			n.beat()
		}
		if m != nil {
			m.ask()
		}
		if w.now >= end {
			return
		}
		w.sleep(min(30*heddle.Second, end.Since(w.now)))
	}
}

// sleep lets time go by, while the machine hears nothing but the time.
func (w *world) sleep(d heddle.Span) {
	w.Helper()
	end := w.now.Plus(d)
	for at := w.m.Deadline(); at <= end; at = w.m.Deadline() {
		w.now = max(at, w.now)
		w.step(Tick{})
		if w.m.Deadline() <= at {
			w.Fatalf("at %v a Tick is wanted by %v once more", w.now, at)
		}
	}
	w.now = end
}

// An nm is a NodeManager.
type nm struct {
	w      *world
	id     ids.Node
	last   int32
	conts  map[ids.Container]ContainerNews
	used   Utilization // by all its containers together
	whole  Utilization // of its machine
	can    heddle.Caps
	sizes  map[ids.Container]heddle.Resource // that it accounts for, if it reports them
	parked map[ids.Container]bool
}

func (w *world) node(host string, mem, cores int64) *nm {
	w.Helper()
	n := &nm{w: w, id: ids.Node{Host: host, Port: 8041}, conts: map[ids.Container]ContainerNews{}, can: heddle.Stock, sizes: map[ids.Container]heddle.Resource{}}
	if p := n.register(mem, cores); p.Refused != "" {
		w.Fatal(p.Refused)
	}
	n.beat() // as soon as it has the keys
	return n
}

func (n *nm) register(mem, cores int64, list ...ContainerNews) *NodeRegistered {
	n.w.Helper()
	q := &RegisterNode{
		Call: n.w.next(), Node: n.id, Names: []string{n.id.Host}, Rack: defaultRack, HTTPPort: 8042, Version: "3.4.2",
		Total: heddle.Of(mem, 1000*cores), Containers: list, Can: n.can,
	}
	for _, c := range list {
		q.Apps = append(q.Apps, c.ID.Attempt.App)
	}
	n.w.step(q)
	n.last = 0
	p, _ := answered[*NodeRegistered](n.w, q.Call)
	return p
}

// beat reports what runs and what ended since the last heartbeat.
func (n *nm) beat() *NodeBeat {
	n.w.Helper()
	q := &BeatNode{Call: n.w.next(), Node: n.id, Last: n.last, Health: Health{Said: true}, OfAll: n.used, OfNode: n.whole}
	for id, c := range n.conts {
		if !c.Over {
			q.Running = append(q.Running, ContainerRun{ID: id, Size: n.sizes[id], Parked: n.parked[id]})
			continue
		}
		q.Ended = append(q.Ended, c.ContainerEnd)
		delete(n.conts, id)
	}
	slices.SortFunc(q.Running, func(a, b ContainerRun) int { return a.ID.Compare(b.ID) })
	slices.SortFunc(q.Ended, func(a, b ContainerEnd) int { return a.ID.Compare(b.ID) })
	n.w.step(q)
	p, _ := answered[*NodeBeat](n.w, q.Call)
	n.last = p.ID
	return p
}

// run starts a container.
func (n *nm) run(id ids.Container) { n.conts[id] = ContainerNews{ContainerEnd: ContainerEnd{ID: id}} }

// exit ends a container; the next beat reports it.
func (n *nm) exit(id ids.Container, status int32) {
	n.conts[id] = ContainerNews{ContainerEnd: ContainerEnd{ID: id, Exit: status, Diagnostics: "as the node says"}, Over: true}
}

// found returns a container as reported by a registering node.
func found(id ids.Container, priority int32) ContainerNews {
	return ContainerNews{ContainerEnd: ContainerEnd{ID: id, Size: heddle.Of(1024, 1000)}, Priority: priority}
}

// submission returns a submission as a client sends it.
func submission(id ids.App, kind string) Submission {
	return Submission{ID: id, Name: "job", Type: kind, Master: heddle.Of(1024, 1000)}
}

// newID returns an id for an application of user ann.
func (w *world) newID() ids.App {
	w.Helper()
	return w.idFor("ann")
}

// idFor returns an id for an application of a user.
func (w *world) idFor(user string) ids.App {
	w.Helper()
	c := w.next()
	w.step(&NewApp{c, user})
	p, err := answered[NewAppID](w, c)
	if err != nil {
		w.Fatal(err)
	}
	return p.ID
}

// submitAs submits an application to a queue, and returns the call.
func (w *world) submitAs(user string, s Submission, queue string) Call {
	w.Helper()
	c := w.next()
	w.apps[s.ID] = Recovered{Submission: s}
	w.step(&SubmitApp{Call: c, Who: Person{User: user}, Queue: cmp.Or(queue, "root.default"), App: s})
	return c
}

// submit submits an application and returns its id.
func (w *world) submit(kind string) ids.App {
	w.Helper()
	id := w.newID()
	w.done(w.submitAs("ann", submission(id, kind), ""))
	return id
}

// kill ends an application.
func (w *world) kill(id ids.App) Call {
	w.Helper()
	c := w.next()
	w.step(&KillApp{Call: c, Who: Person{User: "ann"}, App: id})
	return c
}

// app returns an application as clients see it.
func (w *world) app(id ids.App) AppReport {
	w.Helper()
	p, err := w.m.Reports().App(id)
	if err != nil {
		w.Fatal(err)
	}
	return p
}

// An am is an ApplicationMaster.
type am struct {
	w    *world
	who  Caller
	last int32
}

// master registers the master of an application's current attempt.
func (w *world) master(id ids.App) *am {
	w.Helper()
	m := &am{w: w, who: Caller{Attempt: ids.Attempt{App: id, N: w.app(id).Attempt}}}
	m.register()
	return m
}

func (m *am) register() {
	m.w.Helper()
	q := &RegisterMaster{Call: m.w.next(), Who: m.who, Host: "n1", Port: 7000, Tracking: "http://n1:7001"}
	m.w.step(q)
	m.w.done(q.Call)
	m.last = 0
}

// try makes one allocate call.
func (m *am) try(q Allocate) (*Allocated, error) {
	m.w.Helper()
	q.Call, q.Who, q.Last = m.w.next(), m.who, m.last
	m.w.step(&q)
	p, err := answered[*Allocated](m.w, q.Call)
	if err == nil {
		m.last = p.ID
	}
	return p, err
}

// ask makes one allocate call that asks for something.
func (m *am) ask(rows ...Request) *Allocated {
	m.w.Helper()
	p, err := m.try(Allocate{Ask: rows})
	if err != nil {
		m.w.Fatal(err)
	}
	return p
}

// row asks for count containers at a place.
func row(priority int32, place string, mem int64, count int32) Request {
	return Request{Priority: priority, Place: place, Size: heddle.Of(mem, 1000), Count: count}
}

// job returns a master running on its own node, which has 1 GiB left, and another node.
func (w *world) job(kind string) (id ids.App, m *am, home, other *nm) {
	w.Helper()
	home = w.node("n1", 2048, 4)
	id = w.submit(kind)
	home.run(w.app(id).Master)
	home.beat()
	return id, w.master(id), home, w.node("n2", 4096, 4)
}

// task makes a master ask for one container on the other node, which starts it.
func (n *nm) task(m *am) ids.Container {
	n.w.Helper()
	p := m.ask(row(20, "*", 2048, 1))
	if len(p.Granted) != 1 {
		n.w.Fatalf("granted %v, want one container", p.Granted)
	}
	id := p.Granted[0].ID
	m.ask(row(20, "*", 2048, 0))
	n.run(id)
	n.beat()
	return id
}
