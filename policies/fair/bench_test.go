package fair_test

import (
	"fmt"
	"testing"

	"heddle"
	"heddle/policies/fair"
	"heddle/policy/policytest"
	"heddle/sched"
)

// BenchmarkRefusedReservation measures a heartbeat of one of many nodes of a rack, all too full for an application that
// has reserved as many of them as it may.
func BenchmarkRefusedReservation(b *testing.B) {
	for _, nodes := range []int{100, 10_000} {
		b.Run(fmt.Sprint(nodes), func(b *testing.B) {
			c := reserved(b, nodes)
			now := heddle.Time(4 * heddle.Second)
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				c.Step(now, heddle.Heartbeat{Node: heddle.NodeID(nodes - 1 - i%(nodes/2))}) // none of the reserved ones
			}
		})
	}
}

// reserved returns a cluster of one rack in which an application waits for containers in that rack, and has reserved as
// many nodes as it may.
func reserved(tb testing.TB, nodes int) *sched.Core {
	tb.Helper()
	s, err := maker(func(c *fair.Config) { c.ReservableNodes = 0.05 })(policytest.Args(""))
	if err != nil {
		tb.Fatal(err)
	}
	c := sched.New(put(s))
	for i := range nodes {
		c.Step(0, heddle.NodeUp{Node: heddle.NodeID(i), Total: heddle.Of(10<<10, 10000), Can: heddle.AllCaps})
	}
	ask := func(at heddle.Time, app heddle.AppID, mem int64, inRack bool) {
		c.Step(at, heddle.Submit{App: app, Queue: 1, Master: heddle.Of(1024, 1000)})
		at = at.Plus(heddle.Second)
		c.Step(at, heddle.Heartbeat{Node: heddle.NodeID(app)})
		row := heddle.Anywhere(20, heddle.Map, int32(nodes), heddle.Of(mem, 1000))
		rows := []heddle.Row{row}
		if inRack {
			row.Rack = 0
			rows = append(rows, row)
		}
		c.Step(at, heddle.Ask{App: app, Rows: rows})
		for i := range nodes {
			c.Step(at.Plus(heddle.Second), heddle.Heartbeat{Node: heddle.NodeID(i)})
		}
	}
	ask(0, 0, 8<<10, false)
	ask(heddle.Time(2*heddle.Second), 1, 4<<10, true)
	if got, want := c.View().App(1).Bookings(), nodes/20; got != want {
		tb.Fatalf("%d nodes are reserved, want %d", got, want)
	}
	return c
}
