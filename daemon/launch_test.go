package daemon

import (
	"errors"
	"strings"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"

	"heddle"
	"heddle/rm"
	"heddle/yarn/ids"
	"heddle/yarn/rpc"
	"heddle/yarn/token"
)

// A master in a smaller container is started with a heap that fits there. If its heap cannot be cut, it is not started
// there: its next attempt gets what it asks for.
func TestLaunchWithASmallerHeap(t *testing.T) {
	const class = " org.apache.hadoop.mapreduce.v2.app.MRAppMaster 1>out"
	inWorld(t, "capacity", func(t *testing.T, w *world) {
		for _, x := range []struct {
			command string
			heap    int64
			want    string // "" for none
		}{
			{"java -Xmx1g" + class, 0, "java -Xmx1g" + class},
			{"java -Xmx1g" + class, 208, "java -Xmx208m" + class},
			{"run", 0, "run"},
			{"run", 208, ""},
		} {
			c := submission(ids.App{Cluster: 1, Seq: 1}, "MAPREDUCE", 1536)
			c.AmContainerSpec.Command = []string{x.command}
			context, err := proto.Marshal(c)
			if err != nil {
				t.Fatal(err)
			}
			e := &rm.StartMaster{Context: context, Heap: x.heap}
			e.ID.Attempt, e.Size = ids.Attempt{App: ids.App{Cluster: 1, Seq: 1}, N: 1}, heddle.Of(384, 1000)
			spec, err := launchContext(e, w.r.auth.masterToken(e.ID.Attempt))
			if got := strings.Join(spec.GetCommand(), "\n"); got != x.want || (err != nil) != (x.want == "") {
				t.Errorf("%s with a heap of %d MiB is started as %q, %v", x.command, x.heap, got, err)
			}
		}
	})
}

// A NodeManager that says that it is not ready is called again, as often as one that cannot be reached. Any other
// refusal is final.
func TestLaunchOnceReady(t *testing.T) {
	inWorld(t, "capacity", func(t *testing.T, w *world) {
		for class, want := range map[string]int{classRetry: 3, classNotReady: 3, classYarn: 1} { // order: each by itself
			w.calls, w.refuse = nil, &rpc.Error{Class: class, Message: "no"}
			err := w.r.callNode(nodeCall{addr: "n1:8041", tries: 3}, "startContainers", nil, nil)
			if !errors.Is(err, w.refuse) || len(w.calls) != want {
				t.Errorf("%s: %d calls, want %d, and the error %v", class, len(w.calls), want, err)
			}
		}
	})
}

// A client's command says how much heap its master has, both now and when its submission is read from the store again.
func TestSubmissionsSayTheirHeap(t *testing.T) {
	inWorld(t, "capacity", func(t *testing.T, w *world) {
		for command, want := range map[string]int64{"java -Xmx1g org.apache.hadoop.mapreduce.v2.app.MRAppMaster": 1024, "run": 0} { // order: each by itself
			c := submission(ids.App{Cluster: 1, Seq: 1}, "MAPREDUCE", 1536)
			c.AmContainerSpec.Command = []string{command}
			s, err := w.r.units.Submission(c)
			if err != nil {
				t.Fatal(err)
			}
			again, err := w.r.units.Stored(s.Context)
			if err != nil || s.Facts.MasterHeap != want || again.Facts.MasterHeap != want {
				t.Errorf("%s: a heap of %d MiB, and %d from the store, %v", command, s.Facts.MasterHeap, again.Facts.MasterHeap, err)
			}
		}
	})
}

// Nodes check by their own clocks whether a token has expired, so its expiry follows this host's clock when that is set.
func TestTokensExpireByTheHostsClock(t *testing.T) {
	inWorld(t, "capacity", func(t *testing.T, w *world) {
		for _, set := range []time.Duration{0, -time.Hour, 11 * time.Minute} { // order: each by itself
			w.r.clock = func() time.Time { return time.Now().Add(set) }
			var b []byte
			w.inLoop(func() {
				expires := w.r.cluster + int64(w.r.now().Plus(w.config.ContainerExpiry))/1e6
				b = w.r.containerToken(&rm.Granted{Expires: expires}).GetIdentifier()
			})
			id, err := token.ParseContainer(b)
			if err != nil {
				t.Fatal(err)
			}
			left := time.UnixMilli(id.GetExpiryTimeStamp()).Sub(w.r.clock())
			if want := time.Duration(w.config.ContainerExpiry); left < want-time.Second || left > want+time.Second {
				t.Errorf("with the clock set by %v a token expires in %v, want %v", set, left, want)
			}
		}
	})
}
