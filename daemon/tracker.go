package daemon

import (
	"context"
	"fmt"
	"math"
	"time"

	"google.golang.org/protobuf/proto"

	"heddle"
	"heddle/rm"
	"heddle/yarn/conv"
	"heddle/yarn/rpc"
	"heddle/yarn/wire"
)

// Version is the YARN release whose protocols the daemon speaks; NodeManagers are told it.
const Version = "3.4.2"

// maxBytes bounds a request that lists all that a node runs, or all that a master asks for.
const maxBytes = 8 << 20

// sentAway is how long a node waits for its answer if it is told to register again or to go: anybody can send
// heartbeats as an unknown node.
const sentAway = 100 * time.Millisecond

// Tracker returns the protocol of NodeManagers.
func (r *RM) Tracker() rpc.Protocol {
	return rpc.Protocol{Name: "org.apache.hadoop.yarn.server.api.ResourceTrackerPB", Methods: map[string]rpc.Method{
		"registerNodeManager":   rpc.Serve(byClass(r.registerNode)).Within(maxBytes, 0).InTurn(),
		"nodeHeartbeat":         rpc.Serve(byClass(r.heartbeat)).Within(maxBytes, 0),
		"unRegisterNodeManager": rpc.Serve(byClass(r.unregisterNode)),
	}}
}

func (r *RM) registerNode(ctx context.Context, c *rpc.Call, q *wire.RegisterNodeManagerRequest) (*wire.RegisterNodeManagerResponse, error) {
	id := conv.Node(q.GetNodeId())
	if id.Host == "" || len(id.Host) > rm.MaxHostName || id.Port <= 0 || id.Port > math.MaxUint16 {
		return nil, rm.Unfit(fmt.Sprintf("a NodeManager registered as %q; expected a host of up to %d characters and the port of its container manager", rm.Clip(id.String(), rm.MaxHostName), rm.MaxHostName))
	}
	msg := r.units.RegisterNode(q)
	msg.Can &= r.cfg.Nodes
	if r.cfg.Nodes.Has(heddle.Parks) && msg.Can.Has(heddle.Resizes) { // NodeManagers are told both in the same way
		msg.Can |= heddle.Parks
	}
	if from := c.Addr.Addr(); from.IsValid() {
		msg.From = from.String()
	}
	msg.Names = r.namesOf(ctx, id.Host)
	msg.Rack = r.rackOf(ctx, msg.Names)
	a, err := say[*rm.NodeRegistered](WithCaller(ctx, "@"+msg.From), r, joinLane, func(c rm.Call) rm.Message { msg.Call = c; return msg })
	switch {
	case err != nil:
		return nil, err
	case a.Refused != "":
		return &wire.RegisterNodeManagerResponse{NodeAction: wire.NodeAction_SHUTDOWN.Enum(), DiagnosticsMessage: &a.Refused}, nil
	}
	p := &wire.RegisterNodeManagerResponse{NodeAction: wire.NodeAction_NORMAL.Enum(), RmIdentifier: &r.cluster, RmVersion: new(Version)}
	p.ContainerTokenMasterKey, p.NmTokenMasterKey = r.auth.currentKeys()
	return p, nil
}

func (r *RM) unregisterNode(ctx context.Context, _ *rpc.Call, q *wire.UnRegisterNodeManagerRequest) (*wire.UnRegisterNodeManagerResponse, error) {
	_, err := say[any](ctx, r, beatLane, func(c rm.Call) rm.Message { return &rm.UnregisterNode{Call: c, Node: conv.Node(q.GetNodeId())} })
	return &wire.UnRegisterNodeManagerResponse{}, err
}

func (r *RM) heartbeat(ctx context.Context, call *rpc.Call, q *wire.NodeHeartbeatRequest) (*wire.NodeHeartbeatResponse, error) {
	msg := r.units.BeatNode(q)
	a, err := say[*rm.NodeBeat](ctx, r, beatLane, func(c rm.Call) rm.Message { msg.Call = c; return msg })
	if err != nil {
		return nil, err
	}
	if a.Action != rm.GoOn {
		call.After = sentAway
	}
	return r.beaten(a), nil
}

// beaten returns the answer to a heartbeat, with the keys that the node lacks and the tokens of changing containers.
func (r *RM) beaten(a *rm.NodeBeat) *wire.NodeHeartbeatResponse {
	p := r.units.NodeBeat(a)
	for i, c := range p.GetContainersToUpdate() {
		c.ContainerToken = r.signed(r.units.UpdateToken(&a.Updates[i], r.cluster))
	}
	if a.Action == rm.GoOn {
		p.TokenSequenceNo = proto.Int64(1)
		for _, k := range a.NewKeys {
			if next := r.auth.next(k); k == rm.NodeRing {
				p.NmTokenMasterKey = next
			} else {
				p.ContainerTokenMasterKey = next
			}
		}
	}
	return p
}
