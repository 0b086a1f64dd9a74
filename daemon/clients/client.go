package clients

import (
	"context"
	"strings"
	"time"

	"heddle/daemon"
	"heddle/yarn/conv"
	"heddle/yarn/rpc"
	"heddle/yarn/wire"
)

func (s *service) getNewApplication(ctx context.Context, who daemon.Actor, _ *wire.GetNewApplicationRequest) (*wire.GetNewApplicationResponse, error) {
	id, largest, err := s.rm.NewApp(ctx, who.User)
	if err != nil {
		return nil, err
	}
	return &wire.GetNewApplicationResponse{ApplicationId: conv.WireApp(id), MaximumCapability: s.resource(largest)}, nil
}

// submitApplication returns when the application is stored, so that its report is available at once.
func (s *service) submitApplication(ctx context.Context, who daemon.Actor, req *wire.SubmitApplicationRequest) (*wire.SubmitApplicationResponse, error) {
	if req.GetApplicationSubmissionContext() == nil {
		return nil, yarnError("the request has no application_submission_context")
	}
	if err := s.rm.Submit(ctx, who.User, req.GetApplicationSubmissionContext()); err != nil {
		return nil, err
	}
	return &wire.SubmitApplicationResponse{}, nil
}

func (s *service) forceKillApplication(ctx context.Context, who daemon.Actor, req *wire.KillApplicationRequest) (*wire.KillApplicationResponse, error) {
	err := s.rm.Kill(ctx, who, conv.App(req.GetApplicationId()), strings.TrimSpace(req.GetDiagnostics()))
	if err != nil {
		return nil, err
	}
	return &wire.KillApplicationResponse{IsKillCompleted: new(true)}, nil
}

func (s *service) failApplicationAttempt(ctx context.Context, who daemon.Actor, req *wire.FailApplicationAttemptRequest) (*wire.FailApplicationAttemptResponse, error) {
	if err := s.rm.FailAttempt(ctx, who, conv.Attempt(req.GetApplicationAttemptId())); err != nil {
		return nil, err
	}
	return &wire.FailApplicationAttemptResponse{}, nil
}

func (s *service) moveApplicationAcrossQueues(ctx context.Context, who daemon.Actor, req *wire.MoveApplicationAcrossQueuesRequest) (*wire.MoveApplicationAcrossQueuesResponse, error) {
	if err := s.rm.Move(ctx, who, conv.App(req.GetApplicationId()), req.GetTargetQueue()); err != nil {
		return nil, err
	}
	return &wire.MoveApplicationAcrossQueuesResponse{}, nil
}

// updateApplicationPriority answers with the resulting priority, which the cluster's maximum limits.
func (s *service) updateApplicationPriority(ctx context.Context, who daemon.Actor, req *wire.UpdateApplicationPriorityRequest) (*wire.UpdateApplicationPriorityResponse, error) {
	got, err := s.rm.SetPriority(ctx, who, conv.App(req.GetApplicationId()), req.GetApplicationPriority().GetPriority())
	if err != nil {
		return nil, err
	}
	return &wire.UpdateApplicationPriorityResponse{ApplicationPriority: &wire.Priority{Priority: &got}}, nil
}

// updateApplicationTimeouts sets the lifetime. If the application is over, nothing changes, and that is not an error.
func (s *service) updateApplicationTimeouts(ctx context.Context, who daemon.Actor, req *wire.UpdateApplicationTimeoutsRequest) (*wire.UpdateApplicationTimeoutsResponse, error) {
	id := conv.App(req.GetApplicationId())
	list := req.GetApplicationTimeouts()
	if len(list) != 1 || list[0].GetApplicationTimeoutType() != wire.ApplicationTimeoutType_APP_TIMEOUT_LIFETIME {
		return nil, yarnError("expected one timeout, of type LIFETIME, for %s; the request has %d timeouts", id, len(list))
	}
	until, err := parseTime(list[0].GetExpireTime())
	if err != nil {
		return nil, err
	}
	a, err := s.rm.App(ctx, id)
	if err != nil {
		return nil, err
	}
	if !a.State.Final() {
		if err := s.rm.SetLifetime(ctx, who, id, until); err != nil {
			return nil, err
		}
	}
	return &wire.UpdateApplicationTimeoutsResponse{ApplicationTimeouts: list}, nil
}

// parseTime parses an ISO 8601 date as Java's clients and others write it.
func parseTime(text string) (time.Time, error) {
	for _, layout := range []string{timeLayout, time.RFC3339, "2006-01-02T15:04:05-0700"} {
		if t, err := time.Parse(layout, text); err == nil {
			return t, nil
		}
	}
	return time.Time{}, yarnError("%q is not a date; expected the form %s", text, timeLayout)
}

func (s *service) signalToContainer(ctx context.Context, who daemon.Actor, req *wire.SignalContainerRequest) (*wire.SignalContainerResponse, error) {
	if err := s.rm.Signal(ctx, who, conv.Container(req.GetContainerId()), req.GetCommand()); err != nil {
		return nil, err
	}
	return &wire.SignalContainerResponse{}, nil
}

func (s *service) getClusterMetrics(ctx context.Context, _ daemon.Actor, _ *wire.GetClusterMetricsRequest) (*wire.GetClusterMetricsResponse, error) {
	c, err := s.rm.Cluster(ctx)
	if err != nil {
		return nil, err
	}
	n := func(i int) *int32 { return new(int32(i)) }
	return &wire.GetClusterMetricsResponse{ClusterMetrics: &wire.YarnClusterMetrics{
		NumNodeManagers:      n(c.Active + c.Unhealthy + c.Decommissioning), // those that send heartbeats
		NumDecommissionedNms: n(c.Decommissioned), NumActiveNms: n(c.Active), NumLostNms: n(c.Lost), NumUnhealthyNms: n(c.Unhealthy),
		NumRebootedNms: n(c.Rebooted), NumDecommissioningNms: n(c.Decommissioning), NumShutdownNms: n(c.Shutdown),
	}}, nil
}

// getClusterNodes lists the nodes in the requested states, or all nodes if no state is named.
func (s *service) getClusterNodes(ctx context.Context, _ daemon.Actor, req *wire.GetClusterNodesRequest) (*wire.GetClusterNodesResponse, error) {
	nodes, err := s.rm.Nodes(ctx)
	if err != nil {
		return nil, err
	}
	wanted := map[wire.NodeState]bool{}
	for _, st := range req.GetNodeStates() {
		wanted[st] = true
	}
	m := &wire.GetClusterNodesResponse{}
	for i := range nodes {
		if err := daemon.Breathe(ctx, i); err != nil {
			return nil, err
		}
		if len(wanted) == 0 || wanted[nodeState(nodes[i].State)] {
			m.NodeReports = append(m.NodeReports, s.nodeReport(&nodes[i]))
		}
	}
	return m, nil
}

func (s *service) getResourceTypeInfo(context.Context, daemon.Actor, *wire.GetAllResourceTypeInfoRequest) (*wire.GetAllResourceTypeInfoResponse, error) {
	return &wire.GetAllResourceTypeInfoResponse{ResourceTypeInfo: s.units.Types()}, nil
}

// errNoProfiles has the only exception class after which distributed shell's client goes on.
var errNoProfiles = &rpc.Error{Class: classNotEnabled, Message: "there are no resource profiles: ask for memory-mb and vcores"}

func (s *service) getResourceProfiles(context.Context, daemon.Actor, *wire.GetAllResourceProfilesRequest) (*wire.GetAllResourceProfilesResponse, error) {
	return nil, errNoProfiles
}

func (s *service) getResourceProfile(context.Context, daemon.Actor, *wire.GetResourceProfileRequest) (*wire.GetResourceProfileResponse, error) {
	return nil, errNoProfiles
}

// Nodes have neither labels nor attributes, so requests for them get empty lists.

func (s *service) getClusterNodeLabels(context.Context, daemon.Actor, *wire.GetClusterNodeLabelsRequest) (*wire.GetClusterNodeLabelsResponse, error) {
	return &wire.GetClusterNodeLabelsResponse{}, nil
}

func (s *service) getNodeToLabels(context.Context, daemon.Actor, *wire.GetNodesToLabelsRequest) (*wire.GetNodesToLabelsResponse, error) {
	return &wire.GetNodesToLabelsResponse{}, nil
}

func (s *service) getLabelsToNodes(context.Context, daemon.Actor, *wire.GetLabelsToNodesRequest) (*wire.GetLabelsToNodesResponse, error) {
	return &wire.GetLabelsToNodesResponse{}, nil
}

func (s *service) getClusterNodeAttributes(context.Context, daemon.Actor, *wire.GetClusterNodeAttributesRequest) (*wire.GetClusterNodeAttributesResponse, error) {
	return &wire.GetClusterNodeAttributesResponse{}, nil
}

func (s *service) getAttributesToNodes(context.Context, daemon.Actor, *wire.GetAttributesToNodesRequest) (*wire.GetAttributesToNodesResponse, error) {
	return &wire.GetAttributesToNodesResponse{}, nil
}

func (s *service) getNodesToAttributes(context.Context, daemon.Actor, *wire.GetNodesToAttributesRequest) (*wire.GetNodesToAttributesResponse, error) {
	return &wire.GetNodesToAttributesResponse{}, nil
}
