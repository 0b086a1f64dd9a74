package web

import (
	"net/http"

	"heddle"
	"heddle/rm"
	"heddle/yarn/rest"
)

// The shapes in which queues are shown.
const (
	capacity = "capacity"
	fair     = "fair"
)

// scheduler answers GET /scheduler, in the shape of the scheduler from whose configuration the queues come.
func (s *site) scheduler(r *http.Request) (rest.Answer, error) {
	c, err := s.RM.Cluster(r.Context())
	if err != nil {
		return rest.Answer{}, err
	}
	queues, err := s.RM.Queues(r.Context())
	if err != nil {
		return rest.Answer{}, err
	}
	if len(queues) == 0 {
		return rest.Answer{}, notFound("the scheduler has no queues")
	}
	t := tree{shaper: s.shape, cluster: c, queues: queues}
	var info any
	if c.Scheduler == fair {
		info = &rest.FairScheduler{Type: rest.FairType, Root: t.fairQueue(0)}
	} else {
		info = t.capacityRoot()
	}
	return rest.Answer{Root: "scheduler", Value: rest.Scheduler{Info: info}}, nil
}

// A tree is the queues at one moment. Queues are named by their index; the root is 0.
type tree struct {
	shaper
	cluster rm.ClusterReport
	queues  []rm.QueueReport
}

// children returns the indices of the queues below one. It leaves out a child whose index is not greater, so that a bug
// elsewhere cannot cause an endless tree here.
func (t tree) children(i int) []int {
	var out []int
	for _, id := range t.queues[i].Children {
		if c := int(id); c > i && c < len(t.queues) {
			out = append(out, c)
		}
	}
	return out
}

// fairQueue returns a queue and those below it in the fair scheduler's shape. The shares it is entitled to come from
// its configuration: what it may have at least if every queue has work.
func (t tree) fairQueue(i int) rest.FairQueue {
	q := &t.queues[i]
	steady := q.Guaranteed(t.cluster.Total)
	minimum, maximum := q.Bounds(t.cluster.Total)
	var masters, mastersMost heddle.Resource // YARN counts masters only in leaves
	if q.Leaf {
		masters, mastersMost = t.dims(q.Masters), max(0, q.AMShare).Of(steady)
	}
	o := rest.FairQueue{
		MaxApps: q.MaxApps, Min: t.resource(minimum), Max: t.resource(maximum), Used: t.told(q.Used),
		AMUsed: t.resource(masters), AMMax: t.resource(mastersMost),
		Demand: t.resource(t.dims(q.Used).Plus(t.dims(q.Pending))), SteadyFair: t.resource(steady), Fair: t.resource(steady),
		Cluster: t.resource(t.cluster.Total), ReservedAmt: t.told(q.Reserved),
		MaxContainer: t.resource(q.LargestOf(t.cluster.Maximum)), Pending: q.Waiting, Allocated: q.Containers,
		Reserved: q.Reservations, Name: q.Path, Policy: q.Configured, Preemptable: q.Preemptable,
	}
	if q.MaxApps < 0 {
		o.MaxApps = 1<<31 - 1
	}
	if q.Leaf {
		waiting, active := q.Inactive, q.Active
		o.Type, o.Waiting, o.Active = rest.FairLeafType, &waiting, &active
		return o
	}
	if below := t.children(i); len(below) > 0 {
		o.Children = new(rest.FairQueues)
		for _, c := range below {
			o.Children.List = append(o.Children.List, t.fairQueue(c))
		}
	}
	return o
}

// usedOf returns how much of its entitlement a queue uses, and how much of the cluster, both in per cent.
func (t tree) usedOf(q *rm.QueueReport) (own, absolute float32) {
	share := rm.ShareOf(t.dims(q.Used).Plus(t.dims(q.Reserved)), t.cluster.Total, t.cluster.MemoryOnly)
	if q.Absolute > 0 {
		own = float32(share/float64(q.Absolute)) * 100
	}
	return own, float32(share) * 100
}

// masterLimits returns the limits of a leaf for its masters: of all together, and of one user.
func (t tree) masterLimits(q *rm.QueueReport) (all, user heddle.Resource) {
	share := max(0, q.AMShare)
	all = share.Of(q.Ceiling(t.cluster.Total))
	part := 1.0
	if q.UserFactor >= 0 { // −1: no limit
		part = max(q.UserLimit/100, 1/float64(max(1, q.AskingUsers))) * q.UserFactor
	}
	return all, (share * rm.Fraction(part)).Of(q.Guaranteed(t.cluster.Total)).Min(all)
}

// userLimit returns how much one user of a leaf may have.
func (t tree) userLimit(q *rm.QueueReport) heddle.Resource {
	guaranteed, most := q.Guaranteed(t.cluster.Total), q.Ceiling(t.cluster.Total)
	if q.UserFactor < 0 || guaranteed.IsZero() {
		return most
	}
	return rm.Fraction(q.UserFactor).Of(guaranteed).Min(most)
}
