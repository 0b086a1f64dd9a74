package cluster

import "heddle"

// node compares a node's books with the recount.
func (d *audit) node(n *Node) {
	t, name := at(d.nodes, n), n.name()
	d.equal("node-sums", name+" used", n.used, t.used)
	d.same("node-counts", name+" containers", int64(n.count), int64(t.count))
	for k := range n.kinds {
		d.same("node-counts", name+" "+heddle.Kind(k).String(), int64(n.kinds[k]), int64(t.kinds[k]))
	}
	if n.total.AnyNegative() || n.used.AnyNegative() || n.over < 0 || n.count < 0 {
		d.fail("non-negative", name+" total "+text(n.total)+" used "+text(n.used)+" borrowed "+num(n.over))
	}
	if fits := d.c.Fits(t.used.Minus(heddle.Of(0, n.over)), n.total); n.up && fits == n.full {
		d.fail("node-capacity", name+" of "+text(n.total)+" holds "+text(t.used)+", borrowed "+num(n.over))
	}
	if x := n.booked; x != nil && (d.c.slab.get(x.id) != x || x.state != Reserved || x.node != n) {
		d.fail("one-reservation-a-node", name+" is reserved by "+x.name()+" "+x.state.String()+", which is no reservation of it")
	}
	d.list(name, onNode, n.first, t.count, func(x *Container) bool { return x.node == n })
	d.lends(n)
}

// list walks a list of containers: linked both ways, each once, all belonging to its owner, none left out.
func (d *audit) list(name string, l list, first int32, want int, mine func(*Container) bool) {
	s := &d.c.slab
	seen, before := 0, int32(0)
	for x := s.at(first); x != nil; x = s.after(l, x) {
		if seen++; seen > len(d.held) {
			d.fail("lists-linked", name+" has a list that does not end")
			return
		}
		if s.links(x.slot)[l].prev != before {
			d.fail("lists-linked", name+" lists "+x.name()+" with another before it than stands there")
		}
		if !mine(x) || s.get(x.id) != x || x.state == Reserved {
			d.fail("container-unique-place", name+" lists "+x.name()+", which is not there")
		}
		before = x.slot
	}
	if seen != want {
		d.fail("container-unique-place", name+" lists "+num(int64(seen))+" containers of "+num(int64(want)))
	}
}

// lends compares the pools of a node with what its containers lend and borrow.
func (d *audit) lends(n *Node) {
	d.lending += len(n.pools)
	if n.lends != (len(n.pools) > 0) {
		d.fail("pools", n.name()+" has "+num(int64(len(n.pools)))+" pools and says otherwise")
	}
	over := int64(0)
	for i := range n.pools {
		p := &n.pools[i]
		over += p.borrowed
		for j := range i {
			if n.pools[j].app == p.app {
				d.fail("pools", n.name()+" has two pools of "+p.app.name())
			}
		}
		want := d.pools[poolKey{n, p.app}]
		if want == nil || want.suspended != p.suspended || want.borrowed != p.borrowed {
			if want == nil {
				want = &pool{}
			}
			d.fail("pools", n.name()+" "+p.app.name()+" lends "+num(p.suspended)+" borrows "+num(p.borrowed)+
				", recounted "+num(want.suspended)+" and "+num(want.borrowed))
		}
	}
	d.same("pools", n.name()+" borrowed", n.over, over)
	for i := range n.pools {
		if p := &n.pools[i]; p.borrowed > p.suspended && n.Free()[heddle.CPU] > 0 {
			d.fail("pools", n.name()+" has "+num(n.Free()[heddle.CPU])+" free while "+p.app.name()+" still borrows what nobody lends")
		}
	}
}

// cluster compares the cluster's sums over nodes with the recount.
func (d *audit) cluster() {
	c := d.c
	var total, largest, ties heddle.Resource
	live, racked := 0, 0
	for i, n := range c.nodes {
		if n == nil {
			continue
		}
		if int(n.id) != i {
			d.fail("racks", n.name()+" stands where node "+num(int64(i))+" belongs")
		}
		if n.up {
			live++
			total = total.Plus(n.total)
			largest = largest.Max(n.total)
		}
		d.racked(n)
		racked++
	}
	for _, n := range c.nodes {
		for dim := range largest {
			if n != nil && n.up && n.total[dim] == largest[dim] {
				ties[dim]++
			}
		}
	}
	for _, r := range c.racks {
		racked -= len(r)
	}
	d.same("racks", "nodes without a rack", int64(racked), 0)
	d.same("live-nodes-total", "nodes up", int64(c.live), int64(live))
	d.equal("live-nodes-total", "total", c.total, total)
	d.equal("largest-node", "largest", c.largest, largest)
	for dim := range ties {
		d.same("largest-node", "nodes that offer as much", int64(c.ties[dim]), ties[dim])
	}
	d.equal("root-equals-nodes", "root used", c.queues[0].used, d.used)
	d.same("pools", "pools", int64(c.pools), int64(d.lending))
	for k, p := range d.pools { // order: at most one finding is kept, and they all say the same
		if !k.node.pooled(k.app) && (p.suspended != 0 || p.borrowed != 0) {
			d.fail("pools", "containers lend or borrow without a pool")
			break
		}
	}
}

func (n *Node) pooled(a *App) bool {
	for i := range n.pools {
		if n.pools[i].app == a {
			return true
		}
	}
	return false
}

// racked checks that a node is in its rack.
func (d *audit) racked(n *Node) {
	found := 0
	if n.rack >= 0 && int(n.rack) < len(d.c.racks) {
		for _, id := range d.c.racks[n.rack] {
			if id == n.id {
				found++
			}
		}
	}
	if found != 1 {
		d.fail("racks", n.name()+" stands "+num(int64(found))+" times in rack "+num(int64(n.rack)))
	}
}

// roomIndex checks that the bucket of its room holds every live node that reports, and that the index holds nothing
// else.
func (d *audit) roomIndex() {
	x := d.c.index
	if x == nil {
		return
	}
	in := 0
	for b := range x.buckets {
		in += len(x.buckets[b])
		if (len(x.buckets[b]) > 0) != (x.mask[b/64]>>(b%64)&1 == 1) {
			d.fail("room-index", "bucket "+num(int64(b))+" of "+num(int64(len(x.buckets[b])))+" nodes is marked otherwise")
		}
	}
	for _, n := range d.c.nodes {
		if n == nil || !n.up || n.silent {
			continue
		}
		in--
		b, at := x.level(n.Free()), nowhere
		if int(n.id) < len(x.spots) {
			at = x.spots[n.id]
		}
		if at.bucket != b || int(at.place) >= len(x.buckets[b]) || x.buckets[b][at.place] != n.id {
			d.fail("room-index", n.name()+" with "+text(n.Free())+" free stands in bucket "+num(int64(at.bucket))+", belongs in "+num(int64(b)))
		}
	}
	d.same("room-index", "nodes beyond the live ones", int64(in), 0)
	for _, r := range x.none[:min(x.nones, len(x.none))] {
		for _, n := range d.c.nodes {
			if n != nil && n.up && !n.silent && n.booked == nil && d.c.Fits(r, n.Free()) && r != nothing {
				d.fail("room-index", text(r)+" is said to fit nowhere and fits "+n.name())
			}
		}
	}
}
