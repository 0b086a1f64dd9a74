package daemon

import (
	"context"
	"strings"
	"testing"
)

// What operators read about a waiting application names who refuses it, the limit in figures, and what sets the limit.
func TestWhyReads(t *testing.T) {
	for _, x := range []struct {
		profile string
		memory  int64 // MiB of the node
		cores   int32
		kind    string
		why     string
		text    []string // in what is shown for the last of seven masters
		diag    string   // how YARN's diagnostics begin
		holders int
	}{
		{
			"capacity", 8192, 8, "MAPREDUCE", "am-limit",
			[]string{
				"1 master of <memory:1024, vCores:1>: masters hold all that the queue gives to masters, short of 1024 MiB of memory and 1 vcore (gate.am: capacity). ",
				"Masters in queue root.default: <memory:1024, vCores:1> of at most <memory:1024, vCores:1>, set by yarn.scheduler.capacity.maximum-am-resource-percent = 0.1. ",
				"It is 6th of 6 that wait at gate.am: capacity.",
			},
			"Application is added to the scheduler and is not yet activated. Queue's AM resource limit exceeded. 1 master", 1,
		},
		{ // for any amount of memory
			"capacity", 1 << 20, 8, "MAPREDUCE", "am-limit",
			[]string{
				"masters hold all that the queue gives to masters, short of 1 vcore (gate.am: capacity). ",
				"Masters in queue root.default: <memory:1024, vCores:1> of at most <memory:105472, vCores:1>, ",
			},
			"Application is added to the scheduler and is not yet activated. Queue's AM resource limit exceeded. 1 master", 1,
		},
		{
			"heddle", 8192, 8, "MAPREDUCE", "am-limit",
			[]string{"<memory:5120, vCores:5> of at most <memory:5120, vCores:5>, set by share = 0.55 of the profile's gate.am: capacity. It is "},
			"Application is added to the scheduler and is not yet activated. Queue's AM resource limit exceeded. 1 master", 5,
		},
		{
			"fair", 8192, 8, "MAPREDUCE", "am-limit",
			[]string{
				"(gate.am: fair). Masters in queue root.default: <memory:3072, vCores:3> of at most <memory:2560, vCores:3>, set by queueMaxAMShareDefault = 0.5. ",
				"It is 4th of 4 that wait at gate.am: fair.",
			},
			"Application is added to the scheduler and is not yet activated. (Resource request: <memory:1024, vCores:1> exceeds maximum AM resource allowed). 1 master", 3,
		},
		{
			"yarn-client", 1 << 20, 200, "SPARK", "app-limit",
			[]string{"the limit of running applications is reached (gate.am: ikayak.client). Spark applications that run in the cluster: 1 of at most 1, set by applications = 1. It is 6th of 6 that wait at gate.am: ikayak.client."},
			"Application is added to the scheduler and is not yet activated. 1 master", 1,
		},
		{
			"fifo", 6 * 1024, 8, "MAPREDUCE", "no-room",
			[]string{"no node has room for one, short of 1024 MiB of memory. It is 1st of 1 in queue root.default by order fifo."},
			"Application is Activated, waiting for resources to be assigned for AM. 1 master", 5,
		},
	} {
		t.Run(x.profile, func(t *testing.T) {
			inWorld(t, x.profile, func(t *testing.T, w *world) {
				n := w.node("n1", x.memory, x.cores)
				w.submit(x.kind, 1024)
				n.beat()
				for range 5 {
					w.submit(x.kind, 1024)
				}
				last := w.submit(x.kind, 1024)
				n.beat()
				report := w.app(last)
				e, err := w.r.Why(context.Background(), last)
				if err != nil || len(e.Pending) != 1 {
					t.Fatalf("%+v, %v", e, err)
				}
				p := e.Pending[0]
				if p.Why != x.why || len(p.Holders) != x.holders {
					t.Errorf("%s, held by %d: %+v", p.Why, len(p.Holders), p)
				}
				for _, text := range x.text {
					if !strings.Contains(p.Text, text) {
						t.Errorf("%q is not in\n%s", text, p.Text)
					}
				}
				if !strings.HasPrefix(report.Diagnostics, x.diag) || !strings.HasSuffix(report.Diagnostics, p.Text) {
					t.Errorf("clients read\n%s", report.Diagnostics)
				}
			})
		})
	}
}

// If nodes answer differently, every answer is listed with the nodes that give it.
func TestWhyByNode(t *testing.T) {
	inWorld(t, "slots", func(t *testing.T, w *world) { // maps wait 15 s for their node
		n := w.node("n1", 8192, 8)
		w.node("n2", 2048, 2)
		id := w.submit("MAPREDUCE", 1024)
		n.beat()
		m := w.master(id)
		m.ask(row(20, "*", 2048, 2), row(20, "n2", 2048, 2), row(20, "/default-rack", 2048, 2))
		e, err := w.r.Why(context.Background(), id)
		if err != nil || len(e.Pending) != 1 {
			t.Fatalf("%+v, %v", e, err)
		}
		const want = "1 map of <memory:2048, vCores:1>: no node takes it: 1 has too little free; " +
			"1 is passed over for one that holds its data (place.map: delay). It is 1st of 1 in queue root.default by order slots."
		if got := e.Pending[0].Text; got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	})
}
