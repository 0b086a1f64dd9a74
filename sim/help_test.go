package sim

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"heddle"
	"heddle/conf"
	"heddle/policies"
	"heddle/policies/capacity"
	"heddle/policies/fair"
	"heddle/sim/world"
	"heddle/workload"
)

const second = heddle.Second

// at returns the time at the given number of seconds.
func at(seconds float64) heddle.Time { return heddle.Time(heddle.Seconds(seconds)) }

// profile is a scheduler under test: changes to a built-in profile, and the behaviour of its masters.
type profile struct {
	name  string
	base  string
	set   []string
	slots bool // masters ask for all reduces at once
	tune  func(*capacity.Config, *fair.Config)
}

// allProfiles are the baselines with delays, reservations, gates and places, and one that starts maps in half the room
// that they ask for. The papers' mechanisms are not among them.
var allProfiles = []profile{
	{name: "fifo", base: "fifo"},
	{name: "capacity", base: "capacity"},
	{name: "fair", base: "fair"},
	{name: "spread", base: "fifo", set: []string{"place.executor=spread"}},
	{name: "pack", base: "capacity", set: []string{"place.executor=pack", "place.map=pack"}},
	{name: "delay", base: "fair", set: []string{"place.map={delay: {node_wait: 4, rack_wait: 3}}"}},
	{name: "offers", base: "fair", tune: func(_ *capacity.Config, f *fair.Config) { f.NodeThreshold, f.RackThreshold = 0.5, 0.8 }},
	{name: "waits", base: "fair", tune: func(_ *capacity.Config, f *fair.Config) {
		f.Continuous, f.NodeDelay, f.RackDelay, f.AssignMultiple = true, 3*second, 2*second, true
	}},
	{name: "locality", base: "capacity", tune: func(c *capacity.Config, _ *fair.Config) {
		c.NodeLocalityDelay, c.RackLocalityAdditional, c.MaxOffSwitch = 4, 3, 2
	}},
	{name: "single", base: "capacity", tune: func(c *capacity.Config, _ *fair.Config) { c.MultipleAssignments = false }},
	{name: "memory", base: "capacity", tune: func(c *capacity.Config, _ *fair.Config) { c.MemoryOnly = true }},
	{name: "slowstart", base: "fifo", set: []string{
		"gate.reduce={slowstart: {completed: 0.5}}", "lanes=[{kinds: [am, map, executor, other], order: fifo}, {kinds: [reduce], order: fifo, per_node: 2}]",
	}, slots: true},
	{name: "unbooked", base: "fair", set: []string{"book=none"}},
	{name: "trimmed", base: "fifo", set: []string{"trim.map={ikayak.fixed: {part: 0.5}}"}},
}

// named returns one of allProfiles.
func named(t testing.TB, name string) profile {
	t.Helper()
	for _, p := range allProfiles {
		if p.name == name {
			return p
		}
	}
	t.Fatalf("no profile %q", name)
	return profile{}
}

var users = []string{"ann", "bob"}

// into puts a fresh policy set of the profile into options. If the set has queues, it puts the jobs into two of them:
// root.a for jobs of queue a, root.b for the rest.
func (p profile) into(t testing.TB, o *Options) {
	t.Helper()
	f, err := policies.Load(p.base, p.set)
	if err != nil {
		t.Fatal(err)
	}
	c, fr := conf.DefaultCapacity(), conf.DefaultFair()
	a := c.Queues[1]
	a.Path, a.Capacity, a.MaxAMShare, a.UserLimitFactor = "root.a", 0.6, 0.6, 2
	b := a
	b.Path, b.Capacity = "root.b", 0.4
	c.Queues = append(c.Queues[:1], a, b)
	fb := fr.Queues[1]
	fr.Queues[1].Path, fb.Path, fb.Weight = "root.a", "root.b", 2
	fr.Queues = append(fr.Queues, fb)
	if p.tune != nil {
		p.tune(c, fr)
	}
	built, err := policies.Build(f, policies.Env{Capacity: c, Fair: fr, Minimum: heddle.Of(256, 1000), Maximum: heddle.Of(1<<20, 1000*1000), Users: users, Seed: o.Seed})
	if err != nil {
		t.Fatal(err)
	}
	o.Profile, o.Set, o.SlotMaster, o.CountCPU, o.Shrinks = p.name, built.Set, p.slots, !c.MemoryOnly, f.Shrinks()
	o.Queues, o.Users = make([]heddle.QueueID, len(o.Workload.Jobs)), make([]heddle.UserID, len(o.Workload.Jobs))
	for i := range o.Workload.Jobs {
		j := &o.Workload.Jobs[i]
		o.Queues[i] = 1
		if len(built.Paths) == 3 && j.Queue != "a" {
			o.Queues[i] = 2
		}
		o.Users[i] = heddle.UserID(max(slices.Index(users, j.User), 0))
	}
}

// run simulates under a profile with every check on.
func (p profile) run(t testing.TB, o Options) *Result {
	t.Helper()
	o.Check, o.KeepTasks = true, true
	return p.plain(t, o)
}

// plain simulates under a profile as the options say.
func (p profile) plain(t testing.TB, o Options) *Result {
	t.Helper()
	p.into(t, &o)
	r, err := Run(o)
	if err != nil {
		t.Fatalf("%s: %v", p.name, err)
	}
	return r
}

// nodes returns n equal nodes in the given number of racks.
func nodes(n, racks int, size heddle.Resource) []world.NodeSpec {
	specs := make([]world.NodeSpec, n)
	for i := range specs {
		specs[i] = world.NodeSpec{Rack: heddle.RackID(i * racks / n), Total: size}
	}
	return specs
}

// fullWorld returns options of the full world without the random effects; givenWorld does so for the given world.
func fullWorld(n []world.NodeSpec, jobs ...workload.Job) Options {
	fx := world.AllEffects()
	fx.Noise, fx.Skew, fx.SlowNodes = false, false, false
	return Options{Nodes: n, Workload: &workload.Workload{Jobs: jobs}, Params: world.DefaultParams(), Effects: fx, Seed: 1, MasterBeat: second, Stock: true}
}

func givenWorld(n []world.NodeSpec, jobs ...workload.Job) Options {
	o := fullWorld(n, jobs...)
	o.Given = true
	return o
}

// tasks returns n copies of a task.
func tasks(n int, t workload.Task) []workload.Task { return slices.Repeat([]workload.Task{t}, n) }

// lasting returns n tasks of the given seconds, of 1 GiB and one core, which compute all the time in the full world.
func lasting(n int, seconds float64) []workload.Task {
	return tasks(n, workload.Task{Duration: heddle.Seconds(seconds), CPU: heddle.Seconds(seconds), Size: heddle.Of(1024, 1000)})
}

// mapReduce returns a job of the given tasks.
func mapReduce(id string, submit float64, maps, reduces []workload.Task) workload.Job {
	return workload.Job{ID: id, Submit: at(submit), Framework: heddle.MapReduce, Maps: maps, Reduces: reduces, SlowStart: -1}
}

// kept returns what a run keeps of containers of a kind, ordered by task and start.
func kept(r *Result, job int, k heddle.Kind) []TaskResult {
	var out []TaskResult
	for _, x := range r.Tasks {
		if x.Job == job && x.Kind == k {
			out = append(out, x)
		}
	}
	slices.SortFunc(out, func(a, b TaskResult) int {
		return cmp.Or(cmp.Compare(a.Index, b.Index), cmp.Compare(a.Started, b.Started))
	})
	return out
}

// longs returns how long each container ran, in seconds.
func longs(ts []TaskResult) []float64 {
	out := make([]float64, len(ts))
	for i := range ts {
		out[i] = ts[i].Ended.Since(ts[i].Started).Seconds()
	}
	return out
}

func mean(xs []float64) float64 {
	sum := 0.0
	for _, x := range xs {
		sum += x
	}
	return sum / float64(len(xs))
}

// states fails unless the jobs ended in the given states.
func states(t testing.TB, r *Result, want ...JobState) {
	t.Helper()
	for i := range r.Jobs {
		if w := want[min(i, len(want)-1)]; r.Jobs[i].State != w {
			t.Errorf("%s: job %s %v, want %v", r.Profile, r.Jobs[i].ID, r.Jobs[i].State, w)
		}
	}
}

// draw is the source of random workloads: it returns a number from lo to hi.
type draw func(lo, hi int) int

func seeded(seed uint64) draw {
	rng := rand.New(rand.NewPCG(seed, 0x7e57))
	return func(lo, hi int) int { return lo + rng.IntN(hi-lo+1) }
}

// mixed draws a workload of a few MapReduce, Spark and plain jobs, with durations and with what the full world needs.
func mixed(d draw, jobs int) *workload.Workload {
	w := &workload.Workload{}
	now := 0
	for i := range jobs {
		j := workload.Job{ID: string(rune('a' + i)), Queue: []string{"a", "b"}[d(0, 1)], User: users[d(0, 1)], Submit: at(float64(now)), SlowStart: -1}
		now += d(0, 9)
		switch d(0, 3) {
		case 0, 1:
			j.Framework, j.Program = heddle.MapReduce, []string{"grep", "sort", "wordcount"}[d(0, 2)]
			j.Maps, j.Reduces = drawTasks(d, 1, 8), drawTasks(d, 0, 4)
			for k := 1; k < len(j.Reduces); k += 2 {
				j.Reduces[k].Waited = j.Reduces[k].Duration / 3
			}
			if d(0, 3) == 0 {
				j.SlowStart = float64(d(0, 4)) / 4
			}
		case 2:
			j.Framework, j.Spark, j.Program = heddle.Spark, drawSpark(d), "kmeans"
		default:
			j.Framework, j.Other = heddle.Plain, drawTasks(d, 1, 6)
		}
		w.Jobs = append(w.Jobs, j)
	}
	return w
}

// drawTasks draws up to hi tasks of the same size and different lengths.
func drawTasks(d draw, lo, hi int) []workload.Task {
	size := heddle.Of(int64(512*d(1, 5)), int64(1000*d(1, 2)))
	ts := make([]workload.Task, d(lo, hi))
	for i := range ts {
		ts[i] = workload.Task{Duration: heddle.Seconds(float64(d(2, 60)) / 2), Input: int64(d(0, 64)) << 20, Size: size}
		if d(0, 2) == 0 {
			ts[i].CPU = heddle.Seconds(float64(d(1, 20)) / 2)
		}
	}
	return ts
}

func drawSpark(d draw) *workload.SparkJob {
	s := &workload.SparkJob{Executors: d(1, 3), Executor: heddle.Of(int64(1024*d(1, 2)), int64(1000*d(1, 2)))}
	if d(0, 2) == 0 {
		s.Dynamic = &workload.Dynamic{Min: d(0, 1), Initial: 1, Max: d(1, 4), IdleTimeout: heddle.Span(d(2, 20)) * second}
	}
	for i := range d(1, 3) {
		st := workload.Stage{ID: i, Input: i == 0, Caches: i == 0, Cached: i > 0}
		if i > 0 {
			st.Parents = []int{i - 1}
		}
		for range d(1, 5) {
			st.Tasks = append(st.Tasks, workload.Task{Duration: heddle.Seconds(float64(d(1, 20)) / 2), Input: int64(d(1, 32)) << 20})
		}
		s.Stages = append(s.Stages, st)
	}
	return s
}

func newRand(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 0)) }

// whys fails unless every job says why it did not succeed, in these words; "" = it says nothing.
func whys(t *testing.T, r *Result, want ...string) {
	t.Helper()
	for i := range r.Jobs {
		if j := &r.Jobs[i]; want[i] == "" && j.Why != "" || !strings.Contains(j.Why, want[i]) {
			t.Errorf("job %s, %v, says %q; want %q", j.ID, j.State, j.Why, want[i])
		}
	}
}
