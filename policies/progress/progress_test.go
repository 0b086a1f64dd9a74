package progress_test

import (
	"testing"

	"heddle"
	"heddle/policies/progress"
	"heddle/policy/policytest"
	"heddle/sched"
)

// A task that is a quarter done after 5 s continues at that rate: 15 s more.
func TestRemaining(t *testing.T) {
	r, err := progress.New(policytest.Args(""))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := progress.New(policytest.Args("window: 3")); err == nil {
		t.Error("an option that does not exist was taken")
	}
	c := sched.New(policytest.Base(policytest.Submitted{}))
	at := heddle.Time(heddle.Second)
	c.Step(at, heddle.NodeUp{Node: 0, Total: heddle.Of(4096, 4000), Can: heddle.AllCaps})
	c.Step(at, heddle.Submit{App: 0, Queue: 1, Master: heddle.Of(1024, 1000)})
	c.Step(at, heddle.Heartbeat{Node: 0})
	x := c.View().Container(1)
	if _, ok := r.Remaining(c.View(), x); ok {
		t.Error("something is known of a container that has not started")
	}
	c.Step(at, heddle.Started{Container: 1})
	at = at.Plus(5 * heddle.Second)
	c.Step(at, heddle.Progress{Container: 1, Phase: heddle.MapRead, Fraction: 0.25})
	if rest, ok := r.Remaining(c.View(), x); !ok || rest != 15*heddle.Second {
		t.Errorf("%v %v, want 15 s", rest, ok)
	}
}
