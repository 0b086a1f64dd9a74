package daemon

import (
	"os"
	"path/filepath"
	"testing"
	"time"
)

// What policies hold back for a while is granted when the time is over, even if nothing else happens: the ticks of
// policies are no events, so only a heartbeat can trigger one.
func TestTicksOfAQuietCluster(t *testing.T) {
	profile := filepath.Join(t.TempDir(), "held.yaml")
	if err := os.WriteFile(profile, []byte("profile: heddle\nshare: [newcomers, capacity]\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	inWorld(t, profile, func(t *testing.T, w *world) {
		n := w.node("n1", 20*1024, 20)
		large := w.submit("MAPREDUCE", 1024)
		n.beat()
		m := w.master(large)
		m.ask(row(20, "*", 1024, 10))
		n.beat()
		silent := w.submit("MAPREDUCE", 1024)
		n.beat()
		if w.masterOf(silent).ID != 1 {
			t.Fatal("the second application has no master")
		}
		m.ask(row(20, "*", 1024, 200))
		held := func() int64 {
			n.beat()
			return w.app(large).Used.MemoryMiB + w.app(silent).Used.MemoryMiB
		}
		if got := held(); got != 19*1024 {
			t.Fatalf("%d MiB are held while a master starts; want all but one container", got)
		}
		time.Sleep(12 * time.Second)
		if got := held(); got != 20*1024 {
			t.Errorf("%d MiB are held long after; want all", got)
		}
	})
}
