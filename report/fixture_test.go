package report

import (
	"fmt"
	"math"
	"math/rand/v2"

	"heddle"
	"heddle/sim"
	"heddle/workload"
)

// A fixture determines the size of an artificial comparison.
type fixture struct {
	profiles    []string
	seeds       int
	jobs        int
	nodes       int
	day         bool // submissions over 24 h instead of half an hour
	tasks       bool
	incomplete  bool // the last profile leaves jobs failed, rejected and unfinished
	step        heddle.Span
	longestName bool
	watched     bool // gauges, predictions and traces, for all profiles but the first
}

func usual() fixture {
	return fixture{profiles: []string{"capacity", "fair", "fifo"}, seeds: 5, jobs: 60, nodes: 20, tasks: true, step: heddle.Second}
}

// build makes a comparison whose shapes resemble real ones: most jobs are small, a few hundreds of times larger, and
// profiles serve the small ones more or less well.
func (f fixture) build() *Comparison {
	c := &Comparison{
		World:   "full",
		Cluster: fmt.Sprintf("%d nodes in 2 racks, 8192 MiB and 8 vcores each", f.nodes),
		Notes:   []string{"no configuration folder was given: one queue, default, dominant resources"},
		Workload: &workload.Workload{
			Name: "mixed", Format: "swim", Lines: f.jobs + 2,
			Skipped: []workload.Defect{
				{File: "mixed.tsv", Line: 17, Field: "input", Reason: `"12x" is not a number of bytes`},
				{File: "mixed.tsv", Line: 31, Reason: "5 fields, want 6 separated by tabs"},
			},
			Filled: []workload.Fill{
				{Field: "maps", Rule: "maps = ⌈input / 128 MiB⌉", Jobs: f.jobs},
				{Field: "user", Rule: "user = hadoop", Jobs: f.jobs},
			},
		},
	}
	for p, name := range f.profiles {
		runs := ProfileRuns{Name: name}
		for seed := 1; seed <= f.seeds; seed++ {
			runs.Runs = append(runs.Runs, f.run(p, uint64(seed)))
		}
		c.Profiles = append(c.Profiles, runs)
	}
	return c
}

func (f fixture) run(p int, seed uint64) *sim.Result {
	shape := rand.New(rand.NewPCG(7, 7)) // the workload: the same for all
	luck := rand.New(rand.NewPCG(seed, uint64(p)))
	r := &sim.Result{Profile: f.profiles[p], Seed: seed, World: "full", BoundName: "fluid, memory", Wall: 0.25 + float64(seed)/100}
	for n := range f.nodes {
		name := fmt.Sprintf("node%02d", n+1)
		if f.longestName {
			name = fmt.Sprintf("ip-10-0-%d-%d.eu-central-1.compute.internal", n/16, n)
		}
		r.Nodes = append(r.Nodes, sim.NodeInfo{Name: name, Rack: fmt.Sprintf("rack%d", n%2+1), Total: heddle.Of(8192, 8000)})
	}
	length := 1800.0
	if f.day {
		length = 86400
	}
	var boundSum heddle.Span
	for i := range f.jobs {
		j := f.job(i, p, length, shape, luck)
		r.Jobs = append(r.Jobs, j)
		boundSum += j.Bound
		r.Makespan = max(r.Makespan, j.End.Since(0))
		r.LocalMaps += j.LocalMaps
		r.LocalisedMaps += j.LocalisedMaps
	}
	r.MeanJCTBound = boundSum / heddle.Span(f.jobs) * 11 / 10
	r.MakespanBound = heddle.Seconds(length * 0.8)
	f.containers(r, luck)
	if f.watched && p > 0 {
		watch(r, luck)
	}
	return r
}

// watch adds what policies showed, predictions for reduces, and what tasks were given.
func watch(r *sim.Result, luck *rand.Rand) {
	n := len(r.Series.Maps)
	delta, debt := sim.Gauge{Name: "δ", Words: "δ: the share that is reserved for jobs that ask for little."}, sim.Gauge{Name: "debt, MiB"}
	for i := range n {
		delta.Values = append(delta.Values, float32(0.1+0.3*math.Abs(math.Sin(float64(i)/200))))
		debt.Values = append(debt.Values, float32(4000*math.Sin(float64(i)/90)))
	}
	debt.Values[0] = float32(math.NaN())
	r.Gauges = []sim.Gauge{delta, debt}
	for i := range r.Tasks {
		t := &r.Tasks[i]
		if t.Kind == heddle.Reduce {
			for at := t.Started; at < t.Ended && at < t.Started+heddle.Time(200*heddle.Second); at += heddle.Time(3 * heddle.Second) {
				rest := t.Ended.Since(at)
				r.Predictions = append(r.Predictions, sim.Prediction{
					Container: t.Container, Job: t.Job, At: at, Actual: rest, Remaining: heddle.Span(float64(rest) * (0.6 + 0.8*luck.Float64())),
				})
			}
		}
		if t.Kind == heddle.AM || i%9 > 0 {
			continue
		}
		x := sim.Trace{Container: t.Container, Job: t.Job, Kind: t.Kind}
		limit := t.Limit
		for at := t.Started; at < t.Ended; at += heddle.Time(heddle.Second) {
			if luck.IntN(10) == 0 {
				limit[heddle.CPU] = int64(600 + luck.IntN(900))
				limit[heddle.Memory] = int64(700 + luck.IntN(900))
			}
			x.Points = append(x.Points, sim.TracePoint{
				At: at, Limit: limit, CPU: int64(float64(limit[heddle.CPU]) * (0.7 + 0.3*luck.Float64())), Memory: min(limit[heddle.Memory], 800),
			})
		}
		r.Traces = append(r.Traces, x)
	}
}

func (f fixture) job(i, p int, length float64, shape, luck *rand.Rand) sim.JobResult {
	size := math.Exp(2.2 * shape.NormFloat64()) // of the median job
	submit := length * float64(i) / float64(f.jobs)
	spark := shape.IntN(5) == 0
	mapOnly := shape.IntN(4) == 0
	bound := 15 + 8*math.Min(size, 300)
	slow := 1.3 + 0.35*float64(p)/math.Sqrt(1+size) + 0.25*luck.Float64()
	if i%7 == 0 {
		slow -= 0.3 * float64(p) * math.Min(1, size/20)
	}
	jct := bound * math.Max(slow, 1.02)
	j := sim.JobResult{
		ID: fmt.Sprintf("job%04d", i+1), Queue: "default", User: "hadoop", Framework: heddle.MapReduce,
		Maps: 1 + int(4*math.Min(size, 200)), Reduces: 1 + int(math.Min(size, 40)), InputBytes: int64(size * 5e8),
		Submit: heddle.Time(heddle.Seconds(submit)), End: heddle.Time(heddle.Seconds(submit + jct)), JCT: heddle.Seconds(jct),
		Wait: heddle.Seconds(3 + jct*0.08*luck.Float64()), Starvation: heddle.Seconds(jct * 0.1 * luck.Float64()),
		ReduceHold: heddle.Seconds(jct * 0.3), MasterMemory: 1536, Bound: heddle.Seconds(bound), State: sim.Succeeded, MasterAttempts: 1,
	}
	if mapOnly || spark {
		j.Reduces, j.Starvation, j.ReduceHold = 0, sim.NoSpan, sim.NoSpan
	}
	if spark {
		j.Framework, j.Maps = heddle.Spark, 2+int(math.Min(size, 12))
	}
	j.LocalisedMaps = j.Maps
	j.LocalMaps = int(float64(j.Maps) * math.Min(1, 0.6+0.1*float64(p)))
	if f.incomplete && p == len(f.profiles)-1 {
		switch i % 10 {
		case 3:
			j.State = sim.Failed
		case 5:
			j.State, j.Wait, j.JCT, j.MasterMemory = sim.Rejected, sim.NoSpan, sim.NoSpan, 0
		case 9:
			j.State, j.JCT = sim.Unfinished, sim.NoSpan
		}
	}
	return j
}

// containers gives every job its containers, on nodes with a free lane, and samples the series.
func (f fixture) containers(r *sim.Result, luck *rand.Rand) {
	samples := int(r.Makespan/f.step) + 1
	s := counted{sim.Series{
		Step: f.step, Maps: make([]int32, samples), Reduces: make([]int32, samples), Executors: make([]int32, samples),
		CPUUsed: make([]float32, samples), CPUHeld: make([]float32, samples), MemoryHeld: make([]float32, samples),
	}}
	free := make([]heddle.Time, f.nodes*8)
	id := heddle.ContainerID(0)
	place := func(job int, k heddle.Kind, index int, from, to heddle.Time) {
		lane := luck.IntN(len(free))
		for try := 0; try < 12 && free[lane] > from; try++ {
			lane = luck.IntN(len(free))
		}
		from = max(from, free[lane])
		to = max(to, from+heddle.Time(heddle.Second))
		if to > heddle.Time(r.Makespan) {
			return
		}
		free[lane] = to
		id++
		status := heddle.Success
		if luck.IntN(200) == 0 {
			status = heddle.Preempted
		}
		t := sim.TaskResult{
			Job: job, Kind: k, Index: int32(index), Container: id, Node: heddle.NodeID(lane / 8),
			At: heddle.Locality(luck.IntN(3)), Granted: from, Started: from + heddle.Time(heddle.Second/2), Ended: to,
			Size: heddle.Of(1024, 1000), Limit: heddle.Of(1024, 1000), Status: status,
		}
		if f.tasks {
			r.Tasks = append(r.Tasks, t)
		}
		s.count(t, len(free))
	}
	for i := range r.Jobs {
		j := &r.Jobs[i]
		span := float64(j.End - j.Submit)
		at := func(share float64) heddle.Time { return j.Submit + heddle.Time(span*share) }
		kind := heddle.Map
		if j.Framework == heddle.Spark {
			kind = heddle.Executor
		}
		place(i, heddle.AM, 0, at(0), at(0.99))
		for m := range min(j.Maps, 300) {
			from := luck.Float64() * 0.5
			place(i, kind, m, at(from), at(from+0.15+0.1*luck.Float64()))
		}
		for m := range j.Reduces {
			from := 0.4 + luck.Float64()*0.2
			place(i, heddle.Reduce, m, at(from), at(0.97))
		}
	}
	r.Series = s.Series
	for i := range samples {
		r.CPUUsed += float64(r.Series.CPUUsed[i]) / float64(samples)
		r.MemoryHeld += float64(r.Series.MemoryHeld[i]) / float64(samples)
	}
}

// counted is a series to which containers are added.
type counted struct{ sim.Series }

func (s *counted) count(t sim.TaskResult, lanes int) {
	for i := int(t.Granted) / int(s.Step); i <= int(t.Ended)/int(s.Step) && i < len(s.Maps); i++ {
		s.CPUHeld[i] += 1 / float32(lanes)
		s.MemoryHeld[i] += 0.9 / float32(lanes)
		switch t.Kind {
		case heddle.Map:
			s.Maps[i]++
			s.CPUUsed[i] += 0.85 / float32(lanes)
		case heddle.Reduce:
			s.Reduces[i]++
			s.CPUUsed[i] += 0.35 / float32(lanes)
		case heddle.Executor:
			s.Executors[i]++
			s.CPUUsed[i] += 0.7 / float32(lanes)
		default:
		}
	}
}
