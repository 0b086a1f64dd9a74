package capacity

import (
	"errors"
	"math"
	"slices"

	"heddle"
	"heddle/policy"
)

// leaf is which applications of a leaf queue may run. The others wait, accepted, without a master.
type leaf struct {
	waiting []heddle.AppID // in the order in which they are let in: see before
	active  int
	masters heddle.Resource // of activated applications, started or not
	users   []user          // by [policy.User.Nth]

	asking   int             // users who ask for something
	inactive int             // users of whom no application runs but some wait, when last counted
	counted  heddle.Resource // what the leaf held when inactive was counted
	recount  bool            // who asks has changed since
}

// asking counts the applications of a user that want containers. One counts from the moment it asks
// while an application of the user is active: the master's own request does not, when the application
// is let in later.
type user struct {
	active, waiting, asking int
	masters                 heddle.Resource
}

// appState is what the scheduler remembers of an application after the cluster forgot it.
type appState struct {
	queue     heddle.QueueID
	user      int
	priority  int32
	master    heddle.Resource
	active    bool
	tasks     int32 // maps and reduces, 0 where unknown
	submitted heddle.Time
	asking    bool // counted in user.asking
	known     bool
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

// Admit implements [policy.Share]: the limits on how many applications a queue and a user may have.
func (s *Scheduler) Admit(v policy.View, e *heddle.Submit) heddle.Why {
	c := &s.queues[e.Queue]
	if c.cfg.Stopped {
		return heddle.NoSuchQueue
	}
	most := s.cfg.MostApps(c.cfg, c.abs)
	q := v.Queue(e.Queue)
	alive := v.Alive()
	if v.App(e.App) != nil { // it comes from another queue
		alive--
	}
	if len(q.Apps()) >= most || alive >= s.cfg.MaxApplications {
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
func (s *Scheduler) Open(v policy.View, a *policy.App, _ heddle.Kind) policy.Verdict {
	st := &s.apps[a.ID()]
	switch {
	case st.active:
		return policy.Yes
	case s.held(a): // who holds it refuses it
		return policy.Yes
	case len(s.holders) > 0: // it may have been held when it was last looked at
		if v.Explaining() {
			return s.foresee(v, a)
		}
		if s.activate(v, st.queue); st.active {
			return policy.Yes
		}
	}
	return policy.No(s.heldBy(v, a))
}

// foresee is what Open would say of an application of which nothing is known yet but that nobody holds it. It leaves everything
// as it was.
func (s *Scheduler) foresee(v policy.View, a *policy.App) policy.Verdict {
	id := s.apps[a.ID()].queue
	l := s.queues[id].leaf
	before, woken := *l, len(s.woken)
	before.waiting, before.users = slices.Clone(l.waiting), slices.Clone(l.users)
	s.activate(v, id)
	verdict := policy.Yes
	if !s.apps[a.ID()].active {
		verdict = policy.No(s.heldBy(v, a))
	}
	for _, w := range before.waiting {
		s.apps[w].active = false
	}
	*l, s.woken = before, s.woken[:woken]
	return verdict
}

// Hold tells of a gate that holds applications back for reasons of its own. As long as it does they are not activated, and do not
// count among the masters.
func (s *Scheduler) Hold(h policy.Holder) { s.holders = append(s.holders, h) }

// held reports whether some gate holds an application back.
func (s *Scheduler) held(a *policy.App) bool {
	return slices.ContainsFunc(s.holders, func(h policy.Holder) bool { return h.Holds(a) })
}

// Woken implements [policy.Waker].
func (s *Scheduler) Woken(_ policy.View, ids []heddle.AppID) []heddle.AppID {
	ids = append(ids, s.woken...)
	s.woken = s.woken[:0]
	return ids
}

// MastersOptions change which applications of a leaf may run, for profiles that put the capacity scheduler's gate
// in place with options.
type MastersOptions struct {
	// Share is the least part of a queue that masters may hold together, whatever the configuration says.
	Share float64 `yaml:"share"`
	// SmallestFirst lets in the application with the fewest tasks first instead of the one that was submitted first.
	// One whose tasks are not known when it is submitted passes nobody and is passed by nobody.
	SmallestFirst bool `yaml:"smallest_first"`
	// Patience is how many seconds an application waits at most before no smaller one is let in before it.
	Patience float64 `yaml:"patience"`
	// Behind is the part of a queue up to which masters are let in behind others. Where they hold more together, an application is
	// let in only if it has fewer tasks than are left to each that waits for containers: they would lie idle in masters
	// otherwise. Those of which neither number is known are each behind the other.
	Behind float64 `yaml:"behind"`
}

// Masters sets the options of the gate.
func (s *Scheduler) Masters(o MastersOptions) error {
	switch {
	case !(o.Share >= 0 && o.Share <= 1):
		return errors.New("capacity: share must be a part of a queue, 0 to 1")
	case !(o.Behind >= 0 && o.Behind <= 1):
		return errors.New("capacity: behind must be a part of a queue, 0 to 1")
	case !(o.Patience > 0) || o.Patience > math.MaxInt32:
		return errors.New("capacity: patience must be above 0 s")
	}
	s.masters = o
	return nil
}

// Needs implements [policy.Needer].
func (s *Scheduler) Needs() policy.Needs {
	return policy.Needs{Feeds: policy.Feeds{Sizes: s.masters.SmallestFirst}}
}

// Hears implements [policy.Listener]: all that what users and queues hold or may hold depends on.
func (s *Scheduler) Hears() policy.News {
	return policy.NodesChanged | policy.AppAdded | policy.AppDone | policy.AppMoved | policy.AppReprioritised | policy.AppRetried |
		policy.AppAsked | policy.Reserved | policy.Unreserved | policy.Recounted | policy.Granted | policy.Adopted | policy.Resized | policy.Ended
}

// Hear implements [policy.Listener].
func (s *Scheduler) Hear(v policy.View, e policy.Effect) {
	s.stamp++
	switch e.What {
	case policy.NodeUp, policy.NodeDown, policy.NodeResized:
		s.resize(v)
		for i := range s.queues {
			s.activate(v, heddle.QueueID(i))
		}
	case policy.AppAdded:
		s.wait(v, e.App)
	case policy.AppAsked:
		s.asked(e.App)
		s.served(v, e.App)
	case policy.Granted:
		if !asks(e.App) {
			s.ask(e.App.ID(), false)
		}
		s.served(v, e.App)
	case policy.Adopted:
		s.adopted(v, e.Container)
	case policy.Resized:
		if e.Forced {
			s.excuse(v, e.App.Queue())
		}
	case policy.AppRetried:
		s.forget(e.App.ID())
		s.wait(v, e.App)
	case policy.AppMoved:
		s.moved(v, e.App)
	case policy.AppReprioritised:
		s.reprioritised(v, e.App)
	case policy.AppDone:
		q := s.apps[e.App.ID()].queue
		s.forget(e.App.ID())
		s.activate(v, q)
	default: // changes no master
	}
}

// wait puts an application among those that wait for a master, and activates who may be.
func (s *Scheduler) wait(v policy.View, a *policy.App) {
	for int(a.ID()) >= len(s.apps) {
		s.apps = append(s.apps, appState{})
	}
	st := &s.apps[a.ID()]
	*st = appState{queue: a.Queue().ID(), user: a.User().Nth(), priority: a.Priority(), tasks: a.Facts().Maps + a.Facts().Reduces, submitted: a.Submitted(), known: true}
	for _, k := range a.Asks() {
		if k.Kind() == heddle.AM {
			st.master = k.Size()
		}
	}
	l := s.queues[st.queue].leaf
	s.countInactive(v, st.queue)
	s.userAt(l, st.user).waiting++
	s.line(l, a.ID())
	s.activate(v, st.queue)
	s.asked(a)
}

// line puts an application among those of its leaf that wait, behind those of its priority that are not larger.
func (s *Scheduler) line(l *leaf, id heddle.AppID) {
	i := len(l.waiting)
	for i > 0 && s.before(id, l.waiting[i-1]) {
		i--
	}
	l.waiting = append(l.waiting, 0)
	copy(l.waiting[i+1:], l.waiting[i:])
	l.waiting[i] = id
}

// before reports whether an application is let in before another one that was submitted earlier.
func (s *Scheduler) before(id, earlier heddle.AppID) bool {
	a, b := &s.apps[id], &s.apps[earlier]
	if a.priority != b.priority {
		return a.priority > b.priority
	}
	return s.masters.SmallestFirst && a.tasks > 0 && a.tasks < b.tasks && a.submitted.Since(b.submitted) < heddle.Seconds(s.masters.Patience)
}

// served lets in who was behind an application that waits no more.
func (s *Scheduler) served(v policy.View, a *policy.App) {
	if s.masters.Behind < 1 && a.Pending().IsZero() {
		s.activate(v, a.Queue().ID())
	}
}

// asked brings the count of a user's asking applications up to date after one changed what it asks for.
func (s *Scheduler) asked(a *policy.App) {
	if st := &s.apps[a.ID()]; !asks(a) {
		s.ask(a.ID(), false)
	} else if s.userAt(s.queues[st.queue].leaf, st.user).active > 0 {
		s.ask(a.ID(), true)
	}
}

func (s *Scheduler) ask(id heddle.AppID, asking bool) {
	st := &s.apps[id]
	if st.asking == asking {
		return
	}
	st.asking = asking
	l := s.queues[st.queue].leaf
	u := s.userAt(l, st.user)
	by := 1
	if !asking {
		by = -1
	}
	was := u.asking > 0
	u.asking += by
	if is := u.asking > 0; is != was {
		l.asking += by
		l.recount = true
	}
}

// asks reports whether an application wants containers.
func asks(a *policy.App) bool {
	for _, k := range a.Asks() {
		if k.Count() > 0 {
			return true
		}
	}
	return false
}

// countInactive counts the users of whom applications wait but none is active. As in Hadoop that number
// is only taken anew when what the leaf holds, or who asks in it, has changed.
func (s *Scheduler) countInactive(v policy.View, id heddle.QueueID) {
	l := s.queues[id].leaf
	q := v.Queue(id)
	held := q.Used().Plus(q.Booked())
	if held == l.counted && !l.recount {
		return
	}
	l.counted, l.recount, l.inactive = held, false, 0
	for i := range l.users {
		if u := &l.users[i]; u.active == 0 && u.waiting > 0 {
			l.inactive++
		}
	}
}

// forget takes an application out of the counts.
func (s *Scheduler) forget(id heddle.AppID) {
	s.ask(id, false)
	st := &s.apps[id]
	l := s.queues[st.queue].leaf
	u := s.userAt(l, st.user)
	if st.active {
		l.active--
		l.masters = l.masters.Minus(st.master)
		u.active--
		u.masters = u.masters.Minus(st.master)
		if u.active == 0 {
			s.onlyWaits(l, st.user)
		}
	} else {
		u.waiting--
		l.unline(id)
	}
	*st = appState{}
}

// onlyWaits counts those of a user's applications no more that asked for their masters while one that ran was there. Hadoop goes on
// counting them: they divide a queue with somebody who may then get nothing, and for whose end they wait.
func (s *Scheduler) onlyWaits(l *leaf, user int) {
	for _, id := range l.waiting {
		if s.apps[id].user == user {
			s.ask(id, false)
		}
	}
}

func (l *leaf) unline(id heddle.AppID) {
	if i := slices.Index(l.waiting, id); i >= 0 {
		l.waiting = slices.Delete(l.waiting, i, i+1)
	}
}

// activate lets every waiting application of a leaf have a master that the limits on masters, of the
// queue and of the user, have room for. The first of a queue is always let in.
func (s *Scheduler) activate(v policy.View, id heddle.QueueID) {
	c := &s.queues[id]
	l := c.leaf
	if len(l.waiting) == 0 || v.Live() == 0 {
		return
	}
	limit := s.mastersLimit(v, c)
	mine := s.less(s.userMastersLimit(v, id), limit)
	edge := s.behindLimit(v, c)
	var before *ahead // as far as somebody wants to know
	kept := l.waiting[:0]
	for _, app := range l.waiting {
		st := &s.apps[app]
		u := s.userAt(l, st.user)
		first := l.active < 1 || s.compare(&l.masters, &heddle.Resource{}) <= 0
		fits := v.Fits(st.master.Plus(l.masters), limit) && v.Fits(st.master.Plus(u.masters), mine)
		if fits && !first && !v.Fits(st.master.Plus(l.masters), edge) {
			if before == nil {
				before = s.ahead(v.Queue(id))
			}
			if fits = !before.of(st.tasks); !fits && v.Now().Since(st.submitted) >= heddle.Seconds(s.masters.Patience) {
				before = &ahead{unknown: true} // nobody passes it any more
			}
		}
		full := c.cfg.MaxParallelApps > 0 && l.active >= c.cfg.MaxParallelApps
		if full || !fits && !first || len(s.holders) > 0 && s.held(v.App(app)) {
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

// An ahead is who of a leaf is served before an application that would be let in.
type ahead struct {
	tasks   int32 // the fewest that are left to one that waits for containers
	unknown bool  // one waits of which that is not known
}

// ahead looks for those that were let in and wait for containers.
func (s *Scheduler) ahead(q *policy.Queue) *ahead {
	o := &ahead{tasks: math.MaxInt32}
	for _, a := range q.Apps() {
		st := &s.apps[a.ID()]
		left := st.tasks
		switch {
		case !st.active || a.Pending().IsZero():
			continue
		case left == 0:
			o.unknown = true
			continue
		case a.Waiting(heddle.AM) == 0:
			left = int32(a.Waiting(heddle.Map) + a.Running(heddle.Map) + a.Waiting(heddle.Reduce) + a.Running(heddle.Reduce))
		}
		o.tasks = min(o.tasks, left)
	}
	return o
}

// of reports whether somebody is ahead of an application with so many tasks, 0 where that is unknown.
func (o *ahead) of(tasks int32) bool {
	if tasks == 0 {
		return o.unknown
	}
	return tasks >= o.tasks
}

// mastersLimit is what the masters of a leaf may hold together.
func (s *Scheduler) mastersLimit(v policy.View, c *queue) heddle.Resource {
	return s.mastersPart(v, c, c.mastersShare(s.masters.Share))
}

// behindLimit is what they may hold together before somebody is let in who is behind others.
func (s *Scheduler) behindLimit(v policy.View, c *queue) heddle.Resource {
	return s.mastersPart(v, c, c.mastersShare(s.masters.Behind))
}

// mastersPart is a part of what a queue can reach now, as masters are given it.
func (s *Scheduler) mastersPart(v policy.View, c *queue, part float32) heddle.Resource {
	usable := c.min
	if v.Fits(c.min, c.current) {
		usable = c.current
	}
	return s.timesUp(usable, float64(part))
}

// mastersShare is the part of a queue for masters that an option of the gate names, or what is configured where that is more.
func (c *queue) mastersShare(option float64) float32 {
	return max(float32(c.cfg.MaxAMShare), float32(option))
}

// userMastersLimit is what one user's masters may hold.
func (s *Scheduler) userMastersLimit(v policy.View, id heddle.QueueID) heddle.Resource {
	s.countInactive(v, id)
	return s.userMastersPart(&s.queues[id])
}

// userMastersPart is userMastersLimit as of when inactive users were last counted.
func (s *Scheduler) userMastersPart(c *queue) heddle.Resource {
	share := c.mastersShare(s.masters.Share)
	if c.cfg.UserLimitFactor != -1 {
		part := max(float32(c.cfg.MinimumUserLimit), 1/float32(max(c.leaf.asking+c.leaf.inactive, 1)))
		share = share * part * float32(c.cfg.UserLimitFactor)
	}
	return s.timesUp(c.min, float64(share))
}
