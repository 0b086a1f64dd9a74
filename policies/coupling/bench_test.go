package coupling_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"heddle"
	"heddle/policies/coupling"
	"heddle/policy/policytest"
	"heddle/sched"
)

// BenchmarkHeartbeat measures a heartbeat of one of many nodes while jobs with data elsewhere wait: maps that peek, and
// reduces that wait for their place.
func BenchmarkHeartbeat(b *testing.B) {
	for _, nodes := range []int{100, 10_000} {
		b.Run(fmt.Sprint(nodes), func(b *testing.B) {
			c := crowd(nodes, 50)
			now := heddle.Time(heddle.Second)
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				c.Step(now, heddle.Heartbeat{Node: heddle.NodeID(i % nodes)})
				if i%nodes == 0 {
					now = now.Plus(heddle.Second)
				}
			}
		})
	}
}

// crowd returns a cluster with racks of forty nodes whose slots are full except for one of each kind on every fourth
// node. Waiting jobs have data and map output all over it.
func crowd(nodes, jobs int) *sched.Core {
	set := slots(must(coupling.NewOrder(policytest.Args(""))))
	set.Place[heddle.Reduce] = must(coupling.NewWait(policytest.Args("each: true")))
	set.Place[heddle.Map] = must(coupling.NewPeek(policytest.Args("{alpha_rack: 1, beta: 0}")))
	c, rng := sched.New(set), rand.New(rand.NewPCG(5, 6))
	for i := range nodes {
		c.Step(0, heddle.NodeUp{Node: heddle.NodeID(i), Rack: heddle.RackID(i / 40), Total: heddle.Of(64<<10, 64000), Can: heddle.AllCaps})
	}
	size := heddle.Of(1024, 1000)
	for j := range jobs {
		a := heddle.AppID(j)
		c.Step(0, heddle.Submit{App: a, Queue: 1, Master: size, Facts: heddle.Facts{Maps: 1000, Reduces: 100}})
		c.Step(0, heddle.Heartbeat{Node: heddle.NodeID(j % nodes)})
		rows := []heddle.Row{heddle.Anywhere(20, heddle.Map, 1000, size), heddle.Anywhere(10, heddle.Reduce, 100, size)}
		for range 1000 {
			r := rows[0]
			r.Host, r.Count = heddle.NodeID(rng.IntN(nodes)), 1
			rack := r
			rack.Host, rack.Rack = heddle.NoNode, heddle.RackID(int(r.Host)/40)
			rows = append(rows, r, rack)
		}
		c.Step(0, heddle.Ask{App: a, Rows: rows})
		for range 500 {
			c.Step(0, heddle.Output{App: a, Node: heddle.NodeID(rng.IntN(nodes)), Bytes: rng.Int64N(64 << 20)})
		}
	}
	return c
}

func must[H any](h H, err error) H {
	if err != nil {
		panic(err)
	}
	return h
}
