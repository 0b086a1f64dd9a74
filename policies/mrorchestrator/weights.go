package mrorchestrator

import (
	"math"

	"heddle"
	"heddle/policy"
)

// widest limits how far a weight may be from a container's size, either way: a control group's cpu.weight ranges from 1
// to 10,000 around 100.
const widest = 100

// idle is the unused processors of a node.
type idle struct {
	sum, n float64 // since the last epoch
	mean   float64 // of the last epoch, if known
	known  bool
}

// noteIdle records what a node reports of its machine. A node that is alone on a machine with as many processors as it
// offers adds nothing.
func (m *Manager) noteIdle(n *policy.Node) {
	for int(n.ID()) >= len(m.idle) {
		m.idle = append(m.idle, idle{})
	}
	i, now := &m.idle[n.ID()], n.CPUIdle()
	offered := float64(n.Total()[heddle.CPU])
	little := (1 - m.o.Pressed) * offered
	if now < 0 || float64(n.CPUOthers()) <= little && math.Abs(float64(n.CPUUsed()+n.CPUOthers()+now)-offered) <= little {
		*i = idle{}
		return
	}
	i.sum += float64(now)
	i.n++
}

// next ends an epoch. If a node reported nothing in it, the mean stays as it was.
func (i *idle) next() {
	if i.n > 0 {
		i.mean, i.known = i.sum/i.n, true
	}
	i.sum, i.n = 0, 0
}

// processors returns how much processor the tasks of a row's node could use together: what they use plus what is idle.
// If that is unknown it is what the node offers.
func (m *Manager) processors(r *row) float64 {
	if int(r.node) < len(m.idle) && m.idle[r.node].known {
		return m.sites[r.node].used[heddle.CPU] + m.idle[r.node].mean
	}
	return float64(r.x.Node().Total()[heddle.CPU])
}

// busy reports whether a node's processors are all in use; while they are not, weights change nothing.
func (m *Manager) busy(r *row) bool {
	return m.sites[r.node].used[heddle.CPU] >= m.o.Pressed*m.processors(r)
}

// entitled returns what a task's weight alone would give it on its node, at most one core.
func (m *Manager) entitled(r *row) float64 {
	s := &m.sites[r.node]
	return min(m.processors(r)*r.weight/s.weights, float64(heddle.CPU.Unit()))
}

// factor is Algorithm 1 for processors: it returns by how much a task's part is to change for est, the estimate of its
// use, bounded by bound either way. 1 means no change.
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
		if !m.busy(r) {
			continue
		}
		most := float64(max(r.x.Told()[heddle.CPU], heddle.CPU.Unit())) // the most that a task can use
		by := factor(min(r.est[heddle.CPU], most), r.use[heddle.CPU], m.o.Tolerance, m.o.Alpha)
		hogs := r.verdict[heddle.CPU] == Hogging
		adjusted := m.o.Scope == scopeAll || r.verdict[heddle.CPU] != Alike
		if adjusted && (by > 1 && !hogs || by < 1 && (hogs || m.o.LowerCPU != lowerHogging)) {
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
			r.f.able[heddle.CPU] = InStep(r.f.able[heddle.CPU], Able(m.processors(r), 0, s.wanted))
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
			if r.x.Can(heddle.Weighs) { // otherwise the step is only counted as one that cannot be done
				t.weight, t.bound = to, bound
			}
			p.Bound(r.x.ID(), int64(to), bound)
		}
	}
}

const (
	// leastBound leaves a task a tenth of a processor, so that it continues to report.
	leastBound = 100
	// settled is the run time in seconds after which a Java process may be bounded: when it starts it creates as many
	// threads as it finds processors.
	settled = 10
)

// bound returns the bound on a task's processor time; 0 means none.
func (m *Manager) bound(r *row) int64 {
	hogs := r.verdict[heddle.CPU] == Hogging && m.busy(r) && (r.factor < 1 || m.tasks[r.t].bound > 0)
	if !m.o.Quota || !hogs || r.ran < settled {
		return 0
	}
	return max(leastBound, int64(r.est[heddle.CPU]))
}
