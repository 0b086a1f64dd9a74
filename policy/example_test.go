package policy_test

import (
	"fmt"

	"heddle"
	"heddle/policy"
	"heddle/policy/policytest"
	"heddle/sched"
)

// A turn is a gate of masters that lets one application run at a time, in order of arrival.
type turn struct {
	line  []heddle.AppID
	woken bool
}

// Open implements [policy.Gate], the slot.
func (t *turn) Open(_ policy.View, a *policy.App, _ heddle.Kind) policy.Verdict {
	if t.line[0] != a.ID() {
		return policy.No(heddle.AppLimit)
	}
	return policy.Yes
}

// Hears implements [policy.Listener], a power: it hears of applications arriving and ending, and of nothing else.
func (*turn) Hears() policy.News { return policy.AppAdded | policy.AppDone }

// Hear implements [policy.Listener].
func (t *turn) Hear(_ policy.View, e policy.Effect) {
	if e.What == policy.AppAdded {
		t.line = append(t.line, e.App.ID())
		return
	}
	for i, id := range t.line {
		if id == e.App.ID() {
			t.line = append(t.line[:i], t.line[i+1:]...)
			t.woken = true
			return
		}
	}
}

// Woken implements [policy.Waker], a power: the gate opens for the next application in line, although that one had no
// event.
func (t *turn) Woken(_ policy.View, ids []heddle.AppID) []heddle.AppID {
	if t.woken && len(t.line) > 0 {
		ids = append(ids, t.line[0])
	}
	t.woken = false
	return ids
}

// A policy fills a slot of a set, here the gates of masters, and has the powers it needs besides.
func Example() {
	set := policytest.Base(policytest.Submitted{}) // one queue, in order of submission
	set.Gate[heddle.AM] = []policy.Gate{&turn{}}

	core := sched.New(set)
	at := func(seconds float64, ev heddle.Event) {
		for _, d := range core.Step(heddle.Time(heddle.Seconds(seconds)), ev) {
			if l, ok := d.(*heddle.Launch); ok {
				fmt.Printf("at %g s: a master for application %d\n", seconds, l.App)
			}
		}
	}
	at(0, heddle.NodeUp{Node: 0, Total: heddle.Of(8192, 8000), Can: heddle.AllCaps})
	at(1, heddle.Submit{App: 0, Queue: 1, Master: heddle.Of(1024, 1000)})
	at(1, heddle.Submit{App: 1, Queue: 1, Master: heddle.Of(1024, 1000)})
	at(2, heddle.Heartbeat{Node: 0})
	at(9, heddle.AppDone{App: 0})
	at(10, heddle.Heartbeat{Node: 0})
	// Output:
	// at 2 s: a master for application 0
	// at 10 s: a master for application 1
}
