package rm

import (
	"slices"
	"strings"

	"heddle"
)

// everybody stands for all users or groups in an access list.
const everybody = "*"

// An ACL is an access list in Hadoop's format: comma-separated users, a blank, and comma-separated groups; "*" in place of
// either admits everybody.
type ACL string

// Admits reports whether the list names the user or one of the user's groups.
func (a ACL) Admits(user string, groups []string) bool {
	names, of, _ := strings.Cut(strings.TrimLeft(string(a), "\t"), " ")
	if strings.TrimSpace(names) == everybody || strings.TrimSpace(of) == everybody || slices.Contains(listed(names), user) {
		return true
	}
	return slices.ContainsFunc(listed(of), func(g string) bool { return slices.Contains(groups, g) })
}

// NamesGroups reports whether admission can depend on a user's groups.
func (a ACL) NamesGroups() bool {
	_, groups, _ := strings.Cut(string(a), " ")
	return strings.TrimSpace(groups) != ""
}

// listed splits a comma-separated list.
func listed(s string) []string {
	var out []string
	for f := range strings.SplitSeq(s, ",") {
		if f = strings.TrimSpace(f); f != "" {
			out = append(out, f)
		}
	}
	return out
}

// isIn reports whether an access list admits p.
func (p Person) isIn(acl ACL) bool { return acl.Admits(p.User, p.Groups) }

// owns reports whether p is the user that the ResourceManager runs as, who may do anything.
func (m *Machine) owns(p Person) bool { return p.User != "" && p.User == m.cfg.Owner }

// mayChange reports whether p may change an application: its owner, the administrators, the administrators of its queue
// or of a queue above it, and the people that the application itself names may.
func (m *Machine) mayChange(p Person, a *app) bool {
	return !m.cfg.ACLs || p.User == a.user || m.owns(p) || m.inChangers(a, p.isIn)
}

// inChangers reports whether a condition holds for one of the lists of those who may change an application.
func (m *Machine) inChangers(a *app, holds func(ACL) bool) bool {
	return holds(m.cfg.Admins) || slices.ContainsFunc(a.Access, func(x Access) bool { return x.Change && holds(x.List) }) ||
		m.inQueue(a.queue, func(q *QueueInfo) bool { return holds(ACL(q.AdminACL)) })
}

// maySubmit returns nil if p may submit to a queue, and otherwise a [Denied]. A right on a queue above it is enough. As in
// YARN, those who administer the cluster need such a right too.
func (m *Machine) maySubmit(p Person, queue string) error {
	anyList := func(holds func(ACL) bool) bool {
		return m.inQueue(queue, func(q *QueueInfo) bool { return holds(ACL(q.SubmitACL)) || holds(ACL(q.AdminACL)) })
	}
	if !m.cfg.ACLs || anyList(p.isIn) {
		return nil
	}
	return &Denied{p.User, "submit applications to", queue, anyList(ACL.NamesGroups)}
}

// inQueue reports whether a condition holds for a queue, which need not exist yet, or for one above it.
func (m *Machine) inQueue(path string, holds func(*QueueInfo) bool) bool {
	id, ok := m.queues[lowest(m.queues, path)]
	for ; ok && id != heddle.NoQueue; id = m.sch.Queues[id].Parent {
		if holds(&m.sch.Queues[id]) {
			return true
		}
	}
	return false
}

// lowest returns the path of the lowest existing queue at or above path, or "" if there is none.
func lowest(queues map[string]heddle.QueueID, path string) string {
	for {
		if _, ok := queues[path]; ok {
			return path
		}
		dot := strings.LastIndexByte(path, '.')
		if dot < 0 {
			return ""
		}
		path = path[:dot]
	}
}
