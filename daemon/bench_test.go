package daemon

import (
	"fmt"
	"io"
	"log/slog"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"

	"heddle/yarn/conv"
	"heddle/yarn/ids"
	"heddle/yarn/rpc"
	"heddle/yarn/wire"
)

// large is a ResourceManager with so many nodes, whose loop is the benchmark itself.
func large(b testing.TB, profile string, nodes int, mem int64) (*RM, []*nm) {
	b.Helper()
	r, err := New(Options{Config: testConfig(), Scheduler: testScheduler(b, profile), Log: slog.New(slog.NewTextHandler(io.Discard, nil))})
	if err != nil {
		b.Fatal(err)
	}
	r.callOnce = func(nodeCall, string, proto.Message, proto.Message) error { return nil }
	list := make([]*nm, nodes)
	for i := range list {
		n := &nm{id: ids.Node{Host: fmt.Sprintf("n%05d", i), Port: 8041}}
		r.register(n.id, []string{n.id.Host}, fmt.Sprintf("/r%02d", i/40), &wire.RegisterNodeManagerRequest{
			HttpPort: proto.Int32(8042), Resource: &wire.Resource{Memory: &mem, VirtualCores: proto.Int32(32)},
		})
		list[i] = n
	}
	return r, list
}

// queued is an application that was submitted.
func queued(b testing.TB, r *RM, seq int32, kind string) *app {
	b.Helper()
	id := ids.App{Cluster: r.cluster, Seq: seq}
	a, err := r.newApp(id, "ann", placed{queue: "root.default"}, submission(id, kind, 1024))
	if err != nil {
		b.Fatal(err)
	}
	r.byApp[id] = a
	r.appStored(a)
	return a
}

// begun is an application whose master runs and has registered.
func begun(b testing.TB, r *RM) *am {
	b.Helper()
	a := queued(b, r, 1, "MAPREDUCE")
	t := a.current()
	if t == nil || t.master == nil {
		b.Fatalf("%s has no master: %s", a.id, a.state)
	}
	t.state, t.responseID, a.state = attemptRunning, 0, string(rm.AppRunning)
	r.drain()
	return &am{call: &rpc.Call{Identity: rm.Caller{Attempt: t.id}}}
}

// full is a cluster of 10,000 nodes with two containers each.
func full(b *testing.B, profile string) (*RM, []*nm) {
	b.Helper()
	r, nodes := large(b, profile, 10_000, 2048)
	m := begun(b, r)
	if _, err := r.allocated(m.call.Identity.(rm.Caller), &wire.AllocateRequest{Ask: []*wire.ResourceRequest{row(20, "*", 1024, 19_999)}, ResponseId: proto.Int32(0)}); err != nil {
		b.Fatal(err)
	}
	for range 2 {
		for _, n := range nodes {
			n.report(r)
		}
	}
	if len(r.conts) < 18_000 { // profile heddle holds a tenth back for small jobs
		b.Fatalf("%d containers, want a full cluster", len(r.conts))
	}
	return r, nodes
}

// report is what a node says of the containers it runs.
func (n *nm) report(r *RM) {
	st := &wire.NodeStatus{NodeId: conv.WireNode(n.id), ResponseId: &n.resp}
	for id := range r.byNode[n.id].conts {
		st.ContainersStatuses = append(st.ContainersStatuses, &wire.ContainerStatus{ContainerId: conv.WireContainer(id), State: wire.ContainerState_C_RUNNING.Enum()})
	}
	n.resp = r.beat(&wire.NodeHeartbeatRequest{NodeStatus: st}).GetResponseId()
}

// BenchmarkHeartbeat is one report of a node with two containers, in a cluster of 10,000 that is full, where nobody
// waits and where many do.
func BenchmarkHeartbeat(b *testing.B) {
	for _, waiting := range []int32{0, 1000} {
		b.Run(fmt.Sprintf("waiting=%d", waiting), func(b *testing.B) {
			r, nodes := full(b, "heddle")
			for i := range waiting {
				queued(b, r, i+2, "MAPREDUCE")
			}
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				nodes[i%len(nodes)].report(r)
			}
		})
	}
}

// BenchmarkAllocate is one call of a master that asks for four containers, is given them and gives them back.
func BenchmarkAllocate(b *testing.B) {
	for _, profile := range []string{"capacity", "heddle"} {
		b.Run(profile, func(b *testing.B) {
			r, _ := large(b, profile, 10_000, 65536)
			m := begun(b, r)
			who := m.call.Identity.(rm.Caller)
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

// BenchmarkCreateQueue is an application in a queue that its placement creates, where 10,000 nodes run 20,000
// containers: all of them are told to a new core.
func BenchmarkCreateQueue(b *testing.B) {
	r, _ := full(b, "fair")
	for i := 0; b.Loop(); i++ {
		if err := r.create(fmt.Sprint("root.u", i)); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkList is a list of 1,000 applications that wait for their masters, in a full cluster of 10,000 nodes.
func BenchmarkList(b *testing.B) {
	r, _ := full(b, "fair")
	for i := range int32(1000) {
		queued(b, r, i+2, "MAPREDUCE")
	}
	for b.Loop() {
		if got := len(r.list(rm.AppFilter{})); got != 1001 {
			b.Fatal(got)
		}
	}
}

// BenchmarkExpire is one look at what may have expired, where 10,000 nodes run 100,000 containers and nothing has.
func BenchmarkExpire(b *testing.B) {
	r, nodes := large(b, "fifo", 10_000, 11*1024)
	m := begun(b, r)
	who := m.call.Identity.(rm.Caller)
	if _, err := r.allocated(who, &wire.AllocateRequest{Ask: []*wire.ResourceRequest{row(20, "*", 1024, 100_000)}, ResponseId: proto.Int32(0)}); err != nil {
		b.Fatal(err)
	}
	for range 2 {
		for _, n := range nodes {
			n.report(r)
		}
	}
	if len(r.conts) < 100_000 {
		b.Fatalf("%d containers, want 100,000", len(r.conts))
	}
	for b.Loop() {
		r.expire(time.Now())
	}
}
