package world

import (
	"math/rand/v2"
	"testing"

	"heddle"
	"heddle/workload"
)

// A storm makes all calls in random order. At the end nothing may be left, and on the way nothing may be used beyond
// what there is.
func TestStorm(t *testing.T) {
	for seed := range uint64(40) {
		storm(t, seed)
	}
}

func storm(t *testing.T, seed uint64) {
	rng := rand.New(rand.NewPCG(seed, 11))
	c := cluster(7, 3)
	c.Effects, c.Seed, c.UplinkBps = AllEffects(), seed, 60e6
	c.Effects.MemoryKill, c.Effects.PageCache = seed%3 == 0, seed%2 == 0
	c.Nodes[2].Memory = 3000
	w := New(c)
	ids := []JobID{w.AddJob(mr("sort", 30, 96, 5)), w.AddJob(mr("randomwriter", 10, 32, 0)), w.AddJob(kmeans(12, 64, 300<<20, 3)), w.AddJob(busy(20, 3))}
	jobs := []*workload.Job{w.jobs[0].def, w.jobs[1].def, w.jobs[2].def, w.jobs[3].def}
	for i := range jobs[1].Maps {
		jobs[1].Maps[i].Output = 40 << 20
	}
	var last heddle.ContainerID
	var done []Done
	now := heddle.Time(0)
	for range 600 {
		if rng.IntN(3) > 0 {
			now = now.Plus(heddle.Span(rng.IntN(2000)) * heddle.Millisecond)
		}
		done = w.Advance(now, done[:0])
		for _, d := range done {
			if d.Work.Kind != heddle.Executor {
				w.Close(now, d.Work.Container)
			}
		}
		checkNodes(t, w)
		some := heddle.ContainerID(1 + rng.Int64N(int64(last)+1))
		node := heddle.NodeID(rng.IntN(7))
		switch rng.IntN(16) {
		case 0:
			w.Suspend(now, some)
		case 1:
			w.Resume(now, some)
		case 2:
			w.SetLimit(now, some, heddle.Of(100+rng.Int64N(1200), 100+rng.Int64N(1500)))
		case 3:
			w.Close(now, some)
		case 4:
			w.NodeDown(now, node)
		case 5, 6:
			w.NodeUp(now, node)
		case 7:
			w.SetSpeed(now, node, 0.2+0.8*rng.Float64())
		case 8:
			last++
			w.Open(now, last, ids[0], heddle.AM, node, oneCore, oneCore)
			w.SetManaged(now, last, rng.IntN(90000))
		case 9:
			w.Progress(now, some)
			w.Usage(now, some)
		default:
			last++
			stormWork(w, rng, now, last, ids, jobs)
		}
	}
	for id := range last {
		w.Close(now, id+1)
	}
	for _, id := range ids {
		w.EndJob(id)
	}
	for {
		at, ok := w.Next()
		if !ok {
			break
		}
		w.Advance(at, nil)
	}
	checkIdle(t, w)
}

// stormWork opens a container and runs something in it, or starts its process.
func stormWork(w *World, rng *rand.Rand, now heddle.Time, c heddle.ContainerID, ids []JobID, jobs []*workload.Job) {
	k := rng.IntN(len(ids))
	node, host := heddle.NodeID(rng.IntN(7)), heddle.NodeID(rng.IntN(7))
	if rng.IntN(4) == 0 {
		w.Open(now, c, ids[k], [...]heddle.Kind{heddle.AM, heddle.Map, heddle.Executor}[rng.IntN(3)], node, oneCore, oneCore)
		w.Start(now, c)
		return
	}
	if jobs[k].Spark != nil {
		w.Open(now, c, ids[k], heddle.Executor, node, executor, executor)
		for i := range rng.IntN(5) {
			w.Run(now, Work{Container: c, Kind: heddle.Executor, Stage: int32(rng.IntN(4)), Index: int32(i)}, []heddle.NodeID{host})
		}
		return
	}
	kind, n := heddle.Map, len(jobs[k].Maps)
	if len(jobs[k].Reduces) > 0 && rng.IntN(4) == 0 {
		kind, n = heddle.Reduce, len(jobs[k].Reduces)
	}
	w.Open(now, c, ids[k], kind, node, oneCore, oneCore)
	w.Run(now, Work{Container: c, Kind: kind, Index: int32(rng.IntN(n))}, []heddle.NodeID{host, (host + 3) % 7})
}

// checkNodes verifies that no node gives more than it has.
func checkNodes(t *testing.T, w *World) {
	t.Helper()
	w.flush()
	for i := range w.nodes {
		n := &w.nodes[i]
		if n.cpuRate > n.cores*(1+1e-6) || n.diskRate > n.rated*(1+1e-6) || n.resident < 0 {
			t.Fatalf("node %d: %v of %v cores, %v of %v bytes/s of disk, %d MiB held", i, n.cpuRate, n.cores, n.diskRate, n.rated, n.resident)
		}
		for _, u := range n.users {
			if a := &w.acts[u.act]; !a.on || a.legs[u.leg].node != int32(i) || u.leg >= a.nlegs {
				t.Fatalf("node %d lists a stage that is not there: %+v", i, u)
			}
		}
	}
}
