package sim

import (
	"testing"

	"heddle"
	"heddle/policies/fifo"
	"heddle/policy"
	"heddle/workload"
)

// placed returns a set whose masters run on the last node and whose maps run on nodes lo to hi, one at a time on each.
func placed(o *Options, lo, hi heddle.NodeID) policy.Set {
	s := bare()
	s.Lanes = []policy.Lane{
		{Kinds: []heddle.Kind{heddle.AM, heddle.Reduce, heddle.Executor, heddle.Other}, Order: fifo.Order{}},
		{Kinds: []heddle.Kind{heddle.Map}, Order: fifo.Order{}, Slots: policy.Slots{PerNode: 1}},
	}
	last := heddle.NodeID(len(o.Nodes) - 1)
	s.Place[heddle.AM] = on{lo: last, hi: last}
	s.Place[heddle.Map] = on{lo: lo, hi: hi}
	return s
}

// grep returns options with six maps over blocks of 256 MB on nodes 0 to 5, out of thirteen.
func grep() Options {
	j := mapReduce("grep", 0, nil, nil)
	j.Program = "grep"
	for i := range 6 {
		j.Maps = append(j.Maps, workload.Task{Input: 256 << 20, Hosts: []int32{int32(i)}, Size: heddle.Of(1024, 1000)})
	}
	return fullWorld(nodes(13, 1, heddle.Of(16384, 8000)), j)
}

// iKayak's Fig. 6 through the whole simulator, at 1 Gb/s and with one disk: a map on its data beats one in four fifths
// of a container on its data, and that one beats one in a full container elsewhere.
func TestLocalBeatsShrunkBeatsRemote(t *testing.T) {
	times := func(o Options, lo heddle.NodeID, percent int64) float64 {
		s := placed(&o, lo, lo+5)
		s.Trim[heddle.Map] = trim{percent}
		r := under(t, s, o)
		states(t, r, Succeeded)
		want := 0
		if lo == 0 {
			want = 6
		}
		if r.LocalMaps != want || r.LocalisedMaps != 6 || r.RackMaps != 6-want {
			t.Errorf("%d local and %d rack-local of %d maps, want %d local", r.LocalMaps, r.RackMaps, r.LocalisedMaps, want)
		}
		return mean(longs(kept(r, 0, heddle.Map)))
	}
	l100, l80, r100 := times(grep(), 0, 100), times(grep(), 0, 80), times(grep(), 6, 100)
	t.Logf("L100 %.2f s, L80 %.2f s, R100 %.2f s", l100, l80, r100)
	if !(l100 < l80 && l80 < r100) {
		t.Errorf("L100 %.3f, L80 %.3f, R100 %.3f s; want them in this order", l100, l80, r100)
	}
	o := grep()
	o.Effects.Locality = false
	near(t, "remote without locality", times(o, 6, 100), l100, 0.02)
}

// watch lets a test observe running tasks, and the start and end of applications.
type watch struct {
	fifo.Order
	saw func(v policy.View, e policy.Effect)
}

func (w watch) Hears() policy.News {
	return policy.AppAdded | policy.AppDone | policy.TaskProgress | policy.TaskUsage | policy.NodeUsage | policy.NodeDisks | policy.Started
}

func (w watch) Hear(v policy.View, e policy.Effect) { w.saw(v, e) }

// A reduce that copies holds its container from its start on, and uses no processor while it waits for maps.
func TestCopyingReduceHoldsItsContainer(t *testing.T) {
	j := mapReduce("sort", 0, tasks(4, workload.Task{Input: 64 << 20, CPU: 20 * second, Size: heddle.Of(1024, 1000)}), tasks(1, workload.Task{Size: heddle.Of(1024, 1000)}))
	j.Program = "sort"
	o := fullWorld(nodes(1, 1, heddle.Of(16384, 8000)), j)
	s := placed(&o, 0, 0) // one map after the other
	s.Feeds.Progress, s.Feeds.Profile = second, second
	var copying, after []int64
	held := 0
	s.Lanes[0].Order = watch{saw: func(_ policy.View, e policy.Effect) {
		x := e.Container
		if e.What != policy.TaskUsage || x.Kind() != heddle.Reduce {
			return
		}
		cpu, _ := x.Usage()
		if phase, _ := x.Progress(); phase == heddle.ReduceCopy {
			copying = append(copying, cpu)
		} else {
			after = append(after, cpu)
		}
		if x.App().Used()[heddle.CPU] >= 2000 { // at least the master's and the reduce's
			held++
		}
	}}
	r := under(t, s, o)
	states(t, r, Succeeded)
	waiting := 0
	for _, cpu := range copying {
		if cpu == 0 {
			waiting++
		}
	}
	if waiting < 25 || held < len(copying) {
		t.Errorf("while it copies, a reduce used no processor in %d of %d seconds, and held its container in %d", waiting, len(copying), held)
	}
	if len(after) == 0 {
		t.Error("the reduce was never seen after its copy")
	}
	// It holds its container from before the last map's start to its own end.
	red, maps := kept(r, 0, heddle.Reduce)[0], kept(r, 0, heddle.Map)
	last := maps[0]
	for _, m := range maps {
		if m.Started > last.Started {
			last = m
		}
	}
	if red.Started > last.Started || red.Ended < last.Ended {
		t.Errorf("the reduce held its container from %.1f to %.1f s, the last map ran from %.1f to %.1f s",
			red.Started.Seconds(), red.Ended.Seconds(), last.Started.Seconds(), last.Ended.Seconds())
	}
	if h := r.Jobs[0].ReduceHold; h != red.Ended.Since(red.Granted) {
		t.Errorf("reduce hold %v, want %v", h, red.Ended.Since(red.Granted))
	}
}

// after lets application 1 start maps once application 0 runs the given number of reduces.
type after struct{ reduces int }

func (g after) Open(v policy.View, a *policy.App, _ heddle.Kind) policy.Verdict {
	if first := v.App(0); a.ID() == 1 && (first == nil || first.Running(heddle.Reduce) < g.reduces) {
		return policy.No(heddle.GateClosed)
	}
	return policy.Yes
}

func (g after) Woken(_ policy.View, ids []heddle.AppID) []heddle.AppID { return append(ids, 1) }

// Many reduces that copy from a node slow a map that reads from it.
func TestManyCopiersSlowTheMapsTheyReadFrom(t *testing.T) {
	reader := func(copiers int, contention bool) float64 {
		sort := mapReduce("sort", 0, tasks(8, workload.Task{Input: 512 << 20, Hosts: []int32{0}, Size: heddle.Of(1024, 1000)}), tasks(copiers, workload.Task{Size: heddle.Of(1024, 1000)}))
		sort.Program, sort.SlowStart = "sort", 1
		scan := mapReduce("grep", 1, tasks(1, workload.Task{Input: 512 << 20, Hosts: []int32{0}, Size: heddle.Of(1024, 1000)}), nil)
		scan.Program = "grep"
		o := fullWorld(nodes(9, 1, heddle.Of(16384, 12000)), sort, scan)
		o.Effects.LaunchDelay, o.Effects.Contention = false, contention
		s := placed(&o, 0, 0)
		s.Lanes[1].PerNode = 0
		s.Lanes[0].PerNode = 2
		s.Place[heddle.Reduce] = on{lo: 1, hi: 7}
		s.Gate[heddle.Map] = []policy.Gate{after{copiers}}
		r := under(t, s, o)
		states(t, r, Succeeded)
		return longs(kept(r, 1, heddle.Map))[0]
	}
	one, seven := reader(1, true), reader(7, true)
	t.Logf("a map takes %.2f s beside one copier, %.2f s beside seven", one, seven)
	if seven < 1.2*one {
		t.Errorf("a map takes %.2f s beside one copier, %.2f s beside seven", one, seven)
	}
	near(t, "beside seven, without contention", reader(7, false), reader(1, false), 0.02)
}

// sized gives masters the listed sizes, by attempt.
type sized struct{ mib []int64 }

func (s *sized) Size(_ policy.View, _ *policy.App, _ heddle.Kind, asked heddle.Resource) heddle.Resource {
	asked[heddle.Memory] = s.mib[0]
	s.mib = s.mib[min(1, len(s.mib)-1):]
	return asked
}

// A master too small for its tasks fails and is tried again. With enough memory the job succeeds; with too little both
// attempts fail. (179 MiB, and 1 MiB for every 68 tasks started.)
func TestUndersizedMasterFails(t *testing.T) {
	try := func(memory bool, mib ...int64) *Result {
		o := fullWorld(nodes(4, 1, heddle.Of(65536, 40000)), mapReduce("j", 0, lasting(400, 1), nil))
		o.Effects.Memory = memory
		s := bare()
		s.Size[heddle.AM] = &sized{mib}
		return under(t, s, o)
	}
	r := try(true, 180, 512)
	states(t, r, Succeeded)
	if j := r.Jobs[0]; j.MasterAttempts != 2 || j.MasterMemory != 512 || r.FailedAttempts != 1 {
		t.Errorf("%d attempts, %d failed, the last with %d MiB; want 2, 1 and 512", j.MasterAttempts, r.FailedAttempts, j.MasterMemory)
	}
	if am := kept(r, 0, heddle.AM); len(am) != 2 || am[0].Status == heddle.Success || am[1].Status != heddle.Success || am[1].Granted < am[0].Ended {
		t.Errorf("masters: %+v", am)
	}
	states(t, try(true, 179), Failed)
	r = try(false, 179)
	states(t, r, Succeeded)
	if r.FailedAttempts != 0 {
		t.Errorf("%d masters failed with the effect off", r.FailedAttempts)
	}
}

// A process takes some time to start.
func TestLaunchDelay(t *testing.T) {
	waits := func(delay bool) (least, most float64) {
		o := fullWorld(nodes(4, 1, heddle.Of(16384, 8000)), mapReduce("j", 0, lasting(20, 5), nil))
		o.Effects.LaunchDelay = delay
		r := under(t, bare(), o)
		states(t, r, Succeeded)
		least = 100
		for _, x := range kept(r, 0, heddle.Map) {
			w := x.Started.Since(x.Granted).Seconds()
			least, most = min(least, w), max(most, w)
		}
		return least, most
	}
	if least, most := waits(true); least < 1 || most > 3 || most-least < 0.2 {
		t.Errorf("from grant to start %.2f to %.2f s; want a start of 1.2 s after at most a master's beat", least, most)
	}
	if least, most := waits(false); most > 1 {
		t.Errorf("from grant to start %.2f to %.2f s with the effect off", least, most)
	}
}

// More memory in use than a machine has slows everything that runs on it.
func TestMemoryPressure(t *testing.T) {
	times := func(memory int64, effect bool) float64 {
		o := fullWorld(nodes(1, 1, heddle.Of(16384, 8000)), mapReduce("j", 0, lasting(4, 10), nil))
		for i := range o.Workload.Jobs[0].Maps {
			o.Workload.Jobs[0].Maps[i].Memory = 1000
		}
		o.Nodes[0].Memory, o.Effects.Memory = memory, effect
		r := under(t, bare(), o)
		states(t, r, Succeeded)
		return mean(longs(kept(r, 0, heddle.Map)))
	}
	near(t, "enough", times(8000, true), 10, 0.05)
	if slow := times(3800, true); slow < 12 {
		t.Errorf("on a node that swaps a map takes %.2f s", slow)
	}
	near(t, "too little, with the effect off", times(3800, false), 10, 0.05)
}

// Spark's first pass over HDFS takes longer than a pass over what it left in memory.
func TestFirstPassIsSlowerThanCached(t *testing.T) {
	passes := func(n int, cached bool) float64 {
		s := &workload.SparkJob{Executors: 2, Executor: heddle.Of(4096, 2000)}
		for i := range n {
			st := workload.Stage{ID: i, Input: i == 0 || !cached, Caches: i == 0, Cached: i > 0 && cached, Tasks: tasks(8, workload.Task{Input: 64 << 20})}
			if i > 0 {
				st.Parents = []int{i - 1}
			}
			s.Stages = append(s.Stages, st)
		}
		o := fullWorld(nodes(3, 1, heddle.Of(16384, 8000)), workload.Job{ID: "k", Framework: heddle.Spark, Program: "kmeans", Spark: s})
		o.Effects.LaunchDelay = false
		r := under(t, bare(), o)
		states(t, r, Succeeded)
		return r.Jobs[0].JCT.Seconds()
	}
	// The master's last call is up to three seconds late: ten passes make that negligible.
	one, again, cached := passes(1, true), (passes(11, false)-passes(1, true))/10, (passes(11, true)-passes(1, true))/10
	t.Logf("one pass %.2f s; each further from HDFS %.2f s, from memory %.2f s", one, again, cached)
	if cached > 0.7*again {
		t.Errorf("a further pass takes %.2f s from HDFS and %.2f s from memory", again, cached)
	}
}
