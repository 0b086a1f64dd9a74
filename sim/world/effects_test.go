package world

import (
	"math"
	"testing"

	"heddle"
	"heddle/workload"
)

// busy returns a map-only job whose maps each compute for the given seconds on the reference core.
func busy(maps int, seconds float64) *workload.Job {
	j := &workload.Job{}
	for range maps {
		j.Maps = append(j.Maps, workload.Task{CPU: heddle.Seconds(seconds)})
	}
	return j
}

func near(t *testing.T, what string, got, want, tolerance float64) {
	t.Helper()
	if math.IsNaN(got) || math.Abs(got-want) > tolerance*max(math.Abs(want), 1e-9) {
		t.Errorf("%s = %v, want %v (±%v%%)", what, got, want, 100*tolerance)
	}
}

// mapTimes returns the mean time of a map, with one map per slot on each of six nodes; each map reads from the node
// away places further on.
func mapTimes(t *testing.T, c Config, slots, away int, told, limit heddle.Resource) float64 {
	l := newLab(t, c)
	j := l.w.AddJob(mr("grep", 6*slots, 256, 1))
	var ids []heddle.ContainerID
	for i := range 6 * slots {
		ids = append(ids, l.start(0, j, heddle.Map, i, i%6, told, limit, heddle.NodeID((i+away)%6)))
	}
	sum := 0.0
	for _, id := range ids {
		sum += l.seconds(id)
	}
	return sum / float64(len(ids))
}

// iKayak's Fig. 6 at its own 1 Gb/s, one disk and 256 MB blocks: L100 < L80 < R100, and L40 is not worth it.
// What is known to be 0 is not replaced by what the program makes of its input, which it is where nothing is known.
func TestNothingIsWritten(t *testing.T) {
	run := func(maps, reduces workload.Task) (copied int64, written float64) {
		l := newLab(t, cluster(4, 1))
		j := mr("sort", 4, 64, 2)
		for i := range j.Maps {
			maps.Input = j.Maps[i].Input
			j.Maps[i] = maps
		}
		j.Reduces[0], j.Reduces[1] = reduces, reduces
		id := l.w.AddJob(j)
		for i := range j.Maps {
			l.start(0, id, heddle.Map, i, i, oneCore, oneCore)
		}
		for i := range j.Reduces {
			l.start(0, id, heddle.Reduce, i, i, oneCore, oneCore)
		}
		l.until(never)
		if len(l.done) != 6 {
			t.Errorf("maps like %+v and reduces like %+v: %d of 6 tasks ended", maps, reduces, len(l.done))
		}
		for _, at := range l.mapOutput(id) {
			copied += at.bytes
		}
		return copied, l.w.reduceNeed(l.w.job(id), 0, 1024).result
	}
	none := workload.Task{NoOutput: true}
	for _, c := range []struct {
		maps, reduces   workload.Task
		copied, written int64
	}{
		{workload.Task{}, workload.Task{}, 256 << 20, 128 << 20},
		{none, workload.Task{}, 0, 0},
		{workload.Task{}, none, 256 << 20, 0},
		{none, workload.Task{Output: 5}, 0, 5},
		{none, workload.Task{Input: 5 << 20}, 0, 5 << 20}, // contradictory
	} {
		if copied, written := run(c.maps, c.reduces); copied != c.copied || int64(written) != c.written {
			t.Errorf("maps like %+v and reduces like %+v leave %d bytes and write %g, want %d and %d", c.maps, c.reduces, copied, written, c.copied, c.written)
		}
	}
}

func TestLocalBeatsShrunkBeatsRemote(t *testing.T) {
	for _, slots := range []int{1, 2} {
		shrunk := func(percent int64) float64 {
			return mapTimes(t, cluster(6, 1), slots, 0, oneCore, heddle.Of(1024*percent/100, 10*percent))
		}
		l100, l80, l40 := shrunk(100), shrunk(80), shrunk(40)
		r100 := mapTimes(t, cluster(6, 1), slots, 1, oneCore, oneCore)
		if !(l100 < l80 && l80 < r100 && r100 < l40) {
			t.Errorf("%d maps a node: L100 %.3f, L80 %.3f, R100 %.3f, L40 %.3f s; want them in this order", slots, l100, l80, r100, l40)
		}
		c := cluster(6, 1)
		c.Effects.Locality = false
		if got := mapTimes(t, c, slots, 1, oneCore, oneCore); got != l100 {
			t.Errorf("%d maps a node: without locality a remote map takes %.3f s, a local one %.3f", slots, got, l100)
		}
	}
}

func TestRemoteReadLoadsTheSourceAndTheUplinks(t *testing.T) {
	local := func(readers int, uplink float64) (victim, reader float64) {
		c := cluster(8, 2)
		c.UplinkBps = uplink
		l := newLab(t, c)
		j := l.w.AddJob(mr("grep", 8, 256, 1))
		v := l.start(0, j, heddle.Map, 0, 0, oneCore, oneCore, 0)
		r := v
		for i := range readers {
			r = l.start(0, j, heddle.Map, i+1, 4+i, oneCore, oneCore, 0) // the other rack
		}
		return l.seconds(v), l.seconds(r)
	}
	alone, _ := local(0, 0)
	loaded, free := local(3, 0)
	if loaded < 1.5*alone {
		t.Errorf("a local map takes %.2f s alone and %.2f s while three nodes read from its disk", alone, loaded)
	}
	if _, narrow := local(3, 20e6); narrow < 2*free {
		t.Errorf("a remote map takes %.2f s over a 20 MB/s uplink and %.2f s without limit", narrow, free)
	}
}

func TestNearestReplica(t *testing.T) {
	l := newLab(t, cluster(8, 2))
	j := l.w.AddJob(mr("grep", 3, 64, 1))
	far := l.start(0, j, heddle.Map, 0, 0, oneCore, oneCore, 5, 6)
	rack := l.start(0, j, heddle.Map, 1, 0, oneCore, oneCore, 5, 3)
	node := l.start(0, j, heddle.Map, 2, 0, oneCore, oneCore, 5, 3, 0)
	l.until(never)
	for c, want := range map[heddle.ContainerID]heddle.Locality{far: heddle.OffSwitch, rack: heddle.RackLocal, node: heddle.NodeLocal} {
		if got := l.done[c].Read; got != want {
			t.Errorf("container %d read from %v, want %v", c, got, want)
		}
	}
}

func TestStagesShareTheNodeAndLeaveWhatTheyCannotUse(t *testing.T) {
	run := func(c Config, disks, cpus int) (disk, cpu float64) {
		l := newLab(t, c)
		reads, computes := l.w.AddJob(mr("grep", 8, 256, 1)), l.w.AddJob(busy(16, 10))
		var a, b heddle.ContainerID
		for i := range disks {
			a = l.start(0, reads, heddle.Map, i, 0, oneCore, oneCore, 0)
		}
		for i := range cpus {
			b = l.start(0, computes, heddle.Map, i, 0, oneCore, oneCore)
		}
		if disks > 0 {
			disk = l.seconds(a)
		}
		if cpus > 0 {
			cpu = l.seconds(b)
		}
		return disk, cpu
	}
	one, _ := run(cluster(1, 1), 1, 0)
	four, _ := run(cluster(1, 1), 4, 0)
	mixed, cpu := run(cluster(1, 1), 4, 4)
	if four < 3*one {
		t.Errorf("four readers of one disk take %.2f s, one %.2f", four, one)
	}
	near(t, "readers beside four that compute", mixed, four, 1e-6)
	near(t, "computing beside four that read", cpu, 10, 1e-6)
	_, over := run(cluster(1, 1), 0, 16)
	near(t, "sixteen on eight cores", over, 20, 1e-6)
	c := cluster(1, 1)
	c.Effects.Contention = false
	free, _ := run(c, 4, 0)
	near(t, "four readers without contention", free, one, 1e-6)
	c = cluster(1, 1)
	c.Nodes[0].Speed = 0.5
	_, slow := run(c, 0, 1)
	near(t, "ten seconds on half a core's speed", slow, 20, 1e-6)
}

func TestMapsSpillAndLeaveTheirOutput(t *testing.T) {
	l := newLab(t, cluster(2, 1))
	j := l.w.AddJob(mr("sort", 2, 64, 1))
	c := l.start(0, j, heddle.Map, 0, 1, oneCore, oneCore, 1)
	now, _ := l.w.Next()
	l.w.Advance(now, nil) // the end of reading: the map goes on
	if _, f := l.w.Progress(now, c); math.Abs(f-2./3) > 1e-6 {
		t.Errorf("progress when the input is read = %v, want 2/3", f)
	}
	l.until(never)
	if got := l.done[c].Output; got != 64<<20 {
		t.Errorf("output = %d", got)
	}
	if got := l.mapOutput(j); len(got) != 1 || got[0] != (nodeBytes{1, 64 << 20}) {
		t.Errorf("map output on %v", got)
	}
	l.w.Open(l.w.now, 99, j, heddle.Map, 0, oneCore, oneCore)
	l.w.Run(l.w.now, Work{Container: 99, Kind: heddle.Map, Attempt: 1}, nil)
	l.until(never)
	if got := l.done[99].Output; got != 0 {
		t.Errorf("a second attempt of the same map left %d bytes", got)
	}
	// A block that does not fit in the sort buffer is spilled, read and written again.
	small, large := newLab(t, cluster(1, 1)), newLab(t, cluster(1, 1))
	a := small.w.AddJob(mr("sort", 1, 64, 1))
	b := large.w.AddJob(mr("sort", 1, 128, 1))
	s, g := small.seconds(small.start(0, a, heddle.Map, 0, 0, oneCore, oneCore)), large.seconds(large.start(0, b, heddle.Map, 0, 0, oneCore, oneCore))
	if g < 2.2*s {
		t.Errorf("a map that spills twice takes %.2f s, one of half its size %.2f", g, s)
	}
}

func TestReduceCopyFollowsTheMaps(t *testing.T) {
	l := newLab(t, cluster(4, 1))
	j := l.w.AddJob(mr("sort", 4, 64, 1))
	r := l.start(0, j, heddle.Reduce, 0, 0, oneCore, oneCore)
	now := heddle.Time(0)
	for i := range 4 {
		l.start(now, j, heddle.Map, i, i, oneCore, oneCore, heddle.NodeID(i))
		now = now.Plus(60 * heddle.Second)
		l.until(now)
		phase, f := l.w.Progress(now, r)
		if i == 3 {
			if phase == heddle.ReduceCopy {
				t.Errorf("a minute after the last map the reduce still copies")
			}
			break
		}
		if phase != heddle.ReduceCopy || math.Abs(f-float64(i+1)/12) > 1e-6 {
			t.Errorf("with %d of 4 maps done: phase %v, progress %v, want a third of them", i+1, phase, f)
		}
		l.w.Usage(now, r)
		now = now.Plus(5 * heddle.Second)
		l.until(now)
		if cpu, mem := l.w.Usage(now, r); cpu != 0 || mem < l.w.p.TaskBase {
			t.Errorf("a reduce that waits uses %d milli-vcores and %d MiB, want none and its memory", cpu, mem)
		}
	}
	l.seconds(r)
}

func TestManyCopiersSlowTheMapsTheyReadFrom(t *testing.T) {
	run := func(copiers int) float64 {
		l := newLab(t, cluster(8, 1))
		j, other := l.w.AddJob(mr("sort", 4, 512, 8)), l.w.AddJob(mr("grep", 1, 1024, 1))
		for i := range 4 {
			l.start(0, j, heddle.Map, i, 0, oneCore, oneCore, 0)
		}
		l.until(never)
		now := l.w.now
		for i := range copiers {
			l.start(now, j, heddle.Reduce, i, 1+i, oneCore, oneCore)
		}
		return l.seconds(l.start(now, other, heddle.Map, 0, 0, oneCore, oneCore, 0)) - now.Seconds()
	}
	none, one, seven := run(0), run(1), run(7)
	if !(none < 0.9*one && one < 0.9*seven) {
		t.Errorf("a map takes %.2f, %.2f and %.2f s while 0, 1 and 7 reduces copy from its node", none, one, seven)
	}
}

func TestSkew(t *testing.T) {
	c := cluster(4, 1)
	even := New(c)
	j := even.jobs[even.AddJob(mr("sort", 10, 64, 10))]
	if j.parts[0] != j.parts[9] {
		t.Errorf("partitions differ without skew: %v", j.parts)
	}
	c.Effects = AllEffects()
	w := New(c)
	id := w.AddJob(mr("sort", 10, 64, 10))
	sum, most := 0.0, 0.0
	for _, p := range w.jobs[id].parts {
		sum += p
		most = max(most, p)
	}
	near(t, "sum of partitions", sum, 640<<20, 1e-9)
	near(t, "largest of ten partitions", most/sum, 0.164, 0.01)
	given := mr("sort", 2, 64, 2)
	given.Reduces[0].Input, given.Reduces[1].Input = 10<<20, 118<<20
	if p := w.jobs[w.AddJob(given)].parts; p[0] != 10<<20 || p[1] != 118<<20 {
		t.Errorf("stated partitions were changed: %v", p)
	}
	if a, b := w.ShortestMap(id, 0), w.ShortestMap(id, 1); a == b {
		t.Error("two maps of a job need exactly the same with noise")
	}
	if w.nodes[0].speed == w.nodes[1].speed {
		t.Error("two nodes have exactly the same speed with slow nodes")
	}
}

func TestTooLittleMemorySlows(t *testing.T) {
	run := func(c Config, demand, limit int64) float64 {
		l := newLab(t, c)
		b := busy(1, 10)
		b.Maps[0].Memory = demand
		return l.seconds(l.start(0, l.w.AddJob(b), heddle.Map, 0, 0, heddle.Of(1000, 1000), heddle.Of(limit, 1000)))
	}
	c := cluster(1, 1)
	near(t, "enough", run(c, 1000, 1000), 10, 1e-6)
	near(t, "a tenth", run(c, 1000, 100), 10*(1.2+1.75+1.08)/3, 1e-6)
	near(t, "half", run(c, 1000, 500), 10*(1+((1.2+1.75+1.08)/3-1)*5/9), 1e-6)
	c.Effects.Memory = false
	near(t, "a tenth, effect off", run(c, 1000, 100), 10, 1e-6)
	c.Effects.Memory, c.Effects.MemoryKill = true, true
	l := newLab(t, c)
	b := busy(1, 10)
	b.Maps[0].Memory = 2000
	id := l.start(0, l.w.AddJob(b), heddle.Map, 0, 0, oneCore, oneCore)
	near(t, "killed at", l.seconds(id), 3, 1e-6)
	if l.done[id].Outcome != OverLimit {
		t.Errorf("outcome = %v", l.done[id].Outcome)
	}
}

func TestOvercommittedNodeSwaps(t *testing.T) {
	run := func(memory int64) float64 {
		c := cluster(1, 1)
		c.Nodes[0].Memory = memory
		l := newLab(t, c)
		b := busy(4, 10)
		for i := range b.Maps {
			b.Maps[i].Memory = 1000
		}
		j := l.w.AddJob(b)
		var id heddle.ContainerID
		for i := range 4 {
			id = l.start(0, j, heddle.Map, i, 0, oneCore, oneCore)
		}
		return l.seconds(id)
	}
	near(t, "enough", run(4000), 10, 1e-6)
	near(t, "100 MiB too little", run(3900), 10*(1+2*100*1048576*15/22.7/150e6), 1e-6)
}

func TestProcessorSharesAndQuotas(t *testing.T) {
	c := cluster(1, 1)
	c.Nodes[0].Cores = 1
	l := newLab(t, c)
	j := l.w.AddJob(busy(2, 10))
	heavy := l.start(0, j, heddle.Map, 0, 0, heddle.Of(512, 3000), heddle.Of(512, 3000))
	light := l.start(0, j, heddle.Map, 1, 0, heddle.Of(512, 1000), heddle.Of(512, 1000))
	near(t, "three quarters of a core, then nothing to compete", l.seconds(heavy), 10/0.75, 1e-6)
	near(t, "a quarter of a core, then all of it", l.seconds(light), 20, 1e-6)

	l = newLab(t, cluster(1, 1))
	j = l.w.AddJob(busy(2, 10))
	capped := l.start(0, j, heddle.Map, 0, 0, oneCore, heddle.Of(1024, 500))
	wide := l.start(0, j, heddle.Map, 1, 0, heddle.Of(1024, 4000), heddle.Of(1024, 4000))
	near(t, "half a core's quota on an idle node", l.seconds(capped), 20, 1e-6)
	near(t, "one thread in four vcores", l.seconds(wide), 10, 1e-6)
}

// Weights divide a busy core as given, 10 to 1, whatever the sizes of the containers. If a core is idle, they change
// nothing, and they do not lift a quota.
func TestWeights(t *testing.T) {
	c := cluster(1, 1)
	c.Nodes[0].Cores = 1
	l := newLab(t, c)
	j := l.w.AddJob(busy(2, 10))
	first := l.start(0, j, heddle.Map, 0, 0, heddle.Of(512, 1000), heddle.Of(512, 1000))
	second := l.start(0, j, heddle.Map, 1, 0, heddle.Of(512, 4000), heddle.Of(512, 4000))
	l.w.SetWeight(0, first, 5000)
	l.w.SetWeight(0, second, 500)
	near(t, "ten elevenths of a core", l.seconds(first), 11, 1e-6)
	near(t, "the rest, then all of it", l.seconds(second), 20, 1e-6)

	l = newLab(t, cluster(1, 1))
	j = l.w.AddJob(busy(2, 10))
	idle := l.start(0, j, heddle.Map, 0, 0, oneCore, oneCore)
	capped := l.start(0, j, heddle.Map, 1, 0, oneCore, heddle.Of(1024, 500))
	l.w.SetWeight(0, idle, 1)
	l.w.SetWeight(0, capped, 9000)
	near(t, "little weight among idle cores", l.seconds(idle), 10, 1e-6)
	near(t, "half a core's quota", l.seconds(capped), 20, 1e-6)
}

// A heap is fixed when its process starts: a larger limit does not make a task faster, and a limit smaller than what
// its heap would hold makes it swap the excess.
func TestHeapIsFixedAtTheStart(t *testing.T) {
	run := func(started, later int64) float64 {
		c := cluster(1, 1)
		c.Params.ResizeCost = 0
		l := newLab(t, c)
		b := busy(1, 10)
		b.Maps[0].Memory = 1000
		id := l.start(0, l.w.AddJob(b), heddle.Map, 0, 0, heddle.Of(1000, 1000), heddle.Of(started, 1000))
		l.w.SetLimit(0, id, heddle.Of(later, 1000))
		return l.seconds(id)
	}
	half := 10 * (1 + ((1.2+1.75+1.08)/3-1)*5/9)
	near(t, "half the memory", run(500, 500), half, 1e-6)
	near(t, "raised after the start", run(500, 1000), half, 1e-6)
	near(t, "lowered by 100 MiB after the start", run(1000, 900), 10*(1+2*100*1048576*15/22.7/150e6), 1e-6)
}

// A map that sorts collects its heap again and again if its buffer hardly fits: 62 times with 170 MB of heap and a
// split of 100 MB, never with 250 MB.
func TestSmallHeapsCollect(t *testing.T) {
	w := New(cluster(1, 1))
	container := func(heap float64) int64 { return int64(math.Round(heap * 1e6 / 0.8 / (1 << 20))) }
	near(t, "62 collections", w.collecting(container(170), 100e6), 62*0.0076, 0.01)
	near(t, "a quarter of that half way up and for half the split", w.collecting(container(210), 50e6), 62*0.0076/4, 0.02)
	if s := w.collecting(container(251), 100e6); s != 0 {
		t.Errorf("a heap of 251 MB loses %v s", s)
	}
}

// Memory in use is what processes hold, regardless of their containers' limits.
func TestMemoryUsed(t *testing.T) {
	l := newLab(t, cluster(1, 1))
	b := busy(1, 10)
	b.Maps[0].Memory = 700
	l.start(0, l.w.AddJob(b), heddle.Map, 0, 0, oneCore, oneCore)
	l.until(heddle.Time(20 * heddle.Second))
	near(t, "700 MiB for 10 s", l.w.MemoryUsed(heddle.Time(20*heddle.Second)), 7000, 1e-6)
}

func TestCostsOfActing(t *testing.T) {
	run := func(c Config, do func(w *World, id heddle.ContainerID)) float64 {
		l := newLab(t, c)
		id := l.start(0, l.w.AddJob(busy(1, 10)), heddle.Map, 0, 0, oneCore, oneCore)
		l.until(heddle.Time(2 * heddle.Second))
		do(l.w, id)
		return l.seconds(id)
	}
	suspend := func(w *World, id heddle.ContainerID) {
		w.Suspend(w.now, id)
		w.Advance(w.now.Plus(5*heddle.Second), nil)
		if cpu := w.CPUUsed(w.now); math.Abs(cpu-2) > 1e-6 {
			t.Errorf("a suspended task used processor time: %v core-seconds, want 2", cpu)
		}
		w.Resume(w.now, id)
	}
	near(t, "suspended for 5 s", run(cluster(1, 1), suspend), 10+5+2.7, 1e-6)
	resize := func(w *World, id heddle.ContainerID) { w.SetLimit(w.now, id, heddle.Of(1024, 500)) }
	near(t, "halved after 2 s", run(cluster(1, 1), resize), 2.05+7.95*2, 1e-6)
	free := cluster(1, 1)
	free.Effects.LaunchDelay = false
	near(t, "suspended for free", run(free, suspend), 15, 1e-6)
	near(t, "halved for free", run(free, resize), 18, 1e-6)
}

// Starting a process computes: four at once on two cores take longer than one, and take as long as measured, 3.4 s and
// 1.4 s.
func TestStart(t *testing.T) {
	c := cluster(1, 1)
	c.Nodes[0].Cores = 2
	starts := func(c Config, n int, kind heddle.Kind, job *workload.Job) (last float64, w *World) {
		l := newLab(t, c)
		id := l.w.AddJob(job)
		for i := range n {
			l.w.Open(0, heddle.ContainerID(i+1), id, kind, 0, oneCore, oneCore)
			if !l.w.Start(0, heddle.ContainerID(i+1)) {
				t.Fatal("a start takes no time")
			}
		}
		l.until(heddle.Time(heddle.Minute))
		for i := range n {
			d, ok := l.done[heddle.ContainerID(i+1)]
			if !ok || d.Outcome != Started || d.Work.Kind != kind {
				t.Fatalf("start %d: %+v", i, d)
			}
			last = max(last, heddle.Span(d.At).Seconds())
		}
		return last, l.w
	}
	near(t, "one", first(starts(c, 1, heddle.Map, mr("sort", 1, 64, 0))), 1.4, 0.2)
	four, w := starts(c, 4, heddle.Map, mr("sort", 1, 64, 0))
	near(t, "four on two cores", four, 3.4, 0.2)
	near(t, "core-seconds of four", w.CPUUsed(w.now), 4*1.55, 1e-6)
	near(t, "a MapReduce master", first(starts(c, 1, heddle.AM, mr("sort", 1, 64, 0))), 2.9/1.5+0.6, 1e-6)
	near(t, "Spark's driver", first(starts(c, 1, heddle.AM, kmeans(1, 64, 0, 1))), 3.5/1.5+0.5, 1e-6)
	outside := kmeans(1, 64, 0, 1)
	outside.Spark.Client = true
	near(t, "Spark's master", first(starts(c, 1, heddle.AM, outside)), 2.4/1.5+0.5, 1e-6)
	near(t, "an executor", first(starts(c, 1, heddle.Executor, outside)), 2.4/1.2+0.5, 1e-6)
	c.Nodes[0].Speed = 0.5
	near(t, "one on slower cores", first(starts(c, 1, heddle.Map, mr("sort", 1, 64, 0))), 1.55/1.5+0.17, 1e-6)

	w = New(cluster(1, 1))
	w.SetSpeed(0, 0, 0.5)
	id := w.AddJob(mr("sort", 1, 64, 0))
	w.Open(0, 1, id, heddle.Map, 0, oneCore, oneCore)
	w.Start(0, 1)
	at, _ := w.Next()
	near(t, "one on a straggler", w.Advance(at, nil)[0].At.Seconds(), 2*1.55/1.5+0.17, 1e-6)

	w = New(cluster(1, 1))
	id = w.AddJob(mr("sort", 1, 64, 0))
	w.Open(0, 1, id, heddle.Map, 0, oneCore, oneCore)
	w.Start(0, 1)
	w.Close(heddle.Time(heddle.Second/2), 1)
	if done := w.Advance(heddle.Time(heddle.Minute), nil); len(done) > 0 || w.CPUUsed(w.now) > 0.75+1e-6 {
		t.Errorf("closed as it starts: %+v, %v core-seconds", done, w.CPUUsed(w.now))
	}
	free := cluster(1, 1)
	free.Effects.LaunchDelay = false
	w = New(free)
	w.Open(0, 1, w.AddJob(mr("sort", 1, 64, 0)), heddle.Map, 0, oneCore, oneCore)
	if w.Start(0, 1) {
		t.Error("a start takes time with the effect off")
	}
}

func first[T any](x float64, _ T) float64 { return x }

func TestSuspendedReduceLendsItsProcessor(t *testing.T) {
	c := cluster(1, 1)
	c.Nodes[0].Cores = 1
	run := func(suspend bool) float64 {
		l := newLab(t, c)
		j := l.w.AddJob(busy(2, 10))
		a := l.start(0, j, heddle.Map, 0, 0, oneCore, oneCore)
		b := l.start(0, j, heddle.Map, 1, 0, oneCore, oneCore)
		if suspend {
			l.w.Suspend(0, a)
			if _, mem := l.w.Usage(0, a); mem == 0 {
				t.Error("a suspended container gave its memory back")
			}
		}
		l.until(heddle.Time(10 * heddle.Second))
		l.w.Resume(l.w.now, a)
		return l.seconds(b)
	}
	near(t, "beside a running task", run(false), 20, 1e-6)
	near(t, "beside a suspended task", run(true), 10, 1e-6)
}

func TestMasterFailsWhenUndersized(t *testing.T) {
	fails := func(c Config, memory int64, tasks int) bool {
		l := newLab(t, c)
		l.w.Open(0, 1, l.w.AddJob(busy(1, 1)), heddle.AM, 0, heddle.Of(memory, 1000), heddle.Of(memory, 1000))
		l.w.SetManaged(0, 1, tasks)
		l.until(never)
		d, ok := l.done[1]
		if ok && (d.Outcome != OutOfMemory || d.Work.Kind != heddle.AM) {
			t.Errorf("done = %+v", d)
		}
		return ok
	}
	for _, c := range []struct {
		memory int64
		tasks  int
		want   bool
	}{{256, 100, false}, {512, 250, false}, {256, 20000, true}, {1024, 50000, false}, {1024, 70000, true}, {128, 1, true}} {
		if got := fails(cluster(1, 1), c.memory, c.tasks); got != c.want {
			t.Errorf("a master of %d MiB with %d tasks: failed = %v", c.memory, c.tasks, got)
		}
	}
	off := cluster(1, 1)
	off.Effects.Memory = false
	if fails(off, 128, 70000) {
		t.Error("a master fails with the effect off")
	}
}

func TestNodeLoss(t *testing.T) {
	l := newLab(t, cluster(4, 2))
	j := l.w.AddJob(mr("sort", 2, 64, 1))
	l.start(0, j, heddle.Map, 0, 0, oneCore, oneCore, 0)
	l.until(never)
	now := l.w.now
	reduce := l.start(now, j, heddle.Reduce, 0, 1, oneCore, oneCore)
	reader := l.start(now, j, heddle.Map, 1, 1, oneCore, oneCore, 0, 3)
	lost := l.start(now, j, heddle.Map, 0, 0, oneCore, oneCore)
	l.until(now.Plus(100 * heddle.Millisecond))
	l.w.NodeDown(l.w.now, 0)
	l.seconds(reader)
	if _, ok := l.done[lost]; ok {
		t.Error("work on a lost node ended")
	}
	if _, ok := l.done[reduce]; ok {
		t.Error("a reduce ended although map output was lost")
	}
	if got := l.mapOutput(j); len(got) != 1 || got[0].node != 1 {
		t.Errorf("map output after the loss: %v", got)
	}
	l.w.Open(l.w.now, 50, j, heddle.Map, 0, oneCore, oneCore)
	l.w.Run(l.w.now, Work{Container: 50, Kind: heddle.Map}, nil)
	if _, ok := l.w.Next(); ok {
		t.Error("a node that is down runs work")
	}
	l.w.NodeUp(l.w.now, 0)
	l.start(l.w.now, j, heddle.Map, 0, 0, oneCore, oneCore)
	l.seconds(reduce)
}

func TestStragglingNode(t *testing.T) {
	l := newLab(t, cluster(1, 1))
	id := l.start(0, l.w.AddJob(busy(1, 10)), heddle.Map, 0, 0, oneCore, oneCore)
	l.until(heddle.Time(5 * heddle.Second))
	l.w.SetSpeed(l.w.now, 0, 0.25)
	near(t, "half of it at a quarter of the speed", l.seconds(id), 5+20, 1e-6)
}
