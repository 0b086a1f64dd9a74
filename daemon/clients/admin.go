package clients

import (
	"context"
	"time"

	"heddle"
	"heddle/daemon"
	"heddle/rm"
	"heddle/yarn/conv"
	"heddle/yarn/ids"
	"heddle/yarn/wire"
)

// admin refuses every caller that is not an administrator.
func (s *service) admin(ctx context.Context, who daemon.Actor, method string) error {
	if may, err := s.o.Administers(ctx, who.User); may || err != nil {
		return err
	}
	return deniedError("User %s doesn't have permission to call '%s': yarn.admin.acl does not name that user", who.User, method)
}

func (s *service) refreshQueues(ctx context.Context, _ daemon.Actor, _ *wire.RefreshQueuesRequest) (*wire.RefreshQueuesResponse, error) {
	if err := s.rm.RefreshQueues(ctx); err != nil {
		return nil, err
	}
	return &wire.RefreshQueuesResponse{}, nil
}

// refreshNodes reads the host lists again. A forceful refresh is for nodes that are leaving gracefully and should now
// go at once, which is what a non-graceful refresh does.
func (s *service) refreshNodes(ctx context.Context, _ daemon.Actor, req *wire.RefreshNodesRequest) (*wire.RefreshNodesResponse, error) {
	graceful, timeout := req.GetDecommissionType() == wire.DecommissionType_GRACEFUL, time.Duration(0)
	switch {
	case graceful && req.DecommissionTimeout == nil:
		timeout = s.o.Decommission
	case graceful:
		timeout = time.Duration(req.GetDecommissionTimeout()) * time.Second
	}
	if err := s.rm.RefreshNodes(ctx, graceful, timeout); err != nil {
		return nil, err
	}
	return &wire.RefreshNodesResponse{}, nil
}

func (s *service) checkForDecommissioningNodes(ctx context.Context, _ daemon.Actor, _ *wire.CheckForDecommissioningNodesRequest) (*wire.CheckForDecommissioningNodesResponse, error) {
	nodes, err := s.rm.Decommissioning(ctx)
	if err != nil {
		return nil, err
	}
	m := &wire.CheckForDecommissioningNodesResponse{}
	for _, n := range nodes {
		m.DecommissioningNodes = append(m.DecommissioningNodes, conv.WireNode(n))
	}
	return m, nil
}

// updateNodeResource changes what nodes offer: all of them, or none if one does not exist, is gone or has an invalid
// size.
func (s *service) updateNodeResource(ctx context.Context, _ daemon.Actor, req *wire.UpdateNodeResourceRequest) (*wire.UpdateNodeResourceResponse, error) {
	nodes, err := s.rm.Nodes(ctx)
	if err != nil {
		return nil, err
	}
	byID := map[ids.Node]*rm.NodeReport{}
	for i := range nodes {
		byID[nodes[i].ID] = &nodes[i]
	}
	for _, c := range req.GetNodeResourceMap() {
		id, size := conv.Node(c.GetNodeId()), s.amount(c.GetResourceOption().GetResource())
		switch n := byID[id]; {
		case n == nil:
			return nil, yarnError("nothing was changed: there is no node %s; yarn node -list -all lists the nodes", id)
		case !n.Beats():
			return nil, yarnError("nothing was changed: node %s is %s, and sends no heartbeats", id, n.State)
		}
		if size.AnyNegative() || size[heddle.Memory] == 0 || size[heddle.CPU] == 0 {
			return nil, yarnError("nothing was changed: %s cannot offer %d MiB and %d vcores; both must be more than 0",
				id, size[heddle.Memory], size[heddle.CPU]/1000)
		}
	}
	for _, c := range req.GetNodeResourceMap() {
		if err := s.rm.ResizeNode(ctx, conv.Node(c.GetNodeId()), s.amount(c.GetResourceOption().GetResource())); err != nil {
			return nil, err
		}
	}
	return &wire.UpdateNodeResourceResponse{}, nil
}

func (s *service) getGroupsForUser(ctx context.Context, _ daemon.Actor, req *wire.GetGroupsForUserRequest) (*wire.GetGroupsForUserResponse, error) {
	groups, err := s.o.GroupsOf(ctx, req.GetUser())
	if err != nil {
		return nil, err
	}
	return &wire.GetGroupsForUserResponse{Groups: groups}, nil
}

// refreshUserToGroupsMappings has groups looked up again when they are needed.
func (s *service) refreshUserToGroupsMappings(_ context.Context, _ daemon.Actor, _ *wire.RefreshUserToGroupsMappingsRequest) (*wire.RefreshUserToGroupsMappingsResponse, error) {
	s.rm.ForgetGroups()
	return &wire.RefreshUserToGroupsMappingsResponse{}, nil
}

// unchanged serves a call to reload settings that are read only at the start. Callers expect an answer that is not an
// error, so the log says that a restart is needed.
func (s *service) unchanged(method, settings string) {
	s.o.Log.Warn("these settings are read only at the start; restart the ResourceManager to change them", "call", method, "settings", settings)
}

func (s *service) refreshNodesResources(_ context.Context, _ daemon.Actor, _ *wire.RefreshNodesResourcesRequest) (*wire.RefreshNodesResourcesResponse, error) {
	s.unchanged("refreshNodesResources", "dynamic-resources.xml")
	return &wire.RefreshNodesResourcesResponse{}, nil
}

func (s *service) refreshSuperUserGroupsConfiguration(_ context.Context, _ daemon.Actor, _ *wire.RefreshSuperUserGroupsConfigurationRequest) (*wire.RefreshSuperUserGroupsConfigurationResponse, error) {
	s.unchanged("refreshSuperUserGroupsConfiguration", "hadoop.proxyuser.*")
	return &wire.RefreshSuperUserGroupsConfigurationResponse{}, nil
}

func (s *service) refreshAdminAcls(_ context.Context, _ daemon.Actor, _ *wire.RefreshAdminAclsRequest) (*wire.RefreshAdminAclsResponse, error) {
	s.unchanged("refreshAdminAcls", "yarn.admin.acl")
	return &wire.RefreshAdminAclsResponse{}, nil
}

func (s *service) refreshServiceAcls(_ context.Context, _ daemon.Actor, _ *wire.RefreshServiceAclsRequest) (*wire.RefreshServiceAclsResponse, error) {
	s.unchanged("refreshServiceAcls", "hadoop-policy.xml")
	return &wire.RefreshServiceAclsResponse{}, nil
}

func (s *service) refreshClusterMaxPriority(_ context.Context, _ daemon.Actor, _ *wire.RefreshClusterMaxPriorityRequest) (*wire.RefreshClusterMaxPriorityResponse, error) {
	s.unchanged("refreshClusterMaxPriority", "yarn.cluster.max-application-priority")
	return &wire.RefreshClusterMaxPriorityResponse{}, nil
}

// errNoLabels answers requests to change node labels, which do not exist.
var errNoLabels = yarnError("node labels are disabled: yarn.node-labels.enabled is not supported")

func (s *service) addToClusterNodeLabels(_ context.Context, _ daemon.Actor, _ *wire.AddToClusterNodeLabelsRequest) (*wire.AddToClusterNodeLabelsResponse, error) {
	return nil, errNoLabels
}

func (s *service) removeFromClusterNodeLabels(_ context.Context, _ daemon.Actor, _ *wire.RemoveFromClusterNodeLabelsRequest) (*wire.RemoveFromClusterNodeLabelsResponse, error) {
	return nil, errNoLabels
}

func (s *service) replaceLabelsOnNodes(_ context.Context, _ daemon.Actor, _ *wire.ReplaceLabelsOnNodeRequest) (*wire.ReplaceLabelsOnNodeResponse, error) {
	return nil, errNoLabels
}
