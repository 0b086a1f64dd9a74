package rm

import (
	"math"

	"heddle"
)

// Changes to running containers. A stock NodeManager learns a container's new size, and whether it yields to others,
// from the answer to its heartbeat, by a token of a higher version than it knows. It then reports what it accounts for.

// An Update is a change that a node makes to a running container. The shell signs its token.
type Update struct {
	Granted
	Version int32 // of the token: higher than all before
	Parked  bool  // the container gets only what nobody else wants, like YARN's opportunistic ones
}

// DeedCounts counts what policies did to running containers, whether or not their nodes can do it.
type DeedCounts struct {
	Resized   uint64 // given another limit
	Suspended uint64 // its processors were lent, and it was parked if its node parks
	Frozen    uint64 // … and stopped from running at all
	Resumed   uint64
	Weighed   uint64 // given another weight
	Bounded   uint64 // … and another bound on its processor use
}

// A deed is what was done to a container since it was granted.
type deed struct {
	limit    heddle.Resource // enforced or accounted for by its node
	parked   bool            // the core has suspended it
	demoted  bool            // its node was last told to park it
	weight   int64           // milli-vcores; 0 for the weight of its size
	bound    int64           // thousandths of a processor; 0 for none
	frozen   heddle.Span     // while parked it does not run at all, for at most so long; 0 for not frozen
	since    heddle.Time     // … from then
	lacks    heddle.Caps     // what its agent could not do
	missing  heddle.Caps     // … only because it had not found the container
	version  int32
	asked    heddle.Time // when its node was last told; never if it was not
	tries    int         // attempts not confirmed by the node
	queued   bool        // its node is told in the answer to its next heartbeat
	expected bool        // its node is to confirm it
	at       heddle.Time // of its last change; never if there was none
	by       string      // policy that wanted the change, as slot and name; "" if unknown
}

const (
	updateTries = 3                  // before a node counts as unable
	updateAgain = 5 * heddle.Second  // at the earliest
	updateClock = heddle.Second / 10 // versions grow by at least one in this time: see version
)

// left returns how much longer a container stays frozen.
func (d *deed) left(now heddle.Time) heddle.Span {
	if d.frozen == 0 {
		return 0
	}
	return max(0, d.since.Plus(d.frozen).Since(now))
}

// limitOf returns what a container's node enforces.
func (c *container) limitOf() heddle.Resource {
	if c.deed == nil {
		return c.size
	}
	return c.deed.limit
}

// changed returns the deed of a container, for changing it.
func (c *container) changed() *deed {
	if c.deed == nil {
		c.deed = &deed{limit: c.size, asked: never, at: never}
	}
	return c.deed
}

// relimit gives a running container another limit.
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

// park keeps a container from using what others want, or stops doing so, and from running at all for some time. On a
// node that cannot park, the container continues beside those that borrow from it.
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
	if n.demotes || d.demoted {
		m.update(c)
	}
	if n.can.Has(heddle.Parks) {
		m.altered(c, what, !n.demotes)
	}
	m.wants(n)
}

// weigh gives a container another weight on busy processors, and bounds its processor use. The weight of its size, without
// a bound, is no other one.
func (m *Machine) weigh(c *container, weight, bound int64, by string) {
	if weight == c.ownWeight() && bound == 0 {
		weight = 0
	}
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

// one returns 1 for true and 0 for false.
func one(yes bool) int {
	if yes {
		return 1
	}
	return 0
}

// count is one as a uint64.
func count(yes bool) uint64 { return uint64(one(yes)) }

// update has a container's node told of its changed deed.
func (m *Machine) update(c *container) {
	if d := c.deed; !m.cfg.Agent && !d.queued {
		if !d.expected { // otherwise the last change is not confirmed yet
			d.tries = 0
		}
		c.queue()
	}
}

// queue adds a container to what its node is told in the answer to its next heartbeat.
func (c *container) queue() {
	c.deed.queued = true
	o := c.node.order()
	o.update = append(o.update, c)
}

// updates returns the changes to tell a node.
func (m *Machine) updates(n *node) (out []Update) {
	for _, c := range n.orders.update {
		d := c.deed
		if d == nil || !d.queued || c.over() || c.node != n { // the struct may be another container by now
			continue
		}
		d.queued, d.expected, d.asked, d.version = false, true, m.now, c.version(m.now)
		d.tries++
		d.demoted = d.parked && (n.demotes || d.demoted)
		m.counts.updates.Sent++
		out = append(out, Update{Granted: m.granting(c), Version: d.version, Parked: d.demoted})
	}
	return out
}

// version returns the next version of a container's token. It grows with the container's age, so that it is higher than
// the versions that an earlier incarnation gave, which nobody reports.
func (c *container) version(now heddle.Time) int32 {
	age := now.Since(c.created) / updateClock
	return max(c.deed.version+1, int32(min(max(age, 1), math.MaxInt32-1)))
}

// sized takes what a node says of a container's size, and repeats a change that the node has not made.
func (m *Machine) sized(c *container, r *ContainerRun) {
	d, size := c.deed, r.Size
	if d == nil || !d.expected || d.queued || size.IsZero() || !plausible(size) {
		return
	}
	switch {
	case size.Whole() == d.limit.Whole() && (r.Parked == d.demoted || !c.node.own.Has(heddle.Parks)):
		d.expected, d.tries = false, 0
		m.counts.updates.Confirmed++
	case m.now.Since(d.asked) < updateAgain:
	case d.tries < updateTries:
		c.queue()
	default:
		wanted := d.limit
		d.expected, d.limit, d.at, d.by = false, size, m.now, ""
		m.counts.updates.Refused++
		m.log(Warn, "a node refused to change the size of a container", "node", c.node.id, "container", c.id(), "wanted", m.text(wanted), "has", m.text(size))
		m.step(heddle.Refused{Container: c.cid, Has: size})
		m.stale(c.attempt.app)
		if c.node.refused++; c.node.refused > 1 { // a single refusal may be the container's own doing: perhaps it is not ready yet
			c.node.own, c.node.demotes = c.node.own&^(heddle.Resizes|heddle.Parks), false
			m.able(c.node)
		}
	}
}

// deedOf carries out the core's decision about a running container, and tells the shell, which carries it out with its
// agents if it has any.
func (m *Machine) deedOf(d heddle.Decision, id heddle.ContainerID, do func(*container)) {
	if c := m.conts.Get(int64(id)); c != nil {
		m.stale(c.attempt.app)
		do(c)
		m.note(d, c.attempt.app.ID, c.id())
	}
}

// relax returns a container to normal: a new core does not know that it was suspended or weighed, nor that it lent memory
// while it was frozen.
func (m *Machine) relax(c *container) {
	if c.deed == nil {
		return
	}
	if limit := c.limitOf(); c.deed.frozen > 0 && !c.node.can.Has(heddle.Elastic) && limit[heddle.Memory] < c.size[heddle.Memory] {
		limit[heddle.Memory] = c.size[heddle.Memory]
		m.relimit(c, limit, "")
	}
	if c.deed.parked {
		m.park(c, false, 0, "")
	}
	if c.deed.weight > 0 || c.deed.bound > 0 {
		m.weigh(c, 0, 0, "")
	}
}

// able works out what a node can do, by itself and through its agent. If both can park containers the agent does it,
// because it is faster. What the node has parked before stays so until it is resumed: the node would undo what the agent
// does.
func (m *Machine) able(n *node) {
	can := n.own | n.agent.caps()
	if demotes := n.own.Has(heddle.Parks) && !n.agent.caps().Has(heddle.Parks); demotes != n.demotes {
		n.demotes = demotes
		for _, c := range n.conts {
			if demotes && c.deed != nil && c.deed.parked {
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
