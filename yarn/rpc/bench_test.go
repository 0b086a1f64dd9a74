package rpc

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

	"heddle/yarn/wire"
)

// heartbeats serves nodeHeartbeat with an answer of the usual size.
func heartbeats() []Protocol {
	answer := &wire.NodeHeartbeatResponse{
		ResponseId: new(int32(1)), NodeAction: wire.NodeAction_NORMAL.Enum(), NextHeartBeatInterval: new(int64(1000)),
	}
	return []Protocol{{trackerPB, map[string]Method{
		"nodeHeartbeat": Serve(func(context.Context, *Call, *wire.NodeHeartbeatRequest) (*wire.NodeHeartbeatResponse, error) {
			return answer, nil
		}),
	}}}
}

// heartbeat is what a node with a few containers reports.
func heartbeat() *wire.NodeHeartbeatRequest {
	id := &wire.NodeId{Host: new("node-17.example.org"), Port: new(int32(8041))}
	status := &wire.NodeStatus{NodeId: id, ResponseId: new(int32(12))}
	for i := range int64(4) {
		status.ContainersStatuses = append(status.ContainersStatuses, &wire.ContainerStatus{
			ContainerId: &wire.ContainerId{Id: new(i)}, State: wire.ContainerState_C_RUNNING.Enum(), ExitStatus: new(int32(-1000)),
		})
	}
	return &wire.NodeHeartbeatRequest{NodeStatus: status}
}

// BenchmarkCalls measures heartbeats over loopback, client and server in one process. The figures include the client's
// share.
func BenchmarkCalls(b *testing.B) {
	for _, conns := range []int{1, 64} {
		b.Run(fmt.Sprintf("conns=%d", conns), func(b *testing.B) {
			_, addr := startServer(b, Options{Protocols: heartbeats()})
			clients := make([]*Client, conns)
			for i := range clients {
				c, err := Dial(context.Background(), addr, ClientOptions{Protocol: trackerPB, User: "yarn"})
				if err != nil {
					b.Fatal(err)
				}
				clients[i] = c
			}
			ctx, cancel := context.WithTimeout(context.Background(), 10*patience)
			defer cancel()
			var left atomic.Int64
			left.Store(int64(b.N))
			b.ReportAllocs()
			b.ResetTimer()
			var all sync.WaitGroup
			for _, c := range clients {
				all.Go(func() {
					req := heartbeat()
					var resp wire.NodeHeartbeatResponse
					for left.Add(-1) >= 0 {
						if err := c.Call(ctx, "nodeHeartbeat", req, &resp); err != nil {
							b.Error(err)
							return
						}
					}
				})
			}
			all.Wait()
			b.StopTimer()
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "calls/s")
			for _, c := range clients {
				if err := c.Close(); err != nil {
					b.Error(err)
				}
			}
		})
	}
}

// BenchmarkHeaders measures the headers of a call: reading them and writing the header of its answer. It allocates
// nothing.
func BenchmarkHeaders(b *testing.B) {
	frame := unhex(hexCall)[lengthSize:]
	out := make([]byte, 0, 256)
	b.ReportAllocs()
	for b.Loop() {
		head, rest, _ := delimited(frame)
		h, err := parseRequestHeader(head)
		if err != nil {
			b.Fatal(err)
		}
		body, _, _ := delimited(rest)
		if _, err := parseMethodHeader(body); err != nil {
			b.Fatal(err)
		}
		out = appendResponseHeader(out[:0], h.call, h.retry, h.client, nil)
	}
}
