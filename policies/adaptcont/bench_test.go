package adaptcont

import (
	"testing"

	"heddle"
	"heddle/cluster"
)

// BenchmarkDecide measures one simulation of the waves of a thousand jobs, which each arrival and end of a job costs.
func BenchmarkDecide(b *testing.B) {
	for _, q := range []string{fifoQueue, fairQueue, capacityQueue} {
		b.Run(q, func(b *testing.B) {
			c := cluster.New([]heddle.QueueID{heddle.NoQueue, 0}, false)
			s := Sizer{o: with(q)}
			for i := range 1000 {
				c.AddNode(heddle.NodeID(i), 0, heddle.Of(64<<10, 32_000))
				s.nodeChanged(c.View(), c.View().Node(heddle.NodeID(i)))
				c.Submit(heddle.Submit{App: heddle.AppID(i), Queue: 1, Framework: heddle.MapReduce, Facts: heddle.Facts{Maps: int32(1 + i*7919%5000)}})
			}
			b.ReportAllocs()
			for b.Loop() {
				s.decide(c.View())
			}
		})
	}
}
