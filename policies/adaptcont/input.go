package adaptcont

import (
	"math"

	"heddle"
	"heddle/policy"
)

// ceil returns ⌈n/d⌉ for d > 0.
func ceil(n, d int64) int64 { return (n + d - 1) / d }

// splits returns the number of splits of a size in a workload (2.1).
func splits(workload, size int64) int64 { return ceil(workload, size) }

// waves returns the number of waves in which the containers process the splits (2.1).
func waves(splits, containers int64) int64 { return ceil(splits, containers) }

// available returns how many worker containers of a size a node has room for: as many as fit in the dimensions that
// count, and no more than most, unless that is 0.
func available(node, one heddle.Resource, counts func(heddle.Dim) bool, most int) int {
	n := int64(math.MaxInt32)
	for d := range heddle.Dim(heddle.NumDims) {
		if one[d] > 0 && counts(d) {
			n = min(n, max(node[d], 0)/one[d])
		}
	}
	if most > 0 {
		n = min(n, int64(most))
	}
	return int(n)
}

// maps returns the number of maps of a job: from its facts, or from the splits of its input; 0 = unknown. Only
// MapReduce jobs have any.
func (o *Options) maps(a *policy.App) int {
	f := a.Facts()
	switch {
	case a.Framework() != heddle.MapReduce:
		return 0
	case f.Maps > 0:
		return int(f.Maps)
	case len(f.Splits) > 0:
		return len(f.Splits)
	case f.InputBytes > 0:
		return int(min(splits(f.InputBytes, o.SplitSize<<20), math.MaxInt32))
	}
	return 0
}

// nodeChanged counts the containers of a node again.
func (s *Sizer) nodeChanged(v policy.View, n *policy.Node) {
	id := n.ID()
	for int(id) >= len(s.slots) {
		s.slots, s.stiff = append(s.slots, 0), append(s.stiff, false)
	}
	if stiff := n.Up() && !n.Can(heddle.Elastic); stiff != s.stiff[id] {
		s.stiff[id] = stiff
		if stiff {
			s.stiffs++
		} else {
			s.stiffs--
		}
	}
	now := 0
	if n.Up() {
		now = available(n.Total(), s.o.Container.resource(), v.Counts, s.o.PerNode)
	}
	s.containers += now - s.slots[id]
	s.slots[id] = now
}

// gather lists the jobs for the simulation of waves. It returns how many containers there are for them and among how
// many users.
func (s *Sizer) gather(v policy.View) (containers, users int) {
	s.jobs = s.jobs[:0]
	containers = s.containers
	leaves := 0
	for i := range v.Queues() {
		q := v.Queue(heddle.QueueID(i))
		if !q.Leaf() {
			continue
		}
		leaves++
		for _, a := range q.Apps() {
			m := s.o.maps(a)
			if m == 0 { // its number of maps is unknown, so assume it keeps what it has, and has no further part
				containers -= workers(a)
				continue
			}
			users++
			left := undone(m, a.Done(heddle.Map))
			s.jobs = append(s.jobs, job{
				app: a.ID(), priority: a.Priority(), at: a.Submitted(), tasks: m + int(a.Facts().Reduces),
				left: left, wave: s.had(a, left),
			})
		}
	}
	if leaves > 1 {
		users = leaves
	}
	if s.o.Users > 0 {
		users = s.o.Users
	}
	return max(containers, 1), users
}

// workers returns how many containers a job's master manages now.
func workers(a *policy.App) int {
	n := 0
	for k := heddle.AM + 1; k < heddle.NumKinds; k++ {
		n += a.Running(k)
	}
	return n
}

// had returns how many containers a job's master manages now, given the number of maps left. If running masters are
// made smaller, it returns the most that the master has managed at once so far, because it keeps what those needed.
// Maps that were granted beyond those left are given back unused and do not count.
func (s *Sizer) had(a *policy.App, left int) int {
	if !s.o.Shrink {
		return workers(a)
	}
	m := s.master(a.ID())
	m.most = max(m.most, workers(a)-max(a.Running(heddle.Map)-left, 0))
	return m.most
}

// count records how many containers every job's master manages.
func (s *Sizer) count(v policy.View) {
	if !s.o.Shrink {
		return
	}
	for i := range v.Queues() {
		if q := v.Queue(heddle.QueueID(i)); q.Leaf() {
			for _, a := range q.Apps() {
				s.had(a, undone(s.o.maps(a), a.Done(heddle.Map)))
			}
		}
	}
}
