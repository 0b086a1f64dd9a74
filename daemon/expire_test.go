package daemon

import (
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"google.golang.org/protobuf/proto"

	"heddle/rm"
	"heddle/yarn/ids"
	"heddle/yarn/wire"
)

// pass lets time pass while a master, if there is one, and nodes go on sending heartbeats.
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

// A node that leaves gracefully is gone when its timeout is over, whatever runs there.
func TestDecommissionTimesOut(t *testing.T) {
	inWorld(t, "capacity", func(t *testing.T, w *world) {
		_, m, home, n := w.job("SPARK")
		n.task(m)
		file := filepath.Join(t.TempDir(), "exclude")
		w.inLoop(func() { w.r.cfg.ExcludeFile = file })
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
		time.Sleep(time.Second + time.Millisecond)
		if p, _ := w.r.Nodes(t.Context()); p[1].State != "DECOMMISSIONED" {
			t.Errorf("when its time is over it is %s", p[1].State)
		}
	})
}

// An application lives for the lifetime it asked for, or the shorter or longer one it was given since.
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
			id, _, err := w.r.NewApp(t.Context(), "ann")
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
			w.pass(2*time.Second+time.Millisecond, m, home, n)
			states(rm.AppKilled, apps[i])
		}
	})
}
