package clients

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net/netip"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/proto"

	"heddle"
	"heddle/daemon"
	"heddle/rm"
	"heddle/yarn/conv"
	"heddle/yarn/ids"
	"heddle/yarn/rpc"
	"heddle/yarn/wire"
)

// wantClass checks that an error arrived with a Java class and a text.
func wantClass(t *testing.T, err error, class, text string) {
	t.Helper()
	var e *rpc.Error
	if !errors.As(err, &e) || e.Class != class || !strings.Contains(e.Message, text) {
		t.Errorf("%v, want %s … %q", err, class, text)
	}
}

func TestErrors(t *testing.T) {
	noApp := ids.App{Cluster: 5, Seq: 1}
	noAttempt := ids.Attempt{App: anApp, N: 7}
	noContainer := ids.Container{Attempt: anAttempt, ID: 99}
	life := wire.ApplicationTimeoutType_APP_TIMEOUT_LIFETIME
	expire := func(text string) *wire.UpdateApplicationTimeoutsRequest {
		return &wire.UpdateApplicationTimeoutsRequest{ApplicationId: conv.WireApp(anApp), ApplicationTimeouts: []*wire.ApplicationUpdateTimeoutMap{{ApplicationTimeoutType: &life, ExpireTime: &text}}}
	}
	kill := &wire.KillApplicationRequest{ApplicationId: conv.WireApp(anApp)}
	tests := []struct {
		method      string
		err         error // from the daemon
		req         proto.Message
		class, text string
	}{
		{"getApplicationReport", nil, &wire.GetApplicationReportRequest{ApplicationId: conv.WireApp(noApp)}, classNoApp, noApp.String()},
		{"getApplicationReport", nil, &wire.GetApplicationReportRequest{}, classNoApp, "application_0_0000"},
		{"getApplicationAttempts", nil, &wire.GetApplicationAttemptsRequest{ApplicationId: conv.WireApp(noApp)}, classNoApp, noApp.String()},
		{"getApplicationAttemptReport", nil, &wire.GetApplicationAttemptReportRequest{ApplicationAttemptId: conv.WireAttempt(noAttempt)}, classNoAttempt, noAttempt.String()},
		{"getApplicationAttemptReport", nil, &wire.GetApplicationAttemptReportRequest{ApplicationAttemptId: conv.WireAttempt(ids.Attempt{App: noApp, N: 1})}, classNoApp, noApp.String()},
		{"getContainers", nil, &wire.GetContainersRequest{ApplicationAttemptId: conv.WireAttempt(noAttempt)}, classNoAttempt, noAttempt.String()},
		{"getContainerReport", nil, &wire.GetContainerReportRequest{ContainerId: conv.WireContainer(noContainer)}, classNoCont, noContainer.String()},
		{"getResourceProfiles", nil, &wire.GetAllResourceProfilesRequest{}, "org.apache.hadoop.yarn.exceptions.YARNFeatureNotEnabledException", "no resource profiles"},
		{"getResourceProfile", nil, &wire.GetResourceProfileRequest{Profile: new("x")}, "org.apache.hadoop.yarn.exceptions.YARNFeatureNotEnabledException", ""},
		{"submitApplication", nil, &wire.SubmitApplicationRequest{}, rpc.ClassYarn, "no application_submission_context"},
		{"forceKillApplication", &rm.Denied{User: "eve", Do: "kill", What: anApp.String()}, kill, rpc.ClassAccessControl, "user eve may not kill " + anApp.String()},
		{"forceKillApplication", &rm.Invalid{Class: "org.example.Mine", Text: "bad"}, kill, "org.example.Mine", "bad"},
		{"forceKillApplication", &rm.Invalid{Text: "bad"}, kill, rpc.ClassYarn, "bad"},
		{"forceKillApplication", fmt.Errorf("wrapped: %w", &rm.NotFound{What: "application " + anApp.String()}), kill, classNoApp, "wrapped"},
		{"forceKillApplication", errors.New("disk full"), kill, rpc.ClassYarn, "disk full"},
		{"forceKillApplication", context.DeadlineExceeded, kill, classRetry, "in time"},
		{"updateApplicationTimeouts", nil, expire("tomorrow"), rpc.ClassYarn, `"tomorrow" is not a date`},
		{"updateApplicationTimeouts", nil, &wire.UpdateApplicationTimeoutsRequest{ApplicationId: conv.WireApp(anApp)}, rpc.ClassYarn, "expected one timeout"},
		{"getNewReservation", nil, &wire.GetNewApplicationRequest{}, rpc.ClassNoMethod, "getNewReservation"},
	}
	for _, tt := range tests {
		t.Run(tt.method, func(t *testing.T) {
			f := stock()
			f.err = tt.err
			c, _ := dial(t, f, Options{}, "root")
			wantClass(t, c.Call(t.Context(), tt.method, tt.req, &wire.GetQueueInfoResponse{}), tt.class, tt.text)
		})
	}
}

func TestCallsOfTheDaemon(t *testing.T) {
	app := conv.WireApp(anApp)
	life := wire.ApplicationTimeoutType_APP_TIMEOUT_LIFETIME
	until := time.Now().Add(time.Hour).Truncate(time.Second)
	f, readers := stock(), daemon.NewReaders(1)
	c, a := dial(t, f, Options{Access: daemon.Access{Admins: "root"}, Readers: readers, Decommission: time.Hour}, "root")
	call := func(c *rpc.Client, method string, req, resp proto.Message) {
		t.Helper()
		if err := c.Call(t.Context(), method, req, resp); err != nil {
			t.Errorf("%s: %v", method, err)
		}
	}
	call(c, "submitApplication", &wire.SubmitApplicationRequest{ApplicationSubmissionContext: &wire.ApplicationSubmissionContext{ApplicationName: new("x")}}, &wire.SubmitApplicationResponse{})
	if asked := readers.Accounts(1); len(asked) != 1 || asked[0].Caller != "root@127.0.0.1" || asked[0].Calls != 1 {
		t.Errorf("a submission counts as %+v", asked)
	}
	end := &wire.KillApplicationResponse{}
	call(c, "forceKillApplication", &wire.KillApplicationRequest{ApplicationId: app, Diagnostics: new(" why \n")}, end)
	if !end.GetIsKillCompleted() {
		t.Error("a kill that is done is not said to be")
	}
	call(c, "moveApplicationAcrossQueues", &wire.MoveApplicationAcrossQueuesRequest{ApplicationId: app, TargetQueue: new("b")}, &wire.MoveApplicationAcrossQueuesResponse{})
	for _, text := range []string{until.Format(timeLayout), until.UTC().Format(time.RFC3339)} {
		call(c, "updateApplicationTimeouts", &wire.UpdateApplicationTimeoutsRequest{ApplicationId: app, ApplicationTimeouts: []*wire.ApplicationUpdateTimeoutMap{{ApplicationTimeoutType: &life, ExpireTime: &text}}}, &wire.UpdateApplicationTimeoutsResponse{})
	}
	call(c, "signalToContainer", &wire.SignalContainerRequest{ContainerId: conv.WireContainer(aContainer), Command: wire.SignalContainerCommand_GRACEFUL_SHUTDOWN.Enum()}, &wire.SignalContainerResponse{})
	call(c, "failApplicationAttempt", &wire.FailApplicationAttemptRequest{ApplicationAttemptId: conv.WireAttempt(anAttempt)}, &wire.FailApplicationAttemptResponse{})
	call(a, "refreshQueues", &wire.RefreshQueuesRequest{}, &wire.RefreshQueuesResponse{})
	call(a, "refreshUserToGroupsMappings", &wire.RefreshUserToGroupsMappingsRequest{}, &wire.RefreshUserToGroupsMappingsResponse{})
	call(a, "refreshNodes", &wire.RefreshNodesRequest{}, &wire.RefreshNodesResponse{})
	call(a, "refreshNodes", &wire.RefreshNodesRequest{DecommissionType: wire.DecommissionType_FORCEFUL.Enum(), DecommissionTimeout: proto.Int32(5)}, &wire.RefreshNodesResponse{})
	call(a, "refreshNodes", &wire.RefreshNodesRequest{DecommissionType: wire.DecommissionType_GRACEFUL.Enum()}, &wire.RefreshNodesResponse{})
	call(a, "refreshNodes", &wire.RefreshNodesRequest{DecommissionType: wire.DecommissionType_GRACEFUL.Enum(), DecommissionTimeout: proto.Int32(60)}, &wire.RefreshNodesResponse{})
	call(a, "updateNodeResource", resize(aNode, 2048, 4), &wire.UpdateNodeResourceResponse{})
	want := []string{
		"submit root x",
		"kill {root 127.0.0.1} " + anApp.String() + ` "why"`,
		"move " + anApp.String() + " b",
		fmt.Sprintf("lifetime %s %d", anApp, until.UnixMilli()),
		fmt.Sprintf("lifetime %s %d", anApp, until.UnixMilli()),
		"signal " + aContainer.String() + " GRACEFUL_SHUTDOWN",
		"fail " + anAttempt.String(),
		"queues",
		"groups",
		"nodes false 0",
		"nodes false 0",
		"nodes true 3600000000000",
		"nodes true 60000000000",
		"resize 127.0.0.12:18041 [2048 4000 0 0]",
	}
	if d := cmp.Diff(want, f.done); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}

func resize(n ids.Node, memory int64, cores int32) *wire.UpdateNodeResourceRequest {
	return &wire.UpdateNodeResourceRequest{NodeResourceMap: []*wire.NodeResourceMap{{
		NodeId: conv.WireNode(n), ResourceOption: &wire.ResourceOption{Resource: &wire.Resource{Memory: &memory, VirtualCores: &cores}},
	}}}
}

func TestFilter(t *testing.T) {
	bob := launched()
	bob.ID.Seq, bob.User = 2, "bob"
	all := []rm.AppReport{launched(), bob}
	full := &wire.GetApplicationsRequest{
		ApplicationTypes: []string{"spark"}, ApplicationStates: []wire.YarnApplicationState{wire.YarnApplicationState_RUNNING, wire.YarnApplicationState_NEW_SAVING},
		Users: []string{"ann"}, Queues: []string{"a", "nowhere"}, StartBegin: proto.Int64(1), StartEnd: proto.Int64(2), FinishBegin: proto.Int64(3),
		FinishEnd: proto.Int64(4), ApplicationTags: []string{"TAG"}, Name: new("n"), Limit: proto.Int64(1),
	}
	view := wire.ApplicationsRequestScope_VIEWABLE.Enum()
	tests := []struct {
		name string
		req  *wire.GetApplicationsRequest
		o    Options
		want rm.AppFilter
		apps []int32
	}{
		{"nothing", &wire.GetApplicationsRequest{}, Options{}, rm.AppFilter{}, []int32{1, 2}},
		{"everything", full, Options{}, rm.AppFilter{
			Types: []string{"spark"}, States: []rm.AppState{rm.AppRunning, rm.AppSaving}, Users: []string{"ann"}, Queues: []string{"root.a.b", "nowhere"},
			StartedFrom: 1, StartedTo: new(int64(2)), FinishedFrom: 3, FinishedTo: new(int64(4)), Tags: []string{"tag"}, Name: "n", Limit: 1,
		}, []int32{2}},
		{
			"queues again and again", &wire.GetApplicationsRequest{Queues: []string{"a", "root", "a", "root", "nowhere", "nowhere"}},
			Options{},
			rm.AppFilter{Queues: []string{"root.a.b", "root.default", "nowhere"}},
			[]int32{1, 2},
		},
		{
			"bounds of zero", &wire.GetApplicationsRequest{StartEnd: proto.Int64(0), FinishEnd: proto.Int64(0)},
			Options{},
			rm.AppFilter{StartedTo: new(int64(0)), FinishedTo: new(int64(0))},
			[]int32{1, 2},
		},
		{"no limit", &wire.GetApplicationsRequest{Limit: proto.Int64(0)}, Options{}, rm.AppFilter{}, nil},
		{"own", &wire.GetApplicationsRequest{Scope: wire.ApplicationsRequestScope_OWN.Enum()}, Options{}, rm.AppFilter{Users: []string{"bob"}}, []int32{1, 2}},
		{"own of others", &wire.GetApplicationsRequest{Users: []string{"ann"}, Scope: wire.ApplicationsRequestScope_OWN.Enum()}, Options{}, rm.AppFilter{}, nil},
		{"viewable", &wire.GetApplicationsRequest{Scope: view}, Options{Access: daemon.Access{ACLs: true}}, rm.AppFilter{}, []int32{2}},
		{"viewable without lists", &wire.GetApplicationsRequest{Scope: view}, Options{}, rm.AppFilter{}, []int32{1, 2}},
		{"viewable for administrators", &wire.GetApplicationsRequest{Scope: view}, Options{Access: daemon.Access{ACLs: true, Admins: "*"}}, rm.AppFilter{}, []int32{1, 2}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f := stock()
			f.apps = all
			s := newService(f, tt.o)
			m, err := s.getApplications(t.Context(), daemon.Actor{User: "bob"}, tt.req)
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(tt.want, f.filter); d != "" {
				t.Errorf("filter (-want +got):\n%s", d)
			}
			var got []int32
			for _, a := range m.GetApplications() {
				got = append(got, a.GetApplicationId().GetId())
			}
			if !slices.Equal(got, tt.apps) {
				t.Errorf("got %v, want %v", got, tt.apps)
			}
		})
	}
}

// A user who may not view an application learns nothing about where it runs, in words that MapReduce's client knows.
func TestHidden(t *testing.T) {
	a := launched()
	a.State, a.Host, a.RPCPort, a.Viewers = rm.AppRunning, "n1", 4000, []rm.ACL{"", "ann ops"}
	s := newService(with(a), Options{Access: daemon.Access{ACLs: true, Groups: func(user string) ([]string, error) {
		if user == "who" {
			return nil, daemon.ErrNoGroups
		}
		return map[string][]string{"bob": {"ops"}}[user], nil
	}}, Readers: daemon.NewReaders(1)})
	m, err := s.getApplicationReport(t.Context(), daemon.Actor{User: "eve"}, &wire.GetApplicationReportRequest{ApplicationId: conv.WireApp(anApp)})
	if err != nil {
		t.Fatal(err)
	}
	r := m.GetApplicationReport()
	if r.GetHost() != "N/A" || r.GetRpcPort() != -1 || r.GetTrackingUrl() != "N/A" || r.GetDiagnostics() != "N/A" ||
		r.GetCurrentApplicationAttemptId().GetAttemptId() != -1 || r.GetAppResource_Usage().GetMemorySeconds() != 0 || r.LogAggregationStatus != nil {
		t.Errorf("eve sees %v", r)
	}
	_, err = s.getContainers(t.Context(), daemon.Actor{User: "eve"}, &wire.GetContainersRequest{ApplicationAttemptId: conv.WireAttempt(anAttempt)})
	wantClass(t, err, rpc.ClassYarn, "User eve does not have privilege to see this application")
	ctx, reading := s.o.Readers.Begin(t.Context(), "who")
	defer reading.End(0)
	_, err = s.getContainers(ctx, daemon.Actor{User: "who"}, &wire.GetContainersRequest{ApplicationAttemptId: conv.WireAttempt(anAttempt)})
	wantClass(t, javaError(err), classRetry, "groups cannot be looked up")
	for _, name := range []string{"ann", "bob"} {
		if _, err := s.getContainers(t.Context(), daemon.Actor{User: name}, &wire.GetContainersRequest{ApplicationAttemptId: conv.WireAttempt(anAttempt)}); err != nil {
			t.Errorf("%s, whom the application names: %v", name, err)
		}
	}
	m, err = s.getApplicationReport(t.Context(), daemon.Actor{User: "root"}, &wire.GetApplicationReportRequest{ApplicationId: conv.WireApp(anApp)})
	if err != nil || m.GetApplicationReport().GetHost() != "n1" || m.GetApplicationReport().GetRpcPort() != 4000 {
		t.Errorf("its owner sees %v, %v", m, err)
	}
}

// Groups that nobody needs to know are not looked up, and it does not matter if that fails.
func TestGroupsNotNeeded(t *testing.T) {
	f, asked := stock(), 0
	a := launched()
	a.User, a.State, a.Viewers = "ann", rm.AppRunning, []rm.ACL{"vic"}
	f.apps = with(a).apps
	f.queues[1].SubmitACL, f.queues[2].AdminACL = "ann", "carl"
	o := Options{Readers: daemon.NewReaders(1), Access: daemon.Access{ACLs: true, Admins: "root", Groups: func(string) ([]string, error) {
		asked++
		return nil, daemon.ErrNoGroups
	}}}
	c, _ := dial(t, f, o, "ann")
	own := &wire.GetApplicationsRequest{Scope: wire.ApplicationsRequestScope_OWN.Enum()}
	if err := c.Call(t.Context(), "getApplications", own, &wire.GetApplicationsResponse{}); err != nil {
		t.Error(err)
	}
	report := &wire.GetApplicationAttemptReportRequest{ApplicationAttemptId: conv.WireAttempt(anAttempt)}
	if err := c.Call(t.Context(), "getApplicationAttemptReport", report, &wire.GetApplicationAttemptReportResponse{}); err != nil || asked > 0 {
		t.Errorf("%v after %d lookups", err, asked)
	}
	acls := &wire.GetQueueUserAclsInfoResponse{}
	if err := c.Call(t.Context(), "getQueueUserAcls", &wire.GetQueueUserAclsInfoRequest{}, acls); err != nil || len(acls.GetQueueUserAcls()[1].GetUserAcls()) != 1 {
		t.Errorf("%v, %v", acls, err)
	}
	c, _ = dial(t, f, o, "eve")
	attempts := &wire.GetApplicationAttemptsRequest{ApplicationId: conv.WireApp(anApp)}
	wantClass(t, c.Call(t.Context(), "getApplicationAttempts", attempts, &wire.GetApplicationAttemptsResponse{}), rpc.ClassYarn, "User eve does not have privilege")
	f.queues[2].AdminACL = "carl ops"
	wantClass(t, c.Call(t.Context(), "getQueueUserAcls", &wire.GetQueueUserAclsInfoRequest{}, acls), classRetry, "groups cannot be looked up")
	o.Admins = "root ops"
	c, _ = dial(t, f, o, "eve")
	f.queues[2].AdminACL = "carl"
	if err := c.Call(t.Context(), "getQueueUserAcls", &wire.GetQueueUserAclsInfoRequest{}, acls); err != nil || len(acls.GetQueueUserAcls()[2].GetUserAcls()) > 0 {
		t.Errorf("the cluster's administrators have rights in queues: %v, %v", acls, err)
	}
	f.queues[0].SubmitACL, f.queues[0].AdminACL = "*", "*"
	if err := c.Call(t.Context(), "getQueueUserAcls", &wire.GetQueueUserAclsInfoRequest{}, acls); err != nil {
		t.Errorf("everybody has all rights: %v", err)
	}
}

func TestProxyUsers(t *testing.T) {
	o := Options{
		ProxyUsers: map[string]daemon.ProxyUser{
			"oozie": {Users: []string{"ann"}, Groups: []string{"staff"}, From: []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8"), netip.MustParsePrefix("::1/128")}},
			"all":   {Users: []string{"*"}, From: []netip.Prefix{netip.MustParsePrefix("0.0.0.0/0")}},
			"none":  {From: []netip.Prefix{netip.MustParsePrefix("0.0.0.0/0")}},
		},
		Access: daemon.Access{Groups: func(user string) ([]string, error) {
			if user == "who" {
				return nil, daemon.ErrNoGroups
			}
			return map[string][]string{"bob": {"staff"}, "eve": {"guests"}}[user], nil
		}},
	}
	tests := []struct {
		real, user, from string
		ok               bool
	}{
		{"", "ann", "10.1.1.1", true},
		{"ann", "ann", "10.1.1.1", true},
		{"oozie", "ann", "10.1.1.1", true},
		{"oozie", "ann", "::ffff:10.1.1.1", true},
		{"oozie", "ann", "::1", true},
		{"oozie", "ann", "11.1.1.1", false},
		{"oozie", "bob", "10.1.1.1", true},
		{"oozie", "eve", "10.1.1.1", false},
		{"all", "eve", "11.1.1.1", true},
		{"none", "ann", "10.1.1.1", false},
		{"stranger", "ann", "10.1.1.1", false},
	}
	s := newService(stock(), o)
	for _, tt := range tests {
		err := s.admit(t.Context(), &rpc.Call{User: tt.user, RealUser: tt.real, Addr: netip.AddrPortFrom(netip.MustParseAddr(tt.from), 5)})
		if tt.ok && err != nil {
			t.Errorf("%+v: %v", tt, err)
		}
		if !tt.ok {
			wantClass(t, err, rpc.ClassAccessControl, "hadoop.proxyuser."+tt.real+".hosts")
		}
	}
	err := s.admit(t.Context(), &rpc.Call{User: "who", RealUser: "oozie", Addr: netip.MustParseAddrPort("10.1.1.1:5")})
	wantClass(t, javaError(err), classRetry, "groups cannot be looked up")
}

// Somebody who may be an administrator is told to try again.
func TestAdministratorByUnknownGroup(t *testing.T) {
	f := stock()
	access := daemon.Access{ACLs: true, Admins: "root ops", Groups: func(string) ([]string, error) { return nil, daemon.ErrNoGroups }}
	_, a := dial(t, f, Options{Access: access}, "bob")
	wantClass(t, a.Call(t.Context(), "refreshQueues", &wire.RefreshQueuesRequest{}, &wire.RefreshQueuesResponse{}), classRetry, "groups cannot be looked up")
	if len(f.done) > 0 {
		t.Errorf("did %v", f.done)
	}
	_, a = dial(t, f, Options{Access: access}, "root")
	if err := a.Call(t.Context(), "refreshQueues", &wire.RefreshQueuesRequest{}, &wire.RefreshQueuesResponse{}); err != nil {
		t.Errorf("an administrator by name: %v", err)
	}
}

// Every administrative method refuses users who are no administrators, and does nothing for them.
func TestAdministrators(t *testing.T) {
	f := stock()
	c, a := dial(t, f, Options{Access: daemon.Access{ACLs: true, Admins: "root", Owner: "yarn"}}, "eve")
	for method := range Admin(f, Options{}).Methods {
		var req proto.Message = &wire.RefreshQueuesRequest{}
		if method == "getGroupsForUser" {
			req = &wire.GetGroupsForUserRequest{User: new("root")}
		}
		wantClass(t, a.Call(t.Context(), method, req, &wire.RefreshQueuesResponse{}), rpc.ClassAccessControl, "User eve doesn't have permission to call '"+method+"'")
	}
	if len(f.done) > 0 {
		t.Errorf("did %v", f.done)
	}
	acls := &wire.GetQueueUserAclsInfoResponse{}
	f.queues[1].SubmitACL, f.queues[2].AdminACL = "ann,eve staff", "*"
	if err := c.Call(t.Context(), "getQueueUserAcls", &wire.GetQueueUserAclsInfoRequest{}, acls); err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, q := range acls.GetQueueUserAcls() {
		got = append(got, fmt.Sprint(q.GetQueueName(), q.GetUserAcls()))
	}
	both := "[QACL_SUBMIT_APPLICATIONS QACL_ADMINISTER_QUEUE]"
	if want := []string{"root[]", "root.default[QACL_SUBMIT_APPLICATIONS]", "root.a" + both, "root.a.b" + both}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestAdminAnswers(t *testing.T) {
	f := stock()
	_, a := dial(t, f, Options{Access: daemon.Access{Admins: "*", Groups: func(user string) ([]string, error) {
		if user == "who" {
			return nil, daemon.ErrNoGroups
		}
		return map[string][]string{"ann": {"ann", "staff"}}[user], nil
	}}}, "eve")
	groups := &wire.GetGroupsForUserResponse{}
	if err := a.Call(t.Context(), "getGroupsForUser", &wire.GetGroupsForUserRequest{User: new("ann")}, groups); err != nil || !slices.Equal(groups.GetGroups(), []string{"ann", "staff"}) {
		t.Errorf("%v %v", groups, err)
	}
	if err := a.Call(t.Context(), "getGroupsForUser", &wire.GetGroupsForUserRequest{User: new("x")}, groups); err != nil || len(groups.GetGroups()) > 0 {
		t.Errorf("%v %v", groups, err)
	}
	wantClass(t, a.Call(t.Context(), "getGroupsForUser", &wire.GetGroupsForUserRequest{User: new("who")}, groups), classRetry, "groups cannot be looked up")
	nodes := &wire.CheckForDecommissioningNodesResponse{}
	if err := a.Call(t.Context(), "checkForDecommissioningNodes", &wire.CheckForDecommissioningNodesRequest{}, nodes); err != nil || nodes.GetDecommissioningNodes()[0].GetHost() != "n1" {
		t.Errorf("%v %v", nodes, err)
	}
	wantClass(t, a.Call(t.Context(), "updateNodeResource", resize(ids.Node{Host: "x", Port: 1}, 1, 1), &wire.UpdateNodeResourceResponse{}), rpc.ClassYarn, "nothing was changed: there is no node x:1")
	wantClass(t, a.Call(t.Context(), "updateNodeResource", resize(aNode, 0, 1), &wire.UpdateNodeResourceResponse{}), rpc.ClassYarn, "cannot offer 0 MiB and 1 vcores")
	lost := ids.Node{Host: "x", Port: 2}
	f.nodes = append(f.nodes, rm.NodeReport{ID: lost, State: "LOST"})
	both := resize(aNode, 2048, 4)
	both.NodeResourceMap = append(both.NodeResourceMap, resize(lost, 2048, 4).NodeResourceMap...)
	wantClass(t, a.Call(t.Context(), "updateNodeResource", both, &wire.UpdateNodeResourceResponse{}), rpc.ClassYarn, "nothing was changed: node x:2 is LOST")
	if len(f.done) > 0 {
		t.Errorf("done all the same: %q", f.done)
	}
	for _, method := range []string{"addToClusterNodeLabels", "removeFromClusterNodeLabels", "replaceLabelsOnNodes"} {
		wantClass(t, a.Call(t.Context(), method, &wire.RefreshQueuesRequest{}, &wire.RefreshQueuesResponse{}), rpc.ClassYarn, "node labels are disabled")
	}
	for method := range Admin(f, Options{}).Methods {
		if strings.HasPrefix(method, "refresh") {
			if err := a.Call(t.Context(), method, &wire.RefreshQueuesRequest{}, &wire.RefreshQueuesResponse{}); err != nil {
				t.Errorf("%s: %v", method, err)
			}
		}
	}
}

// How many applications may run at once in a queue: without a limit Java's largest int.
func TestParallelApplications(t *testing.T) {
	for most, want := range map[int]int32{0: math.MaxInt32, 3: 3} {
		f := stock()
		f.queues[1].MaxRunning = most
		m, err := newService(f, Options{}).getQueueInfo(t.Context(), daemon.Actor{}, &wire.GetQueueInfoRequest{QueueName: new("root.default")})
		if got := m.GetQueueInfo().GetMaxParallelApps(); err != nil || got != want {
			t.Errorf("%d: got %d, want %d; %v", most, got, want, err)
		}
	}
}

func TestFairQueue(t *testing.T) {
	f := stock()
	f.cluster.Scheduler, f.cluster.MemoryOnly = "fair", true
	q := &f.queues[1]
	q.Weight, q.MinShare, q.MaxShare, q.MaxApps, q.Absolute, q.Reserved = 2, heddle.Of(512, 1000), heddle.Of(9999, 4000), 7, 0.5, held(128)
	m, err := newService(f, Options{}).getQueueInfo(t.Context(), daemon.Actor{}, &wire.GetQueueInfoRequest{QueueName: new("root.default")})
	if err != nil {
		t.Fatal(err)
	}
	g := m.GetQueueInfo()
	got := fmt.Sprint(g.GetQueueName(), g.GetSchedulerType(), g.GetCapacity(), g.GetCurrentCapacity(), g.GetWeight(), g.GetMinResourceMemory(), g.GetMinResourceVCore(),
		g.GetMaxResourceMemory(), g.GetMaxResourceVCore(), g.GetReservedResourceMemory(), g.GetSteadyFairShareMemory(), g.GetSteadyFairShareVCore(), g.GetMaxRunningApp())
	if want := fmt.Sprint("root.default", "FairScheduler", 0.5, 0.125, 2, 512, 1, 4096, 4, 128, 2048, 4, 7); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	q.MaxParts = rm.Parts{0.25, 0.25}
	m, err = newService(f, Options{}).getQueueInfo(t.Context(), daemon.Actor{}, &wire.GetQueueInfoRequest{QueueName: new("root.default")})
	if got := m.GetQueueInfo().GetMaxResourceMemory(); err != nil || got != 1024 {
		t.Errorf("a quarter of the cluster is %d MiB, %v", got, err)
	}
}

func TestRunning(t *testing.T) {
	a := launched()
	a.State, a.Host, a.RPCPort, a.OriginalURL, a.Progress = rm.AppRunning, "n1", 4000, "http://n1:5/", 0.25
	a.Lifetime = time.Now().Add(90 * time.Second).UnixMilli()
	a.Used.Extra, a.Used.Vcores = map[string]int64{"yarn.io/gpu": 3}, 1.5
	s := newService(with(a), Options{ExtraResources: []string{"yarn.io/gpu"}, ExtraUnits: []string{"k"}})
	r := s.appReport(&a, true, time.Now())
	if r.GetHost() != "n1" || r.GetRpcPort() != 4000 || r.GetOriginalTrackingUrl() != "http://n1:5/" || r.GetProgress() != 0.25 {
		t.Errorf("%v", r)
	}
	if left := r.GetAppTimeouts()[0].GetApplicationTimeout().GetRemainingTime(); left < 88 || left > 90 {
		t.Errorf("%d s are left of 90", left)
	}
	used := r.GetAppResource_Usage().GetUsedResources()
	if used.GetVirtualCores() != 2 || used.GetResourceValueMap()[2].GetKey() != "yarn.io/gpu" || used.GetResourceValueMap()[2].GetValue() != 3 || used.GetResourceValueMap()[2].GetUnits() != "k" {
		t.Errorf("used %v", used)
	}
	if back := s.amount(used); back != (heddle.Resource{256, 2000, 3}) {
		t.Errorf("read back as %v", back)
	}
	for name, want := range map[string]wire.YarnApplicationAttemptState{
		"NEW": 1, "SCHEDULED": 3, "ALLOCATED_SAVING": 4, "LAUNCHED": 6, "FINAL_SAVING": 8, "FINISHED": 10, "KILLED": 11, "LAUNCHED_UNMANAGED_SAVING": 4,
	} {
		if got := attemptState(name); got != want {
			t.Errorf("attempt state %s is %v, want %v", name, got, want)
		}
	}
	if got := finalStatus(rm.Succeeded); got != wire.FinalApplicationStatus_APP_SUCCEEDED {
		t.Errorf("final status %v", got)
	}
	if got := nodeState("DECOMMISSIONING"); got != wire.NodeState_NS_DECOMMISSIONING {
		t.Errorf("node state %v", got)
	}
}

// The methods of the two protocols in Hadoop 3.4.2.
var stockMethods = map[string]string{
	ClientName: `cancelDelegationToken deleteReservation failApplicationAttempt forceKillApplication getApplicationAttemptReport
		getApplicationAttempts getApplicationReport getApplications getAttributesToNodes getClusterMetrics getClusterNodeAttributes
		getClusterNodeLabels getClusterNodes getContainerReport getContainers getDelegationToken getLabelsToNodes getNewApplication
		getNewReservation getNodeToLabels getNodesToAttributes getQueueInfo getQueueUserAcls getResourceProfile getResourceProfiles
		getResourceTypeInfo listReservations moveApplicationAcrossQueues renewDelegationToken signalToContainer submitApplication
		submitReservation updateApplicationPriority updateApplicationTimeouts updateReservation`,
	AdminName: `addToClusterNodeLabels batchSaveFederationQueuePolicies checkForDecommissioningNodes deleteFederationApplication
		deleteFederationPoliciesByQueues deregisterSubCluster getFederationSubClusters getGroupsForUser listFederationQueuePolicies
		mapAttributesToNodes refreshAdminAcls refreshClusterMaxPriority refreshNodes refreshNodesResources refreshQueues
		refreshServiceAcls refreshSuperUserGroupsConfiguration refreshUserToGroupsMappings removeFromClusterNodeLabels
		replaceLabelsOnNodes saveFederationQueuePolicy updateNodeResource`,
}

// notServed are the methods that are answered with RpcNoSuchMethodException.
var notServed = map[string]bool{
	"getNewReservation": true, "submitReservation": true, "updateReservation": true, "deleteReservation": true, "listReservations": true,
	"mapAttributesToNodes": true, "deregisterSubCluster": true, "saveFederationQueuePolicy": true, "batchSaveFederationQueuePolicies": true,
	"listFederationQueuePolicies": true, "deleteFederationApplication": true, "getFederationSubClusters": true, "deleteFederationPoliciesByQueues": true,
}

// Every method is either served or listed as not served, and docs/protocols.md says which.
func TestEveryMethod(t *testing.T) {
	page, err := os.ReadFile("../../docs/protocols.md")
	if err != nil {
		t.Fatal(err)
	}
	served, rest, _ := strings.Cut(string(page), "\n## Not served")
	known := map[string]bool{}
	for _, p := range []rpc.Protocol{Client(stock(), Options{}), Admin(stock(), Options{})} {
		for m := range strings.FieldsSeq(stockMethods[p.Name]) {
			known[m] = true
			_, here := p.Methods[m]
			not := notServed[m]
			if here == not {
				t.Errorf("%s: served %t, listed as not served %t", m, here, not)
			}
			if in := strings.Contains(served, "`"+m+"`"); in != here {
				t.Errorf("%s: served %t, docs/protocols.md says %t", m, here, in)
			}
			if in := strings.Contains(rest, "`"+m+"`"); in != not {
				t.Errorf("%s: not served %t, docs/protocols.md says %t", m, not, in)
			}
		}
		for m := range p.Methods {
			if !known[m] {
				t.Errorf("%s is no method of %s", m, p.Name)
			}
		}
	}
	for m := range notServed {
		if !known[m] {
			t.Errorf("%s is no method", m)
		}
	}
}

// A report is encoded once for all callers that may see the same parts, until the application or what it waits for
// changes or, if it holds something, for a second. The encoded report reads the same as a new one.
func TestReportsAreKept(t *testing.T) {
	now := time.Now()
	over := launched()
	over.State, over.Live, over.Containers, over.Used, over.Diagnostics = rm.AppFinished, false, 0, rm.Amount{}, "done"
	waits := over
	waits.State, waits.Live = rm.AppAccepted, true
	runs := launched()
	runs.State, runs.Containers = rm.AppRunning, 2
	long := over
	long.Diagnostics = strings.Repeat("why ", mostKept/4)
	for name, tt := range map[string]struct {
		app          rm.AppReport
		at           time.Duration
		change       func(*rm.AppReport)
		masked, kept bool
	}{
		"one that is over, later":         {app: over, at: time.Hour, kept: true},
		"one that waits, later":           {app: waits, at: time.Hour, kept: true},
		"one that waits, with its reason": {app: waits, change: func(a *rm.AppReport) { a.Diagnostics = "it waits for memory" }},
		"one that runs, soon":             {app: runs, at: time.Second - 1, kept: true},
		"one that runs, later":            {app: runs, at: time.Second, change: func(a *rm.AppReport) { a.MemorySeconds += 2048 }},
		"one that has so long, later": {app: func() rm.AppReport {
			a := waits
			a.Lifetime = now.Add(time.Minute).UnixMilli()
			return a
		}(), at: 2 * time.Second},
		"somebody else's":      {app: over, masked: true},
		"one with a long text": {app: long},
	} {
		a := tt.app
		a.Memo = new(daemon.Memo)
		s := newService(with(a), Options{})
		first := s.appReport(&a, true, now)
		if tt.change != nil {
			tt.change(&a)
		}
		second := s.appReport(&a, !tt.masked, now.Add(tt.at))
		if kept := first == second; kept != tt.kept {
			t.Errorf("%s: kept %v, want %v", name, kept, tt.kept)
		}
		if tt.kept {
			tt.at = 0
		}
		got, want := &wire.ApplicationReport{}, s.newReport(&a, !tt.masked, now.Add(tt.at))
		b, err := proto.Marshal(second)
		if err == nil {
			err = proto.Unmarshal(b, got)
		}
		if err != nil || !proto.Equal(got, want) {
			t.Errorf("%s: %v, %v\nwant %v", name, err, got, want)
		}
	}
}
