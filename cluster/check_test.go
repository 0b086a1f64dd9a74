package cluster

import (
	"slices"
	"strings"
	"testing"

	"heddle"
)

// fixture is a healthy cluster with something of everything: three live nodes and a lost one in two
// racks, three queues, grants in every state, a reservation, a suspended container and a borrower,
// waiting asks with places, map output, and the room index in use.
func fixture() *Cluster {
	c := New([]heddle.QueueID{heddle.NoQueue, 0, 0}, false)
	for i := range 4 {
		c.AddNode(heddle.NodeID(i), heddle.RackID(i/2), heddle.Of(8192, 8000))
	}
	c.RemoveNode(c.nodes[3])
	c.SetNow(10)
	a := c.Submit(heddle.Submit{App: 0, Queue: 1, User: 7})
	b := c.Submit(heddle.Submit{App: 1, Queue: 2, User: 7})
	c.Submit(heddle.Submit{App: 2, Queue: 1, User: 8})
	ask := func(a *App, p int32, k heddle.Kind, n int32, size heddle.Resource) *Ask {
		return c.SetRow(a, heddle.Anywhere(p, k, n, size))
	}
	grant := func(k *Ask, n int, at heddle.Locality, size heddle.Resource) *Container {
		return c.Grant(k, c.nodes[n], at, size, size)
	}
	master := heddle.Of(1024, 1000)
	for _, app := range []*App{a, b} {
		x := grant(ask(app, 0, heddle.AM, 1, master), int(app.id), heddle.OffSwitch, master)
		c.AcquireMaster(x)
		c.SetNow(11)
		c.Start(x)
	}
	task := heddle.Of(2048, 7000)
	maps := ask(a, 20, heddle.Map, 4, task)
	c.SetRow(a, heddle.Row{Priority: 20, Kind: heddle.Map, Host: 0, Rack: heddle.NoRack, Count: 2, Size: task})
	c.SetRow(a, heddle.Row{Priority: 20, Kind: heddle.Map, Host: heddle.NoNode, Rack: 0, Count: 3, Size: task})
	first := grant(maps, 0, heddle.NodeLocal, task)
	c.Acquire(a)
	c.Start(first)
	c.Suspend(first)
	grant(maps, 0, heddle.NodeLocal, task) // borrows what the first lends
	grant(maps, 2, heddle.OffSwitch, heddle.Of(2048, 7000))
	c.Acquire(a)
	reduces := ask(b, 10, heddle.Reduce, 2, heddle.Of(8192, 1000))
	ask(b, 10, heddle.Other, 1, heddle.Of(1024, 1000))
	c.Book(reduces, c.nodes[1], heddle.OffSwitch)
	fresh := ask(b, 5, heddle.Map, 3, heddle.Of(512, 500))
	c.Fill(fresh, c.nodes[1], heddle.OffSwitch, heddle.Of(512, 500), heddle.Of(512, 500))
	c.Recount(c.nodes[1].booked)
	grant(fresh, 2, heddle.OffSwitch, heddle.Of(512, 500))
	grant(fresh, 2, heddle.OffSwitch, heddle.Of(512, 500))
	c.AddOutput(a, 0, 100)
	c.AddOutput(a, 2, 100)
	c.DropAsk(ask(b, 99, heddle.Other, 1, master))
	c.View().MostFree(a, heddle.Of(1024, 0))
	c.SetNow(12)
	return c
}

// corruptions breaks the fixture in one way for each check; only that check may notice.
var corruptions = map[string]func(c *Cluster){
	"node-capacity": func(c *Cluster) { // the total shrank below what is held, along with sums and index
		d := heddle.Of(8192-3000, 0)
		n := c.nodes[0]
		n.total = n.total.Minus(d)
		c.total = c.total.Minus(d)
		c.ties[heddle.Memory]--
		c.index.update(c, n)
	},
	"node-sums": func(c *Cluster) { // node 3 is down and in no index
		c.nodes[3].used[heddle.Memory]++
	},
	"node-counts":  func(c *Cluster) { c.nodes[0].kinds[heddle.Map]++ },
	"app-sums":     func(c *Cluster) { c.apps[0].used[heddle.Memory]-- },
	"app-counts":   func(c *Cluster) { c.apps[0].running[heddle.Map]++ },
	"user-sums":    func(c *Cluster) { c.queues[1].users[0].used[heddle.CPU]++ },
	"queue-sums":   func(c *Cluster) { c.queues[1].used[heddle.CPU]++ },
	"masters-sums": func(c *Cluster) { c.queues[0].masters[heddle.CPU]++ },
	"root-equals-nodes": func(c *Cluster) {
		c.queues[0].used[heddle.Memory] += 5
	},
	"one-master":     func(c *Cluster) { c.apps[0].master = nil },
	"pending-sums":   func(c *Cluster) { c.queues[0].pending[heddle.Memory]++ },
	"waiting-counts": func(c *Cluster) { c.queues[2].waiting++ },
	"ask-counts": func(c *Cluster) {
		c.apps[0].asks[1].racks = append(c.apps[0].asks[1].racks, rackRow{rack: 0, count: 1})
	},
	"non-negative": func(c *Cluster) { c.apps[0].ended[heddle.Map].count = -1 },
	"container-states": func(c *Cluster) {
		x := c.apps[0].master
		x.state, x.started = Completed, 0
	},
	"container-times": func(c *Cluster) { c.apps[0].master.started = 99 },
	"container-unique-place": func(c *Cluster) {
		n, s := c.nodes[0], &c.slab
		n.first = s.links(n.first)[onNode].next
		s.links(n.first)[onNode].prev = 0
	},
	"lists-linked": func(c *Cluster) {
		s := &c.slab
		s.links(s.links(c.nodes[0].first)[onNode].next)[onNode].prev = 0
	},
	"no-orphan-containers":   func(c *Cluster) { x := c.slab.new(); x.state, x.kind = Allocated, heddle.Map },
	"one-reservation-a-node": func(c *Cluster) { c.nodes[1].booked = nil },
	"reservation-owner-alive": func(c *Cluster) {
		x := c.nodes[1].booked
		x.ask.bookings--
		x.ask = &Ask{app: c.apps[1]}
	},
	"reservation-fits-empty-node": func(c *Cluster) { // larger than the node, with every sum right
		x := c.nodes[1].booked
		c.addBooked(x, x.limit.Times(-1))
		x.limit[heddle.Memory]++
		c.addBooked(x, x.limit)
	},
	"booked-sums":         func(c *Cluster) { c.queues[0].booked[heddle.Memory]++ },
	"beside-reservations": func(c *Cluster) { c.nodes[1].booked.seldom.beside[0].size[heddle.Memory]++ },
	"live-nodes-total":    func(c *Cluster) { c.live++ },
	"largest-node":        func(c *Cluster) { c.largest[heddle.Memory]++ },
	"racks":               func(c *Cluster) { c.racks[1] = append(c.racks[1], 0) },
	"no-orphan-asks":      func(c *Cluster) { c.freeAsk = append(c.freeAsk, 0) },
	"asks-sorted-unique":  func(c *Cluster) { k := c.apps[1].asks; k[0], k[1] = k[1], k[0] },
	"pools":               func(c *Cluster) { c.nodes[0].pools[0].suspended++ },
	"room-index":          func(c *Cluster) { c.index.spots[2].bucket-- },
	"users-counted":       func(c *Cluster) { c.queues[1].users[1].apps++ },
	"queue-apps":          func(c *Cluster) { c.queues[1].apps = append(c.queues[1].apps, c.apps[0]) },
	"queue-tree":          func(c *Cluster) { c.queues[2].depth++ },
	"unseen-list":         func(c *Cluster) { c.apps[1].unseen = c.apps[1].unseen.nextUnseen },
	"id-order":            func(c *Cluster) { c.slab.last -= 2 },
	"slab-counts":         func(c *Cluster) { c.slab.live++ },
	"outputs-indexed":     func(c *Cluster) { c.apps[0].outputAt[2] = 0 },
}

func TestFixtureIsHealthy(t *testing.T) {
	if found := fixture().Check(); len(found) > 0 {
		t.Fatal(found)
	}
}

func TestEachCheckFires(t *testing.T) {
	if len(Checks) < 20 || len(Checks) != len(corruptions) {
		t.Errorf("%d checks, %d corruptions", len(Checks), len(corruptions))
	}
	for _, name := range Checks {
		t.Run(name, func(t *testing.T) {
			corrupt := corruptions[name]
			if corrupt == nil {
				t.Fatal("no corruption proves this check")
			}
			c := fixture()
			corrupt(c)
			found := c.Check()
			if len(found) == 0 {
				t.Fatal("nothing was noticed")
			}
			for _, f := range found {
				if !strings.HasPrefix(f, name+": ") {
					t.Errorf("another check fired: %s", f)
				}
			}
		})
	}
}

// A broken list must be reported, not walked forever.
func TestCheckEnds(t *testing.T) {
	c := fixture()
	s, x := &c.slab, c.nodes[0].first
	s.links(s.links(x)[onNode].next)[onNode].next = x
	u := c.apps[1].unseen
	u.nextUnseen = u
	found := c.Check()
	for _, name := range []string{"lists-linked", "unseen-list"} {
		if !slices.ContainsFunc(found, func(f string) bool { return strings.HasPrefix(f, name) }) {
			t.Errorf("%s did not fire: %v", name, found)
		}
	}
}
