package adaptcont

import (
	"slices"
	"testing"

	"heddle"
	"heddle/cluster"
)

// The two workloads of the paper in splits of 64 MB: 500 MB to 105 GB, and 10 GB ten times.
var (
	mixed = []int{8, 56, 112, 240, 480, 720, 960, 1200, 1440, 1680}
	same  = []int{160, 160, 160, 160, 160, 160, 160, 160, 160, 160}
)

// jobsOf returns jobs that are submitted one after the other.
func jobsOf(maps []int) []job {
	jobs := make([]job, len(maps))
	for i, m := range maps {
		jobs[i] = job{app: heddle.AppID(i), at: heddle.Time(i), left: m, tasks: m}
	}
	return jobs
}

// played returns every job's largest wave under a discipline, by application.
func played(o Options, containers int, maps []int) []int {
	s := Sizer{o: o, jobs: jobsOf(maps)}
	s.play(containers, len(maps))
	out := make([]int, len(maps))
	for _, j := range s.jobs {
		out[j.app] = j.wave
	}
	return out
}

func with(queue string) Options {
	o := Default
	o.Queue = queue
	return o
}

// totals returns the memory of all masters in MiB and their processors in vcores.
func totals(queue string, pool bool, containers int, maps []int) (mib, cores int64) {
	return totalsOf(with(queue), pool, containers, maps)
}

func totalsOf(o Options, pool bool, containers int, maps []int) (mib, cores int64) {
	s := Sizer{o: o, pool: pool, jobs: jobsOf(maps)}
	s.play(containers, len(maps))
	for i := range s.jobs {
		r := s.size(&s.jobs[i])
		mib += r[heddle.Memory]
		cores += r[heddle.CPU] / 1000
	}
	return mib, cores
}

// Reference: 2.1, parameter (iv); 4.2, Wave Behavior.
func TestSplitsAndWaves(t *testing.T) {
	// 500 MB in splits of 64 MB: 7.8, so 8; 15 GB: 240; 240 splits on 250 containers: 1 wave, on 74: 4.
	for _, c := range []struct{ got, want int64 }{
		{splits(500, 64), 8},
		{splits(3584, 64), 56},
		{splits(15*1024, 64), 240},
		{splits(105*1024, 64), 1680},
		{waves(240, 250), 1},
		{waves(240, 74), 4},
		{waves(250, 250), 1},
		{waves(251, 250), 2},
	} {
		if c.got != c.want {
			t.Errorf("%d, want %d", c.got, c.want)
		}
	}
}

// Reference: 4.1, Constraints.
func TestMapsDecide(t *testing.T) {
	if n := undone(240, 74); n != 166 {
		t.Errorf("%d, want the other 166", n)
	}
	c := cluster.New([]heddle.QueueID{heddle.NoQueue, 0}, false)
	c.AddNode(0, 0, heddle.Of(250*1024, 250_000))
	c.Submit(heddle.Submit{App: 0, Queue: 1, Framework: heddle.MapReduce, Facts: heddle.Facts{Maps: 80, Reduces: 240}})
	s := Sizer{o: with(fifoQueue)}
	s.nodeChanged(c.View(), c.View().Node(0))
	if s.decide(c.View()); s.jobs[0].wave != 80 {
		t.Errorf("80 maps and 240 reduces make a wave of %d, want 80", s.jobs[0].wave)
	}
}

// Reference: 2.2, constraints defined by users.
func TestAUsersLimitBoundsTheWave(t *testing.T) {
	if bounded(166, 100) != 100 || bounded(66, 100) != 66 || bounded(166, 0) != 166 {
		t.Error("a limit of 100 must leave 66 alone and make 166 of it 100; no limit must leave it alone")
	}
}

// Reference: 2.1, parameter (iii).
func TestContainersOfANode(t *testing.T) {
	all := func(heddle.Dim) bool { return true }
	memory := func(d heddle.Dim) bool { return d == heddle.Memory }
	one := heddle.Of(1024, 1000)
	for _, c := range []struct {
		node   heddle.Resource
		counts func(heddle.Dim) bool
		most   int
		want   int
	}{
		{heddle.Of(25*1024, 30_000), all, 0, 25},
		{heddle.Of(30*1024+1023, 25_000), all, 0, 25}, // processors are the limit
		{heddle.Of(30*1024, 2000), memory, 0, 30},     // … unless they do not count
		{heddle.Of(30*1024, 40_000), all, 25, 25},     // a lane limits them
		{heddle.Of(512, 40_000), all, 25, 0},
	} {
		if n := available(c.node, one, c.counts, c.most); n != c.want {
			t.Errorf("%v, at most %d: %d, want %d", c.node, c.most, n, c.want)
		}
	}
}

// 8 + 56 + 112 leave 74 of 250 for the fourth job, and its other 166 come in the next wave. There 84 are left for the
// fifth job, which then has all 250, as does every job after it.
// Reference: 4.2, Wave Behavior, FIFO scheduler; Fig. 5(a).
func TestFIFOMixed(t *testing.T) {
	want := []int{8, 56, 112, 166, 250, 250, 250, 250, 250, 250}
	if got := played(with(fifoQueue), 250, mixed); !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

// Ten jobs of 160 in waves of 250: 160, 90 | 70, 160, 20 | 140, 110 | 50, 160, 40 | 120, 130 | 30, 160, 60 | 100.
// Reference: 4.2, Wave Behavior; Fig. 5(c).
func TestFIFOSameOscillates(t *testing.T) {
	want := []int{160, 90, 160, 140, 110, 160, 120, 130, 160, 100}
	if got := played(with(fifoQueue), 250, same); !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

// If one job arrives per wave, it finds the cluster empty and gets 160 of 250, all it has.
// Reference: 4.2, Wave Behavior; Fig. 5(d).
func TestFIFOAndCapacityOfSameJobsArrivingOneAWave(t *testing.T) {
	for _, q := range []string{fifoQueue, capacityQueue} {
		if got := played(with(q), 250, same[:1]); got[0] != 160 {
			t.Errorf("%s: %v, want 160", q, got)
		}
	}
}

// Reference: 4.2, Wave Behavior, fair scheduler; Fig. 5(a).
func TestFairSharesAlikeForLife(t *testing.T) {
	want := []int{8, 25, 25, 25, 25, 25, 25, 25, 25, 25}
	if got := played(with(fairQueue), 250, mixed); !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	// If 10 % of the cluster fails: 225/10 = 22.
	if got := played(with(fairQueue), 225, mixed); got[9] != 22 {
		t.Errorf("%v, want 22 for the last", got)
	}
}

// Each job gets 25 until the first ends, in wave 1. Then the share is 250/9 = 27 for two waves, 250/8 = 31 for two, 35
// for three, 41 for six, 50 for five, 62 for four, 83 for three and 125 for two waves. By then 1489 maps of the last
// job are done, and it gets its other 191 at once.
// Reference: 4.2, Wave Behavior, capacity scheduler; Fig. 5(a), 5(c).
func TestCapacityGrowsAsJobsEnd(t *testing.T) {
	want := []int{8, 27, 31, 35, 41, 50, 62, 83, 125, 191}
	if got := played(with(capacityQueue), 250, mixed); !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	// Equal jobs: the same as fair.
	if got := played(with(capacityQueue), 250, same); !slices.Equal(got, slices.Repeat([]int{25}, 10)) {
		t.Errorf("%v, want 25 each", got)
	}
}

// Reference: 3.2, k = ⌈Ω/Ω_min⌉.
func TestMagnitude(t *testing.T) {
	for wave, want := range map[int]int{0: 1, 8: 1, 100: 1, 101: 2, 166: 2, 200: 2, 201: 3, 250: 3} { // order: each by itself
		if k := magnitude(wave, 100); k != want {
			t.Errorf("a wave of %d: %d, want %d", wave, k, want)
		}
	}
}

// Reference: 4.2, Memory Usage; CPU Usage: 768 MB have 2 virtual cores.
func TestMemoryAndVcores(t *testing.T) {
	for i, want := range []struct{ mib, cores int64 }{{256, 1}, {512, 1}, {768, 2}, {1024, 2}, {1280, 3}} {
		if m, c := memory(i+1, 256), vcores(i+1); m != want.mib || c != want.cores {
			t.Errorf("k = %d: %d MiB, %d vcores, want %v", i+1, m, c, want)
		}
	}
}

// Reference: 2.4; 4.2, Memory Usage: 512, 1024 and 2048 MB, small up to 250 containers.
func TestPool(t *testing.T) {
	for _, c := range []struct {
		wave        int
		wanted, mib int64
		cores       int64
	}{
		{8, 256, 512, 1},         // small: 256 more than wanted
		{250, 768, 512, 1},       // small: 256 less
		{251, 768, 1024, 2},      // medium
		{500, 1280, 1024, 2},     // medium: 256 less
		{501, 1536, 1536, 3},     // big would be 512 more: a new one
		{700, 1792, 2048, 4},     // big
		{1000, 2560, 2560, 5},    // big would be 512 less
		{9900, 25344, 25344, 50}, // far beyond the pool
	} {
		k := int(c.wanted / 256)
		got := predefined(Default.Pool, c.wave, heddle.Of(c.wanted, 1000*vcores(k)), Default.Threshold)
		if want := heddle.Of(c.mib, 1000*c.cores); got != want {
			t.Errorf("a wave of %d: %v, want %v", c.wave, got, want)
		}
	}
}

// Ten masters of 1024 MiB are YARN's 10 GB. With FIFO the totals are 2·256 + 2·512 + 6·768 against 10·512. With
// capacity two of ten have waves above 100.
// Reference: 4.2, Memory Usage: 6144 MB, 5120 MB and 10 GB; Fig. 6(a), 6(c), 7.
func TestTotalsOfAllAtOnce(t *testing.T) {
	for _, c := range []struct {
		queue      string
		pool       bool
		maps       []int
		mib, cores int64
	}{
		{fifoQueue, false, mixed, 6144, 16},
		{fifoQueue, true, mixed, 5120, 10},
		{fairQueue, false, mixed, 2560, 10},
		{fairQueue, true, mixed, 5120, 10},
		{capacityQueue, false, mixed, 8*256 + 2*512, 10},
		{capacityQueue, true, mixed, 5120, 10},
		{fifoQueue, false, same, 2*256 + 8*512, 10},
		{fairQueue, false, same, 2560, 10},
		{capacityQueue, false, same, 2560, 10},
	} {
		if mib, cores := totals(c.queue, c.pool, 250, c.maps); mib != c.mib || cores != c.cores {
			t.Errorf("%s, pool %v: %d MiB and %d vcores, want %d and %d", c.queue, c.pool, mib, cores, c.mib, c.cores)
		}
	}
}

// The number of containers and Ω_min are missing from the text that we have. The first three jobs leave the fourth some
// containers, and in the next wave it gets the rest of its 240; its master is not the largest, and Fair's are the
// smallest. Every pair whose total under FIFO is 6144 MB then has the same processors and the same total for one job of
// 10 GB a wave, and leaves little else open.
// Reference: 4.2, Wave Behavior, Memory Usage: 6144 MB; CPU Usage.
func TestWhatTheTotalLeavesOpen(t *testing.T) {
	type bounds struct{ least, most int64 }
	wide := func(b *bounds, x int64) {
		if b.most == 0 {
			b.least = x
		}
		b.least, b.most = min(b.least, x), max(b.most, x)
	}
	var pairs int
	var cpu, fair, capacity, fifoSame, single bounds
	for containers := 177; containers < 176+240; containers++ {
		for unit := (containers + 9) / 10; unit <= containers; unit++ {
			of := func(queue string, maps []int) (mib, cores int64) {
				o := with(queue)
				o.UnitWave = unit
				return totalsOf(o, false, containers, maps)
			}
			mib, cores := of(fifoQueue, mixed)
			if mib != 6144 {
				continue
			}
			pairs++
			wide(&cpu, cores)
			for _, x := range []struct {
				b     *bounds
				queue string
				maps  []int
			}{{&fair, fairQueue, mixed}, {&capacity, capacityQueue, mixed}, {&fifoSame, fifoQueue, same}, {&single, fifoQueue, same[:1]}} {
				mib, _ := of(x.queue, x.maps)
				wide(x.b, mib)
			}
		}
	}
	want := []bounds{{16, 16}, {2560, 2560}, {11 * 256, 13 * 256}, {16 * 256, 20 * 256}, {512, 512}}
	if got := []bounds{cpu, fair, capacity, fifoSame, single}; pairs < 100 || !slices.Equal(got, want) {
		t.Errorf("%d pairs: %v, want %v", pairs, got, want)
	}
}

// The paper does not say this: a job of many tasks has them all in its master's memory, whatever its wave.
// Reference: none; see Options.UnitTasks.
func TestManyTasksNeedMemoryWhateverTheWave(t *testing.T) {
	s := Sizer{o: with(fairQueue)}
	for tasks, want := range map[int]int64{1680: 256, 5000: 256, 5001: 512, 12_000: 768} { // order: each by itself
		if r := s.size(&job{wave: 25, tasks: tasks}); r[heddle.Memory] != want {
			t.Errorf("%d tasks: %v, want %d MiB", tasks, r, want)
		}
	}
	s.o.UnitTasks = 0
	if r := s.size(&job{wave: 25, tasks: 12_000}); r[heddle.Memory] != 256 {
		t.Errorf("the paper's own rule: %v, want 256 MiB", r)
	}
}
