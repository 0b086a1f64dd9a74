// Package apps simulates ApplicationMasters: what a MapReduce or a Spark master asks for, when, and what it does with
// what it gets, as the real ones do.
//
// A master is a state machine without a clock: the simulator calls it and carries out its actions. It knows nothing of
// policies, and of the cluster only what the protocol tells it.
//
// There are three masters: [NewMapReduce] (MRAppMaster), [NewSpark] (ApplicationMaster with its driver) and
// [NewLoadSimulator] (the master of Hadoop's Scheduler Load Simulator). The constructor of each says what it leaves out
// of the real one.
package apps

import "heddle"

// A Master is one attempt of an ApplicationMaster. Every method may add to out. Times never go backwards; out is empty
// at each call and valid until the next.
type Master interface {
	// Start is called when the master's process is running.
	Start(now heddle.Time, out *Actions)

	// Call makes an allocate call, which carries out.Rows, out.Release and out.Exclude. If out.Finish is set, the
	// master unregisters instead.
	Call(now heddle.Time, out *Actions)

	// Answer handles the ResourceManager's answer to the call, at the same instant. It adds to what Call left in out,
	// and sets out.Beat to when the next call is due.
	Answer(now heddle.Time, in *Response, out *Actions)

	// Up is called when the process of a launched container is running (for an executor: has registered with its
	// driver).
	Up(now heddle.Time, c heddle.ContainerID, out *Actions)

	// WorkDone is called when a piece of work has ended, successfully or not. It comes from the task itself, at once,
	// before the ResourceManager hears of the container's exit.
	WorkDone(now heddle.Time, w Work, ok bool, out *Actions)

	// Alarm is called at the time requested with Actions.Alarm.
	Alarm(now heddle.Time, out *Actions)
}

// An Idler is a master that knows when an allocate call that brings no news would change nothing. The simulator leaves
// such calls out until there is news.
type Idler interface {
	// Idle reports whether a call answered with no grant, no end and no lost node, whatever the headroom, would ask for
	// nothing and do nothing, now and at any later time until another method is called. A method that ends this state
	// sets out.Beat to when the next call is due, on the same grid as the calls that were left out.
	Idle() bool
}

// A Response is the answer to an allocate call. It never contains a container as both granted and completed: a
// container that ended before its master fetched it is not granted.
type Response struct {
	Granted   []Grant
	Completed []Completed
	LostNodes []heddle.NodeID
	Headroom  heddle.Resource
	Nodes     int // live nodes of the cluster
}

// A Grant is a container given to the master.
type Grant struct {
	Container heddle.ContainerID
	Node      heddle.NodeID
	Priority  int32
	Kind      heddle.Kind
	Size      heddle.Resource // as told
	AllocID   int64           // of the ask it satisfies
}

// Completed is a container that ended.
type Completed struct {
	Container heddle.ContainerID
	Status    heddle.ExitStatus
}

// Actions is what a master does at one instant.
type Actions struct {
	Rows    []heddle.Row         // new values of its request table (Call only)
	Release []heddle.ContainerID // given back unused or no longer wanted (Call only)
	Launch  []heddle.ContainerID // start a process in the container; Up follows
	Work    []Work               // start work in a container that is up, or as the process being launched
	Stop    []heddle.ContainerID // end a running container through its node
	Alarm   heddle.Time          // call Alarm then; 0 = do not change. At most one is outstanding: the last one set counts
	Beat    heddle.Time          // when the next Call is due; 0 = do not change
	Finish  Finish
	Why     string // why it finished badly

	// Excluding says that Exclude is the new list of nodes the application wants nothing on, ordered by id, and
	// replaces the previous list (Call only).
	Excluding bool
	Exclude   []heddle.NodeID
}

// Finish says whether and how a master has unregistered.
type Finish uint8

// The ways a master can end.
const (
	Running Finish = iota
	FinishedWell
	FinishedBadly
)

// Work is a piece of work inside a container: a whole map or reduce, or one Spark task.
type Work struct {
	Container heddle.ContainerID
	Kind      heddle.Kind // Map, Reduce, Executor (a Spark task), Other
	Stage     int32       // of a Spark task: index into the job's stages
	Index     int32       // of the task within its kind or stage
	Attempt   int32       // 0 = the first
}

// Reset empties a for the next call and keeps its buffers.
func (a *Actions) Reset() {
	*a = Actions{
		Rows: a.Rows[:0], Release: a.Release[:0], Launch: a.Launch[:0], Work: a.Work[:0], Stop: a.Stop[:0],
		Exclude: a.Exclude[:0],
	}
}
