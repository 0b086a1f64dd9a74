package sched_test

import (
	"testing"

	"pgregory.net/rapid"

	"heddle"
	"heddle/policy"
	"heddle/policy/policytest"
	"heddle/sched"
)

// Applications left out when asks that name their nodes are served could not have been served.
func TestPicksLeftOut(t *testing.T) {
	each(t, func(t *rapid.T, s scheduler) {
		st := policytest.NewStream(t, 1, s.set)
		st.Beat = func(_ int, c *sched.Core, _ heddle.NodeID, _ heddle.Time) bool {
			if c.ServesPicks() {
				t.Fatal("an ask whose policy names its node was left out, and could be served")
			}
			return true
		}
		st.Run(policytest.Steps)
	})
}

// asked is a share that allows everything and counts for each application how often it is asked. Executors go to the
// roomiest node.
type asked struct {
	policy.Unshared
	by map[heddle.AppID]int
}

func (s *asked) Allow(_ policy.View, a *policy.App, _ heddle.Kind, _ heddle.Resource) policy.Verdict {
	s.by[a.ID()]++
	return policy.Yes
}

func (*asked) Judge(policy.View, *policy.Ask, *policy.Node, heddle.Locality) policy.Verdict {
	return policy.Yes
}

func (*asked) Pick(v policy.View, k *policy.Ask) (heddle.NodeID, bool) {
	return v.MostFree(k.App(), k.Size())
}

// An event causes no work for applications that wait for a node to report, and as long as no executor finds room, only
// those that wait for one are looked at.
func TestWhoIsLookedAt(t *testing.T) {
	const apps = 20
	s := &asked{by: map[heddle.AppID]int{}}
	set := policytest.Base(policytest.Submitted{})
	set.Share, set.Place[heddle.Executor] = []policy.Share{s}, s
	c := sched.New(set)
	step := func(ev heddle.Event) {
		c.Step(c.View().Now()+1, ev)
		if broken := c.Check(); len(broken) > 0 {
			t.Fatalf("after %T%+v: %v", ev, ev, broken)
		}
	}
	one := heddle.Of(1024, 1000)
	step(heddle.NodeUp{Node: 0, Total: one.Times(apps), Can: heddle.AllCaps})
	for a := range heddle.AppID(apps) {
		step(heddle.Submit{App: a, Queue: 1, Master: one})
	}
	step(heddle.Heartbeat{Node: 0})
	wants := func(a heddle.AppID, k heddle.Kind, n int32) {
		step(heddle.Ask{App: a, Rows: []heddle.Row{heddle.Anywhere(20, k, n, one)}})
	}
	for a := range heddle.AppID(apps) {
		wants(a, heddle.Map, 1)
	}
	step(heddle.NodeUp{Node: 1, Total: heddle.Of(512, 500), Can: heddle.AllCaps})
	if len(s.by) != apps {
		t.Fatalf("%d of %d applications were looked at for their masters", len(s.by), apps)
	}
	clear(s.by)
	wants(0, heddle.Map, 2)
	if len(s.by) > 0 {
		t.Errorf("nobody waits for an executor, and applications were looked at: %v", s.by)
	}
	wants(7, heddle.Executor, 1)
	wants(9, heddle.Executor, 1)
	clear(s.by)
	wants(0, heddle.Map, 3)
	if len(s.by) != 2 || s.by[7] != 1 || s.by[9] != 1 {
		t.Errorf("applications 7 and 9 wait for executors that fit nowhere; looked at: %v", s.by)
	}
	wants(7, heddle.Executor, 0)
	step(heddle.AppDone{App: 9})
	clear(s.by)
	wants(0, heddle.Map, 4)
	if len(s.by) > 0 {
		t.Errorf("nobody waits for an executor any more, and applications were looked at: %v", s.by)
	}
}
