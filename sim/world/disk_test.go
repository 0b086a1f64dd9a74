package world

import (
	"math"
	"testing"

	"heddle"
	"heddle/workload"
)

// One map reads 100 MiB and leaves 50; one reduce reads those, merges them on disk and writes 10 MiB three times over.
// The map's output fits in its sort buffer (100 MiB, spilled at 80 %), so it is written once. The reduce's part fits in
// its shuffle buffer (0.8 · 0.7 of 1024 MiB), so it is written once more.
func TestDiskBytes(t *testing.T) {
	w := New(Config{Nodes: []NodeSpec{{Total: heddle.Of(8192, 8000)}, {Total: heddle.Of(8192, 8000)}, {Total: heddle.Of(8192, 8000)}}, Params: DefaultParams()})
	id := w.AddJob(&workload.Job{
		Framework: heddle.MapReduce,
		Maps:      []workload.Task{{Input: 100 << 20, Output: 50 << 20}},
		Reduces:   []workload.Task{{Input: 50 << 20, Output: 10 << 20}},
	})
	const want = 100 + 50 + 50 + 50 + 3*10
	if got := w.DiskBytes(id) / (1 << 20); math.Abs(got-want) > 1e-6 {
		t.Errorf("the disks move %.3f MiB, want %d", got, want)
	}
	id = w.AddJob(&workload.Job{
		Framework: heddle.MapReduce, Replicas: 1,
		Maps: []workload.Task{{Input: 100 << 20, Output: 50 << 20}},
	})
	if got, want := w.DiskBytes(id)/(1<<20), 100.0+50; math.Abs(got-want) > 1e-6 {
		t.Errorf("with one replica the disks move %.3f MiB, want %g", got, want)
	}
	if got, want := w.DiskBps(), 3*DefaultParams().DiskBps; got != want {
		t.Errorf("the disks transfer %g bytes a second, want %g", got, want)
	}
	if got := w.DiskBytes(JobID(7)); got != 0 {
		t.Errorf("a job that is not there moves %g bytes", got)
	}
}

// Consumed grows by what Usage reports for the same time, the node's processors work as much, and asking for it again
// changes none of that.
func TestConsumed(t *testing.T) {
	l := newLab(t, cluster(2, 1))
	job := l.w.AddJob(mr("sort", 1, 64, 0))
	c := l.start(0, job, heddle.Map, 0, 0, oneCore, oneCore, 1)
	before := 0.0
	for s := 1; s < 4; s++ {
		now := heddle.Time(s) * heddle.Time(heddle.Second/4)
		l.until(now)
		for range 3 {
			l.w.Consumed(now, c)
			l.w.NodeCPUUsed(now, 0)
		}
		node := l.w.NodeCPUUsed(now, 0)
		after, memory := l.w.Consumed(now, c)
		cpu, held := l.w.Usage(now, c)
		if got := 4 * 1000 * (after - before); math.Abs(got-float64(cpu)) > 1 || memory != held || cpu == 0 {
			t.Errorf("at %d/4 s: consumed at %.1f milli-vcores holding %d MiB, usage says %d and %d", s, got, memory, cpu, held)
		}
		if all := l.w.CPUUsed(now); math.Abs(node-after) > 1e-9 || math.Abs(node-all) > 1e-9 || l.w.NodeCPUUsed(now, 1) != 0 {
			t.Errorf("at %d/4 s: a container used %v core-seconds, its node %v, all nodes %v", s, after, node, all)
		}
		before = after
	}
	if cpu := l.w.NodeCPUUsed(0, 99); cpu != 0 {
		t.Errorf("a node that is not there used %v core-seconds", cpu)
	}
	if cpu, memory := l.w.Consumed(0, 99); cpu != 0 || memory != 0 {
		t.Errorf("of a container that is not there: %v, %v", cpu, memory)
	}
}

// A map that writes 1.5 GB to files with one replica and does little else uses its own disk for 10 s at 150 MB/s, and
// no network. Replicas on other disks of the same speed, over a network of 118 MB/s, take longer.
func TestReplicasOfTheOutput(t *testing.T) {
	run := func(replicas int) float64 {
		l := newLab(t, cluster(3, 1))
		j := mr("none", 1, 1, 0)
		j.Maps[0] = workload.Task{CPU: heddle.Second, Output: 1500e6}
		j.Replicas = replicas
		return l.seconds(l.start(0, l.w.AddJob(j), heddle.Map, 0, 0, oneCore, oneCore))
	}
	start := run(1) - 10
	if start < 0 || start > 0.1 {
		t.Errorf("with one replica it takes %.2f s, want 10", start+10)
	}
	if two, standard, three := run(2), run(0), run(3); two < 12.5 || standard != three {
		t.Errorf("with two replicas %.2f s, with HDFS's default %.2f, with three %.2f", two, standard, three)
	}
}
