package rm

import (
	"fmt"
	"slices"
	"testing"

	"heddle"
	"heddle/yarn/ids"
)

// A container that is not started ends when its time is up, and its kill is remembered for as long again.
func TestUnstartedContainerExpires(t *testing.T) {
	w := newWorld(t, "capacity", func(o *Options) { o.Config.ContainerExpiry = heddle.Minute })
	id, m, home, n := w.job("MAPREDUCE")
	task := n.task(m)
	unused := m.ask(row(20, "*", 1024, 1)).Granted[0].ID
	m.ask(row(20, "*", 1024, 0))
	home.beat()
	w.pass(heddle.Minute, m, home, n)
	if p := w.app(id); p.Containers != 3 {
		t.Fatalf("%d containers when one is about not to have been started for too long, want 3", p.Containers)
	}
	w.pass(1, m, home, n)
	if p := w.app(id); p.Containers != 2 {
		t.Fatalf("%d containers after one was not started for too long, want 2", p.Containers)
	}
	if w.m.container(unused) != nil || w.m.container(task) == nil {
		t.Error("another container was given up than the one that was not started")
	}
	kills := func() (sum int) {
		for _, n := range w.m.nodes {
			sum += len(n.killed)
		}
		return sum
	}
	w.pass(heddle.Minute, m, home, n)
	if kills() != 1 {
		t.Errorf("%d kills are remembered when it is about to have been for long enough, want 1", kills())
	}
	w.pass(1, m, home, n)
	if kills() != 0 {
		t.Errorf("%d kills are remembered for too long", kills())
	}
}

// A lifetime may end later than the machine's times can express: it is shown as set, and nothing expires. A lifetime
// that is over is reported in stock's words.
func TestLifetimeOfCenturies(t *testing.T) {
	w := newWorld(t, "capacity", nil)
	id := w.submit("SPARK")
	for _, until := range []int64{clusterBegan + 80*365*86_400_000, 32_503_680_000_000, 1<<63 - 1} { // in 80 years, in the year 3000
		c := w.next()
		w.step(&SetLifetime{Call: c, Who: Person{User: "ann"}, App: id, Until: until})
		w.done(c)
		w.sleep(heddle.Hour)
		if p := w.app(id); p.State != AppAccepted || p.Lifetime != until {
			t.Errorf("it is %s, and ends at %d", p.State, p.Lifetime)
		}
	}
	c := w.next()
	w.step(&SetLifetime{Call: c, Who: Person{User: "ann"}, App: id, Until: w.m.date(w.now) + 60_000})
	w.done(c)
	w.sleep(heddle.Minute - 1)
	if p := w.app(id); p.State != AppAccepted {
		t.Errorf("it is %s before its time", p.State)
	}
	w.sleep(heddle.Second)
	want := "Application " + id.String() + " is killed by ResourceManager as it has exceeded the lifetime period."
	if p := w.app(id); p.State != AppKilled || p.Diagnostics != want {
		t.Errorf("it is %s: %s", p.State, p.Diagnostics)
	}
}

// Releases made after a restart, before their node came back, are forgotten when nodes are no longer awaited.
func TestReleasesAreForgotten(t *testing.T) {
	w := newWorld(t, "capacity", nil)
	id, m, home, n := w.job("MAPREDUCE")
	master, task := w.app(id).Master, n.task(m)
	w.restart(0)
	m.register()
	home.register(2048, 4, found(master, 0))
	if _, err := m.try(Allocate{Release: []ids.Container{task}}); err != nil {
		t.Fatal(err)
	}
	given := func() int { return len(w.m.byApp[id].newest().releases) }
	w.pass(w.with.Config.NodeExpiry, m, home)
	if given() != 1 {
		t.Errorf("%d releases are remembered while nodes are waited for, want 1", given())
	}
	w.pass(1, m, home)
	if given() != 0 {
		t.Errorf("%d releases are remembered when nodes are no longer waited for", given())
	}
}

// A container that its master released after a restart, before its node came back, ends when the node comes, and its
// master is told. A master cannot release its own.
func TestReleasedBeforeTheNodeIsBack(t *testing.T) {
	w := newWorld(t, "capacity", nil)
	id, m, home, n := w.job("MAPREDUCE")
	master, task := w.app(id).Master, n.task(m)
	w.restart(0)
	m.register()
	if _, err := m.try(Allocate{Release: []ids.Container{task, master}}); err != nil {
		t.Fatal(err)
	}
	home.register(2048, 4, found(master, 0))
	n.register(4096, 4, found(task, 20))
	got := m.ask().Completed
	if len(got) != 1 || got[0].ID != task || got[0].Exit != int32(heddle.Aborted) || got[0].Diagnostics != textReleased {
		t.Errorf("its master is told %+v", got)
	}
	if b := n.beat(); !slices.Equal(b.Cleanup, []ids.Container{task}) {
		t.Errorf("its node is to end %v", b.Cleanup)
	}
	n.exit(task, int32(heddle.KilledByRM))
	n.beat()
	if got := m.ask().Completed; len(got) > 0 {
		t.Errorf("its master is told again: %+v", got)
	}
	if b := n.beat(); !slices.Equal(b.Forget, []ids.Container{task}) {
		t.Errorf("its node may forget %v", b.Forget)
	}
	if p := w.app(id); p.State != AppRunning || p.Containers != 1 {
		t.Errorf("it is %s with %d containers", p.State, p.Containers)
	}
}

// A counted can expire, and counts how often it is checked.
type counted struct {
	expiring
	looks *int
}

func (c counted) expire(m *Machine) heddle.Time {
	*c.looks++
	return c.expiring.expire(m)
}

// A check for expired things goes through what is due, however many nodes and containers there are.
func TestTickCostsWhatIsDue(t *testing.T) {
	for _, count := range []int{10, 200} {
		t.Run(fmt.Sprint(count), func(t *testing.T) {
			w := newWorld(t, "fifo", func(o *Options) { o.Config.ContainerExpiry = heddle.Minute })
			nodes := make([]*nm, count)
			for i := range nodes {
				nodes[i] = w.node(fmt.Sprintf("n%03d", i), 4096, 32)
			}
			w.settle()
			runs := func(id ids.Container, at ids.Node) {
				nodes[slices.IndexFunc(nodes, func(n *nm) bool { return n.id == at })].run(id)
			}
			id := w.submit("MAPREDUCE")
			runs(w.app(id).Master, w.app(id).MasterNode)
			m := w.master(id)
			fetch := func(count int) []Granted {
				t.Helper()
				p := m.ask(row(20, "*", 1024, int32(count)))
				if len(p.Granted) != count {
					t.Fatalf("%d containers, want %d", len(p.Granted), count)
				}
				return p.Granted
			}
			for _, c := range fetch(2 * count) {
				runs(c.ID, c.Node)
			}
			for _, n := range nodes {
				n.beat()
			}
			fetch(2) // nobody starts these
			looks, held := 0, w.m.conts.Len()
			if n := len(w.m.unused.list) - w.m.unused.from; n > count+2 { // most of the others have begun since
				t.Errorf("%d containers are looked at of which 2 are unused", n)
			}
			for _, x := range w.m.timers.heap {
				x.t.of = counted{x.t.of, &looks}
			}
			w.step(Tick{})
			if looks != 0 {
				t.Errorf("with nothing due %d were looked at", looks)
			}
			w.now = w.now.Plus(w.with.Config.ContainerExpiry)
			w.step(Tick{})
			if looks != 0 {
				t.Errorf("when their time is not yet over %d were looked at", looks)
			}
			w.now = w.now.Plus(heddle.Second)
			w.step(Tick{})
			if looks != 0 || w.m.conts.Len() != held-2 {
				t.Errorf("with 2 containers due %d timers were looked at, and %d of %d are left", looks, w.m.conts.Len(), held)
			}
		})
	}
}
