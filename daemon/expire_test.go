package daemon

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"google.golang.org/protobuf/proto"

	"heddle/yarn/conv"
	"heddle/yarn/ids"
	"heddle/yarn/wire"
)

// pass has so much time go by, in which a master, if there is one, and nodes go on reporting.
func (w *world) pass(d time.Duration, m *am, nodes ...*nm) {
	w.Helper()
	for end := time.Now().Add(d); ; time.Sleep(min(30*time.Second, time.Until(end))) {
		for _, n := range nodes {
			n.beat()
		}
		if m != nil {
			m.ask()
		}
		if !time.Now().Before(end) {
			synctest.Wait()
			return
		}
	}
}

// set changes the configuration.
func (w *world) set(change func(c *Config)) {
	_, _ = read(w.Context(), w.r, func() (struct{}, error) { change(&w.r.cfg); return struct{}{}, nil })
}

// A container that is not started ends when its time is over, and its kill is remembered for as long again.
func TestUnstartedContainerExpires(t *testing.T) {
	inWorld(t, "capacity", func(t *testing.T, w *world) {
		w.set(func(c *Config) { c.ContainerExpiry = time.Minute })
		id, m, home, n := w.job("MAPREDUCE")
		task := n.task(m)
		a := m.ask(row(20, "*", 1024, 1))
		unused := conv.Container(a.GetAllocatedContainers()[0].GetId())
		m.ask(row(20, "*", 1024, 0))
		home.beat()
		w.pass(time.Minute-time.Second, m, home, n)
		if p := w.app(id); p.Containers != 3 {
			t.Fatalf("%d containers a second before one has not been started for too long, want 3", p.Containers)
		}
		w.pass(time.Second+2*checkEvery, m, home, n)
		if p := w.app(id); p.Containers != 2 {
			t.Fatalf("%d containers after one was not started for too long, want 2", p.Containers)
		}
		if w.r.byCont[unused] != nil || w.r.byCont[task] == nil {
			t.Error("another container was given up than the one that was not started")
		}
		kills := func() (sum int) {
			for _, n := range w.r.nodes {
				sum += len(n.killed)
			}
			return sum
		}
		w.pass(time.Minute-time.Second, m, home, n)
		if kills() != 1 {
			t.Errorf("%d kills are remembered a second before it has been for long enough, want 1", kills())
		}
		w.pass(time.Second+2*checkEvery, m, home, n)
		if kills() != 0 {
			t.Errorf("%d kills are remembered for too long", kills())
		}
	})
}

// A master that says nothing for too long is given up, though its node reports that it runs.
func TestSilentMaster(t *testing.T) {
	inWorld(t, "capacity", func(t *testing.T, w *world) {
		id, m, home, n := w.job("SPARK")
		w.pass(time.Minute, m, home, n)
		w.pass(w.r.cfg.MasterExpiry-time.Second, nil, home, n)
		if p := w.app(id); p.State != rm.AppRunning || p.Attempt != 1 {
			t.Errorf("a second before its time is over it is %s in attempt %d", p.State, p.Attempt)
		}
		w.pass(time.Second+2*checkEvery, nil, home, n)
		if p := w.app(id); p.Attempt != 2 {
			t.Errorf("when its time is over it is %s in attempt %d, want another one", p.State, p.Attempt)
		}
	})
}

// A node that leaves gracefully is gone when its time is over, whatever runs there.
func TestDecommissionTimesOut(t *testing.T) {
	inWorld(t, "capacity", func(t *testing.T, w *world) {
		_, m, home, n := w.job("SPARK")
		n.task(m)
		file := filepath.Join(t.TempDir(), "exclude")
		w.set(func(c *Config) { c.ExcludeFile = file })
		if err := os.WriteFile(file, []byte("n2\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := w.r.RefreshNodes(t.Context(), true, 2*time.Minute); err != nil {
			t.Fatal(err)
		}
		w.pass(2*time.Minute-time.Second, m, home, n)
		if p, _ := w.r.Nodes(t.Context()); p[1].State != "DECOMMISSIONING" {
			t.Errorf("a second before its time is over it is %s", p[1].State)
		}
		time.Sleep(time.Second + 2*checkEvery)
		if p, _ := w.r.Nodes(t.Context()); p[1].State != "DECOMMISSIONED" {
			t.Errorf("when its time is over it is %s", p[1].State)
		}
	})
}

// An application lives for as long as it said, or as long as it was given since: more or less.
func TestLifetimes(t *testing.T) {
	inWorld(t, "capacity", func(t *testing.T, w *world) {
		_, m, home, n := w.job("SPARK")
		states := func(want rm.AppState, list ...ids.App) {
			t.Helper()
			for i, id := range list {
				if p := w.app(id); p.State != want {
					t.Errorf("application %d is %s, want %s", i, p.State, want)
				}
			}
		}
		var apps []ids.App
		for range 3 {
			id, _, err := w.r.NewApp(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			c := submission(id, "SPARK", 1024)
			c.ApplicationTimeouts = []*wire.ApplicationTimeoutMap{{
				ApplicationTimeoutType: wire.ApplicationTimeoutType_APP_TIMEOUT_LIFETIME.Enum(), Timeout: proto.Int64(120),
			}}
			if err := w.r.Submit(t.Context(), "ann", c); err != nil {
				t.Fatal(err)
			}
			apps = append(apps, id)
		}
		for i, d := range []time.Duration{time.Minute, 3 * time.Minute} {
			if err := w.r.SetLifetime(t.Context(), Actor{User: "ann"}, apps[i+1], time.Now().Add(d)); err != nil {
				t.Fatal(err)
			}
		}
		for _, i := range []int{1, 0, 2} {
			w.pass(time.Minute-2*time.Second, m, home, n)
			states(rm.AppAccepted, apps[i])
			w.pass(2*time.Second+2*checkEvery, m, home, n)
			states(rm.AppKilled, apps[i])
		}
	})
}

// What was given back before its node came again after a start is forgotten when nodes are no longer waited for.
func TestReleasesAreForgotten(t *testing.T) {
	inRestarts(t, "capacity", func(t *testing.T, w *world, path string) {
		id, m, home, n := w.job("MAPREDUCE")
		master, task := w.masterOf(id), n.task(m)
		w.restart(path, 0)
		began := time.Now()
		m.register()
		home.register(2048, 4, status(master, 0, wire.ContainerState_C_RUNNING))
		if _, err := m.try(&wire.AllocateRequest{ResponseId: new(m.resp), Release: []*wire.ContainerId{conv.WireContainer(task)}}); err != nil {
			t.Fatal(err)
		}
		given := func() int { return len(w.r.byApp[id].current().releases) }
		w.pass(time.Until(began.Add(w.r.cfg.NodeExpiry-time.Second)), m, home)
		if given() != 1 {
			t.Errorf("%d releases are remembered while nodes are waited for, want 1", given())
		}
		w.pass(time.Second+2*checkEvery, m, home)
		if given() != 0 {
			t.Errorf("%d releases are remembered when nodes are no longer waited for", given())
		}
	})
}

// A look at what may have expired goes through what is due, however many nodes and containers there are.
func TestTickCostsWhatIsDue(t *testing.T) {
	for _, count := range []int{10, 200} {
		t.Run(fmt.Sprint(count), func(t *testing.T) {
			r, nodes := large(t, "fifo", count, 4096)
			r.cfg.ContainerExpiry = time.Minute
			m := begun(t, r)
			who := m.call.Identity.(rm.Caller)
			fetch := func(n int32) {
				t.Helper()
				p, err := r.allocated(who, &wire.AllocateRequest{Ask: []*wire.ResourceRequest{row(20, "*", 1024, n)}, ResponseId: new(m.resp)})
				for err == nil && len(p.GetAllocatedContainers()) == 0 {
					m.resp = p.GetResponseId()
					for _, n := range nodes {
						n.report(r)
					}
					p, err = r.allocated(who, &wire.AllocateRequest{ResponseId: new(m.resp)})
				}
				if err != nil || len(p.GetAllocatedContainers()) != int(n) {
					t.Fatalf("%d containers, want %d: %v", len(p.GetAllocatedContainers()), n, err)
				}
				m.resp = p.GetResponseId()
			}
			fetch(int32(2 * count))
			for _, n := range nodes {
				n.report(r)
			}
			fetch(2)
			now := time.Now()
			if looked := r.expire(now); looked != 0 {
				t.Errorf("with nothing due %d were looked at", looked)
			}
			held := len(r.conts)
			if looked := r.expire(now.Add(r.cfg.ContainerExpiry + time.Second)); looked != 2 || len(r.conts) != held-2 {
				t.Errorf("with 2 containers due %d were looked at, and %d of %d are left", looked, len(r.conts), held)
			}
		})
	}
}
