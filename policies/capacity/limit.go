package capacity

import (
	"slices"
	"strconv"

	"heddle"
	"heddle/policy"
)

// heldBy returns the limit that currently keeps an application from having a master. GateClosed means that none does:
// the application is considered again when an application of its queue, or a node, comes or goes, or a master of the
// queue gets another size.
func (s *Scheduler) heldBy(v policy.View, a *policy.App) heddle.Why {
	c, st := &s.queues[a.Queue().ID()], &s.apps[a.ID()]
	limit := s.mastersLimit(v, c)
	_, more := s.parallel(st.queue)
	switch {
	case more <= 0:
		return heddle.AppLimit
	case !v.Fits(st.master.Plus(c.leaf.masters), limit):
		return heddle.AMLimit
	case !v.Fits(st.master.Plus(s.userAt(c.leaf, st.user).masters), s.userMastersLimit(c, s.weight(c, a.User().ID()), limit)):
		return heddle.UserAMLimit
	case !v.Fits(st.master.Plus(c.leaf.masters), s.behindLimit(v, c)):
		return heddle.AMLimit
	}
	return heddle.GateClosed
}

// Limit implements [policy.Limiter].
func (s *Scheduler) Limit(v policy.View, k *policy.Ask, why heddle.Why) (policy.Limit, bool) {
	a := k.App()
	q := a.Queue()
	switch why {
	case heddle.AppLimit, heddle.AMLimit, heddle.UserAMLimit, heddle.GateClosed:
		return s.gateLimit(v, a, why), true
	case heddle.QueueLimit:
		for ; q != nil; q = q.Parent() {
			c := &s.queues[q.ID()]
			if v.Fits(q.Taken().Plus(k.Size()), c.max) || q.Parent() != nil && s.queues[q.Parent().ID()].max == c.max {
				continue // a queue that may have everything its parent may is no fuller than its parent
			}
			return policy.Limit{
				What: "containers", Queue: q.ID(), Most: c.max, Used: q.Taken(), By: c.cfg.maximum(), Holds: holdsIn(q),
			}, true
		}
		for q = a.Queue(); q != nil; q = q.Parent() {
			if c := &s.queues[q.ID()]; !c.kept.IsZero() {
				return policy.Limit{
					What: "containers", Queue: q.ID(), Most: c.most, Used: q.Taken(), Holds: holdsIn(q),
					Note: "More is free, but is kept for a queue with precedence that asks for a larger container than it may have now.",
				}, true
			}
		}
	case heddle.UserLimit:
		c, u := &s.queues[q.ID()], a.User()
		return policy.Limit{
			What: "containers", Of: policy.OfUser, Queue: q.ID(), Most: s.weigh(c, s.limitFor(v, q), u.ID()), Used: u.Taken(),
			By:    []string{c.cfg.set(userPercent), c.cfg.set(userFactor)},
			Holds: func(b *policy.App) (heddle.Resource, bool) { return b.Used(), b.User() == u },
		}, true
	default: // not of this policy, or no figures
	}
	return policy.Limit{}, false
}

// gateLimit returns the limit on a leaf's masters, or on the applications of the leaf or a queue above it.
func (s *Scheduler) gateLimit(v policy.View, a *policy.App, why heddle.Why) policy.Limit {
	id := a.Queue().ID()
	c, mine := &s.queues[id], s.apps[a.ID()].user
	l := policy.Limit{
		What: "masters", Queue: id, Most: s.mastersLimit(v, c), Used: c.leaf.masters, By: []string{s.setBy(c, "share", s.masters.Share)},
		Place: slices.Index(c.leaf.waiting, a.ID()) + 1, Line: len(c.leaf.waiting),
	}
	switch why {
	case heddle.AppLimit:
		l.Queue, _ = s.parallel(id)
		full := &s.queues[l.Queue]
		l.What, l.Most, l.Used = "applications that run", heddle.Resource{}, heddle.Resource{}
		l.Counted, l.MostN, l.UsedN = true, full.cfg.MaxParallelApps, full.active
		l.By = []string{full.cfg.set(parallelApps)}
		if l.Queue != id {
			l.Place, l.Line = 0, 0 // the leaves below that queue have a line each, of which activateBelow serves one after the other
		}
		l.Holds = func(b *policy.App) (heddle.Resource, bool) {
			return b.Used(), s.apps[b.ID()].active && b.Queue().Within(v.Queue(l.Queue))
		}
		return l
	case heddle.UserAMLimit:
		l.Of, l.Most, l.Used = policy.OfUser, s.userMastersLimit(c, s.weight(c, a.User().ID()), l.Most), s.userAt(c.leaf, mine).masters
		l.By = append(l.By, c.cfg.set(userPercent), c.cfg.set(userFactor))
	case heddle.GateClosed:
		l.Note = "There is room for this one now, which is noticed when an application of the queue arrives or ends, a node does, or a master of the queue gets another size."
	default: // masters of the queue
		if v.Fits(s.apps[a.ID()].master.Plus(l.Used), l.Most) {
			l.Most = s.behindLimit(v, c)
			l.By = []string{s.setBy(c, "behind", s.masters.Behind)}
			l.Note = "Beyond that, only jobs smaller than all that wait for containers are admitted, and none while one has waited too long for a master."
		}
	}
	l.Holds = func(b *policy.App) (heddle.Resource, bool) {
		st := &s.apps[b.ID()]
		return st.master, st.active && st.queue == id && (l.Of != policy.OfUser || st.user == mine)
	}
	return l
}

// setBy names what sets a queue's part for masters: an option of the gate, or the configured value if that is larger.
func (s *Scheduler) setBy(c *queue, option string, part float64) string {
	if part > c.cfg.MaxAMShare {
		return option + " = " + number(part) + " of the profile's gate.am: capacity"
	}
	return c.cfg.set(mastersPart)
}

// holdsIn returns a function that says what an application holds if it is in the queue or below.
func holdsIn(q *policy.Queue) func(*policy.App) (heddle.Resource, bool) {
	return func(a *policy.App) (heddle.Resource, bool) {
		return a.Used(), a.Queue().Within(q)
	}
}

// The properties that limits are reported by.
const (
	prefix       = "yarn.scheduler.capacity."
	mastersPart  = "maximum-am-resource-percent"
	userPercent  = "minimum-user-limit-percent"
	userFactor   = "user-limit-factor"
	parallelApps = "max-parallel-apps"
	maxCapacity  = "maximum-capacity"
)

// set returns a property that applies to the queue, either its own or that of all queues, with its value.
func (q *QueueConfig) set(name string) string {
	full := prefix + name
	if slices.Contains(q.Own, name) {
		full = prefix + q.Path + "." + name
	}
	value := ""
	switch name {
	case mastersPart:
		value = number(q.MaxAMShare)
	case userPercent:
		value = number(100 * q.MinimumUserLimit)
	case userFactor:
		value = number(q.UserLimitFactor)
	case parallelApps:
		value = strconv.Itoa(q.MaxParallelApps)
	}
	return full + " = " + value
}

// maximum returns what sets the queue's maximum. The root has everything, so nothing sets its maximum.
func (q *QueueConfig) maximum() []string {
	name := prefix + q.Path + "." + maxCapacity
	switch {
	case q.Parent < 0:
		return nil
	case !q.MaxAbsolute.IsZero():
		return []string{name}
	}
	return []string{name + " = " + number(100*q.MaxCapacity)}
}

// number formats a configured number as it was written, except for the rounding of a percentage.
func number(x float64) string { return strconv.FormatFloat(x, 'g', 7, 64) }
