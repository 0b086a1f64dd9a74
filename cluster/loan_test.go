package cluster

import (
	"testing"

	"heddle"
)

// Loans follow the limits: a lender cannot lend more than it has, and a borrower does not give back more than it holds.
func TestLoansFollowLimits(t *testing.T) {
	for name, resize := range map[string]func(c *Cluster, lender, borrower *Container){
		"borrower shrinks": func(c *Cluster, _, borrower *Container) { c.SetLimit(borrower, heddle.Of(1024, 500)) },
		"lender shrinks":   func(c *Cluster, lender, _ *Container) { c.SetLimit(lender, heddle.Of(1024, 500)) },
		"both shrink": func(c *Cluster, lender, borrower *Container) {
			c.SetLimit(lender, heddle.Of(1024, 1000))
			c.SetLimit(borrower, heddle.Of(1024, 500))
		},
	} {
		t.Run(name, func(t *testing.T) {
			c := New([]heddle.QueueID{heddle.NoQueue}, false)
			n := c.AddNode(0, 0, heddle.Of(8192, 2000))
			a := c.Submit(heddle.Submit{App: 0})
			size := heddle.Of(1024, 2000)
			k := c.SetRow(a, heddle.Anywhere(1, heddle.Map, 2, size))
			run := func() *Container {
				x := c.Grant(k, n, heddle.OffSwitch, size, size)
				c.Acquire(a)
				c.Start(x)
				return x
			}
			lender := run()
			c.Suspend(lender)
			borrower := run()
			healthy := func(when string) {
				t.Helper()
				if found := c.Check(); len(found) > 0 {
					t.Fatalf("%s: %v", when, found)
				}
			}
			healthy("lent")
			resize(c, lender, borrower)
			healthy("resized")
			if borrower.borrowed > borrower.limit[heddle.CPU] || lender.lent > lender.limit[heddle.CPU] {
				t.Errorf("%d borrowed of %d, %d lent of %d", borrower.borrowed, borrower.limit[heddle.CPU], lender.lent, lender.limit[heddle.CPU])
			}
			if borrower.Told() != size {
				t.Errorf("the application was told %v, is said to have been told %v", size, borrower.Told())
			}
			c.End(borrower, Completed, heddle.Success)
			healthy("given back")
			c.End(lender, Killed, heddle.Aborted)
			healthy("over")
			if n.Free() != n.Total() || n.Lends() {
				t.Errorf("the empty node has %v free of %v", n.Free(), n.Total())
			}
		})
	}
}

// If containers hold more than the node has, the processors that suspended containers lend are in use elsewhere.
func TestOverfullNodesLendNothing(t *testing.T) {
	c := New([]heddle.QueueID{heddle.NoQueue}, false)
	n := c.AddNode(0, 0, heddle.Of(8192, 4000))
	a := c.Submit(heddle.Submit{})
	x := c.Adopt(a, n, heddle.Reduce, 10, 0, heddle.Of(1024, 3000), 0)
	c.Suspend(x)
	if room := n.Room(a); room[heddle.CPU] != 4000 {
		t.Errorf("room for %v with 1 vcore free and 3 lent", room)
	}
	y := c.Adopt(a, n, heddle.Map, 20, 0, heddle.Of(1024, 2000), 0)
	if room := n.Room(a); room[heddle.CPU] != -1000 || c.Fits(heddle.Of(0, 1000), room) {
		t.Errorf("room for %v where 5 of 4 vcores are held", room)
	}
	c.ResizeNode(n, heddle.Of(8192, 6000))
	if room := n.Room(a); room[heddle.CPU] != 4000 {
		t.Errorf("room for %v with 1 of 6 vcores free and 3 lent", room)
	}
	c.End(y, Completed, heddle.Success)
	if found := c.Check(); len(found) > 0 || n.Free() != heddle.Of(7168, 3000) {
		t.Errorf("%v, free %v", found, n.Free())
	}
}
