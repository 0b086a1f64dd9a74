package cluster

import (
	"testing"

	"heddle"
)

// An unfetched grant that comes back is asked for as before: an ask for hosts alone still forbids the rest of their
// rack.
func TestPutBackIsAsStrict(t *testing.T) {
	for _, strict := range []bool{true, false} {
		c := New([]heddle.QueueID{heddle.NoQueue, 0}, false)
		size := heddle.Of(1024, 1000)
		home, other := c.AddNode(0, 0, heddle.Of(4096, 4000)), c.AddNode(1, 0, heddle.Of(4096, 4000))
		a := c.Submit(heddle.Submit{App: 0, Queue: 1})
		row := heddle.Anywhere(20, heddle.Map, 1, size)
		row.Strict = strict
		k := c.SetRow(a, row)
		row.Rack = 0
		c.SetRow(a, row)
		row.Rack, row.Host, row.Strict = heddle.NoRack, home.ID(), false
		c.SetRow(a, row)
		at, _ := k.Nearest(home)
		x := c.Grant(k, home, at, size, size)
		c.End(x, Killed, heddle.Aborted)
		if at, ok := k.Nearest(home); k.Count() != 1 || at != heddle.NodeLocal || !ok {
			t.Errorf("%d are asked for, at home %v %v", k.Count(), at, ok)
		}
		if at, ok := k.Nearest(other); at != heddle.RackLocal || ok == strict {
			t.Errorf("strict %v: the other node is %v, allowed %v", strict, at, ok)
		}
		if broken := c.Check(); len(broken) > 0 {
			t.Error(broken)
		}
	}
}

// An application that changes the size of its containers goes on waiting: it is served neither sooner nor later because
// of the change.
func TestAnotherSizeWaitsOn(t *testing.T) {
	c := New([]heddle.QueueID{heddle.NoQueue, 0}, false)
	a := c.Submit(heddle.Submit{App: 0, Queue: 1})
	k := c.SetRow(a, heddle.Anywhere(0, heddle.AM, 1, heddle.Of(1024, 1000)))
	c.SetNow(heddle.Time(heddle.Minute))
	c.SetRow(a, heddle.Anywhere(0, heddle.AM, 1, heddle.Of(2048, 1000)))
	if a.PassedOver() != 0 || k.Since() != 0 || a.Pending() != heddle.Of(2048, 1000) {
		t.Errorf("it asks for %v and waits since %v, its ask since %v; from the beginning on", a.Pending(), a.PassedOver(), k.Since())
	}
	c.SetRow(a, heddle.Anywhere(0, heddle.AM, 0, heddle.Of(2048, 1000)))
	c.SetRow(a, heddle.Anywhere(0, heddle.AM, 1, heddle.Of(1024, 1000)))
	if now := heddle.Time(heddle.Minute); a.PassedOver() != now || k.Since() != now {
		t.Errorf("it asks anew and waits since %v, its ask since %v", a.PassedOver(), k.Since())
	}
	if broken := c.Check(); len(broken) > 0 {
		t.Error(broken)
	}
}
