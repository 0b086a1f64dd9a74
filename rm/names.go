package rm

import (
	"slices"

	"heddle"
	"heddle/internal/slab"
)

// names are the numbers by which the core knows racks, users and queues, and the nodes of each host.
type names struct {
	hosts     map[string][]*node
	racks     map[string]heddle.RackID
	users     map[string]heddle.UserID
	userNames []string // by UserID
	queues    map[string]heddle.QueueID
	told      func(id heddle.UserID, name string)
}

// newNames are the names of a scheduler's queues and of users that have their numbers already.
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

// rackID is a rack's number.
func (n *names) rackID(name string) heddle.RackID {
	id, ok := n.racks[name]
	if !ok {
		id = heddle.RackID(len(n.racks))
		n.racks[name] = id
	}
	return id
}

// userID is a user's number.
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

// renew has racks and users numbered anew, for the queues of another scheduler.
func (n *names) renew(sch *Scheduler) {
	clear(n.racks)
	clear(n.users)
	n.userNames, n.queues, n.told = nil, sch.Numbers(), sch.UserName
}

// tidyAt is how many numbers may be given beyond twice those in use.
const tidyAt = 20_000

// tidy begins anew with the numbers of applications, nodes and users once most of those that have one are gone, and
// drops created queues that nobody is in.
func (m *Machine) tidy() {
	if m.sch.Rebuild == nil || m.numbers() < m.tidyAt {
		return
	}
	if err := m.rebuild(m.sch); err != nil {
		m.log(Error, "the scheduler cannot be built anew", "error", err)
	}
	m.tidyAt = 2*m.numbers() + tidyAt
}

// numbers is how many numbers were given since they began anew.
func (m *Machine) numbers() int { return len(m.apps) + len(m.nodes) + len(m.userNames) }

// renumber gives those that are there the numbers from 0 on, which a new core knows nothing of. What is named as it
// is met again gets its number then.
func (m *Machine) renumber() {
	m.apps = slices.DeleteFunc(m.apps, func(a *app) bool { return a == nil })
	for i, a := range m.apps {
		a.aid = heddle.AppID(i)
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

// maximum is the largest container there can be: as configured, and no larger than the largest node once there
// are any, unless larger ones may still come back after a start: masters that ask for the same again would be refused.
func (m *Machine) maximum() heddle.Resource {
	if v := m.core.View(); v.Live() > 0 && !m.recovering() {
		return m.sch.Maximum.Min(v.Largest())
	}
	return m.sch.Maximum
}

// largest is the largest container there can be for an application of a queue.
func (m *Machine) largest(queue string) heddle.Resource {
	q, ok := m.queues[queue]
	if !ok {
		return m.maximum()
	}
	return m.sch.Queues[q].LargestOf(m.maximum())
}

// text is an amount for people, as YARN writes it.
func (m *Machine) text(a heddle.Resource) string {
	s := text("<memory:%d, vCores:%d", a[heddle.Memory], a[heddle.CPU]/1000)
	for i, name := range m.cfg.ExtraResources {
		s += text(", %s:%d", name, a[heddle.Extra1+heddle.Dim(i)])
	}
	return s + ">"
}
