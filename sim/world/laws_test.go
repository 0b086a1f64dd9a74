package world

import (
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"testing"

	"heddle"
	"heddle/workload"
)

func TestFillIsMaxMin(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 7))
	for round := range 3000 {
		var f fill
		for r := range f.capacity {
			f.capacity[r] = 1 + 9*rng.Float64()
		}
		for range 1 + rng.IntN(8) {
			c := claim{peak: 0.1 + 3*rng.Float64()}
			for r := range numR {
				c.weight[r] = float64(1 + rng.IntN(4))
				if rng.IntN(2) == 0 {
					c.need[r] = 3 * rng.Float64()
				}
			}
			f.claims = append(f.claims, c)
		}
		f.run()
		checkFill(t, round, &f)
	}
}

// checkFill verifies what the fill promises: no resource is used beyond its capacity, every claim has at least what
// equal division gives, and every claim is at its peak or needs something that is used up.
func checkFill(t *testing.T, round int, f *fill) {
	t.Helper()
	var used, weights [numR]float64
	for _, c := range f.claims {
		for r := range used {
			used[r] += c.need[r] * c.rate
			if c.need[r] > 0 {
				weights[r] += c.weight[r]
			}
		}
	}
	for r := range used {
		if used[r] > f.capacity[r]*(1+1e-9) {
			t.Fatalf("round %d: %v of resource %d used, there is %v", round, used[r], r, f.capacity[r])
		}
	}
	for k, c := range f.claims {
		fair, stuck := c.peak, c.rate >= c.peak*(1-1e-9)
		for r := range used {
			if c.need[r] > 0 {
				fair = min(fair, f.capacity[r]*c.weight[r]/weights[r]/c.need[r])
				stuck = stuck || used[r] >= f.capacity[r]*(1-1e-9)
			}
		}
		if c.rate < fair*(1-1e-9) {
			t.Fatalf("round %d: claim %d gets %v, equal division gives %v", round, k, c.rate, fair)
		}
		if !stuck {
			t.Fatalf("round %d: claim %d could have more than %v", round, k, c.rate)
		}
	}
}

// What is used is what was demanded: processor time and bytes of every disk, with reads from near and far, writes with
// replicas, and limits and suspensions along the way.
func TestConservation(t *testing.T) {
	conservation(t, false)
	conservation(t, true) // what waits to be written back is written in the end
}

func conservation(t *testing.T, cached bool) {
	t.Helper()
	c := cluster(6, 2)
	c.UplinkBps, c.Effects.PageCache = 100e6, cached
	l := newLab(t, c)
	p := &l.w.p
	j := &workload.Job{}
	cpu, disk := 0.0, 0.0
	for i := range 60 {
		j.Maps = append(j.Maps, workload.Task{CPU: heddle.Seconds(float64(1 + i%5)), Input: int64(10+i) << 20, Output: int64(i%4) << 20, Memory: 100})
	}
	id := l.w.AddJob(j)
	for i := range 60 {
		home, host := i%6, (i*i)%6
		cpu += j.Maps[i].CPU.Seconds()
		if home != host {
			cpu += float64(j.Maps[i].Input) * p.NetCPU
		}
		disk += float64(j.Maps[i].Input) + 3*float64(j.Maps[i].Output)
		at := heddle.Time(i) * heddle.Time(700*heddle.Millisecond)
		l.until(at)
		b := l.start(at, id, heddle.Map, i, home, oneCore, oneCore, heddle.NodeID(host))
		switch i % 7 {
		case 0:
			l.w.SetLimit(at, b, heddle.Of(1024, 300))
		case 1:
			l.w.Suspend(at, b)
			l.w.Resume(at, b)
		}
	}
	l.until(never)
	if len(l.done) != 60 {
		t.Fatalf("%d of 60 tasks ended", len(l.done))
	}
	near(t, "core-seconds", l.w.CPUUsed(l.w.now), cpu, 1e-6)
	got := 0.0
	for n := range l.w.nodes {
		got += l.w.Disk(l.w.now, heddle.NodeID(n)).Requests * p.RequestBytes
	}
	near(t, "disk bytes", got, disk, 1e-6)
	checkIdle(t, l.w)
}

// checkIdle verifies that nothing remains of work that is over.
func checkIdle(t *testing.T, w *World) {
	t.Helper()
	for i := range w.nodes {
		if n := &w.nodes[i]; len(n.users) != 0 || len(n.conts) != 0 || n.resident != 0 || n.cpuRate != 0 {
			t.Errorf("node %d: %d stages, %d containers, %d MiB, %v cores in use after the end", i, len(n.users), len(n.conts), n.resident, n.cpuRate)
		}
	}
	for i := range w.racks {
		if r := &w.racks[i]; r.in != 0 || r.out != 0 || r.fin != 1 || r.fout != 1 {
			t.Errorf("rack %d: %+v after the end", i, *r)
		}
	}
	if len(w.freeA) != len(w.acts) || len(w.freeT) != len(w.tasks) || len(w.byID) != 0 {
		t.Error("stages, tasks or containers are not given back")
	}
}

// A shuffle reads from the sources about as much as the reduces copy: the pool follows the readers with a lag.
func TestShuffleReadsWhatIsCopied(t *testing.T) {
	l := newLab(t, cluster(6, 1))
	j := mr("sort", 12, 64, 6)
	for i := range j.Maps {
		j.Maps[i].Output = 64 << 20
	}
	id := l.w.AddJob(j)
	for i := range 12 {
		l.start(0, id, heddle.Map, i, i%6, oneCore, oneCore, heddle.NodeID(i%6))
	}
	l.until(never)
	before := 0.0
	for n := range 6 {
		before += l.w.Disk(l.w.now, heddle.NodeID(n)).Requests
	}
	for i := range 6 {
		l.start(l.w.now, id, heddle.Reduce, i, i, oneCore, oneCore)
	}
	l.until(never)
	after := 0.0
	for n := range 6 {
		after += l.w.Disk(l.w.now, heddle.NodeID(n)).Requests
	}
	// Copied once, written and read by the merge, and three replicas of the result.
	near(t, "MiB", (after-before)*l.w.p.RequestBytes/mib, 12*64*(1+2+3), 0.05)
	l.w.EndJob(id)
	checkIdle(t, l.w)
}

// What a reduce copies from its own node does not use the network.
func TestShuffleFromTheOwnNode(t *testing.T) {
	copying := func(nic float64) float64 {
		c := cluster(1, 1)
		c.Nodes[0].NICBps = nic
		l := newLab(t, c)
		j := mr("sort", 1, 256, 1)
		id := l.w.AddJob(j)
		l.start(0, id, heddle.Map, 0, 0, oneCore, oneCore, 0)
		l.until(never)
		return l.seconds(l.start(l.w.now, id, heddle.Reduce, 0, 0, oneCore, oneCore))
	}
	near(t, "a reduce on the only node, with a slow network", copying(1e6), copying(1e9), 1e-6)
}

// history runs a busy little cluster with all effects and records what happened.
func history(seed uint64) string {
	c := cluster(9, 3)
	c.Effects, c.Seed, c.UplinkBps = AllEffects(), seed, 150e6
	w := New(c)
	j := w.AddJob(mr("sort", 60, 64, 7))
	k := w.AddJob(mr("wordcount", 40, 32, 3))
	rng := rand.New(rand.NewPCG(seed, 5))
	var s string
	var done []Done
	id := heddle.ContainerID(0)
	for i := range 110 {
		now := heddle.Time(i) * heddle.Time(300*heddle.Millisecond)
		done = w.Advance(now, done[:0])
		for _, d := range done {
			s += fmt.Sprintf("%d %+v\n", d.At, d)
			w.Close(now, d.Work.Container)
		}
		id++
		work := Work{Container: id, Kind: heddle.Map, Index: int32(i)}
		job := j
		switch {
		case i >= 107:
			work.Kind, work.Index, job = heddle.Reduce, int32(i-107), k
		case i >= 67:
			work.Index, job = int32(i-67), k
		case i >= 60:
			work.Kind, work.Index = heddle.Reduce, int32(i-60)
		}
		w.Open(now, id, job, work.Kind, heddle.NodeID(rng.IntN(9)), oneCore, oneCore)
		w.Run(now, work, []heddle.NodeID{heddle.NodeID(rng.IntN(9)), heddle.NodeID(rng.IntN(9))})
	}
	for {
		t, ok := w.Next()
		if !ok {
			return s + fmt.Sprint(w.CPUUsed(w.now))
		}
		for _, d := range w.Advance(t, nil) {
			s += fmt.Sprintf("%d %+v\n", d.At, d)
			w.Close(t, d.Work.Container)
		}
	}
}

func TestSameCallsSameBytes(t *testing.T) {
	want := history(3)
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	if history(3) != want {
		t.Error("two runs with the same seed differ")
	}
	if history(4) == want {
		t.Error("another seed changes nothing")
	}
}

// Nothing ends earlier than the bounds allow.
func TestBoundsHold(t *testing.T) {
	for _, cached := range []bool{false, true} {
		c := cluster(6, 2)
		c.Effects = AllEffects()
		c.Effects.PageCache = cached
		boundsHold(t, newLab(t, c))
	}
}

func boundsHold(t *testing.T, l *lab) {
	t.Helper()
	for _, program := range []string{"grep", "sort", "terasort", "wordcount", "pi", "unknown", "randomwriter"} {
		job := mr(program, 6, 100, 2)
		if program == "randomwriter" {
			job = mr(program, 6, 0, 0)
			for i := range job.Maps {
				job.Maps[i].Output = 50 << 20
			}
		}
		j := l.w.AddJob(job)
		for i := range job.Maps { // one after the other: nothing in the way
			from := l.w.now
			id := l.start(from, j, heddle.Map, i, i, oneCore, oneCore, heddle.NodeID((i+i%2)%6))
			checkBound(t, fmt.Sprint(program, " map ", i), l.seconds(id)-from.Seconds(), l.w.ShortestMap(j, int32(i)), l.w.WorkMap(j, int32(i)))
		}
		for i := range job.Reduces {
			from := l.w.now
			id := l.start(from, j, heddle.Reduce, i, i, oneCore, heddle.Of(4096, 1000))
			checkBound(t, fmt.Sprint(program, " reduce ", i), l.seconds(id)-from.Seconds(), l.w.ShortestReduce(j, int32(i)), l.w.WorkReduce(j, int32(i)))
		}
	}
	k := l.w.AddJob(kmeans(6, 64, 0, 1))
	l.executors(k, 6, executor)
	first := l.last - 5
	for stage := range 2 {
		for i := range 6 {
			from := l.w.now
			l.w.Run(from, Work{Container: first + heddle.ContainerID(i), Kind: heddle.Executor, Stage: int32(stage), Index: int32(i)}, nil)
			at, _ := l.w.Next()
			l.w.Advance(at, nil)
			checkBound(t, fmt.Sprint("spark ", stage, i), heddle.Span(at-from).Seconds(), l.w.ShortestSparkTask(k, int32(stage), int32(i)), l.w.WorkSparkTask(k, int32(stage), int32(i)))
		}
	}
}

func checkBound(t *testing.T, what string, got float64, shortest heddle.Span, work float64) {
	t.Helper()
	if got < shortest.Seconds() || shortest < 0 {
		t.Errorf("%s took %.9f s, less than its bound of %.9f", what, got, shortest.Seconds())
	}
	if work > shortest.Seconds()+1e-8 {
		t.Errorf("%s: %.9f core-seconds of work in at least %.9f s on one core", what, work, shortest.Seconds())
	}
}

// A task of which only the duration is known takes that long on an idle node, including the start of its process.
func TestGivenDurations(t *testing.T) {
	l := newLab(t, cluster(1, 1))
	j := mr("", 1, 64, 1)
	j.Maps[0].Duration = 30 * heddle.Second
	j.Other = []workload.Task{{Duration: 12 * heddle.Second}}
	id := l.w.AddJob(j)
	takes := func(kind heddle.Kind) float64 {
		began := l.w.now
		l.last++
		l.w.Open(began, l.last, id, kind, 0, oneCore, oneCore)
		l.w.Start(began, l.last)
		at, _ := l.w.Next()
		up := l.w.Advance(at, nil)[0]
		l.w.Advance(up.At, nil)
		l.w.Run(up.At, Work{Container: l.last, Kind: kind}, nil)
		return l.seconds(l.last) - began.Seconds()
	}
	near(t, "a map of 30 s", takes(heddle.Map), 30, 0.03)
	near(t, "a plain task of 12 s", takes(heddle.Other), 12, 1e-6)
	j.Reduces[0] = workload.Task{Duration: 40 * heddle.Second, Waited: 30 * heddle.Second}
	if s := l.w.ShortestReduce(id, 0).Seconds(); s > 10 || s < 9.9 {
		t.Errorf("a reduce of 40 s that waited for maps for 30 takes %g s after them at least", s)
	}
}

// So does a Spark task, whose duration includes no process start.
func TestGivenDurationsOfSpark(t *testing.T) {
	l := newLab(t, cluster(1, 1))
	job := kmeans(1, 1, 0, 0)
	job.Spark.Stages[0].Tasks[0].Duration = 1500 * heddle.Millisecond
	l.executors(l.w.AddJob(job), 1, executor)
	near(t, "a Spark task of 1.5 s", l.pass(0, 1, 1), 1.5, 0.03)
}

// Calls about what is unknown, over or too late are ignored.
func TestCrossedCallsAreIgnored(t *testing.T) {
	l := newLab(t, cluster(2, 1))
	w := l.w
	j := w.AddJob(busy(1, 1))
	for _, c := range []heddle.ContainerID{0, 7, -1} {
		w.Close(0, c)
		w.SetLimit(0, c, oneCore)
		w.Suspend(0, c)
		w.Resume(0, c)
		w.SetManaged(0, c, 5)
		w.Run(0, Work{Container: c, Kind: heddle.Map}, nil)
		w.Usage(0, c)
		w.Progress(0, c)
	}
	w.Open(0, 1, j, heddle.Map, 9, oneCore, oneCore)
	w.Open(0, 2, 77, heddle.Map, 0, oneCore, oneCore)
	w.Open(0, 3, j, heddle.Map, 0, oneCore, oneCore)
	w.Open(0, 3, j, heddle.Map, 1, oneCore, oneCore)
	w.Open(0, 4, j, heddle.Executor, 1, oneCore, oneCore)
	w.Run(0, Work{Container: 4, Kind: heddle.Map}, nil)
	for _, k := range []Work{{3, heddle.Map, 0, 5, 0}, {3, heddle.Map, 0, -1, 0}, {3, heddle.Reduce, 0, 0, 0}, {3, heddle.Executor, 0, 0, 0}, {3, heddle.AM, 0, 0, 0}} {
		w.Run(0, k, nil)
	}
	w.NodeDown(0, -1)
	w.NodeUp(0, 99)
	w.SetSpeed(0, 0, 0)
	w.SetSpeed(0, 0, math.NaN())
	if at, ok := w.Next(); ok {
		t.Errorf("something happens at %v", at)
	}
	w.Run(0, Work{Container: 3, Kind: heddle.Map}, []heddle.NodeID{-5, 99})
	near(t, "after all that, a second of work", l.seconds(3), 1, 1e-6)
}

// What reduces fetch from other racks takes time on the uplinks, and leaves nothing on them.
func TestShuffleCrossesUplinks(t *testing.T) {
	run := func(uplink float64, home int) float64 {
		c := cluster(8, 2)
		c.UplinkBps = uplink
		l := newLab(t, c)
		j := l.w.AddJob(mr("sort", 4, 64, 2))
		for i := range 4 { // all output in rack 0
			l.start(0, j, heddle.Map, i, i, oneCore, oneCore, heddle.NodeID(i))
		}
		l.until(never)
		from := l.w.now
		var last float64
		for i := range 2 {
			last = l.seconds(l.start(from, j, heddle.Reduce, i, home+i, oneCore, oneCore))
			from = l.w.now
		}
		l.w.EndJob(j)
		for range 3 {
			l.w.Advance(l.w.now.Plus(heddle.Second), nil)
		}
		checkIdle(t, l.w)
		return last
	}
	wide, narrow := run(0, 4), run(20e6, 4)
	// 256 MiB over 20 MB/s, less framing, in competition with the write of the second replica.
	if want := 256 * mib / 20e6 / 0.95; narrow < wide+want/2 {
		t.Errorf("reduces in another rack end at %.1f s over 20 MB/s and %.1f s without limit; the uplink alone takes %.1f s", narrow, wide, want)
	}
	if near := run(20e6, 0); near > narrow-5 {
		t.Errorf("reduces beside the data end at %.1f s, in another rack at %.1f", near, narrow)
	}
}
