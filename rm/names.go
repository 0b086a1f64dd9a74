package rm

import (
	"slices"

	"heddle"
	"heddle/internal/slab"
)

// names holds the numbers by which the core knows racks, users and queues, and the nodes of each host.
type names struct {
	hosts     map[string][]*node
	racks     map[string]heddle.RackID
	users     map[string]heddle.UserID
	userNames []string // by UserID
	queues    map[string]heddle.QueueID
	told      func(id heddle.UserID, name string)
}

// newNames returns the names for a scheduler's queues and for users that already have numbers.
func newNames(sch *Scheduler, users []string) names {
	n := names{
		hosts: map[string][]*node{}, racks: map[string]heddle.RackID{}, users: map[string]heddle.UserID{},
		queues: sch.Numbers(), userNames: users,
	}
	for _, u := range users {
		n.users[u] = heddle.UserID(len(n.users))
	}
	n.told = sch.UserName
	return n
}

// rackID returns a rack's number, assigning one if needed.
func (n *names) rackID(name string) heddle.RackID {
	id, ok := n.racks[name]
	if !ok {
		id = heddle.RackID(len(n.racks))
		n.racks[name] = id
	}
	return id
}

// userID returns a user's number, assigning one if needed.
func (n *names) userID(name string) heddle.UserID {
	id, ok := n.users[name]
	if !ok {
		id = heddle.UserID(len(n.users))
		n.users[name] = id
		n.userNames = append(n.userNames, name)
		if n.told != nil {
			n.told(id, name)
		}
	}
	return id
}

// renew resets the numbers of racks and users, for the queues of another scheduler.
func (n *names) renew(sch *Scheduler) {
	clear(n.racks)
	clear(n.users)
	n.userNames, n.queues, n.told = nil, sch.Numbers(), sch.UserName
}

// tidyAt is how many numbers may be given beyond twice the number in use.
const tidyAt = 20_000

// tidy renumbers applications, nodes and users once most of the numbered ones are gone, and drops empty created queues.
func (m *Machine) tidy() {
	if m.sch.Rebuild == nil || m.numbers() < m.tidyAt {
		return
	}
	if m.numbers() >= 2*m.inUse() {
		if err := m.rebuild(m.sch); err != nil {
			m.log(Error, "the scheduler cannot be rebuilt", "error", err)
			m.tidyAt = 2*m.numbers() + tidyAt
			return
		}
	}
	m.tidyAt = 2*m.inUse() + tidyAt
}

// inUse returns how many of the numbers belong to applications and nodes that are still there. Users have none until
// they next occur.
func (m *Machine) inUse() int {
	n := len(m.byNode)
	for _, a := range m.apps {
		n += one(a != nil)
	}
	return n
}

// numbers returns how many numbers were given since the last renumbering.
func (m *Machine) numbers() int { return len(m.apps) + len(m.nodes) + len(m.userNames) }

// renumber numbers everything that exists from 0 on, for a new core. Racks and users get numbers when they next occur.
func (m *Machine) renumber() {
	m.apps = slices.DeleteFunc(m.apps, func(a *app) bool { return a == nil })
	for i, a := range m.apps {
		if a.aid != heddle.NoApp { // otherwise its place is kept
			a.aid = heddle.AppID(i)
		}
	}
	m.nodes = slices.DeleteFunc(m.nodes, func(n *node) bool { return m.byNode[n.id] != n })
	for i, n := range m.nodes {
		n.nid = heddle.NodeID(i)
	}
	m.conts = slab.Index[*container]{}
	m.newTokens()
	for _, a := range m.byApp { // order: each for itself
		a.nodes = slices.DeleteFunc(a.nodes, func(n *node) bool { return m.byNode[n.id] != n })
		a.onNodes = nil
		for _, n := range a.nodes {
			a.onNodes.Add(int32(n.nid))
		}
	}
	m.names.renew(m.sch)
}

// maximum returns the largest possible container: as configured, but no larger than the largest node once there are
// any. After a restart it stays as configured while larger nodes may still come back: otherwise masters that repeat
// their requests would be refused.
func (m *Machine) maximum() heddle.Resource {
	if v := m.core.View(); v.Live() > 0 && !m.recovering() {
		return m.sch.Maximum.Min(v.Largest())
	}
	return m.sch.Maximum
}

// largest returns the largest possible container of an application in a queue.
func (m *Machine) largest(queue string) heddle.Resource {
	q, ok := m.queues[queue]
	if !ok {
		return m.maximum()
	}
	return m.sch.Queues[q].LargestOf(m.maximum())
}

// text formats an amount for people, as YARN does.
func (m *Machine) text(a heddle.Resource) string {
	s := text("<memory:%d, vCores:%d", a[heddle.Memory], a[heddle.CPU]/1000)
	for i, name := range m.cfg.ExtraResources {
		s += text(", %s:%d", name, a[heddle.Extra1+heddle.Dim(i)])
	}
	return s + ">"
}
