package cluster

import "heddle"

// An Ask is one key of an application's request table: containers of one size and kind, with the places where they are
// wanted. The count for anywhere is the number wanted; host and rack counts only name places.
type Ask struct {
	id       int32
	app      *App
	priority int32
	kind     heddle.Kind
	allocID  int64
	size     heddle.Resource
	count    int32
	strict   bool // no nodes outside the racks named
	hosts    map[heddle.NodeID]int32
	racks    []rackRow
	bookings int32
	unseen   int32 // grants that their application has not fetched yet
	rebooked int32 // offers of a reserved node that could not fulfil the reservation
	since    heddle.Time
}

type rackRow struct {
	rack   heddle.RackID
	count  int32
	strict bool // no nodes in the rack but the hosts named
}

// ID returns a small dense number, which is reused after the ask is gone.
func (k *Ask) ID() int { return int(k.id) }

// App returns the application that asks.
func (k *Ask) App() *App { return k.app }

// Priority returns the priority among the application's asks; lower is served first.
func (k *Ask) Priority() int32 { return k.priority }

// Kind returns what the containers are for.
func (k *Ask) Kind() heddle.Kind { return k.kind }

// AllocID returns the requester's own number for the ask.
func (k *Ask) AllocID() int64 { return k.allocID }

// Size returns the size of each container.
func (k *Ask) Size() heddle.Resource { return k.size }

// Count returns how many containers are wanted.
func (k *Ask) Count() int { return int(k.count) }

// Strict reports whether the ask forbids nodes outside the racks it names.
func (k *Ask) Strict() bool { return k.strict }

// Places returns how many places the ask names, including anywhere.
func (k *Ask) Places() int { return 1 + len(k.hosts) + len(k.racks) }

// Hosts returns on how many nodes a container could run next to its data.
func (k *Ask) Hosts() int { return len(k.hosts) }

// AtHost returns how many of the containers could run next to their data on the node.
func (k *Ask) AtHost(n heddle.NodeID) int { return int(k.hosts[n]) }

// EachHost calls f for every node the ask names, in no particular order.
func (k *Ask) EachHost(f func(n heddle.NodeID)) {
	for n := range k.hosts { // order: as the comment says; callers sort, or the order does not matter to them
		f(n)
	}
}

// AtRack returns how many of the containers could run in the rack of their data.
func (k *Ask) AtRack(r heddle.RackID) int {
	for i := range k.racks {
		if k.racks[i].rack == r {
			return int(k.racks[i].count)
		}
	}
	return 0
}

// RackStrict reports whether the ask forbids those of the rack's nodes that it does not name.
func (k *Ask) RackStrict(r heddle.RackID) bool {
	for i := range k.racks {
		if k.racks[i].rack == r {
			return k.racks[i].strict
		}
	}
	return false
}

// Bookings returns how many nodes are reserved for the ask.
func (k *Ask) Bookings() int { return int(k.bookings) }

// Unseen returns how many grants of the ask its application has not fetched yet: they may come back.
func (k *Ask) Unseen() int { return int(k.unseen) }

// Rebooked returns how many offers of reserved nodes could not fulfil a reservation since a reservation was last made
// or ended.
func (k *Ask) Rebooked() int { return int(k.rebooked) }

// Since returns when the ask's count last rose from zero.
func (k *Ask) Since() heddle.Time { return k.since }

// Nearest returns the best locality a container of the ask would have on the node, and whether the
// ask's strictness allows the node at all.
func (k *Ask) Nearest(n *Node) (heddle.Locality, bool) {
	if len(k.racks) == 0 {
		return heddle.OffSwitch, !k.strict
	}
	for i := range k.racks {
		if r := &k.racks[i]; r.rack == n.rack && r.count > 0 {
			if k.hosts[n.id] > 0 {
				return heddle.NodeLocal, true
			}
			return heddle.RackLocal, !r.strict
		}
	}
	return heddle.OffSwitch, !k.strict
}

// less reports whether the ask is served before the one with the given key.
func (k *Ask) less(priority int32, kind heddle.Kind, alloc int64) bool {
	if k.priority != priority {
		return k.priority < priority
	}
	if k.kind != kind {
		return k.kind < kind
	}
	return k.allocID < alloc
}

// SetRow replaces one row of an application's request table and returns its ask, creating it if there was none. It
// returns nil if a row of 0 found no ask. The size of a key's last row holds for the whole key. An ask stays, with
// count 0, until [Cluster.DropAsk].
func (c *Cluster) SetRow(a *App, r heddle.Row) *Ask {
	k := c.ask(a, r.Priority, r.Kind, r.AllocID, r.Size, r.Count > 0)
	if k == nil {
		return nil
	}
	if r.Count > 0 && r.Size != k.size {
		n, since, passed := k.count, k.since, a.passed
		c.setCount(k, 0)
		k.size = r.Size
		c.setCount(k, n)
		k.since, a.passed = since, passed // it has been waiting all along
	}
	switch {
	case r.Host != heddle.NoNode:
		if r.Count <= 0 {
			delete(k.hosts, r.Host)
			break
		}
		if k.hosts == nil {
			k.hosts = map[heddle.NodeID]int32{}
		}
		k.hosts[r.Host] = r.Count
	case r.Rack != heddle.NoRack:
		k.setRack(r.Rack, r.Count, r.Strict)
	default:
		k.strict = r.Strict
		c.setCount(k, max(r.Count, 0))
	}
	return k
}

// ask returns the application's ask with a key. If there is none, it adds one with count 0 if add is set, and otherwise
// returns nil.
func (c *Cluster) ask(a *App, priority int32, kind heddle.Kind, alloc int64, size heddle.Resource, add bool) *Ask {
	i := 0
	for i < len(a.asks) && a.asks[i].less(priority, kind, alloc) {
		i++
	}
	if i < len(a.asks) && a.asks[i].priority == priority && a.asks[i].kind == kind && a.asks[i].allocID == alloc {
		return a.asks[i]
	}
	if !add {
		return nil
	}
	k := &Ask{app: a, priority: priority, kind: kind, allocID: alloc, size: size}
	if n := len(c.freeAsk); n > 0 {
		k.id, c.freeAsk = c.freeAsk[n-1], c.freeAsk[:n-1]
		c.asks[k.id] = k
	} else {
		k.id = int32(len(c.asks))
		c.asks = append(c.asks, k)
	}
	a.asks = append(a.asks, nil)
	copy(a.asks[i+1:], a.asks[i:])
	a.asks[i] = k
	return k
}

func (k *Ask) setRack(rack heddle.RackID, count int32, strict bool) {
	for i := range k.racks {
		if k.racks[i].rack == rack {
			if count <= 0 {
				k.racks = append(k.racks[:i], k.racks[i+1:]...)
			} else {
				k.racks[i] = rackRow{rack, count, strict}
			}
			return
		}
	}
	if count > 0 {
		k.racks = append(k.racks, rackRow{rack, count, strict})
	}
}

// DropAsk removes an ask from its application.
func (c *Cluster) DropAsk(k *Ask) {
	if k.bookings > 0 {
		panic("cluster: ask dropped that holds a reservation")
	}
	c.setCount(k, 0)
	a := k.app
	for i, b := range a.asks {
		if b == k {
			a.asks = append(a.asks[:i], a.asks[i+1:]...)
			break
		}
	}
	c.asks[k.id] = nil
	c.freeAsk = append(c.freeAsk, k.id)
}

// setCount changes how many containers are wanted, and every sum that includes them.
func (c *Cluster) setCount(k *Ask, n int32) {
	was := k.count
	if was == n {
		return
	}
	k.count = n
	a := k.app
	delta := k.size.Times(int64(n - was))
	if a.pending.IsZero() {
		a.passed = c.now
	}
	add(&a.pending, &delta)
	unserved := a.Unserved()
	a.waiting[k.kind] += n - was
	c.countUnserved(a, unserved)
	var turn int
	switch {
	case was == 0:
		turn, k.since = 1, c.now
	case n == 0:
		turn = -1
	}
	a.user.waiting += turn
	for q := a.queue; q != nil; q = q.parent {
		add(&q.pending, &delta)
		q.waiting += turn
	}
}

// take uses up one container of the ask at a node.
func (c *Cluster) take(k *Ask, n *Node, at heddle.Locality) {
	if k.count <= 0 {
		panic("cluster: grant beyond what was asked")
	}
	if at == heddle.NodeLocal {
		if v := k.hosts[n.id]; v > 1 {
			k.hosts[n.id] = v - 1
		} else {
			delete(k.hosts, n.id)
		}
	}
	if at != heddle.OffSwitch {
		for i := range k.racks {
			if k.racks[i].rack == n.rack {
				k.setRack(n.rack, k.racks[i].count-1, k.racks[i].strict)
				break
			}
		}
	}
	c.setCount(k, k.count-1)
}
