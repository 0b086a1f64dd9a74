package rm

import (
	"slices"
	"strings"

	"heddle"
	"heddle/yarn/wire"
)

// everybody is the word for all users or groups in an access list.
const everybody = "*"

// An ACL is an access list as Hadoop writes it: users with commas between them, a blank, and groups so; "*" for
// everybody.
type ACL string

// Admits reports whether the list names a user or one of the user's groups.
func (a ACL) Admits(user string, groups []string) bool {
	names, of, _ := strings.Cut(strings.TrimLeft(string(a), "\t"), " ")
	if strings.TrimSpace(string(a)) == everybody || slices.Contains(listed(names), user) {
		return true
	}
	return slices.ContainsFunc(listed(of), func(g string) bool { return slices.Contains(groups, g) })
}

// NamesGroups reports whether it depends on a user's groups whether the list admits the user.
func (a ACL) NamesGroups() bool {
	_, groups, _ := strings.Cut(string(a), " ")
	return strings.TrimSpace(groups) != ""
}

// listed splits a list with commas.
func listed(s string) []string {
	var out []string
	for f := range strings.SplitSeq(s, ",") {
		if f = strings.TrimSpace(f); f != "" {
			out = append(out, f)
		}
	}
	return out
}

// A person is somebody who asks, with the groups looked up where access depends on them.
type person struct {
	Actor
	groups []string
}

// Groups are a user's groups, as the configuration and this machine have them. It may take a while.
func (r *RM) Groups(user string) []string { return r.placer.Load().Groups(user) }

// person looks up an actor's groups. It is not for the loop: a directory may be asked.
func (r *RM) person(who Actor) person {
	if !r.cfg.ACLs {
		return person{Actor: who}
	}
	return person{who, r.Groups(who.User)}
}

// administers reports whether somebody may do anything.
func (r *RM) administers(p person) bool {
	return r.cfg.Admins.Admits(p.User, p.groups)
}

// mayChange reports whether somebody may change an application: its owner, administrators, those of its queue
// or a queue above, and whom it names itself.
func (r *RM) mayChange(p person, a *app) bool {
	if !r.cfg.ACLs || p.User == a.user || r.administers(p) {
		return true
	}
	for _, acl := range a.context.GetAmContainerSpec().GetApplication_ACLs() {
		if acl.GetAccessType() == wire.ApplicationAccessType_APPACCESS_MODIFY_APP && ACL(acl.GetAcl()).Admits(p.User, p.groups) {
			return true
		}
	}
	return r.inQueue(a.queue, func(q *QueueInfo) bool { return ACL(q.AdminACL).Admits(p.User, p.groups) })
}

// maySubmit reports whether somebody may submit to a queue. A right on a queue above is enough.
func (r *RM) maySubmit(p person, queue string) bool {
	return !r.cfg.ACLs || r.administers(p) || r.inQueue(queue, func(q *QueueInfo) bool {
		return ACL(q.SubmitACL).Admits(p.User, p.groups) || ACL(q.AdminACL).Admits(p.User, p.groups)
	})
}

// inQueue reports whether something holds of a queue, which need not be there yet, or of one above it.
func (r *RM) inQueue(path string, holds func(*QueueInfo) bool) bool {
	id, ok := r.queues[lowest(r.queues, path)]
	for ; ok && id != heddle.NoQueue; id = r.sch.Queues[id].Parent {
		if holds(&r.sch.Queues[id]) {
			return true
		}
	}
	return false
}

// lowest is the path of the lowest queue that there is at or above one, "" for none.
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
