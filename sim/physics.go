package sim

import (
	"heddle"
	"heddle/sim/apps"
	"heddle/sim/world"
)

// physics determines how long work takes: the full world, or the given one in which everything lasts as long as its
// trace says.
type physics interface {
	// run starts work in a container whose process runs.
	run(now heddle.Time, c *container, w apps.Work)
	// close ends a container's process and the work in it.
	close(now heddle.Time, c *container)
	// next returns when something next happens by itself.
	next() (heddle.Time, bool)
	// advance appends what ended up to now.
	advance(now heddle.Time, done []ended) []ended

	setLimit(now heddle.Time, c *container)
	setWeight(now heddle.Time, c *container, weight int64)
	suspend(now heddle.Time, c *container)
	resume(now heddle.Time, c *container)
	setSpeed(now heddle.Time, n heddle.NodeID, factor float64)
	nodeDown(now heddle.Time, n heddle.NodeID)
	nodeUp(now heddle.Time, n heddle.NodeID)

	// launch starts a container's process. If the time this takes depends on what else is going on, later is true, and
	// Sim.begins is called once it is known when the process runs. Otherwise launchDelay says how long it takes.
	launch(now heddle.Time, c *container) (later bool)
	// leave makes out happen once an application whose master has nothing left to do has ended, if that takes time.
	leave(now heddle.Time, a *app, out entry) (later bool)
	// linger returns how long a master holds its container after its application has ended.
	linger(a *app) heddle.Span
	// launchDelay returns how long a process takes to start.
	launchDelay() heddle.Span
	// mapsDone is called when every map of a job has ended.
	mapsDone(now heddle.Time, a *app)
	// cached returns a function that says which executor has the input of a task in memory, for stages that read a
	// cache. It is nil if executors have no memory.
	cached(a *app) func(apps.Work) heddle.ContainerID
	// endJob is called when a job is over.
	endJob(a *app)
	// manage sets how many containers a master has looked after so far.
	manage(now heddle.Time, c *container, n int)
	// progress returns the progress of the work in a container.
	progress(now heddle.Time, c *container) (heddle.Phase, float64)
	// usage returns what a container has used since the last call.
	usage(now heddle.Time, c *container) (cpuMilli, memMiB int64)
	// consumed returns the processor time a container has used so far, in vcore-seconds, and the memory it holds. The
	// call changes nothing.
	consumed(now heddle.Time, c *container) (vcoreSeconds float64, memMiB int64)
	// disks returns what the disks of all nodes have done so far.
	disks(now heddle.Time) world.DiskStats
	// diskBusy returns how long a node's disk has been busy so far; 0 if the world has no machines. The call changes
	// nothing.
	diskBusy(now heddle.Time, n heddle.NodeID) heddle.Span
	// cpuUsed returns the processor time used so far, in core-seconds of the nodes.
	cpuUsed(now heddle.Time) float64
	// nodeUsed returns the processor time used so far on a node, in core-seconds; ok is false if the world has no
	// machines. The call changes nothing.
	nodeUsed(now heddle.Time, n heddle.NodeID) (coreSeconds float64, ok bool)
	// memoryUsed returns the memory that processes have held so far, in MiB·s.
	memoryUsed(now heddle.Time) float64
	// memoryFilled returns for how many seconds so far all memory of the nodes would have been in use, as sar counts
	// it.
	memoryFilled(now heddle.Time) float64
}

// ended is a piece of work that ended, or a container that failed.
type ended struct {
	work   apps.Work
	ok     bool
	status heddle.ExitStatus // if !ok
	at     heddle.Locality
	output int64 // bytes of map output now on the node
}
