package clients

import (
	"errors"
	"io"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"

	"heddle/daemon"
	"heddle/rm"
	"heddle/yarn/conv"
	"heddle/yarn/rpc"
	"heddle/yarn/wire"
)

// A journal keeps the lines of the audit log.
type journal struct {
	mu    sync.Mutex
	lines []string
}

func (j *journal) Write(p []byte) (int, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if strings.Contains(string(p), "msg=audit") {
		j.lines = append(j.lines, strings.TrimSpace(string(p)))
	}
	return len(p), nil
}

// take returns the lines since the last call.
func (j *journal) take() []string {
	j.mu.Lock()
	defer j.mu.Unlock()
	defer func() { j.lines = nil }()
	return j.lines
}

// The caller of a change is a user at an address; changes of other callers get their own turns.
func TestCaller(t *testing.T) {
	f := stock()
	c, _ := dial(t, f, Options{}, "ann")
	if err := c.Call(t.Context(), "forceKillApplication", &wire.KillApplicationRequest{ApplicationId: conv.WireApp(anApp)}, &wire.KillApplicationResponse{}); err != nil {
		t.Fatal(err)
	}
	if f.caller != "ann@127.0.0.1" {
		t.Errorf("called by %q", f.caller)
	}
}

// Each call that changes something leaves one line, done or refused; a call that only reads leaves one only if refused.
func TestAudit(t *testing.T) {
	app := conv.WireApp(anApp)
	onApp := " APPID=" + anApp.String()
	changes := map[string]struct {
		req        proto.Message
		name, rest string
	}{
		"submitApplication": {
			&wire.SubmitApplicationRequest{ApplicationSubmissionContext: &wire.ApplicationSubmissionContext{ApplicationId: app}}, "Submit Application Request", onApp,
		},
		"forceKillApplication":        {&wire.KillApplicationRequest{ApplicationId: app}, "Kill Application Request", onApp},
		"failApplicationAttempt":      {&wire.FailApplicationAttemptRequest{ApplicationAttemptId: conv.WireAttempt(anAttempt)}, "Fail Attempt Request", onApp + " APPATTEMPTID=" + anAttempt.String()},
		"moveApplicationAcrossQueues": {&wire.MoveApplicationAcrossQueuesRequest{ApplicationId: app, TargetQueue: new("b")}, "Move Application Request", onApp},
		"updateApplicationPriority":   {&wire.UpdateApplicationPriorityRequest{ApplicationId: app, ApplicationPriority: &wire.Priority{Priority: proto.Int32(1)}}, "Update Application Priority", onApp},
		"updateApplicationTimeouts": {&wire.UpdateApplicationTimeoutsRequest{ApplicationId: app, ApplicationTimeouts: []*wire.ApplicationUpdateTimeoutMap{{
			ApplicationTimeoutType: wire.ApplicationTimeoutType_APP_TIMEOUT_LIFETIME.Enum(), ExpireTime: new(time.Now().Format(time.RFC3339)),
		}}}, "Update Application Timeouts", onApp},
		"signalToContainer": {
			&wire.SignalContainerRequest{ContainerId: conv.WireContainer(aContainer), Command: wire.SignalContainerCommand_OUTPUT_THREAD_DUMP.Enum()}, "Signal Container Request",
			onApp + " APPATTEMPTID=" + anAttempt.String() + " CONTAINERID=" + aContainer.String(),
		},
	}
	var log journal
	f := stock()
	f.apps[0].State = rm.AppRunning
	o := Options{Access: daemon.Access{Admins: "root"}, Log: slog.New(slog.NewTextHandler(&log, nil))}
	c, a := dial(t, f, o, "root")
	_, eve := dial(t, f, o, "eve")
	_, forged := dial(t, f, o, "x\nlevel=INFO msg=audit USER=root")
	expect := func(what, want string) {
		t.Helper()
		if got := log.take(); len(got) != 1 || !strings.Contains(got[0], want) {
			t.Errorf("%s left\n%q, want one line with\n%q", what, got, want)
		}
	}
	for method := range Client(f, o).Methods {
		x, changing := changes[method]
		if !changing {
			_ = c.Call(t.Context(), method, &wire.GetNewApplicationRequest{}, &wire.GetNewApplicationResponse{})
			if got := log.take(); len(got) > 0 {
				t.Errorf("%s changes nothing and left %q", method, got)
			}
			continue
		}
		head := ` USER=root IP=127.0.0.1 OPERATION="` + x.name + `" TARGET=ClientRMService RESULT=`
		f.err = nil
		if err := c.Call(t.Context(), method, x.req, &wire.GetQueueInfoResponse{}); err != nil {
			t.Errorf("%s: %v", method, err)
		}
		expect(method, "level=INFO msg=audit"+head+"SUCCESS"+x.rest)
		f.err = &rm.Denied{User: "root", Do: "change", What: "it"}
		_ = c.Call(t.Context(), method, x.req, &wire.GetQueueInfoResponse{})
		expect(method+", refused", "level=WARN msg=audit"+head+`FAILURE DESCRIPTION="user root may not change it: access lists are enabled (yarn.acl.enable), and none of those that apply names the user"`+x.rest)
	}
	for _, method := range slices.Sorted(maps.Keys(Admin(f, o).Methods)) {
		var req proto.Message = &wire.RefreshQueuesRequest{}
		if method == "getGroupsForUser" {
			req = &wire.GetGroupsForUserRequest{User: new("root")}
		}
		f.err = nil
		err := a.Call(t.Context(), method, req, &wire.RefreshQueuesResponse{})
		head := " IP=127.0.0.1 OPERATION=" + method + " TARGET=AdminService RESULT="
		switch {
		case err != nil: // there are no labels
			expect(method, " USER=root"+head+"FAILURE")
		case method == "getGroupsForUser" || method == "checkForDecommissioningNodes":
			if got := log.take(); len(got) > 0 {
				t.Errorf("%s changes nothing and left %q", method, got)
			}
		default:
			expect(method, " USER=root"+head+"SUCCESS")
		}
		_ = eve.Call(t.Context(), method, req, &wire.RefreshQueuesResponse{})
		expect(method+" of somebody else", " USER=eve"+head+`FAILURE DESCRIPTION="org.apache.hadoop.security.AccessControlException: User eve doesn't have permission to call '`+method+`'`)
	}
	f.err = errors.New("bad file")
	_ = a.Call(t.Context(), "refreshQueues", &wire.RefreshQueuesRequest{}, &wire.RefreshQueuesResponse{})
	expect("a refresh that failed", `RESULT=FAILURE DESCRIPTION="bad file"`)
	_ = forged.Call(t.Context(), "refreshQueues", &wire.RefreshQueuesRequest{}, &wire.RefreshQueuesResponse{})
	expect("a name with a line in it", ` USER="x\nlevel=INFO msg=audit USER=root" IP=`)
}

// A user who acts for another without permission leaves a line too: it names the claimed user, and why says by whom.
func TestAuditOfImpersonation(t *testing.T) {
	var log journal
	addr := serveOn(t, rpc.Options{Protocols: []rpc.Protocol{Admin(stock(), Options{Access: daemon.Access{Admins: "*"}, Log: slog.New(slog.NewTextHandler(&log, nil))})}})
	c := send(t, addr, 0,
		frame(t, -3, &wire.IpcConnectionContext{UserInfo: &wire.UserInformation{EffectiveUser: new("root"), RealUser: new("eve")}, Protocol: new(AdminName)}),
		frame(t, 0, calls(AdminName, "refreshQueues"), &wire.RefreshQueuesRequest{}))
	if _, err := io.ReadFull(c, make([]byte, 4)); err != nil { // the answer begins
		t.Fatal(err)
	}
	want := `USER=root IP=127.0.0.1 OPERATION=refreshQueues TARGET=AdminService RESULT=FAILURE DESCRIPTION="org.apache.hadoop.security.AccessControlException: User: eve is not allowed to impersonate root`
	if got := log.take(); len(got) != 1 || !strings.Contains(got[0], want) {
		t.Errorf("left %q, want one line with %q", got, want)
	}
}
