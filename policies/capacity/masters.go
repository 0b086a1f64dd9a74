package capacity

import (
	"heddle"
	"heddle/policy"
)

// leaf is which applications of a leaf queue may run. The others wait, accepted, without a master.
type leaf struct {
	waiting []heddle.AppID // by priority, then order of submission
	active  int
	masters heddle.Resource // of activated applications, started or not
	users   []user          // by [policy.User.Nth]
}

type user struct {
	active, waiting int
	masters         heddle.Resource
}

// appState is what the scheduler remembers of an application after the cluster forgot it.
type appState struct {
	queue    heddle.QueueID
	user     int
	priority int32
	master   heddle.Resource
	active   bool
	known    bool
}

func (s *Scheduler) user(u *policy.User) *user {
	return s.userAt(s.queues[u.Queue().ID()].leaf, u.Nth())
}

func (s *Scheduler) userAt(l *leaf, nth int) *user {
	for nth >= len(l.users) {
		l.users = append(l.users, user{})
	}
	return &l.users[nth]
}

// Admit implements [policy.Admitter]: the limits on how many applications a queue and a user may have.
func (s *Scheduler) Admit(v policy.View, e *heddle.Submit) heddle.Why {
	c := &s.queues[e.Queue]
	if c.cfg.Stopped {
		return heddle.NoSuchQueue
	}
	most := c.cfg.MaxApplications
	if most < 0 {
		most = s.cfg.GlobalQueueMaxApplication
	}
	if most <= 0 {
		most = int(float32(s.cfg.MaxApplications) * c.abs)
	}
	q := v.Queue(e.Queue)
	if len(q.Apps()) >= most || v.Alive() >= s.cfg.MaxApplications {
		return heddle.AppLimit
	}
	perUser := most
	if c.cfg.UserLimitFactor != -1 {
		perUser = min(most, int(float32(most)*float32(c.cfg.MinimumUserLimit)*float32(c.cfg.UserLimitFactor)))
	}
	for _, u := range q.Users() {
		if u.ID() == e.User && u.Apps() >= perUser {
			return heddle.AppLimit
		}
	}
	return heddle.Fine
}

// Open implements [policy.Gate] for masters: an application must have been activated.
func (s *Scheduler) Open(_ policy.View, a *policy.App, _ heddle.Kind) int {
	if s.apps[a.ID()].active {
		return 1
	}
	return 0
}

// Woken implements [policy.Waker].
func (s *Scheduler) Woken(ids []heddle.AppID) []heddle.AppID {
	ids = append(ids, s.woken...)
	s.woken = s.woken[:0]
	return ids
}

// Granted implements [policy.Granted].
func (s *Scheduler) Granted(policy.View, *policy.Container) { s.stamp++ }

// Observe implements [policy.Observe].
func (s *Scheduler) Observe(v policy.View, ev heddle.Event) {
	s.stamp++
	switch e := ev.(type) {
	case heddle.NodeUp, heddle.NodeDown:
		s.resize(v)
		for i := range s.queues {
			s.activate(v, heddle.QueueID(i))
		}
	case heddle.Submit:
		if a := v.App(e.App); a != nil {
			s.wait(v, a)
		}
	case heddle.Attempt:
		if a := v.App(e.App); a != nil {
			s.forget(e.App)
			s.wait(v, a)
		}
	case heddle.AppDone:
		if int(e.App) < len(s.apps) && s.apps[e.App].known {
			q := s.apps[e.App].queue
			s.forget(e.App)
			s.activate(v, q)
		}
	}
}

// wait puts an application among those that wait for a master, and activates who may be.
func (s *Scheduler) wait(v policy.View, a *policy.App) {
	for int(a.ID()) >= len(s.apps) {
		s.apps = append(s.apps, appState{})
	}
	st := &s.apps[a.ID()]
	*st = appState{queue: a.Queue().ID(), user: a.User().Nth(), priority: a.Priority(), known: true}
	for _, k := range a.Asks() {
		if k.Kind() == heddle.AM {
			st.master = k.Size()
		}
	}
	l := s.queues[st.queue].leaf
	s.userAt(l, st.user).waiting++
	i := len(l.waiting)
	for i > 0 && s.apps[l.waiting[i-1]].priority < st.priority {
		i--
	}
	l.waiting = append(l.waiting, 0)
	copy(l.waiting[i+1:], l.waiting[i:])
	l.waiting[i] = a.ID()
	s.activate(v, st.queue)
}

// forget takes an application out of the counts.
func (s *Scheduler) forget(id heddle.AppID) {
	st := &s.apps[id]
	l := s.queues[st.queue].leaf
	u := s.userAt(l, st.user)
	if st.active {
		l.active--
		l.masters = l.masters.Minus(st.master)
		u.active--
		u.masters = u.masters.Minus(st.master)
	} else {
		u.waiting--
		for i, w := range l.waiting {
			if w == id {
				l.waiting = append(l.waiting[:i], l.waiting[i+1:]...)
				break
			}
		}
	}
	*st = appState{}
}

// activate lets every waiting application of a leaf have a master that the limits on masters, of the
// queue and of the user, have room for. The first of a queue is always let in.
func (s *Scheduler) activate(v policy.View, id heddle.QueueID) {
	c := &s.queues[id]
	l := c.leaf
	if len(l.waiting) == 0 || v.Live() == 0 {
		return
	}
	limit := s.mastersLimit(c)
	mine := s.less(s.userMastersLimit(v, id), limit)
	kept := l.waiting[:0]
	for _, app := range l.waiting {
		st := &s.apps[app]
		u := s.userAt(l, st.user)
		first := l.active < 1 || s.compare(l.masters, heddle.Resource{}) <= 0
		fits := v.Fits(st.master.Plus(l.masters), limit) && v.Fits(st.master.Plus(u.masters), mine)
		if c.cfg.MaxParallelApps > 0 && l.active >= c.cfg.MaxParallelApps || !fits && !first {
			kept = append(kept, app)
			continue
		}
		st.active = true
		s.woken = append(s.woken, app)
		l.active++
		l.masters = l.masters.Plus(st.master)
		u.waiting--
		u.active++
		u.masters = u.masters.Plus(st.master)
	}
	l.waiting = kept
}

// mastersLimit is what the masters of a leaf may hold together: a share of what the queue can reach now.
func (s *Scheduler) mastersLimit(c *queue) heddle.Resource {
	usable := c.min
	if c.min.Fits(c.current) {
		usable = c.current
	}
	return timesUp(usable, float64(float32(c.cfg.MaxAMShare)), s.cfg.Minimum)
}

// userMastersLimit is what one user's masters may hold.
func (s *Scheduler) userMastersLimit(v policy.View, id heddle.QueueID) heddle.Resource {
	c := &s.queues[id]
	users := 0
	for _, u := range v.Queue(id).Users() {
		st := s.user(u)
		if s.active(u) || st.active == 0 && st.waiting > 0 {
			users++
		}
	}
	share := max(float32(c.cfg.MinimumUserLimit), 1/float32(max(users, 1)))
	if c.cfg.UserLimitFactor != -1 {
		share *= float32(c.cfg.UserLimitFactor)
	} else {
		share = 1
	}
	return timesUp(c.min, float64(float32(c.cfg.MaxAMShare)*share), s.cfg.Minimum)
}
