package mrorchestrator

import (
	"math"

	"heddle"
	"heddle/policy"
)

// widest is how far a weight may be from a container's size, either way: a control group's cpu.weight goes from 1
// to 10,000 around 100.
const widest = 100

// busy reports whether a node's processors are all in use: where they are not, weights change nothing.
func (m *Manager) busy(r *row) bool {
	return m.sites[r.node].used[heddle.CPU] >= m.o.Pressed*float64(r.x.Node().Total()[heddle.CPU])
}

// entitled is what a task's weight alone would give it on its node, one core at most.
func (m *Manager) entitled(r *row) float64 {
	s := &m.sites[r.node]
	total := float64(r.x.Node().Total()[heddle.CPU])
	return min(total*r.weight/s.weights, float64(heddle.CPU.Unit()))
}

// factor is Algorithm 1 for processors: by how much a task's part is to change for the estimate est of what it is to
// use, bounded by bound either way; 1 leaves it.
func factor(est, use, tolerance, bound float64) float64 {
	use = max(use, 1)
	if Adjust(est, use, tolerance) == 0 {
		return 1
	}
	return min(max(est/use, 1/bound), bound)
}

// share decides the weights of all rows.
func (m *Manager) share() {
	for i := range m.rows {
		r := &m.rows[i]
		r.factor = 1
		if !m.busy(r) || m.o.Scope == scopeFlagged && r.verdict[heddle.CPU] == Alike {
			continue
		}
		most := float64(max(r.x.Told()[heddle.CPU], heddle.CPU.Unit())) // that a task has use for
		by := factor(min(r.est[heddle.CPU], most), r.use[heddle.CPU], m.o.Tolerance, m.o.Alpha)
		hogs := r.verdict[heddle.CPU] == Hogging
		if by > 1 && !hogs || by < 1 && (hogs || m.o.LowerCPU != lowerHogging) {
			r.factor = by
		}
		if size := float64(max(r.x.Told()[heddle.CPU], 1)); !hogs && r.weight < size {
			r.factor = max(r.factor, size/r.weight)
		}
	}
	for i := range m.rows {
		r, s := &m.rows[i], &m.sites[m.rows[i].node]
		s.wanted += r.use[heddle.CPU] * r.factor
		s.raising = s.raising || r.factor > 1
	}
	for i := range m.rows {
		if r := &m.rows[i]; r.factor > 1 {
			s := &m.sites[r.node]
			r.f.able[heddle.CPU] = InStep(r.f.able[heddle.CPU], Able(float64(r.x.Node().Total()[heddle.CPU]), 0, s.wanted))
		}
	}
	for i := range m.rows {
		r := &m.rows[i]
		switch {
		case r.factor > 1 && m.o.InStep:
			r.factor = 1 + (r.factor-1)*r.f.able[heddle.CPU]
		case r.factor < 1 && m.o.LowerCPU != lowerAlways && !m.sites[r.node].raising:
			r.factor = 1
		}
	}
}

// weigh writes the steps that change weights.
func (m *Manager) weigh(p *policy.Plan) {
	for i := range m.rows {
		r := &m.rows[i]
		size := float64(max(r.x.Told()[heddle.CPU], 1))
		to := math.Round(min(max(r.weight*r.factor, size/widest, 1), size*widest))
		t, bound := &m.tasks[r.t], m.bound(r)
		if r.factor != 1 && to != math.Round(r.weight) || bound != t.bound {
			t.weight, t.bound = to, bound
			p.Bound(r.x.ID(), int64(to), bound)
		}
	}
}

const (
	// leastBound leaves a task a tenth of a processor, so that it goes on to report.
	leastBound = 100
	// settled is after how many seconds a Java process may be bounded: as it starts it makes as many threads as it finds
	// processors.
	settled = 10
)

// bound is what a task's processor time is bounded to; 0 for nothing.
func (m *Manager) bound(r *row) int64 {
	hogs := r.verdict[heddle.CPU] == Hogging && m.busy(r) && (r.factor < 1 || m.tasks[r.t].bound > 0)
	if !m.o.Quota || !hogs || r.ran < settled {
		return 0
	}
	return max(leastBound, int64(r.est[heddle.CPU]))
}
