package world

import (
	"math"
	"testing"

	"heddle"
	"heddle/workload"
)

// caching returns a cluster of n nodes with page caches and the given MiB of memory each.
func caching(n int, memory int64) Config {
	c := cluster(n, 1)
	c.Effects.PageCache = true
	for i := range c.Nodes {
		c.Nodes[i].Memory = memory
	}
	return c
}

// diskMiB returns what the disks of all nodes have done so far.
func (l *lab) diskMiB() float64 {
	sum := 0.0
	for n := range l.w.nodes {
		sum += l.w.Disk(l.w.now, heddle.NodeID(n)).Requests
	}
	return sum * l.w.p.RequestBytes / mib
}

// sorted runs six maps that leave 128 MiB each, then six reduces, one per node, and returns what the disks did for the
// maps and for the reduces.
func sorted(t *testing.T, c Config) (maps, reduces float64) {
	t.Helper()
	l := newLab(t, c)
	id := l.w.AddJob(mr("sort", 6, 128, 6))
	for i := range 6 {
		l.start(0, id, heddle.Map, i, i, oneCore, oneCore, heddle.NodeID(i))
	}
	l.until(never)
	maps = l.diskMiB()
	for i := range 6 {
		l.start(l.w.now, id, heddle.Reduce, i, i, oneCore, oneCore)
	}
	l.until(never)
	l.w.EndJob(id)
	checkIdle(t, l.w)
	return maps, l.diskMiB() - maps
}

// What a job has left is read from memory if it fits, and from the disk if it does not. Input is read from the disk,
// and everything that is written reaches the disk in the end.
func TestPageCacheServesWhatWasWritten(t *testing.T) {
	const all = 6 * 128.0
	c := cluster(6, 1)
	maps, reduces := sorted(t, c)
	near(t, "MiB of maps without a cache: input, two spills, and one read to merge them", maps, 4*all, 1e-6)
	near(t, "MiB of reduces without a cache: copied, merged, read, three replicas", reduces, 6*all, 0.05)
	maps, reduces = sorted(t, caching(6, 64<<10))
	near(t, "MiB of maps with a large cache: input and two spills", maps, 3*all, 1e-6)
	near(t, "MiB of reduces with a large cache: merged, and three replicas", reduces, 4*all, 1e-6)
	maps, reduces = sorted(t, caching(6, 300))
	if maps < 3.9*all || reduces < 5.5*all {
		t.Errorf("with hardly any memory the disks do %.0f and %.0f MiB, without a cache %.0f and %.0f", maps, reduces, 4*all, 6*all)
	}
}

// A map that writes 1.5 GB does not wait for the disk if that is less than a fifth of the memory available to files; if
// it is more, it waits for the rest. The disk writes all of it either way.
func TestWritesWaitToBeWrittenBack(t *testing.T) {
	for _, x := range []struct {
		memory int64
		want   float64
	}{{16 << 10, 1}, {4 << 10, 1500e6/150e6 - 0.2*(4096*0.875-189)*mib/150e6}} {
		c := caching(1, x.memory)
		c.Nodes[0].Run = 1e12 // two streams are as fast as one
		l := newLab(t, c)
		j := &workload.Job{Framework: heddle.MapReduce, Replicas: 1, Maps: []workload.Task{{CPU: heddle.Second, Output: 1500e6}}}
		got := l.seconds(l.start(0, l.w.AddJob(j), heddle.Map, 0, 0, oneCore, oneCore))
		// In competition with the flusher, a writer has half of the disk while both write.
		late := min(got, 2*x.want)
		if got < x.want-0.01 || got > late+0.01 {
			t.Errorf("with %d MiB it takes %.2f s, want %.2f or up to twice that", x.memory, got, x.want)
		}
		l.w.Advance(l.w.now.Plus(20*heddle.Second), nil)
		near(t, "MB on the disk", l.diskMiB()*mib/1e6, 1500, 1e-6)
	}
}

// The cache evicts what came in first when a process takes its memory, and keeps the rest.
func TestProcessesTakeTheCachesMemory(t *testing.T) {
	c := caching(1, 4096)
	l := newLab(t, c)
	n := &l.w.nodes[0]
	l.w.admit(0, 3000*mib)
	near(t, "part of it in memory", n.cache.holds(0, 3000*mib), 1, 0)
	job := l.w.AddJob(&workload.Job{Other: []workload.Task{{CPU: heddle.Second, Memory: 2048}}})
	l.start(0, job, heddle.Other, 0, 0, heddle.Of(2048, 1000), heddle.Of(2048, 1000))
	room := 4096*0.875 - 2048
	near(t, "MiB in memory beside 2 GiB of a process", (n.cache.high-n.cache.low)/mib, room, 1e-9)
	near(t, "part of the first 1000 MiB", n.cache.holds(0, 1000*mib), 0, 0)
	near(t, "part of the last 1000 MiB", n.cache.holds(2000*mib, 3000*mib), 1, 0)
	near(t, "part of all", n.cache.holds(0, 3000*mib), room/3000, 1e-9)
	l.until(never)
	near(t, "MiB that came back when the process ended", (n.cache.high-n.cache.low)/mib, room, 1e-9)
}

// As sar counts it, the memory in use is the system's eighth, what processes hold, and the cache.
func TestMemoryFilled(t *testing.T) {
	l := newLab(t, caching(2, 4096))
	l.w.admit(0, 1024*mib)
	l.w.Open(0, 1, l.w.AddJob(busy(1, 1)), heddle.Map, 1, oneCore, oneCore)
	at := heddle.Time(10 * heddle.Second)
	want := 10 * (0.125 + (1024.0+189)/8192)
	for range 2 {
		near(t, "seconds of all memory", l.w.MemoryFilled(at), want, 1e-9)
	}
	l.w.admit(1, math.MaxInt32*mib)
	l.w.Advance(at, nil)
	l.w.admit(0, math.MaxInt32*mib)
	if got := l.w.MemoryFilled(at.Plus(10*heddle.Second)) - l.w.MemoryFilled(at); math.Abs(got-10) > 1e-9 {
		t.Errorf("of two full nodes %.3f of 10 s", got)
	}
}

// A group whose limit was set keeps no more of its own files in memory than its process leaves, and takes no more from
// others.
func TestLimitsBoundAGroupsCache(t *testing.T) {
	run := func(limit int64) (taken, disk float64) {
		l := newLab(t, caching(1, 16<<10))
		j := mr("sort", 1, 100, 0)
		j.Maps[0] = workload.Task{Input: 100 << 20, Output: 200 << 20, CPU: 20 * heddle.Second}
		j.Reduces = make([]workload.Task, 1)
		id := l.w.AddJob(j)
		b := l.start(0, id, heddle.Map, 0, 0, oneCore, oneCore, 0)
		if limit > 0 {
			l.w.SetLimit(0, b, heddle.Of(limit, 1000))
		}
		l.until(never)
		return l.w.nodes[0].cache.high / mib, l.diskMiB()
	}
	taken, disk := run(0)
	near(t, "MiB in memory of a group without a limit", taken, 100+400, 1e-9)
	near(t, "MiB of its disk: input and two spills", disk, 100+400, 1e-6)
	held := DefaultParams().TaskBase + DefaultParams().SortBuffer
	taken, disk = run(held + 50)
	near(t, "MiB in memory with 50 MiB beside the process", taken, 100+50, 1e-9)
	near(t, "MiB of its disk then", disk, 100+400+150, 1e-6)
}

// A disk that serves little of each stream between two head movements loses more of its transfer rate.
func TestDiskRuns(t *testing.T) {
	rate := func(run float64, seek heddle.Span) float64 {
		c := cluster(1, 1)
		c.Nodes[0].Run, c.Nodes[0].Seek = run, seek
		return newLab(t, c).w.nodes[0].efficiency(2)
	}
	p := DefaultParams()
	near(t, "by default", rate(0, 0), 1/(1+p.SeekSeconds/p.SliceSeconds/2), 1e-12)
	near(t, "runs of 1.5 MB at 150 MB/s with 5 ms between", rate(1.5e6, 5*heddle.Millisecond), 1/(1+0.5/2), 1e-12)
}
