package masters_test

import (
	"testing"

	"heddle"
	"heddle/internal/testkit/dialogue"
	"heddle/policies/masters"
	"heddle/policy"
	"heddle/policy/policytest"
	"heddle/sched"
)

func put(c policy.Control) policy.Set {
	s := policytest.Base(policytest.Submitted{})
	s.Control = []policy.Control{c}
	return s
}

func TestSuite(t *testing.T) { policytest.Run(t, masters.New, "{weight: 4, for: 5}", put) }

func TestDialogues(t *testing.T) { dialogue.Run(t, "testdata") }

func TestOptionsOutOfRange(t *testing.T) {
	for _, o := range []string{"weight: 0.5", "weight: 101", "weight: .nan", "for: 0", "for: -1", "for: .nan", "for: 3601"} {
		if _, err := masters.New(policytest.Args(o)); err == nil {
			t.Errorf("%s was taken", o)
		}
	}
}

// A weight is taken back even if the agent was away when the master had it for long enough.
func TestTakenBackLater(t *testing.T) {
	c, err := masters.New(policytest.Args("{weight: 4, for: 5}"))
	if err != nil {
		t.Fatal(err)
	}
	core := sched.New(put(c))
	var weighed []heddle.Weigh
	at := heddle.Time(0)
	step := func(after heddle.Span, ev heddle.Event) (launched []heddle.ContainerID) {
		at = at.Plus(after)
		for _, d := range core.Step(at, ev) {
			if l, ok := d.(*heddle.Launch); ok {
				launched = append(launched, l.Container)
			}
			if w, ok := d.(*heddle.Weigh); ok {
				weighed = append(weighed, *w)
			}
		}
		return launched
	}
	step(0, heddle.NodeUp{Total: heddle.Of(8192, 8000), Can: heddle.AllCaps})
	step(0, heddle.Submit{Queue: 1, Master: heddle.Of(1024, 1000)})
	master := step(0, heddle.Heartbeat{})[0]
	step(0, heddle.Acquire{})
	step(0, heddle.Started{Container: master})
	step(heddle.Second, heddle.Wake{})
	step(0, heddle.Unable{Container: master, What: heddle.Weighs})
	step(9*heddle.Second, heddle.Wake{})
	step(0, heddle.Able{Container: master, What: heddle.Weighs})
	step(heddle.Second, heddle.Wake{})
	step(heddle.Second, heddle.Wake{})
	if len(weighed) != 2 || weighed[0].Weight != 4000 || weighed[1].Weight != 1000 {
		t.Errorf("the master was weighed %+v; want 4000, and 1000 once the agent is back", weighed)
	}
}
