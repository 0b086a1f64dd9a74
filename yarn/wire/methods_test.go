package wire_test

import (
	"maps"
	"slices"
	"testing"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"heddle/yarn/wire"
)

// methods are the request and the response of each method that a peer may call, or that may be called on it.
var methods = map[string][2]proto.Message{
	"registerNodeManager":   {&wire.RegisterNodeManagerRequest{}, &wire.RegisterNodeManagerResponse{}},
	"nodeHeartbeat":         {&wire.NodeHeartbeatRequest{}, &wire.NodeHeartbeatResponse{}},
	"unRegisterNodeManager": {&wire.UnRegisterNodeManagerRequest{}, &wire.UnRegisterNodeManagerResponse{}},

	"registerApplicationMaster": {&wire.RegisterApplicationMasterRequest{}, &wire.RegisterApplicationMasterResponse{}},
	"allocate":                  {&wire.AllocateRequest{}, &wire.AllocateResponse{}},
	"finishApplicationMaster":   {&wire.FinishApplicationMasterRequest{}, &wire.FinishApplicationMasterResponse{}},

	"startContainers":      {&wire.StartContainersRequest{}, &wire.StartContainersResponse{}},
	"stopContainers":       {&wire.StopContainersRequest{}, &wire.StopContainersResponse{}},
	"getContainerStatuses": {&wire.GetContainerStatusesRequest{}, &wire.GetContainerStatusesResponse{}},

	"getNewApplication":           {&wire.GetNewApplicationRequest{}, &wire.GetNewApplicationResponse{}},
	"submitApplication":           {&wire.SubmitApplicationRequest{}, &wire.SubmitApplicationResponse{}},
	"getApplicationReport":        {&wire.GetApplicationReportRequest{}, &wire.GetApplicationReportResponse{}},
	"forceKillApplication":        {&wire.KillApplicationRequest{}, &wire.KillApplicationResponse{}},
	"failApplicationAttempt":      {&wire.FailApplicationAttemptRequest{}, &wire.FailApplicationAttemptResponse{}},
	"getApplications":             {&wire.GetApplicationsRequest{}, &wire.GetApplicationsResponse{}},
	"getApplicationAttemptReport": {&wire.GetApplicationAttemptReportRequest{}, &wire.GetApplicationAttemptReportResponse{}},
	"getApplicationAttempts":      {&wire.GetApplicationAttemptsRequest{}, &wire.GetApplicationAttemptsResponse{}},
	"getContainerReport":          {&wire.GetContainerReportRequest{}, &wire.GetContainerReportResponse{}},
	"getContainers":               {&wire.GetContainersRequest{}, &wire.GetContainersResponse{}},
	"signalToContainer":           {&wire.SignalContainerRequest{}, &wire.SignalContainerResponse{}},
	"moveApplicationAcrossQueues": {&wire.MoveApplicationAcrossQueuesRequest{}, &wire.MoveApplicationAcrossQueuesResponse{}},
	"updateApplicationPriority":   {&wire.UpdateApplicationPriorityRequest{}, &wire.UpdateApplicationPriorityResponse{}},
	"updateApplicationTimeouts":   {&wire.UpdateApplicationTimeoutsRequest{}, &wire.UpdateApplicationTimeoutsResponse{}},
	"getClusterMetrics":           {&wire.GetClusterMetricsRequest{}, &wire.GetClusterMetricsResponse{}},
	"getClusterNodes":             {&wire.GetClusterNodesRequest{}, &wire.GetClusterNodesResponse{}},
	"getQueueInfo":                {&wire.GetQueueInfoRequest{}, &wire.GetQueueInfoResponse{}},
	"getQueueUserAcls":            {&wire.GetQueueUserAclsInfoRequest{}, &wire.GetQueueUserAclsInfoResponse{}},
	"getNodeToLabels":             {&wire.GetNodesToLabelsRequest{}, &wire.GetNodesToLabelsResponse{}},
	"getLabelsToNodes":            {&wire.GetLabelsToNodesRequest{}, &wire.GetLabelsToNodesResponse{}},
	"getClusterNodeLabels":        {&wire.GetClusterNodeLabelsRequest{}, &wire.GetClusterNodeLabelsResponse{}},
	"getClusterNodeAttributes":    {&wire.GetClusterNodeAttributesRequest{}, &wire.GetClusterNodeAttributesResponse{}},
	"getAttributesToNodes":        {&wire.GetAttributesToNodesRequest{}, &wire.GetAttributesToNodesResponse{}},
	"getNodesToAttributes":        {&wire.GetNodesToAttributesRequest{}, &wire.GetNodesToAttributesResponse{}},
	"getResourceTypeInfo":         {&wire.GetAllResourceTypeInfoRequest{}, &wire.GetAllResourceTypeInfoResponse{}},
	"getResourceProfiles":         {&wire.GetAllResourceProfilesRequest{}, &wire.GetAllResourceProfilesResponse{}},
	"getResourceProfile":          {&wire.GetResourceProfileRequest{}, &wire.GetResourceProfileResponse{}},
	"getDelegationToken":          {&wire.GetDelegationTokenRequest{}, &wire.GetDelegationTokenResponse{}},
	"renewDelegationToken":        {&wire.RenewDelegationTokenRequest{}, &wire.RenewDelegationTokenResponse{}},
	"cancelDelegationToken":       {&wire.CancelDelegationTokenRequest{}, &wire.CancelDelegationTokenResponse{}},

	"refreshQueues":                       {&wire.RefreshQueuesRequest{}, &wire.RefreshQueuesResponse{}},
	"refreshNodes":                        {&wire.RefreshNodesRequest{}, &wire.RefreshNodesResponse{}},
	"checkForDecommissioningNodes":        {&wire.CheckForDecommissioningNodesRequest{}, &wire.CheckForDecommissioningNodesResponse{}},
	"refreshNodesResources":               {&wire.RefreshNodesResourcesRequest{}, &wire.RefreshNodesResourcesResponse{}},
	"updateNodeResource":                  {&wire.UpdateNodeResourceRequest{}, &wire.UpdateNodeResourceResponse{}},
	"refreshSuperUserGroupsConfiguration": {&wire.RefreshSuperUserGroupsConfigurationRequest{}, &wire.RefreshSuperUserGroupsConfigurationResponse{}},
	"refreshUserToGroupsMappings":         {&wire.RefreshUserToGroupsMappingsRequest{}, &wire.RefreshUserToGroupsMappingsResponse{}},
	"refreshAdminAcls":                    {&wire.RefreshAdminAclsRequest{}, &wire.RefreshAdminAclsResponse{}},
	"refreshServiceAcls":                  {&wire.RefreshServiceAclsRequest{}, &wire.RefreshServiceAclsResponse{}},
	"refreshClusterMaxPriority":           {&wire.RefreshClusterMaxPriorityRequest{}, &wire.RefreshClusterMaxPriorityResponse{}},
	"getGroupsForUser":                    {&wire.GetGroupsForUserRequest{}, &wire.GetGroupsForUserResponse{}},
	"addToClusterNodeLabels":              {&wire.AddToClusterNodeLabelsRequest{}, &wire.AddToClusterNodeLabelsResponse{}},
	"removeFromClusterNodeLabels":         {&wire.RemoveFromClusterNodeLabelsRequest{}, &wire.RemoveFromClusterNodeLabelsResponse{}},
	"replaceLabelsOnNodes":                {&wire.ReplaceLabelsOnNodeRequest{}, &wire.ReplaceLabelsOnNodeResponse{}},
}

// Every defined message is part of what some method carries, or of what surrounds it or is inside it.
func TestNoMessageWithoutUse(t *testing.T) {
	used := map[protoreflect.FullName]bool{}
	var use func(protoreflect.MessageDescriptor)
	use = func(m protoreflect.MessageDescriptor) {
		if used[m.FullName()] {
			return
		}
		used[m.FullName()] = true
		for i := range m.Fields().Len() {
			f := m.Fields().Get(i)
			if f.Message() != nil {
				use(f.Message())
			}
			if f.Enum() != nil {
				used[f.Enum().FullName()] = true
			}
		}
	}
	for _, m := range methods {
		use(m[0].ProtoReflect().Descriptor())
		use(m[1].ProtoReflect().Descriptor())
	}
	for _, m := range around {
		use(m.ProtoReflect().Descriptor())
	}
	for _, f := range definitions(t) {
		for i := range f.Messages().Len() {
			if m := f.Messages().Get(i); !used[m.FullName()] {
				t.Errorf("%s: nothing carries %s", f.Path(), m.FullName())
			}
		}
		for i := range f.Enums().Len() {
			if e := f.Enums().Get(i); !used[e.FullName()] {
				t.Errorf("%s: nothing carries %s", f.Path(), e.FullName())
			}
		}
	}
}

// around are the messages that surround a method's messages, or are bytes inside them.
var around = []proto.Message{
	&wire.RpcRequestHeader{},
	&wire.RequestHeader{},
	&wire.RpcResponseHeader{},
	&wire.IpcConnectionContext{},
	&wire.RpcSasl{},
	&wire.Credentials{},
	&wire.AMRMTokenIdentifier{},
	&wire.NMTokenIdentifier{},
	&wire.ContainerTokenIdentifier{},
	&wire.ClientToAMTokenIdentifier{},
	&wire.YARNDelegationTokenIdentifier{},
}

// FuzzRequest reads a message from the wire. What can be read can be written, and reads the same.
func FuzzRequest(f *testing.F) {
	var kinds []protoreflect.MessageType
	for _, m := range slices.Sorted(maps.Keys(methods)) {
		kinds = append(kinds, methods[m][0].ProtoReflect().Type())
	}
	for _, m := range around {
		kinds = append(kinds, m.ProtoReflect().Type())
	}
	for i := range kinds {
		f.Add(uint8(i), []byte{})
		f.Add(uint8(i), []byte{0x0a, 0x02, 0x08, 0x01})
	}
	f.Fuzz(func(t *testing.T, kind uint8, b []byte) {
		m := kinds[int(kind)%len(kinds)].New().Interface()
		if err := proto.Unmarshal(b, m); err != nil {
			return
		}
		written, err := proto.Marshal(m)
		if err != nil {
			t.Fatalf("%T was read and cannot be written: %v", m, err)
		}
		again := m.ProtoReflect().New().Interface()
		if err := proto.Unmarshal(written, again); err != nil {
			t.Fatalf("%T cannot be read as it was written: %v", m, err)
		}
		if !proto.Equal(m, again) {
			t.Fatalf("%T reads differently as it was written:\n%v\n%v", m, m, again)
		}
	})
}
