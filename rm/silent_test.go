package rm

import (
	"slices"
	"testing"

	"heddle"
	"heddle/yarn/ids"
)

// Nothing more starts on a node that misses its heartbeats, even if it has the most room and seems alive; what runs
// there continues. With its next heartbeat it gets work again.
func TestNothingStartsOnSilentNodes(t *testing.T) {
	w := newWorld(t, "capacity", func(o *Options) { o.Config.Silence = 10 * heddle.Second })
	id, m, home, other := w.job("MAPREDUCE") // 1 GiB is free on its node, 4 GiB on the other
	task := other.task(m)
	places := func(p *Allocated) (out []ids.Node) {
		for _, c := range p.Granted {
			out = append(out, c.Node)
		}
		slices.SortFunc(out, ids.Node.Compare)
		return out
	}
	w.sleep(10 * heddle.Second)
	home.beat()
	if got := places(m.ask(row(20, "*", 512, 2))); !slices.Contains(got, other.id) {
		t.Fatalf("granted on %v when the other node may still be silent", got)
	}
	w.sleep(1)
	if got := places(m.ask(row(20, "*", 512, 2))); slices.Contains(got, other.id) {
		t.Errorf("granted on %v, of which one is silent", got)
	}
	if p := w.app(id); p.State != AppRunning || w.m.container(task) == nil || w.nodeStates()["n2"] != "RUNNING" {
		t.Errorf("the application is %s, nodes are %v", p.State, w.nodeStates())
	}
	m.ask(row(20, "*", 1024, 2))
	why, err := w.m.Reports().Why(id)
	if err != nil || len(why.Pending) != 1 || !slices.ContainsFunc(why.Pending[0].Nodes, func(g NodeGroup) bool { return g.Why == "node-silent" && g.Nodes == 1 }) {
		t.Errorf("it waits for %+v, %v", why.Pending, err)
	}
	c := w.next()
	w.step(&Refresh{Call: c, Scheduler: w.m.Scheduler()})
	w.done(c)
	if got := m.ask().Granted; len(got) != 0 {
		t.Errorf("another core grants %v", got)
	}
	other.beat()
	if got := places(m.ask()); len(got) != 1 || got[0] != other.id {
		t.Errorf("granted on %v once it reports again", got)
	}
	w.pass(w.with.Config.NodeExpiry+heddle.Second, m, home)
	if got := w.nodeStates()["n2"]; got != "LOST" {
		t.Errorf("it is %s", got)
	}
	other.register(4096, 4)
	other.beat()
	if got := places(m.ask(row(20, "*", 1024, 2))); !slices.Contains(got, other.id) {
		t.Errorf("granted on %v once it has come back", got)
	}
}

// A node that was told to report seldom may be silent for longer.
func TestSilenceGoesByReports(t *testing.T) {
	w := newWorld(t, "capacity", func(o *Options) { o.Config.Silence, o.Config.IdleBeat = 10*heddle.Second, 20*heddle.Second })
	n := w.node("n1", 4096, 4)
	if p := n.beat(); p.Every != 20*heddle.Second {
		t.Fatalf("it is to report every %d s", p.Every/heddle.Second)
	}
	w.sleep(heddle.Minute)
	if id := w.submit("SPARK"); w.app(id).MasterNode != n.id {
		t.Error("it is passed over before its third report is due")
	}
	n.beat()
	w.sleep(heddle.Minute)
	if id := w.submit("SPARK"); w.app(id).MasterNode == n.id {
		t.Error("a master starts on a node that is silent")
	}
}
