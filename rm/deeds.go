package rm

import (
	"math"

	"heddle"
)

// What is done to running containers. A stock NodeManager takes another size, and whether a container gives way to
// others, from the answer to its report, by a token of a higher version than it knows. It says with its next reports
// what it accounts for.

// An Update is what a node is to make of a container that runs there. Its token is signed by the shell.
type Update struct {
	Granted
	Version int32 // of the token: higher than those before
	Parked  bool  // the container gets what nobody else wants, as YARN's opportunistic ones
}

// DeedCounts says how often policies had something done to a running container, on nodes that can do it or not.
type DeedCounts struct {
	Resized   uint64 // given another limit
	Suspended uint64 // its processors lent, and parked where its node parks
	Frozen    uint64 // … and kept from running at all
	Resumed   uint64
	Weighed   uint64 // given another weight
	Bounded   uint64 // … and another bound on the processors that it uses
}

// deed is what was made of a container since it was granted.
type deed struct {
	limit    heddle.Resource // that its node enforces or accounts for
	parked   bool            // the core has suspended it
	weight   int64           // milli-vcores; 0 for that of its size
	bound    int64           // thousandths of a processor; 0 for none
	frozen   heddle.Span     // while it is parked it does not run at all, for so long at the most; 0 for not
	since    heddle.Time     // … from then
	lacks    heddle.Caps     // what its agent could not do
	version  int32
	asked    heddle.Time // when its node was told last; never for not yet
	tries    int         // that the node has not confirmed
	queued   bool        // its node is to hear of it with the next report's answer
	expected bool        // its node is to confirm it
	at       heddle.Time // of its last change; never for none
	by       string      // the policy that wanted that, as slot and name; "" where it is not known
}

const (
	updateTries = 3                  // before a node counts as one that does not do it
	updateAgain = 5 * heddle.Second  // at the earliest
	updateClock = heddle.Second / 10 // versions grow by one in such a time at least: see version
)

// left is for how long a container does not run at all from now on.
func (d *deed) left(now heddle.Time) heddle.Span {
	if d.frozen == 0 {
		return 0
	}
	return max(0, d.since.Plus(d.frozen).Since(now))
}

// limitOf is what a container's node enforces.
func (c *container) limitOf() heddle.Resource {
	if c.deed == nil {
		return c.size
	}
	return c.deed.limit
}

// changed is the deed of a container, to be changed.
func (c *container) changed() *deed {
	if c.deed == nil {
		c.deed = &deed{limit: c.size, asked: never, at: never}
	}
	return c.deed
}

// relimit has a node take another limit of a running container.
func (m *Machine) relimit(c *container, limit heddle.Resource, by string) {
	d := c.changed()
	m.staleNode(c.node)
	m.counts.deeds.Resized += count(d.limit != limit)
	d.limit, d.at, d.by = limit, m.now, by
	m.update(c)
	m.altered(c, Resized, false)
	if c.node.agent.caps().Has(heddle.Reclaims) {
		m.wants(c.node)
	}
}

// park has a node that can do so keep a container from using what others want, or no more, and from running at all for some
// time. On another it goes on beside those that borrow from it.
func (m *Machine) park(c *container, parked bool, frozen heddle.Span, by string) {
	d, n, what := c.changed(), c.node, Unparked
	m.staleNode(n)
	m.counts.deeds.Suspended += count(parked && !d.parked)
	m.counts.deeds.Resumed += count(!parked && d.parked)
	m.counts.deeds.Frozen += count(frozen > 0 && d.frozen == 0)
	n.parked -= one(d.parked)
	if frozen != d.frozen {
		d.since = m.now
	}
	d.parked, d.frozen, d.at, d.by = parked, frozen, m.now, by
	n.parked += one(parked)
	if parked {
		what = Parked
	}
	if n.demotes {
		m.update(c)
	}
	if n.can.Has(heddle.Parks) {
		m.altered(c, what, !n.demotes)
	}
	m.wants(n)
}

// weigh gives a container another part of busy processors, and bounds what it uses of all.
func (m *Machine) weigh(c *container, weight, bound int64, by string) {
	d, n := c.changed(), c.node
	m.staleNode(n)
	m.counts.deeds.Weighed += count(weight > 0 && weight != d.weight)
	m.counts.deeds.Bounded += count(bound > 0 && bound != d.bound)
	n.weighed -= one(d.weight > 0)
	d.weight, d.bound, d.at, d.by = weight, bound, m.now, by
	n.weighed += one(weight > 0)
	if n.can.Has(heddle.Weighs) {
		m.altered(c, Weighed, true)
	}
	m.wants(n)
}

// one is 1 for what is true.
func one(yes bool) int {
	if yes {
		return 1
	}
	return 0
}

// count is 1 for what is to be counted.
func count(yes bool) uint64 { return uint64(one(yes)) }

// update has a node told of a container's deed that is another now.
func (m *Machine) update(c *container) {
	if d := c.deed; !m.cfg.Agent && !d.queued {
		if !d.expected { // otherwise the last one is not confirmed yet
			d.tries = 0
		}
		c.queue()
	}
}

// queue has a container's node told of its deed with the next report's answer.
func (c *container) queue() {
	c.deed.queued = true
	o := c.node.order()
	o.update = append(o.update, c)
}

// updates are the changes that a node is told of.
func (m *Machine) updates(n *node) (out []Update) {
	for _, c := range n.orders.update {
		d := c.deed
		if d == nil || !d.queued || c.over() || c.node != n { // another container may have its place by now
			continue
		}
		d.queued, d.expected, d.asked, d.version = false, true, m.now, c.version(m.now)
		d.tries++
		m.counts.updates.Sent++
		out = append(out, Update{Granted: m.granting(c), Version: d.version, Parked: d.parked && n.demotes})
	}
	return out
}

// version is the next version of a container's token. It grows with the container's age, so that it is higher than those
// that an earlier incarnation gave, of which nobody tells.
func (c *container) version(now heddle.Time) int32 {
	age := now.Since(c.created) / updateClock
	return max(c.deed.version+1, int32(min(max(age, 1), math.MaxInt32-1)))
}

// sized takes what a node says of a container, and tells it again of what it has not done.
func (m *Machine) sized(c *container, r *ContainerRun) {
	d, size := c.deed, r.Size
	if d == nil || !d.expected || d.queued || size.IsZero() || !plausible(size) {
		return
	}
	switch {
	case size.Whole() == d.limit.Whole() && (r.Parked == (d.parked && c.node.demotes) || !c.node.own.Has(heddle.Parks)):
		d.expected, d.tries = false, 0
		m.counts.updates.Confirmed++
	case m.now.Since(d.asked) < updateAgain:
	case d.tries < updateTries:
		c.queue()
	default:
		wanted := d.limit
		d.expected, d.limit, d.at, d.by = false, size, m.now, ""
		m.counts.updates.Refused++
		m.log(Warn, "a node does not take another size for a container", "node", c.node.id, "container", c.id(), "wanted", m.text(wanted), "has", m.text(size))
		m.step(heddle.Refused{Container: c.cid, Has: size})
		m.stale(c.attempt.app)
		if c.node.refused++; c.node.refused > 1 { // once may be the container's own doing: it is not ready yet, perhaps
			c.node.own, c.node.demotes = c.node.own&^(heddle.Resizes|heddle.Parks), false
			m.able(c.node)
		}
	}
}

// deedOf does what the core decided of a running container, and tells the shell, which with agents has it done.
func (m *Machine) deedOf(d heddle.Decision, id heddle.ContainerID, do func(*container)) {
	if c := m.conts.Get(int64(id)); c != nil {
		m.stale(c.attempt.app)
		do(c)
		m.note(d, c.attempt.app.ID, c.id())
	}
}

// relax has a container go on as ordinary: a new core does not know that it was suspended or weighed.
func (m *Machine) relax(c *container) {
	if c.deed == nil {
		return
	}
	if c.deed.parked {
		m.park(c, false, 0, "")
	}
	if c.deed.weight > 0 || c.deed.bound > 0 {
		m.weigh(c, 0, 0, "")
	}
}

// able works out what a node can do from now on, by itself and by its agent. Where both can park containers the agent
// does: it is sooner.
func (m *Machine) able(n *node) {
	can := n.own | n.agent.caps()
	if demotes := n.own.Has(heddle.Parks) && !n.agent.caps().Has(heddle.Parks); demotes != n.demotes {
		n.demotes = demotes
		for _, c := range n.conts {
			if c.deed != nil && c.deed.parked {
				m.update(c)
			}
		}
	}
	if n.can == can {
		return
	}
	n.can = can
	m.staleNode(n)
	m.wants(n)
	if n.up {
		m.step(heddle.NodeCan{Node: n.nid, Can: can})
	}
}
