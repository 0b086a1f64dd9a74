package sim

import (
	"heddle"
	"heddle/internal/slab"
)

// maxSamples limits a run's time series; beyond it, every two steps are merged.
const maxSamples = 2048

// measure holds what is counted during a run.
type measure struct {
	run     [heddle.NumKinds]int32
	memory  float64 // MiB·s held
	last    heddle.Time
	step    heddle.Span
	nextAt  heddle.Time
	lastCPU float64
	cores   float64
	series  Series
	gauges  []Gauge
	seen    int // gauges emitted for this sample
	emit    func(name string, value float64)
}

// A mark is a time, with the memory held and used until then, in MiB·s, and the time for which all memory would have
// been filled, in seconds.
type mark struct {
	at                   heddle.Time
	memory, used, filled float64
}

func (s *Sim) mark() mark {
	return mark{s.now, s.m.memory, s.phys.memoryUsed(s.now), s.phys.memoryFilled(s.now)}
}

func (m *measure) running(k heddle.Kind, by int32) { m.run[k] += by }

// advance integrates up to a time and takes a sample at every step passed.
func (m *measure) advance(s *Sim, to heddle.Time) {
	if m.step == 0 {
		m.step = heddle.Second
		m.nextAt = heddle.Time(m.step)
		m.emit = m.gauge
		for _, n := range s.o.Nodes {
			m.cores += coresOfNode(&n)
		}
	}
	v := s.core().View()
	used := v.Used()
	m.memory += float64(used[heddle.Memory]) * to.Since(m.last).Seconds()
	m.last = to
	for m.nextAt <= to {
		m.sample(s, used)
		m.nextAt += heddle.Time(m.step)
	}
}

func (m *measure) sample(s *Sim, used heddle.Resource) {
	total := s.core().View().Total()
	r := &m.series
	cpu := s.phys.cpuUsed(m.nextAt)
	r.Maps = append(r.Maps, m.run[heddle.Map]+m.run[heddle.Other])
	r.Reduces = append(r.Reduces, m.run[heddle.Reduce])
	r.Executors = append(r.Executors, m.run[heddle.Executor])
	r.CPUUsed = append(r.CPUUsed, float32((cpu-m.lastCPU)/(m.cores*m.step.Seconds())))
	m.lastCPU = cpu
	r.CPUHeld = append(r.CPUHeld, ratio(used[heddle.CPU], total[heddle.CPU]))
	r.MemoryHeld = append(r.MemoryHeld, ratio(used[heddle.Memory], total[heddle.Memory]))
	m.seen = 0
	s.core().Gauges(m.emit)
	if s.tracer != nil {
		s.tracer.sample(s, m.nextAt)
	}
	if len(r.Maps) >= maxSamples {
		m.halve()
	}
}

// gauge takes one number of a sample. The numbers always come in the same order.
func (m *measure) gauge(name string, value float64) {
	if m.seen == len(m.gauges) {
		m.gauges = append(m.gauges, Gauge{Name: name})
	}
	g := &m.gauges[m.seen]
	g.Values = append(g.Values, float32(value))
	m.seen++
}

func ratio(a, b int64) float32 {
	if b == 0 {
		return 0
	}
	return float32(a) / float32(b)
}

// halve merges every two samples into one.
func (m *measure) halve() {
	r := &m.series
	for _, p := range []*[]int32{&r.Maps, &r.Reduces, &r.Executors} {
		*p = pairs(*p, func(a, b int32) int32 { return (a + b + 1) / 2 })
	}
	for _, p := range []*[]float32{&r.CPUUsed, &r.CPUHeld, &r.MemoryHeld} {
		*p = pairs(*p, middle)
	}
	for i := range m.gauges {
		m.gauges[i].Values = pairs(m.gauges[i].Values, middle)
	}
	m.step *= 2
}

func middle(a, b float32) float32 { return (a + b) / 2 }

func pairs[T any](xs []T, mean func(a, b T) T) []T {
	n := len(xs) / 2
	for i := range n {
		xs[i] = mean(xs[2*i], xs[2*i+1])
	}
	return xs[:n]
}

func (a *app) booked(id heddle.ContainerID, now heddle.Time) {
	if a.bookings == nil {
		a.bookings = map[heddle.ContainerID]heddle.Time{}
	}
	a.bookings[id] = now
}

func (a *app) unbooked(id heddle.ContainerID, now heddle.Time) {
	if at, ok := a.bookings[id]; ok {
		a.reserved += now.Since(at)
		delete(a.bookings, id)
	}
}

// begun records the start of a container other than a master.
func (a *app) begun(c *container, now heddle.Time) {
	if a.first < 0 {
		a.first = now
	}
	if c.kind == heddle.Reduce {
		a.launches = append(a.launches, now)
	}
}

// mapDone records the end of a map, which may have ended before and run again since: first means that it had not ended
// before, last that no map is missing any more.
func (a *app) mapDone(now heddle.Time, index int32) (first, last bool) {
	if a.mapped == nil {
		a.mapped = slab.NewBits(len(a.job.Maps))
	}
	first = !a.mapped.Has(index)
	if first {
		a.mapped.Set(index, true)
		a.mapsLeft--
	}
	if a.mapsLeft == 0 {
		a.mapsEnd = now
	}
	return first, a.mapsLeft == 0
}

// ended records the end of a container.
func (a *app) ended(c *container, now heddle.Time) {
	if c.kind == heddle.Reduce && c.started >= 0 {
		a.reduceHeld += now.Since(c.granted)
		a.reduces++
	}
}

// starvation returns the mean wait of the reduces that started after the last map's end, counted from that end.
func (a *app) starvation() heddle.Span {
	if len(a.job.Reduces) == 0 {
		return NoSpan
	}
	var sum heddle.Span
	n := 0
	for _, at := range a.launches {
		if at > a.mapsEnd && a.mapsEnd > 0 {
			sum += at.Since(a.mapsEnd)
			n++
		}
	}
	if n == 0 {
		return 0
	}
	return sum / heddle.Span(n)
}

// finish assembles the result.
func (s *Sim) finish() *Result {
	r := s.res
	last := s.last()
	var firstIn heddle.Time
	for i, a := range s.apps {
		j := a.result(last.at)
		if j.State == Unfinished {
			j.Why = s.unfinished()
		}
		r.Jobs = append(r.Jobs, j)
		r.LocalMaps += a.localMaps
		r.LocalisedMaps += a.localised
		if i == 0 || a.job.Submit < firstIn {
			firstIn = a.job.Submit
		}
	}
	r.Makespan = max(last.at.Since(firstIn), 0)
	if span := r.Makespan.Seconds(); span > 0 {
		var memory float64
		for _, n := range s.o.Nodes {
			memory += float64(n.Total[heddle.Memory])
		}
		r.CPUUsed = s.phys.cpuUsed(s.now) / (s.m.cores * span)
		r.MemoryHeld = last.memory / (memory * span)
		r.MemoryUsed = last.used / (memory * span)
		r.MemoryFilled = last.filled / span
	}
	s.m.series.until(last.at, s.m.step)
	r.Series = s.m.series
	for _, g := range s.m.gauges {
		r.Gauges = append(r.Gauges, Gauge{g.Name, s.core().GaugeWords(g.Name), g.Values[:min(len(r.Series.Maps), len(g.Values))]})
	}
	r.Disks = s.diskUse(r.Makespan.Seconds())
	if s.tracer != nil {
		s.tracer.finish(r)
	}
	r.Events = int64(s.core().Counts().Steps)
	r.CheckedSteps = s.checked
	r.SkippedOffers = max(0, int64(s.now)/int64(s.o.NodeBeat)*int64(len(s.nodes))-s.wheel.beats)
	return r
}

// diskUse relates what the disks did to the cluster's time.
func (s *Sim) diskUse(span float64) DiskUse {
	d := s.phys.disks(s.now)
	if span <= 0 || d.Requests <= 0 {
		return DiskUse{}
	}
	return DiskUse{
		IOWait:  d.IOWait / (float64(len(s.o.Nodes)) * span),
		Await:   d.Await / d.Requests,
		Service: d.Service / d.Requests,
	}
}

// last returns where the figures end: at the last job's end; at the cut, if the run was cut; at the last sign of life,
// if the run stalled.
func (s *Sim) last() mark {
	switch {
	case s.alive == 0:
		return s.lastEnd
	case s.stalled:
		return s.progress
	}
	return s.mark()
}

// until drops the samples after a time.
func (r *Series) until(at heddle.Time, step heddle.Span) {
	r.Step = step
	if step <= 0 {
		return
	}
	n := min(int(at/heddle.Time(step)), len(r.Maps))
	r.Maps, r.Reduces, r.Executors = r.Maps[:n], r.Reduces[:n], r.Executors[:n]
	r.CPUUsed, r.CPUHeld, r.MemoryHeld = r.CPUUsed[:n], r.CPUHeld[:n], r.MemoryHeld[:n]
}

// result returns what the job got until the run's end.
func (a *app) result(end heddle.Time) JobResult {
	j := a.job
	for _, at := range a.bookings { // any order: a sum
		a.reserved += max(end.Since(at), 0)
	}
	out := JobResult{
		ID: j.ID, Queue: j.Queue, User: j.User, Framework: j.Framework, Maps: len(j.Maps) + len(j.Other),
		Reduces: len(j.Reduces), InputBytes: j.InputBytes(), Submit: j.Submit, End: a.end,
		Wait: NoSpan, JCT: NoSpan, Starvation: a.starvation(), ReduceHold: NoSpan, Reservation: a.reserved,
		LocalMaps: a.localMaps, LocalisedMaps: a.localised, MasterMemory: a.memory, MasterCPU: a.cpu, State: a.state, Why: a.why, Recorded: NoSpan, MasterAttempts: a.attempts,
	}
	if j.Recorded > 0 {
		out.Recorded = j.Recorded
	}
	out.Tasks = out.Maps + out.Reduces
	if j.Spark != nil {
		out.Maps = j.Spark.Executors
		for i := range j.Spark.Stages {
			out.Tasks += len(j.Spark.Stages[i].Tasks)
		}
	}
	if a.first >= 0 {
		out.Wait = a.first.Since(a.submitted)
	}
	if a.state == Succeeded || a.state == Failed {
		out.JCT = a.end.Since(a.submitted)
	}
	if a.reduces > 0 {
		out.ReduceHold = a.reduceHeld / heddle.Span(a.reduces)
	}
	return out
}
