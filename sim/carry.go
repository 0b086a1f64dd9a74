package sim

import (
	"slices"

	"heddle"
	"heddle/sim/apps"
)

// container is a container as its node and its master know it.
type container struct {
	id      heddle.ContainerID
	app     *app
	node    heddle.NodeID
	kind    heddle.Kind
	at      heddle.Locality
	told    heddle.Resource
	limit   heddle.Resource
	granted heddle.Time
	started heddle.Time
	up      bool // its process runs
	over    bool // its process ended, or it is known to have ended
	frozen  bool // suspended
	exited  bool // by itself or its master's will, with code; nobody may have heard of it
	code    heddle.ExitStatus
	work    apps.Work
	hasWork bool
	index   int32 // of the task it ran first, −1 before
	runs    []int32
}

// pages finds containers by id. A page is dropped when everything on it is over.
type pages struct {
	at []*contPage
}

const pageSize = 1024

type contPage struct {
	cs   [pageSize]container
	used int
	over int
}

func (p *pages) add(id heddle.ContainerID) *container {
	i := int(id / pageSize)
	for i >= len(p.at) {
		p.at = append(p.at, nil)
	}
	if p.at[i] == nil {
		p.at[i] = &contPage{}
	}
	p.at[i].used++
	c := &p.at[i].cs[id%pageSize]
	*c = container{id: id, index: -1}
	return c
}

func (p *pages) drop(id heddle.ContainerID) {
	i := int(id / pageSize)
	g := p.at[i]
	g.cs[id%pageSize] = container{}
	if g.over++; g.over == g.used && i < len(p.at)-1 {
		p.at[i] = nil
	}
}

// container returns a container that is not yet forgotten, or nil.
func (s *Sim) container(id heddle.ContainerID) *container {
	i := int(id / pageSize)
	if i >= len(s.conts.at) || s.conts.at[i] == nil {
		return nil
	}
	if c := &s.conts.at[i].cs[id%pageSize]; c.id == id && id != 0 {
		return c
	}
	return nil
}

// carryOut does what the core decided.
func (s *Sim) carryOut(d heddle.Decision) {
	switch d := d.(type) {
	case *heddle.Admit:
		s.apps[d.App].admitted = true
	case *heddle.Reject:
		s.reject(s.apps[d.App], d.Why)
	case *heddle.Launch:
		s.launch(d)
	case *heddle.Book:
		s.apps[d.App].booked(d.Container, s.now)
		s.room(d.Node)
	case *heddle.Unbook:
		s.apps[d.App].unbooked(d.Container, s.now)
		s.room(d.Node)
	case *heddle.Resize:
		if c := s.container(d.Container); c != nil && !c.over {
			c.limit = d.Limit
			s.phys.setLimit(s.now, c)
			s.room(c.node)
		}
	case *heddle.Suspend:
		if c := s.container(d.Container); c != nil && !c.over {
			c.frozen = true
			s.phys.suspend(s.now, c)
			s.room(c.node)
		}
	case *heddle.Resume:
		if c := s.container(d.Container); c != nil && !c.over {
			c.frozen = false
			s.phys.resume(s.now, c)
			s.room(c.node)
		}
	case *heddle.Kill:
		s.killed(s.container(d.Container), d.Status)
	case *heddle.Adopt: // no simulated node comes with containers of its own
	}
}

// launch takes a grant to its master, or starts the master's own process.
func (s *Sim) launch(d *heddle.Launch) {
	a := s.apps[d.App]
	a.unbooked(d.Container, s.now)
	c := s.conts.add(d.Container)
	c.app, c.node, c.kind, c.at, c.told, c.limit, c.granted = a, d.Node, d.Kind, d.At, d.Told, d.Limit, s.now
	s.lives()
	s.room(d.Node)
	if d.Kind == heddle.AM {
		a.masterAt = c.id
		up := entry{at: s.now.Plus(s.phys.launchDelay(heddle.AM)), what: masterUp, id: int64(c.id)}
		if !s.phys.launch(s.now, c, up) {
			s.heap.push(up)
		}
		return
	}
	a.inbox.Granted = append(a.inbox.Granted, apps.Grant{
		Container: d.Container, Node: d.Node, Priority: d.Priority, AllocID: d.AllocID, Kind: d.Kind, Size: d.Told,
	})
	s.wake(a)
}

// killed is a container ended by the ResourceManager, which tells its master; if it was the master, the
// application goes on once the decisions at hand are carried out.
func (s *Sim) killed(c *container, status heddle.ExitStatus) {
	if c == nil {
		return
	}
	a := c.app
	s.stopProcess(c)
	if c.kind == heddle.AM {
		s.todo = append(s.todo, func() { s.masterGone(a, status) })
	} else if !a.unseen(c.id) { // what its master had not fetched is asked for again, and the master hears of neither
		a.inbox.Completed = append(a.inbox.Completed, apps.Completed{Container: c.id, Status: status})
		s.wake(a)
	}
	s.forget(c, status)
}

// unseen takes a grant out of the inbox, if it is still there.
func (a *app) unseen(id heddle.ContainerID) bool {
	i := slices.IndexFunc(a.inbox.Granted, func(g apps.Grant) bool { return g.Container == id })
	if i >= 0 {
		a.inbox.Granted = slices.Delete(a.inbox.Granted, i, i+1)
	}
	return i >= 0
}

// stopProcess ends the process and the work in it, if there are any.
func (s *Sim) stopProcess(c *container) {
	if c.up && !c.over {
		s.m.running(c.kind, -1)
		if s.tracer != nil {
			s.tracer.stopped(s, c)
		}
		s.phys.close(s.now, c)
		if c.kind == heddle.AM {
			s.masterDied(c.app)
		}
	}
	c.over = true
}

// exit is a process that ended on its node: the node reports it at its next beat, or at once.
func (s *Sim) exit(c *container, status heddle.ExitStatus) {
	if c.over {
		return
	}
	s.stopProcess(c)
	c.exited, c.code = true, status
	n := &s.nodes[c.node]
	n.exits = append(n.exits, exit{c.id, status})
	s.wheel.reports.set(s.wheel.rank[c.node], !n.silent)
	if s.o.PromptEnds {
		s.heap.push(entry{at: s.now, what: report, id: int64(c.node)})
	}
}

// exitKnown is the ResourceManager having heard of an exit: the master hears of it next; of the
// master's own, nobody is left to hear.
func (s *Sim) exitKnown(c *container, status heddle.ExitStatus) {
	a := c.app
	s.lives()
	master := c.kind == heddle.AM
	if !master {
		a.inbox.Completed = append(a.inbox.Completed, apps.Completed{Container: c.id, Status: status})
		s.wake(a)
	}
	s.forget(c, status)
	if master { // c is no more
		s.masterGone(a, status)
	}
}

// forget records a container's life and lets it go. What it ended with counts, not what the
// ResourceManager believes that had not heard of it.
func (s *Sim) forget(c *container, status heddle.ExitStatus) {
	a := c.app
	a.ended(c, s.now)
	if c.exited {
		status = c.code
	}
	if s.o.KeepTasks {
		s.res.Tasks = append(s.res.Tasks, TaskResult{
			Job: int(a.id), Kind: c.kind, Index: c.index, Container: c.id, Node: c.node, At: c.at,
			Granted: c.granted, Started: c.started, Ended: s.now, Size: c.told, Limit: c.limit, Status: status,
		})
	}
	if s.tracer != nil {
		s.tracer.forgotten(s.now, c.id, status)
	}
	s.room(c.node)
	s.conts.drop(c.id)
}

// start is a container's process beginning to run.
func (s *Sim) start(c *container) {
	if c == nil || c.over || s.nodes[c.node].dead {
		return
	}
	a := c.app
	a.managed++
	if m := s.container(a.masterAt); m != nil {
		s.phys.manage(s.now, m, a.managed)
	}
	c.up, c.started = true, s.now
	s.m.running(c.kind, 1)
	s.phys.open(s.now, c)
	n := &s.nodes[c.node]
	n.starts = append(n.starts, c.id)
	if s.o.Set.Feeds.Starts {
		s.wheel.reports.set(s.wheel.rank[c.node], !n.silent)
	}
	a.begun(c, s.now)
	if s.tracer != nil {
		s.tracer.started(s, c)
	}
	if c.hasWork {
		s.phys.run(s.now, c, c.work)
	}
	if a.master != nil {
		a.master.Up(s.now, c.id, s.actions())
		s.perform(a)
	}
}

// workEnded is a task that ended, well or not, or a master that broke down.
func (s *Sim) workEnded(e *ended) {
	c := s.container(e.work.Container)
	if c == nil || c.over {
		return
	}
	a := c.app
	s.lives()
	ok, status := e.ok, e.status
	if ok && e.work.Kind == heddle.Map {
		if a.mapDone(s.now, e.work.Index) {
			s.phys.mapsDone(s.now, a)
		}
		s.countLocality(a, c, e.work)
		if e.output > 0 && s.o.Set.Feeds.Output {
			s.step(heddle.Output{App: a.id, Node: c.node, Bytes: e.output})
		}
	}
	if c.kind != heddle.Executor || status == heddle.KilledOverPhysical {
		s.exit(c, status)
	}
	if a.master != nil && c.kind != heddle.AM {
		a.master.WorkDone(s.now, e.work, ok, s.actions())
		s.perform(a)
	}
}
