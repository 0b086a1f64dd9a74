package apps

import (
	"fmt"
	"slices"

	"heddle"
	"heddle/workload"
)

// Spark's own intervals and limits, named after their settings.
const (
	sparkHeartbeat       = 3 * heddle.Second        // spark.yarn.scheduler.heartbeat.interval-ms
	sparkFirstAllocation = 200 * heddle.Millisecond // spark.yarn.scheduler.initial-allocation.interval
	sparkFirstAsk        = 200 * heddle.Millisecond // from registering to the first allocate call, as measured
	sparkReporterStart   = 20 * heddle.Millisecond  // from the first to the second call: the reporter thread starts
	sparkRegisteredWait  = 30 * heddle.Second       // spark.scheduler.maxRegisteredResourcesWaitingTime
	sparkRevive          = heddle.Second            // spark.scheduler.revive.interval
	sparkLocalityWait    = 3 * heddle.Second        // spark.locality.wait
	sparkExecutors       = 2                        // spark.executor.instances
	sparkPriority        = 0                        // the default resource profile's id
)

// An executor is a container from its launch until the ResourceManager says it has ended.
type executor struct {
	id       heddle.ContainerID
	node     heddle.NodeID
	free     int // slots
	running  []taskID
	up       bool
	removing bool // given back because it was idle
	caches   bool // holds blocks of a stage that caches
	shuffles bool // holds shuffle files, if nodes have no service for them
	idle     heddle.Time
}

type taskID struct{ stage, index int32 }

type spark struct {
	c   Config
	job *workload.SparkJob

	// What the master asks for.
	table    table
	want     want
	requests []request
	hints    placement // where requests should go
	target   int
	launched int                   // containers launched that have neither ended nor been given back
	nodes    map[heddle.NodeID]int // likewise, by node
	release  []heddle.ContainerID
	calls    int
	lastCall heddle.Time
	nextCall heddle.Time
	interval heddle.Span
	failures int // executors that failed through the application's fault
	maxFail  int
	over     Finish
	why      string // why it finished badly

	// The driver.
	executors  map[heddle.ContainerID]*executor
	alive      []*executor // registered, in order of registration
	slots      int         // per executor
	free       int         // slots of all executors
	registered heddle.Time // when the master registered with the ResourceManager
	deadline   heddle.Time // when tasks are scheduled regardless of how many executors have registered
	expected   int         // executors that must have registered for tasks to be scheduled earlier
	ready      bool
	stages     []stage
	active     []int32 // submitted stages with tasks to launch, in order
	stagesLeft int
	resume     heddle.Time // when the first pause before a stage ends; 0 = there is none
	tasksLeft  int         // tasks launched or to launch, of submitted stages
	pending    int         // of those, the ones to launch
	offered    []*executor
	dynamic    *dynamic
	wishes     placement // of the current stages, for the next change of the target
	alarm      heddle.Time
}

// NewSpark returns a master that behaves like Spark 3.5's ApplicationMaster on YARN with its driver. It asks for
// executors at priority 0, with calls 0.2, 0.4, 0.8 … 3 s apart while requests are pending and every 3 s otherwise.
// Registered executors run one task per core. Tasks start when 0.8 of the executors have registered, or after 30 s.
// Stages run when their parents are done and the driver has paused, and place their tasks by locality with waits of 3 s.
// Failed executors are replaced; dynamic allocation adds and removes executors. When the last stage is done, the master
// makes one more call and unregisters. With the driver outside the cluster, the only difference is when the 30 s begin.
//
// Executors hold shuffle output themselves without dynamic allocation, or with it if nodes have no shuffle service and
// executors stay instead. Losing such an executor makes the tasks whose output it held run again as long as a stage
// that needs them is not done. That stage's own tasks wait in the meantime, while those already running go on. The real
// driver finds out through failed fetches and runs part of that stage again. Lost cached blocks are recreated in the
// same way, not inside the tasks that read them.
//
// Not modelled: speculation, excluded executors and nodes, preferred places of reduce-side tasks, barrier stages, more
// than one resource profile, decommissioning. A parent that is unknown or comes later in the list of stages is ignored.
// Removing idle executors and lowering the target happen at once, while the real manager checks every 0.1 s. A
// container that is too small is given back and asked for again, while the real master's heartbeat fails.
func NewSpark(job *workload.Job, c Config) Master {
	sj := job.Spark
	if sj == nil {
		sj = &workload.SparkJob{}
	}
	m := &spark{
		c: c.filled(), job: sj, interval: sparkFirstAllocation,
		nodes: map[heddle.NodeID]int{}, executors: map[heddle.ContainerID]*executor{},
	}
	m.want = want{priority: sparkPriority, kind: heddle.Executor, size: sj.ExecutorSize()}
	m.slots = sj.Slots()
	most := sj.Executors
	if most <= 0 {
		most = sparkExecutors
	}
	m.target = most
	if sj.Dynamic != nil {
		m.dynamic = newDynamic(sj)
		m.target, most = m.dynamic.initial, m.dynamic.max
	}
	m.maxFail = max(3, 2*most)
	m.expected = (m.target*8 + 9) / 10
	m.buildStages()
	if m.c.PreferInput && m.dynamic == nil {
		m.hints = m.countWishes(func(s *stage) bool { return len(s.parents) == 0 })
	}
	return m
}

func (m *spark) Start(now heddle.Time, out *Actions) {
	m.registered = now.Plus(m.c.StartUp)
	m.deadline = m.registered.Plus(sparkRegisteredWait)
	if m.job.Client {
		m.deadline = max(m.registered, m.c.Submitted.Plus(sparkRegisteredWait))
	}
	if m.expected == 0 {
		m.deadline = m.registered
	}
	m.call(m.registered.Plus(sparkFirstAsk), out)
	m.arm(m.deadline, out)
}

// call sets the time of the next allocate call.
func (m *spark) call(at heddle.Time, out *Actions) { m.nextCall, out.Beat = at, at }

// wake makes the reporter call soon, because the driver wants something new.
func (m *spark) wake(now heddle.Time, out *Actions) {
	m.interval = sparkFirstAllocation
	if m.calls == 0 {
		return
	}
	m.catchUp(now)
	m.call(min(m.nextCall, max(now, m.lastCall.Plus(sparkFirstAllocation))), out)
}

// catchUp accounts for calls that were left out because the master was idle.
func (m *spark) catchUp(now heddle.Time) {
	if now > m.nextCall {
		m.nextCall = onGrid(m.nextCall, now, sparkHeartbeat)
		m.lastCall = m.nextCall.Plus(-sparkHeartbeat)
	}
}

// Idle implements [Idler]: the requests match what is wanted, and calls are at their longest interval.
func (m *spark) Idle() bool {
	steady := len(m.requests) == 0 || m.interval > sparkHeartbeat
	missing := m.target - len(m.requests) - m.launched
	return m.over == Running && m.calls > 1 && m.failures < m.maxFail && steady && m.table.flushed() &&
		len(m.release) == 0 && (missing == 0 || (missing < 0 && len(m.requests) == 0))
}

func (m *spark) Call(now heddle.Time, out *Actions) {
	if m.over == Running && m.failures >= m.maxFail {
		m.over, m.why = FinishedBadly, fmt.Sprintf("%d of its executors failed", m.failures)
	}
	if m.over != Running {
		out.Finish, out.Why = m.over, m.why
		return
	}
	m.calls++
	m.lastCall = now
	m.request()
	out.Rows = m.table.flush(out.Rows)
	out.Release = append(out.Release, m.release...)
	m.release = m.release[:0]
}

func (m *spark) Answer(now heddle.Time, in *Response, out *Actions) {
	m.granted(in.Granted, out)
	if m.dynamic != nil {
		for _, n := range in.LostNodes {
			m.outputLost(now, func(_ *stage, t *sparkTask) bool { return t.node == n })
		}
	}
	for _, c := range in.Completed {
		m.completed(now, c)
	}
	m.call(now.Plus(m.pause()), out)
	if len(in.Completed)+len(in.LostNodes) > 0 {
		m.offerAll(now, out)
	}
	m.settle(now, out)
}

// pause returns how long the reporter sleeps after a call.
func (m *spark) pause() heddle.Span {
	switch {
	case m.calls == 1:
		return sparkReporterStart
	case len(m.requests) == 0:
		m.interval = sparkFirstAllocation
		return sparkHeartbeat
	}
	p := min(m.interval, sparkHeartbeat)
	m.interval = 2 * p
	return p
}

func (m *spark) Up(now heddle.Time, c heddle.ContainerID, out *Actions) {
	e := m.executors[c]
	if e == nil || e.up || m.over != Running {
		return
	}
	e.up, e.idle = true, now
	m.alive = append(m.alive, e)
	e.free = m.slots
	m.free += m.slots
	m.levelsGained(e)
	if m.dynamic != nil {
		m.dynamic.idleFrom(e)
	}
	if m.ready {
		m.offer(now, append(m.offered[:0], e), false, out)
	}
	m.settle(now, out)
}

func (m *spark) WorkDone(now heddle.Time, w Work, ok bool, out *Actions) {
	if m.over != Running || w.Stage < 0 || int(w.Stage) >= len(m.stages) {
		return
	}
	s := &m.stages[w.Stage]
	if w.Index < 0 || int(w.Index) >= len(s.tasks) {
		return
	}
	t := &s.tasks[w.Index]
	if t.state != running || t.container != w.Container || t.attempt != w.Attempt {
		return
	}
	e := m.executors[w.Container]
	m.slotFreed(now, e, taskID{w.Stage, w.Index})
	if ok {
		m.taskDone(now, s, t, e)
	} else {
		m.taskFailed(now, taskID{w.Stage, w.Index}, true)
	}
	switch {
	case m.over != Running:
	case ok && s.done < len(s.tasks):
		m.offer(now, append(m.offered[:0], e), false, out)
	default:
		m.offerAll(now, out)
	}
	m.settle(now, out)
}

func (m *spark) Alarm(now heddle.Time, out *Actions) {
	m.alarm = 0
	if m.over != Running {
		return
	}
	if m.ready {
		m.offerAll(now, out)
	}
	m.settle(now, out)
}

// settle does what follows from the outcome of a call, at its end: it starts the stages once there are enough
// executors and after the driver's pauses, adjusts the number of executors, and requests the next alarm.
func (m *spark) settle(now heddle.Time, out *Actions) {
	starts := !m.ready && now >= m.registered && (now >= m.deadline || len(m.alive) >= m.expected)
	if starts || m.resume != 0 && now >= m.resume {
		m.ready = true
		m.submitStages(now)
		m.offerAll(now, out)
	}
	if m.over != Running {
		m.call(now, out)
		return
	}
	if m.dynamic != nil {
		m.adjust(now, out)
		if len(m.release) > 0 {
			m.catchUp(now)
			m.call(m.nextCall, out)
		}
		m.arm(m.dynamic.next(now), out)
	}
	if !m.ready {
		m.arm(m.deadline, out)
		return
	}
	m.arm(m.resume, out)
	if m.free > 0 && m.pending > 0 {
		// Spark offers everything again once a second. By then, only a longer wait for locality can have changed
		// anything.
		ticks := now.Since(m.registered)/sparkRevive + 1
		m.arm(m.registered.Plus(ticks*sparkRevive), out)
	}
}

// arm requests an alarm unless an earlier one is outstanding.
func (m *spark) arm(at heddle.Time, out *Actions) {
	if at > 0 && (m.alarm == 0 || at < m.alarm) {
		m.alarm, out.Alarm = at, at
	}
}

// completed handles an executor's end.
func (m *spark) completed(now heddle.Time, c Completed) {
	e := m.executors[c.Container]
	if e == nil {
		return
	}
	byApp := failedByApplication(c.Status) && !e.removing
	if byApp {
		m.failures++
	}
	delete(m.executors, c.Container)
	if !e.removing {
		m.gone(e)
	}
	if e.up {
		m.alive = slices.DeleteFunc(m.alive, func(o *executor) bool { return o == e })
		m.free -= e.free
		m.levelsLost()
	}
	for len(e.running) > 0 {
		id := e.running[len(e.running)-1]
		e.running = e.running[:len(e.running)-1]
		m.taskFailed(now, id, byApp)
	}
	if m.dynamic == nil || m.dynamic.tracks {
		m.outputLost(now, func(_ *stage, t *sparkTask) bool { return t.container == e.id })
	} else if e.caches {
		m.outputLost(now, func(s *stage, t *sparkTask) bool { return s.def.Caches && t.container == e.id })
	}
}

// gone removes an executor from the counts of existing ones.
func (m *spark) gone(e *executor) {
	m.launched--
	if m.nodes[e.node]--; m.nodes[e.node] == 0 {
		delete(m.nodes, e.node)
	}
}

// failedByApplication reports whether a container's end counts against the application.
func failedByApplication(s heddle.ExitStatus) bool {
	switch s {
	case heddle.Success, heddle.Preempted, heddle.Aborted, heddle.DisksFailed,
		heddle.KilledByMaster, heddle.KilledByRM, heddle.KilledAfterCompletion:
		return false
	default:
		return true
	}
}
