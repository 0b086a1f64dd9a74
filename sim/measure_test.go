package sim

import (
	"strings"
	"testing"
	"time"

	"heddle"
	"heddle/sim/world"
	"heddle/workload"
)

// Three jobs run on one node of 8 processors and 10,240 MiB that calls every millisecond, o after the whole one (a
// second node of 1 MiB in another rack holds data and nothing else). Given world, first come, first served. Masters of
// MapReduce (1536 MiB) call every second from their start, those of plain jobs (1024 MiB) on whole seconds after the
// submission. All tasks have 1024 MiB and one processor.
//
//	A, 0 s, MapReduce, 2 maps of 10 s, 1 reduce of 5 s after all maps:
//	  master from o; asks for maps at 1+o and has them at once; learns of them and starts them at 2+o;
//	  they end at 12+o; the master, hearing so, decides on the reduce and asks with its next call, 13+o;
//	  starts it at 14+o; it ends at 19+o, and the master unregisters.
//	  wait 2+o, JCT 19+o, starvation 14−12 = 2, reduce hold 19−13 = 6
//	B, 3 s, plain, 3 tasks of 4 s:
//	  master from 3+o; asks at 4; has them at 4+o; hears at 5, acts at 6: 6 to 10; known at 10+o; hears at
//	  11, acts at 12: unregisters.
//	  wait 3, JCT 9
//	C, 4 s, MapReduce, 1 map of 3 s:
//	  master from 4+o; asks at 5+o, when A's master and 2 maps, B's master and 3 tasks and its own master
//	  hold all 8 processors; has it at 10+o; starts it at 11+o; it ends at 14+o.
//	  wait 7+o, JCT 10+o
//
// Makespan 19+o. Memory in MiB·s: masters 1536·19 + 1024·9 + 1536·10, maps of A 2·1024·11, reduce 1024·6,
// tasks of B 3·1024·6, map of C 1024·4: 104,960. Processors: 20 + 5 + 12 + 3 = 40 core-seconds.
func TestMetricsByHand(t *testing.T) {
	a := mapReduce("A", 0, lasting(2, 10), lasting(1, 5))
	a.SlowStart = 1
	a.Maps[0].Hosts, a.Maps[1].Hosts = []int32{0}, []int32{1}
	c := mapReduce("C", 4, lasting(1, 3), nil)
	b := workload.Job{ID: "B", Submit: at(3), Other: lasting(3, 4)}
	o := givenWorld([]world.NodeSpec{{Name: "big", Total: heddle.Of(10240, 8000)}, {Name: "data", Rack: 1, Total: heddle.Of(1, 1000)}}, a, b, c)
	o.Workload.Hosts = []workload.Host{{Name: "big"}, {Name: "data"}}
	o.Set, o.NodeBeat, o.KeepTasks, o.Check = bare(), heddle.Millisecond, true, true
	o.Queues, o.Users = []heddle.QueueID{1, 1, 1}, make([]heddle.UserID, 3)
	r, err := Run(o)
	if err != nil {
		t.Fatal(err)
	}
	states(t, r, Succeeded)
	off := heddle.Span(kept(r, 0, heddle.AM)[0].Granted)
	if off >= heddle.Millisecond {
		t.Fatalf("the first master started at %v", off)
	}
	for i, want := range []JobResult{
		{Wait: 2*second + off, JCT: 19*second + off, Starvation: 2 * second, ReduceHold: 6 * second, LocalMaps: 1, MasterMemory: 1536, Tasks: 3},
		{Wait: 3 * second, JCT: 9 * second, Starvation: NoSpan, ReduceHold: NoSpan, MasterMemory: 1024, Tasks: 3},
		{Wait: 7*second + off, JCT: 10*second + off, Starvation: NoSpan, ReduceHold: NoSpan, MasterMemory: 1536, Tasks: 1},
	} {
		j := r.Jobs[i]
		got := JobResult{Wait: j.Wait, JCT: j.JCT, Starvation: j.Starvation, ReduceHold: j.ReduceHold, LocalMaps: j.LocalMaps, MasterMemory: j.MasterMemory, Tasks: j.Tasks}
		if got != want {
			t.Errorf("job %s:\n%+v, want\n%+v", j.ID, got, want)
		}
		if j.End != o.Workload.Jobs[i].Submit.Plus(j.JCT) || j.Submit != o.Workload.Jobs[i].Submit || j.Reservation != 0 || j.MasterAttempts != 1 {
			t.Errorf("job %s: %+v", j.ID, j)
		}
	}
	if r.Makespan != 19*second+off {
		t.Errorf("makespan %v", r.Makespan)
	}
	span := r.Makespan.Seconds()
	near(t, "memory", r.MemoryHeld*10241*span, 104960, 1e-6)
	near(t, "processors", r.CPUUsed*9*span, 40, 1e-9)
	if r.LocalMaps != 1 || r.LocalisedMaps != 2 || r.RackMaps != 0 {
		t.Errorf("%d local, %d rack-local of %d", r.LocalMaps, r.RackMaps, r.LocalisedMaps)
	}
	// Running at 1, 2 … 19 s: maps (and plain tasks) and reduces.
	if s := r.Series; s.Step != second || len(s.Maps) != 19 || s.Maps[6] != 5 || s.Maps[10] != 2 || s.Maps[11] != 3 || s.Reduces[14] != 1 || s.Reduces[12] != 0 {
		t.Errorf("series %v, %v, %v", s.Step, s.Maps, s.Reduces)
	}
	// Alone, A takes at least 10 s, since reduces may overlap maps; B and C take as long as their longest tasks.
	for i, want := range []heddle.Span{10 * second, 4 * second, 3 * second} {
		if r.Jobs[i].Bound != want {
			t.Errorf("bound of job %d: %v, want %v", i, r.Jobs[i].Bound, want)
		}
	}
}

// A Spark job has the tasks of all its stages, however few executors run them.
func TestTasksOfSpark(t *testing.T) {
	s := workload.SparkJob{Executors: 2, Executor: heddle.Of(1024, 1000), TaskCores: 1, Stages: []workload.Stage{
		{Tasks: lasting(7, 1)}, {ID: 1, Parents: []int{0}, Tasks: lasting(5, 1)},
	}}
	r := named(t, "fifo").run(t, givenWorld(nodes(1, 1, heddle.Of(16384, 8000)), workload.Job{ID: "s", Framework: heddle.Spark, Spark: &s}))
	if j := r.Jobs[0]; j.Maps != 2 || j.Tasks != 12 {
		t.Errorf("%d executors and %d tasks, want 2 and 12", j.Maps, j.Tasks)
	}
}

// Three nodes each hold a task of 5 GiB, and one of them also two masters. From the first offer that cannot hold the
// next task, after 6 s, another node is reserved until its task is known to have ended: that task runs from 3 to 23 s.
func TestReservation(t *testing.T) {
	large := func(id string, submit float64, n int) workload.Job {
		return workload.Job{ID: id, Queue: "a", Submit: at(submit), Other: tasks(n, workload.Task{Duration: 20 * second, Size: heddle.Of(5120, 1000)})}
	}
	o := givenWorld(nodes(3, 1, heddle.Of(8192, 8000)), large("first", 0, 3), large("second", 5, 1))
	o.NodeBeat = heddle.Millisecond
	p := profile{name: "capacity", base: "capacity"}
	r := p.run(t, o)
	states(t, r, Succeeded)
	if r.Jobs[0].Reservation != 0 {
		t.Errorf("the first job reserved for %v", r.Jobs[0].Reservation)
	}
	near(t, "reserved for", r.Jobs[1].Reservation.Seconds(), 17, 0.0011)
	// A run that is cut during the reservation counts what there was.
	o.MaxTime = at(15)
	near(t, "reserved when cut at 15 s", p.run(t, o).Jobs[1].Reservation.Seconds(), 9, 0.0011)
}

func TestRejectedAndTooLarge(t *testing.T) {
	good, lost := mapReduce("good", 0, lasting(2, 5), nil), mapReduce("lost", 1, lasting(1, 5), nil)
	big := mapReduce("big", 2, tasks(1, workload.Task{Duration: second, CPU: second, Size: heddle.Of(1<<21, 1000)}), nil)
	bigMaster := mapReduce("master", 3, lasting(1, 1), nil)
	bigMaster.Master = heddle.Of(1<<21, 1000)
	for _, isGiven := range []bool{true, false} {
		o := fullWorld(nodes(2, 1, heddle.Of(8192, 8000)), good, lost, big, bigMaster)
		o.Given, o.Check = isGiven, true
		profile{name: "fifo", base: "fifo"}.into(t, &o)
		o.Queues[1] = heddle.NoQueue
		r, err := Run(o)
		if err != nil {
			t.Fatal(err)
		}
		states(t, r, Succeeded, Rejected, Failed, Rejected)
		whys(t, r, "", "its queue does not exist", "containers above the largest", "its master asks for more than the largest container")
		if j := r.Jobs[1]; j.JCT != NoSpan || j.Wait != NoSpan || j.MasterAttempts != 0 || j.End != at(1) {
			t.Errorf("rejected: %+v", j)
		}
		if j := r.Jobs[2]; j.JCT <= 0 || j.JCT > 5*second || j.Wait != NoSpan {
			t.Errorf("asks for too much: %+v", j)
		}
	}
}

// A job that can never fit does not keep a run from ending; a job that arrives days later is served all the same; and a
// task may take as long as it likes.
func TestStall(t *testing.T) {
	never := workload.Job{ID: "never", Other: tasks(1, workload.Task{Duration: second, CPU: second, Size: heddle.Of(9000, 1000)})}
	small := func(id string, submit float64) workload.Job {
		return workload.Job{ID: id, Submit: at(submit), Other: lasting(2, 10)}
	}
	day := 86400.0
	for _, base := range []string{"fifo", "capacity", "fair"} {
		for _, isGiven := range []bool{true, false} {
			p := profile{name: base, base: base}
			o := fullWorld(nodes(3, 1, heddle.Of(8192, 8000)), small("now", 0), small("late", 3*day))
			o.Given = isGiven
			r := p.plain(t, o)
			states(t, r, Succeeded)
			if r.Makespan < heddle.Seconds(3*day) {
				t.Errorf("%s: makespan %v", base, r.Makespan)
			}
			o.Workload = &workload.Workload{Jobs: []workload.Job{small("now", 0), never, small("late", 2*day)}}
			began := time.Now()
			r = p.plain(t, o)
			states(t, r, Succeeded, Failed, Succeeded) // no node is that large, whatever the profile allows
			whys(t, r, "", "above the largest", "")
			if took := time.Since(began); took > 10*time.Second {
				t.Errorf("%s: took %v", base, took)
			}
			if r.Cut || r.Makespan > heddle.Seconds(2*day+60) {
				t.Errorf("%s: cut %v, makespan %v: the figures go on though nothing did", base, r.Cut, r.Makespan)
			}
			if n := len(r.Series.Maps); heddle.Span(n)*r.Series.Step > r.Makespan {
				t.Errorf("%s: series of %d steps of %v", base, n, r.Series.Step)
			}
			long := givenWorld(nodes(1, 1, heddle.Of(8192, 8000)), workload.Job{ID: "long", Other: lasting(1, 5*day)})
			long.Given = isGiven
			states(t, p.plain(t, long), Succeeded)
		}
	}
}

// A run that is cut says so, and its figures cover what there was.
func TestCut(t *testing.T) {
	o := fullWorld(nodes(1, 1, heddle.Of(8192, 4000)), mapReduce("a", 0, lasting(2, 10), nil), mapReduce("b", 1, lasting(2, 500), nil), mapReduce("c", 300, lasting(1, 1), nil))
	p := profile{name: "fifo", base: "fifo"}
	o.MaxTime = at(100)
	r := p.run(t, o)
	states(t, r, Succeeded, Unfinished, Unfinished)
	whys(t, r, "", "the run ended before it did", "the run ended before it did")
	if !r.Cut || r.Makespan != 100*second || len(r.Series.Maps) != 100 {
		t.Errorf("cut %v, makespan %v, %d samples", r.Cut, r.Makespan, len(r.Series.Maps))
	}
	if j := r.Jobs[1]; j.JCT != NoSpan || j.Wait < 0 || j.MasterAttempts != 1 {
		t.Errorf("%+v", j)
	}
	// 20 core-seconds of a's maps, two of b's from their start on, and the start of two masters and four maps.
	starts := 2*o.Params.MasterStart.CPU + 4*o.Params.TaskStart.CPU
	want := 20.0
	started := r.Jobs[1].Submit.Plus(r.Jobs[1].Wait)
	want += at(100).Since(started).Seconds()
	if used := r.CPUUsed * 4 * 100; used < want || used > (starts+20+2*at(100).Since(started).Seconds())*(1+1e-9) {
		t.Errorf("%.1f core-seconds used, at least %.1f", used, want)
	}
	o.MaxTime = 0
	asked := 0
	o.Workload.Jobs[1].Maps = lasting(2000, 5)
	var last Progress
	o.Report = func(q Progress) {
		if q.Now < last.Now || q.Events <= last.Events || q.Jobs < last.Jobs {
			t.Errorf("progress went from %+v to %+v", last, q)
		}
		last = q
	}
	o.Stop = func() bool { asked++; return asked == 2 }
	r = p.run(t, o)
	if !r.Cut || asked != 2 || last.Events == 0 || r.Jobs[1].State != Unfinished || r.Makespan <= 0 || r.Makespan < last.Now.Since(0) {
		t.Errorf("stopped: cut %v, asked %d, %+v, makespan %v, %v", r.Cut, asked, last, r.Makespan, r.Jobs[1].State)
	}
}

func TestOptionsThatCannotBe(t *testing.T) {
	job := mapReduce("j", 0, tasks(1, workload.Task{Input: 1}), nil)
	for _, c := range []struct {
		change func(*Options)
		want   string
	}{
		{func(o *Options) { o.Nodes = nil }, "no nodes"},
		{func(o *Options) { o.Users = nil }, "1 jobs, but queues for 1 and users for 0"},
		{func(o *Options) { o.Given = true }, "job j: maps: no duration is known"},
	} {
		o := fullWorld(nodes(1, 1, heddle.Of(8192, 8000)), job)
		o.Set, o.Queues, o.Users = bare(), []heddle.QueueID{1}, []heddle.UserID{0}
		c.change(&o)
		if _, err := Run(o); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v, want %q", err, c.want)
		}
	}
	o := fullWorld(nodes(1, 1, heddle.Of(8192, 8000)))
	o.Set = bare()
	if r, err := Run(o); err != nil || r.Makespan != 0 || len(r.Jobs) != 0 {
		t.Errorf("no jobs: %+v, %v", r, err)
	}
}
