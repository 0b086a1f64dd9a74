package sim

import (
	"math"
	"slices"
	"testing"

	"heddle"
	"heddle/policy"
	"heddle/sim/world"
	"heddle/workload"
)

func TestCoresAreShared(t *testing.T) {
	m := machine{cores: 2}
	for i, width := range []float64{0.5, 2, 1} {
		m.add(0, 3, width, task{run: int32(i)})
	}
	for i, want := range []float64{0.5, 0.75, 0.75} {
		if got := m.demands[i].rate; math.Abs(got-want) > 1e-9 {
			t.Errorf("demand %d has %g cores, want %g", i, got, want)
		}
	}
	when, ok := m.next()
	if !ok || math.Abs(heddle.Span(when).Seconds()-4) > 1e-6 {
		t.Fatalf("the first is through at %v, want 4 s", when)
	}
	if done := m.through(when, nil); len(done) != 2 || done[0].run != 1 || done[1].run != 2 {
		t.Errorf("through are %+v, want 1 and 2", done)
	}
	if left := m.remove(when, 0, 0); math.Abs(left-1) > 1e-6 {
		t.Errorf("%g core-s are left, want 1", left)
	}
}

// replayed returns a job of two maps and a reduce that waited for them. All of them computed for a second and slept.
func replayed() *workload.Workload {
	return &workload.Workload{Jobs: []workload.Job{{
		ID: "j", Framework: heddle.MapReduce, Master: heddle.Of(1024, 1000), SlowStart: 1,
		Maps: []workload.Task{
			{Duration: 10 * second, CPU: second, Size: heddle.Of(1024, 1000)},
			{Duration: 9 * second, CPU: second, Size: heddle.Of(1024, 1000)},
		},
		Reduces: []workload.Task{{Duration: 12 * second, CPU: second, Size: heddle.Of(1024, 1000)}},
		Times: &workload.Times{
			Master: workload.NoTime, Ready: workload.NoTime, Maps: []heddle.Time{0, 0}, Reduces: []heddle.Time{at(20)},
		},
	}}}
}

func wantParts(t *testing.T, got JobParts, want ...Part) {
	t.Helper()
	list := append(slices.Clone(got.Maps), got.Reduces...)
	for i, p := range list {
		w := want[i]
		if math.Abs(p.CPU-w.CPU) > 0.01 || math.Abs((p.Rest-w.Rest).Seconds()) > 0.02 || p.End != w.End {
			t.Errorf("part %d is %+v, want %+v", i, p, w)
		}
	}
}

// Each map computes 3 core-s and gets half a core beside the other: they are done after 6 s.
func TestPartsOfTasksThatWait(t *testing.T) {
	p := Parts(replayed(), &Costs{Machines: 1, Cores: 1, Task: Cost{CPU: 2}}, nil)[0]
	wantParts(t, p, Part{CPU: 3, Rest: 4 * second}, Part{CPU: 3, Rest: 3 * second}, Part{CPU: 1, Rest: 9 * second})
}

// For a map alone, 2.5 core-s come before its wait and 0.5 core-s after it.
func TestPartsOfProcessesThatEnd(t *testing.T) {
	w := replayed()
	w.Jobs[0].Times.Maps[1], w.Jobs[0].Times.Reduces[0] = at(40), at(60)
	p := Parts(w, &Costs{Machines: 1, Cores: 1, Task: Cost{CPU: 2}, TaskEnd: Cost{CPU: 0.5}}, nil)[0]
	wantParts(t, p, Part{2.5, 7 * second, 0.5}, Part{2.5, 6 * second, 0.5}, Part{1, 9 * second, 0.5})
}

// The maps could have computed 10 core-s, 4 of them to start: less than twice the 6 that their counters say. So they
// computed all the time, in proportion to their counters.
func TestPartsOfTasksThatCompute(t *testing.T) {
	w := replayed()
	w.Jobs[0].Maps[0].CPU, w.Jobs[0].Maps[1].CPU, w.Jobs[0].Reduces[0].CPU = 4*second, 2*second, 0
	p := Parts(w, &Costs{Machines: 1, Cores: 1, Task: Cost{CPU: 2}}, nil)[0]
	wantParts(t, p, Part{CPU: 6}, Part{CPU: 4}, Part{CPU: 10})
}

// A master that was up at 20 s beside others began earlier by the time the others delayed it.
func TestBeginningsOfProcesses(t *testing.T) {
	w := replayed()
	w.Jobs[0].Times.Ready = at(20)
	c := &Costs{Machines: 1, Cores: 1, MapReduceMaster: Cost{CPU: 3, Rest: second}}
	p := recorded(w, c)
	p.work(at(12), workload.NoTime, 5, 1)
	for range passes {
		p.replay(c.Cores)
		p.settle()
	}
	for _, x := range p.list {
		if x.up >= 0 && (x.up != at(19) || math.Abs(x.up.Since(x.through).Seconds()) > 0.1 || x.begin > at(14)) {
			t.Errorf("the master begins at %v and is through at %v, want %v", x.begin, x.through, x.up)
		}
	}
}

// NodeManagers on one machine all measure how busy it is, and each what its own containers compute. A tenth of a core is
// always busy with something else.
func TestReplayedMachinesAreMeasured(t *testing.T) {
	work := replayed()
	costs := &Costs{Machines: 1, Cores: 1.9, Task: Cost{CPU: 2}, MapReduceMaster: Cost{CPU: 12, Width: 1.5}}
	o := Options{
		Seed: 1, Workload: work, Nodes: nodes(2, 1, heddle.Of(2048, 8000)), Given: true, Costs: costs, Parts: Parts(work, costs, nil),
		NodeBeat: 10 * heddle.Millisecond, MasterBeat: 10 * heddle.Millisecond,
	}
	for i := range o.Nodes {
		o.Nodes[i].Cores = 2
	}
	s, idle, used, both := bare(), map[heddle.Time]int64{}, map[heddle.Time]int64{}, 0
	s.Feeds.Nodes = true
	s.Lanes[0].Order = watch{saw: func(v policy.View, e policy.Effect) {
		if e.What != policy.NodeUsage {
			return
		}
		n, measurement := e.Node, v.Now()/heddle.Time(world.MonitorInterval)
		if sum := n.CPUUsed() + n.CPUOthers() + n.CPUIdle(); sum < 1998 || sum > 2002 || n.CPUOthers() < 98 {
			t.Errorf("at %v %d thousandths of 2 processors are used on node %d, %d by others, and %d idle", v.Now(), n.CPUUsed(), n.ID(), n.CPUOthers(), n.CPUIdle())
		}
		if was, ok := idle[measurement]; ok && was != n.CPUIdle() {
			t.Errorf("at %v node %d says that %d thousandths are idle, and the other one %d", v.Now(), n.ID(), n.CPUIdle(), was)
		} else if ok {
			both++
		}
		idle[measurement] = n.CPUIdle()
		used[measurement] = max(used[measurement], n.CPUUsed())
	}}
	under(t, s, o)
	if both == 0 {
		t.Error("the nodes never measured the same")
	}
	// The master computes 1.5 cores alone until 8 s. Tasks count from their second measurement on.
	if used[2] != 1500 || used[3] != 1000 {
		t.Errorf("from 3 s to 6 s containers of a node use %d thousandths, and in the next 3 s %d", used[2], used[3])
	}
}

// What is replayed alone takes as long as it did; on one core beside a load, it takes longer. Starts and ends take what
// they cost.
func TestReplayOnFewCores(t *testing.T) {
	costs := &Costs{
		Machines: 1, Cores: 1, Task: Cost{CPU: 2}, Linger: 6 * second,
		MapReduceMaster: Cost{CPU: 3, Rest: second}, MapReduceLeave: Cost{CPU: 1, Rest: second},
	}
	work := replayed()
	o := Options{
		Seed: 1, Workload: work, Nodes: nodes(2, 1, heddle.Of(4096, 4000)), Given: true, Costs: costs, Parts: Parts(work, costs, nil),
		NodeBeat: 10 * heddle.Millisecond, MasterBeat: 10 * heddle.Millisecond,
	}
	p := named(t, "fifo")
	alone := p.run(t, o)
	o.Loads = []Load{{At: at(8), Cost: Cost{CPU: 4}}}
	loaded := p.run(t, o)
	maps := func(r *Result) (first, last heddle.Time) {
		first = math.MaxInt64
		for _, x := range r.Tasks {
			if x.Kind == heddle.Map {
				first, last = min(first, x.Started), max(last, x.Ended)
			}
		}
		return first, last
	}
	from, to := maps(alone)
	if from < at(4) { // the master's start alone
		t.Errorf("the first map starts at %v", from)
	}
	if lasted := to.Since(from).Seconds(); lasted < 10 || lasted > 10.2 { // they are granted, and reported, a few heartbeats apart
		t.Errorf("the maps last %g s, want 10 and what a report takes", lasted)
	}
	loadedFrom, loadedTo := maps(loaded)
	if more := loadedTo.Since(loadedFrom) - to.Since(from); more < second {
		t.Errorf("beside a load the maps last %v longer", more)
	}
	j := alone.Jobs[0]
	for _, x := range alone.Tasks {
		switch x.Kind {
		case heddle.Reduce:
			if rest := j.End.Since(x.Ended); rest < 0 {
				t.Errorf("the job ends %v before its reduce is reported", -rest)
			}
		case heddle.AM:
			if linger := x.Ended.Since(j.End); linger < 6*second || linger > 7*second {
				t.Errorf("the master holds its container for %v", linger)
			}
		default:
		}
	}
}

// Nodes that report ends at once do not wait for their heartbeats. A process begins one launch time after its grant,
// and the first on a node takes longer.
func TestReplayOfNodes(t *testing.T) {
	work := replayed()
	costs := &Costs{Machines: 1, Cores: 2, Task: Cost{CPU: 2}, MapReduceMaster: Cost{CPU: 1}, Launch: 2 * second}
	o := Options{
		Seed: 1, Workload: work, Nodes: nodes(1, 1, heddle.Of(4096, 4000)), Given: true, Costs: costs, Parts: Parts(work, costs, nil),
		NodeBeat: 20 * second, MasterBeat: 10 * heddle.Millisecond, PromptEnds: true,
	}
	p := named(t, "fifo")
	r := p.run(t, o)
	up := func(r *Result) (at heddle.Time) {
		for _, x := range r.Tasks {
			if x.Kind == heddle.AM {
				at = x.Started
				continue
			}
			if lasted := x.Ended.Since(x.Started); lasted > 15*second {
				t.Errorf("the end of %v %d is known after %v", x.Kind, x.Index, lasted)
			}
			if late := x.Started.Since(x.Granted); late < 2*second || late > 3*second {
				t.Errorf("%v %d begins %v after its grant", x.Kind, x.Index, late)
			}
		}
		return at
	}
	warm := up(r)
	costs.First = 3
	if more := up(p.run(t, o)).Since(warm); more != 3*second {
		t.Errorf("the first process of a node takes %v longer, want 3 s", more)
	}
}
