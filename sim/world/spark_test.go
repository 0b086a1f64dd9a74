package world

import (
	"math/rand/v2"
	"slices"
	"testing"

	"heddle"
	"heddle/workload"
)

// kmeans returns a Spark job: a pass that reads parts of the given MiB and caches them, and iterations over them.
func kmeans(parts int, mb, storage int64, iterations int) *workload.Job {
	s := &workload.SparkJob{Storage: storage}
	s.Stages = append(s.Stages, workload.Stage{ID: 10, Input: true, Caches: true})
	for i := range iterations {
		s.Stages = append(s.Stages, workload.Stage{ID: 11 + i, Parents: []int{10 + i}, Cached: true})
	}
	for i := range s.Stages {
		for range parts {
			s.Stages[i].Tasks = append(s.Stages[i].Tasks, workload.Task{Input: mb << 20})
		}
	}
	return &workload.Job{Program: "kmeans", Framework: heddle.Spark, Spark: s}
}

// pass runs a stage's tasks at once, task i in executor i modulo the number of executors, and returns how long the
// stage took.
func (l *lab) pass(stage, tasks, executors int, hosts ...heddle.NodeID) float64 {
	from := l.w.now
	for i := range tasks {
		l.w.Run(from, Work{Container: heddle.ContainerID(i%executors + 1), Kind: heddle.Executor, Stage: int32(stage), Index: int32(i)}, hosts)
	}
	for left := tasks; left > 0; {
		t, ok := l.w.Next()
		if !ok {
			l.t.Fatalf("stage %d: %d tasks never ended", stage, left)
		}
		left -= len(l.w.Advance(t, nil))
	}
	return heddle.Span(l.w.now - from).Seconds()
}

func (l *lab) executors(j JobID, n int, size heddle.Resource) {
	for i := range n {
		l.last++
		l.w.Open(l.w.now, l.last, j, heddle.Executor, heddle.NodeID(i), size, size)
	}
}

var executor = heddle.Of(4096, 4000)

func TestLaterPassesComeFromMemory(t *testing.T) {
	l := newLab(t, cluster(4, 1))
	j := l.w.AddJob(kmeans(8, 128, 0, 2))
	l.executors(j, 2, executor)
	first := l.pass(0, 8, 2)
	second, third := l.pass(1, 8, 2), l.pass(2, 8, 2)
	if second > first/4 || second != third {
		t.Errorf("passes take %.3f, %.3f, %.3f s; want the later ones equal and much shorter", first, second, third)
	}
	if disk := l.w.Disk(l.w.now, 0); disk.Requests*l.w.p.RequestBytes > 4.001*(128<<20) {
		t.Errorf("node 0 read %.0f bytes, want its four partitions once", disk.Requests*l.w.p.RequestBytes)
	}
}

// Partitions of a stage that find no room are computed again in every pass; those that are stored stay.
func TestPartitionsWithoutRoomAreComputedAgain(t *testing.T) {
	room := int64(360 << 20) // for two of four partitions of 137 MiB
	l := newLab(t, cluster(1, 1))
	j := l.w.AddJob(kmeans(4, 128, room, 3))
	l.executors(j, 1, executor)
	l.pass(0, 4, 1)
	read := func() float64 { return l.w.Disk(l.w.now, 0).Requests * l.w.p.RequestBytes / mib }
	for pass, before := 1, read(); pass <= 3; pass++ {
		l.pass(pass, 4, 1)
		near(t, "MiB read in a later pass", read()-before, 2*128, 1e-6)
		before = read()
	}
	if c := &l.w.conts[0]; c.stored > float64(room) || len(c.cache) != 2 {
		t.Errorf("%d partitions of %.0f bytes stored in %d", len(c.cache), c.stored, room)
	}
	// A smaller limit leaves less room for them.
	l.w.SetLimit(l.w.now, 1, heddle.Of(2048, 4000))
	l.w.Advance(l.w.now.Plus(heddle.Second), nil)
	if n := len(l.w.conts[0].cache); n != 1 {
		t.Errorf("%d partitions stored at half of the limit, want 1", n)
	}
}

// An executor that ends takes all of its partitions with it, including empty ones.
func TestPartitionsEndWithTheirExecutor(t *testing.T) {
	l := newLab(t, cluster(1, 1))
	j := l.w.AddJob(kmeans(2, 0, 0, 1))
	l.executors(j, 1, executor)
	l.pass(0, 2, 1)
	of := l.w.job(j)
	if len(of.cached) != 2 {
		t.Fatalf("%d partitions stored, want 2", len(of.cached))
	}
	l.w.Close(l.w.now, 1)
	if len(of.cached) != 0 {
		t.Errorf("%d partitions are in the memory of an executor that has ended", len(of.cached))
	}
}

// Partitions of another stage are evicted, the least recently used first, but only if that makes enough room.
func TestPartitionsOfOtherStagesGiveWay(t *testing.T) {
	job := kmeans(3, 128, 420<<20, 0) // room for three partitions of 137 MiB
	job.Spark.Stages = append(job.Spark.Stages, workload.Stage{ID: 20, Input: true, Caches: true, Tasks: []workload.Task{
		{Input: 128 << 20}, {Input: 128 << 20}, {Input: 512 << 20},
	}}, workload.Stage{ID: 21, Parents: []int{10}, Cached: true, Tasks: make([]workload.Task, 3)},
		workload.Stage{ID: 22, Parents: []int{20}, Cached: true, Tasks: make([]workload.Task, 3)})
	l := newLab(t, cluster(1, 1))
	j := l.w.AddJob(job)
	l.executors(j, 1, executor)
	l.pass(0, 3, 1)
	l.pass(1, 3, 1)
	for stage, want := range map[int32][]heddle.ContainerID{2: {0, 0, 1}, 3: {1, 1, 0}} {
		for i := range want {
			k := Work{Kind: heddle.Executor, Stage: stage, Index: int32(i)}
			if at := l.w.Cached(j, k); at != want[i] {
				t.Errorf("what task %d of stage %d reads is in executor %d, want %d", i, stage, at, want[i])
			}
			if source, ok := l.w.Source(j, k); !ok || source != (Work{Kind: heddle.Executor, Stage: stage - 2, Index: int32(i)}) {
				t.Errorf("what task %d of stage %d reads comes from %+v", i, stage, source)
			}
		}
	}
}

// nearestOf looks for the nearest ancestor of a stage that caches, generation by generation.
func nearestOf(stages []workload.Stage, of int) int32 {
	seen := map[int]bool{}
	for next := []int{of}; len(next) > 0; next = next[1:] {
		for _, id := range stages[next[0]].Parents {
			p := slices.IndexFunc(stages, func(s workload.Stage) bool { return s.ID == id })
			if p < 0 || seen[p] {
				continue
			}
			if seen[p] = true; stages[p].Caches && len(stages[p].Tasks) > 0 {
				return int32(p)
			}
			next = append(next, p)
		}
	}
	return noStage
}

func TestNearestAncestorThatCaches(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	found := 0
	for range 2000 {
		stages := make([]workload.Stage, 1+rng.IntN(20))
		for i := range stages {
			stages[i] = workload.Stage{ID: 100 - i, Caches: rng.IntN(4) == 0, Cached: rng.IntN(3) > 0, Tasks: make([]workload.Task, rng.IntN(4))}
			for range rng.IntN(4) {
				stages[i].Parents = append(stages[i].Parents, 101-rng.IntN(i+1)) // 101 is no stage
			}
		}
		got := sources(stages)
		for i := range stages {
			want := int32(noStage)
			if stages[i].Cached {
				want = nearestOf(stages, i)
			}
			if want != noStage {
				found++
			}
			if got[i] != want {
				t.Fatalf("stage %d of %+v reads what stage %d caches, want %d", i, stages, got[i], want)
			}
		}
	}
	if found < 1000 {
		t.Errorf("only %d stages have an ancestor that caches", found)
	}
}

// A long program reads the same data in thousands of stages, each after the one before.
func TestManyStagesReadOneCache(t *testing.T) {
	const n = 10_000
	j := kmeans(1, 128, 0, n)
	for i := 2; i <= n; i++ {
		j.Spark.Stages[i].Parents = append(j.Spark.Stages[i].Parents, 10+i-2)
	}
	for i, s := range sources(j.Spark.Stages) {
		if want := int32(min(i, 1) - 1); s != want {
			t.Fatalf("stage %d reads what stage %d caches, want %d", i, s, want)
		}
	}
}

func TestExecutorPlacementDecidesLocality(t *testing.T) {
	run := func(hosts ...heddle.NodeID) float64 {
		l := newLab(t, cluster(4, 1))
		job := kmeans(1, 256, 0, 0)
		job.Program = "grep" // little to compute
		j := l.w.AddJob(job)
		l.w.jobs[j].prog.First = l.w.p.Programs["grep"].Map
		l.executors(j, 1, executor)
		return l.pass(0, 1, 1, hosts...)
	}
	if near, far := run(0), run(2); far < 1.1*near {
		t.Errorf("a task reads its block in %.3f s locally and in %.3f s from another node", near, far)
	}
}

func TestPartitionsOfOtherExecutorsComeOverTheNetwork(t *testing.T) {
	l := newLab(t, cluster(2, 1))
	job := kmeans(1, 128, 0, 2)
	j := l.w.AddJob(job)
	l.executors(j, 2, executor)
	l.pass(0, 1, 1)
	own := l.pass(1, 1, 1)
	from := l.w.now
	l.w.Run(from, Work{Container: 2, Kind: heddle.Executor, Stage: 2}, nil)
	at, _ := l.w.Next()
	l.w.Advance(at, nil)
	if other := heddle.Span(at - from).Seconds(); other < 1.5*own {
		t.Errorf("a cached partition is read in %.3f s by its own executor, in %.3f s by another node's", own, other)
	}
	// The partition is gone with its executor.
	l.w.Close(l.w.now, 1)
	from = l.w.now
	l.w.Run(from, Work{Container: 2, Kind: heddle.Executor, Stage: 1}, nil)
	at, _ = l.w.Next()
	l.w.Advance(at, nil)
	if again := heddle.Span(at - from).Seconds(); again < 5*own {
		t.Errorf("a lost partition is computed again in %.3f s, read from memory in %.3f", again, own)
	}
}

func TestSparkShuffle(t *testing.T) {
	job := &workload.Job{Program: "pagerank", Framework: heddle.Spark, Spark: &workload.SparkJob{Stages: []workload.Stage{
		{ID: 0, Input: true, Tasks: make([]workload.Task, 4)},
		{ID: 1, Parents: []int{0}, Tasks: make([]workload.Task, 2)},
	}}}
	for i := range job.Spark.Stages[0].Tasks {
		job.Spark.Stages[0].Tasks[i] = workload.Task{Input: 64 << 20, Output: 32 << 20}
	}
	for i := range job.Spark.Stages[1].Tasks {
		job.Spark.Stages[1].Tasks[i] = workload.Task{Input: 64 << 20}
	}
	l := newLab(t, cluster(2, 1))
	j := l.w.AddJob(job)
	l.executors(j, 2, executor)
	l.pass(0, 4, 2)
	if got := l.mapOutput(j); len(got) != 2 || got[0].bytes != 64<<20 || got[1].bytes != 64<<20 {
		t.Errorf("shuffle files: %v", got)
	}
	before := l.w.Disk(l.w.now, 0).Requests
	if s := l.pass(1, 2, 2); s < 64*4.45/32.5 {
		t.Errorf("grouping 64 MiB takes %.3f s, want at least the measured %.3f", s, 64*4.45/32.5)
	}
	read := (l.w.Disk(l.w.now, 0).Requests - before) * l.w.p.RequestBytes / mib
	near(t, "MiB of shuffle files read on one of two nodes", read, 64, 0.05)
}

// A stage that caches what it read and writes shuffle files does both: what it keeps is not as large as what it writes.
func TestStagesCacheAndShuffle(t *testing.T) {
	job := kmeans(4, 64, 0, 0)
	job.Spark.Stages[0].Writes = workload.Shuffle
	for i := range job.Spark.Stages[0].Tasks {
		job.Spark.Stages[0].Tasks[i].Output = 8 << 20
	}
	l := newLab(t, cluster(2, 1))
	j := l.w.AddJob(job)
	l.executors(j, 2, executor)
	l.pass(0, 4, 2)
	stored := 0.0
	for i := range l.w.conts {
		stored += l.w.conts[i].stored
	}
	near(t, "MiB in memory", stored/mib, 4*64*l.w.job(j).prog.Grow, 1e-6)
	if got := l.mapOutput(j); len(got) != 2 || got[0].bytes != 16<<20 || got[1].bytes != 16<<20 {
		t.Errorf("shuffle files: %v", got)
	}
	near(t, "MiB moved by a disk", l.w.Disk(l.w.now, 0).Requests*l.w.p.RequestBytes/mib, 2*(64+8), 1e-3)
}

// What a stage writes to the file system has replicas there, even if other stages follow.
func TestStagesThatWriteFiles(t *testing.T) {
	job := kmeans(1, 64, 0, 0)
	job.Spark.Stages[0].Caches, job.Spark.Stages[0].Writes, job.Spark.Stages[0].Tasks[0].Output = false, workload.Files, 32<<20
	job.Spark.Stages = append(job.Spark.Stages, workload.Stage{ID: 11, Parents: []int{10}, Tasks: make([]workload.Task, 1)})
	l := newLab(t, cluster(3, 1))
	j := l.w.AddJob(job)
	l.executors(j, 1, executor)
	l.pass(0, 1, 1)
	written := 0.0
	for n := range l.w.nodes {
		written += l.w.Disk(l.w.now, heddle.NodeID(n)).Requests * l.w.p.RequestBytes / mib
	}
	near(t, "MiB read and written", written, 64+3*32, 1e-3)
	if got := l.mapOutput(j); len(got) != 0 {
		t.Errorf("shuffle files: %v", got)
	}
}
