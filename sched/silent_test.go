package sched_test

import (
	"testing"

	"heddle"
	"heddle/policy"
	"heddle/policy/policytest"
	"heddle/sched"
)

// one reserves one node for an ask.
type one struct{}

func (one) Reserve(_ policy.View, k *policy.Ask, _ *policy.Node) bool  { return k.Bookings() == 0 }
func (one) Beside(policy.View, *policy.Ask) bool                       { return false }
func (one) Keep(policy.View, *policy.Ask, *policy.Node) bool           { return true }
func (one) Floor(policy.View, heddle.Resource) (least heddle.Resource) { return least }

// An ask does not wait for a node that no longer reports: another one can be reserved.
func TestSilentNodeIsReservedForNobody(t *testing.T) {
	set := policytest.Base(policytest.Submitted{})
	set.Book = one{}
	c := sched.New(set)
	step := func(ev heddle.Event) {
		t.Helper()
		c.Step(c.View().Now()+1, ev)
		if broken := c.Check(); len(broken) > 0 {
			t.Fatalf("after %T%+v: %v", ev, ev, broken)
		}
	}
	small, large := heddle.Of(1024, 1000), heddle.Of(3072, 3000)
	for n := range heddle.NodeID(2) {
		step(heddle.NodeUp{Node: n, Total: heddle.Of(4096, 4000), Can: heddle.AllCaps})
		step(heddle.Submit{App: heddle.AppID(n), Queue: 1, Master: small})
		step(heddle.Heartbeat{Node: n})
		step(heddle.Ask{App: heddle.AppID(n), Rows: []heddle.Row{heddle.Anywhere(20, heddle.Other, 1, small)}})
		step(heddle.Heartbeat{Node: n})
	}
	step(heddle.Ask{App: 0, Rows: []heddle.Row{heddle.Anywhere(21, heddle.Other, 1, large)}})
	step(heddle.Heartbeat{Node: 0})
	first, second := c.View().Node(0), c.View().Node(1)
	if first.Booked() == nil {
		t.Fatal("the first node is not reserved")
	}
	step(heddle.NodeSilent{Node: 0, Silent: true})
	step(heddle.Heartbeat{Node: 1})
	if first.Booked() != nil || second.Booked() == nil {
		t.Error("the node that does not report stays reserved, or the other one is not reserved for who waited for it")
	}
}
