package rm

import (
	"fmt"
	"io"
	"log/slog"
	"testing"

	"google.golang.org/protobuf/proto"

	"heddle/yarn/conv"
	"heddle/yarn/ids"
	"heddle/yarn/rpc"
	"heddle/yarn/wire"
)

// large is a ResourceManager with so many nodes, whose loop is the benchmark itself.
func large(b *testing.B, profile string, nodes int, mem int64) (*RM, []*nm) {
	b.Helper()
	r, err := New(Options{Config: testConfig(), Scheduler: testScheduler(b, profile), Log: slog.New(slog.NewTextHandler(io.Discard, nil))})
	if err != nil {
		b.Fatal(err)
	}
	r.callOnce = func(nodeCall, string, proto.Message, proto.Message) error { return nil }
	list := make([]*nm, nodes)
	for i := range list {
		n := &nm{id: ids.Node{Host: fmt.Sprintf("n%05d", i), Port: 8041}}
		r.register(n.id, fmt.Sprintf("/r%02d", i/40), &wire.RegisterNodeManagerRequest{
			HttpPort: proto.Int32(8042), Resource: &wire.Resource{Memory: &mem, VirtualCores: proto.Int32(32)},
		})
		list[i] = n
	}
	return r, list
}

// begun is an application whose master runs and has registered.
func begun(b *testing.B, r *RM, seq int32, kind string) *am {
	b.Helper()
	id := ids.App{Cluster: r.cluster, Seq: seq}
	a, err := r.newApp(id, "ann", placed{queue: "root.default"}, submission(id, kind, 1024))
	if err != nil {
		b.Fatal(err)
	}
	r.byApp[id] = a
	r.appStored(a)
	t := a.current()
	if t == nil || t.master == nil {
		b.Fatalf("%s has no master: %s", id, a.state)
	}
	t.state, t.responseID, a.state = attemptRunning, 0, string(AppRunning)
	r.drain()
	return &am{call: &rpc.Call{Identity: caller{attempt: t.id}}}
}

// BenchmarkHeartbeat is one report of a node with two containers, in a cluster of 10,000 that is full, where nobody
// waits and where many do.
func BenchmarkHeartbeat(b *testing.B) {
	for _, waiting := range []int32{0, 1000} {
		b.Run(fmt.Sprintf("waiting=%d", waiting), func(b *testing.B) {
			r, nodes := large(b, "heddle", 10_000, 2048)
			m := begun(b, r, 1, "MAPREDUCE")
			who := m.call.Identity.(caller)
			if _, err := r.allocated(who, &wire.AllocateRequest{Ask: []*wire.ResourceRequest{row(20, "*", 1024, 19_999)}, ResponseId: proto.Int32(0)}); err != nil {
				b.Fatal(err)
			}
			report := func(n *nm) {
				st := &wire.NodeStatus{NodeId: conv.WireNode(n.id), ResponseId: &n.resp}
				for id := range r.byNode[n.id].conts {
					st.ContainersStatuses = append(st.ContainersStatuses, &wire.ContainerStatus{ContainerId: conv.WireContainer(id), State: wire.ContainerState_C_RUNNING.Enum()})
				}
				n.resp = r.beat(&wire.NodeHeartbeatRequest{NodeStatus: st}).GetResponseId()
			}
			for range 2 {
				for _, n := range nodes {
					report(n)
				}
			}
			if len(r.conts) < 18_000 { // profile heddle holds a tenth back for small jobs
				b.Fatalf("%d containers, want a full cluster", len(r.conts))
			}
			for i := range waiting {
				id := ids.App{Cluster: r.cluster, Seq: i + 2}
				a, err := r.newApp(id, "ann", placed{queue: "root.default"}, submission(id, "MAPREDUCE", 1024))
				if err != nil {
					b.Fatal(err)
				}
				r.byApp[id] = a
				r.appStored(a)
			}
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				report(nodes[i%len(nodes)])
			}
		})
	}
}

// BenchmarkAllocate is one call of a master that asks for four containers, is given them and gives them back.
func BenchmarkAllocate(b *testing.B) {
	for _, profile := range []string{"capacity", "heddle"} {
		b.Run(profile, func(b *testing.B) {
			r, _ := large(b, profile, 10_000, 65536)
			m := begun(b, r, 1, "MAPREDUCE")
			who := m.call.Identity.(caller)
			b.ReportAllocs()
			for b.Loop() {
				p, err := r.allocated(who, &wire.AllocateRequest{Ask: []*wire.ResourceRequest{row(20, "*", 1024, 4)}, ResponseId: new(m.resp)})
				if err != nil || len(p.GetAllocatedContainers()) != 4 {
					b.Fatal(len(p.GetAllocatedContainers()), err)
				}
				q := &wire.AllocateRequest{ResponseId: p.ResponseId}
				for _, c := range p.GetAllocatedContainers() {
					q.Release = append(q.Release, c.GetId())
				}
				if p, err = r.allocated(who, q); err != nil {
					b.Fatal(err)
				}
				m.resp = p.GetResponseId()
			}
		})
	}
}
