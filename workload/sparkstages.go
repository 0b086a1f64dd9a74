package workload

import (
	"slices"
	"strconv"

	"heddle"
)

// maxConcurrentJobs limits how many jobs a driver is assumed to have waited for at once.
const maxConcurrentJobs = 64

// driver is the ID of the driver among executors: without a cluster, it runs the tasks itself.
const driver = "driver"

// A sparkLog is what the events of one application have said so far.
type sparkLog struct {
	im         *importer
	id         string
	attempt    int
	name, user string
	start, end int64 // ms since 1970
	properties map[string]string
	profiles   bool            // some stages have resource profiles of their own
	executors  []heddle.Time   // when each registered, by the log's clock
	registered map[string]bool // the executors now, by ID
	most       int             // of executors, registered at once
	storage    int64           // bytes that the first executor can store
	tasks      int64

	stages    []*sparkStage // in order of first submission
	byID      map[int]*sparkStage
	byRDD     map[int]int  // the last RDD of a submitted shuffle stage → its ID, for stages skipped later
	alias     map[int]int  // an announced stage → the one submitted earlier that left the same output
	persisted map[int]bool // RDDs that a submitted stage stored
	jobs      map[int64]*sparkJob
	frontier  []int64       // ended jobs that no job that ended later waited for
	roots     map[int]int64 // a stage → the first job that announced it
	failed    bool          // of the jobs that ended, the last one
}

type sparkJob struct {
	stages []int
	result int     // its last stage
	after  []int64 // jobs that had ended when it was submitted
}

type sparkStage struct {
	Stage
	submitted  int64 // ms since 1970, of its first attempt; 0 = not logged
	ended      int64 // likewise, of its last attempt
	parents    []int
	order      int             // of its first submission
	source     bool            // depends on data outside Spark, which a cached RDD may replace
	partitions map[int64]int64 // partition → index into Tasks
	taken      []bool          // of the tasks, those of a known partition and those that are done
	free       int64           // all tasks before it are taken
	starts     []heddle.Time   // of the tasks, by the log's clock
	done       []bool
}

func newSparkLog(im *importer) *sparkLog {
	return &sparkLog{
		im: im, properties: map[string]string{}, byID: map[int]*sparkStage{}, byRDD: map[int]int{}, alias: map[int]int{},
		persisted: map[int]bool{}, jobs: map[int64]*sparkJob{}, roots: map[int]int64{}, registered: map[string]bool{},
	}
}

func (s *sparkLog) take(e *sparkEvent) *fault {
	switch e.Event {
	case "SparkListenerApplicationStart":
		if e.Timestamp < 0 || e.Timestamp > maxMillis {
			return faultf("Timestamp", "%d; wanted ms since 1970", e.Timestamp)
		}
		s.id, s.name, s.user, s.start = e.AppID, e.AppName, e.User, e.Timestamp
		s.attempt, _ = strconv.Atoi(e.AppAttempt)
	case "SparkListenerApplicationEnd":
		if e.Timestamp < 0 || e.Timestamp > maxMillis {
			return faultf("Timestamp", "%d; wanted ms since 1970", e.Timestamp)
		}
		s.end = e.Timestamp
	case "SparkListenerEnvironmentUpdate":
		if len(s.properties) == 0 {
			s.properties = e.Properties
		}
	case "SparkListenerResourceProfileAdded":
		s.profiles = s.profiles || e.ProfileID != 0
	case "SparkListenerExecutorAdded":
		if e.Executor != driver && len(s.registered) < MaxExecutors {
			s.registered[e.Executor] = true
			s.most = max(s.most, len(s.registered))
		}
	case "SparkListenerExecutorRemoved":
		delete(s.registered, e.Executor)
	case "SparkListenerBlockManagerAdded":
		if e.MaxMemory < 0 || e.MaxMemory > MaxBytes {
			return faultf("Maximum Memory", "%d; wanted 0 to %d", e.MaxMemory, int64(MaxBytes))
		}
		if e.BlockManager.Executor == driver {
			return nil
		}
		if s.storage == 0 {
			s.storage = e.MaxMemory
		}
		if e.Timestamp > 0 && e.Timestamp <= maxMillis && len(s.executors) < MaxExecutors {
			s.executors = append(s.executors, millis(e.Timestamp))
		}
	case "SparkListenerJobStart":
		return s.jobStart(e)
	case "SparkListenerJobEnd":
		s.failed = e.Result.Result == "JobFailed"
		s.jobEnd(e.JobID)
	case "SparkListenerStageSubmitted", "SparkListenerStageCompleted":
		if e.Stage == nil {
			return faultf("Stage Info", "is missing")
		}
		bad := s.submitted(e.Stage)
		if st := s.byID[e.Stage.ID]; st != nil {
			st.ended = max(st.ended, e.Stage.Completed)
		}
		return bad
	case "SparkListenerTaskEnd":
		return s.taskEnd(e)
	}
	return nil
}

// jobStart records which stages a job consists of, and after which jobs the driver submitted it: if a driver had waited
// for those jobs, it can be assumed to have needed them.
func (s *sparkLog) jobStart(e *sparkEvent) *fault {
	if len(e.StageIDs) == 0 {
		return nil
	}
	if len(s.roots)+len(e.StageIDs) > MaxStages {
		return faultf("Stage IDs", "more than %d stages", MaxStages)
	}
	j := &sparkJob{stages: e.StageIDs, result: slices.Max(e.StageIDs), after: slices.Clone(s.frontier)}
	s.jobs[e.JobID] = j
	for _, id := range e.StageIDs {
		if _, known := s.roots[id]; !known {
			s.roots[id] = e.JobID
		}
	}
	for i := range e.StageInfos {
		info := &e.StageInfos[i]
		if len(info.RDDs) == 0 || s.byID[info.ID] != nil {
			continue
		}
		if same, ok := s.byRDD[info.RDDs[0].ID]; ok {
			s.alias[info.ID] = same
		}
	}
	return nil
}

func (s *sparkLog) jobEnd(id int64) {
	j := s.jobs[id]
	if j == nil || slices.Contains(s.frontier, id) {
		return
	}
	s.frontier = slices.DeleteFunc(s.frontier, func(f int64) bool { return slices.Contains(j.after, f) })
	if len(s.frontier) == maxConcurrentJobs {
		s.frontier = slices.Delete(s.frontier, 0, 1)
	}
	s.frontier = append(s.frontier, id)
}

// submitted handles the first submission of a stage; later attempts repeat some of its tasks.
func (s *sparkLog) submitted(info *sparkStageInfo) *fault {
	if s.byID[info.ID] != nil {
		return nil
	}
	if info.Tasks < 0 {
		return faultf("Number of Tasks", "%d is negative", info.Tasks)
	}
	if len(s.stages) == MaxStages {
		return faultf("Stage Info", "more than %d stages", MaxStages)
	}
	if bad := s.im.room("Number of Tasks", info.Tasks); bad != nil {
		return bad
	}
	if s.tasks+info.Tasks > MaxTasksPerJob {
		return faultf("Number of Tasks", "more than %d tasks in one application", MaxTasksPerJob)
	}
	s.tasks += info.Tasks
	st := &sparkStage{
		Stage:     Stage{ID: info.ID, Tasks: s.im.take(int(info.Tasks))},
		submitted: info.Submitted, parents: info.Parents, order: len(s.stages), partitions: map[int64]int64{}, done: make([]bool, info.Tasks),
		taken: make([]bool, info.Tasks), starts: make([]heddle.Time, info.Tasks),
	}
	for _, rdd := range info.RDDs {
		if len(rdd.Parents) == 0 && rdd.Name != "ParallelCollectionRDD" {
			st.source = true
		}
		if !rdd.Level.Memory && !rdd.Level.Disk && !rdd.Level.OffHeap {
			continue
		}
		if s.persisted[rdd.ID] {
			st.Cached = true
		} else {
			st.Caches = true
			s.persisted[rdd.ID] = true
		}
	}
	if len(info.RDDs) > 0 {
		if _, known := s.byRDD[info.RDDs[0].ID]; !known {
			s.byRDD[info.RDDs[0].ID] = info.ID
		}
	}
	s.byID[info.ID] = st
	s.stages = append(s.stages, st)
	return nil
}

// taskEnd handles the first successful attempt of a task.
func (s *sparkLog) taskEnd(e *sparkEvent) *fault {
	st := s.byID[e.StageID]
	if st == nil {
		return faultf("Stage ID", "stage %d was never submitted", e.StageID)
	}
	if i := e.Task.Index; e.Attempt == 0 && (i < 0 || i >= int64(len(st.Tasks))) {
		return faultf("Index", "%d; stage %d has %d tasks", i, e.StageID, len(st.Tasks))
	}
	i, ok := st.index(e)
	if !ok {
		return nil
	}
	if e.End.Reason != "Success" || st.done[i] {
		return nil
	}
	t, bad := e.task()
	// Bytes read include blocks from the cache.
	reads := e.Metrics.Input.Bytes > 0 && st.source && !st.Cached
	if e.Task.Host != "" {
		host := s.im.host(e.Task.Host, "")
		if reads && e.Task.Locality == "NODE_LOCAL" {
			t.Hosts = []int32{host}
		}
	}
	st.Input = st.Input || reads
	switch {
	case e.Metrics.ShuffleWrite.Bytes > 0:
		st.Writes = Shuffle
	case e.Metrics.Output.Bytes > 0 && st.Writes == Unsaid:
		st.Writes = Files
	}
	st.done[i], st.taken[i], st.Tasks[i], st.starts[i] = true, true, t, millis(max(0, min(e.Task.Launch, maxMillis)))
	return bad
}

// index returns which of the stage's tasks an event is about: the one with its partition. The first attempt of a stage
// numbers all of its tasks, and each later one those that it repeats, so a partition that first appears in a later
// attempt is the task of the same number, or the first one that is left. If none is left, ok is false.
func (st *sparkStage) index(e *sparkEvent) (i int64, ok bool) {
	p := e.Task.Partition
	if p != nil {
		if i, ok = st.partitions[*p]; ok {
			return i, true
		}
	}
	n := int64(len(st.Tasks))
	switch i = -1; {
	case e.Attempt == 0 && p == nil:
		return e.Task.Index, true
	case e.Attempt == 0:
		i = e.Task.Index
	case p != nil:
		i = *p
	}
	if i < 0 || i >= n || st.taken[i] {
		for st.free < n && st.taken[st.free] {
			st.free++
		}
		if i = st.free; i == n {
			return 0, false
		}
	}
	if p != nil {
		st.partitions[*p], st.taken[i] = i, true
	}
	return i, true
}

// dag returns the stages with their parents among them and the driver's pauses. A stage waits for the last stages of the
// jobs that the driver had waited for, unless a parent from its own job does.
func (s *sparkLog) dag() []Stage {
	out := make([]Stage, len(s.stages))
	for i, st := range s.stages {
		out[i] = st.Stage
		root := s.roots[st.ID]
		waits := false
		for _, p := range st.parents {
			if same, skipped := s.alias[p]; skipped && s.byID[p] == nil {
				p = same
			}
			out[i].Parents = s.addParent(out[i].Parents, p, i)
			waits = waits || s.roots[p] == root && slices.Contains(out[i].Parents, p)
		}
		if job := s.jobs[root]; job != nil && !waits {
			for _, before := range job.after {
				out[i].Parents = s.addParent(out[i].Parents, s.jobs[before].result, i)
			}
		}
		out[i].Pause = s.pause(st, out[i].Parents)
	}
	return out
}

// pause returns how long after the last of its parents had ended a stage was submitted; without parents, how long after
// the first stage of all. The driver was busy or idle meanwhile: it does not wait for executors. The pause is 0 if it is
// not logged when a parent ended.
func (s *sparkLog) pause(st *sparkStage, parents []int) heddle.Span {
	if len(parents) == 0 {
		return recorded(s.stages[0].submitted, st.submitted)
	}
	last := int64(0)
	for _, p := range parents {
		ended := s.byID[p].ended
		if ended == 0 {
			return 0
		}
		last = max(last, ended)
	}
	return recorded(last, st.submitted)
}

// addParent appends a stage that ran, if it is not yet in parents and was submitted before the n-th.
func (s *sparkLog) addParent(parents []int, p, n int) []int {
	st := s.byID[p]
	if st == nil {
		s.im.fill("parents", "a parent stage that was skipped because its output existed is left out", "")
		return parents
	}
	if slices.Contains(parents, p) || st.order >= n {
		return parents
	}
	return append(parents, p)
}

// times returns when executors registered and tasks began.
func (s *sparkLog) times() *Times {
	t := &Times{Executors: s.executors}
	for _, st := range s.stages {
		t.Stages = append(t.Stages, st.starts)
	}
	return t
}

// spans reports whether every task states its duration.
func spans(stages []Stage) bool {
	for i := range stages {
		for k := range stages[i].Tasks {
			if stages[i].Tasks[k].Duration == 0 {
				return false
			}
		}
	}
	return true
}
