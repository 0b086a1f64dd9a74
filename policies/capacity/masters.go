package capacity

import (
	"cmp"
	"errors"
	"math"
	"slices"

	"heddle"
	"heddle/policy"
)

// A leaf records which applications of a leaf queue may run. The others are accepted and wait without a master.
type leaf struct {
	waiting []heddle.AppID  // in the order in which they are let in: see before
	masters heddle.Resource // of activated applications, started or not
	users   []user          // by [policy.User.Nth]

	resized  bool            // in Scheduler.resized
	asking   int             // users who ask for something
	inactive int             // users with waiting applications but no running one, when last counted
	counted  heddle.Resource // what the leaf held when inactive was counted
	recount  bool            // the set of asking users has changed since
}

// asking is the number of a user's applications that want containers. An application counts from the moment it asks
// while an application of the user is active. The request for its own master does not count if it is let in later.
type user struct {
	active, waiting, asking int
	masters                 heddle.Resource
}

// appState is what the scheduler remembers of an application after the cluster has forgotten it.
type appState struct {
	queue     heddle.QueueID
	user      int
	priority  int32
	master    heddle.Resource
	active    bool
	tasks     int32 // maps and reduces; 0 if unknown
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
	if v.App(e.App) != nil { // it moves here from another queue
		alive--
	}
	if len(q.Apps()) >= most || alive >= s.cfg.MaxApplications {
		return heddle.AppLimit
	}
	perUser := most
	if c.cfg.UserLimitFactor != -1 {
		perUser = min(most, int(float32(most)*float32(c.cfg.MinimumUserLimit)*float32(c.cfg.UserLimitFactor)))
	}
	for _, u := range q.LiveUsers() {
		if u.ID() == e.User && u.Apps() >= perUser {
			return heddle.AppLimit
		}
	}
	return heddle.Fine
}

// Open implements [policy.Gate] for masters: only activated applications may have one.
func (s *Scheduler) Open(v policy.View, a *policy.App, _ heddle.Kind) policy.Verdict {
	st := &s.apps[a.ID()]
	switch {
	case st.active:
		return policy.Yes
	case s.held(a): // the gate that holds it refuses it
		return policy.Yes
	case len(s.holders) > 0: // it may have been held when last considered
		if v.Explaining() {
			return s.foresee(v, a)
		}
		if s.activate(v, st.queue); st.active {
			return policy.Yes
		}
	}
	return policy.No(s.heldBy(v, a))
}

// foresee returns what Open would say of an application if all that is known of it is that no gate holds it. It leaves
// the state unchanged.
func (s *Scheduler) foresee(v policy.View, a *policy.App) policy.Verdict {
	id := s.apps[a.ID()].queue
	l := s.queues[id].leaf
	before, woken := *l, len(s.woken)
	before.waiting, before.users = slices.Clone(l.waiting), slices.Clone(l.users)
	active := s.queues[id].active
	s.activate(v, id)
	s.count(id, active-s.queues[id].active)
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

// Hold registers a gate that holds applications back for reasons of its own. While it holds an application, the
// application is not activated and does not count among the masters.
func (s *Scheduler) Hold(h policy.Holder) { s.holders = append(s.holders, h) }

// held reports whether any gate holds an application back.
func (s *Scheduler) held(a *policy.App) bool {
	return slices.ContainsFunc(s.holders, func(h policy.Holder) bool { return h.Holds(a) })
}

// Woken implements [policy.Waker]. It lets in those for which masters that were sized again have made room, and considers
// each leaf only once, however many masters they were.
func (s *Scheduler) Woken(v policy.View, ids []heddle.AppID) []heddle.AppID {
	for _, q := range s.resized {
		s.queues[q].leaf.resized = false
		s.activate(v, q)
	}
	s.resized = s.resized[:0]
	ids = append(ids, s.woken...)
	s.woken = s.woken[:0]
	return ids
}

// MastersOptions change which applications of a leaf may run, for profiles that use the capacity scheduler's gate with
// options.
type MastersOptions struct {
	// Share is the minimum part of a queue that masters may hold together, whatever the configuration says.
	Share float64 `yaml:"share"`
	// SmallestFirst lets in the application with the fewest tasks first instead of the one submitted first. An
	// application whose tasks are unknown when it is submitted passes no other and is passed by none.
	SmallestFirst bool `yaml:"smallest_first"`
	// Patience is how many seconds an application may wait before no smaller one is let in ahead of it.
	Patience float64 `yaml:"patience"`
	// Behind is the part of a queue up to which masters are let in behind others. If masters hold more together, an
	// application is let in only if it has fewer tasks than each application that waits for containers has left:
	// otherwise the room would lie idle in masters. Applications whose numbers are both unknown are each behind the
	// other.
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

// Hears implements [policy.Listener]: everything that determines what users and queues hold or may hold.
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
		s.activateBelow(v, v.Root().ID())
	case policy.AppAdded:
		s.wait(v, e.App)
	case policy.AppAsked:
		if s.resizeMaster(e.App) { // a master that is sized again is no new request
			s.activateSoon(s.apps[e.App.ID()].queue)
		} else {
			s.asked(e.App)
		}
		s.served(v, e.App)
	case policy.Granted:
		if !asks(e.App) {
			s.ask(e.App.ID(), false)
		}
		if s.resizeMaster(e.App) { // its limit is another than was asked for
			s.activate(v, s.apps[e.App.ID()].queue)
		}
		s.served(v, e.App)
	case policy.Adopted:
		s.adopted(v, e.Container)
	case policy.Resized:
		if e.Forced {
			s.excuse(v, e.App.Queue())
		}
		if s.resizeMaster(e.App) {
			s.activateSoon(s.apps[e.App.ID()].queue)
		}
	case policy.AppRetried:
		q := s.apps[e.App.ID()].queue
		if top := s.forget(e.App.ID()); top != q {
			s.activateBelow(v, top)
		}
		s.wait(v, e.App)
	case policy.AppMoved:
		s.moved(v, e.App)
	case policy.AppReprioritised:
		s.reprioritised(v, e.App)
	case policy.AppDone:
		s.activateBelow(v, s.forget(e.App.ID()))
	default: // does not affect masters
	}
}

// wait adds an application to those that wait for a master, and activates those that may run.
func (s *Scheduler) wait(v policy.View, a *policy.App) {
	for int(a.ID()) >= len(s.apps) {
		s.apps = append(s.apps, appState{})
	}
	st := &s.apps[a.ID()]
	*st = appState{queue: a.Queue().ID(), user: a.User().Nth(), priority: a.Priority(), tasks: a.Facts().Maps + a.Facts().Reduces, submitted: a.Submitted(), known: true}
	st.master, _ = masterOf(a)
	l := s.queues[st.queue].leaf
	s.countInactive(v, st.queue)
	s.userAt(l, st.user).waiting++
	s.line(l, a.ID())
	if a.Master() != nil {
		s.seat(a)
	}
	s.activate(v, st.queue)
	s.asked(a)
}

// masterOf returns what an application's master holds or asks for; ok is false if it has none and asks for none.
func masterOf(a *policy.App) (size heddle.Resource, ok bool) {
	if x := a.Master(); x != nil {
		return x.Limit(), true
	}
	if a.Waiting(heddle.AM) == 0 {
		return heddle.Resource{}, false
	}
	for _, k := range a.Asks() {
		if k.Kind() == heddle.AM && k.Count() > 0 {
			size, ok = k.Size(), true
		}
	}
	return size, ok
}

// resizeMaster counts an application's master as large as it is now. It reports whether the size is another than was
// counted: then there may be room for others.
func (s *Scheduler) resizeMaster(a *policy.App) bool {
	st := &s.apps[a.ID()]
	size, ok := masterOf(a)
	if !ok || size == st.master {
		return false
	}
	if st.active {
		l := s.queues[st.queue].leaf
		u := s.userAt(l, st.user)
		by := size.Minus(st.master)
		l.masters, u.masters = l.masters.Plus(by), u.masters.Plus(by)
	}
	st.master = size
	return true
}

// activateSoon has a leaf activated at the end of the step. Within a step, all masters may be sized again.
func (s *Scheduler) activateSoon(id heddle.QueueID) {
	if l := s.queues[id].leaf; !l.resized {
		l.resized = true
		s.resized = append(s.resized, id)
	}
}

// line inserts an application into its leaf's line, behind those of its priority that are not larger.
func (s *Scheduler) line(l *leaf, id heddle.AppID) {
	i := len(l.waiting)
	for i > 0 && s.before(id, l.waiting[i-1]) {
		i--
	}
	l.waiting = append(l.waiting, 0)
	copy(l.waiting[i+1:], l.waiting[i:])
	l.waiting[i] = id
}

// before reports whether an application is let in before another that was submitted earlier.
func (s *Scheduler) before(id, earlier heddle.AppID) bool {
	a, b := &s.apps[id], &s.apps[earlier]
	if a.priority != b.priority {
		return a.priority > b.priority
	}
	return s.masters.SmallestFirst && a.tasks > 0 && a.tasks < b.tasks && a.submitted.Since(b.submitted) < heddle.Seconds(s.masters.Patience)
}

// served lets in applications that were behind one that no longer waits.
func (s *Scheduler) served(v policy.View, a *policy.App) {
	if s.masters.Behind < 1 && a.Pending().IsZero() {
		s.activate(v, a.Queue().ID())
	}
}

// asked updates the count of a user's asking applications after one of them changed what it asks for.
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

// countInactive counts the users who have waiting applications but no active one. As in Hadoop, the number is recounted
// only when what the leaf holds, or the set of its asking users, has changed.
func (s *Scheduler) countInactive(v policy.View, id heddle.QueueID) {
	l := s.queues[id].leaf
	q := v.Queue(id)
	held := q.Used().Plus(q.Booked())
	if held == l.counted && !l.recount {
		return
	}
	l.counted, l.recount, l.inactive = held, false, 0
	for _, known := range q.LiveUsers() {
		if u := s.userAt(l, known.Nth()); u.active == 0 && u.waiting > 0 {
			l.inactive++
		}
	}
}

// forget removes an application from the counts. It returns the topmost queue that others can be let into because of
// that: the application's leaf, or a queue above it that had as many active applications as it may.
func (s *Scheduler) forget(id heddle.AppID) (top heddle.QueueID) {
	s.ask(id, false)
	st := &s.apps[id]
	top = st.queue
	l := s.queues[st.queue].leaf
	u := s.userAt(l, st.user)
	if st.active {
		top = s.count(st.queue, -1)
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
	return top
}

// count adds to the active applications of a leaf and of the queues above it. It returns the topmost of those that may
// have just one more now, or the leaf.
func (s *Scheduler) count(id heddle.QueueID, by int) (top heddle.QueueID) {
	top = id
	for q := int(id); q >= 0; q = s.queues[q].cfg.Parent {
		c := &s.queues[q]
		if c.active += by; c.active == c.cfg.MaxParallelApps-1 {
			top = heddle.QueueID(q)
		}
	}
	return top
}

// parallel returns the queue, from a leaf up, that may have the fewest more active applications, and how many.
func (s *Scheduler) parallel(id heddle.QueueID) (at heddle.QueueID, more int) {
	at, more = id, math.MaxInt
	for q := int(id); q >= 0; q = s.queues[q].cfg.Parent {
		c := &s.queues[q]
		if left := c.cfg.MaxParallelApps - c.active; c.cfg.MaxParallelApps > 0 && left < more {
			at, more = heddle.QueueID(q), left
		}
	}
	return at, more
}

// onlyWaits stops counting those of a user's waiting applications that asked for their masters while the user had a
// running one. Hadoop keeps counting them: they then take a part of the queue from a user who may get nothing, and
// whose end they wait for.
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

// activateBelow activates the leaves of a queue. What the queue has room for goes to the leaf whose first application
// was submitted first.
func (s *Scheduler) activateBelow(v policy.View, id heddle.QueueID) {
	q := v.Queue(id)
	if q.Leaf() {
		s.activate(v, id)
		return
	}
	var leaves []heddle.QueueID
	for i := range s.queues {
		if len(s.queues[i].leaf.waiting) > 0 && v.Queue(heddle.QueueID(i)).Within(q) {
			leaves = append(leaves, heddle.QueueID(i))
		}
	}
	first := func(id heddle.QueueID) heddle.AppID { return s.queues[id].leaf.waiting[0] }
	slices.SortFunc(leaves, func(a, b heddle.QueueID) int {
		x, y := first(a), first(b)
		return cmp.Or(cmp.Compare(s.apps[x].submitted, s.apps[y].submitted), cmp.Compare(x, y))
	})
	for _, leaf := range leaves {
		s.activate(v, leaf)
	}
}

// activate lets in every waiting application of a leaf whose master fits the limits on masters of the queue and of the
// user, or is the first of the queue. None is let in while the leaf or a queue above it has as many active applications
// as it may.
func (s *Scheduler) activate(v policy.View, id heddle.QueueID) {
	c := &s.queues[id]
	l := c.leaf
	if len(l.waiting) == 0 || v.Live() == 0 {
		return
	}
	limit := s.mastersLimit(v, c)
	s.countInactive(v, id)
	usual := s.userMastersLimit(c, 1, limit)
	edge := s.behindLimit(v, c)
	var before *ahead // computed only when needed
	kept := l.waiting[:0]
	for _, app := range l.waiting {
		st := &s.apps[app]
		u := s.userAt(l, st.user)
		mine := usual
		if w := s.weight(c, v.App(app).User().ID()); w != 1 {
			mine = s.userMastersLimit(c, w, limit)
		}
		first := c.active < 1 || s.compare(&l.masters, &heddle.Resource{}) <= 0
		fits := v.Fits(st.master.Plus(l.masters), limit) && v.Fits(st.master.Plus(u.masters), mine)
		if fits && !first && !v.Fits(st.master.Plus(l.masters), edge) {
			if before == nil {
				before = s.ahead(v.Queue(id))
			}
			if fits = !before.of(st.tasks); !fits && v.Now().Since(st.submitted) >= heddle.Seconds(s.masters.Patience) {
				before = &ahead{unknown: true} // no other passes it any more
			}
		}
		_, more := s.parallel(id)
		if more <= 0 || !fits && !first || len(s.holders) > 0 && s.held(v.App(app)) {
			kept = append(kept, app)
			continue
		}
		st.active = true
		s.woken = append(s.woken, app)
		s.count(id, 1)
		l.masters = l.masters.Plus(st.master)
		u.waiting--
		u.active++
		u.masters = u.masters.Plus(st.master)
	}
	l.waiting = kept
}

// An ahead describes the applications of a leaf that are served before one that would be let in.
type ahead struct {
	tasks   int32 // the fewest left to any application that waits for containers
	unknown bool  // some waiting application's number is unknown
}

// ahead finds the applications that were let in and wait for containers.
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

// of reports whether some application is ahead of one with so many tasks; 0 means unknown.
func (o *ahead) of(tasks int32) bool {
	if tasks == 0 {
		return o.unknown
	}
	return tasks >= o.tasks
}

// mastersLimit returns how much the masters of a leaf may hold together.
func (s *Scheduler) mastersLimit(v policy.View, c *queue) heddle.Resource {
	return s.mastersPart(v, c, c.mastersShare(s.masters.Share))
}

// behindLimit returns how much they may hold together while applications behind others are still let in.
func (s *Scheduler) behindLimit(v policy.View, c *queue) heddle.Resource {
	return s.mastersPart(v, c, c.mastersShare(s.masters.Behind))
}

// mastersPart returns a part of what a queue can reach now, as an amount for masters.
func (s *Scheduler) mastersPart(v policy.View, c *queue, part float32) heddle.Resource {
	usable := c.min
	if v.Fits(c.min, c.current) {
		usable = c.current
	}
	return s.timesUp(usable, float64(part))
}

// mastersShare returns the part of a queue for masters: that of a gate option, or the configured one if it is larger.
func (c *queue) mastersShare(option float64) float32 {
	return max(float32(c.cfg.MaxAMShare), float32(option))
}

// userMastersLimit returns how much the masters of one user of a weight may hold, given the limit on all masters. As in
// Hadoop, the weight gives no user more than one who is alone has.
func (s *Scheduler) userMastersLimit(c *queue, weight float64, limit heddle.Resource) heddle.Resource {
	share := c.mastersShare(s.masters.Share)
	if c.cfg.UserLimitFactor != -1 {
		part := max(float32(c.cfg.MinimumUserLimit), 1/float32(max(c.leaf.asking+c.leaf.inactive, 1)))
		share = share * min(part*float32(weight), 1) * float32(c.cfg.UserLimitFactor)
	}
	return s.less(s.timesUp(c.min, float64(share)), limit)
}
