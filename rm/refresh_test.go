package rm

import (
	"testing"

	"heddle"
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
	knows("after a restart", 0, 0, 1)
	home.exit(home.task(m), 0)
	home.beat()
	refreshed()
	knows("after a refresh of that", 1, 0, 1)
}
