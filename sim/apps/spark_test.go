package apps

import (
	"testing"

	"heddle"
	"heddle/workload"
)

// sparkJob returns a job with executors of 1 GiB and two cores, and a chain of stages with the given numbers of tasks.
func sparkJob(executors int, tasks ...int) *workload.Job {
	sj := &workload.SparkJob{Executors: executors, Executor: heddle.Of(1024, 2000)}
	for i, n := range tasks {
		st := workload.Stage{ID: 10 + i, Tasks: make([]workload.Task, n), Input: i == 0}
		if i > 0 {
			st.Parents = []int{9 + i}
		}
		sj.Stages = append(sj.Stages, st)
	}
	return &workload.Job{Spark: sj}
}

func ex(node heddle.NodeID, first, n int) []Grant {
	return gr(0, heddle.Executor, heddle.Of(1024, 2000), node, first, n)
}

// The calls of a static application and what they carry: the first 0.2 s after registering, a second when the reporter
// starts, then 0.2, 0.4, 0.8 … 3 s apart while requests are pending, and 3 s apart otherwise; one more call before it
// unregisters.
// Reference: yarn-wire.md 6.2.
func TestSparkCalls(t *testing.T) {
	s := start(t, NewSpark(sparkJob(3, 2), Config{StartUp: 10 * heddle.Second}), 0)
	s.beatAt(10200, Response{}, "0:*=3")
	s.beatAt(10220, Response{}, "")
	s.beatAt(10420, Response{}, "")
	s.beatAt(10820, Response{Granted: ex(0, 1, 2)}, "launch:1 launch:2")
	s.beatAt(11620, Response{Granted: ex(0, 3, 2)}, "0:*=1 launch:3")
	s.beatAt(14620, Response{}, "0:*=0 release:4")
	s.beatAt(17620, Response{Completed: ended(1, 3)}, "")
	s.beatAt(20620, Response{}, "0:*=1")
	for _, at := range []int64{20820, 21220, 22020, 23620, 26620, 29620} {
		s.beatAt(at, Response{}, "")
	}
	s.up(1, "")
	s.up(2, "")
	s.alarmAt(40000, "executor0.0@1 executor1.0@2")
	s.done(1, true, "")
	s.done(2, true, "")
	s.beatAt(40000, Response{}, "finished")
}

// Tasks start when 0.8 of the executors have registered, one per core, the stages in order.
func TestSparkStages(t *testing.T) {
	s := start(t, NewSpark(sparkJob(3, 5, 1), Config{}), 0)
	s.beat(Response{}, "-")
	s.beat(Response{Granted: ex(0, 1, 3)}, "launch:1 launch:2 launch:3")
	s.up(1, "")
	s.up(2, "")
	s.up(3, "executor0.0@1 executor1.0@2 executor2.0@3 executor3.0@1 executor4.0@2")
	for _, c := range []heddle.ContainerID{1, 2, 3, 1} {
		s.done(c, true, "")
	}
	s.done(2, true, "executor0.0@1")
	if w := s.out.Work[0]; w.Stage != 1 {
		t.Errorf("stage %d, want 1", w.Stage)
	}
	s.done(1, true, "")
	s.beatAt(220, Response{}, "finished")
}

// The driver submits a stage when its pause is over, which begins when its parents are done, or with the first stages.
func TestSparkPause(t *testing.T) {
	j := sparkJob(1, 1, 1, 1)
	j.Spark.Stages[1].Pause, j.Spark.Stages[2].Pause, j.Spark.Stages[2].Parents = 60*heddle.Second, 90*heddle.Second, nil
	s := start(t, NewSpark(j, Config{}), 0)
	s.beat(Response{}, "-")
	s.beatAt(220, Response{Granted: ex(0, 1, 1)}, "launch:1")
	s.up(1, "executor0.0@1")
	s.done(1, true, "")
	s.alarmAt(30000, "")
	for _, c := range []struct {
		at    int64
		stage int32
	}{{60220, 1}, {90220, 2}} {
		s.alarmAt(c.at, "executor0.0@1")
		if w := s.out.Work[0]; w.Stage != c.stage {
			t.Errorf("stage %d, want %d", w.Stage, c.stage)
		}
		s.done(1, true, "")
	}
	s.beatAt(90220, Response{}, "finished")
}

// Outside the cluster, the driver's 30 s begin before the master starts.
func TestSparkClient(t *testing.T) {
	j := sparkJob(3, 1)
	j.Spark.Client = true
	s := start(t, NewSpark(j, Config{Submitted: heddle.Time(2 * heddle.Second)}), heddle.Time(12*heddle.Second))
	s.beatAt(12200, Response{Granted: ex(0, 1, 1)}, "-")
	s.up(1, "")
	s.alarmAt(32000, "executor0.0@1")
}

// threeExecutors grants executors 1, 2 and 3 on nodes 0, 1 and 2 half a second in, and starts the first two.
func (s *script) threeExecutors() {
	s.t.Helper()
	s.beat(Response{}, "-")
	s.now = heddle.Time(500 * heddle.Millisecond)
	s.call("-", func() {
		beat(s.m, s.now, &Response{Granted: append(append(ex(0, 1, 1), ex(1, 2, 1)...), ex(2, 3, 1)...)}, &s.out)
	})
	s.up(1, "")
	s.up(2, "")
}

// A task waits 3 s for an executor on its node and 3 s for one in its rack; then any will do. Free slots are offered
// again each second.
func TestSparkLocality(t *testing.T) {
	hosts := map[int32][]heddle.NodeID{0: {0}, 1: {0}, 2: {0}, 3: nil, 4: {4}, 5: {0}}
	c := Config{
		Rack:  []heddle.RackID{0, 0, 1, 1, 1},
		Hosts: func(w Work) []heddle.NodeID { return hosts[w.Index] },
	}
	s := start(t, NewSpark(sparkJob(3, 6), c), 0)
	s.threeExecutors()
	// Two tasks on node 0, and the one without a preference; 2, 4 and 5 wait.
	s.up(3, "executor0.0@1 executor1.0@1 executor3.0@2")
	s.alarmAt(1000, "")
	s.alarmAt(2000, "")
	s.alarmAt(3000, "")
	// 3.5 s passed: a second each; rack 0 for task 2, rack 1 for task 4.
	s.alarmAt(4000, "executor2.0@2 executor4.0@3")
	s.alarmAt(5000, "")
	s.alarmAt(6000, "")
	s.alarmAt(7000, "executor5.0@3")
}

// The waits of the levels follow each other: node until 3.5 s, rack until 6.5 s, even if nothing is offered in the
// rack.
func TestSparkLocalityWaits(t *testing.T) {
	c := Config{Rack: []heddle.RackID{0, 0, 1}, Hosts: func(Work) []heddle.NodeID { return []heddle.NodeID{0} }}
	s := start(t, NewSpark(sparkJob(3, 7), c), 0)
	s.threeExecutors()
	s.up(3, "executor0.0@1 executor1.0@1")
	for _, at := range []int64{1000, 2000, 3000} {
		s.alarmAt(at, "")
	}
	s.alarmAt(4000, "executor2.0@2 executor3.0@2")
	s.alarmAt(5000, "")
	s.alarmAt(6000, "")
	s.alarmAt(7000, "executor4.0@3 executor5.0@3")
}

// Tasks that start on their node do not restart the wait of those that a free executor elsewhere was refused: after 3 s
// for the node and 3 s for the rack, counted from 0.5 s, that executor takes two of them.
func TestSparkLocalityNotReset(t *testing.T) {
	c := Config{Rack: []heddle.RackID{0, 1}, Hosts: func(Work) []heddle.NodeID { return []heddle.NodeID{0} }}
	s := start(t, NewSpark(sparkJob(2, 30), c), 0)
	s.beat(Response{}, "-")
	s.now = heddle.Time(500 * heddle.Millisecond)
	s.call("-", func() { beat(s.m, s.now, &Response{Granted: append(ex(0, 1, 1), ex(1, 2, 1)...)}, &s.out) })
	s.up(1, "")
	s.up(2, "executor0.0@1 executor1.0@1")
	for at := int64(1000); at < 7000; at += 1000 {
		s.alarmAt(at, "")
		s.done(1, true, "-")
		if len(s.out.Work) != 1 {
			t.Errorf("at %d ms a slot on the node took %d tasks, want 1", at, len(s.out.Work))
		}
	}
	s.alarmAt(7000, "executor8.0@2 executor9.0@2")
}

// A slot that becomes free on the right node is taken at once.
func TestSparkLocalityFreed(t *testing.T) {
	c := Config{Hosts: func(Work) []heddle.NodeID { return []heddle.NodeID{0} }}
	s := start(t, NewSpark(sparkJob(2, 3), c), 0)
	s.beat(Response{Granted: append(ex(0, 1, 1), ex(1, 2, 1)...)}, "-")
	s.up(2, "")
	s.up(1, "executor0.0@1 executor1.0@1")
	s.done(1, true, "executor2.0@1")
}

// A stage that reads a cache prefers the executor that ran the same task of the stage that filled it.
func TestSparkCached(t *testing.T) {
	j := sparkJob(2, 4, 4)
	j.Spark.Stages[0].Caches = true
	j.Spark.Stages[1].Cached = true
	s := start(t, NewSpark(j, Config{}), 0)
	s.beat(Response{Granted: append(ex(0, 1, 1), ex(5, 2, 1)...)}, "-")
	s.up(2, "")
	s.up(1, "executor0.0@2 executor1.0@1 executor2.0@2 executor3.0@1")
	for range 2 {
		s.done(1, true, "")
	}
	s.done(2, true, "")
	s.done(2, true, "executor0.0@2 executor1.0@1 executor2.0@2 executor3.0@1")
}

// If it is known what is in memory, a task whose input is not goes where the input would be read from.
func TestSparkCachedElsewhere(t *testing.T) {
	j := sparkJob(2, 2, 2)
	j.Spark.Stages[0].Caches = true
	j.Spark.Stages[1].Cached = true
	c := Config{
		Hosts:  func(w Work) []heddle.NodeID { return []heddle.NodeID{5 * heddle.NodeID(w.Index)} },
		Cached: func(w Work) heddle.ContainerID { return heddle.ContainerID(2 * (1 - w.Index)) }, // that of task 1 is nowhere
	}
	s := start(t, NewSpark(j, c), 0)
	s.beat(Response{Granted: append(ex(0, 1, 1), ex(5, 2, 1)...)}, "-")
	s.up(1, "")
	s.up(2, "executor0.0@1 executor1.0@2")
	s.done(1, true, "")
	s.done(2, true, "executor0.0@2 executor1.0@2")
}

// Losing an executor sends back its running tasks, and the finished ones whose output it held as long as a later stage
// needs them; the executor is replaced.
func TestSparkExecutorLost(t *testing.T) {
	s := start(t, NewSpark(sparkJob(2, 4, 2), Config{}), 0)
	s.beat(Response{}, "-")
	s.beat(Response{Granted: append(ex(0, 1, 1), ex(1, 2, 1)...)}, "-")
	s.up(1, "")
	s.up(2, "executor0.0@1 executor1.0@2 executor2.0@1 executor3.0@2")
	s.done(1, true, "")
	s.done(1, true, "")
	s.done(2, true, "")
	s.done(2, true, "executor0.0@1 executor1.0@2") // the second stage
	s.done(1, true, "")
	s.last[2] = nil
	// Its tasks 1 and 3 of the first stage run again before task 1 of the second one may.
	s.beat(Response{Completed: ended(heddle.Aborted, 2)}, "0:*=0 executor1.1@1 executor3.1@1")
	if w := s.out.Work[0]; w.Stage != 0 {
		t.Errorf("stage %d runs, want 0 again", w.Stage)
	}
	s.beat(Response{Granted: ex(3, 3, 1)}, "0:*=1 launch:3")
	s.done(1, true, "")
	s.done(1, true, "executor1.1@1")
	s.done(1, true, "")
	s.beat(Response{}, "finished")
}

// Output that was lost while nobody needed it is missed when a later stage's output is lost too.
func TestSparkOutputLostBefore(t *testing.T) {
	s := start(t, NewSpark(sparkJob(2, 2, 2, 2), Config{}), 0)
	s.beat(Response{}, "-")
	s.beat(Response{Granted: append(ex(0, 1, 1), ex(1, 2, 1)...)}, "-")
	s.up(1, "")
	s.up(2, "executor0.0@1 executor1.0@2")
	for range 2 { // the first two stages
		s.done(1, true, "")
		s.done(2, true, "executor0.0@1 executor1.0@2")
	}
	s.beat(Response{Completed: ended(heddle.Aborted, 2)}, "-")
	// The outputs of both tasks 1 are lost; that of the second stage waits for that of the first.
	if w := s.out.Work; len(w) != 1 || w[0].Stage != 0 || w[0].Index != 1 || w[0].Attempt != 1 {
		t.Errorf("runs %v, want task 1 of stage 0 again", w)
	}
}

// … even if it was lost at another time.
func TestSparkOutputLostLongBefore(t *testing.T) {
	s := start(t, NewSpark(sparkJob(2, 2, 1, 1), Config{}), 0)
	s.beat(Response{}, "-")
	s.beat(Response{Granted: append(ex(0, 1, 1), ex(1, 2, 1)...)}, "-")
	s.up(1, "")
	s.up(2, "executor0.0@1 executor1.0@2")
	s.done(2, true, "")
	s.done(1, true, "executor0.0@1")
	s.done(1, true, "executor0.0@1")
	s.beat(Response{Completed: ended(heddle.Aborted, 2)}, "0:*=0") // the second stage is done: nothing is missed
	s.beat(Response{Completed: ended(heddle.Aborted, 1), Granted: ex(2, 3, 1)}, "0:*=1 launch:3")
	s.up(3, "executor0.1@3 executor1.1@3")
}

func TestSparkFailures(t *testing.T) {
	s := start(t, NewSpark(sparkJob(1, 1), Config{}), 0)
	s.beat(Response{}, "-")
	s.beat(Response{Granted: ex(0, 1, 1)}, "-")
	s.up(1, "executor0.0@1")
	s.done(1, false, "executor0.1@1")
	s.done(1, false, "executor0.2@1")
	s.done(1, false, "executor0.3@1")
	s.done(1, false, "")
	s.beat(Response{}, "failed")

	// Too many executors that failed through the application's fault, at least three, also end it.
	s = start(t, NewSpark(sparkJob(1, 1), Config{}), 0)
	s.beat(Response{}, "-")
	id := 1
	for _, status := range []heddle.ExitStatus{1, heddle.Preempted, heddle.KilledOverPhysical, heddle.Aborted, 137} {
		s.beat(Response{Granted: ex(0, id, 1)}, "-")
		s.beat(Response{Completed: ended(status, heddle.ContainerID(id))}, "-")
		s.beat(Response{}, "-")
		id++
	}
	if s.out.Finish != FinishedBadly {
		t.Errorf("three failures of executors: %v, want the application failed", s.out.Finish)
	}
}

// While tasks wait, the target grows by 1, 2, 4 … each second, up to what the tasks can use; it falls with them.
// Executors that are idle for the timeout are given back as long as the minimum number remains.
func TestSparkDynamic(t *testing.T) {
	j := sparkJob(0, 20)
	j.Spark.Dynamic = &workload.Dynamic{Min: 1, Max: 100, Initial: 1}
	s := start(t, NewSpark(j, Config{}), 0)
	s.beatAt(200, Response{}, "0:*=1")
	s.beatAt(220, Response{Granted: ex(0, 1, 1)}, "launch:1")
	s.up(1, "executor0.0@1 executor1.0@1")
	// Tasks have been waiting since 0.22 s. A changed target makes the reporter call at once.
	s.alarmAt(1220, "")
	s.beatAt(1220, Response{}, "0:*=1")
	s.beatAt(1420, Response{}, "")
	s.beatAt(1820, Response{}, "")
	s.alarmAt(2220, "")
	s.beatAt(2220, Response{}, "0:*=3")
	s.beatAt(2420, Response{}, "")
	s.beatAt(2820, Response{}, "")
	s.alarmAt(3220, "")
	s.beatAt(3220, Response{Granted: ex(1, 2, 7)}, "0:*=7 launch:2 launch:3 launch:4 launch:5 launch:6 launch:7 launch:8")
	s.alarmAt(4220, "")
	// 20 tasks need 10 executors, so the next step is 2, not 8.
	s.beatAt(4220, Response{Granted: ex(2, 9, 2)}, "0:*=2 launch:9 launch:10")
	for c := heddle.ContainerID(2); c <= 9; c++ {
		s.up(c, "-")
		if len(s.out.Work) != 2 {
			t.Errorf("executor %d took %d tasks, want 2", c, len(s.out.Work))
		}
	}
	s.up(10, "-")
	// No task waits. Eight tasks end, and the target falls to six with them.
	for c := heddle.ContainerID(2); c <= 5; c++ {
		s.done(c, true, "")
		s.done(c, true, "")
	}
	if got := s.m.(*spark).target; got != 6 {
		t.Errorf("target %d, want 6", got)
	}
	s.now = heddle.Time(64220 * heddle.Millisecond)
	s.call("", func() { s.m.Alarm(s.now, &s.out) })
	s.next = heddle.Time(65 * heddle.Second)
	s.beat(Response{}, "0:*=0 release:2 release:3 release:4 release:5")
	s.beat(Response{Completed: ended(heddle.Aborted, 2, 3, 4, 5)}, "")
	s.beat(Response{}, "") // none of them is replaced
}

// A step that adds nothing, because there are as many executors as tasks could use, is made up for as soon as there are
// more tasks: the time until the next step counts from a step that added some.
func TestSparkDynamicStepThatAddsNothing(t *testing.T) {
	j := sparkJob(0, 1, 5, 6)
	j.Spark.Stages[1].Parents, j.Spark.Stages[2].Parents = nil, []int{j.Spark.Stages[0].ID}
	j.Spark.Dynamic = &workload.Dynamic{Min: 1, Max: 100, Initial: 1}
	s := start(t, NewSpark(j, Config{}), 0)
	s.beatAt(200, Response{}, "0:*=1")
	s.beatAt(220, Response{Granted: ex(0, 1, 1)}, "launch:1")
	s.up(1, "-")
	target := func(ms int64, want int, f func()) {
		t.Helper()
		s.now = heddle.Time(heddle.Span(ms) * heddle.Millisecond)
		s.call("-", f)
		if got := s.m.(*spark).target; got != want {
			t.Errorf("at %d ms it wants %d executors, want %d", ms, got, want)
		}
	}
	alarm := func() { s.m.Alarm(s.now, &s.out) }
	target(1220, 2, alarm)
	target(2220, 3, alarm)
	target(3220, 3, alarm) // six tasks can use no more
	target(3300, 4, func() { s.m.WorkDone(s.now, Work{Container: 1, Kind: heddle.Executor}, true, &s.out) })
	target(4200, 4, alarm)
	target(4300, 6, alarm)
}

// If nodes have no shuffle service, an executor stays for its shuffle files, and takes them with it when it ends.
func TestSparkTracksShuffles(t *testing.T) {
	for _, tracks := range []bool{false, true} {
		j := sparkJob(0, 2, 1)
		j.Spark.Dynamic = &workload.Dynamic{Initial: 2, Tracks: tracks}
		j.Spark.Stages[0].Writes = workload.Shuffle
		s := start(t, NewSpark(j, Config{}), 0)
		m := s.m.(*spark)
		s.beat(Response{}, "-")
		s.beat(Response{Granted: ex(0, 1, 2)}, "-")
		s.up(1, "-")
		s.up(2, "-")
		s.done(1, true, "-")
		s.done(2, true, "-") // the last task runs in executor 1
		s.now = s.now.Plus(61 * heddle.Second)
		s.call("-", func() { s.m.Alarm(s.now, &s.out) })
		s.next = s.now
		s.beat(Response{}, "-")
		if gone := len(s.out.Release) == 1 && s.out.Release[0] == 2; gone == tracks {
			t.Errorf("tracks %v: idle for a minute, executors %v are given back", tracks, s.out.Release)
		}
		s.beat(Response{Completed: ended(heddle.Aborted, 2)}, "-")
		if lost := 2 - m.stages[0].done; (lost == 1) != tracks {
			t.Errorf("tracks %v: with an executor the output of %d tasks is lost", tracks, lost)
		}
	}
}

// With dynamic allocation, requests name the hosts of the input, in proportion to the tasks there. The numbers are
// those of Spark's own example: 20 tasks on hosts 1, 2, 3 and 10 on 1, 2, 4; with two tasks per executor 15 are needed,
// of which the hosts' parts are ⌈15·30/90⌉ = 5, 5, ⌈15·20/90⌉ = 4, 2: 16.
func TestSparkPlacement(t *testing.T) {
	j := sparkJob(18, 30)
	c := Config{
		PreferInput: true,
		Rack:        []heddle.RackID{0, 0, 0, 1, 1},
		Hosts: func(w Work) []heddle.NodeID {
			if w.Index < 20 {
				return []heddle.NodeID{1, 2, 3}
			}
			return []heddle.NodeID{1, 2, 4}
		},
	}
	s := start(t, NewSpark(j, c), 0)
	// 16 of 18 have places: ⌈5·16/5⌉ = 16 name hosts 1 and 2, ⌈4·16/5⌉ = 13 host 3, ⌈2·16/5⌉ = 7 host 4.
	s.beat(Response{}, "0:*=18 0:r0=16 0:r1=13 0:h1=16 0:h2=16 0:h3=13 0:h4=7")
	s.beat(Response{Granted: append(ex(4, 1, 1), ex(0, 2, 1)...)}, "launch:1 launch:2")
	// By host for node 4; by rack for node 0, which takes the oldest request left for the rack.
	s.beat(Response{}, "0:*=16 0:r0=14 0:r1=11 0:h1=14 0:h2=14 0:h3=11 0:h4=5")

	j = sparkJob(10, 30)
	s = start(t, NewSpark(j, c), 0)
	s.beat(Response{}, "0:*=10 0:r0=10 0:r1=8 0:h1=10 0:h2=10 0:h3=8 0:h4=4")
}

// Requests that nobody needs any more are taken back. No executor is on the tasks' node, so no task waits for one.
func TestSparkCancel(t *testing.T) {
	j := sparkJob(0, 4)
	j.Spark.Dynamic = &workload.Dynamic{Initial: 6}
	c := Config{Hosts: func(Work) []heddle.NodeID { return []heddle.NodeID{3} }}
	s := start(t, NewSpark(j, c), 0)
	s.beat(Response{}, "0:*=6")
	s.beat(Response{Granted: ex(9, 1, 1)}, "-")
	s.up(1, "")
	s.beat(Response{}, "0:*=5")
	for s.next < s.al {
		s.beat(Response{}, "")
	}
	s.alarmAt(30000, "executor0.0@1 executor1.0@1")
	s.beatAt(30000, Response{}, "0:*=1") // four tasks need two executors, one of which is there
}

func TestSparkNothingToDo(t *testing.T) {
	s := start(t, NewSpark(&workload.Job{}, Config{}), 0)
	s.beatAt(200, Response{}, "0:*=2")
	s.beatAt(220, Response{Granted: ex(0, 1, 2)}, "-")
	s.alarmAt(30000, "")
	s.beat(Response{}, "finished")
}
