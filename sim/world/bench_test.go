package world

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"heddle"
)

// drive runs a job's maps and then its reduces as slots allow: slots maps on each node, with every far-th map away from
// its data, and reduces spread over the nodes once a twentieth of the maps have ended.
func drive(w *World, job JobID, maps, reduces, slots, far int) {
	rng := rand.New(rand.NewPCG(1, 2))
	nodes := len(w.nodes)
	var id heddle.ContainerID
	next, ended := 0, 0
	launch := func(now heddle.Time, node int) {
		if next == maps {
			return
		}
		id++
		host := heddle.NodeID(node)
		if far > 0 && next%far == 0 {
			host = heddle.NodeID(rng.IntN(nodes))
		}
		w.Open(now, id, job, heddle.Map, heddle.NodeID(node), oneCore, oneCore)
		w.Run(now, Work{Container: id, Kind: heddle.Map, Index: int32(next)}, []heddle.NodeID{host})
		next++
	}
	for s := range slots * nodes {
		launch(heddle.Time(s), s%nodes)
	}
	started := false
	var done []Done
	for {
		t, ok := w.Next()
		if !ok {
			return
		}
		done = w.Advance(t, done[:0])
		for _, d := range done {
			w.Close(t, d.Work.Container)
			if d.Work.Kind != heddle.Map {
				continue
			}
			ended++
			launch(t, int(d.Node))
			if !started && ended*20 >= maps {
				started = true
				for r := range reduces {
					id++
					w.Open(t, id, job, heddle.Reduce, heddle.NodeID(r%nodes), oneCore, oneCore)
					w.Run(t, Work{Container: id, Kind: heddle.Reduce, Index: int32(r)}, nil)
				}
			}
		}
	}
}

func BenchmarkMaps(b *testing.B) {
	for _, n := range []int{600, 10000} {
		b.Run(fmt.Sprintf("nodes=%d", n), func(b *testing.B) {
			c := cluster(n, n/40)
			c.Effects = AllEffects()
			maps := 10 * n
			j := mr("sort", maps, 64, 0)
			for i := range j.Maps {
				j.Maps[i].Output = 1000
			}
			for b.Loop() {
				w := New(c)
				drive(w, w.AddJob(j), maps, 0, 4, 5)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*maps), "ns/task")
		})
	}
}

func BenchmarkShuffle(b *testing.B) {
	for _, c := range []struct{ nodes, maps, reduces int }{{600, 6000, 600}, {600, 56000, 1000}, {10000, 100000, 10000}} {
		b.Run(fmt.Sprintf("nodes=%d/maps=%d/reduces=%d", c.nodes, c.maps, c.reduces), func(b *testing.B) {
			k := cluster(c.nodes, c.nodes/40)
			k.Effects = AllEffects()
			k.UplinkBps = 10 * 125e6
			j := mr("sort", c.maps, 64, c.reduces)
			for b.Loop() {
				w := New(k)
				drive(w, w.AddJob(j), c.maps, c.reduces, 8, 5)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*(c.maps+c.reduces)), "ns/task")
		})
	}
}
