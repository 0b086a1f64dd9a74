package rm

import (
	"reflect"
	"strconv"
	"testing"

	"heddle"
)

// each is what one task asks for.
var each = heddle.Of(1024, 1000)

// submitNamed submits an application, whose master starts, and returns what its core was told about the last run.
func (w *world) submitNamed(user, name string, home *nm) (*am, heddle.LastRun) {
	w.Helper()
	s := submission(w.idFor(user), "MAPREDUCE")
	s.Name = name
	w.done(w.submitAs(user, s, ""))
	last := w.m.core.View().App(w.m.byApp[s.ID].aid).Facts().Last
	home.run(w.app(s.ID).Master)
	home.beat()
	return w.master(s.ID), last
}

// finish makes a master unregister and end.
func (m *am) finish(home *nm) {
	m.w.Helper()
	q := &FinishMaster{Call: m.w.next(), Who: m.who, Final: Succeeded}
	m.w.step(q)
	m.w.done(q.Call)
	home.exit(m.w.app(m.who.Attempt.App).Master, 0)
	home.beat()
}

// once runs an application that asks for so many tasks at once, none for 0, and ends.
func (w *world) once(user, name string, home *nm, tasks int32) heddle.LastRun {
	w.Helper()
	m, last := w.submitNamed(user, name, home)
	if tasks > 0 {
		m.ask(row(20, "*", 1024, tasks))
	}
	m.finish(home)
	return last
}

// askedFor returns a last run that asked for so many tasks first, and for at most so many.
func askedFor(first, most int32) heddle.LastRun {
	return heddle.LastRun{First: each.Times(int64(first)), Most: each.Times(int64(most)), Containers: most}
}

// An application is told about the last ones of its user and name: what the last one asked for first, and the most that
// one of the last two asked for, since one that failed or was killed early asked for only part of it.
func TestLastRuns(t *testing.T) {
	w := newWorld(t, "heddle", nil)
	home := w.node("n1", 32<<10, 64)
	for i, c := range []struct {
		user, name string
		tasks      int32
		told       heddle.LastRun
	}{
		{"ann", "report", 10, heddle.LastRun{}},
		{"ann", "report", 1, askedFor(10, 10)},
		{"ann", "report", 2, askedFor(1, 10)},
		{"bob", "report", 7, heddle.LastRun{}},
		{"ann", "Report", 7, heddle.LastRun{}},
		{"ann", "report", 0, askedFor(2, 2)},
		{"ann", "report", 3, askedFor(2, 2)},
		{"ann", "report", 3, askedFor(3, 3)},
		{"ann", "", 5, heddle.LastRun{}},
		{"ann", "", 5, heddle.LastRun{}},
		{"ann", "N/A", 5, heddle.LastRun{}},
		{"ann", "N/A", 5, heddle.LastRun{}},
		{"bob", "report", 5, askedFor(7, 7)},
	} {
		if told := w.once(c.user, c.name, home, c.tasks); told != c.told {
			t.Errorf("application %d, %q of %s, is told %+v, want %+v", i+1, c.name, c.user, told, c.told)
		}
	}
	if n := len(w.m.past.by); n != 3 || len(w.runs) != 3 {
		t.Errorf("%d users and names are remembered and %d stored, want 3", n, len(w.runs))
	}
}

// The first request is known as soon as it is made; later requests count only towards the most.
func TestLastRunWhileOneRuns(t *testing.T) {
	w := newWorld(t, "capacity", nil)
	home := w.node("n1", 32<<10, 64)
	m, _ := w.submitNamed("ann", "report", home)
	m.ask(row(20, "*", 1024, 4))
	m.ask(row(20, "*", 1024, 0), row(10, "*", 1024, 6)) // beside the four that it was granted
	other, told := w.submitNamed("ann", "report", home)
	if want := (heddle.LastRun{First: each.Times(4)}); told != want {
		t.Errorf("while one runs another is told %+v, want %+v", told, want)
	}
	if len(w.runs) != 0 {
		t.Errorf("%v is stored of applications that run", w.runs)
	}
	m.finish(home)
	other.finish(home)
	if told := w.once("ann", "report", home, 1); told != askedFor(4, 10) {
		t.Errorf("after it ended %+v is told, want %+v", told, askedFor(4, 10))
	}
}

// What was kept is told after a restart and by a new core, to applications that wait, that run and that are submitted.
func TestLastRunsAreKept(t *testing.T) {
	w := newWorld(t, "heddle", nil)
	home := w.node("n1", 32<<10, 64)
	w.once("ann", "report", home, 6)
	running, _ := w.submitNamed("ann", "report", home)
	running.ask(row(20, "*", 1024, 2))
	master := w.app(running.who.Attempt.App).Master
	told := func(when string, want heddle.LastRun) {
		t.Helper()
		if got := w.m.core.View().App(w.m.byApp[running.who.Attempt.App].aid).Facts().Last; got != want {
			t.Errorf("%s the core is told %+v of one that runs, want %+v", when, got, want)
		}
	}
	if err := w.refresh(); err != nil {
		t.Fatal(err)
	}
	told("after a refresh", askedFor(2, 6))

	w.restart(heddle.Second)
	told("after a start", askedFor(6, 6)) // its first request for two was not kept yet
	home.register(32<<10, 64, found(master, 0))
	running.register()
	running.ask(row(20, "*", 1024, 1))
	running.finish(home)
	// What it asked for in total is no longer known: it counts for no less than the one before it.
	if got := w.once("ann", "report", home, 1); got != askedFor(6, 6) {
		t.Errorf("after a start one that comes is told %+v, want %+v", got, askedFor(6, 6))
	}
}

// refresh reloads the configuration, unchanged.
func (w *world) refresh() error {
	sch, err := w.m.sch.Rebuild(nil)
	if err != nil {
		return err
	}
	q := &Refresh{Call: w.next(), Scheduler: sch}
	w.step(q)
	_, err = answered[any](w, q.Call)
	return err
}

// ends ends an application that asked for so many tasks, without its life.
func (m *Machine) ends(user, name string, tasks int32) []Change {
	return m.keepRun(&app{
		user: user, Submission: Submission{Facts: heddle.Facts{Name: name}}, most: demand{each.Times(int64(tasks)), tasks},
	})
}

// Something is kept for at most so many users and names, in the store too. What was noted longest ago goes first, in
// the same Store as what it makes room for.
func TestBoundOfRuns(t *testing.T) {
	w := newWorld(t, "capacity", nil)
	kept := map[RunKey]RunRecord{}
	end := func(name string) {
		t.Helper()
		for _, c := range w.m.ends("ann", name, 3) {
			switch {
			case c.Run != nil:
				kept[c.Run.RunKey] = *c.Run
			case c.DropRun != nil:
				delete(kept, *c.DropRun)
			}
		}
		if len(kept) != len(w.m.past.by) || len(kept) > MostRuns {
			t.Fatalf("%d are remembered and %d kept", len(w.m.past.by), len(kept))
		}
	}
	end("nightly")
	end("once")
	for i := range 3 * MostRuns {
		end(strconv.Itoa(i))
		if i%(MostRuns/2) == 0 {
			end("nightly")
		}
	}
	if len(kept) != MostRuns {
		t.Errorf("%d are kept, want %d", len(kept), MostRuns)
	}
	if _, ok := kept[RunKey{"ann", "once"}]; ok {
		t.Error("the oldest is kept still")
	}
	if _, ok := kept[RunKey{"ann", "nightly"}]; !ok {
		t.Error("one that comes again and again is forgotten")
	}
	// A store that holds more, perhaps written by another program, is reduced to the limit.
	more := []RunRecord{{RunKey: RunKey{"ann", "oldest"}, Ended: -1}}
	for _, r := range kept { // order: they are sorted by when they ended
		more = append(more, r)
	}
	w.m.past = newHistory()
	w.m.recall(more)
	if c := w.m.ends("ann", "nightly", 1); len(c) != 2 || c[1].DropRun == nil || *c[1].DropRun != (RunKey{"ann", "oldest"}) {
		t.Errorf("the store is changed by %+v, want one record less", c)
	}
}

// Everything that is told about last runs is kept.
func TestRunRecordHasAll(t *testing.T) {
	w := newWorld(t, "capacity", func(o *Options) { o.Config.ExtraResources = []string{"gpu"} })
	r := w.m.past.note(RunKey{"ann", "report"})
	for _, f := range reflect.ValueOf(&r.last).Elem().Fields() {
		switch f.Kind() {
		case reflect.Array:
			f.Set(reflect.ValueOf(heddle.Resource{heddle.Memory: 5, heddle.CPU: 1500, heddle.Extra1: 2}))
		case reflect.Bool:
			f.SetBool(true)
		default:
			f.SetInt(7)
		}
	}
	r.two[1] = demand{r.last.Most, r.last.Containers}
	want := r.last
	rec := w.m.runRecord(r)
	w.m.past = newHistory()
	w.m.recall([]RunRecord{*rec})
	if got := w.m.past.of(rec.RunKey); got != want {
		t.Errorf("kept of %+v is %+v", want, got)
	}
}

// Anything else noted about a running application is told at once and kept with its end, even if it asked for nothing.
func TestRemember(t *testing.T) {
	w := newWorld(t, "capacity", nil)
	home := w.node("n1", 32<<10, 64)
	m, _ := w.submitNamed("ann", "report", home)
	w.m.remember(w.m.byApp[m.who.Attempt.App], func(r *heddle.LastRun) { r.Heap = 40 })
	m.finish(home)
	w.restart(heddle.Second)
	if got := w.m.past.of(RunKey{"ann", "report"}); got != (heddle.LastRun{Heap: 40}) {
		t.Errorf("after a start %+v is remembered", got)
	}
}
