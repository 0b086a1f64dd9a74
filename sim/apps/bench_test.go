package apps

import (
	"fmt"
	"testing"

	"heddle"
)

// BenchmarkMapReduceLife runs whole jobs without a cluster: 100 maps come and go per heartbeat. The time per task stays
// the same as jobs grow.
func BenchmarkMapReduceLife(b *testing.B) {
	for _, n := range []int{1000, 10000, 56262} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			c := Config{Rack: make([]heddle.RackID, 600)}
			hosts := make([][3]heddle.NodeID, n)
			for i := range hosts {
				hosts[i] = [3]heddle.NodeID{heddle.NodeID(i % 600), heddle.NodeID(i * 7 % 600), heddle.NodeID(i * 31 % 600)}
			}
			c.Hosts = func(w Work) []heddle.NodeID { return hosts[w.Index][:] }
			b.ReportAllocs()
			for b.Loop() {
				life(NewMapReduce(mrJob(n, 0, 0), c), priorityMap, heddle.Map)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/task")
		})
	}
}

// BenchmarkLoadSimulatorLife does the same for the load simulator's master.
func BenchmarkLoadSimulatorLife(b *testing.B) {
	for _, n := range []int{1000, 56262} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				life(NewLoadSimulator(mrJob(n, 0, 0), Config{}), priorityMap, heddle.Map)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/task")
		})
	}
}

// BenchmarkIdleBeat makes a heartbeat of a job of 56,262 maps that wait and get nothing.
func BenchmarkIdleBeat(b *testing.B) {
	m := NewMapReduce(mrJob(56262, 10, 1024), Config{UnconditionalPreempt: -1})
	var out Actions
	m.Start(0, &out)
	var in Response
	b.ReportAllocs()
	for b.Loop() {
		out.Reset()
		beat(m, heddle.Time(heddle.Second), &in, &out)
	}
}

// life drives a master to its end.
func life(m Master, priority int32, k heddle.Kind) {
	var out Actions
	var in Response
	next, now := heddle.ContainerID(0), heddle.Time(0)
	m.Start(now, &out)
	for {
		out.Reset()
		now += heddle.Time(heddle.Second)
		beat(m, now, &in, &out)
		if out.Finish != Running {
			return
		}
		in.Completed = in.Completed[:0]
		for _, w := range out.Work {
			in.Completed = append(in.Completed, Completed{w.Container, heddle.Success})
		}
		for _, w := range out.Work {
			m.WorkDone(now, w, true, &out)
		}
		in.Granted = in.Granted[:0]
		for range 100 {
			next++
			in.Granted = append(in.Granted, Grant{Container: next, Node: heddle.NodeID(next % 600), Priority: priority, Kind: k, Size: gib})
		}
	}
}

// A job of 56,262 maps is driven in time proportional to its size: each heartbeat touches only what changed. Ten times
// the maps may cost at most about ten times the memory.
func TestCostIsLinear(t *testing.T) {
	cost := func(n int) float64 {
		return testing.AllocsPerRun(1, func() { life(NewMapReduce(mrJob(n, 0, 0), Config{}), priorityMap, heddle.Map) })
	}
	if small, large := cost(1000), cost(10000); large > 20*small {
		t.Errorf("10,000 maps cost %.0f allocations, 1,000 cost %.0f", large, small)
	}
}
