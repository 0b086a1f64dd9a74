package sim

import (
	"heddle"
	"heddle/sim/apps"
	"heddle/sim/world"
)

// physics is how long work takes: the full world, or the given one in which everything lasts what its
// trace says.
type physics interface {
	// run starts work in a container whose process runs.
	run(now heddle.Time, c *container, w apps.Work)
	// close ends a container's process and the work in it.
	close(now heddle.Time, c *container)
	// next is when something happens by itself.
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

	// launch has a container's process start, and Sim.begins called when it is known when it runs, where that takes what
	// depends on what else goes on; where not, launchDelay says how long.
	launch(now heddle.Time, c *container) (later bool)
	// leave lets out happen once an application has ended whose master has nothing left to do, where that takes time.
	leave(now heddle.Time, a *app, out entry) (later bool)
	// linger is how long a master holds its container after its application has ended.
	linger(a *app) heddle.Span
	// launchDelay is how long a process takes to start.
	launchDelay() heddle.Span
	// mapsDone says that every map of a job has ended.
	mapsDone(now heddle.Time, a *app)
	// cached says in which executor's memory the input of a task of a stage that reads a cache is; nil where executors have
	// no memory.
	cached(a *app) func(apps.Work) heddle.ContainerID
	// endJob says that a job is over.
	endJob(a *app)
	// manage says how many containers a master looks after now.
	manage(now heddle.Time, c *container, n int)
	// progress is how far the work in a container is.
	progress(now heddle.Time, c *container) (heddle.Phase, float64)
	// usage is what a container used since it was last asked.
	usage(now heddle.Time, c *container) (cpuMilli, memMiB int64)
	// consumed is the processor time a container used so far, in vcore-seconds, and the memory it holds.
	// Asking for it changes nothing.
	consumed(now heddle.Time, c *container) (vcoreSeconds float64, memMiB int64)
	// disks is what the disks of all nodes did so far.
	disks(now heddle.Time) world.DiskStats
	// diskBusy is how long a node's disk was busy so far; 0 where the world has no machines. Asking for it changes nothing.
	diskBusy(now heddle.Time, n heddle.NodeID) heddle.Span
	// cpuUsed is the processor time used so far, in core-seconds of the nodes.
	cpuUsed(now heddle.Time) float64
	// nodeUsed is the processor time used so far on a node, in core-seconds; not ok where the world has no machines.
	// Asking for it changes nothing.
	nodeUsed(now heddle.Time, n heddle.NodeID) (coreSeconds float64, ok bool)
	// memoryUsed is the memory that processes held so far, in MiB·s.
	memoryUsed(now heddle.Time) float64
	// memoryFilled is for how many seconds so far all memory of the nodes would have been in use, as sar counts it.
	memoryFilled(now heddle.Time) float64
}

// ended is a piece of work that ended, or a container that failed.
type ended struct {
	work   apps.Work
	ok     bool
	status heddle.ExitStatus // where !ok
	at     heddle.Locality
	output int64 // bytes of map output now on the node
}
