package backfill_test

import (
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"heddle"
	"heddle/internal/testkit/dialogue"
	"heddle/policies/backfill"
	"heddle/policy"
	"heddle/policy/policytest"
	"heddle/sched"
)

// greedy reserves a node for every ask, and keeps it.
type greedy struct{}

func (greedy) Reserve(policy.View, *policy.Ask, *policy.Node) bool        { return true }
func (greedy) Beside(_ policy.View, k *policy.Ask) bool                   { return k.Count() > k.Bookings() }
func (greedy) Keep(policy.View, *policy.Ask, *policy.Node) bool           { return true }
func (greedy) Floor(policy.View, heddle.Resource) (least heddle.Resource) { return least }
func maker(a policy.Args) (policy.Book, error)                            { return backfill.Over(a, greedy{}) }

func put(b policy.Book) policy.Set {
	s := policytest.Base(policytest.Submitted{})
	s.Book = b
	return s
}

func TestDialogues(t *testing.T) { dialogue.Run(t, "testdata") }

func TestSuite(t *testing.T) {
	for _, options := range []string{"", "{slack: 5, patience: 3}"} {
		policytest.Run(t, maker, options, put)
	}
}

func TestOptionsOutOfRange(t *testing.T) {
	for _, o := range []string{"slack: -0.1", "slack: 11", "slack: .nan", "patience: 0", "patience: -1", "patience: .nan", "patience: 1e12"} {
		if _, err := maker(policytest.Args(o)); err == nil {
			t.Errorf("%s was taken", o)
		}
	}
}

const (
	beat    = heddle.Second
	aMap    = 20 * heddle.Second // how long every map is held
	aReduce = 35 * heddle.Second // and every reduce
)

// A cluster is a core in which every task lasts as long as all others of its kind, so expectations are always right.
type cluster struct {
	core    *sched.Core
	now     heddle.Time
	ends    map[heddle.ContainerID]heddle.Time // of running maps and reduces
	due     map[heddle.ContainerID]heddle.Time // of reservations: when they must have been served
	filled  int                                // containers that were let in beside a reservation
	served  int                                // reservations served after a container was let in
	letIn   map[heddle.NodeID]bool
	overdue []heddle.ContainerID
}

func newCluster(book policy.Book, nodes int) *cluster {
	c := &cluster{
		core: sched.New(put(book)), ends: map[heddle.ContainerID]heddle.Time{}, due: map[heddle.ContainerID]heddle.Time{}, letIn: map[heddle.NodeID]bool{},
	}
	for n := range nodes {
		c.step(heddle.NodeUp{Node: heddle.NodeID(n), Total: heddle.Of(24<<10, 64_000), Can: heddle.AllCaps})
	}
	// One map and one reduce have ended, so it is known how long they last.
	c.submit(0)
	c.ask(0, heddle.Map, 1, 1)
	c.pass(int(aMap/beat) + 2)
	c.ask(0, heddle.Reduce, 1, 1)
	c.pass(int(aReduce/beat) + 2)
	return c
}

func (c *cluster) submit(a heddle.AppID) {
	c.step(heddle.Submit{App: a, Queue: 1, Master: heddle.Of(1<<10, 1000)})
	c.pass(1)
}

func (c *cluster) ask(a heddle.AppID, k heddle.Kind, count int32, gib int64) {
	c.step(heddle.Ask{App: a, Rows: []heddle.Row{heddle.Anywhere(int32(k)*10+int32(gib), k, count, heddle.Of(gib<<10, 1000))}})
}

// pass lets the given number of heartbeats pass. In each, what is due ends and every node reports.
func (c *cluster) pass(beats int) {
	for range beats {
		c.now = c.now.Plus(beat)
		for _, id := range slices.Sorted(maps.Keys(c.ends)) {
			if c.ends[id] <= c.now {
				delete(c.ends, id)
				c.step(heddle.Exit{Container: id})
			}
		}
		for n := range c.core.View().NodeIDs() {
			c.step(heddle.Heartbeat{Node: heddle.NodeID(n)})
		}
		for a := range c.core.View().AppIDs() {
			c.step(heddle.Acquire{App: heddle.AppID(a)})
		}
	}
}

func (c *cluster) step(ev heddle.Event) {
	reserved := map[heddle.NodeID]bool{}
	for n := range c.core.View().NodeIDs() {
		reserved[heddle.NodeID(n)] = c.core.View().Node(heddle.NodeID(n)).Booked() != nil
	}
	for _, d := range c.core.Step(c.now, ev) {
		switch d := d.(type) {
		case *heddle.Launch:
			c.launched(d, reserved[d.Node])
		case *heddle.Book:
			c.booked(d)
		case *heddle.Unbook:
			delete(c.due, d.Container)
		default: // of no interest here
		}
	}
}

func (c *cluster) launched(d *heddle.Launch, reserved bool) {
	switch d.Kind {
	case heddle.Map:
		c.ends[d.Container] = c.now.Plus(aMap)
	case heddle.Reduce:
		c.ends[d.Container] = c.now.Plus(aReduce)
	default: // held until the test ends it
	}
	if by, ok := c.due[d.Container]; ok {
		if c.now > by {
			c.overdue = append(c.overdue, d.Container)
		}
		if c.letIn[d.Node] {
			c.served++
		}
		delete(c.due, d.Container)
		delete(c.letIn, d.Node)
		return
	}
	if reserved && c.core.View().Node(d.Node).Booked() != nil {
		c.filled++
		c.letIn[d.Node] = true
	}
}

// booked computes when a reservation must have been served: when enough of its node has ended, plus a quarter of that
// wait, at the node's next report.
func (c *cluster) booked(d *heddle.Book) {
	x := c.core.View().Container(d.Container)
	room, at := x.Node().Free(), c.now
	for !x.Limit().Fits(room) {
		next, ok := heddle.Time(0), false
		x.Node().Each(func(y *policy.Container) bool {
			if end, lasts := c.ends[y.ID()]; lasts && end > at && (!ok || end < next) {
				next, ok = end, true
			}
			return true
		})
		if !ok {
			return // it waits for a container whose end is unknown
		}
		at = next
		x.Node().Each(func(y *policy.Container) bool {
			if c.ends[y.ID()] == at {
				room = room.Plus(y.Limit())
			}
			return true
		})
	}
	c.due[d.Container] = at.Plus(at.Since(c.now) / 4).Plus(beat)
}

// random runs random applications with maps, reduces, and containers that are held until their application is over.
func random(t *testing.T, seed uint64, book policy.Book) *cluster {
	draw := rand.New(rand.NewPCG(seed, 1))
	c := newCluster(book, 1+draw.IntN(2))
	for i := range 3 + draw.IntN(13) {
		a := heddle.AppID(i + 1)
		c.submit(a)
		gib := int64(1 + draw.IntN(3))
		switch draw.IntN(5) {
		case 0, 1:
			c.ask(a, heddle.Map, 1+draw.Int32N(10), gib)
		case 2:
			c.ask(a, heddle.Reduce, 1+draw.Int32N(10), gib)
		default:
			c.ask(a, heddle.Executor, 1+draw.Int32N(3), 4*gib)
		}
		c.pass(draw.IntN(16))
		if over := heddle.AppID(1 + draw.IntN(i+1)); over != a && c.runsExecutors(over) {
			c.step(heddle.AppDone{App: over})
		}
		if broken := c.core.Check(); len(broken) > 0 {
			t.Fatalf("seed %d: %v", seed, broken)
		}
	}
	c.pass(60)
	for _, id := range slices.Sorted(maps.Keys(c.due)) {
		if c.due[id] < c.now {
			c.overdue = append(c.overdue, id)
		}
	}
	return c
}

func (c *cluster) runsExecutors(id heddle.AppID) bool {
	a := c.core.View().App(id)
	return a != nil && a.Running(heddle.Executor) > 0
}

const seeds = 600

// If tasks last as long as expected, every reservation is served by its promise plus slack, whatever is let in beside
// it.
func TestReservationsAreServedInTime(t *testing.T) {
	filled, served := 0, 0
	for seed := range uint64(seeds) {
		book, err := maker(policytest.Args(""))
		if err != nil {
			t.Fatal(err)
		}
		c := random(t, seed, book)
		if len(c.overdue) > 0 {
			t.Fatalf("seed %d: reservations %v were served late", seed, c.overdue)
		}
		filled, served = filled+c.filled, served+c.served
	}
	if filled < 100 || served < 50 {
		t.Errorf("%d containers were let in beside reservations, of which %d were served after: that shows little", filled, served)
	}
}

// careless lets everything in.
type careless struct{ *backfill.Book }

func (careless) Fill(policy.View, *policy.Ask, heddle.Time) bool { return true }

// The test above would notice a careless book.
func TestCarelessFillingIsFound(t *testing.T) {
	late := 0
	for seed := range uint64(seeds) {
		book, err := maker(policytest.Args(""))
		if err != nil {
			t.Fatal(err)
		}
		late += len(random(t, seed, careless{book.(*backfill.Book)}).overdue)
	}
	if late == 0 {
		t.Error("no reservation was late where everybody was let in")
	}
}

// A node that is not reserved for what an application asks for first is still open to what it asks for next: the
// reduces of four jobs fit nowhere beside their masters, but their maps do.
func TestMapsStartWhereNoNodeIsReservedForReduces(t *testing.T) {
	book, err := maker(policytest.Args(""))
	if err != nil {
		t.Fatal(err)
	}
	core := sched.New(put(book))
	now := heddle.Time(0)
	began := map[heddle.AppID]int{}
	step := func(ev heddle.Event) {
		t.Helper()
		for _, d := range core.Step(now, ev) {
			switch d := d.(type) {
			case *heddle.Launch:
				if d.Kind == heddle.Map {
					began[d.App]++
				}
			case *heddle.Book:
				t.Errorf("a node is reserved for application %d", d.App)
			default: // of no interest here
			}
		}
	}
	const nodes, jobs = 2, 4
	for n := range heddle.NodeID(nodes) {
		step(heddle.NodeUp{Node: n, Total: heddle.Of(4<<10, 8000), Can: heddle.AllCaps})
	}
	report := func() {
		now = now.Plus(beat)
		for n := range heddle.NodeID(nodes) {
			step(heddle.Heartbeat{Node: n})
		}
	}
	for a := range heddle.AppID(jobs) {
		step(heddle.Submit{App: a, Queue: 1, Master: heddle.Of(1<<10, 1000)})
		if a%2 == 1 { // two masters on each node
			step(heddle.Heartbeat{Node: heddle.NodeID(a / 2)})
		}
	}
	for a := range heddle.AppID(jobs) {
		step(heddle.Ask{App: a, Rows: []heddle.Row{
			heddle.Anywhere(10, heddle.Reduce, 1, heddle.Of(3<<10, 1000)), heddle.Anywhere(20, heddle.Map, 1, heddle.Of(1<<10, 1000)),
		}})
	}
	report()
	if len(began) != jobs {
		t.Errorf("maps that began, by application: %v; want one of each", began)
	}
}
