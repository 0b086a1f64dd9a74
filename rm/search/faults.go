package search

import (
	"fmt"
	"slices"

	"heddle"
	"heddle/rm"
	"heddle/yarn/ids"
)

// An act is something that a plan does. do describes for people what it did; "" if there was nothing to do it to.
type act struct {
	name   string
	weight int
	job    bool // not a fault
	do     func(s *sim, d *dice) string
}

// acts are all possible acts; the first is a job.
var acts = []act{
	{"job", 10, true, (*sim).actJob},
	{"crash", 5, false, (*sim).actCrash},
	{"stand still", 2, false, (*sim).actFreeze},
	{"disk", 3, false, (*sim).actDisk},
	{"clock", 1, false, (*sim).actClock},
	{"messages of a node", 6, false, (*sim).actNodeLink},
	{"messages of a master", 6, false, (*sim).actMasterLink},
	{"messages of clients", 4, false, (*sim).actClientLink},
	{"node dies", 4, false, (*sim).actNodeDies},
	{"node hangs", 4, false, (*sim).actNodeHangs},
	{"node restarts", 4, false, (*sim).actNodeRestarts},
	{"node leaves", 2, false, (*sim).actNodeLeaves},
	{"node is sick", 3, false, (*sim).actSick},
	{"node counts wrong", 1, false, (*sim).actNumber},
	{"master dies", 4, false, (*sim).actMasterDies},
	{"master hangs", 4, false, (*sim).actMasterHangs},
	{"container ends", 5, false, (*sim).actExit},
	{"launch", 3, false, (*sim).actLaunch},
	{"blacklist", 2, false, (*sim).actAvoid},
	{"queues", 4, false, (*sim).actQueues},
	{"kill", 3, false, (*sim).actKill},
	{"fail attempt", 2, false, (*sim).actFail},
	{"move", 3, false, (*sim).actMove},
	{"priority", 2, false, (*sim).actPriority},
	{"lifetime", 2, false, (*sim).actLifetime},
	{"hosts", 3, false, (*sim).actHosts},
	{"resize", 2, false, (*sim).actResize},
	{"signal", 1, false, (*sim).actSignal},
	{"nonsense", 4, false, (*sim).actNonsense},
	{"agent dies", 3, false, (*sim).actAgentDies},
	{"agent hangs", 3, false, (*sim).actAgentHangs},
	{"no room", 2, false, (*sim).actRoom},
}

func (s *sim) actJob(d *dice) string {
	j := s.newJob(d)
	s.submit(j)
	return fmt.Sprintf("%d, %s to %s: %d maps, %d reduces, %d executors of %d MiB, attempts %d", j.n, j.kind, j.queue, j.maps, j.reduces, j.executors, j.size, j.sub.MaxAttempts)
}

func (s *sim) actCrash(d *dice) string {
	after, kept, down := d.n(40), d.next(), pick(d, heddle.Second, 10*heddle.Second, 60*heddle.Second, 15*heddle.Minute)
	if !s.shell.up {
		return ""
	}
	if d.in(3) {
		s.crash(kept, down)
		return fmt.Sprintf("at once, for %d s", down/heddle.Second)
	}
	s.shell.fuse, s.shell.kept, s.shell.down = after, kept, down
	return fmt.Sprintf("after %d effects, for %d s", after, down/heddle.Second)
}

func (s *sim) actFreeze(d *dice) string {
	if !s.shell.up || s.shell.frozen {
		return ""
	}
	span, tick := pick(d, 2*heddle.Second, 30*heddle.Second, 11*heddle.Minute), d.in(2)
	s.freeze(span, tick)
	return fmt.Sprintf("for %d s", span/heddle.Second)
}

func (s *sim) actDisk(d *dice) string {
	if d.in(3) {
		s.disk.full = true
		return "full"
	}
	s.disk.slow = d.span(heddle.Second, 30*heddle.Second)
	s.after(d.span(heddle.Second, heddle.Minute), func() { s.disk.slow = 0 })
	return fmt.Sprintf("%d ms slower", s.disk.slow/heddle.Millisecond)
}

// actRoom fills the disk for a while: writes wait, and the machine is told.
func (s *sim) actRoom(d *dice) string {
	span := pick(d, 5*heddle.Second, 30*heddle.Second, 2*heddle.Minute)
	if !s.shell.up {
		return ""
	}
	s.disk.slow = span
	s.after1(0, func() { s.step(rm.StoreShort{Why: "the disk is full"}) })
	s.after(span, s.makeRoom)
	return fmt.Sprintf("for %d s", span/heddle.Second)
}

func (s *sim) makeRoom() {
	s.disk.slow = 0
	s.after1(0, func() { s.step(rm.StoreShort{}) })
}

func (s *sim) actClock(d *dice) string {
	s.wall += d.span(heddle.Second, 3600*heddle.Second)
	return "jumps forward"
}

// spoil makes some of the next messages on a link go wrong.
func (l *link) spoil(d *dice) string {
	n := 1 + d.n(3)
	*pick(d, &l.lose, &l.mute, &l.twice, &l.late) += n
	return fmt.Sprintf("%s: %d lost, %d unanswered, %d twice, %d late", l.name, l.lose, l.mute, l.twice, l.late)
}

func (s *sim) actNodeLink(d *dice) string {
	n := pick(d, s.nodes...)
	return n.spoil(d)
}

// working returns a running master, or nil.
func (s *sim) working(d *dice) *master {
	var list []*master
	for _, m := range s.masters {
		if m.alive() {
			list = append(list, m)
		}
	}
	if len(list) == 0 {
		return nil
	}
	return pick(d, list...)
}

func (s *sim) actMasterLink(d *dice) string {
	if m := s.working(d); m != nil {
		return m.spoil(d)
	}
	return ""
}

func (s *sim) actClientLink(d *dice) string { return s.client.spoil(d) }

func (s *sim) actNodeDies(d *dice) string {
	n := pick(d, s.nodes...)
	away, port, size, rack := pick(d, heddle.Second, 20*heddle.Second, 2*heddle.Minute, 12*heddle.Minute), d.in(3), d.in(3), d.in(8)
	if !n.up {
		return ""
	}
	s.stopNode(n)
	life := n.life
	s.after(away, func() {
		if n.life != life {
			return
		}
		if port {
			n.port++
		}
		if size {
			n.total = heddle.Of(pick[int64](d, 512, 2*gib, 4*gib, 16*gib), 4000)
		}
		if rack {
			n.rack = pick(d, "/r0", "/r1", "")
		}
		s.startNode(n)
	})
	return fmt.Sprintf("%s for %d s; another port %v, another size %v, another rack %v", n.host, away/heddle.Second, port, size, rack)
}

func (s *sim) actNodeHangs(d *dice) string {
	n := pick(d, s.nodes...)
	n.hung = s.now.Plus(pick(d, 5*heddle.Second, 30*heddle.Second, 4*heddle.Minute, 12*heddle.Minute))
	return n.host + " until " + clock(n.hung)
}

func (s *sim) actNodeRestarts(d *dice) string {
	n := pick(d, s.nodes...)
	away, lost := pick(d, heddle.Second, 20*heddle.Second, 4*heddle.Minute), d.in(2)
	if !n.up {
		return ""
	}
	s.restart(n, away, lost)
	return fmt.Sprintf("%s, after %d s, something lost %v", n.host, away/heddle.Second, lost)
}

func (s *sim) actNodeLeaves(d *dice) string {
	n := pick(d, s.nodes...)
	back := d.span(heddle.Second, 5*heddle.Minute)
	if !n.registered || !n.up {
		return ""
	}
	id := n.id()
	s.order(func(c rm.Call) rm.Message { return &rm.UnregisterNode{Call: c, Node: id} })
	s.stopNode(n)
	s.after(back, func() { s.startNode(n) })
	return n.host
}

func (s *sim) actSick(d *dice) string {
	n := pick(d, s.nodes...)
	n.sick = !n.sick
	return fmt.Sprintf("%s %v", n.host, n.sick)
}

func (s *sim) actNumber(d *dice) string {
	n := pick(d, s.nodes...)
	n.resp += int32(1 + d.n(5))
	n.upset = s.now
	return n.host
}

func (s *sim) actMasterDies(d *dice) string {
	m := s.working(d)
	if m == nil {
		return ""
	}
	m.node.end(m.work, pick[int32](d, 1, 143, -100), "it died")
	return m.name
}

func (s *sim) actMasterHangs(d *dice) string {
	m := s.working(d)
	if m == nil {
		return ""
	}
	m.hung = s.now.Plus(pick(d, 20*heddle.Second, 2*heddle.Minute, 20*heddle.Minute))
	return m.name + " until " + clock(m.hung)
}

func (s *sim) actExit(d *dice) string {
	n := pick(d, s.nodes...)
	list := slices.DeleteFunc(n.sorted(), func(w *work) bool { return w.Over || w.master != nil })
	if len(list) == 0 {
		return ""
	}
	w := pick(d, list...)
	n.end(w, pick[int32](d, 1, 143, -101), "it died")
	return w.ID.String()
}

func (s *sim) actLaunch(d *dice) string {
	s.launchFault = pick(d, launchRefused, launchUnheard, launchLate)
	return fmt.Sprint(s.launchFault)
}

func (s *sim) actAvoid(d *dice) string {
	m := s.working(d)
	if m == nil || len(m.avoided) > 0 {
		return ""
	}
	host := pick(d, s.nodes[1:]...).host
	if s.cfg.PortInNodeName {
		host += ":1"
	}
	m.avoid = append(m.avoid, host)
	return m.name + " avoids " + host
}

func (s *sim) actQueues(d *dice) string {
	sh := pick(d, shape{}, shape{stopped: "default"}, shape{stopped: "a"}, shape{without: "a"}, shape{without: "b"}, shape{least: true}, shape{broken: true})
	s.refresh(sh)
	s.reread = true
	return fmt.Sprintf("%+v", sh)
}

// refresh loads another configuration. One that cannot be built does not reach the machine.
func (s *sim) refresh(sh shape) {
	sch, err := s.scheduler(sh)
	if sh.broken { // it breaks after loading and before rebuilding
		sch, err = s.scheduler(s.shape)
		sch.Rebuild = func([]string) (*rm.Scheduler, error) { return s.scheduler(sh) }
	}
	if err != nil {
		return
	}
	s.call(&s.client, func(c rm.Call) rm.Message { return &rm.Refresh{Call: c, Scheduler: sch} }, func(_ any, err error) {
		if err == nil {
			s.shape = sh
		}
	}, func() {})
}

// anyJob returns a job that has an id, or nil.
func (s *sim) anyJob(d *dice) *job {
	list := slices.DeleteFunc(slices.Clone(s.jobs), func(j *job) bool { return !j.given || j.over })
	if len(list) == 0 {
		return nil
	}
	return pick(d, list...)
}

// onJob sends a message about a job.
func (s *sim) onJob(d *dice, what func(c rm.Call, j *job, who rm.Person) rm.Message) string {
	j := s.anyJob(d)
	if j == nil {
		return ""
	}
	s.order(func(c rm.Call) rm.Message { return what(c, j, rm.Person{User: user(j)}) })
	return j.id.String()
}

func (s *sim) actKill(d *dice) string {
	return s.onJob(d, func(c rm.Call, j *job, who rm.Person) rm.Message {
		return &rm.KillApp{Call: c, Who: who, App: j.id, Diagnostics: "no more"}
	})
}

func (s *sim) actFail(d *dice) string {
	n := int32(1 + d.n(2))
	return s.onJob(d, func(c rm.Call, j *job, who rm.Person) rm.Message {
		return &rm.FailAttempt{Call: c, Who: who, Attempt: ids.Attempt{App: j.id, N: n}}
	})
}

func (s *sim) actMove(d *dice) string {
	queue := pick(d, leaves...)
	return s.onJob(d, func(c rm.Call, j *job, who rm.Person) rm.Message {
		return &rm.MoveApp{Call: c, Who: who, App: j.id, Queue: queue}
	})
}

func (s *sim) actPriority(d *dice) string {
	n := int32(d.n(12))
	return s.onJob(d, func(c rm.Call, j *job, who rm.Person) rm.Message {
		return &rm.SetPriority{Call: c, Who: who, App: j.id, Priority: n}
	})
}

func (s *sim) actLifetime(d *dice) string {
	until := d.span(heddle.Second, 5*heddle.Minute)
	return s.onJob(d, func(c rm.Call, j *job, who rm.Person) rm.Message {
		return &rm.SetLifetime{Call: c, Who: who, App: j.id, Until: s.today() + int64(until/heddle.Millisecond)}
	})
}

func (s *sim) actHosts(d *dice) string {
	host, how := pick(d, s.nodes...).host, d.n(4)
	s.lists = rm.HostLists{}
	if how > 0 {
		s.lists.Exclude = map[string]bool{host: true}
	}
	q := rm.RefreshNodes{Lists: s.lists, Graceful: how > 1, Timeout: pick(d, -heddle.Second, 5*heddle.Second, 2*heddle.Minute)}
	s.order(func(c rm.Call) rm.Message { k := q; k.Call = c; return &k })
	return fmt.Sprintf("%v, graceful %v, timeout %d s", s.lists.Exclude, q.Graceful, q.Timeout/heddle.Second)
}

func (s *sim) actResize(d *dice) string {
	n, total := pick(d, s.nodes...), heddle.Of(pick[int64](d, 1, 2, 4, 16)*gib, 4000)
	id := n.id()
	s.order(func(c rm.Call) rm.Message { return &rm.ResizeNode{Call: c, Node: id, Total: total} })
	return fmt.Sprintf("%s to %v", id, total)
}

func (s *sim) actSignal(d *dice) string {
	n := pick(d, s.nodes...)
	list := n.sorted()
	if len(list) == 0 {
		return ""
	}
	id := pick(d, list...).ID
	s.order(func(c rm.Call) rm.Message {
		return &rm.SignalContainer{Call: c, Who: rm.Person{User: "ann"}, Container: id, Command: 1}
	})
	return id.String()
}

// heal ends all faults: everything is there as in the beginning, and everything that was configured wrong is set right.
func (s *sim) heal() {
	s.note("-- all faults end")
	s.disk.slow, s.disk.full, s.launchFault = 0, false, 0
	s.shell.fuse = -1
	for !s.shell.up || s.shell.frozen {
		s.runUntil(s.now.Plus(10 * heddle.Second))
	}
	s.shell.fuse = -1
	s.makeRoom()
	s.client.heal()
	s.lists = rm.HostLists{}
	s.order(func(c rm.Call) rm.Message { return &rm.RefreshNodes{Call: c} })
	if !s.sameQueues && (s.reread || s.tuned == 0) { // otherwise the core that went through it all continues
		s.refresh(shape{})
	}
	for _, m := range s.masters {
		m.heal()
		m.hung = min(m.hung, s.now)
		if len(m.avoided) > 0 {
			m.accept = true
		}
	}
	for _, a := range s.agents {
		a.heal()
		a.hung = min(a.hung, s.now)
		s.startAgent(a)
	}
	for i, n := range s.nodes {
		n.heal()
		n.hung, n.sick, n.upset = min(n.hung, s.now), false, s.now
		if n.total != s.setup.nodes[i].total || !n.up || n.rack != s.setup.nodes[i].rack { // somebody restarts it
			s.stopNode(n)
			n.total, n.rack = s.setup.nodes[i].total, s.setup.nodes[i].rack
			s.after(heddle.Second, func() { s.startNode(n) })
		}
	}
}

func (l *link) heal() { l.lose, l.mute, l.twice, l.late = 0, 0, 0, 0 }
