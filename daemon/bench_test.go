package daemon

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"math"
	"testing"

	"google.golang.org/protobuf/proto"

	"heddle/rm"
	"heddle/yarn/conv"
	"heddle/yarn/ids"
	"heddle/yarn/rpc"
	"heddle/yarn/wire"
)

// said passes a message to the machine as the loop does, which is the benchmark itself, and returns the answer.
func said[T any](b testing.TB, r *RM, with func(rm.Call) rm.Message) (v T) {
	b.Helper()
	r.last++
	r.waiting[r.last] = func(a any, err error) {
		if err != nil {
			b.Fatal(err)
		}
		v, _ = a.(T)
	}
	r.step(with(r.last))
	return v
}

// drain lets the loop, which is the benchmark itself, do what waits.
func (r *RM) drain() { r.turn(nil) }

// large returns a ResourceManager with a number of nodes; its loop is the benchmark itself.
func large(b testing.TB, profile string, nodes int, mem int64) (*RM, []*nm) {
	b.Helper()
	r, err := New(Options{Config: testConfig(), Scheduler: testScheduler(b, profile), Log: slog.New(slog.NewTextHandler(io.Discard, nil))})
	if err != nil {
		b.Fatal(err)
	}
	r.callOnce = func(nodeCall, string, proto.Message, proto.Message) error { return nil }
	list := make([]*nm, nodes)
	for i := range list {
		n := &nm{id: ids.Node{Host: fmt.Sprintf("n%05d", i), Port: 8041}, conts: map[ids.Container]*wire.ContainerStatus{}}
		said[*rm.NodeRegistered](b, r, func(c rm.Call) rm.Message {
			m := r.units.RegisterNode(&wire.RegisterNodeManagerRequest{
				NodeId: conv.WireNode(n.id), HttpPort: proto.Int32(8042), Resource: &wire.Resource{Memory: &mem, VirtualCores: proto.Int32(32)},
			})
			m.Call, m.Rack, m.Names = c, fmt.Sprintf("/r%02d", i/40), []string{n.id.Host}
			return m
		})
		n.report(b, r)
		list[i] = n
	}
	return r, list
}

// submitted returns an application in a queue that is being stored.
func submitted(b testing.TB, r *RM, kind, queue string) ids.App {
	b.Helper()
	id := said[rm.NewAppID](b, r, func(c rm.Call) rm.Message { return &rm.NewApp{Call: c, User: "ann"} }).ID
	s, err := r.units.Submission(submission(id, kind, 1024))
	if err != nil {
		b.Fatal(err)
	}
	said[any](b, r, func(c rm.Call) rm.Message {
		return &rm.SubmitApp{Call: c, Who: rm.Person{User: "ann"}, Queue: queue, App: s}
	})
	return id
}

// queued returns a submitted application.
func queued(b testing.TB, r *RM, kind string) ids.App {
	b.Helper()
	id := submitted(b, r, kind, "root.default")
	r.drain() // it is stored
	return id
}

// begun returns an application whose master runs and has registered.
func begun(b testing.TB, r *RM) *am {
	b.Helper()
	m := &am{call: &rpc.Call{Identity: rm.Caller{Attempt: ids.Attempt{App: queued(b, r, "MAPREDUCE"), N: 1}}}}
	r.drain() // its master is stored, and started
	said[*rm.MasterRegistered](b, r, func(c rm.Call) rm.Message {
		return &rm.RegisterMaster{Call: c, Who: m.call.Identity.(rm.Caller)}
	})
	return m
}

// allocates makes one call of a master.
func (m *am) allocates(b testing.TB, r *RM, q *wire.AllocateRequest) *wire.AllocateResponse {
	b.Helper()
	q.ResponseId = &m.resp
	p := r.allocated(said[*rm.Allocated](b, r, func(c rm.Call) rm.Message {
		msg := r.units.Allocate(q)
		msg.Call, msg.Who = c, m.call.Identity.(rm.Caller)
		return msg
	}), q)
	m.resp = p.GetResponseId()
	return p
}

// filled returns a cluster whose nodes run, and have reported, all that a master was granted of count containers.
func filled(b testing.TB, profile string, nodes int, mem int64, count, least int) (*RM, []*nm) {
	b.Helper()
	r, list := large(b, profile, nodes, mem)
	m := begun(b, r)
	m.allocates(b, r, &wire.AllocateRequest{Ask: []*wire.ResourceRequest{row(20, "*", 1024, int32(count))}})
	byID := map[ids.Node]*nm{}
	for _, n := range list {
		byID[n.id] = n
	}
	held := 0
	for range 3 {
		all, err := r.m.Reports().Containers(m.call.Identity.(rm.Caller).Attempt, 0, math.MaxInt)
		if err != nil {
			b.Fatal(err)
		}
		for _, c := range all {
			byID[c.Node].run(c.ID)
		}
		for _, n := range list {
			n.report(b, r)
		}
		held = len(all)
	}
	if held < least {
		b.Fatalf("%d containers, want %d", held, least)
	}
	return r, list
}

// full returns a cluster of 10,000 nodes with two containers each, except for what the profile holds back.
func full(b *testing.B, profile string) (*RM, []*nm) {
	b.Helper()
	return filled(b, profile, 10_000, 2048, 19_999, 18_000) // profile heddle holds a tenth back for small jobs
}

// report sends a heartbeat with the containers that a node runs.
func (n *nm) report(b testing.TB, r *RM) {
	st := &wire.NodeStatus{NodeId: conv.WireNode(n.id), ResponseId: &n.resp}
	for id := range n.conts {
		st.ContainersStatuses = append(st.ContainersStatuses, &wire.ContainerStatus{ContainerId: conv.WireContainer(id), State: wire.ContainerState_C_RUNNING.Enum()})
	}
	q := &wire.NodeHeartbeatRequest{NodeStatus: st}
	n.resp = r.beaten(said[*rm.NodeBeat](b, r, func(c rm.Call) rm.Message {
		msg := r.units.BeatNode(q)
		msg.Call = c
		return msg
	})).GetResponseId()
}

// BenchmarkHeartbeat measures one heartbeat of a node with two containers in a full cluster of 10,000 nodes, with no
// waiting applications and with many.
func BenchmarkHeartbeat(b *testing.B) {
	for _, waiting := range []int{0, 1000} {
		b.Run(fmt.Sprintf("waiting=%d", waiting), func(b *testing.B) {
			r, nodes := full(b, "heddle")
			for range waiting {
				queued(b, r, "MAPREDUCE")
			}
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				nodes[i%len(nodes)].report(b, r)
			}
		})
	}
}

// BenchmarkAllocate measures one call of a master that asks for four containers, gets them and gives them back.
func BenchmarkAllocate(b *testing.B) {
	for _, profile := range []string{"capacity", "heddle"} {
		b.Run(profile, func(b *testing.B) {
			r, _ := large(b, profile, 10_000, 65536)
			m := begun(b, r)
			b.ReportAllocs()
			for b.Loop() {
				p := m.allocates(b, r, &wire.AllocateRequest{Ask: []*wire.ResourceRequest{row(20, "*", 1024, 4)}})
				if len(p.GetAllocatedContainers()) != 4 {
					b.Fatal(len(p.GetAllocatedContainers()))
				}
				q := &wire.AllocateRequest{}
				for _, c := range p.GetAllocatedContainers() {
					q.Release = append(q.Release, c.GetId())
				}
				m.allocates(b, r, q)
			}
		})
	}
}

// BenchmarkCreateQueue measures placing an application in a queue that its placement creates, while 10,000 nodes run
// 20,000 containers: a new core is told all of them.
func BenchmarkCreateQueue(b *testing.B) {
	r, _ := full(b, "fair")
	for i := 0; b.Loop(); i++ {
		queue := fmt.Sprint("root.u", i)
		submitted(b, r, "MAPREDUCE", queue)
		if list := r.m.Scheduler().Queues; list[len(list)-1].Path < "root.u" {
			b.Fatalf("%s is not there: %v", queue, list)
		}
	}
}

// BenchmarkReads measures reads with 10,000 applications that wait for their masters and 1,000 nodes: in the loop, a
// view after one application has changed, and one question what an application waits for; outside it, lists.
func BenchmarkReads(b *testing.B) {
	r, _ := large(b, "capacity", 1000, 2048)
	var all []ids.App
	for range 10_000 {
		all = append(all, queued(b, r, "MAPREDUCE"))
	}
	v := r.m.View()
	b.Run("loop=view", func(b *testing.B) {
		b.ReportAllocs()
		for i := 0; b.Loop(); i++ {
			said[int32](b, r, func(c rm.Call) rm.Message {
				return &rm.SetPriority{Call: c, Who: rm.Person{User: "ann"}, App: all[i%len(all)], Priority: int32(i % 7)}
			})
			r.drain()
			v = r.m.View()
		}
	})
	b.Run("loop=question", func(b *testing.B) {
		b.ReportAllocs()
		for i := 0; b.Loop(); i++ {
			if _, err := r.m.Reports().WaitsFor(all[i%len(all)]); err != nil {
				b.Fatal(err)
			}
		}
	})
	for _, limit := range []int{1, 50, 0} {
		b.Run(fmt.Sprintf("limit=%d", limit), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := v.Apps(&rm.AppFilter{Limit: limit}, v.At(), func(int) error { return nil }); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkExpire measures one check for expiry with 10,000 nodes and 100,000 containers, of which none has expired.
func BenchmarkExpire(b *testing.B) {
	r, _ := filled(b, "fifo", 10_000, 11*1024, 100_000, 100_000)
	for b.Loop() {
		r.step(rm.Tick{})
	}
}

// BenchmarkChange measures how one change passes its lane, with one caller and with 100, without the machine's work.
func BenchmarkChange(b *testing.B) {
	for _, callers := range []int{1, 100} {
		b.Run(fmt.Sprintf("callers=%d", callers), func(b *testing.B) {
			r, _ := large(b, "capacity", 1, 8192)
			ctx := make([]context.Context, callers)
			for i := range ctx {
				ctx[i] = WithCaller(b.Context(), fmt.Sprint("caller", i))
			}
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				if err := r.enter(ctx[i%callers], changeLane, func() {}); err != nil {
					b.Fatal(err)
				}
				if i%100 == 99 {
					for r.lanes.waiting() > 0 {
						r.drain()
					}
				}
			}
		})
	}
}
