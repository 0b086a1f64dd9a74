package fair

import (
	"math"
	"slices"

	"heddle"
	"heddle/policy"
)

// Enter implements [policy.Share]: a queue above its maximum is not entered.
func (s *Scheduler) Enter(_ policy.View, q *policy.Queue) policy.Verdict {
	if !q.Used().Fits(s.queues[q.ID()].max) {
		return policy.NoQueue(heddle.QueueLimit)
	}
	return policy.Yes
}

// Allow implements [policy.Share]. It checks demand as of the last update, the masters' share, and every queue's
// maximum. On a node that did not report, what was asked for just now counts at once.
func (s *Scheduler) Allow(v policy.View, a *policy.App, k heddle.Kind, need heddle.Resource) policy.Verdict {
	if !v.Prompted() && s.of(a).demand == a.Used() {
		return policy.NoApp(heddle.NothingPending)
	}
	if k == heddle.AM && !s.mastersFit(v, a.Queue(), need) {
		return policy.NoApp(heddle.AMLimit)
	}
	if !s.fitsMax(a.Queue(), need) {
		return policy.No(heddle.QueueLimit)
	}
	return policy.Yes
}

func (s *Scheduler) fitsMax(q *policy.Queue, need heddle.Resource) bool {
	for ; q != nil; q = q.Parent() {
		if !q.Used().Plus(need).Fits(s.queues[q.ID()].max) {
			return false
		}
	}
	return true
}

// mastersFit reports whether another master of this size stays within the masters' share of the leaf.
func (s *Scheduler) mastersFit(v policy.View, q *policy.Queue, need heddle.Resource) bool {
	c := &s.queues[q.ID()]
	if math.Abs(c.cfg.MaxAMShare+1) < 1e-4 {
		return true
	}
	return q.Masters().Plus(need).Fits(s.mastersShare(v, c))
}

// mastersShare returns how much the masters of a leaf may hold together.
func (s *Scheduler) mastersShare(v policy.View, c *queue) heddle.Resource {
	most := c.fair
	free := v.Total().Minus(v.Used())
	for d := range most {
		if most[d] == 0 {
			most[d] = min(free[d], c.max[d])
		}
		u := heddle.Dim(d).Unit()
		most[d] = int64(math.Ceil(float64(most[d]/u)*float64(float32(c.cfg.MaxAMShare)))) * u
	}
	return most
}

// Headroom implements [policy.Share]. Room on nodes that the application excludes does not count.
func (s *Scheduler) Headroom(v policy.View, a *policy.App) heddle.Resource {
	q := a.Queue()
	c := &s.queues[q.ID()]
	room := v.Total().Minus(v.Used()).Minus(v.Excluded(a)).Min(c.max.Minus(q.Used()))
	left := c.fair.Minus(q.Used()).Max(heddle.Resource{})
	room[heddle.Memory] = min(room[heddle.Memory], left[heddle.Memory])
	if c.cfg.Policy == DRF {
		room[heddle.CPU] = min(room[heddle.CPU], left[heddle.CPU])
	}
	return room.Max(heddle.Resource{})
}

// window is how many applications of a leaf may ask for a master's container at once. All of them hold nothing, so the
// fair order among them is that of submission: those behind could overtake only by asking for a smaller container. If
// those in front are too large for the masters' share, others are let in with the next update.
const window = 16

// Open implements [policy.Gate] for masters: the application must be runnable, and it must be its turn.
func (s *Scheduler) Open(v policy.View, a *policy.App, k heddle.Kind) policy.Verdict {
	switch st := s.of(a); {
	case st.open:
		return policy.Yes
	case !st.runnable:
		return policy.No(heddle.AppLimit)
	}
	for _, ask := range a.Asks() {
		if ask.Kind() == k && !s.mastersFit(v, a.Queue(), ask.Size()) {
			return policy.No(heddle.AMLimit)
		}
	}
	return policy.No(heddle.GateClosed)
}

// openMasters lets the first applications of a leaf that wait for a master ask for it, if the masters' share has room
// for that master alone.
func (s *Scheduler) openMasters(v policy.View, id heddle.QueueID) {
	line := s.queues[id].masters
	s.openOf(v, line[:min(window, len(line))])
}

// openOf lets the applications of a line ask whose masters fit, until as many ask as may. One whose master no longer
// fits may still ask, but takes nobody's place.
func (s *Scheduler) openOf(v policy.View, line []heddle.AppID) {
	asking := 0
	for _, app := range line {
		if !s.masterFits(v, app) {
			continue
		}
		if st := &s.apps[app]; !st.open {
			st.open = true
			s.woken = append(s.woken, app)
		}
		if asking++; asking == window {
			return
		}
	}
}

// masterFits reports whether the masters' share has room for the master that an application waits for.
func (s *Scheduler) masterFits(v policy.View, id heddle.AppID) bool {
	a := v.App(id)
	return a != nil && slices.ContainsFunc(a.Asks(), func(k *policy.Ask) bool {
		return k.Kind() == heddle.AM && s.mastersFit(v, a.Queue(), k.Size())
	})
}

// Woken implements [policy.Waker].
func (s *Scheduler) Woken(_ policy.View, ids []heddle.AppID) []heddle.AppID {
	ids = append(ids, s.woken...)
	s.woken = s.woken[:0]
	return ids
}

// leave removes an application from those that wait for a master.
func (s *Scheduler) leave(q heddle.QueueID, id heddle.AppID) {
	c := &s.queues[q]
	if i := slices.Index(c.masters, id); i >= 0 {
		c.masters = slices.Delete(c.masters, i, i+1)
	}
	s.apps[id].open = false
}

// Hears implements [policy.Listener]: everything that demand and shares depend on.
func (s *Scheduler) Hears() policy.News {
	return policy.NodesChanged | policy.AppAdded | policy.AppDone | policy.AppMoved | policy.AppRetried | policy.AppAsked |
		policy.Reserved | policy.Unreserved | policy.Granted | policy.Adopted | policy.Resized | policy.Ended
}

// Hear implements [policy.Listener].
func (s *Scheduler) Hear(v policy.View, e policy.Effect) {
	if e.What == policy.Reserved || e.What == policy.Unreserved { // demand and shares do not depend on reservations
		by := 1
		if e.What == policy.Unreserved {
			by = -1
		}
		s.hold(e.Container, by)
		return
	}
	s.dirty = true
	switch a := e.App; e.What {
	case policy.NodeUp:
		s.up(e.Node, 1)
		s.resize(v)
	case policy.NodeDown:
		s.up(e.Node, -1)
		s.resize(v)
	case policy.NodeResized:
		s.resize(v)
	case policy.AppAdded:
		*s.of(a) = app{queue: a.Queue().ID(), user: a.User().ID(), known: true}
		if !s.run(v, a.ID()) {
			s.parked = append(s.parked, a.ID())
		}
	case policy.AppRetried:
		if s.of(a).runnable {
			s.queue(v, a.ID())
		}
	case policy.Adopted: // nothing checked whether the queues have room for it
		s.excuse(a.Queue())
		s.seated(v, e.Container)
	case policy.Resized:
		if e.Forced {
			s.excuse(a.Queue())
		}
	case policy.Granted:
		if e.Container.Fulfils() {
			s.hold(e.Container, -1)
		}
		s.seated(v, e.Container)
	case policy.AppMoved:
		s.moved(v, a)
	case policy.AppDone:
		s.done(v, a.ID())
	default: // affects only demand
	}
}

// seated records a container that was granted or found: an application whose master it is no longer waits for one.
func (s *Scheduler) seated(v policy.View, x *policy.Container) {
	if x.Kind() == heddle.AM {
		q := s.of(x.App()).queue
		s.leave(q, x.App().ID())
		s.openMasters(v, q)
	}
}

// queue adds a runnable application to those that wait for a master, if it wants one.
func (s *Scheduler) queue(v policy.View, id heddle.AppID) {
	if v.App(id).Waiting(heddle.AM) == 0 {
		return
	}
	q := s.apps[id].queue
	c := &s.queues[q]
	i, _ := slices.BinarySearch(c.masters, id)
	c.masters = slices.Insert(c.masters, i, id)
	s.openMasters(v, q)
}

// run makes an application runnable if its queues and its user have fewer than they may.
func (s *Scheduler) run(v policy.View, id heddle.AppID) bool {
	st := &s.apps[id]
	if most := s.userLimit(st.user); most != 0 && s.users[st.user] >= most {
		return false
	}
	for q := v.Queue(st.queue); q != nil; q = q.Parent() {
		if c := &s.queues[q.ID()]; c.cfg.MaxApps != 0 && c.runnable >= c.cfg.MaxApps {
			return false
		}
	}
	s.count(v, st, 1)
	st.runnable = true
	s.queue(v, id)
	return true
}

func (s *Scheduler) userLimit(u heddle.UserID) int {
	if int(u) < len(s.names) {
		if n, ok := s.cfg.UserMaxApps[s.names[u]]; ok {
			return n
		}
	}
	return s.cfg.UserMaxAppsDefault
}

func (s *Scheduler) count(v policy.View, st *app, by int) {
	s.users[st.user] += by
	for q := v.Queue(st.queue); q != nil; q = q.Parent() {
		s.queues[q.ID()].runnable += by
	}
}

func (s *Scheduler) done(v policy.View, id heddle.AppID) {
	st := &s.apps[id]
	q := st.queue
	if st.runnable {
		s.count(v, st, -1)
		s.leave(q, id)
	}
	s.apps[id] = app{}
	s.parked = slices.DeleteFunc(s.parked, func(p heddle.AppID) bool { return p == id })
	s.openMasters(v, q)
	s.unpark(v)
}

// unpark makes parked applications runnable that can be now, in order of submission.
func (s *Scheduler) unpark(v policy.View) {
	s.parked = slices.DeleteFunc(s.parked, func(p heddle.AppID) bool { return s.run(v, p) })
}

// Beside implements [policy.Book].
func (s *Scheduler) Beside(policy.View, *policy.Ask) bool { return true }

// Reserve implements [policy.Book]: it reserves for applications below their fair share, for large asks, on a small
// part of the nodes.
func (s *Scheduler) Reserve(v policy.View, k *policy.Ask, n *policy.Node) bool {
	a := k.App()
	st := s.of(a)
	p := s.queues[a.Queue().ID()].cfg.Policy
	if !below(v, p, a.Used(), st.fair) || !s.largeEnough(v, p, k.Size()) {
		return false
	}
	switch at, _ := k.Nearest(n); at {
	case heddle.RackLocal:
		return st.heldIn(n.Rack()) < s.reservable(s.live[n.Rack()])
	case heddle.OffSwitch:
		return a.Bookings() < s.reservable(v.Live())
	default:
		return true
	}
}

// up counts the nodes of a rack that are up.
func (s *Scheduler) up(n *policy.Node, by int) {
	for int(n.Rack()) >= len(s.live) {
		s.live = append(s.live, 0)
	}
	s.live[n.Rack()] += by
}

// hold counts the reservations of an application in a rack.
func (s *Scheduler) hold(x *policy.Container, by int) {
	st, r := s.of(x.App()), int(x.Node().Rack())
	for r >= len(st.held) {
		st.held = append(st.held, 0)
	}
	st.held[r] += by
}

func (st *app) heldIn(r heddle.RackID) int {
	if int(r) >= len(st.held) {
		return 0
	}
	return st.held[r]
}

// reservable returns how many of the given number of nodes one application may reserve.
func (s *Scheduler) reservable(nodes int) int {
	return int(math.Ceil(float64(nodes) * s.cfg.ReservableNodes))
}

// below compares by memory, or by dominant share under DRF.
func below(v policy.View, p Policy, a, b heddle.Resource) bool {
	if p == DRF {
		return a != b && a.Share(v.Total()) < b.Share(v.Total())
	}
	return a[heddle.Memory] < b[heddle.Memory]
}

// largeEnough reports whether nodes are reserved for containers of a size. Under DRF the smaller share decides if the
// dominant ones are equal.
func (s *Scheduler) largeEnough(v policy.View, p Policy, size heddle.Resource) bool {
	least := s.cfg.Increment.Times(s.cfg.ReservationThreshold)
	if p != DRF {
		return size[heddle.Memory] >= least[heddle.Memory]
	}
	first, second, _ := dominant(v.Total(), size)
	least1, least2, _ := dominant(v.Total(), least)
	return first > least1 || first == least1 && second >= least2
}

// Keep implements [policy.Book].
func (s *Scheduler) Keep(v policy.View, k *policy.Ask, _ *policy.Node) bool {
	q := k.App().Queue()
	if k.Kind() == heddle.AM && !s.mastersFit(v, q, k.Size()) {
		return false
	}
	return s.fitsMax(q, k.Size())
}

// Floor implements [policy.Book]. If no ask is large enough to reserve a node, only nodes with room for an ask are
// worth an offer. But if asks wait for places by counting offers, every offer counts.
func (s *Scheduler) Floor(v policy.View, largest heddle.Resource) heddle.Resource {
	if s.cfg.NodeThreshold >= 0 && s.cfg.RackThreshold >= 0 && !s.cfg.Continuous {
		return heddle.Resource{}
	}
	for i := range s.queues {
		if s.largeEnough(v, s.queues[i].cfg.Policy, largest) {
			return heddle.Resource{}
		}
	}
	return heddle.Unbounded
}

// Beat returns the limits on what one heartbeat may assign under this configuration.
func (c *Config) Beat() policy.Beat {
	if !c.AssignMultiple {
		return policy.Beat{Containers: 1}
	}
	if c.DynamicMaxAssign {
		return policy.Beat{HalfFree: true}
	}
	return policy.Beat{Containers: max(c.MaxAssign, 0)}
}
