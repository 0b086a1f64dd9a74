package mrorchestrator

import (
	"math"

	"heddle"
	"heddle/policy"
)

// Adjust is Algorithm 1 for one task and resource: it returns by how much the allocation cur is to change for the
// estimate est. If the difference is below the part tolerance of cur, the task counts as balanced.
func Adjust(est, cur, tolerance float64) float64 {
	if math.Abs(est-cur) < tolerance*cur {
		return 0
	}
	return est - cur
}

// Able returns the part of what is wanted on a node that the node can give, from its free room and from what may be
// taken from neighbours.
func Able(free, takable, wanted float64) float64 {
	if !(wanted > 0) {
		return 1
	}
	return min(1, max(0, free+takable)/wanted)
}

// InStep returns how much of a raise helps: as much as the worst served of the peers gets. able holds the part that
// each peer's node can give.
func InStep(able ...float64) float64 {
	least := 1.0
	for _, a := range able {
		least = min(least, a)
	}
	return least
}

// A wish is the result of Algorithm 1 for one task's memory.
type wish struct {
	due     float64 // to raise, up to the size its job was told
	beyond  float64 // to raise beyond that size
	surplus float64 // not used, and not needed by the estimate
	excess  float64 // used, by a hogging task
}

// A room is the memory of a node in an epoch.
type room struct {
	idle  float64 // held by no container
	spare float64 // … nor will be soon

	wish         // sums over the tasks
	able float64 // the part of beyond that can be met
	gave float64 // of idle, given to what was due
	free float64 // for beyond, without taking from any task
	take float64 // from surplus and excess, as decided
}

// wishes decides what is to change of a row's memory.
func (m *Manager) wishes(r *row) (w wish) {
	const d = heddle.Memory
	by := Adjust(r.est[d], r.cur[d], m.o.Tolerance)
	switch {
	case m.o.Scope == scopeFlagged && r.verdict[d] == Alike:
	case by > 0 && r.verdict[d] != Hogging:
		w.due = math.Floor(min(by, max(0, float64(r.x.Told()[d])-r.cur[d])))
		w.beyond = math.Floor(by) - w.due
	case by < 0 && (r.verdict[d] == Hogging || m.o.LowerMemory != lowerHogging):
		w.surplus = math.Floor(max(0, r.cur[d]-max(r.est[d], (1+m.o.Room)*max(r.use[d], m.tasks[r.t].last[d]))))
		if r.verdict[d] == Hogging {
			w.excess = math.Floor(max(0, -by-w.surplus))
		}
	}
	return w
}

// balance decides the memory change of every row.
func (m *Manager) balance() {
	for i := range m.sites {
		if s := &m.sites[i]; s.first < s.end {
			m.sum(s)
		}
	}
	for i := range m.sites {
		if s := &m.sites[i]; s.first < s.end {
			m.settle(s)
		}
	}
}

// sum adds up the wishes on a node, lowers what is lowered regardless of the other wishes, and gives what is due. It
// tells the phases which part of their remaining wishes can be met here.
func (m *Manager) sum(s *site) {
	k := &s.room
	always := m.o.LowerMemory == lowerAlways
	for _, j := range m.byNode[s.first:s.end] {
		r := &m.rows[j]
		r.wish = m.wishes(r)
		w := &r.wish
		if always {
			r.change -= w.surplus
		}
		k.due += w.due
		k.beyond += w.beyond
		k.surplus += w.surplus
		k.excess += w.excess
	}
	part := Able(k.idle, 0, k.due)
	for _, j := range m.byNode[s.first:s.end] {
		r := &m.rows[j]
		got := math.Floor(r.wish.due * part)
		r.change += got
		k.gave += got
	}
	k.free = min(k.spare, k.idle-k.gave)
	switch {
	case m.lent:
		k.surplus = 0 // goes to waiting containers
	case always:
		k.free += k.surplus
		k.surplus = 0 // given up already
	}
	k.able = Able(k.free, k.surplus+k.excess, k.beyond)
	for _, j := range m.byNode[s.first:s.end] {
		if r := &m.rows[j]; r.wish.beyond > 0 {
			r.f.able[heddle.Memory] = InStep(r.f.able[heddle.Memory], k.able)
		}
	}
}

// settle raises the rows of a node beyond their size, first from its free room and then from what can be taken from
// neighbours in step.
func (m *Manager) settle(s *site) {
	k := &s.room
	if k.beyond <= 0 {
		return
	}
	free := Able(k.free, 0, k.beyond)
	for _, j := range m.byNode[s.first:s.end] {
		r := &m.rows[j]
		part := k.able
		if m.o.InStep {
			part = InStep(part, r.f.able[heddle.Memory])
		}
		got := math.Floor(r.wish.beyond * max(part, free))
		r.change += got
		k.take += got
	}
	k.take = max(0, k.take-math.Floor(k.free))
	if k.take == 0 {
		return
	}
	unused := Able(k.take, 0, k.surplus)
	hogged := Able(k.take-k.surplus, 0, k.excess)
	for _, j := range m.byNode[s.first:s.end] {
		r := &m.rows[j]
		if k.surplus > 0 {
			r.change -= math.Ceil(r.wish.surplus * unused)
		}
		r.change -= math.Ceil(r.wish.excess * hogged)
	}
}

// plan writes the steps. Steps that only lower go first, so that what is taken can be given. A raise that does not fit
// at its turn is cut to what is left on its node, and to what is left in the cluster beside its reservations.
func (m *Manager) plan(v policy.View, p *policy.Plan) {
	left := float64(v.Total().Minus(v.Root().Taken())[heddle.Memory])
	for _, raising := range [2]bool{false, true} {
		for i := range m.rows {
			r := &m.rows[i]
			if r.change == 0 || r.change > 0 != raising {
				continue
			}
			k := &m.sites[r.node].room
			by := max(r.change, 1-r.cur[heddle.Memory])
			if by > 0 {
				by = max(0, min(by, k.idle, left))
			}
			k.idle -= by
			left -= by
			to := r.x.Limit()
			if to[heddle.Memory] += int64(by); to != r.x.Limit() {
				p.Resize(r.x.ID(), to)
			}
		}
	}
}
