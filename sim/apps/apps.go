// Package apps is how ApplicationMasters behave: what a MapReduce and a Spark master ask for, when,
// and what they do with what they get, as the real ones do.
//
// A master is a state machine without a clock: the simulator calls it and carries its actions out. It
// knows nothing of policies, and of the cluster only what the protocol tells it.
//
// Three masters: [NewMapReduce] (MRAppMaster), [NewSpark] (ApplicationMaster with its driver) and
// [NewLoadSimulator] (the master of Hadoop's Scheduler Load Simulator). What each leaves out of the
// real one stands at its constructor.
package apps

import "heddle"

// A Master is one attempt of an ApplicationMaster. Every method may add to out. Times never go
// backwards; out is empty at each call and valid until the next.
type Master interface {
	// Start is called when the master's process runs.
	Start(now heddle.Time, out *Actions)

	// Call is one allocate call: out.Rows, out.Release and out.Exclude are what it carries. With
	// out.Finish the master unregisters instead.
	Call(now heddle.Time, out *Actions)

	// Answer is what the ResourceManager answers to the call, at the same instant. It adds to what Call
	// left in out, and says in out.Beat when the next call is due.
	Answer(now heddle.Time, in *Response, out *Actions)

	// Up says that a launched container's process runs (an executor registered with its driver).
	Up(now heddle.Time, c heddle.ContainerID, out *Actions)

	// WorkDone says that a piece of work ended, well or not. It comes from the task itself, at once,
	// before the ResourceManager hears of the container's exit.
	WorkDone(now heddle.Time, w Work, ok bool, out *Actions)

	// Alarm is the call asked for with Actions.Alarm.
	Alarm(now heddle.Time, out *Actions)
}

// An Idler is a master that knows when an allocate call with nothing to tell it would change nothing.
// The simulator leaves such calls out until there is something to tell.
type Idler interface {
	// Idle reports whether a call answered with no grant, no end and no lost node, whatever the headroom, would
	// ask for nothing and do nothing, now and at any later time, until another method was called. A
	// method that ends this says in out.Beat when the next call is due, on the grid the ones left out
	// were on.
	Idle() bool
}

// A Response is what an allocate call brings. No container is both granted and completed in one: what
// ended before its master fetched it is not granted.
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
	AllocID   int64           // of the ask it answers
}

// Completed is a container that ended.
type Completed struct {
	Container heddle.ContainerID
	Status    heddle.ExitStatus
}

// Actions are what a master does at one instant.
type Actions struct {
	Rows    []heddle.Row         // new values of its request table (Call only)
	Release []heddle.ContainerID // given back unused or not wanted any more (Call only)
	Launch  []heddle.ContainerID // start a process in the container; Up follows
	Work    []Work               // start work in a container that is up, or as the process being launched
	Stop    []heddle.ContainerID // end a running container through its node
	Alarm   heddle.Time          // call Alarm then; 0 = do not change. At most one is outstanding: the last counts
	Beat    heddle.Time          // when the next Call is due; 0 = do not change
	Finish  Finish
	Why     string // it finished badly

	// Excluding says that Exclude is the new list of nodes the application wants nothing on, in order
	// of their ids, in place of the one before (Call only).
	Excluding bool
	Exclude   []heddle.NodeID
}

// Finish is whether a master unregistered.
type Finish uint8

// How a master ends.
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

// Reset empties a for the next call, keeping its buffers.
func (a *Actions) Reset() {
	*a = Actions{
		Rows: a.Rows[:0], Release: a.Release[:0], Launch: a.Launch[:0], Work: a.Work[:0], Stop: a.Stop[:0],
		Exclude: a.Exclude[:0],
	}
}
