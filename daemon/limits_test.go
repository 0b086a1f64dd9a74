package daemon

import (
	"context"
	"errors"
	"math"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"google.golang.org/protobuf/proto"

	"heddle/rm"
	"heddle/yarn/conv"
	"heddle/yarn/ids"
	"heddle/yarn/rpc"
	"heddle/yarn/wire"
)

// Texts and submissions that are too large for the store harm only their sender.
func TestTooLongForTheStore(t *testing.T) {
	inRestarts(t, "capacity", func(t *testing.T, w *world, _ string) {
		n := w.node("n1", 8192, 8)
		id := w.submit("SPARK", 1024)
		n.run(w.masterOf(id))
		n.beat()
		m := w.master(id)
		next, _, err := w.r.NewApp(t.Context(), "ann")
		if err != nil {
			t.Fatal(err)
		}
		huge := submission(next, "SPARK", 1024)
		huge.AmContainerSpec.Command = []string{strings.Repeat("x", 7<<20)}
		wantClass(t, w.r.Submit(t.Context(), "ann", huge), classYarn)
		if p, err := w.r.finishMaster(t.Context(), m.call, &wire.FinishApplicationMasterRequest{
			FinalApplicationStatus: wire.FinalApplicationStatus_APP_FAILED.Enum(), Diagnostics: new(strings.Repeat("ä", 5<<20)), TrackingUrl: new(strings.Repeat("u", 9<<20)),
		}); err != nil || !p.GetIsUnregistered() {
			t.Fatal(p, err)
		}
		if p := w.app(id); p.State != rm.AppFinished || len(p.Diagnostics) > 64<<10 || !strings.HasSuffix(p.Diagnostics, "ä") {
			t.Errorf("%s with a text of %d bytes", p.State, len(p.Diagnostics))
		}
	})
}

// What every container's token carries is small, and so is what lists show of every application.
func TestLargeSubmission(t *testing.T) {
	inWorld(t, "capacity", func(t *testing.T, w *world) {
		id, _, err := w.r.NewApp(t.Context(), "ann")
		if err != nil {
			t.Fatal(err)
		}
		c := submission(id, "SPARK", 1024)
		c.LogAggregationContext = &wire.LogAggregationContext{IncludePattern: new(strings.Repeat("x", 16<<10))}
		wantClass(t, w.r.Submit(t.Context(), "ann", c), classYarn)
		c.LogAggregationContext = nil
		c.ApplicationName = new(strings.Repeat("ä", 1<<20))
		if err := w.r.Submit(t.Context(), "ann", c); err != nil {
			t.Fatal(err)
		}
		if p := w.app(id); len(p.Name) != 1024 || !strings.HasSuffix(p.Name, "ä") {
			t.Errorf("a name of %d bytes", len(p.Name))
		}
	})
}

// Submissions that come faster than the disk accepts them are told to come again, and the ResourceManager goes on.
func TestSlowDisk(t *testing.T) {
	inRestarts(t, "capacity", func(t *testing.T, w *world, _ string) {
		release := make(chan struct{})
		w.r.store.Commit(func(error) { <-release })
		synctest.Wait()
		var refused error
		for i := 0; refused == nil && i < 100; i++ {
			id, _, err := w.r.NewApp(t.Context(), "ann")
			if err != nil {
				t.Fatal(err)
			}
			c := submission(id, "SPARK", 1024)
			c.AmContainerSpec.Command = []string{strings.Repeat("x", 3<<20)}
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			if err := w.r.Submit(ctx, "ann", c); !errors.Is(err, context.DeadlineExceeded) {
				refused = err
			}
			cancel()
		}
		wantClass(t, refused, classRetry)
		close(release)
		synctest.Wait()
		if p := w.app(w.submit("SPARK", 1024)); p.State != rm.AppAccepted {
			t.Errorf("one that comes when the disk has caught up is %s", p.State)
		}
	})
}

// Numbers at the limits of what the wire format can express.
func TestHugeNumbers(t *testing.T) {
	inWorld(t, "capacity", func(t *testing.T, w *world) {
		p, err := w.r.registerNode(t.Context(), &rpc.Call{}, &wire.RegisterNodeManagerRequest{
			NodeId: &wire.NodeId{Host: new("giant"), Port: proto.Int32(1)}, Resource: &wire.Resource{Memory: proto.Int64(math.MaxInt64), VirtualCores: proto.Int32(math.MaxInt32)},
		})
		if err != nil || p.GetNodeAction() != wire.NodeAction_SHUTDOWN {
			t.Errorf("a node of 8 EiB: %v, %v", p, err)
		}
		id, m, _, _ := w.job("SPARK")
		m.ask(row(1, "*", 2048, math.MaxInt32), row(2, "*", 2048, math.MaxInt32), row(3, "n2", 1024, math.MaxInt32))
		m.ask(row(4, "*", 9000, 0)) // taking back what has become too large
		if n := m.ask().GetEnhancedHeadroom().GetTotalPendingCount(); n <= 0 {
			t.Errorf("%d containers wait", n)
		}
		if p := w.app(id); p.Pending.Resource().AnyNegative() || p.Containers != 3 {
			t.Errorf("%d containers, %v pending", p.Containers, p.Pending)
		}

		next, _, _ := w.r.NewApp(t.Context(), "ann")
		wantClass(t, w.r.Submit(t.Context(), "ann", submission(ids.App{Cluster: next.Cluster, Seq: math.MaxInt32}, "SPARK", 1024)), classYarn)
		if err := second(w.r.heartbeat(t.Context(), &rpc.Call{}, &wire.NodeHeartbeatRequest{
			NodeStatus:                   &wire.NodeStatus{NodeId: &wire.NodeId{Host: new("n2"), Port: proto.Int32(8041)}, ResponseId: proto.Int32(0)},
			LogAggregationReportsForApps: []*wire.LogAggregationReport{{ApplicationId: conv.WireApp(id), LogAggregationStatus: wire.LogAggregationStatus(99).Enum()}},
		})); err != nil {
			t.Fatal(err)
		}
		if p := w.app(id); p.LogAggregation != "NOT_START" {
			t.Errorf("logs are %q after a word that nobody knows", p.LogAggregation)
		}
		long := submission(next, "SPARK", 1024)
		long.ApplicationTimeouts = []*wire.ApplicationTimeoutMap{{Timeout: proto.Int64(math.MaxInt64)}}
		long.AttemptFailuresValidityInterval = proto.Int64(1<<58 + 1) // a millisecond, where nanoseconds overflow
		if err := w.r.Submit(t.Context(), "ann", long); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Minute)
		if p := w.app(next); p.State != rm.AppAccepted || p.Lifetime <= time.Now().UnixMilli() {
			t.Errorf("an application that may live for ever is %s, until %d", p.State, p.Lifetime)
		}
		for range 2 {
			if err := w.r.FailAttempt(t.Context(), Actor{User: "ann"}, ids.Attempt{App: next, N: w.app(next).Attempt}); err != nil {
				t.Fatal(err)
			}
			time.Sleep(time.Second)
		}
		nowhere, _, err := w.r.NewApp(t.Context(), "ann")
		if err != nil {
			t.Fatal(err)
		}
		c := submission(nowhere, "SPARK", 1024)
		c.Queue = new("nowhere")
		if err := w.r.Submit(t.Context(), "ann", c); err != nil {
			t.Fatal(err)
		}
		if p := w.app(nowhere); p.State != rm.AppFailed {
			t.Errorf("in a queue that is not there it is %s", p.State)
		}
		if p := w.app(next); p.State != rm.AppFailed {
			t.Errorf("after two failures in an interval without end it is %s", p.State)
		}
		w.check()
	})
}
