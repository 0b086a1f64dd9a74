package mrorchestrator

import (
	"heddle"
	"heddle/policy"
)

// A Verdict is the detector's result for a task and a resource.
type Verdict uint8

// The verdicts.
const (
	Alike   Verdict = iota // like its peers
	Deficit                // has too little of the resource
	Hogging                // uses far more of it than its peers
)

// Against compares a use with the mean of the peers': below low times the mean a task is in deficit, above high times
// the mean it is hogging.
func Against(use, peers, low, high float64) Verdict {
	switch {
	case use < low*peers:
		return Deficit
	case use > high*peers:
		return Hogging
	}
	return Alike
}

// Straggles reports whether a rate of progress is below the peers' mean by more than the given part of it.
func Straggles(rate, peers, part float64) bool { return rate < (1-part)*peers }

// A Cause is why a task straggles.
type Cause uint8

// The causes that the paper names (III, step 2).
const (
	Contention Cause = iota // for processors or memory
	Network                 // its data come from elsewhere
	Faulty                  // everything on its node is slow
	Skew                    // it has more to do than others
)

// Evidence is what distinguishes the causes. Only contention leaves a trace in the profile of a resource, so it is
// checked first; the others only show in other data.
type Evidence struct {
	Pressed  bool    // uses all it is allocated
	Starved  bool    // uses less than its peers on a node that has nothing left
	Remote   bool    // reads or copies over the network
	NodePace float64 // mean rate of the tasks on its node, each relative to its peers; 1 = as elsewhere
}

// CauseOf names the cause of a straggler. part is as for [Straggles].
func CauseOf(e Evidence, part float64) Cause {
	switch {
	case e.Pressed || e.Starved:
		return Contention
	case e.Remote:
		return Network
	case e.NodePace < 1-part:
		return Faulty
	}
	return Skew
}

// peers holds the sums over the tasks of one job that run in one step.
type peers struct {
	count    float64
	use      amount
	rate     float64 // of progress a second
	duration float64 // estimated, of those that have made progress
	timed    float64 // their number
}

// others returns the mean use and rate of a task's peers, without the task itself; ok is false if it has none.
func (g *peers) others(use amount, rate float64) (mean amount, pace float64, ok bool) {
	n := g.count - 1
	if n < 1 {
		return mean, 0, false
	}
	for d := range mean {
		mean[d] = max(0, g.use[d]-use[d]) / n
	}
	return mean, max(0, g.rate-rate) / n, true
}

// A row is one running task in an epoch.
type row struct {
	x       *policy.Container
	t       int32 // index into profiler.tasks
	node    int32
	f       *phase
	remote  bool
	cur     amount // allocated
	use     amount // mean since the last epoch
	ran     float64
	part    float64 // progress
	rate    float64
	pressed [2]bool // uses all of the allocation
	verdict [2]Verdict
	α       float64
	est     amount
	wish    wish
	change  float64 // of the memory, as decided
	weight  float64 // of its part of a busy processor
	factor  float64 // by which the weight is to change
}

// A site is one node in an epoch.
type site struct {
	first, end int32 // rows on it
	used       amount
	pace       float64 // sum over its tasks of the rate relative to the peers'
	paced      float64 // their number
	room       room
	weights    float64 // sum over its tasks
	wanted     float64 // processors that the tasks would use with their factors
	raising    bool    // a task is to get more of the processors
}

// detect gives every row its verdicts.
func (m *Manager) detect() {
	for i := range m.rows {
		r := &m.rows[i]
		s := &m.sites[r.node]
		for d := range r.use {
			s.used[d] += r.use[d]
		}
		s.weights += r.weight
		if _, pace, ok := r.f.others(r.use, r.rate); ok && pace > 0 {
			s.pace += r.rate / pace
			s.paced++
		}
	}
	for i := range m.rows {
		r := &m.rows[i]
		mean, pace, ok := r.f.others(r.use, r.rate)
		for _, d := range controlled {
			if m.o.controls(d) {
				r.verdict[d] = m.judge(r, d, mean[d], pace, ok)
			}
		}
	}
}

// judge is the detector for one task and resource. mean and pace are those of its peers; some says whether it has any.
func (m *Manager) judge(r *row, d heddle.Dim, mean, pace float64, some bool) Verdict {
	if d == heddle.CPU {
		r.pressed[d] = m.busy(r) && r.use[d] >= m.o.Pressed*m.entitled(r)
	} else {
		r.pressed[d] = m.tasks[r.t].last[d] >= m.o.Pressed*r.cur[d]
	}
	pressed := d == heddle.Memory && r.pressed[d] && !m.o.PeersOnly
	if !some {
		if pressed {
			return Deficit
		}
		return Alike
	}
	straggles := Straggles(r.rate, pace, m.o.Straggler)
	like := Against(r.use[d], mean, m.o.Deficit, m.o.Hogging)
	if !m.o.Causes {
		if straggles || pressed {
			return Deficit
		}
		return like
	}
	behind := r.rate < pace
	switch {
	case like == Hogging && !behind:
		return Hogging
	case pressed, like == Deficit && behind:
		return Deficit
	case straggles && CauseOf(m.evidence(r, d, mean), m.o.Straggler) == Contention:
		return Deficit
	}
	return Alike
}

// offered returns how much of a resource the tasks of a row's node could use together.
func (m *Manager) offered(r *row, d heddle.Dim) float64 {
	if d == heddle.CPU {
		return m.processors(r)
	}
	return float64(r.x.Node().Total()[d])
}

// evidence gathers the evidence for why a task straggles.
func (m *Manager) evidence(r *row, d heddle.Dim, mean float64) Evidence {
	s := &m.sites[r.node]
	e := Evidence{
		Pressed: r.pressed[d],
		Starved: r.use[d] < mean && s.used[d] >= m.o.Pressed*m.offered(r, d),
		Remote:  r.remote, NodePace: 1,
	}
	if s.paced > 0 {
		e.NodePace = s.pace / s.paced
	}
	return e
}
