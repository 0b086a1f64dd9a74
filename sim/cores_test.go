package sim

import (
	"math"
	"testing"

	"heddle"
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

// replayed is a job of two maps, of which the second works on data, and a reduce that waited for them.
func replayed() *workload.Workload {
	return &workload.Workload{Jobs: []workload.Job{{
		ID: "j", Framework: heddle.MapReduce, Master: heddle.Of(1024, 1000), SlowStart: 1,
		Maps: []workload.Task{
			{Duration: 10 * second, CPU: second, Size: heddle.Of(1024, 1000)},
			{Duration: 9 * second, CPU: second, Input: 1 << 20, Size: heddle.Of(1024, 1000)},
		},
		Reduces: []workload.Task{{Duration: 12 * second, CPU: second, Size: heddle.Of(1024, 1000)}},
		Times: &workload.Times{
			Master: workload.NoTime, Ready: workload.NoTime, Maps: []heddle.Time{0, 0}, Reduces: []heddle.Time{at(20)},
		},
	}}}
}

// The first map computes 3 core-s, of which it gets half a core a second beside the other, and then rests 4 s.
func TestPartsOfThePast(t *testing.T) {
	p := Parts(replayed(), &Costs{Machines: 1, Cores: 1, Task: Cost{CPU: 2}}, nil)[0]
	for i, c := range []struct {
		got       Part
		cpu, rest float64
	}{{p.Maps[0], 3, 4}, {p.Maps[1], 6, 0}, {p.Reduces[0], 1, 9}} {
		if math.Abs(c.got.CPU-c.cpu) > 1e-6 || math.Abs(c.got.Rest.Seconds()-c.rest) > 1e-6 {
			t.Errorf("part %d computes %g s and rests %g, want %g and %g", i, c.got.CPU, c.got.Rest.Seconds(), c.cpu, c.rest)
		}
	}
}

// What is replayed alone lasts as long as it did; on one core with a load beside it, longer. Starts and ends take what
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
	if lasted := to.Since(from).Seconds(); lasted < 10 || lasted > 10.2 { // they are granted, and reported, a few beats apart
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
