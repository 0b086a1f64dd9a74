package rm

import (
	"fmt"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"heddle"
	"heddle/policy"
	"heddle/yarn/ids"
)

// An ask takes at most as long as the documentation says.
func TestDocumentedAsk(t *testing.T) {
	text, err := os.ReadFile("../docs/daemon.md")
	if err != nil {
		t.Fatal(err)
	}
	if want := fmt.Sprintf("An ask may take %g s", askWithin.Seconds()); !strings.Contains(string(text), want) {
		t.Errorf("docs/daemon.md lacks %q", want)
	}
}

// asked returns the last question to a master since the previous call, or nil.
func (w *world) asked() (q *AskMaster) {
	for _, e := range w.rest {
		if a, ok := e.(*AskMaster); ok {
			q = a
		}
	}
	w.rest = nil
	return q
}

// asking returns a world whose policies use what masters tell, with a running map.
func asking(t *testing.T, f policy.Feeds) (w *world, m *am, other *nm, task ids.Container) {
	t.Helper()
	w = newWorld(t, "capacity", func(o *Options) { o.Scheduler.Set.Feeds = f })
	_, m, _, other = w.job("MAPREDUCE")
	return w, m, other, other.task(m)
}

// A master is asked every 5 s for the progress and containers of the tasks that policies use; the core is told.
func TestProgressIsAskedFor(t *testing.T) {
	w, m, _, task := asking(t, policy.Feeds{Progress: heddle.Second})
	if w.asked() != nil {
		t.Error("a master is asked as soon as it is there")
	}
	w.sleep(6 * heddle.Second)
	q := w.asked()
	if q == nil || !q.Tasks || !q.Kinds.Has(heddle.Map) || q.Kinds.Has(heddle.Reduce) || q.Attempt != m.who.Attempt || q.Tracking != "http://n1:7001" || len(q.Containers) > 0 {
		t.Fatalf("asked %+v", q)
	}
	w.sleep(20 * heddle.Second)
	if q = w.asked(); q != nil {
		t.Errorf("asked again, before it answered: %+v", q)
	}
	of := Task{heddle.Map, 3}
	w.step(&MasterTold{Attempt: m.who.Attempt, Tasks: []TaskNews{{Task: of, Listed: true, State: TaskRuns, Phase: heddle.MapRead, Progress: 0.25}}})
	w.sleep(6 * heddle.Second)
	if q = w.asked(); q == nil || len(q.Containers) != 1 || q.Containers[0] != of {
		t.Fatalf("asked %+v, want the container of %v", q, of)
	}
	w.step(&MasterTold{Attempt: m.who.Attempt, Tasks: []TaskNews{{Task: of, Listed: true, State: TaskRuns, Phase: heddle.MapRead, Progress: 0.5, Container: task}}})
	x := w.m.core.View().Container(w.m.container(task).cid)
	if phase, at := x.Progress(); phase != heddle.MapRead || at != 0.5 {
		t.Errorf("the core heard of %v, %v", phase, at)
	}
	e, err := w.m.Reports().Why(m.who.Attempt.App)
	if err != nil || e.Known == nil || e.Known.Running != 1 || e.Known.Progress != 50 || e.Known.Age != 0 || e.Known.HeapAge != -1 {
		t.Errorf("known %+v, %v", e.Known, err)
	}
	if e, err := w.m.Reports().At(w.now.Plus(3 * heddle.Second)).Why(m.who.Attempt.App); err != nil || e.Known.Age != 3000 {
		t.Errorf("3 s later it is %d ms old, %v", e.Known.Age, err)
	}
	w.sleep(6 * heddle.Second)
	if q = w.asked(); q == nil || len(q.Containers) > 0 {
		t.Errorf("asked %+v: the container is known", q)
	}
}

// No master is asked for what no policy uses, about kinds that no policy uses, or in other frameworks.
func TestNobodyIsAskedInVain(t *testing.T) {
	for _, f := range []policy.Feeds{{}, {Progress: heddle.Second, Of: policy.KindSet(heddle.Reduce)}, {Nodes: true, Starts: true}} {
		w, _, _, _ := asking(t, f)
		w.sleep(heddle.Minute)
		if q := w.asked(); q != nil {
			t.Errorf("%+v: asked %+v", f, q)
		}
	}
}

// Late, wrong or foreign answers of a master change nothing, and a failing master is asked less often.
func TestMastersThatLie(t *testing.T) {
	w, m, n, task := asking(t, policy.Feeds{Progress: heddle.Second, Output: true, Peaks: true})
	w.node("n3", 16384, 16)
	second, theirs := func() (*am, ids.Container) {
		id := w.submit("MAPREDUCE")
		o := w.master(id)
		return o, o.ask(row(20, "*", 512, 1)).Granted[0].ID
	}()
	w.sleep(6 * heddle.Second)
	if w.asked() == nil {
		t.Fatal("nobody is asked")
	}
	nan := func() float64 { zero := 0.0; return zero / zero }()
	w.step(&MasterTold{Attempt: m.who.Attempt, Tasks: []TaskNews{
		{Task: Task{heddle.Map, 0}, Listed: true, State: TaskRuns, Phase: heddle.MapRead, Progress: 0.9, Container: theirs},
		{Task: Task{heddle.Map, -1}, Listed: true, State: TaskRuns, Progress: 1, Container: task},
		{Task: Task{heddle.AM, 0}, Listed: true, State: TaskRuns, Progress: 1, Container: m.w.app(m.who.Attempt.App).Master},
		{Task: Task{heddle.Map, 1}, Listed: true, State: TaskSucceeded, Counted: true, Memory: -5, Output: 1 << 62, Container: task},
		{Task: Task{heddle.Map, 2}, Listed: true, State: TaskRuns, Phase: heddle.MapRead, Progress: nan, Container: task},
	}})
	v := w.m.core.View()
	for _, id := range []ids.Container{theirs, w.app(m.who.Attempt.App).Master} {
		if phase, at := v.Container(w.m.container(id).cid).Progress(); phase != heddle.NoPhase || at != 0 {
			t.Errorf("%v is %v at %v", id, phase, at)
		}
	}
	if _, at := v.Container(w.m.container(task).cid).Progress(); at < 0 || at > 1 || at != at {
		t.Errorf("progress %v", at)
	}
	if a := v.App(w.m.byApp[m.who.Attempt.App].aid); a.Peak(heddle.Map) != 0 || len(a.Outputs()) > 0 {
		t.Errorf("peak %d, outputs %v", a.Peak(heddle.Map), a.Outputs())
	}
	w.step(&MasterTold{Attempt: second.who.Attempt, Failed: "no answer within 4 s"})
	before, asks := w.now, 0
	for w.now.Since(before) < 5*heddle.Minute {
		w.sleep(5 * heddle.Second)
		second.ask()
		m.ask()
		n.beat()
		for _, e := range w.rest {
			if q, ok := e.(*AskMaster); ok && q.Attempt == second.who.Attempt {
				asks++
				w.step(&MasterTold{Attempt: q.Attempt, Failed: "no answer within 4 s"})
			}
		}
		w.rest = nil
	}
	if asks < 5 || asks > 9 {
		t.Errorf("asked %d times in 5 minutes, want seldom more than one a minute", asks)
	}
	if e, err := w.m.Reports().Why(second.who.Attempt.App); err != nil || e.Known.Failed != "no answer within 4 s" || e.Known.Age != -1 {
		t.Errorf("%+v, %v", e.Known, err)
	}
	w.step(&MasterTold{Attempt: ids.Attempt{App: ids.App{Cluster: 1, Seq: 99}, N: 1}})
}

// What completed tasks used is asked for once: where their output is, and how much memory they had.
func TestCountersAreAskedForOnce(t *testing.T) {
	w, m, n, task := asking(t, policy.Feeds{Output: true, Peaks: true})
	n.exit(task, 0)
	n.beat()
	w.sleep(6 * heddle.Second)
	if q := w.asked(); q == nil || !q.Tasks {
		t.Fatalf("asked %+v", q)
	}
	of := Task{heddle.Map, 0}
	w.step(&MasterTold{Attempt: m.who.Attempt, Tasks: []TaskNews{{Task: of, Listed: true, State: TaskSucceeded, Progress: 1}}})
	w.sleep(heddle.Second)
	q := w.asked() // at once, and about nothing else
	if q == nil || q.Tasks || len(q.Counters) != 1 || q.Counters[0] != of || len(q.Containers) != 1 {
		t.Fatalf("asked %+v", q)
	}
	w.step(&MasterTold{Attempt: m.who.Attempt, Tasks: []TaskNews{{Task: of, Counted: true, Output: 5000, Memory: 321, Container: task, NodeHTTP: "n2:8042"}}})
	a := w.m.core.View().App(w.m.byApp[m.who.Attempt.App].aid)
	if out := a.Outputs(); a.Peak(heddle.Map) != 321 || len(out) != 1 || out[0].Node != n.nid() || out[0].Bytes != 5000 {
		t.Errorf("peak %d, outputs %v", a.Peak(heddle.Map), out)
	}
	w.sleep(6 * heddle.Second)
	if q = w.asked(); q != nil && len(q.Counters)+len(q.Containers) > 0 {
		t.Errorf("asked %+v", q)
	}
}

// An application waits, for a bounded time, until what its client left beside the submission is read.
func TestJobsAreRead(t *testing.T) {
	reads := func() (*world, ids.App, *ReadJob) {
		w := newWorld(t, "capacity", func(o *Options) {
			o.Config.ReadJobs, o.Scheduler.Set.Feeds.Sizes = true, true
		})
		w.node("n1", 4096, 4)
		id := w.newID()
		s := submission(id, "MAPREDUCE")
		s.Context = []byte("context")
		w.done(w.submitAs("ann", s, ""))
		for _, e := range w.rest {
			if q, ok := e.(*ReadJob); ok {
				return w, id, q
			}
		}
		t.Fatal("nothing is read")
		return nil, id, nil
	}
	w, id, q := reads()
	if q.App != id || q.User != "ann" || string(q.Context) != "context" || w.app(id).State != "SUBMITTED" {
		t.Errorf("read %+v; it is %s", q, w.app(id).State)
	}
	w.step(&JobRead{App: id, Maps: 7, Reduces: 2, Splits: []SplitNews{{Bytes: 100, Hosts: []string{"n1"}}, {Bytes: -1}}, Demand: heddle.Demand{Containers: 7, Each: heddle.Of(512, 1000)}})
	f := w.m.core.View().App(w.m.byApp[id].aid).Facts()
	if f.Maps != 7 || f.Reduces != 2 || f.InputBytes != 100 || f.Demand.Containers != 7 {
		t.Errorf("facts %+v", f)
	}
	if w.app(id).Master.IsZero() {
		t.Error("it has no master yet")
	}
	e, err := w.m.Reports().Why(id)
	if want := (JobFacts{Maps: 7, Reduces: 2, Input: 100, Demand: JobDemand{7, AmountOf(heddle.Of(512, 1000))}}); err != nil || e.Job == nil || !reflect.DeepEqual(*e.Job, want) || e.Known != nil {
		t.Errorf("known %+v, %+v, %v", e.Job, e.Known, err)
	}
	w, id, _ = reads()
	w.sleep(readWithin + heddle.Second)
	if s := w.app(id).State; s != "ACCEPTED" {
		t.Errorf("it is %s though reading took too long", s)
	}
	w.step(&JobRead{App: id, Maps: 7})
	if f := w.m.core.View().App(w.m.byApp[id].aid).Facts(); f.Maps != 0 {
		t.Errorf("facts %+v: they came too late", f)
	}
	if e, err := w.m.Reports().Why(id); err != nil || e.Job != nil {
		t.Errorf("known %+v, %v: nothing is", e.Job, err)
	}
	w, id, _ = reads()
	w.done(w.kill(id))
	w.step(&JobRead{App: id, Maps: 7})
	if s := w.app(id).State; s != AppKilled {
		t.Errorf("it is %s", s)
	}
}

// After a restart, what clients left beside their submissions is read again for applications that wait for their first
// master, and for no others. The start waits for this, so that they keep their places, but not for too long.
func TestJobsAreReadAfterAStart(t *testing.T) {
	reads := func(wait heddle.Span) (w *world, waiting [2]ids.App, back func()) {
		w = newWorld(t, "heddle", func(o *Options) { o.Config.ReadJobs, o.Config.SchedulingWait = true, wait })
		submit := func() ids.App {
			s := submission(w.newID(), "MAPREDUCE")
			s.Facts.MasterHeap = 800
			c := w.submitAs("ann", s, "")
			w.step(&JobRead{App: s.ID})
			w.done(c)
			return s.ID
		}
		home := w.node("n1", 2048, 2)
		var masters []ContainerNews
		var ams []*am
		id := submit()
		for ; !w.app(id).Master.IsZero(); id = submit() {
			home.run(w.app(id).Master)
			home.beat()
			masters = append(masters, found(w.app(id).Master, 0))
			ams = append(ams, &am{w: w, who: Caller{Attempt: ids.Attempt{App: id, N: 1}}})
		}
		waiting = [...]ids.App{id, submit()}
		if len(masters) == 0 {
			t.Fatal("no master is at work")
		}
		w.restart(heddle.Second)
		var read []ids.App
		for _, e := range w.rest {
			if q, ok := e.(*ReadJob); ok {
				read = append(read, q.App)
			}
		}
		if !slices.Equal(read, waiting[:]) {
			t.Fatalf("read are %v, want %v", read, waiting)
		}
		return w, waiting, func() {
			home.register(8192, 8, masters...)
			home.beat()
			for _, m := range ams {
				m.register()
			}
		}
	}
	told := func(w *world, id ids.App) {
		t.Helper()
		w.step(&JobRead{App: id, Maps: 7, Demand: heddle.Demand{Containers: 7, Each: heddle.Of(512, 1000)}})
	}
	known := func(w *world, id ids.App, want int32) {
		t.Helper()
		f := w.m.core.View().App(w.m.byApp[id].aid).Facts()
		if f.Maps != want || f.Demand.Containers != want || f.MasterHeap != 800 {
			t.Errorf("of %v is known %+v, want %d maps", id, f, want)
		}
		if w.app(id).Master.IsZero() {
			t.Errorf("%v has no master", id)
		}
	}

	w, of, back := reads(10 * heddle.Second)
	told(w, of[1])
	back()
	if w.m.Ready() {
		t.Fatal("it begins though one is being read")
	}
	told(w, of[0])
	if !w.m.Ready() {
		t.Fatal("it waits though all are read")
	}
	known(w, of[0], 7)
	known(w, of[1], 7)
	if w.m.byApp[of[0]].aid > w.m.byApp[of[1]].aid {
		t.Error("who was read first goes first")
	}

	w, of, back = reads(10 * heddle.Second)
	back()
	w.done(w.kill(of[0]))
	w.sleep(readWithin + heddle.Second)
	known(w, of[1], 0)

	w, of, back = reads(0) // nothing delays the start
	back()
	told(w, of[0])
	told(w, of[1])
	known(w, of[0], 7)
	known(w, of[1], 7)
}

// A new scheduler is told what masters tell just as the first one was.
func TestAnotherSchedulerIsTold(t *testing.T) {
	w, m, _, task := asking(t, policy.Feeds{Peaks: true, Progress: heddle.Second})
	w.sleep(6 * heddle.Second)
	of := Task{heddle.Map, 0}
	told := &MasterTold{Attempt: m.who.Attempt, Tasks: []TaskNews{{Task: of, Listed: true, State: TaskSucceeded, Container: task, Counted: true, Memory: 321}}}
	peak := func() int64 { return w.m.core.View().App(w.m.byApp[m.who.Attempt.App].aid).Peak(heddle.Map) }
	if w.step(told); peak() != 321 {
		t.Errorf("peak %d", peak())
	}
	sch := testScheduler(t, "capacity")
	sch.Set.Feeds = policy.Feeds{Peaks: true, Progress: heddle.Second}
	sch.Rebuild = func([]string) (*Scheduler, error) { return sch, nil }
	c := w.next()
	w.step(&Refresh{Call: c, Scheduler: sch})
	w.done(c)
	w.asked()
	w.step(told) // nothing has been asked yet
	if peak() != 0 {
		t.Errorf("peak %d before the master was asked", peak())
	}
	w.sleep(6 * heddle.Second)
	if w.asked() == nil {
		t.Fatal("the master is not asked")
	}
	if w.step(told); peak() != 321 {
		t.Errorf("peak %d", peak())
	}
}

// Where a completed task's output is, is asked for before anything about running tasks, however many they are.
func TestOutputIsNotLost(t *testing.T) {
	w, m, n, task := asking(t, policy.Feeds{Progress: heddle.Second, Output: true})
	n.exit(task, 0)
	n.beat()
	n.task(m)
	w.sleep(6 * heddle.Second)
	w.asked()
	p := &MasterTold{Attempt: m.who.Attempt}
	for i := range int32(60) {
		p.Tasks = append(p.Tasks, TaskNews{Task: Task{heddle.Map, i}, Listed: true, State: TaskRuns})
	}
	p.Tasks = append(p.Tasks, TaskNews{Task: Task{heddle.Map, 60}, Listed: true, State: TaskSucceeded})
	w.step(p)
	w.sleep(heddle.Second)
	q := w.asked()
	if q == nil || len(q.Containers) != mostAsked || q.Containers[0] != (Task{heddle.Map, 60}) || len(q.Counters) != 1 {
		t.Fatalf("asked %+v", q)
	}
	first := q.Containers
	w.step(&MasterTold{Attempt: m.who.Attempt})
	w.sleep(6 * heddle.Second)
	if q = w.asked(); q == nil {
		t.Fatal("the master is not asked again")
	}
	for i := range int32(60) { // those not asked for before come first
		if of := (Task{heddle.Map, i}); !slices.Contains(first, of) && !slices.Contains(q.Containers, of) {
			t.Errorf("nobody asks for %v", of)
		}
	}
}
