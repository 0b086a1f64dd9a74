package daemon

import (
	"cmp"
	"testing"
	"testing/synctest"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/proto"

	"heddle"
	"heddle/daemon/store"
	"heddle/rm"
	"heddle/yarn/conv"
	"heddle/yarn/ids"
	"heddle/yarn/wire"
)

// restart ends the ResourceManager without a word, waits, and starts another one on the same store. It returns the
// function that closes the store.
func (w *world) restart(path string, after time.Duration) {
	w.Helper()
	if w.stop != nil {
		w.stop()
		time.Sleep(after)
	}
	st, state, err := store.Open(path)
	if err != nil {
		w.Fatal(err)
	}
	w.start(cmp.Or(w.profile, "capacity"), st, state)
	end := w.stop
	w.stop = func() {
		end()
		if err := st.Close(); err != nil {
			w.Error(err)
		}
	}
}

// status returns a container as a node reports it when it registers.
func status(id ids.Container, priority int32, state wire.ContainerState) *wire.NMContainerStatus {
	return &wire.NMContainerStatus{
		ContainerId: conv.WireContainer(id), ContainerState: state.Enum(), Priority: &wire.Priority{Priority: new(priority)},
		Resource: &wire.Resource{Memory: proto.Int64(1024), VirtualCores: proto.Int32(1)}, ContainerExitStatus: proto.Int32(0),
	}
}

// A ResourceManager that died comes back: masters and nodes find it, nothing that ran is lost, and nothing that ended
// is lost either.
func TestWorkPreservingRestart(t *testing.T) {
	inRestarts(t, "capacity", func(t *testing.T, w *world, path string) {
		n := w.node("n1", 8192, 8)
		id := w.submit("MAPREDUCE", 1024)
		master := w.masterOf(id)
		n.run(master)
		n.beat()
		m := w.master(id)
		a := m.ask(row(20, "*", 1024, 3))
		var tasks []ids.Container
		for _, c := range a.GetAllocatedContainers() {
			tasks = append(tasks, conv.Container(c.GetId()))
			n.run(tasks[len(tasks)-1])
		}
		n.beat()
		old, token := w.r.cluster, w.r.auth.masterToken(ids.Attempt{App: id, N: 1}).GetIdentifier()

		w.restart(path, 5*time.Second)
		if w.r.cluster <= old {
			t.Fatal("the new ResourceManager has the old one's timestamp")
		}
		if p := w.app(id); p.State != rm.AppAccepted || p.Attempt != 1 || p.Master != master {
			t.Fatalf("found again as %s, attempt %d, master %v", p.State, p.Attempt, p.Master)
		}
		if _, _, who, err := w.r.auth.Verify(token); err != nil || who.(rm.Caller).Attempt.App != id {
			t.Fatalf("the master's token is not good any more: %v", err)
		}
		if b := n.beat(); b.GetNodeAction() != wire.NodeAction_RESYNC {
			t.Fatalf("a node that it does not know is told %v", b.GetNodeAction())
		}
		n.register(8192, 8, status(master, 0, wire.ContainerState_C_RUNNING), status(tasks[0], 20, wire.ContainerState_C_RUNNING),
			status(tasks[1], 20, wire.ContainerState_C_COMPLETE), status(tasks[2], 20, wire.ContainerState_C_RUNNING))
		delete(n.conts, tasks[1])
		n.beat()
		if w.r.Ready() {
			t.Error("recovery is over before the master is back")
		}
		_, err := m.try(&wire.AllocateRequest{ResponseId: new(m.resp)})
		wantClass(t, err, classNotRegistered)
		m.register()
		synctest.Wait()
		if p := w.app(id); p.State != rm.AppRunning || p.Containers != 3 || p.Used.MemoryMiB != 3*1024 {
			t.Fatalf("%s with %d containers and %d MiB, want RUNNING with 3 and 3072", p.State, p.Containers, p.Used.MemoryMiB)
		}
		a = m.ask(row(20, "*", 1024, 1))
		if s := a.GetCompletedContainerStatuses(); len(s) != 1 || conv.Container(s[0].GetContainerId()) != tasks[1] {
			t.Errorf("completions %v, want %v", s, tasks[1])
		}
		if got := a.GetAllocatedContainers(); len(got) != 1 || got[0].GetId().GetId()>>ids.EpochShift != 1 {
			t.Errorf("granted %v, want one container of epoch 1", got)
		}
		n.exit(tasks[0], 0)
		n.beat()
		if s := m.ask().GetCompletedContainerStatuses(); len(s) != 1 {
			t.Errorf("completions %v", s)
		}
		if !m.finish() {
			t.Error("not finished")
		}
		n.exit(master, 0)
		if b := n.beat(); len(b.GetApplicationsToCleanup()) != 1 {
			t.Errorf("clean up %v", b)
		}
		w.check()

		w.restart(path, time.Second)
		if p := w.app(id); p.State != rm.AppFinished || p.Final != rm.Succeeded || p.OriginalURL != "http://history/job" || p.User != "ann" {
			t.Errorf("after another start: %+v", p)
		}
		if !w.r.Ready() {
			t.Error("with nothing to wait for it waits")
		}
	})
}

// What an application asked for is known for the next one of the same user and name at its submission, before it has
// asked for anything, even after a restart.
func TestLastRunIsKept(t *testing.T) {
	inRestarts(t, "heddle", func(t *testing.T, w *world, path string) {
		n := w.node("n1", 8192, 8)
		id := w.submit("MAPREDUCE", 1024)
		n.run(w.masterOf(id))
		n.beat()
		m := w.master(id)
		m.ask(row(20, "*", 1024, 3))
		m.ask(row(20, "*", 1024, 0), row(10, "*", 1024, 2))
		if !m.finish() {
			t.Fatal("not finished")
		}
		n.exit(w.masterOf(id), 0)
		n.beat()
		w.restart(path, time.Second)
		n.register(8192, 8)
		want := heddle.LastRun{First: heddle.Of(3*1024, 3000), Most: heddle.Of(5*1024, 5000), Containers: 5}
		next := w.submit("MAPREDUCE", 1024)
		synctest.Wait()
		w.inLoop(func() {
			v, found := w.r.m.Core().View(), false
			for id := range v.AppIDs() {
				if a := v.App(heddle.AppID(id)); a != nil {
					found = true
					if a.Facts().Last != want {
						t.Errorf("known of %s before it asks: %+v, want %+v", next, a.Facts().Last, want)
					}
				}
			}
			if !found {
				t.Errorf("the core does not know %s", next)
			}
		})
		w.check()
	})
}

// A client with an id from before a restart submits with it after any number of restarts. An id that no start gave out
// is rejected.
func TestIDsOutliveRestarts(t *testing.T) {
	inRestarts(t, "capacity", func(t *testing.T, w *world, path string) {
		id, _, err := w.r.NewApp(t.Context(), "ann")
		if err != nil {
			t.Fatal(err)
		}
		for range 3 {
			w.restart(path, time.Second)
		}
		made := id
		made.Cluster++
		wantClass(t, w.r.Submit(t.Context(), "ann", submission(made, "SPARK", 1024)), classYarn)
		if err := w.r.Submit(t.Context(), "ann", submission(id, "SPARK", 1024)); err != nil {
			t.Error(err)
		}
		wantClass(t, w.r.Submit(t.Context(), "bob", submission(id, "SPARK", 1024)), classYarn)
	})
}

// A start waits until the former NodeManagers are back, says how many are missing, and gives up one that never comes
// when it is lost.
func TestStartHolds(t *testing.T) {
	inRestarts(t, "capacity", func(t *testing.T, w *world, path string) {
		n, other := w.node("n1", 8192, 8), w.node("n2", 8192, 8)
		id := w.submit("MAPREDUCE", 1024)
		master := w.masterOf(id)
		n.run(master)
		n.beat()
		w.master(id)
		w.restart(path, time.Second)
		time.Sleep(time.Millisecond)
		waits := func(missing int) {
			t.Helper()
			if m, known := w.r.Awaited(); m != missing || known != 2 || w.r.Ready() || !w.r.Health().Starting {
				t.Errorf("it waits for %d of %d nodes, ready: %v", m, known, w.r.Ready())
			}
		}
		waits(2)
		n.register(8192, 8, status(master, 0, wire.ContainerState_C_RUNNING))
		w.master(id)
		time.Sleep(5 * time.Second)
		waits(1)
		time.Sleep(6 * time.Second)
		if !w.r.Ready() || w.r.Health().Starting {
			t.Error("it waits for ever")
		}
		for range 11 {
			time.Sleep(time.Minute)
			n.beat()
		}
		nodes, err := w.r.Nodes(t.Context())
		if err != nil || len(nodes) != 2 || nodes[1].ID != other.id || nodes[1].State != "LOST" {
			t.Errorf("nodes are %+v, %v", nodes, err)
		}
	})
}

// Placement rules may create queues: a queue is created for the application placed there, still exists after a restart,
// and goes with the next refresh once it is empty.
func TestQueuesAreCreated(t *testing.T) {
	inRestarts(t, "fair", func(t *testing.T, w *world, path string) {
		running, m, _, _ := w.job("MAPREDUCE")
		into := func(queue string) ids.App {
			id, _, err := w.r.NewApp(t.Context(), "ann")
			if err != nil {
				t.Fatal(err)
			}
			c := submission(id, "MAPREDUCE", 1024)
			c.Queue = &queue
			if err := w.r.Submit(t.Context(), "ann", c); err != nil {
				t.Fatal(err)
			}
			return id
		}
		queues := func(want ...string) {
			t.Helper()
			list, err := w.r.Queues(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, q := range list {
				got = append(got, q.Path)
			}
			if diff := gocmp.Diff(want, got); diff != "" {
				t.Error(diff)
			}
		}
		first := into("eve")
		queues("root", "root.default", "root.eve")
		if a := w.app(first); a.State != rm.AppAccepted || a.Queue != "root.eve" {
			t.Errorf("%s in %s", a.State, a.Queue)
		}
		if a := m.ask(row(20, "*", 1024, 1)); len(a.GetAllocatedContainers()) != 1 || w.app(running).State != rm.AppRunning {
			t.Errorf("what ran before goes on: %v", a)
		}
		w.restart(path, time.Second)
		queues("root", "root.default", "root.eve")
		if a := w.app(first); a.State.Final() {
			t.Errorf("after the restart it is %s: %s", a.State, a.Diagnostics)
		}
		if err := w.r.Kill(t.Context(), Actor{User: "ann"}, first, ""); err != nil {
			t.Fatal(err)
		}
		into("bob")
		queues("root", "root.bob", "root.default", "root.eve")
		if err := w.refresh(w.r.m.Scheduler()); err != nil {
			t.Fatal(err)
		}
		queues("root", "root.bob", "root.default")
		if list, err := w.r.Queues(t.Context()); err != nil || list[0].Killed != 1 || list[0].Submitted != 2 { // bob's waits for the end of recovery
			t.Errorf("the root counts %d submitted, %d killed, want 2 and 1 (%v)", list[0].Submitted, list[0].Killed, err)
		}
		w.check()
	})
}
