package main

import (
	"heddle"
	"heddle/internal/testkit/hadoop"
	"heddle/sim"
)

// A bed is what starting and ending processes costs on the testbed's machine.
type bed struct {
	Costs                              sim.Costs
	Daemons                            sim.Cost // extra computing for the first application
	Client, SparkClient, ClusterClient sim.Cost // of a MapReduce job's client, and of Spark's with the driver in and outside it
}

// theBed returns the bed under one of the ResourceManagers; warm says that its NodeManagers had run containers before.
//
// Its figures were measured with jobs that ran alone under the stock ResourceManager, on 2 cores of a virtual machine
// with JDK 17: those of -calibrate, which repeats the measurement. /proc/stat was read every 50 ms, and the processor
// time between two events of a history is the cost of what lies between them: from a client's start to the submission;
// from there to JOB_INITED; from the last task's end to the application's. The cost of one more map is the difference
// between jobs of 9 and of 1, less what its counter says (1.72 core-s, and 2.0 on another day; 1.87 for a word count);
// likewise for executors. Width is that time divided by the elapsed time, for a process that was alone. From the last
// task's end to the application's it was 1.0 s, of which half a second is the wait for the master's next call. Spread
// is how far the same figure of the same job was from its mean. Launch is the median of 27 tasks, from ACQUIRED in the
// ResourceManager's log to the start in the history. An executor of a Python program costs 0.7 core-s more, which count
// as its tasks'.
func theBed(rm string, warm bool) *bed {
	const ms = heddle.Millisecond
	free := 1.95 // with only daemons running, 0.05 cores are busy
	if rm == hadoop.Stock {
		free -= stockRM
	}
	b := &bed{
		Costs: sim.Costs{
			Machines: 1, Cores: free, Spread: 0.05,
			MapReduceMaster: sim.Cost{CPU: 2.9, Width: 1.5, Rest: 600 * ms, After: 0.6},
			SparkMaster:     sim.Cost{CPU: 2.4, Width: 1.5, Rest: 500 * ms},
			SparkDriver:     sim.Cost{CPU: 3.5, Width: 1.5, Rest: 500 * ms},
			Executor:        sim.Cost{CPU: 2.4, Width: 1.2, Rest: 500 * ms},
			Task:            sim.Cost{CPU: 1.85, Width: 1.5},
			TaskEnd:         sim.Cost{CPU: 0.3},
			Launch:          170 * ms,
			MapReduceLeave:  sim.Cost{CPU: 0.35, Rest: 150 * ms, After: 0.8},
			SparkLeave:      sim.Cost{CPU: 0.1, Rest: 50 * ms},
			DriverLeave:     sim.Cost{CPU: 0.5, Rest: 500 * ms},
			Linger:          6 * heddle.Second, // NodeManagers' logs: from unregistering to the exit of the process
		},
		Client:        sim.Cost{CPU: 1.6, Width: 1.2},
		SparkClient:   sim.Cost{CPU: 3.7, Width: 1.2},
		ClusterClient: sim.Cost{CPU: 2.4, Width: 1.2},
	}
	// A testbed's first job cost 1.85 core-s more before JOB_INITED than the next one, 1.15 of them in the
	// ResourceManager's JVM.
	if !warm {
		b.Daemons.CPU, b.Costs.First = 0.15, 0.6
	}
	if rm == hadoop.Stock {
		b.Daemons.CPU += 1.15
	}
	return b
}

// stockRM is how many cores the stock ResourceManager's JVM keeps busy while jobs run: 6.6 s of processor time over the
// 132 s in which those jobs ran, most of it compiling.
const stockRM = 0.05
