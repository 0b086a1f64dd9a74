package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"google.golang.org/protobuf/proto"

	"heddle/node/procs"
	"heddle/test/hollow"
	"heddle/yarn/conv"
	"heddle/yarn/ids"
	"heddle/yarn/rpc"
	"heddle/yarn/wire"
)

// A node is a hollow NodeManager: its containers run as long as it does.
type node struct {
	c     *cluster
	i     int
	id    ids.Node
	room  int         // for containers
	full  atomic.Bool // it has reported that many
	agent hands

	mu    sync.Mutex
	found []procs.Container // the running ones
	said  []byte            // what a report says about them: the field of a wire.NodeStatus, encoded
}

func (c *cluster) node(i, port, room int) *node {
	n := &node{c: c, i: i, id: ids.Node{Host: hollow.Address(i), Port: int32(port)}, room: room}
	c.byID[n.id] = n
	return n
}

// run starts a container.
func (n *node) run(id ids.Container) {
	b, err := proto.Marshal(&wire.NodeStatus{ContainersStatuses: []*wire.ContainerStatus{{
		ContainerId: conv.WireContainer(id), State: wire.ContainerState_C_RUNNING.Enum(), Capability: hollow.Size(1), Diagnostics: new(""),
		ExecutionType: wire.ExecutionType_GUARANTEED.Enum(), ContainerSubState: wire.ContainerSubState_CSS_RUNNING.Enum(),
	}}})
	if err != nil {
		n.c.Fail(err)
		return
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	n.said = append(n.said, b...)
	k := 1 + len(n.found)
	n.found = append(n.found, procs.Container{
		ID: id.String(), PID: 1000 + k, Start: uint64(1000 + k), Task: fmt.Sprintf("attempt_%d_%04d_m_%06d_0", id.Attempt.App.Cluster, id.Attempt.App.Seq, id.ID),
	})
}

func (n *node) register(conn *rpc.Client) error {
	p := &wire.RegisterNodeManagerResponse{}
	err := conn.Call(n.c.Ctx, "registerNodeManager", hollow.Joining(n.id, n.room, nil), p)
	if err != nil {
		return err
	}
	if p.GetNodeAction() != wire.NodeAction_NORMAL {
		return fmt.Errorf("%s was not taken in: %s", n.id, p.GetDiagnosticsMessage())
	}
	n.c.key.Store(hollow.NodeKey(p.GetNmTokenMasterKey()))
	return nil
}

// report reports until the cluster stops, at the interval it is told.
func (n *node) report(conn *rpc.Client) error {
	resp, wait := int32(0), time.Duration(rand.Int64N(int64(firstBeat)))
	used := &wire.ResourceUtilization{Pmem: new(int32(n.room * hollow.Slot / 2)), Vmem: new(int32(n.room * hollow.Slot)), Cpu: proto.Float32(0.5)}
	for n.c.Sleep(wait) {
		st := &wire.NodeStatus{
			NodeId: conv.WireNode(n.id), ResponseId: &resp, ContainersUtilization: used, NodeUtilization: used,
			NodeHealthStatus: &wire.NodeHealthStatus{IsNodeHealthy: new(true), LastHealthReportTime: new(time.Now().UnixMilli())},
		}
		n.mu.Lock()
		conts := len(n.found)
		st.ProtoReflect().SetUnknown(slices.Clip(n.said)) // sent as is, without encoding it each time
		n.mu.Unlock()
		p := &wire.NodeHeartbeatResponse{}
		err := conn.Call(n.c.Ctx, "nodeHeartbeat", &wire.NodeHeartbeatRequest{NodeStatus: st}, p)
		switch {
		case n.c.Ctx.Err() != nil:
			return context.Cause(n.c.Ctx)
		case err != nil:
			return err
		case p.GetNodeAction() != wire.NodeAction_NORMAL || len(p.GetContainersToCleanup()) > 0:
			return fmt.Errorf("%s is told %v, and to end %d containers: %s", n.id, p.GetNodeAction(), len(p.GetContainersToCleanup()), p.GetDiagnosticsMessage())
		}
		n.full.Store(conts == n.room)
		n.c.beats.Add(1)
		resp, wait = p.GetResponseId(), time.Duration(p.GetNextHeartBeatInterval())*time.Millisecond
	}
	return nil
}
