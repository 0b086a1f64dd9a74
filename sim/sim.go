// Package sim is the simulated cluster: a discrete-event loop around the ResourceManager of [heddle/rm], the same
// machine that the daemon drives. Its nodes report in, its ApplicationMasters ask as the real ones do, and in its world
// work takes as long as it really does.
//
// Like the daemon, it is a shell around that machine: it contains no policy and takes no decision that belongs to the
// ResourceManager. By default the machine is that of heddle rm: free room is offered for a request at once, nodes
// report in as often as they are told to, and ends of containers are reported at once. [Options.Stock] selects the
// protocol and the timing of a stock ResourceManager. Everything a real shell has besides the messages is left out:
// bytes, sockets and tokens. Messages take no time, what is to be stored is stored at once, and the ResourceManager
// never stops.
//
// Heartbeats that would change nothing are left out, and the machine is told of them from time to time ([rm.LeftOut]).
package sim

import (
	"errors"
	"fmt"

	"heddle"
	"heddle/internal/slab"
	"heddle/policy"
	"heddle/rm"
	"heddle/sched"
	"heddle/sim/apps"
	"heddle/sim/world"
	"heddle/workload"
	"heddle/yarn/ids"
)

// Options describes one run.
type Options struct {
	Profile  string
	Set      policy.Set // made for this run alone: policies keep state
	Seed     uint64
	Workload *workload.Workload
	Queues   []heddle.QueueID // of each job
	Users    []heddle.UserID  // of each job

	Nodes     []world.NodeSpec
	UplinkBps float64
	Params    world.Params
	Effects   world.Effects
	Faults    []Fault

	Given      bool // the given world: every container lasts as long as the trace says
	LoadSim    bool // masters behave like those of Hadoop's Scheduler Load Simulator
	SlotMaster bool // MapReduce masters ask for all reduces at once
	// NoAgents runs NodeManagers without agents. Otherwise ideal agents carry out at once what is to be done to running
	// tasks, can do all of it, and measure tasks, but no disks. Nothing real does this.
	NoAgents bool
	// NodeAgents adds realistic node agents to NodeManagers without ideal ones; nil = none.
	NodeAgents *NodeAgents
	// Stock simulates the protocol and timing of a stock ResourceManager instead of heddle rm's: nothing is granted for
	// a request before a node reports in, a call is answered with what was decided before it, and nodes report in every
	// NodeBeat.
	Stock      bool
	NodeBeat   heddle.Span // between a node's heartbeats while nothing is wanted of it; 0 = 1 s
	PromptEnds bool        // a stock cluster's nodes report the end of a container at once instead of at their next heartbeat
	MasterBeat heddle.Span // of MapReduce masters; 0 = 1 s
	Attempts   int         // master attempts that an application may have; 0 = 2
	Expiry     heddle.Span // silence after which a node counts as lost; 0 = 600 s
	MaxTime    heddle.Time // end the run then; 0 = when all jobs are done

	// Costs, in the given world, says what starts and ends of processes take; nil = nothing. Parts says what tasks
	// consist of, by job, and Loads what else the machines do.
	Costs *Costs
	Parts []JobParts
	Loads []Load

	CountCPU bool // every profile compared counts processors: see [Bounds]
	Shrinks  bool // some profile compared may give tasks less than their masters ask for: likewise

	KeepTasks bool
	Trace     bool // keep predictions and what tasks were given and used
	EveryBeat bool // simulate every heartbeat, even those that can change nothing
	Apart     bool // submit jobs not at their submission times, but each a minute after the one before has ended
	Check     bool // recount the whole state after every step

	// Submit is told which job is about to be submitted; it may be nil.
	Submit func(job int)
	// Report is told the progress of the run from time to time; Stop is asked whether to end early.
	Report func(Progress)
	Stop   func() bool
}

// Progress is the progress of a run.
type Progress struct {
	Now    heddle.Time
	Events int64
	Jobs   int // done
}

// A Sim is a run in progress.
type Sim struct {
	o         Options
	rm        *rm.Machine
	rackNames []string // by rack
	jobs      []int    // the job, by number of the application
	phys      physics
	heap      heap
	wheel     *wheel
	now       heddle.Time
	from      source // of the current event
	entry     entry  // the current event, if it is from the heap

	called struct { // the last call of a master
		at  heddle.Time
		app int
	}

	beatAt heddle.Time // the next heartbeat that can matter
	beatOf int32       // its rank

	nodes []nodeState
	// agents holds the node agents, none if there are none. syncs counts their reports.
	agents []agent
	syncs  rm.Call
	racks  []heddle.RackID
	apps   []*app
	conts  slab.Table[container]
	todo   []func() // what follows the current event, at the same time

	reports []heddle.NodeID // nodes where processes ended at this instant and that report at once, after masters have started

	keepAt      heddle.Time // when the ResourceManager is told of the heartbeats that were left out
	keepEvery   heddle.Span
	nodesBeat   heddle.Span // the longest time between two heartbeats of a node: the last one is no longer ago
	mastersBeat heddle.Span // likewise for a master
	silent      int         // nodes whose heartbeats do not arrive

	alive    int // jobs not done
	events   int64
	checked  int64
	progress mark // the last sign of life
	lastEnd  mark // the last end of a job
	stalled  bool
	m        measure
	tracer   *tracer // nil = off
	res      *Result
	err      error
	none     slab.Bits
	prompt   bool  // ends of containers are reported at once
	asks     bool  // masters are asked about their tasks: what completed tasks used is kept
	hears    bool  // starts are reported, because something uses them
	pace     *pace // nil: nodes beat once a turn of the wheel
	byName   map[string]heddle.NodeID
	failRate float64
	faults   map[heddle.NodeID][]*Fault // by node, of nodes and their agents
	out      apps.Actions
	done     []ended
	report   rm.BeatNode // reused
	allocate rm.Allocate // reused
	leftOut  rm.LeftOut  // reused
	answer   apps.Response
	beaten   rm.NodeBeat  // the answer to the last report
	given    rm.Allocated // the answer to the last call
}

// nodeState is what a node has to report with its next heartbeat.
type nodeState struct {
	name   ids.Node
	starts []heddle.ContainerID
	exits  []exit
	waits  int            // containers on the node that it has not taken on yet
	last   int32          // number of the last answer to its heartbeats
	number heddle.NodeID  // as assigned by the ResourceManager
	used   rm.Utilization // by its containers, at its last measurement
	whole  rm.Utilization // of its machine, at its last measurement
	worked float64        // core-seconds its processors had worked by then
	silent bool           // its heartbeats do not arrive
	dead   bool           // its processes are gone
	lost   bool           // given up by the ResourceManager
}

type exit struct {
	c      heddle.ContainerID
	name   ids.Container
	status heddle.ExitStatus
}

const (
	// stall is how long masters and nodes may only exchange messages, with no work running and nothing planned, before
	// the run ends: what is left waits for something that never comes.
	stall = 6 * heddle.Hour
	// reportEvery is how many events pass between two calls of Report and Stop.
	reportEvery = 4096
)

// Run simulates a workload under a policy set.
func Run(o Options) (*Result, error) {
	s, err := newSim(o)
	if err != nil {
		return nil, err
	}
	b, _, _, err := Bounds(o, o.CountCPU)
	if err != nil {
		return nil, err
	}
	s.loop()
	if s.err != nil {
		return nil, s.err
	}
	r := s.finish()
	s.attach(&b)
	return r, nil
}

func newSim(o Options) (*Sim, error) {
	jobs := o.Workload.Jobs
	switch {
	case len(o.Nodes) == 0:
		return nil, errors.New("no nodes")
	case o.NodeAgents != nil && !o.NoAgents:
		return nil, errors.New("node agents beside ideal ones; NodeAgents wants NoAgents too")
	case o.NodeAgents != nil && !(o.NodeAgents.Lag >= 0 && o.NodeAgents.Without >= 0 && o.NodeAgents.Without <= 1):
		return nil, fmt.Errorf("node agents with a lag of %g s on all but %g of the nodes; neither may be negative, and no part is above 1",
			o.NodeAgents.Lag.Seconds(), o.NodeAgents.Without)
	case len(o.Queues) != len(jobs) || len(o.Users) != len(jobs):
		return nil, fmt.Errorf("%d jobs, but queues for %d and users for %d", len(jobs), len(o.Queues), len(o.Users))
	}
	if o.Given {
		if ok, job, field := o.Workload.Given(); !ok {
			return nil, fmt.Errorf("job %s: %s: no duration is known, which the given world needs; run it in the full world", job, field)
		}
	}
	o.NodeBeat = orSpan(o.NodeBeat, heddle.Second)
	o.Expiry = orSpan(o.Expiry, 600*heddle.Second)
	if o.Attempts == 0 {
		o.Attempts = 2
	}
	s := &Sim{o: o, rackNames: rackNames(o.Nodes), alive: len(jobs)}
	cfg := config(&o)
	s.rm = newMachine(&o, &cfg, s.noted)
	s.newBeats(&cfg)
	feeds := &o.Set.Feeds
	s.hears = !o.Stock || feeds.Starts || feeds.Progress > 0 || feeds.Profile > 0
	s.prompt = !o.Stock || o.PromptEnds
	s.newKeeper(&cfg)
	s.none = slab.NewBits(len(o.Nodes))
	s.nodes = make([]nodeState, len(o.Nodes))
	for i := range s.nodes {
		s.nodes[i].name = nodeName(i)
	}
	if o.Trace {
		s.tracer = newTracer(&s.o)
	}
	s.res = &Result{Profile: o.Profile, Seed: o.Seed, World: "full"}
	for i := range jobs {
		s.apps = append(s.apps, newApp(s, i, &jobs[i]))
		if !o.Apart {
			s.heap.push(entry{at: jobs[i].Submit, what: arrival, id: int64(i)})
		}
	}
	s.submitNext()
	if o.Given {
		s.res.World = "given"
		s.phys = &given{s: s}
		if o.Costs != nil {
			s.phys = newReplay(s)
		}
	} else {
		s.phys = newFull(s)
	}
	for i, n := range o.Nodes {
		s.racks = append(s.racks, n.Rack)
		s.res.Nodes = append(s.res.Nodes, NodeInfo{Name: n.Name, Rack: fmt.Sprintf("/rack%d", n.Rack), Total: n.Total})
		s.register(heddle.NodeID(i))
	}
	s.addAgents()
	if s.err != nil {
		return nil, s.err
	}
	if err := s.plan(o.Faults); err != nil {
		return nil, err
	}
	s.asks = o.NoAgents && (o.Set.Feeds.Progress > 0 || o.Set.Feeds.Output || o.Set.Feeds.Peaks)
	for i, f := range []heddle.Span{o.Set.Feeds.Progress, o.Set.Feeds.Profile} {
		if f > 0 && !o.NoAgents && (i == 0 || f != o.Set.Feeds.Progress) {
			s.heap.push(entry{at: heddle.Time(f), what: feed, id: int64(f)})
		}
	}
	if s.o.Set.Feeds.Nodes {
		s.heap.push(entry{at: heddle.Time(world.MonitorInterval), what: monitor})
	}
	return s, nil
}

func orSpan(v, d heddle.Span) heddle.Span {
	if v == 0 {
		return d
	}
	return v
}

// loop handles the earliest next event until every job is done. At the same instant, work ends first, then come planned
// events, then controllers wake, then nodes beat.
func (s *Sim) loop() {
	for s.alive > 0 && s.err == nil {
		at, what := s.earliest()
		if what == nothingLeft {
			return
		}
		if s.o.MaxTime > 0 && at > s.o.MaxTime {
			s.m.advance(s, s.o.MaxTime)
			s.now, s.res.Cut = s.o.MaxTime, true
			return
		}
		if s.stalls(at) {
			s.stalled = true
			return
		}
		s.m.advance(s, at)
		s.now = at
		if s.pace != nil {
			s.pace.advance(at)
		}
		s.happen(what)
		for i := 0; i < len(s.todo); i++ { //nolint:intrange // what is done adds to it
			s.todo[i]()
		}
		clear(s.todo)
		s.todo = s.todo[:0]
		if s.events++; s.events%reportEvery == 0 && s.interrupted() {
			s.res.Cut = true
			return
		}
	}
}

// stalls reports whether, by a time, only messages have been exchanged for too long.
func (s *Sim) stalls(at heddle.Time) bool {
	if at.Since(s.progress.at) <= stall || s.heap.sure > 0 || len(s.reports) > 0 {
		return false
	}
	_, working := s.phys.next()
	return !working
}

// lives records a sign of life.
func (s *Sim) lives() { s.progress = s.mark() }

func (s *Sim) interrupted() bool {
	if s.o.Report != nil {
		s.o.Report(Progress{Now: s.now, Events: s.events, Jobs: len(s.apps) - s.alive})
	}
	return s.o.Stop != nil && s.o.Stop()
}

// source says where the next event comes from.
type source uint8

const (
	nothingLeft source = iota
	fromWorld
	fromHeap
	fromNode
	fromRM
	fromLeftOut
	fromWheel
)

func (s *Sim) earliest() (heddle.Time, source) {
	best, what := heddle.Time(0), nothingLeft
	if at, ok := s.phys.next(); ok {
		best, what = at, fromWorld
	}
	if len(s.heap.es) > 0 && (what == nothingLeft || s.heap.es[0].at < best) {
		best, what = s.heap.es[0].at, fromHeap
	}
	if len(s.reports) > 0 && (what == nothingLeft || best > s.now || what == fromHeap && s.heap.es[0].what >= leaving) {
		return s.now, fromNode
	}
	if s.pace != nil {
		s.pace.idle = s.core().View().Alive() == 0
	}
	at, rank, beats := s.nextBeat()
	s.beatAt, s.beatOf = at, rank
	// Timers alone, of nodes and masters that report, have no effect.
	if _, ok := s.core().Deadline(); ok || what != nothingLeft || beats || s.silent > 0 {
		if due := max(s.rm.Deadline(), s.now); what == nothingLeft || due < best {
			best, what = due, fromRM
		}
		if s.keepAt < best {
			best, what = s.keepAt, fromLeftOut
		}
	}
	if beats && (what == nothingLeft || at < best) {
		best, what = at, fromWheel
	}
	return best, what
}

// core returns the scheduler core, for reading.
func (s *Sim) core() *sched.Core { return s.rm.Core() }

func (s *Sim) happen(what source) {
	s.from = what
	switch what {
	case fromWorld:
		s.done = s.phys.advance(s.now, s.done[:0])
		for i := range s.done {
			s.workEnded(&s.done[i])
		}
	case fromHeap:
		s.entry = s.heap.pop()
		s.planned(&s.entry)
	case fromNode:
		s.tellEnds()
	case fromRM:
		s.say(rm.Tick{})
		s.lookForLost()
	case fromLeftOut:
		s.keepAlive()
	case fromWheel:
		if s.beatOf < 0 { // from now on any node's heartbeat matters
			return
		}
		s.wheel.made(s.beatAt, s.beatOf)
		every := s.beat(s.wheel.order[s.beatOf])
		if s.pace != nil {
			s.pace.made(s.beatOf, every)
		}
	case nothingLeft:
	}
}

func (s *Sim) planned(e *entry) {
	switch e.what {
	case arrival:
		s.arrive(s.apps[e.id])
	case beat:
		if a := s.apps[e.id]; a.beatGen == e.gen {
			s.masterBeat(a)
		}
	case alarm:
		if a := s.apps[e.id]; a.alarmGen == e.gen && a.master != nil {
			a.master.Alarm(s.now, s.actions())
			s.perform(a)
		}
	case started:
		s.start(s.container(heddle.ContainerID(e.id)))
	case masterUp:
		s.masterUp(s.container(heddle.ContainerID(e.id)))
	case missed:
		if c := s.container(heddle.ContainerID(e.id)); c != nil {
			s.say(&rm.Started{Container: c.name, Failed: "its node does not answer"})
		}
	case leaving:
		if a := s.apps[e.id]; a.master != nil && a.attempts == int(e.gen) {
			s.unregistered(a)
		}
	case gone:
		if c := s.container(heddle.ContainerID(e.id)); c != nil {
			s.exit(c, heddle.Success)
		}
	case calms:
		s.hurry(heddle.NodeID(e.id))
	case fault:
		s.strike(&s.o.Faults[e.id], e.gen)
	case monitor:
		s.monitor()
		s.heap.push(entry{at: s.now.Plus(world.MonitorInterval), what: monitor})
	case progressed:
		s.taskReports(s.container(heddle.ContainerID(e.id)))
	case told:
		s.masterTold(s.apps[e.id])
	case looks:
		if a := &s.agents[e.id]; a.up && a.life == e.gen {
			s.find(heddle.NodeID(e.id))
		}
	case deeds:
		if a := &s.agents[e.id]; a.up && a.life == e.gen {
			s.act(heddle.NodeID(e.id))
		}
	case feed:
		s.feed(heddle.Span(e.id))
		s.heap.push(entry{at: s.now.Plus(heddle.Span(e.id)), what: feed, id: e.id})
	}
}
