package daemon

import (
	"errors"
	"strings"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"

	"heddle/rm"
	"heddle/yarn/conv"
	"heddle/yarn/ids"
	"heddle/yarn/rpc"
	"heddle/yarn/wire"
)

// A job from its submission to the clean-up after it: what its client, its master and its nodes are told.
func TestJob(t *testing.T) {
	inWorld(t, "capacity", func(t *testing.T, w *world) {
		n1, n2 := w.node("n1", 4096, 4), w.node("n2", 4096, 4)
		id := w.submit("MAPREDUCE", 1024)
		p := w.app(id)
		if p.State != rm.AppAccepted || p.Master.ID != 1 || p.Launched == 0 {
			t.Fatalf("after the submission: %s, master %v, launched %d; want ACCEPTED and a master that is launched, without any report of a node", p.State, p.Master, p.Launched)
		}
		if len(w.calls) != 1 || !strings.HasPrefix(w.calls[0], "startContainers ") {
			t.Fatalf("calls of NodeManagers: %q", w.calls)
		}
		home := n1
		if p.MasterNode == n2.id {
			home = n2
		}
		home.run(p.Master)
		home.beat()
		m := w.master(id)
		if p = w.app(id); p.State != rm.AppRunning || p.Host != "n1" || p.RPCPort != 7000 {
			t.Fatalf("after the master registered: %s at %s:%d", p.State, p.Host, p.RPCPort)
		}

		a := m.ask(row(20, "*", 1024, 3), row(20, "n2", 1024, 1), row(20, "/default-rack", 1024, 1))
		if len(a.GetAllocatedContainers()) != 3 {
			t.Fatalf("%d containers in the same call, want 3", len(a.GetAllocatedContainers()))
		}
		nodes := map[string]bool{}
		for _, c := range a.GetAllocatedContainers() {
			if c.GetPriority().GetPriority() != 20 || c.GetResource().GetMemory() != 1024 || !strings.HasSuffix(c.GetNodeHttpAddress(), ":8042") {
				t.Errorf("a container as the master sees it: %v", c)
			}
			nodes[conv.Node(c.GetNodeId()).String()] = true
		}
		if len(a.GetNmTokens()) != len(nodes) {
			t.Errorf("%d NMTokens for containers on %d nodes", len(a.GetNmTokens()), len(nodes))
		}
		if a.GetNumClusterNodes() != 2 || a.GetLimit().GetMemory() != 8192-4*1024 {
			t.Errorf("%d nodes, headroom %v", a.GetNumClusterNodes(), a.GetLimit())
		}

		var first ids.Container
		for _, c := range a.GetAllocatedContainers() {
			cid, n := conv.Container(c.GetId()), n1
			if conv.Node(c.GetNodeId()) == n2.id {
				n = n2
			}
			n.run(cid)
			n.beat()
			n.exit(cid, 0)
			n.beat()
			first = cid
		}
		a = m.ask(row(20, "*", 1024, 0))
		if len(a.GetCompletedContainerStatuses()) != 3 || a.GetCompletedContainerStatuses()[0].GetDiagnostics() != "as the node says" {
			t.Fatalf("completions: %v", a.GetCompletedContainerStatuses())
		}
		if a = m.ask(); len(a.GetCompletedContainerStatuses()) != 0 {
			t.Error("completions were told twice")
		}
		if b := append(n1.beat().GetContainersToBeRemovedFromNm(), n2.beat().GetContainersToBeRemovedFromNm()...); len(b) != 3 {
			t.Errorf("nodes may forget %v, want the 3 containers, %v among them", b, first)
		}

		if !m.finish() {
			t.Fatal("finishing was not confirmed at once")
		}
		if p = w.app(id); p.State != rm.AppFinished || p.Final != rm.Succeeded || p.OriginalURL != "http://history/job" {
			t.Fatalf("after the master finished: %s %s %s", p.State, p.Final, p.OriginalURL)
		}
		if got := n1.beat().GetApplicationsToCleanup(); len(got) > 0 {
			t.Error("the application was cleaned up while its master lived")
		}
		home.exit(p.Master, 0)
		told := home.resp
		for _, n := range []*nm{home, n1, n2} {
			if n == home && n.resp > told {
				continue // its first heartbeat was answered already
			}
			b := n.beat()
			if len(b.GetApplicationsToCleanup()) != 1 {
				t.Errorf("clean up %v, want the application on every node it ran on", b.GetApplicationsToCleanup())
			}
		}
		if p = w.app(id); p.Internal != "FINISHED" {
			t.Errorf("state %s", p.Internal)
		}
		w.check()
	})
}

// Repeated calls get the lost answers again, word for word, and nothing is done twice.
func TestRepeatedCalls(t *testing.T) {
	inWorld(t, "capacity", func(t *testing.T, w *world) {
		n := w.node("n1", 8192, 8)
		id := w.submit("SPARK", 1024)
		n.run(w.masterOf(id))
		n.beat()
		m := w.master(id)
		q := &wire.AllocateRequest{Ask: []*wire.ResourceRequest{row(0, "*", 1024, 2)}, ResponseId: proto.Int32(0)}
		first, err := m.try(q)
		if err != nil {
			t.Fatal(err)
		}
		again, err := m.try(q)
		if err != nil || !proto.Equal(first, again) || len(again.GetAllocatedContainers()) != 2 {
			t.Errorf("the second answer differs: %v, %v", again, err)
		}
		if p := w.app(id); p.Containers != 3 {
			t.Errorf("%d containers, want the master and 2", p.Containers)
		}
		m.resp = 7
		_, err = m.try(&wire.AllocateRequest{ResponseId: proto.Int32(7)})
		wantClass(t, err, classInvalidMaster)

		beat := n.beat()
		n.resp--
		if again := n.beat(); again.GetResponseId() != beat.GetResponseId() {
			t.Errorf("a repeated report was answered with %d, want %d again", again.GetResponseId(), beat.GetResponseId())
		}
		n.resp = 77
		if b := n.beat(); b.GetNodeAction() != wire.NodeAction_RESYNC {
			t.Errorf("a node that is ahead is told %v", b.GetNodeAction())
		}
		for host, want := range map[string]time.Duration{"n1": 0, "nowhere": sentAway} {
			call, st := &rpc.Call{}, &wire.NodeStatus{NodeId: conv.WireNode(ids.Node{Host: host, Port: n.id.Port}), ResponseId: new(int32)}
			if host == "n1" {
				n.register(8192, 8)
			}
			if _, err := w.r.heartbeat(t.Context(), call, &wire.NodeHeartbeatRequest{NodeStatus: st}); err != nil || call.After != want {
				t.Errorf("%s is answered after %v: %v", host, call.After, err)
			}
		}
		w.check()
	})
}

// Java classes of the exceptions that callers act on.
const (
	yarnExceptions = "org.apache.hadoop.yarn.exceptions."

	classAttemptNotFound  = yarnExceptions + "ApplicationAttemptNotFoundException"
	classNotRegistered    = yarnExceptions + "ApplicationMasterNotRegisteredException"
	classInvalidMaster    = yarnExceptions + "InvalidApplicationMasterRequestException"
	classInvalidAsk       = yarnExceptions + "InvalidResourceRequestException"
	classInvalidLabel     = yarnExceptions + "InvalidLabelResourceRequestException"
	classInvalidBlacklist = yarnExceptions + "InvalidResourceBlacklistRequestException"
	classInvalidRelease   = yarnExceptions + "InvalidContainerReleaseException"
	classYarn             = yarnExceptions + "YarnException"
)

func wantClass(t *testing.T, err error, class string) {
	t.Helper()
	if bad := (*rm.Invalid)(nil); !errors.As(err, &bad) || bad.Class != class {
		t.Errorf("error %v, want one of class %s", err, class)
	}
}

// For released and killed containers, their nodes are told, and their master once.
func TestRelease(t *testing.T) {
	inWorld(t, "capacity", func(t *testing.T, w *world) {
		n := w.node("n1", 8192, 8)
		id := w.submit("SPARK", 1024)
		n.run(w.masterOf(id))
		n.beat()
		m := w.master(id)
		c := m.ask(row(0, "*", 1024, 1)).GetAllocatedContainers()[0].GetId()
		a, err := m.try(&wire.AllocateRequest{Release: []*wire.ContainerId{c}, ResponseId: new(m.resp)})
		if err != nil {
			t.Fatal(err)
		}
		if s := a.GetCompletedContainerStatuses(); len(s) != 1 || s[0].GetExitStatus() != -100 || s[0].GetDiagnostics() != "Container released by application" {
			t.Errorf("statuses %v", s)
		}
		if b := n.beat(); len(b.GetContainersToCleanup()) != 1 {
			t.Errorf("to clean up: %v", b.GetContainersToCleanup())
		}
		n.exit(conv.Container(c), -106)
		if b := n.beat(); len(b.GetContainersToBeRemovedFromNm()) != 0 {
			t.Errorf("the node may forget it before its master is known to have heard: %v", b)
		}
		if a = m.ask(); len(a.GetCompletedContainerStatuses()) != 0 {
			t.Errorf("told twice: %v", a.GetCompletedContainerStatuses())
		}
		if b := n.beat(); len(b.GetContainersToBeRemovedFromNm()) != 1 {
			t.Errorf("the node was not told to forget it: %v", b)
		}
		_, err = m.try(&wire.AllocateRequest{ResponseId: new(m.resp), Release: []*wire.ContainerId{
			conv.WireContainer(ids.Container{Attempt: ids.Attempt{App: ids.App{Cluster: 1, Seq: 1}, N: 1}, ID: 1}),
		}})
		wantClass(t, err, classInvalidRelease)
		w.check()
	})
}

// A master that leaves without a word is followed by another one; after the maximum number the application has failed.
func TestAttempts(t *testing.T) {
	inWorld(t, "capacity", func(t *testing.T, w *world) {
		n := w.node("n1", 8192, 8)
		id := w.submit("MAPREDUCE", 1024)
		n.run(w.masterOf(id))
		n.beat()
		m := w.master(id)
		task := conv.Container(m.ask(row(20, "*", 1024, 1)).GetAllocatedContainers()[0].GetId())
		n.run(task)
		n.beat()
		n.exit(w.masterOf(id), 0)
		b := n.beat()
		p := w.app(id)
		if p.State != rm.AppAccepted || p.Attempt != 2 || p.Host != "" {
			t.Fatalf("after its master left: %s, attempt %d, host %s", p.State, p.Attempt, p.Host)
		}
		if len(b.GetContainersToCleanup()) != 1 || conv.Container(b.GetContainersToCleanup()[0]) != task {
			t.Errorf("to clean up: %v, want the task of the first attempt", b.GetContainersToCleanup())
		}
		_, err := m.try(&wire.AllocateRequest{ResponseId: new(m.resp)})
		wantClass(t, err, classAttemptNotFound)
		if _, _, _, err := w.r.auth.Verify(mustToken(w, ids.Attempt{App: id, N: 1})); err == nil {
			t.Error("the first attempt's token still lets its master in")
		}
		n.exit(task, -106)
		n.run(w.masterOf(id))
		n.beat()
		n.exit(w.masterOf(id), 1)
		n.beat()
		if p = w.app(id); p.State != rm.AppFailed || p.Final != rm.Failed || !strings.Contains(p.Diagnostics, "failed 2 times") {
			t.Fatalf("after the second: %s %s %q", p.State, p.Final, p.Diagnostics)
		}
		w.check()
	})
}

// mustToken returns the identifier of a token for an attempt, whether it may call or not.
func mustToken(w *world, id ids.Attempt) []byte {
	was := w.r.auth.attempts[id]
	token := w.r.auth.masterToken(id).GetIdentifier()
	if !was {
		w.r.auth.drop(id)
	}
	return token
}

func TestKill(t *testing.T) {
	inWorld(t, "fair", func(t *testing.T, w *world) {
		n := w.node("n1", 8192, 8)
		id := w.submit("SPARK", 1024)
		n.run(w.masterOf(id))
		n.beat()
		m := w.master(id)
		m.ask(row(0, "*", 1024, 2))
		w.calls = nil
		if err := w.r.Kill(t.Context(), Actor{User: "bob", Addr: "10.0.0.1"}, id, "why not"); err != nil {
			t.Fatal(err)
		}
		p := w.app(id)
		if p.State != rm.AppKilled || p.Final != rm.Killed || !strings.Contains(p.Diagnostics, "was killed by user bob at 10.0.0.1 with diagnostic message: why not") {
			t.Errorf("%s %s %q", p.State, p.Final, p.Diagnostics)
		}
		if b := n.beat(); len(b.GetContainersToCleanup()) != 3 || len(b.GetApplicationsToCleanup()) != 1 {
			t.Errorf("to clean up: %v, %v", b.GetContainersToCleanup(), b.GetApplicationsToCleanup())
		}
		if len(w.calls) != 1 || !strings.HasPrefix(w.calls[0], "stopContainers ") {
			t.Errorf("calls %q", w.calls)
		}
		_, err := m.try(&wire.AllocateRequest{ResponseId: new(m.resp)})
		wantClass(t, err, classAttemptNotFound)
		if err := w.r.Kill(t.Context(), Actor{User: "bob"}, id, ""); err != nil {
			t.Error("killing twice:", err)
		}
		if missing := (*rm.NotFound)(nil); !errors.As(w.r.Kill(t.Context(), Actor{}, ids.App{Cluster: 1, Seq: 2}, ""), &missing) {
			t.Error("an application that is not there was killed")
		}
		w.check()
	})
}

func second[T any](_ T, err error) error { return err }

func TestRefusals(t *testing.T) {
	inWorld(t, "capacity", func(t *testing.T, w *world) {
		if p, err := w.r.registerNode(t.Context(), &rpc.Call{}, &wire.RegisterNodeManagerRequest{NodeId: &wire.NodeId{Host: new("tiny"), Port: proto.Int32(1)}, Resource: &wire.Resource{Memory: proto.Int64(1)}}); err != nil || p.GetNodeAction() != wire.NodeAction_SHUTDOWN {
			t.Errorf("a node smaller than the smallest container: %v, %v", p, err)
		}
		n := w.node("n1", 8192, 4)
		id := w.submit("MAPREDUCE", 1024)
		n.run(w.masterOf(id))
		n.beat()
		call := &rpc.Call{Identity: rm.Caller{Attempt: ids.Attempt{App: id, N: 1}}}
		_, err := w.r.allocate(t.Context(), call, &wire.AllocateRequest{})
		wantClass(t, err, classNotRegistered)
		_, err = w.r.finishMaster(t.Context(), call, &wire.FinishApplicationMasterRequest{})
		wantClass(t, err, classNotRegistered)
		m := w.master(id)
		_, err = w.r.registerMaster(t.Context(), call, &wire.RegisterApplicationMasterRequest{})
		wantClass(t, err, classInvalidMaster)
		try := func(q *wire.AllocateRequest) error {
			q.ResponseId = new(m.resp)
			return second(m.try(q))
		}
		wantClass(t, try(&wire.AllocateRequest{Ask: []*wire.ResourceRequest{row(20, "*", 9000, 1)}}), classInvalidAsk)
		wantClass(t, try(&wire.AllocateRequest{Ask: []*wire.ResourceRequest{row(20, "*", -1, 1)}}), classInvalidAsk)
		wantClass(t, try(&wire.AllocateRequest{Ask: []*wire.ResourceRequest{row(20, "*", 1024, -1)}}), classInvalidAsk)
		labelled := row(20, "*", 1024, 1)
		labelled.NodeLabelExpression = new("gpu")
		wantClass(t, try(&wire.AllocateRequest{Ask: []*wire.ResourceRequest{labelled}}), classInvalidLabel)
		wantClass(t, try(&wire.AllocateRequest{BlacklistRequest: &wire.ResourceBlacklistRequest{BlacklistAdditions: []string{"*"}}}), classInvalidBlacklist)
		if p := w.app(id); len(p.Requests) != 0 {
			t.Errorf("part of a refused call was taken: %+v", p.Requests)
		}

		next, _, _ := w.r.NewApp(t.Context(), "ann")
		wantClass(t, w.r.Submit(t.Context(), "ann", submission(next, "SPARK", 9000)), classInvalidAsk)
		wantClass(t, w.r.Submit(t.Context(), "ann", &wire.ApplicationSubmissionContext{}), classYarn)
		c := submission(next, "SPARK", 1024)
		c.NodeLabelExpression = new("gpu")
		wantClass(t, w.r.Submit(t.Context(), "ann", c), classInvalidLabel)
		c.NodeLabelExpression = new("")
		c.AmContainerResourceRequest = []*wire.ResourceRequest{{ResourceName: new("*"), Capability: c.Resource, NodeLabelExpression: new("gpu")}}
		wantClass(t, w.r.Submit(t.Context(), "ann", c), classInvalidLabel)
		c.AmContainerResourceRequest[0].NodeLabelExpression = nil
		c.Queue = new("nowhere")
		if err := w.r.Submit(t.Context(), "ann", c); err != nil {
			t.Fatal(err)
		}
		if p := w.app(next); p.State != rm.AppFailed {
			t.Errorf("an application for a queue that is not there is %s: %s", p.State, p.Diagnostics)
		}
		w.check()
	})
}
