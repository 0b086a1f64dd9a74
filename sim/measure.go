package sim

import (
	"heddle"
)

// maxSamples bounds a run's time series; beyond it two steps become one.
const maxSamples = 2048

// measure is what is counted while a run goes on.
type measure struct {
	run     [heddle.NumKinds]int32
	memory  float64 // MiB·s held
	last    heddle.Time
	step    heddle.Span
	nextAt  heddle.Time
	lastCPU float64
	cores   float64
	series  Series
}

func (m *measure) running(k heddle.Kind, by int32) { m.run[k] += by }

// advance integrates up to a time, and samples at every step passed.
func (m *measure) advance(s *Sim, to heddle.Time) {
	if m.step == 0 {
		m.step = heddle.Second
		m.nextAt = heddle.Time(m.step)
		for _, n := range s.o.Nodes {
			m.cores += coresOfNode(&n)
		}
	}
	v := s.core.View()
	used := v.Used()
	m.memory += float64(used[heddle.Memory]) * to.Since(m.last).Seconds()
	m.last = to
	for m.nextAt <= to {
		m.sample(s, used)
		m.nextAt += heddle.Time(m.step)
	}
}

func (m *measure) sample(s *Sim, used heddle.Resource) {
	total := s.core.View().Total()
	r := &m.series
	cpu := s.phys.cpuUsed(m.nextAt)
	r.Maps = append(r.Maps, m.run[heddle.Map]+m.run[heddle.Other])
	r.Reduces = append(r.Reduces, m.run[heddle.Reduce])
	r.Executors = append(r.Executors, m.run[heddle.Executor])
	r.CPUUsed = append(r.CPUUsed, float32((cpu-m.lastCPU)/(m.cores*m.step.Seconds())))
	m.lastCPU = cpu
	r.CPUHeld = append(r.CPUHeld, ratio(used[heddle.CPU], total[heddle.CPU]))
	r.MemoryHeld = append(r.MemoryHeld, ratio(used[heddle.Memory], total[heddle.Memory]))
	if len(r.Maps) >= maxSamples {
		m.halve()
	}
}

func ratio(a, b int64) float32 {
	if b == 0 {
		return 0
	}
	return float32(a) / float32(b)
}

// halve makes one sample of every two.
func (m *measure) halve() {
	r := &m.series
	for _, p := range []*[]int32{&r.Maps, &r.Reduces, &r.Executors} {
		*p = pairs(*p, func(a, b int32) int32 { return (a + b + 1) / 2 })
	}
	for _, p := range []*[]float32{&r.CPUUsed, &r.CPUHeld, &r.MemoryHeld} {
		*p = pairs(*p, func(a, b float32) float32 { return (a + b) / 2 })
	}
	m.step *= 2
}

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

// begun notes the start of a container that is not a master.
func (a *app) begun(c *container, now heddle.Time) {
	if a.first < 0 {
		a.first = now
	}
	if c.kind == heddle.Reduce {
		a.launches = append(a.launches, now)
	}
}

func (a *app) mapDone(now heddle.Time) {
	if a.mapsLeft--; a.mapsLeft <= 0 {
		a.mapsEnd = now
	}
}

// ended notes the end of a container.
func (a *app) ended(c *container, now heddle.Time) {
	if c.kind == heddle.Reduce && c.started > 0 {
		a.reduceHeld += now.Since(c.granted)
		a.reduces++
	}
}

// starvation is the mean wait, over the reduces that started after the last map's end, from that end.
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

// finish puts the result together.
func (s *Sim) finish() *Result {
	r := s.res
	var firstIn, lastOut heddle.Time
	for i, a := range s.apps {
		j := a.result(r)
		r.Jobs = append(r.Jobs, j)
		if i == 0 || a.job.Submit < firstIn {
			firstIn = a.job.Submit
		}
		lastOut = max(lastOut, j.End)
	}
	if s.alive > 0 {
		lastOut = max(lastOut, s.now)
	}
	r.Makespan = max(lastOut.Since(firstIn), 0)
	if sec := lastOut.Seconds(); sec > 0 {
		span := r.Makespan.Seconds()
		var memory float64
		for _, n := range s.o.Nodes {
			memory += float64(n.Total[heddle.Memory])
		}
		if span > 0 {
			r.CPUUsed = s.phys.cpuUsed(max(s.now, lastOut)) / (s.m.cores * span)
			r.MemoryHeld = s.m.memory / (memory * span)
		}
	}
	s.m.series.Step = s.m.step
	r.Series = s.m.series
	r.Events = int64(s.core.Counts().Steps)
	r.CheckedSteps = s.checked
	return r
}

func (a *app) result(r *Result) JobResult {
	j := a.job
	out := JobResult{
		ID: j.ID, Queue: j.Queue, User: j.User, Framework: j.Framework, Maps: len(j.Maps) + len(j.Other),
		Reduces: len(j.Reduces), InputBytes: j.InputBytes(), Submit: j.Submit, End: a.end,
		Wait: NoSpan, JCT: NoSpan, Starvation: a.starvation(), ReduceHold: NoSpan, Reservation: a.reserved,
		LocalMaps: a.localMaps, MasterMemory: a.memory, State: a.state, MasterAttempts: a.attempts,
	}
	if j.Spark != nil {
		out.Maps = j.Spark.Executors
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
	r.LocalMaps += a.localMaps
	return out
}
