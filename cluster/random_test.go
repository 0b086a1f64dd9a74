package cluster

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"heddle"
)

// A driver does to a cluster what a scheduler may do.
type driver struct {
	t   *rapid.T
	c   *Cluster
	app heddle.AppID // next id
}

func (d *driver) intn(n int, what string) int { return rapid.IntRange(0, n-1).Draw(d.t, what) }

func (d *driver) size() heddle.Resource {
	return heddle.Of(int64(512*(1+d.intn(8, "mem"))), int64(500*(1+d.intn(6, "cpu"))))
}

func (d *driver) node(up bool) *Node {
	var some []*Node
	for _, n := range d.c.nodes {
		if n != nil && n.up == up {
			some = append(some, n)
		}
	}
	if len(some) == 0 {
		return nil
	}
	return some[d.intn(len(some), "node")]
}

func (d *driver) anApp() *App {
	var some []*App
	for _, a := range d.c.apps {
		if a != nil {
			some = append(some, a)
		}
	}
	if len(some) == 0 {
		return nil
	}
	return some[d.intn(len(some), "app")]
}

func (d *driver) container(ok func(*Container) bool) *Container {
	var some []*Container
	for id := heddle.ContainerID(1); id <= d.c.slab.last; id++ {
		if x := d.c.slab.get(id); x != nil && ok(x) {
			some = append(some, x)
		}
	}
	if len(some) == 0 {
		return nil
	}
	return some[d.intn(len(some), "container")]
}

// A queue lists its applications in order of submission, whichever queue they came from.
func TestMovedStandInOrder(t *testing.T) {
	c := New([]heddle.QueueID{heddle.NoQueue, 0, 0}, false)
	var apps []*App
	for i := range 4 {
		c.SetNow(heddle.Time(i))
		apps = append(apps, c.Submit(heddle.Submit{App: heddle.AppID(3 - i), Queue: heddle.QueueID(1 + i%2)}))
	}
	c.Move(apps[0], c.queues[2])
	c.Move(apps[2], c.queues[2])
	if got := c.queues[2].apps; !slices.Equal(got, apps) || len(c.queues[1].apps) > 0 {
		t.Errorf("they stand as %v", got)
	}
}

func held(x *Container) bool { return x.state != Reserved }

// clear ends everything an application holds on a node, or on any node if n is nil.
func (d *driver) clear(a *App, n *Node) {
	for _, m := range d.c.nodes {
		if m != nil && m.booked != nil && (n == nil && m.booked.app == a || m == n) {
			d.c.Unbook(m.booked)
		}
	}
	for {
		x := d.any(func(x *Container) bool { return held(x) && (n == nil && x.app == a || x.node == n) })
		if x == nil {
			return
		}
		d.c.End(x, Killed, heddle.Aborted)
	}
}

func (d *driver) any(ok func(*Container) bool) *Container {
	for id := heddle.ContainerID(1); id <= d.c.slab.last; id++ {
		if x := d.c.slab.get(id); x != nil && ok(x) {
			return x
		}
	}
	return nil
}

var steps = []func(d *driver){
	func(d *driver) { // a node joins, comes back, or goes
		if n := d.node(false); n != nil && d.intn(2, "back") == 0 {
			d.c.AddNode(n.id, n.rack, heddle.Of(int64(1024*(4+d.intn(8, "total"))), 8000))
			return
		}
		if n := d.node(true); n != nil && d.intn(3, "down") == 0 {
			d.clear(nil, n)
			d.c.RemoveNode(n)
			return
		}
		id := heddle.NodeID(len(d.c.nodes))
		d.c.AddNode(id, heddle.RackID(id%3), heddle.Of(int64(1024*(4+d.intn(8, "total"))), int64(1000*(2+d.intn(8, "cores")))))
	},
	func(d *driver) { // an application is submitted or ends
		if a := d.anApp(); a != nil && d.intn(3, "done") == 0 {
			d.clear(a, nil)
			for len(a.asks) > 0 {
				d.c.DropAsk(a.asks[0])
			}
			d.c.Finish(a)
			return
		}
		d.c.Submit(heddle.Submit{App: d.app, Queue: heddle.QueueID(2 + d.intn(2, "queue")), User: heddle.UserID(d.intn(3, "user"))})
		d.app++
	},
	func(d *driver) { // an ask
		a := d.anApp()
		if a == nil {
			return
		}
		r := heddle.Anywhere(int32(d.intn(3, "priority")), heddle.Kind(1+d.intn(4, "kind")), int32(d.intn(5, "count")), d.size())
		switch d.intn(4, "place") {
		case 0:
			r.Rack = heddle.RackID(d.intn(3, "rack"))
		case 1:
			r.Host = heddle.NodeID(d.intn(5, "host"))
		}
		d.c.SetRow(a, r)
	},
	func(d *driver) { // a grant or a reservation
		a, n := d.anApp(), d.node(true)
		if a == nil || n == nil {
			return
		}
		for _, k := range a.asks {
			at, ok := k.Nearest(n)
			switch {
			case k.count == 0 || !ok || n.booked != nil && n.booked.ask != k:
			case d.c.Fits(k.size, n.Room(a)):
				d.c.Grant(k, n, at, k.size, k.size)
				return
			case n.booked == nil && d.c.Fits(k.size, n.total):
				d.c.Book(k, n, at)
				return
			}
		}
	},
	func(d *driver) {
		if a := d.anApp(); a != nil {
			d.c.Acquire(a)
		}
	},
	func(d *driver) {
		if x := d.container(func(x *Container) bool { return x.state == Acquired }); x != nil {
			d.c.Start(x)
		}
	},
	func(d *driver) {
		if x := d.container(held); x != nil {
			d.c.End(x, Killed, heddle.Aborted)
		}
	},
	func(d *driver) { // suspend, resume, resize
		x := d.container(func(x *Container) bool { return x.state == Running })
		if x == nil {
			return
		}
		switch {
		case d.intn(3, "resize") == 0:
			free := x.node.Free()
			if to := d.size(); d.c.Fits(heddle.Resource{}, free) && d.c.Fits(to.Minus(x.limit), free) {
				d.c.SetLimit(x, to)
			}
		case x.suspended:
			d.c.Resume(x)
		default:
			d.c.Suspend(x)
		}
	},
	func(d *driver) { d.twin() },
	func(d *driver) { // a container is found running, or a node changes its size
		a, n := d.anApp(), d.node(true)
		switch {
		case n == nil:
		case a != nil && d.intn(2, "found") == 0:
			kind := heddle.Kind(d.intn(heddle.NumKinds, "kind"))
			if kind == heddle.AM && a.master != nil {
				return
			}
			x := d.c.Adopt(a, n, kind, int32(d.intn(3, "priority")), int64(d.intn(2, "id")), d.size(), 0)
			if x.state != Running || x.ask == nil || x.Told() != x.limit {
				d.t.Fatalf("found as %+v", x)
			}
		default:
			total := heddle.Of(int64(1024*(1+d.intn(8, "total"))), int64(1000*(1+d.intn(8, "cores"))))
			if n.booked != nil && !d.c.Fits(n.booked.limit, total) {
				d.c.Unbook(n.booked)
			}
			d.c.ResizeNode(n, total)
		}
	},
	func(d *driver) { // an application changes its queue or its priority
		a := d.anApp()
		if a == nil {
			return
		}
		for _, n := range d.c.nodes {
			if n != nil && n.booked != nil && n.booked.app == a {
				d.c.Unbook(n.booked)
			}
		}
		d.c.Move(a, d.c.queues[2+d.intn(2, "queue")])
		d.c.SetPriority(a, int32(d.intn(3, "priority")))
	},
	func(d *driver) {
		if n := d.node(true); n != nil && n.booked != nil {
			if d.intn(2, "re") == 0 {
				d.c.Rebook(n.booked)
			} else {
				d.c.Unbook(n.booked)
			}
		}
	},
	func(d *driver) {
		if a := d.anApp(); a != nil {
			d.c.AddOutput(a, heddle.NodeID(d.intn(4, "on")), 5)
			d.c.Exclude(a, []heddle.NodeID{heddle.NodeID(d.intn(6, "excluded"))})
		}
	},
	func(d *driver) { d.c.SetNow(d.c.now + 1) },
}

// twin compares the room index with a scan of every node. With as few nodes as here, no bucket is cut short, so the
// answer must be from the emptiest, or fullest, bucket that holds a fitting node.
func (d *driver) twin() {
	a := d.anApp()
	if a == nil || len(d.c.nodes) > triesPerBucket {
		return
	}
	need := d.size()
	x := d.c.roomIndex()
	most, least := int32(-1), int32(levels)
	for _, n := range d.c.nodes {
		if n != nil && n.up && n.booked == nil && !a.Excludes(n.id) && d.c.Fits(need, n.Room(a)) {
			l := x.level(n.Free())
			most, least = max(most, l), min(least, l)
		}
	}
	for _, w := range []struct {
		name string
		find func(*App, heddle.Resource) (heddle.NodeID, bool)
		want int32
	}{{"MostFree", d.c.View().MostFree, most}, {"LeastFree", d.c.View().LeastFree, least}} {
		id, ok := w.find(a, need)
		if ok != (most >= 0) {
			d.t.Fatalf("%s finds %v, a look at every node says %v", w.name, ok, most >= 0)
		}
		if ok && x.level(d.c.nodes[id].Free()) != w.want {
			d.t.Fatalf("%s finds node %d of level %d, the best level is %d", w.name, id, x.level(d.c.nodes[id].Free()), w.want)
		}
	}
	d.roomiest(a, need)
}

// roomiest compares the list of the roomiest nodes with a scan of every node.
func (d *driver) roomiest(a *App, need heddle.Resource) {
	v := d.c.View()
	for _, most := range []int{1 + d.intn(3, "most"), len(d.c.nodes) + 1} {
		got := v.Roomiest(a, need, most, nil)
		fit := 0
		for _, n := range d.c.nodes {
			if n == nil || !n.up || n.booked != nil || a.Excludes(n.id) || !d.c.Fits(need, n.Room(a)) {
				if n != nil && slices.Contains(got, n.id) {
					d.t.Fatalf("%v names node %d, which has no room for %v", got, n.id, need)
				}
				continue
			}
			if fit++; !slices.Contains(got, n.id) && (len(got) < most || v.Level(n.id) > v.Level(got[len(got)-1])) {
				d.t.Fatalf("%v of %d at the most leaves node %d out, which has more room", got, most, n.id)
			}
		}
		if len(got) != min(most, fit) || !slices.IsSortedFunc(got, func(x, y heddle.NodeID) int { return v.Level(y) - v.Level(x) }) {
			d.t.Fatalf("%v of %d nodes, at most %d, is not all of them in order", got, fit, most)
		}
	}
}

func TestRandomClusterIsHealthy(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := &driver{t: t, c: New([]heddle.QueueID{heddle.NoQueue, 0, 1, 1}, rapid.Bool().Draw(t, "memory only"))}
		for range rapid.IntRange(1, 120).Draw(t, "steps") {
			steps[rapid.IntRange(0, len(steps)-1).Draw(t, "step")](d)
			if found := d.c.Check(); len(found) > 0 {
				t.Fatal(found)
			}
		}
		for _, a := range d.c.apps {
			if a != nil {
				d.clear(a, nil)
				for len(a.asks) > 0 {
					d.c.DropAsk(a.asks[0])
				}
				d.c.Finish(a)
			}
		}
		empty(t, d.c)
	})
}

// empty checks that nothing remains of what is gone.
func empty(t *rapid.T, c *Cluster) {
	if found := c.Check(); len(found) > 0 {
		t.Fatal(found)
	}
	q := c.queues[0]
	if c.alive != 0 || c.slab.live != 0 || c.pools != 0 || !q.used.IsZero() || !q.pending.IsZero() || !q.booked.IsZero() ||
		len(c.freeAsk) != len(c.asks) || len(c.slab.pages) > 1 {
		t.Fatalf("left over: %d applications, %d containers, %d pools, %d asks of %d ids, root uses %v, wants %v, reserves %v",
			c.alive, c.slab.live, c.pools, len(c.asks)-len(c.freeAsk), len(c.asks), q.used, q.pending, q.booked)
	}
}

// If many nodes lack one dimension, the few that fit must still be found.
func TestIndexFindsTheOneThatFits(t *testing.T) {
	c := New([]heddle.QueueID{heddle.NoQueue}, false)
	c.AddNode(0, 0, heddle.Resource{8192, 8000, 4, 0}) // the one with licences puts all others in bucket 0
	for i := 1; i <= 100; i++ {
		c.AddNode(heddle.NodeID(i), 0, heddle.Of(8192, 8000))
	}
	a := c.Submit(heddle.Submit{App: 0})
	fill := func(n int, size heddle.Resource) {
		c.Grant(c.SetRow(a, heddle.Anywhere(1, heddle.Other, 1, size)), c.nodes[n], heddle.OffSwitch, size, size)
	}
	fill(0, heddle.Of(8192, 1000))
	for i := 1; i <= 100; i++ {
		if i != 77 {
			fill(i, heddle.Of(8000, 1000))
		}
	}
	for _, find := range []func(*App, heddle.Resource) (heddle.NodeID, bool){c.View().MostFree, c.View().LeastFree} {
		if n, ok := find(a, heddle.Of(4096, 1000)); !ok || n != 77 {
			t.Errorf("found node %d %v, only 77 has room", n, ok)
		}
	}
	fill(77, heddle.Of(8000, 1000))
	if n, ok := c.View().MostFree(a, heddle.Of(4096, 1000)); ok {
		t.Errorf("found node %d, none has room", n)
	}
	for x := c.slab.at(c.nodes[5].first); x != nil; x = c.slab.at(c.nodes[5].first) {
		c.Acquire(a)
		c.End(x, Killed, heddle.Aborted)
	}
	if n, ok := c.View().MostFree(a, heddle.Of(4096, 1000)); !ok || n != 5 {
		t.Errorf("found node %d %v, 5 has room again", n, ok)
	}
	// Nodes that an application excludes do not use up the tries.
	var most []heddle.NodeID
	for i := 1; i < 100; i++ {
		most = append(most, heddle.NodeID(i))
	}
	c.Exclude(a, most)
	if n, ok := c.View().MostFree(a, heddle.Of(100, 1000)); !ok || n != 100 {
		t.Errorf("found node %d %v, only 100 is not excluded", n, ok)
	}
}
