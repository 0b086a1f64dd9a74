// Package sim is the simulated cluster: a discrete-event loop around the real scheduler core, with
// ApplicationMasters that ask as the real ones do and a world in which work takes the time it takes.
//
// It holds no policy. Nodes report at a fixed interval here, and nothing is offered between reports for an ask:
// the daemon does otherwise in both.
package sim

import (
	"errors"
	"fmt"
	"math/rand/v2"

	"heddle"
	"heddle/policy"
	"heddle/sched"
	"heddle/sim/apps"
	"heddle/sim/world"
	"heddle/workload"
)

// Options are one run.
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

	Given      bool        // the given world: every container lasts what the trace says
	LoadSim    bool        // masters behave as those of Hadoop's Scheduler Load Simulator
	SlotMaster bool        // MapReduce masters ask for all reduces at once
	NoFacts    bool        // of a job nothing but its name is known when it is submitted, as to a ResourceManager
	NodeBeat   heddle.Span // 0 = 1 s
	PromptEnds bool        // nodes report the end of a container at once, as NodeManagers do, and not at their next beat
	MasterBeat heddle.Span // of MapReduce masters; 0 = 1 s
	Attempts   int         // masters an application may have; 0 = 2
	Expiry     heddle.Span // silence after which a node counts as lost; 0 = 600 s
	MaxTime    heddle.Time // end the run then; 0 = when all jobs are done

	// Costs, of the given world, are what starts and ends of processes take; nil = nothing. Parts says what tasks
	// consist of, by job, and Loads what else the machines do.
	Costs *Costs
	Parts []JobParts
	Loads []Load

	CountCPU bool // every profile compared counts processors: see [Bounds]

	KeepTasks bool
	Trace     bool // keep predictions and what tasks were given and used
	EveryBeat bool // simulate every heartbeat, also those that can change nothing
	Check     bool // recount the whole state after every step

	// Report is told how far the run is, now and then; Stop is asked whether to end early.
	Report func(Progress)
	Stop   func() bool
}

// Progress is how far a run is.
type Progress struct {
	Now    heddle.Time
	Events int64
	Jobs   int // done
}

// A Sim is a run in progress.
type Sim struct {
	o     Options
	core  *sched.Core
	phys  physics
	heap  heap
	wheel *wheel
	rng   *rand.Rand // of faults
	now   heddle.Time
	from  source // of what is happening
	entry entry  // where that is the heap

	nodes []nodeState
	racks []heddle.RackID
	apps  []*app
	conts pages
	todo  []func()

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
	none     bitset
	byName   map[string]heddle.NodeID
	failRate float64
	out      apps.Actions
	ended    []ended
}

// nodeState is what a node has to tell at its next beat.
type nodeState struct {
	starts []heddle.ContainerID
	exits  []exit
	silent bool // its beats do not arrive
	dead   bool // its processes are gone
	lost   bool // given up by the ResourceManager
	downAt heddle.Time
}

type exit struct {
	c      heddle.ContainerID
	status heddle.ExitStatus
}

const (
	// stall is how long masters and nodes may only talk, with no work running and nothing planned,
	// before the run ends: what is left waits for something that never comes.
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
	s := &Sim{o: o, core: sched.New(o.Set), alive: len(jobs), rng: rand.New(rand.NewPCG(o.Seed, 0xfa))}
	s.wheel = newWheel(len(o.Nodes), o.NodeBeat, rand.New(rand.NewPCG(o.Seed, 0xbea7)))
	s.none = newBitset(len(o.Nodes))
	s.nodes = make([]nodeState, len(o.Nodes))
	if o.Trace {
		s.tracer = newTracer(&s.o)
	}
	s.res = &Result{Profile: o.Profile, Seed: o.Seed, World: "full"}
	for i := range jobs {
		s.apps = append(s.apps, newApp(s, heddle.AppID(i), &jobs[i]))
		s.heap.push(entry{at: jobs[i].Submit, what: arrival, id: int64(i)})
	}
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
		s.nodeUp(heddle.NodeID(i))
	}
	if err := s.plan(o.Faults); err != nil {
		return nil, err
	}
	for i, f := range []heddle.Span{o.Set.Feeds.Progress, o.Set.Feeds.Profile} {
		if f > 0 && (i == 0 || f != o.Set.Feeds.Progress) {
			s.heap.push(entry{at: heddle.Time(f), what: feed, id: int64(f)})
		}
	}
	return s, nil
}

func orSpan(v, d heddle.Span) heddle.Span {
	if v == 0 {
		return d
	}
	return v
}

// loop takes the earliest of what may happen next until every job is done. At one instant work ends
// first, then what was planned, then controllers wake, then nodes beat.
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
		s.happen(what)
		for len(s.todo) > 0 {
			f := s.todo[0]
			s.todo = s.todo[1:]
			f()
		}
		if s.events++; s.events%reportEvery == 0 && s.interrupted() {
			s.res.Cut = true
			return
		}
	}
}

// stalls reports whether only talk has been going on for too long by a time.
func (s *Sim) stalls(at heddle.Time) bool {
	if at.Since(s.progress.at) <= stall || s.heap.sure > 0 {
		return false
	}
	_, working := s.phys.next()
	return !working
}

// lives notes a sign of life.
func (s *Sim) lives() { s.progress = mark{s.now, s.m.memory} }

func (s *Sim) interrupted() bool {
	if s.o.Report != nil {
		s.o.Report(Progress{Now: s.now, Events: s.events, Jobs: len(s.apps) - s.alive})
	}
	return s.o.Stop != nil && s.o.Stop()
}

// source is where the next thing comes from.
type source uint8

const (
	nothingLeft source = iota
	fromWorld
	fromHeap
	fromCore
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
	if at, ok := s.core.Deadline(); ok && (what == nothingLeft || at < best) {
		best, what = max(at, s.now), fromCore
	}
	if at, _, ok := s.nextBeat(); ok && (what == nothingLeft || at < best) {
		best, what = at, fromWheel
	}
	return best, what
}

// nextBeat is the next heartbeat that can matter: of a node with something to report, of one with room
// while somebody waits, or of any at the time a policy's own arithmetic is due.
func (s *Sim) nextBeat() (heddle.Time, int32, bool) {
	w := s.wheel
	if s.o.EveryBeat {
		return w.next(s.now, w.up, s.none)
	}
	who := w.roomy
	switch {
	case s.core.Quiet():
		who = s.none
	case s.core.AnyNode():
		who = w.up
	}
	at, rank, ok := w.next(s.now, w.reports, who)
	if tick, due := s.core.NextTick(); due {
		if t, r, k := w.next(max(tick, s.now), w.up, s.none); k && (!ok || t < at) {
			return t, r, k
		}
	}
	return at, rank, ok
}

func (s *Sim) happen(what source) {
	s.from = what
	switch what {
	case fromWorld:
		s.ended = s.phys.advance(s.now, s.ended[:0])
		for i := range s.ended {
			s.workEnded(&s.ended[i])
		}
	case fromHeap:
		s.entry = s.heap.pop()
		s.planned(&s.entry)
	case fromCore:
		s.step(heddle.Wake{})
	case fromWheel:
		at, rank, _ := s.nextBeat()
		s.wheel.made(at, rank)
		s.beat(s.wheel.order[rank])
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
	case leaving:
		if a := s.apps[e.id]; a.master != nil && a.attempts == int(e.gen) {
			s.unregistered(a)
		}
	case gone:
		if c := s.container(heddle.ContainerID(e.id)); c != nil {
			s.exit(c, heddle.Success)
		}
	case report:
		if n := &s.nodes[e.id]; len(n.exits) > 0 && !n.silent {
			s.beat(heddle.NodeID(e.id))
		}
	case fault:
		s.strike(&s.o.Faults[e.id], e.gen)
	case feed:
		s.feed(heddle.Span(e.id))
		s.heap.push(entry{at: s.now.Plus(heddle.Span(e.id)), what: feed, id: e.id})
	}
}

// beat is a node's heartbeat: what it has to report, then its room.
func (s *Sim) beat(id heddle.NodeID) {
	n := &s.nodes[id]
	for _, c := range n.starts {
		s.step(heddle.Started{Container: c})
	}
	n.starts = n.starts[:0]
	for i := 0; i < len(n.exits); i++ { //nolint:intrange // what is decided meanwhile may end more
		x := n.exits[i]
		c := s.container(x.c)
		if c == nil {
			continue
		}
		s.step(heddle.Exit{Container: x.c, Status: x.status})
		s.exitKnown(c, x.status)
	}
	n.exits = n.exits[:0]
	s.wheel.reports.set(s.wheel.rank[id], false)
	s.step(heddle.Heartbeat{Node: id})
	s.room(id)
}

// step gives the core one event and carries its decisions out.
func (s *Sim) step(ev heddle.Event) {
	for _, d := range s.core.Step(s.now, ev) {
		s.carryOut(d)
	}
	if s.o.Check {
		s.checked++
		if broken := s.core.Check(); len(broken) > 0 && s.err == nil {
			s.err = fmt.Errorf("at %.3f s, after %T: %v", s.now.Seconds(), ev, broken)
		}
	}
}

// room brings the wheel's idea of a node up to date.
func (s *Sim) room(id heddle.NodeID) {
	n := s.core.View().Node(id)
	least := s.o.Set.Minimum
	if least.IsZero() {
		least = heddle.Of(1, 0)
	}
	up := n.Up() && !s.nodes[id].silent
	r := s.wheel.rank[id]
	s.wheel.up.set(r, up)
	s.wheel.roomy.set(r, up && (n.Booked() != nil || n.Lends() || s.core.View().Fits(least, n.Free())))
}
