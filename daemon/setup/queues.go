package setup

import (
	"strings"

	"heddle"
	"heddle/conf"
	"heddle/policies"
	"heddle/policies/capacity"
	"heddle/policies/fair"
	"heddle/rm"
)

// capacityQueues returns a capacity scheduler's queues as configured. What amounts come to depends on the cluster, and
// is not known here.
func capacityQueues(c *capacity.Config, acls map[string]conf.QueueACL) []rm.QueueInfo {
	out := make([]rm.QueueInfo, len(c.Queues))
	weights := make([]float64, len(c.Queues)) // of the children
	for i := range c.Queues {
		if q := &c.Queues[i]; q.Parent >= 0 {
			weights[q.Parent] += q.Weight
		}
	}
	for i := range c.Queues {
		q, acl := &c.Queues[i], acls[c.Queues[i].Path]
		info := rm.QueueInfo{
			Path: q.Path, Parent: heddle.QueueID(q.Parent), Leaf: true, State: rm.QueueRunning,
			Capacity: rm.Fraction(q.Capacity), Max: rm.Fraction(q.MaxCapacity), Weight: -1,
			AMShare: rm.Fraction(q.MaxAMShare), UserLimit: 100 * q.MinimumUserLimit, UserFactor: q.UserLimitFactor,
			MinShare: q.Absolute, MaxShare: heddle.Unbounded,
			SubmitACL: acl.Submit, AdminACL: acl.Administer,
			Largest: q.Maximum, Priority: q.DefaultPriority, MaxRunning: q.MaxParallelApps,
		}
		if q.Stopped {
			info.State = rm.QueueStopped
		}
		if !q.MaxAbsolute.IsZero() {
			info.MaxShare = q.MaxAbsolute
		}
		info.Amounts = q.Parent >= 0 && !(q.Absolute.IsZero() && q.MaxAbsolute.IsZero())
		info.Absolute, info.AbsoluteMax = info.Capacity, info.Max
		if q.Parent >= 0 {
			above := &out[q.Parent]
			above.Leaf = false
			if q.Weight > 0 {
				info.Weight, info.Capacity = q.Weight, rm.Fraction(q.Weight/weights[q.Parent])
			}
			info.Absolute, info.AbsoluteMax = above.Absolute*info.Capacity, above.AbsoluteMax*info.Max
		}
		out[i] = info
	}
	for i := range out {
		out[i].Configured = capacityOrder(&c.Queues[i], out[i].Leaf)
		out[i].MaxApps = maxApps(c, &c.Queues[i], out[i].Absolute, out[i].Leaf)
		if out[i].Amounts {
			out[i].AppsOfAll = c.MostApps(&c.Queues[i], 1)
		}
	}
	return out
}

func capacityOrder(q *capacity.QueueConfig, leaf bool) string {
	switch {
	case leaf && q.Fair:
		return "fair"
	case leaf:
		return "fifo"
	case q.ByPriority:
		return "priority-utilization"
	}
	return "utilization"
}

// maxApps returns how many applications a queue accepts; −1 for parents, and if it depends on the cluster.
func maxApps(c *capacity.Config, q *capacity.QueueConfig, absolute rm.Fraction, leaf bool) int {
	if !leaf || !q.Absolute.IsZero() && q.MaxApplications < 0 {
		return -1
	}
	return c.MostApps(q, float32(absolute))
}

// fairQueues returns a fair scheduler's queues as configured. Capacities are the shares that result from the weights
// while every queue wants its share.
func fairQueues(c *fair.Config, acls map[string]conf.QueueACL) []rm.QueueInfo {
	out := make([]rm.QueueInfo, len(c.Queues))
	weights := make([]float64, len(c.Queues)) // of the children
	for i := range c.Queues {
		if q := &c.Queues[i]; q.Parent >= 0 {
			weights[q.Parent] += q.Weight
		}
	}
	for i := range c.Queues {
		q, acl := &c.Queues[i], acls[c.Queues[i].Path]
		info := rm.QueueInfo{
			Path: q.Path, Parent: heddle.QueueID(q.Parent), Leaf: true, State: rm.QueueRunning,
			Capacity: 1, Absolute: 1, Weight: q.Weight, MaxApps: -1,
			AMShare: rm.Fraction(q.MaxAMShare), UserLimit: 100, UserFactor: -1,
			Configured: [...]string{fair.FairShare: "fair", fair.DRF: "drf", fair.FIFO: "fifo"}[q.Policy],
			MinShare:   q.Min.Fixed, MinParts: q.Min.Fraction, MaxParts: q.Max.Fraction,
			SubmitACL: acl.Submit, AdminACL: acl.Administer,
			Largest: q.MaxResource,
		}
		if q.MaxApps != 0 {
			info.MaxApps = max(q.MaxApps, 0)
		}
		info.Max, info.MaxShare = fairMax(q.Max)
		info.AbsoluteMax = info.Max
		if q.Parent >= 0 {
			above := &out[q.Parent]
			above.Leaf = false
			info.Capacity = 0
			if sum := weights[q.Parent]; sum > 0 {
				info.Capacity = rm.Fraction(q.Weight / sum)
			}
			info.Absolute = above.Absolute * info.Capacity
			info.AbsoluteMax = min(above.AbsoluteMax, info.Max)
		}
		out[i] = info
	}
	return out
}

// fairMax splits a maximum into a fraction of the cluster, the smallest of its percentages, and an amount.
func fairMax(a fair.Amount) (part rm.Fraction, most heddle.Resource) {
	part, most = 1, heddle.Unbounded
	if !a.Set {
		return part, most
	}
	for d, f := range a.Fraction {
		if f > 0 {
			part = min(part, rm.Fraction(f))
		} else {
			most[d] = a.Fixed[d]
		}
	}
	return part, most
}

// serve records the order in which queues are really served. The profile determines it; the configuration does only if
// the profile's order uses it.
func serve(queues []rm.QueueInfo, tree string, b *policies.Built) {
	for i := range queues {
		queues[i].Order = lanes(b, func(name string) string {
			switch {
			case name == "capacity" || name == "fair":
				return queues[i].Configured
			case queues[i].Leaf:
				return name
			case name == "shortest" && tree != "one": // it leaves queues to the tree's own scheduler
				return queues[i].Configured
			}
			return "as listed"
		})
	}
}

// lanes describes the order of each lane: once if all lanes have the same, otherwise with the lanes' kinds.
func lanes(b *policies.Built, of func(order string) string) string {
	var parts []string
	same := true
	for i, l := range b.Lanes {
		order := of(b.Names.Order[i])
		same = same && order == of(b.Names.Order[0])
		var kinds []string
		for _, k := range l.Kinds {
			kinds = append(kinds, k.String())
		}
		parts = append(parts, order+" for "+strings.Join(kinds, ", "))
	}
	if same {
		return of(b.Names.Order[0])
	}
	return strings.Join(parts, "; ")
}
