package rm

import (
	"cmp"
	"iter"
	"slices"

	"heddle"
	"heddle/yarn/ids"
)

// A container was granted and has not ended.
type container struct {
	attempt  *attempt
	node     *node
	num      int64 // in its id
	cid      heddle.ContainerID
	kind     heddle.Kind
	state    containerState
	life     uint32 // counts the containers that used this struct
	begun    bool   // its node runs it but has not reported it yet: see [LeftOut]
	priority int32
	allocID  int64
	size     heddle.Resource
	created  heddle.Time
	fetched  heddle.Time // when its master was told; never if it was not
	reported uint64      // number of its node's last report that named it
	deed     *deed       // changes made to it; nil for none
}

func (c *container) id() ids.Container { return ids.Container{Attempt: c.attempt.id, ID: c.num} }

// held returns what the container has held so far: MiB·s and vcore·s.
func (c *container) held(now heddle.Time) (memory, vcores float64) {
	s := now.Since(c.created).Seconds()
	return s * float64(c.size[heddle.Memory]), s * float64(c.size[heddle.CPU]) / 1000
}

// byAge returns the containers, oldest first.
func byAge(list iter.Seq[*container]) []*container {
	return slices.SortedFunc(list, func(a, b *container) int { return cmp.Compare(a.cid, b.cid) })
}

// Texts that tell masters why a container did not end by itself.
const (
	textReleased  = "Container released by application"
	textLost      = "Container released on a *lost* node"
	textPreempted = "Container preempted by scheduler"
	textCompleted = "Container of a completed application"
	textExpired   = "Container expired since it was unused"
)

// carry carries out a decision of the core.
func (m *Machine) carry(d heddle.Decision) {
	switch d := d.(type) {
	case *heddle.Admit:
		m.note(d, m.apps[d.App].ID, ids.Container{})
		m.admitted(m.apps[d.App])
	case *heddle.Reject:
		m.note(d, m.apps[d.App].ID, ids.Container{})
		m.rejected(m.apps[d.App], d.Why)
	case *heddle.Launch:
		m.granted(d)
	case *heddle.Adopt:
		m.adopted(d)
	case *heddle.Kill:
		m.killed(d)
	case *heddle.Book: // the core's own, as is Unbook
		m.stale(m.apps[d.App])
		m.note(d, m.apps[d.App].ID, ids.Container{})
	case *heddle.Unbook:
		m.stale(m.apps[d.App])
		m.note(d, m.apps[d.App].ID, ids.Container{})
	case *heddle.Resize:
		m.deedOf(d, d.Container, func(c *container) { m.relimit(c, d.Limit, d.By) })
	case *heddle.Weigh:
		m.deedOf(d, d.Container, func(c *container) { m.weigh(c, d.Weight, d.Bound, d.By) })
	case *heddle.Suspend:
		m.deedOf(d, d.Container, func(c *container) { m.park(c, true, d.Freeze, d.By) })
	case *heddle.Resume:
		m.deedOf(d, d.Container, func(c *container) { m.park(c, false, 0, d.By) })
	}
}

// granted handles a container granted to an application: the master's own, or one for the master to fetch.
func (m *Machine) granted(d *heddle.Launch) {
	a := m.apps[d.App]
	t := a.newest()
	t.seq++
	c := m.newContainer()
	*c = container{
		life: c.life + 1, num: m.epoch<<ids.EpochShift | t.seq, cid: d.Container, attempt: t, node: m.nodes[d.Node],
		kind: d.Kind, priority: d.Priority, allocID: d.AllocID,
		size: d.Told, created: m.now, fetched: never,
	}
	if d.Limit != d.Told {
		x := c.changed()
		x.limit, x.at = d.Limit, m.now
	}
	m.track(c)
	m.note(d, a.ID, c.id())
	if d.Kind == heddle.AM {
		m.masterGranted(t, c)
		return
	}
	t.granted = append(t.granted, c)
}

// newContainer returns a free container: the last one that ended, so that used memory stays close together.
func (m *Machine) newContainer() *container {
	last := len(m.free) - 1
	if last < 0 {
		return &container{}
	}
	c := m.free[last]
	m.free = m.free[:last]
	return c
}

// track adds a container to the tables.
func (m *Machine) track(c *container) {
	a, t, n := c.attempt.app, c.attempt, c.node
	m.conts.Set(int64(c.cid), c)
	if seq, ours := m.ours(c.num); ours {
		t.own.Set(seq, c)
	} else {
		if t.found == nil {
			t.found = map[int64]*container{}
		}
		t.found[c.num] = c
	}
	n.conts = append(n.conts, c)
	if !c.running() {
		n.waiting++
	}
	a.ranOn(n)
	t.holds.add(c, 1)
	m.stale(a)
	m.staleNode(n)
	m.staleReservation(n)
}

// ours returns a container's sequence number, and whether this incarnation granted it.
func (m *Machine) ours(num int64) (seq int64, ours bool) {
	return num & (1<<ids.EpochShift - 1), num>>ids.EpochShift == m.epoch
}

// container returns a held container, or nil.
func (m *Machine) container(id ids.Container) *container {
	t := m.attemptOf(id.Attempt)
	if t == nil {
		return nil
	}
	seq, ours := m.ours(id.ID)
	if !ours {
		return t.found[id.ID]
	}
	if c := t.own.Get(seq); c != untold {
		return c
	}
	return nil
}

// held yields the containers that an attempt holds, in no particular order.
func (t *attempt) held(yield func(*container) bool) {
	for _, c := range t.own.All {
		if c != untold && !yield(c) {
			return
		}
	}
	for _, c := range t.found { // order: none is promised
		if !yield(c) {
			return
		}
	}
}

// heldAbove returns the containers that an attempt holds with a number above the given one, by number, at most so many.
// Those of other incarnations may be of later ones, if the store went back in time.
func (m *Machine) heldAbove(t *attempt, above int64, most int) []*container {
	var out []*container
	byNumber := func(c *container, num int64) int { return cmp.Compare(c.num, num) }
	for num, c := range t.found { // order: sorted
		if num <= above || len(out) == most && num > out[most-1].num {
			continue
		}
		i, _ := slices.BinarySearchFunc(out, num, byNumber)
		out = slices.Insert(out[:min(len(out), most-1)], i, c)
	}
	seq, ours := m.ours(max(above, m.epoch<<ids.EpochShift))
	if !ours {
		return out
	}
	i, _ := slices.BinarySearchFunc(out, m.epoch<<ids.EpochShift, byNumber)
	var own []*container
	for _, c := range t.own.From(seq + 1) {
		if i+len(own) == most {
			break
		}
		if c != untold {
			own = append(own, c)
		}
	}
	out = slices.Insert(out, i, own...)
	return out[:min(len(out), most)]
}

// untold stands for an ended container whose end its master has not been told.
var untold = &container{state: containerCompleted}

// untrack removes a container from the tables. told says that nobody is to hear of its end.
func (m *Machine) untrack(c *container, told bool) {
	n, t := c.node, c.attempt
	if d := c.deed; d != nil {
		n.parked -= one(d.parked)
		n.weighed -= one(d.weight > 0)
	}
	t.holds.add(c, -1)
	m.stale(t.app)
	m.staleNode(n)
	m.staleReservation(n)
	m.conts.Drop(int64(c.cid))
	seq, ours := m.ours(c.num)
	switch {
	case !ours:
		delete(t.found, c.num)
	case told:
		t.own.Drop(seq)
	default:
		t.own.Set(seq, untold)
	}
	last := len(n.conts) - 1
	n.conts[slices.Index(n.conts, c)] = n.conts[last]
	n.conts[last] = nil
	n.conts = n.conts[:last]
	if c.kind != heddle.AM { // the attempt keeps its master's
		m.dead = append(m.dead, c)
	}
}

// killed handles a container that the core ended: its node is told, and so is its master, unless it never heard of it.
func (m *Machine) killed(d *heddle.Kill) {
	c := m.conts.Get(int64(d.Container))
	if c == nil {
		return
	}
	why := m.ending
	switch {
	case d.Status == heddle.Preempted:
		why = textPreempted
		m.preempted(c)
	case why == "":
		why = textCompleted
	}
	m.note(d, c.attempt.app.ID, c.id())
	m.kill(c.node, c.id())
	m.ended(c, &ContainerEnd{ID: c.id(), Exit: int32(d.Status), Diagnostics: why, Size: c.size})
	if c.kind == heddle.AM {
		m.masterEnded(c.attempt, int32(d.Status), why)
	}
}

// exited ends a container that must be assumed to have ended.
func (m *Machine) exited(c *container, status int32, diagnostics string) {
	if !c.over() {
		m.note(&heddle.Kill{Container: c.cid, Status: heddle.ExitStatus(status)}, c.attempt.app.ID, c.id())
	}
	m.exitedAs(c, &ContainerEnd{ID: c.id(), Exit: status, Diagnostics: diagnostics, Size: c.size})
}

// exitedAs ends a container as its node reported it: masters act on its codes and texts.
func (m *Machine) exitedAs(c *container, s *ContainerEnd) {
	if c.over() {
		return
	}
	m.ended(c, s)
	m.step(heddle.Exit{Container: c.cid, Status: heddle.ExitStatus(s.Exit)})
	if c.kind == heddle.AM {
		m.masterEnded(c.attempt, s.Exit, s.Diagnostics)
	}
}

// unreported ends the containers of a node that it should have reported and did not.
func (m *Machine) unreported(n *node, missing func(*container) bool) {
	var gone []*container
	for _, c := range n.conts {
		if missing(c) {
			gone = append(gone, c)
		}
	}
	for _, c := range byAge(slices.Values(gone)) {
		m.exited(c, int32(heddle.Aborted), text("Container %s was running but not reported from %s", c.id(), n.id))
	}
}

// ended removes a container from the tables and keeps the news for its master.
func (m *Machine) ended(c *container, s *ContainerEnd) {
	if c.over() {
		return
	}
	if !c.running() {
		c.node.waiting--
	}
	c.become(containerCompleted)
	t := c.attempt
	told := c.kind == heddle.AM || t.state.isOver() || c.fetched == never
	m.untrack(c, told)
	m.charge(c)
	switch {
	case !told:
		t.hear(m, c.node, s)
	case c.fetched == never:
		t.unfetch(c)
	}
}

// hear records the end of a container for its master.
func (t *attempt) hear(m *Machine, n *node, s *ContainerEnd) {
	if _, ours := m.ours(s.ID.ID); !ours {
		t.heard[s.ID] = false
	}
	t.finished = append(t.finished, ended{n, *s})
}

// wasHere reports whether a container that is not held ended here before, so that its master was or will be told: it is
// of this incarnation, or of an earlier one and its end was heard of.
func (m *Machine) wasHere(t *attempt, id ids.Container) bool {
	_, heard := t.heard[id]
	_, ours := m.ours(id.ID)
	return heard || ours
}

// arrived notes that a master knows of the ends of containers: their nodes may forget them. Ends from earlier
// incarnations are remembered, because nothing else tells that they are old news.
func (m *Machine) arrived(t *attempt, list []told) {
	for i := range list {
		e := &list[i]
		e.node.acknowledge(e.id)
		if seq, ours := m.ours(e.id.ID); ours {
			t.own.Drop(seq)
		} else {
			t.heard[e.id] = true
		}
	}
}

// forgettable lets a node forget an ended container that is not held, unless its master is still to hear of it: if this
// process dies before that, only the node knows.
func (m *Machine) forgettable(n *node, id ids.Container) {
	if t := m.attemptOf(id.Attempt); t != nil {
		seq, ours := m.ours(id.ID)
		if has, heard := t.heard[id]; heard && !has || ours && t.own.Get(seq) == untold {
			return
		}
	}
	n.acknowledge(id)
}

// ended is the end of a container of which its master is still to hear.
type ended struct {
	node *node
	news ContainerEnd
}

// told is a container whose end its master was told.
type told struct {
	node *node
	id   ids.Container
}

// granting returns a container as told to its master, or to whoever starts it.
func (m *Machine) granting(c *container) Granted {
	return Granted{
		ID: c.id(), Node: c.node.id, NodeHTTP: c.node.http, Size: c.size, Limit: c.limitOf(), Priority: c.priority, AllocID: c.allocID,
		Master: c.kind == heddle.AM, User: c.attempt.app.user, Created: m.date(c.created),
		Expires: m.date(m.now.Plus(m.cfg.ContainerExpiry)), Logs: c.attempt.app.LogContext,
	}
}
