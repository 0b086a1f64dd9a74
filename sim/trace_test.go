package sim

import (
	"math"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"heddle"
	"heddle/policies/progress"
	"heddle/policy"
	"heddle/sim/world"
	"heddle/workload"
)

// shown is a lane's order that shows gauges of its own: the time, and how many containers are asked for.
type shown struct {
	watch
	asked *int
}

func (g shown) Gauges(v policy.View, emit func(string, float64)) {
	*g.asked++
	emit("now", v.Now().Seconds())
	emit("constant", 0.25)
}

func (shown) GaugeWords(name string) string {
	return map[string]string{"now": "What time it is."}[name]
}

// What policies show is sampled with the series, and is halved and cut with it.
func TestGauges(t *testing.T) {
	for _, length := range []float64{30, 5000} {
		asked := 0
		o := givenWorld(nodes(1, 1, heddle.Of(8192, 8000)), mapReduce("j", 0, lasting(1, length), nil))
		s := bare()
		s.Lanes[0].Order = shown{watch{saw: func(policy.View, policy.Effect) {}}, &asked}
		s.Feeds.Profile = second // something for the core to hear of, from which policies know the time
		o.Set, o.NodeBeat, o.EveryBeat = s, second, true
		o.Queues, o.Users = []heddle.QueueID{1}, []heddle.UserID{0}
		r, err := Run(o)
		if err != nil {
			t.Fatal(err)
		}
		states(t, r, Succeeded)
		if len(r.Gauges) != 2 || r.Gauges[0].Name != "now" || r.Gauges[1].Name != "constant" {
			t.Fatalf("gauges %+v", r.Gauges)
		}
		if r.Gauges[0].Words != "What time it is." || r.Gauges[1].Words != "" {
			t.Errorf("in words %q and %q", r.Gauges[0].Words, r.Gauges[1].Words)
		}
		for _, g := range r.Gauges {
			if len(g.Values) != len(r.Series.Maps) || len(g.Values) == 0 {
				t.Fatalf("%d values of %s, %d steps of the series", len(g.Values), g.Name, len(r.Series.Maps))
			}
		}
		if last := r.Gauges[0].Values; last[len(last)-1] < float32(length)-2*float32(r.Series.Step.Seconds()) || last[0] > float32(r.Series.Step.Seconds()) {
			t.Errorf("the time goes from %v to %v in a run of %v s", last[0], last[len(last)-1], length)
		}
		if c := r.Gauges[1].Values; c[0] != 0.25 || c[len(c)-1] != 0.25 {
			t.Errorf("a constant is %v", c)
		}
		if wide := r.Series.Step > second; wide != (length > maxSamples) {
			t.Errorf("steps of %v in %v s", r.Series.Step, length)
		}
	}
}

// One map reads 64 MiB alone on a node: its disk served one request after the other, and was busy, with processors
// idle, for the time of the read.
func TestDiskUse(t *testing.T) {
	j := mapReduce("scan", 0, tasks(1, workload.Task{Input: 64 << 20, Hosts: []int32{0}, Size: heddle.Of(1024, 1000)}), nil)
	j.Program = "grep"
	o := fullWorld(nodes(1, 1, heddle.Of(8192, 8000)), j)
	o.Workload.Hosts = []workload.Host{{Name: "n"}}
	r := under(t, bare(), o)
	states(t, r, Succeeded)
	p := world.DefaultParams()
	service := p.RequestBytes / p.DiskBps
	near(t, "svctm", r.Disks.Service, service, 1e-9)
	near(t, "await", r.Disks.Await, service, 1e-9)
	m := kept(r, 0, heddle.Map)[0]
	if wait := r.Disks.IOWait * r.Makespan.Seconds(); wait <= 0 || wait > m.Ended.Since(m.Started).Seconds() {
		t.Errorf("%.3f s of waiting for the disk, the map ran %v", wait, m.Ended.Since(m.Started))
	}
	read := 64 * (1 << 20) / p.DiskBps
	if busy := r.Disks.IOWait * r.Makespan.Seconds(); busy > read || busy < read*(1-1.5/8) { // at least 6.5 of 8 processors idle
		t.Errorf("%.3f s of waiting, want nearly the %.3f s a read takes", busy, read)
	}
	// Six of them at once wait for each other.
	o.Workload.Jobs[0].Maps = tasks(6, o.Workload.Jobs[0].Maps[0])
	if many := under(t, bare(), o); many.Disks.Await < 1.5*service {
		t.Errorf("await %.4f s of six readers, alone %.4f s", many.Disks.Await, service)
	}
	o.Given = true
	o.Workload.Jobs[0].Maps = lasting(1, 5)
	if r := under(t, bare(), o); r.Disks != (DiskUse{}) {
		t.Errorf("disks of the given world: %+v", r.Disks)
	}
}

func TestMasterCPU(t *testing.T) {
	j := mapReduce("j", 0, lasting(1, 5), nil)
	j.Master = heddle.Of(2048, 3000)
	r := under(t, bare(), givenWorld(nodes(1, 1, heddle.Of(8192, 8000)), j))
	if got := r.Jobs[0]; got.MasterCPU != 3000 || got.MasterMemory != 2048 {
		t.Errorf("the master has %d MiB and %d", got.MasterMemory, got.MasterCPU)
	}
}

// A map that computes for thirty seconds, cut to half of its processor from 15 s on.
func TestTraces(t *testing.T) {
	resize := func(v policy.View, p *policy.Plan) { p.Resize(oldestMap(v), heddle.Of(1024, 500)) }
	o := thirty(1, 1)
	o.Trace = true
	o.Params.ResizeCost = 0
	r := under(t, with(deed{15, resize}), o)
	states(t, r, Succeeded)
	m := kept(r, 0, heddle.Map)[0]
	if len(r.Traces) != 1 {
		t.Fatalf("%d traces", len(r.Traces))
	}
	x := r.Traces[0]
	if x.Container != m.Container || x.Kind != heddle.Map || x.Job != 0 {
		t.Errorf("%+v", x)
	}
	points := x.Points
	if points[0].At != m.Started || points[len(points)-1].At > m.Ended || points[len(points)-1].At < m.Ended-at(0.1) {
		t.Errorf("from %v to %v, the map from %v to %v", points[0].At, points[len(points)-1].At, m.Started, m.Ended)
	}
	used := 0.0
	for i := range points[1:] {
		p := points[i+1]
		span := p.At.Since(points[i].At).Seconds()
		used += float64(p.CPU) / 1000 * span
		limit := heddle.Of(1024, 1000)
		if p.At >= at(16) {
			limit = heddle.Of(1024, 500)
		}
		if p.At < at(15) || p.At >= at(16) {
			if p.Limit != limit {
				t.Errorf("limit %v at %v", p.Limit, p.At)
			}
			near(t, "use", float64(p.CPU), float64(limit[heddle.CPU]), 1)
		}
		if p.Memory <= 0 {
			t.Errorf("%d MiB held at %v", p.Memory, p.At)
		}
	}
	near(t, "core-seconds", used, 30, 0.1)
	if o.Trace = false; under(t, bare(), o).Traces != nil {
		t.Error("traces that nobody asked for")
	}
}

// always predicts the same.
type always struct{}

func (always) Remaining(policy.View, *policy.Container) (heddle.Span, bool) { return 7 * second, true }

// Compares the estimate of the profile with what happened: a reduce that goes on as it began is predicted to the second
// as soon as it is in progress.
func TestPredictions(t *testing.T) {
	o := givenWorld(nodes(2, 1, heddle.Of(8192, 8000)), mapReduce("j", 0, lasting(1, 1), lasting(2, 60)))
	o.Workload.Jobs[0].SlowStart = 1
	o.Trace = true
	s := bare()
	s.Remaining = progress.Remaining{}
	s.Feeds.Progress = 3 * second
	r := under(t, s, o)
	states(t, r, Succeeded)
	of := map[heddle.ContainerID]int{}
	for i, x := range r.Predictions {
		of[x.Container]++
		if i > 0 && x.At < r.Predictions[i-1].At {
			t.Error("not in order of time")
		}
		if x.Actual == NoSpan || x.Job != 0 {
			t.Errorf("%+v", x)
		}
		near(t, "predicted", x.Remaining.Seconds(), x.Actual.Seconds(), 0.2) // ends are known within 10 ms
	}
	reduces := kept(r, 0, heddle.Reduce)
	if len(of) != 2 || of[reduces[0].Container] < 19 || of[reduces[0].Container] > 21 {
		t.Errorf("predictions by container: %v; want one every 3 s of the two reduces", of)
	}
	// An estimate that needs no reports is recorded with every sample.
	s.Remaining, s.Feeds.Progress, s.Feeds.Profile = always{}, 0, second
	if r = under(t, s, o); len(r.Predictions) < 100 || r.Predictions[0].Remaining != 7*second {
		t.Errorf("%d predictions at samples", len(r.Predictions))
	}
	// It is not known how something that is cut short would have ended.
	o.MaxTime = at(40)
	r = under(t, s, o)
	if len(r.Predictions) == 0 || r.Predictions[0].Actual != NoSpan {
		t.Errorf("of a run that was cut: %+v", r.Predictions)
	}
}

// A run has the same outcome whether or not it is traced.
func TestTracingChangesNothing(t *testing.T) {
	tasks := 0
	for seed := range uint64(12) {
		o := fullWorld(nodes(5, 2, heddle.Of(6144, 6000)))
		o.Given, o.Effects, o.Seed = seed%3 == 0, world.AllEffects(), seed
		o.Workload = mixed(seeded(seed), 8)
		if seed%4 > 1 {
			o = anything(seeded(seed), true)
		}
		p := profile{name: "progress", base: "fair", set: []string{"estimate.remaining=progress"}}
		plain := p.run(t, o)
		o.Trace = true
		traced := p.run(t, o)
		tasks += len(traced.Traces)
		for _, x := range traced.Traces {
			for i, q := range x.Points {
				if q.CPU < 0 || q.Memory < 0 || i > 0 && q.At <= x.Points[i-1].At {
					t.Errorf("seed %d: container %d: %+v", seed, x.Container, q)
				}
			}
		}
		traced.Traces, traced.Predictions = nil, nil
		if d := gocmp.Diff(plain, traced); d != "" {
			t.Fatalf("seed %d: untraced (-) and traced (+):\n%s", seed, d)
		}
	}
	if tasks < 100 {
		t.Errorf("%d tasks were traced", tasks)
	}
}

func TestThinned(t *testing.T) {
	var l thinned[int]
	for i := range 100_000 {
		l.add(i)
	}
	if n := len(l.list); n < maxTracePoints/2 || n > maxTracePoints {
		t.Errorf("%d points", n)
	}
	gap := l.list[1] - l.list[0]
	for i := range l.list[1:] {
		if l.list[i+1]-l.list[i] != gap {
			t.Fatalf("a gap of %d after %d, elsewhere %d", l.list[i+1]-l.list[i], l.list[i], gap)
		}
	}
	if l.list[0] != 0 || math.Abs(float64(l.list[len(l.list)-1])-100_000) > 2*float64(gap) {
		t.Errorf("from %d to %d", l.list[0], l.list[len(l.list)-1])
	}
}

// However many tasks there are, a bounded number is traced, including some of every job.
func TestTracesAreBounded(t *testing.T) {
	var jobs []workload.Job
	for i := range 30 {
		jobs = append(jobs, mapReduce(string(rune('a'+i)), float64(i), lasting(100, 2), nil))
	}
	o := givenWorld(nodes(20, 1, heddle.Of(65536, 64000)), jobs...)
	o.Trace = true
	r := profile{name: "fifo", base: "fifo"}.plain(t, o)
	states(t, r, Succeeded)
	if n := len(r.Traces); n != maxTracedTasks {
		t.Errorf("%d traces, want %d", n, maxTracedTasks)
	}
	for i, x := range r.Traces {
		if x.Job != r.Traces[max(0, i-1)].Job && i > 0 && len(x.Points) == 0 {
			t.Errorf("an empty trace of %d", x.Container)
		}
	}
}
