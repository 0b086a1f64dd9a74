package apps

import (
	"heddle"
	"heddle/internal/slab"
	"heddle/workload"
)

// The priorities at which MRAppMaster asks.
const (
	priorityFastFail int32 = 5 // a map that failed or was lost and runs again
	priorityReduce   int32 = 10
	priorityMap      int32 = 20
)

// attemptsPerMaster is the distance between the attempt numbers of two masters of one job.
const attemptsPerMaster = 1000

// A Recoverer is a master whose finished work its next attempt does not have to repeat.
type Recoverer interface {
	// Done returns what is finished so far, for [Config].Done of the next master.
	Done() *Done
}

// Done is the finished work of a MapReduce job.
type Done struct {
	Maps    []DoneTask // ordered by index
	Reduces []DoneTask
}

// A DoneTask is a finished task and the node it ran on, which holds the output if it was a map.
type DoneTask struct {
	Index int32
	Node  heddle.NodeID
}

type taskState uint8

const (
	waiting   taskState = iota // not asked for
	scheduled                  // asked for
	running                    // has a container
	finished
)

// A task is a map or a reduce of a MapReduce job.
type task struct {
	asked     heddle.Time
	container heddle.ContainerID // while it is running
	node      heddle.NodeID      // where it runs or ran
	attempt   int32              // the current or next one
	failures  int32
	state     taskState
	fastFail  bool // asked for as a re-run
}

// A ref names one attempt of a task. Once the task has moved on to another attempt, the ref is stale.
type ref struct{ index, attempt int32 }

// A holding says what a container is used for, from its assignment until the ResourceManager says it ended. The zero
// holding is none.
type holding struct {
	number    int32 // of the task within its kind, from 1 on
	kind      heddle.Kind
	preempted bool
}

type mapReduce struct {
	c     Config
	table table

	maps, reduces      []task
	mapWant, fastWant  want
	reduceWant         want
	doneMaps, doneReds int
	slowStart          int // maps that must be done before the first reduce is asked for
	over               Finish
	why                string // why it finished badly
	reduceStarted      bool
	recalculate        bool
	lastDone           int
	headroom           heddle.Resource
	release            []heddle.ContainerID
	held               slab.Index[holding] // by heddle.ContainerID
	heldMaps, heldReds int
	preempting         int // containers of preempted reduces that have not ended yet
	order              fifo[ref]
	failed             fifo[ref] // asked for at priorityFastFail
	byHost             map[heddle.NodeID]*fifo[ref]
	byRack             map[heddle.RackID]*fifo[ref]
	scheduledMaps      int
	pending, wanted    fifo[int32] // reduces not asked for yet, and those asked for
	grants             []*Grant    // scratch space of assign
	racks              []heddle.RackID
	excluded           exclusions
	next               heddle.Time // when the next heartbeat is due
}

// NewMapReduce returns a master that behaves like Hadoop's MRAppMaster: it makes one allocate call a second, starting
// one second after registering; asks for maps at once at priority 20 with their hosts and racks, for re-runs at 5 and
// for reduces at 10 anywhere; has slow start, ramp-up and ramp-down of reduces by headroom; kills reduces when maps
// starve; and gives received containers to tasks by host, then rack, then any. It is a [Recoverer].
//
// A job with reduces is over when all of them are done, one without when its maps are. The master unregisters at its
// next heartbeat, while the real one commits the job and unregisters from a separate thread. An attempt that is killed
// is asked for again at once, while the real master first waits for its process to end. When a container goes to a map
// asked for at another priority than the container's, the container's row is sent again; the real master does not do so
// and may wait for ever. Not modelled: speculative attempts, opportunistic containers, limits on concurrent tasks, lost
// output found through failed fetches before the ResourceManager reports the node, and the host rows of excluded nodes
// (the ResourceManager refuses those nodes by itself).
func NewMapReduce(job *workload.Job, c Config) Master {
	c = c.filled()
	m := &mapReduce{
		c:    c,
		maps: make([]task, len(job.Maps)), reduces: make([]task, len(job.Reduces)),
		byHost: map[heddle.NodeID]*fifo[ref]{}, byRack: map[heddle.RackID]*fifo[ref]{},
	}
	mapSize, reduceSize := firstSize(job.Maps, c.MapSize), firstSize(job.Reduces, c.ReduceSize)
	m.mapWant = want{priorityMap, 0, heddle.Map, mapSize}
	m.fastWant = want{priorityFastFail, 0, heddle.Map, mapSize}
	m.reduceWant = want{priorityReduce, 0, heddle.Reduce, reduceSize}
	slowStart := job.SlowStart
	if slowStart < 0 {
		slowStart = c.SlowStart
	}
	m.slowStart = slowStartMaps(slowStart, len(m.maps))
	for i := range m.maps {
		m.maps[i].attempt = c.MasterAttempt * attemptsPerMaster
	}
	for i := range m.reduces {
		m.reduces[i].attempt = c.MasterAttempt * attemptsPerMaster
	}
	if c.Done != nil {
		m.doneMaps = recoverTasks(m.maps, c.Done.Maps)
		m.doneReds = recoverTasks(m.reduces, c.Done.Reduces)
	}
	return m
}

// firstSize returns the size with which all tasks of a kind are asked for: that of the first one, since a priority has
// one size.
func firstSize(tasks []workload.Task, otherwise heddle.Resource) heddle.Resource {
	if len(tasks) > 0 && !tasks[0].Size.IsZero() {
		return tasks[0].Size
	}
	return otherwise
}

// recoverTasks marks what is done and returns how many tasks that is.
func recoverTasks(tasks []task, done []DoneTask) int {
	n := 0
	for _, d := range done {
		if d.Index < 0 || int(d.Index) >= len(tasks) || tasks[d.Index].state == finished {
			continue
		}
		tasks[d.Index].state, tasks[d.Index].node = finished, d.Node
		n++
	}
	return n
}

func (m *mapReduce) Start(now heddle.Time, out *Actions) {
	at := now.Plus(m.c.StartUp)
	for i := range m.maps {
		if m.maps[i].state != finished {
			m.askMap(int32(i), at, false)
		}
	}
	for i := range m.reduces {
		if m.reduces[i].state != finished {
			m.wantReduce(int32(i), at, false)
		}
	}
	m.checkOver()
	m.next = at.Plus(m.c.HeartbeatInterval)
	out.Beat = m.next
}

func (m *mapReduce) Call(now heddle.Time, out *Actions) {
	if m.over != Running {
		out.Finish, out.Why = m.over, m.why
		return
	}
	m.next = now.Plus(m.c.HeartbeatInterval)
	out.Beat = m.next
	out.Rows = m.table.flush(out.Rows)
	out.Release = append(out.Release, m.release...)
	m.release = m.release[:0]
	m.excluded.flush(out)
}

func (m *mapReduce) Answer(now heddle.Time, in *Response, out *Actions) {
	if in.Headroom != m.headroom || len(in.Granted)+len(in.Completed) > 0 {
		m.headroom = in.Headroom
		m.recalculate = true
	}
	m.excluded.count(in.Nodes)
	for _, n := range in.LostNodes {
		m.nodeLost(now, n)
	}
	for _, c := range in.Completed {
		m.completed(now, c)
	}
	if len(in.Granted) > 0 {
		m.assign(in.Granted, out)
	}
	if m.over == Running {
		m.schedule(now, out)
	}
}

// Up does nothing: a task's process reports through its work.
func (m *mapReduce) Up(heddle.Time, heddle.ContainerID, *Actions) {}

// Alarm is never requested.
func (m *mapReduce) Alarm(heddle.Time, *Actions) {}

func (m *mapReduce) WorkDone(now heddle.Time, w Work, ok bool, out *Actions) {
	tasks := m.tasks(w.Kind)
	if w.Index < 0 || int(w.Index) >= len(tasks) {
		return
	}
	t := &tasks[w.Index]
	if t.state != running || t.container != w.Container || t.attempt != w.Attempt {
		return // of an attempt that has been given up in the meantime
	}
	idle := m.Idle()
	m.workDone(now, w, t, ok)
	if idle && !m.Idle() {
		out.Beat = onGrid(m.next, now, m.c.HeartbeatInterval)
	}
}

func (m *mapReduce) workDone(now heddle.Time, w Work, t *task, ok bool) {
	if !ok {
		m.attemptFailed(now, w.Kind, w.Index)
		return
	}
	t.state, t.container = finished, 0
	if w.Kind == heddle.Map {
		m.doneMaps++
	} else {
		m.doneReds++
	}
	m.checkOver()
}

// Idle implements [Idler]: nothing waits to be sent, and no decision about reduces is open that headroom or time could
// change.
func (m *mapReduce) Idle() bool {
	if m.over != Running || !m.table.flushed() || len(m.release) > 0 || len(m.excluded.bad) > 0 {
		return false
	}
	starving := len(m.reduces) > 0 && m.heldMaps == 0 && m.scheduledMaps > 0
	held := m.pending.len() == 0 || (!m.reduceStarted && m.doneMaps < m.slowStart)
	return m.c.AllReducesAtOnce || (held && !starving)
}

// onGrid returns the first time at next plus whole intervals that is not before now.
func onGrid(next, now heddle.Time, interval heddle.Span) heddle.Time {
	if late := now.Since(next); late > 0 {
		return next.Plus((late + interval - 1) / interval * interval)
	}
	return next
}

func (m *mapReduce) Done() *Done {
	return &Done{Maps: doneTasks(m.maps), Reduces: doneTasks(m.reduces)}
}

func doneTasks(tasks []task) []DoneTask {
	var done []DoneTask
	for i := range tasks {
		if tasks[i].state == finished {
			done = append(done, DoneTask{int32(i), tasks[i].node})
		}
	}
	return done
}

func (m *mapReduce) tasks(k heddle.Kind) []task {
	switch k {
	case heddle.Map:
		return m.maps
	case heddle.Reduce:
		return m.reduces
	default:
		return nil
	}
}

func (m *mapReduce) checkOver() {
	if m.over != Running {
		return
	}
	if m.doneReds == len(m.reduces) && (len(m.reduces) > 0 || m.doneMaps == len(m.maps)) {
		m.over = FinishedWell
	}
}
