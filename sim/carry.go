package sim

import (
	"heddle"
	"heddle/rm"
	"heddle/sim/apps"
	"heddle/workload"
	"heddle/yarn/ids"
)

// container is a container as its node and its master know it. The fields needed at its end come first, so that they
// are read together.
type container struct {
	app       *app
	node      heddle.NodeID
	kind      heddle.Kind
	at        heddle.Locality
	waits     bool        // its node has not taken it on yet
	up        bool        // its process runs
	over      bool        // its process ended
	fetched   bool        // its master was told of it
	known     bool        // for the ResourceManager it is over
	frozen    bool        // suspended
	found     bool        // by the node agent
	thaw      heddle.Time // when a node agent resumes it; 0 if no agent froze it
	exited    bool        // by itself or by its master's will, with code; possibly nobody has heard of it
	hasWork   bool
	code      heddle.ExitStatus
	index     int32    // of the first task it ran; −1 before that
	run       [1]int32 // storage of runs, except for executors
	runs      []int32
	id        heddle.ContainerID
	name      ids.Container
	work      apps.Work
	granted   heddle.Time
	taken     heddle.Time // when its node took it on; workload.NoTime before that
	started   heddle.Time
	limit     heddle.Resource
	told      heddle.Resource
	ended     float64      // vcore-seconds of the work that ended in it, in the given world
	computed  float64      // core-seconds that its processes are through with, if Costs are given
	counted   float64      // vcore-seconds it had used at its node's last measurement
	monitored bool         // it has been measured before
	part      float64      // its task's progress, as last reported
	phase     heddle.Phase // likewise
	weight    int64        // set by a node agent, in milli-vcores; 0 = none
}

// exists reports whether a container has a process: its node has taken it on, and it has not ended.
func (c *container) exists() bool { return c.taken >= 0 && !c.over }

// container returns a container that is not yet forgotten, or nil.
func (s *Sim) container(id heddle.ContainerID) *container { return s.conts.Get(int64(id)) }

// noted handles a decision of the core: it counts what masters and nodes do not see, and carries out what an agent
// would do at once.
func (s *Sim) noted(e *rm.Noted) {
	a := s.appOf(e.App)
	switch d := e.Decision.(type) {
	case *heddle.Admit:
		a.admitted, a.aid = true, d.App
	case *heddle.Reject:
		if a.admitted {
			s.later(func() { s.fail(a, tooLarge) })
		}
	case *heddle.Launch:
		s.granted(a, d, e.Container)
	case *heddle.Book:
		a.booked(d.Container, s.now)
		s.room(d.Node)
	case *heddle.Unbook:
		a.unbooked(d.Container, s.now)
		s.room(d.Node)
	case *heddle.Kill:
		s.killed(s.containerOf(e.Container), d.Status)
	case *heddle.Resize:
		s.deed(d.Container, func(c *container) {
			c.limit = d.Limit
			s.phys.setLimit(s.now, c)
		})
		if c := s.container(d.Container); c != nil && s.o.NoAgents {
			s.hasNews(c.node) // the node is to hear of it
		}
	case *heddle.Weigh:
		s.deed(d.Container, func(c *container) { s.phys.setWeight(s.now, c, d.Weight) })
	case *heddle.Suspend:
		s.deed(d.Container, func(c *container) {
			c.frozen = true
			s.phys.suspend(s.now, c)
		})
	case *heddle.Resume:
		s.deed(d.Container, func(c *container) {
			c.frozen = false
			s.phys.resume(s.now, c)
		})
	case *heddle.Adopt: // no simulated node comes with containers of its own
	}
}

// deed carries out a decision about a running container. An agent does so at once; a NodeManager without one only
// changes its accounts, which no process notices.
func (s *Sim) deed(id heddle.ContainerID, do func(*container)) {
	c := s.container(id)
	if c == nil || c.over {
		return
	}
	if !s.o.NoAgents {
		do(c)
	}
	s.room(c.node)
}

// granted handles a container granted to an application: its master will hear of it.
func (s *Sim) granted(a *app, d *heddle.Launch, name ids.Container) {
	a.unbooked(d.Container, s.now)
	c := s.conts.Add(int64(d.Container))
	*c = container{
		id: d.Container, name: name, app: a, node: d.Node, kind: d.Kind, at: d.At, told: d.Told, limit: d.Limit, granted: s.now, taken: workload.NoTime, started: workload.NoTime,
		index: -1, runs: c.runs[:0], waits: true,
	}
	if s.o.NoAgents { // being granted less changes only the node's accounts: no process notices
		c.limit = d.Told
	}
	if c.runs == nil {
		c.runs = c.run[:0]
	}
	s.nodes[c.node].waits++
	for len(a.numbers) < int(name.Attempt.N) {
		a.numbers = append(a.numbers, nil)
	}
	of := &a.numbers[name.Attempt.N-1]
	*of = append(*of, c.id)
	s.lives()
	s.room(d.Node)
	if d.Kind == heddle.AM {
		a.masterAt = c.id
		return
	}
	s.wake(a)
}

// takes handles a node being told to start a container. From then on the node reports the container as running, while
// it prepares the process.
func (s *Sim) takes(c *container) {
	n := &s.nodes[c.node]
	if n.dead {
		return
	}
	c.taken = s.now
	s.looksFor(c)
	n.starts = append(n.starts, c.id)
	if s.o.Set.Feeds.Starts {
		s.hasNews(c.node)
	}
	s.settled(c)
}

// settled records that a container's node has taken it on, or will not.
func (s *Sim) settled(c *container) {
	if c.waits {
		c.waits = false
		s.nodes[c.node].waits--
		s.hurry(c.node)
	}
}

// callsInVain is how long heddle rm calls a NodeManager to start a master if its machine does not answer: ten calls
// (yarn.resourcemanager.nodemanager-connect-retries) of 30 s, a second apart. A stock ResourceManager goes on for
// longer than its node takes to count as lost.
const callsInVain = (10*30 + 9) * heddle.Second

// startMaster starts a master's process.
func (s *Sim) startMaster(name ids.Container) {
	c := s.containerOf(name)
	if c == nil {
		return
	}
	if s.nodes[c.node].dead && !s.o.Stock {
		s.heap.push(entry{at: s.now.Plus(callsInVain), what: missed, id: int64(c.id)})
		return
	}
	s.takes(c)
	if !s.phys.launch(s.now, c) {
		s.begins(c, s.now.Plus(s.phys.launchDelay()))
	}
	s.later(func() { s.say(&rm.Started{Container: name}) })
}

// stopMaster ends the process of a master that the ResourceManager has given up, if its node can be reached.
func (s *Sim) stopMaster(name ids.Container) {
	s.later(func() {
		if c := s.containerOf(name); c != nil && c.known {
			s.reap(c)
		}
	})
}

// killed handles a container that is over for the ResourceManager. Its master, if it knew of the container, hears of
// that next; its process, if there is one, with the node's next heartbeat.
func (s *Sim) killed(c *container, status heddle.ExitStatus) {
	if c == nil || c.known {
		return
	}
	c.known = true
	s.settled(c)
	if c.kind == heddle.AM {
		s.masterOver(c, status)
	} else if c.fetched {
		s.wake(c.app)
	}
	s.record(c, status)
	s.room(c.node)
	s.hasNews(c.node)
	if s.pace != nil {
		s.heap.push(entry{at: s.now.Plus(rm.KillTime), what: calms, id: int64(c.node)})
	}
	if !c.exists() {
		s.conts.Drop(int64(c.id))
	}
}

// masterOver handles a master that is over for the ResourceManager, whatever the master still does.
func (s *Sim) masterOver(c *container, status heddle.ExitStatus) {
	a := c.app
	if a.masterAt == c.id && a.master != nil {
		s.masterDied(a)
	}
	s.masterGone(a, status)
}

// reap ends what is left of a container that is over for the ResourceManager. Its node reports the end.
func (s *Sim) reap(c *container) {
	if c.exists() {
		s.stopProcess(c)
		n := &s.nodes[c.node]
		n.exits = append(n.exits, exit{c.id, c.name, heddle.KilledByRM})
		s.hasNews(c.node)
	}
	s.conts.Drop(int64(c.id))
}

// hasNews makes sure that a node's next heartbeat is made: there is something to tell it, or it has something to tell.
func (s *Sim) hasNews(id heddle.NodeID) {
	s.tells(id, !s.nodes[id].silent)
}

// tells sets whether a node has something to tell with its next heartbeat.
func (s *Sim) tells(id heddle.NodeID, on bool) {
	s.wheel.report(s.wheel.rank[id], on)
	if s.pace != nil {
		s.pace.changed = true
	}
}

// stopProcess ends a container's process and the work in it, if there are any.
func (s *Sim) stopProcess(c *container) {
	if c.over {
		return
	}
	if c.up && s.tracer != nil {
		s.tracer.stopped(s, c)
	}
	s.phys.close(s.now, c)
	if c.up {
		s.m.running(c.kind, -1)
		a := c.app
		if c.kind == heddle.AM && !c.known && a.master != nil {
			s.masterDied(a)
		}
		a.procs--
		s.endJob(a)
	}
	c.over = true
}

// exit handles a process that ended on its node: the node reports it with its next heartbeat, or at once.
func (s *Sim) exit(c *container, status heddle.ExitStatus) {
	if c.over {
		return
	}
	s.stopProcess(c)
	c.exited, c.code = true, status
	n := &s.nodes[c.node]
	n.exits = append(n.exits, exit{c.id, c.name, status})
	if s.prompt {
		s.reports = append(s.reports, c.node)
	} else {
		s.hasNews(c.node)
	}
}

// exitKnown handles the ResourceManager hearing of an exit. The master hears of it next, unless the exit is its own.
func (s *Sim) exitKnown(c *container, status heddle.ExitStatus) {
	s.lives()
	c.known = true
	s.settled(c)
	if c.kind == heddle.AM {
		s.masterOver(c, status)
	} else {
		s.wake(c.app)
	}
	s.record(c, status)
	s.conts.Drop(int64(c.id))
}

// record records the life of a container. Its real exit status counts, not the one the ResourceManager assumes if it
// has not heard of the exit.
func (s *Sim) record(c *container, status heddle.ExitStatus) {
	a := c.app
	a.ended(c, s.now)
	if c.exited {
		status = c.code
	}
	if s.o.KeepTasks {
		s.res.Tasks = append(s.res.Tasks, TaskResult{
			Job: a.id, Kind: c.kind, Index: c.index, Container: c.id, Node: c.node, At: c.at,
			Granted: c.granted, Started: c.started, Ended: s.now, Size: c.told, Limit: c.limit, Status: status,
		})
	}
	if s.tracer != nil {
		s.tracer.forgotten(s.now, c.id, status)
	}
}

// start handles a container's process beginning to run.
func (s *Sim) start(c *container) {
	if c == nil || c.over || c.known || s.nodes[c.node].dead {
		return
	}
	a := c.app
	a.procs++
	a.managed++
	if m := s.container(a.masterAt); m != nil {
		s.phys.manage(s.now, m, a.managed)
	}
	c.up, c.started = true, s.now
	s.m.running(c.kind, 1)
	a.begun(c, s.now)
	if s.tracer != nil {
		s.tracer.started(s, c)
	}
	if s.progresses(c) {
		s.heap.push(entry{at: s.now.Plus(firstTold), what: progressed, id: int64(c.id)})
	}
	if c.hasWork {
		s.phys.run(s.now, c, c.work)
	}
	if a.master != nil {
		a.master.Up(s.now, c.id, s.actions())
		s.perform(a)
	}
}

// workEnded handles the end of a task, successful or not, or a master that broke down.
func (s *Sim) workEnded(e *ended) {
	c := s.container(e.work.Container)
	if c == nil || c.over {
		return
	}
	if c.known { // nobody waits for it any more
		if c.kind != heddle.Executor {
			s.reap(c)
		}
		return
	}
	a := c.app
	s.lives()
	ok, status := e.ok, e.status
	if ok {
		s.counts(a, c, e)
	}
	if ok && e.work.Kind == heddle.Map {
		first, last := a.mapDone(s.now, e.work.Index)
		if last {
			s.phys.mapsDone(s.now, a)
		}
		if first {
			s.countLocality(a, c, e.work)
		}
		if e.output > 0 && s.o.Set.Feeds.Output && !s.o.NoAgents {
			s.say(&rm.Output{Container: c.name, Bytes: e.output})
		}
		if e.output > 0 && s.o.Set.Feeds.Output && s.agents != nil {
			of := &s.agents[c.node]
			of.outputs = append(of.outputs, rm.MapOutput{App: c.name.Attempt.App, Map: e.work.Index, Bytes: e.output})
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
