package rm

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"heddle"
	"heddle/yarn/ids"
)

// nodeStates returns the states of nodes, by host.
func (w *world) nodeStates() map[string]string {
	out := map[string]string{}
	for _, n := range nodesOf(w.m.View()) {
		out[n.ID.Host] = n.State
	}
	return out
}

// awaits fails unless so many nodes are awaited.
func (w *world) awaits(missing, known int) {
	w.Helper()
	if m, k := w.m.Awaited(); m != missing || k != known {
		w.Errorf("%d of %d nodes are missing, want %d of %d", m, k, missing, known)
	}
}

// A start waits until the known nodes are back: nothing is granted on the first one to come.
func TestStartWaitsForNodes(t *testing.T) {
	w := newWorld(t, "capacity", nil)
	id, m, home, other := w.job("MAPREDUCE")
	third := w.node("n3", 8192, 8)
	w.restart(heddle.Second)
	w.awaits(3, 3)
	home.register(8192, 8, found(w.app(id).Master, 0))
	m.register()
	m.ask(row(20, "*", 1024, 1))
	home.beat()
	other.register(8192, 8)
	w.awaits(1, 3)
	if w.m.Ready() {
		t.Fatal("it begins with a node missing")
	}
	home.beat()
	if got := m.ask(); len(got.Granted) > 0 {
		t.Errorf("%d containers are given away while a node is missing", len(got.Granted))
	}
	if why, err := w.m.Reports().Why(id); err != nil || !why.ComingBack || len(why.Pending) > 0 {
		t.Errorf("of what the master asks for it is said %+v (%v), not that it waits for the nodes", why, err)
	}
	later := w.submit("SPARK")
	if why, err := w.m.Reports().Why(later); err != nil || !why.ComingBack {
		t.Errorf("of an application that comes meanwhile it is said %+v (%v), not that it waits for the nodes", why, err)
	}
	third.register(8192, 8)
	w.awaits(0, 3)
	if !w.m.Ready() {
		t.Fatal("it waits although all are back")
	}
	if why, err := w.m.Reports().Why(id); err != nil || why.ComingBack {
		t.Errorf("once all are back it is said %+v (%v)", why, err)
	}
	home.beat()
	if got := m.ask(); len(got.Granted) != 1 {
		t.Errorf("%d containers are given away once all are back", len(got.Granted))
	}
}

// An application that waits for its master keeps its place before younger ones that run, also if the configuration is read
// again while the nodes are awaited. One that is killed meanwhile leaves its place.
func TestPlacesOutliveRestarts(t *testing.T) {
	for _, refreshed := range []bool{false, true} {
		w := newWorld(t, "fifo", nil)
		large := func() ids.App {
			s := submission(w.newID(), "SPARK")
			s.Master = heddle.Of(4096, 1000)
			w.done(w.submitAs("ann", s, ""))
			return s.ID
		}
		killed, old := large(), large()
		home := w.node("n1", 2048, 4) // too small for either
		young := w.submit("MAPREDUCE")
		master := w.app(young).Master
		home.run(master)
		home.beat()
		m := w.master(young)
		w.restart(heddle.Second)
		w.done(w.kill(killed))
		if refreshed {
			if err := w.refresh(); err != nil {
				t.Fatal(err)
			}
		}
		home.register(2048, 4, found(master, 0))
		m.register()
		m.ask(row(20, "*", 1024, 5))
		w.node("n2", 4096, 4)
		if w.app(old).Master.IsZero() {
			t.Errorf("refreshed %v: the younger application's tasks go before the older one's master", refreshed)
		}
		if of := w.m.byApp; of[old].aid > of[young].aid || slices.Contains(w.m.apps, of[killed]) {
			t.Errorf("refreshed %v: the older application has number %d and the younger one %d of %d", refreshed, of[old].aid, of[young].aid, len(w.m.apps))
		}
	}
}

// The queue of an application that waited when the ResourceManager stopped cannot be removed before the application is
// scheduled again.
func TestQueuesStayAfterRestarts(t *testing.T) {
	w := newWorld(t, "capacity", nil)
	id := w.submit("SPARK")
	w.restart(heddle.Second)
	without := *w.m.sch
	without.Rebuild = func([]string) (*Scheduler, error) {
		s := testScheduler(t, "capacity")
		s.Queues[1].Path = "root.other"
		return s, nil
	}
	c := w.next()
	w.step(&Refresh{Call: c, Scheduler: &without})
	if _, err := answered[any](w, c); err == nil {
		t.Error("it is removed")
	}
	w.node("n1", 8192, 8)
	if p := w.app(id); p.Master.IsZero() {
		t.Errorf("the application is %s and has no master", p.State)
	}
}

// A master that waited when the ResourceManager stopped does not start on the last node to come before that node can
// check tokens: the keys come with the answer to its registration, and its first heartbeat shows that it has them.
func TestStartWaitsForKeys(t *testing.T) {
	w := newWorld(t, "capacity", nil)
	n := w.node("n1", 8192, 8)
	w.step(&BeatNode{Call: w.next(), Node: n.id, Last: n.last, Health: Health{Said: true, Sick: true}})
	id := w.submit("SPARK")
	w.restart(heddle.Second)
	starts := func() (n int) {
		for _, e := range w.rest {
			if _, ok := e.(*StartMaster); ok {
				n++
			}
		}
		return n
	}
	n.register(8192, 8)
	if !w.m.Ready() || starts() > 0 {
		t.Errorf("ready: %v; %d masters start before the node has the keys", w.m.Ready(), starts())
	}
	why, err := w.m.Reports().Why(id)
	if err != nil || len(why.Pending) != 1 || why.Pending[0].Why != "node-silent" || !strings.Contains(why.Pending[0].Text, "has just registered") {
		t.Errorf("it waits for %+v, %v", why.Pending, err)
	}
	n.beat()
	if starts() != 1 || w.app(id).MasterNode != n.id {
		t.Errorf("%d masters start once it has reported", starts())
	}
}

// A call gets nothing on a node that has registered and not reported since. What runs there, if it comes back, goes on.
func TestNothingStartsBeforeTheFirstHeartbeat(t *testing.T) {
	w := newWorld(t, "capacity", func(o *Options) { o.Config.Silence = 10 * heddle.Second })
	_, m, home, other := w.job("MAPREDUCE") // neither has room for what is asked for
	n := &nm{w: w, id: ids.Node{Host: "n3", Port: 8041}, conts: map[ids.Container]ContainerNews{}, can: heddle.Stock}
	granted := func(when string, p *Allocated, want int) {
		t.Helper()
		if len(p.Granted) != want || want > 0 && p.Granted[0].Node != n.id {
			t.Fatalf("%s: granted %v, want %d", when, p.Granted, want)
		}
	}
	n.register(16384, 16)
	granted("registered", m.ask(row(20, "*", 5000, 1)), 0)
	n.beat()
	p := m.ask()
	granted("reported", p, 1)
	task := p.Granted[0].ID
	n.run(task)
	n.beat()
	for _, away := range []heddle.Span{0, heddle.Minute} { // after a minute it is passed over already
		w.pass(away, m, home, other)
		n.register(16384, 16, found(task, 20))
		granted("registered again", m.ask(row(20, "*", 5000, 1)), 0)
		c := w.next()
		w.step(&Refresh{Call: c, Scheduler: w.m.Scheduler()})
		w.done(c)
		granted("with another core", m.ask(), 0)
		if b := n.beat(); len(b.Cleanup) > 0 || w.m.container(task) == nil {
			t.Errorf("what runs there is ended: %v", b.Cleanup)
		}
		p = m.ask()
		granted("reported again", p, 1)
		if _, err := m.try(Allocate{Release: []ids.Container{p.Granted[0].ID}}); err != nil {
			t.Fatal(err)
		}
		n.beat()
	}
}

// A master that ended while there was no ResourceManager does not come back, and is not awaited.
func TestStartDoesNotWaitForEndedMasters(t *testing.T) {
	w := newWorld(t, "capacity", nil)
	id, _, home, other := w.job("MAPREDUCE")
	master := found(w.app(id).Master, 0)
	master.Over = true
	w.restart(heddle.Second)
	other.register(4096, 4)
	other.beat()
	home.register(2048, 4, master)
	if !w.m.Ready() {
		t.Error("it waits though all are back")
	}
	if p := w.app(id); p.Attempt != 2 || p.Master.IsZero() {
		t.Errorf("attempt %d runs in %v", p.Attempt, p.Master)
	}
}

// The wait is bounded. A node that does not come back is lost once the node expiry has passed, and stays lost after
// further restarts, which do not wait for it; after a week it is forgotten.
func TestNodesThatDoNotComeBack(t *testing.T) {
	w := newWorld(t, "capacity", nil)
	id, m, home, _ := w.job("MAPREDUCE")
	w.node("n3", 8192, 8)
	w.restart(heddle.Second)
	home.register(8192, 8, found(w.app(id).Master, 0))
	m.register()
	w.pass(w.m.cfg.SchedulingWait-heddle.Second, m, home)
	if w.m.Ready() {
		t.Fatal("it begins with nodes missing")
	}
	w.pass(heddle.Second, m, home)
	if !w.m.Ready() {
		t.Fatal("it waits for longer than it may")
	}
	if got := w.nodeStates(); got["n3"] != "NEW" || w.m.View().Cluster().New != 2 {
		t.Errorf("nodes are %v after the wait", got)
	}
	w.pass(w.m.cfg.NodeExpiry+heddle.Second, m, home)
	if got := w.nodeStates(); got["n3"] != "LOST" || w.m.View().Cluster().Lost != 2 {
		t.Errorf("nodes are %v after the expiry of nodes", got)
	}
	w.restart(heddle.Second)
	w.awaits(1, 1)
	if got := w.nodeStates(); got["n3"] != "LOST" {
		t.Errorf("nodes are %v after another start", got)
	}
	w.restart(8 * 24 * heddle.Hour)
	if _, there := w.nodeStates()["n3"]; there || len(w.nodes) != 1 {
		t.Errorf("a node that has been lost for a week is still there: %v", w.nodes)
	}
}

// Nodes gone for a week are forgotten even without a restart: a cluster whose nodes come and go under new names keeps
// only so many.
func TestNodesGoneForAWeek(t *testing.T) {
	w := newWorld(t, "capacity", nil)
	home := w.node("n1", 8192, 8)
	lost, left := w.node("n2", 8192, 8), w.node("n3", 8192, 8)
	w.step(&UnregisterNode{Call: w.next(), Node: left.id})
	days := func(n int) {
		t.Helper()
		for range n * 24 * 12 {
			w.sleep(5 * heddle.Minute)
			home.beat()
		}
	}
	days(3)
	w.restart(heddle.Second)
	home.register(8192, 8)
	days(3)
	if got := w.nodeStates(); got["n2"] != "LOST" {
		t.Fatalf("nodes are %v after six days", got)
	}
	left.register(8192, 8)
	w.step(&UnregisterNode{Call: w.next(), Node: left.id})
	days(2)
	if got := w.nodeStates(); got["n2"] != "" || got["n3"] != "SHUTDOWN" {
		t.Errorf("nodes are %v after eight days", got)
	}
	if len(w.nodes) != 1 {
		t.Errorf("%v are kept", w.nodes)
	}
	days(6)
	if got := w.nodeStates(); got["n3"] != "" || len(got) != 1 {
		t.Errorf("nodes are %v a week later", got)
	}
	if p := lost.register(8192, 8); p.Refused != "" {
		t.Error(p.Refused)
	}
}

// Nodes that leave or are excluded are not awaited. A node that comes back elsewhere on its host replaces the lost one.
func TestNodesThatLeave(t *testing.T) {
	w := newWorld(t, "capacity", nil)
	_, _, home, other := w.job("MAPREDUCE")
	third, fourth := w.node("n3", 8192, 8), w.node("n4", 8192, 8)
	leaves := func(n *nm) { w.step(&UnregisterNode{Call: w.next(), Node: n.id}) }
	leaves(other)
	w.restart(heddle.Second)
	w.awaits(3, 3)
	leaves(third)
	w.awaits(2, 3)
	w.step(&RefreshNodes{Call: w.next(), Lists: HostLists{Exclude: map[string]bool{"n4": true}}})
	w.awaits(1, 3)
	if got := w.nodeStates(); got["n3"] != "SHUTDOWN" || got["n4"] != "DECOMMISSIONED" {
		t.Errorf("nodes are %v", got)
	}
	w.step(&RefreshNodes{Call: w.next()})
	home.register(8192, 8)
	fourth.register(8192, 8)
	w.with.Lists.Exclude = map[string]bool{"n1": true}
	w.restart(heddle.Second)
	w.awaits(1, 1)
	w.sleep(w.m.cfg.NodeExpiry + heddle.Second)
	elsewhere := *fourth
	elsewhere.id.Port++
	elsewhere.register(8192, 8)
	w.settle()
	if len(w.nodes) != 1 || w.nodes[elsewhere.id].Lost != 0 {
		t.Errorf("%v are kept", w.nodes)
	}
}

// If hosts are listed by address, a start waits for nodes whose addresses it does not know yet, except for those
// excluded by name.
func TestNodesListedByAddress(t *testing.T) {
	w := newWorld(t, "capacity", nil)
	home := w.node("n1", 8192, 8)
	w.node("n2", 8192, 8)
	lists := HostLists{Include: map[string]bool{"10.0.0.1": true, "fd00::2": true}, Exclude: map[string]bool{"n2": true}}
	w.with.Lists = lists
	w.restart(heddle.Second)
	w.awaits(1, 1)
	w.step(&RefreshNodes{Call: w.next(), Lists: lists})
	w.awaits(1, 1)
	w.step(&RegisterNode{Call: w.next(), Node: home.id, Names: []string{"10.0.0.1", "n1"}, Rack: defaultRack, HTTPPort: 8042, Total: heddle.Of(8192, 8000)})
	w.awaits(0, 1)
	if got := w.nodeStates(); got["n1"] != "RUNNING" {
		t.Errorf("nodes are %v", got)
	}
	w.with.Lists.Include = map[string]bool{"n3": true}
	w.restart(heddle.Second)
	w.awaits(0, 0)
}

// A node is written when it comes and when it goes, and not at its heartbeats.
func TestNodesAreWrittenRarely(t *testing.T) {
	w := newWorld(t, "capacity", nil)
	n := w.node("n1", 8192, 8)
	before := w.m.commitSeq
	w.pass(heddle.Minute, nil, n)
	n.register(8192, 8)
	w.restart(heddle.Second)
	before -= w.m.commitSeq // of another machine, which begins with 0
	n.register(8192, 8)
	if w.m.commitSeq != 0 || before != 1 {
		t.Errorf("%d and %d records are written", before, w.m.commitSeq)
	}
}

// Nodes that come and go at once are written together, and a node that left before it was written is never written. A
// restart before the write does not know them.
func TestNodesAreWrittenTogether(t *testing.T) {
	w := newWorld(t, "capacity", nil)
	w.node("n0", 8192, 8)
	if len(w.nodes) != 1 {
		t.Fatalf("%d nodes are kept, want the first at once", len(w.nodes))
	}
	before := w.m.commitSeq
	for i := range 9 {
		n := w.node(text("m%d", i), 8192, 8)
		if i >= 4 {
			w.step(&UnregisterNode{Call: w.next(), Node: n.id})
		}
	}
	w.sleep(keepApart)
	if w.m.commitSeq != before || len(w.nodes) != 1 {
		t.Errorf("%d records of %d nodes are written at once", w.m.commitSeq-before, len(w.nodes))
	}
	w.sleep(1)
	if w.m.commitSeq != before+1 || len(w.nodes) != 5 {
		t.Errorf("%d records are written, and %d nodes are kept", w.m.commitSeq-before, len(w.nodes))
	}
	w.sleep(heddle.Second)
	w.node("last", 8192, 8)
	if w.m.commitSeq != before+2 || len(w.nodes) != 6 {
		t.Errorf("%d records are written, and %d nodes are kept, once time has passed", w.m.commitSeq-before, len(w.nodes))
	}
}

// One node in twenty may be missing, but none in a small cluster.
func TestEnoughNodes(t *testing.T) {
	for _, c := range []struct {
		missing, known int
		want           bool
	}{{0, 0, true}, {1, 1, false}, {1, 19, false}, {1, 20, true}, {2, 39, false}, {500, 10_000, true}, {501, 10_000, false}} {
		if b := (comeback{known: c.known, missing: c.missing}); b.enough() != c.want {
			t.Errorf("%d of %d missing is enough: %v", c.missing, c.known, b.enough())
		}
	}
}

// What the store holds is taken over in a fixed order, whatever its own order.
func TestRecalledInOrder(t *testing.T) {
	var list []NodeRecord
	for i := range 9 {
		list = append(list, NodeRecord{ID: ids.Node{Host: text("n%d", i), Port: 1}, Rack: "/r"})
	}
	numbers := func(change func()) (out []heddle.NodeID) {
		change()
		w := newWorld(t, "capacity", func(o *Options) { o.Nodes = list })
		for i := range 9 {
			out = append(out, w.m.byNode[ids.Node{Host: text("n%d", i), Port: 1}].nid)
		}
		return out
	}
	if a, b := numbers(func() {}), numbers(func() { slices.Reverse(list) }); !slices.Equal(a, b) {
		t.Errorf("%v and %v", a, b)
	}
}

// The number of an attempt whose record may be lost is not reused, even after later restarts. The running master
// continues.
func TestTakenAttempts(t *testing.T) {
	w := newWorld(t, "capacity", nil)
	id, m, home, _ := w.job("MAPREDUCE")
	master := w.app(id).Master
	a := w.apps[id]
	a.Taken = 7
	w.apps[id] = a
	w.restart(heddle.Second)
	home.register(8192, 8, found(master, 0))
	m.register()
	if p := w.app(id); p.State != AppRunning || p.Attempt != 1 {
		t.Fatalf("attempt %d of an application that is %s", p.Attempt, p.State)
	}
	c := w.next()
	w.step(&FailAttempt{Call: c, Who: Person{User: "ann"}, Attempt: m.who.Attempt})
	w.done(c)
	home.beat()
	w.pass(w.m.cfg.SchedulingWait, nil, home)
	if p := w.app(id); p.Attempt != 8 {
		t.Errorf("the next attempt is number %d", p.Attempt)
	}
	if got := w.apps[id].Taken; got != 7 {
		t.Errorf("numbers up to %d are taken in the store", got)
	}
	w.restart(heddle.Second)
	home.register(8192, 8)
	w.pass(w.m.cfg.SchedulingWait, nil, home)
	if p := w.app(id); p.Attempt < 8 {
		t.Errorf("after another start the next attempt is number %d", p.Attempt)
	}
}

// A restarting master waits for the nodes too, even if a policy names its node and no heartbeat is awaited.
func TestStartHoldsNamedMasters(t *testing.T) {
	profile := filepath.Join(t.TempDir(), "named.yaml")
	if err := os.WriteFile(profile, []byte("profile: capacity\nplace: {am: spread}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	w := newWorld(t, profile, nil)
	id, _, home, other := w.job("MAPREDUCE")
	third := w.node("n3", 8192, 8)
	master := found(w.app(id).Master, 0)
	master.Over = true
	w.restart(heddle.Second)
	home.register(8192, 8, master)
	third.register(16384, 16)
	third.beat()
	if p := w.app(id); p.Attempt != 2 || !p.Master.IsZero() {
		t.Errorf("attempt %d begins in %v with a node missing", p.Attempt, p.Master)
	} else if p.Diagnostics != ComingBack {
		t.Errorf("its client reads %q", p.Diagnostics)
	}
	other.register(4096, 4)
	if p := w.app(id); p.Master.IsZero() || p.MasterNode != third.id {
		t.Errorf("once all are back its master is %v on %v, not on the roomiest node", p.Master, p.MasterNode)
	}
}

// Without work-preserving recovery a restart ends the attempts that run. That is not their fault, even if an older
// program did not store it, and an application that allows only one attempt fails.
func TestRestartPreservesNoWork(t *testing.T) {
	for name, older := range map[string]bool{"stored": false, "stored by an older program": true} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, "capacity", func(o *Options) { o.Config.WorkPreserving = false })
			n := w.node("n1", 32768, 32)
			id := w.submit("MAPREDUCE")
			s := submission(w.newID(), "MAPREDUCE")
			s.MaxAttempts = 1
			w.done(w.submitAs("ann", s, ""))
			for i := range int32(4) {
				n.beat()
				p := w.app(id)
				if p.Attempt != i+1 || p.Master.IsZero() {
					t.Fatalf("after %d restarts attempt %d of an application that is %s has its master in %v: %s", i, p.Attempt, p.State, p.Master, p.Diagnostics)
				}
				n.run(p.Master)
				n.beat()
				w.master(id)
				w.restart(heddle.Second)
				first := ids.Attempt{App: id, N: i + 1}
				if k := w.tries[first]; k.State != "FAILED" || k.Exit != int32(heddle.Aborted) || k.Finished == 0 || k.Diagnostics == "" {
					t.Fatalf("%s is stored as %+v", first, k)
				} else if older {
					k.State, k.Exit, k.Finished, k.Diagnostics = "", exitInvalid, 0, ""
					w.tries[first] = k
				}
				n.register(32768, 32)
				w.pass(w.m.cfg.SchedulingWait, nil, n)
			}
			if p := w.app(s.ID); p.State != AppFailed || p.Attempt != 1 || !strings.Contains(p.Diagnostics, "ended with the ResourceManager's restart") {
				t.Errorf("with one attempt allowed it is %s with attempt %d: %s", p.State, p.Attempt, p.Diagnostics)
			}
			m := w.master(id)
			n.exit(w.app(id).Master, 1)
			n.beat()
			if p := w.app(id); p.Attempt != m.who.Attempt.N+1 || p.State != AppAccepted {
				t.Errorf("after its first failure it is %s with attempt %d: %s", p.State, p.Attempt, p.Diagnostics)
			}
		})
	}
}
