package main

import (
	"heddle"
	"heddle/internal/testkit/hadoop"
	"heddle/sim"
)

// A bed is what starting and ending processes costs on the testbed's machine.
type bed struct {
	Costs                              sim.Costs
	Client, SparkClient, ClusterClient sim.Cost // of a MapReduce job's, and of Spark's with the driver in and outside it
}

// theBed is the bed under one of the ResourceManagers.
//
// Its figures were measured by jobs that ran alone under the stock ResourceManager, on 2 cores of a virtual machine with
// the JDK 17: sleeping jobs of 1 and of 9 maps, and Spark's pi with 1 and 4 executors, the driver outside and inside the
// cluster. /proc/stat was read every 50 ms, and the processor time between two events of a history is what lay between
// them cost: from a client's start to the submission; from there to JOB_INITED; from the last task's end to the
// application's. What one more map costs is the difference between 9 and 1 (2.06 and 1.97 core-s), less what its
// counter says (0.16); likewise for executors (2.0 to 2.4 until they have registered). Width is that time over the
// time on the clock, of a process that was alone.
func theBed(rm string) *bed {
	const ms = heddle.Millisecond
	free := 1.95 // with nothing but daemons 0.05 cores are busy
	if rm == hadoop.Stock {
		free -= stockRM
	}
	return &bed{
		Costs: sim.Costs{
			Machines: 1, Cores: free,
			MapReduceMaster: sim.Cost{CPU: 2.9, Width: 1.5, Rest: 600 * ms, After: 0.6},
			SparkMaster:     sim.Cost{CPU: 2.4, Width: 1.5, Rest: 500 * ms},
			SparkDriver:     sim.Cost{CPU: 3.5, Width: 1.5, Rest: 500 * ms},
			Executor:        sim.Cost{CPU: 2.4, Width: 1.2, Rest: 500 * ms},
			Task:            sim.Cost{CPU: 1.85, Width: 1.5},
			MapReduceLeave:  sim.Cost{CPU: 0.35, Rest: 500 * ms, After: 0.8},
			SparkLeave:      sim.Cost{CPU: 0.1, Rest: 50 * ms},
			DriverLeave:     sim.Cost{CPU: 0.5, Rest: 500 * ms},
			Linger:          6 * heddle.Second, // NodeManagers' logs: from unregistering to the exit of its process
		},
		Client:        sim.Cost{CPU: 1.6, Width: 1.2},
		SparkClient:   sim.Cost{CPU: 3.7, Width: 1.2},
		ClusterClient: sim.Cost{CPU: 2.4, Width: 1.2},
	}
}

// stockRM is how much of a core the stock ResourceManager's JVM keeps busy while jobs run: 6.6 s of processor time
// over the 132 s in which those jobs did, most of it compiling.
const stockRM = 0.05
