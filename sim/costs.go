package sim

import "heddle"

// Costs are what starting and ending processes takes on the machines of a cluster, and how work shares their cores,
// for the given world. They are measured on the cluster, apart from what is simulated.
type Costs struct {
	// Machines is how many machines the nodes stand on, in turns; 0 = each on its own.
	Machines int
	Cores    float64 // of each machine

	MapReduceMaster Cost // from a master's grant until it can ask for containers
	SparkMaster     Cost // likewise, with the driver outside the cluster
	SparkDriver     Cost // likewise, with the driver inside
	Executor        Cost // from an executor's launch until it has registered
	Task            Cost // of the process of a map or a reduce, within the duration that the trace states
	TaskEnd         Cost // of that, what the process does after its task

	// Launch is how long a node takes to begin a map's or a reduce's process that its master asks it for, and First what
	// a node that has run nothing computes more for its first process.
	Launch heddle.Span
	First  float64 // core-seconds

	MapReduceLeave Cost // from the master's decision to end until the application has ended
	SparkLeave     Cost // likewise, with the driver outside the cluster
	DriverLeave    Cost // likewise, with the driver inside

	// Spread is how far at most what one process or task computes is from what is said of it, as a part: runs differ.
	Spread float64

	// Linger is how long a MapReduce master holds its container after its application has ended.
	Linger heddle.Span
}

// A Cost is a piece of work: what it computes, then what it waits for.
type Cost struct {
	CPU   float64     `json:"cpu"`   // core-seconds
	Width float64     `json:"width"` // cores it keeps busy where it has them for itself; 0 = 1
	Rest  heddle.Span `json:"rest"`
	After float64     `json:"after"` // core-seconds of what follows in the background, which nothing waits for
}

func (c *Cost) width() float64 {
	if c.Width == 0 {
		return 1
	}
	return c.Width
}

// A Load is work that a machine has to do beside its containers, such as that of a client.
type Load struct {
	At   heddle.Time
	Node heddle.NodeID
	Cost Cost
}

// machineOf is the machine that a node stands on.
func (c *Costs) machineOf(n heddle.NodeID) int {
	if c.Machines > 0 {
		return int(n) % c.Machines
	}
	return int(n)
}

// newCores are the machines of so many nodes.
func (c *Costs) newCores(nodes int) *cores {
	if c.Machines > 0 {
		nodes = min(nodes, c.Machines)
	}
	out := &cores{machines: make([]machine, nodes)}
	for i := range out.machines {
		out.machines[i].cores = c.Cores
	}
	return out
}

// master is what starting a job's master costs, and leave what its end does.
func (c *Costs) master(a *app) (start, leave *Cost) {
	switch {
	case a.job.Framework == heddle.MapReduce:
		return &c.MapReduceMaster, &c.MapReduceLeave
	case a.job.Spark != nil && a.job.Spark.Client:
		return &c.SparkMaster, &c.SparkLeave
	case a.job.Spark != nil:
		return &c.SparkDriver, &c.DriverLeave
	}
	return nil, nil
}

// A Part is what a task consists of: what it computes, in core-seconds, what it waits for then, and what its process
// computes at the end.
type Part struct {
	CPU  float64
	Rest heddle.Span
	End  float64
}

// JobParts are the parts of a job's tasks. The start of the process is in those of maps and not in those of reduces:
// a reduce starts, waits for its job's maps, and then does its part.
type JobParts struct {
	Maps, Reduces []Part
	Stages        [][]Part
}
