package sim

import (
	"cmp"
	"slices"

	"heddle"
)

// Limits of what a trace keeps.
const (
	maxTracePoints  = 240  // of a task; beyond it, every second one is dropped
	maxTracedTasks  = 1024 // of a run
	maxTracedOfKind = 48   // maps, and as many reduces, of a job
	maxForeseen     = 1024 // reduces whose predictions are kept
)

// A tracer keeps what individual tasks were given and used, and what was predicted of them. It only observes: a run has
// the same outcome with and without it.
type tracer struct {
	byProgress bool // predictions are taken when progress is reported, else at every sample
	lives      []*traced
	of         map[heddle.ContainerID]*traced
	tasks      int
	foreseen   int
	ofKind     [][2]int // by job: maps and reduces traced
	traces     []*Trace
	said       []Prediction
}

// traced is a container under observation.
type traced struct {
	id     heddle.ContainerID
	reduce bool
	trace  *Trace // nil = only predictions are wanted
	points thinned[TracePoint]
	cpu    float64 // vcore-seconds at the last look
	at     heddle.Time
	said   *thinned[Prediction] // nil = only the trace is wanted
	asked  heddle.Time          // of the last prediction
	over   bool
}

// thinned is a list that halves itself when it is full.
type thinned[T any] struct {
	list         []T
	stride, skip int
}

func (l *thinned[T]) add(x T) {
	if l.skip > 0 {
		l.skip--
		return
	}
	if len(l.list) == maxTracePoints {
		for i := range maxTracePoints / 2 {
			l.list[i] = l.list[2*i]
		}
		l.list = l.list[:maxTracePoints/2]
		l.stride = 2*l.stride + 1
	}
	l.list = append(l.list, x)
	l.skip = l.stride
}

func newTracer(o *Options) *tracer {
	return &tracer{
		byProgress: o.Set.Feeds.Progress > 0,
		of:         map[heddle.ContainerID]*traced{},
		ofKind:     make([][2]int, len(o.Workload.Jobs)),
	}
}

// started begins to observe a map or a reduce if there is room for one more.
func (t *tracer) started(s *Sim, c *container) {
	if c.kind != heddle.Map && c.kind != heddle.Reduce {
		return
	}
	x := &traced{id: c.id, at: s.now, reduce: c.kind == heddle.Reduce}
	n := &t.ofKind[c.app.id][0]
	if x.reduce {
		n = &t.ofKind[c.app.id][1]
	}
	if t.tasks < maxTracedTasks && *n < maxTracedOfKind {
		t.tasks++
		*n++
		x.trace = &Trace{Container: c.id, Job: c.app.id, Kind: c.kind}
		t.traces = append(t.traces, x.trace)
		cpu, memory := s.phys.consumed(s.now, c)
		x.cpu = cpu
		x.points.add(TracePoint{At: s.now, Limit: c.limit, Memory: memory})
	}
	if x.reduce && s.o.Set.Remaining != nil && t.foreseen < maxForeseen {
		t.foreseen++
		x.said = &thinned[Prediction]{}
	}
	if x.trace != nil || x.said != nil {
		t.of[c.id] = x
		t.lives = append(t.lives, x)
	}
}

// sample looks at every observed container whose process runs.
func (t *tracer) sample(s *Sim, at heddle.Time) {
	t.lives = slices.DeleteFunc(t.lives, func(x *traced) bool { return x.over })
	for _, x := range t.lives {
		c := s.container(x.id)
		if c == nil || c.over {
			continue
		}
		t.look(s, x, c, at)
		if !t.byProgress {
			t.ask(s, x)
		}
	}
}

// look adds a point: the current limit and what was used since the last look.
func (t *tracer) look(s *Sim, x *traced, c *container, at heddle.Time) {
	if x.trace == nil || at <= x.at {
		return
	}
	cpu, memory := s.phys.consumed(at, c)
	used := (cpu - x.cpu) / at.Since(x.at).Seconds()
	x.points.add(TracePoint{At: at, Limit: c.limit, CPU: int64(1000*used + 0.5), Memory: memory})
	x.cpu, x.at = cpu, at
}

// reported handles a report of a task's progress.
func (t *tracer) reported(s *Sim, c *container) {
	if x := t.of[c.id]; x != nil {
		t.ask(s, x)
	}
}

// ask records what the profile's estimator says of a reduce, as of the last event.
func (t *tracer) ask(s *Sim, x *traced) {
	v := s.core().View()
	k := v.Container(x.id)
	if x.said == nil || k == nil || v.Now() == x.asked {
		return
	}
	x.asked = v.Now()
	if rest, ok := s.o.Set.Remaining.Remaining(v, k); ok {
		x.said.add(Prediction{Container: x.id, Job: s.container(x.id).app.id, At: v.Now(), Remaining: rest, Actual: NoSpan})
	}
}

// stopped handles the end of a container's process.
func (t *tracer) stopped(s *Sim, c *container) {
	if x := t.of[c.id]; x != nil {
		t.look(s, x, c, s.now)
	}
}

// forgotten handles the ResourceManager hearing of a container's end.
func (t *tracer) forgotten(now heddle.Time, id heddle.ContainerID, status heddle.ExitStatus) {
	x := t.of[id]
	if x == nil {
		return
	}
	delete(t.of, id)
	if x.said != nil && status == heddle.Success {
		for i := range x.said.list {
			p := &x.said.list[i]
			p.Actual = now.Since(p.At)
		}
	}
	t.close(x)
}

func (t *tracer) close(x *traced) {
	x.over = true
	if x.trace != nil {
		x.trace.Points = x.points.list
	}
	if x.said != nil {
		t.said = append(t.said, x.said.list...)
	}
}

// finish writes what was kept into a result.
func (t *tracer) finish(r *Result) {
	for _, x := range t.lives {
		if !x.over {
			t.close(x)
		}
	}
	for _, x := range t.traces {
		r.Traces = append(r.Traces, *x)
	}
	slices.SortFunc(t.said, func(a, b Prediction) int {
		return cmp.Or(cmp.Compare(a.At, b.At), cmp.Compare(a.Container, b.Container))
	})
	r.Predictions = t.said
}
