package mrorchestrator

import (
	"math"

	"heddle"
	"heddle/estimate"
)

// Alpha returns the resource scaling factor: how much faster than now a task must go to finish by its target, at most
// bound and at least 1/bound. rest is the time it still takes at the rate so far (Eq. 1), target the time its peers
// would leave it. Above 1 the task is deficient, below 1 in excess.
func Alpha(rest, target, bound float64) float64 {
	if !(target > 0) {
		return bound
	}
	return min(max(rest/target, 1/bound), bound)
}

// windowsOf returns how many of the last windows the regression of memory uses: as many as still predict the newest
// window no worse than mean, the estimate of UNIFORM, does. It is at least 2, or none, and at most a part of all
// windows.
func windowsOf(s *series, mean, part float64) (used int) {
	if s.n < 3 {
		return 0
	}
	_, newest := s.back(0)
	worst := math.Abs(mean - newest)
	most := min(max(2, int(math.Ceil(part*float64(s.n)))), int(s.n)-1, windows-1)
	var l estimate.Line
	at, _ := s.back(0)
	for k := 1; k <= most; k++ {
		l.Add(s.back(k))
		if y, ok := l.At(at); ok && math.Abs(y-newest) <= worst {
			used = k
		}
	}
	return used
}

// recent returns the estimate of memory at a run time: the line through the recent windows if some number of them
// predicts no worse than the mean, else the mean.
func recent(s *series, at, mean, part float64) float64 {
	k := windowsOf(s, mean, part)
	if k == 0 {
		return mean
	}
	var l estimate.Line
	for i := range k + 1 {
		l.Add(s.back(i))
	}
	y, ok := l.At(at)
	if !ok {
		return mean
	}
	return y
}

// estimate computes a row's allocations for the next epoch (Alg. 2).
func (m *Manager) estimate(r *row) {
	t := &m.tasks[r.t]
	r.α = 1
	if rest, ok := estimate.Remaining(r.ran, r.part); ok && m.regression && r.f.timed > 0 {
		r.α = Alpha(rest, r.f.duration/r.f.timed-r.ran, m.o.Alpha)
	}
	next := r.ran + m.o.Epoch
	for _, d := range controlled {
		r.est[d] = r.cur[d]
		if d == heddle.CPU {
			r.est[d] = r.use[d] // its weight stays as it is
		}
		mean, ok := Uniform(r.f.sum[d], r.f.n)
		told := float64(r.x.Told()[d])
		if d == heddle.Memory && r.pressed[d] && r.cur[d] < told { // its limit stalls it
			r.est[d] = told
			continue
		}
		if !ok || !m.o.controls(d) {
			continue
		}
		if !m.regression {
			r.est[d] = mean
			continue
		}
		var y float64
		if d == heddle.Memory {
			y = recent(&t.memory, next, mean, m.o.Recent)
		} else if y, ok = t.cpu.At(next); !ok || r.f.count < 2 {
			continue // a task without peers uses more the more weight it has: its line alone would raise it without end
		}
		α := r.α
		if d == heddle.Memory && r.pressed[d] && r.verdict[d] == Deficit { // what it would use cannot be seen
			α = m.o.Alpha
		}
		r.est[d] = max(0, y) * scaled(α, r.verdict[d])
	}
}

// scaled returns the factor for an estimate: a deficient task needs no less than it would use, a hogging one no more,
// and one like its peers is balanced.
func scaled(α float64, v Verdict) float64 {
	switch v {
	case Deficit:
		return max(1, α)
	case Hogging:
		return min(1, α)
	case Alike:
	}
	return 1
}
