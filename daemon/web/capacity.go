package web

import (
	"math"
	"strconv"
	"strings"

	"heddle"
	"heddle/rm"
	"heddle/yarn/rest"
)

// capacityRoot returns the queues in the capacity scheduler's shape. For values that the core does not keep (the last
// run, templates of auto-created queues, node labels) it says what a stock ResourceManager says if it has none.
func (t tree) capacityRoot() *rest.CapacityScheduler {
	q := &t.queues[0]
	own, _ := t.usedOf(q)
	return &rest.CapacityScheduler{
		Type: rest.CapacityType, Capacity: float32(100 * q.Capacity), UsedCapacity: own,
		MaxCapacity: float32(100 * q.Max), Weight: weight(q), Vector: t.vector(q), Name: q.Name(), Path: q.Path,
		MaxParallelApps: q.ParallelApps(), Queues: t.capacityQueues(0), Capacities: t.capacities(q),
		Health: t.health(), MaximumAlloc: t.resource(t.cluster.Maximum), ACLs: acls(q),
		Order: order(q, "utilization"), Mode: mode(q), QueueType: "parent", Creation: "static", AutoCreation: "off",
		DefaultLabel: q.DefaultLabel,
	}
}

// weight returns the weight of a queue, or −1 if it has none.
func weight(q *rm.QueueReport) float32 {
	if q.Weight < 0 {
		return -1
	}
	return float32(q.Weight)
}

// normalized returns a queue's share of the weights of all its siblings, or 0 if it has no weight.
func normalized(q *rm.QueueReport) float32 {
	if q.Weight < 0 {
		return 0
	}
	return float32(q.Capacity)
}

func mode(q *rm.QueueReport) string {
	switch {
	case byAmount(q):
		return "absolute"
	case q.Weight >= 0:
		return "weight"
	}
	return "percentage"
}

// byAmount reports whether a queue's capacity is an amount.
func byAmount(q *rm.QueueReport) bool {
	least, _ := q.GivenAs()
	return !least.IsZero()
}

func order(q *rm.QueueReport, usual string) string {
	if q.Configured == "" {
		return usual
	}
	return q.Configured
}

// vector returns a queue's capacity for each resource as text.
func (t tree) vector(q *rm.QueueReport) rest.CapacityVector {
	value := javaFloat(float64(100*q.Capacity)) + "%"
	if q.Weight >= 0 {
		value = javaFloat(q.Weight) + "w"
	}
	names := append([]string{"memory-mb", "vcores"}, t.extra...)
	v := rest.CapacityVector{}
	pairs := make([]string, 0, len(names))
	for d, n := range names {
		if byAmount(q) {
			value = javaFloat(float64(q.MinShare[d] / heddle.Dim(d).Unit()))
		}
		v.Entries = append(v.Entries, rest.VectorEntry{Name: n, Value: value})
		pairs = append(pairs, n+"="+value)
	}
	v.Configured = "[" + strings.Join(pairs, ",") + "]"
	return v
}

// javaFloat prints a number with a decimal point.
func javaFloat(f float64) string {
	s := strconv.FormatFloat(f, 'f', -1, 32)
	if !strings.Contains(s, ".") {
		s += ".0"
	}
	return s
}

func (t tree) capacities(q *rm.QueueReport) rest.Capacities {
	own, absolute := t.usedOf(q)
	least, most := q.GivenAs()
	bounded := func(a heddle.Resource) rest.Resource {
		return t.resource(a).Within(t.resource(t.cluster.Minimum), t.resource(t.cluster.Maximum))
	}
	c := rest.Capacity{
		Vector: t.vector(q), Capacity: float32(100 * q.Capacity), Used: own, Max: float32(100 * q.Max),
		Abs: float32(100 * q.Absolute), AbsUsed: absolute, AbsMax: float32(100 * q.AbsoluteMax), Weight: weight(q), NormWeight: normalized(q),
		MinResource: bounded(least), MaxResource: bounded(most), EffectiveMin: t.resource(q.Guaranteed(t.cluster.Total)),
		EffectiveMax: t.resource(q.Ceiling(t.cluster.Total)),
	}
	if q.Leaf {
		c.AMLimit = float32(100 * max(0, q.AMShare))
	}
	return rest.Capacities{List: []rest.Capacity{c}}
}

func (t tree) health() rest.Health {
	h := rest.Health{}
	for _, what := range []string{"last-allocation", "last-release", "last-preemption", "last-reservation"} {
		h.Operations = append(h.Operations, rest.HealthOperation{Operation: what, Node: "N/A", Container: "N/A", Queue: "N/A"})
	}
	for _, what := range []string{"releases", "allocations", "reservations"} {
		h.Details = append(h.Details, rest.HealthDetail{Operation: what, Resources: t.resource(heddle.Resource{})})
	}
	return h
}

func acls(q *rm.QueueReport) rest.QueueACLs {
	return rest.QueueACLs{List: []rest.QueueACL{
		{Access: "ADMINISTER_QUEUE", List: q.AdminACL},
		{Access: "APPLICATION_MAX_PRIORITY", List: "*"},
		{Access: "SUBMIT_APP", List: q.SubmitACL},
	}}
}

func (t tree) capacityQueues(i int) *rest.CapacityQueues {
	below := t.children(i)
	if len(below) == 0 {
		return nil
	}
	out := new(rest.CapacityQueues)
	for _, c := range below {
		out.List = append(out.List, t.capacityQueue(c))
	}
	return out
}

func (t tree) capacityQueue(i int) rest.CapacityQueue {
	q := &t.queues[i]
	own, absolute := t.usedOf(q)
	effective := t.resource(q.Ceiling(t.cluster.Total))
	o := rest.CapacityQueue{
		Path: q.Path, Capacity: float32(100 * q.Capacity), UsedCapacity: own, MaxCapacity: float32(100 * q.Max),
		AbsCapacity: float32(100 * q.Absolute), AbsMaxCapacity: float32(100 * q.AbsoluteMax), AbsUsedCapacity: absolute,
		Weight: weight(q), NormWeight: normalized(q), Apps: q.Active + q.Inactive, MaxParallelApps: q.ParallelApps(), Name: q.Name(), Absolute: byAmount(q),
		State: string(q.State), Queues: t.capacityQueues(i), Used: t.told(q.Used), Labels: []string{"*"},
		Allocated: q.Containers, Reserved: q.Reservations, Pending: q.Waiting, Capacities: t.capacities(q),
		Resources:    t.usages(q.Used, q.Reserved, q.Pending, q.Masters, q),
		MinEffective: t.resource(q.Guaranteed(t.cluster.Total)), MaxEffective: effective,
		MaximumAlloc: t.resource(q.LargestOf(t.cluster.Maximum)), ACLs: acls(q), Order: order(q, "utilization"), Mode: mode(q),
		QueueType: "parent", Creation: "static", AutoCreation: "off", DefaultLabel: q.DefaultLabel,
	}
	if q.Leaf {
		t.leaf(&o, q)
	}
	return o
}

// usages returns what a queue uses, for a leaf with the limits for masters.
func (t tree) usages(used, reserved, pending, masters rm.Amount, q *rm.QueueReport) rest.Usages {
	u := rest.Usage{
		Used: t.told(used), Reserved: t.told(reserved), Pending: t.told(pending),
		AMUsed: t.told(masters), AMLimit: t.resource(heddle.Resource{}), UserAMLimit: t.resource(heddle.Resource{}),
	}
	if q.Leaf {
		all, user := t.masterLimits(q)
		u.AMLimit, u.UserAMLimit = t.resource(all), t.resource(user)
	}
	return rest.Usages{List: []rest.Usage{u}}
}

// leaf adds the fields that only leaves have.
func (t tree) leaf(o *rest.CapacityQueue, q *rm.QueueReport) {
	all, user := t.masterLimits(q)
	maxApps := q.MaxApps
	if maxApps < 0 {
		maxApps = math.MaxInt32
	}
	perUser := maxApps
	if q.UserFactor >= 0 { // −1: no limit
		perUser = int(min(float64(maxApps), float64(maxApps)*q.UserLimit/100*q.UserFactor))
	}
	o.Type, o.QueueType, o.Order = rest.CapacityLeafType, "leaf", order(q, "fifo")
	o.Active, o.Waiting, o.Containers = &q.Active, &q.Inactive, &q.Containers
	o.MaxApps, o.MaxAppsPerUser = &maxApps, &perUser
	o.UserLimit, o.UserFactor, o.AMShare = new(float32(q.UserLimit)), new(float32(q.UserFactor)), new(float32(q.AMShare))
	o.AMLimit, o.AMUsed, o.UserAMLimit = new(t.resource(all)), new(t.told(q.Masters)), new(t.resource(user))
	o.NoPreemption, o.NoIntra = new(!q.Preemptable), new(!q.Preemptable)
	o.DefaultPriority, o.AutoCreated = new(q.Priority), new(false)
	o.MaxLifetime, o.DefaultLifetime = new(int64(-1)), new(int64(-1))
	o.Users = new(rest.Users)
	limit := t.userLimit(q)
	for _, u := range q.Users {
		o.Users.List = append(o.Users.List, rest.User{
			Name: u.Name, Used: t.told(u.Used), Pending: u.Inactive, Active: u.Active, AMUsed: t.told(u.Masters),
			Limit: t.resource(limit), Resources: t.usages(u.Used, rm.Amount{}, rm.Amount{}, u.Masters, q),
			Weight: 1, IsActive: u.Asking > 0,
		})
	}
}
