package daemon

import (
	"context"
	"strings"
	"time"

	"heddle/rm"
	"heddle/yarn/conv"
	"heddle/yarn/rpc"
	"heddle/yarn/wire"
)

// Masters returns the protocol of ApplicationMasters; the server needs [RM.Tokens] with it.
func (r *RM) Masters() rpc.Protocol {
	return rpc.Protocol{Name: "org.apache.hadoop.yarn.api.ApplicationMasterProtocolPB", Methods: map[string]rpc.Method{
		"registerApplicationMaster": rpc.Serve(byClass(r.registerMaster)),
		"allocate":                  rpc.Serve(byClass(r.allocate)).Within(maxBytes, 200_000),
		"finishApplicationMaster":   rpc.Serve(byClass(r.finishMaster)),
	}}
}

func (r *RM) registerMaster(ctx context.Context, c *rpc.Call, q *wire.RegisterApplicationMasterRequest) (*wire.RegisterApplicationMasterResponse, error) {
	a, err := say[*rm.MasterRegistered](ctx, r, beatLane, func(n rm.Call) rm.Message {
		return &rm.RegisterMaster{Call: n, Who: c.Identity.(rm.Caller), Host: q.GetHost(), Port: q.GetRpcPort(), Tracking: q.GetTrackingUrl()}
	})
	if err != nil {
		return nil, err
	}
	p := r.units.MasterRegistered(a)
	p.SchedulerResourceTypes = []wire.SchedulerResourceTypes{wire.SchedulerResourceTypes_MEMORY}
	if !r.placer.Load().Set.MemoryOnly {
		p.SchedulerResourceTypes = append(p.SchedulerResourceTypes, wire.SchedulerResourceTypes_CPU)
	}
	return p, nil
}

func (r *RM) allocate(ctx context.Context, c *rpc.Call, q *wire.AllocateRequest) (*wire.AllocateResponse, error) {
	msg := r.units.Allocate(q)
	msg.Who = c.Identity.(rm.Caller)
	a, err := say[*rm.Allocated](ctx, r, beatLane, func(n rm.Call) rm.Message { msg.Call = n; return msg })
	if err != nil {
		return nil, err
	}
	return r.allocated(a, q), nil
}

// allocated returns an answer with its tokens.
func (r *RM) allocated(a *rm.Allocated, q *wire.AllocateRequest) *wire.AllocateResponse {
	p := r.units.Allocated(a, q, time.Now().UnixMilli())
	for i := range a.Granted {
		p.AllocatedContainers[i].ContainerToken = r.containerToken(&a.Granted[i])
	}
	for _, n := range a.Tokens {
		p.NmTokens = append(p.NmTokens, &wire.NMToken{NodeId: conv.WireNode(n), Token: r.auth.nodeToken(a.Attempt, n, a.User)})
	}
	if a.NewToken {
		p.AmRmToken = r.auth.masterToken(a.Attempt)
	}
	return p
}

func (r *RM) finishMaster(ctx context.Context, c *rpc.Call, q *wire.FinishApplicationMasterRequest) (*wire.FinishApplicationMasterResponse, error) {
	_, err := say[any](ctx, r, beatLane, func(n rm.Call) rm.Message {
		return &rm.FinishMaster{
			Call: n, Who: c.Identity.(rm.Caller), Final: finalOf(q.GetFinalApplicationStatus()), Diagnostics: q.GetDiagnostics(), Tracking: q.GetTrackingUrl(),
		}
	})
	if err != nil {
		return nil, err
	}
	return &wire.FinishApplicationMasterResponse{IsUnregistered: new(true)}, nil
}

func finalOf(s wire.FinalApplicationStatus) rm.FinalStatus {
	if name, ok := wire.FinalApplicationStatus_name[int32(s)]; ok {
		return rm.FinalStatus(strings.TrimPrefix(name, "APP_"))
	}
	return rm.Undefined
}
