package main

import (
	"heddle"
	"heddle/sim"
)

// A bed is what starting and ending processes costs on the testbed's machine, measured by jobs that ran alone.
type bed struct {
	Costs                              sim.Costs
	Client, SparkClient, ClusterClient sim.Cost
}

func theBed() *bed {
	const ms = heddle.Millisecond
	return &bed{
		Costs: sim.Costs{
			Machines: 1, Cores: 1.95,
			MapReduceMaster: sim.Cost{CPU: 2.9, Width: 1.5, Rest: 600 * ms, After: 0.6},
			SparkMaster:     sim.Cost{CPU: 2.4, Width: 1.5, Rest: 500 * ms},
			SparkDriver:     sim.Cost{CPU: 3.5, Width: 1.5, Rest: 500 * ms},
			Executor:        sim.Cost{CPU: 2.4, Width: 1.2, Rest: 500 * ms},
			Task:            sim.Cost{CPU: 1.85, Width: 1.5},
			MapReduceLeave:  sim.Cost{CPU: 0.35, Width: 1, Rest: 500 * ms, After: 0.8},
			SparkLeave:      sim.Cost{CPU: 0.1, Rest: 50 * ms},
			DriverLeave:     sim.Cost{CPU: 0.5, Rest: 500 * ms},
			Linger:          6 * heddle.Second,
		},
		Client:        sim.Cost{CPU: 1.6, Width: 1.2},
		SparkClient:   sim.Cost{CPU: 3.7, Width: 1.2},
		ClusterClient: sim.Cost{CPU: 2.4, Width: 1.2},
	}
}
