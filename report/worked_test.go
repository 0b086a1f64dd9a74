package report

import (
	"heddle"
	"heddle/sim"
	"heddle/workload"
)

// worked is small enough to be calculated by hand: two profiles, two seeds, four jobs.
func worked() *Comparison {
	return &Comparison{
		World: "given", Cluster: "2 nodes in 1 rack, 4096 MiB and 4 vcores each",
		Workload: &workload.Workload{
			Name: "four", Format: "sls", Lines: 5,
			Skipped: []workload.Defect{{File: "four.json", Line: 9, Field: "job.start.ms", Reason: "missing; want milliseconds"}},
			Filled:  []workload.Fill{{Field: "queue", Rule: "queue = default", Jobs: 3}},
		},
		Notes: []string{"one queue, default; dominant resources"},
		Profiles: []ProfileRuns{
			{Name: "fair", Runs: []*sim.Result{
				workedRun("fair", 1, []float64{10, 20, 30, 100}, 0.5, true), workedRun("fair", 2, []float64{12, 24, 36, 88}, 0.7, true),
			}},
			{Name: "fifo", Runs: []*sim.Result{
				workedRun("fifo", 1, []float64{20, 20, 40, 120}, 0.4, false), workedRun("fifo", 2, []float64{5, 5, 10, 40}, 0.6, false),
			}},
		},
	}
}

// workedRun returns a run whose jobs took the given times, the third one without reduces; the fourth fails unless all
// succeed.
func workedRun(profile string, seed uint64, jct []float64, cpu float64, all bool) *sim.Result {
	r := &sim.Result{
		Profile: profile, Seed: seed, World: "given", Makespan: heddle.Seconds(200), CPUUsed: cpu, MemoryHeld: 0.25,
		MeanJCTBound: heddle.Seconds(20), MakespanBound: heddle.Seconds(150), BoundName: "critical path", Wall: 0.5,
		LocalMaps: 3, LocalisedMaps: 4, Nodes: []sim.NodeInfo{{Name: "n1"}, {Name: "n2"}},
	}
	for i, s := range jct {
		submit := float64(10 * i)
		j := sim.JobResult{
			ID: []string{"a", "b", "c", "d"}[i], Queue: "default", User: "ann", Framework: heddle.MapReduce, Maps: 1, Reduces: 1,
			InputBytes: 1 << 20, Submit: heddle.Time(heddle.Seconds(submit)), End: heddle.Time(heddle.Seconds(submit + s)),
			Wait: heddle.Seconds(s / 10), JCT: heddle.Seconds(s), Starvation: heddle.Seconds(s / 5), ReduceHold: heddle.Seconds(s / 2),
			LocalMaps: 1, LocalisedMaps: 1, MasterMemory: 1024, Bound: heddle.Seconds(5), State: sim.Succeeded, MasterAttempts: 1,
		}
		switch {
		case i == 2:
			j.Reduces, j.Starvation, j.ReduceHold, j.LocalMaps = 0, sim.NoSpan, sim.NoSpan, 0
		case i == 3 && !all:
			j.State = sim.Failed
		}
		r.Jobs = append(r.Jobs, j)
	}
	r.Tasks = []sim.TaskResult{
		{Job: 0, Kind: heddle.AM, Container: 1, Node: 0, Granted: 1e9, Started: 2e9, Ended: 10e9, Size: heddle.Of(1024, 1000), Limit: heddle.Of(1024, 1000)},
		{
			Job: 0, Kind: heddle.Map, Index: 0, Container: 2, Node: 1, At: heddle.RackLocal, Granted: 3e9, Started: 3.5e9, Ended: 7.25e9,
			Size: heddle.Of(1024, 1000), Limit: heddle.Of(768, 500), Status: heddle.KilledByMaster,
		},
		{
			Job: 1, Kind: heddle.Reduce, Index: 0, Container: 3, Node: 1, At: heddle.OffSwitch, Granted: 8e9, Started: workload.NoTime, Ended: 9e9,
			Size: heddle.Of(2048, 2000), Limit: heddle.Of(2048, 2000), Status: heddle.Aborted,
		},
	}
	return r
}
