package rm

import (
	"slices"
	"testing"

	"heddle"
	"heddle/cluster"
	"heddle/policy"
)

// What a job has done, and how many tasks it has, stay known when the configuration is read again. After a restart it is
// unknown what a job had done, and a new core knows that too.
func TestDoneStaysKnown(t *testing.T) {
	w := newWorld(t, "capacity", nil)
	home := w.node("n1", 16384, 16)
	id := w.newID()
	s := submission(id, "MAPREDUCE")
	s.Facts = heddle.Facts{Maps: 4, Reduces: 2}
	w.done(w.submitAs("ann", s, ""))
	home.beat()
	master := w.app(id).Master
	home.run(master)
	home.beat()
	m := w.master(id)
	home.exit(home.task(m), 0)
	home.beat()
	refreshed := func() {
		t.Helper()
		if err := w.refresh(); err != nil {
			t.Fatal(err)
		}
	}
	knows := func(when string, done, maps, found int) {
		t.Helper()
		a := w.m.core.View().App(w.m.byApp[id].aid)
		if f := a.Facts(); a.Finished(heddle.Map) != done || int(f.Maps) != maps || int(f.Reduces) != maps/2 || a.Begun() != (done > 0) || a.Found(heddle.AM) != found {
			t.Errorf("%s: %d of %d maps done, %d reduces, begun %v, %d masters found; want %d of %d, %d found",
				when, a.Finished(heddle.Map), f.Maps, f.Reduces, a.Begun(), a.Found(heddle.AM), done, maps, found)
		}
	}
	knows("before", 1, 4, 0)
	refreshed()
	knows("after a refresh", 1, 4, 0)
	refreshed()
	knows("after another", 1, 4, 0)

	w.restart(heddle.Second)
	home.register(16384, 16, found(master, 0))
	home.beat()
	m.register()
	w.sleep(w.with.Config.SchedulingWait)
	knows("after a restart", 0, 4, 1)
	home.exit(home.task(m), 0)
	home.beat()
	refreshed()
	knows("after a refresh of that", 1, 4, 1)
}

// How many tasks a running job has stays known after restarts. How many of them are done follows from what it asks for,
// once its master has said that.
func TestSizesOutliveRestarts(t *testing.T) {
	w := newWorld(t, "heddle", func(o *Options) { o.Config.ReadJobs = true })
	home := w.node("n1", 32768, 32)
	s := submission(w.newID(), "MAPREDUCE")
	c := w.submitAs("ann", s, "")
	w.step(&JobRead{App: s.ID, Maps: 9, Reduces: 3})
	w.done(c)
	home.beat()
	master := w.app(s.ID).Master
	home.run(master)
	home.beat()
	m := w.master(s.ID)
	runs := home.task(m)
	knows := func(when string, maps, reduces int) {
		t.Helper()
		a := w.m.core.View().App(w.m.byApp[s.ID].aid)
		if f := a.Facts(); f.Maps != 9 || f.Reduces != 3 || a.Done(heddle.Map) != maps || a.Done(heddle.Reduce) != reduces {
			t.Errorf("%s: %d of %d maps and %d of %d reduces are done, want %d of 9 and %d of 3", when, a.Done(heddle.Map), f.Maps, a.Done(heddle.Reduce), f.Reduces, maps, reduces)
		}
	}
	knows("before", 0, 0)
	for _, when := range []string{"after a restart", "after another"} {
		w.restart(heddle.Second)
		home.register(32768, 32, found(master, 0), found(runs, 20))
		home.beat()
		knows(when+", while its master is away", 0, 0)
		m.register()
		m.ask(row(20, "*", 1024, 3), row(10, "*", 1024, 1))
		w.sleep(w.with.Config.SchedulingWait)
		knows(when, 5, 0)
	}
	if err := w.refresh(); err != nil {
		t.Fatal(err)
	}
	knows("after a refresh", 5, 0)
	m.ask(row(20, "*", 1024, 0))
	for x := range w.m.byApp[s.ID].newest().held {
		if x.kind == heddle.Map {
			home.exit(x.id(), 0)
		}
	}
	home.beat()
	knows("when all maps are done", 9, 2)

	w.restart(heddle.Second)
	home.run(runs)
	home.register(32768, 32, found(master, 0), found(runs, 20))
	home.beat()
	w.sleep(w.with.Config.SchedulingWait)
	knows("after a wait without its master", 0, 0)
	m.register()
	knows("before its master calls", 0, 0)
	m.ask()
	knows("when its master asks for nothing", 8, 0)
	if err := w.refresh(); err != nil {
		t.Fatal(err)
	}
	knows("after a refresh of that", 8, 0)
}

// Where map outputs are, and how large they are, stays known when the configuration is read again, although nodes get
// other numbers then, also while the end of the application is being stored. What a node had that has been forgotten
// counts when it is made again.
func TestOutputsStayKnown(t *testing.T) {
	var placed func(*Scheduler) *Scheduler
	placed = func(s *Scheduler) *Scheduler {
		s.Set.Feeds = policy.Feeds{Output: true}
		build := s.Rebuild
		s.Rebuild = func(leaves []string) (*Scheduler, error) {
			again, err := build(leaves)
			return placed(again), err
		}
		return s
	}
	w := newWorld(t, "capacity", func(o *Options) { placed(o.Scheduler) })
	forget := func(n *nm) {
		w.m.nodeDown(w.m.byNode[n.id], nodeLost)
		w.m.forgetNodes(n.id, (*node).gone)
	}
	forget(w.node("n0", 1024, 1))
	app, m, _, home := w.job("MAPREDUCE")
	home.task(m)
	home.task(m) // there is no room for another
	lost := w.node("n3", 2048, 4)
	lost.task(m)
	a := &ag{w: w, node: home.id, name: "one"}
	a.says([]MapOutput{{app, 0, 5000}})
	(&ag{w: w, node: lost.id, name: "two"}).says([]MapOutput{{app, 1, 70}})
	is := func(when string, want ...cluster.Output) {
		t.Helper()
		if got := w.m.core.View().App(w.m.byApp[app].aid).Outputs(); !slices.Equal(got, want) {
			t.Errorf("%s: outputs %v, want %v", when, got, want)
		}
	}
	is("before", cluster.Output{Node: 2, Bytes: 5000}, cluster.Output{Node: 3, Bytes: 70})
	forget(lost)
	for range 2 {
		if err := w.refresh(); err != nil {
			t.Fatal(err)
		}
		is("after a refresh", cluster.Output{Node: 1, Bytes: 5000})
		a.says([]MapOutput{{app, 0, 5000}})
		is("repeated", cluster.Output{Node: 1, Bytes: 5000})
	}
	a.says([]MapOutput{{app, 1, 70}})
	is("made again", cluster.Output{Node: 1, Bytes: 5070})

	gone, last := w.node("n4", 1024, 1), w.node("n5", 2048, 4)
	last.task(m)
	(&ag{w: w, node: last.id, name: "three"}).says([]MapOutput{{app, 2, 1}})
	forget(gone)
	w.slow = true
	w.kill(app)
	if err := w.refresh(); err != nil {
		t.Fatal(err)
	}
	a.says([]MapOutput{{app, 2, 1}})
	is("killed, and its end is being stored", cluster.Output{Node: 1, Bytes: 5070}, cluster.Output{Node: 2, Bytes: 1})
}
