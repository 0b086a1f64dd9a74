package translate_test

import (
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/testing/protocmp"

	"heddle"
	"heddle/rm"
	"heddle/yarn/conv"
	"heddle/yarn/ids"
	"heddle/yarn/translate"
	"heddle/yarn/wire"
)

var (
	units   = translate.Units{{Name: "gpu"}}
	app     = ids.App{Cluster: 1700000000000, Seq: 3}
	attempt = ids.Attempt{App: app, N: 1}
	first   = ids.Container{Attempt: attempt, ID: 1}
	second  = ids.Container{Attempt: attempt, ID: 2}
	node    = ids.Node{Host: "n1", Port: 8041}
	size    = heddle.Resource{heddle.Memory: 2048, heddle.CPU: 2000, heddle.Extra1: 1}
)

// same fails the test unless the translation is as wanted.
func same(t *testing.T, got, want any) {
	t.Helper()
	if d := gocmp.Diff(want, got, protocmp.Transform()); d != "" {
		t.Errorf("want (-), got (+):\n%s", d)
	}
}

func TestAmounts(t *testing.T) {
	same(t, units.Read(units.Wire(size)), size)
	if n := units.Wire(heddle.Of(1, 1)).GetVirtualCores(); n != 1 {
		t.Errorf("part of a vcore is told as %d", n)
	}
	if got := (translate.Units{}).Read(units.Wire(size)); got != heddle.Of(2048, 2000) {
		t.Errorf("a resource that nobody counts was read: %v", got)
	}
}

// What counts in a unit is read in any, and told in its own.
func TestUnits(t *testing.T) {
	u := translate.UnitsOf([]string{"disk", "gpu"}, []string{"G"})
	amount := func(value int64, unit *string) *wire.Resource {
		return &wire.Resource{ResourceValueMap: []*wire.ResourceInformation{{Key: new("disk"), Value: &value, Units: unit}}}
	}
	for _, c := range []struct {
		value int64
		unit  *string
		want  int64
	}{{5, nil, 5}, {5, new("G"), 5}, {2500, new("M"), 2}, {3_000_000_000, new(""), 3}, {5, new("GB"), -1}, {-5, new("T"), -5000}} {
		if got := u.Read(amount(c.value, c.unit))[heddle.Extra1]; got != c.want {
			t.Errorf("%v is read as %d, want %d", amount(c.value, c.unit), got, c.want)
		}
	}
	told := u.Wire(heddle.Resource{heddle.Extra1: 7, heddle.Extra2: 1}).GetResourceValueMap()
	if types := u.Types(); told[2].GetUnits() != "G" || told[2].GetValue() != 7 || told[3].GetUnits() != "" || types[2].GetUnits() != "G" || types[3].GetName() != "gpu" {
		t.Errorf("got %v, %v", told, types)
	}
}

func TestNodeSays(t *testing.T) {
	same(t, units.RegisterNode(&wire.RegisterNodeManagerRequest{
		NodeId: conv.WireNode(node), HttpPort: proto.Int32(8042), NmVersion: new("3.4.2"), Resource: units.Wire(size), PhysicalResource: units.Wire(size),
		NodeStatus: &wire.NodeStatus{NodeHealthStatus: &wire.NodeHealthStatus{IsNodeHealthy: new(false), HealthReport: new("a disk"), LastHealthReportTime: proto.Int64(5)}},
		ContainerStatuses: []*wire.NMContainerStatus{
			{
				ContainerId: conv.WireContainer(first), ContainerState: wire.ContainerState_C_RUNNING.Enum(), Resource: units.Wire(size),
				Priority: &wire.Priority{Priority: proto.Int32(20)}, AllocationRequestId: proto.Int64(7), CreationTime: proto.Int64(9),
			},
			{
				ContainerId: conv.WireContainer(second), ContainerState: wire.ContainerState_C_COMPLETE.Enum(), ContainerExitStatus: proto.Int32(-104),
				Diagnostics: new("too much memory"),
			},
		},
		RunningApplications: []*wire.ApplicationId{conv.WireApp(app)},
		LogAggregationReportsForApps: []*wire.LogAggregationReport{
			{ApplicationId: conv.WireApp(app), LogAggregationStatus: wire.LogAggregationStatus_LOG_FAILED.Enum()},
			{ApplicationId: conv.WireApp(app), LogAggregationStatus: wire.LogAggregationStatus(99).Enum()},
		},
	}), &rm.RegisterNode{
		Node: node, HTTPPort: 8042, Version: "3.4.2", Total: size, Physical: size, Can: heddle.Stock, Health: rm.Health{Said: true, Sick: true, Report: "a disk", At: 5},
		Containers: []rm.ContainerNews{
			{ContainerEnd: rm.ContainerEnd{ID: first, Diagnostics: "N/A", Size: size}, Priority: 20, AllocID: 7, Created: 9},
			{ContainerEnd: rm.ContainerEnd{ID: second, Exit: -104, Diagnostics: "too much memory"}, Over: true, AllocID: -1},
		},
		Apps: []ids.App{app},
		Logs: []rm.LogNews{{App: app, Status: "FAILED"}},
	})
	same(t, units.BeatNode(&wire.NodeHeartbeatRequest{
		NodeStatus: &wire.NodeStatus{
			NodeId: conv.WireNode(node), ResponseId: proto.Int32(4), NodeHealthStatus: &wire.NodeHealthStatus{IsNodeHealthy: new(true)},
			ContainersStatuses: []*wire.ContainerStatus{
				{ContainerId: conv.WireContainer(first), State: wire.ContainerState_C_RUNNING.Enum(), Capability: units.Wire(size)},
				{ContainerId: conv.WireContainer(second), State: wire.ContainerState_C_COMPLETE.Enum(), ExitStatus: proto.Int32(1), Diagnostics: new("it fell over")},
			},
			NodeUtilization: &wire.ResourceUtilization{Pmem: proto.Int32(10), Vmem: proto.Int32(20), Cpu: new(float32(1.5))},
		},
		LogAggregationReportsForApps: []*wire.LogAggregationReport{{ApplicationId: conv.WireApp(app), LogAggregationStatus: wire.LogAggregationStatus_LOG_SUCCEEDED.Enum()}},
	}), &rm.BeatNode{
		Node: node, Last: 4, Health: rm.Health{Said: true}, OfNode: rm.Utilization{Physical: 10, Virtual: 20, CPU: 1.5},
		Running: []rm.ContainerRun{{ID: first, Size: size}}, Ended: []rm.ContainerEnd{{ID: second, Exit: 1, Diagnostics: "it fell over"}},
		Logs: []rm.LogNews{{App: app, Status: "SUCCEEDED"}},
	})
}

func TestNodeHears(t *testing.T) {
	same(t, units.NodeBeat(&rm.NodeBeat{
		ID: 5, Every: heddle.Second, Cleanup: []ids.Container{first}, Forget: []ids.Container{second}, CleanApp: []ids.App{app},
		Signals: []rm.Signal{{Container: first, Command: 2}}, Total: &size,
	}), &wire.NodeHeartbeatResponse{
		NodeAction: wire.NodeAction_NORMAL.Enum(), ResponseId: proto.Int32(5), NextHeartBeatInterval: proto.Int64(1000),
		ContainersToCleanup: []*wire.ContainerId{conv.WireContainer(first)}, ContainersToBeRemovedFromNm: []*wire.ContainerId{conv.WireContainer(second)},
		ApplicationsToCleanup: []*wire.ApplicationId{conv.WireApp(app)}, Resource: units.Wire(size),
		ContainersToSignal: []*wire.SignalContainerRequest{{ContainerId: conv.WireContainer(first), Command: wire.SignalContainerCommand(2).Enum()}},
	})
	same(t, units.NodeBeat(&rm.NodeBeat{Action: rm.Resync, Text: "who are you"}), &wire.NodeHeartbeatResponse{
		NodeAction: wire.NodeAction_RESYNC.Enum(), DiagnosticsMessage: new("who are you"),
	})
}

func TestMasterSays(t *testing.T) {
	same(t, units.Allocate(&wire.AllocateRequest{
		ResponseId: proto.Int32(2), Progress: new(float32(0.5)), TrackingUrl: new("http://n1:1"),
		Ask: []*wire.ResourceRequest{{
			Priority: &wire.Priority{Priority: proto.Int32(20)}, ResourceName: new("n1"), NumContainers: proto.Int32(3), Capability: units.Wire(size),
			RelaxLocality: new(false), AllocationRequestId: proto.Int64(7),
		}},
		Release:          []*wire.ContainerId{conv.WireContainer(first)},
		BlacklistRequest: &wire.ResourceBlacklistRequest{BlacklistAdditions: []string{"n2"}, BlacklistRemovals: []string{"n3"}},
	}), &rm.Allocate{
		Last: 2, Progress: 0.5, Tracking: new("http://n1:1"), Release: []ids.Container{first}, Avoid: []string{"n2"}, Accept: []string{"n3"},
		Ask: []rm.Request{{Priority: 20, AllocID: 7, Place: "n1", Size: size, Count: 3, Strict: true}},
	})
}

func TestMasterHears(t *testing.T) {
	got := units.Allocated(&rm.Allocated{
		ID: 3, LiveNodes: 2, Total: size, Pending: 4, Priority: 1, Headroom: size,
		Granted:   []rm.Granted{{ID: first, Node: node, NodeHTTP: "n1:8042", Size: size, Priority: 20, AllocID: 7}},
		Completed: []rm.ContainerEnd{{ID: second, Exit: 1, Diagnostics: "it fell over"}},
		Nodes:     []rm.NodeNews{{Change: rm.Decommissioning, NodeReport: rm.NodeReport{ID: node, State: "DECOMMISSIONING", Deadline: 61_000}}},
	}, &wire.AllocateRequest{UpdateRequests: []*wire.UpdateContainerRequest{{}}}, 1_000)
	same(t, got.GetAllocatedContainers(), []*wire.Container{{
		Id: conv.WireContainer(first), NodeId: conv.WireNode(node), NodeHttpAddress: new("n1:8042"), Resource: units.Wire(size),
		Priority: &wire.Priority{Priority: proto.Int32(20)}, ExecutionType: wire.ExecutionType_GUARANTEED.Enum(), AllocationRequestId: proto.Int64(7),
	}})
	same(t, got.GetCompletedContainerStatuses(), []*wire.ContainerStatus{{
		ContainerId: conv.WireContainer(second), State: wire.ContainerState_C_COMPLETE.Enum(), ExitStatus: proto.Int32(1), Diagnostics: new("it fell over"),
	}})
	if n := got.GetUpdatedNodes()[0]; n.GetDecommissioningTimeout() != 60 || n.GetNodeState() != wire.NodeState_NS_DECOMMISSIONING || n.GetNodeUpdateType() != wire.NodeUpdateType_NODE_DECOMMISSIONING {
		t.Errorf("a node on its way out is told as %v", n)
	}
	if got.GetResponseId() != 3 || got.GetEnhancedHeadroom().GetTotalPendingCount() != 4 || len(got.GetUpdateErrors()) != 1 || got.GetNumClusterNodes() != 2 {
		t.Errorf("the rest: %v", got)
	}
}

func TestContainerToken(t *testing.T) {
	logs := []byte("\x0a\x05*.log") // field 1, which patterns of files to collect
	got, err := units.ContainerToken(&rm.Granted{ID: first, Node: node, Size: size, Master: true, User: "ann", Expires: 9, Created: 4, Logs: logs}, 17)
	if err != nil {
		t.Fatal(err)
	}
	if got.GetContainerType() != wire.ContainerType_APPLICATION_MASTER || got.GetNmHostAddr() != "n1:8041" || got.GetRmIdentifier() != 17 ||
		got.GetExpiryTimeStamp() != 9 || got.GetCreationTime() != 4 {
		t.Errorf("%v", got)
	}
	if back, err := proto.Marshal(got.GetLogAggregationContext()); err != nil || string(back) != string(logs) {
		t.Errorf("how logs are collected is told as %q, %v", back, err)
	}
}

func TestSubmission(t *testing.T) {
	c := &wire.ApplicationSubmissionContext{
		ApplicationId: conv.WireApp(app), ApplicationName: new("job"), ApplicationType: new("SPARK"), Queue: new("a"), Priority: &wire.Priority{Priority: proto.Int32(2)},
		Resource: units.Wire(size), MaxAppAttempts: proto.Int32(3), AttemptFailuresValidityInterval: proto.Int64(1500),
		ApplicationTimeouts: []*wire.ApplicationTimeoutMap{{Timeout: proto.Int64(60)}},
		AmContainerSpec: &wire.ContainerLaunchContext{
			Command: []string{"run"}, Application_ACLs: []*wire.ApplicationACLMap{{AccessType: wire.ApplicationAccessType_APPACCESS_MODIFY_APP.Enum(), Acl: new("bob")}},
		},
	}
	c.ProtoReflect().SetUnknown(protowire.AppendVarint(protowire.AppendTag(nil, 1000, protowire.VarintType), 7))
	was := proto.CloneOf(c)
	s, err := units.Submission(c)
	if err != nil {
		t.Fatal(err)
	}
	if !proto.Equal(c, was) {
		t.Errorf("it was changed to %v", c)
	}
	if s.ID != app || s.Name != "job" || *s.Priority != 2 || s.Master != size || s.MaxAttempts != 3 || s.FailureWindow != heddle.Seconds(1.5) ||
		s.Lifetimes[0] != 60 || s.Access[0] != (rm.Access{Change: true, List: "bob"}) {
		t.Errorf("%+v", s)
	}
	again, err := units.Stored(s.Context)
	if err != nil {
		t.Fatal(err)
	}
	same(t, again.Context, s.Context)
	rest := &wire.ApplicationSubmissionContext{}
	if err := proto.Unmarshal(s.Rest, rest); err != nil || len(rest.GetAmContainerSpec().GetCommand()) > 0 || len(rest.GetAmContainerSpec().GetApplication_ACLs()) != 1 {
		t.Errorf("of one that is over this is kept: %v, %v", rest, err)
	}
	rest.AmContainerSpec.Command = []string{"run"}
	if !proto.Equal(rest, was) {
		t.Errorf("beside what starts its master this is kept: %v, want %v", rest, was)
	}
	if _, err := units.Submission(&wire.ApplicationSubmissionContext{}); err == nil {
		t.Error("a submission without a size for its master is taken")
	}
	anywhere := &wire.ResourceRequest{ResourceName: new("*"), Capability: units.Wire(size)}
	if _, err := units.Submission(&wire.ApplicationSubmissionContext{AmContainerResourceRequest: []*wire.ResourceRequest{anywhere, anywhere}}); err == nil {
		t.Error("two requests for one master are taken")
	}
}
