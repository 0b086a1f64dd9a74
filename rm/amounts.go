package rm

import (
	"slices"

	"heddle"
)

// queueInfos returns the queues for the current cluster, with absolute amounts worked out for its size.
func (m *Machine) queueInfos() []QueueInfo {
	if !slices.ContainsFunc(m.sch.Queues, func(q QueueInfo) bool { return q.Amounts }) {
		return m.sch.Queues
	}
	total, queues := m.core.View().Total(), slices.Clone(m.sch.Queues)
	within := make([]heddle.Resource, len(queues)) // minimum shares of a queue's children together
	for i := range queues {
		if q := &queues[i]; q.Amounts && q.Parent != heddle.NoQueue {
			within[q.Parent] = within[q.Parent].Plus(q.MinShare).Min(heddle.Unbounded)
		}
	}
	for i := range queues {
		q := &queues[i]
		if q.Parent != heddle.NoQueue {
			above := &queues[q.Parent]
			q.size(above, within[q.Parent], total, m.sch.Set.MemoryOnly)
		}
	}
	return queues
}

// size works out what a queue gets from its parent in a cluster of the given total. within is the sum of the minimum
// shares of all queues below that parent. It divides in 32 bits, as the scheduler does.
func (q *QueueInfo) size(above *QueueInfo, within, total heddle.Resource, memoryOnly bool) {
	q.Absolute, q.AbsoluteMax = above.Absolute*q.Capacity, above.AbsoluteMax*q.Max
	q.Least, q.Most = q.Absolute.Of(total), q.AbsoluteMax.Of(total)
	if !q.Amounts {
		return
	}
	part := func(a heddle.Resource, of Fraction) (all, own Fraction) {
		if all = Fraction(ShareOf(a, total, memoryOnly)); of > 0 {
			own = all / of
		}
		return all, own
	}
	least, most := q.GivenAs()
	if !least.IsZero() {
		q.Least = least
		for d, have := range above.Guaranteed(total) {
			if unit := heddle.Dim(d).Unit(); within[d] > have { // the cluster is too small for all of them
				q.Least[d] = int64(float64(q.Least[d]/unit)*float64(float32(have)/float32(within[d]))) * unit
			}
		}
		q.Absolute, q.Capacity = part(q.Least, above.Absolute)
		if q.Leaf && q.MaxApps < 0 {
			q.MaxApps = int(float32(q.AppsOfAll) * float32(q.Absolute))
		}
	}
	if !most.IsZero() {
		q.Most = most.Min(above.Ceiling(total))
		q.AbsoluteMax, q.Max = part(q.Most, above.AbsoluteMax)
	}
}
