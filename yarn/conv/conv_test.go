package conv_test

import (
	"encoding/hex"
	"testing"

	"google.golang.org/protobuf/proto"
	"pgregory.net/rapid"

	"heddle/yarn/conv"
	"heddle/yarn/ids"
	"heddle/yarn/wire"
)

var containers = rapid.Custom(func(t *rapid.T) ids.Container {
	return ids.Container{
		Attempt: ids.Attempt{
			App: ids.App{Cluster: rapid.Int64().Draw(t, "cluster"), Seq: rapid.Int32().Draw(t, "seq")},
			N:   rapid.Int32().Draw(t, "n"),
		},
		ID: rapid.Int64().Draw(t, "id"),
	}
})

func TestThereAndBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := containers.Draw(t, "container")
		if got := conv.Container(conv.WireContainer(c)); got != c {
			t.Errorf("container %v came back as %v", c, got)
		}
		a := c.Attempt
		if got := conv.Attempt(conv.WireAttempt(a)); got != a {
			t.Errorf("attempt %v came back as %v", a, got)
		}
		if got := conv.App(conv.WireApp(a.App)); got != a.App {
			t.Errorf("application %v came back as %v", a.App, got)
		}
		n := ids.Node{Host: rapid.String().Draw(t, "host"), Port: rapid.Int32().Draw(t, "port")}
		if got := conv.Node(conv.WireNode(n)); got != n {
			t.Errorf("node %v came back as %v", n, got)
		}
	})
}

func TestMissingIsZero(t *testing.T) {
	if got := conv.Container(nil); !got.IsZero() {
		t.Errorf("no container reads as %v", got)
	}
	if got := conv.Container(&wire.ContainerId{AppId: conv.WireApp(ids.App{Cluster: 1, Seq: 2})}); !got.IsZero() {
		t.Errorf("a container without attempt reads as %v", got)
	}
	if got := conv.Attempt(nil); got != (ids.Attempt{}) {
		t.Errorf("no attempt reads as %v", got)
	}
	if got := conv.App(nil); !got.IsZero() {
		t.Errorf("no application reads as %v", got)
	}
	if got := conv.Node(nil); !got.IsZero() {
		t.Errorf("no node reads as %v", got)
	}
}

// The bytes are those that a stock ResourceManager wrote in the ContainerToken of
// container_1795240169299_0006_01_000003.
func TestContainerBytes(t *testing.T) {
	c, err := ids.ParseContainer("container_1795240169299_0006_01_000003")
	if err != nil {
		t.Fatal(err)
	}
	b, err := proto.Marshal(conv.WireContainer(c))
	if err != nil {
		t.Fatal(err)
	}
	if got, want := hex.EncodeToString(b), "120d0a09080610d39e9ce59f3410011803"; got != want {
		t.Errorf("%v is %s on the wire, want %s", c, got, want)
	}
}
