// Package workload describes what a cluster is asked to do: jobs with their tasks and stages, as importers read them
// from the history of real clusters and as scenario files define them.
//
// It knows what a job needs, not what a cluster or a policy makes of it.
package workload

import (
	"fmt"

	"heddle"
)

// A Workload is a list of jobs ordered by submission, with an account of how it was read.
type Workload struct {
	Name   string
	Began  heddle.Time // when the first job was submitted, by the trace's own clock: for histories, since 1970
	Format string      // swim, sls, rumen, jhist, spark, scenario
	Jobs   []Job

	// Hosts lists the hosts that splits and tasks refer to by index. A simulated cluster maps them to its nodes by name
	// if the names agree, else by index modulo its size.
	Hosts []Host

	Files   []string // files it was read from
	Lines   int      // lines, records or objects read
	Skipped []Defect // what could not be read
	Cut     []Defect // where files end too early or cannot be read further: an unknown part of each is missing
	Filled  []Fill   // what the trace lacked, and by which rule it was filled
}

// A Host is a machine named in a trace. Rack is empty if the trace does not state it.
type Host struct{ Name, Rack string }

// A Defect is a part of an input that could not be read.
type Defect struct {
	File   string `json:"file"`
	Line   int    `json:"line"`   // 1-based; for JSON streams the line on which the object starts; 0 = the whole file
	Field  string `json:"field"`  // empty if the whole line is wrong
	Reason string `json:"reason"` // what is wrong and what would be right
}

// A Fill is a rule by which missing values were filled in, the values, and the number of jobs affected.
type Fill struct {
	Field string `json:"field"` // maps, reduces, duration, user, queue, container, cpu, …
	Rule  string `json:"rule"`  // ⌈input / 128 MiB⌉
	Value string `json:"value"` // what was filled in: 1024 MiB, 1 vcore; 1 to 37; empty if a rule fills nothing in
	Jobs  int    `json:"jobs"`
}

// String returns the fill as "field: rule → value (so many jobs)".
func (f Fill) String() string {
	s := f.Field + ": " + f.Rule
	if f.Value != "" {
		s += " → " + f.Value
	}
	if f.Jobs == 1 {
		return s + " (1 job)"
	}
	return fmt.Sprintf("%s (%d jobs)", s, f.Jobs)
}

// A Job is one application.
type Job struct {
	ID        string // the trace's own id
	Name      string
	Queue     string // "" = the default queue
	User      string // "" = unknown
	Priority  int32
	Framework heddle.Framework
	Submit    heddle.Time // since the start of the workload
	Failed    bool        // the trace records that it failed or was killed
	Unended   bool        // the trace is a history and records no end of it
	Recorded  heddle.Span // from submission to the end recorded in the trace, for a job that succeeded; 0 = not recorded

	Program string          // grep, wordcount, sort …; "" = unknown: the mean program
	Master  heddle.Resource // zero = the framework's default
	StartUp heddle.Span     // from the start of the master's process until it begins to ask for containers

	Maps    []Task
	Reduces []Task
	Other   []Task // of Plain jobs

	// SlowStart is the fraction of maps that must be done before reduces are asked for; negative = the default, 0.05.
	SlowStart float64

	// Replicas is how many copies of its output the file system keeps; 0 = HDFS's default, 3.
	Replicas int

	Spark *SparkJob // set if Framework is Spark

	Times *Times // when its parts happened on the traced cluster; nil = not recorded
}

// Times says when the parts of a job happened on the cluster that its trace comes from, since the start of the
// workload. NoTime means not recorded.
type Times struct {
	Master        heddle.Time   // when its last master's program began
	Ready         heddle.Time   // when that master began to ask for containers
	Maps, Reduces []heddle.Time // starts of the runs whose durations the tasks state
	Stages        [][]heddle.Time
	Executors     []heddle.Time // for Spark: when each executor registered
}

// NoTime stands for a time that is not recorded.
const NoTime = heddle.Time(-1)

// A Task is one map, one reduce or one plain container. Zero means unknown.
type Task struct {
	Duration heddle.Span // how long its container ran in the trace
	Waited   heddle.Span // … during which a reduce's last map was still running; less than Duration
	CPU      heddle.Span // processor time it used
	Input    int64       // bytes: a map's split, a reduce's shuffle
	Output   int64       // bytes: a map's output after combining and compression, a reduce's result
	Memory   int64       // MiB it really uses at its peak
	Hosts    []int32     // indexes into Workload.Hosts of the hosts that hold its input
	Size     heddle.Resource
	Priority int32 // 0 = the default of its kind
	NoOutput bool  // Output is known to be 0
}

// Worked returns how long the task's container ran in the trace, without the time it waited for maps.
func (t *Task) Worked() heddle.Span { return t.Duration - t.Waited }

// A SparkJob describes what a Spark application does inside its executors.
type SparkJob struct {
	Executors  int             // number asked for at the start
	Executor   heddle.Resource // container size: heap, overhead and cores; zero = Spark's default
	Client     bool            // the driver runs outside the cluster; the master is small
	Dynamic    *Dynamic        // nil = the executors are held for life
	Stages     []Stage         // in order of submission
	Storage    int64           // bytes one executor can cache; 0 = the rule of Spark's unified memory
	TaskCores  int             // 0 = 1
	GivenSpans bool            // every task states its Duration
}

// ExecutorSize returns the size of an executor's container. If the job states none, it is Spark's default: 1 GiB of
// heap, 384 MiB of overhead, one core.
func (s *SparkJob) ExecutorSize() heddle.Resource {
	if s.Executor.IsZero() {
		return heddle.Of(sparkExecutorMemory+sparkMinOverhead, heddle.CPU.Unit())
	}
	return s.Executor
}

// Slots returns how many tasks run in an executor at once: at least one, however few cores it has.
func (s *SparkJob) Slots() int {
	return max(1, int(s.ExecutorSize()[heddle.CPU]/heddle.CPU.Unit())/max(1, s.TaskCores))
}

// CoresOfTask returns what a task occupies of its executor, in thousandths of a core: at most what the executor has.
func (s *SparkJob) CoresOfTask() int64 {
	return min(int64(max(s.TaskCores, 1))*heddle.CPU.Unit(), s.ExecutorSize()[heddle.CPU])
}

// Dynamic holds the settings of Spark's dynamic allocation.
type Dynamic struct {
	Min, Max, Initial int
	IdleTimeout       heddle.Span // 0 = 60 s
	Backlog           heddle.Span // schedulerBacklogTimeout; 0 = 1 s
	Tracks            bool        // nodes have no shuffle service: executors that hold shuffle files stay
}

// A Stage is a set of similar tasks that start when all parents are done and the driver has paused.
type Stage struct {
	ID      int
	Parents []int       // IDs of stages of this job
	Pause   heddle.Span // what the driver waits once all parents are done; without parents, from when it starts stages
	Tasks   []Task
	Cached  bool // reads what an earlier stage left in the executors' memory; recomputed if evicted
	Caches  bool // leaves its output in the executors' memory; if Writes is set, what it reads
	Input   bool // reads from HDFS: its tasks prefer the hosts of their blocks
	Writes  Sink // where its tasks' output goes
}

// Sink says where the output of a stage goes.
type Sink uint8

// The sinks.
const (
	Unsaid  Sink = iota // to memory if the stage caches, else to its children, else to the file system
	Shuffle             // to shuffle files, for its children
	Files               // to the file system, whether or not stages follow
)

// Given reports whether every task states how long it lasts, so that the given world can run it. If not, job and field
// name the first that does not.
func (w *Workload) Given() (ok bool, job, field string) {
	for i := range w.Jobs {
		j := &w.Jobs[i]
		for _, g := range [...]struct {
			tasks []Task
			field string
		}{{j.Maps, "maps"}, {j.Reduces, "reduces"}, {j.Other, "tasks"}} {
			for k := range g.tasks {
				if g.tasks[k].Duration <= 0 {
					return false, j.ID, g.field
				}
			}
		}
		if s := j.Spark; s != nil {
			for k := range s.Stages {
				for t := range s.Stages[k].Tasks {
					if s.Stages[k].Tasks[t].Duration <= 0 {
						return false, j.ID, "stages"
					}
				}
			}
		}
	}
	return true, "", ""
}

// InputBytes returns what the job reads from the file system: its maps' splits, or the input of its first stages.
func (j *Job) InputBytes() int64 {
	var sum int64
	for i := range j.Maps {
		sum += j.Maps[i].Input
	}
	if j.Spark != nil {
		for i := range j.Spark.Stages {
			if s := &j.Spark.Stages[i]; s.Input {
				for k := range s.Tasks {
					sum += s.Tasks[k].Input
				}
			}
		}
	}
	return sum
}
