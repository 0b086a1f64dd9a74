package rm

import (
	"testing"

	"heddle"
	"heddle/policy"
	"heddle/yarn/ids"
)

// reads returns a world whose policies use map outputs and heaps, with agents beside the master's node and a map's.
func reads(t *testing.T) (w *world, m *am, app ids.App, n1 *nm, home, other *ag) {
	t.Helper()
	w = newWorld(t, "capacity", func(o *Options) { o.Scheduler.Set.Feeds = policy.Feeds{Output: true, Heaps: true} })
	app, m, n1, n2 := w.job("MAPREDUCE")
	n2.task(m)
	home = &ag{w: w, node: n1.id, name: "one"}
	other = &ag{w: w, node: n2.id, name: "two"}
	return w, m, app, n1, home, other
}

// says makes an agent report what it read.
func (a *ag) says(outputs []MapOutput, heaps ...MasterHeap) {
	a.w.Helper()
	a.call = a.w.next()
	a.w.step(&AgentSync{Call: a.call, Node: a.node, Agent: a.name, Can: a.can, Applied: a.applied, Outputs: outputs, Heaps: heaps})
}

// A master is not asked for the containers of tasks if agents report where the tasks run.
func TestAgentsTellWhatRuns(t *testing.T) {
	for _, said := range []bool{false, true} {
		w, m, _, task := asking(t, policy.Feeds{Progress: heddle.Second})
		a := &ag{w: w, node: w.m.container(task).node.id, name: "one"}
		of := Task{heddle.Map, 3}
		if said {
			a.call = w.next()
			w.step(&AgentSync{Call: a.call, Node: a.node, Agent: a.name, Tasks: []TaskIn{
				{task, Task{heddle.Reduce, 3}}, {w.app(m.who.Attempt.App).Master, of}, {ids.Container{}, of}, {task, of},
			}})
		}
		w.sleep(6 * heddle.Second)
		if w.asked() == nil {
			t.Fatal("nobody is asked")
		}
		w.step(&MasterTold{Attempt: m.who.Attempt, Tasks: []TaskNews{{Task: of, Listed: true, State: TaskRuns, Phase: heddle.MapRead, Progress: 0.25}}})
		_, at := w.m.core.View().Container(w.m.container(task).cid).Progress()
		w.sleep(6 * heddle.Second)
		if q := w.asked(); q == nil || (len(q.Containers) == 0) != said || (at == 0.25) != said {
			t.Errorf("the agent says what runs %v: asked %+v, and the core heard of %v", said, q, at)
		}
	}
}

// An agent is asked for the outputs of applications that ran something on its node. What it reports counts once,
// however often it is repeated and whoever else reports it.
func TestAgentsTellWhereOutputLies(t *testing.T) {
	w, m, app, _, _, a := reads(t)
	a.says(nil)
	if p := a.told(); p == nil || len(p.Outputs) != 1 || p.Outputs[0] != (OutputsOf{app, "ann"}) || len(p.Heaps) > 0 {
		t.Fatalf("told %+v", p)
	}
	is := func(want ...int64) {
		t.Helper()
		out := w.m.core.View().App(w.m.byApp[app].aid).Outputs()
		ok := len(out) == len(want)
		for i := range out {
			ok = ok && out[i].Bytes == want[i]
		}
		if !ok {
			t.Errorf("outputs are %v, want %v", out, want)
		}
	}
	for range 2 {
		a.says([]MapOutput{{app, 0, 5000}, {app, 1, 70}})
		is(5070)
	}
	a.says([]MapOutput{{app, -1, 1}, {app, 2, -1}, {app, 3, maxBytes + 1}, {ids.App{Cluster: 1, Seq: 9}, 0, 1}})
	is(5070)
	w.sleep(6 * heddle.Second)
	w.asked()
	w.step(&MasterTold{Attempt: m.who.Attempt, Tasks: []TaskNews{{Task: Task{heddle.Map, 0}, Counted: true, Output: 5000, NodeHTTP: "n1:8042"}}})
	is(5070)
}

// Output on a node that is gone counts again when it is produced again.
func TestOutputIsMadeAgain(t *testing.T) {
	w, m, app, n, home, a := reads(t)
	home.says(nil)
	home.told()
	a.says([]MapOutput{{app, 0, 5000}})
	home.says([]MapOutput{{app, 0, 5000}}) // a speculative copy
	v := w.m.core.View().App(w.m.byApp[app].aid)
	if out := v.Outputs(); len(out) != 1 {
		t.Fatalf("outputs %v", out)
	}
	w.pass(11*heddle.Minute, m, n)
	home.says([]MapOutput{{app, 0, 5000}})
	v = w.m.core.View().App(w.m.byApp[app].aid)
	if out := v.Outputs(); len(out) != 2 || out[1].Node != w.m.byNode[home.node].nid {
		t.Errorf("outputs %v", out)
	}
}

// Output left by an earlier master of an application does not count again.
func TestOutputOutlivesMasters(t *testing.T) {
	w, _, app, n1, _, a := reads(t)
	a.says([]MapOutput{{app, 0, 5000}})
	n1.exit(w.app(app).Master, 1)
	n1.beat()
	n1.run(w.app(app).Master)
	n1.beat()
	if second := w.master(app); second.who.Attempt.N != 2 {
		t.Fatalf("the master is %v", second.who.Attempt)
	}
	a.says([]MapOutput{{app, 0, 5000}, {app, 1, 70}})
	if out := w.m.core.View().App(w.m.byApp[app].aid).Outputs(); len(out) != 1 || out[0].Bytes != 5070 {
		t.Errorf("outputs %v", out)
	}
}

// An agent is asked for a master's heap only if the master was asked and did not report it.
func TestAgentsTellHeapsOfMuteMasters(t *testing.T) {
	w, m, app, _, a, _ := reads(t)
	master := w.app(app).Master
	heap := MasterHeap{master, HeapNews{Live: 40, Outside: 90}}
	a.says(nil, heap)
	if p := a.told(); p == nil || len(p.Heaps) > 0 {
		t.Fatalf("told %+v before the master was asked", p)
	}
	if w.m.byApp[app].live != 0 {
		t.Errorf("nobody asked, and the heap holds %d", w.m.byApp[app].live)
	}
	w.sleep(16 * heddle.Second)
	if q := w.asked(); q == nil || !q.Heap {
		t.Fatalf("asked %+v", q)
	}
	w.step(&MasterTold{Attempt: m.who.Attempt, Failed: "no answer within 4 s"})
	a.says(nil)
	w.sleep(6 * heddle.Second)
	if p := a.told(); p == nil || len(p.Heaps) != 1 || p.Heaps[0] != master {
		t.Fatalf("told %+v", p)
	}
	a.says(nil, heap, MasterHeap{ids.Container{}, HeapNews{Live: 1}})
	if x := w.m.byApp[app]; x.live != 40 || x.beside != 90 {
		t.Errorf("%d MiB live, and %d beside them", x.live, x.beside)
	}
}
