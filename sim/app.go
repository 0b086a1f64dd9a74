package sim

import (
	"cmp"
	"math/rand/v2"
	"slices"

	"heddle"
	"heddle/internal/slab"
	"heddle/rm"
	"heddle/sim/apps"
	"heddle/sim/world"
	"heddle/workload"
	"heddle/yarn/ids"
)

// app is a job on its way through the cluster.
type app struct {
	id  int // of its job
	job *workload.Job

	name    ids.App
	aid     heddle.AppID           // the core's number for it; NoApp before it is admitted
	numbers [][]heddle.ContainerID // its containers, by attempt and by the number in their names
	attempt ids.Attempt            // of the running master
	lastID  int32                  // number of the last answer to its calls

	master    apps.Master // the running attempt's, nil between attempts
	masterAt  heddle.ContainerID
	attempts  int
	failures  int               // attempts that ended through their own fault
	lastExit  heddle.ExitStatus // of the last master
	memory    int64             // MiB of the last master
	cpu       int64             // milli-vcores of the last master
	leaving   apps.Finish       // what the master has decided but not said yet
	done      apps.Finish       // what the master said when it unregistered
	admitted  bool
	over      bool
	state     JobState
	why       string // why it did not succeed
	submitted heddle.Time
	end       heddle.Time

	lost     []heddle.NodeID // lost nodes that its master has not heard of
	excluded []heddle.NodeID // nodes its master wants nothing on
	beatGen  uint32
	alarmGen uint32
	parked   bool // no heartbeat is planned: it would change nothing
	beatAt   heddle.Time
	leftOut  heddle.Time // the last heartbeat that was left out; 0 = none
	interval heddle.Span // between heartbeats while nothing is going on

	procs      int // running processes
	managed    int // containers the running attempt has had
	inWorld    world.JobID
	first      heddle.Time // start of the first container other than a master; −1 before that
	mapsEnd    heddle.Time
	mapsLeft   int
	mapped     slab.Bits     // maps that have ended
	held       []end         // in the given world: ends of reduces that wait for maps
	launches   []heddle.Time // of reduces
	reduceHeld heddle.Span
	reduces    int
	bookings   map[heddle.ContainerID]heddle.Time
	reserved   heddle.Span
	localMaps  int // out of localised, as in Result
	localised  int
	finished   *apps.Done // what an earlier attempt completed

	succeeded   []rm.TaskNews    // tasks that succeeded, if masters are asked
	succeededAt map[rm.Task]int  // index into succeeded
	said        []*rm.MasterTold // by the master, and not heard yet

	placed bool            // it is known where the input of maps is
	hosts  []heddle.NodeID // of placed splits, replicas × task
	reps   int
}

// unregisterGrace is how long a master lives on after it has unregistered. A MapReduce master waits five seconds for
// late clients; a Spark master leaves at once.
const unregisterGrace = 5 * heddle.Second

// sparkInterval is the time between two calls of an idle Spark master: spark.yarn.scheduler.heartbeat.interval-ms.
const sparkInterval = 3 * heddle.Second

func newApp(s *Sim, id int, j *workload.Job) *app {
	a := &app{id: id, aid: heddle.NoApp, job: j, first: -1, mapsLeft: len(j.Maps)}
	a.place(s)
	return a
}

// idleBetween is how long after the end of a job the next one is submitted if jobs are kept apart.
const idleBetween = heddle.Minute

// submitNext plans the submission of the next job if jobs are kept apart and all earlier ones are over.
func (s *Sim) submitNext() {
	if s.o.Apart && s.alive > 0 {
		s.heap.push(entry{at: s.now.Plus(idleBetween), what: arrival, id: int64(len(s.apps) - s.alive)})
	}
}

func (s *Sim) arrive(a *app) {
	if s.o.Submit != nil {
		s.o.Submit(a.id)
	}
	a.submitted = s.now
	s.lives()
	j := a.job
	facts := heddle.Facts{
		Name: cmp.Or(j.Program, j.Name), Maps: int32(len(j.Maps)), Reduces: int32(len(j.Reduces)),
		Demand: apps.Demand(j),
	}
	if j.Framework == heddle.MapReduce { // its splits say how much it reads
		facts.InputBytes = j.InputBytes()
	}
	if s.o.NoAgents && j.Framework == heddle.MapReduce { // the heap of a real master is limited
		facts.MasterHeap = a.masterSize()[heddle.Memory]
	}
	if s.o.Set.Feeds.Splits {
		for i := range j.Maps {
			facts.Splits = append(facts.Splits, heddle.Split{Bytes: j.Maps[i].Input, Hosts: s.hostsOf(a, apps.Work{Kind: heddle.Map, Index: int32(i)})})
		}
	}
	answer, _ := s.ask(&rm.NewApp{User: userName(s.o.Users[a.id])})
	a.name = answer.(rm.NewAppID).ID
	s.jobs = append(s.jobs, a.id)
	if _, err := s.ask(&rm.SubmitApp{
		Who: rm.Person{User: userName(s.o.Users[a.id])}, Queue: queuePath(s.o.Set.Queues, s.o.Queues[a.id]),
		App: rm.Submission{
			ID: a.name, Name: facts.Name, Type: rm.TypeOf(j.Framework), Priority: &j.Priority, Master: a.masterSize(), Facts: facts,
		},
	}); err != nil { // the only possible error that depends on the job
		s.reject(a, heddle.TooLarge)
	}
}

// masterSize returns the size to ask for the master: the one the job states, or the default of its framework
// (yarn.app.mapreduce.am.resource.mb; for Spark, the driver or the client-mode master with its overhead).
func (a *app) masterSize() heddle.Resource {
	switch j := a.job; {
	case !j.Master.IsZero():
		return j.Master
	case j.Framework == heddle.MapReduce:
		return heddle.Of(1536, 1000)
	case j.Spark != nil && j.Spark.Client:
		return heddle.Of(896, 1000)
	case j.Spark != nil:
		return heddle.Of(1408, 1000)
	}
	return heddle.Of(1024, 1000)
}

// reject ends an application that was not accepted.
func (s *Sim) reject(a *app, why heddle.Why) {
	a.state, a.over, a.why = Rejected, true, rejection(why)
	s.ends(a)
	s.alive--
	s.submitNext()
}

// fail ends an application whose master cannot go on.
func (s *Sim) fail(a *app, why string) {
	if a.master != nil && a.done == apps.Running {
		a.leaving, a.why = apps.FinishedBadly, why
		s.unregistered(a)
	}
}

// closed handles the end of an application in the ResourceManager.
func (s *Sim) closed(a *app, why heddle.Why) {
	switch {
	case a.over:
		return
	case !a.admitted:
		s.reject(a, why)
		return
	case a.done == apps.Running:
		a.state, a.why = Failed, mastersFailed(max(a.failures, 1), a.lastExit)
		s.ends(a)
	}
	a.over, a.master = true, nil
	a.beatGen++
	a.alarmGen++
	s.alive--
	s.submitNext()
	s.endJob(a)
	s.lives()
}

// endJob releases a job once it is over and its last process has ended.
func (s *Sim) endJob(a *app) {
	if a.over && a.procs == 0 {
		s.phys.endJob(a)
	}
}

// ends records the end of a job.
func (s *Sim) ends(a *app) {
	a.end = s.now
	s.lastEnd = s.mark()
}

// masterUp handles the start of the master's process: it registers and begins to ask.
func (s *Sim) masterUp(c *container) {
	if c == nil || c.over || c.known || s.nodes[c.node].dead {
		return
	}
	a := c.app
	a.attempt, a.lastID = c.name.Attempt, 0
	if _, err := s.ask(&rm.RegisterMaster{Who: rm.Caller{Attempt: a.attempt}}); err != nil {
		return // too late
	}
	c.up, c.started = true, s.now
	a.procs++
	s.phys.manage(s.now, c, 0)
	s.m.running(heddle.AM, 1)
	a.attempts++
	a.memory, a.cpu = c.told[heddle.Memory], c.told[heddle.CPU]
	a.lost, a.excluded = nil, nil
	a.parked, a.leftOut, a.managed = false, 0, 0
	a.master = s.newMaster(a)
	a.master.Start(s.now, s.actions())
	s.perform(a)
}

func (s *Sim) newMaster(a *app) apps.Master {
	c := apps.Config{
		Rack:              s.racks,
		Hosts:             func(w apps.Work) []heddle.NodeID { return s.hostsOf(a, w) },
		Cached:            s.phys.cached(a),
		Submitted:         a.submitted,
		StartUp:           a.job.StartUp,
		HeartbeatInterval: s.o.MasterBeat,
		MasterAttempt:     int32(a.attempts - 1),
		CountCPU:          !s.o.Set.MemoryOnly,
		AllReducesAtOnce:  s.o.SlotMaster,
		Done:              a.finished,
		Progress:          s.progressOf,
		Rand:              rand.New(rand.NewPCG(s.o.Seed, uint64(a.id)<<8|uint64(a.attempts))),
	}
	a.interval = orSpan(s.o.MasterBeat, heddle.Second)
	switch {
	case s.o.LoadSim || a.job.Framework == heddle.Plain:
		return apps.NewLoadSimulator(a.job, c)
	case a.job.Spark != nil:
		a.interval = sparkInterval
		return apps.NewSpark(a.job, c)
	}
	return apps.NewMapReduce(a.job, c)
}

// progressOf returns the progress of a piece of work, for a master that has to choose.
func (s *Sim) progressOf(w apps.Work) float64 {
	c := s.container(w.Container)
	if c == nil || !c.up || c.over {
		return 0
	}
	_, f := s.phys.progress(s.now, c)
	return f
}

// wake plans the next heartbeat of a parked master, on the grid its heartbeats would have had.
func (s *Sim) wake(a *app) {
	if !a.parked || a.master == nil {
		return
	}
	next := a.beatAt
	if late := s.now.Since(next); late > 0 {
		next = next.Plus((late + a.interval - 1) / a.interval * a.interval)
	}
	if next == s.now && s.beatPassed(a) {
		next = next.Plus(a.interval)
	}
	s.planBeat(a, next)
}

// beatPassed reports whether a heartbeat of the master at this instant would have come before the current event.
func (s *Sim) beatPassed(a *app) bool {
	switch s.from {
	case fromWorld:
		return false
	case fromHeap, fromNode:
		return s.called.at == s.now && s.called.app >= a.id
	default:
		return true
	}
}

func (s *Sim) planBeat(a *app, at heddle.Time) {
	if a.parked && at > a.beatAt {
		a.leftOut = at - heddle.Time(a.interval)
	}
	a.parked = false
	a.beatGen++
	a.beatAt = at
	s.heap.push(entry{at: at, what: beat, gen: a.beatGen, id: int64(a.id)})
}

// actions returns the buffer for a master's actions, cleared.
func (s *Sim) actions() *apps.Actions {
	s.out.Reset()
	return &s.out
}

// perform carries out a master's actions.
func (s *Sim) perform(a *app) {
	out := s.out
	s.out = apps.Actions{}
	for _, w := range out.Work {
		if c := s.container(w.Container); c != nil && !c.over {
			if c.index < 0 {
				c.index = w.Index
			}
			if c.up {
				s.phys.run(s.now, c, w)
			} else {
				c.work, c.hasWork = w, true
			}
		}
	}
	for _, id := range out.Launch {
		if c := s.container(id); c != nil && !c.over {
			s.begin(c)
		}
	}
	for _, id := range out.Stop {
		if c := s.container(id); c != nil {
			s.exit(c, heddle.KilledByMaster)
		}
	}
	if out.Alarm > 0 {
		a.alarmGen++
		s.heap.push(entry{at: max(out.Alarm, s.now), what: alarm, gen: a.alarmGen, id: int64(a.id)})
	}
	if out.Beat > 0 {
		s.planBeat(a, out.Beat)
	}
	if out.Finish != apps.Running && a.done == apps.Running {
		a.leaving, a.why = out.Finish, out.Why
		if !s.phys.leave(s.now, a, entry{what: leaving, gen: uint32(a.attempts), id: int64(a.id)}) {
			s.unregistered(a)
		}
	}
	s.out = out
}

// begin begins to start a container's process.
func (s *Sim) begin(c *container) {
	s.takes(c)
	if s.phys.launch(s.now, c) {
		return
	}
	delay := s.phys.launchDelay()
	if delay == 0 {
		s.start(c)
		return
	}
	s.begins(c, s.now.Plus(delay))
}

// begins plans the time from which a container's process runs.
func (s *Sim) begins(c *container, at heddle.Time) {
	e := c.begins()
	e.at = at
	s.heap.push(e)
}

// begins returns the entry for the moment a container's process runs, without its time.
func (c *container) begins() entry {
	e := entry{what: started, id: int64(c.id)}
	if c.kind == heddle.AM {
		e.what = masterUp
	}
	return e
}

// unregistered handles the master's report of how its application ended. The master leaves soon after.
func (s *Sim) unregistered(a *app) {
	a.done = a.leaving
	s.ends(a)
	a.state = Succeeded
	final := rm.Succeeded
	if a.done == apps.FinishedBadly {
		a.state, final = Failed, rm.Failed
	}
	s.say(&rm.FinishMaster{Who: rm.Caller{Attempt: a.attempt}, Final: final, Diagnostics: a.why})
	a.parked = false // it makes no more calls
	a.beatGen++
	a.alarmGen++
	s.heap.push(entry{at: s.now.Plus(s.phys.linger(a)), what: gone, id: int64(a.masterAt)})
}

// masterDied handles the end of the master's process: it neither says nor hears anything any more. What it completed is
// on record for the next attempt, except for map output on nodes whose loss it had not heard of yet.
func (s *Sim) masterDied(a *app) {
	if r, ok := a.master.(apps.Recoverer); ok && a.done == apps.Running {
		a.finished = r.Done()
		for _, n := range a.lost {
			a.loseOutput(n)
		}
	}
	s.wake(a) // this determines which call was left out last
	if a.leftOut > 0 {
		out := &rm.LeftOut{Masters: []ids.Attempt{a.attempt}, Last: a.leftOut}
		s.later(func() { s.say(out) })
	}
	a.master = nil
	a.beatGen++
	a.alarmGen++
}

// loseOutput removes from the record the maps whose output was on a node.
func (a *app) loseOutput(n heddle.NodeID) {
	if a.finished != nil {
		a.finished.Maps = slices.DeleteFunc(a.finished.Maps, func(d apps.DoneTask) bool { return d.Node == n })
	}
}

// masterGone handles the ResourceManager hearing of the master's end: the application is over, or gets another attempt.
// Attempts that were preempted or lost with their node do not count against it.
func (s *Sim) masterGone(a *app, status heddle.ExitStatus) {
	if a.over || a.done != apps.Running {
		return
	}
	s.res.FailedAttempts++
	a.lastExit = status
	switch status {
	case heddle.Aborted, heddle.DisksFailed, heddle.Preempted, heddle.KilledByRM:
	default:
		a.failures++
	}
}
