package fair

import (
	"slices"
	"strconv"

	"heddle"
	"heddle/policy"
)

// Limit implements [policy.Limiter].
func (s *Scheduler) Limit(v policy.View, k *policy.Ask, why heddle.Why) (policy.Limit, bool) {
	a := k.App()
	q := a.Queue()
	switch why {
	case heddle.AMLimit:
		c := &s.queues[q.ID()]
		return s.inLine(a, policy.Limit{
			What: "masters", Queue: q.ID(), Most: s.mastersShare(v, c), Used: q.Masters(), By: []string{c.cfg.amShare()},
			Holds: func(b *policy.App) (heddle.Resource, bool) {
				if b.Queue() != q || b.Master() == nil {
					return heddle.Resource{}, false
				}
				return b.Master().Limit(), true
			},
		}), true
	case heddle.GateClosed: // its turn has not come
		return s.inLine(a, policy.Limit{What: "applications that wait for a master's container at once", Queue: q.ID(), Counted: true, MostN: window, UsedN: window}), true
	case heddle.AppLimit:
		return s.runLimit(a)
	case heddle.QueueLimit:
		for ; q != nil; q = q.Parent() {
			if c := &s.queues[q.ID()]; !q.Used().Plus(k.Size()).Fits(c.max) {
				return policy.Limit{
					What: "containers", Queue: q.ID(), Most: c.max, Used: q.Used(), By: []string{c.cfg.Path + ": maxResources"},
					Holds: func(b *policy.App) (heddle.Resource, bool) { return b.Used(), b.Queue().Within(q) },
				}, true
			}
		}
	default: // not of this policy, or no figures
	}
	return policy.Limit{}, false
}

// inLine adds where an application stands among those of its leaf that wait for a master.
func (s *Scheduler) inLine(a *policy.App, l policy.Limit) policy.Limit {
	line := s.queues[a.Queue().ID()].masters
	l.Place, l.Line = slices.Index(line, a.ID())+1, len(line)
	return l
}

// runLimit returns the limit on running applications that keeps one from being runnable: its user's, or that of the
// lowest queue that has as many as it may.
func (s *Scheduler) runLimit(a *policy.App) (policy.Limit, bool) {
	st := s.of(a)
	l := policy.Limit{What: "applications that run", Of: policy.OfUser, Queue: heddle.NoQueue, Counted: true}
	for _, id := range s.parked {
		if s.apps[id].queue == st.queue {
			if l.Line++; id == a.ID() {
				l.Place = l.Line
			}
		}
	}
	if most := s.userLimit(st.user); most != 0 && s.users[st.user] >= most {
		most = max(most, 0)
		l.MostN, l.UsedN, l.By = most, s.users[st.user], []string{s.userSetting(st.user, most)}
		l.Holds = func(b *policy.App) (heddle.Resource, bool) {
			return b.Used(), s.apps[b.ID()].runnable && s.apps[b.ID()].user == st.user
		}
		return l, true
	}
	for q := a.Queue(); q != nil; q = q.Parent() {
		if c := &s.queues[q.ID()]; c.cfg.MaxApps != 0 && c.runnable >= c.cfg.MaxApps {
			l.Of, l.Queue, l.MostN, l.UsedN, l.By = policy.OfAll, q.ID(), max(c.cfg.MaxApps, 0), c.runnable, []string{c.cfg.maxApps()}
			l.Holds = func(b *policy.App) (heddle.Resource, bool) {
				return b.Used(), s.apps[b.ID()].runnable && b.Queue().Within(q)
			}
			return l, true
		}
	}
	return policy.Limit{}, false
}

func (s *Scheduler) userSetting(u heddle.UserID, most int) string {
	if int(u) < len(s.names) {
		if _, own := s.cfg.UserMaxApps[s.names[u]]; own {
			return "user " + s.names[u] + ": maxRunningApps = " + strconv.Itoa(most)
		}
	}
	return "userMaxAppsDefault = " + strconv.Itoa(most)
}

// amShare and maxApps return the setting that applies to the queue, either its own or that of all queues.
func (q *QueueConfig) amShare() string {
	value := " = " + strconv.FormatFloat(q.MaxAMShare, 'g', 7, 64)
	if slices.Contains(q.Own, "maxAMShare") {
		return q.Path + ": maxAMShare" + value
	}
	return "queueMaxAMShareDefault" + value
}

func (q *QueueConfig) maxApps() string {
	value := " = " + strconv.Itoa(max(q.MaxApps, 0))
	if slices.Contains(q.Own, "maxRunningApps") {
		return q.Path + ": maxRunningApps" + value
	}
	return "queueMaxAppsDefault" + value
}
