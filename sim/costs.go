package sim

import "heddle"

// Costs says what starting and ending processes takes on the machines of a cluster, and how work shares their cores,
// for the given world. The costs are measured on the cluster, separately from what is simulated.
type Costs struct {
	// Machines is the number of machines the nodes run on, assigned in turn; 0 = one machine per node.
	Machines int
	Cores    float64 // of each machine, less those that are always busy with something else

	MapReduceMaster Cost // from a master's grant until it can ask for containers
	SparkMaster     Cost // likewise, with the driver outside the cluster
	SparkDriver     Cost // likewise, with the driver in the cluster
	Executor        Cost // from an executor's launch until it has registered
	Task            Cost // the process of a map or a reduce, within the duration that the trace states
	TaskEnd         Cost // the part of Task that the process spends after its task

	// Launch is how long a node takes to start the process of a map or a reduce after its master asks for it. First is
	// what a node that has run nothing yet computes in addition for its first process.
	Launch heddle.Span
	First  float64 // core-seconds

	MapReduceLeave Cost // from the master's decision to end until the application has ended
	SparkLeave     Cost // likewise, with the driver outside the cluster
	DriverLeave    Cost // likewise, with the driver in the cluster

	// Spread is the largest deviation, as a fraction, of what a process or task computes from its stated value: runs
	// differ.
	Spread float64

	// Linger is how long a MapReduce master holds its container after its application has ended.
	Linger heddle.Span
}

// A Cost is a piece of work: what it computes, then what it waits for.
type Cost struct {
	CPU   float64     `json:"cpu"`   // core-seconds
	Width float64     `json:"width"` // cores it keeps busy if it has them to itself; 0 = 1
	Rest  heddle.Span `json:"rest"`
	After float64     `json:"after"` // core-seconds of the background work that follows, which nothing waits for
}

func (c *Cost) width() float64 {
	if c.Width == 0 {
		return 1
	}
	return c.Width
}

// A Load is work that a machine does besides its containers, such as the work of a client.
type Load struct {
	At   heddle.Time
	Node heddle.NodeID
	Cost Cost
}

// machineOf returns the machine that a node runs on.
func (c *Costs) machineOf(n heddle.NodeID) int {
	if c.Machines > 0 {
		return int(n) % c.Machines
	}
	return int(n)
}

// newCores returns the machines of the given number of nodes.
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

// master returns the costs of starting a job's master, and of its end.
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

// A Part is what a task consists of: what it computes, in core-seconds, how long it then waits, and what its process
// computes at the end.
type Part struct {
	CPU  float64
	Rest heddle.Span
	End  float64
}

// JobParts holds the parts of a job's tasks. A map's part includes the start of its process and a reduce's does not: a
// reduce starts, waits for its job's maps, and then does its part.
type JobParts struct {
	Maps, Reduces []Part
	Stages        [][]Part
}
