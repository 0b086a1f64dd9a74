package sim

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"heddle"
	"heddle/sim/bound"
	"heddle/sim/world"
	"heddle/workload"
)

// beaten fails if a job beat its own bound, or all jobs together beat a bound of the whole.
func beaten(t *rapid.T, r *Result) {
	var sum heddle.Span
	for i := range r.Jobs {
		j := &r.Jobs[i]
		if j.State != Succeeded {
			t.Fatalf("job %s: %v", j.ID, j.State)
		}
		if j.JCT < j.Bound {
			t.Fatalf("job %s took %v, its bound is %v", j.ID, j.JCT, j.Bound)
		}
		sum += j.JCT
	}
	if m := sum / heddle.Span(len(r.Jobs)); m < r.MeanJCTBound {
		t.Fatalf("mean JCT %v, the bound is %v (%s)", m, r.MeanJCTBound, r.BoundName)
	}
	if r.Makespan < r.MakespanBound {
		t.Fatalf("makespan %v, the bound is %v", r.Makespan, r.MakespanBound)
	}
}

func TestNoRunBeatsTheBounds(t *testing.T) {
	for _, p := range allProfiles {
		t.Run(p.name, func(t *testing.T) {
			rapid.Check(t, func(rt *rapid.T) {
				o := anything(drawn(rt), false)
				rt.Log(show(&o))
				beaten(rt, p.plain(t, o))
			})
		})
	}
}

// The cases in which little separates a run from its bound: one task, everything at once, nodes that are far too large
// or that offer more processors than they have, and effects switched off.
func TestNoAdversaryBeatsTheBounds(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		d := drawn(rt)
		o := fullWorld(nodes(d(1, 3), 1, heddle.Of(1<<18, 256_000)))
		for i := range o.Nodes {
			o.Nodes[i].Cores, o.Nodes[i].Speed = float64(d(1, 4)), float64(d(1, 4))/2
		}
		o.Given = d(0, 1) == 0
		o.Effects = world.Effects{Locality: d(0, 1) == 0, Contention: d(0, 1) == 0, Noise: d(0, 1) == 0, SlowNodes: d(0, 1) == 0, Skew: d(0, 1) == 0}
		o.Workload = &workload.Workload{}
		for i := range d(1, 3) {
			j := workload.Job{ID: string(rune('a' + i)), Framework: heddle.MapReduce, SlowStart: 0}
			switch d(0, 3) {
			case 0:
				j.Maps = drawTasks(d, 1, 1)
			case 1:
				j.Maps = drawTasks(d, 1, 40)
			case 2: // different sizes: masters ask for the first one's
				j.Maps, j.Reduces = drawTasks(d, 1, 5), drawTasks(d, 1, 3)
				for k := range j.Maps {
					j.Maps[k].Size = heddle.Of(int64(1024*d(1, 8)), int64(1000*d(1, 4)))
				}
			default:
				j.Framework, j.Spark = heddle.Spark, drawSpark(d)
				j.Spark.TaskCores = d(0, 3)
				if d(0, 2) == 0 {
					j.Spark.Executor = heddle.Resource{} // Spark's default
				}
			}
			o.Workload.Jobs = append(o.Workload.Jobs, j)
		}
		o.LoadSim = o.Given && d(0, 1) == 0
		for i := range o.Workload.Jobs {
			o.LoadSim = o.LoadSim && o.Workload.Jobs[i].Spark == nil
		}
		rt.Log(show(&o))
		beaten(rt, named(t, []string{"fifo", "capacity", "fair", "memory"}[d(0, 3)]).plain(t, o))
	})
}

// Masters ask for all maps at the size of the first one: that is what they hold, whatever else they state.
func TestBoundOfUnlikeSizes(t *testing.T) {
	j := mapReduce("j", 0, lasting(8, 10), nil)
	for i := range j.Maps[1:] {
		j.Maps[i+1].Size = heddle.Of(8192, 1000)
	}
	r := profile{name: "fifo", base: "fifo"}.run(t, givenWorld(nodes(1, 1, heddle.Of(16384, 16000)), j))
	states(t, r, Succeeded)
	if x := r.Jobs[0]; x.JCT < x.Bound || x.JCT > 15*second {
		t.Errorf("took %v, the bound is %v", x.JCT, x.Bound)
	}
}

// If maps start in half the room that they ask for, twice as many run at once, and in the given world none takes longer
// for it: work bounds nothing there.
func TestBoundOfTrimmedMaps(t *testing.T) {
	o := givenWorld(nodes(1, 1, heddle.Of(65536, 8000)), mapReduce("j", 0, lasting(64, 10), nil))
	whole, trimmed := named(t, "fifo").plain(t, o), named(t, "trimmed").plain(t, o)
	states(t, trimmed, Succeeded)
	if x := whole.Jobs[0]; x.Bound < 79*second || x.JCT < x.Bound {
		t.Errorf("whole maps took %v, the bound is %v", x.JCT, x.Bound)
	}
	if x := trimmed.Jobs[0]; x.JCT > 79*second || x.Bound != 10*second || trimmed.MakespanBound != 10*second {
		t.Errorf("trimmed maps took %v, the bound is %v, and %v of the makespan", x.JCT, x.Bound, trimmed.MakespanBound)
	}
}

// An executor whose size is not stated has Spark's default, and runs at least one task: a task that wants more cores
// than its executor has changes neither the run, nor the bounds, nor the load.
func TestTaskOfMoreCoresThanItsExecutor(t *testing.T) {
	stated := workload.SparkJob{Executors: 4, Executor: heddle.Of(1408, 1000), TaskCores: 1, Stages: []workload.Stage{{Tasks: lasting(40, 60)}}}
	unstated := stated
	unstated.Executor, unstated.TaskCores = heddle.Resource{}, 5
	for _, o := range []Options{givenWorld(nodes(2, 1, heddle.Of(65536, 8000))), fullWorld(nodes(2, 1, heddle.Of(65536, 8000)))} {
		of := func(s workload.SparkJob) (*Result, []bound.Job, []bound.Job) {
			o.Workload = &workload.Workload{Jobs: []workload.Job{{ID: "a", Framework: heddle.Spark, Spark: &s}}}
			_, least, _, err := Bounds(o, true)
			if err != nil {
				t.Fatal(err)
			}
			load, _ := Offered(o, true)
			return named(t, "fifo").plain(t, o), least, load
		}
		r, least, load := of(unstated)
		r2, least2, load2 := of(stated)
		if !slices.Equal(least, least2) || !slices.Equal(load, load2) {
			t.Errorf("given %v: bounds of %v and a load of %v; with the same size stated %v and %v", o.Given, least, load, least2, load2)
		}
		if r.Jobs[0].JCT != r2.Jobs[0].JCT || r.CPUUsed != r2.CPUUsed || r.CPUUsed > 1 {
			t.Errorf("given %v: took %v and used %g of the processors; with the same size stated %v and %g", o.Given, r.Jobs[0].JCT, r.CPUUsed, r2.Jobs[0].JCT, r2.CPUUsed)
		}
	}
}

// What a driver waits between its stages lengthens the run and its bound alike.
func TestBoundOfPauses(t *testing.T) {
	for _, o := range []Options{givenWorld(nodes(2, 1, heddle.Of(65536, 8000))), fullWorld(nodes(2, 1, heddle.Of(65536, 8000)))} {
		with := func(pause heddle.Span) JobResult {
			s := workload.SparkJob{Executors: 2, Executor: heddle.Of(1408, 1000), Stages: []workload.Stage{
				{Tasks: lasting(2, 5)}, {ID: 1, Parents: []int{0}, Pause: pause, Tasks: lasting(2, 5)},
			}}
			o.Workload = &workload.Workload{Jobs: []workload.Job{{ID: "a", Framework: heddle.Spark, Spark: &s}}}
			return named(t, "fifo").plain(t, o).Jobs[0]
		}
		none, long := with(0), with(100*second)
		if long.Bound-none.Bound != 100*second {
			t.Errorf("given %v: the bounds are %v and %v", o.Given, none.Bound, long.Bound)
		}
		near(t, "longer by", (long.JCT - none.JCT).Seconds(), 100, 1)
	}
}

// In tiny cases the best possible schedule, found by trying all of them, lies between the bound and the result of a
// scheduler.
func TestOptimumLiesBetweenBoundAndRun(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		d := drawn(rt)
		o := givenWorld(nodes(d(1, 2), 1, heddle.Of(1<<14, int64(1000*d(3, 6)))))
		o.LoadSim, o.MasterBeat, o.NodeBeat = true, 100*heddle.Millisecond, 100*heddle.Millisecond
		left := 6
		for i := range d(1, 3) {
			j := workload.Job{ID: string(rune('a' + i)), Submit: at(float64(d(0, 5))), Framework: heddle.MapReduce, Master: heddle.Of(256, 0), SlowStart: -1}
			j.Maps = drawTiny(d, 1, &left)
			j.Reduces = drawTiny(d, 0, &left)
			if len(j.Maps) > 0 {
				o.Workload.Jobs = append(o.Workload.Jobs, j)
			}
		}
		o.Workload.Sort()
		rt.Log(show(&o))
		p := profile{name: "fifo", base: "fifo"}
		p.into(t, &o)
		o.Set.Minimum = heddle.Of(256, 0) // masters take no processors: the optimum does not know of them
		r, err := Run(o)
		if err != nil {
			rt.Fatal(err)
		}
		beaten(rt, r)
		mean, makespan := optimum(&o)
		if r.MeanJCTBound > mean || r.MakespanBound > makespan {
			rt.Fatalf("bounds: mean %v, makespan %v; the optima are %v and %v", r.MeanJCTBound, r.MakespanBound, mean, makespan)
		}
		var sum heddle.Span
		for i := range r.Jobs {
			sum += r.Jobs[i].JCT
		}
		if m := sum / heddle.Span(len(r.Jobs)); m < mean || r.Makespan < makespan {
			rt.Fatalf("the run: mean %v, makespan %v; the optima are %v and %v", m, r.Makespan, mean, makespan)
		}
	})
}

// drawTiny draws tasks of one size, but no more than are left.
func drawTiny(d draw, lo int, left *int) []workload.Task {
	n := min(d(lo, 3), *left)
	*left -= n
	size := heddle.Of(1024, int64(1000*d(1, 3)))
	ts := make([]workload.Task, n)
	for i := range ts {
		ts[i] = workload.Task{Duration: heddle.Span(d(1, 4)) * second, Size: size}
	}
	return ts
}

// A piece is one task of a schedule.
type piece struct {
	job, stage int
	from, span heddle.Time
	node       int
	cpu        int64
}

// optimum tries every order of the tasks and every node for each, and starts each task as early as it fits beside those
// before it: the best schedules for both measures are among these.
func optimum(o *Options) (meanJCT, makespan heddle.Span) {
	var todo []piece
	for i := range o.Workload.Jobs {
		j := &o.Workload.Jobs[i]
		for s, ts := range [][]workload.Task{j.Maps, j.Reduces} {
			for _, t := range ts {
				todo = append(todo, piece{job: i, stage: s, span: heddle.Time(t.Duration), cpu: t.Size[heddle.CPU]})
			}
		}
	}
	meanJCT, makespan = math.MaxInt64, math.MaxInt64
	var try func(done, rest []piece)
	try = func(done, rest []piece) {
		if len(rest) == 0 {
			m, k := ends(o, done)
			meanJCT, makespan = min(meanJCT, m), min(makespan, k)
			return
		}
		for i, p := range rest {
			if slices.Contains(rest[:i], p) || slices.ContainsFunc(rest, func(q piece) bool { return q.job == p.job && q.stage < p.stage }) {
				continue // already tried, or not ready
			}
			for n := range o.Nodes {
				p.node = n
				p.from = earliest(o, done, p)
				left := append(slices.Clone(rest[:i]), rest[i+1:]...)
				try(append(done, p), left)
			}
		}
	}
	try(nil, todo)
	return meanJCT, makespan
}

// earliest returns the earliest time at which a task fits beside others on its node.
func earliest(o *Options, done []piece, p piece) heddle.Time {
	ready := o.Workload.Jobs[p.job].Submit
	for _, q := range done {
		if q.job == p.job && q.stage < p.stage {
			ready = max(ready, q.from+q.span)
		}
	}
	best := heddle.Time(math.MaxInt64)
	for i := -1; i < len(done); i++ {
		from := ready
		if i >= 0 {
			from = max(from, done[i].from+done[i].span)
		}
		if from < best && fits(o, done, p, from) {
			best = from
		}
	}
	return best
}

func fits(o *Options, done []piece, p piece, from heddle.Time) bool {
	// The use of a node increases only when a task starts.
	for i := -1; i < len(done); i++ {
		at := from
		if i >= 0 {
			at = done[i].from
		}
		if at < from || at >= from+p.span {
			continue
		}
		used := p.cpu
		for _, q := range done {
			if q.node == p.node && q.from <= at && at < q.from+q.span {
				used += q.cpu
			}
		}
		if used > o.Nodes[p.node].Total[heddle.CPU] {
			return false
		}
	}
	return true
}

func ends(o *Options, done []piece) (meanJCT, makespan heddle.Span) {
	end := make([]heddle.Time, len(o.Workload.Jobs))
	for _, p := range done {
		end[p.job] = max(end[p.job], p.from+p.span)
	}
	for i, e := range end {
		meanJCT += e.Since(o.Workload.Jobs[i].Submit)
		makespan = max(makespan, e.Since(o.Workload.Jobs[0].Submit))
	}
	return meanJCT / heddle.Span(len(end)), makespan
}
