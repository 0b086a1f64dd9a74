package sim

import (
	"heddle"
	"heddle/workload"
)

// A Result is the result of one run: one profile, one seed.
type Result struct {
	Profile string
	Seed    uint64
	World   string // full or given
	Jobs    []JobResult
	Tasks   []TaskResult // only with Options.KeepTasks
	Series  Series
	Nodes   []NodeInfo // the cluster, for the Gantt chart

	Makespan       heddle.Span // first submission to last end
	Cut            bool        // ended early; the figures cover what there was
	CPUUsed        float64     // fraction of the cluster's processor time until Makespan that tasks used
	MemoryHeld     float64     // fraction of its memory until Makespan that containers held
	MemoryUsed     float64     // fraction of it that processes had in use, whatever their containers held
	MemoryFilled   float64     // fraction of the machines' memory that system, processes and page cache took, as sar counts it; 0 in the given world
	MeanJCTBound   heddle.Span // lower bound on the mean JCT, the same for every profile
	MakespanBound  heddle.Span
	BoundName      string // which bound was binding
	Events         int64
	Wall           float64 // seconds the run took
	SkippedOffers  int64   // heartbeats not simulated because they could not have had any effect
	CheckedSteps   int64   // steps after which cluster.Check ran
	LocalMaps      int     // maps that first ended on a node holding their split, out of LocalisedMaps
	RackMaps       int     // … on no such node, but in the rack of one
	LocalisedMaps  int     // maps that ended and had a split to be near to; one that ran again counts once
	FailedAttempts int

	Disks  DiskUse
	Gauges []Gauge // what the policies showed, sampled with Series

	// Only with Options.Trace. A task that lives long keeps only every second, fourth … of its points.
	Predictions []Prediction // by time, of a profile that estimates: at most 240 of a reduce, of 1024 reduces
	Traces      []Trace      // by start: at most 240 points of a task, 48 maps and 48 reduces of a job, 1024 tasks
}

// DiskUse is what the disks of all nodes did together, as iostat reports it; zero in the given world.
type DiskUse struct {
	IOWait  float64 // fraction of the cluster's time until Makespan in which a disk was busy and processors idle
	Await   float64 // mean seconds from a request to its end
	Service float64 // mean seconds of service of a request (svctm)
}

// A Gauge is one number that a policy shows, over time.
type Gauge struct {
	Name   string
	Words  string    // a sentence that explains the number
	Values []float32 // one per step of Series
}

// A Prediction is what the profile's estimator predicted for a running reduce.
type Prediction struct {
	Container heddle.ContainerID
	Job       int // index into Result.Jobs
	At        heddle.Time
	Remaining heddle.Span
	Actual    heddle.Span // until it gave its container back; NoSpan if it did not end well or was not seen to
}

// A Trace is what a map or reduce was given and what it used, over time.
type Trace struct {
	Container heddle.ContainerID
	Job       int // index into Result.Jobs
	Kind      heddle.Kind
	Points    []TracePoint
}

// A TracePoint is one point of a Trace: the limit and the use in milli-vcores and MiB.
type TracePoint struct {
	At          heddle.Time
	Limit       heddle.Resource
	CPU, Memory int64
}

// A NodeInfo names a node of the simulated cluster.
type NodeInfo struct {
	Name  string
	Rack  string
	Total heddle.Resource
}

// JobState says how a job ended.
type JobState uint8

// The ways a job can end.
const (
	Unfinished JobState = iota
	Succeeded
	Failed
	Rejected
)

// String returns the state as written in CSV files.
func (s JobState) String() string {
	return [...]string{"unfinished", "succeeded", "failed", "rejected"}[s]
}

// A JobResult is the result of one job. Spans that do not apply are NoSpan.
type JobResult struct {
	ID             string
	Queue, User    string
	Framework      heddle.Framework
	Maps, Reduces  int // Spark executors and tasks of other frameworks count as maps
	Tasks          int // what the job has to run: maps, reduces and others; of Spark the tasks of all stages, not executors
	InputBytes     int64
	Submit         heddle.Time
	End            heddle.Time // the master's end
	Wait           heddle.Span // submission until the first container other than the master runs
	JCT            heddle.Span // submission to the master's end
	Starvation     heddle.Span // mean over reduces launched after the last map's end of (launch − that end); 0 if none was; NoSpan without reduces
	ReduceHold     heddle.Span // mean time a reduce held its container; NoSpan without reduces
	Reservation    heddle.Span // total time that nodes were reserved for the job
	LocalMaps      int         // out of LocalisedMaps, both as in Result
	LocalisedMaps  int
	MasterMemory   int64 // MiB of the last attempt's master
	MasterCPU      int64 // milli-vcores of the last attempt's master
	Bound          heddle.Span
	Alone          heddle.Span // JCT with the cluster to itself, from another run; 0 if there was none
	State          JobState
	Why            string      // why it did not succeed; empty if it did
	Recorded       heddle.Span // submission to end as recorded in the trace; NoSpan if it is not
	MasterAttempts int
}

// NoSpan marks a span that does not apply.
const NoSpan = heddle.Span(-1)

// A TaskResult is the life of one container.
type TaskResult struct {
	Job       int // index into Result.Jobs
	Kind      heddle.Kind
	Index     int32 // task index within its kind
	Container heddle.ContainerID
	Node      heddle.NodeID
	At        heddle.Locality
	Granted   heddle.Time
	Started   heddle.Time // when its process started; workload.NoTime if none ever ran in it
	Ended     heddle.Time
	Size      heddle.Resource // what the application was told
	Limit     heddle.Resource // the last one enforced: a running container may be resized
	Status    heddle.ExitStatus
}

// Ran reports whether a process ever ran in the container.
func (t *TaskResult) Ran() bool { return t.Started != workload.NoTime }

// A Series samples the cluster in equal steps.
type Series struct {
	Step                     heddle.Span
	Maps, Reduces, Executors []int32 // running containers
	CPUUsed, CPUHeld         []float32
	MemoryHeld               []float32 // fractions of the cluster
}
