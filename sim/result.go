package sim

import (
	"heddle"
	"heddle/workload"
)

// A Result is one run: one profile, one seed.
type Result struct {
	Profile string
	Seed    uint64
	World   string // full or given
	Jobs    []JobResult
	Tasks   []TaskResult // only with Options.KeepTasks
	Series  Series
	Nodes   []NodeInfo // the cluster, for the Gantt chart

	Makespan       heddle.Span // first submission to last end
	Cut            bool        // ended before its time; figures cover what there was
	CPUUsed        float64     // fraction of the cluster's processor time until Makespan that was used by tasks
	MemoryHeld     float64     // fraction of its memory until Makespan that was held by containers
	MemoryUsed     float64     // fraction of it that processes had in use, whatever their containers hold
	MemoryFilled   float64     // fraction of the machines' memory that system, processes and page cache had, as sar counts it; 0 in the given world
	MeanJCTBound   heddle.Span // lower bound on the mean JCT, the same for every profile
	MakespanBound  heddle.Span
	BoundName      string // which bound was binding
	Events         int64
	Wall           float64 // seconds the run took
	SkippedOffers  int64   // heartbeats that were not simulated because nothing could have come of them
	CheckedSteps   int64   // steps after which cluster.Check ran
	LocalMaps      int     // maps that first ended on a node holding their split, of LocalisedMaps
	RackMaps       int     // … on none, but in the rack of one
	LocalisedMaps  int     // maps that ended and had a split to be near to; one that ran again is one
	FailedAttempts int

	Disks  DiskUse
	Gauges []Gauge // what the policies showed, sampled with Series

	// Only with Options.Trace. A task that lives long keeps every second, fourth … of what it would have.
	Predictions []Prediction // by time, of a profile that estimates: at most 240 of a reduce, of 1024 reduces
	Traces      []Trace      // by start: at most 240 points of a task, 48 maps and 48 reduces of a job, 1024 tasks
}

// DiskUse is what the disks of all nodes did together, as iostat has it; zero in the given world.
type DiskUse struct {
	IOWait  float64 // fraction of the cluster's time until Makespan in which a disk was busy and processors idle
	Await   float64 // mean seconds from a request to its end
	Service float64 // mean seconds of service of a request (svctm)
}

// A Gauge is one number that a policy shows, over time.
type Gauge struct {
	Name   string
	Words  string    // a sentence: what the number is
	Values []float32 // one a step of Series
}

// A Prediction is what the profile's estimate said of a running reduce.
type Prediction struct {
	Container heddle.ContainerID
	Job       int // index into Result.Jobs
	At        heddle.Time
	Remaining heddle.Span
	Actual    heddle.Span // until it gave its container back; NoSpan where it did not end well or was not seen to
}

// A Trace is what one map or reduce was given and what it used, over time.
type Trace struct {
	Container heddle.ContainerID
	Job       int // index into Result.Jobs
	Kind      heddle.Kind
	Points    []TracePoint
}

// A TracePoint is one moment of a Trace: the limit and the use in milli-vcores and MiB.
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

// JobState is how a job ended.
type JobState uint8

// How a job ended.
const (
	Unfinished JobState = iota
	Succeeded
	Failed
	Rejected
)

// String returns the state as it stands in CSV files.
func (s JobState) String() string {
	return [...]string{"unfinished", "succeeded", "failed", "rejected"}[s]
}

// A JobResult is what one job got. Spans that do not apply are NoSpan.
type JobResult struct {
	ID             string
	Queue, User    string
	Framework      heddle.Framework
	Maps, Reduces  int // executors count as maps for Spark: see Tasks for them
	InputBytes     int64
	Submit         heddle.Time
	End            heddle.Time // the master's end
	Wait           heddle.Span // submission to the first container that is not the master running
	JCT            heddle.Span // submission to the master's end
	Starvation     heddle.Span // mean over reduces launched after the last map's end of (launch − that end); 0 if none was; NoSpan without reduces
	ReduceHold     heddle.Span // mean time a reduce held its container; NoSpan without reduces
	Reservation    heddle.Span // total time nodes were reserved for the job
	LocalMaps      int         // of LocalisedMaps, both as in Result
	LocalisedMaps  int
	MasterMemory   int64 // MiB of the last attempt's master
	MasterCPU      int64 // milli-vcores of the same
	Bound          heddle.Span
	Alone          heddle.Span // JCT with the cluster to itself, as another run had it; 0 where there was none
	State          JobState
	Why            string      // it did not succeed; empty where it did
	Recorded       heddle.Span // submission to end as the trace records them; NoSpan where it does not
	MasterAttempts int
}

// NoSpan marks a span that does not apply.
const NoSpan = heddle.Span(-1)

// A TaskResult is one container's life.
type TaskResult struct {
	Job       int // index into Result.Jobs
	Kind      heddle.Kind
	Index     int32 // task index within its kind
	Container heddle.ContainerID
	Node      heddle.NodeID
	At        heddle.Locality
	Granted   heddle.Time
	Started   heddle.Time // of its process; workload.NoTime where none ever ran in it
	Ended     heddle.Time
	Size      heddle.Resource // told
	Limit     heddle.Resource // enforced last: a running container may be resized
	Status    heddle.ExitStatus
}

// Ran reports whether a process ever ran in the container.
func (t *TaskResult) Ran() bool { return t.Started != workload.NoTime }

// A Series samples the cluster at equal steps.
type Series struct {
	Step                     heddle.Span
	Maps, Reduces, Executors []int32 // running containers
	CPUUsed, CPUHeld         []float32
	MemoryHeld               []float32 // fractions of the cluster
}
