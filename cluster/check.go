package cluster

import (
	"slices"
	"strconv"

	"heddle"
)

// Checks lists everything that [Cluster.Check] recounts.
var Checks = []string{
	"node-capacity", "node-sums", "node-counts", "app-sums", "app-counts", "user-sums", "queue-sums",
	"root-equals-nodes", "masters-sums", "one-master", "pending-sums", "waiting-counts", "ask-counts",
	"non-negative", "container-states", "container-times", "container-unique-place", "lists-linked",
	"no-orphan-containers", "one-reservation-a-node", "reservation-owner-alive",
	"reservation-fits-empty-node", "beside-reservations", "booked-sums", "live-nodes-total", "largest-node", "racks",
	"no-orphan-asks", "asks-sorted-unique", "pools", "room-index", "users-counted", "queue-apps",
	"queue-tree", "unseen-list", "id-order", "slab-counts", "outputs-indexed",
}

// Check recounts the state from the containers up and returns every broken invariant as "name: what", where name is one
// of [Checks]. It changes nothing and takes time proportional to the state.
func (c *Cluster) Check() []string {
	d := audit{
		c: c, nodes: map[*Node]*tally{}, apps: map[*App]*tally{}, users: map[*User]*tally{},
		queues: map[*Queue]*tally{}, asks: map[*Ask]int32{}, fresh: map[*Ask]int32{}, pools: map[poolKey]*pool{},
	}
	d.collect()
	for _, n := range c.nodes {
		if n != nil {
			d.node(n)
		}
	}
	d.cluster()
	for _, q := range c.queues {
		d.queue(q)
	}
	alive := 0
	for i, a := range c.apps {
		if a != nil {
			alive++
			d.app(heddle.AppID(i), a)
		}
	}
	d.same("queue-apps", "applications alive", int64(c.alive), int64(alive))
	d.table()
	d.roomIndex()
	return d.found
}

// An audit is one recount: the sums over containers and asks, and the faults found.
type audit struct {
	c      *Cluster
	held   []*Container
	nodes  map[*Node]*tally
	apps   map[*App]*tally
	users  map[*User]*tally
	queues map[*Queue]*tally
	asks   map[*Ask]int32 // reservations of each
	fresh  map[*Ask]int32 // grants of each that have not been fetched
	pools  map[poolKey]*pool
	used   heddle.Resource

	lending int // pools on nodes
	found   []string
}

type poolKey struct {
	node *Node
	app  *App
}

// A tally is the sums over containers and asks at one place.
type tally struct {
	used, masters, booked, pending heddle.Resource
	kinds, waiting                 [heddle.NumKinds]int32
	count, bookings, asking        int
	apps                           int // of a user, alive
	fresh                          int // of an application: granted but not acquired
	listed                         int // of an application: how often its queue lists it
}

func (d *audit) fail(check, what string) { d.found = append(d.found, check+": "+what) }

func (d *audit) same(check, what string, have, want int64) {
	if have != want {
		d.fail(check, what+" "+num(have)+", recounted "+num(want))
	}
}

func (d *audit) equal(check, what string, have, want heddle.Resource) {
	if have != want {
		d.fail(check, what+" "+text(have)+", recounted "+text(want))
	}
}

func num(n int64) string { return strconv.FormatInt(n, 10) }

func text(r heddle.Resource) string {
	s := "<" + num(r[0])
	for _, v := range r[1:] {
		s += " " + num(v)
	}
	return s + ">"
}

func (n *Node) name() string      { return "node " + num(int64(n.id)) }
func (a *App) name() string       { return "application " + num(int64(a.id)) }
func (q *Queue) name() string     { return "queue " + num(int64(q.id)) }
func (c *Container) name() string { return "container " + num(int64(c.id)) }

func (u *User) name() string {
	return "user " + num(int64(u.id)) + " of queue " + num(int64(u.queue.id))
}

func (k *Ask) name() string {
	return "ask " + num(int64(k.id)) + " of application " + num(int64(k.app.id))
}

func at[K comparable, T any](m map[K]*T, k K) *T {
	t := m[k]
	if t == nil {
		t = new(T)
		m[k] = t
	}
	return t
}

// collect adds up everything: containers from the slab, asks from the live applications.
func (d *audit) collect() {
	all := 0
	for p, pg := range d.c.slab.pages {
		if pg == nil {
			continue
		}
		live := 0
		for i, slot := range pg.at {
			if slot == 0 {
				continue
			}
			x := d.c.slab.at(slot)
			live++
			if want := heddle.ContainerID((p+d.c.slab.base)*slabChunk + i); x.id != want || x.id > d.c.slab.last || x.id <= 0 {
				d.fail("id-order", x.name()+" stands where "+num(int64(want))+" belongs; the last one given was "+num(int64(d.c.slab.last)))
			}
			d.container(x)
		}
		d.same("slab-counts", "page "+num(int64(p))+" holds", int64(pg.live), int64(live))
		all += live
	}
	d.same("slab-counts", "containers", int64(d.c.slab.live), int64(all))
	unserved := 0
	for _, a := range d.c.apps {
		if a == nil {
			continue
		}
		if a.Unserved() {
			unserved++
		}
		at(d.users, a.user).apps++
		for _, k := range a.asks {
			d.count(a, k)
		}
	}
	d.same("waiting-counts", "unserved applications", int64(d.c.unserved), int64(unserved))
}

// count adds an ask to the tallies.
func (d *audit) count(a *App, k *Ask) {
	t := at(d.apps, a)
	t.pending = t.pending.Plus(k.size.Times(int64(k.count)))
	if k.kind < heddle.NumKinds {
		t.waiting[k.kind] += k.count
	}
	asking := 0
	if k.count > 0 {
		asking = 1
	}
	at(d.users, a.user).asking += asking
	for q := a.queue; q != nil; q = q.parent {
		t := at(d.queues, q)
		t.pending = t.pending.Plus(k.size.Times(int64(k.count)))
		t.asking += asking
	}
}

// container adds a container to the tallies and checks it.
func (d *audit) container(x *Container) {
	d.state(x)
	if x.app == nil || x.node == nil {
		d.fail("no-orphan-containers", x.name()+" has no application or no node")
		return
	}
	if d.c.View().App(x.app.id) != x.app || x.app.over {
		d.fail("no-orphan-containers", x.name()+" belongs to "+x.app.name()+", which is gone")
	}
	if d.c.View().Node(x.node.id) != x.node || !x.node.up {
		d.fail("no-orphan-containers", x.name()+" is on "+x.node.name()+", which is gone")
	}
	if x.limit.AnyNegative() || x.Told().AnyNegative() || x.borrowed < 0 || x.lent < 0 {
		d.fail("non-negative", x.name()+" told "+text(x.Told())+" limit "+text(x.limit)+" borrowed "+num(x.borrowed)+" lent "+num(x.lent))
	}
	if x.state == Reserved {
		d.reservation(x)
		return
	}
	d.held = append(d.held, x)
	d.used = d.used.Plus(x.limit)
	n, a, u := at(d.nodes, x.node), at(d.apps, x.app), at(d.users, x.app.user)
	if x.state == Allocated {
		a.fresh++
		d.fresh[x.ask]++
	}
	for _, t := range []*tally{n, a, u} {
		t.used = t.used.Plus(x.limit)
		t.count++
		if x.kind < heddle.NumKinds {
			t.kinds[x.kind]++
		}
	}
	for q := x.app.queue; q != nil; q = q.parent {
		t := at(d.queues, q)
		t.used = t.used.Plus(x.limit)
		if x.kind == heddle.AM {
			t.masters = t.masters.Plus(x.limit)
		}
	}
	if x.borrowed != 0 || x.lent != 0 || x.suspended {
		p := at(d.pools, poolKey{x.node, x.app})
		p.suspended += x.lent
		p.borrowed += x.borrowed
	}
}

// state checks a container's own fields.
func (d *audit) state(x *Container) {
	switch {
	case x.state == Created || x.state.Ended() || x.state >= NumStates:
		d.fail("container-states", x.name()+" is kept in state "+num(int64(x.state)))
	case x.kind >= heddle.NumKinds:
		d.fail("container-states", x.name()+" has kind "+num(int64(x.kind)))
	case x.suspended && x.state != Running:
		d.fail("container-states", x.name()+" is suspended while "+x.state.String())
	case x.kind == heddle.AM && x.state == Allocated:
		d.fail("container-states", x.name()+" is a master nobody acquired")
	case !x.suspended && x.frozen:
		d.fail("container-states", x.name()+" is frozen without being suspended")
	case !x.suspended && x.lent != 0:
		d.fail("container-states", x.name()+" lends without being suspended")
	}
	if x.granted > d.c.now || x.started > d.c.now ||
		x.state == Running && x.started < x.granted || x.state != Running && x.started != 0 {
		d.fail("container-times", x.name()+" granted at "+num(int64(x.granted))+", started at "+num(int64(x.started))+
			", "+x.state.String()+" at "+num(int64(d.c.now)))
	}
}

// reservation adds a reservation to the tallies and checks it.
func (d *audit) reservation(x *Container) {
	a, u := at(d.apps, x.app), at(d.users, x.app.user)
	a.booked, u.booked = a.booked.Plus(x.Reserves()), u.booked.Plus(x.Reserves())
	a.bookings++
	for q := x.app.queue; q != nil; q = q.parent {
		t := at(d.queues, q)
		t.booked = t.booked.Plus(x.Reserves())
	}
	d.beside(x)
	if x.node.booked != x {
		d.fail("one-reservation-a-node", x.name()+" reserves "+x.node.name()+", which knows nothing of it")
	}
	if k := x.ask; k == nil || k.app != x.app || !d.listed(k) {
		d.fail("reservation-owner-alive", x.name()+" answers an ask that is gone")
	} else {
		d.asks[k]++
	}
	if !d.c.Fits(x.limit, x.node.total) {
		d.fail("reservation-fits-empty-node", x.name()+" of "+text(x.limit)+" on "+x.node.name()+" of "+text(x.node.total))
	}
}

// beside checks the containers let in beside a reservation.
func (d *audit) beside(x *Container) {
	var sum heddle.Resource
	for i := range x.Beside() {
		b := x.seldom.beside[i]
		if y := d.c.slab.get(b.id); y == nil || y.node != x.node || y.ask == x.ask {
			d.fail("beside-reservations", x.name()+" has a container beside it that is not there")
		}
		sum = sum.Plus(b.size)
	}
	if x.Reserves() != x.limit.Minus(sum.Min(x.limit)) {
		d.fail("beside-reservations", x.name()+" of "+text(x.limit)+" beside "+text(sum)+" counts for "+text(x.Reserves()))
	}
}

// listed reports whether a live application has the ask.
func (d *audit) listed(k *Ask) bool {
	if a := d.c.View().App(k.app.id); a != nil {
		return slices.Contains(a.asks, k)
	}
	return false
}
