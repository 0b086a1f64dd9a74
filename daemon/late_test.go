package daemon

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"

	"heddle"
	"heddle/conf"
	"heddle/policies"
	"heddle/rm"
	"heddle/yarn/conv"
	"heddle/yarn/ids"
	"heddle/yarn/rpc"
	"heddle/yarn/wire"
)

// job returns a master that runs on its own node, and another node.
func (w *world) job(kind string) (id ids.App, m *am, home, other *nm) {
	w.Helper()
	home = w.node("n1", 2048, 4)
	id = w.submit(kind, 1024)
	home.run(w.masterOf(id))
	home.beat()
	return id, w.master(id), home, w.node("n2", 4096, 4)
}

// task has a master ask for one container on the other node, which starts it.
func (n *nm) task(m *am) ids.Container {
	n.w.Helper()
	a := m.ask(row(20, "*", 2048, 1))
	if len(a.GetAllocatedContainers()) != 1 {
		n.w.Fatalf("granted %v, want one container", a.GetAllocatedContainers())
	}
	id := conv.Container(a.GetAllocatedContainers()[0].GetId())
	m.ask(row(20, "*", 2048, 0))
	n.run(id)
	n.beat()
	return id
}

// A master whose start was in progress when its application or attempt ended is stopped all the same.
func TestLateStart(t *testing.T) {
	inWorld(t, "capacity", func(t *testing.T, w *world) {
		id, m, home, n := w.job("MAPREDUCE")
		c := n.task(m)
		if _, err := m.try(&wire.AllocateRequest{ResponseId: new(m.resp), Release: []*wire.ContainerId{conv.WireContainer(c)}}); err != nil {
			t.Fatal(err)
		}
		if b := n.beat(); len(b.GetContainersToCleanup()) != 1 {
			t.Fatalf("to clean up: %v", b)
		}
		time.Sleep(time.Minute)
		if b := n.beat(); len(b.GetContainersToCleanup()) != 1 {
			t.Errorf("it runs a minute after its kill, and nobody minds: %v", b)
		}
		if err := w.r.Kill(t.Context(), Actor{User: "bob"}, id, ""); err != nil {
			t.Fatal(err)
		}
		home.beat()
		if b := home.beat(); len(b.GetApplicationsToCleanup()) != 1 {
			t.Errorf("what runs of an application that is over is not cleaned up again: %v", b)
		}
		w.check()
	})
}

// A master that runs is not given up if its start was answered with an error, or not at all.
func TestStartAnswerLost(t *testing.T) {
	inWorld(t, "capacity", func(t *testing.T, w *world) {
		w.r.callOnce = func(nodeCall, string, proto.Message, proto.Message) error {
			time.Sleep(10 * time.Second)
			return errors.New("no answer")
		}
		n := w.node("n1", 2048, 4)
		id := w.submit("MAPREDUCE", 1024)
		n.run(w.masterOf(id))
		n.beat()
		time.Sleep(20 * time.Second)
		if p := w.app(id); p.Attempt != 1 || p.Launched == 0 {
			t.Errorf("attempt %d, launched %d; want the first one, which runs", p.Attempt, p.Launched)
		}
	})
}

// Containers that are granted but not fetched are part of what a master still asks for when it calls.
func TestUnfetched(t *testing.T) {
	inWorld(t, "capacity", func(t *testing.T, w *world) {
		_, m, _, n := w.job("MAPREDUCE")
		m.ask(row(20, "*", 2048, 3)) // two fit
		a := w.node("n3", 8192, 4)
		a.beat() // the third is granted
		got := m.ask(row(20, "*", 2048, 1)).GetAllocatedContainers()
		if len(got) != 1 {
			t.Errorf("%d containers, want the one that was still asked for", len(got))
		}
		n.beat()
		if got = m.ask(row(20, "*", 2048, 0)).GetAllocatedContainers(); len(got) != 0 {
			t.Errorf("%d containers that nobody wants", len(got))
		}
		w.check()
	})
}

// A master that has finished gets nothing more of what it had asked for.
func TestFinishWithdraws(t *testing.T) {
	inWorld(t, "capacity", func(t *testing.T, w *world) {
		id, m, _, _ := w.job("MAPREDUCE")
		m.ask(row(20, "*", 2048, 5))
		if !m.finish() {
			t.Fatal("not finished")
		}
		w.node("n3", 8192, 4).beat()
		if p := w.app(id); p.Containers != 3 || len(p.Requests) != 0 {
			t.Errorf("%d containers and requests %v after the end", p.Containers, p.Requests)
		}
		if a := m.ask(); len(a.GetAllocatedContainers()) != 0 {
			t.Errorf("granted %v", a.GetAllocatedContainers())
		}
		w.check()
	})
}

// Nodes leave gracefully: masters learn of it, their containers may come back, and empty nodes go.
func TestDecommission(t *testing.T) {
	inWorld(t, "capacity", func(t *testing.T, w *world) {
		_, m, _, n := w.job("SPARK")
		c := n.task(m)
		file := filepath.Join(t.TempDir(), "exclude")
		w.inLoop(func() { w.r.cfg.ExcludeFile = file })
		if err := w.r.RefreshNodes(t.Context(), true, time.Hour); err == nil || !strings.Contains(err.Error(), "the list of hosts "+file+" does not exist") {
			t.Fatalf("a list that was never there: %v", err)
		}
		if err := os.WriteFile(file, []byte("n2\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := w.r.RefreshNodes(t.Context(), true, time.Hour); err != nil {
			t.Fatal(err)
		}
		u := m.ask().GetUpdatedNodes()
		if i := len(u) - 1; i < 0 || u[i].GetNodeUpdateType() != wire.NodeUpdateType_NODE_DECOMMISSIONING || u[i].GetDecommissioningTimeout() == 0 {
			t.Errorf("its master is told %v", u)
		}
		if p := n.register(4096, 4, status(c, 0, wire.ContainerState_C_RUNNING)); p.GetNodeAction() != wire.NodeAction_NORMAL {
			t.Errorf("a node that has something to finish is told %v", p.GetNodeAction())
		}
		if p, _ := w.r.Nodes(t.Context()); p[1].State != "DECOMMISSIONING" || p[1].Containers != 1 {
			t.Errorf("it is %s with %d containers", p[1].State, p[1].Containers)
		}
		if err := os.Remove(file); err != nil {
			t.Fatal(err)
		}
		if err := w.r.RefreshNodes(t.Context(), false, 0); err == nil {
			t.Error("a list that is gone was taken for an empty one")
		}
		if p := n.register(4096, 4); p.GetNodeAction() != wire.NodeAction_SHUTDOWN {
			t.Errorf("a node with nothing left is told %v", p.GetNodeAction())
		}
		if p, _ := w.r.Nodes(t.Context()); p[1].State != "DECOMMISSIONED" {
			t.Errorf("it is %s", p[1].State)
		}
		w.check()
	})
}

// A node that registers again as unhealthy, and with an unknown application, gets nothing.
func TestSickAgain(t *testing.T) {
	inWorld(t, "capacity", func(t *testing.T, w *world) {
		n := w.node("n1", 4096, 4)
		if _, err := w.r.registerNode(t.Context(), &rpc.Call{}, &wire.RegisterNodeManagerRequest{
			NodeId: conv.WireNode(n.id), HttpPort: proto.Int32(8042), Resource: &wire.Resource{Memory: proto.Int64(4096), VirtualCores: proto.Int32(4)},
			NodeStatus:          &wire.NodeStatus{NodeHealthStatus: &wire.NodeHealthStatus{IsNodeHealthy: new(false)}},
			RunningApplications: []*wire.ApplicationId{{Id: proto.Int32(1), ClusterTimestamp: proto.Int64(1)}},
		}); err != nil {
			t.Fatal(err)
		}
		id := w.submit("SPARK", 1024)
		p, _ := w.r.Nodes(t.Context())
		if c, _ := w.r.Cluster(t.Context()); p[0].State != "UNHEALTHY" || !c.Total.IsZero() || w.app(id).Master.ID != 0 {
			t.Errorf("it is %s, the cluster has %v", p[0].State, c.Total)
		}
		w.check()
	})
}

// stoppedQueues returns a scheduler whose queues accept no applications.
func stoppedQueues(t *testing.T) *rm.Scheduler {
	t.Helper()
	sch, h := testScheduler(t, "capacity"), conf.Default()
	h.Capacity.MaxApplications = 0
	for i := range h.Capacity.Queues {
		h.Capacity.Queues[i].Stopped = true
	}
	p, err := policies.Load("capacity", nil)
	if err != nil {
		t.Fatal(err)
	}
	p, _ = p.WithoutAgent()
	b, err := policies.Build(p, policies.Env{Capacity: h.Capacity, Fair: h.Fair, Minimum: h.Site.Minimum, Maximum: h.Site.Maximum, Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	sch.Set, sch.UserName = b.Set, b.User
	sch.Rebuild = func([]string) (*rm.Scheduler, error) { return sch, nil }
	return sch
}

// After a refresh, answers reflect the new scheduler: which mechanisms are off, and whether only memory counts.
func TestRefreshedIsTold(t *testing.T) {
	inWorld(t, "capacity", func(t *testing.T, w *world) {
		home := w.node("n1", 65536, 64)
		types := func() int {
			id := w.submit("MAPREDUCE", 1024)
			home.beat()
			m := &am{w: w, call: &rpc.Call{Identity: rm.Caller{Attempt: ids.Attempt{App: id, N: w.app(id).Attempt}}}}
			return len(m.register().GetSchedulerResourceTypes())
		}
		if got := types(); got != 2 {
			t.Errorf("a master is told of %d resources, want 2", got)
		}
		sch := testScheduler(t, "capacity")
		build := sch.Rebuild
		sch.Rebuild = func(leaves []string) (*rm.Scheduler, error) {
			next, err := build(leaves)
			next.Set.MemoryOnly, next.Off = true, []string{"shrink: why"}
			return next, err
		}
		if err := w.refresh(sch); err != nil {
			t.Fatal(err)
		}
		if got := types(); got != 1 {
			t.Errorf("after memory alone counts, a master is told of %d resources, want 1", got)
		}
		if c, err := w.r.Cluster(t.Context()); err != nil || !c.MemoryOnly || !slices.Equal(c.Off, []string{"shrink: why"}) {
			t.Errorf("memory alone %v, off %q, %v", c.MemoryOnly, c.Off, err)
		}
	})
}

// A stopped queue accepts no applications, and its running ones continue.
func TestStoppedQueueDrains(t *testing.T) {
	inWorld(t, "capacity", func(t *testing.T, w *world) {
		id, m, _, _ := w.job("MAPREDUCE")
		if err := w.refresh(stoppedQueues(t)); err != nil {
			t.Fatal(err)
		}
		if a := m.ask(row(20, "*", 1024, 1)); len(a.GetAllocatedContainers()) != 1 || w.app(id).State != rm.AppRunning {
			t.Errorf("after its queue was stopped: %v", a)
		}
		if p := w.app(w.submit("SPARK", 1024)); p.State != rm.AppFailed {
			t.Errorf("an application for a stopped queue is %s", p.State)
		}
		w.check()
	})
}

// A configuration that lacks the queue of a running application changes nothing.
func TestRefreshRefused(t *testing.T) {
	inWorld(t, "capacity", func(t *testing.T, w *world) {
		id, m, _, _ := w.job("MAPREDUCE")
		without := testScheduler(t, "capacity")
		without.Queues[1].Path = "root.other"
		smaller := testScheduler(t, "capacity")
		smaller.Maximum[heddle.Memory]-- // what is asked for might be larger
		for _, sch := range []*rm.Scheduler{without, smaller} {
			sch.Rebuild = func([]string) (*rm.Scheduler, error) { return sch, nil }
			wantClass(t, w.refresh(sch), classYarn)
		}
		if a := m.ask(row(20, "*", 1024, 1)); len(a.GetAllocatedContainers()) != 1 || w.app(id).State != rm.AppRunning {
			t.Errorf("after the refused refresh: %v", a)
		}
		w.check()
	})
}

// A node whose rack has changed moves there once nothing runs on it, and is found by its name.
func TestOtherRack(t *testing.T) {
	cfg := testConfig()
	cfg.PortInNodeName = true
	inWorldOf(t, "capacity", cfg, func(t *testing.T, w *world) {
		id, m, _, n := w.job("MAPREDUCE")
		c := n.task(m)
		w.inLoop(func() { w.r.cfg.TopologyTable = map[string]string{"n2": "/other"} })
		n.register(4096, 4, status(c, 20, wire.ContainerState_C_RUNNING))
		if b := n.beat(); len(b.GetContainersToCleanup()) != 0 || w.app(id).Containers != 2 {
			t.Errorf("what runs on a node that is said to have moved: %v", b)
		}
		n.exit(c, 0)
		n.beat()
		n.register(4096, 4)
		n.beat()
		pinned := row(7, "/other", 1024, 1)
		pinned.RelaxLocality = new(false)
		nowhere := row(7, "*", 1024, 1)
		nowhere.RelaxLocality = new(false)
		a := m.ask(row(7, "n2:8041", 1024, 1), pinned, nowhere)
		if got := a.GetAllocatedContainers(); len(got) != 1 || conv.Node(got[0].GetNodeId()) != n.id {
			t.Errorf("granted %v, want a container on the node that was named", got)
		}
		w.check()
	})
}

// Sizes are rounded up to steps, but not beyond the largest node: a size that fits as asked for is granted.
func TestRoundedIntoTheNode(t *testing.T) {
	inWorld(t, "capacity", func(t *testing.T, w *world) {
		_, m, _, _ := w.job("MAPREDUCE")
		w.node("n3", 5000, 4)
		a := m.ask(row(20, "*", 4900, 1))
		if got := a.GetAllocatedContainers(); len(got) != 1 || got[0].GetResource().GetMemory() != 5000 {
			t.Errorf("granted %v, want one of the whole node", got)
		}
		w.check()
	})
}

// A queue may have its own largest container, and a priority for applications that name none.
func TestQueueLimits(t *testing.T) {
	inWorld(t, "capacity", func(t *testing.T, w *world) {
		w.inLoop(func() {
			q := &w.r.m.Scheduler().Queues[1]
			q.Largest, q.Priority = heddle.Of(2048, 2000), 4
		})
		id, m, _, _ := w.job("SPARK")
		if p := w.app(id).Priority; p != 4 {
			t.Errorf("priority %d, want the queue's", p)
		}
		_, err := m.try(&wire.AllocateRequest{ResponseId: new(m.resp), Ask: []*wire.ResourceRequest{row(1, "*", 2049, 1)}})
		wantClass(t, err, classInvalidAsk)
		next, _, err := w.r.NewApp(t.Context(), "ann")
		if err != nil {
			t.Fatal(err)
		}
		wantClass(t, w.r.Submit(t.Context(), "ann", submission(next, "SPARK", 4096)), classInvalidAsk)
		c := submission(next, "SPARK", 1024)
		c.Priority = &wire.Priority{Priority: proto.Int32(0)}
		if err := w.r.Submit(t.Context(), "ann", c); err != nil || w.app(next).Priority != 0 {
			t.Errorf("%v, priority %d, want the one that was asked for", err, w.app(next).Priority)
		}
	})
}

// A lifetime that ends in the past is rejected: an application must not die of a clock in another time zone.
func TestLifetimeInThePast(t *testing.T) {
	inWorld(t, "capacity", func(t *testing.T, w *world) {
		id, _, _, _ := w.job("SPARK")
		for _, until := range []time.Time{{}, time.Now(), time.Now().Add(-time.Hour)} {
			wantClass(t, w.r.SetLifetime(t.Context(), Actor{User: "ann"}, id, until), classYarn)
		}
		time.Sleep(time.Second)
		if p := w.app(id); p.State != rm.AppRunning || p.Lifetime != 0 {
			t.Errorf("it is %s, and ends at %d", p.State, p.Lifetime)
		}
	})
}

// A list explains only the ten newest applications; an application's own report always explains it.
func TestListExplainsTheNewest(t *testing.T) {
	inWorld(t, "capacity", func(t *testing.T, w *world) {
		w.job("MAPREDUCE") // takes the room for one master that the queue has
		var waiting []ids.App
		for range 11 {
			waiting = append(waiting, w.submit("MAPREDUCE", 1024))
		}
		list, err := w.r.Apps(t.Context(), rm.AppFilter{States: []rm.AppState{rm.AppAccepted}})
		if err != nil || len(list) != len(waiting) {
			t.Fatalf("%d wait, want %d: %v", len(list), len(waiting), err)
		}
		for i, a := range list {
			if whole := w.app(a.ID).Diagnostics; (a.Diagnostics == whole) != (i > 0) || !strings.HasPrefix(whole, a.Diagnostics) {
				t.Errorf("application %d: %q in the list, %q alone", i, a.Diagnostics, whole)
			}
		}
	})
}
