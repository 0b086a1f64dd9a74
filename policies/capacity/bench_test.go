package capacity_test

import (
	"fmt"
	"testing"

	"heddle"
	"heddle/policy/policytest"
	"heddle/sched"
)

// BenchmarkUserLimit measures the limit on a user of a queue that many others used before.
func BenchmarkUserLimit(b *testing.B) {
	for _, gone := range []heddle.UserID{0, 10_000} {
		b.Run(fmt.Sprint(gone), func(b *testing.B) {
			s, err := maker(nil)(policytest.Args(""))
			if err != nil {
				b.Fatal(err)
			}
			c := sched.New(put(s))
			c.Step(0, heddle.NodeUp{Node: 0, Total: heddle.Of(64<<10, 64_000), Can: heddle.AllCaps})
			for u := range gone {
				c.Step(0, heddle.Submit{App: heddle.AppID(u), Queue: 1, User: u, Master: heddle.Of(1024, 1000)})
				c.Step(0, heddle.AppDone{App: heddle.AppID(u)})
			}
			c.Step(0, heddle.Submit{App: heddle.AppID(gone), Queue: 1, User: gone, Master: heddle.Of(1024, 1000)})
			v := c.View()
			for b.Loop() {
				s.Enter(v, v.Root()) // what was computed for the last walk no longer holds
				s.Headroom(v, v.App(heddle.AppID(gone)))
			}
		})
	}
}
