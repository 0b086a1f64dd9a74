package rm

import (
	"heddle"
	"heddle/policy"
	"heddle/yarn/ids"
)

// What is known of a job beside what YARN's protocols say: what its client left beside the submission, and what its
// master tells over REST. The machine says whom to ask what and when, with [ReadJob] and [AskMaster]; the shell asks. An
// answer that is late, wrong or missing changes nothing but how old it is what is known.

// ReadJob has read what a client left beside a submission: the splits and the configuration of a MapReduce job, or the
// configuration of a Spark application. The machine wants to hear a [JobRead].
type ReadJob struct {
	App       ids.App
	User      string
	Framework heddle.Framework
	Context   []byte // as submitted
}

// JobRead says what was found beside a submission, or why nothing was. What is not known is zero.
type JobRead struct {
	App     ids.App
	Failed  string // "" for read
	Maps    int32
	Reduces int32
	Splits  []SplitNews // the input of each map, in task order
	Demand  heddle.Demand
	Timeout heddle.Span // after which a task that reports nothing is killed: mapreduce.task.timeout
	Uber    bool        // its tasks may run inside its master, which is to be left as it was asked for: mapreduce.job.ubertask.enable
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

// AskMaster has an application's master asked over REST. The machine wants to hear a [MasterTold].
type AskMaster struct {
	Attempt   ids.Attempt
	User      string
	Node      ids.Node // of the master
	Tracking  string   // what it registered as the place of its pages
	Framework heddle.Framework

	Tasks      bool         // how far its tasks are; of Spark its stages and executors
	Kinds      policy.Kinds // of these kinds alone
	Containers []Task       // in which containers these tasks run
	Counters   []Task       // what these tasks used, which have ended
	Heap       bool         // what its Java heap holds
	Within     heddle.Span
}

// MasterTold is what a master said of itself and its tasks, or why it said nothing. What was not asked for, or was not
// said, is nil or zero.
type MasterTold struct {
	Attempt   ids.Attempt
	Failed    string // "" where it answered all that was asked
	Tasks     []TaskNews
	Executors []ExecutorNews
	Stages    []StageNews
	Heap      HeapNews
	Requests  int   // that were made
	Bytes     int64 // of the answers
}

// A TaskNews is how far a task of a MapReduce job is.
type TaskNews struct {
	Task
	Listed    bool // it is from the list of tasks: State, Phase and Progress are said
	State     TaskState
	Phase     heddle.Phase  // of one that runs; zero where the master does not say
	Progress  float64       // of the whole task, 0 to 1
	Container ids.Container // of its newest attempt, or of the one that succeeded; zero where it was not asked for or has none
	NodeHTTP  string        // host:port of the pages of that container's NodeManager
	Counted   bool          // the counters below are said
	Output    int64         // bytes of map output, as they are on the disk
	Memory    int64         // MiB: the largest resident memory it had
	CPU       int64         // milliseconds of processor time it took
}

// A TaskState says where a task is in its life.
type TaskState uint8

// The states of a task.
const (
	TaskWaits TaskState = iota
	TaskRuns
	TaskSucceeded
	TaskFailed // or was killed
)

// An ExecutorNews is what a Spark driver said of one of its executors.
type ExecutorNews struct {
	Container  ids.Container // zero where it does not say, as for the driver
	Active     int32         // tasks that run
	Done       int32         // tasks that ended
	MemoryUsed int64         // MiB of stored blocks
	MemoryMax  int64         // MiB there are for storage
	GC         heddle.Span   // spent on garbage collection so far
}

// A StageNews is how far an active stage of a Spark application is, in tasks.
type StageNews struct {
	ID     int32
	Tasks  int32
	Done   int32
	Active int32
}

// A HeapNews is what a master's Java heap holds, in MiB.
type HeapNews struct {
	Live    int64 // used after the last collection of the oldest generation; 0 where there was none yet, or it is not said
	Used    int64
	Max     int64
	Outside int64 // committed outside the heap, as the process says: metaspace, code
	Threads int32
}

func (*ReadJob) effect()     {}
func (*AskMaster) effect()   {}
func (*JobRead) message()    {}
func (*MasterTold) message() {}
