package cluster

import "heddle"

// queue compares a queue's books, and its users', with the recount.
func (d *audit) queue(q *Queue) {
	t, name := at(d.queues, q), q.name()
	if q.parent != nil { // the root's use is compared with the nodes'
		d.equal("queue-sums", name+" used", q.used, t.used)
	}
	d.equal("masters-sums", name+" masters", q.masters, t.masters)
	d.equal("booked-sums", name+" reserved", q.booked, t.booked)
	d.equal("pending-sums", name+" pending", q.pending, t.pending)
	d.same("waiting-counts", name+" asks waiting", int64(q.waiting), int64(t.asking))
	if q.used.AnyNegative() || q.masters.AnyNegative() || q.booked.AnyNegative() || q.pending.AnyNegative() || q.waiting < 0 {
		d.fail("non-negative", name+" used "+text(q.used)+" reserved "+text(q.booked)+" pending "+text(q.pending))
	}
	if d.c.View().Queue(q.id) != q || (q.parent == nil) != (q.id == 0) || q.parent != nil && (q.depth != q.parent.depth+1 || !q.parent.has(q)) {
		d.fail("queue-tree", name+" does not hang where it says")
	}
	if len(q.apps) > 0 && !q.Leaf() {
		d.fail("queue-tree", name+" has children and applications")
	}
	for _, a := range q.apps {
		at(d.apps, a).listed++
		if a.queue != q || d.c.View().App(a.id) != a {
			d.fail("queue-apps", name+" lists "+a.name()+", which is not there")
		}
	}
	live := 0
	for i, u := range q.users {
		d.user(q, i, u)
		if u.apps == 0 {
			continue
		}
		if live == len(q.alive) || q.alive[live] != u {
			d.fail("users-counted", u.name()+" has applications and is not listed in its place")
			return
		}
		live++
	}
	d.same("users-counted", name+" users with applications", int64(len(q.alive)), int64(live))
}

func (q *Queue) has(child *Queue) bool {
	n := 0
	for _, c := range q.children {
		if c == child {
			n++
		}
	}
	return n == 1
}

func (d *audit) user(q *Queue, nth int, u *User) {
	t, name := at(d.users, u), u.name()
	d.equal("user-sums", name+" used", u.used, t.used)
	d.equal("booked-sums", name+" reserved", u.booked, t.booked)
	d.same("waiting-counts", name+" asks waiting", int64(u.waiting), int64(t.asking))
	d.same("users-counted", name+" applications", int64(u.apps), int64(t.apps))
	if u.nth != nth || u.queue != q {
		d.fail("users-counted", name+" says it is number "+num(int64(u.nth))+", stands as "+num(int64(nth))+" of "+q.name())
	}
	for _, o := range q.users[:nth] {
		if o.id == u.id {
			d.fail("users-counted", name+" stands there twice")
		}
	}
}

// app compares an application's books with the recount.
func (d *audit) app(id heddle.AppID, a *App) {
	t, name := at(d.apps, a), a.name()
	if a.id != id || a.over {
		d.fail("queue-apps", name+" stands as number "+num(int64(id))+", or is over")
	}
	d.same("queue-apps", name+" is listed by its queue once;", 1, int64(t.listed))
	if a.user.nth >= len(a.queue.users) || a.queue.users[a.user.nth] != a.user {
		d.fail("users-counted", name+" has an owner its queue does not know")
	}
	d.equal("app-sums", name+" used", a.used, t.used)
	d.equal("booked-sums", name+" reserved", a.booked, t.booked)
	d.same("booked-sums", name+" reservations", int64(a.bookings), int64(t.bookings))
	d.equal("pending-sums", name+" pending", a.pending, t.pending)
	for k := range a.running {
		kind := heddle.Kind(k).String()
		d.same("app-counts", name+" "+kind+" running", int64(a.running[k]), int64(t.kinds[k]))
		d.same("waiting-counts", name+" "+kind+" waiting", int64(a.waiting[k]), int64(t.waiting[k]))
		if a.ended[k].count < 0 {
			d.fail("non-negative", name+" finished "+num(a.ended[k].count)+" of kind "+kind)
		}
	}
	d.list(name, ofApp, a.first, t.count, func(x *Container) bool { return x.app == a })
	d.master(a, t)
	d.unseen(a, t)
	d.outputs(a)
	for i, k := range a.asks {
		d.ask(a, i, k)
	}
}

func (d *audit) master(a *App, t *tally) {
	x := a.master
	switch {
	case x == nil && t.kinds[heddle.AM] > 0, t.kinds[heddle.AM] > 1:
		d.fail("one-master", a.name()+" holds "+num(int64(t.kinds[heddle.AM]))+" masters")
	case x != nil && (x.app != a || x.kind != heddle.AM || d.c.slab.get(x.id) != x || x.state == Reserved):
		d.fail("one-master", a.name()+" takes "+x.name()+" for its master")
	}
}

// unseen compares the list of unfetched grants with the containers in that state.
func (d *audit) unseen(a *App, t *tally) {
	seen := 0
	for x := a.unseen; x != nil; x = x.nextUnseen {
		if seen++; seen > len(d.held) {
			d.fail("unseen-list", a.name()+" has a list that does not end")
			return
		}
		if x.app != a || x.state != Allocated || d.c.slab.get(x.id) != x {
			d.fail("unseen-list", a.name()+" waits to fetch "+x.name()+" "+x.state.String())
		}
	}
	d.same("unseen-list", a.name()+" has to fetch", int64(seen), int64(t.fresh))
}

func (d *audit) outputs(a *App) {
	if len(a.outputs) != len(a.outputAt) {
		d.fail("outputs-indexed", a.name()+" has output on "+num(int64(len(a.outputs)))+" nodes and an index of "+num(int64(len(a.outputAt))))
	}
	for i, o := range a.outputs {
		if j, ok := a.outputAt[o.Node]; !ok || j != i {
			d.fail("outputs-indexed", a.name()+" does not find its output on node "+num(int64(o.Node)))
		}
	}
}

// ask checks one ask at its position.
func (d *audit) ask(a *App, i int, k *Ask) {
	name := k.name()
	if k.app != a || int(k.id) >= len(d.c.asks) || d.c.asks[k.id] != k {
		d.fail("no-orphan-asks", name+" is listed by "+a.name()+" and not in the table")
	}
	if i > 0 && !a.asks[i-1].less(k.priority, k.kind, k.allocID) {
		d.fail("asks-sorted-unique", name+" stands behind ask "+num(int64(a.asks[i-1].id))+" and belongs before it")
	}
	if k.size.AnyNegative() || k.count < 0 {
		d.fail("non-negative", name+" is for "+num(int64(k.count))+" of "+text(k.size))
	}
	d.same("booked-sums", name+" reservations", int64(k.bookings), int64(d.asks[k]))
	d.same("unseen-list", name+" has grants to fetch,", int64(k.unseen), int64(d.fresh[k]))
	if k.kind >= heddle.NumKinds || k.since > d.c.now || k.rebooked < 0 || k.rebooked > 0 && k.bookings == 0 {
		d.fail("ask-counts", name+" waits since "+num(int64(k.since))+", offers in vain "+num(int64(k.rebooked)))
	}
	for i, r := range k.racks {
		if r.count <= 0 || rackIn(k.racks[:i], r.rack) {
			d.fail("ask-counts", name+" keeps a row of "+num(int64(r.count))+" for rack "+num(int64(r.rack))+", or two")
		}
	}
	least := int32(1)
	for _, n := range k.hosts { // order: the smallest is taken
		least = min(least, n)
	}
	if least < 1 {
		d.fail("ask-counts", name+" keeps a row of "+num(int64(least))+" for a host")
	}
}

func rackIn(rows []rackRow, rack heddle.RackID) bool {
	for _, r := range rows {
		if r.rack == rack {
			return true
		}
	}
	return false
}

// table checks the ids of asks: each is either in use by a live application or free, and only once.
func (d *audit) table() {
	free := make([]bool, len(d.c.asks))
	for _, id := range d.c.freeAsk {
		if free[id] || d.c.asks[id] != nil {
			d.fail("no-orphan-asks", "id "+num(int64(id))+" is free and in use, or free twice")
		}
		free[id] = true
	}
	for i, k := range d.c.asks {
		switch {
		case k == nil && !free[i]:
			d.fail("no-orphan-asks", "id "+num(int64(i))+" is neither free nor in use")
		case k != nil && (int(k.id) != i || !d.listed(k)):
			d.fail("no-orphan-asks", k.name()+" stands in the table as "+num(int64(i))+" and nobody asks it")
		}
	}
}
