package rm

import (
	"heddle"
	"heddle/policy"
	"heddle/yarn/ids"
)

// What is known of a job from outside YARN's protocols: what its client left beside the submission, and what its master
// tells over REST. The machine says whom to ask what and when, with [ReadJob] and [AskMaster]; the shell asks. A late,
// wrong or missing answer changes nothing but the age of what is known.

// ReadJob has the shell read what a client left beside a submission: the splits and the configuration of a MapReduce
// job, or the configuration of a Spark application. The machine expects a [JobRead].
type ReadJob struct {
	App       ids.App
	User      string
	Framework heddle.Framework
	Context   []byte // as submitted
}

// JobRead says what was found beside a submission, or why nothing was. Unknown values are zero.
type JobRead struct {
	App     ids.App
	Failed  string // "" if it was read
	Maps    int32
	Reduces int32
	Splits  []SplitNews // the input of each map, in task order
	Demand  heddle.Demand
	Timeout heddle.Span // after which a task that reports nothing is killed: mapreduce.task.timeout
	Uber    bool        // its tasks may run inside its master, which must keep the size asked for: mapreduce.job.ubertask.enable
}

// A SplitNews is the input of one map and the hosts that hold it.
type SplitNews struct {
	Bytes int64
	Hosts []string
}

// A Task is a task of a MapReduce job.
type Task struct {
	Kind  heddle.Kind // heddle.Map or heddle.Reduce
	Index int32
}

// AskMaster has an application's master asked over REST. The machine expects a [MasterTold].
type AskMaster struct {
	Attempt   ids.Attempt
	User      string
	Node      ids.Node // of the master
	Tracking  string   // tracking URL that it registered
	Framework heddle.Framework

	Tasks      bool         // progress of its tasks; for Spark, its stages and executors
	Kinds      policy.Kinds // only these kinds
	Containers []Task       // tasks whose containers are wanted
	Counters   []Task       // completed tasks whose use is wanted
	Heap       bool         // what its Java heap holds is wanted
	Within     heddle.Span
}

// MasterTold is what a master said about itself and its tasks, or why it said nothing. What was not asked for or not
// said is nil or zero.
type MasterTold struct {
	Attempt   ids.Attempt
	Failed    string // "" if it answered everything
	Tasks     []TaskNews
	Executors []ExecutorNews
	Stages    []StageNews
	Heap      HeapNews
	Requests  int   // made
	Bytes     int64 // of the answers
}

// A TaskNews is the progress of a task of a MapReduce job.
type TaskNews struct {
	Task
	Listed    bool // from the list of tasks: State, Phase and Progress are set
	State     TaskState
	Phase     heddle.Phase  // of a running task; zero if the master does not say
	Progress  float64       // of the whole task, 0 to 1
	Container ids.Container // of its newest attempt, or of the successful one; zero if not asked for or none
	NodeHTTP  string        // web address (host:port) of that container's NodeManager
	Counted   bool          // the counters below are set
	Output    int64         // bytes of map output on disk
	Memory    int64         // MiB: its peak resident memory
	CPU       int64         // milliseconds of processor time it took
}

// A TaskState is a stage in the life of a task.
type TaskState uint8

// The states of a task.
const (
	TaskWaits TaskState = iota
	TaskRuns
	TaskSucceeded
	TaskFailed // or was killed
)

// An ExecutorNews is what a Spark driver said about one of its executors.
type ExecutorNews struct {
	Container  ids.Container // zero if it does not say, as for the driver
	Active     int32         // running tasks
	Done       int32         // completed tasks
	MemoryUsed int64         // MiB of stored blocks
	MemoryMax  int64         // MiB available for storage
	GC         heddle.Span   // spent on garbage collection so far
}

// A StageNews is the progress of an active stage of a Spark application, in tasks.
type StageNews struct {
	ID     int32
	Tasks  int32
	Done   int32
	Active int32
}

// A HeapNews is what a master's Java heap holds, in MiB.
type HeapNews struct {
	Live    int64 // used after the last collection of the oldest generation; 0 if there was none yet or it is unknown
	Used    int64
	Max     int64
	Outside int64 // committed outside the heap, as the process reports: metaspace, code
	Threads int32
}

func (*ReadJob) effect()     {}
func (*AskMaster) effect()   {}
func (*JobRead) message()    {}
func (*MasterTold) message() {}
